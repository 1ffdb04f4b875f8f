"""Text of models, tools and files on a terminal: every row of it begins with a mark, so that none can imitate ours."""

import os
import sys
import unicodedata
from collections.abc import Iterator

from pilothouse.domain.hidden_characters import exact, is_hidden, visible
from pilothouse.terminal.character_width import max_columns, text_columns

MARK = "│ "
"""What every row of foreign text begins with. No line of ours does."""
_TAB_COLUMNS = 4
_MARK_COLUMNS = text_columns(MARK)
_MIN_COLUMNS = _MARK_COLUMNS + 2  # room for one wide character
_USUAL_SCREEN = os.terminal_size((80, 24))
_MAX_QUESTION_COLUMNS = 160
_MAX_HELD_CHARACTERS = 64
_CONTEXT_CHARACTERS = 8
_ZWJ = "\u200d"


def quoted(text: str, *, is_exact: bool = False) -> str:
    """The text with nothing hidden and the mark before every row of the screen; `is_exact` for what is approved."""
    shown = (exact if is_exact else visible)(text)
    return "\n".join(MARK + row for line in shown.split("\n") for row in _rows(line, _columns() - _MARK_COLUMNS))


class Pages:
    """A text that is shown page by page, each as long as the screen is when the page is asked for."""

    def __init__(self, text: str) -> None:
        self._rows = text.split("\n")
        self._shown = 0
        """Pages so far."""

    def next(self) -> str:
        """The next page: as many rows as stand above a question. All of the rest where nobody looks at a screen."""
        screen = _screen()
        self._shown += 1
        if screen is None:
            page, self._rows = self._rows, []
            return "\n".join(page)
        self._fit()
        height = _height(screen)
        page, self._rows = self._rows[:height], self._rows[height:]
        return "\n".join(page)

    def fit_below(self, rows: int) -> bool:
        """Whether all that is left fits on the screen below so many rows and above a question."""
        screen = _screen()
        if screen is None:
            return True
        self._fit()
        return rows + len(self._rows) <= _height(screen)

    def _fit(self) -> None:
        self._rows = [part for row in self._rows for part in _fitted(row, _columns())]

    @property
    def has_more(self) -> bool:
        return bool(self._rows)

    @property
    def next_number(self) -> int:
        return self._shown + 1

    @property
    def count(self) -> int:
        """How many pages there are, as far as the screen keeps its size."""
        screen = _screen()
        return self._shown + (-(-len(self._rows) // _height(screen)) if screen is not None else int(self.has_more))


class QuotedStream:
    """Prints foreign text piece by piece as it comes, with the mark before every row."""

    def __init__(self) -> None:
        self._column = 0
        """Columns of the present row that are taken; 0 before its mark."""
        self._context = ""
        """The last characters that were printed: an emoji may go on with the next piece."""
        self._held = ""
        """Hidden characters at the end of what has come: the next one says whether they are in place."""

    def write(self, piece: str) -> None:
        text = self._held + piece
        shown = len(text)
        while shown and len(text) - shown < _MAX_HELD_CHARACTERS and is_hidden(text[shown - 1]):
            shown -= 1
        self._held = text[shown:]
        self._print(text[:shown], self._held)

    def _print(self, text: str, after: str = "") -> None:
        limit = _columns()
        parts = []
        seen = visible(self._context + text + after, len(self._context), len(self._context) + len(text))
        self._context = (self._context + text)[-_CONTEXT_CHARACTERS:]
        for cluster in _clusters(seen.expandtabs(_TAB_COLUMNS), limit - _MARK_COLUMNS):
            if cluster == "\n":
                parts.append("\n" if self._column else f"{MARK.rstrip()}\n")
                self._column = 0
                continue
            width = text_columns(cluster)
            if self._column and self._column + width > limit:
                parts.append("\n")
                self._column = 0
            if not self._column:
                parts.append(MARK)
                self._column = _MARK_COLUMNS
            parts.append(cluster)
            self._column += width
        print("".join(parts), end="", flush=True)

    def end(self) -> None:
        """End the row that was begun."""
        held, self._held = self._held, ""
        if held:
            self._print(held)
        self._context = ""
        if self._column:
            print(flush=True)
        self._column = 0


def _screen() -> os.terminal_size | None:
    """The size of the screen that the person looks at, also where the output goes through a pipe (`| tee`). None where
    nobody looks: neither the output nor the input is a terminal."""
    for stream in (sys.stdout, sys.stdin):
        try:
            size = os.get_terminal_size(stream.fileno())
        except (OSError, ValueError, AttributeError):
            continue
        return size if size.columns and size.lines else _USUAL_SCREEN
    return None


def _columns() -> int:
    """Without a terminal nothing wraps."""
    screen = _screen()
    return max(_MIN_COLUMNS, screen.columns) if screen is not None else sys.maxsize


def _height(screen: os.terminal_size) -> int:
    rows_of_question = 1 + -(-_MAX_QUESTION_COLUMNS // screen.columns)
    return max(1, screen.lines - rows_of_question)


def _fitted(row: str, columns: int) -> list[str]:
    """A row as those that it takes on a screen that has become narrower. Each of a foreign row has the mark."""
    if row.startswith(MARK):
        return [MARK + part for part in _rows(row.removeprefix(MARK), columns - _MARK_COLUMNS)]
    return _rows(row, columns)


def _rows(line: str, limit: int) -> list[str]:
    """A line as the rows that it takes in so many columns."""
    line = line.expandtabs(_TAB_COLUMNS)
    if line.isascii() and len(line) <= limit:
        return [line]
    rows: list[str] = []
    row: list[str] = []
    taken = 0
    for cluster in _clusters(line, limit):
        width = text_columns(cluster)
        if row and taken + width > limit:
            rows.append("".join(row))
            row, taken = [], 0
        row.append(cluster)
        taken += width
    return [*rows, "".join(row)]


def _clusters(text: str, limit: int) -> Iterator[str]:
    """What is drawn as one sign: a letter with its marks, an emoji of several. None is wider than the limit."""
    cluster, width = "", 0
    for character in text:
        continues = cluster not in ("", "\n") and (_is_attached(character) or cluster.endswith(_ZWJ))
        if cluster and (not continues or width + max_columns(character) > limit):
            yield cluster
            cluster, width = "", 0
        cluster += character
        width += max_columns(character)
    if cluster:
        yield cluster


def _is_attached(character: str) -> bool:
    if character.isascii():
        return False
    is_skin_tone = "\U0001f3fb" <= character <= "\U0001f3ff"
    return is_skin_tone or is_hidden(character) or unicodedata.category(character) in ("Mn", "Me")
