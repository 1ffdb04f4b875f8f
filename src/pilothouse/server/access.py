"""Checks on each request: the Host header, the origin, the token or cookie, and the rate of failed sign-ins."""

import ipaddress
import re
from collections import OrderedDict, deque
from collections.abc import Collection, Sequence

from starlette.requests import Request

from pilothouse.domain.codes import Code
from pilothouse.server.forwarded import TrustedProxies
from pilothouse.server.problems import HTTPProblem
from pilothouse.server.tokens import MAX_TOKEN_LENGTH, Tokens
from pilothouse.system.ambient import Ambient

SAFE_METHODS = frozenset({"GET", "HEAD", "OPTIONS"})
_LOOPBACK_NAMES = ("localhost", "127.0.0.1", "::1")
_OWN_SITES = frozenset({"same-origin", "none"})
_HOST = re.compile(
    r"(?:\[(?P<ipv6>[0-9A-Fa-f:.]{2,45})\]|(?P<name>[A-Za-z0-9_](?:[A-Za-z0-9._-]{0,252}[A-Za-z0-9_])?))"
    r"(?::(?P<port>[0-9]{1,5}))?",
    re.ASCII,
)
MAX_PORT = 65535
_MAX_FAILURES = 10
_FAILURE_WINDOW_SECONDS = 60.0
_FAILURE_DELAY_SECONDS = 1.0
_MAX_DELAYED_REQUESTS = 20
_MAX_TRACKED_ADDRESSES = 1000


