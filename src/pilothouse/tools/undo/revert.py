"""Restoration of files as they were before a call. A file that somebody else has changed since stays unchanged.

Undo overwrites and removes nothing without storing a copy first.
"""

import errno
from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet

from pilothouse.domain.codes import Code, Reason
from pilothouse.domain.errors import ToolError
from pilothouse.domain.value import Value
from pilothouse.sandbox.entries import BLOCKED, FOLDER, OTHER, Entries, EntryState, is_link_name
from pilothouse.sandbox.workspace import ABSENT, Workspace
from pilothouse.tools.undo.changes import ChangedFile, ChangeEntry, ChangeLog
from pilothouse.tools.undo.tree import folders_above

COMMAND = "execute"
"""The tool whose changes are detected by comparing snapshots, so that some of them may be a person's."""
_CONFLICTS = frozenset({Code.FILE_CHANGED, Code.FILE_MISSING, Code.NOT_A_DIRECTORY, Code.NOT_A_FILE})
_DISK_FULL = frozenset({errno.ENOSPC, errno.EDQUOT})


class UndoResult(Value):
    """The result of an undo."""

    paths: tuple[str, ...]
    """The restored files."""
    left: tuple[Reason, ...] = ()
    """The changes of the call that the undo did not revert."""


def undo_last(log: ChangeLog, workspace: Workspace, *, include_commands: bool = True) -> UndoResult:
    """Revert the last change of the agent. Replaced contents are stored.

    Files that cannot be restored are reported once: the next undo goes to the change before. `include_commands` also
    reverts the changes of commands. Raises: ToolError where no file was restored; OSError where the disk is full: the
    same undo can be tried again.
    """
    changes, entries = log.entries(), Entries(workspace)
    while changes:
        entry = changes.pop()
        if entry.tool == COMMAND and not include_commands:
            raise ToolError(Code.UNDO_ASKS, paths=_path_list(entry))
        if not entry.has_entries:
            raise ToolError(Code.UNDO_NOTHING, left=_end_all_without_files(log, [*changes, entry]))
        result = _Revert(log, entries, entry).run()
        if result.paths:
            return result
        if result.left:
            raise ToolError(Code.UNDO_NOTHING, left=list(result.left))
        # Otherwise the change was logged but never made, or somebody has reverted the change already.
    raise ToolError(Code.NOTHING_TO_UNDO)


def _path_list(entry: ChangeEntry) -> str:
    return ", ".join(file.path for file in entry.files[:20]) or entry.tool


def _unreverted(entry: ChangeEntry) -> list[Reason]:
    legacy = [Reason(Code.UNDO_UNKNOWN, {"detail": entry.unkept})] if entry.unkept is not None else []
    return [*entry.left, *legacy]


def _end_all_without_files(log: ChangeLog, entries: Sequence[ChangeEntry]) -> list[Reason]:
    """End the last entries without anything to restore. Returns their reasons, which are reported together."""
    reasons: list[Reason] = []
    for entry in reversed(entries):
        if entry.has_entries:
            break
        reasons += [reason for reason in _unreverted(entry) if reason not in reasons]
        log.end(entry)
    return reasons


