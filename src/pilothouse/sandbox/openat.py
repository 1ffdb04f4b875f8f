"""Opening paths beneath a directory without a race between check and use.

The kernel resolves paths by `openat2` with RESOLVE_BENEATH; without that call each component is opened from the one
before. Either way the file that was checked is the file that is opened: there is no path left to swap.
"""

import contextlib
import ctypes
import errno
import os
from functools import cache

_OPENAT2 = 437  # the same on every architecture
_RESOLVE_NO_MAGICLINKS = 0x02
_RESOLVE_BENEATH = 0x08
_MAX_LINKS = 40
_MAX_OPENAT2_ATTEMPTS = 100
FOLDER_FLAGS = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


class _OpenHow(ctypes.Structure):
    _fields_ = [("flags", ctypes.c_uint64), ("mode", ctypes.c_uint64), ("resolve", ctypes.c_uint64)]


def open_beneath(root_fd: int, path: str, flags: int) -> int:
    """Open `path` relative to `root_fd`. Raises: OSError, with EXDEV for a path that leaves the root."""
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
        raise OSError(errno.EINVAL, "a path can't contain a NUL character")
    how = _OpenHow(flags, 0, _RESOLVE_BENEATH | _RESOLVE_NO_MAGICLINKS)
    encoded = os.fsencode(path)
    for _ in range(_MAX_OPENAT2_ATTEMPTS):
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
        # EAGAIN: a component was renamed during the resolution, so that the kernel could not check it. Retry.
        if number != errno.EAGAIN:
            break
    raise OSError(number, os.strerror(number), path)


def open_stepwise(root_fd: int, path: str, flags: int) -> int:
    """As `open_beneath`, without openat2: open each component from the one before and resolve links in user space."""
    if "\0" in path:
        raise OSError(errno.EINVAL, "a path can't contain a NUL character")
    with _Descent(root_fd, path) as descent:
        return descent.open(flags | os.O_CLOEXEC)


class _Descent:
    """The folders from the root down to the component that was reached, all open."""

    def __init__(self, root_fd: int, path: str) -> None:
        self._path = path
        self._folders = [os.dup(root_fd)]
        self._components: list[str] = []
        """The components that remain, the next one last."""
        self._link_count = 0
        self._follow(path)

    def open(self, flags: int) -> int:
        while self._components:
            component = self._components.pop()
            if component == "..":
                self._up()
            elif (target := _link_target(component, self._folders[-1])) is not None:
                self._follow(target)
            elif self._components:
                self._down(component)
            else:
                return os.open(component, flags | os.O_NOFOLLOW, dir_fd=self._folders[-1])
        return os.open(".", flags, dir_fd=self._folders[-1])

    def _follow(self, target: str) -> None:
        self._link_count += 1
        if self._link_count > _MAX_LINKS:
            raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), self._path)
        if target.startswith("/"):
            raise OSError(errno.EXDEV, os.strerror(errno.EXDEV), self._path)
        self._components += [component for component in reversed(target.split("/")) if component not in ("", ".")]

    def _up(self) -> None:
        if len(self._folders) == 1:
            raise OSError(errno.EXDEV, os.strerror(errno.EXDEV), self._path)
        os.close(self._folders.pop())

    def _down(self, component: str) -> None:
        self._folders.append(os.open(component, FOLDER_FLAGS, dir_fd=self._folders[-1]))

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


class FolderOpener:
    """Opens one folder after the other beneath an open one, and follows no link.

    The folders above the last one stay open: the next folder may be a sibling.
    """

    def __init__(self, fd: int) -> None:
        self._names: list[str] = []
        self._fds = [os.dup(fd)]
        self.opened = 0
        """How many folders the last `open` had to open."""

    def open(self, names: list[str], *, make: bool = False) -> int:
        """Open a folder by its names from the first one. With `make`, create missing folders.

        Raises: OSError, NotADirectoryError for a link.
        """
        common = 0
        while common < min(len(self._names), len(names)) and self._names[common] == names[common]:
            common += 1
        self.opened = len(names) - common
        del self._names[common:]
        self._close_below(common + 1)
        for name in names[common:]:
            if make:
                with contextlib.suppress(FileExistsError):
                    os.mkdir(name, dir_fd=self._fds[-1])
            self._fds.append(os.open(name, FOLDER_FLAGS, dir_fd=self._fds[-1]))
            self._names.append(name)
        return self._fds[-1]

    def close(self) -> None:
        self._close_below(0)

    def _close_below(self, depth: int) -> None:
        while len(self._fds) > depth:
            os.close(self._fds.pop())
