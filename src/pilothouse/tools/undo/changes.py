"""The log of what a conversation's calls changed, with the contents that an undo puts back.

The contents of one call lie in one file, written and synced once. The log is bounded: the oldest contents go when the
conversation keeps too much, and the log then says so instead of forgetting the change.
"""

import hashlib
import itertools
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

import msgspec

from pilothouse.domain.codes import Reason
from pilothouse.domain.values import Value
from pilothouse.private_file import make_private_folder, open_private, sync_folder
from pilothouse.sandbox.entries import is_link_name, link_name
from pilothouse.tools.undo.limits import UndoLimits

WRITE = "write"
"""Names the file tools in an entry: the call itself says what a file holds after it."""
_DAY_SECONDS = 86_400
_MAX_LOG_BYTES = 8_000_000
_MAX_NAME_CHARACTERS = 50
_PACK = ".pack"
_UNDONE = f".undone{_PACK}"


class ChangedFile(Value):
    """One file before and after a call."""

    path: str
    """In the notation of `file_names`, as all stored paths are."""
    before: str
    """Names the content, or where a link led; ABSENT where there was no file."""
    after: str
    mode: int | None = None
    """The permission bits before, where they are known."""
    mode_after: int | None = None
    offset: int | None = None
    """Where the content lies in the call's file; None in entries of earlier versions: a file of its own."""
    size: int = 0


class ChangeEntry(Value, kw_only=True):
    """What one call changed."""

    call: str
    tool: str
    files: tuple[ChangedFile, ...] = ()
    made_folders: tuple[str, ...] = ()
    removed_folders: Mapping[str, int] = {}
    """With their permission bits."""
    folder_bits: Mapping[str, tuple[int, int]] = {}
    """Permission bits of folders before and after, where they changed."""
    left: tuple[Reason, ...] = ()
    """What an undo leaves as it is, and why."""
    unkept: str | None = None
    """The same in words, in entries of earlier versions."""
    undone: bool = False
    """Marks the end of the change: nothing is left of it to undo."""

    @property
    def has_entries(self) -> bool:
        """Whether there is something that an undo could put back."""
        return bool(self.files or self.made_folders or self.removed_folders or self.folder_bits)


_DECODER = msgspec.json.Decoder(ChangeEntry)


