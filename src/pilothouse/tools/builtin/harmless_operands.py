"""Words of a command line that name protected files, and that the line plainly does not write: lock files of git that
are removed, start-up files that are sourced, and what is copied or packed."""

import re
from collections.abc import Callable, Mapping, Sequence

from pilothouse.domain.runner_files import plain_name
from pilothouse.sandbox.shell import Judgement
from pilothouse.sandbox.shell.written_words import REMOVERS, SOURCES, is_git_lock

_COPY_OPTION = re.compile(r"-[aprRLPHdfinuvx]+|--(?:archive|recursive|verbose|parents|preserve)")
_PACK_OPTIONS = re.compile(r"-?[cvzjJapP]*c[vzjJapP]*f")
_ZIP_OPTION = re.compile(r"-[rqy0-9]+")


def removed_or_sourced(judgement: Judgement) -> frozenset[str]:
    """Words that are given to no other command which does more than read."""
    programs: dict[str, set[str]] = {}
    for program, word in judgement.writers:
        programs.setdefault(word, set()).add(program)
    return frozenset(
        word
        for word, given in programs.items()
        if given <= SOURCES or (given <= REMOVERS and is_git_lock(word) and judgement.hidden != "line")
    )


def copied(judgement: Judgement) -> frozenset[str]:
    """Words that commands of the line read to copy or pack them, and that stand nowhere else in it."""
    if judgement.hidden == "line":
        return frozenset()
    sources: set[str] = set()
    others = {word for program, word in judgement.writers if plain_name(program) not in _COPIERS}
    for words in judgement.commands:
        read = _COPIERS[plain_name(words[0])](words[1:]) if words and plain_name(words[0]) in _COPIERS else []
        sources.update(read)
        others.update(word for word in words[1:] if words.count(word) > 1 or word not in read)
    return frozenset(sources - others)


def _copied(words: Sequence[str]) -> Sequence[str]:
    """Of `cp` and `rsync`: all operands but the last, beside options that are known."""
    operands = [word for word in words if not _COPY_OPTION.fullmatch(word)]
    return () if any(word.startswith("-") for word in operands) else operands[:-1]


def _packed(words: Sequence[str]) -> Sequence[str]:
    """Of `tar czf ARCHIVE …`."""
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
