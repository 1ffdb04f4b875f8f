"""The changes of a command, from a comparison of two snapshots of a workspace."""

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
from pilothouse.sandbox.protected_files import may_run_code
from pilothouse.sandbox.workspace import ABSENT, Workspace
from pilothouse.tools.undo.baseline import Snapshot, StoredFile
from pilothouse.tools.undo.changes import ChangedFile, ChangeEntry
from pilothouse.tools.undo.git_state import changed_programs, git_changes
from pilothouse.tools.undo.limits import UndoLimits
from pilothouse.tools.undo.tree import FileStat, Tree, folders_above

MAX_CHANGED_FILES = 10_000
_MAX_SHOWN_PATHS = 5
_TOOL_STATE_NAMES = frozenset({"node_modules", "site-packages", "dist-packages", ".gradle", ".hg", ".jj"})
"""Folders in which installers, build tools and version control change code-running files all the time."""
_TOOL_SETTINGS = re.compile(
    r"(?:.*/)?(?:\.hg/hgrc[^/]*|\.jj/(?:repo/)?[^/]*\.toml|\.jj/repo/store/git/(?:config|hooks/.*)"
    r"|\.gradle/(?:init\.gradle(?:\.kts)?|init\.d/.*|gradle\.properties))"
)
"""Files in those folders that people write and that name programs."""


class Comparison(NamedTuple):
    """The result of a comparison."""

    entry: ChangeEntry | None
    """None where nothing changed."""
    stored: list[StoredFile | None]
    """The contents to store for the entry's files, in their order."""
    code_files: list[str]
    """The code-running files among the changed ones."""


def compare(
    before: Snapshot, after: Snapshot, workspace: Workspace, call: str, tool: str, limits: UndoLimits
) -> Comparison:
    work = _SnapshotDiff(before, after, workspace, limits)
    work.compare_files()
    work.compare_noticed()
    work.compare_unseen()
    reasons = [*work.reasons(), *git_changes(before.git, after.git)]
    made_folders, removed_folders = work.folders()
    entry = ChangeEntry(
        call=call,
        tool=tool,
        files=tuple(file for file, _ in work.changed),
        made_folders=made_folders,
        removed_folders=removed_folders,
        folder_bits=work.folder_bits(),
        left=tuple(reasons),
    )
    code_files = [*work.code_files(), *changed_programs(before.git, after.git)]
    if not entry.has_entries and not reasons:
        return Comparison(None, [], code_files)
    return Comparison(entry, [stored for _, stored in work.changed], code_files)


