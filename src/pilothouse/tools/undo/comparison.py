"""What a command changed: two snapshots of a workspace side by side."""

import re
import stat
from collections import defaultdict
from collections.abc import Iterator, Sequence, Set
from typing import NamedTuple

from pilothouse.domain.codes import Code, Reason
from pilothouse.domain.errors import ToolError
from pilothouse.sandbox.code_files import runs_in_bare_repository
from pilothouse.sandbox.entries import Entries, stat_name
from pilothouse.sandbox.file_names import escape, unescape
from pilothouse.sandbox.protected import may_run_code
from pilothouse.sandbox.workspace import ABSENT, Workspace
from pilothouse.tools.undo.baseline import KeptFile, Snapshot
from pilothouse.tools.undo.changes import ChangedFile, ChangeEntry
from pilothouse.tools.undo.git_state import changed_programs, git_changes
from pilothouse.tools.undo.limits import UndoLimits
from pilothouse.tools.undo.tree import FileStat, Tree, folders_above

MAX_CHANGED_FILES = 10_000
_MAX_TOLD_PATHS = 5
_TOOL_STATE = frozenset({"node_modules", "site-packages", "dist-packages", ".gradle", ".hg", ".jj"})
"""Folders in which installers, build tools and version control change such files all the time."""
_SETTINGS_IN_STATE = re.compile(
    r"(?:.*/)?(?:\.hg/hgrc[^/]*|\.jj/(?:repo/)?[^/]*\.toml|\.jj/repo/store/git/(?:config|hooks/.*)"
    r"|\.gradle/(?:init\.gradle(?:\.kts)?|init\.d/.*|gradle\.properties))"
)
"""Files in those folders that people write, and that name programs."""


class Comparison(NamedTuple):
    entry: ChangeEntry | None
    """None where nothing was changed."""
    kept: list[KeptFile | None]
    """What to keep for the entry's files, in their order."""
    code_files: list[str]
    """Files that make programs run code, among those that were changed."""


def compare(
    before: Snapshot, after: Snapshot, workspace: Workspace, call: str, tool: str, limits: UndoLimits
) -> Comparison:
    work = _Comparing(before, after, workspace, limits)
    work.files()
    work.noticed()
    work.hidden()
    reasons = [*work.reasons(), *git_changes(before.git, after.git)]
    made, removed = work.folders()
    entry = ChangeEntry(
        call=call,
        tool=tool,
        files=tuple(file for file, _ in work.changed),
        made_folders=made,
        removed_folders=removed,
        folder_bits=work.folder_bits(),
        left=tuple(reasons),
    )
    code_files = [*work.code_files(), *changed_programs(before.git, after.git)]
    if not entry.has_entries and not reasons:
        return Comparison(None, [], code_files)
    return Comparison(entry, [kept for _, kept in work.changed], code_files)


