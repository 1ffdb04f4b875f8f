"""A change that is being put together: what a commit makes durable, present and known, all at once."""

from typing import TYPE_CHECKING, Any

import msgspec

from pilothouse.domain.audit import AuditDraft, Kind
from pilothouse.domain.branches import Branch
from pilothouse.domain.calls import CallRecord
from pilothouse.domain.contexts import SentKey
from pilothouse.domain.messages import Message
from pilothouse.domain.values import CallId, MessageId

if TYPE_CHECKING:
    from pilothouse.runtime.live import Live


# What a draft says that starts something, and what did not happen when the store has refused it.
_NOT_HAPPENED = frozenset({"call_started", "elevation_ended", "turn_paused"})
_UNDECIDED: dict[str, Any] = {"approval": None, "decided_at": None, "decided_by": None}


class Draft:
    """Nothing of it counts before it is committed. `base` is the refused one that it began with, if any."""

    def __init__(self, live: "Live") -> None:
        self.live = live
        self.base: Draft | None = None
        self.core: dict[str, Any] = {}
        self.messages: list[Message] = []
        self.appended: dict[str, list[MessageId]] = {}
        self.branches: dict[str, Branch] = {}
        self.calls: dict[CallId, CallRecord] = {}
        self.audit: list[AuditDraft] = []
        self.accepts_audit = False
        self.dropped: list[str] = []
        self.renamed: dict[str, str] = {}
        self.keys: list[SentKey] = []

    def value(self, name: str) -> Any:
        """A field of the core as it would be."""
        return self.core[name] if name in self.core else getattr(self.live.core, name)

    def append(self, message: Message, branch: str) -> None:
        """A new message at the end of a branch."""
        self.messages.append(message)
        self.appended.setdefault(branch, []).append(message.id)

    def length(self, branch: str) -> int:
        """How many messages a branch would have."""
        known = self.live.branches.get(branch)
        return (known.length if known is not None else 0) + len(self.appended.get(branch, ()))

    def call(self, call_id: CallId) -> CallRecord:
        return self.calls.get(call_id) or self.live.calls[call_id]

    def change_call(self, call_id: CallId, **fields: Any) -> CallRecord:
        changed = msgspec.structs.replace(self.call(call_id), **fields)
        self.calls[call_id] = changed
        return changed

    def all_calls(self) -> list[CallRecord]:
        """Every call of the open turn as it would be, in the order asked."""
        merged = {**self.live.calls, **self.calls}
        return list(merged.values())

    def round_calls(self) -> list[CallRecord]:
        """Those of the present round: the only ones that can be open."""
        turn = self.live.core.turn
        if turn is None:
            return []
        return [call for call in self.all_calls() if call.turn == turn.id and call.round == turn.round]

    def note(self, kind: Kind, by: str, **detail: Any) -> None:
        self.audit.append(AuditDraft(kind=kind, at=self.live.parts.now(), by=by, detail=msgspec.to_builtins(detail)))

    def copy(self) -> "Draft":
        made = Draft(self.live)
        made.core = dict(self.core)
        made.messages = list(self.messages)
        made.appended = {branch: list(ids) for branch, ids in self.appended.items()}
        made.branches = dict(self.branches)
        made.calls = dict(self.calls)
        made.audit = list(self.audit)
        made.dropped = list(self.dropped)
        made.renamed = dict(self.renamed)
        made.keys = list(self.keys)
        return made

    def without_starts(self) -> "Draft":
        """The same, but nothing starts: what is kept when the store refuses it."""
        kept = self.copy()
        for call in self.calls.values():
            if call.status == "executing" and not self.live.is_executing(call.id):
                kept.calls[call.id] = msgspec.structs.replace(call, status="pending", started_at=None, **_UNDECIDED)
        kept.audit = [entry for entry in self.audit if entry.kind not in _NOT_HAPPENED]
        kept.core.pop("elevation", None)  # what has not run has used nothing up
        return kept
