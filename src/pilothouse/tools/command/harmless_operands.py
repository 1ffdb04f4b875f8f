"""Words of a command line that may name protected files because the line plainly does not write them: removed lock
files of git, sourced start-up files, and the sources of copies and archives."""

import re
from collections.abc import Callable, Mapping, Sequence

from pilothouse.domain.runner_files import plain_name
from pilothouse.sandbox.shell import Classification
from pilothouse.sandbox.shell.written_words import REMOVERS, SOURCES, is_git_lock

_COPY_OPTION = re.compile(r"-[aprRLPHdfinuvx]+|--(?:archive|recursive|verbose|parents|preserve)")
_PACK_OPTIONS = re.compile(r"-?[cvzjJapP]*c[vzjJapP]*f")
_ZIP_OPTION = re.compile(r"-[rqy0-9]+")


def removed_or_sourced(classification: Classification) -> frozenset[str]:
    """Words that the line removes or sources, and gives to no other command that does more than read."""
    programs: dict[str, set[str]] = {}
    for program, word in classification.writers:
        programs.setdefault(word, set()).add(program)
    return frozenset(
        word
        for word, users in programs.items()
        if users <= SOURCES or (users <= REMOVERS and is_git_lock(word) and classification.hidden != "line")
    )


def copied(classification: Classification) -> frozenset[str]:
    """Words that commands of the line read to copy or pack them, and that stand nowhere else in it."""
    if classification.hidden == "line":
        return frozenset()
    sources: set[str] = set()
    others = {word for program, word in classification.writers if plain_name(program) not in _COPIERS}
    for words in classification.commands:
        read = _COPIERS[plain_name(words[0])](words[1:]) if words and plain_name(words[0]) in _COPIERS else []
        sources.update(read)
        others.update(word for word in words[1:] if words.count(word) > 1 or word not in read)
    return frozenset(sources - others)


def _copied(words: Sequence[str]) -> Sequence[str]:
    """The sources of `cp` and `rsync` with known options: all operands but the last."""
    operands = [word for word in words if not _COPY_OPTION.fullmatch(word)]
    return () if any(word.startswith("-") for word in operands) else operands[:-1]


def _packed(words: Sequence[str]) -> Sequence[str]:
    """The sources of `tar czf ARCHIVE …`."""
    is_plain = bool(words) and _PACK_OPTIONS.fullmatch(words[0]) and not any(word[:1] == "-" for word in words[1:])
    return words[2:] if is_plain else ()


def _zipped(words: Sequence[str]) -> Sequence[str]:
    operands = [word for word in words if not _ZIP_OPTION.fullmatch(word)]
    return () if any(word.startswith("-") for word in operands) else operands[1:]


_COPIERS: Mapping[str, Callable[[Sequence[str]], Sequence[str]]] = {
    "cp": _copied,
    "rsync": _copied,
    "tar": _packed,
    "zip": _zipped,
}
