"""Locks between processes: `flock` on an open file or folder.

The lock belongs to the open file: the kernel releases it when the holder closes the file or dies, so a killed process
never leaves a lock behind.
"""

import contextlib
import fcntl
import os
from collections.abc import Iterator
from pathlib import Path

from pilothouse.system.private_file import open_private


def try_lock(fd: int) -> bool:
    """Lock an open file unless another process holds its lock. Return whether this process holds the lock. Raises:
    OSError."""
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def is_locked(fd: int) -> bool:
    """Whether another process locks an open file. The caller closes `fd` soon afterwards. Raises: OSError."""
    try:
        # A shared lock: two processes that check at once do not take each other for a holder.
        fcntl.flock(fd, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    return False


@contextlib.contextmanager
def locked_file(path: Path) -> Iterator[int]:
    """Hold the lock of a private file, which is created if missing. Waits for the lock. Raises: OSError."""
    with _locked(open_private(path, os.O_RDWR | os.O_CREAT)) as fd:
        yield fd


@contextlib.contextmanager
def locked_folder(folder: Path) -> Iterator[None]:
    """Hold the lock of a folder, for one change of its files at a time. Waits for the lock. Raises: OSError."""
    with _locked(os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)):
        yield


@contextlib.contextmanager
def _locked(fd: int) -> Iterator[int]:
    try:
        fcntl.flock(fd, fcntl.LOCK_EX)
        yield fd
    finally:
        os.close(fd)
