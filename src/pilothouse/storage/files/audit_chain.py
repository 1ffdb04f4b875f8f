"""The audit of one context on disk: reading it, and checking its chain against the noted head.

Entries and the check of their chain use the same bytes: another process may replace the file at any time.
"""

import errno
import hashlib
import io
import os
import sys
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import BinaryIO, NamedTuple

import msgspec

from pilothouse.domain.audit import (
    Acceptance,
    AuditEntry,
    AuditHead,
    ChainCheck,
    CheckedAudit,
    NotedHead,
    effective_head,
)
from pilothouse.domain.codes import Code, Reason
from pilothouse.domain.errors import Conflict
from pilothouse.domain.value import Value
from pilothouse.storage.files.heads import AuditHeads
from pilothouse.system.regular_file import open_regular_file

MIN_BLOCK_BYTES = 64 * 1024
MAX_LINE_BYTES = 64 * 1024 * 1024
"""Longer than any entry. A longer line is read in pieces, none of which is an entry."""
_OUT_OF_RESOURCES = frozenset({errno.EMFILE, errno.ENFILE, errno.ENOMEM})
_AUDIT = msgspec.json.Decoder(AuditEntry)


class AuditSnapshot(Value):
    """The state of a context's audit at one instant. The file only grows afterwards, and heads are noted later: a
    reader without the context's lock must not compare the snapshot with a later head."""

    path: Path
    size: int
    """How many bytes of the file count."""
    tail: tuple[bytes, ...]
    """The lines that are not in the file yet."""
    end: AuditHead
    noted: NotedHead | None
    is_new: bool
    """Whether this process started the chain, and no head has been noted yet."""


class AuditRead(NamedTuple):
    """The result of reading an audit."""

    page: CheckedAudit
    checked: "_CheckedFile"
    """The file at the time of this read."""
    is_recorded: bool
    """Whether the chain contains the record of the noted acceptance."""


