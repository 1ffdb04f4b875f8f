"""A program that grep starts where ripgrep is missing, and for files in encodings that ripgrep cannot read. The program
prints matching lines in ripgrep's format.

The program uses the standard library only and runs in the folder of the files; the process that starts it also ends it
at the time limit. `scanner.py NAMES PATTERN [i]`: NAMES is a file with paths and their encodings ("" for UTF-8,
and for UTF-16 with a byte order mark), each ended by a NUL. Paths are opened folder by folder, without following links.
A match is written as `./path`, line, column and text with NULs between, counted from 1, the column in bytes. The last
line gives the number of files searched; the status is 2 where a file could not be read. `scanner.py NAMES` prints
the paths of the files that are not plain UTF-8, as `./path` followed by a NUL.
"""

# This program starts twice with every search: each import costs time.

import codecs
import os
import stat
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:  # modules for types take longer to import than all the others
    import re
    from collections.abc import Callable, Iterator

    Search = Callable[[str], re.Match[str] | None]

# The same limit as in read_file.
MAX_SEARCHED_BYTES = 512 * 1024 * 1024
HEAD_BYTES = 64 * 1024
MAX_LINE_CHARACTERS = 64 * 1024
# The flags of `regular_file`, which this program cannot import.
FLAGS = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
BYTE_ORDERS = {codecs.BOM_UTF16_LE: "utf-16-le", codecs.BOM_UTF16_BE: "utf-16-be"}


class Folders:
    """Opens files below the working directory. The folders on the way stay open for the next file."""

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
    """Whether an open file is text within the size limit. Raises: OSError."""
    status = os.fstat(fd)
    if not stat.S_ISREG(status.st_mode) or status.st_size > MAX_SEARCHED_BYTES:
        return False
    head = os.pread(fd, HEAD_BYTES, 0)
    return b"\0" not in head or head[:2] in BYTE_ORDERS


def lines(fd: int, encoding: str) -> "Iterator[str]":
    """A file's lines without their ends, up to the first line with a NUL. Raises: OSError."""
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
    """Whether a file is UTF-8 without zero bytes and escape sequences, or UTF-16 with a byte order mark. Raises:
    OSError."""
    if os.fstat(fd).st_size > MAX_SEARCHED_BYTES or os.pread(fd, 4, 0)[:2] in BYTE_ORDERS:
        return os.pread(fd, 4, 0)[2:] != b"\0\0"  # UTF-32 begins alike
    decoder = codecs.getincrementaldecoder("utf-8")()
    try:
        while chunk := os.read(fd, 1024 * 1024):
            if b"\0" in chunk or b"\x1b" in chunk:
                return False
            decoder.decode(chunk)
        decoder.decode(b"", True)
    except UnicodeDecodeError:
        return False
    return True


def first_match(search: "Search", line: str) -> int:
    """The offset of the first match, -1 for none. As in ripgrep, a lone CR ends the text that a match may cover."""
    if "\r" not in line:
        match = search(line)
        return match.start() if match else -1
    offset = 0
    for part in line.split("\r"):
        match = search(part)
        if match:
            return offset + match.start()
        offset += len(part) + 1
    return -1


def records(search: "Search", fd: int, encoding: str) -> "Iterator[bytes]":
    """The matching lines of a file in the output format."""
    for number, line in enumerate(lines(fd, encoding), 1):
        start = first_match(search, line)
        if start >= 0:
            column = len(line[:start].encode("utf-8", "surrogateescape")) + 1
            text = line if len(line) <= MAX_LINE_CHARACTERS else f"{line[:MAX_LINE_CHARACTERS]} [... long line]"
            yield f"{number}\0{column}\0{text}\n".encode("utf-8", "surrogateescape")


def open_files(names: str) -> "Iterator[tuple[bytes, str, int | None]]":
    """Each path with its encoding and descriptor, None where the file cannot be opened."""
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
    import re  # takes as long as the start of Python, and only a search needs `re`

    search = re.compile(pattern, re.IGNORECASE if flags == "i" else 0).search
    output, searched_files, status = sys.stdout.buffer, 0, 0
    for path, encoding, fd in open_files(names):
        if fd is None:
            status = 2
            continue
        try:
            searched_files += 1
            for record in records(search, fd, encoding) if encoding or is_searched(fd) else ():
                output.write(b"./" + path + b"\0" + record)
                output.flush()
        except OSError:
            status = 2
    output.write(f"\n{searched_files} files searched\n".encode())
    output.flush()
    return status


def list_others(names: str) -> int:
    for path, _, fd in open_files(names):
        try:
            if fd is not None and stat.S_ISREG(os.fstat(fd).st_mode) and not is_plain(fd):
                sys.stdout.buffer.write(b"./" + path + b"\0")
        except OSError:
            continue
    sys.stdout.buffer.flush()
    return 0


def main(names: str, pattern: str | None = None, flags: str = "") -> int:
    return list_others(names) if pattern is None else search_files(names, pattern, flags)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
