"""Files and folders that make programs of the person run code, from one list (`code_files.toml`)."""

import os
import re
import tomllib
import unicodedata
from collections.abc import Callable, Sequence
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path

import msgspec

from pilothouse.domain.hidden_characters import is_ignorable
from pilothouse.sandbox.name_patterns import name_matcher

_FILE = Path(__file__).with_name("code_files.toml")
_ANY = "*"
_REPOSITORY_SETTINGS = frozenset({"config", "config.worktree", "commondir"})
_SIGNS = re.compile(r"[*?\[]")


class Program(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A program and what it takes code from."""

    name: str
    paths: tuple[str, ...]
    source: str
    """The page of its documentation that says so."""


class _Names:
    """The list, arranged by the last name of each path: most paths need one look."""

    def __init__(self, programs: Sequence[Program]) -> None:
        self._files: dict[str, list[tuple[str, ...]]] = {}
        self._folders: dict[str, list[tuple[str, ...]]] = {}
        self._patterns: list[tuple[str, ...]] = []
        for path in (path.casefold() for program in programs for path in program.paths):
            parts = tuple(path.strip("/").split("/"))
            if _ANY in path:
                self._patterns.append(parts)
            else:
                self._kind(path).setdefault(parts[-1], []).append(parts)

    def _kind(self, path: str) -> dict[str, list[tuple[str, ...]]]:
        return self._folders if path.endswith("/") else self._files

    def hold(self, parts: Sequence[str]) -> bool:
        if any(_ends(parts, known) for known in self._files.get(parts[-1], ())):
            return True
        if any(_ends(parts[:-1], known[:-1]) and fnmatchcase(parts[-1], known[-1]) for known in self._patterns):
            return True
        return any(
            _ends(parts[:end], known)
            for end, part in enumerate(parts, start=1)
            for known in self._folders.get(part, ())
        )


def _ends(parts: Sequence[str], known: Sequence[str]) -> bool:
    return not known or tuple(parts[-len(known) :]) == tuple(known)


@cache
def programs() -> tuple[Program, ...]:
    """The list. It is part of the package: one that cannot be read is a bug."""
    return msgspec.convert(tomllib.loads(_FILE.read_text(encoding="utf-8"))["program"], tuple[Program, ...])


@cache
def _names() -> _Names:
    return _Names(programs())


def folded_parts(path: str) -> list[str]:
    """The names in a path, the same for all spellings that a file system may take for one name: it may ignore case,
    compatibility forms and characters that are not seen."""
    if path.isascii():
        return [part for part in path.casefold().split("/") if part]
    return [_folded(part) for part in path.split("/") if part]


def _folded(name: str) -> str:
    seen = "".join(letter for letter in name if unicodedata.category(letter) != "Cf" and not is_ignorable(letter))
    return unicodedata.normalize("NFKC", seen).casefold()


def runs_code(parts: Sequence[str]) -> bool:
    """Whether some program of the person runs what stands in a file, or in the files of a folder. `parts` are those of
    its path, in lower case; whether it exists does not matter."""
    return bool(parts) and _names().hold(parts)


def may_match_code_file(pattern: str) -> bool:
    """Whether a pattern of the shell that begins a hidden name (`.npmr?`, `.vsc*/x`) may name a listed file. Others
    (`*.json`) would match many a name: for them, only files that exist matter."""
    parts = folded_parts(pattern)
    hidden = [part for part in parts if part[0] == "." and part[1:2] not in ("", "*", ".") and _SIGNS.search(part)]
    if not hidden:
        return False
    matchers = [name_matcher(part) for part in parts]
    return any(_matches(matchers, known) for known in _listed())


@cache
def _listed() -> tuple[str, ...]:
    return tuple(path.casefold().replace(_ANY, "x") for program in programs() for path in program.paths)


def _matches(matchers: Sequence[Callable[[str], bool]], known: str) -> bool:
    names = known.strip("/").split("/")
    ends = range(len(names), len(matchers) + 1) if known.endswith("/") else (len(matchers),)
    return len(matchers) >= len(names) and any(
        all(is_match(name) for is_match, name in zip(matchers[end - len(names) : end], names, strict=True))
        for end in ends
    )


def runs_in_bare_repository(path: str) -> bool:
    """Whether a file is the configuration or a hook of a bare repository, or makes its folder one: git takes a folder
    with HEAD, objects and refs for a repository wherever it lies."""
    folder, name = os.path.split(path)
    if name == "HEAD":
        return any(os.path.lexists(os.path.join(folder, each)) for each in ("config", "hooks", "objects", "refs"))
    hooks, is_hook, _ = f"{folder}/".rpartition("/hooks/")
    if name == "hooks" or name.casefold() in _REPOSITORY_SETTINGS:
        return _is_repository(folder)
    return bool(is_hook) and _is_repository(hooks)


def _is_repository(folder: str) -> bool:
    has_head, *has_folders = (os.path.lexists(os.path.join(folder, name)) for name in ("HEAD", "objects", "refs"))
    return has_head or all(has_folders)
