"""A parsed command line, as rules match it: the words of its commands, and whether it may start others."""

from typing import Literal

from pilothouse.domain.value import Value

Hidden = Literal["no", "program", "line"]
Certainty = Literal["no", "maybe", "yes"]
UNKNOWN_WORD = "…"
"""Stands for a word that only the shell knows, such as a substitution, and the words behind it."""


class CommandLine(Value, kw_only=True):
    """The commands of a line."""

    commands: tuple[tuple[str, ...], ...] = ()
    """The words of every simple command, also of those that another command wraps. From an unknown word on, the words
    are replaced by one UNKNOWN_WORD."""
    hidden: Hidden = "line"
    """Which other commands may run: none ("no"), those that a program starts ("program"), or any that the text of the
    line may hide ("line")."""
    is_simple: bool = False
    """Whether the line is a single command of which all words are known."""
    leading: tuple[str, ...] = ()
    """The leading words for which a rule can be offered."""


def starts_with_words(line: CommandLine, words: tuple[str, ...]) -> bool:
    """Whether the line is certainly one simple command that begins with these words, as does each command that it
    starts or is equivalent to (`npm -s test` is `npm test`)."""
    return line.is_simple and bool(line.commands) and all(own[: len(words)] == words for own in line.commands)


def may_contain_command(line: CommandLine, words: tuple[str, ...]) -> Certainty:
    """Whether a command of the line begins with these words: "yes" where the text is in doubt, "maybe" where a program
    may start such a command."""
    if line.hidden == "line" or any(_starts_command(command, words) for command in line.commands):
        return "yes"
    return "maybe" if line.hidden == "program" else "no"


def _starts_command(command: tuple[str, ...], words: tuple[str, ...]) -> bool:
    if not command:
        return False
    own_words = (command[0].rpartition("/")[2], *command[1:])
    if len(own_words) < len(words) and UNKNOWN_WORD not in own_words:
        return False
    for own_word, word in zip(own_words, words, strict=False):
        if own_word == UNKNOWN_WORD:
            return True
        if own_word != word:
            return False
    return True
