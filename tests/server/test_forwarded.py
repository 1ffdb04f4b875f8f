"""Headers of proxies: they count from trusted ones only, and hostile or malformed ones gain nothing."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from http.cookies import SimpleCookie
from pathlib import Path
from typing import Any

import pytest
from starlette.requests import Request

from pilothouse.config.configuration import Configuration
from pilothouse.domain.codes import Code
from pilothouse.domain.errors import InvalidInput
from pilothouse.server.forwarded import MAX_HOPS, Forwarded, TrustedProxies
from pilothouse.server.protocol import MAX_HEADER_BYTES
from pilothouse.testing.served import TOKEN, Served
from pilothouse.testing.world import World
from tests.server.test_access import Reply, reply_of

NAME = "pilothouse.example.org"
BEHIND = {"trusted_proxies": ("127.0.0.1", "10.0.0.0/8"), "names": (NAME,)}
NOT_TRUSTING = {"trusted_proxies": ("10.0.0.0/8",), "names": (NAME,)}


def request(peer: str | None, *headers: tuple[str, str]) -> Request:
    raw_headers = [(name.encode(), value.encode("latin-1")) for name, value in headers]
    client = (peer, 1) if peer is not None else None
    return Request({"type": "http", "headers": raw_headers, "client": client})


def client_of(peer: str, *values: str, networks: Sequence[str] = ("127.0.0.1", "10.0.0.0/8", "fd00::/8")) -> str | None:
    """The client's address in the requests of a peer with these X-Forwarded-For headers."""
    forwarded = TrustedProxies(networks).read(request(peer, *(("x-forwarded-for", value) for value in values)))
    return forwarded.client if forwarded is not None else None


@pytest.mark.parametrize(
    ("values", "client"),
    [
        ((), "127.0.0.1"),
        (("192.0.2.1",), "192.0.2.1"),
        (("203.0.113.9, 192.0.2.1",), "192.0.2.1"),  # the client forged the left one
        (("192.0.2.1, 10.1.2.3",), "192.0.2.1"),
        (("192.0.2.1, 10.1.2.3, 10.4.5.6",), "192.0.2.1"),
        (("203.0.113.9, 192.0.2.1, 10.1.2.3",), "192.0.2.1"),
        (("10.0.0.1, 10.0.0.2",), "10.0.0.1"),  # the client is itself in the trusted network
        (("127.0.0.1",), "127.0.0.1"),
        (("2001:db8::1",), "2001:db8::1"),
        (("2001:DB8:0::1, fd00::2",), "2001:db8::1"),
        (("::ffff:192.0.2.1",), "192.0.2.1"),
        (("192.0.2.1:4711",), "192.0.2.1"),
        (("[2001:db8::1]:4711",), "2001:db8::1"),
        (("[2001:db8::1]",), "2001:db8::1"),
        (("fe80::1%eth0",), "fe80::1"),
        ((" 192.0.2.1\t,  10.0.0.1 ",), "192.0.2.1"),
        # repeated headers are one list
        (("203.0.113.9", "192.0.2.1"), "192.0.2.1"),
        (("192.0.2.1", "10.0.0.1"), "192.0.2.1"),
        # a malformed address ends the search: nobody whom we trust wrote it
        (("unknown",), "127.0.0.1"),
        (("192.0.2.1, unknown",), "127.0.0.1"),
        (("192.0.2.1, _hidden, 10.0.0.1",), "10.0.0.1"),
        (("",), "127.0.0.1"),
        ((",",), "127.0.0.1"),
        (("192.0.2.1,",), "127.0.0.1"),
        (("192.0.2.1 10.0.0.1",), "127.0.0.1"),
        (("192.0.2.256",), "127.0.0.1"),
        (("192.0.2.01",), "127.0.0.1"),
        (("192.0.2.1:99999999",), "127.0.0.1"),
        (("[192.0.2.1]x",), "127.0.0.1"),
        (("[]",), "127.0.0.1"),
        (("\u00e4",), "127.0.0.1"),
        (("for=192.0.2.1",), "127.0.0.1"),
        (("1" * 50_000,), "127.0.0.1"),
        (("192.0.2.1, " * 5_000 + "192.0.2.7",), "192.0.2.7"),
    ],
)
def test_the_client_is_the_right_most_address_that_is_no_trusted_proxy(values: tuple[str, ...], client: str) -> None:
    assert client_of("127.0.0.1", *values) == client


