"""Steps of putting a file in its place: folders made from open folders, links read, a file replaced with what belongs
to it, errors as a tool tells them."""

import contextlib
import errno
import os
import secrets
import stat
from collections.abc import Iterator

from pilothouse.domain.codes import Code
from pilothouse.domain.errors import ToolError
from pilothouse.sandbox.beneath import open_beneath

_NEW_FILE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_FORBIDDEN = frozenset({errno.EACCES, errno.EPERM, errno.EROFS})
# The kernel drops these when a file's content changes; a copy would vouch for content that nobody has checked.
_BOUND_TO_CONTENT = frozenset({"security.capability", "security.ima", "security.evm"})


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


def replace_file(dir_fd: int, name: str, data: bytes, before: os.stat_result | None, mode: int | None = None) -> None:
    """Put a file in its place as a whole. The new file gets the old one's mode, owner, ACL and extended attributes.

    Another user's file is written in place, since nobody else can make a file theirs; so is a file whose folder takes
    no new ones. A file with several names is replaced: another name may lie outside of the workspace.

    Raises: OSError.
    """
    if before is not None and os.geteuid() not in (0, before.st_uid):
        _write_in_place(dir_fd, name, data, before)
        return
    draft = draft_name()
    try:
        fd = os.open(draft, _NEW_FILE, 0o666 if before is None else 0o600, dir_fd=dir_fd)
    except PermissionError:
        if before is None:
            raise
        _write_in_place(dir_fd, name, data, before)
        return
    try:
        with open(fd, "wb") as file:
            file.write(data)
            file.flush()
            if before is not None:
                _make_alike(fd, before, f"/proc/self/fd/{dir_fd}/{name}")
            if mode is not None:
                os.fchmod(fd, mode)
            os.fsync(fd)
        os.replace(draft, name, src_dir_fd=dir_fd, dst_dir_fd=dir_fd)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(draft, dir_fd=dir_fd)
        raise


def draft_name() -> str:
    """A name that nobody can guess, for a file that will take another's place."""
    return f".draft-{secrets.token_hex(8)}"


def _write_in_place(dir_fd: int, name: str, data: bytes, before: os.stat_result) -> None:
    if before.st_nlink > 1:
        raise PermissionError(errno.EPERM, "the file has several names (hard links)")
    fd = os.open(name, os.O_WRONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=dir_fd)
    with open(fd, "wb") as file:
        status = os.fstat(fd)
        if (status.st_dev, status.st_ino, status.st_nlink) != (before.st_dev, before.st_ino, 1):
            raise PermissionError(errno.EPERM, "the file was swapped for another one")
        if len(data) > status.st_size:
            try:
                os.posix_fallocate(fd, 0, len(data))  # a full disk is noticed before anything is overwritten
            except OSError:
                os.ftruncate(fd, status.st_size)
                raise
        file.write(data)
        file.flush()
        os.ftruncate(fd, len(data))
        os.fsync(fd)


def _make_alike(fd: int, before: os.stat_result, old_path: str) -> None:
    with contextlib.suppress(OSError):
        os.fchown(fd, before.st_uid, before.st_gid)
    os.fchmod(fd, stat.S_IMODE(before.st_mode))
    with contextlib.suppress(OSError, AttributeError):  # no such attributes on this file system, or on this platform
        _copy_attributes(fd, old_path)


def _copy_attributes(fd: int, old_path: str) -> None:
    wanted = set(os.listxattr(old_path, follow_symlinks=False)) - _BOUND_TO_CONTENT
    for name in set(os.listxattr(fd)) - wanted:  # an ACL that the folder gives to new files
        with contextlib.suppress(OSError):
            os.removexattr(fd, name)
    for name in wanted:
        with contextlib.suppress(OSError):
            os.setxattr(fd, name, os.getxattr(old_path, name, follow_symlinks=False))


@contextlib.contextmanager
def as_tool_errors(path: str, *, writing: bool = False) -> Iterator[None]:
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
        code = Code.FILE_NOT_WRITABLE if writing and error.errno in _FORBIDDEN else Code.FILE_UNREADABLE
        raise ToolError(code, path=path, detail=error.strerror or str(error)) from error
