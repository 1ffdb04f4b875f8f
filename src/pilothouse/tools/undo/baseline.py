"""The baseline of a workspace: what its files hold, looked at before and after every command.

Each file's status is remembered with the digest of its content, and the content itself in one append-only file. A file
is read again only when its status changed, or when it is *racy*: changed so shortly before it was read that a later
change might show the same times (git's rule). Nothing of a repository is run or believed.

The baseline is a cache. Removing it costs one reading of the workspace; nothing else depends on it.
"""

import contextlib
import fcntl
import hashlib
import os
import shutil
import threading
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

import msgspec

from pilothouse.private_file import make_private_folders, open_private
from pilothouse.regular_file import open_regular_fd
from pilothouse.sandbox.entries import link_name
from pilothouse.sandbox.workspace import Workspace
from pilothouse.tools.undo.git_state import GitState, read_git_state
from pilothouse.tools.undo.limits import UndoLimits
from pilothouse.tools.undo.tree import FileStat, Stopped, Tree, scan

_VERSION = 1
_RACY_NS = 2_000_000_000  # the coarsest times of file systems in use are two seconds
_MIN_GARBAGE_BYTES = 16_000_000
_MAX_UNSAVED_BYTES = 4_000_000
_UNSAVED_FILE_BYTES = 32_000  # what reading a file again costs beside its size
_MAX_REMEMBERED_FILES = 50_000
_MAX_REMEMBERED_WORKSPACES = 16  # each holds a descriptor


class KeptFile(NamedTuple):
    """A file as it was when it was looked at."""

    stat: FileStat
    digest: str | None
    """Names the content, None where it was not read: too large, unreadable, no file or link."""
    offset: int
    """Where the content lies, -1 where it is not kept."""

    @property
    def size(self) -> int:
        return self.stat.size


class _Row(msgspec.Struct, array_like=True, frozen=True):
    path: bytes
    stat: FileStat
    digest: str | None
    offset: int


class _Index(msgspec.Struct, array_like=True, frozen=True):
    version: int
    root: bytes
    checked_ns: int
    """When the files were looked at, by the clock of the file system."""
    rows: list[_Row]
    git: dict[str, GitState]


class ScannedRoot(NamedTuple):
    """One scanned folder of a snapshot: the workspace, or a writable folder beside it."""

    prefix: str
    """Stands before the paths of its files."""
    tree: Tree


class Snapshot:
    """The files of a workspace at one instant, with their contents. Close it when it is no longer compared."""

    def __init__(self, contents: int | None, checked_ns: int) -> None:
        self.files: dict[str, KeptFile] = {}
        self.roots: list[ScannedRoot] = []
        self.git: Mapping[str, GitState] = {}
        self.checked_ns = checked_ns
        self.is_over_budget = False
        self.unsaved_bytes = _MAX_UNSAVED_BYTES
        """How much must be read again if the saved index is loaded. A snapshot that was loaded is saved with the first
        change: else every process would read the same files and keep their contents anew."""
        self.contents = contents
        self._contents_bytes = 0

    @property
    def is_cut(self) -> bool:
        """Whether the workspace holds more than the bounds allow."""
        return self.is_over_budget or any(root.tree.is_cut for root in self.roots)

    @property
    def is_removed(self) -> bool:
        """Whether the file of its contents was deleted or replaced."""
        return self.contents is None or os.fstat(self.contents).st_nlink == 0

    def copy(self) -> "Snapshot":
        """The same files, with the contents held open for the copy."""
        assert self.contents is not None
        copy = Snapshot(os.dup(self.contents), self.checked_ns)
        copy.files, copy.git, copy.unsaved_bytes = self.files, self.git, self.unsaved_bytes
        copy._contents_bytes = os.fstat(self.contents).st_size
        return copy

    def shares(self, contents: int) -> bool:
        """Whether its contents lie in this open file: another look may have begun a new one."""
        if self.contents is None or not os.path.sameopenfile(self.contents, contents):
            return False
        return os.fstat(contents).st_size >= self._contents_bytes

    def content(self, file: KeptFile) -> bytes:
        """Raises: OSError for one that is damaged."""
        assert self.contents is not None
        data = os.pread(self.contents, file.size, file.offset)
        if digest_of(data, is_link=file.stat.is_link) != file.digest:
            raise OSError("the kept content is damaged")
        return data

    def close(self) -> None:
        if self.contents is not None:
            os.close(self.contents)
            self.contents = None

    def __del__(self) -> None:  # a look that nobody waited for any more
        self.close()


