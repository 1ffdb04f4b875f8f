"""The audit of one context on disk: read line by line, checked, and compared with the head that was noted elsewhere."""

import os
from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec

from pilothouse.domain.audit import AuditChain, AuditEntry, AuditHead, ChainCheck, NotedHead, contradicts
from pilothouse.domain.codes import Code, Reason
from pilothouse.domain.values import Value
from pilothouse.storage.files.heads import Heads

_AUDIT = msgspec.json.Decoder(AuditEntry)
_LAST_BYTES = 64 * 1024
"""A head is noted with a checkpoint, so the entry that it names is among the last of the file."""


class AuditSnapshot(Value):
    """Where the audit of a context lies at one instant. Only more is appended to the file, and noted later: whoever
    reads it without the context's lock must not compare it with a later head."""

    path: Path
    size: int
    tail: tuple[bytes, ...]
    """The lines that are not in the file yet."""
    end: AuditHead
    noted: AuditHead | None


class AuditState:
    """What is known of a context's chain beside its entries: the noted head, and whether the chain contradicts it."""

    def __init__(self, heads: Heads, name: str) -> None:
        self._heads = heads
        self._name = name
        self.is_new = False
        """Whether this process began the chain, and no head was noted so far."""
        self._checked: tuple[tuple[tuple[int, ...], AuditHead | None], ChainCheck] | None = None
        self.is_contradicted = False

    def compare(self, audit: AuditSnapshot) -> None:
        """Look up the noted head in the chain. Reads a bounded amount, unless the head is far behind."""
        noted = audit.noted
        if noted is None or noted.count == 0:
            self.is_contradicted = False
        elif noted.count >= audit.end.count:
            self.is_contradicted = (noted.count, noted.hash) != (audit.end.count, audit.end.hash)
        else:
            entry = _find(audit, noted.count)
            self.is_contradicted = entry is None or contradicts(AuditHead(entry.sequence, entry.hash), noted)

    def note(self, end: AuditHead) -> None:
        """Note the end of a chain that is on disk. A contradicted head stays until the person accepts the chain."""
        if not self.is_contradicted and self._heads.note("contexts", self._name, NotedHead(end.count, end.hash)):
            self.is_new = False

    def accept(self, end: AuditHead) -> None:
        self.is_contradicted = False
        self.note(end)

    def check(self, audit: AuditSnapshot) -> AuditChain:
        """Check the whole chain. What was checked before is read again only where it changed."""
        noted = audit.end if audit.noted is None and self.is_new else audit.noted
        signature = (_signature(audit), noted)
        known = self._checked
        if known is None or known[0] != signature:
            check = ChainCheck(noted)
            for line in audit_lines(audit.path, audit.size):
                check.take(entry_or_none(line))
            known = self._checked = (signature, check)
        check = known[1].copy()
        for line in audit.tail:
            check.take(entry_or_none(line))
        return check.result(audit.end)

    def damage(self, end: AuditHead) -> tuple[Reason, ...]:
        if not self.is_contradicted:
            return ()
        noted = self.noted()
        return (Reason(Code.AUDIT_CUT, {"found": end.count, "known": noted.count if noted is not None else 0}),)

    def noted(self) -> AuditHead | None:
        return self._heads.read("contexts", self._name)


def audit_lines(path: Path, size: int) -> Iterator[bytes]:
    """The lines in the first `size` bytes of a file, one at a time; no lines where the file cannot be read."""
    try:
        with path.open("rb") as file:
            while size > 0 and (line := file.readline(size)):
                size -= len(line)
                yield line
    except OSError:
        return


def read_audit(path: Path, size: int, tail: Sequence[bytes], after: int, limit: int | None) -> list[AuditEntry]:
    """The entries behind the first `after`. Those that cannot be read are left out: the chain then shows the break."""
    found = []
    stop = None if limit is None else after + limit
    for number, line in enumerate(_all_lines(path, size, tail)):
        if stop is not None and number >= stop:
            break
        entry = entry_or_none(line) if number >= after else None
        if entry is not None:
            found.append(entry)
    return found


def _all_lines(path: Path, size: int, tail: Sequence[bytes]) -> Iterator[bytes]:
    yield from audit_lines(path, size)
    yield from tail


def entry_or_none(line: bytes) -> AuditEntry | None:
    try:
        return _AUDIT.decode(line)
    except (msgspec.MsgspecError, UnicodeDecodeError):
        return None


def _find(audit: AuditSnapshot, sequence: int) -> AuditEntry | None:
    """The entry at its place, looked for from the end first."""
    for line in (*_last_lines(audit.path, audit.size), *audit.tail):
        entry = entry_or_none(line)
        if entry is not None and entry.sequence == sequence:
            return entry
    for number, line in enumerate(audit_lines(audit.path, audit.size), start=1):
        if number == sequence:
            return entry_or_none(line)
    return None


def _last_lines(path: Path, size: int) -> list[bytes]:
    start = max(0, size - _LAST_BYTES)
    try:
        with path.open("rb") as file:
            file.seek(start)
            return file.read(size - start).splitlines()
    except OSError:
        return []


def _signature(audit: AuditSnapshot) -> tuple[int, ...]:
    """Changes with the file."""
    try:
        found = os.stat(audit.path)
    except OSError:
        return (audit.size,)
    return (audit.size, found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns)
