"""Migrations of the data directory's layout between versions, run once by the process that owns it."""

import contextlib
import logging
import shutil
import threading
from pathlib import Path

from pilothouse.storage.files.disk import Disk
from pilothouse.storage.files.layout import DELETED_PREFIX, Folder, is_safe

_LOG = logging.getLogger("pilothouse")
_FORMER_ARTIFACTS = "kept"
_FORMER_SNAPSHOTS = "snapshots"


def move_artifacts(data: Path, disk: Disk) -> None:
    """Move whole outputs and undo data from `kept/<id>` into the folder of their context.

    Git snapshots of workspaces lay there too. They are obsolete, since undo restores from copies beside the log of
    changes, and are removed in the background, for they can hold gigabytes.
    """
    former = data / _FORMER_ARTIFACTS
    obsolete = former.with_name(DELETED_PREFIX + _FORMER_SNAPSHOTS)
    for folder in list(former.iterdir()) if former.is_dir() else []:
        try:
            _move(folder, data / "contexts", obsolete, disk)
        except OSError as error:  # retried at the next start
            _LOG.warning("Could not move the files of an earlier conversation, %s: %s.", folder, error.strerror)
    with contextlib.suppress(OSError):  # a folder stays where its context has newer artifacts
        former.rmdir()
    if obsolete.is_dir():
        threading.Thread(target=_remove, args=(obsolete,), name="remove-snapshots", daemon=True).start()


def _move(folder: Path, contexts: Path, obsolete: Path, disk: Disk) -> None:
    context = Folder(contexts / folder.name) if is_safe(folder.name) else None
    if context is None or not context.path.is_dir():
        disk.make_dir(obsolete)
        disk.rename(folder, obsolete / folder.name)
    else:
        _remove_empty(context.artifacts)
        if not context.artifacts.exists():
            disk.rename(folder, context.artifacts)


def _remove_empty(artifacts: Path) -> None:
    """Remove empty folders that were created for a context before its earlier files could be moved."""
    for folder in (*(artifacts.iterdir() if artifacts.is_dir() else ()), artifacts):
        with contextlib.suppress(OSError):
            folder.rmdir()


def _remove(folder: Path) -> None:
    size = 0
    for path in folder.rglob("*"):
        with contextlib.suppress(OSError):
            size += path.lstat().st_size
    shutil.rmtree(folder, ignore_errors=True)
    _LOG.warning("Removed undo snapshots of an earlier version: %.1f MB freed.", size / 1_000_000)
