"""The files that decide what a command line runs: its scripts and programs, and what known runners read first.

Their state is the basis of a call. A command whose basis is not the one that was shown does not run. Where other files
may decide too, the basis is a partial one, and the person is told so.
"""

import hashlib
import os
import shutil
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from pilothouse.domain.calls import PARTIAL_BASIS
from pilothouse.domain.lines import UNKNOWN_WORD
from pilothouse.domain.runner_files import first_files, is_runner, package_words
from pilothouse.file_inspection import FileInspection, identity
from pilothouse.sandbox.shell import Judgement
from pilothouse.sandbox.shell.wrappers import INTERPRETERS, SHELLS

MAX_FOLDER_PASSES = 4
_INLINE_CODE = frozenset({"-c", "-e", "-E", "-r", "-p", "--eval", "--print"})


class CommandFiles(NamedTuple):
    """What a command line runs, as far as files decide it."""

    basis: str
    """Names the present state of the files."""
    folders: tuple[str, ...]
    """Where the line's words may be meant: its working directory, and the folders that it names."""
    has_all_folders: bool
    """Whether the line cannot enter another folder than these."""

    def may_exist(self, names: Sequence[str]) -> bool:
        """Whether any of these names exists in a folder of the line, or may do so in one that is not known."""
        paths = (os.path.join(folder, name) for folder in self.folders for name in names)
        return not self.has_all_folders or any(map(os.path.lexists, paths))


def inspect_files(
    judgement: Judgement, start: str, place: os.stat_result, path: str | None, *, runs_by_itself: bool
) -> CommandFiles:
    """The state of a line's files; `start` is its working directory, `place` the identity of that folder."""
    return _Inspection(judgement, start, path, runs_by_itself).result(place)


class _Inspection:
    def __init__(self, judgement: Judgement, start: str, path: str | None, runs_by_itself: bool) -> None:
        self._judgement = judgement
        self._path = path
        self._runs_by_itself = runs_by_itself
        self._words = [] if judgement.read_only else _pieces((*judgement.named, *judgement.read, *judgement.redirected))
        self._files = FileInspection(start)
        # Words may be meant from any folder that the line names: behind `cd`, `pushd`, `-C`, `--directory=`.
        has_more = all(self._files.find_folders(self._words) for _ in range(MAX_FOLDER_PASSES))
        is_known = judgement.hidden != "line" and not any(map(_enters_unknown, judgement.commands))
        self._has_all_folders = is_known and not has_more

    def result(self, place: os.stat_result) -> CommandFiles:
        files = self._files
        self._look_at_words(self._words)
        if not self._judgement.read_only:
            self._look_at_words(name for words in self._judgement.commands for name in first_files(words))
            self._look_at_words(word for text in files.packages() for word in _pieces(package_words(text)))
        digest = hashlib.sha256(f"{place.st_dev} {place.st_ino}\n".encode())
        for folder in files.folders[1:]:
            digest.update(f"{folder} {identity(folder)}\n".encode(errors="surrogateescape"))
        for name in sorted({words[0] for words in self._judgement.commands if words}):
            if "\0" not in name and (found := shutil.which(name, path=self._path)) is not None:
                digest.update(f"{name} {found} {identity(found)}\n".encode(errors="surrogateescape"))
        for file, state in sorted(files.states.items()):
            digest.update(f"{file} {state}\n".encode(errors="surrogateescape"))
        partial = "" if self._is_complete() else PARTIAL_BASIS
        has_all_folders = self._has_all_folders and files.is_complete
        return CommandFiles(digest.hexdigest() + partial, tuple(files.folders), has_all_folders)

    def _look_at_words(self, words: Iterable[str]) -> None:
        for path in self._files.paths(words):
            self._files.add(path)

    def _is_complete(self) -> bool:
        """Whether the files that were looked at are all that the line itself names to be run."""
        judgement = self._judgement
        if self._runs_by_itself:
            return True  # the kernel stops what a folder would make a program do
        if not self._has_all_folders or not self._files.is_complete:
            return False
        return all(self._is_covered(words) for words in judgement.programs)

    def _is_covered(self, words: tuple[str, ...]) -> bool:
        name = os.path.basename(words[0])
        if UNKNOWN_WORD in words:
            return False
        if "/" in words[0] and self._has_state(words[:1]) and not is_runner(name):
            return True
        runs_code = name in INTERPRETERS or name in SHELLS
        if runs_code and (not _INLINE_CODE.isdisjoint(words) or self._has_state(words[1:])):
            return True
        return self._has_state(tuple(first_files(words)))

    def _has_state(self, words: Sequence[str]) -> bool:
        paths = (os.path.normpath(os.path.join(folder, word)) for folder in self._files.folders for word in words)
        return any(path in self._files.states for path in paths)


def _enters_unknown(words: tuple[str, ...]) -> bool:
    return bool(words) and words[0] in ("cd", "pushd", "popd") and (UNKNOWN_WORD in words or words[0] == "popd")


def _pieces(words: Sequence[str]) -> list[str]:
    """Words that may be paths: as they stand, behind `=`, behind the letter of an option, and below the home folder."""
    found: list[str] = []
    for word in words:
        found += [word, word.partition("=")[2], word[2:] if word[:1] == "-" else ""]
    return list(dict.fromkeys(os.path.expanduser(piece) for piece in found if piece and "\0" not in piece))
