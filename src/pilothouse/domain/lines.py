"""A command line as rules see it: the words of its commands, and what else it may start."""

from typing import Literal

from pilothouse.domain.values import Value

Hidden = Literal["no", "program", "line"]
Sure = Literal["no", "maybe", "yes"]
UNKNOWN_WORD = "…"


class CommandLine(Value, kw_only=True):
    """`commands` are the words of every simple command, wrapped ones too; from an unknown word on they are cut, with
    UNKNOWN_WORD in its place. `hidden`: what else may run: nothing, whatever a program starts, whatever the text hides.
    `is_simple`: it is one command and nothing else, and all its words are known. `leading` are the words of it that a
    rule may be offered for."""

    commands: tuple[tuple[str, ...], ...] = ()
    hidden: Hidden = "line"
    is_simple: bool = False
    leading: tuple[str, ...] = ()


def is_led_by(line: CommandLine, words: tuple[str, ...]) -> bool:
    """Whether it is one simple command that begins with these words, and can be nothing else."""
    return line.is_simple and len(line.commands) == 1 and line.commands[0][: len(words)] == words


def may_hold(line: CommandLine, words: tuple[str, ...]) -> Sure:
    """Whether any of its commands begins with these words. In doubt about the text: yes; about a program: maybe."""
    if line.hidden == "line" or any(_begins(command, words) for command in line.commands):
        return "yes"
    return "maybe" if line.hidden == "program" else "no"


def _begins(command: tuple[str, ...], words: tuple[str, ...]) -> bool:
    if not command:
        return False
    named = (command[0].rpartition("/")[2], *command[1:])
    pairs = zip(named, words, strict=False)
    if len(named) < len(words) and UNKNOWN_WORD not in named:
        return False
    for have, want in pairs:
        if have == UNKNOWN_WORD:
            return True
        if have != want:
            return False
    return True
