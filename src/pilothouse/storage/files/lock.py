"""The lock by which one process owns a data directory. The lock is on the open file, not on its existence."""

import os
import threading
from pathlib import Path

from pilothouse.domain.codes import Code
from pilothouse.domain.errors import StoreLocked
from pilothouse.system.file_lock import try_lock
from pilothouse.system.regular_file import open_regular_fd

_MAX_ATTEMPTS = 50
_RETRY_SECONDS = 0.02


def lock_directory(data: Path) -> int:
    """Lock a data directory; the lock lasts while the returned descriptor is open. Raises: StoreLocked, with the owner.

    The lock of a dead process never blocks for long: at most, a child that the dead process was just starting still
    holds the file until it executes another program.
    """
    fd = open_regular_fd(data / "lock", os.O_RDWR | os.O_CREAT)
    for _ in range(_MAX_ATTEMPTS):
        if try_lock(fd) or _is_alive(_holder(fd)):
            break
        threading.Event().wait(_RETRY_SECONDS)
    if not try_lock(fd):
        holder = _holder(fd)
        os.close(fd)
        raise StoreLocked(Code.STORE_LOCKED, path=str(data), holder=f"process {holder}")
    os.ftruncate(fd, 0)
    os.pwrite(fd, f"{os.getpid()}\n".encode(), 0)
    return fd


def _holder(fd: int) -> int | None:
    number = os.pread(fd, 20, 0).strip()
    return int(number) if number.isdigit() else None


def _is_alive(process: int | None) -> bool:
    if process is None:
        return False
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        pass
    return True
