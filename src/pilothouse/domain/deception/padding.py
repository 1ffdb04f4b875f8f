"""Long stretches of blanks that push the rest of a text out of sight."""

import re
from collections.abc import Callable

MAX_BLANK_COLUMNS = 39
"""Between words of a line. Tables and aligned comments need less."""
MAX_INDENT_COLUMNS = 119
MAX_EMPTY_LINES = 8
_TAB_COLUMNS = 8
_CHUNK_CHARACTERS = 32_768
_STRETCH = re.compile(r"\n(?:[^\S\n]*+\n)++|[^\S\n]{5,}")


def has_padding(text: str) -> bool:
    """Whether a run of blanks or empty lines is longer than any legitimate one."""
    overlap = 2_000  # above every threshold of padding
    return any(
        _is_padding(stretch)
        for start in range(0, max(1, len(text)), _CHUNK_CHARACTERS)
        for stretch in _STRETCH.finditer(text[max(0, start - overlap) : start + _CHUNK_CHARACTERS])
    )


def replace_padding(text: str, *, lines: Callable[[int], str], blanks: Callable[[int], str]) -> str:
    """The text with notes in place of long runs of empty lines (`lines`) and blanks (`blanks`), by their number."""

    def note(stretch: re.Match[str]) -> str:
        if not _is_padding(stretch):
            return stretch[0]
        empty_lines = stretch[0].count("\n") - 1
        return lines(empty_lines) if empty_lines > 0 else blanks(len(stretch[0]))

    return _STRETCH.sub(note, text)


def _is_padding(stretch: re.Match[str]) -> bool:
    blanks = stretch[0]
    if blanks.startswith("\n"):
        return blanks.count("\n") - 1 > MAX_EMPTY_LINES
    is_indent = stretch.start() == 0 or stretch.string[stretch.start() - 1] == "\n"
    columns = len(blanks) + (_TAB_COLUMNS - 1) * blanks.count("\t")
    return columns > (MAX_INDENT_COLUMNS if is_indent else MAX_BLANK_COLUMNS)
