"""Options of commands, as their programs read them: what is not known to be harmless is not."""

from collections.abc import Sequence
from typing import NamedTuple

from pilothouse.sandbox.shell.words import Word


class Options(NamedTuple):
    """The options that are harmless: `flags` are single letters, `valued` those that take a value (in the same word
    or the next), `long` the long ones, `long_valued` those with a value. `numbers` are options such as -20; `alone` are
    letters with a value in the next word that are known only where they stand alone."""

    flags: str = ""
    valued: str = ""
    long: frozenset[str] = frozenset()
    long_valued: frozenset[str] = frozenset()
    numbers: bool = False
    alone: str = ""


def names(text: str) -> frozenset[str]:
    return frozenset(text.split())


class Split(NamedTuple):
    """`values` are those of the options, by their letter or name; `operands` all other words."""

    operands: list[Word]
    values: list[tuple[str, Word]]
    flags: set[str]


def split(args: Sequence[Word], known: Options) -> Split | None:
    """The words of a command as options and operands; None where one may be an option that is not known."""
    found = Split([], [], set())
    left = list(args)
    while left:
        word = left.pop(0)
        if word.exact and word.text == "--":
            found.operands.extend(left)
            break
        if word.operand or (word.exact and word.text == "-"):
            found.operands.append(word)
        elif not word.exact or not _option(word.text, left, known, found):
            return None
    return found


def _option(text: str, left: list[Word], known: Options, found: Split) -> bool:
    if text.startswith("--"):
        name, equals, value = text[2:].partition("=")
        if name in known.long and not equals:
            found.flags.add(name)
            return True
        if name not in known.long_valued:
            return False
        if equals:
            found.values.append((name, Word(value, operand=True)))
            return True
        return _take(name, left, found)
    if known.numbers and text[1:].isdigit():
        return True
    return _letters(text[1:], left, known, found)


def _letters(letters: str, left: list[Word], known: Options, found: Split) -> bool:
    if len(letters) == 1 and letters in known.alone:
        return _take(letters, left, found)
    for index, letter in enumerate(letters):
        if letter in known.valued:
            rest = letters[index + 1 :]
            if rest:
                found.values.append((letter, Word(rest, operand=True)))
                return True
            return _take(letter, left, found)
        if letter not in known.flags:
            return False
        found.flags.add(letter)
    return bool(letters)


def _take(name: str, left: list[Word], found: Split) -> bool:
    if not left or not left[0].single:
        return False
    found.values.append((name, left.pop(0)))
    return True