class Access:
    """Authenticates requests. `host` and `port` are where the server listens; `names` are further host names that a
    request may address; `trusted_proxies` are addresses and networks."""

    def __init__(
        self,
        tokens: Tokens,
        ambient: Ambient,
        *,
        host: str,
        port: int,
        names: Collection[str] = (),
        base_path: str = "",
        trusted_proxies: Collection[str] = (),
    ) -> None:
        self.tokens = tokens
        self.cookie_name = f"pilothouse-{port}"
        self.base_path = base_path
        """The path prefix of every address; empty without a prefix."""
        self._proxies = TrustedProxies(trusted_proxies)
        self._ambient = ambient
        self._names = frozenset(name.lower() for name in (*_LOOPBACK_NAMES, host, *names))
        self._accepts_any_address = not is_loopback_address(host)
        self._failures: OrderedDict[str, deque[float]] = OrderedDict()
        self._delayed = 0

    def check_host_and_origin(self, request: Request) -> None:
        """Check the request, and read its headers of trusted proxies: the client's address becomes the request's.

        Raises: HTTPProblem for a foreign Host header or target (DNS rebinding), or a request from another site.
        """
        hosts = request.headers.getlist("host")
        host = hosts[0] if hosts else ""
        target_host = request.scope["state"].get("target_host", host)
        if len(hosts) != 1 or not self._is_own_host(host) or target_host.lower() != host.lower():
            foreign = host if target_host.lower() == host.lower() else target_host
            raise self._foreign_host(foreign)
        schemes: Sequence[str] = ("http", "https")  # without a trusted proxy, the scheme of the browser is unknown
        forwarded = self._proxies.read(request)
        if forwarded is not None:
            request.scope["client"] = (forwarded.client, 0)
            schemes = [forwarded.scheme] if forwarded.scheme is not None else schemes
            host = host if forwarded.host is None else forwarded.host
            if not self._is_own_host(host):
                raise self._foreign_host(host)
        origins = request.headers.getlist("origin")
        own_origins = [f"{scheme}://{host.lower()}" for scheme in schemes]
        if len(origins) > 1 or any(origin.lower() not in own_origins for origin in origins):
            raise HTTPProblem(403, Code.FOREIGN_ORIGIN, origin=", ".join(origins)[:100])
        sites = request.headers.getlist("sec-fetch-site")
        if not _OWN_SITES.issuperset(sites) and not _is_navigation(request):
            raise HTTPProblem(403, Code.FOREIGN_ORIGIN, origin=", ".join(origins or sites)[:100])

    def _foreign_host(self, host: str) -> HTTPProblem:
        return HTTPProblem(421, Code.FOREIGN_HOST, host=host[:100], allowed=", ".join(sorted(self._names)))

    def _is_own_host(self, host: str) -> bool:
        name = _hostname(host)
        if name is None or name in self._names:
            return name is not None
        # DNS rebinding needs a name: a request to an IP address cannot come from it.
        return self._accepts_any_address and _address(name) is not None

    async def user(self, request: Request) -> str:
        """Return the user of the request's token or cookie. Raises: HTTPProblem, StoreDamaged."""
        headers = request.headers.getlist("authorization")
        if headers:
            scheme, _, token = headers[0].partition(" ")
            is_bearer = len(headers) == 1 and scheme.lower() == "bearer"
            user = self.tokens.user_of(token.strip()) if is_bearer else None
        else:
            value = self._cookie_value(request)
            user = self.signed_in_user(request)
            # Cookie-authenticated writes must carry an Origin header (CSRF).
            if user is not None and request.method not in SAFE_METHODS and "origin" not in request.headers:
                raise HTTPProblem(403, Code.FOREIGN_ORIGIN, origin="-")
            if user is None and not value:
                raise _unauthorized()
        if user is None:
            await self.record_failure(request)
            raise _unauthorized()
        return user

    def cookie(self, request: Request) -> str | None:
        """Return the secret in the browser's cookie, valid or not."""
        value = self._cookie_value(request)
        return value if value and len(value) <= MAX_TOKEN_LENGTH else None

    def _cookie_value(self, request: Request) -> str | None:
        """Return the raw value of our cookie. Nothing is unescaped: that would take quadratic time on hostile input."""
        for pair in request.headers.get("cookie", "").split(";"):
            name, _, value = pair.strip().partition("=")
            if name == self.cookie_name:
                return value
        return None

    def signed_in_user(self, request: Request) -> str | None:
        """Return the user whom the browser's cookie signs in. Raises: StoreDamaged."""
        secret = self.cookie(request)
        return self.tokens.user_of_cookie(secret) if secret is not None else None

    async def record_failure(self, request: Request) -> None:
        """Count a failed authentication. After _MAX_FAILURES within the window, requests from the same address are
        delayed and refused; beyond _MAX_DELAYED_REQUESTS, they are refused at once.

        Raises: HTTPProblem.
        """
        address = request.client.host if request.client is not None else "-"
        failures = self._failures.setdefault(address, deque(maxlen=_MAX_FAILURES))
        self._failures.move_to_end(address)
        while len(self._failures) > _MAX_TRACKED_ADDRESSES:
            self._failures.popitem(last=False)
        now = self._ambient.monotonic()
        is_limited = len(failures) == _MAX_FAILURES and now - failures[0] < _FAILURE_WINDOW_SECONDS
        failures.append(now)
        if not is_limited:
            return
        if self._delayed < _MAX_DELAYED_REQUESTS:
            self._delayed += 1
            try:
                await self._ambient.sleep(_FAILURE_DELAY_SECONDS)
            finally:
                self._delayed -= 1
        wait = max(1, round(_FAILURE_WINDOW_SECONDS - (now - failures[0])))
        raise HTTPProblem(429, Code.TOO_MANY_ATTEMPTS, {"retry-after": str(wait)}, seconds=wait)


def _unauthorized() -> HTTPProblem:
    return HTTPProblem(401, Code.UNAUTHORIZED, {"www-authenticate": "Bearer"})


def _is_navigation(request: Request) -> bool:
    """Whether the browser opens the web client itself, from a link on any site."""
    return (
        request.method == "GET" and request.headers.get("sec-fetch-mode") == "navigate" and request.scope["path"] == "/"
    )


def _hostname(host: str) -> str | None:
    """Return the name or address in a Host header in lower case, or None unless the header is exactly NAME[:PORT] or
    [IPv6][:PORT]: programs parse any other form differently."""
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


def is_loopback_address(host: str) -> bool:
    """Whether a listening address accepts only connections from this machine. Of names, only `localhost` counts."""
    address = _address(host)
    return address.is_loopback if address is not None else host == "localhost"
