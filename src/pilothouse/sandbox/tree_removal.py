"""Removal of a folder that a command has filled. No link is followed, and no mode is set by a path.

`tempfile.TemporaryDirectory` opens up what it cannot remove by `chmod`, which follows links (CVE-2023-6597).
"""

import contextlib
import os
import shutil

from pilothouse.sandbox.processes import remove_deep_tree

_MAX_OPENED_DEPTH = 200
"""Closed folders that lie deeper stay where they are."""
# Only Linux has O_PATH, which also opens a folder that is closed to its owner.
_FOLDER_PATH = getattr(os, "O_PATH", os.O_RDONLY) | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


def remove_tree(folder: str) -> None:
    """Remove a folder, also where folders in it are closed to their owner. Blocks: call it in a thread."""
    _remove(folder)
    if os.path.lexists(folder):
        with contextlib.suppress(OSError):
            fd = os.open(folder, _FOLDER_PATH)
            try:
                _open_up(fd, 0)
            finally:
                os.close(fd)
        _remove(folder)


def _remove(folder: str) -> None:
    try:
        shutil.rmtree(folder, ignore_errors=True)
    except RecursionError:  # Python removes no tree that is a thousand folders deep
        remove_deep_tree(folder)


def _open_up(fd: int, depth: int) -> None:
    """Let the owner into a folder and all folders in it. Raises: OSError."""
    here = f"/proc/self/fd/{fd}"  # the folder itself, whatever lies at its path now
    os.chmod(here, 0o700)
    with os.scandir(here) as entries:
        names = [entry.name for entry in entries if entry.is_dir(follow_symlinks=False)]
    for name in names if depth < _MAX_OPENED_DEPTH else ():
        with contextlib.suppress(OSError):
            inner = os.open(name, _FOLDER_PATH, dir_fd=fd)
            try:
                _open_up(inner, depth + 1)
            finally:
                os.close(inner)
