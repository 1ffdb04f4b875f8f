"""The program that grep starts where there is no ripgrep: it prints the lines that match as ripgrep prints them. It
also searches the files that ripgrep cannot read, those in other encodings.

It runs alone, with nothing but the standard library, in the folder where the files are: whoever starts it ends it
when its time is over. `scan.py NAMES PATTERN [i]`: NAMES is a file with paths and their encodings ("" for UTF-8, and
for UTF-16 with a byte order mark), each ended by a NUL. They are opened step by step, no link is followed. A match is
written as `./path`, line, column and text with NULs between, counted from 1, the column in bytes. The last line tells
how many files were searched; the status is 2 where one could not be. `scan.py NAMES` prints the paths of the files that
are not plain UTF-8, as `./path` with a NUL behind.
"""

import codecs
import contextlib
import os
import re
import stat
import sys
from collections.abc import Callable, Iterator

# What read_file goes through of a large file, too.
MAX_SEARCHED_BYTES = 512 * 1024 * 1024
HEAD, LINE = 64 * 1024, 64 * 1024
# As `regular_file` opens files, which this program cannot import.
FLAGS = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
BYTE_ORDERS = {codecs.BOM_UTF16_LE: "utf-16-le", codecs.BOM_UTF16_BE: "utf-16-be"}

Search = Callable[[str], "re.Match[str] | None"]


class Folders:
    """Opens files below where we stand. The folders on the way are kept for the next file."""

    def __init__(self) -> None:
        self._open: list[tuple[str, int]] = [("", os.open(".", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC))]

    def open(self, path: str) -> int:
        """Raises: OSError."""
        *names, last = path.split("/")
        same = 0
        while same < min(len(names), len(self._open) - 1) and self._open[same + 1][0] == names[same]:
            same += 1
        while len(self._open) > same + 1:
            os.close(self._open.pop()[1])
        for name in names[same:]:
            self._open.append((name, os.open(name, FLAGS | os.O_DIRECTORY, dir_fd=self._open[-1][1])))
        return os.open(last, FLAGS, dir_fd=self._open[-1][1])


def is_searched(fd: int) -> bool:
    """Whether an open file is text that is not too large. Raises: OSError."""
    status = os.fstat(fd)
    if not stat.S_ISREG(status.st_mode) or status.st_size > MAX_SEARCHED_BYTES:
        return False
    head = os.pread(fd, HEAD, 0)
    return b"\0" not in head or head[:2] in BYTE_ORDERS


def lines(fd: int, encoding: str) -> Iterator[str]:
    """A file's lines without their ends, up to the first that holds a NUL. Raises: OSError."""
    errors = "replace"
    if not encoding:
        head = os.pread(fd, 3, 0)
        encoding = BYTE_ORDERS.get(head[:2], "utf-8")
        os.lseek(fd, 2 if encoding != "utf-8" else 3 if head == codecs.BOM_UTF8 else 0, os.SEEK_SET)
        errors = "surrogateescape" if encoding == "utf-8" else "replace"
    with open(fd, encoding=encoding, errors=errors, newline="\n", closefd=False) as file:
        for line in file:
            if "\0" in line:
                return
            yield line[:-2] if line.endswith("\r\n") else line.removesuffix("\n")


def is_plain(fd: int) -> bool:
    """Whether a file is UTF-8 without zero bytes and escape sequences, or UTF-16 with its mark. Raises: OSError."""
    if os.fstat(fd).st_size > MAX_SEARCHED_BYTES or os.pread(fd, 4, 0)[:2] in BYTE_ORDERS:
        return os.pread(fd, 4, 0)[2:] != b"\0\0"  # that would be UTF-32
    decoder = codecs.getincrementaldecoder("utf-8")()
    try:
        while part := os.read(fd, 1024 * 1024):
            if b"\0" in part or b"\x1b" in part:
                return False
            decoder.decode(part)
        decoder.decode(b"", True)
    except UnicodeDecodeError:
        return False
    return True


def first_match(search: Search, line: str) -> int:
    """Where it begins, -1 for none. A lone CR ends what is matched, as for ripgrep."""
    if "\r" not in line:
        found = search(line)
        return found.start() if found else -1
    at = 0
    for part in line.split("\r"):
        found = search(part)
        if found:
            return at + found.start()
        at += len(part) + 1
    return -1


def records(search: Search, fd: int, encoding: str) -> Iterator[bytes]:
    for number, line in enumerate(lines(fd, encoding), 1):
        start = first_match(search, line)
        if start >= 0:
            column = len(line[:start].encode("utf-8", "surrogateescape")) + 1
            text = line if len(line) <= LINE else f"{line[:LINE]} [... long line]"
            yield f"{number}\0{column}\0{text}\n".encode("utf-8", "surrogateescape")


def opened(names: str) -> Iterator[tuple[bytes, str, int | None]]:
    """Each path with its encoding and its descriptor, None where it cannot be opened."""
    with open(names, "rb") as file:
        parts = file.read().split(b"\0")[:-1]
    folders = Folders()
    for path, encoding in zip(parts[::2], parts[1::2], strict=True):
        try:
            fd = folders.open(os.fsdecode(path))
        except OSError:
            yield path, "", None
            continue
        try:
            yield path, encoding.decode(), fd
        finally:
            os.close(fd)


def search_files(names: str, pattern: str, flags: str) -> int:
    search = re.compile(pattern, re.IGNORECASE if flags == "i" else 0).search
    out, searched, status = sys.stdout.buffer, 0, 0
    for path, encoding, fd in opened(names):
        if fd is None:
            status = 2
            continue
        try:
            searched += 1
            for record in records(search, fd, encoding) if encoding or is_searched(fd) else ():
                out.write(b"./" + path + b"\0" + record)
                out.flush()
        except OSError:
            status = 2
    out.write(f"\n{searched} files searched\n".encode())
    out.flush()
    return status


def list_others(names: str) -> int:
    for path, _, fd in opened(names):
        with contextlib.suppress(OSError):
            if fd is not None and stat.S_ISREG(os.fstat(fd).st_mode) and not is_plain(fd):
                sys.stdout.buffer.write(b"./" + path + b"\0")
    sys.stdout.buffer.flush()
    return 0


def main(names: str, pattern: str | None = None, flags: str = "") -> int:
    return list_others(names) if pattern is None else search_files(names, pattern, flags)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
