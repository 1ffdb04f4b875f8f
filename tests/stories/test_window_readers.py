"""Concurrent readers of a window while it is loaded, compressed and sent: each sees its present state."""

import asyncio
from collections.abc import Sequence
from pathlib import Path

from pilothouse.domain.contexts import Change
from pilothouse.domain.messages import Message
from pilothouse.domain.value import ContextId, MessageId
from pilothouse.llm.script import Answer
from pilothouse.storage.memory import MemoryStore
from pilothouse.testing.world import World
from tests.support.full_windows import MANY_WORDS, SmallWindowWorld
from tests.support.held_store import settle
from tests.support.live_contexts import live_context
from tests.support.valid_requests import assert_valid_request


class SlowReadingStore(MemoryStore):
    """Reading lets others go first, as a disk does; `hold` makes the reading of ids wait for an event."""

    def __init__(self) -> None:
        super().__init__()
        self.hold: asyncio.Event | None = None

    async def branch_ids(
        self, context_id: ContextId, branch: str, start: int = 0, stop: int | None = None
    ) -> list[MessageId]:
        gate, self.hold = self.hold, None
        await (gate.wait() if gate is not None else asyncio.sleep(0))
        return await super().branch_ids(context_id, branch, start, stop)

    async def messages(self, context_id: ContextId, ids: Sequence[MessageId]) -> list[Message]:
        await asyncio.sleep(0)
        return await super().messages(context_id, ids)

    async def commit(self, context_id: ContextId, change: Change, *, expected: int, fence: int) -> int:
        await asyncio.sleep(0)
        return await super().commit(context_id, change, expected=expected, fence=fence)


async def test_concurrent_readers_load_each_message_into_the_history_once(tmp_path: Path) -> None:
    store = SlowReadingStore()
    before = World(tmp_path, *[Answer(text="yes")] * 3, store=store)
    context_id = await before.start()
    for _ in range(3):
        await before.turn(context_id)
    tokens = (await before.runtime.window.meter(context_id)).tokens
    world = World(tmp_path, Answer(text="yes"), store=store, ids_from=10**6)
    meters = await asyncio.gather(*(world.runtime.window.meter(context_id) for _ in range(5)))
    assert {meter.tokens for meter in meters} == {tokens}
    await asyncio.gather(world.turn(context_id), *(world.runtime.window.meter(context_id) for _ in range(5)))
    (request,) = world.model.requests
    assert len(request.messages) == 7
    assert_valid_request(request)


async def test_a_meter_read_during_a_compression_counts_the_compressed_branch(tmp_path: Path) -> None:
    store = SlowReadingStore()
    world = SmallWindowWorld(tmp_path, store=store)
    context_id = await world.filled()
    live = await live_context(world.runtime, context_id)
    live.history_cache.forget_messages()
    store.hold = release = asyncio.Event()
    looking = asyncio.create_task(world.runtime.window.meter(context_id))
    await settle()
    await world.turn(context_id, f"and then {MANY_WORDS}")
    assert len(world.compressions()) == 1
    release.set()
    assert (await looking).tokens == (await world.runtime.window.meter(context_id)).tokens
