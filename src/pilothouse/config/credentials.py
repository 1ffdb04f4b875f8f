"""The set-up that was made in the page: kept in one file of the runtime's own, for its owner's eyes only."""

import contextlib
from pathlib import Path

import msgspec

from pilothouse.config.reading import refused
from pilothouse.domain.codes import Code
from pilothouse.domain.errors import StoreRefused
from pilothouse.domain.setup import Address, Key, ModelName, ProviderName
from pilothouse.domain.values import Value
from pilothouse.private_file import remove_drafts, replace_private_file, sync_folder


class StoredSetup(Value, kw_only=True, forbid_unknown_fields=False):
    """Address, key and model belong together: the key is sent to this address and to no other. Fields that a later
    version has written are left out, so that going back to this one starts."""

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
        """Raises: StoreRefused; then what was there before still is."""
        replace_private_file(self._path, msgspec.json.encode(setup))

    def remove(self) -> None:
        """Also what a kill has left. Raises: StoreRefused."""
        try:
            remove_drafts(self._path)
            with contextlib.suppress(FileNotFoundError):
                self._path.unlink()
                sync_folder(self._path.parent)
        except OSError as error:
            raise StoreRefused(Code.STORE_REFUSED, detail=error.strerror or str(error)) from error
