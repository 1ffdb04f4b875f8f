"""The files that decide what a command line runs: its scripts and programs, and what known runners read first.

Their state is the basis of a call. A command whose basis is not the one that was shown does not run. Unless the line is
known to be plain, other files may decide too: the basis is then a partial one, and the person is told so.

A person who approves a write and a command of one answer has seen what the write makes of the files. So the basis is
compared as if the writes of earlier calls of the round had not been made, provided that the files hold what those calls
wrote.
"""

import hashlib
import os
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from pilothouse.domain.calls import PARTIAL_BASIS
from pilothouse.domain.runner_files import first_files, package_words
from pilothouse.file_inspection import FileInspection, identity
from pilothouse.sandbox.shell import Judgement
from pilothouse.tools.builtin.entered_folders import enters_unknown
from pilothouse.tools.builtin.installed_programs import InstalledPrograms
from pilothouse.tools.builtin.plain_lines import PlainLine
from pilothouse.tools.builtin.round_writes import NO_WRITES, RoundWrites

MAX_FOLDER_PASSES = 4


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
    judgement: Judgement,
    start: str,
    place: os.stat_result,
    path: str | None,
    *,
    root: str | None = None,
    writes: RoundWrites = NO_WRITES,
) -> CommandFiles:
    """The state of a line's files, without `writes`; `start` is its working directory, `place` the identity of that
    folder, `root` the workspace."""
    return _Inspection(judgement, start, InstalledPrograms(path, root or start), writes).result(place)


class _Inspection:
    def __init__(self, judgement: Judgement, start: str, programs: InstalledPrograms, writes: RoundWrites) -> None:
        self._judgement = judgement
        self._programs = programs
        self._words = _pieces((*judgement.named, *judgement.read, *judgement.redirected))
        self._writes = writes
        self._files = FileInspection(start, writes.files)
        # Words may be meant from any folder that the line names: one that it enters, and one that is given to a runner
        # (`pytest sub`, `docker build sub`). What a line may write is checked from the entered ones only.
        has_more = all(self._files.find_folders(self._words) for _ in range(MAX_FOLDER_PASSES))
        is_known = judgement.hidden != "line" and not any(map(enters_unknown, judgement.commands))
        self._has_all_folders = is_known and not has_more

    def result(self, place: os.stat_result) -> CommandFiles:
        files = self._files
        # What a line only reads does not decide what it does, but a repository's settings do: approved, it runs freely.
        self._look_at_words(name for words in self._judgement.commands for name in first_files(words))
        if not self._judgement.read_only:
            self._look_at_words(self._words)
            self._look_at_words(word for text in files.packages() for word in _pieces(package_words(text)))
        digest = hashlib.sha256(f"{place.st_dev} {place.st_ino}\n".encode())
        for folder in [folder for folder in files.folders[1:] if folder not in self._writes.folders]:
            digest.update(f"{folder} {identity(folder)}\n".encode(errors="surrogateescape"))
        for name in sorted(self._programs_by_name()):
            if (found := self._programs.find(name)) is not None:
                digest.update(f"{name} {found} {identity(found)}\n".encode(errors="surrogateescape"))
        for file, state in sorted(files.states.items()):
            digest.update(f"{file} {state}\n".encode(errors="surrogateescape"))
        has_all_folders = self._has_all_folders and files.is_complete
        line = PlainLine(self._judgement, files, self._programs, has_all_folders=has_all_folders)
        basis = digest.hexdigest() + ("" if line.is_plain() else PARTIAL_BASIS)
        return CommandFiles(basis, tuple(files.folders), has_all_folders)

    def _programs_by_name(self) -> set[str]:
        """The programs to look for on the PATH. One that the line names by its path is among the words."""
        names = {words[0] for words in self._judgement.commands if words}
        return names if self._judgement.read_only else {name for name in names if "/" not in name}

    def _look_at_words(self, words: Iterable[str]) -> None:
        for path in self._files.paths(words):
            self._files.add(path)


def is_same(basis: str, shown: str) -> bool:
    """Whether two bases name the same state. Whether they are partial follows from what the files hold: where the files
    are the same, or a write was shown that changes them, a difference says nothing more."""
    return basis.removesuffix(PARTIAL_BASIS) == shown.removesuffix(PARTIAL_BASIS)


def _pieces(words: Sequence[str]) -> list[str]:
    """Words that may be paths: as they stand, behind `=`, behind the letter of an option, and below the home folder."""
    found: list[str] = []
    for word in words:
        found += [word, word.partition("=")[2], word[2:] if word[:1] == "-" else ""]
    return list(dict.fromkeys(os.path.expanduser(piece) for piece in found if piece and "\0" not in piece))
