"""A context as it is stored, and an atomic change to it: the values that the store and the runtime exchange."""

import heapq
import re
from collections.abc import Iterable, Mapping
from typing import Literal

from msgspec import UNSET, UnsetType

from pilothouse.domain.audit import AuditEntry, AuditHead
from pilothouse.domain.branches import MAIN, Branch, PromptOverview
from pilothouse.domain.calls import CallRecord
from pilothouse.domain.codes import Code, Reason
from pilothouse.domain.elevations import Elevation
from pilothouse.domain.errors import InvalidInput
from pilothouse.domain.messages import Message, Reasoning, Usage
from pilothouse.domain.policies import Policy
from pilothouse.domain.rules import Rule
from pilothouse.domain.sampling import Sampling
from pilothouse.domain.states import Idle, State, is_resting
from pilothouse.domain.value import CallId, ContextId, MessageId, Timestamp, TurnId, Value

FORMAT = 5
_UNNAMED_FORMAT = 2  # defaults are not written: files of this format and earlier ones do not name their format
MAX_QUEUED_MESSAGES = 50
UNCORRECTED_TOKEN_RATIO = 1.0  # the default of a stored field: files without the field have this very value

TurnEnd = Literal["complete", "rejected", "denied", "cancelled", "limit", "error", "interrupted"]
CONTINUABLE_ENDS: frozenset[TurnEnd] = frozenset({"denied", "cancelled", "limit", "error", "interrupted"})
"""Ends after which a person can continue the turn without a new message."""

TitledBy = Literal["first_line", "model", "person"]

_ID = re.compile(r"[A-Za-z0-9_-]{1,64}(~[A-Za-z0-9_-]{1,64})?")


class OpenTurn(Value):
    """The state of a turn that survives rounds and restarts."""

    id: TurnId
    branch: str
    started_at: Timestamp
    start: int = 0
    """The position on the branch at which the turn's own messages begin."""
    message_id: MessageId | None = None
    """The first of the person's messages."""
    round: int = 1
    tools_executed: int = 0
    last_fingerprint: str | None = None
    """The fingerprint of the last call."""
    repeats: int = 0
    """How many times in a row the model has requested the call with `last_fingerprint`."""
    usage: Usage = Usage()
    decided_round: int = 0
    """The last round in which a person approved a call."""
    undone_paths: tuple[str, ...] = ()
    """Files that a person's undo restored while calls were open, up to a maximum: the next tool result names them to
    the model."""
    undone_more: int = 0
    """How many more files were restored."""
    origin: str | None = None
    """The program that proposed the turn's calls; None for a turn of the model. Proposed calls end without a request to
    the model."""


class Queued(Value, kw_only=True):
    """A queued message, which begins a turn when the present turn has ended."""

    id: MessageId
    """The first of `message_ids`."""
    message_ids: tuple[MessageId, ...]
    """The parts of the message, which lie in the pool and on no branch."""
    mode: str | None = None
    """The mode to switch to when the message's turn begins."""
    by: str
    at: Timestamp


class SentKey(Value, kw_only=True):
    """The idempotency key of a request that was accepted: the same request again gets the same answer."""

    key: str
    """The SHA-256 of the client's key."""
    body: str
    """The SHA-256 of the request's content. Another content under the same key is refused."""
    message_id: MessageId
    turn_id: TurnId | None = None
    at: Timestamp


class Overview(Value, kw_only=True):
    """The newest overview of the workspace."""

    message_id: MessageId
    """The message that holds the overview."""
    workspace: str
    at_length: int = 0
    """The length of the branch when the overview was made."""


class ContextCore(Value, kw_only=True):
    """The small, bounded part of a context that every commit carries as a whole."""

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
    sampling: Sampling | None = None
    """None: the settings of the persona apply."""
    active_branch: str = MAIN
    usage: Usage = Usage()
    token_ratio: float = UNCORRECTED_TOKEN_RATIO
    """The provider's token count divided by the runtime's own."""
    token_ratio_of: str | None = None
    """The model that `token_ratio` was measured for."""
    pins: tuple[MessageId, ...] = ()
    """Messages that no compression replaces."""
    overview: Overview | None = None
    turn: OpenTurn | None = None
    last_turn: TurnEnd = "complete"
    queue: tuple[Queued, ...] = ()
    audit: AuditHead = AuditHead()


