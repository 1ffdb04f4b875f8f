"""The files that the file tools wrote in earlier calls of the same round: such a change must not stop a later call."""

import os
from collections.abc import Collection, Iterable, Mapping
from typing import NamedTuple

from pilothouse.domain.value import CallId
from pilothouse.sandbox.file_names import unescape
from pilothouse.sandbox.workspace import ABSENT
from pilothouse.system.file_inspection import WrittenFile
from pilothouse.tools.base import ToolContext
from pilothouse.tools.undo.changes import WRITE, ChangeEntry


class RoundWrites(NamedTuple):
    """The writes of the file tools in earlier calls of a round."""

    files: Mapping[str, WrittenFile]
    """By absolute path."""
    folders: frozenset[str]
    """The folders that the writes created."""


NO_WRITES = RoundWrites({}, frozenset())


def _round_writes(entries: Iterable[ChangeEntry], root: str) -> RoundWrites:
    """The writes among the logged changes of a round's earlier calls, oldest first. Changes by commands were shown to
    nobody and are left out."""
    files: dict[str, WrittenFile] = {}
    folders: set[str] = set()
    for entry in entries:
        if entry.tool != WRITE:
            continue
        folders.update(os.path.join(root, unescape(folder)) for folder in entry.made_folders)
        for file in entry.files:
            path = os.path.join(root, unescape(file.path))
            before = None if file.before == ABSENT else file.before
            if path in files:
                # Somebody changed the file between the two writes: the state before the second was never shown.
                before = files[path].before if files[path].after == file.before else file.before
            files[path] = WrittenFile(before, file.after)
    return RoundWrites(files, frozenset(folders))


def writes_of_calls(context: ToolContext, calls: Collection[CallId]) -> RoundWrites:
    """The logged writes of these calls of a round."""
    if context.artifacts is None or not calls:
        return NO_WRITES
    entries = (entry for entry in context.artifacts.changes.entries() if entry.call in calls)
    return _round_writes(entries, str(context.workspace.root))


def is_own_change(context: ToolContext, path: str, shown_hash: str, present_hash: str) -> bool:
    """Whether only earlier calls of the round lead from the content that was shown to the present one. Both are content
    hashes, ABSENT for a missing file."""
    write = writes_of_calls(context, context.executed_before).files.get(
        os.path.join(str(context.workspace.root), unescape(context.workspace.touched_paths(path)[-1]))
    )
    return write is not None and (write.before or ABSENT) == shown_hash and write.after == present_hash
