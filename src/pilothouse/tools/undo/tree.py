"""A scan of a workspace: the status of every file, nearest folders first, without following a link.

Files in ignored or generated folders are noticed only: their contents are nobody's own work and can be huge. Data
directories of Pilothouse are passed over.
"""

import contextlib
import os
import stat
from collections import deque
from collections.abc import Callable, Collection, Iterator
from typing import NamedTuple

from pilothouse.sandbox import walking
from pilothouse.sandbox.beneath import Way
from pilothouse.sandbox.data_directory import is_data_directory
from pilothouse.tools.kinds import NOT_OWN

MAX_NOTICED_ENTRIES = 5_000
# Every run of a program may fill these: that is nobody's change.
_CACHES = frozenset({"__pycache__", ".mypy_cache", ".ruff_cache", ".pytest_cache", ".hypothesis", ".cache"})
_MAX_DEPTH = 100
_MAX_IGNORE_BYTES = 32_768
Stopped = Callable[[], bool]


class FileStat(NamedTuple):
    """What the system tells of a file without reading it."""

    mode: int
    size: int
    mtime_ns: int
    ctime_ns: int
    inode: int

    @property
    def bits(self) -> int:
        return stat.S_IMODE(self.mode)

    @property
    def is_link(self) -> bool:
        return stat.S_ISLNK(self.mode)

    @property
    def is_file(self) -> bool:
        return stat.S_ISREG(self.mode)


Visit = Callable[[int, str, str, FileStat], None]
"""Gets an open folder, a name in it, the path below the root, and the status."""


class Tree:
    """What a scan saw. Paths are relative to the scanned root; "" is the root itself."""

    def __init__(self) -> None:
        self.noticed: dict[str, FileStat] = {}
        """Files in ignored or generated folders."""

        self.listed: set[str] = set()
        """Folders whose every entry was seen."""

        self.folders: dict[str, int] = {}
        """All folders that were seen with their permission bits, also those whose contents were not looked at."""

        self.unseen: list[str] = []
        """Folders that were not looked at, or not to their end."""

        self.ignored: set[str] = set()
        """Folders whose files are only noticed."""

        self.is_cut = False
        """Whether there was more than may be looked at."""

        self.repositories: list[str] = []
        """Folders that hold a `.git`."""

    def was_absent(self, path: str) -> bool:
        """Whether a file that appeared later surely was not there: the nearest listed folder did not hold it."""
        child = path
        while child:
            parent = child.rpartition("/")[0]
            if parent in self.listed:
                # A folder above that was seen and not listed may have held it; a folder in its own place did not.
                return child == path or child not in self.folders
            child = parent
        return False


class _Folder(NamedTuple):
    names: list[str]
    path: str
    plain: str
    levels: tuple[walking.Ignores, ...]


