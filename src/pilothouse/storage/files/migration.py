"""Migrations of the data directory's layout between versions, run once by the process that owns it."""

import contextlib
import logging
import os
import re
import threading
from pathlib import Path

from pilothouse.domain.contexts import is_context_id
from pilothouse.storage.files.disk import Disk
from pilothouse.storage.files.layout import DELETED_SNAPSHOTS, Folder

_LOG = logging.getLogger("pilothouse")
_FORMER_ARTIFACTS = "kept"
_SNAPSHOT_NAME = re.compile(r"[0-9a-f]{16}(\.git|\.too-large)?")
_ARTIFACT_NAME = re.compile(r"outputs|before|changes\.jsonl|snapshots\.git")
REMOVAL_SECONDS_AT_CLOSE = 1.0
"""How long the end of a program may be delayed for the removal, so that programs that run shortly remove a part too."""


class SnapshotRemoval:
    """The removal of obsolete snapshots, in a thread: they can hold gigabytes. Files that remain when the program ends
    are removed by later programs."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._is_stopped = threading.Event()
        self._freed_bytes = 0
        self._thread = threading.Thread(target=self._remove, name="remove-snapshots", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Remove for some time longer, then stop. Blocks until then."""
        self._thread.join(REMOVAL_SECONDS_AT_CLOSE)
        self._is_stopped.set()
        self._thread.join()

    def _remove(self) -> None:
        for _, folders, files, fd in os.fwalk(self._folder, topdown=False):
            for name in (*files, *folders):
                if self._is_stopped.is_set():
                    return
                with contextlib.suppress(OSError):
                    self._remove_entry(name, fd)
        with contextlib.suppress(OSError):
            self._folder.rmdir()
            _LOG.info(
                "Removed undo snapshots of an earlier version: %.1f MB freed since the start.",
                self._freed_bytes / 1_000_000,
            )

    def _remove_entry(self, name: str, folder_fd: int) -> None:
        """Raises: OSError."""
        try:
            os.rmdir(name, dir_fd=folder_fd)
        except NotADirectoryError:
            size = os.stat(name, dir_fd=folder_fd, follow_symlinks=False).st_size
            os.unlink(name, dir_fd=folder_fd)
            self._freed_bytes += size


def move_artifacts(data: Path, disk: Disk) -> SnapshotRemoval | None:
    """Move whole outputs and undo data from `kept/<id>` into the folder of their context.

    Git snapshots of workspaces lay there too. They are obsolete, since undo restores from copies beside the log of
    changes, and are removed in the background, like the artifacts of deleted contexts. Entries that no version has
    made stay.
    """
    former = data / _FORMER_ARTIFACTS
    obsolete = data / DELETED_SNAPSHOTS
    had_obsolete = obsolete.is_dir()
    for folder in list(former.iterdir()) if former.is_dir() else []:
        try:
            _move(folder, data / "contexts", obsolete, disk)
        except OSError as error:  # retried at the next start
            _LOG.warning("Could not move the files of an earlier conversation, %s: %s.", folder, error.strerror)
    with contextlib.suppress(OSError):  # a folder stays where its context has newer artifacts
        former.rmdir()
    if not obsolete.is_dir() or obsolete.is_symlink():
        return None
    if not had_obsolete:
        _LOG.warning(
            "Undo snapshots of an earlier version are removed while Pilothouse runs. To remove them at once, run "
            "`pilothouse clean`."
        )
    return SnapshotRemoval(obsolete)


def _move(folder: Path, contexts: Path, obsolete: Path, disk: Disk) -> None:
    context = Folder(contexts / folder.name) if is_context_id(folder.name) else None
    if context is not None and context.path.is_dir():
        _remove_empty(context.artifacts)
        if not context.artifacts.exists():
            disk.rename(folder, context.artifacts)
    elif _is_obsolete(folder):
        disk.make_dir(obsolete)
        disk.rename(folder, obsolete / folder.name)


def _is_obsolete(folder: Path) -> bool:
    """Whether an entry of `kept/` is a snapshot, a folder of snapshots, or the folder of a deleted context."""
    if folder.is_symlink() or not folder.is_dir():
        return False
    if _SNAPSHOT_NAME.fullmatch(folder.name):
        return True
    names = _SNAPSHOT_NAME if folder.name == "snapshots" else _ARTIFACT_NAME
    return is_context_id(folder.name) and all(names.fullmatch(path.name) for path in folder.iterdir())


def _remove_empty(artifacts: Path) -> None:
    """Remove empty folders that were created for a context before its earlier files could be moved."""
    for folder in (*(artifacts.iterdir() if artifacts.is_dir() else ()), artifacts):
        with contextlib.suppress(OSError):
            folder.rmdir()
