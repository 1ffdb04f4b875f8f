"""Entries of a workspace as they are, files and links alike: looked at, put back, removed. No link is followed.

Undo uses them. Protected files can be put back, for then they hold again what they held; the runtime's own cannot.
"""

import contextlib
import hashlib
import os
import stat
from collections.abc import Iterator, Set
from typing import NamedTuple

from pilothouse.domain.codes import Code
from pilothouse.domain.errors import ToolError
from pilothouse.regular_file import SAFE_FLAGS, NotRegularFile, open_regular_file
from pilothouse.sandbox.beneath import FOLDER as OPEN_FOLDER
from pilothouse.sandbox.beneath import Way
from pilothouse.sandbox.file_names import escape
from pilothouse.sandbox.placing import as_tool_errors, draft_name, replace_file
from pilothouse.sandbox.workspace import ABSENT, Workspace

FOLDER = "folder"
OTHER = "other"
BLOCKED = "blocked"
MAX_HASHED_BYTES = 64 * 1024 * 1024
_MAX_HELD_ENTRIES = 100_000
_LINK = "link:"


class EntryState(NamedTuple):
    """What lies at a path, without following a link."""

    content: str
    """The digest of a file's content or, after `link:`, of where a link leads; ABSENT, FOLDER, OTHER, or BLOCKED where
    a file lies in the place of a folder above."""
    stat: str = ""
    """Names a file by its status: enough to notice a change where its content was not read."""
    bits: int | None = None

    def is_named(self, name: str) -> bool:
        return name in (self.content, self.stat)

    @property
    def is_unread(self) -> bool:
        """Whether it is a file whose content was not read: too large, or unreadable."""
        return self.content == self.stat


_NO_ENTRY = EntryState(ABSENT)


def _state(dir_fd: int, name: str) -> EntryState:
    """Raises: OSError."""
    try:
        status = os.stat(name, dir_fd=dir_fd, follow_symlinks=False)
    except FileNotFoundError:
        return _NO_ENTRY
    about = _about(status)
    if stat.S_ISLNK(status.st_mode):
        return EntryState(link_name(os.fsencode(os.readlink(name, dir_fd=dir_fd))), *about)
    if not stat.S_ISREG(status.st_mode):
        return EntryState(FOLDER if stat.S_ISDIR(status.st_mode) else OTHER, *about)
    if status.st_size > MAX_HASHED_BYTES:
        return EntryState(about[0], *about)
    try:
        with open_regular_file(name, dir_fd=dir_fd) as file:
            return EntryState(hashlib.file_digest(file, "sha256").hexdigest(), *about)
    except PermissionError:  # its status still tells whether it changed
        return EntryState(about[0], *about)


def _opened_state(fd: int) -> EntryState:
    """The state of what was opened, whatever has taken its place since. Raises: OSError."""
    status = os.fstat(fd)
    about = _about(status)
    if not stat.S_ISREG(status.st_mode):
        return EntryState(FOLDER if stat.S_ISDIR(status.st_mode) else OTHER, *about)
    if status.st_size > MAX_HASHED_BYTES:
        return EntryState(about[0], *about)
    with open(os.dup(fd), "rb") as file:
        return EntryState(hashlib.file_digest(file, "sha256").hexdigest(), *about)


def _about(status: os.stat_result) -> tuple[str, int]:
    return stat_name(status.st_size, status.st_mtime_ns, status.st_ino), stat.S_IMODE(status.st_mode)


def stat_name(size: int, mtime_ns: int, inode: int) -> str:
    return f"stat:{size}:{mtime_ns}:{inode}"


def link_name(target: bytes) -> str:
    return f"{_LINK}{hashlib.sha256(target).hexdigest()}"


def is_link_name(name: str) -> bool:
    """Whether a name stands for where a link leads."""
    return name.startswith(_LINK)


def _put_link(dir_fd: int, name: str, target: bytes) -> None:
    draft = draft_name()
    os.symlink(os.fsdecode(target), draft, dir_fd=dir_fd)
    try:
        os.replace(draft, name, src_dir_fd=dir_fd, dst_dir_fd=dir_fd)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(draft, dir_fd=dir_fd)
        raise


