"""`git clean -x` and `-X`, which delete a repository's ignored files, such as a data directory inside it."""

import re
from collections.abc import Sequence
from typing import NamedTuple

from pilothouse.domain.runner_files import plain_name
from pilothouse.sandbox.shell.global_options import parse_git

_SHORT_OPTIONS = re.compile(r"-(?P<flags>[A-Zabcdf-z]*)(?:e(?P<pattern>.*))?", re.DOTALL)
_MIN_ABBREVIATION = len("--e")


class GitClean(NamedTuple):
    """The ignored files that one `git clean` deletes."""

    paths: tuple[str, ...]
    """The paths to clean; empty for the command's whole working folder."""
    excluded: tuple[str, ...]
    """The patterns of `-e`: files that stay."""

    def spares(self, name: str) -> bool:
        """Whether a folder of that name stays, wherever it lies."""
        is_plain = not any(pattern.startswith("!") for pattern in self.excluded)
        return is_plain and any(pattern.rstrip("/") == name for pattern in self.excluded)


def git_clean(words: Sequence[str]) -> GitClean | None:
    """The deletions of a simple command; None unless the command is a `git clean` that deletes ignored files."""
    remaining = _arguments(words)
    if remaining is None:
        return None
    flags, paths, excluded = "", [], []
    while remaining:
        word = remaining.pop(0)
        name, equals, value = word.partition("=")
        if word == "--":
            paths += remaining
            break
        if len(name) >= _MIN_ABBREVIATION and "--exclude".startswith(name):
            excluded.append(value if equals else remaining.pop(0) if remaining else "")
        elif len(name) >= _MIN_ABBREVIATION and "--dry-run".startswith(name):
            flags += "n"
        elif word.startswith("--"):
            continue
        elif len(word) > 1 and (options := _SHORT_OPTIONS.fullmatch(word)) is not None:
            flags += options["flags"]
            if options["pattern"] is not None:
                excluded.append(options["pattern"] or (remaining.pop(0) if remaining else ""))
        else:
            paths.append(word)
    deletes = ("x" in flags or "X" in flags) and "n" not in flags
    return GitClean(tuple(paths), tuple(excluded)) if deletes else None


def _arguments(words: Sequence[str]) -> list[str] | None:
    """The words behind `git … clean`; None for another command."""
    if not words or plain_name(words[0]) != "git":
        return None
    subcommand = [word.text for word in parse_git(words).rest]
    return subcommand[1:] if subcommand[:1] == ["clean"] else None
