"""Opening files of the data directory: only regular ones, without following a link and without waiting.

Whoever can write there may put a pipe, a device or a link in the place of a file. Neither may hold up a thread, nor
lead a read or a write elsewhere.
"""

import errno
import os
import stat
from pathlib import Path
from typing import BinaryIO

SAFE_FLAGS = os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC


def open_regular_fd(path: Path, flags: int, mode: int = 0o600) -> int:
    """Raises: OSError, also for a link and for what is no file."""
    fd = os.open(path, flags | SAFE_FLAGS, mode)
    if not stat.S_ISREG(os.fstat(fd).st_mode):
        os.close(fd)
        raise OSError(errno.EINVAL, "this is no regular file")
    return fd


def open_regular_file(path: Path) -> BinaryIO:
    """For reading. Raises: OSError, also for a link and for what is no file."""
    return os.fdopen(open_regular_fd(path, os.O_RDONLY), "rb")


def read_regular_file(path: Path, max_bytes: int) -> bytes:
    """The whole content. Raises: OSError, also for a link, for what is no file, and for a file that is too long."""
    with open_regular_file(path) as file:
        data = file.read(min(max_bytes, os.fstat(file.fileno()).st_size) + 1)
        data += file.read(max_bytes + 1 - len(data))
    if len(data) > max_bytes:
        raise OSError(errno.EFBIG, f"it has more than {max_bytes} bytes")
    return data


def read_part(file: BinaryIO, start: int, size: int) -> bytes:
    """At most `size` bytes behind `start`. Python makes room for all that are asked for: no more than there are."""
    size = min(size, os.fstat(file.fileno()).st_size - start)
    if start < 0 or size <= 0:
        return b""
    file.seek(start)
    return file.read(size)
