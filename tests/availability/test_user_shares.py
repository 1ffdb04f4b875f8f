"""Limits of one user: streams, connections, imports and bodies. The rest is left to others."""

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator, Awaitable, Sequence
from pathlib import Path
from typing import Any

import msgspec
import pytest

from pilothouse.api.views import AuditedPage, Page
from pilothouse.client import Client, ServerError
from pilothouse.domain.audit import AuditChain
from pilothouse.domain.errors import ToolError
from pilothouse.domain.json_size import has_more_values
from pilothouse.runtime.commands.context_import import ImportCommands
from pilothouse.sandbox.workspace import Workspace
from pilothouse.server import app, connections
from pilothouse.server.app import MAX_JSON_VALUES, encode_result
from pilothouse.server.connections import MAX_IMPORTS_PER_USER, ConnectionPool
from pilothouse.server.problems import HTTPProblem
from pilothouse.server.routes import MAX_MESSAGE_BODY_BYTES
from pilothouse.testing.served import Served
from pilothouse.testing.world import World
from pilothouse.tools.builtin.notebook import NotebookEdit, NotebookEditArguments
from tests.availability.loop_lag import LoopWatch
from tests.availability.test_event_loop import Figures
from tests.server.test_connections import Peer
from tests.support.assertions import ended
from tests.support.scale import Record

LINES = "application/x-ndjson"


@contextlib.asynccontextmanager
async def served(folder: Path, **limits: float) -> AsyncIterator[Served]:
    world = World(folder)
    async with world.runtime, Served(world.runtime, [folder], limits=limits) as here:
        yield here


async def refusal_of(awaited: Awaitable[object]) -> tuple[int, str]:
    with pytest.raises(ServerError) as error:
        await awaited
    assert error.value.problem.code is not None
    return error.value.problem.status, error.value.problem.code


async def post(here: Served, token: str, path: str, body: bytes, *, kind: str = LINES, length: int = 0) -> list[bytes]:
    """Send a request, or only its beginning where `length` is larger. Gives the lines of the head, then the body."""
    reader, writer = await asyncio.open_connection("127.0.0.1", here.port)
    writer.write(_head(here, token, path, kind, length or len(body)) + body)
    try:
        head = await reader.readuntil(b"\r\n\r\n")
        lines = head.lower().split(b"\r\n")
        size = next(int(line.split(b":")[1]) for line in lines if line.startswith(b"content-length"))
        return [*lines, await reader.readexactly(size)]
    finally:
        writer.close()
        with contextlib.suppress(OSError):
            await writer.wait_closed()


def _head(here: Served, token: str, path: str, kind: str, length: int) -> bytes:
    headers = [
        f"POST {path} HTTP/1.1",
        f"host: 127.0.0.1:{here.port}",
        f"authorization: Bearer {token}",
        f"content-type: {kind}",
        f"content-length: {length}",
    ]
    return ("\r\n".join(headers) + "\r\n\r\n").encode()


async def test_one_user_cannot_take_all_streams(tmp_path: Path) -> None:
    async with served(tmp_path, max_streams_per_user=2) as here:
        anna, bob = (here.client(here.tokens.add(name)) for name in ("anna", "bob"))
        async with anna, bob:
            streams = [anna.events("GET", "/api/stream") for _ in range(2)]
            for stream in streams:
                await anext(stream)
            third = anna.events("GET", "/api/stream")
            assert await refusal_of(anext(third)) == (429, "too_many_streams_of_user")
            await anext(others := bob.events("GET", "/api/stream"))
            await ended(streams[0])
            while here.server_state.metrics.streams_of("anna") > 1:
                await asyncio.sleep(0)
            await anext(again := anna.events("GET", "/api/stream"))
            for stream in (streams[1], others, again):
                await ended(stream)


def test_one_user_cannot_take_all_connections() -> None:
    pool = ConnectionPool(100)
    busy = [Peer(is_idle=False) for _ in range(pool.max_per_user)]
    for peer in busy:
        pool.authenticate(peer, "anna")
    with pytest.raises(HTTPProblem) as too_many:
        pool.authenticate(Peer(), "anna")
    assert (too_many.value.status, too_many.value.reason.code) == (429, "too_many_connections_of_user")
    assert too_many.value.headers["retry-after"] == "10"
    pool.authenticate(bob := Peer(), "bob")
    busy[1].is_idle = True
    pool.authenticate(late := Peer(), "anna")
    assert (busy[1].is_dropped, bob.is_dropped, late.is_dropped) == (True, False, False)
    pool.discard(late)
    pool.authenticate(busy[0], "bob")  # a connection may serve another user later
    pool.authenticate(Peer(), "anna")
    pool.authenticate(Peer(), "anna")


