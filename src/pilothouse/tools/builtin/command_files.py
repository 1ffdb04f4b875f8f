"""The files that decide what a command line runs: its scripts and programs, and what known runners read first.

Their state is the basis of a call. A command whose basis is not the one that was shown does not run. Where other files
may decide too, the basis is a partial one, and the person is told so.

A person who approves a write and a command of one answer has seen what the write makes of the files. So the basis is
compared as if the writes of earlier calls of the round had not been made, provided that the files hold what those calls
wrote.
"""

import hashlib
import os
import re
import shutil
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from pilothouse.domain.calls import PARTIAL_BASIS
from pilothouse.domain.lines import UNKNOWN_WORD
from pilothouse.domain.runner_files import (
    first_files,
    has_inline_code,
    is_runner,
    package_words,
    plain_name,
    runs_line,
    script_files,
)
from pilothouse.file_inspection import FileInspection, WrittenFile, identity, meanings, open_regular
from pilothouse.sandbox.file_names import unescape
from pilothouse.sandbox.shell import Judgement
from pilothouse.sandbox.shell.scripts import only_edits
from pilothouse.sandbox.shell.wrappers import INTERPRETERS, SHELLS
from pilothouse.sandbox.workspace import ABSENT
from pilothouse.tools.builtin.entered_folders import enters_unknown
from pilothouse.tools.undo.changes import WRITE, ChangeEntry

MAX_FOLDER_PASSES = 4
GIT_CONFIGURATION = ".git/config"
MAX_GIT_CONFIGURATION_BYTES = 64 * 1024
_SETTINGS_WITH_FILES = re.compile(rb"include|hookspath|worktreeconfig|filter|attributesfile", re.IGNORECASE)
"""Sections and keys of git that name further files with settings or programs."""
"""Where there is none, the repository lies elsewhere: above the folder, or where a link leads."""


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


class RoundWrites(NamedTuple):
    """What the file tools wrote in earlier calls of a round, by absolute path."""

    files: Mapping[str, WrittenFile]
    folders: frozenset[str]
    """Folders that the writes made."""


NO_WRITES = RoundWrites({}, frozenset())


def round_writes(entries: Iterable[ChangeEntry], root: str) -> RoundWrites:
    """The writes among the logged changes of a round's earlier calls, oldest first. What commands changed was shown to
    nobody, and counts as a change."""
    files: dict[str, WrittenFile] = {}
    folders: set[str] = set()
    for entry in entries:
        if entry.tool != WRITE:
            continue
        folders.update(os.path.join(root, unescape(folder)) for folder in entry.made_folders)
        for file in entry.files:
            path = os.path.join(root, unescape(file.path))
            before = None if file.before == ABSENT else file.before
            if path in files:
                # A file that somebody changed between two writes keeps a state that was never shown.
                before = files[path].before if files[path].after == file.before else file.before
            files[path] = WrittenFile(before, file.after)
    return RoundWrites(files, frozenset(folders))


def inspect_files(
    judgement: Judgement,
    start: str,
    place: os.stat_result,
    path: str | None,
    *,
    runs_by_itself: bool,
    writes: RoundWrites = NO_WRITES,
) -> CommandFiles:
    """The state of a line's files, without `writes`; `start` is its working directory, `place` the identity of that
    folder."""
    return _Inspection(judgement, start, path, runs_by_itself, writes).result(place)


