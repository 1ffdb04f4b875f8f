"""Views of MCP servers, their prompts and resources."""

from typing import Literal

from pilothouse.domain.value import Value

ServerStatus = Literal["starting", "ready", "waiting", "failed", "stopped"]


class PromptView(Value, kw_only=True, omit_defaults=False):
    """A prompt of an MCP server."""

    name: str
    description: str
    arguments: tuple[str, ...] = ()
    """The names of all arguments."""
    required: tuple[str, ...] = ()
    """The names of the required arguments."""


class ResourceView(Value, kw_only=True, omit_defaults=False):
    uri: str
    name: str
    description: str
    mime_type: str | None = None
    size: int | None = None


class ServerView(Value, kw_only=True, omit_defaults=False):
    """An MCP server and its status."""

    name: str
    transport: str
    status: ServerStatus
    detail: str | None
    folder: str | None
    """The folder whose configuration defines the server; null for a server of the user."""
    trusted: bool
    """Whether the server's read-only hints are believed."""
    protocol: str | None
    restarts: int
    tools: tuple[str, ...]
    changed: tuple[str, ...]
    """The tools whose definition has changed, so that the person must accept them again."""
    withheld: int
    """The number of tools that cannot be used."""
    prompts: tuple[PromptView, ...]
    has_resources: bool
