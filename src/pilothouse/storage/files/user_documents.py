"""A user's documents on disk: small files in `users/<user>/`, replaced as a whole."""

from pathlib import Path

from pilothouse.domain.codes import Code
from pilothouse.domain.errors import StoreDamaged, StoreRefused, os_error_text
from pilothouse.storage.files.disk import Disk
from pilothouse.storage.files.layout import Folder
from pilothouse.storage.files.recovery import write_aside
from pilothouse.storage.files.regular_files import read_regular_file

MAX_DOCUMENT_BYTES = 64 * 1024 * 1024


class UserDocuments:
    def __init__(self, users: Path, disk: Disk) -> None:
        self._users = users
        self._disk = disk

    def read(self, user: str, name: str) -> bytes | None:
        try:
            return read_regular_file(self._path(user, name), MAX_DOCUMENT_BYTES)
        except FileNotFoundError:
            return None
        except OSError as error:
            raise StoreDamaged(Code.DOCUMENT_DAMAGED, name=name, detail=os_error_text(error)) from error

    def write(self, user: str, name: str, data: bytes) -> None:
        """Raises: StoreRefused; then the old document is unchanged."""
        path = self._path(user, name)
        try:
            for folder in (path.parent.parent, path.parent):
                if not folder.is_dir():
                    self._disk.make_dir(folder)
                    self._disk.sync_dir(folder.parent)
            self._disk.replace_file(path, data)
        except OSError as error:
            raise StoreRefused.because_of(error) from error

    def put_aside(self, user: str, name: str, data: bytes) -> str:
        """Preserve the bytes of an unreadable document; returns their place. Raises: StoreRefused."""
        try:
            return write_aside(Folder(self._users / user), self._disk, f"{name}.json", data)
        except OSError as error:
            raise StoreRefused.because_of(error) from error

    def _path(self, user: str, name: str) -> Path:
        return self._users / user / f"{name}.json"
