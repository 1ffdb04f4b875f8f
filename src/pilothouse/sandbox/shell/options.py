"""Parsing of a command's options: only options that are listed as harmless are accepted."""

from collections.abc import Sequence
from typing import NamedTuple

from pilothouse.sandbox.shell.words import Word


class Options(NamedTuple):
    """The harmless options of a command."""

    flags: str = ""
    """Letters without a value."""
    valued: str = ""
    """Letters with a value in the same word or the next."""
    long: frozenset[str] = frozenset()
    """Long options without a value."""
    long_valued: frozenset[str] = frozenset()
    """Long options with a value."""
    numbers: bool = False
    """Whether options such as -20 are harmless."""
    alone: str = ""
    """Letters with a value in the next word that are accepted only outside of clusters."""


def names(text: str) -> frozenset[str]:
    return frozenset(text.split())


class ParsedOptions(NamedTuple):
    """The arguments of a command, split into options and operands."""

    operands: list[Word]
    """All words that are neither options nor their values."""
    values: list[tuple[str, Word]]
    """The values of options, with the option's letter or name."""
    flags: set[str]


def parse_options(args: Sequence[Word], options: Options) -> ParsedOptions | None:
    """Split the arguments of a command; None where a word may be an unlisted option."""
    parts = ParsedOptions([], [], set())
    remaining = list(args)
    while remaining:
        word = remaining.pop(0)
        if word.exact and word.text == "--":
            parts.operands.extend(remaining)
            break
        if word.operand or (word.exact and word.text == "-"):
            parts.operands.append(word)
        elif not word.exact or not _parse_option(word.text, remaining, options, parts):
            return None
    return parts


def _parse_option(text: str, remaining: list[Word], options: Options, parts: ParsedOptions) -> bool:
    if text.startswith("--"):
        name, equals, value = text[2:].partition("=")
        if name in options.long and not equals:
            parts.flags.add(name)
            return True
        if name not in options.long_valued:
            return False
        if equals:
            parts.values.append((name, Word(value, operand=True)))
            return True
        return _take_value(name, remaining, parts)
    if options.numbers and text[1:].isdigit():
        return True
    return _parse_letters(text[1:], remaining, options, parts)


def _parse_letters(letters: str, remaining: list[Word], options: Options, parts: ParsedOptions) -> bool:
    if len(letters) == 1 and letters in options.alone:
        return _take_value(letters, remaining, parts)
    for index, letter in enumerate(letters):
        if letter in options.valued:
            rest = letters[index + 1 :]
            if rest:
                parts.values.append((letter, Word(rest, operand=True)))
                return True
            return _take_value(letter, remaining, parts)
        if letter not in options.flags:
            return False
        parts.flags.add(letter)
    return bool(letters)


def _take_value(name: str, remaining: list[Word], parts: ParsedOptions) -> bool:
    if not remaining or not remaining[0].single:
        return False
    parts.values.append((name, remaining.pop(0)))
    return True