class AuditState:
    """The state of a context's chain beside its entries: the noted head, and whether the chain is whole.

    Changes need the context's lock; `read` needs no lock and changes nothing.
    """

    def __init__(self, heads: AuditHeads, name: str) -> None:
        self._heads = heads
        self._name = name
        self.is_new = False
        """Whether this process started the chain, and no head has been noted yet."""
        self._checked: _CheckedFile | None = None
        self._broken_at: int | None = None
        """The first entry that was wrong when the chain was last compared, and is not accepted yet."""
        self._is_recorded = False
        """Whether the noted acceptance is in effect: its record is part of the chain."""

    def compare(self, audit: AuditSnapshot) -> None:
        """Check the whole chain when a context is opened: about 4 µs an entry, once a process."""
        read = self.read(audit, limit=0)
        self._checked, self._is_recorded = read.checked, read.is_recorded
        self._broken_at = read.page.chain.broken_at

    def must_remember(self, read: AuditRead) -> bool:
        """Whether the result of a read changes this state."""
        return read.checked is not self._checked or (self.is_trusted and not read.page.chain.whole)

    def remember(self, read: AuditRead, size: int) -> None:
        """Spare the next read another check of the file, and let the person accept the bytes of this read. `size` is
        how many bytes of the file count now: a read of fewer bytes is dropped."""
        if read.checked.size == size:
            self._checked = read.checked

    def note(self, end: AuditHead) -> None:
        """Note the end of a chain that is on disk. The noted head of a broken chain stays until the person accepts
        the chain."""
        if self._broken_at is None:
            head = effective_head(self.noted(), self._is_recorded)
            accepted = head.accepted if head is not None else None
            if self._heads.note("contexts", self._name, NotedHead(end.count, end.hash, accepted)):
                self.is_new = False

    def append(self, size: int, lines: Sequence[bytes]) -> None:
        """Treat lines that this process has written behind the first `size` bytes of the file as read."""
        checked = self._checked
        if checked is None or (checked.size, checked.progress.bytes) != (size, size) or not lines:
            return
        progress, blocks = checked.progress.copy(), checked.blocks.copy()
        for line in lines:
            progress.take(line + b"\n")
            blocks.append(line + b"\n")
        self._checked = _CheckedFile(progress.bytes, None, blocks, progress)

    def accept(self, audit: AuditSnapshot, record: str | None = None) -> None:
        """Accept the chain as this process has read it. The acceptance is noted outside of the data directory only.

        With the hash of a record, the acceptance takes effect when that entry is appended: then call
        `confirm_acceptance`.

        Raises: Conflict where the file was modified since it was read, StoreRefused.
        """
        accepted = self._acceptance(audit)
        if accepted is None:
            self.compare(audit)  # the person reviews the chain again, and accepts its present content
            raise Conflict(Code.AUDIT_CHANGED)
        if record is not None:
            accepted = msgspec.structs.replace(
                accepted, record=record, replaced=effective_head(audit.noted, self._is_recorded)
            )
        if self._heads.note_acceptance("contexts", self._name, NotedHead(audit.end.count, audit.end.hash, accepted)):
            self.is_new = False
        self._is_recorded = False
        if record is None:
            self._broken_at = None

    def confirm_acceptance(self) -> None:
        """The record of the noted acceptance was committed: the acceptance takes effect."""
        self._broken_at = None
        self._is_recorded = True

    def read(self, audit: AuditSnapshot, after: int = 0, limit: int | None = None) -> AuditRead:
        """The entries behind the first `after`, and the check of the whole chain.

        Blocks of the file outside of the page are read again only where the file changed since they were checked, and
        their entries only where the blocks changed.
        """
        noted = NotedHead(audit.end.count, audit.end.hash) if audit.noted is None and audit.is_new else audit.noted
        page = range(after, sys.maxsize if limit is None else after + limit)
        with open_audit(audit.path) as file:
            checked, entries = _recheck_file(file, self._checked, audit.size, noted), None
            if checked is not None:
                entries = _unchanged_entries(file, checked.blocks.all(), page)
            if checked is None or entries is None:
                signature, progress = _signature(file), _Progress(noted)
                blocks, entries = _check_file(file, audit.size, progress, page)
                checked = _CheckedFile(audit.size, signature, blocks, progress)
        progress = checked.progress.copy()
        for line in audit.tail:
            number, entry = progress.lines, progress.take(line + b"\n")
            if number in page and entry is not None:
                entries.append(entry)
        audit_page = CheckedAudit(tuple(entries), progress.check.result(audit.end), progress.lines)
        return AuditRead(audit_page, checked, progress.is_recorded)

    def _acceptance(self, audit: AuditSnapshot) -> Acceptance | None:
        """An acceptance of the bytes that were read; None where the file has changed since."""
        checked, digest = self._checked, hashlib.sha256()
        if checked is None or checked.size != audit.size:
            return None
        with open_audit(audit.path) as file:
            for block in checked.blocks.all():
                data = _block_or_none(file, block)
                if data is None:
                    return None
                digest.update(data)
            if any(iterate_lines(file, audit.size, checked.progress.bytes)):
                return None
        size = checked.progress.bytes
        for line in audit.tail:
            digest.update(line + b"\n")
            size += len(line) + 1
        return Acceptance(size, digest.hexdigest(), audit.end)

    @property
    def is_trusted(self) -> bool:
        """Whether the chain was whole, or accepted, when it was last compared."""
        return self._broken_at is None

    def damage(self) -> tuple[Reason, ...]:
        return (Reason(Code.AUDIT_CUT, {"sequence": self._broken_at}),) if self._broken_at is not None else ()

    def noted(self) -> NotedHead | None:
        return self._heads.read("contexts", self._name)


