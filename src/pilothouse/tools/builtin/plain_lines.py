"""Command lines that are known to be plain: the files that they name to be run are all compared when they start.

Every command of such a line is a builtin or an installed program that starts nothing of the workspace, a script, a
plain `make`, `npm run` or `python -m` whose own file is noted, or a command of git that starts noted hooks only. What
those files read in turn is not compared. What is not known to be plain is not.
"""

import os
import re
import shlex
from collections.abc import Sequence

from pilothouse.domain.lines import UNKNOWN_WORD
from pilothouse.domain.runner_files import MAKES, PACKAGE, makefiles, module_files, plain_name, runs_line, script_files
from pilothouse.domain.system_programs import SHELLS, lies_elsewhere
from pilothouse.file_inspection import FileInspection, meanings, real_path
from pilothouse.sandbox.shell import Judgement, judge
from pilothouse.sandbox.shell.options import names
from pilothouse.sandbox.shell.scripts import only_edits
from pilothouse.sandbox.shell.wrappers import INTERPRETERS
from pilothouse.tools.builtin.git_settings import read_settings, starts_only_hooks
from pilothouse.tools.builtin.installed_programs import InstalledPrograms

_GIT_WITH_ANY_WORDS = names("add commit status log show rm mv tag branch")
"""Commands of git none of whose options starts a program."""
_NAMED_WRITERS = names("mkdir rmdir touch rm chmod tee")
"""Commands that change only what the line names. Another one could replace the code that the line then runs."""
_MAKE_WORDS = re.compile(r"-[jkns]\d*|[a-z][\w./-]*|V=[01]")
_NPM_WORDS = re.compile(r"(?:(?:-s|--silent) )?(?:run(?:-script)? (?:(?:-s|--silent) )?[\w:.-]+|test|start)")
_FOLDER_TESTS = names("-execdir -okdir")  # find runs these in any folder
# curl loads libraries that its other options, and files with options, name.
_CURL_WORDS = re.compile(
    r"-[#0-9fgGIikLNOsSv]*(?:[AbdeFHmorTuwxX].*)?|(?!-).*|--(?:compressed|connect-timeout|data|data-binary|data-raw|"
    r"data-urlencode|fail|form|get|head|header|include|insecure|json|location|max-time|output|remote-name|request|retry|"
    r"show-error|silent|url|user|user-agent|verbose|version)",
    re.DOTALL,
)
# Options and operands of installed programs that start nothing, where the judgement does not know them.
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
    **dict.fromkeys(("pip", "pip3"), re.compile(r"(?:list|freeze|show|check|--version|-V)(?: [\w.-]++)*+")),
    **dict.fromkeys(("npm", "node", "docker", "python", "python3"), re.compile(r"--version|-v|-V")),
}
_RUNNERS = frozenset({*SHELLS, *INTERPRETERS, *MAKES, "npm"}) - {"sed"}


