"""Reading files of the data directory within bounds."""

import errno
import os
from pathlib import Path
from typing import BinaryIO

from pilothouse.system.regular_file import open_regular_file

_CHUNK_BYTES = 64 * 1024


def read_regular_file(path: Path, max_bytes: int) -> bytes:
    """The whole content. Raises: OSError, also for a link, for anything but a regular file, and for a file that is too
    long."""
    with open_regular_file(path) as file:
        data = file.read(min(max_bytes, os.fstat(file.fileno()).st_size) + 1)
        while len(data) <= max_bytes and (more := file.read(_CHUNK_BYTES)):  # the file has grown
            data += more
    if len(data) > max_bytes:
        raise OSError(errno.EFBIG, f"it has more than {max_bytes} bytes")
    return data


def read_part(file: BinaryIO, start: int, size: int) -> bytes:
    """At most `size` bytes behind `start`. The request is limited to the file's size, since Python allocates a buffer
    for all requested bytes."""
    size = min(size, os.fstat(file.fileno()).st_size - start)
    if start < 0 or size <= 0:
        return b""
    file.seek(start)
    return file.read(size)
