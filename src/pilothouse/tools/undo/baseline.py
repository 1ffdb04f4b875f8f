"""The baseline of a workspace: the contents of its files, scanned before and after every command.

Each file's status is stored with the digest of its content, and the content itself in one append-only file. A file is
read again only when its status changed, or when the file is *racy*: changed so shortly before the read that a later
change might leave the same times (git's rule). The baseline neither runs nor trusts anything of a repository.

The baseline is a cache. Removing it costs one reading of the workspace; nothing else depends on it.
"""

import contextlib
import hashlib
import os
import re
import shutil
import threading
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

import msgspec

from pilothouse.sandbox.entries import link_name
from pilothouse.sandbox.workspace import Workspace
from pilothouse.system.atomic_file import replace_file
from pilothouse.system.file_lock import is_locked, locked_file
from pilothouse.system.private_file import make_private_folders, open_private
from pilothouse.system.regular_file import open_regular_fd
from pilothouse.tools.undo.git_state import GitState, read_git_state
from pilothouse.tools.undo.limits import UndoLimits
from pilothouse.tools.undo.tree import FileStat, Stopped, Tree, scan

_INDEX_VERSION = 1
_FOLDER_NAME_CHARACTERS = 32
_FOLDER_NAME = re.compile(rf"[0-9a-f]{{{_FOLDER_NAME_CHARACTERS}}}")
_RACY_NS = 2_000_000_000  # the coarsest file system timestamps in use have two seconds
_MIN_GARBAGE_BYTES = 16_000_000
_MAX_UNSAVED_BYTES = 4_000_000
_UNSAVED_FILE_BYTES = 32_000  # the fixed cost of reading a file again
_MAX_CACHED_FILES = 50_000
_MAX_CACHED_WORKSPACES = 16  # each uses a file descriptor


class StoredFile(NamedTuple):
    """A file at the time of a snapshot."""

    stat: FileStat
    digest: str | None
    """The digest of the content; None for an unread file: too large, unreadable, neither file nor link."""
    offset: int
    """The position of the content in the contents file, -1 for a content that is not stored."""

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
    """The time of the snapshot by the clock of the file system."""
    rows: list[_Row]
    git: dict[str, GitState]


class ScannedRoot(NamedTuple):
    """A scanned folder of a snapshot: the workspace, or a writable folder beside it."""

    prefix: str
    """The prefix of the paths of its files."""
    tree: Tree


class Snapshot:
    """The files of a workspace at one instant, with their contents. Close a snapshot after its last comparison."""

    def __init__(self, contents: int | None, checked_ns: int) -> None:
        self.files: dict[str, StoredFile] = {}
        self.roots: list[ScannedRoot] = []
        self.git: Mapping[str, GitState] = {}
        self.checked_ns = checked_ns
        self.is_over_budget = False
        self.unsaved_bytes = _MAX_UNSAVED_BYTES
        """The bytes to read again if the saved index is loaded instead. A loaded snapshot starts at the limit, so that
        the first change saves it: else every process would read and store the same files again."""
        self.contents = contents
        self._contents_bytes = 0

    @property
    def is_cut(self) -> bool:
        """Whether the workspace exceeds the limits."""
        return self.is_over_budget or any(root.tree.is_cut for root in self.roots)

    @property
    def is_removed(self) -> bool:
        """Whether the contents file was deleted or replaced."""
        return self.contents is None or os.fstat(self.contents).st_nlink == 0

    def copy(self) -> "Snapshot":
        """The same files, with a descriptor of its own for the contents."""
        assert self.contents is not None
        copy = Snapshot(os.dup(self.contents), self.checked_ns)
        copy.files, copy.git, copy.unsaved_bytes = self.files, self.git, self.unsaved_bytes
        copy._contents_bytes = os.fstat(self.contents).st_size
        return copy

    def shares_contents(self, contents: int) -> bool:
        """Whether the contents lie in this open file: another snapshot may have started a new file."""
        if self.contents is None or not os.path.sameopenfile(self.contents, contents):
            return False
        return os.fstat(contents).st_size >= self._contents_bytes

    def content(self, file: StoredFile) -> bytes:
        """The stored content of a file. Raises: OSError for a damaged content."""
        assert self.contents is not None
        data = os.pread(self.contents, file.size, file.offset)
        if content_digest(data, is_link=file.stat.is_link) != file.digest:
            raise OSError("the kept content is damaged")
        return data

    def close(self) -> None:
        if self.contents is not None:
            os.close(self.contents)
            self.contents = None

    def __del__(self) -> None:  # a snapshot whose taker was cancelled
        self.close()


