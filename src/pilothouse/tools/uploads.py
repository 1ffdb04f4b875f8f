"""The files that a person uploads to a conversation. Each lies in the context's folder; tools read it as
`uploads/NAME`, by its safe name.
"""

import errno
import itertools
import os
import unicodedata
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path, PurePosixPath

from pilothouse.domain.codes import Code
from pilothouse.domain.errors import Conflict, InvalidInput
from pilothouse.domain.payloads import MAX_UPLOAD_BYTES
from pilothouse.domain.value import Value
from pilothouse.system.atomic_file import replace_file
from pilothouse.system.private_file import make_private_folder, sync_folder
from pilothouse.system.regular_file import NotRegularFile, open_regular_file

MAX_UPLOADS = 1000
MAX_ALL_UPLOADS_BYTES = 1024 * 1024 * 1024
_MAX_REQUESTED_NAME_CHARACTERS = 200
_MAX_NAME_BYTES = 100
_UNSAFE = frozenset('<>:"|?*\\/')
_DRAFT = ".upload"  # outside the uploads folder, so that no tool sees half a file


def is_own_folder(folder: Path) -> bool:
    """Whether a folder exists inside its context and neither it nor its parent is a symlink."""
    return folder.is_dir() and not folder.is_symlink() and not folder.parent.is_symlink()


class StoredUpload(Value):
    name: str
    size: int


def safe_name(name: str) -> str:
    """The last part of a name, without characters that could hide text, confuse a reader or lead out of the folder.
    Raises: InvalidInput."""
    last = unicodedata.normalize("NFC", name).replace("\\", "/").rsplit("/", 1)[-1]
    safe = "".join(character for character in last if character.isprintable() and character not in _UNSAFE).strip(" .")
    if not safe or len(name) > _MAX_REQUESTED_NAME_CHARACTERS:
        raise InvalidInput(Code.UPLOAD_NAME, name=name[:_MAX_REQUESTED_NAME_CHARACTERS])
    try:
        return _shorten(safe)
    except ValueError as error:
        raise InvalidInput(Code.UPLOAD_NAME, name=name[:_MAX_REQUESTED_NAME_CHARACTERS]) from error


def _shorten(name: str, ending: str = "") -> str:
    """A name with `ending` before its suffix, cut to the allowed number of bytes. Raises: ValueError."""
    path = PurePosixPath(name)
    stem = path.stem
    while stem and len(f"{stem}{ending}{path.suffix}".encode()) > _MAX_NAME_BYTES:
        stem = stem[:-1].rstrip(" .")
    if not stem:
        raise ValueError("nothing is left of the name")
    return f"{stem}{ending}{path.suffix}"


def is_upload_name(name: str) -> bool:
    """Whether an upload can have this name; any other name may lead out of the folder."""
    try:
        return safe_name(name) == name
    except InvalidInput:
        return False


def numbered_name(name: str, number: int) -> str:
    """`notes.txt` as `notes-2.txt`; number 1 keeps the name."""
    return name if number == 1 else _shorten(name, f"-{number}")


class UploadStore:
    """The uploads of one conversation. All methods block: call them in a thread, one at a time."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def all(self) -> list[StoredUpload]:
        """All uploads, by name. Symlinks and folders put there by others are skipped. Raises: OSError."""
        if not is_own_folder(self._folder):
            return []
        with os.scandir(self._folder) as entries:
            files = [entry for entry in entries if entry.is_file(follow_symlinks=False)]
            uploads = [StoredUpload(entry.name, entry.stat(follow_symlinks=False).st_size) for entry in files]
        return sorted(uploads, key=lambda upload: upload.name)

    def add(self, name: str, data: bytes, is_taken: Callable[[str], bool] = lambda _: False) -> str:
        """Store a file durably and return its name, which gets a number where the requested name is taken.

        Raises: Conflict over the limits; OSError, after removing the file.
        """
        for folder in (self._folder.parent, self._folder):
            make_private_folder(folder)
        self._check_folder()
        self._check_room(len(data))
        candidates = (self._folder / numbered_name(name, number) for number in itertools.count(1))
        path = next(
            candidate for candidate in candidates if not os.path.lexists(candidate) and not is_taken(candidate.name)
        )
        try:
            replace_file(path, [data], temporary=self._folder.parent / _DRAFT)
            for folder in (self._folder.parent, self._folder.parent.parent):
                sync_folder(folder)
        except BaseException:
            with suppress(OSError):
                path.unlink()
            raise
        return path.name

    def read(self, name: str) -> bytes:
        """The content of an upload. Raises: OSError, FileNotFoundError for a name that is no upload."""
        try:
            with open_regular_file(self._path(name)) as file:
                data = file.read(MAX_UPLOAD_BYTES + 1)
        except NotRegularFile as error:
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), name) from error
        if len(data) > MAX_UPLOAD_BYTES:  # not stored by `add`
            raise OSError(errno.EFBIG, os.strerror(errno.EFBIG), name)
        return data

    def remove(self, name: str) -> None:
        """Delete an upload. Raises: OSError, FileNotFoundError for a name that is no upload."""
        self._path(name).unlink()
        sync_folder(self._folder)

    def _path(self, name: str) -> Path:
        self._check_folder()
        if not is_upload_name(name) or (self._folder / name).is_symlink() or not (self._folder / name).is_file():
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), name)
        return self._folder / name

    def _check_room(self, size: int) -> None:
        uploads = self.all()
        if len(uploads) >= MAX_UPLOADS:
            raise Conflict(Code.TOO_MANY_UPLOADS, limit=MAX_UPLOADS)
        stored_bytes = sum(upload.size for upload in uploads)
        if stored_bytes + size > MAX_ALL_UPLOADS_BYTES:
            raise Conflict(Code.UPLOADS_FULL, size=size, held=stored_bytes, limit=MAX_ALL_UPLOADS_BYTES)

    def _check_folder(self) -> None:
        """Raises: OSError where a symlink stands in the place of the folder."""
        if os.path.lexists(self._folder) and not is_own_folder(self._folder):
            raise NotADirectoryError(errno.ENOTDIR, "a link stands in the place of the folder", str(self._folder))
