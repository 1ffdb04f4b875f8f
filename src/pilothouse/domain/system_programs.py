"""Names of shells, and the folders in which a system installs its programs."""

import posixpath

POSIX_SHELLS = frozenset({"sh", "dash", "ash", "ksh", "mksh", "bash"})
"""Shells whose scripts the grammar of command lines reads."""
SHELLS = POSIX_SHELLS | {"zsh", "fish"}
SHELL_FLAGS = frozenset("aefhnuvx")
"""Letters of options of a shell that take no value, and make it read no other file than its script."""
SYSTEM_FOLDERS = frozenset({"/bin", "/usr/bin", "/sbin", "/usr/sbin", "/usr/local/bin"})


def lies_elsewhere(program: str) -> bool:
    """Whether a command names its program by a path outside of the system's folders."""
    return "/" in program and posixpath.dirname(program) not in SYSTEM_FOLDERS
