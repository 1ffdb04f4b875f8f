"""Detection of Pilothouse's data directories, of this or another instance, so that no tool reads them."""

import os
import stat
from collections.abc import Collection

CONTEXTS = "contexts"
LOCK = "lock"
_MAX_LOCK_BYTES = 32  # the number of the process that holds the lock


def is_data_directory(fd: int, names: Collection[str]) -> bool:
    """Whether an open folder with these entries holds conversations of a runtime."""
    return CONTEXTS in names and LOCK in names and _has_contexts_and_lock(".", fd)


def has_data_directory(folder: str) -> bool:
    """Whether the folder at a path holds conversations of a runtime."""
    return _has_contexts_and_lock(folder, None)


def _has_contexts_and_lock(folder: str, dir_fd: int | None) -> bool:
    try:
        contexts = os.stat(os.path.join(folder, CONTEXTS), dir_fd=dir_fd, follow_symlinks=False)
        lock = os.stat(os.path.join(folder, LOCK), dir_fd=dir_fd, follow_symlinks=False)
    except OSError:
        return False
    return stat.S_ISDIR(contexts.st_mode) and stat.S_ISREG(lock.st_mode) and lock.st_size <= _MAX_LOCK_BYTES
