"""A context as it is stored, and a change to it: the two values that the store and the runtime share."""

import re
from collections.abc import Mapping
from typing import Literal

from pilothouse.domain.audit import AuditEntry, AuditHead
from pilothouse.domain.branches import MAIN, Branch
from pilothouse.domain.calls import CallRecord
from pilothouse.domain.codes import Code, Reason
from pilothouse.domain.elevations import Elevation
from pilothouse.domain.errors import InvalidInput
from pilothouse.domain.messages import Message, Usage
from pilothouse.domain.policies import Policy
from pilothouse.domain.rules import Rule
from pilothouse.domain.states import Idle, State
from pilothouse.domain.values import CallId, ContextId, MessageId, Timestamp, TurnId, Value

FORMAT = 4
_UNNAMED_FORMAT = 2  # what is usual is not written: up to this one, files do not say their format
QUEUE_AT_MOST = 50
UNCORRECTED = 1.0  # what is left out of a file is this very value

TurnEnd = Literal["complete", "rejected", "denied", "cancelled", "limit", "error", "interrupted"]
CONTINUABLE: frozenset[TurnEnd] = frozenset({"denied", "cancelled", "limit", "error", "interrupted"})

TitledBy = Literal["first_line", "model", "person"]

_ID = re.compile(r"[A-Za-z0-9_-]{1,64}(~[A-Za-z0-9_-]{1,64})?")


class OpenTurn(Value):
    """What a turn must remember across rounds and restarts. `start` is where its own messages begin on its branch,
    `message_id` the first of the person's; `repeats` counts the same call in a row; `decided_round` is the last round
    in which a person approved something."""

    id: TurnId
    branch: str
    started_at: Timestamp
    start: int = 0
    message_id: MessageId | None = None
    round: int = 1
    tools_executed: int = 0
    last_fingerprint: str | None = None
    repeats: int = 0
    usage: Usage = Usage()
    decided_round: int = 0
    undone_paths: tuple[str, ...] = ()
    """Files that a person's undo has put back while calls were open, as many as are told: the next result tells the
    model."""
    undone_more: int = 0
    """How many more such files there were."""


class Queued(Value, kw_only=True):
    """A message that waits for its turn. Its parts lie in the pool, on no branch; `id` is the first of them."""

    id: MessageId
    message_ids: tuple[MessageId, ...]
    mode: str | None = None
    by: str
    at: Timestamp


class SentKey(Value, kw_only=True):
    """A request that was taken under a client's own key: the same one again gets the same answer."""

    key: str
    body: str
    message_id: MessageId
    turn_id: TurnId | None = None
    at: Timestamp


class Overview(Value, kw_only=True):
    """The newest description of the workspace: the message that holds it, and what it was made of."""

    message_id: MessageId
    workspace: str
    at_length: int = 0


class ContextCore(Value, kw_only=True):
    """The small, bounded part of a context that every commit carries whole. `token_ratio` is what the provider counted
    for one token that we did, for the model `token_ratio_of`; `pins` are messages that no compression takes."""

    context_id: ContextId
    format: int = _UNNAMED_FORMAT
    owner: str = "local"
    parent: ContextId | None = None
    workspace: str | None = None
    title: str | None = None
    titled_by: TitledBy = "first_line"
    archived: bool = False
    created_at: Timestamp
    updated_at: Timestamp
    state: State = Idle()
    mode: str
    persona: str | None = None
    policy: Policy | None = None
    rules: tuple[Rule, ...] = ()
    elevation: Elevation | None = None
    model: str | None = None
    active_branch: str = MAIN
    usage: Usage = Usage()
    token_ratio: float = UNCORRECTED
    token_ratio_of: str | None = None
    pins: tuple[MessageId, ...] = ()
    overview: Overview | None = None
    turn: OpenTurn | None = None
    last_turn: TurnEnd = "complete"
    queue: tuple[Queued, ...] = ()
    audit: AuditHead = AuditHead()


class ContextSummary(Value, omit_defaults=False):
    """A line of the list. A context that cannot be read is listed too, with its damage."""

    context_id: ContextId
    title: str | None = None
    mode: str | None = None
    state: State | None = None
    updated_at: Timestamp = ""
    workspace: str | None = None
    owner: str | None = None
    parent: ContextId | None = None
    archived: bool = False
    usage: Usage = Usage()
    damage: Reason | None = None


def summary_of(core: ContextCore) -> ContextSummary:
    return ContextSummary(
        context_id=core.context_id,
        title=core.title,
        mode=core.mode,
        state=core.state,
        updated_at=core.updated_at,
        workspace=core.workspace,
        owner=core.owner,
        parent=core.parent,
        archived=core.archived,
        usage=core.usage,
    )


class Change(Value):
    """One atomic change. Branches that are dropped go first, then those that get another name, with their lists;
    messages and calls are put by id; ids are appended to their branches."""

    core: ContextCore
    messages: tuple[Message, ...] = ()
    branches: Mapping[str, Branch] = {}
    appended: Mapping[str, tuple[MessageId, ...]] = {}
    calls: tuple[CallRecord, ...] = ()
    audit: tuple[AuditEntry, ...] = ()
    dropped: tuple[str, ...] = ()
    renamed: Mapping[str, str] = {}
    keys: tuple[SentKey, ...] = ()
    accepts_audit: bool = False
    """Whether the first audit entry of the change records that the person accepts the chain before it, as it was last
    read. Both are in force, or neither is."""


class PartialAnswer(Value):
    """An answer that was being streamed when its process died."""

    message_id: MessageId
    turn: TurnId
    deltas: tuple[str, ...]


class StoredContext(Value):
    """What the store gives on opening: bounded, whatever the length of the history."""

    core: ContextCore
    version: int
    branches: Mapping[str, Branch]
    calls: Mapping[CallId, CallRecord]
    partials: tuple[PartialAnswer, ...] = ()
    damage: tuple[Reason, ...] = ()


def named_context_id(name: str, user: str) -> ContextId:
    """The id of a conversation that a user has named: two users can choose the same name."""
    return ContextId(f"{name}~{user}")


def check_context_id(value: str) -> ContextId:
    """Raises: InvalidInput for an id that may not become a folder's name."""
    if not is_context_id(value):
        raise InvalidInput(Code.INVALID_ID, value=value)
    return ContextId(value)


def is_context_id(value: str) -> bool:
    return _ID.fullmatch(value) is not None
