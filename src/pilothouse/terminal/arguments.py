"""Parsers for typed arguments: numbers, paths and command words. Invalid input never crashes them."""

import shlex
from pathlib import Path

from pilothouse.domain.codes import Code
from pilothouse.domain.errors import InvalidInput

_MAX_DIGITS = 9


def number_in(text: str, limit: int) -> int | None:
    """Parse a number from 1 to `limit`; None for any other text."""
    text = text.strip()
    if not text.isascii() or not text.isdecimal() or len(text) > _MAX_DIGITS:
        return None
    return int(text) if 1 <= int(text) <= limit else None


def number(text: str, limit: int) -> int:
    """Parse a number from 1 to `limit`. Raises: InvalidInput for any other text."""
    value = number_in(text, limit)
    if value is None:
        raise InvalidInput(Code.INVALID_NUMBER, limit=limit)
    return value


def path_of(text: str) -> Path:
    """Parse a path. Raises: InvalidInput for text that cannot be a path."""
    try:
        if "\0" in text:
            raise ValueError(text)
        return Path(text).expanduser()
    except (ValueError, RuntimeError) as error:
        raise InvalidInput(Code.INVALID_PATH, path=text) from error


def words_of(text: str) -> tuple[str, ...]:
    """Split a command into words as a shell does. Raises: InvalidInput."""
    try:
        words = tuple(shlex.split(text))
    except ValueError:
        words = ()
    if not words:
        raise InvalidInput(Code.COMMAND_USAGE, usage="/allow $ COMMAND WORDS")
    return words