class _Comparing:
    def __init__(self, before: Snapshot, after: Snapshot, workspace: Workspace, limits: UndoLimits) -> None:
        self.changed: list[tuple[ChangedFile, KeptFile | None]] = []
        self._left: dict[Code, list[str]] = defaultdict(list)
        self._before = before
        self._after = after
        self._workspace = workspace
        self._entries = Entries(workspace)
        self._limits = limits
        self._room = limits.max_conversation_bytes

    def files(self) -> None:
        for path, old in self._before.files.items():
            new = self._after.files.get(path)
            if new is None:
                self._gone(path, old)
            elif new is not old and not _is_same(old, new):
                self._note(path, old, new)
        for path, new in self._after.files.items():
            if path not in self._before.files:
                self._appeared(path, new)

    def _gone(self, path: str, old: KeptFile) -> None:
        """Deleted, unless the second look left it out: it is ignored now, or there was too much to look at."""
        try:
            status = self._entries.status(escape(path))
        except ToolError:
            self._left[Code.UNDO_UNREADABLE].append(path)
            return
        if status is None or stat.S_ISDIR(status.st_mode):
            self._note(path, old, None)
            return
        present = FileStat(status.st_mode, status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_ino)
        if not _is_same(old, new := KeptFile(present, None, -1)):
            self._note(path, old, new)

    def _appeared(self, path: str, new: KeptFile) -> None:
        prefix, tree = self._root_of(path)
        inner = path.removeprefix(prefix)
        if (noticed := tree.noticed.get(inner)) is not None:
            if noticed != new.stat:
                self._left[Code.UNDO_IGNORED].append(path)
        elif tree.was_absent(inner):
            self._note(path, None, new)
        else:
            self._left[Code.UNDO_UNSEEN].append(path)

    def _root_of(self, path: str) -> tuple[str, Tree]:
        roots = sorted(self._before.roots, key=lambda root: len(root.prefix), reverse=True)
        found = next(root for root in roots if path.startswith(root.prefix))
        return found.prefix, found.tree

    def _note(self, path: str, old: KeptFile | None, new: KeptFile | None) -> None:
        obstacle = self._obstacle(path, old, new)
        if obstacle is not None:
            self._left[obstacle].append(path)
            return
        needs_content = old is not None and (new is None or old.digest != new.digest)
        if needs_content and old is not None:
            self._room -= old.size
        file = ChangedFile(
            escape(path),
            before=_name(old),
            after=_name(new),
            mode=old.stat.bits if old is not None else None,
            mode_after=new.stat.bits if new is not None else None,
        )
        self.changed.append((file, old if needs_content else None))

    def _obstacle(self, path: str, old: KeptFile | None, new: KeptFile | None) -> Code | None:
        """Why a change cannot be put back."""
        if len(self.changed) >= MAX_CHANGED_FILES:
            return Code.UNDO_TOO_MANY
        limit = self._workspace.limit(escape(path), writing=True)
        if limit is not None and limit.code is not Code.PROTECTED_PATH:
            return Code.UNDO_UNSEEN
        if any(each is not None and not (each.stat.is_file or each.stat.is_link) for each in (old, new)):
            return Code.UNDO_SPECIAL
        if old is None or (new is not None and old.digest is not None and old.digest == new.digest):
            return None
        if old.stat.size > self._limits.max_file_bytes:
            return Code.UNDO_TOO_LARGE
        if old.digest is None:
            return Code.UNDO_OVER_BUDGET if self._before.is_over_budget else Code.UNDO_UNREADABLE
        return Code.UNDO_OVER_BUDGET if old.size > self._room else None

    def code_files(self) -> list[str]:
        """Which of the changed files make programs run code, whether undo covers them or not."""
        paths = {
            *(file.path for file, _ in self.changed),
            *(escape(path) for left in self._left.values() for path in left),
        }
        return sorted(path for path in paths if self._runs_code(path) and not _is_tool_state(path))

    def _runs_code(self, path: str) -> bool:
        return may_run_code(path) or runs_in_bare_repository(str(self._workspace.root / unescape(path)))

    def hidden(self) -> None:
        """Folders that one look did not see: one that now looks like a data directory, or that is gone."""
        for root, later in zip(self._before.roots, self._after.roots, strict=True):
            for path in sorted(set(root.tree.unseen) - later.tree.folders.keys() - {""}):
                if self._is_gone(root.prefix + path):
                    code = Code.UNDO_IGNORED if path in root.tree.ignored else Code.UNDO_UNSEEN
                    self._left[code].append(f"{root.prefix}{path}/")
            if not later.tree.is_cut:
                new = set(later.tree.unseen) - set(root.tree.unseen)
                self._left[Code.UNDO_UNSEEN] += [root.prefix + path for path in sorted(new)]

    def noticed(self) -> None:
        """Changes in ignored folders, which are told only."""
        for root, later in zip(self._before.roots, self._after.roots, strict=True):
            unseen = set(later.tree.unseen)
            for path in sorted({*root.tree.noticed, *later.tree.noticed}):
                old, new = root.tree.noticed.get(path), later.tree.noticed.get(path)
                if old != new and not self._is_elsewhere(root.prefix, path, unseen):
                    self._left[Code.UNDO_IGNORED].append(root.prefix + path)

    def _is_elsewhere(self, prefix: str, path: str, unseen: Set[str]) -> bool:
        """Whether the other look saw the file outside ignored folders, or did not look at its folder."""
        if prefix + path in self._before.files or prefix + path in self._after.files:
            return True
        return path in unseen or any(folder in unseen for folder in folders_above(path))

    def folders(self) -> tuple[tuple[str, ...], dict[str, int]]:
        """Folders that were made, and those that were removed with their permission bits; the outer ones first."""
        made: list[str] = []
        removed: list[tuple[str, int]] = []
        for root, later in zip(self._before.roots, self._after.roots, strict=True):
            before, after = root.tree.folders, later.tree.folders
            new = after.keys() - before.keys() - later.tree.ignored
            made += [root.prefix + path for path in new if root.tree.was_absent(path)]
            gone = before.keys() - after.keys() - root.tree.ignored
            removed += [(root.prefix + path, before[path]) for path in gone if self._is_gone(root.prefix + path)]
        return tuple(sorted(map(escape, made))), {escape(path): bits for path, bits in sorted(removed)}

    def folder_bits(self) -> dict[str, tuple[int, int]]:
        pairs = zip(self._before.roots, self._after.roots, strict=True)
        return {
            escape(root.prefix + path): (bits, later.tree.folders[path])
            for root, later in pairs
            for path, bits in root.tree.folders.items()
            if later.tree.folders.get(path, bits) != bits
        }

    def _is_gone(self, folder: str) -> bool:
        try:
            status = self._entries.status(escape(folder))
        except ToolError:
            return False
        return status is None or not stat.S_ISDIR(status.st_mode)

    def reasons(self) -> Iterator[Reason]:
        for code, paths in self._left.items():
            if not paths:
                continue
            shown = told_paths([escape(path) for path in paths[:_MAX_TOLD_PATHS]], len(paths))
            yield Reason(code, {"paths": shown, "megabytes": self._limits.file_megabytes})


def _is_tool_state(path: str) -> bool:
    return not _TOOL_STATE.isdisjoint(path.split("/")) and _SETTINGS_IN_STATE.fullmatch(path) is None


def told_paths(paths: Sequence[str], count: int | None = None) -> str:
    """The first of so many paths, and how many more there are."""
    more = (count or len(paths)) - _MAX_TOLD_PATHS
    return ", ".join(paths[:_MAX_TOLD_PATHS]) + (f" (+{more})" if more > 0 else "")


def _is_same(old: KeptFile, new: KeptFile) -> bool:
    if old.digest is not None and new.digest is not None:
        return old.digest == new.digest and (old.stat.is_link or old.stat.bits == new.stat.bits)
    return old.stat._replace(ctime_ns=0) == new.stat._replace(ctime_ns=0)


def _name(file: KeptFile | None) -> str:
    """Names what a file holds, or how it looks from outside where it was not read."""
    if file is None:
        return ABSENT
    return file.digest or stat_name(file.stat.size, file.stat.mtime_ns, file.stat.inode)
