"""The hub: the newest of each kind, in bounded memory, and right again after any loss."""

import asyncio
import threading
from collections import Counter
from pathlib import Path

from pilothouse.domain.signals import ContentDelta, ContextChanged, MessageCreated, StateChanged
from pilothouse.domain.states import ConnectingToLLM, Idle
from pilothouse.domain.value import ContextId, MessageId
from pilothouse.llm.script import Answer, ScriptedCall
from pilothouse.runtime.events.hub import MAX_UNSENT_SIGNALS, Hub
from pilothouse.runtime.events.turn_events import MessageAdded, TextAdded
from pilothouse.runtime.limits import Limits
from pilothouse.storage.files.disk import Disk
from pilothouse.storage.files.store import FileStore
from pilothouse.testing.world import World
from tests.support.assertions import instance_of, present
from tests.support.scale import HANG_SECONDS

ID = ContextId("c")


async def test_a_newer_signal_replaces_an_unsent_older_one() -> None:
    hub = Hub()
    with hub.subscribe([ID]) as signals:
        for sequence in range(1, 1000):
            hub.publish(ContentDelta(context_id=ID, version=1, message_id=MessageId("m"), sequence=sequence))
            hub.publish(StateChanged(context_id=ID, version=1, state=ConnectingToLLM()))
        hub.publish(StateChanged(context_id=ID, version=2, state=Idle()))
        assert signals.unsent == 2
        assert instance_of(ContentDelta, await anext(signals)).sequence == 999
        assert instance_of(StateChanged, await anext(signals)).state == Idle()


async def test_a_reader_that_never_reads_holds_a_bounded_number() -> None:
    hub = Hub()
    with hub.subscribe([ID, ContextId("d")]) as signals:
        for number in range(10_000):
            message_id = MessageId(str(number))
            hub.publish(MessageCreated(context_id=ID, version=number, message_id=message_id, role="user", type="text"))
            assert signals.unsent <= MAX_UNSENT_SIGNALS
        hub.publish(StateChanged(context_id=ContextId("d"), version=1, state=Idle()))
        unread = [await anext(signals) for _ in range(signals.unsent)]
        assert any(isinstance(signal, ContextChanged) and signal.fields == ("*",) for signal in unread)
        assert instance_of(StateChanged, unread[-1]).context_id == "d"


async def test_fields_of_context_changes_are_joined() -> None:
    hub = Hub()
    with hub.subscribe([ID]) as signals:
        hub.publish(ContextChanged(context_id=ID, version=1, fields=("mode",)))
        hub.publish(ContextChanged(context_id=ID, version=2, fields=("title", "mode")))
        assert instance_of(ContextChanged, await anext(signals)).fields == ("mode", "title")


async def test_a_closed_subscription_ends_and_is_forgotten() -> None:
    hub = Hub()
    signals = hub.subscribe([ID])
    signals.close()
    assert [signal async for signal in signals] == []
    assert not hub.has_listeners(ID)


async def test_pieces_are_signalled_spaced_and_written_before(tmp_path: Path) -> None:
    pieces = tuple(f"{n} " for n in range(300))
    world = World(tmp_path, Answer(deltas=pieces), limits=Limits(delta_spacing=0.03))
    context_id = await world.start()
    with world.runtime.signals([context_id]) as signals:
        await world.turn(context_id)
        unsent = await signals.batch()
        sequences = [signal.sequence for signal in unsent if isinstance(signal, ContentDelta)]
    assert sequences == [300]


async def test_a_follower_sees_all_text_once_in_order_as_it_comes(tmp_path: Path) -> None:
    calls = (ScriptedCall(tool="look", arguments={"text": "a"}),)
    first, second = tuple(f"{n} " for n in range(100)), tuple(f"<{n}>" for n in range(100))
    world = World(
        tmp_path,
        Answer(deltas=first, calls=calls, delta_delay=0.0005),
        Answer(deltas=second, delta_delay=0.0005),
        limits=Limits(delta_spacing=0.005),
    )
    context_id = await world.start()
    await world.runtime.messages.send(context_id, "go")
    events = [event async for event in world.runtime.events.of_context(context_id)]
    text = "".join(event.text for event in events if isinstance(event, TextAdded))
    assert text == "".join(first + second)
    counts = Counter(event.message_id for event in events if isinstance(event, TextAdded))
    assert len(counts) == 2
    assert min(counts.values()) > 1
    kinds = [type(event.message).__name__ for event in events if isinstance(event, MessageAdded)]
    assert kinds == ["Text", "ToolRequest", "ToolResult", "Text"]


async def test_a_slow_reader_never_blocks_the_turn(tmp_path: Path) -> None:
    world = World(tmp_path, *[Answer(deltas=("x",) * 500)] * 5)
    context_id = await world.start()
    with world.runtime.signals([context_id]) as signals:
        for _ in range(5):
            async with asyncio.timeout(HANG_SECONDS):
                await world.turn(context_id)
        assert len(await signals.batch()) <= MAX_UNSENT_SIGNALS


class HeldDeltas(Disk):
    """Writes of deltas wait in their threads until the test releases them."""

    def __init__(self) -> None:
        self.release = threading.Event()
        self.reached = threading.Event()

    def write_all(self, fd: int, data: bytes) -> None:
        if data.startswith(b"["):  # a line of a journal begins with its checksum
            self.reached.set()
            assert self.release.wait(HANG_SECONDS)
        super().write_all(fd, data)


async def test_a_slow_disk_delays_the_signals_of_deltas_and_not_the_event_loop(tmp_path: Path) -> None:
    disk = HeldDeltas()
    store = FileStore(tmp_path / "data", now=lambda: "2026-01-01T00:00:00.000Z", disk=disk)
    world = World(tmp_path, Answer(deltas=("one ", "two ")), store=store)
    context_id = await world.start()
    with world.runtime.signals([context_id]) as signals:
        await world.runtime.messages.send(context_id, "go")
        async with asyncio.timeout(HANG_SECONDS):
            while not disk.reached.is_set():
                await asyncio.sleep(0)
        assert not [signal for signal in await signals.batch() if isinstance(signal, ContentDelta)]
        streaming = (await world.runtime.contexts.get(context_id)).streaming
        assert present(streaming).sequence == 0
        disk.release.set()
        await world.runtime.turns.rested(context_id)
        assert [signal.sequence for signal in await signals.batch() if isinstance(signal, ContentDelta)] == [2]
    await world.runtime.close()
