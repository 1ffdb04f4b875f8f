"""The files that decide what a command line runs: its scripts and programs, and what known runners read first.

Their state is the basis of a call. A command whose basis is not the one that was shown does not run. Where other files
may decide too, the basis is a partial one, and the person is told so.
"""

import hashlib
import os
import shutil
import stat
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from pilothouse.domain.calls import PARTIAL_BASIS
from pilothouse.domain.lines import UNKNOWN_WORD
from pilothouse.domain.runner_files import PACKAGE, first_files, is_runner, package_words
from pilothouse.sandbox.shell import Judgement
from pilothouse.sandbox.shell.wrappers import INTERPRETERS, SHELLS

MAX_FOLDERS = 32
MAX_FOLDER_PASSES = 4
MAX_LOOKUPS = 10_000
"""How many paths are looked at for one command; files beyond that are not part of the basis."""
MAX_HASHED_BYTES = 64 * 1024 * 1024
"""Of all files of a command together. Beyond that, files are known by inode, size and times."""
MAX_PACKAGE_BYTES = 1024 * 1024
_CHUNK_BYTES = 1024 * 1024
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
        self._bytes_left = MAX_HASHED_BYTES
        self._states: dict[str, str] = {}
        self._words = [] if judgement.read_only else _pieces((*judgement.named, *judgement.read, *judgement.redirected))
        self._folders = [start]
        self._lookups_left = MAX_LOOKUPS
        self._has_all_folders = judgement.hidden != "line" and not any(map(_enters_unknown, judgement.commands))
        self._find_folders()

    def result(self, place: os.stat_result) -> CommandFiles:
        self._look_at_words(self._words)
        if not self._judgement.read_only:
            self._look_at_words(name for words in self._judgement.commands for name in first_files(words))
            self._look_at_words(word for text in list(self._packages()) for word in _pieces(package_words(text)))
        digest = hashlib.sha256(f"{place.st_dev} {place.st_ino}\n".encode())
        for folder in self._folders[1:]:
            digest.update(f"{folder} {_identity(folder)}\n".encode(errors="surrogateescape"))
        for name in sorted({words[0] for words in self._judgement.commands if words}):
            if "\0" not in name and (found := shutil.which(name, path=self._path)) is not None:
                digest.update(f"{name} {found} {_identity(found)}\n".encode(errors="surrogateescape"))
        for file, state in sorted(self._states.items()):
            digest.update(f"{file} {state}\n".encode(errors="surrogateescape"))
        partial = "" if self._is_complete() else PARTIAL_BASIS
        return CommandFiles(digest.hexdigest() + partial, tuple(self._folders), self._has_all_folders)

    def _find_folders(self) -> None:
        """Words may be meant from any folder that the line names: behind `cd`, `pushd`, `-C`, `--directory=`."""
        for _ in range(MAX_FOLDER_PASSES):
            before = len(self._folders)
            for word in self._words:
                for folder in self._folders[:before]:
                    if not self._may_look():
                        return
                    self._add_folder(os.path.normpath(os.path.join(folder, word)))
            if len(self._folders) == before:
                return
        self._has_all_folders = False

    def _add_folder(self, folder: str) -> None:
        if folder in self._folders or not os.path.isdir(folder):
            return
        if len(self._folders) < MAX_FOLDERS:
            self._folders.append(folder)
        else:
            self._has_all_folders = False

    def _look_at_words(self, words: Iterable[str]) -> None:
        for word in dict.fromkeys(words):
            for folder in self._folders:
                if not self._may_look():
                    return
                path = os.path.normpath(os.path.join(folder, word))
                if path not in self._states and (state := self._state(path)) is not None:
                    self._states[path] = state

    def _may_look(self) -> bool:
        self._lookups_left -= 1
        return self._lookups_left >= 0

    def _state(self, path: str) -> str | None:
        """The content of a regular file, by its hash; of one that is too large or unreadable, its identity."""
        try:
            status = os.stat(path)
            if not stat.S_ISREG(status.st_mode):
                return None
            if status.st_size > self._bytes_left:
                return _identity(path)
            return self._hashed(path)
        except OSError:
            return _identity(path) if os.path.isfile(path) else None

    def _hashed(self, path: str) -> str:
        digest = hashlib.sha256()
        fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC)
        with open(fd, "rb") as file:
            while chunk := file.read(_CHUNK_BYTES):
                digest.update(chunk)
                self._bytes_left -= len(chunk)
                if self._bytes_left < 0:  # the file has grown meanwhile
                    return _identity(path)
        return digest.hexdigest()

    def _packages(self) -> Iterator[str]:
        for path in [path for path in self._states if os.path.basename(path) == PACKAGE]:
            try:
                with open(path, "rb") as file:
                    yield file.read(MAX_PACKAGE_BYTES).decode(errors="replace")
            except OSError:
                continue

    def _is_complete(self) -> bool:
        """Whether the files that were looked at are all that the line itself names to be run."""
        judgement = self._judgement
        if self._runs_by_itself:
            return True  # the kernel stops what a folder would make a program do
        if not self._has_all_folders or self._lookups_left < 0:
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
        return self._has_state(first_files(words))

    def _has_state(self, words: Sequence[str]) -> bool:
        paths = (os.path.normpath(os.path.join(folder, word)) for folder in self._folders for word in words)
        return any(path in self._states for path in paths)


def _enters_unknown(words: tuple[str, ...]) -> bool:
    return bool(words) and words[0] in ("cd", "pushd", "popd") and (UNKNOWN_WORD in words or words[0] == "popd")


def _pieces(words: Sequence[str]) -> list[str]:
    """Words that may be paths: as they stand, behind `=`, behind the letter of an option, and below the home folder."""
    found: list[str] = []
    for word in words:
        found += [word, word.partition("=")[2], word[2:] if word[:1] == "-" else ""]
    return list(dict.fromkeys(os.path.expanduser(piece) for piece in found if piece and "\0" not in piece))


def _identity(path: str) -> str:
    """What tells a file from another or an earlier one without reading it: the times change with every write."""
    try:
        status = os.stat(path)
    except OSError as error:
        return str(error.errno)
    if stat.S_ISDIR(status.st_mode):
        return f"{status.st_dev} {status.st_ino}"
    return f"{status.st_dev} {status.st_ino} {status.st_size} {status.st_mtime_ns} {status.st_ctime_ns}"
