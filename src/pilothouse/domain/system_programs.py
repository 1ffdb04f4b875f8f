"""Names of shells, and the folders with the system's programs."""

import posixpath

POSIX_SHELLS = frozenset({"sh", "dash", "ash", "ksh", "mksh", "bash"})
"""Shells whose scripts the command line grammar parses."""
SHELLS = POSIX_SHELLS | {"zsh", "fish"}
SHELL_FLAGS = frozenset("aefhnuvx")
"""Letters of shell options that take no value and make the shell read no file besides its script."""
SYSTEM_FOLDERS = frozenset({"/bin", "/usr/bin", "/sbin", "/usr/sbin", "/usr/local/bin"})


def is_outside_system_folders(program: str) -> bool:
    """Whether a command names its program by a path outside the system folders."""
    return "/" in program and posixpath.dirname(program) not in SYSTEM_FOLDERS
