"""Files that a person uploads to a conversation. They lie in its own folder; tools read them as `uploads/NAME`."""

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
from pilothouse.domain.values import Value
from pilothouse.private_file import make_private_folder, sync_folder
from pilothouse.regular_file import NotRegularFile, open_regular_file
from pilothouse.tools.artifacts import is_own_folder

MAX_UPLOADS = 1000
MAX_ALL_UPLOADS_BYTES = 1024 * 1024 * 1024
_MAX_GIVEN_NAME_CHARACTERS = 200
_MAX_NAME_BYTES = 100
_UNSAFE = frozenset('<>:"|?*\\/')
_DRAFT = ".upload"  # beside the folder: no tool sees half a file


class StoredUpload(Value):
    name: str
    size: int


def safe_name(name: str) -> str:
    """The last part of a name, without what could hide, surprise or lead elsewhere. Raises: InvalidInput."""
    last = unicodedata.normalize("NFC", name).replace("\\", "/").rsplit("/", 1)[-1]
    safe = "".join(each for each in last if each.isprintable() and each not in _UNSAFE).strip(" .")
    if not safe or len(name) > _MAX_GIVEN_NAME_CHARACTERS:
        raise InvalidInput(Code.UPLOAD_NAME, name=name[:_MAX_GIVEN_NAME_CHARACTERS])
    try:
        return _shortened(safe)
    except ValueError as error:
        raise InvalidInput(Code.UPLOAD_NAME, name=name[:_MAX_GIVEN_NAME_CHARACTERS]) from error


def _shortened(name: str, ending: str = "") -> str:
    """A name with something before its suffix, cut to the bytes a name may take. Raises: ValueError."""
    path = PurePosixPath(name)
    stem = path.stem
    while stem and len(f"{stem}{ending}{path.suffix}".encode()) > _MAX_NAME_BYTES:
        stem = stem[:-1].rstrip(" .")
    if not stem:
        raise ValueError("nothing is left of the name")
    return f"{stem}{ending}{path.suffix}"


def is_upload_name(name: str) -> bool:
    """Whether an upload can have this name. One that cannot may lead out of the folder."""
    try:
        return safe_name(name) == name
    except InvalidInput:
        return False


def numbered(name: str, number: int) -> str:
    """`notes.txt` as `notes-2.txt`; the first one keeps its name."""
    return name if number == 1 else _shortened(name, f"-{number}")


class UploadStore:
    """The uploads of one conversation. All of its work is blocking: call it in a thread, one at a time."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def all(self) -> list[StoredUpload]:
        """By name. A link or a folder that somebody put there is no upload. Raises: OSError."""
        if not is_own_folder(self._folder):
            return []
        with os.scandir(self._folder) as entries:
            files = [entry for entry in entries if entry.is_file(follow_symlinks=False)]
            uploads = [StoredUpload(entry.name, entry.stat(follow_symlinks=False).st_size) for entry in files]
        return sorted(uploads, key=lambda upload: upload.name)

    def add(self, name: str, data: bytes, is_taken: Callable[[str], bool] = lambda _: False) -> str:
        """Store a file durably, with a number behind its name where the name is taken. Gives the name.

        Raises: Conflict over the bounds; OSError, and then nothing is left of it.
        """
        for folder in (self._folder.parent, self._folder):
            make_private_folder(folder)
        self._check_folder()
        self._check_room(len(data))
        draft = place = self._folder.parent / _DRAFT
        draft.unlink(missing_ok=True)  # what a crash has left
        try:
            with open(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600), "wb") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
            candidates = (self._folder / numbered(name, number) for number in itertools.count(1))
            place = next(path for path in candidates if not os.path.lexists(path) and not is_taken(path.name))
            os.rename(draft, place)
            for folder in (self._folder, self._folder.parent, self._folder.parent.parent):
                sync_folder(folder)
        except BaseException:
            for path in (draft, place):
                with suppress(OSError):
                    path.unlink()
            raise
        return place.name

    def read(self, name: str) -> bytes:
        """Raises: OSError, FileNotFoundError for what is no upload."""
        try:
            with open_regular_file(self._path(name)) as file:
                data = file.read(MAX_UPLOAD_BYTES + 1)
        except NotRegularFile as error:
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), name) from error
        if len(data) > MAX_UPLOAD_BYTES:  # nobody uploaded this one
            raise OSError(errno.EFBIG, os.strerror(errno.EFBIG), name)
        return data

    def remove(self, name: str) -> None:
        """Raises: OSError, FileNotFoundError for what is no upload."""
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
        held = sum(upload.size for upload in uploads)
        if held + size > MAX_ALL_UPLOADS_BYTES:
            raise Conflict(Code.UPLOADS_FULL, size=size, held=held, limit=MAX_ALL_UPLOADS_BYTES)

    def _check_folder(self) -> None:
        """Raises: OSError where a link stands in the place of the folder."""
        if os.path.lexists(self._folder) and not is_own_folder(self._folder):
            raise NotADirectoryError(errno.ENOTDIR, "a link stands in the place of the folder", str(self._folder))
