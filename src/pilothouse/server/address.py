"""The address of a data directory's running server, in a file that the server keeps locked."""

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path

from pilothouse.system.file_lock import is_locked, locked_file
from pilothouse.system.private_file import open_private

FILE = "server.url"
_MAX_BYTES = 1000


@contextlib.contextmanager
def published_address(data_dir: Path, url: str) -> Iterator[None]:
    """Publish the server's address to other processes of the same user, until the end of the block. Raises: OSError."""
    with locked_file(data_dir / FILE) as fd:
        os.ftruncate(fd, 0)
        os.pwrite(fd, url.encode(), 0)
        yield


def address_of_server(data_dir: Path) -> str | None:
    """Return the address of the running server. None if no server runs, or a starting server has not written its
    address yet: the kernel releases the lock of a server that was killed.

    Raises: OSError.
    """
    try:
        fd = open_private(data_dir / FILE, os.O_RDONLY)
    except FileNotFoundError:
        return None
    try:
        return (os.pread(fd, _MAX_BYTES, 0).decode() or None) if is_locked(fd) else None
    finally:
        os.close(fd)
