"""A store that cannot write, or whose directory is gone: every route and health report it, and no response is a 500."""

import logging
import shutil
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from pilothouse.client import Client, ServerError
from pilothouse.domain.states import Idle, WaitingForRecovery
from pilothouse.llm.script import Answer
from pilothouse.runtime.context.recovery import RETRY_INTERVAL_SECONDS
from pilothouse.server.routes import ROUTES
from pilothouse.server.routing import JSON, Route
from pilothouse.storage.files.store import FileStore
from pilothouse.testing.disk import Fault, FaultyDisk
from pilothouse.testing.served import TOKEN, Served
from pilothouse.testing.world import World
from tests.support.assertions import content_of
from tests.support.held_store import DONE, calls_answer
from tests.support.live_contexts import live_context, pool_of
from tests.support.mcp_tools import builtin_tools_for_world

STREAMS = {"GET /api/stream", "GET /api/contexts/{context_id}/stream"}


class ServerOnFaultyDisk:
    """A server whose disk fails on request."""

    def __init__(self, folder: Path, *answers: Answer, **options: Any) -> None:
        self.data, self.workspace = folder / "data", folder / "workspace"
        self.workspace.mkdir()
        self.disk = FaultyDisk()
        self.store = FileStore(self.data, now=lambda: "2026-01-01T00:00:00.000Z", disk=self.disk)
        self.world = World(self.workspace, *answers, store=self.store, **options)

    def fill(self, fault: Fault = "ENOSPC") -> None:
        self.disk.arm(1, fault, lasting=True)

    @asynccontextmanager
    async def served(self) -> AsyncIterator[tuple[Served, Client]]:
        runtime = self.world.runtime
        async with runtime, Served(runtime, [self.workspace]) as served, served.client() as client:
            yield served, client


def path_of(route: Route, ids: dict[str, str]) -> str:
    return "/".join(ids.get(part, "unknown") if part.startswith("{") else part for part in route.path.split("/"))


async def statuses(served: Served, ids: dict[str, str]) -> dict[str, int]:
    """The status of every route of the table."""
    statuses_by_route = {}
    headers = {"authorization": f"Bearer {TOKEN}"}
    async with aiohttp.ClientSession(headers=headers) as http:
        for route in ROUTES:
            name = f"{route.method} {route.path}"
            content: dict[str, Any] = {}
            if route.method != "GET":
                content = {"json": route.body_example or {}} if route.takes == JSON else {"data": b"content"}
            if route.takes != JSON:
                content["headers"] = {"content-type": route.takes}
            address = served.url + path_of(route, ids) + ("?name=a.txt" if route.path.endswith("/files") else "")
            async with http.request(route.method, address, **content) as answer:
                statuses_by_route[name] = answer.status
                if name not in STREAMS:
                    await answer.read()
    return statuses_by_route


@pytest.mark.parametrize("what", ["full", "EIO", "EROFS", "removed", "moved", "unreadable"])
@pytest.mark.parametrize("in_memory", [True, False], ids=["in memory", "on disk"])
async def test_no_route_answers_500_when_the_store_is_broken(tmp_path: Path, what: str, in_memory: bool) -> None:
    broken = ServerOnFaultyDisk(tmp_path, DONE, *[DONE] * 20, tools=builtin_tools_for_world())
    async with broken.served() as (served, _):
        context_id = await broken.world.start()
        await broken.world.turn(context_id)
        first, *_ = await broken.world.runtime.messages.read(context_id)
        if not in_memory:
            await broken.store.checkpoint(context_id)
            pool_of(broken.world.runtime).forget(await live_context(broken.world.runtime, context_id))
            broken.store._open.pop(context_id).close()
        match what:
            case "full" | "EIO" | "EROFS":
                broken.fill("ENOSPC" if what == "full" else what)
            case "removed":
                shutil.rmtree(broken.data)
            case "moved":
                broken.data.rename(tmp_path / "elsewhere")
            case "unreadable":  # also for root: a file where a folder should be
                shutil.rmtree(broken.data)
                broken.data.write_bytes(b"")
        ids = {"{context_id}": context_id, "{message_id}": first.id, "{branch}": "main", "{source}": "main"}
        by_route = await statuses(served, ids)
        assert {name: status for name, status in by_route.items() if status == 500} == {}
        assert by_route["POST /api/contexts"] == 503
        if what in ("removed", "moved", "unreadable"):
            assert by_route["GET /api/contexts"] == 503
            assert in_memory or by_route["GET /api/contexts/{context_id}"] == 503
            (tmp_path / "elsewhere").rename(broken.data) if what == "moved" else None


