"""The views that clients receive: contexts, messages and calls, each joined with its related records."""

from collections.abc import Mapping
from typing import Any, Generic, TypeVar

import msgspec

from pilothouse.domain.audit import AuditChain
from pilothouse.domain.branches import Compressed, MergedBlock
from pilothouse.domain.calls import Effect, PreviewKind, Status
from pilothouse.domain.codes import Reason
from pilothouse.domain.contexts import TurnEnd
from pilothouse.domain.elevations import Elevation
from pilothouse.domain.forks import BranchFork
from pilothouse.domain.messages import (
    BaseMessage,
    ErrorMessage,
    FileReference,
    Image,
    MCPResource,
    Processing,
    ProjectStructure,
    Reasoning,
    SystemControl,
    Text,
    ToolResult,
    Usage,
    WorkflowExecution,
    is_unresolved,
)
from pilothouse.domain.policies import Policy
from pilothouse.domain.rules import Rule, RuleOptionOffer
from pilothouse.domain.states import State
from pilothouse.domain.value import CallId, ContextId, MessageId, Timestamp, TurnId, Value

T = TypeVar("T")


class CallView(Value, kw_only=True, omit_defaults=False):
    """A tool call with its decision and its result."""

    id: CallId
    message_id: MessageId
    tool: str
    display_name: str
    arguments: Any
    digest: str
    preview: str | None = None
    preview_kind: PreviewKind = "text"
    shown_arguments: tuple[str, ...] = ()
    """The names of the arguments that the preview shows in full, apart from lines of a file that do not change. Beside
    a preview, a client may leave out these arguments, and no others."""
    touches: tuple[str, ...] | None = None
    effect: Effect
    read_only: bool
    dangerous: tuple[str, ...] = ()
    lookalikes: str = ""
    """The characters that look like ASCII ones, in a call that is marked as dangerous for them."""
    may_change: bool = False
    """Whether files that decide what the command runs may change unnoticed after the approval."""
    status: Status
    rule_offers: tuple[RuleOptionOffer, ...] = ()
    """The rules with which the person can always allow a pending call from now on."""
    origin: str | None = None
    """The program that proposed the call; None for a call of the model."""
    requested_at: Timestamp
    decided_at: Timestamp | None = None
    decided_by: str | None = None
    started_at: Timestamp | None = None
    finished_at: Timestamp | None = None
    edited: bool = False
    confined: bool = False
    """Whether the call runs, or ran, in a read-only sandbox."""
    output: str | None = None
    """The end of the output that a running call has printed so far."""
    reason: Reason | None = None
    exit_status: int | None = None
    """The exit status of a command; a command that failed has status `executed` and an exit status other than 0."""
    result_id: MessageId | None = None
    result: str | None = None
    """The text of the result; only in responses of the tool call routes that read calls."""


class ToolRequestView(BaseMessage, tag="tool_request", kw_only=True):
    """An assistant message with tool calls and their records."""

    content: str = ""
    calls: tuple[CallView, ...]
    chunks: tuple[int, ...] = ()
    finish_reason: str | None = None
    usage: Usage | None = None
    reasoning: Reasoning | None = None


MessageView = (
    Text
    | Image
    | FileReference
    | ProjectStructure
    | ToolRequestView
    | ToolResult
    | MCPResource
    | WorkflowExecution
    | SystemControl
    | Processing
    | ErrorMessage
)


def is_complete(message: MessageView) -> bool:
    """Whether the message can no longer change. Clients pull other messages again with every change of the context."""
    if message.metadata.held == "processing":
        return False
    if is_unresolved(message):
        return message.metadata.held is not None
    if isinstance(message, ToolRequestView):
        return not any(call.status in ("pending", "approved", "executing") for call in message.calls)
    return True


