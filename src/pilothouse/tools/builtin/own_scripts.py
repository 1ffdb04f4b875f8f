"""Files that a command line writes and then runs itself, or takes names from: what it writes there is a part of it."""

import os
from collections.abc import Iterator, Sequence

from pilothouse.domain.runner_files import first_files, plain_name, script_files
from pilothouse.domain.system_programs import SHELLS
from pilothouse.sandbox.shell import Judgement
from pilothouse.sandbox.shell.options import names
from pilothouse.sandbox.shell.wrappers import INTERPRETERS
from pilothouse.sandbox.shell.written_words import SOURCES

_TEXT_WRITERS = ("", "tee")
"""A redirection, and the program that writes what it reads: their text stands in the line."""
_READERS = names("xargs parallel read mapfile readarray")


def uses_own_writing(judgement: Judgement) -> bool:
    written = {os.path.normpath(word) for program, word in judgement.writers if program in _TEXT_WRITERS}
    return bool(written) and any(os.path.normpath(word) in written for word in _used(judgement))


def _used(judgement: Judgement) -> Iterator[str]:
    yield from judgement.read
    for words in judgement.commands:
        yield from _run(words)
    if any(map(_reads_commands_or_names, judgement.commands)):
        yield from (word for words in judgement.commands for word in words[1:])


def _reads_commands_or_names(words: Sequence[str]) -> bool:
    """Whether a command makes commands or names of its input."""
    program = plain_name(words[0])
    return program in _READERS or (program in SHELLS and all(word[:1] == "-" for word in words[1:]))


def _run(words: Sequence[str]) -> Sequence[str]:
    program = plain_name(words[0])
    if program in SOURCES:
        return words[1:]
    if program in SHELLS | INTERPRETERS:
        return script_files(words) or words[1:]
    return (words[0], *first_files(words))
