"""The audit of one context on disk: read line by line, checked, and compared with the head that was noted elsewhere.

Entries and what is said of their chain come from the same bytes: another process may exchange the file at any time.
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
    counting_head,
)
from pilothouse.domain.codes import Code, Reason
from pilothouse.domain.errors import Conflict
from pilothouse.domain.values import Value
from pilothouse.regular_file import open_regular_file
from pilothouse.storage.files.heads import Heads

MIN_BLOCK_BYTES = 64 * 1024
MAX_LINE_BYTES = 64 * 1024 * 1024  # no entry is as long: what is longer is read in pieces, of which none is an entry
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
    is_new: bool
    """Whether this process began the chain, and no head was noted so far."""


class AuditRead(NamedTuple):
    """One read of an audit."""

    page: CheckedAudit
    checked: "_CheckedFile"
    """The file as this read found it."""
    is_recorded: bool
    """Whether the chain holds the record of the noted acceptance."""


class AuditState:
    """What is known of a context's chain beside its entries: the noted head, and whether the chain is whole.

    Whoever holds the context's lock changes this state; `read` needs no lock and changes nothing.
    """

    def __init__(self, heads: Heads, name: str) -> None:
        self._heads = heads
        self._name = name
        self.is_new = False
        """Whether this process began the chain, and no head was noted so far."""
        self._checked: _CheckedFile | None = None
        self._broken_at: int | None = None
        """The first entry that was not as it should be when the chain was last compared, and is not accepted yet."""
        self._is_recorded = False
        """Whether the noted acceptance is in force: its record is part of the chain."""

    def compare(self, audit: AuditSnapshot) -> None:
        """Check the whole chain when the context is opened: about 4 µs an entry, once a process."""
        read = self.read(audit, limit=0)
        self._checked, self._is_recorded = read.checked, read.is_recorded
        self._broken_at = read.page.chain.broken_at

    def is_news(self, read: AuditRead) -> bool:
        """Whether a read found something out that is to be remembered."""
        return read.checked is not self._checked or (self.is_trusted and not read.page.chain.whole)

    def remember(self, read: AuditRead, size: int) -> None:
        """The next read need not check the file again, and the person accepts what was read. `size` is how much of the
        file counts now: a read of an earlier part is forgotten."""
        if read.checked.size == size:
            self._checked = read.checked

    def note(self, end: AuditHead) -> None:
        """Note the end of a chain that is on disk. The noted head of a broken chain stays until the person accepts
        the chain."""
        if self._broken_at is None:
            head = counting_head(self.noted(), self._is_recorded)
            accepted = head.accepted if head is not None else None
            if self._heads.note("contexts", self._name, NotedHead(end.count, end.hash, accepted)):
                self.is_new = False

    def append(self, size: int, lines: Sequence[bytes]) -> None:
        """Lines that this process has written behind the first `size` bytes of the file count as read."""
        checked = self._checked
        if checked is None or (checked.size, checked.progress.bytes) != (size, size) or not lines:
            return
        progress, blocks = checked.progress.copy(), checked.blocks.copy()
        for line in lines:
            progress.take(line + b"\n")
            blocks.append(line + b"\n")
        self._checked = _CheckedFile(progress.bytes, None, blocks, progress)

    def accept(self, audit: AuditSnapshot, record: str | None = None) -> None:
        """The chain counts as this process has read it. Only what is noted outside of the data directory says so.

        With the hash of a record, the note is inert until that entry is appended: tell so by `was_recorded`.

        Raises: Conflict where the file was changed since it was read, StoreRefused.
        """
        accepted = self._acceptance(audit)
        if accepted is None:
            self.compare(audit)  # the person looks again, and accepts what is there then
            raise Conflict(Code.AUDIT_CHANGED)
        if record is not None:
            accepted = msgspec.structs.replace(
                accepted, record=record, replaced=counting_head(audit.noted, self._is_recorded)
            )
        if self._heads.note_acceptance("contexts", self._name, NotedHead(audit.end.count, audit.end.hash, accepted)):
            self.is_new = False
        self._is_recorded = False
        if record is None:
            self._broken_at = None

    def was_recorded(self) -> None:
        """The record of the noted acceptance was committed: from now on the chain counts as it is."""
        self._broken_at = None
        self._is_recorded = True

    def read(self, audit: AuditSnapshot, after: int = 0, limit: int | None = None) -> AuditRead:
        """The entries behind the first `after`, and whether the whole chain is as it should be.

        Blocks of the file outside of the page are read again only where the file changed since they were checked, and
        their entries only where the blocks changed.
        """
        noted = NotedHead(audit.end.count, audit.end.hash) if audit.noted is None and audit.is_new else audit.noted
        page = range(after, sys.maxsize if limit is None else after + limit)
        with open_audit(audit.path) as file:
            checked, entries = _checked_again(file, self._checked, audit.size, noted), None
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
        audited = CheckedAudit(tuple(entries), progress.check.result(audit.end), progress.lines)
        return AuditRead(audited, checked, progress.is_recorded)

    def _acceptance(self, audit: AuditSnapshot) -> Acceptance | None:
        """Of what was read; None where the file holds something else by now."""
        checked, digest = self._checked, hashlib.sha256()
        if checked is None or checked.size != audit.size:
            return None
        with open_audit(audit.path) as file:
            for block in checked.blocks.all():
                data = _block_or_none(file, block)
                if data is None:
                    return None
                digest.update(data)
            if any(lines_of(file, audit.size, checked.progress.bytes)):
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
    """A chain as far as its lines were read."""

    def __init__(self, noted: NotedHead | None) -> None:
        self.noted = noted
        self._accepted = noted.accepted if noted is not None else None
        self.check = ChainCheck(counting_head(noted, is_recorded=False))
        self.lines = 0
        self.bytes = 0
        self.is_recorded = False
        """Whether the record of the acceptance stands right behind what was accepted."""
        self._awaits_record = False
        self._digest = hashlib.sha256()
        """Of the lines so far, up to the end of what was accepted."""
        self._skip_accepted()

    def take(self, line: bytes) -> AuditEntry | None:
        """The entry of the next line; None for one that cannot be read, which breaks the chain."""
        entry = entry_or_none(line)
        if self._awaits_record:
            self._awaits_record = False
            self._take_record(entry)
        self.check.take(entry)
        self.lines += 1
        self.bytes += len(line)
        if self._accepted is not None and self.bytes <= self._accepted.length:
            self._digest.update(line)
            self._skip_accepted()
        return entry

    def _skip_accepted(self) -> None:
        """Forget what was wrong with the lines that the person accepted, where they are still the same."""
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
        """To go on from here twice."""
        return self._with(self.noted, self.check.copy())

    def with_noted(self, noted: NotedHead | None) -> "_Progress | None":
        """The same lines, compared with a head that was noted since; None where they must be checked again."""
        if noted == self.noted:
            return self
        if self._accepted is not None and self._accepted.record is not None and not self.is_recorded:
            return None
        old, new = counting_head(self.noted, self.is_recorded), counting_head(noted, self.is_recorded)
        if (old.accepted if old is not None else None) != (new.accepted if new is not None else None):
            return None
        check = self.check.with_noted(noted)
        return self._with(noted, check) if check is not None else None

    def _with(self, noted: NotedHead | None, check: ChainCheck) -> "_Progress":
        other = _Progress(noted)
        other.check, other.lines, other.bytes = check, self.lines, self.bytes
        other._digest = self._digest.copy()
        other.is_recorded, other._awaits_record = self.is_recorded, self._awaits_record
        return other


class _Block(NamedTuple):
    """Some whole lines of a file that were checked. Lines with the same digest need no other check."""

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
        """Whoever reads the file meanwhile keeps the blocks that they began with."""
        other = _Blocks()
        other._whole = self._whole.copy()
        other._first_line, other._start = self._first_line, self._start
        other._line_count, other._size, other._digest = self._line_count, self._size, self._digest.copy()
        return other

    def _last(self) -> _Block:
        return _Block(self._first_line, self._start, self._size, self._digest.digest())


class _CheckedFile(NamedTuple):
    """Never changed once it was made."""

    size: int
    """How much of the file counted."""
    signature: tuple[int, ...] | None
    """Of the file; None for a file that was written since."""
    blocks: _Blocks
    progress: _Progress
    """After the last line of the file."""


def _checked_again(
    file: BinaryIO, checked: _CheckedFile | None, size: int, noted: NotedHead | None
) -> _CheckedFile | None:
    """What was checked before, where it holds for the file as it is now; None where all lines must be checked."""
    if checked is None or checked.size != size:
        return None
    progress, signature = checked.progress.with_noted(noted), _signature(file)
    if progress is None:
        return None
    if checked.signature != signature:
        blocks = checked.blocks.all()
        if any(_block_or_none(file, block) is None for block in blocks) or any(lines_of(file, size, progress.bytes)):
            return None
    if progress is checked.progress and checked.signature == signature:
        return checked
    return _CheckedFile(size, signature, checked.blocks, progress)


def _check_file(file: BinaryIO, size: int, progress: _Progress, page: range) -> tuple[_Blocks, list[AuditEntry]]:
    """Take every line of a file, and give the entries of the page out of the same bytes."""
    blocks = _Blocks()
    entries: list[AuditEntry] = []
    for line in lines_of(file, size):
        number, entry = progress.lines, progress.take(line)
        if number in page and entry is not None:
            entries.append(entry)
        blocks.append(line)
    return blocks, entries


def _unchanged_entries(file: BinaryIO, blocks: list[_Block], page: range) -> list[AuditEntry] | None:
    """The entries of the page that lie in these blocks; None where one of the blocks is another one now."""
    entries: list[AuditEntry] = []
    first = max(0, bisect_right(blocks, page.start, key=lambda block: block.first_line) - 1)
    for block in blocks[first:]:
        if block.first_line >= page.stop:
            break
        data = _block_or_none(file, block)
        if data is None:
            return None
        lines = list(lines_of(io.BytesIO(data), len(data)))
        wanted = range(max(page.start, block.first_line), min(page.stop, block.first_line + len(lines)))
        found = (entry_or_none(lines[number - block.first_line]) for number in wanted)
        entries += [entry for entry in found if entry is not None]
    return entries


def _block_or_none(file: BinaryIO, block: _Block) -> bytes | None:
    """The bytes of a block that were checked; None where they were changed since."""
    try:
        file.seek(block.start)
        data = file.read(block.size)
    except OSError:
        return None
    return data if hashlib.sha256(data).digest() == block.digest else None


def open_audit(path: Path) -> BinaryIO:
    """The file, opened once for all that is to be known of it; an empty one where there is no file to be read.

    Raises: OSError where the system is out of something: the file may be as it should be.
    """
    try:
        return open_regular_file(path)
    except OSError as error:
        if error.errno in _OUT_OF_RESOURCES:
            raise
        return io.BytesIO()


def lines_of(file: BinaryIO, size: int, start: int = 0) -> Iterator[bytes]:
    """The lines in the first `size` bytes of a file, behind `start`, one at a time, as far as they can be read.

    Raises: OSError where the system is out of something.
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


def whole_lines(path: Path, size: int) -> int:
    """The part of the first `size` bytes that are whole lines: all of them, unless the file was changed elsewhere.
    Entries are written behind that part, so that each has a line of its own."""
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
    except OSError:  # nothing may be written over what cannot be read
        return size


def entry_or_none(line: bytes) -> AuditEntry | None:
    try:
        return _AUDIT.decode(line)
    except (msgspec.MsgspecError, UnicodeDecodeError):
        return None


def _signature(file: BinaryIO) -> tuple[int, ...]:
    """Changes with the file; a change within the resolution of its times is seen only where the file is read."""
    if isinstance(file, io.BytesIO):
        return ()
    found = os.fstat(file.fileno())
    return (found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns)
