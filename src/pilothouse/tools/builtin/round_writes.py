"""What the file tools wrote in earlier calls of the same answer: a later call is not refused for such a change."""

import os
from collections.abc import Collection, Iterable, Mapping
from typing import NamedTuple

from pilothouse.domain.values import CallId
from pilothouse.file_inspection import WrittenFile
from pilothouse.sandbox.file_names import unescape
from pilothouse.sandbox.workspace import ABSENT
from pilothouse.tools.base import Job
from pilothouse.tools.undo.changes import WRITE, ChangeEntry


class RoundWrites(NamedTuple):
    """What the file tools wrote in earlier calls of a round, by absolute path."""

    files: Mapping[str, WrittenFile]
    folders: frozenset[str]
    """Folders that the writes made."""


NO_WRITES = RoundWrites({}, frozenset())


def _round_writes(entries: Iterable[ChangeEntry], root: str) -> RoundWrites:
    """The writes among the logged changes of a round's earlier calls, oldest first. What commands changed was shown to
    nobody, and counts as a change."""
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
                # A file that somebody changed between two writes keeps a state that was never shown.
                before = files[path].before if files[path].after == file.before else file.before
            files[path] = WrittenFile(before, file.after)
    return RoundWrites(files, frozenset(folders))


def writes_of_calls(job: Job, calls: Collection[CallId]) -> RoundWrites:
    """The logged writes of these calls of the round."""
    if job.artifacts is None or not calls:
        return NO_WRITES
    entries = (entry for entry in job.artifacts.changes.entries() if entry.call in calls)
    return _round_writes(entries, str(job.workspace.root))


def is_own_change(job: Job, path: str, shown: str, present: str) -> bool:
    """Whether only earlier calls of the round lead from the content that a call was shown with to the present one.
    Both are content hashes, ABSENT for a missing file."""
    write = writes_of_calls(job, job.executed_before).files.get(
        os.path.join(str(job.workspace.root), unescape(job.workspace.touched(path)[-1]))
    )
    return write is not None and (write.before or ABSENT) == shown and write.after == present
