"""A user's documents on disk: small files that are replaced as a whole, in `users/<user>/`."""

from pathlib import Path

from pilothouse.domain.codes import Code
from pilothouse.domain.errors import StoreDamaged, StoreRefused
from pilothouse.storage.files.disk import Disk, words_of
from pilothouse.storage.files.layout import Folder
from pilothouse.storage.files.recovery import keep
from pilothouse.storage.files.regular_files import read_regular_file

MAX_DOCUMENT_BYTES = 64 * 1024 * 1024


class Documents:
    def __init__(self, users: Path, disk: Disk) -> None:
        self._users = users
        self._disk = disk

    def read(self, user: str, name: str) -> bytes | None:
        try:
            return read_regular_file(self._path(user, name), MAX_DOCUMENT_BYTES)
        except FileNotFoundError:
            return None
        except OSError as error:
            raise StoreDamaged(Code.DOCUMENT_DAMAGED, name=name, detail=words_of(error)) from error

    def write(self, user: str, name: str, data: bytes) -> None:
        """Raises: StoreRefused; then the old one is still there."""
        path = self._path(user, name)
        try:
            for folder in (path.parent.parent, path.parent):
                if not folder.is_dir():
                    self._disk.make_dir(folder)
                    self._disk.sync_dir(folder.parent)
            self._disk.replace_file(path, data)
        except OSError as error:
            raise StoreRefused(Code.STORE_REFUSED, detail=words_of(error)) from error

    def put_aside(self, user: str, name: str, data: bytes) -> str:
        """Keep bytes that mean nothing to us. Raises: StoreRefused."""
        try:
            return keep(Folder(self._users / user), self._disk, f"{name}.json", data)
        except OSError as error:
            raise StoreRefused(Code.STORE_REFUSED, detail=words_of(error)) from error

    def _path(self, user: str, name: str) -> Path:
        return self._users / user / f"{name}.json"
