"""The file store's disk operations in one object, into which tests inject faults.

The primitives (`_write`, `sync`, …) are thin; the operations built on them handle the failure of every single call.
"""

import ctypes
import os
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path

from pilothouse.system.atomic_file import PRIVATE_FILE_MODE, FileOperations, replace_file
from pilothouse.system.regular_file import open_regular_fd

PRIVATE_DIR = 0o700
_sync_data = getattr(os, "fdatasync", os.fsync)  # not every system has `fdatasync`, which is cheaper


class Disk(FileOperations):
    # primitives

    def open(self, path: Path, flags: int) -> int:
        """Raises: OSError, also for a link and for anything but a regular file."""
        return open_regular_fd(path, flags, PRIVATE_FILE_MODE)

    def sync(self, fd: int) -> None:
        _sync_data(fd)

    def truncate(self, fd: int, size: int) -> None:
        os.ftruncate(fd, size)

    def make_dir(self, path: Path) -> None:
        path.mkdir(mode=PRIVATE_DIR, exist_ok=True)

    def sync_file_system(self, path: Path) -> bool:
        """Sync the whole file system that `path` lies on; False where the system cannot do that."""
        call = _syncfs()
        if call is None:
            return False
        fd = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            if call(fd) != 0:
                raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
        finally:
            os.close(fd)
        return True

    # built on them

    def create(self, path: Path) -> int:
        """Create a file, overwriting one that a crash has left under this name: one process owns the folder."""
        return self.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)

    def write_file(self, path: Path, data: bytes, *, sync: bool = True) -> None:
        """Write a whole file. Not atomic: for files that can be written again from the journal."""
        fd = self.create(path)
        try:
            self.write_all(fd, data)
            if sync:
                self.sync(fd)
        finally:
            os.close(fd)

    def write_files(self, files: Mapping[Path, bytes]) -> None:
        """Write many files of one folder and sync them together: separately, each sync would cost as much."""
        if not files:
            return
        folder = next(iter(files)).parent
        self.make_dir(folder)
        for path, data in files.items():
            self.write_file(path, data, sync=False)
        if self.sync_file_system(folder):
            return
        for path in files:
            fd = self.open(path, os.O_WRONLY)
            try:
                self.sync(fd)
            finally:
                os.close(fd)
        self.sync_dir(folder)

    def replace_file(self, path: Path, data: bytes) -> None:
        """Replace a file atomically: after a crash it has the old content or the new one, never a part."""
        replace_file(path, [data], temporary=path.with_name(path.name + ".new"), operations=self)

    def append_file(self, path: Path, size: int, data: bytes) -> None:
        """Append behind the first `size` bytes: the bytes after them belong to an unfinished attempt."""
        fd = self.open(path, os.O_WRONLY | os.O_CREAT)
        try:
            self.truncate(fd, size)
            os.lseek(fd, 0, os.SEEK_END)
            self.write_all(fd, data)
            self.sync(fd)
        finally:
            os.close(fd)

    def cut_file(self, path: Path, size: int) -> None:
        fd = self.open(path, os.O_WRONLY)
        try:
            self.truncate(fd, size)
            self.sync(fd)
        finally:
            os.close(fd)


def free_bytes(path: Path) -> int | None:
    """The free space for this user; None where the system does not tell."""
    try:
        status = os.statvfs(path)
    except OSError:
        return None
    return status.f_bavail * status.f_frsize


@cache
def _syncfs() -> Callable[[int], int] | None:
    try:
        syncfs: Callable[[int], int] = ctypes.CDLL(None, use_errno=True).syncfs
    except (OSError, AttributeError):
        return None
    return syncfs
