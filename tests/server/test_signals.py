"""The signal streams: the present first, small events, conflated, several contexts over one connection, an end."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import aiohttp
import msgspec
import pytest

from pilothouse.client import Client, ServerError
from pilothouse.domain.codes import Code, Reason
from pilothouse.domain.signals import (
    ContentDelta,
    ContextChanged,
    ErrorRaised,
    MessageCompleted,
    MessageCreated,
    StateChanged,
)
from pilothouse.domain.states import AwaitingToolApproval, AwaitingUserAnswer, ExecutingTool, Failed, MergingBranches
from pilothouse.domain.value import CallId, ContextId, MessageId
from pilothouse.llm.script import Answer
from pilothouse.server.signals import MAX_EVENT_BYTES, encode_signal
from pilothouse.testing.served import Served
from pilothouse.testing.tools import NoteTool
from pilothouse.testing.world import World
from tests.support.assertions import ended
from tests.support.held_store import DONE, calls_answer
from tests.support.live_contexts import live_context
from tests.support.scale import HANG_SECONDS

LONG = '\x01\x1b"\\😀好' * 500


async def first(stream: AsyncIterator[tuple[str, Any]], wanted: str) -> Any:
    async for name, data in stream:
        if name == wanted:
            return data
    raise AssertionError(f"no {wanted} came")


async def test_a_stream_begins_with_the_present_state_then_changes(tmp_path: Path) -> None:
    world = World(tmp_path, DONE)
    async with world.runtime, Served(world.runtime, [tmp_path]) as served, served.client() as client:
        context_id = await world.start("plan")
        stream = client.events("GET", f"/api/contexts/{context_id}/stream")
        name, data = await anext(stream)
        assert (name, data["state"], data["version"]) == ("StateChanged", {"type": "idle"}, 1)
        name, data = await anext(stream)
        assert (name, data["fields"]) == ("ContextChanged", ["*"])
        await client.request("PUT", f"/api/contexts/{context_id}/mode", {"mode": "ask"})
        data = await first(stream, "ContextChanged")
        assert (data["fields"], data["version"]) == (["mode"], 2)


async def test_signals_of_a_streaming_message_have_its_sequence_and_not_its_text(
    tmp_path: Path,
) -> None:
    world = World(tmp_path, Answer(deltas=tuple(f"piece{number} " for number in range(300)), delta_delay=0.002))
    async with world.runtime, Served(world.runtime, [tmp_path]) as served, served.client() as client:
        context_id = await world.start()
        await client.send(context_id, "go")
        live = await live_context(world.runtime, context_id)
        with world.runtime.signals([context_id]) as signals:
            while live.delta_writer is None or not live.delta_writer.flushed:
                await anext(signals)
        raw = client.events("GET", f"/api/contexts/{context_id}/stream")
        created = await first(raw, "MessageCreated")
        delta = await anext(raw)
        assert delta[0] == "ContentDelta"
        assert delta[1]["message_id"] == created["message_id"] == live.delta_writer.message_id
        path = f"/api/contexts/{context_id}/messages/{created['message_id']}/content"
        pieces = await client.request("GET", f"{path}?from_sequence=0")
        assert len(pieces) >= delta[1]["sequence"] >= 1
        sequences = [delta[1], *[data async for name, data in until(raw, "MessageCompleted") if name == "ContentDelta"]]
        assert [data["sequence"] for data in sequences] == sorted(data["sequence"] for data in sequences)
        assert "piece" not in str(sequences)
        await world.runtime.turns.rested(context_id)
        whole = await client.request("GET", path)
        assert [each["delta"] for each in whole] == [f"piece{number} " for number in range(300)]
        for start in (0, 1, 150, 299, 300, 301, 10**9):
            assert await client.request("GET", f"{path}?from_sequence={start}") == whole[start:]


async def until(stream: AsyncIterator[tuple[str, Any]], last: str) -> AsyncIterator[tuple[str, Any]]:
    async for name, data in stream:
        yield name, data
        if name == last:
            return


async def test_one_stream_carries_several_contexts_and_the_session(tmp_path: Path) -> None:
    world = World(tmp_path, DONE, DONE)
    async with world.runtime, Served(world.runtime, [tmp_path]) as served, served.client() as client:
        ids = [await world.start(), await world.start()]
        stream = client.events("GET", f"/api/stream?contexts={','.join([*ids, 'unknown'])}")
        events = [await anext(stream) for _ in range(6)]
        assert events[0][0] == "Error"
        assert (events[0][1]["context_id"], events[0][1]["code"]) == ("unknown", "unknown_context")
        assert [data["context_id"] for name, data in events if name == "StateChanged"] == ids
        assert (events[-1][0], events[-1][1]["version"]) == ("SessionChanged", 0)
        await client.request("PUT", "/api/session/active-context", {"context_id": ids[0]})
        assert (await first(stream, "SessionChanged"))["version"] == 1
        await client.send(ids[1], "hi")
        created = await first(stream, "MessageCreated")
        assert created["context_id"] == ids[1]
        await client.request("DELETE", f"/api/contexts/{ids[0]}")
        while (changed := await first(stream, "ContextChanged"))["context_id"] != ids[0]:
            pass
        assert changed["fields"] == ["deleted"]


async def test_a_stream_of_a_foreign_or_unknown_context_is_404(tmp_path: Path) -> None:
    world = World(tmp_path)
    async with world.runtime, Served(world.runtime, [tmp_path]) as served:
        context_id = await world.start()
        async with Client(served.url, served.tokens.add("anna")) as anna:
            for each in (context_id, "unknown", "%00"):
                with pytest.raises(ServerError) as refused:
                    await anext(anna.events("GET", f"/api/contexts/{each}/stream"))
                assert refused.value.problem.status == 404
            name, data = await anext(anna.events("GET", f"/api/stream?contexts={context_id}"))
            assert (name, data["code"]) == ("Error", "unknown_context")


CALLS = tuple(CallId(f"0190c8f2-7c1a-7abc-8def-{number:012}") for number in range(100))
ABOUT: dict[str, Any] = {"context_id": ContextId("c" * 64), "version": 10**9}
HOSTILE = [
    StateChanged(**ABOUT, state=AwaitingToolApproval(CALLS, tuple(f"{LONG}{number}" for number in range(100)))),
    StateChanged(**ABOUT, state=AwaitingUserAnswer(CALLS)),
    StateChanged(**ABOUT, state=Failed(Reason(Code.INTERNAL, {"detail": LONG, LONG: LONG}), "2026")),
    StateChanged(**ABOUT, state=ExecutingTool(tool_name=LONG, running=1, done=0, total=1)),
    StateChanged(**ABOUT, state=MergingBranches(source="😀" * 100, target="\x07" * 100, strategy="append")),
    MessageCreated(**ABOUT, message_id=MessageId("m" * 64), role="assistant", type="tool_request"),
    ContentDelta(**ABOUT, message_id=MessageId("m" * 64), sequence=10**12),
    MessageCompleted(**ABOUT, message_id=MessageId("m" * 64), final_sequence=10**12),
    ContextChanged(**ABOUT, fields=tuple(LONG for _ in range(100))),
    ErrorRaised(**ABOUT, reason=Reason(Code.INTERNAL, {"detail": LONG})),
]


@pytest.mark.parametrize("signal", HOSTILE, ids=lambda signal: type(signal).__name__)
@pytest.mark.parametrize("language", ["en", "zh"])
def test_every_event_is_small_and_well_formed(signal: Any, language: Any) -> None:
    data = encode_signal(signal, language)
    assert len(data) <= MAX_EVENT_BYTES
    head, body = data.removesuffix(b"\n\n").split(b"\n", 1)
    assert head.startswith(b"event: ")
    assert b"\n" not in body
    decoded = msgspec.json.decode(body.removeprefix(b"data: "))
    assert decoded["context_id"] == ABOUT["context_id"]


def test_a_long_list_in_a_state_is_cut_to_eight_with_its_total() -> None:
    data = encode_signal(StateChanged(**ABOUT, state=AwaitingToolApproval(CALLS, ("look",) * 100)), "en")
    state = msgspec.json.decode(data.split(b"data: ", 1)[1])["state"]
    assert (len(state["pending_requests"]), len(state["tool_names"]), state["total"]) == (8, 8, 100)


async def test_streams_are_counted_bounded_and_notified_when_the_server_stops(tmp_path: Path) -> None:
    world = World(tmp_path)
    async with (
        world.runtime,
        Served(world.runtime, [tmp_path], limits={"max_streams": 2}) as served,
        served.client() as client,
    ):
        context_id = await world.start()
        path = f"/api/contexts/{context_id}/stream"
        streams = [client.events("GET", path), client.events("GET", "/api/stream")]
        await anext(streams[0])
        await anext(streams[1])
        with pytest.raises(ServerError) as refused:
            await anext(client.events("GET", path))
        assert (refused.value.problem.status, refused.value.problem.code) == (503, "too_many_streams")
        await ended(streams[0])
        while served.server_state.metrics.streams_open > 1:
            await asyncio.sleep(0)
        served.server_state.stopping.set()
        name, data = await anext(streams[1])
        assert (name, data["code"]) == ("Error", "server_stopping")


@pytest.mark.parametrize("kind", ["signals", "chat", "completions"])
async def test_streams_that_are_opened_together_do_not_pass_the_limit(tmp_path: Path, kind: str) -> None:
    limit, attempts = 5, 40
    world = World(tmp_path, *[Answer(text="never said", silence=0)] * attempts)
    async with world.runtime, Served(world.runtime, [tmp_path], limits={"max_streams": limit}) as served:
        context_id = await world.start()

        def request(number: int) -> tuple[str, str, Any]:
            match kind:
                case "signals":
                    return "GET", f"/api/contexts/{context_id}/stream", None
                case "chat":
                    return "POST", f"/api/chat/thread-{number}", {"message": "hello"}
                case _:
                    messages = [{"role": "user", "content": "hello"}]
                    return "POST", "/v1/chat/completions", {"messages": messages, "stream": True}

        statuses: Counter[int] = Counter()
        answered = asyncio.Event()

        async def watch(number: int) -> None:
            method, path, body = request(number)
            headers = {"authorization": f"Bearer {served.token}"}
            async with session.request(method, served.url + path, json=body, headers=headers) as answer:
                statuses[answer.status] += 1
                if statuses.total() == attempts:
                    answered.set()
                await closing.wait()

        closing = asyncio.Event()
        connector = aiohttp.TCPConnector(limit=0)
        async with aiohttp.ClientSession(connector=connector) as session, asyncio.TaskGroup() as group:
            for number in range(attempts):
                group.create_task(watch(number))
            async with asyncio.timeout(HANG_SECONDS):
                await answered.wait()
            assert statuses == {200: limit, 503: attempts - limit}
            closing.set()
        counts = served.server_state.metrics
        async with asyncio.timeout(HANG_SECONDS):
            while counts.streams_open + counts.chats_open:
                await asyncio.sleep(0)


async def test_a_request_that_is_refused_for_another_reason_gives_its_stream_back(tmp_path: Path) -> None:
    world = World(tmp_path)
    async with world.runtime, Served(world.runtime, [tmp_path]) as served, served.client() as client:
        for _ in range(3):
            with pytest.raises(ServerError):
                await anext(client.events("POST", "/api/chat/thread", {"message": "hello", "mode": "no such mode"}))
            with pytest.raises(ServerError):
                await client.request("POST", "/api/chat/thread/resume", {"answers": []})
        assert served.server_state.metrics.chats_open == 0


async def test_heartbeats_keep_an_idle_stream_open_until_its_user_is_removed(tmp_path: Path) -> None:
    world = World(tmp_path)
    async with world.runtime, Served(world.runtime, [tmp_path], limits={"heartbeat": 0.02}) as served:
        token = served.tokens.add("anna")
        reader, writer = await asyncio.open_connection("127.0.0.1", served.port)
        head = f"GET /api/stream HTTP/1.1\r\nhost: 127.0.0.1\r\nauthorization: Bearer {token}\r\n\r\n"
        writer.write(head.encode())
        for _ in range(4):
            await reader.readuntil(b": \n\n")
        served.tokens.remove("anna")
        await reader.readuntil(b"0\r\n\r\n")  # the end of the answer
        writer.close()


async def test_signals_are_spaced_while_the_model_is_fast(tmp_path: Path) -> None:
    world = World(tmp_path, Answer(deltas=("x",) * 2000))
    async with world.runtime, Served(world.runtime, [tmp_path]) as served, served.client() as client:
        context_id = await world.start()
        stream = client.events("GET", f"/api/contexts/{context_id}/stream")
        await first(stream, "ContextChanged")
        await client.send(context_id, "go")
        names = [name async for name, _ in until(stream, "MessageCompleted")]
        names += [name async for name, _ in until(stream, "MessageCompleted")]
        assert names.count("ContentDelta") < 100


async def test_watchers_of_a_parent_are_notified_when_a_sub_agent_rests(tmp_path: Path) -> None:
    pay = NoteTool("pay", "mutating")
    world = World(tmp_path, calls_answer(("pay", "a")), DONE, tools=[pay])
    async with world.runtime, Served(world.runtime, [tmp_path]) as served, served.client() as client:
        parent = await world.start("supervised")
        child = await world.runtime.contexts.create(tmp_path, parent=parent, mode="supervised")
        await world.runtime.contexts.get(child)
        stream = client.events("GET", f"/api/contexts/{parent}/stream")
        await first(stream, "ContextChanged")
        await client.send(child, "go")
        while "children" not in (await first(stream, "ContextChanged"))["fields"]:
            pass
        response = await client.request("GET", f"/api/contexts/{parent}")
        assert response["waiting_below"] == [child]


async def test_an_unreadable_token_file_ends_no_open_stream(tmp_path: Path) -> None:
    world = World(tmp_path)
    async with (
        world.runtime,
        Served(world.runtime, [tmp_path], limits={"heartbeat": 0.01}) as served,
        served.client() as client,
    ):
        context_id = await world.start()
        stream = client.events("GET", f"/api/contexts/{context_id}/stream")
        await first(stream, "ContextChanged")
        served.tokens.add("anna")
        content = served.tokens.path.read_bytes()
        served.tokens.path.write_bytes(b"{")
        await asyncio.sleep(0.05)
        await world.runtime.contexts.change(context_id, title="another")
        assert (await first(stream, "ContextChanged"))["fields"] == ["title"]
        served.tokens.path.write_bytes(content)
