"""Names of shells, the folders with the system's programs, and entries of a PATH."""

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


def is_fixed_folder(entry: str) -> bool:
    """Whether an entry of a PATH is the same folder for every process: a relative one is not, nor one below /proc or
    /dev, where `/proc/self/cwd` and `/dev/fd` lead each process to folders of its own."""
    first = posixpath.normpath(entry).lstrip("/").partition("/")[0]
    return entry.startswith("/") and first not in ("proc", "dev")
