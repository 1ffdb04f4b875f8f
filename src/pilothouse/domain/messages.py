"""Messages: the typed, immutable entries of a context.

A message never changes once it is complete. State that changes (the status of a call) lives in a record of its own and
is joined with the message on reading.
"""

import itertools
from collections.abc import Mapping, Sequence
from typing import Any, Literal

import msgspec

from pilothouse.domain.codes import Reason
from pilothouse.domain.images import MediaType, Recognition
from pilothouse.domain.payloads import DataContext, LineRange
from pilothouse.domain.value import CallId, MessageId, Timestamp, TurnId, Value

Role = Literal["user", "assistant", "system", "tool"]
TextEnd = Literal["complete", "cut", "interrupted", "cancelled"]
"""How a model's answer ended."""


class Usage(Value):
    """Tokens that a provider counted, and their cost where it is known."""

    input_tokens: int = 0
    output_tokens: int = 0
    cost: float | None = None

    def plus(self, other: "Usage") -> "Usage":
        cost = None if self.cost is other.cost is None else (self.cost or 0) + (other.cost or 0)
        return Usage(
            input_tokens=self.input_tokens + other.input_tokens,
            output_tokens=self.output_tokens + other.output_tokens,
            cost=cost,
        )


class Metadata(Value):
    """Facts about a message that are not its content."""

    turn: TurnId | None = None
    round: int | None = None
    mode: str | None = None
    persona: str | None = None
    model: str | None = None
    tokens: int | None = None
    """The number of tokens that the message takes in a request, by `counter`."""
    counter: str | None = None
    """The name of the counter that counted `tokens`."""
    display_text: str | None = None
    """The text that clients show in place of a person's text, or of the path of a file. The model does not get it."""
    trace_id: str | None = None
    extra: Mapping[str, Any] = {}
    data_context: DataContext | None = None
    """Attached to a person's message, and sent in every round of its turn."""
    extra_user_messages: tuple[str, ...] = ()
    """Attached to a person's message, and sent in every round of its turn."""
    origin: str | None = None
    """The program that proposed the calls of the message; None for calls of the model."""
    held: Literal["processing", "refused"] | None = None
    """Why the message is not sent to the model: the person's processors have not finished, or one refused it."""


class BaseMessage(Value, tag_field="type", kw_only=True):
    id: MessageId = msgspec.field(name="message_id")
    timestamp: Timestamp
    role: Role
    metadata: Metadata = Metadata()


class Reasoning(Value):
    """The reasoning of a model, which is no part of the text of its answer."""

    format: str
    """The wire format that produced the reasoning. Requests in another format leave the reasoning out."""
    text: str
    chunks: tuple[int, ...] = ()
    """The lengths of the deltas in which the reasoning was streamed."""


def join_reasoning(parts: Sequence[Reasoning]) -> Reasoning | None:
    """The reasoning that was stored in parts; None where there are no parts."""
    if not parts:
        return None
    lengths = itertools.chain.from_iterable(part.chunks for part in parts)
    return Reasoning(parts[0].format, "".join(part.text for part in parts), tuple(lengths))


class OpaquePart(Value):
    """A part of an answer that only its own wire format understands, e.g. a signature or encrypted reasoning. Requests
    in this format repeat the part unchanged; requests in another format leave the part out."""

    format: str
    data: str
    # The place in the answer: how much of the reasoning, of the text and of the calls stands before the part.
    after_reasoning: int = 0
    """Characters."""
    after_text: int = 0
    """Characters."""
    after_calls: int = 0
    """Calls."""


class Text(BaseMessage, tag="text"):
    """A text by a person or by the model."""

    content: str
    chunks: tuple[int, ...] = ()
    """The lengths of the deltas of a streamed answer."""
    finish_reason: str | None = None
    usage: Usage | None = None
    ended: TextEnd = "complete"
    reasoning: Reasoning | None = None
    opaque: tuple[OpaquePart, ...] = ()
    """Empty for an incomplete answer: no provider takes parts of one back."""


