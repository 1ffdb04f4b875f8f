"""Names that mean something on this machine: programs, commands of the shell, and paths."""

import os
import shutil

_SHELL_COMMANDS = frozenset(
    """
    alias bg cd command echo eval exec exit export fg jobs kill local pwd read return set shift source sudo test time
    trap type ulimit umask unset wait if then else fi for while do done case esac
    """.split()  # noqa: SIM905
)
_MAX_NAME_CHARACTERS = 255


def is_program_or_path(name: str, *, folder: str | None, path: str) -> bool:
    """Whether `name` is a program on the PATH `path`, a command of the shell, an absolute path, or a path relative to
    `folder`."""
    if not name or len(name) > _MAX_NAME_CHARACTERS or "\0" in name:
        return False
    is_program = name in _SHELL_COMMANDS or shutil.which(name, path=path) is not None
    return is_program or os.path.lexists(os.path.join(folder or "/", name))
