"""Replace a file atomically: write a temporary file beside it, sync it, rename it into place, sync the folder.

Every atomic write of the package goes through `replace_file` or its second half, `fill_and_rename`. Callers differ in
the system calls they pass: by paths (`FileOperations`), relative to an open folder (the workspace), or through the
store's `Disk`, into which tests inject faults.
"""

import contextlib
import os
import secrets
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

PRIVATE_FILE_MODE = 0o600
NEW_FILE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC


class FileOperations:
    """The system calls that an atomic write consists of."""

    def create(self, path: Path) -> int:
        """Open a new file that only its owner may read. A file that a crash left under this name is removed."""
        try:
            return os.open(path, NEW_FILE, PRIVATE_FILE_MODE)
        except FileExistsError:
            os.unlink(path)
            return os.open(path, NEW_FILE, PRIVATE_FILE_MODE)

    def write(self, fd: int, data: bytes | memoryview) -> int:
        return os.write(fd, data)

    def write_all(self, fd: int, data: bytes) -> None:
        """Write all of `data`: `write` may write a part and report no error."""
        remaining = memoryview(data)
        while remaining:
            count = self.write(fd, remaining)
            if count == 0:
                raise OSError("the disk took no bytes")
            remaining = remaining[count:]

    def sync(self, fd: int) -> None:
        os.fsync(fd)

    def rename(self, source: Path, target: Path) -> None:
        os.replace(source, target)

    def unlink(self, path: Path) -> None:
        path.unlink(missing_ok=True)

    def sync_dir(self, path: Path) -> None:
        """Make names that were added to a folder or removed from it durable."""
        fd = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            self.sync(fd)
        finally:
            os.close(fd)


_SYSTEM = FileOperations()


def replace_file(
    path: Path,
    contents: Iterable[bytes],
    *,
    temporary: Path | None = None,
    prepare: Callable[[int], None] | None = None,
    is_durable: bool = True,
    operations: FileOperations = _SYSTEM,
) -> None:
    """Write `contents` one after the other and rename the file into place: a crash leaves the old file or the new one.

    Without `temporary` the temporary file has a random name. A fixed name is for a folder with one writer: the next
    write removes a file that a crash left. `prepare` gets the written file before the renaming.

    Raises: OSError, and all errors of `contents` and `prepare`. The old file is then unchanged, unless only the sync of
    the folder failed. The temporary file is removed.
    """
    if temporary is None:
        temporary = path.with_name(temporary_name(f".{path.stem}-"))
    fd = operations.create(temporary)
    fill_and_rename(
        fd,
        temporary,
        path,
        contents,
        prepare=prepare,
        sync_file=is_durable,
        sync_folder=is_durable,
        operations=operations,
    )


def fill_and_rename(
    fd: int,
    temporary: Path,
    path: Path,
    contents: Iterable[bytes],
    *,
    prepare: Callable[[int], None] | None = None,
    sync_file: bool = True,
    sync_folder: bool = True,
    operations: FileOperations = _SYSTEM,
) -> None:
    """The second half of `replace_file`, from the open temporary file on. Closes `fd`."""
    with renamed_into_place(temporary, path, operations):
        try:
            for data in contents:
                operations.write_all(fd, data)
            if prepare is not None:
                prepare(fd)
            if sync_file:
                operations.sync(fd)
        finally:
            os.close(fd)
    if sync_folder:
        operations.sync_dir(path.parent)


@contextlib.contextmanager
def renamed_into_place(temporary: Path, path: Path, operations: FileOperations = _SYSTEM) -> Iterator[None]:
    """Rename the temporary file at the end of the block, or remove it when the block or the renaming fails."""
    try:
        yield
        operations.rename(temporary, path)
    except BaseException:
        with contextlib.suppress(OSError):
            operations.unlink(temporary)
        raise


def temporary_name(prefix: str) -> str:
    """Return an unpredictable name for a file that will replace another one."""
    return f"{prefix}{secrets.token_hex(8)}"
