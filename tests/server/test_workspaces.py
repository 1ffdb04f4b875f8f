"""A context's folder over the HTTP API: undo, whole outputs, and live output of a running command."""

import asyncio
import itertools
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from pilothouse.client import Client
from pilothouse.client.http_client import ServerError
from pilothouse.domain.signals import MessageChanged
from pilothouse.storage.memory import MemoryStore
from pilothouse.testing.served import TOKEN, Served
from pilothouse.testing.world import World
from pilothouse.tools.results import HEAD_CHARACTERS, TAIL_CHARACTERS
from tests.support.live_contexts import live_context
from tests.support.mcp_tools import DONE, answer_with_calls, runs, world_with_tools, writes
from tests.support.scale import HANG_SECONDS

BEARER = {"authorization": f"Bearer {TOKEN}"}


@asynccontextmanager
async def opened(world: World) -> AsyncIterator[tuple[Client, aiohttp.ClientSession]]:
    async with (
        world.runtime,
        Served(world.runtime, [world.workspace]) as served,
        served.client() as client,
        aiohttp.ClientSession(served.url, headers=BEARER) as http,
    ):
        yield client, http


async def refused(client: Client, method: str, path: str, body: Any = None) -> tuple[int, str, str]:
    with pytest.raises(ServerError) as caught:
        await client.request(method, path, body)
    problem = caught.value.problem
    return problem.status, problem.code, str(problem)


# undoing


async def test_undo_over_http_restores_and_names_files_and_is_audited(tmp_path: Path) -> None:
    world = world_with_tools(tmp_path, writes("a.txt", "two"), DONE)
    (world.workspace / "a.txt").write_text("one")
    async with opened(world) as (client, _):
        context_id = await world.start()
        await world.turn(context_id)
        path = f"/api/contexts/{context_id}"
        version = (await client.request("GET", path))["version"]
        assert await client.request("POST", f"{path}/undo") == {"paths": ["a.txt"], "left": None}
        assert (world.workspace / "a.txt").read_text() == "one"
        entry = (await client.request("GET", f"{path}/audit"))["items"][-1]
        assert (entry["kind"], entry["by"], entry["detail"]) == ("change_undone", "local", {"paths": ["a.txt"]})
        assert (await client.request("GET", path))["version"] > version, "who follows the context is told"
        status, code, _ = await refused(client, "POST", f"{path}/undo")
        assert (status, code) == (409, "nothing_to_undo")


async def test_an_undo_in_conflict_with_a_persons_edit_names_the_file_and_touches_nothing(tmp_path: Path) -> None:
    world = world_with_tools(tmp_path, writes("a.txt", "two"), DONE)
    (world.workspace / "a.txt").write_text("one")
    async with opened(world) as (client, _):
        context_id = await world.start()
        await world.turn(context_id)
        (world.workspace / "a.txt").write_text("by the person")
        status, code, problem = await refused(client, "POST", f"/api/contexts/{context_id}/undo")
        assert (status, code) == (409, "undo_nothing")
        assert "a.txt" in problem
        assert (world.workspace / "a.txt").read_text() == "by the person"
        kinds = [entry.kind for entry in (await world.runtime.contexts.audit(context_id)).entries]
        assert "change_undone" not in kinds


@pytest.mark.parametrize(("language", "words"), [("en", "left as they are: b"), ("zh", "保持现状：b")])
async def test_a_partial_undo_names_skipped_files_in_the_persons_language(
    tmp_path: Path, language: str, words: str
) -> None:
    world = world_with_tools(tmp_path, runs("echo agent > a; echo agent > b"), DONE)
    async with opened(world) as (client, _):
        context_id = await world.start()
        await world.turn(context_id)
        (world.workspace / "b").write_text("by the person")
        path = f"/api/contexts/{context_id}/undo"
        answer = await client.request("POST", path, headers={"Accept-Language": language})
        assert answer["paths"] == ["a"]
        assert words in answer["left"]
        assert (world.workspace / "b").read_text() == "by the person"


async def test_undoing_twice_at_once_undoes_two_changes_and_not_one_twice(tmp_path: Path) -> None:
    world = world_with_tools(tmp_path, writes("a.txt", "two"), writes("a.txt", "three"), DONE)
    (world.workspace / "a.txt").write_text("one")
    async with opened(world) as (client, _):
        context_id = await world.start()
        await world.turn(context_id)
        path = f"/api/contexts/{context_id}/undo"
        answers = await asyncio.gather(*(client.request("POST", path) for _ in range(4)), return_exceptions=True)
        assert sorted(isinstance(each, ServerError) for each in answers) == [False, False, True, True]
        assert (world.workspace / "a.txt").read_text() == "one"


