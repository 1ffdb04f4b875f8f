"""Programs found on the PATH: whether a name starts an installed program, or something that the workspace decides."""

import itertools
import os
import re
import shutil
from collections.abc import Sequence
from functools import cached_property

from pilothouse.domain.runner_files import plain_name
from pilothouse.domain.system_programs import SHELLS, SYSTEM_FOLDERS, is_fixed_folder
from pilothouse.sandbox.shell.options import names
from pilothouse.system.file_inspection import real_path
from pilothouse.system.regular_file import open_regular_file

_MAX_FIRST_LINE_BYTES = 512
_MAX_INTERPRETERS = 4
"""The kernel follows a chain of as many scripts."""
_SHIM_FOLDERS = frozenset({"shims", ".shims", "corepack"})
# Programs that stand behind the names of others and read from files of the folder which version to start
# (`.python-version`, `.tool-versions`, `mise.toml`, `rust-toolchain.toml`, `package.json`).
_VERSION_MANAGERS = names(
    "aqua asdf devbox fnm goenv jenv jabba mise nodenv nodist phpenv pkgx plenv proto proto-shim pyenv rbenv rtx "
    "rustup rustup-init sdk tea tfenv tfswitch vfox volta volta-shim corepack"
)
_DISTRIBUTION_FOLDERS = SYSTEM_FOLDERS - {"/usr/local/bin"}
"""The folders in which the distribution links names to alternatives of a program."""
_ALTERNATIVES = names("bash busybox bzip2 clang coreutils dash gawk gcc gmake gzip mawk nodejs nvim toybox vim xz zstd")
"""Programs that links of other names start, and that read no file of the folder to choose another program."""
_SEPARATORS = re.compile(r"[^A-Za-z]+")
_HELPERS = names("awk bash bzip2 cat echo env expr git gpg grep gzip less sed sh ssh xz zstd")
BUILTINS = names(
    ": [ [[ bg break builtin cd command continue declare dirs echo exec exit export false fg getopts hash history jobs "
    "kill local popd printf pushd pwd read readonly return set shift test times true type typeset ulimit umask unset "
    "wait"
)
"""Commands that bash runs itself, whatever lies on the PATH."""


class InstalledPrograms:
    """The programs of one PATH."""

    def __init__(self, path: str, root: str) -> None:
        """`path` is the PATH of the commands, `root` the workspace."""
        self._path = path
        self._root = real_path(root)
        self._folders = path.split(os.pathsep)
        self._has_relative_folder = not all(map(is_fixed_folder, self._folders))
        self._is_plain_by_name: dict[str, bool] = {}

    @cached_property
    def has_folder_inside(self) -> bool:
        """Whether a program of the workspace can take the place of any installed one."""
        return self._has_relative_folder or any(map(self._is_inside, self._folders))

    @cached_property
    def are_helpers_installed(self) -> bool:
        """Whether installed programs that start others by name (`egrep`, `tar`, `xargs`, git) start installed ones."""
        return not self.has_folder_inside and all(self._is_found_plain(name, 1) for name in _HELPERS)

    def find(self, name: str) -> str | None:
        return shutil.which(name, path=self._path) if "\0" not in name else None

    def may_be_of_workspace(self, name: str) -> bool:
        """Whether a name starts a program in the workspace, or may do so, because an entry of the PATH comes first that
        is another folder for each command."""
        fixed = list(itertools.takewhile(is_fixed_folder, self._folders))
        program = shutil.which(name, path=os.pathsep.join(fixed)) if fixed and "\0" not in name else None
        if program is None:
            return self._has_relative_folder
        return self._is_inside(program) or self._is_inside(real_path(program))

    def is_installed(self, name: str) -> bool:
        """Whether a name starts a builtin of the shell, or a program outside of the workspace that reads no file of the
        folder to choose which program to start. A name that is not found starts nothing."""
        if name in BUILTINS:
            return True
        if self._has_relative_folder:
            return False
        if name not in self._is_plain_by_name:
            self._is_plain_by_name[name] = self._is_found_plain(name)
        return self._is_plain_by_name[name]

    def is_interpreter_installed(self, interpreter: Sequence[str]) -> bool:
        """Whether a script of the workspace, with these words behind `#!`, is run by an installed program, or by one of
        the workspace that the words name by its path."""
        word = _started_program(interpreter)
        is_of_workspace = "/" in word and (not os.path.isabs(word) or self._is_inside(word))
        return is_of_workspace or (not self._has_relative_folder and self._is_found_plain(word, 1))

    def _is_found_plain(self, name: str, depth: int = 0) -> bool:
        program = name if os.path.isabs(name) else self.find(name)
        return program is None or self._is_plain(program, depth)

    def _is_plain(self, program: str, depth: int) -> bool:
        """`depth` is above zero for a program that another one starts."""
        real = real_path(program)
        if depth > _MAX_INTERPRETERS or self._is_inside(program) or self._is_inside(real):
            return False
        if not _SHIM_FOLDERS.isdisjoint(program.split("/")) or not _SHIM_FOLDERS.isdisjoint(real.split("/")):
            return False
        if os.path.basename(real) in _VERSION_MANAGERS or not _keeps_name(program, real):
            return False
        interpreter = interpreter_of(real)
        return interpreter is None or self._is_script_plain(program, interpreter, depth)

    def _is_script_plain(self, program: str, interpreter: Sequence[str], depth: int) -> bool:
        """Whether an installed script, which starts other programs by name, is plain."""
        if self.has_folder_inside or not _VERSION_MANAGERS.isdisjoint(map(os.path.basename, interpreter)):
            return False
        if any(os.path.basename(word) in SHELLS for word in interpreter):
            # Managers of versions put scripts of a shell into the PATH; package managers put scripts of the language.
            return os.path.dirname(program) in SYSTEM_FOLDERS and (depth > 0 or self.are_helpers_installed)
        is_outside = not any(map(self._is_inside, interpreter))
        return is_outside and self._is_found_plain(_started_program(interpreter), depth + 1)

    def _is_inside(self, path: str) -> bool:
        return (real_path(path) + "/").startswith(self._root + "/") or (path + "/").startswith(self._root + "/")


def interpreter_of(program: str) -> Sequence[str] | None:
    """The words behind `#!`; None for a program that is no script."""
    try:
        with open_regular_file(program, follow_links=True) as file:
            line = file.readline(_MAX_FIRST_LINE_BYTES)
    except OSError:
        return None
    return line[2:].decode(errors="replace").split() if line.startswith(b"#!") else None


def _started_program(interpreter: Sequence[str]) -> str:
    """The program that runs a script with these words behind `#!`: its path, or its name behind `env`."""
    program, *args = interpreter or ("sh",)
    if os.path.basename(program) != "env":
        return program
    return next((word for word in args if not word.startswith("-") and "=" not in word), program)


def _keeps_name(program: str, real: str) -> bool:
    """Whether a program is no link to one of another name, which may choose what to start by a file of the folder.
    Links of the distribution lead to alternatives."""
    if os.path.dirname(program) in _DISTRIBUTION_FOLDERS or plain_name(real) in _ALTERNATIVES:
        return True
    name = plain_name(program)
    return plain_name(real) == name or name in _SEPARATORS.split(os.path.basename(real))
