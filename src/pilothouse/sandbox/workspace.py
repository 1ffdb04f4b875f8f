"""The workspace: the one folder that file tools reach. Nothing outside it is read or written.

Some files inside are protected: who can write them can run code as the person, or change what holds here.
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
from pilothouse.file_inspection import real_path
from pilothouse.regular_file import SAFE_FLAGS
from pilothouse.sandbox.beneath import open_beneath
from pilothouse.sandbox.code_files import folded_parts, runs_code, runs_in_bare_repository
from pilothouse.sandbox.data_directory import has_data_directory
from pilothouse.sandbox.file_names import escape, unescape
from pilothouse.sandbox.placing import as_tool_errors, link_target, make_dirs, replace_file, status_of
from pilothouse.sandbox.protected import is_protected

READ_LIMIT = 10 * 1024 * 1024
ABSENT = "absent"


class Root(NamedTuple):
    """A folder beside the workspace that may be reached, too."""

    path: Path
    writable: bool = False


class Mount(NamedTuple):
    """A folder of the conversation that file tools read under a name of the workspace, such as `outputs/`.

    A path below the name means the conversation's file where there is one, and the workspace's own otherwise.
    """

    name: str
    folder: Path
    former: tuple[str, ...] = ()
    """Absolute paths that stored messages of earlier versions name instead."""
    refusal: Code = Code.PROTECTED_PATH
    """Tells whoever wants to write there why they cannot."""
    is_listed: bool = False
    """Whether the folder shows in the workspace: listing or searching the workspace covers it, too."""


class Workspace:
    """`private` are folders of the runtime itself: its data and its configuration. `also` are other folders that may be
    reached by their whole path, `mounts` those of the conversation. `seen` is what each file held when the model last
    read it. Every method takes paths in the notation of `file_names`."""

    def __init__(
        self,
        root: Path,
        private: Sequence[Path] = (),
        also: Sequence[Root] = (),
        seen: dict[str, str] | None = None,
        mounts: Sequence[Mount] = (),
        others: Sequence[Path] = (),
    ) -> None:
        self.others = tuple(Path(os.path.realpath(path)) for path in others)
        """Folders of other users, which confined commands must not read."""
        self.seen = seen if seen is not None else {}
        self.is_writable = True
        self.refusal = Code.PROTECTED_PATH
        """What a write is refused with where the folder is not writable."""
        self._protects_names = True
        self.planned: dict[str, bytes] = {}
        """What the files will hold, by their real path, after the earlier calls of the answer that is prepared."""
        self.prefix = ""
        """Stands before a path of this folder where a path of the workspace is expected."""
        self._also = [_beside(each, private, others) for each in also if each.path.is_dir()]
        self._mounts = [(each, _mounted(each, private)) for each in mounts if each.folder.is_dir()]
        self.root = Path(os.path.realpath(root))
        self._depth = len(self.root.parts)
        self._data_directories: dict[str, bool] = {}
        status = self.root.stat()
        self._identity = (status.st_dev, status.st_ino)
        self.runtimes = tuple(Path(os.path.realpath(path)) for path in private)
        # The folder's own configuration may lie elsewhere, behind a link.
        own = [Path(os.path.realpath(self.root / name)) for name in (".pilothouse", ".pilothouse/config.toml")]
        own = [path for path in own if path != self.root and path not in self.root.parents]
        self._private = tuple(os.path.join(path, "") for path in (*self.runtimes, *own))

    # before a call: what it would touch, and whether a hard limit forbids it

    def readable(self) -> tuple[str, ...]:
        return (str(self.root), *(str(each.root) for each in self._also), *(str(each.root) for _, each in self._mounts))

    def closed(self) -> tuple[str, ...]:
        """What no confined program reads, wherever it lies: the runtime's own folders and those of other users. The
        workspace's own configuration may be read."""
        return tuple(str(path) for path in (*self.runtimes, *self.others))

    def writable(self) -> tuple[str, ...]:
        return (str(self.root), *(str(each.root) for each in self._also if each.is_writable))

    def elsewhere(self, path: str) -> "tuple[Workspace, str] | None":
        """The folder beside this one, or of the conversation, that a path means, and the path to use there."""
        name = unescape(path)
        if "\0" in name:
            return None
        plain = os.path.normpath(self.root / name)
        for mount, folder in self._mounts:
            inside = self._inside_mount(mount, folder, plain)
            if inside is not None:
                return folder, escape(inside) or "."
        if not name.startswith("/"):
            return None
        return next(((each, escape(plain)) for each in self._also if _is_within(plain, str(each.root))), None)

    def _inside_mount(self, mount: Mount, folder: "Workspace", plain: str) -> str | None:
        own = str(self.root / mount.name)
        start = next((each for each in (own, str(folder.root), *mount.former) if _is_within(plain, each)), None)
        if start is None:
            return None
        inside = plain[len(start) + 1 :]
        is_there = os.path.lexists(folder.root / inside) if inside else start != own or not os.path.lexists(own)
        return inside if is_there else None

    def mounts_in(self, path: str) -> "list[Workspace]":
        """The conversation's folders to list and search together with a folder of the workspace: those that show in it,
        and one that has the same name. Empty ones are left out."""
        plain = os.path.normpath(self.root / path)
        filled = [(mount, folder) for mount, folder in self._mounts if mount.is_listed and _has_entries(folder.root)]
        listed = [(str(self.root / mount.name), folder) for mount, folder in filled]
        return [folder for own, folder in listed if plain == str(self.root) or (plain == own and os.path.lexists(own))]

    def without_mounts(self) -> "Workspace":
        """The workspace as a shell sees it: the conversation's folders are no part of it."""
        plain = copy.copy(self)
        plain._mounts = []
        return plain

    def with_planned(self, planned: dict[str, bytes]) -> "Workspace":
        """The same workspace for preparing the calls of one answer, which share `planned`."""
        prepared = copy.copy(self)
        prepared.planned = planned
        return prepared

    def mounted(self, name: str) -> Path | None:
        """Where the conversation's folder of that name lies."""
        return next((folder.root for mount, folder in self._mounts if mount.name == name), None)

    def relative(self, path: str) -> str:
        """The path below the root as the file system knows it. Raises: ToolError for one that is plainly outside."""
        name = unescape(path)
        plain = os.path.normpath(self.root / name) if "\0" not in name else None
        if plain is None or not _is_within(plain, str(self.root)):
            raise ToolError(Code.OUTSIDE_WORKSPACE, path=path)
        return os.path.relpath(plain, self.root)

    def touched(self, path: str) -> tuple[str, ...]:
        """Where a path lies below the root: as it is written, and as links lead. Raises: ToolError for one outside."""
        if (elsewhere := self.elsewhere(path)) is not None:
            other, inside = elsewhere
            return (escape(other.prefix + other.relative(inside)),)
        written = self.relative(path)
        real = os.path.relpath(real_path(self.root / written), self.root)
        return (escape(written),) if real == written else (escape(written), escape(real))

    def limit(self, path: str, *, writing: bool = False) -> Reason | None:
        """The hard limit that touching this path would break now. What is opened later is checked again."""
        if (elsewhere := self.elsewhere(path)) is not None:
            other, inside = elsewhere
            if writing and not other.is_writable:
                return Reason(other.refusal, {"path": path})
            return other.limit(inside, writing=writing)
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
        return None

    def ask(self, path: str) -> Reason | None:
        """Why only a person can let this file be written: some program of theirs runs what stands in it, or its owner
        may not write it (mode 0444)."""
        if (elsewhere := self.elsewhere(path)) is not None:
            other, inside = elsewhere
            return other.ask(inside)
        name = unescape(path)
        real = real_path(self.root / name)
        for each in (os.path.normpath(self.root / name), real):
            if self._runs_code(each):
                return Reason(Code.RUNS_CODE, {"path": path})
        with contextlib.suppress(OSError, ValueError):
            status = os.stat(real, follow_symlinks=False)
            if stat.S_ISREG(status.st_mode) and not status.st_mode & stat.S_IWUSR:
                return Reason(Code.FILE_READ_ONLY, {"path": path})
        return None

    def _runs_code(self, absolute: str) -> bool:
        """Where the workspace itself lies does not matter. Outside of it, the files that start with a shell count too:
        no limit keeps an approved command from them."""
        if _is_within(absolute, str(self.root)):
            return runs_code(self._parts(absolute)) or runs_in_bare_repository(absolute)
        parts = folded_parts(absolute)
        return runs_code(parts) or is_protected(parts, writing=True)

    def forget(self, path: str) -> None:
        """What the model has read of a file is no longer what it holds, and that is all right."""
        self.seen.pop(self.touched(path)[-1], None)

    def is_private(self, absolute: str) -> bool:
        """Whether it belongs to the runtime itself."""
        return f"{absolute}/".startswith(self._private)

    def is_protected_here(self, absolute: str, writing: bool) -> bool:
        """Whether a path is not for tools."""
        return self.is_private(absolute) or (self._protects_names and is_protected(self._parts(absolute), writing))

    def is_in_data_directory(self, absolute: str) -> bool:
        """Whether a path beneath the root lies in a data directory of any Pilothouse, or is one."""
        folder, root = absolute, str(self.root)
        if len(folder) > MAX_PATH_CHARACTERS:  # the kernel opens no longer path
            folder = folder[:MAX_PATH_CHARACTERS].rpartition("/")[0]
        while len(folder) > len(root):
            known = self._data_directories.get(folder)
            if known is None:
                known = self._data_directories[folder] = has_data_directory(folder)
            if known:
                return True
            folder = os.path.dirname(folder)
        return False

    def _parts(self, absolute: str) -> list[str]:
        return folded_parts(absolute)[self._depth - 1 :]

    # doing it

    def read(self, path: str, limit: int = READ_LIMIT) -> bytes:
        """Raises: ToolError."""
        with self._opened(path, os.O_RDONLY | SAFE_FLAGS) as fd:
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

    def basis(self, path: str) -> str:
        """Names the present content of a file, to notice later that it has changed."""
        try:
            return hashlib.sha256(self.read(path)).hexdigest()
        except ToolError as error:
            if error.reason.code is Code.FILE_MISSING:
                return ABSENT
            raise

    def write(self, path: str, data: bytes, *, basis: str | None) -> None:
        """Put a file in place as a whole, keeping its mode bits, owner, ACL and extended attributes.
        Raises: ToolError, also when it has changed."""
        if (elsewhere := self.elsewhere(path)) is not None:
            other, inside = elsewhere
            other.write(inside, data, basis=basis)
            return
        if not self.is_writable:
            raise ToolError(self.refusal, path=path)
        with self._parent(path) as (dir_fd, name):
            if basis is not None and basis != self.basis(path):
                raise ToolError(Code.FILE_CHANGED, path=path)
            replace_file(dir_fd, name, data, status_of(name, dir_fd, path))

    def status(self, path: str) -> os.stat_result:
        """Raises: ToolError."""
        with self._opened(path, os.O_RDONLY | SAFE_FLAGS) as fd:
            return os.fstat(fd)

    @contextlib.contextmanager
    def opened(self, path: str) -> Iterator[BufferedReader]:
        """A regular file, to be read bit by bit. Raises: ToolError."""
        with self._opened(path, os.O_RDONLY | SAFE_FLAGS) as fd:
            if not stat.S_ISREG(os.fstat(fd).st_mode):
                raise ToolError(Code.NOT_A_FILE, path=path)
            with open(fd, "rb", closefd=False) as file:
                yield file

    @contextlib.contextmanager
    def directory(self, path: str) -> Iterator[int]:
        """An open directory. Raises: ToolError."""
        with self._opened(path, os.O_RDONLY | os.O_DIRECTORY) as fd:
            yield fd

    @contextlib.contextmanager
    def _opened(self, path: str, flags: int) -> Iterator[int]:
        if (elsewhere := self.elsewhere(path)) is not None:
            other, inside = elsewhere
            with other._opened(inside, flags) as fd:
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
        """The folder in which a file is to be put, made where it is missing, and the file's own name.

        A link at the end is followed first, so that the file is replaced and not the link.
        """
        with as_tool_errors(path, writing=True), self.root_fd() as root_fd:
            relative = self.relative(path)
            for _ in range(40):
                head, name = os.path.split(relative)
                if name in ("", ".", ".."):
                    raise ToolError(Code.NOT_A_FILE, path=path)
                dir_fd = make_dirs(root_fd, head)
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
                relative = os.path.join(head, target)
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
        """What was opened is judged by where it really lies, not by the path that led to it."""
        try:
            real = os.readlink(f"/proc/self/fd/{fd}")
        except OSError:
            real = real_path(self.root / self.relative(path))
            name = ""
        absolute = os.path.join(real, name) if name else real
        if self.is_protected_here(absolute, writing) or self.is_in_data_directory(absolute):
            raise ToolError(Code.PROTECTED_PATH, path=path)


def _mounted(mount: Mount, private: Sequence[Path]) -> Workspace:
    folder = Workspace(mount.folder, _private_outside(mount.folder, private))
    folder.is_writable = False
    folder.refusal = mount.refusal
    folder._protects_names = False  # a file is protected for what its name means at its place in a project
    folder.prefix = f"{mount.name}/"
    return folder


def _beside(root: Root, private: Sequence[Path], others: Sequence[Path]) -> Workspace:
    outside = _private_outside(root.path, others)
    workspace = Workspace(root.path, _private_outside(root.path, private), others=outside)
    workspace.is_writable = root.writable
    workspace.prefix = f"{workspace.root}/"
    return workspace


def _private_outside(folder: Path, private: Sequence[Path]) -> list[Path]:
    """A folder inside a private one was granted on purpose: that private folder does not close it."""
    real = os.path.realpath(folder)
    return [each for each in private if not _is_within(real, os.path.realpath(each))]


def _has_entries(folder: Path) -> bool:
    with contextlib.suppress(OSError), os.scandir(folder) as entries:
        return next(entries, None) is not None
    return False


def _is_within(path: str, root: str) -> bool:
    return path == root or path.startswith(root.rstrip("/") + "/")