class _Progress:
    """The check of a chain up to the line that was read last."""

    def __init__(self, noted: NotedHead | None) -> None:
        self.noted = noted
        self._accepted = noted.accepted if noted is not None else None
        self.check = ChainCheck(effective_head(noted, is_recorded=False))
        self.lines = 0
        self.bytes = 0
        self.is_recorded = False
        """Whether the record of the acceptance follows directly behind the accepted lines."""
        self._awaits_record = False
        self._digest = hashlib.sha256()
        """The digest of the lines so far, up to the last accepted line."""
        self._skip_accepted()

    def take(self, line: bytes) -> AuditEntry | None:
        """The entry of the next line; None for an unreadable line, which breaks the chain."""
        entry = entry_or_none(line)
        if self._awaits_record:
            self._awaits_record = False
            self._take_record(entry)
        self.check.add(entry)
        self.lines += 1
        self.bytes += len(line)
        if self._accepted is not None and self.bytes <= self._accepted.length:
            self._digest.update(line)
            self._skip_accepted()
        return entry

    def _skip_accepted(self) -> None:
        """Drop errors of lines that the person accepted, if the lines are unchanged."""
        accepted = self._accepted
        if accepted is not None and (self.bytes, self._digest.hexdigest()) == (accepted.length, accepted.digest):
            if accepted.record is None:
                self.check = ChainCheck(self.noted, accepted.end)
            else:
                self._awaits_record = True

    def _take_record(self, entry: AuditEntry | None) -> None:
        assert self._accepted is not None
        if entry is not None and entry.hash == self._accepted.record:
            self.check = ChainCheck(self.noted, self._accepted.end)
            self.is_recorded = True

    def copy(self) -> "_Progress":
        """An independent copy, from which the check can continue."""
        return self._with(self.noted, self.check.copy())

    def with_noted(self, noted: NotedHead | None) -> "_Progress | None":
        """The check of the same lines against a newer noted head; None where the lines must be checked again."""
        if noted == self.noted:
            return self
        if self._accepted is not None and self._accepted.record is not None and not self.is_recorded:
            return None
        old, new = effective_head(self.noted, self.is_recorded), effective_head(noted, self.is_recorded)
        if (old.accepted if old is not None else None) != (new.accepted if new is not None else None):
            return None
        check = self.check.with_noted(noted)
        return self._with(noted, check) if check is not None else None

    def _with(self, noted: NotedHead | None, check: ChainCheck) -> "_Progress":
        other = _Progress(noted)
        other.check = check
        other.lines = self.lines
        other.bytes = self.bytes
        other._digest = self._digest.copy()
        other.is_recorded = self.is_recorded
        other._awaits_record = self._awaits_record
        return other


class _Block(NamedTuple):
    """Consecutive whole lines of a file that were checked. Unchanged lines (same digest) need no further check."""

    first_line: int
    start: int
    size: int
    digest: bytes


class _Blocks:
    """All lines of a file in order, in blocks: about 150 kB for 100,000 entries."""

    def __init__(self) -> None:
        self._whole: list[_Block] = []
        self._first_line = 0
        self._start = 0
        self._line_count = 0
        self._size = 0
        self._digest = hashlib.sha256()
        """The fields above belong to the last block, which grows until it has MIN_BLOCK_BYTES."""

    def append(self, line: bytes) -> None:
        self._digest.update(line)
        self._line_count += 1
        self._size += len(line)
        if self._size >= MIN_BLOCK_BYTES:
            self._whole.append(self._last())
            self._first_line += self._line_count
            self._start += self._size
            self._line_count = self._size = 0
            self._digest = hashlib.sha256()

    def all(self) -> list[_Block]:
        return [*self._whole, self._last()] if self._size else self._whole.copy()

    def copy(self) -> "_Blocks":
        """A copy, so that concurrent readers keep the blocks with which they started."""
        other = _Blocks()
        other._whole = self._whole.copy()
        other._first_line, other._start = self._first_line, self._start
        other._line_count, other._size, other._digest = self._line_count, self._size, self._digest.copy()
        return other

    def _last(self) -> _Block:
        return _Block(self._first_line, self._start, self._size, self._digest.digest())


class _CheckedFile(NamedTuple):
    """The immutable result of checking a file."""

    size: int
    """How many bytes of the file counted."""
    signature: tuple[int, ...] | None
    """The file's signature; None for a file that was written since."""
    blocks: _Blocks
    progress: _Progress
    """After the last line of the file."""


