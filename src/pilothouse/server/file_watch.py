"""Notification about changes of a file by any process, with inotify."""

import asyncio
import ctypes
import logging
import os
from collections.abc import Callable
from pathlib import Path

_IN_CLOSE_WRITE = 0x08
_IN_MOVED_TO = 0x80
_IN_DELETE = 0x200
_EVENT_BUFFER_BYTES = 64 * 1024
_LOG = logging.getLogger("pilothouse.server")


class FileWatch:
    """Calls `on_change` on the event loop whenever a file in the same folder is written, replaced or removed.

    Without inotify, or without the folder, `on_change` is never called: callers must also poll.
    """

    def __init__(self, file: Path, on_change: Callable[[], None]) -> None:
        self._on_change = on_change
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
            os.read(self._fd, _EVENT_BUFFER_BYTES)
        except BlockingIOError:
            return
        self._on_change()

    def close(self) -> None:
        if self._fd is not None:
            asyncio.get_running_loop().remove_reader(self._fd)
            os.close(self._fd)
            self._fd = None


def _watch(folder: Path) -> int:
    """Return an inotify descriptor for the folder. Raises: OSError; AttributeError if the C library has no inotify."""
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
