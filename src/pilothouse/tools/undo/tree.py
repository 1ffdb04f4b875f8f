"""A scan of a workspace: the status of every file, folders near the root first, without following links.

Of files in ignored or generated folders only the status is recorded: their contents are not the person's work and can
be huge. Data directories of Pilothouse are skipped.
"""

import contextlib
import os
import stat
from collections import deque
from collections.abc import Callable, Collection, Iterator
from typing import NamedTuple

from pilothouse.sandbox import gitignore
from pilothouse.sandbox.data_directory import is_data_directory
from pilothouse.sandbox.openat import FolderOpener
from pilothouse.tools.file_types import GENERATED_NAMES

MAX_NOTICED_ENTRIES = 5_000
# Any run of a program may fill these folders: changes in them are not reported.
_CACHE_NAMES = frozenset({"__pycache__", ".mypy_cache", ".ruff_cache", ".pytest_cache", ".hypothesis", ".cache"})
_MAX_DEPTH = 100
_MAX_IGNORE_BYTES = 32_768
Stopped = Callable[[], bool]


class FileStat(NamedTuple):
    """The status of a file as the system reports it without reading the file."""

    mode: int
    size: int
    mtime_ns: int
    ctime_ns: int
    inode: int

    @property
    def bits(self) -> int:
        """The permission bits."""
        return stat.S_IMODE(self.mode)

    @property
    def is_link(self) -> bool:
        return stat.S_ISLNK(self.mode)

    @property
    def is_file(self) -> bool:
        return stat.S_ISREG(self.mode)


Visit = Callable[[int, str, str, FileStat], None]
"""A callback for each file: an open folder, the name in it, the path below the root, and the status."""


class Tree:
    """The result of a scan. Paths are relative to the scanned root; "" is the root itself."""

    def __init__(self) -> None:
        self.noticed: dict[str, FileStat] = {}
        """Files in ignored or generated folders, recorded by status only."""

        self.listed: set[str] = set()
        """Folders that were scanned completely."""

        self.folders: dict[str, int] = {}
        """The permission bits of all folders seen, including folders whose contents were not scanned."""

        self.unseen: list[str] = []
        """Folders that were not scanned, or not completely."""

        self.ignored: set[str] = set()
        """Folders whose files are in `noticed`."""

        self.is_cut = False
        """Whether a limit ended the scan early."""

        self.repositories: list[str] = []
        """Folders that hold a `.git`."""

    def was_absent(self, path: str) -> bool:
        """Whether a file that appeared later was certainly missing: the nearest completely scanned folder did not list
        it."""
        child = path
        while child:
            parent = child.rpartition("/")[0]
            if parent in self.listed:
                # A parent folder that was seen but not scanned may have held the file; a folder at the path itself
                # did not.
                return child == path or child not in self.folders
            child = parent
        return False


class _Folder(NamedTuple):
    names: list[str]
    path: str
    plain: str
    levels: tuple[gitignore.IgnoreFile, ...]


