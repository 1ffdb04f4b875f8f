"""The audit: append-only and hash-chained, written in the same commit as what it describes."""

import hashlib
from collections.abc import Iterable, Mapping
from typing import Any, Literal

import msgspec

from pilothouse.domain.codes import Code, Reason
from pilothouse.domain.values import Timestamp, Value

Kind = Literal[
    "context_created",
    "mode_switched",
    "call_decided",
    "call_started",
    "call_ended",
    "elevated",
    "elevation_started",
    "elevation_ended",
    "rule_given",
    "rule_revoked",
    "policy_set",
    "persona_set",
    "turn_paused",
    "turn_resumed",
    "prompt_changed",
    "branch_deleted",
    "branches_merged",
    "history_compressed",
    "compression_undone",
    "question_answered",
    "turn_cancelled",
    "recovered",
    "folder_trusted",
    "folder_distrusted",
    "change_undone",
    "resource_added",
    "command_by_person",
    "upload_copied",
    "upload_removed",
]

GENESIS = "0" * 64


class AuditDraft(Value):
    """An entry before it has its place in the chain."""

    kind: Kind
    at: Timestamp
    by: str
    detail: Mapping[str, Any] = {}


class AuditEntry(Value, kw_only=True):
    sequence: int
    kind: Kind
    at: Timestamp
    by: str
    detail: Mapping[str, Any] = {}
    previous: str
    hash: str


class AuditHead(Value):
    """Where a chain ends."""

    count: int = 0
    """How many entries it has."""
    hash: str = GENESIS
    """The hash of the last one."""


class Acceptance(Value):
    """The beginning of a chain that a person accepted as it is, although entries are missing or different."""

    length: int
    """How much was accepted: bytes of a conversation's audit, entries of a user's log."""
    digest: str
    """The SHA-256 of what was accepted. Where it no longer fits, nothing is accepted."""
    end: AuditHead
    """What the next entry is chained to."""
    damage: tuple[Reason, ...] = ()
    """What was told of a user's log when the person accepted it."""
    record: str | None = None
    """The hash of the entry that records the acceptance. Without that entry right behind what was accepted, nothing is
    accepted: so the commit of the entry puts both into force. None where nothing is recorded."""
    replaced: "NotedHead | None" = None
    """The head that counts as long as the record is missing."""


class NotedHead(AuditHead):
    """Where a chain ended when that was last noted outside the data directory."""

    accepted: Acceptance | None = None


def counting_head(noted: NotedHead | None, is_recorded: bool) -> NotedHead | None:
    """The noted head that counts. `is_recorded` says whether the chain holds the record of the noted acceptance.

    An acceptance without its record is inert: the head before it counts. A recorded one needs no head before it any
    more; where that was dropped and the record is missing nevertheless, the chain was cut, and the noted head counts.
    """
    accepted = noted.accepted if noted is not None else None
    if noted is None or accepted is None or accepted.record is None:
        return noted
    if is_recorded:
        return NotedHead(noted.count, noted.hash, msgspec.structs.replace(accepted, replaced=None))
    return accepted.replaced or noted


def chain(head: AuditHead, drafts: Iterable[AuditDraft]) -> tuple[AuditHead, tuple[AuditEntry, ...]]:
    """The drafts as entries behind `head`, and the new head."""
    entries = []
    for draft in drafts:
        sequence = head.count + 1
        digest = _digest(sequence, draft, head.hash)
        entries.append(
            AuditEntry(
                sequence=sequence,
                kind=draft.kind,
                at=draft.at,
                by=draft.by,
                detail=draft.detail,
                previous=head.hash,
                hash=digest,
            )
        )
        head = AuditHead(count=sequence, hash=digest)
    return head, tuple(entries)


class AuditChain(Value, kw_only=True):
    """What is known of a chain that was read."""

    whole: bool
    """Whether every entry fits the one before it, and none is missing or different from what was seen here before."""
    confirmed: bool
    """Whether the chain contains the end that was noted outside the data directory. A copied folder has none."""
    broken_at: int | None = None
    """The sequence of the first entry that is missing, unreadable or different."""


class CheckedAudit(Value):
    """Entries of an audit, and what is known of the whole chain that they were read from."""

    entries: tuple[AuditEntry, ...]
    chain: AuditChain
    """Never of another read than the entries: the file may be exchanged between two."""
    line_count: int
    """How many lines there are to page through. A line that cannot be read gives no entry, and counts."""


def chain_reason(chain: AuditChain) -> Reason:
    """A chain in a form that can be put into words."""
    if not chain.whole:
        return Reason(Code.AUDIT_BROKEN, {"sequence": chain.broken_at})
    return Reason(Code.AUDIT_WHOLE if chain.confirmed else Code.AUDIT_NOT_CONFIRMED)


class ChainCheck:
    """Checks a chain entry by entry, without keeping any."""

    def __init__(self, noted: AuditHead | None = None, start: AuditHead | None = None) -> None:
        """`start` is what the first entry is chained to, where the entries before it were accepted."""
        self._noted = noted
        self._head = start or AuditHead()
        self._broken_at: int | None = None

    def take(self, entry: AuditEntry | None) -> None:
        """The next entry; None for one that cannot be read."""
        if self._broken_at is not None:
            return
        if entry is None or not _follows(entry, self._head):
            self._broken_at = self._head.count + 1
            return
        self._head = AuditHead(count=entry.sequence, hash=entry.hash)
        if self._noted is not None and contradicts(self._head, self._noted):
            self._broken_at = entry.sequence

    def copy(self) -> "ChainCheck":
        """To go on from here twice."""
        other = ChainCheck(self._noted, self._head)
        other._broken_at = self._broken_at
        return other

    def with_noted(self, noted: AuditHead | None) -> "ChainCheck | None":
        """The same check, compared with a head that was noted later; None where the entries must be checked again."""
        if self._broken_at is not None or noted is None or noted.count < self._head.count:
            return None
        return None if contradicts(self._head, noted) else ChainCheck(noted, self._head)

    def result(self, end: AuditHead | None = None) -> AuditChain:
        """What the entries add up to; `end` is where the chain must end, where that is known."""
        broken_at, count = self._broken_at, self._head.count
        if broken_at is None and end not in (None, self._head):
            assert end is not None
            broken_at = count if end.count == count else min(end.count, count) + 1
        if broken_at is None and self._noted is not None and self._noted.count > count:
            broken_at = count + 1
        whole = broken_at is None
        return AuditChain(whole=whole, confirmed=whole and self._noted is not None, broken_at=broken_at)


def check_chain(
    entries: Iterable[AuditEntry], noted: AuditHead | None = None, start: AuditHead | None = None
) -> AuditChain:
    check = ChainCheck(noted, start)
    for entry in entries:
        check.take(entry)
    return check.result()


def contradicts(entry: AuditHead, noted: AuditHead) -> bool:
    """Whether an entry of a chain is another one than was noted at its place."""
    return entry.count == noted.count and entry.hash != noted.hash


def _follows(entry: AuditEntry, head: AuditHead) -> bool:
    draft = AuditDraft(kind=entry.kind, at=entry.at, by=entry.by, detail=entry.detail)
    expected = _digest(head.count + 1, draft, head.hash)
    return (entry.sequence, entry.previous, entry.hash) == (head.count + 1, head.hash, expected)


def _digest(sequence: int, draft: AuditDraft, previous: str) -> str:
    return hashlib.sha256(msgspec.json.encode([sequence, draft, previous], order="sorted")).hexdigest()