class BranchView(Value, kw_only=True, omit_defaults=False):
    name: str
    key: str
    """Identifies the list of messages: a branch that is recreated or compressed gets another key."""
    created_at: Timestamp
    parent_branch: str | None = None
    prompt_addition: str | None = None
    length: int
    merged: tuple[MergedBlock, ...] = ()
    compressed: Compressed | None = None
    """The last compression of the branch."""
    original_of: str | None = None
    """The branch whose messages before a compression this one preserves. In a context's view, such a branch lists no
    ids."""
    fork: BranchFork | None = None
    """The point at which the branch diverges from the active one; null for the active branch, for originals, and for a
    branch that only continues the active one."""
    message_ids: tuple[MessageId, ...] = ()
    """The last ids of the branch; `length` counts all."""


class TurnView(Value, kw_only=True):
    id: TurnId
    branch: str
    started_at: Timestamp
    round: int


class StreamingView(Value, kw_only=True):
    """The message that is being streamed."""

    message_id: MessageId
    sequence: int
    """The sequence number of the last piece of its text."""
    reasoning_sequence: int = 0
    """The sequence number of the last piece of its reasoning."""


class ConfigView(Value, kw_only=True, omit_defaults=False):
    persona: str | None = None
    policy: Policy | None = None
    model: str | None = None
    temperature: float | None = None
    """The context's own setting; null where the persona's, or the provider's, applies."""
    max_output_tokens: int | None = None
    """The context's own setting; null where the persona's, or the provider's, applies."""
    rules: tuple[Rule, ...] = ()


class ContextView(Value, kw_only=True, omit_defaults=False):
    """A conversation: its state, mode, branches, usage, and everything that waits for a person."""

    context_id: ContextId
    version: int
    title: str | None
    current_state: State
    mode: str
    active_branch: str
    branches: Mapping[str, BranchView]
    workspace: str | None
    config: ConfigView
    usage: Usage
    pins: tuple[MessageId, ...]
    pending_tool_calls: tuple[CallView, ...]
    open_questions: tuple[CallView, ...]
    queued: int
    elevation: Elevation | None
    turn: TurnView | None
    last_turn: TurnEnd
    """How the last turn ended."""
    streaming: StreamingView | None
    parent: ContextId | None
    waiting_below: tuple[ContextId, ...]
    """The sub-agents that wait for a person."""
    archived: bool
    damage: tuple[Reason, ...]
    created_at: Timestamp
    updated_at: Timestamp


class Delta(Value):
    """A piece of a message's text, or of its reasoning."""

    sequence: int
    delta: str


class Page(Value, Generic[T], omit_defaults=False):
    """A page of a list."""

    items: tuple[T, ...]
    next: str | None = None
    """The cursor of the next page; null on the last one."""


class AuditedPage(Value, Generic[T], kw_only=True, omit_defaults=False):
    """A page of audit entries."""

    items: tuple[T, ...]
    next: str | None = None
    chain: AuditChain
    """Whether the audit is intact: all of it, not only this page."""


class MessagePage(Value, omit_defaults=False):
    """A page of the messages of a branch, read from its end to its start."""

    items: tuple[MessageView, ...]
    next: str | None = None
    """The position before which the next page ends; null at the start of the branch."""
    key: str = ""
    """The `key` of the branch during the read. A compression changes it, and with it the meaning of positions."""


class SentView(Value, omit_defaults=False):
    """The message that was sent."""

    message_id: MessageId
    turn_id: TurnId | None = None
    """Null for a message that was queued."""


class Problem(Value, kw_only=True, omit_defaults=False):
    """An error (RFC 9457)."""

    type: str = "about:blank"
    """Always `about:blank`: `code` tells the kinds of errors apart."""
    title: str
    """The phrase of the HTTP status."""
    status: int
    """The HTTP status."""
    code: str
    """The kind of error, stable for programs."""
    detail: str
    """A text for people, in the request's language."""
    params: Mapping[str, Any] = msgspec.field(default_factory=dict)
    """The values that `detail` names."""
