"""Everything that the file store asks of the disk, in one object: tests put faults into it.

The primitives (`_write`, `sync`, …) are thin; what is built on them never trusts a single call.
"""

import ctypes
import os
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path

from pilothouse.regular_file import open_regular_fd

PRIVATE_FILE = 0o600
PRIVATE_DIR = 0o700
_sync_data = getattr(os, "fdatasync", os.fsync)  # not every system has the cheaper one


class Disk:
    # primitives

    def open(self, path: Path, flags: int) -> int:
        """Raises: OSError, also for a link and for what is no file."""
        return open_regular_fd(path, flags, PRIVATE_FILE)

    def write(self, fd: int, data: bytes | memoryview) -> int:
        return os.write(fd, data)

    def sync(self, fd: int) -> None:
        _sync_data(fd)

    def truncate(self, fd: int, size: int) -> None:
        os.ftruncate(fd, size)

    def rename(self, source: Path, target: Path) -> None:
        os.replace(source, target)

    def unlink(self, path: Path) -> None:
        path.unlink(missing_ok=True)

    def make_dir(self, path: Path) -> None:
        path.mkdir(mode=PRIVATE_DIR, exist_ok=True)

    def sync_file_system(self, path: Path) -> bool:
        """Sync everything on the file system that `path` lies on; False where the system cannot do that."""
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

    def write_all(self, fd: int, data: bytes) -> None:
        """A short write is no error of the system, but the rest must follow."""
        rest = memoryview(data)
        while rest:
            written = self.write(fd, rest)
            if written == 0:
                raise OSError("the disk took no bytes")
            rest = rest[written:]

    def sync_dir(self, path: Path) -> None:
        fd = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            self.sync(fd)
        finally:
            os.close(fd)

    def write_file(self, path: Path, data: bytes, *, sync: bool = True) -> None:
        """Write a file anew. Not atomic: for files that the journal can write again."""
        fd = self.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        try:
            self.write_all(fd, data)
            if sync:
                self.sync(fd)
        finally:
            os.close(fd)

    def write_files(self, files: Mapping[Path, bytes]) -> None:
        """Write many files of one folder and sync them together: one by one, each would cost as much as all."""
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
        """Put a file in place as a whole: the old one or the new one, never a part."""
        draft = path.with_name(path.name + ".new")
        self.write_file(draft, data)
        self.rename(draft, path)
        self.sync_dir(path.parent)

    def append_file(self, path: Path, kept: int, data: bytes) -> None:
        """Append behind the first `kept` bytes: what stands after them is of an unfinished attempt."""
        fd = self.open(path, os.O_WRONLY | os.O_CREAT)
        try:
            self.truncate(fd, kept)
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


def words_of(error: OSError) -> str:
    """What the system says, without the path: the reader has no use for it."""
    return error.strerror or str(error)


def free_bytes(path: Path) -> int | None:
    """What is free for this user; None where it cannot be told."""
    try:
        found = os.statvfs(path)
    except OSError:
        return None
    return found.f_bavail * found.f_frsize


@cache
def _syncfs() -> Callable[[int], int] | None:
    try:
        found: Callable[[int], int] = ctypes.CDLL(None, use_errno=True).syncfs
    except (OSError, AttributeError):
        return None
    return found
