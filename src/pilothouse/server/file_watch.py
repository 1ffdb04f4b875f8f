"""Tells at once when a small file of ours is replaced, by whichever process (inotify)."""

import asyncio
import ctypes
import logging
import os
from collections.abc import Callable
from pathlib import Path

_IN_CLOSE_WRITE = 0x08
_IN_MOVED_TO = 0x80
_IN_DELETE = 0x200
_EVENTS_BYTES = 64 * 1024
_LOG = logging.getLogger("pilothouse.server")


class FileWatch:
    """Calls `changed` on the event loop whenever something in the file's folder was written, replaced or removed.

    Where the system cannot tell (no inotify, no folder), nothing is called: whoever watches must look now and then.
    """

    def __init__(self, file: Path, changed: Callable[[], None]) -> None:
        self._changed = changed
        self._fd: int | None = None
        try:
            self._fd = _watch(file.parent)
        except (OSError, AttributeError) as error:
            _LOG.warning("changes of %s are noticed late: %s", file.name, error)
        else:
            asyncio.get_running_loop().add_reader(self._fd, self._read)

    def _read(self) -> None:
        assert self._fd is not None
        try:
            os.read(self._fd, _EVENTS_BYTES)
        except BlockingIOError:
            return
        self._changed()

    def close(self) -> None:
        if self._fd is not None:
            asyncio.get_running_loop().remove_reader(self._fd)
            os.close(self._fd)
            self._fd = None


def _watch(folder: Path) -> int:
    """Raises: OSError; AttributeError where the C library has no inotify."""
    libc = ctypes.CDLL(None, use_errno=True)
    fd = libc.inotify_init1(os.O_NONBLOCK | os.O_CLOEXEC)
    if fd < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    events = _IN_CLOSE_WRITE | _IN_MOVED_TO | _IN_DELETE
    if libc.inotify_add_watch(fd, os.fsencode(folder), ctypes.c_uint32(events)) < 0:
        error = ctypes.get_errno()
        os.close(fd)
        raise OSError(error, os.strerror(error))
    return int(fd)
