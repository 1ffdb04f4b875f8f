"""Small files of the runtime's own: replaced as a whole, durably, readable by their owner only."""

import contextlib
import os
import tempfile
from pathlib import Path

from pilothouse.domain.codes import Code
from pilothouse.domain.errors import StoreRefused


def replace_private_file(path: Path, data: bytes) -> None:
    """The new content is there, whole, when this returns; or the old one still is.

    Raises: StoreRefused.
    """
    try:
        make_private_folders(path.parent)
        remove_drafts(path)
        fd, draft = tempfile.mkstemp(dir=path.parent, prefix=f".{path.stem}-")  # 0600
        try:
            if os.geteuid() == 0:  # root works on somebody's data: the file stays theirs
                owner = os.stat(path.parent)
                os.fchown(fd, owner.st_uid, owner.st_gid)
            with open(fd, "wb") as file:
                file.write(data)
                file.flush()
                os.fsync(fd)
            os.replace(draft, path)
        except BaseException:
            with contextlib.suppress(OSError):
                os.unlink(draft)
            raise
        sync_folder(path.parent)
    except OSError as error:
        raise StoreRefused(Code.STORE_REFUSED, detail=error.strerror or str(error)) from error


def remove_drafts(path: Path) -> None:
    """A process that was killed while it wrote has left one behind, maybe with a key in it."""
    for draft in path.parent.glob(f".{path.stem}-*"):
        draft.unlink(missing_ok=True)


def make_private_folder(folder: Path) -> Path:
    """Make a folder for this user alone. Its parent must be there: a data directory that is gone is not made again."""
    folder.mkdir(mode=0o700, exist_ok=True)
    return folder


def make_private_folders(folder: Path) -> Path:
    """Make a folder and those above it that are missing, each for this user alone: `Path.mkdir` makes the ones above
    for everybody."""
    missing = [each for each in (folder, *folder.parents) if not each.is_dir()]
    for each in reversed(missing):
        make_private_folder(each)
    return folder


def open_private(path: Path, flags: int) -> int:
    return os.open(path, flags | os.O_CLOEXEC, 0o600)


def sync_folder(folder: Path) -> None:
    """Make names that were added or removed in a folder durable."""
    fd = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)
