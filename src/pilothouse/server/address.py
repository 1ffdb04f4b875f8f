"""Where the server of a data directory listens: told by a file that the server holds locked while it runs."""

import contextlib
import fcntl
import os
from collections.abc import Iterator
from pathlib import Path

from pilothouse.private_file import open_private

FILE = "server.url"
_MAX_BYTES = 1000


@contextlib.contextmanager
def published_address(data_dir: Path, url: str) -> Iterator[None]:
    """Tell other processes of the same user the server's address until the end. Raises: OSError."""
    fd = open_private(data_dir / FILE, os.O_RDWR | os.O_CREAT)
    try:
        fcntl.flock(fd, fcntl.LOCK_EX)
        os.ftruncate(fd, 0)
        os.pwrite(fd, url.encode(), 0)
        yield
    finally:
        os.close(fd)


def address_of_server(data_dir: Path) -> str | None:
    """None where no server runs, or one starts that has not written its address yet. The kernel releases the lock of a
    server that was killed.

    Raises: OSError.
    """
    try:
        fd = open_private(data_dir / FILE, os.O_RDONLY)
    except FileNotFoundError:
        return None
    try:
        fcntl.flock(fd, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return os.pread(fd, _MAX_BYTES, 0).decode() or None
    finally:
        os.close(fd)
    return None