class Image(BaseMessage, tag="image"):
    """An image from the workspace, from an address or from the client. A model with vision gets the image itself, any
    other model the recognised text or the error."""

    path: str | None = None
    """The path of the image in the workspace."""
    url: str | None = None
    """The address of an image on the web."""
    data: str | None = None
    """The bytes in base64; None for an image at an address."""
    media_type: MediaType | None = None
    recognition: Recognition = "auto"
    recognised_text: str | None = None
    """The text that OCR found, for a model without vision."""
    resolved_at: Timestamp | None = None
    """When the image was read and, for a model without vision, recognised. The message is complete from then on."""
    error: Reason | None = None

    @property
    def name(self) -> str:
        """A name for people."""
        return self.path or self.url or (self.media_type or "image").replace("/", ".")


class FileReference(BaseMessage, tag="file_reference"):
    """A file that a person refers to, with its content at the time of sending."""

    path: str
    range: LineRange | None = None
    content: str | None = None
    resolved_at: Timestamp | None = None
    """When the file was read. The message is complete from then on."""
    error: Reason | None = None
    """Why the file could not be read, for the model too."""


class ProjectStructure(BaseMessage, tag="project_structure"):
    root: str
    kind: Literal["tree", "file_list", "dependencies"]
    content: str
    excluded: tuple[str, ...] = ()


class ToolCall(Value):
    """A call as the model sent it."""

    id: CallId
    """Assigned by the runtime."""
    provider_id: str
    """Assigned by the provider. Provider ids may repeat, so they are never used as keys."""
    tool: str
    arguments: str


class ToolRequest(BaseMessage, tag="tool_request", kw_only=True):
    """An answer of the model that calls tools."""

    content: str = ""
    """The text that came with the calls."""
    calls: tuple[ToolCall, ...]
    chunks: tuple[int, ...] = ()
    """The lengths of the deltas of a streamed `content`."""
    finish_reason: str | None = None
    usage: Usage | None = None
    reasoning: Reasoning | None = None
    opaque: tuple[OpaquePart, ...] = ()


class ToolResult(BaseMessage, tag="tool_result"):
    call_id: CallId
    tool: str
    content: str
    status: Literal["executed", "failed", "rejected", "denied", "cancelled", "interrupted"]
    duration_ms: int | None = None
    error: Reason | None = None
    server: str | None = None
    exit_status: int | None = None
    """The exit status of a command; None for other tools, and for results of format 3 and before."""


class MCPResource(BaseMessage, tag="mcp_resource", kw_only=True):
    server: str
    uri: str
    content: str
    mime_type: str | None = None
    retrieved_at: Timestamp


class WorkflowExecution(BaseMessage, tag="workflow_execution"):
    workflow: str
    execution_id: str
    status: Literal["pending", "running", "paused", "completed", "failed", "cancelled"]
    step: str | None = None
    steps_done: int = 0
    steps_total: int = 0
    started_at: Timestamp | None = None
    finished_at: Timestamp | None = None
    result: str | None = None
    error: Reason | None = None


OVERVIEW = "workspace_overview"
UNDO = "undo"

NoticeKind = Literal["injection", "summary", "mode_switch", "prompt_change", "branch_merge"]


class SystemControl(BaseMessage, tag="system_control"):
    """A notice of the runtime."""

    kind: NoticeKind
    """The model gets `injection`, `summary` and `mode_switch`; notices of the other kinds are for people."""
    content: str = ""
    """Empty for an undo that the model learns of from the next tool result."""
    detail: Mapping[str, Any] = {}
    """`about` names the subject of an injection. `to` names the new mode of a mode switch."""


class Processing(BaseMessage, tag="processing"):
    stage: str
    started_at: Timestamp
    detail: Mapping[str, Any] = {}


