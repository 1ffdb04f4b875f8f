"""The set-up that was made in the page: kept in one file of the runtime's own, for its owner's eyes only."""

import contextlib
import os
import tempfile
from pathlib import Path

import msgspec

from pilothouse.config.reading import refused
from pilothouse.domain.setup import Address, Key, ModelName, ProviderName
from pilothouse.domain.values import Value

_DRAFT = ".credentials-"


class StoredSetup(Value, kw_only=True):
    """Address, key and model belong together: the key is sent to this address and to no other."""

    provider: ProviderName = "openai"
    base_url: Address
    key: Key | None = None
    model: ModelName


class Credentials:
    def __init__(self, path: Path) -> None:
        self._path = path

    def read(self) -> StoredSetup | None:
        """Raises: InvalidInput for a file that cannot be read."""
        try:
            return msgspec.json.decode(self._path.read_bytes(), type=StoredSetup)
        except FileNotFoundError:
            return None
        except (OSError, msgspec.MsgspecError, UnicodeDecodeError) as error:
            raise refused(self._path, f"{error}.", "repair or remove it") from error

    def write(self, setup: StoredSetup) -> None:
        """It is there, whole, when this returns, or what was there before still is. Raises: OSError."""
        self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._remove_drafts()
        fd, draft = tempfile.mkstemp(dir=self._path.parent, prefix=_DRAFT)  # 0600
        try:
            with open(fd, "wb") as file:
                file.write(msgspec.json.encode(setup))
                file.flush()
                os.fsync(fd)
            os.replace(draft, self._path)
        except BaseException:
            with contextlib.suppress(OSError):
                os.unlink(draft)
            raise
        self._sync_folder()

    def remove(self) -> None:
        """Also what a kill has left. Raises: OSError."""
        self._remove_drafts()
        with contextlib.suppress(FileNotFoundError):
            self._path.unlink()
            self._sync_folder()

    def _remove_drafts(self) -> None:
        """Who was killed while it wrote has left one behind, with a key in it."""
        for draft in self._path.parent.glob(f"{_DRAFT}*"):
            draft.unlink(missing_ok=True)

    def _sync_folder(self) -> None:
        fd = os.open(self._path.parent, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            os.fsync(fd)
        finally:
            os.close(fd)