class _Scan:
    def __init__(self, fd: int, root: str, skipped: Collection[str], visit: Visit, stopped: Stopped) -> None:
        self.tree = Tree()
        self.ignored: list[_Folder] = []
        self._root = root.rstrip("/")
        self._skipped = skipped
        self._visit = visit
        self._stopped = stopped
        self._rules = walking.RuleBudget()
        self._way = Way(fd)

    def cover(self, max_entries: int) -> None:
        """Visit files outside ignored folders, breadth first."""
        left = max_entries
        todo = deque([_Folder([], "", "", ())])
        while todo and not self._stopped():
            folder = todo.popleft()
            fd, entries = self._open(folder) if left > 0 else (None, [])
            if fd is None:
                self.tree.unseen.append(folder.path)
                self.tree.is_cut |= left <= 0
                continue
            # One folder gets half of what is left, so that a huge one leaves room for those beside it.
            room = len(entries) if len(entries) <= left // 2 else max(1, left // 2)
            left -= room
            if room < len(entries):
                self.tree.unseen.append(folder.path)
                self.tree.is_cut = True
            else:
                self.tree.listed.add(folder.path)
            levels = self._levels(fd, folder, entries)
            for entry in entries[:room]:
                if entry.is_dir(follow_symlinks=False):
                    todo.extend(self._enter(folder, entry, levels))
                elif entry.name == ".git":
                    self.tree.repositories.append(folder.path)  # of a worktree or a submodule
                elif (status := _status(entry)) is not None:
                    self._visit(fd, entry.name, _join(folder.path, entry.name), status)

    def _enter(self, folder: _Folder, entry: "os.DirEntry[str]", levels: tuple[walking.Ignores, ...]) -> list[_Folder]:
        name, status = entry.name, _status(entry)
        path, plain = _join(folder.path, name), _join(folder.plain, walking.plain(name))
        if name == ".git":
            self.tree.repositories.append(folder.path)
            return []
        if f"{self._root}/{path}" in self._skipped or status is None:
            return []
        self.tree.folders[path] = status.bits
        inner = _Folder([*folder.names, name], path, plain, levels)
        if name in NOT_OWN or (levels and self._rules.is_ignored(levels, plain, is_folder=True)):
            self.ignored += [inner] if name not in _CACHES else []
            self.tree.ignored.add(path)
            return []
        if len(inner.names) > _MAX_DEPTH:
            self.tree.unseen.append(path)
            return []
        return [inner]

    def notice(self) -> None:
        """Take the status of files in ignored folders; a folder with too many of them is not looked at."""
        left = MAX_NOTICED_ENTRIES
        for top in self.ignored:
            found: dict[str, FileStat] = {}
            todo = [top]
            while todo and left > 0 and not self._stopped():
                folder = todo.pop()
                fd, entries = self._open(folder)
                left -= len(entries) + 1
                for entry in entries if fd is not None else ():
                    path = _join(folder.path, entry.name)
                    if entry.is_dir(follow_symlinks=False):
                        if len(folder.names) < _MAX_DEPTH and f"{self._root}/{path}" not in self._skipped:
                            todo.append(_Folder([*folder.names, entry.name], path, "", ()))
                    elif (status := _status(entry)) is not None:
                        found[path] = status
            if left > 0:
                self.tree.noticed |= found
            else:
                self.tree.unseen.append(top.path)

    def _open(self, folder: _Folder) -> "tuple[int | None, list[os.DirEntry[str]]]":
        """An open folder and its entries by name; None for one that cannot be opened or is a data directory."""
        try:
            fd = self._way.open(folder.names)
            with os.scandir(fd) as entries:
                listed = sorted(entries, key=lambda entry: entry.name)
        except OSError:
            return None, []
        if folder.names and is_data_directory(fd, {entry.name for entry in listed}):
            return None, []
        return fd, listed

    def _levels(self, fd: int, folder: _Folder, entries: "list[os.DirEntry[str]]") -> tuple[walking.Ignores, ...]:
        found = [status.size for entry in entries if entry.name in walking.IGNORE_FILES and (status := _status(entry))]
        # A huge list of rules costs more with every entry than covering what it would leave out.
        if found and sum(found) <= _MAX_IGNORE_BYTES:
            return self._rules.levels_in(fd, folder.plain, folder.levels)
        return folder.levels

    def close(self) -> None:
        self._way.close()


def scan(fd: int, root: str, skipped: Collection[str], max_entries: int, visit: Visit, stopped: Stopped) -> Tree:
    """Scan what lies beneath an open folder. `skipped` are absolute paths that are neither entered nor told."""
    with contextlib.closing(_Scan(fd, root, skipped, visit, stopped)) as work:
        work.cover(max_entries)
        work.notice()
        return work.tree


def _status(entry: "os.DirEntry[str]") -> FileStat | None:
    try:
        status = entry.stat(follow_symlinks=False)
    except OSError:
        return None
    fields = (status.st_mode, status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_ino)
    return tuple.__new__(FileStat, fields)  # a scan makes very many: twice as fast as by their names


def _join(folder: str, name: str) -> str:
    return f"{folder}/{name}" if folder else name


def folders_above(path: str) -> Iterator[str]:
    """The folders that a path lies in, the inner ones first."""
    while path := path.rpartition("/")[0]:
        yield path
