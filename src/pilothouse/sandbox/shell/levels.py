"""How far a command goes, and what a judge says of one: plain values."""

from collections.abc import Sequence
from enum import IntEnum
from typing import NamedTuple

from pilothouse.domain.lines import UNKNOWN_WORD
from pilothouse.sandbox.shell.words import Word


class Level(IntEnum):
    """Ordered: a line goes as far as the furthest of its commands."""

    STRICT = 0  # only reads, whatever lies in the folder
    READS = 1  # only reads by itself; what lies in the folder (git's configuration) may make it do more
    WRITES = 2  # changes something, and starts nothing but what is named
    PROGRAM = 3  # may start anything
    LINE = 4  # the text hides what is started


class Simple(NamedTuple):
    """A simple command: its name with its arguments."""

    name: Word
    args: tuple[Word, ...] = ()

    @property
    def literals(self) -> tuple[str, ...]:
        """The words up to the first that is not known, and a sign where it stands."""
        words: list[str] = []
        for word in (self.name, *self.args):
            words.append(word.text if word.exact else UNKNOWN_WORD)
            if not word.exact:
                break
        return tuple(words)

    @property
    def is_literal(self) -> bool:
        return all(word.exact for word in (self.name, *self.args))


class Finding(NamedTuple):
    """What is known of one command: how far it goes, what it starts in turn, command lines that it reads."""

    level: Level
    inner: Sequence[Simple] = ()
    lines: Sequence[str] = ()
    dangers: frozenset[str] = frozenset()


STRICT = Finding(Level.STRICT)
READS = Finding(Level.READS)
PROGRAM = Finding(Level.PROGRAM)
LINE = Finding(Level.LINE)


def writes(*dangers: str) -> Finding:
    return Finding(Level.WRITES, dangers=frozenset(dangers))
