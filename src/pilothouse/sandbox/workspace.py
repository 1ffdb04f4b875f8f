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

_SHELL_FILES = frozenset(
    {
        *(".bashrc", ".bash_profile", ".bash_login", ".bash_logout", ".profile", ".inputrc", "config.fish"),
        *(".zshrc", ".zshenv", ".zprofile", ".zlogin", ".zlogout", ".kshrc", ".cshrc", ".tcshrc", ".login"),
    }
)
_OWN_NAMES = frozenset({".pilothouse", "pilothouse.toml"})
_GIT_FILES = frozenset({"config", "config.worktree", "hooks"})


class Workspace:
    """`private` are folders of the runtime itself: its data and its configuration."""

    def __init__(self, root: Path, private: Sequence[Path] = ()) -> None:
        self.root = Path(os.path.realpath(root))
        self._private = [Path(os.path.realpath(path)) for path in private]

    # before a call: what it would touch, and whether a hard limit forbids it

    def relative(self, path: str) -> str:
        """The path as it stands below the root. Raises: ToolError for one that is plainly outside."""
        plain = os.path.normpath(self.root / path) if "\0" not in path else None
        if plain is None or not _is_within(plain, str(self.root)):
            raise ToolError(Code.OUTSIDE_WORKSPACE, path=path)
        return os.path.relpath(plain, self.root)

    def limit(self, path: str) -> Reason | None:
        """The hard limit that touching this path would break now. What is opened later is checked again."""
        try:
            relative = self.relative(path)
        except ToolError as error:
            return error.reason
        real = os.path.realpath(self.root / relative)
        if not _is_within(real, str(self.root)):
            return Reason(Code.OUTSIDE_WORKSPACE, {"path": path})
        if self._is_protected(str(self.root / relative)) or self._is_protected(real):
            return Reason(Code.PROTECTED_PATH, {"path": path})
        return None

    def _is_protected(self, absolute: str) -> bool:
        if any(_is_within(absolute, str(private)) for private in self._private):
            return True
        parts = [part.casefold() for part in Path(absolute).parts[len(self.root.parts) :]]
        if not _OWN_NAMES.isdisjoint(parts) or (parts and parts[-1] in _SHELL_FILES):
            return True
        return ".git" in parts and not _GIT_FILES.isdisjoint(parts[parts.index(".git") :])

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
            mode = _mode_of(name, dir_fd, path)
            draft = f".{name[:100]}.{secrets.token_hex(6)}.new"
            fd = os.open(
                draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600, dir_fd=dir_fd
            )
            try:
                with open(fd, "wb") as file:
                    file.write(data)
                    file.flush()
                    os.fchmod(fd, mode)
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
                self._refuse_protected(fd, "", path)
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
                    self._refuse_protected(dir_fd, name, path)
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
            yield fd
        finally:
            os.close(fd)

    def _refuse_protected(self, fd: int, name: str, path: str) -> None:
        """What was opened is judged by where it really lies, not by the path that led to it."""
        try:
            real = os.readlink(f"/proc/self/fd/{fd}")
        except OSError:
            real = os.path.realpath(self.root / self.relative(path))
            name = ""
        if self._is_protected(os.path.join(real, name) if name else real):
            raise ToolError(Code.PROTECTED_PATH, path=path)


def _is_within(path: str, root: str) -> bool:
    return path == root or path.startswith(root.rstrip("/") + "/")


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


def _mode_of(name: str, dir_fd: int, path: str) -> int:
    try:
        status = os.stat(name, dir_fd=dir_fd, follow_symlinks=False)
    except FileNotFoundError:
        return 0o644
    if not stat.S_ISREG(status.st_mode):
        raise ToolError(Code.NOT_A_FILE, path=path)
    return stat.S_IMODE(status.st_mode)


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