class _Revert:
    """The undo of one change."""

    def __init__(self, log: ChangeLog, entries: Entries, entry: ChangeEntry) -> None:
        self._log = log
        self._entries = entries
        self._entry = entry
        self._conflicts: list[ChangedFile] = []
        """Files that somebody else has changed since the call."""
        self._taken_folders: list[str] = []
        """Folders that the call removed and that somebody has replaced with something else."""
        self._unkept: list[ChangedFile] = []
        """Files whose present content cannot be stored."""
        self._failed: list[tuple[ChangedFile, Reason]] = []
        """Files that the system refuses to restore, and the reasons."""

    def run(self) -> UndoResult:
        """Raises: ToolError where the earlier contents are lost, OSError."""
        files = self._plan()
        contents = self._contents(files)
        self._log.keep_present(self._entry, dict(self._present_contents(files)))
        paths = self._restore(files, contents)
        unreverted = (*self._remarks(), *_unreverted(self._entry))
        self._log.end(self._entry)
        return UndoResult(paths, unreverted)

    # planning

    def _plan(self) -> list[ChangedFile]:
        states = {file.path: self._state_of(file.path) for file in self._entry.files}
        changed = [
            file
            for file in self._entry.files
            if not _has_changed_nothing(file) and not _is_as_before(states[file.path], file)
        ]
        # Files that the call created come first: they may occupy the place of something that the call removed.
        created = [file for file in changed if file.before == ABSENT]
        files = [file for file in created if self._can_replace(file, states[file.path], frozenset())]
        removable = {file.path for file in files}
        other_files = [file for file in changed if file.before != ABSENT]
        return files + [file for file in other_files if self._can_replace(file, states[file.path], removable)]

    def _state_of(self, path: str) -> EntryState:
        try:
            return self._entries.state(path)
        except ToolError:  # a parent folder was closed, or replaced by a link that leads outside
            return EntryState(OTHER)

    def _can_replace(self, file: ChangedFile, now: EntryState, removable: AbstractSet[str]) -> bool:
        if not self._is_as_after(file, now, removable):
            self._conflicts.append(file)
            return False
        if now.is_unread and file.before != file.after:
            self._unkept.append(file)
            return False
        return True

    def _is_as_after(self, file: ChangedFile, now: EntryState, removable: AbstractSet[str]) -> bool:
        if now.content == FOLDER and file.after == ABSENT and file.path in self._entry.made_folders:
            # The command replaced the file with a folder, which can go if it holds only the command's own files.
            try:
                return self._entries.holds_only(file.path, removable)
            except ToolError:
                return False
        if now.content == BLOCKED:  # likewise a file in the place of a folder
            return file.after == ABSENT and any(folder in removable for folder in folders_above(file.path))
        return now.is_named(file.after) and file.mode_after in (None, now.bits)

    def _contents(self, files: Sequence[ChangedFile]) -> dict[str, bytes]:
        try:
            return {file.path: self._log.content(self._entry, file) for file in files if _needs_content(file)}
        except FileNotFoundError as error:
            self._log.end(self._entry)
            raise ToolError(Code.UNDO_EXPIRED, paths=_path_list(self._entry)) from error
        except OSError as error:
            self._log.end(self._entry)
            raise ToolError(Code.UNDO_NOTHING, left=[Reason(Code.UNDO_UNKNOWN, {"detail": str(error)})]) from error

    def _present_contents(self, files: Sequence[ChangedFile]) -> Iterator[tuple[str, bytes]]:
        for file in files:
            if file.after not in (ABSENT, file.before) and not is_link_name(file.after):
                content = self._entries.read(file.path)
                if content is not None:
                    yield file.path, content

    # restoring

    def _restore(self, files: Sequence[ChangedFile], contents: dict[str, bytes]) -> tuple[str, ...]:
        """Returns the restored files; where the call changed folders only, the restored folders."""
        entry = self._entry
        # Files that the call created are removed first: a folder may occupy the place of a file, and vice versa.
        restored = {file.path for file in files if file.before == ABSENT and self._try_restore(file, contents)}
        folders = [folder for folder in reversed(entry.made_folders) if self._entries.remove_empty_folder(folder)]
        folders += [path for path, bits in entry.removed_folders.items() if self._try_make_folder(path, bits)]
        restored |= {file.path for file in files if file.before != ABSENT and self._try_restore(file, contents)}
        # Permission bits come last, inner folders first: an outer folder may become closed.
        folders += [path for path in sorted(entry.folder_bits, reverse=True) if self._try_restore_bits(path)]
        return tuple(file.path for file in entry.files if file.path in restored) or (() if files else tuple(folders))

    def _try_restore(self, file: ChangedFile, contents: Mapping[str, bytes]) -> bool:
        """Whether the file was restored. Raises: ToolError where the disk is full: the same undo can be tried again."""
        try:
            self._restore_file(file, contents)
        except ToolError as error:
            if isinstance(error.__cause__, OSError) and error.__cause__.errno in _DISK_FULL:
                raise
            if error.reason.code in _CONFLICTS:
                self._conflicts.append(file)
            else:
                self._failed.append((file, error.reason))
            return False
        return True

    def _restore_file(self, file: ChangedFile, contents: Mapping[str, bytes]) -> None:
        """Raises: ToolError, also where the file is no longer as the call left it."""
        if file.before == ABSENT:
            self._entries.remove(file.path, expected=file.after)
        elif file.path in contents:
            data, is_link = contents[file.path], is_link_name(file.before)
            self._entries.put(file.path, data, expected=file.after, mode=file.mode, is_link=is_link)
        elif file.mode is not None:
            self._entries.set_bits(file.path, file.mode, expected=file.after)

    def _try_make_folder(self, path: str, bits: int) -> bool:
        try:
            is_made = self._entries.make_folder(path, bits)
        except ToolError:
            is_made = False
        if not is_made and self._state_of(path).content != FOLDER:
            self._taken_folders.append(path)
        return is_made

    def _try_restore_bits(self, path: str) -> bool:
        before, after = self._entry.folder_bits[path]
        now = self._state_of(path)
        if now.content != FOLDER or now.bits != after:
            return False
        try:
            self._entries.set_bits(path, before, expected=FOLDER)
        except ToolError:  # another user's folder, or one that cannot even be opened
            return False
        return True

    # reporting

    def _remarks(self) -> Iterator[Reason]:
        """Raises: OSError."""
        conflicts = dict.fromkeys([*(file.path for file in self._conflicts), *self._taken_folders])
        for code, paths in (
            (Code.UNDO_CONFLICT, conflicts),
            (Code.UNDO_UNKEPT, [file.path for file in self._unkept]),
        ):
            if paths:
                yield Reason(code, {"paths": ", ".join(paths)})
        yield from (reason for _, reason in self._failed)
        unreverted = [*self._conflicts, *self._unkept, *(file for file, _ in self._failed)]
        if copies := self._log.save_copies(self._entry, [file for file in unreverted if _needs_content(file)]):
            yield Reason(Code.UNDO_SET_ASIDE, {"files": ", ".join(map(str, copies))})


def _needs_content(file: ChangedFile) -> bool:
    return file.before not in (ABSENT, file.after)


def _has_changed_nothing(file: ChangedFile) -> bool:
    """Whether the call wrote what the file held: later changes of the file are no conflict then."""
    return file.before == file.after and file.mode is not None and file.mode == file.mode_after


def _is_as_before(now: EntryState, file: ChangedFile) -> bool:
    return now.is_named(file.before) and (file.before != file.after or file.mode is None or now.bits == file.mode)
