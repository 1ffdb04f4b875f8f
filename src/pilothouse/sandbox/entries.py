"""Entries of a workspace, files and links alike: compared, restored and removed, for undo. No link is followed.

Protected files can be restored, for they then have their former content; the runtime's own files cannot.
"""

import contextlib
import hashlib
import os
import stat
from collections.abc import Iterator, Set
from typing import NamedTuple

from pilothouse.domain.codes import Code
from pilothouse.domain.errors import ToolError
from pilothouse.sandbox.atomic_write import as_tool_errors, put_link, replace_workspace_file
from pilothouse.sandbox.file_names import escape
from pilothouse.sandbox.openat import FOLDER_FLAGS, FolderOpener
from pilothouse.sandbox.workspace import ABSENT, Workspace
from pilothouse.system.regular_file import SAFE_FLAGS, NotRegularFile, open_regular_file

FOLDER = "folder"
OTHER = "other"
BLOCKED = "blocked"
MAX_HASHED_BYTES = 64 * 1024 * 1024
_MAX_CHECKED_ENTRIES = 100_000
_LINK_PREFIX = "link:"


class EntryState(NamedTuple):
    """The state of the entry at a path, without following a link."""

    content: str
    """The digest of a file's content or, after `link:`, of a link's target; ABSENT, FOLDER, OTHER, or BLOCKED where a
    file lies in the place of a parent folder."""
    stat: str = ""
    """Identifies a file by its status: enough to detect a change where the content was not read."""
    bits: int | None = None
    """The permission bits; None for ABSENT and BLOCKED."""

    def is_named(self, name: str) -> bool:
        return name in (self.content, self.stat)

    @property
    def is_unread(self) -> bool:
        """Whether the entry is a file whose content was not read: too large, or unreadable."""
        return self.content == self.stat


_NO_ENTRY = EntryState(ABSENT)


def _state(dir_fd: int, name: str) -> EntryState:
    """Raises: OSError."""
    try:
        status = os.stat(name, dir_fd=dir_fd, follow_symlinks=False)
    except FileNotFoundError:
        return _NO_ENTRY
    stat_and_bits = _stat_and_bits(status)
    if stat.S_ISLNK(status.st_mode):
        return EntryState(link_name(os.fsencode(os.readlink(name, dir_fd=dir_fd))), *stat_and_bits)
    if not stat.S_ISREG(status.st_mode):
        return EntryState(FOLDER if stat.S_ISDIR(status.st_mode) else OTHER, *stat_and_bits)
    if status.st_size > MAX_HASHED_BYTES:
        return EntryState(stat_and_bits[0], *stat_and_bits)
    try:
        with open_regular_file(name, dir_fd=dir_fd) as file:
            return EntryState(hashlib.file_digest(file, "sha256").hexdigest(), *stat_and_bits)
    except PermissionError:  # the status still shows a change
        return EntryState(stat_and_bits[0], *stat_and_bits)


def _opened_state(fd: int) -> EntryState:
    """The state of an open file or folder, whatever its name means by now. Raises: OSError."""
    status = os.fstat(fd)
    stat_and_bits = _stat_and_bits(status)
    if not stat.S_ISREG(status.st_mode):
        return EntryState(FOLDER if stat.S_ISDIR(status.st_mode) else OTHER, *stat_and_bits)
    if status.st_size > MAX_HASHED_BYTES:
        return EntryState(stat_and_bits[0], *stat_and_bits)
    with open(os.dup(fd), "rb") as file:
        return EntryState(hashlib.file_digest(file, "sha256").hexdigest(), *stat_and_bits)


def _stat_and_bits(status: os.stat_result) -> tuple[str, int]:
    return stat_name(status.st_size, status.st_mtime_ns, status.st_ino), stat.S_IMODE(status.st_mode)


def stat_name(size: int, mtime_ns: int, inode: int) -> str:
    return f"stat:{size}:{mtime_ns}:{inode}"


def link_name(target: bytes) -> str:
    return f"{_LINK_PREFIX}{hashlib.sha256(target).hexdigest()}"


def is_link_name(name: str) -> bool:
    """Whether a state's name is that of a link's target."""
    return name.startswith(_LINK_PREFIX)


