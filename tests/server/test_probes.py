"""`/healthz` and `/readyz`: no token, no content, little work for the store, and no way around a limit."""

import asyncio
import shutil
from pathlib import Path

import aiohttp
import pytest

from pilothouse.domain.store_health import StoreHealth
from pilothouse.llm.script import Answer
from pilothouse.server import readiness
from pilothouse.server.connections import MAX_UNAUTHENTICATED, ConnectionPool
from pilothouse.server.readiness import CHECK_INTERVAL_SECONDS
from pilothouse.storage.memory import MemoryStore
from pilothouse.testing.served import TOKEN, Served
from pilothouse.testing.world import World
from tests.server.test_access import BEARER, PUBLIC, access_fixture, head, named, raw, refusing, reply_of
from tests.server.test_broken_store import ServerOnFaultyDisk
from tests.support.scale import HANG_SECONDS

PROBES = ("/healthz", "/readyz")


def test_only_the_probes_are_public() -> None:
    assert {named(route) for route in PUBLIC} == {f"GET {path}" for path in PROBES}
    for route in PUBLIC:
        signature = route.signature
        assert (signature.path, signature.query, signature.body) == ((), None, None)


async def test_a_probe_answers_alike_with_any_token_and_without_one(tmp_path: Path) -> None:
    async with access_fixture(tmp_path) as here:
        cookie = await here.cookie()
        wrong = {"authorization": "Bearer another-token-than-that"}
        async with refusing(here) as refusals:
            for path in PROBES:
                for headers in [{}, BEARER, cookie, *[wrong] * 15, {"authorization": "Basic x"}, {"cookie": "x=y"}]:
                    reply = await here.get(path, headers)
                    refusals.count += 1
                    assert (reply.status, reply.body) == (200, b"")
                    assert "content-type" not in reply.headers
                    assert "set-cookie" not in reply.headers
                    assert reply.headers["cache-control"] == "no-store"
        assert (await here.get("/api/health", wrong)).status == 401, "a probe counts no wrong token"


async def test_a_probe_reads_no_token_file(tmp_path: Path) -> None:
    async with access_fixture(tmp_path) as here:
        here.served.tokens.path.write_text("damaged")
        assert (await here.get("/api/health")).status == 503
        assert [(await here.get(path, {})).status for path in PROBES] == [200, 200]


async def test_no_other_method_and_no_other_spelling_is_public(tmp_path: Path) -> None:
    async with access_fixture(tmp_path) as here, refusing(here) as refusals:
        for path in PROBES:
            for method in ("POST", "PUT", "DELETE", "PATCH", "HEAD", "OPTIONS", "TRACE"):
                refusals.check(await here.get(path, {}, method=method), 401, "unauthorized", "HEAD")
            for spelling in (f"{path}/", f"/{path}", f"{path.upper()}", f"{path};x", f"{path}%2f", f"/x/..{path}"):
                async with raw(here) as (reader, writer):
                    writer.write(f"GET {spelling} HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n".encode())
                    refusals.check(await reply_of(reader), 401, "unauthorized", spelling)


async def test_a_full_or_missing_disk_is_not_ready_until_it_works_again(tmp_path: Path) -> None:
    broken = ServerOnFaultyDisk(tmp_path, Answer(text="Well."))
    async with broken.served() as (served, client), aiohttp.ClientSession(served.url) as http:

        async def statuses() -> list[int]:
            broken.world.ambient.advance(CHECK_INTERVAL_SECONDS)
            replies = []
            for path in PROBES:
                async with http.get(path) as answer:
                    assert await answer.read() == b""
                    replies.append(answer.status)
            return replies

        assert await statuses() == [200, 200]
        broken.fill()
        with pytest.raises(Exception, match="disk"):
            await client.request("POST", "/api/contexts", {})
        assert await statuses() == [200, 503]
        broken.disk.disarm()
        assert await statuses() == [200, 200]
        shutil.rmtree(broken.data)
        assert await statuses() == [200, 503]


class CountingStore(MemoryStore):
    """A store whose checks are counted, and wait for an event."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.checks = 0
        self.may_answer = asyncio.Event()

    async def health(self) -> StoreHealth:
        self.checks += 1
        await self.may_answer.wait()
        return await super().health()


async def test_many_probes_cost_one_check_of_the_store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(readiness, "CHECK_TIMEOUT_SECONDS", 0.05)
    store = CountingStore(tmp_path / "kept")
    world = World(tmp_path, Answer(text="Well."), store=store)
    async with world.runtime, Served(world.runtime, [tmp_path]) as served, aiohttp.ClientSession(served.url) as http:

        async def status(path: str) -> int:
            async with http.get(path) as answer:
                return answer.status

        asking = [asyncio.create_task(status("/readyz")) for _ in range(50)]
        assert await status("/healthz") == 200, "the process answers, whatever the store does"
        assert await asyncio.gather(*asking) == [503] * 50, "a store that does not answer is not usable"
        world.ambient.advance(CHECK_INTERVAL_SECONDS)
        assert await status("/readyz") == 503
        assert store.checks == 1, "no second check begins beside one that hangs"
        store.may_answer.set()
        async with asyncio.timeout(HANG_SECONDS):
            while await status("/readyz") != 200:
                pass
        for _ in range(2):
            checks = store.checks
            world.ambient.advance(CHECK_INTERVAL_SECONDS)
            assert {await status("/readyz") for _ in range(50)} == {200}
            assert store.checks == checks + 1


async def test_a_stopping_server_is_alive_and_not_ready(tmp_path: Path) -> None:
    async with access_fixture(tmp_path) as here, raw(here) as (reader, writer):
        writer.write(head("GET", "/readyz"))
        assert (await reply_of(reader)).status == 200
        here.served.server_state.stopping.set()
        writer.write(head("GET", "/readyz"))
        reply = await reply_of(reader)
        assert (reply.status, reply.headers["connection"]) == (503, "close")


async def test_connections_of_probes_stay_among_the_unauthenticated(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pools: list[ConnectionPool] = []
    init = ConnectionPool.__init__

    def record(self: ConnectionPool, max_descriptors: int | None = None) -> None:
        init(self, max_descriptors)
        pools.append(self)

    monkeypatch.setattr(ConnectionPool, "__init__", record)
    async with access_fixture(tmp_path) as here:
        (pool,) = pools
        connections = []
        try:
            for number in range(MAX_UNAUTHENTICATED + 30):
                reader, writer = await asyncio.open_connection("127.0.0.1", here.served.port)
                connections.append(writer)
                # A valid token gives the connection no better place.
                writer.write(f"GET {PROBES[number % 2]} HTTP/1.1\r\nhost: 127.0.0.1\r\n".encode())
                writer.write(f"authorization: Bearer {TOKEN}\r\n\r\n".encode())
                assert (await reply_of(reader)).status == 200
            assert pool.unauthenticated == MAX_UNAUTHENTICATED
            assert pool.authenticated <= 1
            assert (await here.get("/api/health")).status == 200
        finally:
            for writer in connections:
                writer.transport.abort()