async def test_one_user_has_two_imports_at_a_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    begun, gate = asyncio.Semaphore(0), asyncio.Event()
    original = ImportCommands.create

    async def held(*args: Any, **options: Any) -> object:
        begun.release()
        await gate.wait()
        return await original(*args, **options)

    monkeypatch.setattr(ImportCommands, "create", held)
    async with served(tmp_path) as here:
        anna, bob = here.tokens.add("anna"), here.tokens.add("bob")
        path = "/api/contexts/import"

        async def status(token: str) -> bytes:
            async with contextlib.AsyncExitStack() as held_open:
                reader, writer = await asyncio.open_connection("127.0.0.1", here.port)
                held_open.callback(writer.close)
                writer.write(_head(here, token, path, LINES, 2) + b"{}")
                return await reader.readuntil(b"\r\n\r\n")

        first = [asyncio.create_task(status(anna)) for _ in range(MAX_IMPORTS_PER_USER)]
        for _ in first:
            await begun.acquire()
        third = await status(anna)
        assert third.startswith(b"HTTP/1.1 429")
        assert b"retry-after: 10" in third
        assert b"connection: close" in third
        other = asyncio.create_task(status(bob))
        await begun.acquire()
        gate.set()
        for answer in await asyncio.gather(*first, other):
            assert answer.startswith(b"HTTP/1.1 422"), "no conversation, but an import that was tried"


async def test_bodies_of_one_user_are_bounded_together(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connections, "MAX_BODY_BYTES_PER_USER", 300_000)
    async with served(tmp_path) as here:
        token = here.tokens.add("anna")
        reader, writer = await asyncio.open_connection("127.0.0.1", here.port)
        writer.write(_head(here, token, "/api/contexts/import", LINES, 500_000) + b" " * 200_000)
        while here.server_state.shares._body_bytes["anna"] < 200_000:
            await asyncio.sleep(0)
        answer = await post(here, token, "/api/contexts/import", b" " * 200_000)
        assert answer[0].startswith(b"http/1.1 429")
        assert b"retry-after: 10" in answer
        assert b"connection: close" in answer, "the rest of the body is not received"
        assert json.loads(answer[-1])["code"] == "too_many_bodies"
        writer.close()
        while here.server_state.shares._body_bytes["anna"]:
            await asyncio.sleep(0)
        async with here.client(token) as anna:
            assert (await anna.request("POST", "/api/contexts", {}))["context_id"]
        assert reader is not None


async def test_a_body_that_never_arrives_is_not_waited_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(app, "MAX_BODY_IDLE_SECONDS", 0)
    async with served(tmp_path) as here:
        answer = await post(here, here.token, "/api/contexts", b"{", kind="application/json", length=100)
    assert answer[0].startswith(b"http/1.1 408")
    assert json.loads(answer[-1])["code"] == "body_too_slow"


# JSON

MANY: Sequence[bytes] = (b"[]," * 110_000, b'"a",' * 110_000, b'{"a":1},' * 60_000, b"1," * 120_000)


@pytest.mark.parametrize("values", MANY, ids=["lists", "texts", "objects", "numbers"])
def test_values_of_json_are_counted_before_it_is_decoded(values: bytes) -> None:
    assert has_more_values(b'{"a":[' + values + b"1]}", MAX_JSON_VALUES)


@pytest.mark.parametrize(
    "text", ["a,b," * 100_000, '[{"a": [1, 2]}, ' * 30_000, "\\" * 300_001, '\\",' * 100_000, "é\n\t" * 100_000]
)
def test_brackets_and_commas_inside_a_string_are_not_counted(text: str) -> None:
    assert not has_more_values(json.dumps({"payloads": [{"type": "text", "content": text}]}).encode(), 10)


