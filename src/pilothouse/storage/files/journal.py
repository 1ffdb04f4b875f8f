"""The journal of one context: append-only segments of checksummed lines, one line a commit, one sync each.

A line is `<crc32 of the rest, 8 hex digits> <JSON>\\n`. A segment is named after the first version in it.
"""

import errno
import os
import re
import zlib
from collections.abc import Iterator
from pathlib import Path

from pilothouse.domain.codes import Code
from pilothouse.domain.errors import StoreReadOnly, StoreRefused, os_error_text
from pilothouse.storage.files.disk import Disk

_NAME = re.compile(r"\d{12}-\d{3}\.log")


def encode_line(payload: bytes) -> bytes:
    return b"%08x %s\n" % (zlib.crc32(payload), payload)


def read_lines(data: bytes) -> Iterator[tuple[int, int, bytes | None]]:
    """Every line as (start, end, payload); payload is None for an unreadable line."""
    start = 0
    while start < len(data):
        newline = data.find(b"\n", start)
        end = len(data) if newline < 0 else newline + 1
        yield start, end, _payload(data[start:end])
        start = end


def _payload(line: bytes) -> bytes | None:
    if len(line) < 10 or line[8:9] != b" " or not line.endswith(b"\n"):
        return None
    payload = line[9:-1]
    return payload if b"%08x" % zlib.crc32(payload) == line[:8] else None


def segments(folder: Path) -> list[Path]:
    """The segments in the order in which they were written."""
    if not folder.is_dir():
        return []
    return sorted(path for path in folder.iterdir() if _NAME.fullmatch(path.name))


def first_version(segment: Path) -> int:
    return int(segment.name[:12])


class JournalWriter:
    """Appends to the newest segment; a new one begins with the first line after `rotate`."""

    def __init__(self, folder: Path, disk: Disk) -> None:
        self._folder = folder
        self._disk = disk
        self._fd: int | None = None
        self._size = 0
        self._broken: str | None = None

    @property
    def is_broken(self) -> bool:
        return self._broken is not None

    @property
    def size(self) -> int:
        return self._size

    def append(self, version: int, payload: bytes) -> None:
        """Raises: StoreRefused (try again), StoreReadOnly (reopen first). Then nothing was appended."""
        if self._broken is not None:
            raise StoreReadOnly(Code.STORE_READ_ONLY, detail=self._broken)
        line = encode_line(payload)
        fd = self._segment(version)
        if os.fstat(fd).st_nlink == 0:  # the data directory was removed, so that nobody would find the line
            self._broken = os.strerror(errno.ENOENT)
            raise StoreReadOnly(Code.STORE_READ_ONLY, detail=self._broken)
        try:
            self._disk.write_all(fd, line)
        except OSError as error:
            self._cut_back(fd, error)
            if self._broken is not None:
                raise StoreReadOnly(Code.STORE_READ_ONLY, detail=self._broken) from error
            raise StoreRefused.because_of(error) from error
        try:
            self._disk.sync(fd)
        except OSError as error:
            # The kernel may have dropped the dirty pages: the file's content is unknown until it is read again.
            self._cut_back(fd, error)
            self._broken = os_error_text(error)
            raise StoreReadOnly(Code.STORE_READ_ONLY, detail=self._broken) from error
        self._size += len(line)

    def _cut_back(self, fd: int, cause: OSError) -> None:
        try:
            self._disk.truncate(fd, self._size)
        except OSError:
            # A torn line stays at the end. Nothing may be appended to it: the next line goes to a new segment.
            self._broken = os_error_text(cause)

    def _segment(self, version: int) -> int:
        if self._fd is None:
            self._fd = self._create(version)
            self._size = 0
        return self._fd

    def _create(self, version: int) -> int:
        try:
            self._disk.make_dir(self._folder)
            for attempt in range(1000):
                path = self._folder / f"{version:012d}-{attempt:03d}.log"
                if not path.exists():
                    break
            fd = self._disk.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_APPEND)
        except OSError as error:
            raise StoreRefused.because_of(error) from error
        try:
            self._disk.sync_dir(self._folder)
            self._disk.sync_dir(self._folder.parent)
        except OSError as error:
            os.close(fd)
            raise StoreRefused.because_of(error) from error
        return fd

    def rotate(self) -> None:
        if self._fd is not None:
            os.close(self._fd)
            self._fd = None
            self._size = 0
