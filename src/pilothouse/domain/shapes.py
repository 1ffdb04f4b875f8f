"""What clients are given: contexts, messages and calls with everything that belongs to them joined."""

from collections.abc import Mapping
from typing import Any, Generic, TypeVar

import msgspec

from pilothouse.domain.audit import AuditChain
from pilothouse.domain.branches import Compressed, MergedBlock
from pilothouse.domain.calls import Effect, Status
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
    SystemControl,
    Text,
    ToolResult,
    Usage,
    WorkflowExecution,
    is_unresolved,
)
from pilothouse.domain.policies import Policy
from pilothouse.domain.rules import Rule, RuleOffer
from pilothouse.domain.states import State
from pilothouse.domain.values import CallId, ContextId, MessageId, Timestamp, TurnId, Value

T = TypeVar("T")


class CallShape(Value, kw_only=True, omit_defaults=False):
    """A tool call and what became of it. `rule_offers` are the rules with which a pending one may be allowed from now
    on; `result` is the text of its result, where the calls themselves are asked for. `output` is the end of what a
    running one has printed so far. `confined` says that it runs, or ran, where it can only read."""

    id: CallId
    message_id: MessageId
    tool: str
    display_name: str
    arguments: Any
    digest: str
    preview: str | None = None
    touches: tuple[str, ...] | None = None
    effect: Effect
    read_only: bool
    dangerous: tuple[str, ...] = ()
    lookalikes: str = ""
    """The characters that can be taken for ASCII ones, in a call that is marked for them."""
    may_change: bool = False
    """Whether files that decide what a command runs may change after the approval without being noticed."""
    status: Status
    rule_offers: tuple[RuleOffer, ...] = ()
    requested_at: Timestamp
    decided_at: Timestamp | None = None
    decided_by: str | None = None
    started_at: Timestamp | None = None
    finished_at: Timestamp | None = None
    edited: bool = False
    confined: bool = False
    output: str | None = None
    reason: Reason | None = None
    exit_status: int | None = None
    """How a command ended: one that failed was executed, too, with another status than 0."""
    result_id: MessageId | None = None
    result: str | None = None


class ToolRequestShape(BaseMessage, tag="tool_request", kw_only=True):
    """An answer with calls, each with its record."""

    content: str = ""
    calls: tuple[CallShape, ...]
    chunks: tuple[int, ...] = ()
    finish_reason: str | None = None
    usage: Usage | None = None


MessageShape = (
    Text
    | Image
    | FileReference
    | ProjectStructure
    | ToolRequestShape
    | ToolResult
    | MCPResource
    | WorkflowExecution
    | SystemControl
    | Processing
    | ErrorMessage
)


def is_complete(message: MessageShape) -> bool:
    """Whether it can never change again. One that can is pulled again with every change of its context."""
    if message.metadata.held == "processing":
        return False
    if is_unresolved(message):
        return message.metadata.held is not None
    if isinstance(message, ToolRequestShape):
        return not any(call.status in ("pending", "approved", "executing") for call in message.calls)
    return True


class BranchShape(Value, kw_only=True, omit_defaults=False):
    """`message_ids` are the last of `length`; `key` is another one for a branch that was made anew under its name.
    `compressed` tells of its last compression, `original_of` names the branch whose originals this one keeps: within a
    context, such a one lists no ids."""

    name: str
    key: str
    created_at: Timestamp
    parent_branch: str | None = None
    prompt_addition: str | None = None
    length: int
    merged: tuple[MergedBlock, ...] = ()
    compressed: Compressed | None = None
    original_of: str | None = None
    fork: BranchFork | None = None
    """Where the branch departs from the active one; null for the active branch, originals, and a mere continuation."""
    message_ids: tuple[MessageId, ...] = ()


class TurnShape(Value, kw_only=True):
    id: TurnId
    branch: str
    started_at: Timestamp
    round: int


class StreamingShape(Value, kw_only=True):
    """A message that is being written, and how far it has come."""

    message_id: MessageId
    sequence: int


class ConfigShape(Value, kw_only=True, omit_defaults=False):
    persona: str | None = None
    policy: Policy | None = None
    model: str | None = None
    rules: tuple[Rule, ...] = ()


class ContextShape(Value, kw_only=True, omit_defaults=False):
    """`last_turn` says how the last one ended, `waiting_below` which sub-agents wait for a person."""

    context_id: ContextId
    version: int
    title: str | None
    current_state: State
    mode: str
    active_branch: str
    branches: Mapping[str, BranchShape]
    workspace: str | None
    config: ConfigShape
    usage: Usage
    pins: tuple[MessageId, ...]
    pending_tool_calls: tuple[CallShape, ...]
    open_questions: tuple[CallShape, ...]
    queued: int
    elevation: Elevation | None
    turn: TurnShape | None
    last_turn: TurnEnd
    streaming: StreamingShape | None
    parent: ContextId | None
    waiting_below: tuple[ContextId, ...]
    archived: bool
    damage: tuple[Reason, ...]
    created_at: Timestamp
    updated_at: Timestamp


class Delta(Value):
    """A piece of a message's text."""

    sequence: int
    delta: str


class Page(Value, Generic[T], omit_defaults=False):
    """`next` is what to ask for the next page with, or null at the end."""

    items: tuple[T, ...]
    next: str | None = None


class AuditedPage(Value, Generic[T], kw_only=True, omit_defaults=False):
    """A page of what the audit says."""

    items: tuple[T, ...]
    next: str | None = None
    chain: AuditChain
    """Whether the audit can be relied on: the whole of it, not this page alone."""


class MessagePage(Value, omit_defaults=False):
    """`next` is the position before which the next page ends, or null at the beginning of the branch. `key` is that of
    the list that they stand on: a compression makes another one of the branch, and positions mean something else."""

    items: tuple[MessageShape, ...]
    next: str | None = None
    key: str = ""


class SentShape(Value, omit_defaults=False):
    """`turn_id` is null for a message that was queued."""

    message_id: MessageId
    turn_id: TurnId | None = None


class Problem(Value, kw_only=True, omit_defaults=False):
    """What went wrong (RFC 9457). `code` is stable, `detail` is for people, in the language that was asked for."""

    type: str = "about:blank"
    title: str
    status: int
    code: str
    detail: str
    params: Mapping[str, Any] = msgspec.field(default_factory=dict)
