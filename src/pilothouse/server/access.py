"""Who may ask: the host that is asked for, the origin of the page that asks, the token, and how often it was wrong."""

import ipaddress
import re
from collections import OrderedDict, deque
from collections.abc import Collection

from starlette.requests import Request

from pilothouse.ambient import Ambient
from pilothouse.domain.codes import Code
from pilothouse.server.problems import Refused
from pilothouse.server.tokens import MAX_TOKEN_LENGTH, Tokens

SAFE_METHODS = frozenset({"GET", "HEAD", "OPTIONS"})
_LOOPBACK_NAMES = ("localhost", "127.0.0.1", "::1")
_OWN_SITES = frozenset({"same-origin", "none"})
_HOST = re.compile(
    r"(?:\[(?P<ipv6>[0-9A-Fa-f:.]{2,45})\]|(?P<name>[A-Za-z0-9_](?:[A-Za-z0-9._-]{0,252}[A-Za-z0-9_])?))"
    r"(?::(?P<port>[0-9]{1,5}))?",
    re.ASCII,
)
MAX_PORT = 65535
_FAILURES = 10
_WINDOW = 60.0
_DELAY = 1.0
_DELAYED_AT_MOST = 20
_ADDRESSES_AT_MOST = 1000


class Access:
    """`host` and `port` are where the server listens; `names` are other names that it answers to."""

    def __init__(self, tokens: Tokens, ambient: Ambient, *, host: str, port: int, names: Collection[str] = ()) -> None:
        self.tokens = tokens
        self.cookie_name = f"pilothouse-{port}"
        self._ambient = ambient
        self._names = frozenset(name.lower() for name in (*_LOOPBACK_NAMES, host, *names))
        self._any_address = not is_loopback(host)
        self._failures: OrderedDict[str, deque[float]] = OrderedDict()
        self._delayed = 0

    def check_sender(self, request: Request) -> None:
        """Raises: Refused for a name that is not ours (DNS rebinding), or a page that is not ours."""
        hosts = request.headers.getlist("host")
        host = hosts[0] if hosts else ""
        if len(hosts) != 1 or not self._is_known(host):
            raise Refused(421, Code.FOREIGN_HOST, host=host[:100], allowed=", ".join(sorted(self._names)))
        origin = request.headers.get("origin")
        if origin is not None and origin.lower() not in (f"http://{host.lower()}", f"https://{host.lower()}"):
            raise Refused(403, Code.FOREIGN_ORIGIN, origin=origin[:100])
        site = request.headers.get("sec-fetch-site", "none")
        if site not in _OWN_SITES and not _is_visit(request):
            raise Refused(403, Code.FOREIGN_ORIGIN, origin=origin or site)

    def _is_known(self, host: str) -> bool:
        name = _hostname(host)
        if name is None or name in self._names:
            return name is not None
        # No name can be made to point at us by somebody else where an address is given.
        return self._any_address and _address(name) is not None

    async def user(self, request: Request) -> str:
        """Whose token it is. Raises: Refused."""
        header = request.headers.get("authorization")
        if header is not None:
            scheme, _, token = header.partition(" ")
            found = self.tokens.user_of(token.strip()) if scheme.lower() == "bearer" else None
        else:
            value = self._cookie_value(request)
            found = self.signed_in(request)
            # Cookie-authenticated writes must carry an Origin header (CSRF).
            if found is not None and request.method not in SAFE_METHODS and "origin" not in request.headers:
                raise Refused(403, Code.FOREIGN_ORIGIN, origin="-")
            if found is None and not value:
                raise _unauthorized()
        if found is None:
            await self.slow_down(request)
            raise _unauthorized()
        return found

    def cookie(self, request: Request) -> str | None:
        """The secret of a browser that is signed in, or that claims to be."""
        value = self._cookie_value(request)
        return value if value and len(value) <= MAX_TOKEN_LENGTH else None

    def _cookie_value(self, request: Request) -> str | None:
        """Our cookie as it was set, without quotes or escapes. Unescaping what anybody sends takes quadratic time."""
        for pair in request.headers.get("cookie", "").split(";"):
            name, _, value = pair.strip().partition("=")
            if name == self.cookie_name:
                return value
        return None

    def signed_in(self, request: Request) -> str | None:
        """The user as whom the browser is signed in. Raises: StoreDamaged."""
        secret = self.cookie(request)
        return self.tokens.user_of_cookie(secret) if secret is not None else None

    async def slow_down(self, request: Request) -> None:
        """Count a wrong token. An address with many of them waits for its answer, or gets none."""
        address = request.client.host if request.client is not None else "-"
        failures = self._failures.setdefault(address, deque(maxlen=_FAILURES))
        self._failures.move_to_end(address)
        while len(self._failures) > _ADDRESSES_AT_MOST:
            self._failures.popitem(last=False)
        now = self._ambient.monotonic()
        is_slowed = len(failures) == _FAILURES and now - failures[0] < _WINDOW
        failures.append(now)
        if not is_slowed:
            return
        if self._delayed < _DELAYED_AT_MOST:
            self._delayed += 1
            try:
                await self._ambient.sleep(_DELAY)
            finally:
                self._delayed -= 1
        wait = max(1, round(_WINDOW - (now - failures[0])))
        raise Refused(429, Code.TOO_MANY_ATTEMPTS, {"retry-after": str(wait)}, seconds=wait)


def _unauthorized() -> Refused:
    return Refused(401, Code.UNAUTHORIZED, {"www-authenticate": "Bearer"})


def _is_visit(request: Request) -> bool:
    """Somebody follows a link to the page itself."""
    return (
        request.method == "GET" and request.headers.get("sec-fetch-mode") == "navigate" and request.scope["path"] == "/"
    )


def _hostname(host: str) -> str | None:
    """The name or address in a Host header, in small letters; None where the header is not exactly NAME[:PORT] or
    [IPv6][:PORT]: what programs read into anything else differs."""
    parts = _HOST.fullmatch(host)
    if parts is None or (parts["port"] is not None and int(parts["port"]) > MAX_PORT):
        return None
    if parts["ipv6"] is not None:
        return parts["ipv6"].lower() if isinstance(_address(parts["ipv6"]), ipaddress.IPv6Address) else None
    return parts["name"].lower()


def _address(name: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    try:
        return ipaddress.ip_address(name)
    except ValueError:
        return None


def is_loopback(host: str) -> bool:
    address = _address(host)
    return address.is_loopback if address is not None else host == "localhost"
