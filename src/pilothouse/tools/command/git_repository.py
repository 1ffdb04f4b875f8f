"""The repository in which a git command of a line works, and the files that decide what git starts there."""

import os
from collections.abc import Sequence
from typing import NamedTuple

from pilothouse.domain.command_line import UNKNOWN_WORD
from pilothouse.domain.runner_files import GIT_FILES
from pilothouse.sandbox.shell.options import names
from pilothouse.tools.command.git_settings import GitCommand, git_command, read_settings, starts_only_hooks
from pilothouse.tools.command.workspace_code import WorkspaceCode
from pilothouse.tools.command.workspace_folder import WorkspaceFolder

_WITH_UNKNOWN_WORDS = names("add commit status log show rm mv tag branch")
"""Commands none of whose options starts a program."""
_SEQUENCE = names(
    "add branch checkout commit diff fetch log ls-files merge pull push rebase reset restore rev-parse rm show stash "
    "status switch tag"
)
"""Commands that change no hook and no setting of the repository, unless they are told to write their output there."""
_SEQUENCE_WITH_UNKNOWN_WORDS = names("add commit")
_OUTPUT_OPTIONS = ("--output", "--output-directory")
_UNKNOWN = WorkspaceCode(False, ())


class _Repository(NamedTuple):
    root: WorkspaceFolder
    files: tuple[str, ...]
    """The files of the repository that decide what git starts, and those that would make git use another one."""


def git_code(commands: Sequence[Sequence[str]], start: WorkspaceFolder, *, is_single: bool) -> WorkspaceCode:
    """The hooks and settings of the repository in which the git commands of a line work. `is_single` says that the line
    starts git once."""
    parsed = [command for command in map(git_command, commands) if command is not None]
    folder = start.folder(parsed[0].folder) if parsed else None
    repository = _repository(folder) if folder is not None else None
    if repository is None or len(parsed) < len(commands):
        return _UNKNOWN
    settings = read_settings(repository.root.path)
    is_known = settings.are_plain and all(_starts_only_hooks(command, settings.remotes) for command in parsed)
    if not is_single:
        # A command could make a repository between the folder and the one that the next command is to find.
        is_known = is_known and repository.root.path == start.path and all(map(_is_sequence_part, parsed))
    return WorkspaceCode(is_known, repository.files)


def _starts_only_hooks(command: GitCommand, remotes: frozenset[str]) -> bool:
    if UNKNOWN_WORD not in (command.folder, command.name, *command.args):
        return starts_only_hooks(command, remotes)
    args = tuple(word for word in command.args if word != UNKNOWN_WORD)
    return command.name in _WITH_UNKNOWN_WORDS and starts_only_hooks(command._replace(args=args), remotes)


def _is_sequence_part(command: GitCommand) -> bool:
    if command.name not in _SEQUENCE or command.folder != ".":
        return False
    if UNKNOWN_WORD in command.args and command.name not in _SEQUENCE_WITH_UNKNOWN_WORDS:
        return False
    options = [word.partition("=")[0] for word in command.args if word.startswith("--") and word != "--"]
    return not any(name.startswith(option) for option in options for name in _OUTPUT_OPTIONS)


def _repository(start: WorkspaceFolder) -> _Repository | None:
    """The nearest repository around a folder, as git looks for one. None where git could use anything before a plain
    `.git` folder: a file `.git` leads elsewhere, and a folder with a HEAD may be a repository itself."""
    files: list[str] = []
    for folder in start.upward():
        files += (os.path.join(folder.path, name) for name in (".git", "HEAD"))
        if os.path.lexists(os.path.join(folder.path, "HEAD")):
            return None
        if os.path.lexists(os.path.join(folder.path, ".git")):
            parts = (folder.folder(".git"), folder.folder(".git/objects"), folder.folder(".git/refs"))
            if None in parts or folder.regular_file(".git/HEAD") is None:
                return None
            files += (os.path.join(folder.path, name) for name in GIT_FILES)
            return _Repository(folder, tuple(files))
    return None
