"""Files that a command line writes and then runs, or reads commands or names from: their text is a part of the line."""

import os
from collections.abc import Iterator, Sequence

from pilothouse.domain.runner_files import first_files, plain_name, script_files
from pilothouse.domain.system_programs import SHELLS
from pilothouse.sandbox.shell import Classification
from pilothouse.sandbox.shell.options import names
from pilothouse.sandbox.shell.wrappers import INTERPRETERS
from pilothouse.sandbox.shell.written_words import SOURCES

_TEXT_WRITERS = ("", "tee")
"""A redirection, and the program that writes what it reads: their text stands in the line."""
_READERS = names("xargs parallel read mapfile readarray")


def uses_own_writing(classification: Classification) -> bool:
    """Whether a line runs or reads a file whose text the line itself writes."""
    written = {os.path.normpath(word) for program, word in classification.writers if program in _TEXT_WRITERS}
    return bool(written) and any(os.path.normpath(word) in written for word in _used(classification))


def _used(classification: Classification) -> Iterator[str]:
    yield from classification.read
    for words in classification.commands:
        yield from _run(words)
    if any(map(_reads_commands_or_names, classification.commands)):
        yield from (word for words in classification.commands for word in words[1:])


def _reads_commands_or_names(words: Sequence[str]) -> bool:
    """Whether a command takes its input for commands or names."""
    program = plain_name(words[0])
    return program in _READERS or (program in SHELLS and all(word[:1] == "-" for word in words[1:]))


def _run(words: Sequence[str]) -> Sequence[str]:
    program = plain_name(words[0])
    if program in SOURCES:
        return words[1:]
    if program in SHELLS | INTERPRETERS:
        return script_files(words) or words[1:]
    return (words[0], *first_files(words))