class Entries:
    """The entries of one workspace and of the folders beside it."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace

    def _elsewhere(self, path: str) -> "tuple[Entries, str] | None":
        elsewhere = self._workspace.elsewhere(path)
        return (Entries(elsewhere[0]), elsewhere[1]) if elsewhere is not None else None

    def look(self, path: str) -> EntryState:
        """What lies at a path; a link is not followed. Raises: ToolError."""
        if (elsewhere := self._elsewhere(path)) is not None:
            return elsewhere[0].look(elsewhere[1])
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
        """What the system tells of an entry; None where there is none. Raises: ToolError where nobody can tell."""
        if (elsewhere := self._elsewhere(path)) is not None:
            return elsewhere[0].status(elsewhere[1])
        try:
            with self._folder(path) as (dir_fd, name):
                return os.stat(name, dir_fd=dir_fd, follow_symlinks=False)
        except ToolError as error:
            if error.reason.code in (Code.FILE_MISSING, Code.NOT_A_DIRECTORY):
                return None
            raise

    def read(self, path: str, limit: int = MAX_HASHED_BYTES) -> bytes | None:
        """What a regular file holds, also a protected one; None where it is none, or too large. Raises: ToolError."""
        if (elsewhere := self._elsewhere(path)) is not None:
            return elsewhere[0].read(elsewhere[1], limit)
        with self._folder(path) as (dir_fd, name):
            try:
                file = open_regular_file(name, dir_fd=dir_fd)
            except NotRegularFile:
                return None
            with file:
                return file.read(limit) if os.fstat(file.fileno()).st_size <= limit else None

    def holds_only(self, path: str, names: Set[str]) -> bool:
        """Whether every file beneath a folder is one of these paths. Raises: ToolError."""
        inside, todo = 0, [path]
        while todo:
            folder = todo.pop()
            with self._workspace.directory(folder) as fd, os.scandir(fd) as entries:
                for entry in entries:
                    each = os.path.join(folder, escape(entry.name))
                    inside += 1
                    if entry.is_dir(follow_symlinks=False):
                        todo.append(each)
                    elif each not in names or inside > _MAX_HELD_ENTRIES:
                        return False
        return True

    def put(self, path: str, data: bytes, *, expected: str, mode: int | None, is_link: bool) -> None:
        """Replace what lies at a path by a file or a link, if it still is what is expected.

        Protected files are put back too: they hold again what they held. Raises: ToolError.
        """
        if (elsewhere := self._elsewhere(path)) is not None:
            elsewhere[0].put(elsewhere[1], data, expected=expected, mode=mode, is_link=is_link)
            return
        with self._parent(path, expected) as (dir_fd, name):
            if is_link:
                _put_link(dir_fd, name, data)
                return
            status = os.stat(name, dir_fd=dir_fd, follow_symlinks=False) if expected != ABSENT else None
            before = status if status is not None and stat.S_ISREG(status.st_mode) else None
            replace_file(dir_fd, name, data, before, mode if mode is not None else 0o600)

    def remove(self, path: str, *, expected: str) -> None:
        """Remove a file or a link that still is what is expected. Raises: ToolError."""
        if (elsewhere := self._elsewhere(path)) is not None:
            elsewhere[0].remove(elsewhere[1], expected=expected)
            return
        with self._parent(path, expected) as (dir_fd, name):
            os.unlink(name, dir_fd=dir_fd)

    def set_bits(self, path: str, mode: int, *, expected: str) -> None:
        """Change the permission bits of a file that still holds what is expected, or of a folder. Raises: ToolError."""
        if (elsewhere := self._elsewhere(path)) is not None:
            elsewhere[0].set_bits(elsewhere[1], mode, expected=expected)
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
        """Remove a folder if it is there and nothing is in it; gives whether it was removed."""
        if (elsewhere := self._elsewhere(path)) is not None:
            return elsewhere[0].remove_empty_folder(elsewhere[1])
        with contextlib.suppress(ToolError), self._folder(path) as (dir_fd, name):
            os.rmdir(name, dir_fd=dir_fd)
            return True
        return False

    def make_folder(self, path: str, bits: int) -> bool:
        """Make a folder with its parents; gives whether it was not there before. Raises: ToolError."""
        if (elsewhere := self._elsewhere(path)) is not None:
            return elsewhere[0].make_folder(elsewhere[1], bits)
        with self._parent(path, None) as (dir_fd, name):
            try:
                os.mkdir(name, 0o700, dir_fd=dir_fd)
            except FileExistsError:
                return False
            # By descriptor: a link may have taken the folder's place, and `chmod` by name would follow it.
            fd = os.open(name, OPEN_FOLDER, dir_fd=dir_fd)
            try:
                os.fchmod(fd, bits)
            finally:
                os.close(fd)
            return True

    @contextlib.contextmanager
    def _folder(self, path: str) -> Iterator[tuple[int, str]]:
        """The open folder that a path lies in and the name there. Raises: ToolError."""
        with as_tool_errors(path), self._workspace.root_fd() as root_fd:
            *folders, name = self._workspace.relative(path).split("/")
            with contextlib.closing(Way(root_fd)) as way:
                yield way.open(folders), name

    @contextlib.contextmanager
    def _parent(self, path: str, expected: str | None) -> Iterator[tuple[int, str]]:
        """The same to change what lies there, made where it is missing. Raises: ToolError."""
        if not self._workspace.is_writable:
            raise ToolError(Code.PROTECTED_PATH, path=path)
        with as_tool_errors(path), self._workspace.root_fd() as root_fd:
            *folders, name = self._workspace.relative(path).split("/")
            if self._workspace.is_private(str(self._workspace.root.joinpath(*folders, name))):
                raise ToolError(Code.PROTECTED_PATH, path=path)
            with contextlib.closing(Way(root_fd)) as way:
                dir_fd = way.open(folders, make=True)
                if expected is not None and not _state(dir_fd, name).is_named(expected):
                    raise ToolError(Code.FILE_CHANGED, path=path)
                yield dir_fd, name
