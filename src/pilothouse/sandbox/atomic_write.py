"""Atomic writes of people's files relative to open folders, with their mode, owner and attributes preserved."""

import contextlib
import errno
import os
import stat
from collections.abc import Iterator
from pathlib import Path

from pilothouse.domain.codes import Code
from pilothouse.domain.errors import ToolError, os_error_text
from pilothouse.sandbox.openat import open_beneath
from pilothouse.system.atomic_file import (
    NEW_FILE,
    PRIVATE_FILE_MODE,
    FileOperations,
    fill_and_rename,
    renamed_into_place,
    temporary_name,
)

_FORBIDDEN = frozenset({errno.EACCES, errno.EPERM, errno.EROFS})
# The kernel drops these attributes when a file's content changes; a copy would vouch for unchecked content.
_BOUND_TO_CONTENT = frozenset({"security.capability", "security.ima", "security.evm"})


def make_dirs(root_fd: int, folder: str) -> int:
    """Open a folder beneath an open one, created with its parents where it is missing. Raises: OSError."""
    try:
        return open_beneath(root_fd, folder or ".", os.O_RDONLY | os.O_DIRECTORY)
    except FileNotFoundError:
        parent, name = os.path.split(folder)
        parent_fd = make_dirs(root_fd, parent)
        try:
            with contextlib.suppress(FileExistsError):
                os.mkdir(name, dir_fd=parent_fd)
        finally:
            os.close(parent_fd)
        return open_beneath(root_fd, folder, os.O_RDONLY | os.O_DIRECTORY)


def link_target(name: str, dir_fd: int) -> str | None:
    """The target of a link; None for anything else."""
    try:
        return os.readlink(name, dir_fd=dir_fd)
    except OSError:
        return None


def regular_file_status(name: str, dir_fd: int, path: str) -> os.stat_result | None:
    """The status of a regular file; None where nothing has the name. Raises: ToolError, OSError."""
    try:
        status = os.stat(name, dir_fd=dir_fd, follow_symlinks=False)
    except FileNotFoundError:
        return None
    if not stat.S_ISREG(status.st_mode):
        raise ToolError(Code.NOT_A_FILE, path=path)
    return status


def replace_workspace_file(
    dir_fd: int, name: str, data: bytes, before: os.stat_result | None, mode: int | None = None
) -> None:
    """Replace a person's file atomically. The new file gets the old one's mode, owner, ACL and extended attributes.

    The write of people's files in a workspace differs from that of the runtime's private files (`private_file`):
    relative to an open folder, not private, and without a sync of the folder, since the log of changes is what must
    survive a crash. Both use the steps of `atomic_file`.

    Another user's file is written in place, since nobody else can give a file to that user; so is a file whose folder
    takes no new files. A file with several names is replaced: another name may lie outside of the workspace.

    Raises: OSError.
    """
    if before is not None and os.geteuid() not in (0, before.st_uid):
        _write_in_place(dir_fd, name, data, before)
        return
    operations = _FolderOperations(dir_fd, 0o666 if before is None else PRIVATE_FILE_MODE)
    temporary = _temporary_path()
    try:
        fd = operations.create(temporary)
    except PermissionError:
        if before is None:
            raise
        _write_in_place(dir_fd, name, data, before)
        return

    def prepare(fd: int) -> None:
        if before is not None:
            _copy_status(fd, before, f"/proc/self/fd/{dir_fd}/{name}")
        if mode is not None:
            os.fchmod(fd, mode)

    fill_and_rename(fd, temporary, Path(name), [data], prepare=prepare, sync_folder=False, operations=operations)


def put_link(dir_fd: int, name: str, target: bytes) -> None:
    """Replace the entry of this name by a link. Raises: OSError."""
    temporary = _temporary_path()
    os.symlink(os.fsdecode(target), temporary, dir_fd=dir_fd)
    with renamed_into_place(temporary, Path(name), _FolderOperations(dir_fd)):
        pass


def _temporary_path() -> Path:
    return Path(temporary_name(".draft-"))


class _FolderOperations(FileOperations):
    """Names are relative to an open folder: exchanging a folder above cannot redirect the write."""

    def __init__(self, dir_fd: int, mode: int = PRIVATE_FILE_MODE) -> None:
        self._dir_fd = dir_fd
        self._mode = mode

    def create(self, path: Path) -> int:
        return os.open(path, NEW_FILE, self._mode, dir_fd=self._dir_fd)

    def rename(self, source: Path, target: Path) -> None:
        os.replace(source, target, src_dir_fd=self._dir_fd, dst_dir_fd=self._dir_fd)

    def unlink(self, path: Path) -> None:
        os.unlink(path, dir_fd=self._dir_fd)


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
                os.posix_fallocate(fd, 0, len(data))  # a full disk fails here, before anything is overwritten
            except OSError:
                os.ftruncate(fd, status.st_size)
                raise
        file.write(data)
        file.flush()
        os.ftruncate(fd, len(data))
        os.fsync(fd)


def _copy_status(fd: int, before: os.stat_result, old_path: str) -> None:
    with contextlib.suppress(OSError):
        os.fchown(fd, before.st_uid, before.st_gid)
    os.fchmod(fd, stat.S_IMODE(before.st_mode))
    with contextlib.suppress(OSError, AttributeError):  # no extended attributes on this file system or platform
        _copy_attributes(fd, old_path)


def _copy_attributes(fd: int, old_path: str) -> None:
    names = set(os.listxattr(old_path, follow_symlinks=False)) - _BOUND_TO_CONTENT
    for name in set(os.listxattr(fd)) - names:  # an ACL that the folder gives to new files
        with contextlib.suppress(OSError):
            os.removexattr(fd, name)
    for name in names:
        with contextlib.suppress(OSError):
            os.setxattr(fd, name, os.getxattr(old_path, name, follow_symlinks=False))


@contextlib.contextmanager
def as_tool_errors(path: str, *, writing: bool = False) -> Iterator[None]:
    """Turn errors of the system into those of a tool. Raises: ToolError."""
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
        raise ToolError(code, path=path, detail=os_error_text(error)) from error
