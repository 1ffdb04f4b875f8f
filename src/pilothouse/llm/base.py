"""The contract of model adapters: a neutral request, and one stream of events for all providers."""

from collections.abc import AsyncGenerator, Sequence
from typing import Literal, Protocol, runtime_checkable

from pilothouse.domain.messages import OpaquePart, Usage
from pilothouse.domain.sampling import Sampling
from pilothouse.domain.tool_offers import ToolDescription
from pilothouse.domain.value import Value

Purpose = Literal["turn", "title", "summary"]


class UserText(Value):
    content: str


class UserImage(Value):
    """An image with data, or at an address."""

    name: str
    media_type: str | None = None
    data: str | None = None
    """The bytes in base64."""
    url: str | None = None
    """The address of an image without data."""


class AssistantText(Value):
    content: str
    reasoning: str = ""
    """Reasoning that the format of the request produced, where the format sends it back."""
    opaque: tuple[OpaquePart, ...] = ()
    """Parts that the format of the request produced."""


class RequestedCall(Value):
    id: str
    tool: str
    arguments: str


class AssistantCalls(Value):
    content: str
    calls: tuple[RequestedCall, ...]
    reasoning: str = ""
    opaque: tuple[OpaquePart, ...] = ()


class CallResult(Value):
    call_id: str
    content: str


ModelMessage = UserText | UserImage | AssistantText | AssistantCalls | CallResult


class ModelRequest(Value):
    """A request to a model."""

    model: str
    system: str
    messages: Sequence[bytes]
    """Encoded by the format of the adapter that sends the request. Each message is encoded once for a format, and the
    bytes are cached, so only new messages cost."""
    tools: tuple[ToolDescription, ...] = ()
    purpose: Purpose = "turn"
    sampling: Sampling = Sampling()


class Connected(Value):
    """The provider has accepted the request. No part of the answer has arrived yet."""


class TextDelta(Value):
    text: str


class ReasoningTextDelta(Value):
    """Reasoning of the model. Not a part of the answer's text."""

    text: str


class OpaquePartReceived(Value):
    """A whole part that only the adapter's format understands. Its place is behind the events before it."""

    data: str


class CallDelta(Value):
    """A part of a tool call."""

    index: int
    """Identifies the call within the answer: ids may repeat or be missing."""
    id: str = ""
    tool: str = ""
    arguments: str = ""


class UsageReported(Value):
    usage: Usage


class Finished(Value):
    reason: str


ModelEvent = Connected | TextDelta | ReasoningTextDelta | OpaquePartReceived | CallDelta | UsageReported | Finished


class WireFormat(Protocol):
    """How one family of providers writes messages and requests. Pure."""

    name: str
    """Histories are cached by this name: two formats never share encoded messages."""
    sends_reasoning: bool
    """Whether messages repeat the reasoning and the opaque parts that this format produced. Those of other formats are
    left out before `encode`."""

    @property
    def max_description_characters(self) -> int | None:
        """The longest description of a tool; None for no limit. The format cuts a longer one, and the system prompt has
        its full text."""

    def encode(self, message: ModelMessage) -> bytes:
        """Encode one message, independently of the messages around it. Only `body` reads the bytes: they need not be a
        document of their own."""

    def body(self, request: ModelRequest) -> bytes:
        """Encode a whole request as JSON. A format in which neighbouring messages share a turn joins them here, by
        their bytes: every encoded message is cached alone, and parsing the history again would cost in every round."""


class Adapter(Protocol):
    """Sends requests to one kind of provider, and translates the answers."""

    name: str

    @property
    def format(self) -> WireFormat: ...

    def stream(self, request: ModelRequest) -> AsyncGenerator[ModelEvent, None]:
        """Send a request. A stream that ends without `Finished` was cut.

        Raises: ModelUnavailable, ModelRefused; nothing else. An adapter never retries.
        """

    async def close(self) -> None: ...


@runtime_checkable
class ListsModels(Protocol):
    """An adapter whose provider lists its models."""

    async def models(self) -> list[str]:
        """The names of the models that the provider lists, sorted. Raises: ModelUnavailable, ModelRefused."""
