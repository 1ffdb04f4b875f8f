"""Walking beneath a folder without a race, past the paths that ignore files exclude.

Each folder is opened from its parent's descriptor and no link is followed: a folder that is swapped for a link during
the walk leads nowhere.
"""

import contextlib
import itertools
import os
from collections import deque
from collections.abc import Callable, Container, Generator, Iterator
from typing import Literal, NamedTuple

from pilothouse.domain.codes import Code
from pilothouse.sandbox.data_directory import is_data_directory
from pilothouse.sandbox.file_names import escape
from pilothouse.sandbox.gitignore import IgnoreFile, Matcher, RuleBudget, latin1_name
from pilothouse.sandbox.openat import FOLDER_FLAGS, FolderOpener
from pilothouse.sandbox.workspace import Workspace

MAX_WALK_ENTRIES = 200_000
MAX_WALK_DEPTH = 100

# Costs in `Walk.nearest`, in entries visited: resolving a link, reading an ignore rule, matching ignore rules.
_LINK_COST = 10
_RULE_READ_COST = 5
_RULES_PER_ENTRY_COST = 100

Kind = Literal["file", "folder", "link", "other"]
Stopped = Callable[[], bool]


def _rule_count(levels: tuple[IgnoreFile, ...]) -> int:
    return sum(file.size for file in levels)


class Entry(NamedTuple):
    """An entry that a walk yields."""

    path: str
    """Below the folder where the walk began."""
    kind: Kind
    dir_entry: "os.DirEntry[str]"
    """Gives the entry's status until the walk leaves the entry's folder."""


class _Frame:
    """A folder on the walk's path. Depth first, a frame stays open until everything below the folder is done."""

    def __init__(self, fd: int, path: str, latin1_path: str, levels: tuple[IgnoreFile, ...]) -> None:
        self.fd = fd
        self.path = path
        self.latin1_path = latin1_path
        """The path below the workspace's root in which ignore rules are matched."""
        self.levels = levels
        """The ignore files that apply in the folder."""
        self.entries: Iterator[os.DirEntry[str]] = iter(())