def content_digest(data: bytes, *, is_link: bool = False) -> str:
    """The digest of a file's content or of a link's target."""
    return link_name(data) if is_link else hashlib.sha256(data).hexdigest()


class _SnapshotCache:
    """The last snapshots of this process by cache folder, so that the next snapshot need not load an index."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._snapshots: dict[Path, Snapshot] = {}

    def find(self, folder: Path, contents: int) -> Snapshot | None:
        with self._lock:
            snapshot = self._snapshots.get(folder)
            return snapshot if snapshot is not None and snapshot.shares_contents(contents) else None

    def store(self, folder: Path, snapshot: Snapshot) -> None:
        """Cache a copy. The least recently used snapshots go where there are too many, and all whose contents file was
        removed: the disk space is freed only when no descriptor is left."""
        with self._lock:
            self._snapshots.pop(folder, None)
            self._snapshots[folder] = snapshot.copy()
            self._snapshots = {path: cached for path, cached in self._snapshots.items() if not cached.is_removed}
            while self._is_over_limit():
                del self._snapshots[next(iter(self._snapshots))]

    def _is_over_limit(self) -> bool:
        files = sum(len(cached.files) for cached in self._snapshots.values())
        return files > _MAX_CACHED_FILES or len(self._snapshots) > _MAX_CACHED_WORKSPACES


_CACHE = _SnapshotCache()


class Baseline:
    """The cache of one workspace. All methods block: call them in a thread."""

    def __init__(self, caches: Path, workspace: Workspace, limits: UndoLimits) -> None:
        self._workspace = workspace
        self._limits = limits
        self._caches = caches
        self._folder = caches / hashlib.sha256(os.fsencode(workspace.root)).hexdigest()[:_FOLDER_NAME_CHARACTERS]

    def take(self, stopped: Stopped, before: Snapshot | None = None) -> Snapshot:
        """Take a snapshot of the workspace. `before`, an earlier snapshot, saves reading the index. Raises: OSError."""
        with self._locked() as checked_ns:
            contents = open_private(self._folder / "contents", os.O_RDWR | os.O_CREAT | os.O_APPEND)
            snapshot = Snapshot(contents, checked_ns)
            try:
                if before is not None and before.shares_contents(contents):
                    previous = before
                else:
                    previous = _CACHE.find(self._folder, contents) or self._load()
                reader = _Reader(snapshot, previous, contents, self._limits)
                for root, prefix in self._roots():
                    with _open_folder(root) as fd:
                        reader.prefix = prefix
                        tree = scan(fd, root, self._skipped_folders(), self.max_entries(root), reader.visit, stopped)
                    snapshot.roots.append(ScannedRoot(prefix, tree))
                repositories = snapshot.roots[0].tree.repositories
                snapshot.git = read_git_state(self._workspace.root, repositories, previous.git)
                if not stopped():
                    removed = max(0, len(previous.files) - len(snapshot.files))
                    self._store_snapshot(
                        snapshot, previous.unsaved_bytes, reader.read_bytes + removed * _UNSAVED_FILE_BYTES
                    )
            except BaseException:
                snapshot.close()
                raise
            return snapshot

    def _store_snapshot(self, snapshot: Snapshot, unsaved_bytes: int, changed_bytes: int) -> None:
        """Cache a snapshot for the next one, and save the index once much has changed, because saving writes all of
        it."""
        snapshot.unsaved_bytes = unsaved_bytes + changed_bytes
        if changed_bytes and snapshot.unsaved_bytes > _MAX_UNSAVED_BYTES:
            with contextlib.suppress(OSError):  # without an index, the next process only reads more
                self._save(snapshot)
                snapshot.unsaved_bytes = 0
        _CACHE.store(self._folder, snapshot)

    def _roots(self) -> Iterator[tuple[str, str]]:
        workspace_root, *other_roots = self._workspace.writable()
        yield workspace_root, ""
        covered = [workspace_root]
        for root in other_roots:
            if not any(_overlap(root, other) for other in covered):
                covered.append(root)
                yield root, f"{root}/"

    def _skipped_folders(self) -> set[str]:
        return {str(path) for path in self._workspace.runtime_folders}

    def max_entries(self, root: str) -> int:
        return self._limits.home_files if holds_home(root) else self._limits.files

    @contextlib.contextmanager
    def _locked(self) -> Iterator[int]:
        """Allow one snapshot at a time. Yields the present time of the file system."""
        make_private_folders(self._folder)
        with locked_file(self._folder / "lock") as fd:
            os.utime(fd)
            yield os.fstat(fd).st_mtime_ns

    def _limit_all_caches(self) -> None:
        """Bound the size of all caches together: the least recently used ones are deleted, unless in use."""
        remaining_bytes = 2 * self._limits.max_baseline_bytes - _size(self._folder)
        other_caches = [path for path in baseline_folders(self._caches) if path != self._folder]
        for path in sorted(other_caches, key=_last_used, reverse=True):
            remaining_bytes -= _size(path)
            if remaining_bytes < 0 and not _is_in_use(path):
                shutil.rmtree(path, ignore_errors=True)

    def _load(self) -> Snapshot:
        """The last saved snapshot; an empty one where it cannot be read."""
        try:
            index = msgspec.msgpack.decode((self._folder / "index").read_bytes(), type=_Index)
            size = os.stat(self._folder / "contents").st_size
        except (OSError, msgspec.MsgspecError):
            return Snapshot(None, 0)
        end = max((row.offset + row.stat.size for row in index.rows if row.offset >= 0), default=0)
        if (index.version, index.root) != (_INDEX_VERSION, os.fsencode(self._workspace.root)) or end > size:
            return Snapshot(None, 0)
        snapshot = Snapshot(None, index.checked_ns)
        snapshot.files = {os.fsdecode(row.path): StoredFile(row.stat, row.digest, row.offset) for row in index.rows}
        snapshot.git = index.git
        return snapshot

    def _save(self, snapshot: Snapshot) -> None:
        self._compact(snapshot)
        rows = [_Row(os.fsencode(path), *file) for path, file in snapshot.files.items()]
        index = _Index(_INDEX_VERSION, os.fsencode(self._workspace.root), snapshot.checked_ns, rows, dict(snapshot.git))
        # A cache needs no sync: after a power loss the files are read again.
        path = self._folder / "index"
        replace_file(path, [msgspec.msgpack.encode(index)], temporary=self._draft("index"), is_durable=False)
        self._limit_all_caches()

    def _draft(self, name: str) -> Path:
        return self._folder / f"{name}.draft"

    def _compact(self, snapshot: Snapshot) -> None:
        """Rewrite the contents file without unused contents. A snapshot still being compared reads the old file."""
        contents = snapshot.contents
        assert contents is not None
        # Empty files share their offset with the content that was stored next.
        sizes = {file.offset: file.size for file in snapshot.files.values() if file.offset >= 0 and file.size > 0}
        live_bytes = sum(sizes.values())
        if os.fstat(contents).st_size - live_bytes <= max(_MIN_GARBAGE_BYTES, live_bytes // 2):
            return
        moved: dict[int, int] = {}

        def live_contents() -> Iterator[bytes]:
            end = 0
            for offset, size in sizes.items():
                moved[offset] = end
                data = os.pread(contents, size, offset)
                end += len(data)
                yield data

        def drop_index(_: int) -> None:
            (self._folder / "index").unlink(missing_ok=True)  # its offsets are those of the old file

        replace_file(
            self._folder / "contents",
            live_contents(),
            temporary=self._draft("contents"),
            prepare=drop_index,
            is_durable=False,
        )
        fd = open_private(self._folder / "contents", os.O_RDWR | os.O_APPEND)
        os.dup2(fd, contents, inheritable=False)
        os.close(fd)
        for path, file in snapshot.files.items():
            if file.offset >= 0:
                snapshot.files[path] = file._replace(offset=moved.get(file.offset, 0))


class _Reader:
    """Fills a snapshot: files with an unchanged status are taken from the previous snapshot, changed files are read."""

    def __init__(self, snapshot: Snapshot, previous: Snapshot, contents: int, limits: UndoLimits) -> None:
        self.prefix = ""
        self.read_bytes = 0
        """The bytes of changed files that were read, plus the fixed cost of each file."""
        self._snapshot = snapshot
        self._files = snapshot.files
        self._previous_files = previous.files
        self._racy_from = previous.checked_ns - _RACY_NS
        self._contents = contents
        self._end = os.fstat(contents).st_size
        self._limits = limits
        self._remaining_bytes = limits.max_baseline_bytes
        self._offsets: dict[str, int] | None = None

    def visit(self, dir_fd: int, name: str, path: str, status: FileStat) -> None:
        path = self.prefix + path
        file = self._previous_files.get(path)
        is_unchanged = file is not None and file.stat == status and max(status[2:4]) < self._racy_from
        if file is None or not is_unchanged or (file.offset < 0 and self._has_room(status)):
            file = self._read(dir_fd, name, status)
            self.read_bytes += _UNSAVED_FILE_BYTES + (file.size if file.offset >= 0 else 0)
        if file.offset >= 0:
            self._remaining_bytes -= status.size
        self._files[path] = file

    def _has_room(self, status: FileStat) -> bool:
        """Whether an unstored file could be stored now: the limits may have been raised."""
        is_small = (status.is_file or status.is_link) and status.size <= self._limits.max_file_bytes
        self._snapshot.is_over_budget |= is_small and status.size > self._remaining_bytes
        return is_small and status.size <= self._remaining_bytes

    def _read(self, dir_fd: int, name: str, status: FileStat) -> StoredFile:
        unread = StoredFile(status, None, -1)
        if status.is_file and status.size <= self._limits.max_file_bytes and status.size > self._remaining_bytes:
            self._snapshot.is_over_budget = True
            return unread
        try:
            data = self._read_data(dir_fd, name, status)
        except OSError:
            return unread
        if data is None or len(data) != status.size:  # changed during the read: the next snapshot reads it again
            return unread
        digest = content_digest(data, is_link=status.is_link)
        return StoredFile(status, digest, self._store(digest, data))

    def _read_data(self, dir_fd: int, name: str, status: FileStat) -> bytes | None:
        if status.is_link:
            return os.fsencode(os.readlink(name, dir_fd=dir_fd))
        if not status.is_file or status.size > self._limits.max_file_bytes:
            return None
        fd = open_regular_fd(name, dir_fd=dir_fd)
        with open(fd, "rb", buffering=0) as file:
            if os.fstat(fd).st_ino != status.inode:
                return None
            return file.read(status.size + 1)

    def _store(self, digest: str, data: bytes) -> int:
        """The offset of the content in the contents file, written there unless an equal content exists."""
        if self._offsets is None:
            self._offsets = {
                file.digest: file.offset for file in self._previous_files.values() if file.digest and file.offset >= 0
            }
        offset = self._offsets.get(digest)
        if offset is None:
            offset = self._offsets[digest] = self._end
            view = memoryview(data)
            while view:
                view = view[os.write(self._contents, view) :]
            self._end += len(data)
        return offset


def _overlap(path: str, other_path: str) -> bool:
    return os.path.commonpath([path, other_path]) in (path, other_path)


def holds_home(root: str) -> bool:
    """Whether a folder is a home folder or contains one, up to the root of the disk."""
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


def baseline_folders(caches: Path) -> list[Path]:
    """The baselines in a folder. Entries with other names are not the program's own, and are never deleted."""
    if not caches.is_dir():
        return []
    own = (path for path in caches.iterdir() if _FOLDER_NAME.fullmatch(path.name))
    return [path for path in own if path.is_dir() and not path.is_symlink()]


def _is_in_use(cache: Path) -> bool:
    try:
        fd = open_private(cache / "lock", os.O_RDWR)
    except OSError:
        return False
    try:
        return is_locked(fd)
    finally:
        os.close(fd)


def _last_used(cache: Path) -> float:
    try:
        return (cache / "lock").stat().st_mtime
    except OSError:
        return 0.0
