"""Programs found on the PATH: whether a name starts an installed program, or something that the workspace decides."""

import os
import shutil
from collections.abc import Sequence

from pilothouse.domain.system_programs import SHELLS, SYSTEM_FOLDERS
from pilothouse.sandbox.shell.options import names
from pilothouse.system.file_inspection import real_path
from pilothouse.system.regular_file import open_regular_file

_MAX_FIRST_LINE_BYTES = 512
_SHIM_FOLDERS = frozenset({"shims", ".shims"})
# Programs that stand behind the names of others and read from files of the folder which version to start
# (`.python-version`, `.tool-versions`, `mise.toml`, `rust-toolchain.toml`, `package.json`).
_VERSION_MANAGERS = names(
    "asdf fnm goenv jenv jabba mise nodenv nodist phpenv plenv proto proto-shim pyenv rbenv rtx rustup rustup-init "
    "sdk tfenv tfswitch vfox volta volta-shim corepack"
)
BUILTINS = names(
    ": [ [[ bg break builtin cd command continue declare dirs echo exec exit export false fg getopts hash history jobs "
    "kill local popd printf pushd pwd read readonly return set shift test times true type typeset ulimit umask unset "
    "wait"
)
"""Commands that bash runs itself, whatever lies on the PATH."""


class InstalledPrograms:
    """The programs of one PATH."""

    def __init__(self, path: str | None, root: str) -> None:
        """`path` is the PATH of the commands, `root` the workspace."""
        self._path = path
        self._root = real_path(root)
        folders = (path if path is not None else os.defpath).split(os.pathsep)
        self._has_relative_folder = not all(map(os.path.isabs, folders))
        self.has_folder_inside = self._has_relative_folder or any(map(self._is_inside, folders))
        """Whether a program of the workspace can take the place of any installed one."""
        self._is_plain_by_name: dict[str, bool] = {}

    def find(self, name: str) -> str | None:
        return shutil.which(name, path=self._path) if "\0" not in name else None

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

    def _is_found_plain(self, name: str) -> bool:
        program = name if os.path.dirname(name) in SYSTEM_FOLDERS else self.find(name)
        return program is None or self._is_plain(program)

    def _is_plain(self, program: str) -> bool:
        real = real_path(program)
        if self._is_inside(program) or self._is_inside(real):
            return False
        if not _SHIM_FOLDERS.isdisjoint(program.split("/")) or not _SHIM_FOLDERS.isdisjoint(real.split("/")):
            return False
        if os.path.basename(real) in _VERSION_MANAGERS:
            return False
        interpreter = interpreter_of(real)
        if interpreter is not None and self.has_folder_inside:
            return False  # installed scripts start other programs by name
        if interpreter is None or os.path.dirname(program) in SYSTEM_FOLDERS:
            return True
        # Managers of versions put scripts of a shell into the PATH; package managers put scripts of the language.
        is_shell = any(os.path.basename(word) in SHELLS for word in interpreter)
        return not is_shell and not any(map(self._is_inside, interpreter))

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