class PlainLine:
    """`files` are those whose state was noted: the basis of the call."""

    def __init__(
        self, judgement: Judgement, files: FileInspection, programs: InstalledPrograms, *, has_all_folders: bool
    ) -> None:
        """`has_all_folders` says that the line enters no folder whose files were not looked at."""
        self._judgement = judgement
        self._files = files
        self._programs = programs
        self._has_all_folders = has_all_folders
        self._code: set[str] = set()
        """Files of the workspace that the line runs, and folders with hooks that it may run."""
        self._code_commands = 0

    def is_plain(self) -> bool:
        judgement = self._judgement
        if judgement.hidden == "line" or not judgement.is_complete or judgement.is_doubtful:
            return False
        if not all(map(self._is_command_plain, judgement.commands)):
            return False
        if not self._code:
            return self._has_all_folders or judgement.read_only
        return self._has_all_folders and not self._changes_code()

    def _is_command_plain(self, words: tuple[str, ...]) -> bool:
        if not words or words[0] in ("", UNKNOWN_WORD):
            return False
        if lies_elsewhere(words[0]):
            # A link may lead to an interpreter, and so may a path to an installed one: its words decide what runs.
            programs = self._noted(words[:1])
            is_other = any(os.path.islink(path) or self._programs.is_program_of(real_path(path)) for path in programs)
            return self._runs(programs) and not is_other and plain_name(words[0]) not in _RUNNERS
        if not self._programs.is_installed(words[0]) or _names_other_code(words):
            return False
        return words not in self._judgement.programs or self._is_known_plain(words)

    def _is_known_plain(self, words: tuple[str, ...]) -> bool:
        """Whether it is known what a command runs that could start anything, as far as the judgement knows."""
        program, name = os.path.basename(words[0]), plain_name(words[0])
        if program == "git":
            return not self._programs.has_folder_inside and self._is_git_plain(words)
        if UNKNOWN_WORD in words:
            return False
        if program == "sed":
            return only_edits(words[1:])
        if (allowed := _PLAIN_COMMANDS.get(program)) is not None and allowed.fullmatch(" ".join(words[1:])):
            return True
        if name in SHELLS | INTERPRETERS:
            # The commands of `sh -c` are among those of the judgement.
            scripts = tuple(module_files(words)) or script_files(words)[:1]
            return runs_line(words) or self._runs(self._noted(scripts))
        if name in MAKES:
            return all(map(_MAKE_WORDS.fullmatch, words[1:])) and self._runs(self._noted(makefiles()))
        if program == "npm":
            return _NPM_WORDS.fullmatch(" ".join(words[1:])) is not None and self._runs(self._noted((PACKAGE,)))
        return not self._programs.has_folder_inside and _has_plain_words(program, words[1:])

    def _runs(self, files: Sequence[str]) -> bool:
        """Notes that a command runs these files. False where their state is not known."""
        self._code.update(files)
        self._code_commands += 1
        return bool(files)

    def _is_git_plain(self, words: tuple[str, ...]) -> bool:
        """Whether each repository that git may be meant for has plain settings: then it starts hooks only."""
        folders = [folder for folder in self._files.folders if os.path.lexists(os.path.join(folder, ".git"))]
        settings = [read_settings(folder) for folder in folders]
        is_known = all(os.path.join(folder, ".git/config") in self._files.states for folder in folders)
        if not folders or not is_known or not all(each.are_plain for each in settings):
            return False
        if self._noted(("HEAD",)) or not all(_lies_in(folder, folders) for folder in self._files.folders):
            return False
        if UNKNOWN_WORD in words and words[1] not in _GIT_WITH_ANY_WORDS:
            return False
        self._code.update(os.path.join(folder, ".git") for folder in folders)
        remotes = frozenset.intersection(*(each.remotes for each in settings))
        return starts_only_hooks(tuple(word for word in words if word != UNKNOWN_WORD), remotes)

    def _changes_code(self) -> bool:
        """Whether a command of the line may change code before another one runs it. What runs code may do anything."""
        judgement = self._judgement
        if self._code_commands > 1 or not all(map(self._leaves_code, judgement.programs)):
            return True
        others = (words for words in judgement.commands if words not in judgement.programs)
        if not all(os.path.basename(words[0]) in _NAMED_WRITERS or self._only_reads(words) for words in others):
            return True
        written = {word for program, word in judgement.writers if not _runs_code(program)}
        paths = {path for word in written for folder in self._files.folders for path in meanings(folder, word)}
        return any(
            f"{code}/".startswith(f"{path}/") or f"{path}/".startswith(f"{code}/")
            for code in self._code
            for path in paths
        )

    def _leaves_code(self, words: tuple[str, ...]) -> bool:
        is_git = os.path.basename(words[0]) == "git"  # changes no hooks, but any other file
        return (is_git and not self._code_commands) or self._only_reads(words)

    def _only_reads(self, words: tuple[str, ...]) -> bool:
        return _runs_code(words[0]) or (UNKNOWN_WORD not in words and judge(shlex.join(words)).read_only)

    def _noted(self, words: Sequence[str]) -> list[str]:
        """The files to which words lead, among those whose state is part of the basis."""
        paths = (path for word in words for folder in self._files.folders for path in meanings(folder, word))
        return [path for path in dict.fromkeys(paths) if path in self._files.states and os.path.isfile(path)]


def _runs_code(program: str) -> bool:
    return lies_elsewhere(program) or plain_name(program) in _RUNNERS


def _lies_in(folder: str, repositories: Sequence[str]) -> bool:
    """Whether git, started in a folder, would use one of these repositories."""
    known = set(map(real_path, repositories))
    place = real_path(folder)
    while place not in known and not os.path.lexists(os.path.join(place, ".git")) and place != os.path.dirname(place):
        place = os.path.dirname(place)
    return place in known


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
