"""Open regular files that others may replace: without blocking, and without following links unless requested.

Anyone who can write to a folder can put a pipe, a device or a link in the place of a file. Neither may block a thread
or redirect a read or a write.
"""

import errno
import os
import stat
from io import BufferedReader

SAFE_FLAGS = os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
"""Opening never waits for a pipe, takes no terminal and passes no descriptor to child processes."""


class NotRegularFile(OSError):
    """A folder, a pipe, a socket or a device."""


def open_regular_fd(
    path: str | os.PathLike[str],
    flags: int = os.O_RDONLY,
    mode: int = 0o600,
    *,
    follow_links: bool = False,
    dir_fd: int | None = None,
) -> int:
    """Open a regular file. `mode` is the mode of a file that the flags create.

    Raises: OSError, also for a link without `follow_links`; NotRegularFile.
    """
    fd = os.open(path, flags | SAFE_FLAGS | (0 if follow_links else os.O_NOFOLLOW), mode, dir_fd=dir_fd)
    if not stat.S_ISREG(os.fstat(fd).st_mode):
        os.close(fd)
        raise NotRegularFile(errno.EINVAL, "not a regular file")
    return fd


def open_regular_file(
    path: str | os.PathLike[str], *, follow_links: bool = False, dir_fd: int | None = None
) -> BufferedReader:
    """Open a regular file for reading. Raises: OSError, also for a link without `follow_links`; NotRegularFile."""
    return os.fdopen(open_regular_fd(path, follow_links=follow_links, dir_fd=dir_fd), "rb")
