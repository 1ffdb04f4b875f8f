"""Private files of the runtime: small, replaced as a whole and durably, readable by their owner only."""

import os
from pathlib import Path

from pilothouse.domain.errors import StoreRefused
from pilothouse.system.atomic_file import PRIVATE_FILE_MODE, FileOperations, replace_file


def replace_private_file(path: Path, data: bytes) -> None:
    """Replace a file atomically, and create missing folders above it.

    Raises: StoreRefused; the file then has its old content.
    """

    def keep_owner(fd: int) -> None:
        if os.geteuid() == 0:  # run by root on a user's data: the user stays the owner
            owner = os.stat(path.parent)
            os.fchown(fd, owner.st_uid, owner.st_gid)

    try:
        make_private_folders(path.parent)
        remove_drafts(path)
        replace_file(path, [data], prepare=keep_owner)
    except OSError as error:
        raise StoreRefused.because_of(error) from error


def remove_drafts(path: Path) -> None:
    """Remove temporary files that a killed process left: they may contain a key."""
    for draft in path.parent.glob(f".{path.stem}-*"):
        draft.unlink(missing_ok=True)


def make_private_folder(folder: Path) -> Path:
    """Create a folder for this user alone. The parent must exist: a missing data directory is not created again."""
    folder.mkdir(mode=0o700, exist_ok=True)
    return folder


def make_private_folders(folder: Path) -> Path:
    """Create a folder and missing folders above it, each for this user alone. `Path.mkdir` would open the upper ones to
    everybody."""
    missing = [each for each in (folder, *folder.parents) if not each.is_dir()]
    for each in reversed(missing):
        make_private_folder(each)
    return folder


def open_private(path: Path, flags: int) -> int:
    return os.open(path, flags | os.O_CLOEXEC, PRIVATE_FILE_MODE)


def append_private_line(path: Path, line: bytes, *, is_durable: bool = True) -> None:
    """Append a line to a file. A last line that a crash truncated is ended first. Raises: OSError."""
    is_new = not path.exists()
    with open(open_private(path, os.O_RDWR | os.O_CREAT | os.O_APPEND), "ab+") as file:
        if file.tell():
            file.seek(-1, os.SEEK_END)
            if file.read(1) != b"\n":
                file.write(b"\n")
        file.write(line + b"\n")
        file.flush()
        if is_durable:
            os.fsync(file.fileno())
    if is_new:
        sync_folder(path.parent)


def sync_folder(folder: Path) -> None:
    """Make added and removed names in a folder durable."""
    FileOperations().sync_dir(folder)