class Walk:
    """A walk beneath an open folder."""

    def __init__(self, workspace: Workspace, fd: int, real: str, levels: tuple[IgnoreFile, ...] | None) -> None:
        """`real` is the folder's path without links; `levels` are the ignore files above the folder, None to apply no
        ignore rules at all."""
        self.workspace = workspace
        self._fd = fd
        self._levels = levels
        self._real = os.path.join(real, "")
        self._base = os.path.relpath(real, workspace.root) + "/" if real != str(workspace.root) else ""
        self.remaining = MAX_WALK_ENTRIES
        """How many more entries the walk may read."""
        self.cut = False
        """Whether the walk left entries out because of its limits."""
        self.ignored = 0
        """How many entries the ignore rules excluded."""
        self.unread = 0
        """How many folders could not be opened."""
        self.rules = RuleBudget()
        self.rules.over_limit += [file.path for file in levels or () if file.is_over_limit]

    def entries(self, accepts: Matcher, stopped: Stopped, depth: int = MAX_WALK_DEPTH) -> Generator[Entry, None, None]:
        """Walk depth first, in order of names, a folder before its entries. Files and links are yielded where `accepts`
        matches their path, folders always."""
        if stopped():  # the folder may be closed already
            return
        stack = [_Frame(os.dup(self._fd), "", latin1_name(self._base), self._levels or ())]
        try:
            self._fill(stack[-1], self.remaining)
            while stack and not stopped() and not self._is_spent():
                frame = stack[-1]
                entry = next(frame.entries, None)
                if entry is None:
                    os.close(stack.pop().fd)
                    continue
                path, kind = frame.path + entry.name, _kind(entry)
                if (kind == "folder" or accepts(path)) and self._is_visible(frame, path, entry.name, kind):
                    yield Entry(path, kind, entry)
                    if kind == "folder" and len(stack) < depth:
                        self._enter(stack, entry.name)
                    self.cut = self.cut or (kind == "folder" and len(stack) >= MAX_WALK_DEPTH)
        finally:
            for frame in stack:
                os.close(frame.fd)

    def _enter(self, stack: list[_Frame], name: str) -> None:
        parent = stack[-1]
        try:
            fd = os.open(name, FOLDER_FLAGS, dir_fd=parent.fd)
        except OSError:
            self.unread += 1
            return
        latin1_path = f"{parent.latin1_path}{latin1_name(name)}/"
        stack.append(_Frame(fd, f"{parent.path}{name}/", latin1_path, parent.levels))
        self._fill(stack[-1], self.remaining)

    def nearest(self, budget: int, excluded: Container[str], stopped: Stopped) -> Generator[Entry, None, None]:
        """Walk breadth first, in each folder the folders first, in order of names. Names in `excluded` are left out.

        `budget` bounds the work: entries, with the cost of reaching them. One folder gets at most half of the rest, so
        that a huge folder leaves something to its siblings.
        """
        queue = deque([_Frame(-1, "", latin1_name(self._base), self._levels or ())])
        with contextlib.closing(FolderOpener(self._fd)) as opener:
            while queue and budget > 0 and not stopped() and not self._is_spent():
                frame = queue.popleft()
                rules_above = _rule_count(frame.levels)
                entries = self._open_entries(opener, frame)
                budget -= opener.opened + _RULE_READ_COST * (_rule_count(frame.levels) - rules_above)
                entry_cost = 1 + _rule_count(frame.levels) // _RULES_PER_ENTRY_COST
                room = max(0, budget + 1) // 2 // entry_cost
                self.cut = self.cut or len(entries) > room
                for entry in itertools.islice(entries, room):
                    path, kind = frame.path + entry.name, _kind(entry)
                    budget -= entry_cost + _LINK_COST * (kind == "link")
                    if self._is_spent():
                        break
                    if entry.name not in excluded and budget >= 0 and self._is_visible(frame, path, entry.name, kind):
                        yield Entry(path, kind, entry)
                        if kind == "folder":
                            latin1_path = f"{frame.latin1_path}{latin1_name(entry.name)}/"
                            queue.append(_Frame(-1, f"{path}/", latin1_path, frame.levels))
        self.cut = self.cut or bool(queue) or budget < 0

    def _open_entries(self, opener: FolderOpener, frame: _Frame) -> list["os.DirEntry[str]"]:
        names = frame.path.split("/")[:-1]
        if len(names) >= MAX_WALK_DEPTH:
            self.cut = True
            return []
        try:
            frame.fd = opener.open(names)
            self._fill(frame, self.remaining // 2)
            return sorted(frame.entries, key=lambda entry: not entry.is_dir(follow_symlinks=False))
        except OSError:
            self.unread += 1
            return []

    def _fill(self, frame: _Frame, max_entries: int) -> None:
        with os.scandir(frame.fd) as scan:
            entries = list(itertools.islice(scan, max_entries + 1))
        is_root = not frame.path and not self._base
        if not is_root and is_data_directory(frame.fd, {entry.name for entry in entries}):
            entries = []
        self.cut = self.cut or len(entries) > max_entries
        del entries[max_entries:]
        self.remaining -= len(entries)
        if self._levels is not None:
            frame.levels = self.rules.read_ignore_files(frame.fd, frame.latin1_path[:-1], frame.levels)
        frame.entries = iter(sorted(entries, key=lambda entry: entry.name))

    def _is_spent(self) -> bool:
        """Whether the walk has spent its budget for ignore rules."""
        self.cut = self.cut or self.rules.remaining <= 0
        return self.rules.remaining <= 0

    def _is_visible(self, frame: _Frame, path: str, name: str, kind: Kind) -> bool:
        """Whether an entry is neither ignored nor protected."""
        if self._levels is not None and name == ".git":
            return False
        latin1_path = frame.latin1_path + latin1_name(name)
        if frame.levels and self.rules.is_ignored(frame.levels, latin1_path, is_folder=kind == "folder"):
            self.ignored += 1
            return False
        if self.workspace.is_protected_here(self._real + path, writing=False):
            return False
        try:
            reason = self.workspace.violation(escape(self._base + path)) if kind == "link" else None
        except OSError:  # the link disappeared during the walk
            return False
        return reason is None or reason.code is not Code.PROTECTED_PATH


def _kind(entry: "os.DirEntry[str]") -> Kind:
    if entry.is_symlink():
        return "link"
    return "folder" if entry.is_dir() else "file" if entry.is_file() else "other"
