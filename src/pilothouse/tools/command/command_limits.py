"""Limits on the text of a command line: a line may not name the runtime's own files, write protected files, or change
files that make programs run code without an approval. Only a sandbox stops what the text hides."""

import os
import re
import shlex
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path

from pilothouse.domain.codes import Code, Reason
from pilothouse.domain.command_line import UNKNOWN_WORD
from pilothouse.domain.runner_files import MAX_PATH_CHARACTERS, is_runner, plain_name
from pilothouse.sandbox.code_files import may_match_code_file, runs_in_bare_repository
from pilothouse.sandbox.file_names import escape, unescape
from pilothouse.sandbox.protected_files import may_run_code
from pilothouse.sandbox.shell import Classification
from pilothouse.sandbox.shell.config_commands import written_setting
from pilothouse.sandbox.shell.expansion import ExpansionBudget
from pilothouse.sandbox.shell.written_words import WrittenWords, written_words
from pilothouse.sandbox.workspace import Workspace
from pilothouse.system.file_inspection import path_candidates, real_path
from pilothouse.tools.artifacts import UPLOADS
from pilothouse.tools.command.entered_folders import entered_folders
from pilothouse.tools.command.generated_scripts import uses_own_writing
from pilothouse.tools.command.git_clean import GitClean, git_clean
from pilothouse.tools.command.globs import GlobSearch, TooManyEntries
from pilothouse.tools.command.harmless_operands import copied, removed_or_sourced
from pilothouse.tools.command.write_targets import write_targets

MAX_CHECKED_PATHS = 10_000
MAX_FOLDERS = 100
_UPLOADS_VARIABLE = re.compile(r"\$PILOTHOUSE_UPLOADS\b|\$\{PILOTHOUSE_UPLOADS\}")
_PATHSPEC = re.compile(r"^:|[*?\[]")
_HOME = re.compile(r"~(?=/)|\$HOME\b|\$\{HOME\}")
_TO_END = r"[^\s'\";|&<>()]*"


