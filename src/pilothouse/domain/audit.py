"""The audit: append-only and hash-chained, written in the same commit as what it describes."""

import hashlib
from collections.abc import Iterable, Mapping
from typing import Any, Literal

import msgspec

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
    """Where the chain stands."""

    count: int = 0
    hash: str = GENESIS


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


def first_break(entries: Iterable[AuditEntry]) -> int | None:
    """The sequence of the first entry that does not fit its chain, or None."""
    head = AuditHead()
    for entry in entries:
        draft = AuditDraft(kind=entry.kind, at=entry.at, by=entry.by, detail=entry.detail)
        expected = _digest(head.count + 1, draft, head.hash)
        if (entry.sequence, entry.previous, entry.hash) != (head.count + 1, head.hash, expected):
            return head.count + 1
        head = AuditHead(count=entry.sequence, hash=entry.hash)
    return None


def _digest(sequence: int, draft: AuditDraft, previous: str) -> str:
    return hashlib.sha256(msgspec.json.encode([sequence, draft, previous], order="sorted")).hexdigest()
