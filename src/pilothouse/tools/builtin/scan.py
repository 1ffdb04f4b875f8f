"""The program that grep starts where there is no ripgrep: it prints the lines that match as ripgrep prints them.

It runs alone, with nothing but the standard library, in the folder where the files are: whoever starts it ends it
when its time is over. `scan.py NAMES PATTERN [i]`: NAMES is a file with the paths, each ended by a NUL. They are opened
step by step, no link is followed. A match is written as `./path`, line, column and text with NULs between, counted
from 1, the column in bytes. The last line tells how many files were searched; the status is 2 where one could not be.
"""

import codecs
import os
import re
import stat
import sys
from collections.abc import Callable, Iterator

LARGEST, HEAD, LINE = 100 * 1024 * 1024, 64 * 1024, 64 * 1024
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


def why_skipped(fd: int) -> str | None:
    """Why an open file is not searched. Raises: OSError."""
    status = os.fstat(fd)
    if not stat.S_ISREG(status.st_mode):
        return "no regular file"
    if status.st_size > LARGEST:
        return f"over {LARGEST >> 20} MB"
    head = os.pread(fd, HEAD, 0)
    return "binary" if b"\0" in head and head[:2] not in BYTE_ORDERS else None


def lines(fd: int) -> Iterator[str]:
    """A file's lines without their ends, up to the first that holds a NUL. Raises: OSError."""
    head = os.pread(fd, 3, 0)
    encoding = BYTE_ORDERS.get(head[:2], "utf-8")
    os.lseek(fd, 2 if encoding != "utf-8" else 3 if head == codecs.BOM_UTF8 else 0, os.SEEK_SET)
    errors = "surrogateescape" if encoding == "utf-8" else "replace"
    with open(fd, encoding=encoding, errors=errors, newline="\n", closefd=False) as file:
        for line in file:
            if "\0" in line:
                return
            yield line[:-2] if line.endswith("\r\n") else line.removesuffix("\n")


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


def records(search: Search, fd: int) -> Iterator[bytes]:
    for number, line in enumerate(lines(fd), 1):
        start = first_match(search, line)
        if start >= 0:
            column = len(line[:start].encode("utf-8", "surrogateescape")) + 1
            text = line if len(line) <= LINE else f"{line[:LINE]} [... long line]"
            yield f"{number}\0{column}\0{text}\n".encode("utf-8", "surrogateescape")


def main(names: str, pattern: str, flags: str = "") -> int:
    search = re.compile(pattern, re.IGNORECASE if flags == "i" else 0).search
    with open(names, "rb") as file:
        paths = file.read().split(b"\0")[:-1]
    folders, out, searched, status = Folders(), sys.stdout.buffer, 0, 0
    for path in paths:
        try:
            fd = folders.open(os.fsdecode(path))
            try:
                searched += 1
                for record in records(search, fd) if why_skipped(fd) is None else ():
                    out.write(b"./" + path + b"\0" + record)
                    out.flush()
            finally:
                os.close(fd)
        except OSError:
            status = 2
    out.write(f"\n{searched} files searched\n".encode())
    out.flush()
    return status


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
