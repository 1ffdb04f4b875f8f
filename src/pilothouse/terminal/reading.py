"""What a person types: numbers and paths, read so that anything at all may be typed."""

import shlex
from pathlib import Path

from pilothouse.domain.codes import Code
from pilothouse.domain.errors import InvalidInput

_DIGITS_AT_MOST = 9


def number_in(text: str, limit: int) -> int | None:
    """A number from 1 to `limit`, or None for anything else."""
    text = text.strip()
    if not text.isascii() or not text.isdecimal() or len(text) > _DIGITS_AT_MOST:
        return None
    return int(text) if 1 <= int(text) <= limit else None


def number(text: str, limit: int) -> int:
    """Raises: InvalidInput for anything but a number from 1 to `limit`."""
    found = number_in(text, limit)
    if found is None:
        raise InvalidInput(Code.INVALID_NUMBER, limit=limit)
    return found


def path_of(text: str) -> Path:
    """Raises: InvalidInput for what can be no path."""
    try:
        if "\0" in text:
            raise ValueError(text)
        return Path(text).expanduser()
    except (ValueError, RuntimeError) as error:
        raise InvalidInput(Code.INVALID_PATH, path=text) from error


def words_of(text: str) -> tuple[str, ...]:
    """The words of a command, as a shell reads them. Raises: InvalidInput."""
    try:
        words = tuple(shlex.split(text))
    except ValueError:
        words = ()
    if not words:
        raise InvalidInput(Code.COMMAND_USAGE, usage="/allow $ WORDS OF A COMMAND")
    return words
