"""What is kept: typed, immutable entries of a context.

A message never changes once it is complete. What changes beside it (a call's status) lives in a
record of its own and is joined when read.
"""

from collections.abc import Mapping
from typing import Any, Literal

import msgspec

from pilothouse.domain.codes import Reason
from pilothouse.domain.images import MediaType, Recognition
from pilothouse.domain.payloads import DataContext, LineRange
from pilothouse.domain.values import CallId, MessageId, Timestamp, TurnId, Value

Role = Literal["user", "assistant", "system", "tool"]
Ended = Literal["complete", "cut", "interrupted", "cancelled"]


class Usage(Value):
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
    """`held` keeps a message from the model: until the person's processors have passed it, or since one refused it.
    `tokens` is what the model reads of it, by `counter`. `data_context` and `extra_user_messages` came with a person's
    message and are sent in every round of its turn."""

    turn: TurnId | None = None
    round: int | None = None
    mode: str | None = None
    persona: str | None = None
    model: str | None = None
    tokens: int | None = None
    counter: str | None = None
    display_text: str | None = None
    trace_id: str | None = None
    extra: Mapping[str, Any] = {}
    data_context: DataContext | None = None
    extra_user_messages: tuple[str, ...] = ()
    held: Literal["processing", "refused"] | None = None


class BaseMessage(Value, tag_field="type", kw_only=True):
    id: MessageId = msgspec.field(name="message_id")
    timestamp: Timestamp
    role: Role
    metadata: Metadata = Metadata()


class Text(BaseMessage, tag="text"):
    """For a streamed answer, `chunks` are the lengths of the pieces that it came in."""

    content: str
    chunks: tuple[int, ...] = ()
    finish_reason: str | None = None
    usage: Usage | None = None
    ended: Ended = "complete"


class Image(BaseMessage, tag="image"):
    """Where it came from (`path` in the workspace, `url`) and what it is: `data` in base64, unless it lies at an
    address. Complete when `resolved_at` is set: read, and put into words where the model does not see. A model that
    sees is shown it; others get `recognised_text`, or the error."""

    path: str | None = None
    url: str | None = None
    data: str | None = None
    media_type: MediaType | None = None
    recognition: Recognition = "auto"
    recognised_text: str | None = None
    resolved_at: Timestamp | None = None
    error: Reason | None = None

    @property
    def name(self) -> str:
        """What people call it."""
        return self.path or self.url or (self.media_type or "image").replace("/", ".")


class FileReference(BaseMessage, tag="file_reference"):
    """Complete when `resolved_at` is set: with content, or with the error that the model sees."""

    path: str
    range: LineRange | None = None
    content: str | None = None
    resolved_at: Timestamp | None = None
    error: Reason | None = None


class ProjectStructure(BaseMessage, tag="project_structure"):
    root: str
    kind: Literal["tree", "file_list", "dependencies"]
    content: str
    excluded: tuple[str, ...] = ()


class ToolCall(Value):
    """A call as the model sent it. `id` is ours; the provider's may repeat and is never a key."""

    id: CallId
    provider_id: str
    tool: str
    arguments: str


class ToolRequest(BaseMessage, tag="tool_request", kw_only=True):
    """`content` is the text that came with the calls."""

    content: str = ""
    calls: tuple[ToolCall, ...]
    chunks: tuple[int, ...] = ()
    finish_reason: str | None = None
    usage: Usage | None = None


class ToolResult(BaseMessage, tag="tool_result"):
    call_id: CallId
    tool: str
    content: str
    status: Literal["executed", "failed", "rejected", "denied", "cancelled", "interrupted"]
    duration_ms: int | None = None
    error: Reason | None = None
    server: str | None = None
    exit_status: int | None = None
    """How a command ended; None for anything else, and for results of format 3 and before."""


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


class SystemControl(BaseMessage, tag="system_control"):
    """`injection` and `summary` are told to the model; the others are for people. Of injections about the workspace
    (`detail` says what they are about) the prompt carries the newest, so the history leaves them out. One about an undo
    has no content where the next result of a call tells the model."""

    kind: Literal["injection", "summary", "mode_switch", "prompt_change", "branch_merge"]
    content: str = ""
    detail: Mapping[str, Any] = {}


class Processing(BaseMessage, tag="processing"):
    stage: str
    started_at: Timestamp
    detail: Mapping[str, Any] = {}


class ErrorMessage(BaseMessage, tag="error"):
    """Shown as a bubble, never sent to the model."""

    reason: Reason
    recoverable: bool = True


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
    """The files that a note of an undo names; a file from elsewhere may hold anything. The last one is a count where
    the undo put back more files than the note names."""
    listed, count = detail.get("paths"), detail.get("count")
    paths = [str(path) for path in listed] if isinstance(listed, list | tuple) else []
    more = count - len(paths) if isinstance(count, int) else 0
    return [*paths, f"+{more}"] if more > 0 else paths


def is_told(message: Message) -> bool:
    """Whether the model is told of a message at all."""
    if message.metadata.held is not None:
        return False
    match message:
        case Text():
            return not _is_blank(message.content) and message.ended != "cut"
        case SystemControl():
            is_overview = message.detail.get("about") == OVERVIEW
            return message.kind in ("injection", "summary") and not is_overview and not _is_blank(message.content)
        case ProjectStructure() | MCPResource():
            return not _is_blank(message.content)
        case Processing() | ErrorMessage() | WorkflowExecution():
            return False
        case _:
            return True


def _is_blank(text: str) -> bool:
    """Some servers refuse a message that says nothing."""
    return not text or text.isspace()


def is_unresolved(message: BaseMessage) -> bool:
    """A file or an image that nobody has looked at yet."""
    return isinstance(message, FileReference | Image) and message.resolved_at is None


def said(message: Message) -> str:
    """A person's message in words: its text, or the name of what it shows."""
    match message:
        case FileReference():
            return message.path
        case Image():
            return message.name
        case _:
            return getattr(message, "content", "")


def pieces(message: Message) -> list[str]:
    """The content in the pieces that it came in; a message that was not streamed is one piece."""
    content = getattr(message, "content", None) or ""
    lengths = getattr(message, "chunks", ())
    if not lengths:
        return [content] if content else []
    found, start = [], 0
    for length in lengths:
        found.append(content[start : start + length])
        start += length
    return found
