"""Whether the approval of a command line may be silent: every file that the line runs is compared when it starts, and
nothing in the line could replace such a file.

Two forms of lines are plain: those that start installed programs only, and those that run the code of one command.
Every other line gets a warning.
"""

import os
import re
import shlex
from collections.abc import Iterable, Sequence
from functools import cached_property

from pilothouse.domain.command_line import UNKNOWN_WORD
from pilothouse.domain.system_programs import is_outside_system_folders
from pilothouse.sandbox.shell import Classification, classify
from pilothouse.sandbox.shell.grammar import Reading
from pilothouse.sandbox.shell.options import names
from pilothouse.sandbox.shell.scripts import only_edits
from pilothouse.sandbox.shell.wrappers import WRAPPERS
from pilothouse.tools.command.command_form import entered_line, simple_pipeline, without_switches
from pilothouse.tools.command.git_repository import git_code
from pilothouse.tools.command.installed_programs import InstalledPrograms
from pilothouse.tools.command.workspace_code import WorkspaceCode, workspace_code
from pilothouse.tools.command.workspace_folder import WorkspaceFolder

_FOLDER_COMMANDS = names("cd pushd popd")
_FOLDER_TESTS = names("-execdir -okdir")  # find runs these in any folder
# curl loads libraries that its other options, and files with options, name.
_CURL_WORDS = re.compile(
    r"-[#0-9fgGIikLNOsSv]*(?:[AbdeFHmorTuwxX].*)?|(?!-).*|--(?:compressed|connect-timeout|data|data-binary|data-raw|"
    r"data-urlencode|fail|form|get|head|header|include|insecure|json|location|max-time|output|remote-name|request|retry|"
    r"show-error|silent|url|user|user-agent|verbose|version)",
    re.DOTALL,
)
# Options and operands of installed programs that start nothing, where the classification does not know them.
_PLAIN_WORDS = {
    "tar": re.compile(r"-C|(?!-)[^:]*"),
    "zip": re.compile(r"-[rqy0-9]+|(?!-).*"),
    "rsync": re.compile(r"-[aprtvnuzhP]+|--(?:delete|dry-run|verbose|archive|exclude=[^:]*)|(?!-)[^:]*"),
    "xz": re.compile(r"-[dkfv0-9z]+|(?!-).*"),
    "zstd": re.compile(r"-[dkfv0-9q]+|(?!-).*"),
}
# The first word of tar holds options with or without `-`. None of these letters takes a program (`I`, `F`).
_PLAIN_FIRST_WORDS = {"tar": re.compile(r"-?[cxt][vzjJapPkm]*f")}
_PLAIN_COMMANDS = {
    **dict.fromkeys(("pip", "pip3"), re.compile(r"(?:list|freeze|show|check|--version|-V)(?>(?: [\w.-]++)*)")),
    **dict.fromkeys(("npm", "node", "docker", "python", "python3"), re.compile(r"--version|-v|-V")),
}
_STARTS_NOTHING = names("echo printf test true false pwd exit cd : [ [[")
"""Builtins that neither write nor start anything, whatever they are given."""
_MAKES_NO_PROGRAM = names("mkdir rmdir touch rm")
"""Writers that cannot put a program in the place of another one, whatever they are given."""
# Writers that change the files of their words and no other, with the options that leave it so.
_WRITER_OPTIONS = {
    "chmod": re.compile(r"(?!)"),
    "cp": re.compile(r"-[finpuv]+"),
    "curl": re.compile(r"-[fgGIiksLSv]+|--(?:compressed|fail|get|head|include|json|location|show-error|silent)"),
    "mv": re.compile(r"-[finuv]+"),
    "sed": re.compile(r"-[nErse]+|-i[\w.~]*"),
    "tee": re.compile(r"-a"),
}
_LOOP = re.compile(r"\b(?:for|while|until)\b")
_EXPANSION = re.compile(r"[$`*?\[\]{}~]")
_NOT_PLAIN = WorkspaceCode(False, ())
_RUNS_NOTHING = WorkspaceCode(True, ())


def line_code(classification: Classification, start: str, root: str, programs: InstalledPrograms) -> WorkspaceCode:
    """The files that decide what a line runs from the folder `start`; known only for plain lines. `root` is the
    workspace."""
    folder: WorkspaceFolder | None = WorkspaceFolder(root, start).folder(".")
    text = classification.lines[0] if classification.lines else ""
    entered = entered_line(text)
    entered_folder = folder.folder(entered.folder) if folder is not None and entered is not None else None
    if entered is not None and entered_folder is not None:
        text, folder = entered.rest, entered_folder
    text = without_switches(text)
    rest = classify(text)
    is_readable = rest.hidden != "line" and rest.is_complete and not rest.is_doubtful
    return _PlainLine(text, rest, folder, programs).code() if is_readable else _NOT_PLAIN


