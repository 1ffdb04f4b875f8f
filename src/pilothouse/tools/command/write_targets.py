"""The files whose content a command line plainly replaces or changes: targets of redirections, files edited in place,
destinations of copies."""

import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import pairwise

from pilothouse.domain.command_line import UNKNOWN_WORD
from pilothouse.domain.runner_files import plain_name
from pilothouse.sandbox.shell import Classification

_IN_PLACE = re.compile(r"--in-place(?:=.*)?|-[A-Za-z0-9]*i.*")
_SED_SCRIPTS = frozenset({"-f", "--file"})
_NO_CLOBBER = re.compile(r"--no-clobber|--update=none(?:-fail)?|-[a-mo-zA-Z]*n[a-zA-Z]*")
_OPTIONS_WITH_VALUE = frozenset({"-m", "--mode", "-o", "--owner", "-g", "--group", "-S", "--suffix"})
_OUTPUT_OPTIONS: Mapping[str, tuple[str, ...]] = {
    "sort": ("-o", "--output"),
    "curl": ("-o", "--output"),
    "wget": ("-O", "--output-document"),
}


def write_targets(classification: Classification) -> Iterator[str]:
    """The words of the line that name such files. A word that names none, such as a script of sed, may be among
    them."""
    for program, word in classification.writers:
        if program == "" or plain_name(program) in ("tee", "sponge"):
            yield word
    yield from _sed_targets(classification)
    for words in classification.commands:
        program = plain_name(words[0]) if words else ""
        if program in _TARGETS:
            yield from _TARGETS[program](words[1:])
        elif program in _OUTPUT_OPTIONS:
            yield from _outputs(words[1:], _OUTPUT_OPTIONS[program])


def _sed_targets(classification: Classification) -> Iterator[str]:
    """The operands of `sed -i`, also those behind a word that is not known (`sed -i "s/$a/b/" FILE`)."""
    edits = [words for words in classification.commands if words and plain_name(words[0]) == "sed"]
    if not any(_IN_PLACE.fullmatch(word) for words in edits for word in words[1:]):
        return
    scripts = {word for words in edits for option, word in pairwise(words) if option in _SED_SCRIPTS}
    for program, word in classification.writers:
        if plain_name(program) == "sed" and word not in scripts:
            yield word


def _perl_targets(words: Sequence[str]) -> Iterator[str]:
    if any(re.fullmatch(r"-[pnlaw0]*i\S*", word) for word in words):
        yield from words


def _truncate_targets(words: Sequence[str]) -> Iterator[str]:
    references = {word for option, word in pairwise(words) if option in ("-r", "--reference")}
    yield from (word for word in words if word not in references)


def _dd_targets(words: Sequence[str]) -> Iterator[str]:
    yield from (word.removeprefix("of=") for word in words if word.startswith("of="))


def _copy_targets(words: Sequence[str]) -> Iterator[str]:
    """The destination, and the files of that name where the destination is a folder."""
    if UNKNOWN_WORD in words or any(map(_NO_CLOBBER.fullmatch, words)):
        return
    folder = next((word.partition("=")[2] for word in words if word.startswith("--target-directory=")), None)
    operands: list[str] = []
    previous = ""
    for word in words:
        if previous in ("-t", "--target-directory"):
            folder = word
        elif previous not in _OPTIONS_WITH_VALUE and not word.startswith("-"):
            operands.append(word)
        previous = word
    if folder is None:
        if len(operands) < 2:
            return
        folder = operands.pop()
        yield folder
    yield from (os.path.join(folder, os.path.basename(operand.rstrip("/"))) for operand in operands)


def _outputs(words: Sequence[str], options: tuple[str, ...]) -> Iterator[str]:
    short, long = options
    for previous, word in zip(("", *words), words, strict=False):
        if previous in options:
            yield word
        elif word.startswith(f"{long}="):
            yield word.partition("=")[2]
        elif word.startswith(short) and not word.startswith("--"):
            yield word.removeprefix(short)


_TARGETS: Mapping[str, Callable[[Sequence[str]], Iterator[str]]] = {
    "perl": _perl_targets,
    "truncate": _truncate_targets,
    "dd": _dd_targets,
    "cp": _copy_targets,
    "mv": _copy_targets,
    "install": _copy_targets,
}
