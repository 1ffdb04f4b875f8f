"""The workspace: the one folder that file tools reach. Nothing outside it is read or written.

Some files inside are protected: who can write them can run code as the person, or change what holds here.
"""

import contextlib
import errno
import hashlib
import os
import secrets
import stat
from collections.abc import Iterator, Sequence
from pathlib import Path

from pilothouse.domain.codes import Code, Reason
from pilothouse.domain.errors import ToolError
from pilothouse.sandbox.beneath import open_beneath

READ_LIMIT = 10 * 1024 * 1024
ABSENT = "absent"

# Who can write these can run code as the person, the next time they open a shell, use git or log in.
_START_UP = frozenset(
    {
        *(".bashrc", ".bash_profile", ".bash_login", ".bash_logout", ".bash_aliases", ".profile", ".inputrc"),
        *(".zshrc", ".zshenv", ".zprofile", ".zlogin", ".zlogout", ".kshrc", ".cshrc", ".tcshrc", ".login"),
        *(".gitconfig", ".envrc", "config.fish"),
    }
)
_START_UP_FOLDERS = ((".ssh",), (".config", "git"), (".config", "fish"))
_OWN_NAMES = frozenset({".pilothouse", "pilothouse.toml"})
_GIT_SECRETS = frozenset({"config", "config.worktree", "hooks"})


class Workspace:
    """`private` are folders of the runtime itself: its data and its configuration."""

    def __init__(self, root: Path, private: Sequence[Path] = ()) -> None:
        self.root = Path(os.path.realpath(root))
        status = self.root.stat()
        self._identity = (status.st_dev, status.st_ino)
        self._private = [Path(os.path.realpath(path)) for path in private]
        # The folder's own configuration may lie elsewhere, behind a link.
        own = [Path(os.path.realpath(self.root / name)) for name in (".pilothouse", ".pilothouse/config.toml")]
        self._private += [path for path in own if path != self.root and path not in self.root.parents]

    # before a call: what it would touch, and whether a hard limit forbids it

    def relative(self, path: str) -> str:
        """The path as it stands below the root. Raises: ToolError for one that is plainly outside."""
        plain = os.path.normpath(self.root / path) if "\0" not in path else None
        if plain is None or not _is_within(plain, str(self.root)):
            raise ToolError(Code.OUTSIDE_WORKSPACE, path=path)
        return os.path.relpath(plain, self.root)

    def touched(self, path: str) -> tuple[str, ...]:
        """Where a path lies below the root: as it is written, and as links lead. Raises: ToolError for one outside."""
        written = self.relative(path)
        real = os.path.relpath(os.path.realpath(self.root / written), self.root)
        return (written,) if real == written else (written, real)

    def limit(self, path: str, *, writing: bool = False) -> Reason | None:
        """The hard limit that touching this path would break now. What is opened later is checked again."""
        try:
            relative = self.relative(path)
        except ToolError as error:
            return error.reason
        real = os.path.realpath(self.root / relative)
        if not _is_within(real, str(self.root)):
            return Reason(Code.OUTSIDE_WORKSPACE, {"path": path})
        if self._is_protected(str(self.root / relative), writing) or self._is_protected(real, writing):
            return Reason(Code.PROTECTED_PATH, {"path": path})
        return None

    def is_private(self, absolute: str) -> bool:
        """Whether it belongs to the runtime itself."""
        return any(_is_within(absolute, str(private)) for private in self._private)

    def _is_protected(self, absolute: str, writing: bool) -> bool:
        parts = [part.casefold() for part in Path(absolute).parts[len(self.root.parts) :]]
        if self.is_private(absolute) or not _OWN_NAMES.isdisjoint(parts):
            return True
        if ".git" in parts:
            # Anything in there can lead git to another configuration; what may hold keys is not read either.
            return writing or not _GIT_SECRETS.isdisjoint(parts[parts.index(".git") :])
        return (bool(parts) and parts[-1] in _START_UP) or any(_holds(parts, folder) for folder in _START_UP_FOLDERS)

    # doing it

    def read(self, path: str, limit: int = READ_LIMIT) -> bytes:
        """Raises: ToolError."""
        with self._opened(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY) as fd:
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
        """Put a file in place as a whole, keeping its mode bits. Raises: ToolError, also when it changed."""
        with self._parent(path) as (dir_fd, name):
            if basis is not None and basis != self.basis(path):
                raise ToolError(Code.FILE_CHANGED, path=path)
            before = _status_of(name, dir_fd, path)
            draft = f".draft-{secrets.token_hex(8)}"
            flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
            fd = os.open(draft, flags, 0o666 if before is None else 0o600, dir_fd=dir_fd)
            try:
                with open(fd, "wb") as file:
                    file.write(data)
                    file.flush()
                    if before is not None:
                        _make_alike(fd, before)
                    os.fsync(fd)
                os.replace(draft, name, src_dir_fd=dir_fd, dst_dir_fd=dir_fd)
            except BaseException:
                with contextlib.suppress(OSError):
                    os.unlink(draft, dir_fd=dir_fd)
                raise

    @contextlib.contextmanager
    def directory(self, path: str) -> Iterator[int]:
        """An open directory. Raises: ToolError."""
        with self._opened(path, os.O_RDONLY | os.O_DIRECTORY) as fd:
            yield fd

    @contextlib.contextmanager
    def _opened(self, path: str, flags: int) -> Iterator[int]:
        with _as_tool_errors(path), self._root_fd() as root_fd:
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
        with _as_tool_errors(path), self._root_fd() as root_fd:
            relative = self.relative(path)
            for _ in range(40):
                head, name = os.path.split(relative)
                if name in ("", ".", ".."):
                    raise ToolError(Code.NOT_A_FILE, path=path)
                dir_fd = _make_dirs(root_fd, head)
                try:
                    self._refuse_protected(dir_fd, name, path, writing=True)
                    target = _link(name, dir_fd)
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
    def _root_fd(self) -> Iterator[int]:
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
            real = os.path.realpath(self.root / self.relative(path))
            name = ""
        if self._is_protected(os.path.join(real, name) if name else real, writing):
            raise ToolError(Code.PROTECTED_PATH, path=path)


