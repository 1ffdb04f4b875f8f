"""The workspace: the folder that file tools reach, with its mounts and the folders granted beside it.

Some files inside are protected: writing them allows running code as the person, or changing the runtime's rules.
"""

import contextlib
import copy
import hashlib
import os
import stat
from collections.abc import Iterator, Sequence
from io import BufferedReader
from pathlib import Path
from typing import NamedTuple

from pilothouse.domain.codes import Code, Reason
from pilothouse.domain.errors import ToolError
from pilothouse.domain.runner_files import MAX_PATH_CHARACTERS
from pilothouse.sandbox.atomic_write import (
    as_tool_errors,
    link_target,
    make_dirs,
    regular_file_status,
    replace_workspace_file,
)
from pilothouse.sandbox.code_files import folded_parts, runs_code, runs_in_bare_repository
from pilothouse.sandbox.command_environment import NOTHING_INHERITED, CommandEnvironment
from pilothouse.sandbox.data_directory import has_data_directory
from pilothouse.sandbox.file_names import escape, unescape
from pilothouse.sandbox.openat import open_beneath
from pilothouse.sandbox.protected_files import is_protected
from pilothouse.system.file_inspection import real_path
from pilothouse.system.regular_file import SAFE_FLAGS

MAX_READ_BYTES = 10 * 1024 * 1024
ABSENT = "absent"
_MAX_LINKS = 40


class Root(NamedTuple):
    """A folder beside the workspace that tools may reach, too."""

    path: Path
    writable: bool = False


class Mount(NamedTuple):
    """A folder of the conversation that file tools read under a name in the workspace, such as `outputs/`.

    A path below the name means the conversation's file where that exists, and the workspace's own file otherwise.
    """

    name: str
    folder: Path
    former: tuple[str, ...] = ()
    """Absolute paths that stored messages of earlier versions use instead."""
    refusal: Code = Code.PROTECTED_PATH
    """The reason given for refusing a write."""
    refusal_of_new: Code | None = None
    """The reason given for refusing to create files below the name while it means the conversation's files alone. None
    allows new files: the workspace then gets a folder of the same name."""
    is_listed: bool = False
    """Whether the folder shows in the workspace: listing or searching the workspace covers the folder, too."""