class _SnapshotDiff:
    def __init__(self, before: Snapshot, after: Snapshot, workspace: Workspace, limits: UndoLimits) -> None:
        self.changed: list[tuple[ChangedFile, StoredFile | None]] = []
        self._unrevertible: dict[Code, list[str]] = defaultdict(list)
        self._before = before
        self._after = after
        self._workspace = workspace
        self._entries = Entries(workspace)
        self._limits = limits
        self._room = limits.max_conversation_bytes

    def compare_files(self) -> None:
        for path, old in self._before.files.items():
            new = self._after.files.get(path)
            if new is None:
                self._add_missing(path, old)
            elif new is not old and not _is_same(old, new):
                self._add_change(path, old, new)
        for path, new in self._after.files.items():
            if path not in self._before.files:
                self._add_new(path, new)

    def _add_missing(self, path: str, old: StoredFile) -> None:
        """Record a deletion, unless the file still exists and the second snapshot left it out: ignored by now, or over
        the limit."""
        try:
            status = self._entries.status(escape(path))
        except ToolError:
            self._unrevertible[Code.UNDO_UNREADABLE].append(path)
            return
        if status is None or stat.S_ISDIR(status.st_mode):
            self._add_change(path, old, None)
            return
        present = FileStat(status.st_mode, status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_ino)
        if not _is_same(old, new := StoredFile(present, None, -1)):
            self._add_change(path, old, new)

    def _add_new(self, path: str, new: StoredFile) -> None:
        prefix, tree = self._root_of(path)
        inner = path.removeprefix(prefix)
        if (status_before := tree.noticed.get(inner)) is not None:
            if status_before != new.stat:
                self._unrevertible[Code.UNDO_IGNORED].append(path)
        elif tree.was_absent(inner):
            self._add_change(path, None, new)
        else:
            self._unrevertible[Code.UNDO_UNSEEN].append(path)

    def _root_of(self, path: str) -> tuple[str, Tree]:
        roots = sorted(self._before.roots, key=lambda root: len(root.prefix), reverse=True)
        scanned_root = next(root for root in roots if path.startswith(root.prefix))
        return scanned_root.prefix, scanned_root.tree

    def _add_change(self, path: str, old: StoredFile | None, new: StoredFile | None) -> None:
        obstacle = self._obstacle(path, old, new)
        if obstacle is not None:
            self._unrevertible[obstacle].append(path)
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

    def _obstacle(self, path: str, old: StoredFile | None, new: StoredFile | None) -> Code | None:
        """Why a change cannot be reverted."""
        if len(self.changed) >= MAX_CHANGED_FILES:
            return Code.UNDO_TOO_MANY
        limit = self._workspace.violation(escape(path), writing=True)
        if limit is not None and limit.code not in (Code.PROTECTED_PATH, Code.UPLOADS_RESERVED):
            return Code.UNDO_UNSEEN
        if any(file is not None and not (file.stat.is_file or file.stat.is_link) for file in (old, new)):
            return Code.UNDO_SPECIAL
        if old is None or (new is not None and old.digest is not None and old.digest == new.digest):
            return None
        if old.stat.size > self._limits.max_file_bytes:
            return Code.UNDO_TOO_LARGE
        if old.digest is None:
            return Code.UNDO_OVER_BUDGET if self._before.is_over_budget else Code.UNDO_UNREADABLE
        return Code.UNDO_OVER_BUDGET if old.size > self._room else None

    def code_files(self) -> list[str]:
        """The changed files that make programs run code, whether undo covers them or not."""
        paths = {
            *(file.path for file, _ in self.changed),
            *(escape(path) for group in self._unrevertible.values() for path in group),
        }
        return sorted(path for path in paths if self._runs_code(path) and not _is_tool_state(path))

    def _runs_code(self, path: str) -> bool:
        return may_run_code(path) or runs_in_bare_repository(str(self._workspace.root / unescape(path)))

    def compare_unseen(self) -> None:
        """Record folders that one snapshot did not see: a folder that now looks like a data directory, or is gone."""
        for root, later in zip(self._before.roots, self._after.roots, strict=True):
            for path in sorted(set(root.tree.unseen) - later.tree.folders.keys() - {""}):
                if self._is_gone(root.prefix + path):
                    code = Code.UNDO_IGNORED if path in root.tree.ignored else Code.UNDO_UNSEEN
                    self._unrevertible[code].append(f"{root.prefix}{path}/")
            if not later.tree.is_cut:
                new = set(later.tree.unseen) - set(root.tree.unseen)
                self._unrevertible[Code.UNDO_UNSEEN] += [root.prefix + path for path in sorted(new)]

    def compare_noticed(self) -> None:
        """Record changes in ignored folders, which undo only reports."""
        for root, later in zip(self._before.roots, self._after.roots, strict=True):
            unseen = set(later.tree.unseen)
            for path in sorted({*root.tree.noticed, *later.tree.noticed}):
                old, new = root.tree.noticed.get(path), later.tree.noticed.get(path)
                if old != new and not self._is_elsewhere(root.prefix, path, unseen):
                    self._unrevertible[Code.UNDO_IGNORED].append(root.prefix + path)

    def _is_elsewhere(self, prefix: str, path: str, unseen: Set[str]) -> bool:
        """Whether the other snapshot saw the file outside ignored folders, or did not scan its folder."""
        if prefix + path in self._before.files or prefix + path in self._after.files:
            return True
        return path in unseen or any(folder in unseen for folder in folders_above(path))

    def folders(self) -> tuple[tuple[str, ...], dict[str, int]]:
        """Created folders, and removed folders with their permission bits; the outer ones first."""
        created: list[str] = []
        removed: list[tuple[str, int]] = []
        for root, later in zip(self._before.roots, self._after.roots, strict=True):
            before, after = root.tree.folders, later.tree.folders
            new = after.keys() - before.keys() - later.tree.ignored
            created += [root.prefix + path for path in new if root.tree.was_absent(path)]
            missing = before.keys() - after.keys() - root.tree.ignored
            removed += [(root.prefix + path, before[path]) for path in missing if self._is_gone(root.prefix + path)]
        return tuple(sorted(map(escape, created))), {escape(path): bits for path, bits in sorted(removed)}

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
        for code, paths in self._unrevertible.items():
            if not paths:
                continue
            listed_paths = format_paths([escape(path) for path in paths[:_MAX_SHOWN_PATHS]], len(paths))
            yield Reason(code, {"paths": listed_paths, "megabytes": self._limits.file_megabytes})


def _is_tool_state(path: str) -> bool:
    return not _TOOL_STATE_NAMES.isdisjoint(path.split("/")) and _TOOL_SETTINGS.fullmatch(path) is None


def format_paths(paths: Sequence[str], count: int | None = None) -> str:
    """The first of `count` paths, and the number of further ones."""
    more = (count or len(paths)) - _MAX_SHOWN_PATHS
    return ", ".join(paths[:_MAX_SHOWN_PATHS]) + (f" (+{more})" if more > 0 else "")


def _is_same(old: StoredFile, new: StoredFile) -> bool:
    if old.digest is not None and new.digest is not None:
        return old.digest == new.digest and (old.stat.is_link or old.stat.bits == new.stat.bits)
    return old.stat._replace(ctime_ns=0) == new.stat._replace(ctime_ns=0)


def _name(file: StoredFile | None) -> str:
    """The digest of a file's content, or a name made from the status of an unread file."""
    if file is None:
        return ABSENT
    return file.digest or stat_name(file.stat.size, file.stat.mtime_ns, file.stat.inode)