class _Inspection:
    def __init__(
        self, judgement: Judgement, start: str, path: str | None, runs_by_itself: bool, writes: RoundWrites
    ) -> None:
        self._judgement = judgement
        self._path = path
        self._runs_by_itself = runs_by_itself
        self._words = _pieces((*judgement.named, *judgement.read, *judgement.redirected))
        self._made_folders = writes.folders
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
        for folder in [folder for folder in files.folders[1:] if folder not in self._made_folders]:
            digest.update(f"{folder} {identity(folder)}\n".encode(errors="surrogateescape"))
        for name in sorted(self._programs_by_name()):
            if "\0" not in name and (found := shutil.which(name, path=self._path)) is not None:
                digest.update(f"{name} {found} {identity(found)}\n".encode(errors="surrogateescape"))
        for file, state in sorted(files.states.items()):
            digest.update(f"{file} {state}\n".encode(errors="surrogateescape"))
        partial = "" if self._is_complete() else PARTIAL_BASIS
        has_all_folders = self._has_all_folders and files.is_complete
        return CommandFiles(digest.hexdigest() + partial, tuple(files.folders), has_all_folders)

    def _programs_by_name(self) -> set[str]:
        """The programs to look for on the PATH. One that the line names by its path is among the words."""
        names = {words[0] for words in self._judgement.commands if words}
        return names if self._judgement.read_only else {name for name in names if "/" not in name}

    def _look_at_words(self, words: Iterable[str]) -> None:
        for path in self._files.paths(words):
            self._files.add(path)

    def _is_complete(self) -> bool:
        """Whether the files that were looked at are all that the line itself names to be run."""
        judgement = self._judgement
        if self._runs_by_itself:  # of the programs that only read, git alone is made to run others by a folder
            return all(self._is_git_known(words) for words in judgement.commands if plain_name(words[0]) == "git")
        if not self._has_all_folders or not self._files.is_complete:
            return False
        return all(self._is_covered(words) for words in judgement.programs)

    def _is_git_known(self, words: tuple[str, ...]) -> bool:
        """Whether the settings of each repository that git may be meant for are known, and name no further files."""
        if _has_own_settings(words):
            return False
        repositories = [folder for folder in self._files.folders if os.path.lexists(os.path.join(folder, ".git"))]
        configurations = [os.path.join(folder, GIT_CONFIGURATION) for folder in repositories]
        return bool(configurations) and all(
            path in self._files.states and not _names_files(path) for path in configurations
        )

    def _is_covered(self, words: tuple[str, ...]) -> bool:
        """Whether the files that decide what a command runs are known: an interpreter's own script, the first files of
        a runner, or the program itself where the line names its path."""
        if UNKNOWN_WORD in words:
            return False
        programs = [os.path.realpath(path) for path in self._known(words[:1])] if "/" in words[0] else []
        names = {plain_name(program) for program in (words[0], *programs)}
        if not INTERPRETERS.isdisjoint(names) or not SHELLS.isdisjoint(names):
            edits = "sed" in names and only_edits(words[1:])
            return edits or runs_line(words) or any(self._known(script_files(words)))
        if "git" in names:
            return self._is_git_known(words)
        if any(map(is_runner, names)):
            return not has_inline_code(words) and any(self._known(first_files(words)))
        return bool(programs) and not any(map(self._is_installed, programs))

    def _is_installed(self, program: str) -> bool:
        """Whether this is the program that its name alone would start: known by what it does, not by its file."""
        found = shutil.which(os.path.basename(program), path=self._path)
        return found is not None and os.path.realpath(found) == program

    def _known(self, words: Iterable[str]) -> Iterator[str]:
        """The files among those that were looked at to which words lead."""
        paths = (path for word in words for folder in self._files.folders for path in meanings(folder, word))
        return (path for path in paths if path in self._files.states)


def _names_files(configuration: str) -> bool:
    try:
        with open_regular(configuration) as file:
            data = file.read(MAX_GIT_CONFIGURATION_BYTES + 1)
    except OSError:
        return True
    return len(data) > MAX_GIT_CONFIGURATION_BYTES or _SETTINGS_WITH_FILES.search(data) is not None


def _has_own_settings(words: Sequence[str]) -> bool:
    """Whether git is given settings in the line, or told of a repository or programs elsewhere: by any option before
    its command but `-C` and the one for no pager."""
    options = list(words[1:])
    while options and options[0].startswith("-"):
        option = options.pop(0)
        if option not in ("-C", "--no-pager"):
            return True
        if option == "-C":
            options = options[1:]
    return False


def _pieces(words: Sequence[str]) -> list[str]:
    """Words that may be paths: as they stand, behind `=`, behind the letter of an option, and below the home folder."""
    found: list[str] = []
    for word in words:
        found += [word, word.partition("=")[2], word[2:] if word[:1] == "-" else ""]
    return list(dict.fromkeys(os.path.expanduser(piece) for piece in found if piece and "\0" not in piece))