def digest_of(data: bytes, *, is_link: bool = False) -> str:
    """Names a file's content, or where a link leads."""
    return link_name(data) if is_link else hashlib.sha256(data).hexdigest()


class _SnapshotCache:
    """The last snapshots of this process by the folder of their cache: the next look need not load an index."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._snapshots: dict[Path, Snapshot] = {}

    def find(self, folder: Path, contents: int) -> Snapshot | None:
        with self._lock:
            snapshot = self._snapshots.get(folder)
            return snapshot if snapshot is not None and snapshot.shares(contents) else None

    def keep(self, folder: Path, snapshot: Snapshot) -> None:
        """Those that were not used for longest go where it becomes too much, and those whose contents were removed:
        the disk gets its space back only when nobody holds them open."""
        with self._lock:
            self._snapshots.pop(folder, None)
            self._snapshots[folder] = snapshot.copy()
            self._snapshots = {path: each for path, each in self._snapshots.items() if not each.is_removed}
            while self._is_too_much():
                del self._snapshots[next(iter(self._snapshots))]

    def _is_too_much(self) -> bool:
        files = sum(len(each.files) for each in self._snapshots.values())
        return files > _MAX_REMEMBERED_FILES or len(self._snapshots) > _MAX_REMEMBERED_WORKSPACES


_CACHE = _SnapshotCache()


class Baseline:
    """The cache of one workspace. Its work is blocking: call it in a thread."""

    def __init__(self, caches: Path, workspace: Workspace, limits: UndoLimits) -> None:
        self._workspace = workspace
        self._limits = limits
        self._caches = caches
        self._folder = caches / hashlib.sha256(os.fsencode(workspace.root)).hexdigest()[:32]

    def take(self, stopped: Stopped, before: Snapshot | None = None) -> Snapshot:
        """Look at the workspace now. `before` saves reading the index again. Raises: OSError."""
        with self._locked() as checked_ns:
            contents = open_private(self._folder / "contents", os.O_RDWR | os.O_CREAT | os.O_APPEND)
            snapshot = Snapshot(contents, checked_ns)
            try:
                if before is not None and before.shares(contents):
                    known = before
                else:
                    known = _CACHE.find(self._folder, contents) or self._load()
                reader = _Reader(snapshot, known, contents, self._limits)
                for root, prefix in self._roots():
                    with _open_folder(root) as fd:
                        reader.prefix = prefix
                        tree = scan(fd, root, self._skipped(), self.max_entries(root), reader.visit, stopped)
                    snapshot.roots.append(ScannedRoot(prefix, tree))
                repositories = snapshot.roots[0].tree.repositories
                snapshot.git = read_git_state(self._workspace.root, repositories, known.git)
                if not stopped():
                    removed = max(0, len(known.files) - len(snapshot.files))
                    self._remember(snapshot, known.unsaved_bytes, reader.read_bytes + removed * _UNSAVED_FILE_BYTES)
            except BaseException:
                snapshot.close()
                raise
            return snapshot

    def _remember(self, snapshot: Snapshot, unsaved_bytes: int, changed_bytes: int) -> None:
        """Keep a snapshot for the next look, and save it once much has changed: writing all of it takes its time."""
        snapshot.unsaved_bytes = unsaved_bytes + changed_bytes
        if changed_bytes and snapshot.unsaved_bytes > _MAX_UNSAVED_BYTES:
            with contextlib.suppress(OSError):  # without its index, the next process reads more
                self._save(snapshot)
                snapshot.unsaved_bytes = 0
        _CACHE.keep(self._folder, snapshot)

    def _roots(self) -> Iterator[tuple[str, str]]:
        own, *others = self._workspace.writable()
        yield own, ""
        covered = [own]
        for root in others:
            if not any(_overlap(root, each) for each in covered):
                covered.append(root)
                yield root, f"{root}/"

    def _skipped(self) -> set[str]:
        return {str(path) for path in self._workspace.runtimes}

    def max_entries(self, root: str) -> int:
        return self._limits.home_files if holds_home(root) else self._limits.files

    @contextlib.contextmanager
    def _locked(self) -> Iterator[int]:
        """One look at a time. Gives the present time of the file system."""
        make_private_folders(self._folder)
        fd = open_private(self._folder / "lock", os.O_RDWR | os.O_CREAT)
        try:
            fcntl.flock(fd, fcntl.LOCK_EX)
            os.utime(fd)
            yield os.fstat(fd).st_mtime_ns
        finally:
            os.close(fd)

    def _drop_others(self) -> None:
        """Bound all caches together: those that were not used for longest go, but for one that is in use now."""
        left = 2 * self._limits.max_baseline_bytes - _size(self._folder)
        others = [path for path in self._caches.iterdir() if path != self._folder]
        for path in sorted(others, key=_last_used, reverse=True):
            left -= _size(path)
            if left < 0 and not _is_in_use(path):
                shutil.rmtree(path, ignore_errors=True)

    def _load(self) -> Snapshot:
        """What the last look saw; nothing where that cannot be read."""
        try:
            index = msgspec.msgpack.decode((self._folder / "index").read_bytes(), type=_Index)
            size = os.stat(self._folder / "contents").st_size
        except (OSError, msgspec.MsgspecError):
            return Snapshot(None, 0)
        end = max((row.offset + row.stat.size for row in index.rows if row.offset >= 0), default=0)
        if (index.version, index.root) != (_VERSION, os.fsencode(self._workspace.root)) or end > size:
            return Snapshot(None, 0)
        known = Snapshot(None, index.checked_ns)
        known.files = {os.fsdecode(row.path): KeptFile(row.stat, row.digest, row.offset) for row in index.rows}
        known.git = index.git
        return known

    def _save(self, snapshot: Snapshot) -> None:
        self._compact(snapshot)
        rows = [_Row(os.fsencode(path), *file) for path, file in snapshot.files.items()]
        index = _Index(_VERSION, os.fsencode(self._workspace.root), snapshot.checked_ns, rows, dict(snapshot.git))
        draft = self._folder / "index.draft"
        with open(open_private(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), "wb") as file:
            file.write(msgspec.msgpack.encode(index))
        os.replace(draft, self._folder / "index")
        self._drop_others()

    def _compact(self, snapshot: Snapshot) -> None:
        """Leave behind what no file holds any more. A snapshot that is still compared reads the old file."""
        contents = snapshot.contents
        assert contents is not None
        # Empty files share their offset with the content that was stored next.
        kept = {file.offset: file.size for file in snapshot.files.values() if file.offset >= 0 and file.size > 0}
        live = sum(kept.values())
        if os.fstat(contents).st_size - live <= max(_MIN_GARBAGE_BYTES, live // 2):
            return
        moved: dict[int, int] = {}
        with open(open_private(self._folder / "contents.draft", os.O_WRONLY | os.O_CREAT | os.O_TRUNC), "wb") as draft:
            for offset, size in kept.items():
                moved[offset] = draft.tell()
                draft.write(os.pread(contents, size, offset))
        (self._folder / "index").unlink(missing_ok=True)  # its offsets are those of the old file
        os.replace(self._folder / "contents.draft", self._folder / "contents")
        fd = open_private(self._folder / "contents", os.O_RDWR | os.O_APPEND)
        os.dup2(fd, contents, inheritable=False)
        os.close(fd)
        for path, file in snapshot.files.items():
            if file.offset >= 0:
                snapshot.files[path] = file._replace(offset=moved.get(file.offset, 0))


class _Reader:
    """Fills a snapshot: what is known stays, what changed is read."""

    def __init__(self, snapshot: Snapshot, known: Snapshot, contents: int, limits: UndoLimits) -> None:
        self.prefix = ""
        self.read_bytes = 0
        """What was read because it changed, with the cost of opening it."""
        self._snapshot = snapshot
        self._files = snapshot.files
        self._known = known.files
        self._racy_from = known.checked_ns - _RACY_NS
        self._contents = contents
        self._end = os.fstat(contents).st_size
        self._limits = limits
        self._left = limits.max_baseline_bytes
        self._offsets: dict[str, int] | None = None

    def visit(self, dir_fd: int, name: str, path: str, status: FileStat) -> None:
        path = self.prefix + path
        file = self._known.get(path)
        is_known = file is not None and file.stat == status and max(status[2:4]) < self._racy_from
        if file is None or not is_known or (file.offset < 0 and self._has_room(status)):
            file = self._read(dir_fd, name, status)
            self.read_bytes += _UNSAVED_FILE_BYTES + (file.size if file.offset >= 0 else 0)
        if file.offset >= 0:
            self._left -= status.size
        self._files[path] = file

    def _has_room(self, status: FileStat) -> bool:
        """Whether a file that is not kept could be kept now: the limits may have been raised."""
        is_small = (status.is_file or status.is_link) and status.size <= self._limits.max_file_bytes
        self._snapshot.is_over_budget |= is_small and status.size > self._left
        return is_small and status.size <= self._left

    def _read(self, dir_fd: int, name: str, status: FileStat) -> KeptFile:
        unread = KeptFile(status, None, -1)
        if status.is_file and status.size <= self._limits.max_file_bytes and status.size > self._left:
            self._snapshot.is_over_budget = True
            return unread
        try:
            data = self._data(dir_fd, name, status)
        except OSError:
            return unread
        if data is None or len(data) != status.size:  # it changed while it was read: the next look reads it again
            return unread
        digest = digest_of(data, is_link=status.is_link)
        return KeptFile(status, digest, self._keep(digest, data))

    def _data(self, dir_fd: int, name: str, status: FileStat) -> bytes | None:
        if status.is_link:
            return os.fsencode(os.readlink(name, dir_fd=dir_fd))
        if not status.is_file or status.size > self._limits.max_file_bytes:
            return None
        fd = open_regular_fd(name, dir_fd=dir_fd)
        with open(fd, "rb", buffering=0) as file:
            if os.fstat(fd).st_ino != status.inode:
                return None
            return file.read(status.size + 1)

    def _keep(self, digest: str, data: bytes) -> int:
        if self._offsets is None:
            self._offsets = {
                file.digest: file.offset for file in self._known.values() if file.digest and file.offset >= 0
            }
        offset = self._offsets.get(digest)
        if offset is None:
            offset = self._offsets[digest] = self._end
            view = memoryview(data)
            while view:
                view = view[os.write(self._contents, view) :]
            self._end += len(data)
        return offset


def _overlap(one: str, other: str) -> bool:
    return os.path.commonpath([one, other]) in (one, other)


def holds_home(root: str) -> bool:
    """Whether a folder is a home folder or holds one, up to the root of the disk."""
    home = os.path.realpath(os.path.expanduser("~"))
    return home == root or home.startswith(root.rstrip("/") + "/")


@contextlib.contextmanager
def _open_folder(path: str) -> Iterator[int]:
    fd = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        yield fd
    finally:
        os.close(fd)


def _size(cache: Path) -> int:
    return sum(file.lstat().st_size for file in cache.iterdir())


def _is_in_use(cache: Path) -> bool:
    try:
        fd = open_private(cache / "lock", os.O_RDWR)
    except OSError:
        return False
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(fd)
    return False


def _last_used(cache: Path) -> float:
    try:
        return (cache / "lock").stat().st_mtime
    except OSError:
        return 0.0
