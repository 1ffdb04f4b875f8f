"""Connections: how much clients without a token can take from authenticated ones and from the runtime."""

import asyncio
import contextlib
import errno
import json
import logging
import os
import re
import socket
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from io import StringIO
from pathlib import Path
from typing import Any

import aiohttp
import pytest

import pilothouse
from pilothouse.client import Client
from pilothouse.llm.script import Answer
from pilothouse.server import connections, logs, protocol
from pilothouse.server.app import MAX_BODY_BYTES
from pilothouse.server.connections import MAX_UNAUTHENTICATED, ConnectionPool, Listener
from pilothouse.server.logs import JsonLines, RepeatLimitHandler
from pilothouse.server.problems import HTTPProblem
from pilothouse.testing.served import Served
from pilothouse.testing.world import World
from tests.cli.test_serve import Process, environment
from tests.server.descriptors import open_descriptors, reporting_program
from tests.support.scale import HANG_SECONDS

HALF_SENT = 1200
MAX_DESCRIPTORS = 300
MAX_LOG_BYTES = 100_000
HOST = "127.0.0.1"
COMMANDS = {
    "turn": [
        {
            "calls": [
                {"tool": "execute", "arguments": {"command": "ulimit -n; sort /etc/hosts | wc -l >/dev/null; echo ran"}}
            ]
        },
        {"deltas": ["done"]},
    ]
    * 20
}
BEGINNINGS = (
    b"",
    b"GET /api/heal",
    b"GET /api/health HTTP/1.1\r\nhost: 127.0.0.1\r\nx-more: 1\r\n",
    b"POST /api/contexts HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/json\r\ncontent-length: 900\r\n\r\n{",
    b"POST /api/contexts HTTP/1.1\r\nhost: 127.0.0.1\r\ntransfer-encoding: chunked\r\n\r\n",
    b"GET /api/health HTTP/1.1\r\nhost: 127.0.0.1\r\nauthorization: Bearer wrong-token-wrong-token\r\n\r\n",
)


@asynccontextmanager
async def served_with_few_descriptors(folder: Path, log: Path) -> AsyncIterator[Process]:
    (folder / "root").mkdir()
    script = folder / "script.json"
    script.write_text(json.dumps(COMMANDS))
    limited = ("sh", "-c", f'ulimit -Hn {MAX_DESCRIPTORS}; ulimit -Sn {MAX_DESCRIPTORS // 2}; exec "$@"', "sh")
    with log.open("wb") as written:
        process = await asyncio.create_subprocess_exec(
            *(*limited, *reporting_program(folder), "serve", "--no-open", "--port", "0"),
            cwd=folder / "root",
            env=environment(folder, PILOTHOUSE_MODEL=f"scripted:{script}"),
            stdout=asyncio.subprocess.PIPE,
            stderr=written,
        )
    assert process.stdout is not None
    try:
        lines = [(await process.stdout.readline()).decode()]
        while "http://" not in lines[-1]:
            assert lines[-1], log.read_text()
            lines.append((await process.stdout.readline()).decode())
        yield Process(process, lines, folder, None)
    finally:
        if process.returncode is None:
            process.kill()
            await process.communicate()


def half_sent(port: int, number: int) -> socket.socket:
    sock = socket.create_connection((HOST, port))
    with contextlib.suppress(OSError):  # a connection that was dropped at once
        sock.sendall(BEGINNINGS[number % len(BEGINNINGS)])
    return sock


