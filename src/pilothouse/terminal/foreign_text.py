"""Text of models, tools and files on a terminal: every row of it begins with a mark, so that none can imitate ours."""

import shutil
import sys
import unicodedata

from pilothouse.domain.hidden_characters import exact, visible

MARK = "│ "
"""What every row of foreign text begins with. No line of ours does."""
_TAB_COLUMNS = 4
_MIN_COLUMNS = 20
_ROWS_OF_QUESTION = 3


def quoted(text: str, *, is_exact: bool = False) -> str:
    """The text with nothing hidden and the mark before every row of the screen; `is_exact` for what is approved."""
    shown = (exact if is_exact else visible)(text)
    return "\n".join(MARK + row for line in shown.split("\n") for row in _rows(line, _columns()))


def pages(text: str) -> list[str]:
    """The rows of a text, as many together as the screen shows above a question. One page where nobody looks at it."""
    rows = text.split("\n")
    if not sys.stdout.isatty():
        return [text]
    height = max(4, shutil.get_terminal_size().lines - _ROWS_OF_QUESTION)
    return ["\n".join(rows[start : start + height]) for start in range(0, len(rows), height)]


class QuotedStream:
    """Prints foreign text piece by piece as it comes, with the mark before every row."""

    def __init__(self) -> None:
        self._column = 0
        """Columns of the present row that are taken; 0 before its mark."""

    def write(self, piece: str) -> None:
        limit = _columns()
        parts = []
        for character in visible(piece).expandtabs(_TAB_COLUMNS):
            if character == "\n":
                parts.append("\n" if self._column else f"{MARK.rstrip()}\n")
                self._column = 0
                continue
            width = _width(character)
            if self._column and self._column + width > limit:
                parts.append("\n")
                self._column = 0
            if not self._column:
                parts.append(MARK)
                self._column = len(MARK)
            parts.append(character)
            self._column += width
        print("".join(parts), end="", flush=True)

    def end(self) -> None:
        """End the row that was begun."""
        if self._column:
            print(flush=True)
        self._column = 0


def _columns() -> int:
    """Without a terminal nothing wraps."""
    return max(_MIN_COLUMNS, shutil.get_terminal_size().columns) if sys.stdout.isatty() else sys.maxsize


def _rows(line: str, limit: int) -> list[str]:
    """A line as the rows that it takes behind the mark."""
    line = line.expandtabs(_TAB_COLUMNS)
    if line.isascii() and len(line) + len(MARK) <= limit:
        return [line]
    rows, row, taken = [], "", len(MARK)
    for character in line:
        width = _width(character)
        if taken + width > limit:
            rows.append(row)
            row, taken = "", len(MARK)
        row += character
        taken += width
    return [*rows, row]


def _width(character: str) -> int:
    """Columns of the screen, rather too many than too few: a row that is too long goes on without its mark."""
    is_wide = unicodedata.east_asian_width(character) in "WF" or "\u3248" <= character <= "\u324f"
    if is_wide or character >= "\U0001f000":
        return 2
    return 0 if unicodedata.category(character) in ("Mn", "Me") else 1
