"""Readers that stop reading: the turn continues, others miss nothing, and their buffers do not grow."""

import asyncio
import socket
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec

from pilothouse.api.views import ToolRequestView
from pilothouse.client import Client, ContextReplica
from pilothouse.domain.signals import Signal
from pilothouse.llm.script import Answer, ScriptedCall
from pilothouse.runtime.events.hub import MAX_UNSENT_SIGNALS, Hub, HubSubscription
from pilothouse.runtime.limits import Limits
from pilothouse.sse import sse_events
from pilothouse.testing.served import Served
from pilothouse.testing.world import World
from tests.support.assertions import instance_of, present
from tests.support.live_contexts import live_context_at_rest

DELTAS = 20_000
CALLS = 100
SMALL = 4096
# The size at which the transport pauses its writer, and the size of one batch of signals.
BUFFERED_AT_MOST = 64 * 1024 + MAX_UNSENT_SIGNALS * 1024


class WatchedHub(Hub):
    """`most` is the highest number of unsent signals of a subscriber, `published` the number of all signals."""

    def __init__(self) -> None:
        super().__init__()
        self._made: list[HubSubscription] = []
        self.most = 0
        self.published = 0

    def subscribe(self, topics: Any) -> HubSubscription:
        self._made.append(super().subscribe(topics))
        return self._made[-1]

    def publish(self, signal: Signal) -> None:
        super().publish(signal)
        self.published += 1
        self.most = max(self.most, *(subscription.unsent for subscription in self._made))


class StalledClient:
    """A client that asks for a stream and then does not read a byte of it."""

    def __init__(self, served: Served, method: str, path: str, body: Any = None) -> None:
        content = msgspec.json.encode(body) if body is not None else b""
        head = f"{method} {path} HTTP/1.1\r\nhost: 127.0.0.1\r\nauthorization: Bearer {served.token}\r\n"
        head += f"content-type: application/json\r\ncontent-length: {len(content)}\r\n\r\n"
        self._socket = socket.socket()
        self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, SMALL)
        self._socket.connect(("127.0.0.1", served.port))
        self._socket.sendall(head.encode() + content)

    async def wake(self, is_last: Callable[[str, Any], bool]) -> list[tuple[str, Any]]:
        """Read the stream up to an event and return all events."""
        reader, writer = await asyncio.open_connection(sock=self._socket)
        events: list[tuple[str, Any]] = []
        async for name, payload in sse_events(reader):
            events.append((name, msgspec.json.decode(payload)))
            if is_last(*events[-1]):
                break
        writer.close()
        return events

    def leave(self) -> None:
        self._socket.close()


async def until(is_so: Callable[[], bool]) -> None:
    while not is_so():
        await asyncio.sleep(0)


def make_world(tmp_path: Path, hub: Hub) -> tuple[World, str]:
    """A model with a long answer, every piece of it signalled, and then many calls at once."""
    deltas = tuple(f"piece {number} of many " for number in range(DELTAS))
    calls = tuple(ScriptedCall("look", {"text": str(number)}) for number in range(CALLS))
    world = World(
        tmp_path,
        Answer(deltas=deltas, calls=calls),
        Answer(text="done"),
        hub=hub,
        limits=Limits(delta_spacing=0),
        token_budget=10**7,
    )
    return world, "".join(deltas)


def shrink(served: Served) -> None:
    """Small socket buffers: a client that does not read is noticed at once."""
    for connection in served._server.server_state.connections:
        own = connection.transport.get_extra_info("socket")
        own.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, SMALL)


def buffered(served: Served) -> list[int]:
    """The bytes that the server holds for clients that do not read."""
    sizes = [connection.transport.get_write_buffer_size() for connection in served._server.server_state.connections]
    return [size for size in sizes if size]


async def make_context(client: Client) -> str:
    created = await client.request("POST", "/api/contexts", {"mode": "agent"})
    context_id: str = created["context_id"]
    return context_id


def is_whole(copy: ContextReplica) -> bool:
    return copy.is_settled and present(copy.context).turn is None and len(copy.order) == CALLS + 3