class ContextSummary(Value, omit_defaults=False):
    """A context in a list of contexts. An unreadable one is listed too, with its damage."""

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

    @property
    def position(self) -> "ListPosition":
        return (self.updated_at, self.context_id)


ListPosition = tuple[Timestamp, str]
"""The place of a context in lists, which are sorted by the time of the last change and then by id."""


class ContextQuery(Value):
    """Which contexts to list."""

    owner: str | None = None
    """None for the contexts of all users, and for those whose owner cannot be read."""
    archived: bool | None = None
    """None for archived contexts and others."""
    parent: ContextId | UnsetType | None = UNSET
    """The sub-agents of one context; None for contexts that no other context started."""
    works: bool = False
    """Only contexts that do not rest, as far as the store knows."""
    before: ListPosition | None = None
    """Only contexts behind this place of the list."""
    limit: int | None = None

    def matches(self, summary: ContextSummary) -> bool:
        return (
            self.owner in (None, summary.owner)
            and self.archived in (None, summary.archived)
            and self.parent in (UNSET, summary.parent)
            and not (self.works and (summary.state is None or is_resting(summary.state)))
            and (self.before is None or summary.position < self.before)
        )

    def select(self, summaries: Iterable[ContextSummary]) -> list[ContextSummary]:
        """The matching summaries, newest first. Never holds more of them in memory than the limit."""
        matching = filter(self.matches, summaries)
        if self.limit is None:
            return sorted(matching, key=_position, reverse=True)
        return heapq.nlargest(self.limit, matching, key=_position)


ALL_CONTEXTS = ContextQuery()


def _position(summary: ContextSummary) -> ListPosition:
    return summary.position


def prompt_overview(core: ContextCore, branch: Branch) -> PromptOverview | None:
    """The overview in the prompt of a branch's requests: before the first request, the newest one of the workspace."""
    if branch.overview is not None or core.overview is None or core.overview.workspace != core.workspace:
        return branch.overview
    return PromptOverview(message_id=core.overview.message_id, length=branch.length)


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
    """An atomic change of a context. A store applies `dropped` first, then `renamed`, then all other fields."""

    core: ContextCore
    messages: tuple[Message, ...] = ()
    """Messages to insert or replace, by id."""
    branches: Mapping[str, Branch] = {}
    appended: Mapping[str, tuple[MessageId, ...]] = {}
    """Message ids to append to branches, by the name of the branch."""
    calls: tuple[CallRecord, ...] = ()
    """Call records to insert or replace, by id."""
    audit: tuple[AuditEntry, ...] = ()
    dropped: tuple[str, ...] = ()
    """Branches to delete with their lists of ids."""
    renamed: Mapping[str, str] = {}
    """New names of branches by the old ones. A renamed branch keeps its list of ids."""
    keys: tuple[SentKey, ...] = ()
    accepts_audit: bool = False
    """Whether the first audit entry of the change records that the person accepts the chain before it, as the chain was
    last read. The entry and the acceptance take effect together."""


class PartialAnswer(Value):
    """An answer that was being streamed when the process died."""

    message_id: MessageId
    turn: TurnId
    deltas: tuple[str, ...]
    reasoning: Reasoning | None = None


class StoredContext(Value):
    """A context as a store opens it: bounded in size, however long the history is."""

    core: ContextCore
    version: int
    branches: Mapping[str, Branch]
    calls: Mapping[CallId, CallRecord]
    partials: tuple[PartialAnswer, ...] = ()
    damage: tuple[Reason, ...] = ()


def named_context_id(name: str, user: str) -> ContextId:
    """The id of a conversation that a user has named. Two users can choose the same name."""
    return ContextId(f"{name}~{user}")


def check_context_id(value: str) -> ContextId:
    """Raises: InvalidInput for an id that cannot be the name of a folder."""
    if not is_context_id(value):
        raise InvalidInput(Code.INVALID_ID, value=value)
    return ContextId(value)


def is_context_id(value: str) -> bool:
    return _ID.fullmatch(value) is not None
