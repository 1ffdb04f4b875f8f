"""A user's log of permanent decisions on disk: one checksummed line a commit, in `users/<user>/journal/`."""

import hashlib
from collections.abc import Sequence
from pathlib import Path

import msgspec

from pilothouse.domain.audit import Acceptance, AuditEntry, NotedHead, effective_head
from pilothouse.domain.codes import Code, Reason
from pilothouse.domain.errors import StaleWrite, StoreDamaged, StoreRefused
from pilothouse.domain.value import Value
from pilothouse.storage.base import UserLog
from pilothouse.storage.files.disk import Disk
from pilothouse.storage.files.heads import AuditHeads
from pilothouse.storage.files.journal import JournalWriter, first_version, read_lines, segments
from pilothouse.storage.files.layout import Folder
from pilothouse.storage.files.recovery import write_aside
from pilothouse.storage.files.regular_files import read_regular_file


class _Line(Value):
    version: int
    entries: tuple[AuditEntry, ...]


MAX_LOG_BYTES = 64 * 1024 * 1024
MAX_LOG_ENTRIES = 100_000
"""The number of rules that a user may ever give and revoke. A longer log is not read, and the user has no rules."""
_LINE = msgspec.json.Decoder(_Line)


class UserLogOnDisk:
    """The log of one user, read as a whole. Unreadable lines are put aside and reported: a rule may be missing."""

    def __init__(self, folder: Folder, disk: Disk, heads: AuditHeads) -> None:
        self._folder = folder
        self._heads = heads
        self._disk = disk
        self._lines: dict[int, _Line] = {}
        self._version = 0
        self._folder_exists = False
        self._damage: list[Reason] = []
        self._read()
        self._noted = heads.read("users", folder.path.name)
        self._effective_head: NotedHead | None = None
        """The noted head against which the log is checked."""
        self._update_head()
        self._journal = JournalWriter(folder.journal, disk)

    def snapshot(self) -> UserLog:
        lines = [self._lines[version] for version in sorted(self._lines)]
        entries = tuple(entry for line in lines for entry in line.entries)
        accepted = self._accepted
        return UserLog(
            entries=entries,
            version=self._version,
            damage=tuple(reason for reason in self._damage if accepted is None or reason not in accepted.damage),
            noted=self._effective_head,
            accepted=accepted.length if accepted is not None else 0,
        )

    def append(self, entries: Sequence[AuditEntry], *, expected: int, accepts: bool = False) -> int:
        """Append entries in one commit. With `accepts`, the first entry records that the user accepts the log before
        it: the acceptance and the entry take effect together.

        Raises: StaleWrite, StoreRefused, StoreReadOnly; then nothing was appended.
        """
        if expected != self._version:
            raise StaleWrite(Code.STALE_VERSION, expected=expected, found=self._version)
        if self._journal.is_broken:  # a new segment begins behind the acknowledged lines
            self._journal.rotate()
            self._journal = JournalWriter(self._folder.journal, self._disk)
        try:
            self._make_folder()
        except OSError as error:
            raise StoreRefused.because_of(error) from error
        if accepts:
            self._note_acceptance(entries[0].hash)
        is_cut = self.snapshot().is_cut
        line = _Line(version=expected + 1, entries=tuple(entries))
        self._journal.append(line.version, msgspec.json.encode(line))
        self._lines[line.version] = line
        self._version = line.version
        if accepts:
            self._update_head()
            is_cut = self.snapshot().is_cut
        if not is_cut:
            head = self._head(self._effective_head.accepted if self._effective_head is not None else None)
            if self._heads.note("users", self._folder.path.name, head):
                self._noted = head
                self._update_head()
        return line.version

    def accept(self) -> None:
        """Accept the log as it is now. The acceptance is noted outside of the data directory only.

        Raises: StoreRefused.
        """
        self._note_acceptance(None)
        self._update_head()

    def _note_acceptance(self, record: str | None) -> None:
        """Note that the user accepts the log. With the hash of a record, the acceptance takes effect when that entry is
        appended. Raises: StoreRefused."""
        log = self.snapshot()
        damage = tuple(reason for reason in self._damage if reason.code is not Code.TAIL_CUT)
        replaced = self._effective_head if record is not None else None
        accepted = Acceptance(len(log.entries), _entries_digest(log.entries), log.end, damage, record, replaced)
        head = self._head(accepted)
        if self._heads.note_acceptance("users", self._folder.path.name, head):
            self._noted = head

    def _update_head(self) -> None:
        self._accepted = self._valid_acceptance()
        self._effective_head = effective_head(self._noted, is_recorded=self._accepted is not None)

    def _head(self, accepted: Acceptance | None) -> NotedHead:
        end = self.snapshot().end
        return NotedHead(end.count, end.hash, accepted)

    def _valid_acceptance(self) -> Acceptance | None:
        accepted = self._noted.accepted if self._noted is not None else None
        if accepted is None:
            return None
        entries = [entry for version in sorted(self._lines) for entry in self._lines[version].entries]
        if not 0 <= accepted.length <= len(entries):
            return None
        following = entries[accepted.length : accepted.length + 1]
        if accepted.record is not None and [entry.hash for entry in following] != [accepted.record]:
            return None
        return accepted if _entries_digest(entries[: accepted.length]) == accepted.digest else None

    def close(self) -> None:
        self._journal.rotate()

    def _make_folder(self) -> None:
        if self._folder_exists:
            return
        for path in (self._folder.path.parent, self._folder.path):
            self._disk.make_dir(path)
            self._disk.sync_dir(path.parent)
        self._folder_exists = True

    def _read(self) -> None:
        bytes_left, entry_count = MAX_LOG_BYTES, 0
        for path in segments(self._folder.journal):
            # A later segment begins where the earlier one was abandoned: lines beyond were never acknowledged.
            first = first_version(path)
            self._lines = {version: line for version, line in self._lines.items() if version < first}
            data = _bytes_of(path, bytes_left)
            bytes_left -= len(data)
            for start, end, payload in read_lines(data):
                line = _decoded(payload)
                if line is not None:
                    self._lines[line.version] = line
                    entry_count += len(line.entries)
                    if entry_count > MAX_LOG_ENTRIES:
                        raise StoreDamaged(
                            Code.RULES_DAMAGED, detail=f"the record has more than {MAX_LOG_ENTRIES} entries"
                        )
                else:
                    self._put_aside(f"{path.name}-{start}", data[start:end], is_tail=end == len(data))
        self._version = max(self._lines, default=0)

    def _put_aside(self, name: str, data: bytes, *, is_tail: bool) -> None:
        try:
            place = write_aside(self._folder, self._disk, name, data)
        except OSError as error:
            place = f"(not kept: {error})"
        is_whole = next(read_lines(data[:-1] + b"\n"))[2] is not None  # only the end of the line is damaged
        if is_tail and not data.endswith(b"\n") and not is_whole:  # a torn line, which was never acknowledged
            self._damage.append(Reason(Code.TAIL_CUT, {"size": len(data), "kept": place}))
        else:
            self._damage.append(Reason(Code.RULES_DAMAGED, {"detail": f"{len(data)} bytes, kept as {place}"}))


def _entries_digest(entries: Sequence[AuditEntry]) -> str:
    return hashlib.sha256(msgspec.json.encode(entries)).hexdigest()


def _bytes_of(path: Path, max_bytes: int) -> bytes:
    """Raises: StoreDamaged."""
    try:
        return read_regular_file(path, max_bytes)
    except OSError as error:
        raise StoreDamaged(Code.RULES_DAMAGED, detail=str(error)) from error


def _decoded(payload: bytes | None) -> _Line | None:
    if payload is None:
        return None
    try:
        return _LINE.decode(payload)
    except (msgspec.MsgspecError, UnicodeDecodeError):
        return None
