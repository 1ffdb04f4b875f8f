"""The files that decide what a command line runs: scripts, programs, and the first files of known runners.

The hash of their state is the content hash of a call: a command does not run if the hash is not the one that was shown.
Unless the line is plain, other files may decide too: the hash is then a partial one, and the approval says so.

A person who approves a write and a command of one answer has seen the files that the write leaves behind. The hashes
are therefore compared as if the earlier calls of the round had written nothing, provided that the files hold what those
calls wrote.
"""

import hashlib
import os
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, NamedTuple

from pilothouse.domain.calls import PARTIAL_HASH_SUFFIX
from pilothouse.domain.runner_files import first_files, package_words
from pilothouse.sandbox.command_environment import CommandEnvironment
from pilothouse.sandbox.shell import Classification
from pilothouse.system.file_inspection import FileInspection, identity
from pilothouse.tools.command.entered_folders import enters_unknown
from pilothouse.tools.command.installed_programs import InstalledPrograms
from pilothouse.tools.command.plain_commands import line_code

if TYPE_CHECKING:  # the package of the module imports `execute`, which imports this module
    from pilothouse.tools.builtin.round_writes import RoundWrites

MAX_FOLDER_PASSES = 4


class CommandFiles(NamedTuple):
    """The files of one command line."""

    content_hash: str
    """A hash of the present state of the files, and whether the files are all that decide."""
    folders: tuple[str, ...]
    """The folders from which the words of the line may be meant: the working directory, and folders that words name."""
    has_all_folders: bool
    """Whether the line can enter no other folder."""

    def may_exist(self, names: Sequence[str]) -> bool:
        """Whether any of these files exists in a folder of the line, or may exist in a folder that is not known. A name
        that ends in `/.` is a folder."""
        paths = (os.path.join(folder, name) for folder in self.folders for name in names)
        return not self.has_all_folders or any(map(_is_replaceable, paths))


def inspect_files(
    classification: Classification,
    start: str,
    folder_status: os.stat_result,
    environment: CommandEnvironment,
    *,
    root: str | None = None,
    writes: "RoundWrites | None" = None,
) -> CommandFiles:
    """Inspect the files of a line as they were before `writes`. `start` is the working directory with its
    `folder_status`, `root` the workspace."""
    return _Inspection(classification, start, root or start, environment, writes).result(folder_status)


class _Inspection:
    def __init__(
        self,
        classification: Classification,
        start: str,
        root: str,
        environment: CommandEnvironment,
        writes: "RoundWrites | None",
    ) -> None:
        self._classification = classification
        self._start, self._root = start, root
        self._environment = environment
        self._programs = InstalledPrograms(environment.path, root)
        self._words = _pieces((*classification.named, *classification.read, *classification.redirected))
        self._written_folders = writes.folders if writes is not None else frozenset()
        self._files = FileInspection(start, writes.files if writes is not None else None)
        # Words may be meant from any folder that the line names: an entered one, and the operand of a runner (`pytest
        # sub`, `docker build sub`). CommandLimits checks writes from the entered folders only.
        has_more = all(self._files.find_folders(self._words) for _ in range(MAX_FOLDER_PASSES))
        is_known = classification.hidden != "line" and not any(map(enters_unknown, classification.commands))
        self._has_all_folders = is_known and not has_more

    def result(self, folder_status: os.stat_result) -> CommandFiles:
        files = self._files
        # The files that a line only reads do not decide what the line runs. The settings of a repository do, because an
        # approved line runs without a sandbox.
        self._add_files(name for words in self._classification.commands for name in first_files(words))
        if not self._classification.read_only:
            self._add_files(self._words)
            self._add_files(word for text in files.packages() for word in _pieces(package_words(text)))
        code = line_code(self._classification, self._start, self._root, self._programs)
        for file in code.files:
            files.add(file)
        digest = hashlib.sha256(f"{folder_status.st_dev} {folder_status.st_ino}\n".encode())
        for folder in [folder for folder in files.folders[1:] if folder not in self._written_folders]:
            digest.update(f"{folder} {identity(folder)}\n".encode(errors="surrogateescape"))
        for name in sorted(self._programs_by_name()):
            if (program := self._programs.find(name)) is not None:
                digest.update(f"{name} {program} {identity(program)}\n".encode(errors="surrogateescape"))
        for file, state in sorted(files.states.items()):
            digest.update(f"{file} {state} {_execute_bits(file)}\n".encode(errors="surrogateescape"))
        has_all_folders = self._has_all_folders and files.is_complete
        is_known = code.is_known and not self._environment.runs_code
        content_hash = digest.hexdigest() + ("" if is_known else PARTIAL_HASH_SUFFIX)
        return CommandFiles(content_hash, tuple(files.folders), has_all_folders)

    def _programs_by_name(self) -> set[str]:
        """The programs to look for on the PATH. A program that the line names by its path is among the words."""
        names = {words[0] for words in self._classification.commands if words}
        return names if self._classification.read_only else {name for name in names if "/" not in name}

    def _add_files(self, words: Iterable[str]) -> None:
        for path in self._files.paths(words):
            self._files.add(path)


def _is_replaceable(path: str) -> bool:
    return os.path.lexists(path) and (path.endswith("/.") or not os.path.isdir(path))


def is_same(content_hash: str, shown: str) -> bool:
    """Whether the hash at the start is the hash that was shown. A line that was shown without a warning must still need
    none."""
    if content_hash.endswith(PARTIAL_HASH_SUFFIX) and not shown.endswith(PARTIAL_HASH_SUFFIX):
        return False
    return content_hash.removesuffix(PARTIAL_HASH_SUFFIX) == shown.removesuffix(PARTIAL_HASH_SUFFIX)


def _execute_bits(path: str) -> int:
    """Which users may execute a file: git ignores a hook that nobody may execute."""
    try:
        return os.stat(path).st_mode & 0o111
    except OSError:
        return 0


def _pieces(words: Sequence[str]) -> list[str]:
    """Words that may be paths: as they stand, behind `=`, behind the letter of an option, and below the home folder."""
    pieces: list[str] = []
    for word in words:
        pieces += [word, word.partition("=")[2], word[2:] if word[:1] == "-" else ""]
    return list(dict.fromkeys(os.path.expanduser(piece) for piece in pieces if piece and "\0" not in piece))
