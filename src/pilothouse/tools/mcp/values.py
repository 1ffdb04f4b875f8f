"""What a server lends and gives, as plain values: nothing of the SDK leaves this folder."""

from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Literal, Protocol

from pilothouse.domain.codes import Reason
from pilothouse.domain.values import Value

Status = Literal["starting", "ready", "waiting", "failed", "stopped"]

# Asks the person for whom a call runs: a message and a flat JSON schema. None when they decline.
Asker = Callable[[str, dict[str, Any]], Awaitable[dict[str, Any] | None]]


class Clock(Protocol):
    """The part of the ambient that a connection uses."""

    def monotonic(self) -> float: ...
    async def sleep(self, seconds: float) -> None: ...
    def new_id(self) -> str: ...


class ToolDefinition(Value):
    """A tool as its server describes it. The hints are the server's own word: None where it gave none."""

    name: str
    title: str | None
    description: str
    schema: Mapping[str, Any]
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
    """One part of a resource that was read: text, or bytes."""

    uri: str
    mime: str | None
    content: str | bytes


class CallResult(Value):
    """`is_error` says that the tool ran and failed by its own word; `is_cut` that the text was too long."""

    text: str
    is_error: bool = False
    is_cut: bool = False


class End(Value):
    """Why a link ended. A final end is not tried again by itself."""

    detail: str
    is_final: bool = False
    reason: Reason | None = None
    """The same for a person who sets the server up, where it never was ready."""
