"""`Draft`: a change under construction, which one commit stores, applies and signals as a whole. `PendingChange`: what
a turn has to store with its next commit, whichever step makes that commit."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import msgspec

from pilothouse.domain.audit import AuditDraft, Kind
from pilothouse.domain.branches import Branch
from pilothouse.domain.calls import CallRecord
from pilothouse.domain.contexts import OpenTurn, SentKey
from pilothouse.domain.messages import Message, ToolRequest, Usage
from pilothouse.domain.value import CallId, MessageId

if TYPE_CHECKING:
    from pilothouse.runtime.context.live_context import LiveContext


# Audit entries about events that have not happened if the store refuses the draft.
_EVENTS_OF_COMMIT = frozenset({"call_started", "elevation_ended", "turn_paused"})


class Draft:
    """A change that has no effect before its commit."""

    def __init__(self, live: "LiveContext") -> None:
        self.live = live
        self.base: Draft | None = None
        """The refused draft that this one began as a copy of."""
        self.environment = live.files.environment
        """The environment of the commands that this change lets run."""
        self.core: dict[str, Any] = {}
        """Changed fields of the core."""
        self.messages: list[Message] = []
        """New messages, and new contents of existing ones."""
        self.appended: dict[str, list[MessageId]] = {}
        """By branch: ids to append."""
        self.branches: dict[str, Branch] = {}
        self.calls: dict[CallId, CallRecord] = {}
        self.audit: list[AuditDraft] = []
        self.accepts_audit = False
        """Whether the person accepts an audit that was cut or rewritten."""
        self.dropped: list[str] = []
        """Branches to delete."""
        self.renamed: dict[str, str] = {}
        """New names of branches, by their old ones."""
        self.keys: list[SentKey] = []

    def value(self, name: str) -> Any:
        """A field of the core, as of the commit."""
        return self.core[name] if name in self.core else getattr(self.live.core, name)

    def append(self, message: Message, branch: str) -> None:
        """Add a new message at the end of a branch."""
        self.messages.append(message)
        self.appended.setdefault(branch, []).append(message.id)

    def prepend(self, messages: Sequence[Message], branch: str) -> None:
        """Add new messages at the end of a branch, before those that the draft appends already."""
        if messages:
            self.messages[:0] = messages
            self.appended.setdefault(branch, [])[:0] = [message.id for message in messages]

    def add_usage(self, usage: Usage) -> None:
        """Add usage of a model to the totals of the context and of the open turn."""
        self.core["usage"] = self.value("usage").plus(usage)
        turn: OpenTurn | None = self.value("turn")
        if turn is not None:
            self.core["turn"] = msgspec.structs.replace(turn, usage=turn.usage.plus(usage))

    def length(self, branch: str) -> int:
        """The length of a branch, as of the commit."""
        present = self.live.branches.get(branch)
        return (present.length if present is not None else 0) + len(self.appended.get(branch, ()))

    def call(self, call_id: CallId) -> CallRecord:
        return self.calls.get(call_id) or self.live.calls[call_id]

    def change_call(self, call_id: CallId, **fields: Any) -> CallRecord:
        call = msgspec.structs.replace(self.call(call_id), **fields)
        self.calls[call_id] = call
        return call

    def undecide_call(self, call_id: CallId, **fields: Any) -> None:
        """Make a call wait for a new decision."""
        self.calls[call_id] = msgspec.structs.replace(self.call(call_id).undecided(), **fields)

    def all_calls(self) -> list[CallRecord]:
        """Every call of the open turn, as of the commit, in the order in which the model requested them."""
        merged = {**self.live.calls, **self.calls}
        return list(merged.values())

    def round_calls(self) -> list[CallRecord]:
        """The calls of the present round. No other call can be open."""
        turn = self.live.core.turn
        if turn is None:
            return []
        return [call for call in self.all_calls() if call.turn == turn.id and call.round == turn.round]

    def note(self, kind: Kind, by: str, **detail: Any) -> None:
        self.audit.append(
            AuditDraft(kind=kind, at=self.live.dependencies.now(), by=by, detail=msgspec.to_builtins(detail))
        )

    def copy(self) -> "Draft":
        """A copy without `accepts_audit`: an acceptance belongs to one commit and is never tried again."""
        draft = Draft(self.live)
        draft.core = dict(self.core)
        draft.messages = list(self.messages)
        draft.appended = {branch: list(ids) for branch, ids in self.appended.items()}
        draft.branches = dict(self.branches)
        draft.calls = dict(self.calls)
        draft.audit = list(self.audit)
        draft.dropped = list(self.dropped)
        draft.renamed = dict(self.renamed)
        draft.keys = list(self.keys)
        return draft

    def without_starts(self) -> "Draft":
        """A copy that starts no call, to be retained when the store refuses this draft."""
        draft = self.copy()
        for call in self.calls.values():
            if call.status == "executing" and not self.live.is_executing(call.id):
                draft.calls[call.id] = call.undecided()
        draft.audit = [entry for entry in self.audit if entry.kind not in _EVENTS_OF_COMMIT]
        draft.core.pop("elevation", None)  # a call that has not run uses up no elevation
        return draft


class PendingChange:
    def __init__(self, refused: Draft | None = None) -> None:
        self.messages: list[Message] = []
        """Messages for the end of the turn's branch, before those of the commit's own draft."""
        self.usage: Usage | None = None
        """Usage that the model has reported."""
        self.core: dict[str, Any] = {}
        """Changed fields of the core."""
        self.refused = refused
        """The draft that the store refused. Every new draft begins as a copy of it, until a commit stores it."""

    @property
    def requests(self) -> Sequence[ToolRequest]:
        """The model's messages with calls. The calls are not inspected yet."""
        return [message for message in self.messages if isinstance(message, ToolRequest)]

    def add_usage(self, usage: Usage) -> None:
        self.usage = usage if self.usage is None else self.usage.plus(usage)

    def add_to(self, draft: Draft, branch: str) -> None:
        """Add everything but the refused draft to the draft of a commit."""
        draft.prepend(self.messages, branch)
        draft.core.update(self.core)
        if self.usage is not None:
            draft.add_usage(self.usage)
