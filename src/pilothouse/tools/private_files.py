"""Files of the runtime's own: private to its user, durable where that is asked for."""

import os
from pathlib import Path


def make_private(folder: Path) -> Path:
    """Make a folder with its missing parents, for this user alone."""
    if not folder.is_dir():
        make_private(folder.parent)
        folder.mkdir(mode=0o700, exist_ok=True)
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
