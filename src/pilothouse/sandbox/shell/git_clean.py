"""`git clean -x` and `-X`: deleting what a repository ignores, such as a data directory that lies in it."""

import re
from collections.abc import Sequence
from typing import NamedTuple

from pilothouse.domain.runner_files import plain_name

_GLOBAL_VALUED = frozenset({"-C", "-c", "--git-dir", "--work-tree", "--namespace", "--config-env", "--attr-source"})
_SHORT_OPTIONS = re.compile(r"-(?P<flags>[A-Zabcdf-z]*)(?:e(?P<pattern>.*))?", re.DOTALL)
_MIN_ABBREVIATION = len("--e")


class GitClean(NamedTuple):
    """What one `git clean` deletes of the ignored files."""

    paths: tuple[str, ...]
    """Where, none for the whole folder that the command works in."""
    excluded: tuple[str, ...]
    """The patterns of `-e`: files that stay."""

    def spares(self, name: str) -> bool:
        """Whether a folder of that name stays, wherever it lies."""
        is_plain = not any(pattern.startswith("!") for pattern in self.excluded)
        return is_plain and any(pattern.rstrip("/") == name for pattern in self.excluded)


def git_clean(words: Sequence[str]) -> GitClean | None:
    """What a simple command deletes, where it plainly is a `git clean` that deletes ignored files."""
    left = _arguments(words)
    if left is None:
        return None
    flags, paths, excluded = "", [], []
    while left:
        word = left.pop(0)
        name, equals, value = word.partition("=")
        if word == "--":
            paths += left
            break
        if len(name) >= _MIN_ABBREVIATION and "--exclude".startswith(name):
            excluded.append(value if equals else left.pop(0) if left else "")
        elif len(name) >= _MIN_ABBREVIATION and "--dry-run".startswith(name):
            flags += "n"
        elif word.startswith("--"):
            continue
        elif len(word) > 1 and (options := _SHORT_OPTIONS.fullmatch(word)) is not None:
            flags += options["flags"]
            if options["pattern"] is not None:
                excluded.append(options["pattern"] or (left.pop(0) if left else ""))
        else:
            paths.append(word)
    deletes = ("x" in flags or "X" in flags) and "n" not in flags
    return GitClean(tuple(paths), tuple(excluded)) if deletes else None


def _arguments(words: Sequence[str]) -> list[str] | None:
    """The words behind `git … clean`; None for another command."""
    if not words or plain_name(words[0]) != "git":
        return None
    left = list(words[1:])
    while left and left[0].startswith("-"):
        if left.pop(0) in _GLOBAL_VALUED and left:
            left.pop(0)
    return left[1:] if left and left[0] == "clean" else None
