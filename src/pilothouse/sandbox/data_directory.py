"""Recognizing a data directory of Pilothouse, ours or another one's, so that no tool looks into it."""

import os
import stat
from collections.abc import Collection

CONTEXTS = "contexts"
LOCK = "lock"
_MAX_LOCK_BYTES = 32  # the number of the process that holds it


def is_data_directory(fd: int, names: Collection[str]) -> bool:
    """Whether an open folder with these entries holds conversations of a runtime."""
    return CONTEXTS in names and LOCK in names and _holds_both(".", fd)


def has_data_directory(folder: str) -> bool:
    """The same for a path."""
    return _holds_both(folder, None)


def _holds_both(folder: str, dir_fd: int | None) -> bool:
    try:
        contexts = os.stat(os.path.join(folder, CONTEXTS), dir_fd=dir_fd, follow_symlinks=False)
        lock = os.stat(os.path.join(folder, LOCK), dir_fd=dir_fd, follow_symlinks=False)
    except OSError:
        return False
    return stat.S_ISDIR(contexts.st_mode) and stat.S_ISREG(lock.st_mode) and lock.st_size <= _MAX_LOCK_BYTES
