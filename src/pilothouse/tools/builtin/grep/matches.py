"""The matches of a grep call, parsed from the output of the search programs, sorted by path and bounded."""

import os
import re

from pilothouse.sandbox import gitignore
from pilothouse.tools.builtin.list_directory import SearchRoot

MAX_COUNTED_MATCHES = 10_000
MAX_ANSWER_CHARACTERS = 60_000
_MAX_LINE_CHARACTERS = 500
_UNREADABLE_NOTE = "[some files could not be read]"

# The output format. A notice in between names a file that turns out to be binary; the empty last line of a file without
# a final line feed has no column. File names appear in these lines and may contain the same words, so that the patterns
# must be unambiguous: no record matches as a notice.
_BINARY_NOTICE = rb"(?>(?:(?=[^\0\n]*: (?:WARNING: stopped searching binary|binary file matches))[^\0\n]*+\n)*)"
_RECORD = re.compile(_BINARY_NOTICE + rb"\./([^\0]+)\0(\d+)\0(?:(\d+)\0)?([^\0\n]*)\n")
_END = re.compile(_BINARY_NOTICE + rb"\n(?:[^\0\n]++\n)*?(\d+) files searched\n")


class GrepMatches:
    """The matching lines below one search root. A `path` is relative to it."""

    def __init__(self, root: SearchRoot, matcher: gitignore.Matcher | None, max_lines: int) -> None:
        self.root, self._matcher, self._max_lines = root, matcher, max_lines
        self.reset()

    def reset(self) -> None:
        self.notes: list[str] = []
        self.matches = 0
        self.files: int | None = None
        self.excluded: frozenset[str] = frozenset()
        """Files already searched in their own encoding: matches of the main search in them do not count."""
        self._lines: list[tuple[list[bytes], str]] = []
        self._room = self._max_lines

    def wants(self, path: str) -> bool:
        return self._matcher is None or self.root.name is not None or bool(self._matcher(path))

    def begin_program(self) -> int:
        """Reset the line budget for a program about to print, sorted by path. Returns the number of matches so far."""
        self._room = self._max_lines
        return self.matches

    def feed(self, data: bytes) -> bytes:
        """Parse printed output; returns the incomplete rest."""
        offset = 0
        while match := _RECORD.match(data, offset):
            offset = match.end()
            path = os.fsdecode(match[1])
            real_path = os.path.join(self.root.real, path)
            counts = path not in self.excluded and self.wants(path)
            if counts and not self._is_closed(real_path):
                self.matches += 1
                self._room -= 1
                if self._room >= 0:
                    text = _excerpt(match[4].rstrip(b"\r"), int(match[3] or len(match[4]) + 1) - 1)
                    line = f"{self.root.shown(path)}:{int(match[2])}: {text}"
                    self._lines.append((match[1].split(b"/"), line))
        return data[offset:]

    def _is_closed(self, real: str) -> bool:
        workspace = self.root.workspace
        return workspace.is_protected_here(real, writing=False) or workspace.is_in_data_directory(os.path.dirname(real))

    def finish(self, rest: bytes, status: int) -> bool:
        """Parse the last output. Returns whether the program completed its search."""
        end = _END.match(rest)
        if end is not None:
            self.files = int(end[1])
            if status == 2 and _UNREADABLE_NOTE not in self.notes:
                self.notes.append(_UNREADABLE_NOTE)
        return end is not None

    def merge(self, other: "GrepMatches") -> None:
        """Add the matches of a mounted folder that is visible in this one."""
        name = os.fsencode(other.root.below(self.root)).split(b"/")[:-1]
        self._lines += [([*name, *path], line) for path, line in other._lines]
        self.matches += other.matches
        self.files = self.files + other.files if self.files is not None and other.files is not None else None
        self.notes += other.notes

    def text(self) -> str:
        ordered = [line for _, line in sorted(self._lines, key=lambda item: item[0])][: self._max_lines]
        room = MAX_ANSWER_CHARACTERS
        lines = [line for line in ordered if (room := room - len(line) - 1) >= 0]
        if not lines:
            lines.append("No matches.")
            lines += [f"[{self.files} files searched]"] if self.files is not None else []
        elif self.matches > len(lines):
            least = "at least " if self.matches > MAX_COUNTED_MATCHES else ""
            more = min(self.matches, MAX_COUNTED_MATCHES) - len(lines)
            lines.append(f"[{least}{more} more matching lines; narrow the pattern, the path or the glob]")
        return "\n".join(lines + self.notes)


def _excerpt(line: bytes, offset: int) -> str:
    """A line; of a long line, the text around its first match."""
    before = line[:offset].decode(errors="replace")
    text = before + line[offset:].decode(errors="replace")
    if len(text) <= _MAX_LINE_CHARACTERS:
        return text
    start = max(0, min(len(before) - _MAX_LINE_CHARACTERS // 2, len(text) - _MAX_LINE_CHARACTERS + 2))
    cut = text[start : start + _MAX_LINE_CHARACTERS - 2]
    return ("…" if start else "") + cut + ("…" if start + len(cut) < len(text) else "")
