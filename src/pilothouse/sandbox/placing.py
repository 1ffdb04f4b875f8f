"""Steps of putting a file in its place: folders made from open folders, links read, errors as a tool tells them."""

import contextlib
import errno
import os
import stat
from collections.abc import Iterator

from pilothouse.domain.codes import Code
from pilothouse.domain.errors import ToolError
from pilothouse.sandbox.beneath import open_beneath


def make_dirs(root_fd: int, head: str) -> int:
    try:
        return open_beneath(root_fd, head or ".", os.O_RDONLY | os.O_DIRECTORY)
    except FileNotFoundError:
        above, name = os.path.split(head)
        parent_fd = make_dirs(root_fd, above)
        try:
            with contextlib.suppress(FileExistsError):
                os.mkdir(name, dir_fd=parent_fd)
        finally:
            os.close(parent_fd)
        return open_beneath(root_fd, head, os.O_RDONLY | os.O_DIRECTORY)


def link_target(name: str, dir_fd: int) -> str | None:
    try:
        return os.readlink(name, dir_fd=dir_fd)
    except OSError:
        return None


def status_of(name: str, dir_fd: int, path: str) -> os.stat_result | None:
    try:
        status = os.stat(name, dir_fd=dir_fd, follow_symlinks=False)
    except FileNotFoundError:
        return None
    if not stat.S_ISREG(status.st_mode):
        raise ToolError(Code.NOT_A_FILE, path=path)
    return status


def make_alike(fd: int, before: os.stat_result) -> None:
    """The new file gets the mode of the old one, and its owner where that is allowed."""
    with contextlib.suppress(OSError):
        os.fchown(fd, before.st_uid, before.st_gid)
    os.fchmod(fd, stat.S_IMODE(before.st_mode))


@contextlib.contextmanager
def as_tool_errors(path: str) -> Iterator[None]:
    try:
        yield
    except FileNotFoundError as error:
        raise ToolError(Code.FILE_MISSING, path=path) from error
    except NotADirectoryError as error:
        raise ToolError(Code.NOT_A_DIRECTORY, path=path) from error
    except IsADirectoryError as error:
        raise ToolError(Code.NOT_A_FILE, path=path) from error
    except OSError as error:
        if error.errno == errno.EXDEV:
            raise ToolError(Code.OUTSIDE_WORKSPACE, path=path) from error
        raise ToolError(Code.FILE_UNREADABLE, path=path, detail=error.strerror or str(error)) from error
