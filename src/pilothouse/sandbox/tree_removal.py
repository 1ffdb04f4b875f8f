"""Removal of a folder that a command has filled. No link is followed, and no mode is set by a path.

`tempfile.TemporaryDirectory` changes modes by `chmod` before removing, which follows links (CVE-2023-6597).
"""

import contextlib
import os
import shutil

from pilothouse.sandbox.processes import remove_deep_tree

_MAX_UNLOCK_DEPTH = 200
"""Folders without access for their owner that lie deeper are not removed."""
# Only Linux has O_PATH, which also opens a folder without access for its owner.
_FOLDER_PATH = getattr(os, "O_PATH", os.O_RDONLY) | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


def remove_tree(folder: str) -> None:
    """Remove a folder, also where folders in it deny access to their owner. Blocks: call it in a thread."""
    _remove(folder)
    if os.path.lexists(folder):
        with contextlib.suppress(OSError):
            fd = os.open(folder, _FOLDER_PATH)
            try:
                _grant_access(fd, 0)
            finally:
                os.close(fd)
        _remove(folder)


def _remove(folder: str) -> None:
    try:
        shutil.rmtree(folder, ignore_errors=True)
    except RecursionError:  # Python cannot remove a tree that is a thousand folders deep
        remove_deep_tree(folder)


def _grant_access(fd: int, depth: int) -> None:
    """Give the owner access to a folder and all folders in it. Raises: OSError."""
    path = f"/proc/self/fd/{fd}"  # the open folder itself, whatever its name means by now
    os.chmod(path, 0o700)
    with os.scandir(path) as entries:
        names = [entry.name for entry in entries if entry.is_dir(follow_symlinks=False)]
    for name in names if depth < _MAX_UNLOCK_DEPTH else ():
        with contextlib.suppress(OSError):
            inner = os.open(name, _FOLDER_PATH, dir_fd=fd)
            try:
                _grant_access(inner, depth + 1)
            finally:
                os.close(inner)