class Workspace:
    """The workspace of a context. Every method takes paths in the notation of `file_names`."""

    def __init__(
        self,
        root: Path,
        private: Sequence[Path] = (),
        extra_roots: Sequence[Root] = (),
        read_digests: dict[str, str] | None = None,
        mounts: Sequence[Mount] = (),
        foreign_roots: Sequence[Path] = (),
        environment: CommandEnvironment = NOTHING_INHERITED,
    ) -> None:
        """`private` are folders of the runtime itself: its data and its configuration. Tools reach `extra_roots` by
        absolute paths. `mounts` are folders of the conversation, `foreign_roots` those of other users. Commands
        in the workspace get `environment`."""
        self.environment = environment
        self.foreign_roots = tuple(Path(os.path.realpath(path)) for path in foreign_roots)
        """Folders of other users, which confined commands must not read."""
        self.read_digests = read_digests if read_digests is not None else {}
        """The digest of each file when the model last read the file, by path."""
        self.is_writable = True
        self.refusal = Code.PROTECTED_PATH
        """The reason for refusing a write where the folder is not writable."""
        self._protects_names = True
        """Whether a file is protected for its name."""
        self.planned: dict[str, bytes] = {}
        """Contents of files, by their real path, after the earlier calls of the answer that is being prepared."""
        self.prefix = ""
        """Precedes a path of this folder where a path of the workspace is expected."""
        self._extra_workspaces = [
            _workspace_beside(root, private, foreign_roots) for root in extra_roots if root.path.is_dir()
        ]
        self._mounts = [(mount, _mounted_workspace(mount, private)) for mount in mounts if mount.folder.is_dir()]
        self.root = Path(os.path.realpath(root))
        self._depth = len(self.root.parts)
        self._data_directories: dict[str, bool] = {}
        status = self.root.stat()
        self._identity = (status.st_dev, status.st_ino)
        self.runtime_folders = tuple(Path(os.path.realpath(path)) for path in private)
        # The workspace's own configuration may lie elsewhere, behind a link.
        folder = str(self.root)
        own = [os.path.realpath(os.path.join(folder, name)) for name in (".pilothouse", ".pilothouse/config.toml")]
        own = [path for path in own if not _is_within(folder, path)]
        self._private = tuple(os.path.join(path, "") for path in (*map(str, self.runtime_folders), *own))

    # before a call: the paths that it would touch, and the hard limits that it would violate

    def readable(self) -> tuple[str, ...]:
        mounted = (str(folder.root) for _, folder in self._mounts)
        return (str(self.root), *(str(folder.root) for folder in self._extra_workspaces), *mounted)

    def closed_folders(self) -> tuple[str, ...]:
        """Folders that no confined program reads, wherever they lie: the runtime's own and those of other users. The
        workspace's own configuration may be read."""
        return tuple(str(path) for path in (*self.runtime_folders, *self.foreign_roots))

    def writable(self) -> tuple[str, ...]:
        return (str(self.root), *(str(folder.root) for folder in self._extra_workspaces if folder.is_writable))

    def redirect(self, path: str) -> "tuple[Workspace, str] | None":
        """The mount, or the folder beside this one, in which a path lies, and the path to use there; None for a path
        of this folder."""
        name = unescape(path)
        if "\0" in name:
            return None
        absolute = os.path.normpath(self.root / name)
        for mount, folder in self._mounts:
            inner = self._path_in_mount(mount, folder, absolute)
            if inner is not None:
                return folder, escape(inner) or "."
        if not name.startswith("/"):
            return None
        folders = (folder for folder in self._extra_workspaces if _is_within(absolute, str(folder.root)))
        return next(((folder, escape(absolute)) for folder in folders), None)

    def _path_in_mount(self, mount: Mount, folder: "Workspace", absolute: str) -> str | None:
        own = str(self.root / mount.name)
        prefixes = (own, str(folder.root), *mount.former)
        prefix = next((candidate for candidate in prefixes if _is_within(absolute, candidate)), None)
        if prefix is None:
            return None
        inner = absolute[len(prefix) + 1 :]
        exists = os.path.lexists(folder.root / inner) if inner else prefix != own or not os.path.lexists(own)
        return inner if exists else None

    def mounts_in(self, path: str) -> "list[Workspace]":
        """The mounts to list and search together with a folder of the workspace: those that show in the folder, and
        the one of the same name. Empty mounts are left out."""
        absolute = os.path.normpath(self.root / path)
        filled = [(mount, folder) for mount, folder in self._mounts if mount.is_listed and _has_entries(folder.root)]
        listed = [(str(self.root / mount.name), folder) for mount, folder in filled]
        is_root = absolute == str(self.root)
        return [folder for own, folder in listed if is_root or (absolute == own and os.path.lexists(own))]

    def without_mounts(self) -> "Workspace":
        """The workspace as a shell sees it: without the conversation's folders."""
        workspace = copy.copy(self)
        workspace._mounts = []
        return workspace

    def with_planned(self, planned: dict[str, bytes]) -> "Workspace":
        """The same workspace for preparing the calls of one answer, which share `planned`."""
        prepared = copy.copy(self)
        prepared.planned = planned
        return prepared

    def with_environment(self, environment: CommandEnvironment) -> "Workspace":
        """The same workspace with another environment of commands."""
        if self.environment is environment:
            return self
        workspace = copy.copy(self)
        workspace.environment = environment
        return workspace

    def mount_path(self, name: str) -> Path | None:
        """The path of the conversation's folder that is mounted under a name."""
        return next((folder.root for mount, folder in self._mounts if mount.name == name), None)

    def relative(self, path: str) -> str:
        """The path below the root as the file system knows it. Raises: ToolError for a path that is plainly outside."""
        name = unescape(path)
        absolute = os.path.normpath(self.root / name) if "\0" not in name else None
        if absolute is None or not _is_within(absolute, str(self.root)):
            raise ToolError(Code.OUTSIDE_WORKSPACE, path=path)
        return os.path.relpath(absolute, self.root)

    def touched_paths(self, path: str) -> tuple[str, ...]:
        """The path below the root as it is written, and with its links resolved. Raises: ToolError for one outside."""
        if (redirection := self.redirect(path)) is not None:
            other, inner = redirection
            return (escape(other.prefix + other.relative(inner)),)
        written = self.relative(path)
        real = os.path.relpath(real_path(self.root / written), self.root)
        return (escape(written),) if real == written else (escape(written), escape(real))

    def violation(self, path: str, *, writing: bool = False) -> Reason | None:
        """The hard limit that touching a path would violate now. Opening the path checks again."""
        if (redirection := self.redirect(path)) is not None:
            other, inner = redirection
            if writing and not other.is_writable:
                return Reason(other.refusal, {"path": path})
            return other.violation(inner, writing=writing)
        try:
            relative = self.relative(path)
        except ToolError as error:
            return error.reason
        real = real_path(self.root / relative)
        if not _is_within(real, str(self.root)):
            return Reason(Code.OUTSIDE_WORKSPACE, {"path": path})
        if self.is_protected_here(str(self.root / relative), writing) or self.is_protected_here(real, writing):
            return Reason(Code.PROTECTED_PATH, {"path": path})
        if self.is_in_data_directory(real):
            return Reason(Code.PROTECTED_PATH, {"path": path})
        code = self._refusal_of_new(relative) if writing else None
        return Reason(code, {"path": path}) if code is not None else None

    def _refusal_of_new(self, relative: str) -> Code | None:
        """The reason for refusing a new path that would create a folder with the name of a mount."""
        paths = (str(self.root / relative), real_path(self.root / relative))
        for mount, folder in self._mounts:
            own = str(self.root / mount.name)
            is_below = any(_is_within(path, own) for path in paths) and not os.path.lexists(own)
            if mount.refusal_of_new is not None and is_below and _has_entries(folder.root):
                return mount.refusal_of_new
        return None

    def approval_reason(self, path: str) -> Reason | None:
        """Why only a person may allow writing a file: a program of the person runs the file's content as code, or the
        file is read-only for its owner (mode 0444)."""
        if (redirection := self.redirect(path)) is not None:
            other, inner = redirection
            return other.approval_reason(inner)
        name = unescape(path)
        real = real_path(self.root / name)
        for absolute in (os.path.normpath(self.root / name), real):
            if self._runs_code(absolute):
                return Reason(Code.RUNS_CODE, {"path": path})
        with contextlib.suppress(OSError, ValueError):
            status = os.stat(real, follow_symlinks=False)
            if stat.S_ISREG(status.st_mode) and not status.st_mode & stat.S_IWUSR:
                return Reason(Code.FILE_READ_ONLY, {"path": path})
        return None

    def _runs_code(self, absolute: str) -> bool:
        """Whether programs of the person run a file as code, wherever the workspace lies. Outside of the workspace,
        start-up files of shells count too: no hard limit keeps an approved command from writing them."""
        if _is_within(absolute, str(self.root)):
            return runs_code(self._parts(absolute)) or runs_in_bare_repository(absolute)
        parts = folded_parts(absolute)
        return runs_code(parts) or is_protected(parts, writing=True)

    def forget_read(self, path: str) -> None:
        """Forget the read of a file that the runtime itself has changed since: the next write needs no new read."""
        self.read_digests.pop(self.touched_paths(path)[-1], None)

    def is_private(self, absolute: str) -> bool:
        """Whether a path belongs to the runtime itself."""
        return f"{absolute}/".startswith(self._private)

    def is_protected_here(self, absolute: str, writing: bool) -> bool:
        """Whether tools must not touch a path."""
        return self.is_private(absolute) or (self._protects_names and is_protected(self._parts(absolute), writing))

    def is_in_data_directory(self, absolute: str) -> bool:
        """Whether a path beneath the root lies in a data directory of any Pilothouse, or is one."""
        folder, root = absolute, str(self.root)
        if len(folder) > MAX_PATH_CHARACTERS:  # the kernel opens no longer path
            folder = folder[:MAX_PATH_CHARACTERS].rpartition("/")[0]
        while len(folder) > len(root):
            is_data = self._data_directories.get(folder)
            if is_data is None:
                is_data = self._data_directories[folder] = has_data_directory(folder)
            if is_data:
                return True
            folder = os.path.dirname(folder)
        return False

    def _parts(self, absolute: str) -> list[str]:
        return folded_parts(absolute)[self._depth - 1 :]

    # reading and writing

    def read(self, path: str, limit: int = MAX_READ_BYTES) -> bytes:
        """Raises: ToolError."""
        with self._open(path, os.O_RDONLY | SAFE_FLAGS) as fd:
            status = os.fstat(fd)
            if not stat.S_ISREG(status.st_mode):
                raise ToolError(Code.NOT_A_FILE, path=path)
            if status.st_size > limit:
                raise ToolError(Code.FILE_TOO_LARGE, path=path, size=status.st_size, limit=limit)
            with open(fd, "rb", closefd=False) as file:
                data = file.read(limit + 1)
            if len(data) > limit:
                raise ToolError(Code.FILE_TOO_LARGE, path=path, size=len(data), limit=limit)
            return data

    def content_hash(self, path: str) -> str:
        """The hash of a file's present content, to detect a later change; ABSENT for a missing file."""
        try:
            return hashlib.sha256(self.read(path)).hexdigest()
        except ToolError as error:
            if error.reason.code is Code.FILE_MISSING:
                return ABSENT
            raise

    def write(self, path: str, data: bytes, *, expected: str | None) -> None:
        """Replace a file atomically, keeping its mode bits, owner, ACL and extended attributes. `expected` is the
        present `content_hash`; None writes in any case.

        Raises: ToolError, also for a file with another hash.
        """
        if (redirection := self.redirect(path)) is not None:
            other, inner = redirection
            other.write(inner, data, expected=expected)
            return
        if not self.is_writable:
            raise ToolError(self.refusal, path=path)
        if (code := self._refusal_of_new(self.relative(path))) is not None:
            raise ToolError(code, path=path)
        with self._parent(path) as (dir_fd, name):
            if expected is not None and expected != self.content_hash(path):
                raise ToolError(Code.FILE_CHANGED, path=path)
            replace_workspace_file(dir_fd, name, data, regular_file_status(name, dir_fd, path))

    def status(self, path: str) -> os.stat_result:
        """Raises: ToolError."""
        with self._open(path, os.O_RDONLY | SAFE_FLAGS) as fd:
            return os.fstat(fd)

    @contextlib.contextmanager
    def open_file(self, path: str) -> Iterator[BufferedReader]:
        """A regular file, to be read in pieces. Raises: ToolError."""
        with self._open(path, os.O_RDONLY | SAFE_FLAGS) as fd:
            if not stat.S_ISREG(os.fstat(fd).st_mode):
                raise ToolError(Code.NOT_A_FILE, path=path)
            with open(fd, "rb", closefd=False) as file:
                yield file

    @contextlib.contextmanager
    def directory(self, path: str) -> Iterator[int]:
        """An open directory. Raises: ToolError."""
        with self._open(path, os.O_RDONLY | os.O_DIRECTORY) as fd:
            yield fd

    @contextlib.contextmanager
    def _open(self, path: str, flags: int) -> Iterator[int]:
        if (redirection := self.redirect(path)) is not None:
            other, inner = redirection
            with other._open(inner, flags) as fd:
                yield fd
            return
        with as_tool_errors(path), self.root_fd() as root_fd:
            fd = open_beneath(root_fd, self.relative(path), flags)
            try:
                self._refuse_protected(fd, "", path, writing=False)
                yield fd
            finally:
                os.close(fd)

    @contextlib.contextmanager
    def _parent(self, path: str) -> Iterator[tuple[int, str]]:
        """The open parent folder of a file to write, created where it is missing, and the file's name in it.

        A link at the end is followed first, so that the file is replaced and not the link.
        """
        with as_tool_errors(path, writing=True), self.root_fd() as root_fd:
            relative = self.relative(path)
            for _ in range(_MAX_LINKS):
                folder, name = os.path.split(relative)
                if name in ("", ".", ".."):
                    raise ToolError(Code.NOT_A_FILE, path=path)
                dir_fd = make_dirs(root_fd, folder)
                try:
                    self._refuse_protected(dir_fd, name, path, writing=True)
                    target = link_target(name, dir_fd)
                    if target is None:
                        yield dir_fd, name
                        return
                finally:
                    os.close(dir_fd)
                if target.startswith("/"):
                    raise ToolError(Code.OUTSIDE_WORKSPACE, path=path)
                relative = os.path.join(folder, target)
            raise ToolError(Code.FILE_UNREADABLE, path=path, detail="too many links")

    @contextlib.contextmanager
    def root_fd(self) -> Iterator[int]:
        fd = os.open(self.root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            status = os.fstat(fd)
            if (status.st_dev, status.st_ino) != self._identity:
                raise ToolError(Code.INVALID_WORKSPACE, path=str(self.root))
            yield fd
        finally:
            os.close(fd)

    def _refuse_protected(self, fd: int, name: str, path: str, *, writing: bool) -> None:
        """Check an open file or folder by its real path, not by the path that led to it. Raises: ToolError."""
        try:
            real = os.readlink(f"/proc/self/fd/{fd}")
        except OSError:
            real = real_path(self.root / self.relative(path))
            name = ""
        absolute = os.path.join(real, name) if name else real
        if self.is_protected_here(absolute, writing) or self.is_in_data_directory(absolute):
            raise ToolError(Code.PROTECTED_PATH, path=path)


def _mounted_workspace(mount: Mount, private: Sequence[Path]) -> Workspace:
    folder = Workspace(mount.folder, _private_outside(mount.folder, private))
    folder.is_writable = False
    folder.refusal = mount.refusal
    folder._protects_names = False  # names are protected for their meaning at their place in a project
    folder.prefix = f"{mount.name}/"
    return folder


def _workspace_beside(root: Root, private: Sequence[Path], foreign_roots: Sequence[Path]) -> Workspace:
    outside = _private_outside(root.path, foreign_roots)
    workspace = Workspace(root.path, _private_outside(root.path, private), foreign_roots=outside)
    workspace.is_writable = root.writable
    workspace.prefix = f"{workspace.root}/"
    return workspace


def _private_outside(folder: Path, private: Sequence[Path]) -> list[Path]:
    """The private folders that do not contain `folder`: a folder inside a private one was granted on purpose."""
    real = os.path.realpath(folder)
    return [path for path in private if not _is_within(real, os.path.realpath(path))]


def _has_entries(folder: Path) -> bool:
    with contextlib.suppress(OSError), os.scandir(folder) as entries:
        return next(entries, None) is not None
    return False


def _is_within(path: str, root: str) -> bool:
    return path == root or path.startswith(root.rstrip("/") + "/")