async def test_a_missing_data_directory_is_reported_and_no_write_acknowledged(tmp_path: Path) -> None:
    broken = ServerOnFaultyDisk(tmp_path, DONE)
    async with broken.served() as (_, client):
        context_id = await broken.world.start()
        shutil.rmtree(broken.data)
        for path, body in (
            (f"/api/contexts/{context_id}/messages", {"payload": {"type": "text", "content": "x"}}),
            ("/api/rules", {"effect": "deny", "scope": {"tool": "execute"}}),
            ("/api/contexts", {}),
        ):
            problem = (await refusal(client, "POST", path, body)).problem
            assert (problem.status, problem.code) == (503, "store_unavailable")
            assert str(broken.data) in problem.detail
        assert (await refusal(client, "GET", "/api/contexts")).problem.code == "store_unavailable"
        assert (await client.request("GET", "/api/rules"))["items"] == [], "rules in memory can be read"
        health = await client.request("GET", "/api/health")
        assert (health["status"], health["problems"][0]["code"]) == ("failing", "store_unavailable")


async def refusal(client: Client, method: str, path: str, body: Any = None) -> ServerError:
    with pytest.raises(ServerError) as caught:
        await client.request(method, path, body)
    return caught.value


async def test_health_and_the_log_report_a_full_disk_until_there_is_room(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "pilothouse.storage")
    broken = ServerOnFaultyDisk(tmp_path, calls_answer(("change", "a")), DONE)
    broken.world.change.release.clear()
    async with broken.served() as (_, client):
        context_id = await broken.world.start()
        assert (await client.request("GET", "/api/health"))["problems"] == []
        await broken.world.runtime.messages.send(context_id, "go")
        await broken.world.change.started.wait()
        broken.fill()
        broken.world.change.release.set()
        live = await broken.world.runtime.turns.rested(context_id)
        assert isinstance(live.state, WaitingForRecovery)
        for _ in range(3):
            health = await client.request("GET", "/api/health")
            (problem,) = health["problems"]
            assert (health["status"], health["contexts_waiting"]) == ("failing", 1)
            assert (problem["code"], problem["since"]) == ("store_refused", "2026-01-01T00:00:00.000Z")
            assert "No space left on device" in problem["detail"]
        sent = await refusal(
            client,
            "POST",
            f"/api/contexts/{context_id}/messages",
            {"payload": {"type": "text", "content": "x"}, "queue": True},
        )
        assert (sent.problem.status, sent.problem.code) == (503, "store_refused")
        records = [record for record in caplog.records if record.name == "pilothouse.storage"]
        assert len([record for record in records if record.levelno == logging.ERROR]) == 1
        broken.disk.disarm()
        await retried(broken.world, context_id)
        live = await broken.world.runtime.turns.rested(context_id)
        assert (live.state, live.core.last_turn, broken.world.change.ran) == (Idle(), "interrupted", ["a"])
        assert (await client.request("GET", "/api/health"))["status"] == "ok"
        records = [record for record in caplog.records if record.name == "pilothouse.storage"]
        assert [record.levelno for record in records] == [logging.ERROR, logging.WARNING]
        await client.request("POST", f"/api/contexts/{context_id}/continue")
        await broken.world.runtime.turns.rested(context_id)
        assert content_of((await broken.world.runtime.messages.read(context_id))[-1]) == "done"


async def retried(world: World, context_id: str) -> None:
    """Advance the clock to the next attempt and wait for its result."""
    with world.runtime.signals([context_id]) as signals:
        world.ambient.advance(RETRY_INTERVAL_SECONDS)
        live = await live_context(world.runtime, context_id)
        while isinstance(live.state, WaitingForRecovery):
            await signals.batch()


async def test_health_recovers_after_a_refused_command(tmp_path: Path) -> None:
    broken = ServerOnFaultyDisk(tmp_path)
    async with broken.served() as (_, client):
        broken.fill()
        assert (await refusal(client, "POST", "/api/contexts", {})).problem.status == 503
        assert (await client.request("GET", "/api/health"))["status"] == "failing"
        broken.disk.disarm()
        assert (await client.request("GET", "/api/health"))["status"] == "ok"


async def test_the_chat_stream_reports_a_full_disk(tmp_path: Path) -> None:
    broken = ServerOnFaultyDisk(tmp_path, calls_answer(("change", "a")), DONE, calls_answer(("change", "b")), DONE)
    broken.world.change.release.clear()

    async def fill() -> None:
        await broken.world.change.started.wait()
        broken.world.change.started.clear()
        broken.fill()
        broken.world.change.release.set()

    async with broken.served() as (_, client):
        stream = client.chat("thread", "go", mode="agent")
        events = [await anext(stream)]
        await fill()
        events += [event async for event in stream]
        names = [name for name, _ in events]
        assert names[-2:] == ["error", "done"]
        assert events[-2][1]["code"] == "store_refused"
        broken.disk.disarm()
        assert (await refusal(client, "POST", "/api/contexts/thread/pause")).problem.code == "not_pausable"


async def test_an_open_turn_that_is_in_the_way_names_continue(tmp_path: Path) -> None:
    broken = ServerOnFaultyDisk(tmp_path, calls_answer(("change", "a")))
    async with broken.served() as (_, client):
        context_id = await broken.world.start("supervised")
        await broken.world.turn(context_id)
        body = {"payload": {"type": "text", "content": "x"}}
        problem = (await refusal(client, "POST", f"/api/contexts/{context_id}/messages", body)).problem
        assert problem.code == "turn_active"
        assert "continue it" in problem.detail
