"""Long stretches of blanks that push the rest of a text out of sight."""

import re

from pilothouse.domain.codes import Language

MAX_BLANK_COLUMNS = 39
"""Between words of a line. Columns of a table and comments that are aligned need less."""
MAX_INDENT_COLUMNS = 119
MAX_EMPTY_LINES = 8
_TAB_COLUMNS = 8
_CHUNK_CHARACTERS = 32_768
_STRETCH = re.compile(r"\n(?:[^\S\n]*+\n)++|[^\S\n]{5,}")


def has_padding(text: str) -> bool:
    """Whether a stretch of blanks or empty lines is longer than any purpose asks for."""
    overlap = 2_000  # more than any padding that counts
    return any(
        _is_padding(stretch)
        for start in range(0, max(1, len(text)), _CHUNK_CHARACTERS)
        for stretch in _STRETCH.finditer(text[max(0, start - overlap) : start + _CHUNK_CHARACTERS])
    )


def without_padding(text: str, language: Language) -> str:
    """The text with long stretches of nothing told instead of shown."""

    def told(stretch: re.Match[str]) -> str:
        if not _is_padding(stretch):
            return stretch[0]
        lines = stretch[0].count("\n") - 1
        if lines > 0:
            return f"\n[… {lines:,} 个空行 …]\n" if language == "zh" else f"\n[… {lines:,} empty lines …]\n"
        count = len(stretch[0])
        return f" [… {count:,} 个空白字符 …] " if language == "zh" else f" [… {count:,} blanks …] "

    return _STRETCH.sub(told, text)


def _is_padding(stretch: re.Match[str]) -> bool:
    blanks = stretch[0]
    if blanks.startswith("\n"):
        return blanks.count("\n") - 1 > MAX_EMPTY_LINES
    is_indent = stretch.start() == 0 or stretch.string[stretch.start() - 1] == "\n"
    columns = len(blanks) + (_TAB_COLUMNS - 1) * blanks.count("\t")
    return columns > (MAX_INDENT_COLUMNS if is_indent else MAX_BLANK_COLUMNS)
