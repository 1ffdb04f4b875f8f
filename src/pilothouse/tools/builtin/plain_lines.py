"""Command lines that are known to be plain: the line, and the files whose state was noted, decide all that runs.

Every command of such a line is a builtin or an installed program that runs no code of the workspace, a script that
does all its work itself, a plain `make` or `npm run`, or a command of git that starts such scripts only. What is not
known to be plain is not.
"""

import os
import re
import shlex
from collections.abc import Iterator, Sequence

from pilothouse.domain.lines import UNKNOWN_WORD
from pilothouse.domain.runner_files import (
    MAKES,
    PACKAGE,
    makefile_sources,
    makefiles,
    module_files,
    plain_name,
    runs_line,
    script_files,
)
from pilothouse.domain.system_programs import SHELLS, lies_elsewhere
from pilothouse.file_inspection import FileInspection, meanings, real_path
from pilothouse.sandbox.shell import Judgement, judge
from pilothouse.sandbox.shell.options import names
from pilothouse.sandbox.shell.scripts import only_edits
from pilothouse.sandbox.shell.wrappers import INTERPRETERS
from pilothouse.tools.builtin import python_scripts, script_contents
from pilothouse.tools.builtin.git_settings import read_settings, starts_only_hooks
from pilothouse.tools.builtin.installed_programs import InstalledPrograms
from pilothouse.tools.builtin.makefiles import is_plain_makefile, read_goals

MAX_READ_SCRIPTS = 16
"""How many scripts of one line are read to see what they start."""
_HOOKS = ".git/hooks"
_GIT_WITH_ANY_WORDS = names("add commit status log show rm mv tag branch")
"""Commands of git none of whose options starts a program."""
_NPM_SETTINGS = (".npmrc", ".pnpmfile.cjs")
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