def test_a_long_list_is_read_from_the_right_and_no_further_than_a_limit() -> None:
    proxies = [f"10.0.{number // 250}.{number % 250}" for number in range(6_000)]
    assert client_of("127.0.0.1", ", ".join(["192.0.2.1", *proxies])) == proxies[-MAX_HOPS]
    assert client_of("127.0.0.1", ", ".join(["192.0.2.1", *proxies[: MAX_HOPS - 1]])) == "192.0.2.1"


@pytest.mark.parametrize("peer", ["127.0.0.2", "192.0.2.9", "11.0.0.1", "::1", "2001:db8::1", "not an address", None])
def test_headers_of_anybody_else_are_not_read(peer: str | None) -> None:
    proxies = TrustedProxies(["127.0.0.1", "10.0.0.0/8"])
    headers = (("x-forwarded-for", "192.0.2.1"), ("x-forwarded-proto", "gopher"), ("x-forwarded-host", "evil.example"))
    assert proxies.read(request(peer, *headers)) is None


@pytest.mark.parametrize("peer", ["127.0.0.1", "10.255.0.1", "::ffff:10.0.0.1", "fd00::7", "fd00::7%eth0"])
def test_a_proxy_is_trusted_in_every_form_of_its_address(peer: str) -> None:
    assert client_of(peer, "192.0.2.1") == "192.0.2.1"


def test_a_server_trusts_no_proxy_by_default() -> None:
    assert TrustedProxies(()).read(request("127.0.0.1", ("x-forwarded-for", "192.0.2.1"))) is None


def test_only_what_a_proxy_reports_is_changed() -> None:
    proxies = TrustedProxies(["127.0.0.1"])
    assert proxies.read(request("127.0.0.1")) == Forwarded("127.0.0.1", None, None)
    headers = (("x-forwarded-proto", "HTTPS"), ("x-forwarded-host", f"{NAME}:8443"), ("forwarded", "for=192.0.2.1"))
    assert proxies.read(request("127.0.0.1", *headers)) == Forwarded("127.0.0.1", "https", f"{NAME}:8443")


# over sockets


@asynccontextmanager
async def behind_proxy(folder: Path, **options: Any) -> AsyncIterator[Served]:
    world = World(folder)
    async with world.runtime, Served(world.runtime, [folder], **options) as served:
        yield served


async def get(served: Served, *lines: str, method: str = "GET", target: str = "/api/health", body: str = "") -> Reply:
    """A request with header lines that no client would send."""
    host = [] if any(line.lower().startswith("host:") for line in lines) else [f"host: {NAME}"]
    end = ["content-type: application/x-www-form-urlencoded", f"content-length: {len(body)}"] if body else []
    head = "".join(f"{line}\r\n" for line in (f"{method} {target} HTTP/1.1", *host, *lines, *end, ""))
    reader, writer = await asyncio.open_connection("127.0.0.1", served.port)
    try:
        writer.write(head.encode("latin-1") + body.encode())
        return await reply_of(reader)
    finally:
        writer.transport.abort()


AUTHORIZED = f"authorization: Bearer {TOKEN}"


async def failed(served: Served, *lines: str) -> int:
    return (await get(served, *lines, "authorization: Bearer wrong-token-wrong-token")).status


