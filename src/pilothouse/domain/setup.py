"""The provider and the model that are set up: how that stands, what is wanted, and what came of trying it."""

from typing import Annotated, Literal
from urllib.parse import urlsplit

from msgspec import Meta

from pilothouse.domain.codes import Code, Reason
from pilothouse.domain.errors import InvalidInput
from pilothouse.domain.values import Value

KeyFrom = Literal["environment", "stored"]
ProviderName = Literal["openai"]
Address = Annotated[str, Meta(min_length=1, max_length=500)]
Key = Annotated[str, Meta(min_length=1, max_length=500, pattern=r"^[!-~]+$(?!\n)")]
ModelName = Annotated[str, Meta(min_length=1, max_length=100, pattern=r"^[^\x00-\x20\x7f]+$(?!\n)")]

_HINTED_FROM, _HINT = 12, 4


class Setup(Value, kw_only=True, omit_defaults=False):
    """`provider` is openai (all that speaks its chat completions), demo or scripted. `base_url` is where requests go,
    or would go. `key_hint` is the end of a key that is long enough to have one shown; the key itself is never given.
    `reason` says why it cannot be changed here."""

    provider: str
    model: str
    is_demo: bool
    base_url: str | None = None
    key_hint: str | None = None
    key_from: KeyFrom | None = None
    can_change: bool = False
    reason: Reason | None = None


class WantedSetup(Value, kw_only=True):
    """Without `base_url`, the present one. Without `key`, the present one where the address is the same, else none."""

    provider: ProviderName = "openai"
    base_url: Address | None = None
    key: Key | None = None
    model: ModelName | None = None


class SetupTrial(Value, kw_only=True, omit_defaults=False):
    """`models` are those that the provider lists; some list none. `reason` says what went wrong."""

    ok: bool
    models: tuple[str, ...] = ()
    reason: Reason | None = None


def key_hint(key: str | None) -> str | None:
    return key[-_HINT:] if key is not None and len(key) >= _HINTED_FROM else None


def check_address(address: str) -> str:
    """Without a slash at its end. Raises: InvalidInput for what is no plain address of a web server."""
    try:
        parts = urlsplit(address)
        is_plain = address.isascii() and address.isprintable() and not set(address) & set(" ?#\\")
        is_good = is_plain and parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
        is_good = is_good and parts.username is None and parts.password is None
    except ValueError:
        is_good = False
    if not is_good:  # what is refused may hold a password: it is not said again
        raise InvalidInput(Code.INVALID_ADDRESS)
    return address.rstrip("/")
