"""The audit log: append-only and hash-chained. An entry is written in the same commit as the change it describes."""

import hashlib
from collections.abc import Iterable, Mapping
from typing import Any, Literal

import msgspec

from pilothouse.domain.codes import Code, Reason
from pilothouse.domain.value import Timestamp, Value

Kind = Literal[
    "context_created",
    "mode_switched",
    "calls_proposed",
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
    """An audit entry before it is chained."""

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
    """The end of a chain."""

    count: int = 0
    """The number of entries in the chain."""
    hash: str = GENESIS
    """The hash of the last entry."""


class Acceptance(Value):
    """The beginning of a chain that a person accepted in its present form, although entries are missing or changed."""

    length: int
    """The size of the accepted part: bytes of a conversation's audit, entries of a user's log."""
    digest: str
    """The SHA-256 of the accepted part. The acceptance is void where the digest no longer matches."""
    end: AuditHead
    """The head that the next entry is chained to."""
    damage: tuple[Reason, ...] = ()
    """The damage of a user's log that the person was shown and accepted."""
    record: str | None = None
    """The hash of the entry that records the acceptance. The acceptance is void unless that entry directly follows the
    accepted part, so the commit of the entry puts both into effect. None for an acceptance without a record."""
    replaced: "NotedHead | None" = None
    """The head that is in effect as long as the record is missing."""


class NotedHead(AuditHead):
    """The end of a chain when it was last noted outside the data directory."""

    accepted: Acceptance | None = None


def effective_head(noted: NotedHead | None, is_recorded: bool) -> NotedHead | None:
    """The noted head that is in effect. `is_recorded` says whether the chain holds the record of the noted acceptance.

    An acceptance without its record is void: the head before the acceptance is in effect. A recorded acceptance no
    longer needs the head before it. Where that head was dropped and the record is missing nevertheless, the chain was
    cut, and the noted head is in effect.
    """
    acceptance = noted.accepted if noted is not None else None
    if noted is None or acceptance is None or acceptance.record is None:
        return noted
    if is_recorded:
        return NotedHead(noted.count, noted.hash, msgspec.structs.replace(acceptance, replaced=None))
    return acceptance.replaced or noted


def chain(head: AuditHead, drafts: Iterable[AuditDraft]) -> tuple[AuditHead, tuple[AuditEntry, ...]]:
    """Chain drafts to `head`: the new head and the entries."""
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
    """The result of checking a chain."""

    whole: bool
    """Whether every entry matches the one before it, and none is missing or differs from the noted head."""
    confirmed: bool
    """Whether the chain contains the head that was noted outside the data directory. A copied folder has no such
    note."""
    broken_at: int | None = None
    """The sequence of the first entry that is missing, unreadable or different."""


class CheckedAudit(Value):
    """Entries of an audit, and the check of the whole chain that they were read from."""

    entries: tuple[AuditEntry, ...]
    chain: AuditChain
    """From the same read as the entries: the file may be replaced between two reads."""
    line_count: int
    """The number of lines to page through. An unreadable line gives no entry, but counts."""


def chain_reason(chain: AuditChain) -> Reason:
    """The result of a check as a reason."""
    if not chain.whole:
        return Reason(Code.AUDIT_BROKEN, {"sequence": chain.broken_at})
    return Reason(Code.AUDIT_WHOLE if chain.confirmed else Code.AUDIT_NOT_CONFIRMED)


class ChainCheck:
    """Checks a chain entry by entry, in constant memory."""

    def __init__(self, noted: AuditHead | None = None, start: AuditHead | None = None) -> None:
        """`start` is the head that the first entry is chained to, where the entries before it were accepted."""
        self._noted = noted
        self._head = start or AuditHead()
        self._broken_at: int | None = None

    def add(self, entry: AuditEntry | None) -> None:
        """Check the next entry; None for an unreadable one."""
        if self._broken_at is not None:
            return
        if entry is None or not _follows(entry, self._head):
            self._broken_at = self._head.count + 1
            return
        self._head = AuditHead(count=entry.sequence, hash=entry.hash)
        if self._noted is not None and contradicts(self._head, self._noted):
            self._broken_at = entry.sequence

    def copy(self) -> "ChainCheck":
        """An independent check that continues from here."""
        other = ChainCheck(self._noted, self._head)
        other._broken_at = self._broken_at
        return other

    def with_noted(self, noted: AuditHead | None) -> "ChainCheck | None":
        """The same check against a head that was noted later; None where the entries must be checked again."""
        if self._broken_at is not None or noted is None or noted.count < self._head.count:
            return None
        return None if contradicts(self._head, noted) else ChainCheck(noted, self._head)

    def result(self, end: AuditHead | None = None) -> AuditChain:
        """The result for the entries so far. `end` is the head that the chain must end with, if known."""
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
        check.add(entry)
    return check.result()


def contradicts(entry: AuditHead, noted: AuditHead) -> bool:
    """Whether an entry differs from the entry that was noted at its position."""
    return entry.count == noted.count and entry.hash != noted.hash


def _follows(entry: AuditEntry, head: AuditHead) -> bool:
    draft = AuditDraft(kind=entry.kind, at=entry.at, by=entry.by, detail=entry.detail)
    expected = _digest(head.count + 1, draft, head.hash)
    return (entry.sequence, entry.previous, entry.hash) == (head.count + 1, head.hash, expected)


def _digest(sequence: int, draft: AuditDraft, previous: str) -> str:
    return hashlib.sha256(msgspec.json.encode([sequence, draft, previous], order="sorted")).hexdigest()