async def test_a_stalled_reader_delays_neither_the_turn_nor_other_readers(tmp_path: Path) -> None:
    hub = WatchedHub()
    world, text = make_world(tmp_path, hub)
    async with world.runtime, Served(world.runtime, [tmp_path]) as served, served.client() as client:
        counts = served.server_state.metrics
        context_id = await make_context(client)
        async with ContextReplica(client, context_id) as copy:
            signals = StalledClient(served, "GET", f"/api/contexts/{context_id}/stream")
            await until(lambda: counts.streams_open == 2)
            chat = StalledClient(served, "POST", f"/api/chat/{context_id}", {"message": "go"})
            await until(lambda: counts.chats_open == 1 and bool(world.entered))
            shrink(served)

            live = await world.runtime.turns.rested(context_id)  # no stalled reader has read anything
            assert live.core.last_turn == "complete"
            await copy.until(is_whole)
            assert copy.text(copy.order[1]) == text
            request = instance_of(ToolRequestView, copy.messages[copy.order[1]])
            assert [len(request.chunks), len(world.look.ran)] == [DELTAS, CALLS]

            assert len(buffered(served)) == 2  # both writers were really paused
            assert max(buffered(served)) <= BUFFERED_AT_MOST
            assert hub.most == MAX_UNSENT_SIGNALS

            signals.leave()
            chat.leave()
            await until(lambda: (counts.streams_open, counts.chats_open) == (1, 0))
        await until(lambda: counts.streams_open == 0)


async def test_twenty_stalled_readers_delay_neither_the_turn_nor_a_chat(tmp_path: Path) -> None:
    hub = WatchedHub()
    world, text = make_world(tmp_path, hub)
    async with world.runtime, Served(world.runtime, [tmp_path]) as served, served.client() as client:
        counts = served.server_state.metrics
        context_id, other = await make_context(client), await make_context(client)
        paths = [f"/api/contexts/{context_id}/stream", f"/api/stream?contexts={other},{context_id}"]
        sleepers = [StalledClient(served, "GET", path) for path in paths * 10]
        await until(lambda: counts.streams_open == len(sleepers))
        shrink(served)

        events = [event async for event in client.chat(context_id, "go")]
        assert "".join(data["text"] for name, data in events if name == "token") == text + "done"
        assert sum(name == "tool_end" for name, _ in events) == CALLS
        assert events[-1] == ("done", {})

        sizes = buffered(served)
        assert len(sizes) == len(sleepers)
        assert max(sizes) <= BUFFERED_AT_MOST
        assert hub.most == MAX_UNSENT_SIGNALS
        for sleeper in sleepers:
            sleeper.leave()
        await until(lambda: counts.streams_open == 0)


async def test_a_reader_that_resumes_gets_few_signals_and_converges(tmp_path: Path) -> None:
    hub = WatchedHub()
    world, text = make_world(tmp_path, hub)
    async with world.runtime, Served(world.runtime, [tmp_path]) as served, served.client() as client:
        counts = served.server_state.metrics
        context_id = await make_context(client)
        signals = StalledClient(served, "GET", f"/api/contexts/{context_id}/stream")
        await until(lambda: counts.streams_open == 1)
        chat = StalledClient(served, "POST", f"/api/chat/{context_id}", {"message": "go"})
        await until(lambda: counts.chats_open == 1 and bool(world.entered))
        shrink(served)
        live = await live_context_at_rest(world.runtime, context_id)

        signals_read = await signals.wake(lambda name, data: data.get("version") == live.version)
        assert len(signals_read) < hub.published // 10
        versions = [data["version"] for _, data in signals_read]
        assert versions == sorted(versions)

        events = await chat.wake(lambda name, data: name == "done")
        assert "".join(data["text"] for name, data in events if name == "token") == text + "done"
        assert sum(name == "tool_end" for name, _ in events) == CALLS
        await until(lambda: (counts.streams_open, counts.chats_open) == (0, 0))
