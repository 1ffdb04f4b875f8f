"""Inspect the files that the words of a command line may name, within bounds: a hostile folder or command chooses the
words."""

import contextlib
import hashlib
import os
import stat
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from pilothouse.domain.runner_files import MAX_PATH_CHARACTERS, PACKAGE
from pilothouse.system.regular_file import open_regular_file

MAX_FOLDERS = 32
MAX_LOOKUPS = 10_000
"""The limit on paths that one inspection looks up."""
MAX_HASHED_BYTES = 64 * 1024 * 1024
"""The limit on bytes that one inspection hashes. Further files are identified by inode, size and times."""
MAX_PACKAGE_BYTES = 1024 * 1024
"""The limit on bytes of package.json files that one inspection reads for the files they name."""
_CHUNK_BYTES = 1024 * 1024
_NOT_AS_WRITTEN = "not as written"
"""The state of a file that has changed since a known call wrote it. No recorded state equals this text."""


class WrittenFile(NamedTuple):
    """A file that a known call has written since a person saw the preview, by the hashes of its contents."""

    before: str | None
    """The hash before the call; None for a file that the call created."""
    after: str
    """The hash after the call."""


class FileInspection:
    """Inspects the files that words may name, relative to a folder and to the folders that the words name."""

    def __init__(self, start: str, written: Mapping[str, WrittenFile] | None = None) -> None:
        self._written = written or {}
        self.folders = [start]
        self.states: dict[str, str] = {}
        """The states of regular files by path: the hash of the content or, beyond the bound, the identity."""
        self.is_complete = True
        """Whether all paths that the words name were inspected. The bound on hashed bytes does not omit any."""
        self._lookups_left = MAX_LOOKUPS
        self._bytes_left = MAX_HASHED_BYTES

    def find_folders(self, words: Iterable[str]) -> bool:
        """Add the folders that words name relative to the folders known so far. Return whether any were added."""
        before = len(self.folders)
        for path in self._candidates(words, self.folders[:before]):
            if path not in self.folders and os.path.isdir(path):
                if len(self.folders) == MAX_FOLDERS:
                    self.is_complete = False
                    break
                self.folders.append(path)
        return len(self.folders) > before

    def paths(self, words: Iterable[str]) -> Iterator[str]:
        """Yield the paths that words name relative to each folder. A path may be repeated."""
        return self._candidates(words, self.folders)

    def count_lookups(self, lookups: int = 1) -> bool:
        """Count the lookups of one more path. False if they exceed the bound."""
        self._lookups_left -= max(lookups, 1)
        self.is_complete = self.is_complete and self._lookups_left >= 0
        return self._lookups_left >= 0

    def add(self, path: str) -> None:
        """Record the state of a regular file. A file with exactly the content that a known call wrote gets its state
        before that call."""
        if path in self.states:
            return
        state = self._present_state(path)
        if (written := self._written.get(path)) is not None:
            is_as_written = state == written.after and real_path(path) == path
            state = written.before if is_as_written else _NOT_AS_WRITTEN
        if state is not None:
            self.states[path] = state

    def packages(self) -> Iterator[str]:
        """Yield the texts of the package.json files among the inspected files."""
        bytes_left = MAX_PACKAGE_BYTES
        for path in [path for path in self.states if os.path.basename(path) == PACKAGE]:
            try:
                with open_regular_file(path, follow_links=True) as file:
                    data = file.read(bytes_left + 1)
            except OSError:
                continue
            bytes_left -= len(data)
            if bytes_left < 0:
                self.is_complete = False
                return
            yield data.decode(errors="replace")

    def _candidates(self, words: Iterable[str], folders: list[str]) -> Iterator[str]:
        visited: set[str] = set()
        for word in words:
            if word in visited or len(word) > MAX_PATH_CHARACTERS:
                continue
            visited.add(word)
            for folder in folders[:1] if os.path.isabs(word) else folders:
                if not self.count_lookups(word.count("/") if ".." in word else 1):
                    return
                yield from path_candidates(folder, word)

    def _present_state(self, path: str) -> str | None:
        """Return the state of a path; None if the path is not a regular file."""
        try:
            status = os.stat(path)
        except (OSError, ValueError):  # ValueError: no file can have such a name
            return None
        return self._state(path, status.st_size) if stat.S_ISREG(status.st_mode) else None

    def _state(self, path: str, size: int) -> str:
        if size > self._bytes_left:
            return identity(path)
        digest = hashlib.sha256()
        try:
            with open_regular_file(path, follow_links=True) as file:
                while chunk := file.read(_CHUNK_BYTES):
                    digest.update(chunk)
                    self._bytes_left -= len(chunk)
                    if self._bytes_left < 0:  # the file has grown since its size was read
                        return identity(path)
        except OSError:
            return identity(path)
        return digest.hexdigest()


def path_candidates(folder: str, word: str) -> tuple[str, ...]:
    """Return the paths that a word may name in a folder. After a symbolic link, the kernel resolves `..` in the link's
    target, but `cd` resolves the text, so that both paths count. A word that is not a valid path names none."""
    path = os.path.join(folder, word)
    if not _is_name(path):
        return ()
    plain = os.path.normpath(path)
    if ".." not in path.split("/"):
        return (plain,)
    return tuple(dict.fromkeys((plain, real_path(path))))


def real_path(path: str | os.PathLike[str]) -> str:
    """Resolve the symbolic links of a path. A path whose links change at every attempt is returned unresolved:
    opening it fails."""
    for _ in range(10):
        with contextlib.suppress(OSError):
            return os.path.realpath(path)
    return os.path.normpath(path)


def _is_name(path: str) -> bool:
    try:
        return b"\0" not in os.fsencode(path)
    except UnicodeEncodeError:  # JSON can contain a lone surrogate
        return False


def identity(path: str) -> str:
    """Return a text that identifies a file and its version without a read: the times change with every write."""
    try:
        status = os.stat(path)
    except OSError as error:
        return str(error.errno)
    if stat.S_ISDIR(status.st_mode):
        return f"{status.st_dev} {status.st_ino}"
    return f"{status.st_dev} {status.st_ino} {status.st_size} {status.st_mtime_ns} {status.st_ctime_ns}"
