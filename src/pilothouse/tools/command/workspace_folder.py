"""A folder of the workspace in which commands run, and the files that literal words name from there."""

import os
import stat
from collections.abc import Iterator

from pilothouse.system.file_inspection import real_path


class WorkspaceFolder:
    """A folder at or below the root of the workspace."""

    def __init__(self, root: str, path: str) -> None:
        self.root = os.path.normpath(root)
        self.path = os.path.normpath(path)

    def file(self, word: str) -> str | None:
        """The path of the file that a word names. None for a path that leaves the workspace or crosses a link, which
        may lead elsewhere by the time that a command follows it."""
        path = os.path.normpath(os.path.join(self.path, word))
        if path != self.root and not path.startswith(self.root.rstrip("/") + "/"):
            return None
        expected = os.path.normpath(os.path.join(real_path(self.root), os.path.relpath(path, self.root)))
        return path if real_path(os.path.join(self.path, word)) == expected else None

    def regular_file(self, word: str) -> str | None:
        """The path of the regular file that a word names; None also where no such file exists."""
        path = self.file(word)
        return path if path is not None and os.path.isfile(path) else None

    def folder(self, word: str) -> "WorkspaceFolder | None":
        """The existing folder that a word names."""
        path = self.file(word)
        return WorkspaceFolder(self.root, path) if path is not None and os.path.isdir(path) else None

    def upward(self) -> "Iterator[WorkspaceFolder]":
        """This folder, and those above it up to the root of the workspace."""
        path = self.path
        while True:
            yield WorkspaceFolder(self.root, path)
            if path == self.root or path == os.path.dirname(path):
                return
            path = os.path.dirname(path)

    def is_writable_alone(self, word: str) -> bool:
        """Whether writing to a word changes a file of the workspace and no other: a regular file with one name, or a
        file that does not exist yet."""
        path = self.file(word)
        if path is None:
            return False
        try:
            status = os.lstat(path)
        except FileNotFoundError:
            return True
        except OSError:
            return False
        return stat.S_ISREG(status.st_mode) and status.st_nlink == 1
