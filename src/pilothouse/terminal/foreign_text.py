"""Text of models, tools and files on a terminal. Each row begins with a mark, so that no row can imitate our output."""

import os
import sys
import unicodedata
from collections.abc import Iterator

from pilothouse.domain.deception.hidden_characters import exact, is_hidden, visible
from pilothouse.terminal.character_width import max_columns, text_columns

MARK = "│ "
"""The prefix of every row of foreign text. None of our own lines begins with it."""
_TAB_COLUMNS = 4
_MARK_COLUMNS = text_columns(MARK)
_MIN_COLUMNS = _MARK_COLUMNS + 2  # room for one wide character
_USUAL_SCREEN = os.terminal_size((80, 24))
_MAX_QUESTION_COLUMNS = 160
_MAX_HELD_CHARACTERS = 64
_CONTEXT_CHARACTERS = 8
_ZWJ = "\u200d"


def quoted(text: str, *, is_exact: bool = False) -> str:
    """Make hidden characters of a text visible, and put the mark before every row. `is_exact` is for text to
    approve."""
    shown = (exact if is_exact else visible)(text)
    return "\n".join(MARK + row for line in shown.split("\n") for row in _rows(line, _columns() - _MARK_COLUMNS))


class PagedText:
    """A text that is shown page by page. Each page fits the screen height at the time the page is requested."""

    def __init__(self, text: str) -> None:
        self._rows = text.split("\n")
        self._shown = 0
        """The number of pages shown so far."""

    def next(self) -> str:
        """Return the next page: as many rows as fit above a question; all remaining rows without a screen."""
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
        """Whether the remaining text fits on the screen between `rows` rows and a question."""
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
        """The number of pages, provided that the screen keeps its size."""
        screen = _screen()
        return self._shown + (-(-len(self._rows) // _height(screen)) if screen is not None else int(self.has_more))


class QuotedStream:
    """A printer for foreign text that arrives in chunks, with the mark before every row."""

    def __init__(self) -> None:
        self._column = 0
        """Columns of the current row that are filled; 0 before the row's mark."""
        self._context = ""
        """The last characters that were printed: an emoji may continue in the next chunk."""
        self._held = ""
        """Hidden characters at the end of the received text: the next character decides whether they are legitimate."""

    def write(self, chunk: str) -> None:
        text = self._held + chunk
        shown = len(text)
        while shown and len(text) - shown < _MAX_HELD_CHARACTERS and is_hidden(text[shown - 1]):
            shown -= 1
        self._held = text[shown:]
        self._print(text[:shown], self._held)

    def _print(self, text: str, after: str = "") -> None:
        limit = _columns()
        parts = []
        visible_text = visible(self._context + text + after, len(self._context), len(self._context) + len(text))
        self._context = (self._context + text)[-_CONTEXT_CHARACTERS:]
        for cluster in _clusters(visible_text.expandtabs(_TAB_COLUMNS), limit - _MARK_COLUMNS):
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
        """Print the held characters and end the current row."""
        held_text, self._held = self._held, ""
        if held_text:
            self._print(held_text)
        self._context = ""
        if self._column:
            print(flush=True)
        self._column = 0


def _screen() -> os.terminal_size | None:
    """Return the size of the person's screen, even if the output goes through a pipe (`| tee`). None if neither the
    output nor the input is a terminal."""
    for stream in (sys.stdout, sys.stdin):
        try:
            size = os.get_terminal_size(stream.fileno())
        except (OSError, ValueError, AttributeError):
            continue
        return size if size.columns and size.lines else _USUAL_SCREEN
    return None


def _columns() -> int:
    """Return the width of the screen. Without a terminal, the width is unlimited and no line wraps."""
    screen = _screen()
    return max(_MIN_COLUMNS, screen.columns) if screen is not None else sys.maxsize


def _height(screen: os.terminal_size) -> int:
    rows_of_question = 1 + -(-_MAX_QUESTION_COLUMNS // screen.columns)
    return max(1, screen.lines - rows_of_question)


def _fitted(row: str, columns: int) -> list[str]:
    """Wrap a row for a screen that has become narrower. Each part of a foreign row gets the mark."""
    if row.startswith(MARK):
        return [MARK + part for part in _rows(row.removeprefix(MARK), columns - _MARK_COLUMNS)]
    return _rows(row, columns)


def _rows(line: str, limit: int) -> list[str]:
    """Wrap a line into rows of at most `limit` columns."""
    line = line.expandtabs(_TAB_COLUMNS)
    if line.isascii() and len(line) <= limit:
        return [line]
    rows: list[str] = []
    row: list[str] = []
    filled_columns = 0
    for cluster in _clusters(line, limit):
        width = text_columns(cluster)
        if row and filled_columns + width > limit:
            rows.append("".join(row))
            row, filled_columns = [], 0
        row.append(cluster)
        filled_columns += width
    return [*rows, "".join(row)]


def _clusters(text: str, limit: int) -> Iterator[str]:
    """Split a text into grapheme clusters, such as a letter with its marks, none wider than `limit` columns."""
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