class _PlainLine:
    """A line, or the rest of one that enters a folder first."""

    def __init__(
        self, text: str, classification: Classification, folder: WorkspaceFolder | None, programs: InstalledPrograms
    ) -> None:
        """`folder` is None where the line starts outside of the workspace, or behind a link."""
        self._text = text
        self._classification = classification
        self._folder = folder
        self._programs = programs

    def code(self) -> WorkspaceCode:
        commands = self._classification.commands
        if any(words and os.path.basename(words[0]) == "git" for words in commands):
            return self._git_code()
        if all(map(self._runs_installed, commands)):
            return _RUNS_NOTHING if self._keeps_programs() else _NOT_PLAIN
        return self._single_code()

    def _single_code(self) -> WorkspaceCode:
        """The code of a pipeline with one command that runs code, beside installed programs that only read."""
        pipeline = simple_pipeline(self._text)
        if self._folder is None or pipeline is None or self._redirects():
            return _NOT_PLAIN
        running = [words for words in pipeline if not self._only_reads(words)]
        return workspace_code(running[0], self._folder, self._programs) if len(running) == 1 else _NOT_PLAIN

    def _git_code(self) -> WorkspaceCode:
        """The code of git commands, beside installed programs that only read."""
        if self._folder is None or not self._programs.are_helpers_installed or self._redirects():
            return _NOT_PLAIN
        git_commands = [words for words in self._commands if os.path.basename(words[0]) == "git"]
        others = [words for words in self._commands if words not in git_commands]
        is_plain = all(self._only_reads(words) and words[0] not in _FOLDER_COMMANDS for words in others)
        is_installed = all(
            not is_outside_system_folders(words[0]) and self._programs.is_installed(words[0]) for words in git_commands
        )
        if not is_plain or not is_installed:
            return _NOT_PLAIN
        return git_code(git_commands, self._folder, is_single=len(git_commands) == 1 and not self._repeats)

    def _redirects(self) -> bool:
        classification = self._classification
        return bool(classification.read) or any(not program for program, _ in classification.writers)

    def _only_reads(self, words: Sequence[str]) -> bool:
        """Whether a command, with all that it starts, reads and does nothing else."""
        if UNKNOWN_WORD in words:
            return False
        classification = classify(shlex.join(words))
        return classification.only_reads and all(map(self._runs_installed, classification.commands))

    def _runs_installed(self, words: tuple[str, ...]) -> bool:
        """Whether a command is an installed program that runs no code of the workspace."""
        if not words or words[0] in ("", UNKNOWN_WORD) or is_outside_system_folders(words[0]):
            return False
        program = os.path.basename(words[0])
        if not self._programs.is_installed(words[0]) or program == "git" or _names_other_code(words):
            return False
        if program == "xargs" and not self._programs.are_helpers_installed:
            return False  # without a command, xargs starts `echo` by its name
        return words not in self._classification.programs or self._is_known(program, words)

    def _is_known(self, program: str, words: Sequence[str]) -> bool:
        """Whether the words of a program that could start others are known to start no code of the workspace."""
        if UNKNOWN_WORD in words:
            return False
        if program == "sed":
            return only_edits(words[1:])
        if (allowed := _PLAIN_COMMANDS.get(program)) is not None and allowed.fullmatch(" ".join(words[1:])):
            return True
        return self._programs.are_helpers_installed and _has_plain_words(program, words[1:])

    def _keeps_programs(self) -> bool:
        """Whether no command of a line could replace a program before a command starts."""
        classification = self._classification
        starting = [words for words in classification.commands if words[0] not in _STARTS_NOTHING]
        is_single = len(classification.commands) == len(self._commands) == 1 and not self._repeats
        if classification.read_only or not starting or is_single:
            return True
        writers = [words for words in starting if not _makes_no_program(words) and not self._only_reads(words)]
        targets = [word for program, word in classification.writers if not program]
        if not writers and not targets:
            return True
        is_literal = not targets or not _EXPANSION.search(self._text)
        enters = any(words[0] in _FOLDER_COMMANDS for words in classification.commands)
        if self._programs.has_folder_inside or enters or not is_literal:
            return False
        return all(map(self._writes_own_files, writers)) and self._are_own_files(targets)

    @cached_property
    def _commands(self) -> list[tuple[str, ...]]:
        """The words of the line's own commands, without those that the commands start."""
        return [command.literals for command in Reading(self._text).commands]

    @property
    def _repeats(self) -> bool:
        return _LOOP.search(self._text) is not None

    def _writes_own_files(self, words: Sequence[str]) -> bool:
        """Whether a command writes only to files of the workspace that its words name."""
        options = _WRITER_OPTIONS.get(os.path.basename(words[0]))
        if options is None or UNKNOWN_WORD in words:
            return False
        operands = [word for word in words[1:] if not options.fullmatch(word)]
        return not any(word.startswith("-") for word in operands) and self._are_own_files(operands)

    def _are_own_files(self, words: Iterable[str]) -> bool:
        return self._folder is not None and all(map(self._folder.is_writable_alone, words))


def _makes_no_program(words: Sequence[str]) -> bool:
    program = os.path.basename(words[0])
    if program in WRAPPERS:
        return True  # the command that the wrapper starts is among those of the line
    return program in _MAKES_NO_PROGRAM or (program == "find" and not any(word.startswith("-f") for word in words))


def _names_other_code(words: Sequence[str]) -> bool:
    """Whether an option of an installed program may lead to code that is neither in the line nor installed."""
    program = os.path.basename(words[0])
    if program == "curl":
        return UNKNOWN_WORD in words or not all(map(_CURL_WORDS.fullmatch, words[1:]))
    return program == "find" and not _FOLDER_TESTS.isdisjoint(words)


def _has_plain_words(program: str, words: Sequence[str]) -> bool:
    """Whether all words of an installed program are known to start nothing but other installed programs."""
    first, later = _PLAIN_FIRST_WORDS.get(program), _PLAIN_WORDS.get(program)
    if later is None or (first is not None and not (words and first.fullmatch(words[0]))):
        return False
    return all(map(later.fullmatch, words[1:] if first is not None else words))
