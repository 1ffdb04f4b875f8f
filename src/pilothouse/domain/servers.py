"""Servers of tools as clients are given them."""

from typing import Literal

from pilothouse.domain.values import Value

ServerStatus = Literal["starting", "ready", "waiting", "failed", "stopped"]


class PromptShape(Value, kw_only=True, omit_defaults=False):
    """A prompt that a server has; `arguments` are the names of what it takes, `required` those that it must have."""

    name: str
    description: str
    arguments: tuple[str, ...] = ()
    required: tuple[str, ...] = ()


class ResourceShape(Value, kw_only=True, omit_defaults=False):
    uri: str
    name: str
    description: str
    mime_type: str | None = None
    size: int | None = None


class ServerShape(Value, kw_only=True, omit_defaults=False):
    """A server and how it is. `folder` is the one whose own it is; `trusted` says that its read-only hints count;
    `changed` are tools that wait for the person again, `withheld` is how many cannot be used."""

    name: str
    transport: str
    status: ServerStatus
    detail: str | None
    folder: str | None
    trusted: bool
    protocol: str | None
    restarts: int
    tools: tuple[str, ...]
    changed: tuple[str, ...]
    withheld: int
    prompts: tuple[PromptShape, ...]
    has_resources: bool
