"""The headers by which a proxy reports the request that it received: the client's address, the scheme and the host.

They count only from proxies that the configuration trusts; anybody else could forge them.
"""

import re
from collections.abc import Collection
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network
from typing import NamedTuple

from starlette.requests import Request

from pilothouse.domain.codes import Code
from pilothouse.server.problems import HTTPProblem

MAX_HOPS = 20
"""The addresses of X-Forwarded-For that are read, from the right."""
_SCHEMES = ("http", "https")
# Some proxies add the client's port.
_WITH_PORT = re.compile(r"\[(?P<ipv6>[^\]]+)\](?::[0-9]{1,5})?|(?P<ipv4>[0-9.]+):[0-9]{1,5}", re.ASCII)
Address = IPv4Address | IPv6Address


class Forwarded(NamedTuple):
    """The parts of a request as the client sent it."""

    client: str
    scheme: str | None
    """None if the proxy does not report the scheme."""
    host: str | None
    """The Host header as the client sent it, with the port. None if the proxy does not report it."""


class TrustedProxies:
    """The proxies whose headers count, as addresses and networks."""

    def __init__(self, networks: Collection[str]) -> None:
        self._networks = tuple(ip_network(network) for network in networks)

    def read(self, request: Request) -> Forwarded | None:
        """Return the headers of a trusted proxy; None for a request from anybody else.

        Raises: HTTPProblem if the proxy does not report exactly one valid scheme.
        """
        peer = _address(request.client.host) if request.client is not None else None
        if peer is None or not self._are_trusted(peer):
            return None
        schemes = request.headers.getlist("x-forwarded-proto")
        scheme = ", ".join(schemes).lower() if schemes else None
        if scheme not in (None, *_SCHEMES):
            raise HTTPProblem(400, Code.FORWARDED_SCHEME, scheme=scheme[:100])
        hosts = request.headers.getlist("x-forwarded-host")
        # Several hosts make one invalid name, which the check of the host refuses.
        return Forwarded(str(self._client(request, peer)), scheme, ", ".join(hosts) if hosts else None)

    def _client(self, request: Request, peer: Address) -> Address:
        """Return the right-most address that is not a trusted proxy: each proxy adds its client at the right, and
        everything further left is what that client claims. A malformed address ends the search."""
        addresses = ",".join(request.headers.getlist("x-forwarded-for")).rsplit(",", MAX_HOPS)[-MAX_HOPS:]
        client = peer
        for text in reversed(addresses):
            address = _address(text.strip())
            if address is None:
                break
            client = address
            if not self._are_trusted(address):
                break
        return client

    def _are_trusted(self, address: Address) -> bool:
        return any(address in network for network in self._networks)


def _address(text: str) -> Address | None:
    match = _WITH_PORT.fullmatch(text)
    name = text if match is None else match["ipv6"] or match["ipv4"]
    try:
        address = ip_address(name.partition("%")[0])
    except ValueError:
        return None
    # A socket that listens on IPv6 and IPv4 reports IPv4 clients in this form.
    return getattr(address, "ipv4_mapped", None) or address
