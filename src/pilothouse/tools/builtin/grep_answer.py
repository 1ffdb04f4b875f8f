"""What grep has found so far: read from what its programs print, given in the order of the paths, bounded."""

import os
import re

from pilothouse.sandbox import walking
from pilothouse.tools.builtin.listing import Place

MAX_COUNTED = 10_000
MAX_CHARACTERS = 60_000
_MAX_LINE_CHARACTERS = 500
_UNREAD = "[some files could not be read]"

# What the programs print. A file that turns out to be binary in the middle is told in between; the empty end of a file
# that does not end in a line end has no column.
# Names of files stand in these lines and may hold the same words: a line is read in one way only, and no record is one.
_BINARY = rb"(?:[^\0\n]*: (?:WARNING: stopped searching binary|binary file matches)[^\0\n]*+\n)*+"
_RECORD = re.compile(_BINARY + rb"\./([^\0]+)\0(\d+)\0(?:(\d+)\0)?([^\0\n]*)\n")
_END = re.compile(_BINARY + rb"\n(?:[^\0\n]++\n)*?(\d+) files searched\n")


class Answer:
    """The matching lines below one place. A `path` is below that place."""

    def __init__(self, place: Place, wanted: walking.Matches | None, most: int) -> None:
        self.place, self._wanted, self._most = place, wanted, most
        self.forget()

    def forget(self) -> None:
        self.notes: list[str] = []
        self.matches = 0
        self.files: int | None = None
        # Files whose matches do not count any more: they were searched in their own encoding.
        self.passed: frozenset[str] = frozenset()
        self._lines: list[tuple[list[bytes], str]] = []
        self._room = self._most

    def wants(self, path: str) -> bool:
        return self._wanted is None or self.place.name is not None or bool(self._wanted(path))

    def begin(self) -> int:
        """A program begins to print, in the order of its paths: the first lines of each are enough. Gives how many
        matches there are already."""
        self._room = self._most
        return self.matches

    def hear(self, data: bytes) -> bytes:
        """Take in what was printed; gives what is not complete."""
        at = 0
        while found := _RECORD.match(data, at):
            at = found.end()
            path = os.fsdecode(found[1])
            real = os.path.join(self.place.real, path)
            counts = path not in self.passed and self.wants(path)
            if counts and not self._is_closed(real):
                self.matches += 1
                self._room -= 1
                if self._room >= 0:
                    text = _shown(found[4].rstrip(b"\r"), int(found[3] or len(found[4]) + 1) - 1)
                    line = f"{self.place.shown(path)}:{int(found[2])}: {text}"
                    self._lines.append((found[1].split(b"/"), line))
        return data[at:]

    def _is_closed(self, real: str) -> bool:
        workspace = self.place.workspace
        return workspace.is_protected_here(real, writing=False) or workspace.is_in_data_directory(os.path.dirname(real))

    def hear_end(self, rest: bytes, status: int) -> bool:
        """Take in the last that was printed. Whether the program came to its end."""
        end = _END.match(rest)
        if end is not None:
            self.files = int(end[1])
            if status == 2 and _UNREAD not in self.notes:
                self.notes.append(_UNREAD)
        return end is not None

    def join(self, other: "Answer") -> None:
        """Add what was found in a folder that shows in this one."""
        name = os.fsencode(other.place.below(self.place)).split(b"/")[:-1]
        self._lines += [([*name, *path], line) for path, line in other._lines]
        self.matches += other.matches
        self.files = self.files + other.files if self.files is not None and other.files is not None else None
        self.notes += other.notes

    def text(self) -> str:
        ordered = [line for _, line in sorted(self._lines, key=lambda each: each[0])][: self._most]
        room = MAX_CHARACTERS
        lines = [line for line in ordered if (room := room - len(line) - 1) >= 0]
        if not lines:
            lines.append("No matches.")
            lines += [f"[{self.files} files searched]"] if self.files is not None else []
        elif self.matches > len(lines):
            least = "at least " if self.matches > MAX_COUNTED else ""
            more = min(self.matches, MAX_COUNTED) - len(lines)
            lines.append(f"[{least}{more} more matching lines; narrow the pattern, the path or the glob]")
        return "\n".join(lines + self.notes)


def _shown(line: bytes, at: int) -> str:
    """A line, or what is around its first match."""
    before = line[:at].decode(errors="replace")
    text = before + line[at:].decode(errors="replace")
    if len(text) <= _MAX_LINE_CHARACTERS:
        return text
    start = max(0, min(len(before) - _MAX_LINE_CHARACTERS // 2, len(text) - _MAX_LINE_CHARACTERS + 2))
    cut = text[start : start + _MAX_LINE_CHARACTERS - 2]
    return ("…" if start else "") + cut + ("…" if start + len(cut) < len(text) else "")
