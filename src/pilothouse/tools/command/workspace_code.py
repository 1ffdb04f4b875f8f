"""The code that one command runs: the script, Makefile or package that its literal words start, in known forms."""

import json
import os
import re
from collections.abc import Sequence
from typing import NamedTuple

from pilothouse.domain.runner_files import (
    MAKEFILE_SOURCES,
    MAKEFILES,
    MAKES,
    PACKAGE,
    plain_name,
    script_operand,
)
from pilothouse.domain.system_programs import SHELLS, is_outside_system_folders
from pilothouse.sandbox.shell.wrappers import INTERPRETERS
from pilothouse.system.regular_file import open_regular_file
from pilothouse.tools.command.installed_programs import InstalledPrograms, interpreter_of
from pilothouse.tools.command.workspace_folder import WorkspaceFolder

MAX_PACKAGE_BYTES = 1024 * 1024
_BINARY = b"\x7fELF"
_NPM_SETTINGS = ".npmrc"
_MAKE_WORDS = re.compile(r"-[jkns]\d*|[a-z][\w./-]*|V=[01]")
_NPM_WORDS = re.compile(r"(?:(?:-s|--silent) )?(?:run(?:-script)? (?:(?:-s|--silent) )?[\w:.-]+|test|start)")
_NPM_START = re.compile(r"(?:^| )start$")
# Other settings may name a shell, or code that node loads.
_PLAIN_NPM_SETTING = re.compile(
    r"(?:[#;].*|(?:@[\w.-]+:)?registry\s*=\s*https?://[^\s\"'$]+|"
    r"(?:audit|engine-strict|fund|legacy-peer-deps|loglevel|progress|save-exact|update-notifier)\s*=\s*[\w-]+)?"
)
_TIMEOUT = re.compile(r"\d+(?:\.\d+)?[smhd]?")


class WorkspaceCode(NamedTuple):
    """The files that decide what a command runs."""

    is_known: bool
    """Whether these files alone decide: none of them is a link, and the words name no other code."""
    files: tuple[str, ...]
    """Paths of the files; also of those that would come first, or count too, if they existed."""


_UNKNOWN = WorkspaceCode(False, ())


def workspace_code(words: Sequence[str], folder: WorkspaceFolder, programs: InstalledPrograms) -> WorkspaceCode:
    """The code that a command of literal words runs in a folder."""
    words = _without_wrapper(words, programs)
    if not words:
        return _UNKNOWN
    if is_outside_system_folders(words[0]):
        return _script(words, folder, programs)
    if not programs.is_installed(words[0]):
        return _UNKNOWN
    program = plain_name(words[0])
    if program in MAKES:
        return _makefile(words, folder)
    if program == "npm":
        return _package(words, folder)
    operand = script_operand(words)
    path = folder.regular_file(operand) if operand is not None else None
    return _UNKNOWN if path is None else WorkspaceCode(True, (path,))


def _without_wrapper(words: Sequence[str], programs: InstalledPrograms) -> Sequence[str]:
    """The words behind `time` or `timeout SECONDS`."""
    if programs.has_folder_inside:
        return words
    if words[0] == "time" and words[1:] and not words[1].startswith("-"):
        return words[1:]
    if words[0] == "timeout" and programs.is_installed("timeout") and words[2:] and _TIMEOUT.fullmatch(words[1]):
        return words[2:]
    return words


def _script(words: Sequence[str], folder: WorkspaceFolder, programs: InstalledPrograms) -> WorkspaceCode:
    path = folder.regular_file(words[0])
    if path is None or plain_name(words[0]) in SHELLS | INTERPRETERS | {*MAKES, "npm"}:
        return _UNKNOWN
    interpreter = interpreter_of(path)
    if interpreter is None and _is_binary(path):
        is_known = len(words) == 1  # the binary may be an interpreter, whose arguments decide what runs
    else:
        is_known = interpreter is None or programs.is_interpreter_installed(interpreter)
    return WorkspaceCode(is_known, (path,))


def _makefile(words: Sequence[str], folder: WorkspaceFolder) -> WorkspaceCode:
    files = tuple(os.path.join(folder.path, name) for name in (*MAKEFILES, *MAKEFILE_SOURCES))
    first = next((name for name in MAKEFILES if os.path.lexists(os.path.join(folder.path, name))), None)
    is_plain = first is not None and folder.regular_file(first) is not None
    is_remade = any(os.path.lexists(os.path.join(folder.path, name)) for name in MAKEFILE_SOURCES)
    return WorkspaceCode(is_plain and not is_remade and all(map(_MAKE_WORDS.fullmatch, words[1:])), files)


def _package(words: Sequence[str], folder: WorkspaceFolder) -> WorkspaceCode:
    """The package that npm runs. npm looks for workspaces in the folders above the package, and takes their
    settings."""
    command = " ".join(words[1:])
    folders = list(folder.upward())
    files = tuple(os.path.join(parent.path, name) for parent in folders for name in (PACKAGE, _NPM_SETTINGS))
    is_known = (
        _NPM_WORDS.fullmatch(command) is not None
        and "node_modules" not in folder.path.split("/")
        and folder.regular_file(PACKAGE) is not None
        and all(map(_has_plain_npm_settings, folders))
        # Without a script of this name, `npm start` runs server.js.
        and (_NPM_START.search(command) is None or _has_start_script(os.path.join(folder.path, PACKAGE)))
    )
    return WorkspaceCode(is_known, files)


def _has_plain_npm_settings(folder: WorkspaceFolder) -> bool:
    if not os.path.lexists(os.path.join(folder.path, _NPM_SETTINGS)):
        return True
    path = folder.regular_file(_NPM_SETTINGS)
    text = _text(path) if path is not None else None
    return text is not None and all(_PLAIN_NPM_SETTING.fullmatch(line.strip()) for line in text.splitlines())


def _has_start_script(package: str) -> bool:
    try:
        data = json.loads(_text(package) or "")
    except (ValueError, RecursionError):
        return False
    scripts = data.get("scripts") if isinstance(data, dict) else None
    return isinstance(scripts, dict) and isinstance(scripts.get("start"), str) and bool(scripts["start"])


def _is_binary(path: str) -> bool:
    try:
        with open_regular_file(path) as file:
            return file.read(len(_BINARY)) == _BINARY
    except OSError:
        return True


def _text(path: str) -> str | None:
    """The text of a file; None for a file that cannot be read, or that is too large to be a plain one."""
    try:
        with open_regular_file(path) as file:
            data = file.read(MAX_PACKAGE_BYTES + 1)
    except OSError:
        return None
    return data.decode(errors="replace") if len(data) <= MAX_PACKAGE_BYTES else None