class ChangeLog:
    """The changes of one conversation. Its work is blocking: call it in a thread."""

    def __init__(self, folder: Path, limits: UndoLimits) -> None:
        self._folder = folder
        self._limits = limits
        self._contents = folder / "before"
        self._log = folder / "changes.jsonl"
        self._bytes: int | None = None
        """What the contents take, None before they were counted."""

    def add(self, entry: ChangeEntry, contents: Iterable[bytes | None] = ()) -> None:
        """Note a change. `contents` belong to the entry's files, in their order; None where none is needed.

        Durable when it returns: a change that is noted beforehand can be undone whatever happens. Raises: OSError.
        """
        files = tuple(self._keep(entry, contents))
        self._append(msgspec.structs.replace(entry, files=files or entry.files))
        self._stay_within_limits()

    def end(self, entry: ChangeEntry, *, is_durable: bool = True) -> None:
        """Nothing is left to undo of a change. Raises: OSError."""
        self._append(ChangeEntry(call=entry.call, tool=entry.tool, undone=True), is_durable=is_durable)
        self._forget(self._pack(entry.call))

    def keep_present(self, entry: ChangeEntry, contents: Mapping[str, bytes]) -> None:
        """Keep what an undo is about to replace: nothing a file held is lost. Raises: OSError."""
        files = [file for file in entry.files if file.path in contents]
        swapped = tuple(ChangedFile(file.path, before=file.after, after=file.before) for file in files)
        if not swapped:
            return
        # An undo that a full disk or a crash stopped half-way has kept some already.
        names = (f"{entry.call}{number or ''}{_UNDONE}" for number in itertools.count())
        name = next(name for name in names if not (self._contents / name).exists()).removesuffix(_PACK)
        undone = ChangeEntry(call=name, tool="undo", files=swapped, undone=True)
        self.add(undone, [contents[file.path] for file in files])

    def set_aside(self, entry: ChangeEntry, files: Sequence[ChangedFile]) -> list[Path]:
        """Keep what files held before a change that is not put back, each as a file that a person can open.

        Gives the files; one that is damaged or no longer kept is left out. Raises: OSError.
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
        """The changes that were not undone, oldest first. A line that a crash cut is passed over."""
        found: dict[str, ChangeEntry] = {}
        for entry in self._lines():
            if entry.undone:
                found.pop(entry.call, None)
            else:
                found[entry.call] = entry
        return list(found.values())

    def content(self, entry: ChangeEntry, file: ChangedFile) -> bytes:
        """What a file held before. Raises: FileNotFoundError where it was not kept so long, OSError."""
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

    def _keep(self, entry: ChangeEntry, contents: Iterable[bytes | None]) -> Iterator[ChangedFile]:
        offsets: list[tuple[int, int] | None] = []

        def placed() -> Iterator[bytes]:
            end = 0
            for data in contents:
                offsets.append((end, len(data)) if data is not None else None)
                if data is not None:
                    end += len(data)
                    yield data

        self._write(self._pack(entry.call), placed())
        for file, place in zip(entry.files, offsets, strict=bool(offsets)):
            yield msgspec.structs.replace(file, offset=place[0], size=place[1]) if place is not None else file

    def _write(self, path: Path, contents: Iterable[bytes]) -> None:
        """Write contents one after the other; no file where there are none."""
        first = next(iterator := iter(contents), None)
        if first is None:
            return
        make_private_folder(self._folder)
        make_private_folder(self._contents)
        draft = path.with_name(f"{path.name}.draft")
        with open(open_private(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), "wb") as file:
            file.write(first)
            file.writelines(iterator)
            file.flush()
            os.fsync(file.fileno())
            size = file.tell()
        os.replace(draft, path)
        sync_folder(self._contents)
        if self._bytes is not None:
            self._bytes += size

    def _append(self, entry: ChangeEntry, *, is_durable: bool = True) -> None:
        make_private_folder(self._folder)
        is_new = not self._log.exists()
        with open(open_private(self._log, os.O_RDWR | os.O_CREAT | os.O_APPEND), "ab+") as file:
            if file.tell():
                file.seek(-1, os.SEEK_END)
                if file.read(1) != b"\n":
                    file.write(b"\n")  # ends a line that a crash cut
            file.write(msgspec.json.encode(entry) + b"\n")
            file.flush()
            if is_durable:
                os.fsync(file.fileno())
        if is_new:
            sync_folder(self._folder)

    def _forget(self, path: Path) -> None:
        try:
            size = path.stat().st_size
        except FileNotFoundError:
            return
        path.unlink(missing_ok=True)
        if self._bytes is not None:
            self._bytes -= size

    # bounds

    def _stay_within_limits(self) -> None:
        """Drop the oldest contents. Counts the folder once in a process; afterwards this costs nothing by itself."""
        is_first = self._bytes is None
        if self._bytes is not None and self._bytes <= self._limits.max_conversation_bytes:
            return
        now = self._log.stat().st_mtime
        # What an undo replaced goes before what an undo may still need.
        listed = [(not each.name.endswith(_UNDONE), each.stat(), each.path) for each in self._listed()]
        kept = [each[1:] for each in sorted(listed, key=lambda each: (each[0], each[1].st_mtime_ns))]
        self._bytes = sum(status.st_size for status, _ in kept)
        for status, path in kept[:-1]:
            is_old = status.st_mtime < now - self._limits.days * _DAY_SECONDS
            if is_old or self._bytes > self._limits.max_conversation_bytes:
                self._forget(Path(path))
        if is_first and self._log.stat().st_size > _MAX_LOG_BYTES:
            self._rewrite()

    def _listed(self) -> "list[os.DirEntry[str]]":
        if not self._contents.is_dir():
            return []
        with os.scandir(self._contents) as entries:
            return list(entries)

    def _rewrite(self) -> None:
        """Leave out of the log what was undone."""
        draft = self._log.with_suffix(".draft")
        with open(open_private(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), "wb") as file:
            file.writelines(msgspec.json.encode(entry) + b"\n" for entry in self.entries())
            file.flush()
            os.fsync(file.fileno())
        os.replace(draft, self._log)
        sync_folder(self._folder)
