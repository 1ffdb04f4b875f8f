"""The adapter's contract: a request in neutral form, and one stream of events for every family of models."""

from collections.abc import AsyncGenerator, Sequence
from typing import Literal, Protocol

from pilothouse.domain.messages import Usage
from pilothouse.domain.offers import ToolOffer
from pilothouse.domain.values import Value

Purpose = Literal["turn", "title", "summary"]


class UserText(Value):
    content: str


class UserImage(Value):
    """`data` in base64 with its `media_type`, or the `url` where it lies."""

    name: str
    media_type: str | None = None
    data: str | None = None
    url: str | None = None


class AssistantText(Value):
    content: str


class RequestedCall(Value):
    id: str
    tool: str
    arguments: str


class AssistantCalls(Value):
    content: str
    calls: tuple[RequestedCall, ...]


class CallResult(Value):
    call_id: str
    content: str


ModelMessage = UserText | UserImage | AssistantText | AssistantCalls | CallResult


class ModelRequest(Value):
    """`messages` are the adapter's own encodings, made once by `encode` and kept: only the new costs."""

    model: str
    system: str
    messages: Sequence[bytes]
    tools: tuple[ToolOffer, ...] = ()
    purpose: Purpose = "turn"


class Connected(Value):
    """The provider has accepted the request; nothing of the answer has arrived yet."""


class TextDelta(Value):
    text: str


class CallDelta(Value):
    """A part of a call. `index` tells the calls of one answer apart; ids may repeat or be missing."""

    index: int
    id: str = ""
    tool: str = ""
    arguments: str = ""


class UsageReported(Value):
    usage: Usage


class Finished(Value):
    reason: str


ModelEvent = Connected | TextDelta | CallDelta | UsageReported | Finished


class Adapter(Protocol):
    name: str

    def encode(self, message: ModelMessage) -> bytes:
        """One message in the form in which the request carries it. Pure."""

    def body(self, request: ModelRequest) -> bytes:
        """The whole request, as JSON, as it is sent. Pure."""

    def stream(self, request: ModelRequest) -> AsyncGenerator[ModelEvent, None]:
        """Raises: ModelUnavailable, ModelRefused; nothing else. A stream that ends without `Finished` was cut."""

    async def close(self) -> None: ...