def _recheck_file(
    file: BinaryIO, checked: _CheckedFile | None, size: int, noted: NotedHead | None
) -> _CheckedFile | None:
    """An earlier check, if it is valid for the present file; None where all lines must be checked."""
    if checked is None or checked.size != size:
        return None
    progress, signature = checked.progress.with_noted(noted), _signature(file)
    if progress is None:
        return None
    if checked.signature != signature:
        blocks = checked.blocks.all()
        if any(_block_or_none(file, block) is None for block in blocks) or any(
            iterate_lines(file, size, progress.bytes)
        ):
            return None
    if progress is checked.progress and checked.signature == signature:
        return checked
    return _CheckedFile(size, signature, checked.blocks, progress)


def _check_file(file: BinaryIO, size: int, progress: _Progress, page: range) -> tuple[_Blocks, list[AuditEntry]]:
    """Check every line of a file; returns the entries of the page from the same bytes."""
    blocks = _Blocks()
    entries: list[AuditEntry] = []
    for line in iterate_lines(file, size):
        number, entry = progress.lines, progress.take(line)
        if number in page and entry is not None:
            entries.append(entry)
        blocks.append(line)
    return blocks, entries


def _unchanged_entries(file: BinaryIO, blocks: list[_Block], page: range) -> list[AuditEntry] | None:
    """The entries of the page that lie in these blocks; None where a block has changed."""
    entries: list[AuditEntry] = []
    first = max(0, bisect_right(blocks, page.start, key=lambda block: block.first_line) - 1)
    for block in blocks[first:]:
        if block.first_line >= page.stop:
            break
        data = _block_or_none(file, block)
        if data is None:
            return None
        lines = list(iterate_lines(io.BytesIO(data), len(data)))
        numbers = range(max(page.start, block.first_line), min(page.stop, block.first_line + len(lines)))
        decoded = (entry_or_none(lines[number - block.first_line]) for number in numbers)
        entries += [entry for entry in decoded if entry is not None]
    return entries


def _block_or_none(file: BinaryIO, block: _Block) -> bytes | None:
    """The bytes of a checked block; None where they have changed since."""
    try:
        file.seek(block.start)
        data = file.read(block.size)
    except OSError:
        return None
    return data if hashlib.sha256(data).digest() == block.digest else None


def open_audit(path: Path) -> BinaryIO:
    """The open audit file; an empty file where none can be read.

    Raises: OSError where the system is out of resources: the file may be in order.
    """
    try:
        return open_regular_file(path)
    except OSError as error:
        if error.errno in _OUT_OF_RESOURCES:
            raise
        return io.BytesIO()


def iterate_lines(file: BinaryIO, size: int, start: int = 0) -> Iterator[bytes]:
    """The lines in the first `size` bytes of a file, behind `start`, up to the first unreadable byte.

    Raises: OSError where the system is out of resources.
    """
    file.seek(start)
    size -= start
    try:
        while size > 0 and (line := file.readline(min(size, MAX_LINE_BYTES))):
            size -= len(line)
            yield line
    except OSError as error:
        if error.errno in _OUT_OF_RESOURCES:
            raise


def whole_lines_size(path: Path, size: int) -> int:
    """How many of the first `size` bytes are whole lines: all of them, unless another program changed the file.
    Entries are written behind them, so that each has a line of its own."""
    try:
        with open_regular_file(path) as file:
            end = min(size, file.seek(0, os.SEEK_END))
            while end:
                start = max(0, end - MIN_BLOCK_BYTES)
                file.seek(start)
                if last := file.read(end - start).rfind(b"\n") + 1:
                    return start + last
                end = start
            return 0
    except FileNotFoundError:
        return 0
    except OSError:  # unreadable bytes must not be overwritten
        return size


def entry_or_none(line: bytes) -> AuditEntry | None:
    try:
        return _AUDIT.decode(line)
    except (msgspec.MsgspecError, UnicodeDecodeError):
        return None


def _signature(file: BinaryIO) -> tuple[int, ...]:
    """A value that changes with the file, except for changes within the resolution of the file's times."""
    if isinstance(file, io.BytesIO):
        return ()
    status = os.fstat(file.fileno())
    return (status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns)
