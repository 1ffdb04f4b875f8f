"""The offers and results of an MCP server as plain values: no type of the SDK leaves this folder."""

from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Literal, Protocol

from pilothouse.domain.codes import Reason
from pilothouse.domain.value import Value

Status = Literal["starting", "ready", "waiting", "failed", "stopped"]

Asker = Callable[[str, dict[str, Any]], Awaitable[dict[str, Any] | None]]
"""Asks the person for whom a call runs, with a message and a flat JSON schema. Returns None where they decline."""


class Clock(Protocol):
    """The part of `Ambient` that a connection uses."""

    def monotonic(self) -> float: ...
    async def sleep(self, seconds: float) -> None: ...
    def new_id(self) -> str: ...


class ToolDefinition(Value):
    """A tool as its MCP server describes it. All fields are part of the definition that a person accepts."""

    name: str
    title: str | None
    description: str
    schema: Mapping[str, Any]
    # Hints, which are claims of the MCP server; None where it makes no claim. Only `read_only` has an effect here.
    # Hints, which are claims of the MCP server; None where it makes no claim. Only `read_only` has an effect here.
    # Hints, which are claims of the MCP server; None where it makes no claim. Only `read_only` has an effect here.
    read_only: bool | None = None
    destructive: bool | None = None
    idempotent: bool | None = None
    open_world: bool | None = None


class PromptArgument(Value):
    name: str
    description: str = ""
    required: bool = False


class PromptDefinition(Value):
    name: str
    title: str | None
    description: str
    arguments: tuple[PromptArgument, ...] = ()


class ResourceDefinition(Value):
    uri: str
    name: str
    description: str
    mime: str | None
    size: int | None


class ResourceContent(Value):
    """A part of a resource that was read: text, or bytes."""

    uri: str
    mime: str | None
    content: str | bytes


class MCPCallResult(Value):
    """The result of a tool call."""

    text: str
    is_error: bool = False
    """Whether the tool ran and reported a failure."""
    is_cut: bool = False
    """Whether the text was too long."""


class TransportEnd(Value):
    """Why a transport ended."""

    detail: str
    is_final: bool = False
    """Whether the MCP server stays stopped until a person reconnects it."""
    reason: Reason | None = None
    """The explanation for the person who sets up the server, where it never became ready."""