class _Scan:
    def __init__(self, fd: int, root: str, skipped: Collection[str], visit: Visit, stopped: Stopped) -> None:
        self.tree = Tree()
        self.ignored: list[_Folder] = []
        self._root = root.rstrip("/")
        self._skipped = skipped
        self._visit = visit
        self._stopped = stopped
        self._rules = gitignore.RuleBudget()
        self._opener = FolderOpener(fd)

    def visit_files(self, max_entries: int) -> None:
        """Visit the files outside ignored folders, breadth first."""
        remaining = max_entries
        pending = deque([_Folder([], "", "", ())])
        while pending and not self._stopped():
            folder = pending.popleft()
            fd, entries = self._open(folder) if remaining > 0 else (None, [])
            if fd is None:
                self.tree.unseen.append(folder.path)
                self.tree.is_cut |= remaining <= 0
                continue
            # A folder gets half of the remaining entries at most, so that a huge one leaves room for its siblings.
            room = len(entries) if len(entries) <= remaining // 2 else max(1, remaining // 2)
            remaining -= room
            if room < len(entries):
                self.tree.unseen.append(folder.path)
                self.tree.is_cut = True
            else:
                self.tree.listed.add(folder.path)
            levels = self._levels(fd, folder, entries)
            for entry in entries[:room]:
                if entry.is_dir(follow_symlinks=False):
                    pending.extend(self._enter(folder, entry, levels))
                elif entry.name == ".git":
                    self.tree.repositories.append(folder.path)  # a file in a worktree or a submodule
                elif (status := _status(entry)) is not None:
                    self._visit(fd, entry.name, _join(folder.path, entry.name), status)

    def _enter(
        self, folder: _Folder, entry: "os.DirEntry[str]", levels: tuple[gitignore.IgnoreFile, ...]
    ) -> list[_Folder]:
        """Record a subfolder. Returns the subfolder where its files are to be visited."""
        name, status = entry.name, _status(entry)
        path, plain = _join(folder.path, name), _join(folder.plain, gitignore.latin1_name(name))
        if name == ".git":
            self.tree.repositories.append(folder.path)
            return []
        if f"{self._root}/{path}" in self._skipped or status is None:
            return []
        self.tree.folders[path] = status.bits
        inner = _Folder([*folder.names, name], path, plain, levels)
        if name in GENERATED_NAMES or (levels and self._rules.is_ignored(levels, plain, is_folder=True)):
            self.ignored += [inner] if name not in _CACHE_NAMES else []
            self.tree.ignored.add(path)
            return []
        if len(inner.names) > _MAX_DEPTH:
            self.tree.unseen.append(path)
            return []
        return [inner]

    def record_ignored(self) -> None:
        """Record the status of files in ignored folders; a folder with too many files is left out."""
        remaining = MAX_NOTICED_ENTRIES
        for top in self.ignored:
            files: dict[str, FileStat] = {}
            pending = [top]
            while pending and remaining > 0 and not self._stopped():
                folder = pending.pop()
                fd, entries = self._open(folder)
                remaining -= len(entries) + 1
                for entry in entries if fd is not None else ():
                    path = _join(folder.path, entry.name)
                    if entry.is_dir(follow_symlinks=False):
                        if len(folder.names) < _MAX_DEPTH and f"{self._root}/{path}" not in self._skipped:
                            pending.append(_Folder([*folder.names, entry.name], path, "", ()))
                    elif (status := _status(entry)) is not None:
                        files[path] = status
            if remaining > 0:
                self.tree.noticed |= files
            else:
                self.tree.unseen.append(top.path)

    def _open(self, folder: _Folder) -> "tuple[int | None, list[os.DirEntry[str]]]":
        """An open folder and its entries by name; None for a folder that cannot be opened or is a data directory."""
        try:
            fd = self._opener.open(folder.names)
            with os.scandir(fd) as entries:
                listed = sorted(entries, key=lambda entry: entry.name)
        except OSError:
            return None, []
        if folder.names and is_data_directory(fd, {entry.name for entry in listed}):
            return None, []
        return fd, listed

    def _levels(self, fd: int, folder: _Folder, entries: "list[os.DirEntry[str]]") -> tuple[gitignore.IgnoreFile, ...]:
        sizes = [
            status.size for entry in entries if entry.name in gitignore.IGNORE_FILES and (status := _status(entry))
        ]
        # Applying a huge list of rules to every entry costs more than scanning the entries that it excludes.
        if sizes and sum(sizes) <= _MAX_IGNORE_BYTES:
            return self._rules.read_ignore_files(fd, folder.plain, folder.levels)
        return folder.levels

    def close(self) -> None:
        self._opener.close()


def scan(fd: int, root: str, skipped: Collection[str], max_entries: int, visit: Visit, stopped: Stopped) -> Tree:
    """Scan the files below an open folder. `skipped` are absolute paths that are neither entered nor recorded."""
    with contextlib.closing(_Scan(fd, root, skipped, visit, stopped)) as work:
        work.visit_files(max_entries)
        work.record_ignored()
        return work.tree


def _status(entry: "os.DirEntry[str]") -> FileStat | None:
    try:
        status = entry.stat(follow_symlinks=False)
    except OSError:
        return None
    fields = (status.st_mode, status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_ino)
    return tuple.__new__(FileStat, fields)  # twice as fast as the constructor, and a scan makes very many


def _join(folder: str, name: str) -> str:
    return f"{folder}/{name}" if folder else name


def folders_above(path: str) -> Iterator[str]:
    """The folders that contain a path, the inner ones first."""
    while path := path.rpartition("/")[0]:
        yield path