async def test_failed_sign_ins_are_counted_by_the_address_that_the_proxy_reports(tmp_path: Path) -> None:
    async with behind_proxy(tmp_path, **BEHIND) as served:
        for number in range(10):
            forged = f"x-forwarded-for: 203.0.113.{number}, 192.0.2.1"
            assert await failed(served, forged) == 401
        assert await failed(served, "x-forwarded-for: 192.0.2.1") == 429
        assert await failed(served, "x-forwarded-for: 203.0.113.77, 192.0.2.1, 10.0.0.3") == 429
        assert await failed(served, "x-forwarded-for: 192.0.2.2") == 401
        assert await failed(served) == 401, "the proxy itself"
        assert (await get(served, "x-forwarded-for: 192.0.2.1", AUTHORIZED)).status == 200


async def test_forwarded_addresses_of_untrusted_peers_evade_no_limit(tmp_path: Path) -> None:
    async with behind_proxy(tmp_path, **NOT_TRUSTING) as served:
        statuses = [await failed(served, f"x-forwarded-for: 192.0.2.{number}") for number in range(12)]
        assert statuses == [401] * 10 + [429] * 2


ORIGINS = (
    (("x-forwarded-proto: https",), f"https://{NAME}", 200),
    (("x-forwarded-proto: https",), f"http://{NAME}", 403),
    (("x-forwarded-proto: http",), f"http://{NAME}", 200),
    (("x-forwarded-proto: http",), f"https://{NAME}", 403),
    ((), f"https://{NAME}", 200),
    ((), f"http://{NAME}", 200),
    (("x-forwarded-proto: https",), f"https://{NAME}:8443", 403),
    (("x-forwarded-proto: https", f"x-forwarded-host: {NAME}:8443"), f"https://{NAME}:8443", 200),
    (("x-forwarded-proto: https", f"x-forwarded-host: {NAME.upper()}"), f"https://{NAME}", 200),
    (("x-forwarded-proto: https", f"x-forwarded-host: {NAME}:8443"), f"https://{NAME}", 403),
    (("host: 127.0.0.1:8484", f"x-forwarded-host: {NAME}"), f"https://{NAME}", 200),
    (("host: 127.0.0.1:8484", f"x-forwarded-host: {NAME}"), "https://127.0.0.1:8484", 403),
)


async def test_the_own_origin_is_the_address_that_the_proxy_reports(tmp_path: Path) -> None:
    async with behind_proxy(tmp_path, **BEHIND) as served:
        for lines, origin, status in ORIGINS:
            reply = await get(served, *lines, f"origin: {origin}", AUTHORIZED)
            assert reply.status == status, (lines, origin)


FOREIGN_HOSTS = (
    ("x-forwarded-host: evil.example",),
    ("x-forwarded-host: ",),
    (f"x-forwarded-host: {NAME}, {NAME}",),
    (f"x-forwarded-host: evil.example, {NAME}",),
    (f"x-forwarded-host: {NAME}", f"x-forwarded-host: {NAME}"),
    (f"x-forwarded-host: {NAME}", "x-forwarded-host: evil.example"),
    (f"x-forwarded-host: user@{NAME}",),
    (f"x-forwarded-host: {NAME}/x",),
    (f"x-forwarded-host: {NAME}:99999",),
    (f"x-forwarded-host: {'x' * 30_000}",),
    (f"x-forwarded-host: {NAME}\x80",),
    ("host: evil.example", f"x-forwarded-host: {NAME}"),  # the server's own check stays
)


async def test_a_forwarded_host_must_be_exactly_one_known_host(tmp_path: Path) -> None:
    async with behind_proxy(tmp_path, **BEHIND) as served:
        for lines in FOREIGN_HOSTS:
            reply = await get(served, *lines, AUTHORIZED)
            assert (reply.status, reply.code) == (421, Code.FOREIGN_HOST), lines
            assert len(reply.body) < 2_000


UNCLEAR_SCHEMES = (
    ("x-forwarded-proto: ftp",),
    ("x-forwarded-proto: ",),
    ("x-forwarded-proto: https, http",),
    ("x-forwarded-proto: https", "x-forwarded-proto: https"),
    ("x-forwarded-proto: https\x80",),
    (f"x-forwarded-proto: {'https' * 5_000}",),
)


