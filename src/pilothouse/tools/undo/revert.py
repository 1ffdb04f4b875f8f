"""Putting files back as they were before a call: all that is kept of the call, or nothing."""

from collections.abc import Iterator, Sequence

from pilothouse.domain.codes import Code, Reason
from pilothouse.domain.errors import ToolError
from pilothouse.domain.values import Value
from pilothouse.sandbox.entries import BLOCKED, FOLDER, Entries
from pilothouse.sandbox.workspace import ABSENT, Workspace
from pilothouse.tools.undo.changes import ChangedFile, ChangeEntry, ChangeLog

COMMAND = "execute"
"""The tool whose changes are seen from outside, and may be a person's too."""


class Undone(Value):
    """The result of an undo."""

    paths: tuple[str, ...]
    """Files that are again as they were."""
    left: tuple[Reason, ...] = ()
    """What the call changed beside them and an undo leaves as it is."""


def undo_last(log: ChangeLog, workspace: Workspace, *, of_commands: bool = True) -> Undone:
    """Put back what the last call of the agent changed. What is replaced is kept.

    What cannot be put back is told once: who asks again goes further back. Raises: ToolError; then nothing was touched.
    """
    changes, entries = log.entries(), Entries(workspace)
    while changes:
        entry = changes.pop()
        if entry.tool == COMMAND and not of_commands:
            raise ToolError(Code.UNDO_ASKS, paths=_shown(entry))
        left = _left(entry)
        if not entry.has_entries:
            raise ToolError(Code.UNDO_NOTHING, left=_end_all_without_files(log, [*changes, entry]))
        changed = [file for file in entry.files if not _is_as_before(entries, file)]
        foreign = [file.path for file in changed if not _is_as_after(entries, entry, file)]
        if foreign:
            raise ToolError(Code.UNDO_REFUSED, paths=", ".join(foreign))
        folders = _put_back(log, entries, entry, changed)
        log.end(entry)
        if changed or folders or left:  # else it was noted and never made
            return Undone((*(file.path for file in changed), *folders), tuple(left))
    raise ToolError(Code.NOTHING_TO_UNDO)


def _shown(entry: ChangeEntry) -> str:
    return ", ".join(file.path for file in entry.files[:20]) or entry.tool


def _left(entry: ChangeEntry) -> list[Reason]:
    earlier = [Reason(Code.UNDO_UNKNOWN, {"detail": entry.unkept})] if entry.unkept is not None else []
    return [*entry.left, *earlier]


def _end_all_without_files(log: ChangeLog, entries: Sequence[ChangeEntry]) -> list[Reason]:
    """The last calls of which nothing can be put back: they are told together."""
    reasons: list[Reason] = []
    for entry in reversed(entries):
        if entry.has_entries:
            break
        reasons += [reason for reason in _left(entry) if reason not in reasons]
        log.end(entry)
    return reasons


def _is_as_before(entries: Entries, file: ChangedFile) -> bool:
    now = entries.look(file.path)
    return now.is_named(file.before) and (file.before != file.after or file.mode is None or now.bits == file.mode)


def _is_as_after(entries: Entries, entry: ChangeEntry, file: ChangedFile) -> bool:
    now = entries.look(file.path)
    if now.content == FOLDER and file.after == ABSENT and file.path in entry.made_folders:
        # The command put a folder in the place of the file: it can go if only the command's own files are in it.
        return entries.holds_only(file.path, {each.path for each in entry.files if each.before == ABSENT})
    if now.content == BLOCKED:  # the same for a file in the place of a folder
        made = [each.path for each in entry.files if each.before == ABSENT]
        return file.after == ABSENT and any(file.path.startswith(f"{each}/") for each in made)
    return now.is_named(file.after) and (
        file.before != file.after or file.mode_after is None or now.bits == file.mode_after
    )


def _put_back(log: ChangeLog, entries: Entries, entry: ChangeEntry, files: Sequence[ChangedFile]) -> tuple[str, ...]:
    """Gives the folders that were made or removed again."""
    try:
        contents = {file.path: log.content(entry, file) for file in files if ABSENT != file.before != file.after}
    except FileNotFoundError as error:
        log.end(entry)
        raise ToolError(Code.UNDO_EXPIRED, paths=_shown(entry)) from error
    except OSError as error:
        raise ToolError(Code.UNDO_NOTHING, left=[Reason(Code.UNDO_UNKNOWN, {"detail": str(error)})]) from error
    log.keep_present(entry, dict(_present(entries, files)))
    # What the call made goes first: a folder may stand where a file was, and a file where a folder was.
    for file in files:
        if file.before == ABSENT:
            entries.remove(file.path, expected=file.after)
    folders = [folder for folder in reversed(entry.made_folders) if entries.remove_empty_folder(folder)]
    folders += [path for path, bits in entry.removed_folders.items() if entries.make_folder(path, bits)]
    for file in files:
        if file.before == file.after and file.mode is not None:
            entries.set_bits(file.path, file.mode, expected=file.after)
        elif file.path in contents:
            is_link = file.before.startswith("link:")
            data = contents[file.path]
            entries.put(file.path, data, expected=file.after, mode=file.mode, is_link=is_link)
    # Last, and the inner ones first: a folder may have been closed.
    folders += [path for path in sorted(entry.folder_bits, reverse=True) if _put_bits_back(entries, entry, path)]
    return () if files else tuple(folders)


def _put_bits_back(entries: Entries, entry: ChangeEntry, path: str) -> bool:
    before, after = entry.folder_bits[path]
    now = entries.look(path)
    if now.content != FOLDER or now.bits != after:
        return False
    try:
        entries.set_bits(path, before, expected=FOLDER)
    except ToolError:  # another user's folder, or one that cannot even be opened
        return False
    return True


def _present(entries: Entries, files: Sequence[ChangedFile]) -> Iterator[tuple[str, bytes]]:
    for file in files:
        if file.after not in (ABSENT, file.before) and not file.after.startswith("link:"):
            content = entries.read(file.path)
            if content is not None:
                yield file.path, content