class ErrorMessage(BaseMessage, tag="error"):
    """An error, shown in the conversation and never sent to the model."""

    reason: Reason
    recoverable: bool = True
    """Whether clients offer to continue the turn. Always true now; imported conversations may hold other values."""


Message = (
    Text
    | Image
    | FileReference
    | ProjectStructure
    | ToolRequest
    | ToolResult
    | MCPResource
    | WorkflowExecution
    | SystemControl
    | Processing
    | ErrorMessage
)


def undone_paths(detail: Mapping[str, Any]) -> list[str]:
    """The files that the notice of an undo lists, and `+N` for N more files. Tolerates any data: an imported
    conversation may hold anything."""
    values, count = detail.get("paths"), detail.get("count")
    paths = [str(path) for path in values] if isinstance(values, list | tuple) else []
    more = count - len(paths) if isinstance(count, int) else 0
    return [*paths, f"+{more}"] if more > 0 else paths


def is_sent_to_model(message: Message) -> bool:
    """Whether requests to the model include a message."""
    if message.metadata.held is not None:
        return False
    match message:
        case Text():
            return not _is_blank(message.content) and message.ended != "cut"
        case SystemControl(kind="mode_switch"):
            return switched_mode(message) is not None
        case SystemControl():
            return message.kind in ("injection", "summary") and not _is_blank(message.content)
        case ProjectStructure() | MCPResource():
            return not _is_blank(message.content)
        case Processing() | ErrorMessage() | WorkflowExecution():
            return False
        case _:
            return True


def switched_mode(message: SystemControl) -> str | None:
    """The mode that a mode switch names. Tolerates any data: an imported conversation may hold anything."""
    mode = message.detail.get("to")
    return mode if isinstance(mode, str) and not _is_blank(mode) else None


def is_overview(message: Message) -> bool:
    """Whether a message is an overview of the workspace."""
    return isinstance(message, SystemControl) and message.detail.get("about") == OVERVIEW


def is_state_notice(message: Message) -> bool:
    """Whether a message says what the system prompt says anyway after a compression: which mode holds, and what the
    workspace looks like. No summary repeats it."""
    return is_overview(message) or (isinstance(message, SystemControl) and message.kind == "mode_switch")


def waits_for_results(message: Message) -> bool:
    """Whether the model gets a message behind the results of the open calls. Notices of the runtime can arrive at any
    time, and no message may part a call from its results."""
    return isinstance(message, SystemControl) and message.kind in ("injection", "mode_switch")


def _is_blank(text: str) -> bool:
    """Whether a text is empty or white space: some providers refuse such a message."""
    return not text or text.isspace()


def is_unresolved(message: BaseMessage) -> bool:
    """Whether a message is a file or an image that has not been read yet."""
    return isinstance(message, FileReference | Image) and message.resolved_at is None


def user_text(message: Message) -> str:
    """A person's message as text: its content, or the name of the file or image."""
    match message:
        case FileReference():
            return message.path
        case Image():
            return message.name
        case _:
            return getattr(message, "content", "")


def shown_text(message: Message) -> str:
    """A person's message as people see it: its display text, if it has one."""
    return message.metadata.display_text or user_text(message)


def content_chunks(message: Message) -> list[str]:
    """The content by the deltas in which it was streamed; all of it for a message that was not streamed."""
    return _cut(getattr(message, "content", None) or "", getattr(message, "chunks", ()))


def reasoning_chunks(message: Message) -> list[str]:
    """The reasoning by the deltas in which it was streamed; empty for a message without reasoning."""
    reasoning = getattr(message, "reasoning", None)
    return _cut(reasoning.text, reasoning.chunks) if reasoning is not None else []


def _cut(text: str, lengths: Sequence[int]) -> list[str]:
    # An imported file may hold any lengths: some would repeat the text without end.
    if not lengths or min(lengths) < 0 or sum(lengths) != len(text):
        return [text] if text else []
    ends = list(itertools.accumulate(lengths))
    return [text[end - length : end] for end, length in zip(ends, lengths, strict=True)]