def _is_within(path: str, root: str) -> bool:
    return path == root or path.startswith(root.rstrip("/") + "/")


def _holds(parts: list[str], folder: tuple[str, ...]) -> bool:
    size = len(folder)
    return any(tuple(parts[start : start + size]) == folder for start in range(len(parts) - size + 1))


def _make_dirs(root_fd: int, head: str) -> int:
    try:
        return open_beneath(root_fd, head or ".", os.O_RDONLY | os.O_DIRECTORY)
    except FileNotFoundError:
        above, name = os.path.split(head)
        parent_fd = _make_dirs(root_fd, above)
        try:
            with contextlib.suppress(FileExistsError):
                os.mkdir(name, dir_fd=parent_fd)
        finally:
            os.close(parent_fd)
        return open_beneath(root_fd, head, os.O_RDONLY | os.O_DIRECTORY)


def _link(name: str, dir_fd: int) -> str | None:
    try:
        return os.readlink(name, dir_fd=dir_fd)
    except OSError:
        return None


def _status_of(name: str, dir_fd: int, path: str) -> os.stat_result | None:
    try:
        status = os.stat(name, dir_fd=dir_fd, follow_symlinks=False)
    except FileNotFoundError:
        return None
    if not stat.S_ISREG(status.st_mode):
        raise ToolError(Code.NOT_A_FILE, path=path)
    return status


def _make_alike(fd: int, before: os.stat_result) -> None:
    """The new file gets the mode of the old one, and its owner where that is allowed."""
    with contextlib.suppress(OSError):
        os.fchown(fd, before.st_uid, before.st_gid)
    os.fchmod(fd, stat.S_IMODE(before.st_mode))


@contextlib.contextmanager
def _as_tool_errors(path: str) -> Iterator[None]:
    try:
        yield
    except FileNotFoundError as error:
        raise ToolError(Code.FILE_MISSING, path=path) from error
    except NotADirectoryError as error:
        raise ToolError(Code.NOT_A_DIRECTORY, path=path) from error
    except IsADirectoryError as error:
        raise ToolError(Code.NOT_A_FILE, path=path) from error
    except OSError as error:
        if error.errno == errno.EXDEV:
            raise ToolError(Code.OUTSIDE_WORKSPACE, path=path) from error
        raise ToolError(Code.FILE_UNREADABLE, path=path, detail=error.strerror or str(error)) from error