async def test_each_context_undoes_only_its_own_changes(tmp_path: Path) -> None:
    world = world_with_tools(tmp_path, writes("a.txt", "by one"), DONE, writes("b.txt", "by two"), DONE)
    async with opened(world) as (client, _):
        contexts = [await world.start() for _ in range(2)]
        for context_id in contexts:
            await world.turn(context_id)
        assert (await client.request("POST", f"/api/contexts/{contexts[0]}/undo"))["paths"] == ["a.txt"]
        assert (world.workspace / "b.txt").read_text() == "by two"


# whole outputs


async def test_the_whole_of_a_long_output_can_be_read_as_plain_text_only(tmp_path: Path) -> None:
    command = "echo '<script>alert(1)</script>'; seq 1 30000"
    world = world_with_tools(tmp_path, runs(command), runs("echo short"), DONE)
    async with opened(world) as (client, http):
        context_id = await world.start()
        await world.turn(context_id)
        long, short = (await client.request("GET", f"/api/contexts/{context_id}/tool-calls"))["items"]
        whole = "<script>alert(1)</script>\n" + "".join(f"{number}\n" for number in range(1, 30001))
        assert len(long["result"]) < HEAD_CHARACTERS + TAIL_CHARACTERS + 1000
        assert long["result"].startswith("<script>")
        assert long["result"].endswith("30000\n")
        assert "left out" in long["result"]
        path = f"/api/contexts/{context_id}/tool-calls"
        async with http.get(f"{path}/{long['id']}/output") as answer:
            assert answer.status == 200
            assert await answer.text() == whole
            assert answer.headers["content-type"] == "text/plain; charset=utf-8"
            assert answer.headers["x-content-type-options"] == "nosniff"
        for call_id in (short["id"], "no-such-call", "..", "%2e%2e%2fchanges"):
            async with http.get(f"{path}/{call_id}/output") as answer:
                assert answer.status == 404, call_id


async def test_a_long_result_of_any_tool_is_kept_whole_and_the_model_can_read_on(tmp_path: Path) -> None:
    text = "".join(f"line {number}\n" for number in range(12000))
    world = world_with_tools(tmp_path, runs("cat large.txt"), DONE)
    (world.workspace / "large.txt").write_text(text)
    async with opened(world) as (client, _):
        context_id = await world.start()
        await world.turn(context_id)
        (call,) = (await world.runtime.calls.read(context_id)).items
        output = await world.runtime.calls.output(context_id, call.id)
        assert output.read_text() == text
        assert output.stat().st_mode & 0o777 == 0o600
        name = f"outputs/{call.id}.txt"
        assert name in (await client.request("GET", f"/api/contexts/{context_id}/tool-calls"))["items"][0]["result"]
    read = answer_with_calls(("read_file", {"path": name, "start_line": 6000, "end_line": 6001}))
    again = world_with_tools(tmp_path, read, writes(str(output), "other"), DONE, ids_from=1000)
    async with opened(again) as (client, _):
        await again.turn(context_id)
        _, reading, writing = (await client.request("GET", f"/api/contexts/{context_id}/tool-calls"))["items"]
        assert (reading["status"], reading["result"]) == ("executed", "line 5999\nline 6000\n")
        assert writing["status"] == "denied", "what was kept is not to be changed"
        assert output.read_text() == text


async def test_outputs_of_another_context_cannot_be_read(tmp_path: Path) -> None:
    world = world_with_tools(tmp_path, runs("seq 1 30000"), DONE)
    async with opened(world) as (_, http):
        context_id = await world.start()
        await world.turn(context_id)
        (call,) = (await world.runtime.calls.read(context_id)).items
        output = await world.runtime.calls.output(context_id, call.id)
        other = await world.start()
        async with http.get(f"/api/contexts/{other}/tool-calls/{call.id}/output") as answer:
            assert answer.status == 404
    again = world_with_tools(tmp_path, answer_with_calls(("read_file", {"path": str(output)})), DONE, ids_from=1000)
    async with again.runtime:
        other = await again.start()
        await again.turn(other)
        (reading,) = (await again.runtime.calls.read(other)).items
        assert reading.status == "denied"


# while it runs