@pytest.mark.parametrize("value", ["\\\\", '\\"', '"', "\\\\\\", "a\\", '","', "é", "\u2028"])
def test_texts_with_quotes_and_backslashes_hide_no_values(value: str) -> None:
    data = json.dumps([value] * 50).encode()
    assert not has_more_values(data, 60)
    assert has_more_values(data, 40)


async def test_an_import_with_a_line_of_too_many_values_is_refused_before_it_is_decoded(tmp_path: Path) -> None:
    async with served(tmp_path) as here:
        line = b'{"type":"core","core":[' + b"[]," * 600_000 + b"1]}"
        answer = await post(here, here.token, "/api/contexts/import", line)
    assert answer[0].startswith(b"http/1.1 422")
    assert b"line 1: it has more than 500000 values" in answer[-1]


async def test_a_notebook_of_too_many_values_is_refused_before_it_is_decoded(tmp_path: Path) -> None:
    (tmp_path / "a.ipynb").write_bytes(b'{"cells":[' + b"[]," * 1_100_000 + b"1]}")
    with pytest.raises(ToolError, match="more than 1000000 values"):
        await NotebookEdit().prepare(NotebookEditArguments(path="a.ipynb", cell=0), Workspace(tmp_path))


async def test_costly_json_blocks_the_event_loop_on_no_route(tmp_path: Path, record_property: Record) -> None:
    """A body as large as the route accepts, of small values only."""
    figures = Figures()
    async with served(tmp_path) as here, here.client() as client:
        context_id = (await client.request("POST", "/api/contexts", {}))["context_id"]
        small = b"[]," * (MAX_MESSAGE_BODY_BYTES // 3 - 1000)
        bodies = {
            f"/api/contexts/{context_id}/messages": b'{"payloads":[{"type":"tool_result","result":[%b1]}]}',
            f"/api/contexts/{context_id}/tool-calls/decide": b'{"decisions":[{"id":"x","arguments":{"a":[%b1]}}]}',
            f"/api/contexts/{context_id}/tool-calls/x/approve": b'{"arguments":{"a":[%b1]}}',
            "/api/chat/x/resume": b'{"decisions":[{"type":"edit","args":{"a":[%b1]}}]}',
            "/api/mcp/servers/x/prompts/y": b'{"arguments":{"a":[%b1]}}',
        }
        for path, body in bodies.items():
            watch = LoopWatch()
            with watch.watching():
                answer = await post(here, here.token, path, body % small, kind="application/json")
            figures.add(path, watch)
            assert answer[0].startswith(b"http/1.1 413"), path
    record_property("loop lag, costly JSON", figures.summary())
    assert not figures.held_up
    assert MAX_JSON_VALUES == 100_000


async def test_a_page_of_long_messages_leaves_turns_to_others() -> None:
    page = Page(tuple({"content": f"{number} " * 150_000} for number in range(20)), next='"items":[')
    turns = 0

    async def count() -> None:
        nonlocal turns
        while True:
            turns += 1
            await asyncio.sleep(0)

    counting = asyncio.ensure_future(count())
    data = await encode_result(page)
    counting.cancel()
    assert turns >= 20
    assert data == msgspec.json.encode(page)
    audited = AuditedPage(items=(1, 2), chain=AuditChain(whole=True, confirmed=False))
    for result in (audited, Page(()), [], [1, "a"], {"items": 3}, None, Page((Page((1,)),))):
        assert await encode_result(result) == msgspec.json.encode(result)


# tokens


@pytest.mark.parametrize("revoke", ["renew", "remove"])
async def test_a_stream_ends_as_soon_as_its_token_is_revoked(tmp_path: Path, revoke: str) -> None:
    """The stream ends long before its next heartbeat; streams of others continue."""
    async with served(tmp_path, heartbeat=3600.0) as here:
        clients: dict[str, Client] = {name: here.client(here.tokens.add(name)) for name in ("anna", "bob")}
        async with clients["anna"] as anna, clients["bob"] as bob:
            ends, stays = anna.events("GET", "/api/stream"), bob.events("GET", "/api/stream")
            await anext(ends)
            await anext(stays)
            await asyncio.to_thread(getattr(here.tokens, revoke), "anna")
            assert [event async for event in ends] == []
            assert here.server_state.metrics.streams_of("bob") == 1
            await ended(stays)
