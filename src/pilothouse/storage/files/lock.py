"""One process owns a data directory. The lock is on the open file, not on its existence."""

import fcntl
import os
import threading
from pathlib import Path

from pilothouse.domain.codes import Code
from pilothouse.domain.errors import StoreLocked
from pilothouse.regular_file import open_regular_fd

_TRIES = 50
_PAUSE = 0.02


def lock_directory(data: Path) -> int:
    """Gives the file that holds the lock while it is open. Raises: StoreLocked, naming who has it.

    One that a dead process left never blocks: at most, a process that it was just starting still holds the file
    for the instant before it becomes another program.
    """
    fd = open_regular_fd(data / "lock", os.O_RDWR | os.O_CREAT)
    for _ in range(_TRIES):
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
            break
        except BlockingIOError:
            if _is_alive(_holder(fd)):
                break
            threading.Event().wait(_PAUSE)
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        holder = _holder(fd)
        os.close(fd)
        raise StoreLocked(Code.STORE_LOCKED, path=str(data), holder=f"process {holder}") from error
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
