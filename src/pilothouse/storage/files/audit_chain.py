"""The audit of one context on disk: read line by line, checked, and compared with the head that was noted elsewhere."""

import errno
import hashlib
import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import msgspec

from pilothouse.domain.audit import Acceptance, AuditChain, AuditEntry, AuditHead, ChainCheck, NotedHead
from pilothouse.domain.codes import Code, Reason
from pilothouse.domain.values import Value
from pilothouse.storage.files.heads import Heads

_OUT_OF_RESOURCES = frozenset({errno.EMFILE, errno.ENFILE, errno.ENOMEM})
_AUDIT = msgspec.json.Decoder(AuditEntry)


class AuditSnapshot(Value):
    """Where the audit of a context lies at one instant. Only more is appended to the file, and noted later: whoever
    reads it without the context's lock must not compare it with a later head."""

    path: Path
    size: int
    tail: tuple[bytes, ...]
    """The lines that are not in the file yet."""
    end: AuditHead
    noted: NotedHead | None


class AuditState:
    """What is known of a context's chain beside its entries: the noted head, and whether the chain is whole."""

    def __init__(self, heads: Heads, name: str) -> None:
        self._heads = heads
        self._name = name
        self.is_new = False
        """Whether this process began the chain, and no head was noted so far."""
        self._checked: _CheckedFile | None = None
        self._broken_at: int | None = None
        """The first entry that was not as it should be when the context was opened, and is not accepted yet."""

    def compare(self, audit: AuditSnapshot) -> None:
        """Check the whole chain when the context is opened: about 20 µs an entry, once a process."""
        self._broken_at = self.check(audit).broken_at

    def note(self, end: AuditHead) -> None:
        """Note the end of a chain that is on disk. The noted head of a broken chain stays until the person accepts
        the chain."""
        if self._broken_at is None:
            noted = self.noted()
            self._note(end, noted.accepted if noted is not None else None)

    def accept(self, audit: AuditSnapshot) -> None:
        """The chain counts as it is now. Only what is noted outside of the data directory says so."""
        size = audit.size + sum(len(line) + 1 for line in audit.tail)
        self._note(audit.end, Acceptance(size, _digest_of(audit, size), audit.end))
        self._broken_at = None

    def _note(self, end: AuditHead, accepted: Acceptance | None) -> None:
        if self._heads.note("contexts", self._name, NotedHead(end.count, end.hash, accepted)):
            self.is_new = False

    def check(self, audit: AuditSnapshot) -> AuditChain:
        """Check the whole chain. What was checked before is read again only where it changed."""
        noted = NotedHead(audit.end.count, audit.end.hash) if audit.noted is None and self.is_new else audit.noted
        signature = (_signature(audit), noted)
        checked = self._checked
        if checked is None or checked.signature != signature:
            start = _accepted_bytes(audit, noted)
            check = ChainCheck(noted, noted.accepted.end if start and noted and noted.accepted else None)
            for line in audit_lines(audit.path, audit.size, start):
                check.take(entry_or_none(line))
            checked = self._checked = _CheckedFile(signature, check, max(0, start - audit.size))
        check, left = checked.check.copy(), checked.accepted_tail_bytes
        for line in audit.tail:
            if left > 0:
                left -= len(line) + 1
            else:
                check.take(entry_or_none(line))
        return check.result(audit.end)

    def damage(self) -> tuple[Reason, ...]:
        return (Reason(Code.AUDIT_CUT, {"sequence": self._broken_at}),) if self._broken_at is not None else ()

    def noted(self) -> NotedHead | None:
        return self._heads.read("contexts", self._name)


class _CheckedFile(NamedTuple):
    signature: tuple[tuple[int, ...], NotedHead | None]
    check: ChainCheck
    """After the last line of the file."""
    accepted_tail_bytes: int
    """How much of what is not in the file yet was accepted too."""


def _accepted_bytes(audit: AuditSnapshot, noted: NotedHead | None) -> int:
    """How much of the audit the person accepted as it is now; 0 where it was changed since."""
    accepted = noted.accepted if noted is not None else None
    if accepted is None or _digest_of(audit, accepted.length) != accepted.digest:
        return 0
    return accepted.length


def _digest_of(audit: AuditSnapshot, size: int) -> str:
    """Of the first `size` bytes, the same before and after a checkpoint has written the tail into the file."""
    digest = hashlib.sha256()
    for line in audit_lines(audit.path, min(size, audit.size)):
        digest.update(line)
    digest.update(b"".join(line + b"\n" for line in audit.tail)[: max(0, size - audit.size)])
    return digest.hexdigest()


def whole_lines(path: Path, size: int) -> int:
    """The part of the first `size` bytes that are whole lines: all of them, unless the file was changed elsewhere.
    Entries are written behind that part, so that each has a line of its own."""
    try:
        with path.open("rb") as file:
            found = min(size, file.seek(0, os.SEEK_END))
            file.seek(max(0, found - 1))
            if found == 0 or file.read(1) == b"\n":
                return found
    except FileNotFoundError:
        return 0
    except OSError:  # nothing may be written over what cannot be read
        return size
    return sum(len(line) for line in audit_lines(path, found) if line.endswith(b"\n"))


def audit_lines(path: Path, size: int, start: int = 0) -> Iterator[bytes]:
    """The lines in the first `size` bytes of a file, one at a time; no lines where the file cannot be read.

    Raises: OSError where the system is out of something: the file may be as it should be.
    """
    try:
        with path.open("rb") as file:
            file.seek(start)
            size -= start
            while size > 0 and (line := file.readline(size)):
                size -= len(line)
                yield line
    except OSError as error:
        if error.errno in _OUT_OF_RESOURCES:
            raise


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


def _signature(audit: AuditSnapshot) -> tuple[int, ...]:
    """Changes with the file."""
    try:
        found = os.stat(audit.path)
    except OSError:
        return (audit.size,)
    return (audit.size, found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns)
