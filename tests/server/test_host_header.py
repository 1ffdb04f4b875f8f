"""Each request names exactly one host, which is ours, and at most one origin: over raw sockets, as no client does."""

import asyncio
from pathlib import Path

import pytest

from pilothouse.llm.script import Answer
from pilothouse.testing.served import TOKEN, Served
from pilothouse.testing.world import World

FOREIGN = (
    *("user@127.0.0.1", "user:1@127.0.0.1", "127.0.0.1@127.0.0.1", "127.0.0.1:1@evil.example", "@127.0.0.1"),
    *("127.0.0.1:80:80", "127.0.0.1:", "127.0.0.1:x", "127.0.0.1:-1", "127.0.0.1:+80", "127.0.0.1:99999"),
    *("127.0.0.1:8 0", "127.0.0.1:080000", "127.0.0.1:evil.example", "localhost:80#evil.example", "localhost:80/evil"),
    *(
        "127.0.0.1 evil.example",
        "localhost\tevil",
        "localhost,evil.example",
        "localhost;x",
        "localhost?x",
        "localhost#",
    ),
    *("[::1", "::1]", "[::1]x", "[::1].evil.example", "[::1]:", "[::1]:x", "[[::1]]", "[localhost]", "[127.0.0.1]"),
    *("[::1]evil.example:80", "[::1%eth0]", "[]", "[", "::1", "localhost\\", "http://localhost", "local%68ost"),
    *("localhost.", "localhost/", "127.1", "0x7f.1", "2130706433", "0177.0.0.1", "%", ":80", "-", ".", "x" * 300),
    *("localh\u00f6st", "l\u043ecalhost", "\uff4cocalhost", "127.0.0.\u0661", ""),
)
OWN = ("127.0.0.1", "localhost", "LOCALHOST:1", "[::1]", "[::1]:65535", "127.0.0.1:80")
REPEATED = (
    *(("127.0.0.1", "evil.example"), ("evil.example", "127.0.0.1"), ("127.0.0.1", "127.0.0.1")),
    *(("localhost", ""), ("", "localhost"), ()),
)


async def status_of(
    port: int, hosts: tuple[str, ...], *headers: str, target: str = "/api/health", method: str = "GET"
) -> int:
    """The status of the answer to a request with these Host headers, and with these further headers."""
    lines = "".join(f"{line}\r\n" for line in (*(f"Host: {host}" for host in hosts), *headers))
    head = f"{method} {target} HTTP/1.1\r\n{lines}authorization: Bearer {TOKEN}\r\nconnection: close\r\n\r\n"
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    try:
        writer.write(head.encode())
        return int((await reader.readline()).split(b" ")[1])
    finally:
        writer.transport.abort()


@pytest.mark.parametrize("is_open", [False, True], ids=["loopback", "any address"])
async def test_only_an_exact_host_name_is_accepted(
    tmp_path: Path, is_open: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    world = World(tmp_path, Answer(text="Well."))
    async with world.runtime, Served(world.runtime, [tmp_path]) as served:
        monkeypatch.setattr(served.server_state.access, "_accepts_any_address", is_open)
        foreign = {host: await status_of(served.port, (host,)) for host in FOREIGN}
        assert {host: status for host, status in foreign.items() if status not in (400, 421)} == {}
        assert {host: await status_of(served.port, (host,)) for host in OWN} == dict.fromkeys(OWN, 200)
        repeated = {hosts: await status_of(served.port, hosts) for hosts in REPEATED}
        assert {hosts: status for hosts, status in repeated.items() if status not in (400, 421)} == {}


@pytest.mark.parametrize(
    ("target", "status"),
    [
        ("http://evil.example/api/health", 421),
        ("https://evil.example/api/health", 421),
        ("http://evil.example/?x", 421),
        ("http://127.0.0.1@evil.example/api/health", 421),
        ("http://user@127.0.0.1/api/health", 421),
        ("http://127.0.0.1:1/api/health", 421),
        ("http://127.0.0.1.evil.example/api/health", 421),
        ("http://localhost/api/health", 421),
        ("http://127.0.0.1/api/health", 200),
        ("HTTP://127.0.0.1/api/health", 200),
    ],
)
async def test_a_target_in_absolute_form_names_the_same_host_as_the_header(
    tmp_path: Path, target: str, status: int
) -> None:
    world = World(tmp_path, Answer(text="Well."))
    async with world.runtime, Served(world.runtime, [tmp_path]) as served:
        assert await status_of(served.port, ("127.0.0.1",), target=target) == status


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        (("Origin: http://127.0.0.1",), 200),
        (("Origin: http://127.0.0.1", "Origin: http://evil.example"), 403),
        (("Origin: http://evil.example", "Origin: http://127.0.0.1"), 403),
        (("Origin: http://127.0.0.1", "Origin: http://127.0.0.1"), 403),
        (("Sec-Fetch-Site: none",), 200),
        (("Sec-Fetch-Site: none", "Sec-Fetch-Site: cross-site"), 403),
        (("Authorization: Bearer another-token-altogether",), 401),
        (("Authorization: Basic x",), 401),
    ],
)
async def test_a_header_that_decides_about_access_counts_only_once(
    tmp_path: Path, headers: tuple[str, ...], status: int
) -> None:
    world = World(tmp_path, Answer(text="Well."))
    async with world.runtime, Served(world.runtime, [tmp_path]) as served:
        assert await status_of(served.port, ("127.0.0.1",), *headers) == status


async def test_a_request_with_two_content_types_is_refused(tmp_path: Path) -> None:
    world = World(tmp_path, Answer(text="Well."))
    async with world.runtime, Served(world.runtime, [tmp_path]) as served:
        types = ("Content-Type: application/json", "Content-Type: text/plain")
        for headers in (types, types[::-1]):
            target = "/api/contexts"
            assert await status_of(served.port, ("127.0.0.1",), *headers, target=target, method="POST") == 415
