"""The log of a conversation's changes by calls, with the contents that an undo restores.

The contents of one call lie in one file, written and synced once. The log is bounded: the oldest contents are dropped
when the conversation stores too much, and the log then says so instead of forgetting the change.
"""

import hashlib
import itertools
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

import msgspec

from pilothouse.domain.codes import Reason
from pilothouse.domain.value import Value
from pilothouse.sandbox.entries import is_link_name, link_name
from pilothouse.system.atomic_file import replace_file
from pilothouse.system.private_file import append_private_line, make_private_folder
from pilothouse.tools.undo.limits import UndoLimits

WRITE = "write"
"""The `tool` of entries by the file tools, whose arguments determine the content after the call."""
_DAY_SECONDS = 86_400
_MAX_LOG_BYTES = 8_000_000
_MAX_NAME_CHARACTERS = 50
_PACK = ".pack"
_UNDONE_PACK = f".undone{_PACK}"


class ChangedFile(Value):
    """A file before and after a call."""

    path: str
    """In the notation of `file_names`, as all stored paths are."""
    before: str
    """The digest of the content or of a link's target; ABSENT for a missing file."""
    after: str
    mode: int | None = None
    """The permission bits before, where known."""
    mode_after: int | None = None
    """The permission bits after the call; None where unknown, as in writes of earlier versions."""
    offset: int | None = None
    """The position of the content in the call's file; None in entries of earlier versions, with a file for each."""
    size: int = 0


class ChangeEntry(Value, kw_only=True):
    """The changes of one call."""

    call: str
    tool: str
    files: tuple[ChangedFile, ...] = ()
    made_folders: tuple[str, ...] = ()
    removed_folders: Mapping[str, int] = {}
    """With their permission bits."""
    folder_bits: Mapping[str, tuple[int, int]] = {}
    """Permission bits of folders before and after, where they changed."""
    left: tuple[Reason, ...] = ()
    """The changes that an undo does not revert, with reasons."""
    unkept: str | None = None
    """These changes as text, in entries of earlier versions."""
    undone: bool = False
    """Marks the end of a change: nothing of it remains to be undone."""

    @property
    def has_entries(self) -> bool:
        """Whether the entry holds anything that an undo could restore."""
        return bool(self.files or self.made_folders or self.removed_folders or self.folder_bits)


_DECODER = msgspec.json.Decoder(ChangeEntry)


