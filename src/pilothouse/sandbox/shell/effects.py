"""The effects of simple commands: plain values."""

from collections.abc import Sequence
from enum import IntEnum
from typing import NamedTuple

from pilothouse.domain.command_line import UNKNOWN_WORD
from pilothouse.sandbox.shell.words import Word


class Level(IntEnum):
    """The levels of effects, in order: a line has the highest level of its commands."""

    STRICT = 0  # only reads, whatever the folder contains
    CONFINED = 1  # only reads, but resolves names of hosts, opens devices or writes temporary files if it can
    READS = 2  # only reads by itself; the folder's content (git's configuration) may make it do more
    WRITES = 3  # changes something, and starts only the named commands
    PROGRAM = 4  # may start anything
    LINE = 5  # the text hides the commands that are started


class SimpleCommand(NamedTuple):
    """A simple command: its name with its arguments."""

    name: Word
    args: tuple[Word, ...] = ()

    @property
    def literals(self) -> tuple[str, ...]:
        """The words up to the first unknown word, which is replaced by a placeholder."""
        words: list[str] = []
        for word in (self.name, *self.args):
            words.append(word.text if word.exact else UNKNOWN_WORD)
            if not word.exact:
                break
        return tuple(words)

    @property
    def is_literal(self) -> bool:
        return all(word.exact for word in (self.name, *self.args))


class CommandEffect(NamedTuple):
    """The effect of one simple command."""

    level: Level
    inner: Sequence[SimpleCommand] = ()
    """The commands that the command starts."""
    lines: Sequence[str] = ()
    """The command lines that the command runs."""
    dangers: frozenset[str] = frozenset()
    replaced: Sequence[str | None] = ()
    """The files that the command replaces if they exist; None for an unknown name."""
    texts: Sequence[str] = ()
    """Texts that the command may run as command lines. They count for the danger marks only."""


STRICT = CommandEffect(Level.STRICT)
CONFINED = CommandEffect(Level.CONFINED)
READS = CommandEffect(Level.READS)
PROGRAM = CommandEffect(Level.PROGRAM)
LINE = CommandEffect(Level.LINE)


def writes(*dangers: str) -> CommandEffect:
    return CommandEffect(Level.WRITES, dangers=frozenset(dangers))
