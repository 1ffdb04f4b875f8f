"""The setup of the model provider: its present state, a requested change, and the result of a trial request."""

from typing import Annotated, Literal
from urllib.parse import urlsplit

from msgspec import Meta

from pilothouse.domain.codes import Code, Reason
from pilothouse.domain.errors import InvalidInput
from pilothouse.domain.value import Value

KeyFrom = Literal["environment", "stored"]
ProviderName = Annotated[str, Meta(min_length=1, max_length=50, pattern=r"^[a-z][a-z0-9_-]*$(?!\n)")]
Address = Annotated[str, Meta(min_length=1, max_length=500)]
Key = Annotated[str, Meta(min_length=1, max_length=500, pattern=r"^[!-~]+$(?!\n)")]
ProviderModelName = Annotated[str, Meta(min_length=1, max_length=100, pattern=r"^[^\x00-\x20\x7f]+$(?!\n)")]

_MIN_HINTED_KEY_CHARACTERS = 12
_KEY_HINT_CHARACTERS = 4


class Setup(Value, kw_only=True, omit_defaults=False):
    """The present provider and model."""

    provider: str
    """A name of the registry of providers."""
    model: str
    is_demo: bool
    base_url: str | None = None
    """The address that requests go to, or would go to with this provider."""
    key_hint: str | None = None
    """The end of a key that is long enough. No response holds the key itself."""
    key_from: KeyFrom | None = None
    can_change: bool = False
    reason: Reason | None = None
    """Why the setup cannot be changed here."""


class SetupRequest(Value, kw_only=True):
    """A requested setup."""

    provider: ProviderName | None = None
    """None for the default provider."""
    base_url: Address | None = None
    """None for the present address."""
    key: Key | None = None
    """None for the present key where the address is unchanged, else for no key."""
    model: ProviderModelName | None = None


class SetupTrial(Value, kw_only=True, omit_defaults=False):
    """The result of a trial request."""

    ok: bool
    models: tuple[str, ...] = ()
    """The models that the provider lists. Some providers list none."""
    reason: Reason | None = None
    """The error of a failed request."""


def key_hint(key: str | None) -> str | None:
    return key[-_KEY_HINT_CHARACTERS:] if key is not None and len(key) >= _MIN_HINTED_KEY_CHARACTERS else None


def check_address(address: str) -> str:
    """The address without trailing slashes. Raises: InvalidInput unless it is a plain HTTP URL without credentials."""
    try:
        parts = urlsplit(address)
        is_plain = address.isascii() and address.isprintable() and not set(address) & set(" ?#\\")
        is_good = is_plain and parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
        is_good = is_good and parts.username is None and parts.password is None
    except ValueError:
        is_good = False
    if not is_good:  # the error does not repeat the address, which may hold a password
        raise InvalidInput(Code.INVALID_ADDRESS)
    return address.rstrip("/")