@pytest.mark.usefixtures("many_descriptors")
async def test_1200_unfinished_requests_without_a_token_block_no_authenticated_client(tmp_path: Path) -> None:
    log = tmp_path / "log"
    async with served_with_few_descriptors(tmp_path, log) as server, Client(server.url, server.token) as client:
        assert server.port is not None
        context_id = (await client.request("POST", "/api/contexts", {"mode": "agent"}))["context_id"]
        signals = client.events("GET", f"/api/contexts/{context_id}/stream")
        await anext(signals)
        with contextlib.ExitStack() as attack:
            for number in range(HALF_SENT):
                attack.enter_context(await asyncio.to_thread(half_sent, server.port, number))
                if number % 300 == 299:
                    await chat(server, f"thread-{number}")
            descriptors = await open_descriptors(server.process.pid, tmp_path)
            assert len(descriptors) < MAX_DESCRIPTORS - 50, "the store and tools find descriptors"
        await client.send(context_id, "go")
        async for name, data in signals:
            assert name != "Error", data
            if name == "StateChanged" and data.get("state", {}).get("type") == "idle":
                break
        page = await client.request("GET", f"/api/contexts/{context_id}/tool-calls")
        assert [call["status"] for call in page["items"]] == ["executed"]
        messages = (await client.request("GET", f"/api/contexts/{context_id}/messages"))["items"]
        results = [message for message in messages if message["type"] == "tool_result"]
        assert f"{MAX_DESCRIPTORS // 2}\nran" in json.dumps(results[0]).replace("\\n", "\n"), (
            "commands keep their limit"
        )
    assert log.stat().st_size < MAX_LOG_BYTES


async def chat(server: Process, thread_id: str) -> None:
    """A person opens a new connection and runs a whole turn with a command."""
    async with Client(server.url, server.token) as client:
        events = [each async for each in client.chat(thread_id, "go", mode="agent")]
    names = [name for name, _ in events]
    assert "error" not in names, events
    assert names[-1] == "done"


# the pool


class Peer:
    def __init__(self, *, is_idle: bool = True) -> None:
        self.is_idle, self.is_dropped = is_idle, False

    def drop(self) -> None:
        self.is_dropped = True


def test_the_oldest_connection_without_a_token_is_dropped_first() -> None:
    pool = ConnectionPool(10_000)
    peers = [Peer() for _ in range(MAX_UNAUTHENTICATED + 3)]
    for peer in peers:
        pool.add(peer)
        if peer is peers[1]:
            pool.authenticate(peer, "anna")
    assert [peers.index(peer) for peer in peers if peer.is_dropped] == [0, 2]
    assert (pool.authenticated, pool.unauthenticated) == (1, MAX_UNAUTHENTICATED)


def test_a_connection_that_shows_a_wrong_token_later_counts_as_unauthenticated_again() -> None:
    pool = ConnectionPool(10_000)
    proxy = Peer()
    pool.add(proxy)
    pool.authenticate(proxy, "anna")
    pool.add(proxy)
    assert (pool.authenticated, pool.unauthenticated) == (0, 1)
    pool.authenticate(proxy, "anna")
    assert (pool.authenticated, pool.unauthenticated) == (1, 0)


def test_clients_get_half_of_the_descriptors_and_an_idle_one_makes_room() -> None:
    pool = ConnectionPool(100)
    assert (pool.max_connections, pool.max_unauthenticated) == (50, 25)
    busy = [Peer(is_idle=False) for _ in range(24)]
    idle = Peer()
    for number, peer in enumerate((*busy[:3], idle, *busy[3:])):
        pool.add(peer)
        pool.authenticate(peer, f"user-{number}")
    late = Peer(is_idle=False)
    pool.add(late)
    pool.authenticate(late, "anna")
    assert idle.is_dropped
    with pytest.raises(HTTPProblem) as refused:
        pool.add(refused_peer := Peer())
        pool.authenticate(refused_peer, "anna")
    assert (refused.value.status, refused.value.reason.code) == (503, "too_many_connections")
    assert not any(peer.is_dropped for peer in busy)


# connections over real sockets


@asynccontextmanager
async def house(folder: Path, *answers: Answer) -> AsyncIterator[Served]:
    world = World(folder, *answers)
    async with Served(world.runtime, [folder]) as here:
        yield here
    await world.runtime.close()


async def test_a_proxy_sends_requests_of_several_people_over_one_connection(tmp_path: Path) -> None:
    async with house(tmp_path) as here:
        connector = aiohttp.TCPConnector(limit=1)
        async with aiohttp.ClientSession(connector=connector) as proxy:
            statuses = []
            for token in (here.token, "wrong-token-wrong", here.token, None, here.token):
                headers = {"authorization": f"Bearer {token}"} if token else {}
                async with proxy.get(f"{here.url}/api/health", headers=headers) as answer:
                    statuses.append(answer.status)
                    await answer.read()
            assert statuses == [200, 401, 200, 401, 200]
            assert len(connector._conns) == 1, "all of them came over the same connection"