async def test_output_of_a_running_command_is_shown(tmp_path: Path) -> None:
    go = tmp_path / "go"
    command = f"echo one; echo two; while [ ! -e {go} ]; do sleep 0.05; done; echo three"
    world = world_with_tools(tmp_path, runs(command), DONE)
    async with opened(world) as (client, _):
        context_id = await world.start()
        await world.runtime.messages.send(context_id, "go")
        path = f"/api/contexts/{context_id}/tool-calls"
        async with asyncio.timeout(HANG_SECONDS):
            while True:
                items = (await client.request("GET", path))["items"]
                if items and items[0].get("output") == "one\ntwo\n":
                    break
                await asyncio.sleep(0.02)
        assert items[0]["status"] == "executing"
        assert items[0].get("result") is None
        one = await client.request("GET", f"{path}/{items[0]['id']}")
        assert one["output"] == "one\ntwo\n"
        go.touch()
        await world.runtime.turns.rested(context_id)
        (call,) = (await client.request("GET", path))["items"]
        assert call.get("output") is None
        assert call["result"] == "one\ntwo\nthree\n"


async def test_signals_of_command_output_are_spaced_at_any_speed(tmp_path: Path) -> None:
    command = "for n in $(seq 1 300); do echo line $n; sleep 0.005; done"
    world = world_with_tools(tmp_path, runs(command), DONE, store=MemoryStore())
    async with world.runtime:
        context_id = await world.start()
        live = await live_context(world.runtime, context_id)
        times: list[float] = []

        async def listen() -> None:
            with world.runtime.signals([context_id]) as signals:
                async for signal in signals:
                    message_ids = {call.message_id for call in live.calls.values()}
                    if isinstance(signal, MessageChanged) and signal.message_id in message_ids and live.live_outputs:
                        times.append(time.monotonic())

        listening = asyncio.create_task(listen())
        await asyncio.sleep(0)
        await world.turn(context_id)
        listening.cancel()
        gaps = [later - earlier for earlier, later in itertools.pairwise(times)]
        assert len(times) >= 5
        assert sorted(gaps)[len(gaps) // 2] > 0.08


async def test_only_the_end_of_the_output_is_held_in_memory(tmp_path: Path) -> None:
    go = tmp_path / "go"
    command = f"seq 1 200000; while [ ! -e {go} ]; do sleep 0.05; done"
    world = world_with_tools(tmp_path, runs(command), DONE)
    async with opened(world) as (client, http):
        context_id = await world.start()
        await world.runtime.messages.send(context_id, "go")
        live = await live_context(world.runtime, context_id)
        async with asyncio.timeout(HANG_SECONDS):
            while not any(printed.tail.endswith("200000\n") for printed in live.live_outputs.values()):
                await asyncio.sleep(0.02)
        (call,) = (await client.request("GET", f"/api/contexts/{context_id}/tool-calls"))["items"]
        assert len(call["output"]) <= 4000
        async with http.get(f"/api/contexts/{context_id}/tool-calls/{call['id']}/output") as answer:
            assert answer.status == 200, "the whole can be read while it grows"
        go.touch()
        await world.runtime.turns.rested(context_id)
        async with http.get(f"/api/contexts/{context_id}/tool-calls/{call['id']}/output") as answer:
            assert (await answer.text()).endswith("\n200000\n")


async def test_a_letter_that_is_cut_between_two_reads_is_shown_whole(tmp_path: Path) -> None:
    go = tmp_path / "go"
    command = f"printf '\\xe6\\x97'; sleep 0.2; printf '\\xa5'; while [ ! -e {go} ]; do sleep 0.05; done"
    world = world_with_tools(tmp_path, runs(command), DONE)
    async with opened(world) as (client, _):
        context_id = await world.start()
        await world.runtime.messages.send(context_id, "go")
        live = await live_context(world.runtime, context_id)
        path = f"/api/contexts/{context_id}/tool-calls"
        outputs: list[str] = []
        async with asyncio.timeout(HANG_SECONDS):
            while not live.live_outputs:
                await asyncio.sleep(0.01)
            while not outputs or outputs[-1] != "日":
                outputs.append((await client.request("GET", path))["items"][0].get("output") or "")
                await asyncio.sleep(0.05)
        go.touch()
        await world.runtime.turns.rested(context_id)
        assert set(outputs) <= {"", "日"}
        (call,) = (await client.request("GET", path))["items"]
        assert call["result"] == "日"


async def test_a_cancelled_command_stops_being_shown(tmp_path: Path) -> None:
    world = world_with_tools(tmp_path, runs("echo on; sleep 60"), DONE)
    async with opened(world) as (client, _):
        context_id = await world.start()
        await world.runtime.messages.send(context_id, "go")
        live = await live_context(world.runtime, context_id)
        async with asyncio.timeout(HANG_SECONDS):
            while not any(printed.total for printed in live.live_outputs.values()):
                await asyncio.sleep(0.01)
        await world.runtime.turns.cancel(context_id)
        assert live.live_outputs == {}
        (call,) = (await client.request("GET", f"/api/contexts/{context_id}/tool-calls"))["items"]
        assert (call["status"], call.get("output")) == ("cancelled", None)
