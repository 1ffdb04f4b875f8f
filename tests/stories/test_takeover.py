"""Two runtimes over one store: when one takes a context over, the other one changes nothing any more."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from pilothouse.domain.errors import StaleWrite
from pilothouse.domain.messages import Text, ToolResult
from pilothouse.domain.states import Idle
from pilothouse.llm.script import Answer, ScriptedCall
from pilothouse.runtime.events.turn_events import TurnEvent
from pilothouse.storage.memory import MemoryStore
from pilothouse.testing.tools import NoteTool
from pilothouse.testing.world import World
from tests.support.live_contexts import live_context, pool_of
from tests.support.shared_ownership import SharedOwnership

CALLS = tuple(ScriptedCall(tool="slow", arguments={"text": str(number)}) for number in range(2))


class Owners:
    """Two worlds with one store; `ids_from` keeps their ids apart."""

    def __init__(self, path: Path, *answers: Answer, informs: bool = False) -> None:
        self.store = MemoryStore()
        self.ownership = SharedOwnership(self.store, informs=informs)
        self.slow = NoteTool("slow", "mutating", hold=True)
        self.old = World(path, *answers, tools=[self.slow], store=self.store, ownership=self.ownership)
        self.free = NoteTool("slow", "mutating")
        self.new = World(
            path,
            Answer(text="here"),
            tools=[self.free],
            store=self.store,
            ownership=self.ownership,
            ids_from=1_000_000,
        )

    async def close(self) -> None:
        await self.old.runtime.close()
        await self.new.runtime.close()


@pytest.mark.parametrize("informs", [False, True], ids=["refused", "informed"])
async def test_a_turn_whose_context_was_taken_over_runs_nothing_further(tmp_path: Path, *, informs: bool) -> None:
    owners = Owners(tmp_path, Answer(calls=CALLS), Answer(text="not this"), informs=informs)
    context_id = await owners.old.start()
    await owners.old.runtime.messages.send(context_id, "go")
    await owners.slow.started.wait()
    lost = await live_context(owners.old.runtime, context_id)
    assert lost.task is not None
    task = lost.task
    await owners.new.runtime.calls.approve_all(context_id)
    await owners.new.runtime.turns.rested(context_id)
    version = (await owners.new.runtime.contexts.get(context_id)).version
    owners.slow.release.set()
    await asyncio.wait({task})
    assert (owners.slow.ran, owners.free.ran, len(owners.old.model.requests)) == (["0"], ["1"], 1)
    assert lost not in pool_of(owners.old.runtime).in_memory()
    assert (await owners.store.open(context_id)).version == version
    messages = await owners.new.runtime.messages.read(context_id)
    assert [message.status for message in messages if isinstance(message, ToolResult)] == ["interrupted", "executed"]
    assert isinstance(messages[-1], Text)
    assert messages[-1].content == "here"
    assert await owners.old.runtime.messages.read(context_id) == messages
    await owners.close()


async def test_a_turn_that_streams_when_its_context_is_taken_over_stores_nothing_further(tmp_path: Path) -> None:
    owners = Owners(tmp_path, Answer(deltas=("one ", "two "), silence=2), informs=True)
    context_id = await owners.old.start()
    await owners.old.runtime.messages.send(context_id, "go")
    lost = await live_context(owners.old.runtime, context_id)
    while lost.delta_writer is None or lost.delta_writer.flushed < 2:
        await asyncio.sleep(0.01)
    assert lost.task is not None
    task = lost.task
    await owners.new.runtime.turns.continue_(context_id)
    await asyncio.wait({task})
    await owners.new.runtime.turns.rested(context_id)
    texts = [message for message in await owners.new.runtime.messages.read(context_id) if isinstance(message, Text)]
    assert [(text.content, text.ended) for text in texts[1:]] == [("one two ", "interrupted"), ("here", "complete")]
    assert lost.core.turn is not None, "the former owner has committed nothing"
    await owners.close()


async def test_a_command_of_the_former_owner_is_refused_and_the_next_one_takes_the_context_back(
    tmp_path: Path,
) -> None:
    owners = Owners(tmp_path)
    context_id = await owners.old.start()
    await owners.old.runtime.contexts.change(context_id, title="first")
    await owners.new.runtime.contexts.change(context_id, title="theirs")
    with pytest.raises(StaleWrite):
        await owners.old.runtime.contexts.change(context_id, title="mine")
    assert (await owners.store.open(context_id)).core.title == "theirs"
    await owners.old.runtime.contexts.change(context_id, title="mine")
    assert (await owners.store.open(context_id)).core.title == "mine"
    with pytest.raises(StaleWrite):
        await owners.new.runtime.contexts.delete(context_id)
    assert (await owners.store.open(context_id)).core.title == "mine"
    await owners.close()


async def test_a_command_that_waits_while_its_context_is_lost_opens_the_context_again(tmp_path: Path) -> None:
    owners = Owners(tmp_path, informs=True)
    context_id = await owners.old.start()
    await owners.old.runtime.contexts.change(context_id, title="first")
    lost = await live_context(owners.old.runtime, context_id)
    async with lost.lock:
        waiting = asyncio.create_task(owners.old.runtime.contexts.change(context_id, title="mine"))
        while not lost.lock._waiters:
            await asyncio.sleep(0)
        await owners.new.runtime.contexts.change(context_id, title="theirs")
    await waiting
    assert (await owners.store.open(context_id)).core.title == "mine"
    assert isinstance((await owners.old.runtime.contexts.get(context_id)).state, Idle)
    await owners.close()


async def test_leases_are_given_back_when_contexts_leave_memory(tmp_path: Path) -> None:
    store = MemoryStore()
    ownership = SharedOwnership(store)
    world = World(tmp_path, store=store, ownership=ownership, max_idle_contexts=1)
    first, second = await world.start(), await world.start()
    for context_id in (first, second):
        await world.runtime.contexts.change(context_id, title="mine")
    while first in ownership.held:
        await asyncio.sleep(0)
    assert set(ownership.held) == {second}
    await world.runtime.close()
    assert ownership.held == {}


async def test_a_stream_of_events_ends_when_its_context_is_taken_over(tmp_path: Path) -> None:
    owners = Owners(tmp_path, Answer(calls=CALLS), informs=True)
    context_id = await owners.old.start()
    await owners.old.runtime.messages.send(context_id, "go")
    events = owners.old.runtime.events.attend(context_id, None, contents=False)
    following = asyncio.ensure_future(collect(events))
    await owners.slow.started.wait()
    await owners.new.runtime.calls.approve_all(context_id)
    await following
    await owners.new.runtime.turns.rested(context_id)
    assert owners.free.ran == ["1"], "the new owner has kept the context"
    await owners.close()


async def collect(events: AsyncIterator[TurnEvent]) -> list[TurnEvent]:
    return [event async for event in events]