class CommandLimits:
    """The limits of one command line."""

    def __init__(self, command: str, classification: Classification, cwd: str, workspace: Workspace) -> None:
        self._command = command
        self._classification = classification
        self._cwd = cwd
        self._workspace = workspace
        self._in_shell = workspace.without_mounts()
        self._real_folders: dict[str, str] = {}

    def violation(self) -> Reason | None:
        """The hard limit of a protected file that the line plainly writes to, or of a file of the runtime (which may
        hold keys) that the line plainly names."""
        named, written = self._named(), self._written
        folders = self._folders
        paths = len(folders) * (len(named) + len(written))
        if len(folders) > MAX_FOLDERS or paths > MAX_CHECKED_PATHS:
            detail = "it names too many folders and files to check; split it into several commands"
            return Reason(Code.INVALID_ARGUMENTS, {"tool": "execute", "detail": detail})
        if cleaned := self._cleaned_data():
            folders_deleted = ", ".join(escape(os.path.relpath(path, self._workspace.root)) for path in cleaned)
            options = " ".join(dict.fromkeys(f"-e {shlex.quote(escape(path.name))}" for path in cleaned))
            return Reason(Code.CLEANS_DATA, {"path": folders_deleted, "options": options})
        unwritten = self._left_alone | self._copied | self._spared
        for folder in folders:
            for word in (word for word in written if word not in unwritten):
                for path in self._path_candidates(folder, word):
                    violation = self._violation_of(path, writing=True)
                    if violation is not None and violation.code in (Code.PROTECTED_PATH, Code.UPLOAD_READ_ONLY):
                        return Reason(violation.code, {"path": word})
            for word in named:
                if any(map(self._is_runtimes_own, self._path_candidates(folder, word))):
                    return Reason(Code.PROTECTED_PATH, {"path": word})
        return None

    def approval_reason(self) -> Reason | None:
        """Why only a person can allow the line: the line names a file that makes programs run code, and not only for
        a command that reads, records or checks the file; the line plainly writes a file that is read-only for its
        owner; or the line is too large to be checked."""
        if self._classification.only_reads:
            return None
        if not self._is_within_bounds:
            return Reason(Code.COMMAND_NOT_CHECKED)
        code_file = next(self._code_files(), None)
        if code_file is not None:
            return Reason(Code.RUNS_CODE, {"path": code_file})
        if not self._classification.is_complete or self._matches is None:
            return Reason(Code.COMMAND_NOT_CHECKED)
        read_only_file = next(self._read_only_files(), None)
        return Reason(Code.FILE_READ_ONLY, {"path": read_only_file}) if read_only_file is not None else None

    def shown_code_files(self) -> frozenset[str]:
        """The paths of files which make programs run code and which the text of the line shows to its reader."""
        words = self._names if self._is_within_bounds else ()
        settings = filter(None, map(written_setting, self._classification.commands))
        paths = (
            path
            for word in (*words, *settings)
            for folder in self._folders
            for path in self._path_candidates(folder, word)
        )
        shown = (os.path.relpath(self._absolute_path(path), self._workspace.root) for path in paths)
        return frozenset(escape(path) for path in shown if may_run_code(path))

    @cached_property
    def _is_within_bounds(self) -> bool:
        """Whether the command, with all lines in it, names no more paths than are looked up. Computed without looking
        up any path but those of the folders that the command enters."""
        if self._expanded is None or len(self._names) * len(self._folders) > MAX_CHECKED_PATHS:
            return False
        return len(self._folders) == 1 or len(self._fragments) * len(self._folders) <= MAX_CHECKED_PATHS

    def _code_files(self) -> Iterator[str]:
        """The files which make programs run code, as the line names them."""
        yield from filter(None, map(written_setting, self._classification.commands))
        yield from filter(self._is_protected, self._copied)
        for word in self._names:
            if any(self._is_code_file(folder, word) for folder in self._folders):
                yield word
        yield from filter(may_match_code_file, self._patterns)
        yield from filter(self._is_code_file_in_text, self._fragments)
        for folder, path in self._matches or ():
            if self._may_be_code_file(folder, path) and self._is_code_file(folder, path):
                yield escape(path)

    def _read_only_files(self) -> Iterator[str]:
        """The files that their owner may not write and whose content the line plainly writes. File tools ask before
        they write such a file, too."""
        targets = dict.fromkeys(os.path.expanduser(word) for word in write_targets(self._classification))
        for word in targets:
            if "\0" in word or len(word) > MAX_PATH_CHARACTERS:
                continue
            for path in (path for folder in self._folders for path in self._path_candidates(folder, word)):
                reason = self._in_shell.approval_reason(path)
                if reason is not None and reason.code is Code.FILE_READ_ONLY:
                    yield word

    def _is_code_file_in_text(self, word: str) -> bool:
        """Whether a word in a text names a code file. Texts hold many words: only those that look like paths are looked
        up in the entered folders."""
        looks_like_path = "/" in word or "." in word
        paths = ((folder, os.path.join(folder, word) if looks_like_path else word) for folder in self._folders)
        return any(may_run_code(path) and self._is_code_file(folder, word) for folder, path in paths)

    @cached_property
    def _expanded(self) -> list[WrittenWords] | None:
        """The words of the command and of the lines in it; None for more than one budget pays for."""
        classification = self._classification
        is_plain, keeps_written = not classification.is_doubtful, uses_own_writing(classification)
        budget, expanded = ExpansionBudget(), []
        for line in classification.lines:
            words = written_words(line, is_plain=is_plain, keeps_written=keeps_written, budget=budget)
            if not words.is_complete:
                return None
            expanded.append(words)
        return expanded

    @cached_property
    def _names(self) -> tuple[str, ...]:
        """The words that may name a file."""
        words = dict.fromkeys(word for line in self._expanded or () for word in line.words)
        return tuple(filter(self._is_name, words))

    @cached_property
    def _patterns(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(pattern for line in self._expanded or () for pattern in line.patterns))

    @cached_property
    def _fragments(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(fragment for line in self._expanded or () for fragment in line.fragments))

    def _is_name(self, word: str) -> bool:
        """Whether a word may name a file: keywords of the shell, programs, and what runners are told to do (`npm test`)
        are words, too, and would count in a folder of files that run code."""
        if "\0" in word or len(word) > MAX_PATH_CHARACTERS:
            return False
        return "." in word or "/" in word or word in self._plain_names

    def _cleaned_data(self) -> list[Path]:
        """The folders of the runtime's own in the workspace that a `git clean` of the line would delete."""
        own = {
            path for path in self._workspace.runtime_folders if self._workspace.root in path.parents and path.exists()
        }
        outermost = sorted(path for path in own if own.isdisjoint(path.parents))
        cleans = [clean for clean in map(git_clean, self._classification.commands) if clean is not None] if own else []
        return [path for path in outermost if any(self._deletes(clean, path) for clean in cleans)]

    def _deletes(self, clean: GitClean, own: Path) -> bool:
        # A pattern, or a word of git's own pathspec language, may mean anything in the folder.
        is_plain = clean.paths and not any(map(_PATHSPEC.search, clean.paths))
        words = clean.paths if is_plain else (".",)
        paths = (path for folder in self._folders for word in words for path in self._path_candidates(folder, word))
        cleaned_paths = {Path(real_path(self._absolute_path(path))) for path in paths}
        return not clean.spares(own.name) and not cleaned_paths.isdisjoint((own, *own.parents))

    @cached_property
    def _spared(self) -> frozenset[str]:
        """Words that the line names for nothing but that `git clean` leaves them alone."""
        classification = self._classification
        is_known = classification.is_complete and not classification.is_doubtful and classification.hidden != "line"
        if not is_known or any(UNKNOWN_WORD in words for words in classification.commands):
            return frozenset()
        cleans = [(words, git_clean(words)) for words in classification.commands]
        excluded = [word for _, clean in cleans if clean is not None for word in clean.excluded]
        used = {word for words, clean in cleans if clean is None for word in words}
        used.update(word for _, clean in cleans if clean is not None for word in clean.paths)
        used.update(classification.read, classification.redirected)
        used.update(word for program, word in classification.writers if plain_name(program) != "git")
        return frozenset(excluded) - used

    @cached_property
    def _left_alone(self) -> frozenset[str]:
        return removed_or_sourced(self._classification)

    @cached_property
    def _copied(self) -> frozenset[str]:
        """Words that are only read to be copied. The copy is not refused, but asks: protected files may hold keys."""
        return copied(self._classification)

    def _is_protected(self, word: str) -> bool:
        violations = (
            self._violation_of(path, writing=True)
            for folder in self._folders
            for path in self._path_candidates(folder, word)
        )
        return any(violation is not None and violation.code is Code.PROTECTED_PATH for violation in violations)

    @cached_property
    def _plain_names(self) -> set[str]:
        return {word for program, word in self._classification.writers if not _is_task(program, word)}

    def _is_code_file(self, folder: str, word: str) -> bool:
        for path in self._path_candidates(folder, word):
            reason = self._in_shell.approval_reason(path)
            if reason is not None and reason.code is Code.RUNS_CODE:
                return True
            if not _is_repository(path) and may_run_code(path):
                violation = self._in_shell.violation(path, writing=True)
                if violation is not None and violation.code is Code.PROTECTED_PATH:
                    return True
        return False

    def _may_be_code_file(self, folder: str, path: str) -> bool:
        """Whether one of many matches may be a code file. The real path of each folder is looked up once."""
        path_on_disk = os.path.join(self._absolute_path(folder), path)
        parent, name = os.path.split(path_on_disk)
        if parent not in self._real_folders:
            self._real_folders[parent] = real_path(parent)
        real = os.path.join(self._real_folders[parent], name)
        is_listed = any(map(may_run_code, {path_on_disk, real}))
        return is_listed or name == ".." or os.path.islink(path_on_disk) or runs_in_bare_repository(real)

    @cached_property
    def _matches(self) -> list[tuple[str, str]] | None:
        """The files that the patterns of the line match now, each with the folder in which its path starts. None for
        too many entries to look at."""
        search = GlobSearch()
        try:
            return [
                (folder, path)
                for pattern in map(os.path.expanduser, self._patterns)
                for folder in (self._folders[:1] if os.path.isabs(pattern) else self._folders)
                for path in search.paths(self._absolute_path(folder), pattern)
            ]
        except TooManyEntries:
            return None

    @cached_property
    def _written(self) -> tuple[str, ...]:
        """The words that the line may write to; all visible words where a part of the line is hidden."""
        classification = self._classification
        return (
            (*classification.written, *classification.named)
            if classification.hidden == "line"
            else classification.written
        )

    @cached_property
    def _folders(self) -> list[str]:
        """The folders from which words of the line may be meant: the working directory, and the folders that the line
        plainly enters from there, in any order. Beyond the first step, only folders that exist count."""
        entered = dict.fromkeys(folder for words in self._classification.commands for folder in entered_folders(words))
        folders, visited = [self._cwd], {self._absolute_path(self._cwd)}
        for folder, word in ((folder, word) for folder in folders for word in entered):  # the list grows in the loop
            for path in self._path_candidates(folder, word):
                path_on_disk = self._absolute_path(path)
                if path_on_disk not in visited and (folder == self._cwd or os.path.isdir(path_on_disk)):
                    folders.append(path)
                    visited.add(path_on_disk)
            if len(folders) > MAX_FOLDERS:
                break
        return folders

    def _absolute_path(self, path: str) -> str:
        return os.path.normpath(self._workspace.root / unescape(path))

    def _path_candidates(self, folder: str, word: str) -> tuple[str, ...]:
        """The paths that a word may mean in a folder, in the notation of `file_names`."""
        path = os.path.join(folder, escape(word))
        if ".." not in path.split("/"):
            return (path,)
        return (os.path.normpath(path), *map(escape, path_candidates(str(self._workspace.root), unescape(path))))

    def _named(self) -> set[str]:
        """The words of the line that may be paths, and the paths of the runtime's own files in its text."""
        classification, workspace = self._classification, self._workspace
        words = {word for command in classification.commands for word in command[1:]} | {
            *classification.read,
            *classification.named,
        }
        words -= self._spared
        text = _HOME.sub(lambda _: os.path.expanduser("~"), self._command)
        text = _UPLOADS_VARIABLE.sub(lambda _: str(workspace.mount_path(UPLOADS) or "/"), text)
        return words | {
            match[0]
            for path in workspace.runtime_folders
            for match in re.finditer(re.escape(str(path)) + _TO_END, text)
        }

    def _violation_of(self, path: str, *, writing: bool = False) -> Reason | None:
        # A shell knows the conversation's folders by their whole path only.
        return (self._workspace if path.startswith("/") else self._in_shell).violation(path, writing=writing)

    def _is_runtimes_own(self, path: str) -> bool:
        violation = self._violation_of(path)
        if violation is None or violation.code not in (Code.PROTECTED_PATH, Code.OUTSIDE_WORKSPACE):
            return False
        real = Path(real_path(self._workspace.root / unescape(path)))
        return any(real == folder or folder in real.parents for folder in self._workspace.runtime_folders)


def _is_task(program: str, word: str) -> bool:
    """Whether a program takes a word as the name of a task. For git, HEAD is the name of a commit."""
    return word == "HEAD" if plain_name(program) == "git" else is_runner(program)


def _is_repository(path: str) -> bool:
    """Whether a path is a `.git` itself, which lines name to leave it out much more often than to write it."""
    return os.path.basename(path.rstrip("/")) == ".git"