async def test_streams_and_keep_alive_connections_of_people_survive_a_flood(tmp_path: Path) -> None:
    async with house(tmp_path) as here, here.client() as client, contextlib.AsyncExitStack() as flood:
        context_id = (await client.request("POST", "/api/contexts", {}))["context_id"]
        stream = client.events("GET", f"/api/contexts/{context_id}/stream")
        await anext(stream)
        one = aiohttp.TCPConnector(limit=1)
        async with aiohttp.ClientSession(connector=one, headers={"authorization": f"Bearer {here.token}"}) as person:
            async with person.get(f"{here.url}/api/health") as answer:
                await answer.read()
            (used,) = next(iter(one._conns.values()))
            for _ in range(3 * MAX_UNAUTHENTICATED):
                flood.enter_context(await asyncio.to_thread(half_sent, here.port, 2))
            async with person.get(f"{here.url}/api/health") as answer:
                assert answer.status == 200
                await answer.read()
            assert next(iter(one._conns.values()))[0][0] is used[0], "the connection was kept"
        await client.request("PATCH", f"/api/contexts/{context_id}", {"title": "Still here"})
        assert (await anext(stream))[0]


async def test_the_body_of_a_refused_request_must_end_as_soon_as_headers_must(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(protocol, "MAX_HEADER_SECONDS", 0.2)
    async with house(tmp_path) as here:
        reader, writer = await asyncio.open_connection(HOST, here.port)
        writer.write(BEGINNINGS[3])
        assert b" 401 " in await reader.readline()
        with contextlib.suppress(ConnectionError):
            await reader.read()  # until the server drops the connection
        writer.transport.abort()


async def test_a_client_that_sends_on_gets_the_whole_response_to_a_body_that_is_refused(tmp_path: Path) -> None:
    """A proxy does so: a connection that is reset would cost it the response."""
    async with house(tmp_path) as here:
        reader, writer = await asyncio.open_connection(HOST, here.port)
        head = f"POST /api/contexts HTTP/1.1\r\nhost: {HOST}\r\nauthorization: Bearer {here.token}\r\n"
        body = bytes(32 * MAX_BODY_BYTES)
        kind = f"content-type: application/json\r\ncontent-length: {len(body)}\r\n\r\n"
        writer.write((head + kind).encode())
        for start in range(0, len(body), MAX_BODY_BYTES):
            writer.write(body[start : start + MAX_BODY_BYTES])
            await writer.drain()
        response = await reader.read()
        assert response.startswith(b"HTTP/1.1 413 ")
        assert b'"code":"body_too_large"' in response
        # Nothing that follows on the connection is a request.
        writer.write((head + "connection: close\r\n\r\n").encode())
        await writer.drain()
        assert await reader.read() == b""
        writer.transport.abort()


async def test_the_rest_of_a_refused_body_is_not_received_for_ever(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(protocol, "MAX_HEADER_SECONDS", 0.2)
    async with house(tmp_path) as here:
        reader, writer = await asyncio.open_connection(HOST, here.port)
        head = f"POST /api/contexts HTTP/1.1\r\nhost: {HOST}\r\nauthorization: Bearer {here.token}\r\n"
        writer.write(f"{head}content-type: application/json\r\ncontent-length: {1 << 40}\r\n\r\n".encode())
        assert b" 413 " in await reader.readline()
        with pytest.raises(ConnectionError):
            while True:
                writer.write(b" " * 1000)
                await writer.drain()
                await asyncio.sleep(0)


class _FailingSocket:
    """A listening socket whose first accepts fail, each with the next of some error numbers."""

    def __init__(self, sock: socket.socket, *numbers: int) -> None:
        self._sock, self._numbers = sock, list(numbers)

    def accept(self) -> tuple[socket.socket, Any]:
        if self._numbers:
            number = self._numbers.pop(0)
            raise OSError(number, os.strerror(number))
        return self._sock.accept()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._sock, name)


async def test_out_of_descriptors_the_server_drops_strangers_and_accepts_again(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(connections, "_ACCEPT_PAUSE_SECONDS", 0.01)
    accepted = asyncio.Event()

    class Protocol(asyncio.Protocol):
        def connection_made(self, transport: asyncio.BaseTransport) -> None:
            accepted.set()
            transport.close()

    pool, stranger = ConnectionPool(1000), Peer()
    pool.add(stranger)
    sock = socket.create_server((HOST, 0))
    listener = Listener(_FailingSocket(sock, *[errno.EMFILE] * 3), Protocol, pool)  # type: ignore[arg-type]
    with caplog.at_level(logging.WARNING):
        _, writer = await asyncio.open_connection(HOST, sock.getsockname()[1])
        await accepted.wait()
    writer.close()
    listener.close()
    assert stranger.is_dropped
    assert [record.levelname for record in caplog.records] == ["WARNING"] * 3


async def test_a_network_error_of_one_new_connection_stops_no_other(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connections, "_ACCEPT_PAUSE_SECONDS", 10 * HANG_SECONDS)
    accepted = asyncio.Event()

    class Protocol(asyncio.Protocol):
        def connection_made(self, transport: asyncio.BaseTransport) -> None:
            accepted.set()
            transport.close()

    pool, stranger = ConnectionPool(1000), Peer()
    pool.add(stranger)
    sock = socket.create_server((HOST, 0))
    errors = (errno.EPROTO, errno.EHOSTUNREACH, errno.ENETDOWN, errno.ECONNABORTED, errno.EPERM, errno.EINTR)
    listener = Listener(_FailingSocket(sock, *errors), Protocol, pool)  # type: ignore[arg-type]
    _, writer = await asyncio.open_connection(HOST, sock.getsockname()[1])
    async with asyncio.timeout(HANG_SECONDS):
        await accepted.wait()
    writer.close()
    listener.close()
    assert not stranger.is_dropped


# the log


def written(log: Callable[[logging.Logger], None], monkeypatch: pytest.MonkeyPatch) -> list[dict[str, Any]]:
    monkeypatch.setattr(logs, "MAX_REPEATS_PER_MINUTE", 3)
    stream = StringIO()
    handler = RepeatLimitHandler(stream)
    handler.setFormatter(JsonLines(list))
    logger = logging.Logger("made-for-a-test")
    logger.addHandler(handler)
    log(logger)
    return [json.loads(line) for line in stream.getvalue().splitlines()]


def test_the_same_message_is_logged_a_few_times_a_minute_and_then_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    def made(logger: logging.Logger) -> None:
        now = 1000.0
        monkeypatch.setattr("logging.time.time", lambda: now)
        for number in range(100):
            logger.warning("100%% refused: %d", number)
        logger.warning("another message")
        now += 61
        logger.warning("later")

    lines = written(made, monkeypatch)
    assert [line["message"] for line in lines[:4]] == [*(f"100% refused: {n}" for n in range(3)), "another message"]
    assert (lines[4]["suppressed"], lines[4]["level"]) == (97, "warning")
    assert lines[5]["message"] == "later"


def test_different_texts_are_all_logged(monkeypatch: pytest.MonkeyPatch) -> None:
    def made(logger: logging.Logger) -> None:
        for number in range(10):
            logger.warning(f"warning {number} of 100%")

    assert len(written(made, monkeypatch)) == 10


def test_no_module_logs_under_a_bare_placeholder() -> None:
    bare = re.compile(r"""\.(debug|info|warning|error|exception|critical)\(\s*["']%[sr]["']""")
    assert [str(path) for path in Path(pilothouse.__file__).parent.rglob("*.py") if bare.search(path.read_text())] == []


def test_requests_of_known_users_are_all_logged(monkeypatch: pytest.MonkeyPatch) -> None:
    def made(logger: logging.Logger) -> None:
        for user in ("local", None):
            for _ in range(10):
                fields = {"path": "/api/contexts", "status": 401, "user": user}
                logger.warning("request", extra={"fields": fields})

    lines = written(made, monkeypatch)
    assert [line["user"] for line in lines] == ["local"] * 10 + [None] * 3
