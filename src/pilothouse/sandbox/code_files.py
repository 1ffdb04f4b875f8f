"""Files and folders whose content programs of the person run as code, listed in `code_files.toml`."""

import os
import re
import tomllib
import unicodedata
from collections.abc import Callable, Sequence
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path

import msgspec

from pilothouse.domain.deception.hidden_characters import is_ignorable
from pilothouse.sandbox.name_patterns import name_matcher

_FILE = Path(__file__).with_name("code_files.toml")
_ANY = "*"
_REPOSITORY_SETTINGS = frozenset({"config", "config.worktree", "commondir"})
_WILDCARDS = re.compile(r"[*?\[]")


class Program(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A program and the files from which it runs code."""

    name: str
    paths: tuple[str, ...]
    source: str
    """The page of the program's documentation for these paths."""


class _PathIndex:
    """The listed paths by their last name: most lookups need one access."""

    def __init__(self, programs: Sequence[Program]) -> None:
        self._files: dict[str, list[tuple[str, ...]]] = {}
        self._folders: dict[str, list[tuple[str, ...]]] = {}
        self._patterns: list[tuple[str, ...]] = []
        for path in (path.casefold() for program in programs for path in program.paths):
            parts = tuple(path.strip("/").split("/"))
            if _ANY in path:
                self._patterns.append(parts)
            else:
                paths_by_name = self._folders if path.endswith("/") else self._files
                paths_by_name.setdefault(parts[-1], []).append(parts)

    def contains(self, parts: Sequence[str]) -> bool:
        """Whether a path, or a folder above it, is listed."""
        if any(_ends_with(parts, listed) for listed in self._files.get(parts[-1], ())):
            return True
        folder, name = parts[:-1], parts[-1]
        if any(_ends_with(folder, listed[:-1]) and fnmatchcase(name, listed[-1]) for listed in self._patterns):
            return True
        return any(
            _ends_with(parts[:end], listed)
            for end, part in enumerate(parts, start=1)
            for listed in self._folders.get(part, ())
        )


def _ends_with(parts: Sequence[str], suffix: Sequence[str]) -> bool:
    return not suffix or tuple(parts[-len(suffix) :]) == tuple(suffix)


@cache
def programs() -> tuple[Program, ...]:
    """The list. The file is part of the package: failing to read it is a bug."""
    return msgspec.convert(tomllib.loads(_FILE.read_text(encoding="utf-8"))["program"], tuple[Program, ...])


@cache
def _path_index() -> _PathIndex:
    return _PathIndex(programs())


def folded_parts(path: str) -> list[str]:
    """The names in a path, equal for all spellings that a file system may treat as one name: file systems may ignore
    case, compatibility forms and invisible characters."""
    if path.isascii():
        return [part for part in path.casefold().split("/") if part]
    return [_folded(part) for part in path.split("/") if part]


def _folded(name: str) -> str:
    visible = "".join(letter for letter in name if unicodedata.category(letter) != "Cf" and not is_ignorable(letter))
    return unicodedata.normalize("NFKC", visible).casefold()


def runs_code(parts: Sequence[str]) -> bool:
    """Whether a program of the person runs code from a file, or from the files of a folder. `parts` are the folded
    names in the path; whether the file exists does not matter."""
    return bool(parts) and _path_index().contains(parts)


def may_match_code_file(pattern: str) -> bool:
    """Whether a pattern of the shell for a hidden name (`.npmr?`, `.vsc*/x`) may match a listed file. Other patterns
    (`*.json`) would match too many names: for them, only files that exist matter."""
    parts = folded_parts(pattern)
    hidden = [part for part in parts if part[0] == "." and part[1:2] not in ("", "*", ".") and _WILDCARDS.search(part)]
    if not hidden:
        return False
    matchers = [name_matcher(part) for part in parts]
    return any(_matches(matchers, path) for path in _example_paths())


@cache
def _example_paths() -> tuple[str, ...]:
    """The listed paths, with a plain name in the place of each wildcard."""
    return tuple(path.casefold().replace(_ANY, "x") for program in programs() for path in program.paths)


def _matches(matchers: Sequence[Callable[[str], bool]], path: str) -> bool:
    names = path.strip("/").split("/")
    ends = range(len(names), len(matchers) + 1) if path.endswith("/") else (len(matchers),)
    return len(matchers) >= len(names) and any(
        all(is_match(name) for is_match, name in zip(matchers[end - len(names) : end], names, strict=True))
        for end in ends
    )


def runs_in_bare_repository(path: str) -> bool:
    """Whether a file is the configuration or a hook of a bare repository, or turns its folder into one: git treats any
    folder with HEAD, objects and refs as a repository."""
    folder, name = os.path.split(path)
    if name == "HEAD":
        return any(os.path.lexists(os.path.join(folder, part)) for part in ("config", "hooks", "objects", "refs"))
    hooks, is_hook, _ = f"{folder}/".rpartition("/hooks/")
    if name == "hooks" or name.casefold() in _REPOSITORY_SETTINGS:
        return _is_repository(folder)
    return bool(is_hook) and _is_repository(hooks)


def _is_repository(folder: str) -> bool:
    has_head, *has_folders = (os.path.lexists(os.path.join(folder, name)) for name in ("HEAD", "objects", "refs"))
    return has_head or all(has_folders)