class LinePlainness:
    """`files` are those that were looked at: their state is part of the basis."""

    def __init__(
        self, judgement: Judgement, files: FileInspection, programs: InstalledPrograms, *, has_all_folders: bool
    ) -> None:
        """`has_all_folders` says that the line enters no folder whose files were not looked at."""
        self._judgement = judgement
        self._has_all_folders = has_all_folders
        self._files = files
        self._programs = programs
        self._read = 0
        self._code: set[str] = set()
        """Files of the workspace that the line runs."""
        self._runners: set[str] = set()
        """The programs that run them."""
        self._code_commands = 0
        self._line_shells: set[str] = set()
        """Shells that are given their commands in the line."""
        self._hooks: set[str] = set()
        """Folders of the repositories whose hooks the line may run."""
        self._has_active_hooks = False

    def is_plain(self) -> bool:
        judgement = self._judgement
        if not script_contents.is_all_known(judgement):
            return False
        if not all(map(self._is_command_plain, judgement.commands)) or self._changes_code():
            return False
        return self._has_all_folders or (judgement.read_only and not self._code and not self._hooks)

    def shadowing_modules(self) -> Iterator[str]:
        """Files that Python would load in the place of its own modules: beside any script that the line names, and, for
        `python -m`, in any folder in which the line may run."""
        if any(map(self._may_run_code, self._judgement.commands)):
            beside = {os.path.dirname(real_path(path)) for path in self._files.states}
            for folder in sorted(beside | set(map(real_path, self._files.folders))):
                yield from (os.path.join(folder, name) for name in python_scripts.shadowing_modules(folder) or ())

    def _may_run_code(self, words: Sequence[str]) -> bool:
        return bool(words) and ("/" in words[0] or plain_name(words[0]) in SHELLS | INTERPRETERS)

    def _is_command_plain(self, words: tuple[str, ...]) -> bool:
        if not words or words[0] == UNKNOWN_WORD or not words[0]:
            return False
        program = words[0]
        if lies_elsewhere(program):
            self._note_runner(program)
            return all(map(self._is_script_plain, self._looked_at(words[:1]) or [""]))
        if not self._programs.is_installed(program) or script_contents.names_other_code(words):
            return False
        return words not in self._judgement.programs or self._is_known_plain(words)

    def _is_known_plain(self, words: tuple[str, ...]) -> bool:
        """Whether a command that could start anything does not."""
        program, name = os.path.basename(words[0]), plain_name(words[0])
        if program == "git":
            return self._is_git_plain(words)
        if UNKNOWN_WORD in words:
            return False
        if name in SHELLS | INTERPRETERS and self._is_interpreter_plain(name, words):
            return True
        if name in MAKES:
            return self._is_make_plain(words)
        if program == "npm" and self._is_npm_plain(words):
            return True
        if (allowed := _PLAIN_COMMANDS.get(program)) is not None:
            return allowed.fullmatch(" ".join(words[1:])) is not None
        return not self._programs.has_folder_inside and _has_plain_words(program, words[1:])

    def _is_interpreter_plain(self, name: str, words: tuple[str, ...]) -> bool:
        if name == "sed":
            return only_edits(words[1:])
        if runs_line(words):  # its commands are among those of the judgement
            self._line_shells.add(words[0])
            return True
        self._note_runner(words[0])
        if name == "python" and any(word.startswith("-m") for word in words):
            scripts = self._looked_at(tuple(module_files(words)))
            # The working directory comes before the library.
            if any(python_scripts.shadowing_modules(folder) != [] for folder in self._files.folders):
                return False
        else:
            scripts = self._looked_at(script_files(words))
        return bool(scripts) and all(self._is_script_plain(path, name) for path in scripts)

    def _note_runner(self, program: str) -> None:
        self._runners.add(program)
        self._code_commands += 1

    def _is_script_plain(self, path: str, program: str | None = None) -> bool:
        """Whether a script does all its work itself; `program` runs it, or the one that its first line names."""
        if path not in self._files.states or self._programs.is_program_of(real_path(path)):
            return False
        self._code.add(path)
        data = self._content(path)
        interpreter = program if data is None or program is not None else script_contents.interpreter_of(data)
        if data is None or interpreter is None or not self._is_interpreter_installed(interpreter):
            return False
        if plain_name(interpreter) == "python":
            folder = os.path.dirname(real_path(path))
            if python_scripts.shadowing_modules(folder) != []:
                return False
        return script_contents.is_self_contained(interpreter, path, data, self._is_installed_for_scripts)

    def _is_interpreter_installed(self, interpreter: str) -> bool:
        return not lies_elsewhere(interpreter) and self._programs.is_installed(interpreter)

    def _is_installed_for_scripts(self, name: str) -> bool:
        """The places of programs that a script starts are not part of the basis: nothing may take them."""
        return not self._programs.has_folder_inside and self._is_interpreter_installed(name)

    def _content(self, path: str) -> bytes | None:
        self._read += 1
        return script_contents.content(path) if self._read <= MAX_READ_SCRIPTS else None

    def _is_git_plain(self, words: tuple[str, ...]) -> bool:
        """Whether each repository that git may be meant for has plain settings, and hooks that do their work alone."""
        folders = [folder for folder in self._files.folders if os.path.lexists(os.path.join(folder, ".git"))]
        settings = [read_settings(folder) for folder in folders]
        is_known = all(os.path.join(folder, ".git/config") in self._files.states for folder in folders)
        if not folders or not is_known or not all(each.are_plain for each in settings):
            return False
        if self._programs.has_folder_inside:  # pagers, editors and ssh are looked for on the PATH
            return False
        remotes = frozenset.intersection(*(each.remotes for each in settings))
        if UNKNOWN_WORD in words and words[1] not in _GIT_WITH_ANY_WORDS:
            return False
        known_words = tuple(word for word in words if word != UNKNOWN_WORD)
        hooks = [path for path in self._files.states if os.path.dirname(path).endswith(_HOOKS)]
        active = [path for path in hooks if os.access(path, os.X_OK)]
        self._has_active_hooks = self._has_active_hooks or bool(active)
        is_plain = starts_only_hooks(known_words, remotes) and all(map(self._is_script_plain, active))
        self._code.difference_update(active)
        self._hooks.update(os.path.join(folder, ".git") for folder in folders)
        return is_plain

    def _is_make_plain(self, words: tuple[str, ...]) -> bool:
        goals = read_goals(words)
        if goals is None or self._looked_at(makefile_sources()):
            return False
        known = self._looked_at(makefiles())
        self._code.update(known)
        self._note_runner(words[0])
        contents = [self._content(path) for path in known]
        return bool(known) and all(
            data is not None and is_plain_makefile(data, goals, self._is_recipe_plain) for data in contents
        )

    def _is_recipe_plain(self, command: str) -> bool:
        return script_contents.is_plain_line(command, self._is_installed_for_scripts)

    def _is_npm_plain(self, words: tuple[str, ...]) -> bool:
        """`npm run NAME`, `npm test` and `npm start` with nothing else."""
        run = [word for word in words[1:] if word not in ("-s", "--silent")]
        script = run[1] if len(run) == 2 and run[0] in ("run", "run-script") else run[0] if len(run) == 1 else ""
        if len(run) == 1 and script not in ("test", "start"):
            return False
        packages = self._looked_at((PACKAGE,))
        self._code.update(packages)
        self._note_runner(words[0])
        if not packages or self._looked_at(_NPM_SETTINGS):
            return False
        contents = [self._content(path) for path in packages]
        return all(data is not None and script_contents.is_plain_package_script(data, script) for data in contents)

    def _changes_code(self) -> bool:
        """Whether a command of the line may change a file of the workspace before another one runs it."""
        if not self._code:
            return self._may_write(self._hooks, frozenset({"git"}))
        runners = frozenset(self._runners | self._line_shells)
        # A command that starts nothing, but is no mere reader either, may still change any file (`git pull`, `tar x`),
        # and so may a script that does all its work itself.
        others = (words for words in self._judgement.programs if words[0] not in runners)
        if self._code_commands > 1 or not all(map(self._only_reads, others)):
            return True
        return self._may_write(self._code | self._hooks, runners)

    def _only_reads(self, words: tuple[str, ...]) -> bool:
        """Whether a command of git changes no file: its settings are plain, but a hook may do anything."""
        is_git = os.path.basename(words[0]) == "git" and UNKNOWN_WORD not in words
        return is_git and not self._has_active_hooks and judge(shlex.join(words)).read_only

    def _may_write(self, paths: set[str], runners: frozenset[str]) -> bool:
        """Whether a command other than these may write one of the files, or something in one of the folders."""
        judgement = self._judgement
        writers = {program for program, _ in judgement.writers} - runners
        if paths and any(UNKNOWN_WORD in words for words in judgement.commands if words[0] in writers):
            return True
        words = [word for program, word in judgement.writers if program not in runners]
        targets = {path for word in words for folder in self._files.folders for path in meanings(folder, word)}
        return any(
            f"{path}/".startswith(f"{target}/") or f"{target}/".startswith(f"{path}/")
            for path in paths
            for target in targets
        )

    def _looked_at(self, words: Sequence[str]) -> list[str]:
        """The files to which words lead, among those whose state is part of the basis."""
        paths = (path for word in words for folder in self._files.folders for path in meanings(folder, word))
        return [path for path in dict.fromkeys(paths) if path in self._files.states]


def _has_plain_words(program: str, words: Sequence[str]) -> bool:
    """Whether all words of an installed program are known to start nothing but other installed programs."""
    first, later = _PLAIN_FIRST_WORDS.get(program), _PLAIN_WORDS.get(program)
    if later is None or (first is not None and not (words and first.fullmatch(words[0]))):
        return False
    return all(map(later.fullmatch, words[1:] if first is not None else words))
