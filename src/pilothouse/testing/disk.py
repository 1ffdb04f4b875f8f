"""A disk with injected faults: the n-th operation fails, once or from then on."""

import errno
import os
from pathlib import Path
from typing import Literal

from pilothouse.storage.files.disk import Disk

Fault = Literal["ENOSPC", "EIO", "EROFS", "EDQUOT", "short", "kill"]

_FAULTS_OF_REMOVAL = ("EIO", "EROFS")


class FaultyDisk(Disk):
    """Counts operations. Operation number `at` fails with `fault`, with `lasting` all later ones too.

    "short" writes and reports half of the data. "kill" ends the process in the middle of a write or before any other
    operation. A full disk (ENOSPC, EDQUOT) refuses operations that need space, and allows truncation and removal.
    """

    def __init__(self) -> None:
        self.count = 0
        self.at: int | None = None
        self.fault: Fault = "EIO"
        self.lasting = False
        self.fired = 0

    def arm(self, at: int, fault: Fault, *, lasting: bool = False) -> None:
        self.count, self.at, self.fault, self.lasting, self.fired = 0, at, fault, lasting, 0

    def disarm(self) -> None:
        self.at = None

    def _fails(self) -> bool:
        self.count += 1
        if self.at is None or self.count < self.at or (self.count > self.at and not self.lasting):
            return False
        self.fired += 1
        if self.fault == "kill":
            os.kill(os.getpid(), 9)
        return True

    def _raise(self) -> None:
        number: int = getattr(errno, self.fault, errno.EIO)
        raise OSError(number, os.strerror(number))

    def open(self, path: Path, flags: int) -> int:
        if self._fails():
            self._raise()
        return super().open(path, flags)

    def write(self, fd: int, data: bytes | memoryview) -> int:
        if self.at is not None and self.count + 1 == self.at and self.fault == "kill":
            os.write(fd, data[: len(data) // 2])
        if self._fails():
            half = os.write(fd, data[: len(data) // 2])
            if self.fault == "short" and half:
                return half
            self._raise()
        return super().write(fd, data)

    def sync(self, fd: int) -> None:
        if self._fails() and self.fault != "short":
            self._raise()
        super().sync(fd)

    def sync_file_system(self, path: Path) -> bool:
        if self._fails() and self.fault != "short":
            self._raise()
        return super().sync_file_system(path)

    def truncate(self, fd: int, size: int) -> None:
        if self._fails() and self.fault in _FAULTS_OF_REMOVAL:
            self._raise()
        super().truncate(fd, size)

    def rename(self, source: Path, target: Path) -> None:
        if self._fails() and self.fault != "short":
            self._raise()
        super().rename(source, target)

    def unlink(self, path: Path) -> None:
        if self._fails() and self.fault in _FAULTS_OF_REMOVAL:
            self._raise()
        super().unlink(path)

    def make_dir(self, path: Path) -> None:
        if self._fails() and self.fault != "short":
            self._raise()
        super().make_dir(path)