async def test_an_unclear_scheme_of_a_trusted_proxy_is_refused(tmp_path: Path) -> None:
    async with behind_proxy(tmp_path, **BEHIND) as served:
        for lines in UNCLEAR_SCHEMES:
            reply = await get(served, *lines, AUTHORIZED)
            assert (reply.status, reply.code) == (400, Code.FORWARDED_SCHEME), lines
            assert len(reply.body) < 2_000


async def test_nobody_reads_a_forwarded_header_of_an_untrusted_peer(tmp_path: Path) -> None:
    async with behind_proxy(tmp_path, **NOT_TRUSTING) as served:
        for lines in (*UNCLEAR_SCHEMES, *FOREIGN_HOSTS[:-1]):
            assert (await get(served, *lines, AUTHORIZED)).status == 200, lines


async def test_huge_forwarded_headers_end_the_connection_only(tmp_path: Path) -> None:
    async with behind_proxy(tmp_path, **BEHIND) as served:
        almost = "x-forwarded-for: " + "10.0.0.1, " * ((MAX_HEADER_BYTES - 500) // 10) + "192.0.2.1"
        assert (await get(served, almost, AUTHORIZED)).status == 200
        with pytest.raises((ConnectionError, asyncio.IncompleteReadError)):
            await get(served, f"x-forwarded-for: {'1' * 2 * MAX_HEADER_BYTES}", AUTHORIZED)
        assert (await get(served, AUTHORIZED)).status == 200


@pytest.mark.parametrize(
    ("server", "lines", "origin", "is_secure"),
    [
        (BEHIND, ("x-forwarded-proto: https",), f"https://{NAME}", True),
        (BEHIND, ("x-forwarded-proto: http",), f"http://{NAME}", False),
        (BEHIND, (), f"https://{NAME}", True),
        (NOT_TRUSTING, ("x-forwarded-proto: https",), f"http://{NAME}", False),
        (NOT_TRUSTING, ("x-forwarded-proto: http",), f"https://{NAME}", True),
    ],
)
async def test_the_cookie_is_secure_behind_tls(
    tmp_path: Path, server: dict[str, Any], lines: tuple[str, ...], origin: str, is_secure: bool
) -> None:
    async with behind_proxy(tmp_path, **server) as served:
        reply = await get(served, *lines, f"origin: {origin}", method="POST", target="/", body=f"token={TOKEN}")
        assert reply.status == 303
        ((_, cookie),) = SimpleCookie(reply.headers["set-cookie"]).items()
        assert bool(cookie["secure"]) == is_secure


async def test_forwarded_headers_sign_nobody_in(tmp_path: Path) -> None:
    async with behind_proxy(tmp_path, **BEHIND) as served:
        for line in ("x-forwarded-user: local", "x-remote-user: local", "x-forwarded-for: 127.0.0.1"):
            assert (await get(served, line)).status == 401
        assert (await get(served, AUTHORIZED, "x-forwarded-prefix: /evil", "x-forwarded-port: 1")).status == 200


# the configuration


@pytest.mark.parametrize(
    "value", ["localhost", "10.0.0.1/8", "10.0.0.0/33", "", "*", "unix:", "10.0.0", "fe80::/200", "a" * 10_000]
)
def test_trusted_proxies_must_be_addresses_or_networks(tmp_path: Path, value: str) -> None:
    file = tmp_path / "config.toml"
    file.write_text(f'[server]\ntrusted_proxies = ["127.0.0.1", "{value}"]\n')
    with pytest.raises(InvalidInput) as caught:
        Configuration(file)
    assert "trusted_proxies" in str(caught.value)
    assert "10.0.0.0/8" in str(caught.value)
    assert len(str(caught.value)) < 1_000


def test_addresses_and_networks_are_valid(tmp_path: Path) -> None:
    file = tmp_path / "config.toml"
    networks = ("127.0.0.1", "::1", "10.0.0.0/8", "fd00::/8", "0.0.0.0/0")
    file.write_text(f"[server]\ntrusted_proxies = {list(networks)}\n")
    assert Configuration(file).file.server.trusted_proxies == networks