class Entries:
    """The entries of one workspace and of the folders beside it."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace

    def _redirect(self, path: str) -> "tuple[Entries, str] | None":
        redirection = self._workspace.redirect(path)
        return (Entries(redirection[0]), redirection[1]) if redirection is not None else None

    def state(self, path: str) -> EntryState:
        """The state of the entry at a path; a link is not followed. Raises: ToolError."""
        if (redirection := self._redirect(path)) is not None:
            return redirection[0].state(redirection[1])
        try:
            with self._folder(path) as (dir_fd, name):
                return _state(dir_fd, name)
        except ToolError as error:
            if error.reason.code is Code.FILE_MISSING:
                return _NO_ENTRY
            if error.reason.code is Code.NOT_A_DIRECTORY:
                return EntryState(BLOCKED, ABSENT)
            raise

    def status(self, path: str) -> os.stat_result | None:
        """The status of an entry; None where there is none. Raises: ToolError where the status cannot be read."""
        if (redirection := self._redirect(path)) is not None:
            return redirection[0].status(redirection[1])
        try:
            with self._folder(path) as (dir_fd, name):
                return os.stat(name, dir_fd=dir_fd, follow_symlinks=False)
        except ToolError as error:
            if error.reason.code in (Code.FILE_MISSING, Code.NOT_A_DIRECTORY):
                return None
            raise

    def read(self, path: str, limit: int = MAX_HASHED_BYTES) -> bytes | None:
        """The content of a regular file, also of a protected one; None for another entry or a file over the limit.

        Raises: ToolError.
        """
        if (redirection := self._redirect(path)) is not None:
            return redirection[0].read(redirection[1], limit)
        with self._folder(path) as (dir_fd, name):
            try:
                file = open_regular_file(name, dir_fd=dir_fd)
            except NotRegularFile:
                return None
            with file:
                return file.read(limit) if os.fstat(file.fileno()).st_size <= limit else None

    def holds_only(self, path: str, names: Set[str]) -> bool:
        """Whether every file beneath a folder is one of these paths. Raises: ToolError."""
        count, folders = 0, [path]
        while folders:
            folder = folders.pop()
            with self._workspace.directory(folder) as fd, os.scandir(fd) as entries:
                for entry in entries:
                    entry_path = os.path.join(folder, escape(entry.name))
                    count += 1
                    if entry.is_dir(follow_symlinks=False):
                        folders.append(entry_path)
                    elif entry_path not in names or count > _MAX_CHECKED_ENTRIES:
                        return False
        return True

    def put(self, path: str, data: bytes, *, expected: str, mode: int | None, is_link: bool) -> None:
        """Replace the entry at a path by a file or a link, if the entry is still the expected one.

        Protected files are replaced too: undo restores their former content. Raises: ToolError.
        """
        if (redirection := self._redirect(path)) is not None:
            redirection[0].put(redirection[1], data, expected=expected, mode=mode, is_link=is_link)
            return
        with self._parent(path, expected) as (dir_fd, name):
            if is_link:
                put_link(dir_fd, name, data)
                return
            status = os.stat(name, dir_fd=dir_fd, follow_symlinks=False) if expected != ABSENT else None
            before = status if status is not None and stat.S_ISREG(status.st_mode) else None
            replace_workspace_file(dir_fd, name, data, before, mode if mode is not None else 0o600)

    def remove(self, path: str, *, expected: str) -> None:
        """Remove a file or a link that is still the expected one. Raises: ToolError."""
        if (redirection := self._redirect(path)) is not None:
            redirection[0].remove(redirection[1], expected=expected)
            return
        with self._parent(path, expected) as (dir_fd, name):
            os.unlink(name, dir_fd=dir_fd)

    def set_bits(self, path: str, mode: int, *, expected: str) -> None:
        """Change the permission bits of a file that is still the expected one, or of a folder. Raises: ToolError."""
        if (redirection := self._redirect(path)) is not None:
            redirection[0].set_bits(redirection[1], mode, expected=expected)
            return
        with self._parent(path, expected) as (dir_fd, name):
            fd = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | SAFE_FLAGS, dir_fd=dir_fd)  # a file or a folder
            try:
                if not _opened_state(fd).is_named(expected):
                    raise ToolError(Code.FILE_CHANGED, path=path)
                os.fchmod(fd, mode)
            finally:
                os.close(fd)

    def remove_empty_folder(self, path: str) -> bool:
        """Remove a folder that exists and is empty; returns whether a folder was removed."""
        if (redirection := self._redirect(path)) is not None:
            return redirection[0].remove_empty_folder(redirection[1])
        with contextlib.suppress(ToolError), self._folder(path) as (dir_fd, name):
            os.rmdir(name, dir_fd=dir_fd)
            return True
        return False

    def make_folder(self, path: str, bits: int) -> bool:
        """Create a folder with its parents; returns whether the folder is new. Raises: ToolError."""
        if (redirection := self._redirect(path)) is not None:
            return redirection[0].make_folder(redirection[1], bits)
        with self._parent(path, None) as (dir_fd, name):
            try:
                os.mkdir(name, 0o700, dir_fd=dir_fd)
            except FileExistsError:
                return False
            # By descriptor: a link may have taken the folder's place, and `chmod` by name would follow it.
            fd = os.open(name, FOLDER_FLAGS, dir_fd=dir_fd)
            try:
                os.fchmod(fd, bits)
            finally:
                os.close(fd)
            return True

    @contextlib.contextmanager
    def _folder(self, path: str) -> Iterator[tuple[int, str]]:
        """The open parent folder of a path, and the name in it. Raises: ToolError."""
        with as_tool_errors(path), self._workspace.root_fd() as root_fd:
            *folders, name = self._workspace.relative(path).split("/")
            with contextlib.closing(FolderOpener(root_fd)) as opener:
                yield opener.open(folders), name

    @contextlib.contextmanager
    def _parent(self, path: str, expected: str | None) -> Iterator[tuple[int, str]]:
        """As `_folder`, for a change: the parent is created where it is missing. Raises: ToolError."""
        if not self._workspace.is_writable:
            raise ToolError(Code.PROTECTED_PATH, path=path)
        with as_tool_errors(path), self._workspace.root_fd() as root_fd:
            *folders, name = self._workspace.relative(path).split("/")
            if self._workspace.is_private(str(self._workspace.root.joinpath(*folders, name))):
                raise ToolError(Code.PROTECTED_PATH, path=path)
            with contextlib.closing(FolderOpener(root_fd)) as opener:
                dir_fd = opener.open(folders, make=True)
                if expected is not None and not _state(dir_fd, name).is_named(expected):
                    raise ToolError(Code.FILE_CHANGED, path=path)
                yield dir_fd, name
