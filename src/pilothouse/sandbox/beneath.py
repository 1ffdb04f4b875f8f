"""Opening paths beneath a directory without a race between check and use.

`openat2` with RESOLVE_BENEATH where the kernel has it; otherwise component by component, following links by
hand. Either way the kernel opens what was checked: there is no path left to swap.
"""

import contextlib
import ctypes
import errno
import os
from functools import cache

_OPENAT2 = 437  # the same on every architecture
_RESOLVE_NO_MAGICLINKS = 0x02
_RESOLVE_BENEATH = 0x08
_LINKS_AT_MOST = 40
FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


class _OpenHow(ctypes.Structure):
    _fields_ = [("flags", ctypes.c_uint64), ("mode", ctypes.c_uint64), ("resolve", ctypes.c_uint64)]


def open_beneath(root_fd: int, path: str, flags: int) -> int:
    """Open `path`, relative to `root_fd` and never leaving it. Raises: OSError, with EXDEV for a way out."""
    flags |= os.O_CLOEXEC
    if _has_openat2():
        return _openat2(root_fd, path, flags)
    return open_stepwise(root_fd, path, flags)


@cache
def _has_openat2() -> bool:
    try:
        fd = os.open("/", os.O_RDONLY | os.O_CLOEXEC)
        try:
            os.close(_openat2(fd, ".", os.O_RDONLY | os.O_CLOEXEC))
        finally:
            os.close(fd)
    except (OSError, AttributeError):
        return False
    return True


@cache
def _libc() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)


def _openat2(root_fd: int, path: str, flags: int) -> int:
    if "\0" in path:
        raise OSError(errno.EINVAL, "a path cannot hold a NUL character")
    how = _OpenHow(flags, 0, _RESOLVE_BENEATH | _RESOLVE_NO_MAGICLINKS)
    encoded = os.fsencode(path)
    for _ in range(100):
        fd: int = _libc().syscall(
            ctypes.c_long(_OPENAT2),
            ctypes.c_int(root_fd),
            ctypes.c_char_p(encoded),
            ctypes.byref(how),
            ctypes.c_size_t(ctypes.sizeof(how)),
        )
        if fd >= 0:
            return fd
        number = ctypes.get_errno()
        # EAGAIN: something was renamed on the way and the kernel could not be sure. Only trying again tells.
        if number != errno.EAGAIN:
            break
    raise OSError(number, os.strerror(number), path)


def open_stepwise(root_fd: int, path: str, flags: int) -> int:
    """The same without openat2: each component is opened from the one before, links are followed by hand."""
    if "\0" in path:
        raise OSError(errno.EINVAL, "a path cannot hold a NUL character")
    with _Descent(root_fd, path) as descent:
        return descent.open(flags | os.O_CLOEXEC)


class _Descent:
    """The folders from the root down to where the walk has come, all held open."""

    def __init__(self, root_fd: int, path: str) -> None:
        self._path = path
        self._folders = [os.dup(root_fd)]
        self._todo: list[str] = []
        self._links = 0
        self._follow(path)

    def open(self, flags: int) -> int:
        while self._todo:
            part = self._todo.pop()
            if part == "..":
                self._up()
            elif (target := _link_target(part, self._folders[-1])) is not None:
                self._follow(target)
            elif self._todo:
                self._down(part)
            else:
                return os.open(part, flags | os.O_NOFOLLOW, dir_fd=self._folders[-1])
        return os.open(".", flags, dir_fd=self._folders[-1])

    def _follow(self, target: str) -> None:
        self._links += 1
        if self._links > _LINKS_AT_MOST:
            raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), self._path)
        if target.startswith("/"):
            raise OSError(errno.EXDEV, os.strerror(errno.EXDEV), self._path)
        self._todo += [part for part in reversed(target.split("/")) if part not in ("", ".")]

    def _up(self) -> None:
        if len(self._folders) == 1:
            raise OSError(errno.EXDEV, os.strerror(errno.EXDEV), self._path)
        os.close(self._folders.pop())

    def _down(self, part: str) -> None:
        self._folders.append(os.open(part, FOLDER, dir_fd=self._folders[-1]))

    def __enter__(self) -> "_Descent":
        return self

    def __exit__(self, *_: object) -> None:
        for fd in self._folders:
            os.close(fd)


def _link_target(name: str, dir_fd: int) -> str | None:
    try:
        return os.readlink(name, dir_fd=dir_fd)
    except OSError as error:
        if error.errno in (errno.EINVAL, errno.ENOENT):
            return None
        raise


class Way:
    """Opens one folder after the other beneath an open one, and follows no link. Those that lead to the last one stay
    open, for the next may lie beside it. `opened` is how many the last one took."""

    def __init__(self, fd: int) -> None:
        self._names: list[str] = []
        self._fds = [os.dup(fd)]
        self.opened = 0

    def open(self, names: list[str], *, make: bool = False) -> int:
        """Missing folders are made where that is asked for. Raises: OSError, NotADirectoryError for a link."""
        same = 0
        while same < min(len(self._names), len(names)) and self._names[same] == names[same]:
            same += 1
        self.opened = len(names) - same
        del self._names[same:]
        self._close(but=same + 1)
        for name in names[same:]:
            if make:
                with contextlib.suppress(FileExistsError):
                    os.mkdir(name, dir_fd=self._fds[-1])
            self._fds.append(os.open(name, FOLDER, dir_fd=self._fds[-1]))
            self._names.append(name)
        return self._fds[-1]

    def close(self) -> None:
        self._close(but=0)

    def _close(self, but: int) -> None:
        while len(self._fds) > but:
            os.close(self._fds.pop())
