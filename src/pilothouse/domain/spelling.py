"""Suggest a known key for one that is probably a misspelling."""

from collections.abc import Collection, Iterable
from difflib import SequenceMatcher

MAX_TYPING_ERRORS = 2
MIN_LETTERS_FOR_TWO_ERRORS = 6
_MAX_KEY_LETTERS = 100


def suggest_key(key: str, known_keys: Iterable[str], restrictions: Collection[str] = ()) -> str | None:
    """The known key that a person probably meant, if there is one.

    Inserting, dropping, replacing or swapping a letter is one typing error; case, '-' and '_' do not count. A
    misspelling has up to two errors, or one in a key of fewer than six letters: otherwise `hooks` would match `roots`.
    A key in `restrictions` may always have two: missing it would lift a restriction.
    """
    if len(key) > _MAX_KEY_LETTERS:
        return None
    for candidate in known_keys:
        is_long = len(candidate) >= MIN_LETTERS_FOR_TWO_ERRORS or candidate in restrictions
        if _typing_errors(_plain(key), _plain(candidate)) <= (MAX_TYPING_ERRORS if is_long else 1):
            return candidate
    return None


def sort_by_similarity(name: str, names: Iterable[str]) -> list[str]:
    """The names, the most similar to `name` first."""
    return sorted(names, key=lambda candidate: (-SequenceMatcher(None, name, candidate).ratio(), candidate))


def _plain(key: str) -> str:
    return key.casefold().replace("-", "").replace("_", "")


def _typing_errors(word: str, other: str) -> int:
    """The Damerau-Levenshtein distance of two words: swapped letters may have others between them."""
    if abs(len(word) - len(other)) > MAX_TYPING_ERRORS:
        return MAX_TYPING_ERRORS + 1
    max_distance = len(word) + len(other)
    rows: list[list[int]] = [[max_distance] * (len(other) + 2), [max_distance, *range(len(other) + 1)]]
    last_row: dict[str, int] = {}
    for at, letter in enumerate(word, start=1):
        row, last_column = [max_distance, at], 0
        for column, other_letter in enumerate(other, start=1):
            match_row, match = last_row.get(other_letter, 0), last_column
            if letter == other_letter:
                last_column = column
            row.append(
                min(
                    rows[at][column] + (letter != other_letter),
                    row[column] + 1,
                    rows[at][column + 1] + 1,
                    rows[match_row][match] + (at - match_row - 1) + 1 + (column - match - 1),
                )
            )
        rows.append(row)
        last_row[letter] = at
    return rows[-1][-1]
