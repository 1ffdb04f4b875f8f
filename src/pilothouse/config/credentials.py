"""The provider setup that the web client stores, with its API key, in one private file."""

import contextlib
from pathlib import Path

import msgspec

from pilothouse.config.toml_document import file_error
from pilothouse.domain.errors import StoreRefused
from pilothouse.domain.provider_setup import Address, Key, ProviderModelName, ProviderName
from pilothouse.domain.value import Value
from pilothouse.llm.providers import DEFAULT_PROVIDER
from pilothouse.system.private_file import remove_drafts, replace_private_file, sync_folder


class StoredSetup(Value, kw_only=True, forbid_unknown_fields=False):
    """Address, key and model of a provider; the key is sent only to this address. Unknown fields are ignored, so that a
    downgrade from a later version works."""

    provider: ProviderName = DEFAULT_PROVIDER
    base_url: Address
    key: Key | None = None
    model: ProviderModelName


class Credentials:
    """The file of the stored setup."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def read(self) -> StoredSetup | None:
        """Return the stored setup, or None. Raises: InvalidInput for a file that cannot be read."""
        try:
            return msgspec.json.decode(self._path.read_bytes(), type=StoredSetup)
        except FileNotFoundError:
            return None
        except (OSError, msgspec.MsgspecError, UnicodeDecodeError) as error:
            raise file_error(self._path, f"{error}.", "repair or remove it") from error

    def write(self, setup: StoredSetup) -> None:
        """Replace the stored setup. Raises: StoreRefused; the previous setup then remains."""
        replace_private_file(self._path, msgspec.json.encode(setup))

    def remove(self) -> None:
        """Delete the setup, and drafts that a killed process left behind. Raises: StoreRefused."""
        try:
            remove_drafts(self._path)
            with contextlib.suppress(FileNotFoundError):
                self._path.unlink()
                sync_folder(self._path.parent)
        except OSError as error:
            raise StoreRefused.because_of(error) from error