class ChangeLog:
    """The changes of one conversation. All methods block: call them in a thread."""

    def __init__(self, folder: Path, limits: UndoLimits) -> None:
        self._folder = folder
        self._limits = limits
        self._contents = folder / "before"
        self._log = folder / "changes.jsonl"
        self._stored_bytes: int | None = None
        """The size of the stored contents, None before they were counted."""

    def add(self, entry: ChangeEntry, contents: Iterable[bytes | None] = ()) -> ChangeEntry:
        """Log a change. `contents` belong to the entry's files, in their order; None where none is needed.

        Durable on return: a change logged beforehand can be undone whatever happens. Returns the entry with the places
        of the contents. Raises: OSError.
        """
        files = tuple(self._store_contents(entry, contents))
        stored = msgspec.structs.replace(entry, files=files or entry.files)
        self._append(stored)
        self._stay_within_limits()
        return stored

    def add_modes_after(self, entry: ChangeEntry, modes: Mapping[str, int]) -> None:
        """Log the permission bits that the files of a logged change have after the call, by path.

        Not durable on return: without the bits, undo does not see that a person has changed them. Raises: OSError.
        """
        files = tuple(
            msgspec.structs.replace(file, mode_after=modes.get(file.path, file.mode_after)) for file in entry.files
        )
        if files != entry.files:
            self._append(msgspec.structs.replace(entry, files=files), is_durable=False)

    def end(self, entry: ChangeEntry, *, is_durable: bool = True) -> None:
        """Mark a change as having nothing left to undo. Raises: OSError."""
        self._append(ChangeEntry(call=entry.call, tool=entry.tool, undone=True), is_durable=is_durable)
        self._drop(self._pack(entry.call))

    def keep_present(self, entry: ChangeEntry, contents: Mapping[str, bytes]) -> None:
        """Store the contents that an undo is about to replace, so that no content of a file is lost. Raises:
        OSError."""
        files = [file for file in entry.files if file.path in contents]
        swapped = tuple(ChangedFile(file.path, before=file.after, after=file.before) for file in files)
        if not swapped:
            return
        # An undo interrupted by a full disk or a crash has stored some contents already.
        names = (f"{entry.call}{number or ''}{_UNDONE_PACK}" for number in itertools.count())
        name = next(name for name in names if not (self._contents / name).exists()).removesuffix(_PACK)
        undone = ChangeEntry(call=name, tool="undo", files=swapped, undone=True)
        self.add(undone, [contents[file.path] for file in files])

    def save_copies(self, entry: ChangeEntry, files: Sequence[ChangedFile]) -> list[Path]:
        """Store the contents before a change that is not reverted, each as a file that a person can open.

        Returns the files; damaged and dropped contents are left out. Raises: OSError.
        """
        copies: list[Path] = []
        for number, file in enumerate(files):
            try:
                data = self.content(entry, file)
            except OSError:
                continue
            name = file.path.rpartition("/")[2][:_MAX_NAME_CHARACTERS]
            copies.append(self._contents / f"{entry.call}-{number}-{name}")
            self._write(copies[-1], [data])
        return copies

    def entries(self) -> list[ChangeEntry]:
        """The changes that were not undone, oldest first. A line truncated by a crash is skipped."""
        entries: dict[str, ChangeEntry] = {}
        for entry in self._lines():
            if entry.undone:
                entries.pop(entry.call, None)
            else:
                entries[entry.call] = entry
        return list(entries.values())

    def content(self, entry: ChangeEntry, file: ChangedFile) -> bytes:
        """The content of a file before the call. Raises: FileNotFoundError for a dropped content, OSError."""
        if file.offset is None:
            data = (self._contents / file.before).read_bytes()
        else:
            with open(self._pack(entry.call), "rb") as pack:
                pack.seek(file.offset)
                data = pack.read(file.size)
        name = link_name(data) if is_link_name(file.before) else hashlib.sha256(data).hexdigest()
        if name != file.before:
            raise OSError("what was kept of it is damaged")
        return data

    def _lines(self) -> Iterator[ChangeEntry]:
        try:
            lines = self._log.read_bytes().split(b"\n")
        except FileNotFoundError:
            return
        for line in lines:
            try:
                yield _DECODER.decode(line)
            except msgspec.MsgspecError:
                continue

    def _pack(self, name: str) -> Path:
        return self._contents / f"{name}{_PACK}"

    def _store_contents(self, entry: ChangeEntry, contents: Iterable[bytes | None]) -> Iterator[ChangedFile]:
        offsets: list[tuple[int, int] | None] = []

        def stored_contents() -> Iterator[bytes]:
            end = 0
            for data in contents:
                offsets.append((end, len(data)) if data is not None else None)
                if data is not None:
                    end += len(data)
                    yield data

        self._write(self._pack(entry.call), stored_contents())
        for file, span in zip(entry.files, offsets, strict=bool(offsets)):
            yield msgspec.structs.replace(file, offset=span[0], size=span[1]) if span is not None else file

    def _write(self, path: Path, contents: Iterable[bytes]) -> None:
        """Write contents one after the other; create no file without any."""
        first = next(iterator := iter(contents), None)
        if first is None:
            return
        make_private_folder(self._folder)
        make_private_folder(self._contents)
        replace_file(path, itertools.chain([first], iterator), temporary=path.with_name(f"{path.name}.draft"))
        if self._stored_bytes is not None:
            self._stored_bytes += path.stat().st_size

    def _append(self, entry: ChangeEntry, *, is_durable: bool = True) -> None:
        make_private_folder(self._folder)
        append_private_line(self._log, msgspec.json.encode(entry), is_durable=is_durable)

    def _drop(self, path: Path) -> None:
        try:
            size = path.stat().st_size
        except FileNotFoundError:
            return
        path.unlink(missing_ok=True)
        if self._stored_bytes is not None:
            self._stored_bytes -= size

    # bounds

    def _stay_within_limits(self) -> None:
        """Drop the oldest contents. The folder is counted once in a process, so that later calls cost nothing."""
        is_first = self._stored_bytes is None
        if self._stored_bytes is not None and self._stored_bytes <= self._limits.max_conversation_bytes:
            return
        now = self._log.stat().st_mtime
        # Contents replaced by an undo are dropped before contents that an undo may still need.
        candidates = [(not item.name.endswith(_UNDONE_PACK), item.stat(), item.path) for item in self._list_contents()]
        ordered = [item[1:] for item in sorted(candidates, key=lambda item: (item[0], item[1].st_mtime_ns))]
        self._stored_bytes = sum(status.st_size for status, _ in ordered)
        for status, path in ordered[:-1]:
            is_old = status.st_mtime < now - self._limits.days * _DAY_SECONDS
            if is_old or self._stored_bytes > self._limits.max_conversation_bytes:
                self._drop(Path(path))
        if is_first and self._log.stat().st_size > _MAX_LOG_BYTES:
            self._rewrite()

    def _list_contents(self) -> "list[os.DirEntry[str]]":
        if not self._contents.is_dir():
            return []
        with os.scandir(self._contents) as entries:
            return list(entries)

    def _rewrite(self) -> None:
        """Rewrite the log without undone changes."""
        lines = (msgspec.json.encode(entry) + b"\n" for entry in self.entries())
        replace_file(self._log, lines, temporary=self._log.with_suffix(".draft"))
