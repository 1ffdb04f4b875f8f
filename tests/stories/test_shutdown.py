"""Closing the runtime during work: a commit in progress finishes, and nothing runs afterwards."""

import asyncio
from collections.abc import Sequence
from pathlib import Path

import msgspec
import pytest

from pilothouse.domain.errors import Conflict
from pilothouse.domain.messages import Message, Text
from pilothouse.domain.states import Idle
from pilothouse.llm.script import Answer, Script
from pilothouse.llm.scripted import ScriptedAdapter
from pilothouse.runtime.context.live_context import LiveContext
from pilothouse.runtime.dependencies import TitleModel
from pilothouse.storage.files.disk import Disk
from pilothouse.storage.files.store import FileStore
from pilothouse.storage.memory import MemoryStore
from pilothouse.testing.tools import NoteTool
from pilothouse.testing.world import World
from tests.support.held_disk import HeldDisk
from tests.support.held_store import DONE, HeldStore, any_write, calls_answer, no_write, settle
from tests.support.live_contexts import live_context
from tests.support.scale import HANG_SECONDS

_LATER = 1_000_000


def files(data: Path, disk: Disk | None = None) -> FileStore:
    return FileStore(data, now=lambda: "2026-01-01T00:00:00.000Z", disk=disk)


def texts_of(messages: list[Message]) -> list[str]:
    return [message.content for message in messages if isinstance(message, Text)]


async def closing_under(world: World) -> asyncio.Task[None]:
    """Begin to close the runtime, as far as possible while a write is held."""
    closing = asyncio.create_task(world.runtime.close())
    await settle()
    return closing


# a command in its commit


async def test_a_call_that_runs_while_the_runtime_closes_under_a_command_in_its_commit_runs_once(
    tmp_path: Path,
) -> None:
    store = HeldStore()
    pay = NoteTool("pay", "mutating", hold=True)
    world = World(tmp_path, calls_answer(("pay", "a")), DONE, store=store, tools=[pay])
    context_id = await world.start()
    await world.runtime.messages.send(context_id, "go")
    await pay.started.wait()
    release = store.hold(any_write)
    switching = asyncio.create_task(world.runtime.modes.switch(context_id, "supervised"))
    await store.reached.wait()
    closing = await closing_under(world)
    release.set()
    await asyncio.gather(closing, switching)
    await settle()
    assert pay.ran == ["a"]


async def test_a_call_that_runs_while_the_runtime_closes_runs_once_also_with_files_and_after_a_restart(
    tmp_path: Path,
) -> None:
    disk = HeldDisk()
    pay = NoteTool("pay", "mutating", hold=True)
    world = World(tmp_path, calls_answer(("pay", "a")), DONE, store=files(tmp_path / "data", disk), tools=[pay])
    context_id = await world.start()
    await world.runtime.messages.send(context_id, "go")
    await pay.started.wait()
    disk.holding = True
    switching = asyncio.create_task(world.runtime.modes.switch(context_id, "supervised"))
    await disk.reached()
    closing = await closing_under(world)
    disk.release.set()
    await asyncio.gather(closing, switching)
    await settle()
    assert pay.ran == ["a"]
    again = World(tmp_path, DONE, store=files(tmp_path / "data"), tools=[pay], ids_from=_LATER)
    live = await again.runtime.contexts.get(context_id)
    assert (live.state, live.core.mode) == (Idle(), "supervised")
    await again.runtime.turns.continue_(context_id)
    await again.runtime.turns.rested(context_id)
    assert pay.ran == ["a"]
    await again.runtime.close()


async def test_a_send_in_flight_at_close_asks_no_model_afterwards(tmp_path: Path) -> None:
    store = HeldStore()
    world = World(tmp_path, calls_answer(("change", "a")), DONE, store=store)
    context_id = await world.start()
    release = store.hold(any_write)
    sending = asyncio.create_task(world.runtime.messages.send(context_id, "go"))
    await store.reached.wait()
    closing = await closing_under(world)
    release.set()
    await asyncio.gather(closing, sending)
    await settle()
    assert (world.model.requests, world.change.ran) == ([], [])


async def test_a_send_in_flight_at_close_is_in_the_files_and_continue_answers_it_after_a_restart(
    tmp_path: Path,
) -> None:
    disk = HeldDisk()
    world = World(tmp_path, DONE, store=files(tmp_path / "data", disk))
    context_id = await world.start()
    await world.runtime.contexts.get(context_id)
    disk.holding = True
    sending = asyncio.create_task(world.runtime.messages.send(context_id, "go"))
    await disk.reached()
    closing = await closing_under(world)
    disk.release.set()
    await asyncio.gather(closing, sending)
    await settle()
    assert world.model.requests == []
    again = World(tmp_path, DONE, store=files(tmp_path / "data"), ids_from=_LATER)
    await again.runtime.turns.continue_(context_id)
    await again.runtime.turns.rested(context_id)
    assert texts_of(await again.runtime.messages.read(context_id)) == ["go", "done"]
    await again.runtime.close()


@pytest.mark.parametrize("instants", range(8))
async def test_a_send_that_has_just_begun_at_close_asks_no_model_afterwards(tmp_path: Path, instants: int) -> None:
    world = World(tmp_path, calls_answer(("change", "a")), DONE, store=files(tmp_path / "data"))
    context_id = await world.start()
    live = await live_context(world.runtime, context_id)
    sending = asyncio.create_task(world.runtime.messages.send(context_id, "go"))
    while not live.lock.locked():
        await asyncio.sleep(0)
    for _ in range(instants):
        await asyncio.sleep(0)
    await world.runtime.close()
    before = (len(world.model.requests), list(world.change.ran))
    await asyncio.gather(sending, return_exceptions=True)
    await settle()
    assert (len(world.model.requests), world.change.ran) == before
    assert live.task is None


async def die(world: World, context_id: str) -> None:
    """Stop without a word, as a process that is killed: a clean close marks the turn."""
    live = await live_context(world.runtime, context_id)
    assert live.task is not None
    live.task.cancel()
    await asyncio.wait({live.task})


async def test_a_turn_that_is_open_at_close_is_marked_as_interrupted_in_the_store(tmp_path: Path) -> None:
    pay = NoteTool("pay", "mutating", hold=True)
    world = World(tmp_path, calls_answer(("pay", "a")), DONE, tools=[pay])
    context_id = await world.start()
    await world.runtime.messages.send(context_id, "go")
    await pay.started.wait()
    await world.runtime.close()
    stored = await world.dependencies.store.open(context_id)
    assert (stored.core.state, stored.core.turn, stored.core.last_turn) == (Idle(), None, "interrupted")


async def test_a_recovery_in_flight_at_close_commits_nothing_afterwards(tmp_path: Path) -> None:
    store = HeldStore()
    pay = NoteTool("pay", "mutating", hold=True)
    first = World(tmp_path, calls_answer(("pay", "a")), DONE, store=store, tools=[pay])
    context_id = await first.start()
    await first.runtime.messages.send(context_id, "go")
    await pay.started.wait()
    await die(first, context_id)
    second = World(tmp_path, DONE, store=store, ids_from=_LATER)
    release = store.hold(any_write)
    opening = asyncio.create_task(second.runtime.contexts.change(context_id, title="mine"))
    await store.reached.wait()
    closing = await closing_under(second)
    release.set()
    await closing
    store.hold(no_write)
    version = (await store.open(context_id)).version
    await asyncio.gather(opening, return_exceptions=True)
    await settle()
    assert (await store.open(context_id)).version == version
    with pytest.raises(Conflict, match="has been stopped"):
        await second.runtime.contexts.get(context_id)


async def test_no_title_is_asked_for_after_close(tmp_path: Path) -> None:
    store = HeldStore()
    titles = ScriptedAdapter(Script(title=(Answer(text="A title"),)))
    world = World(tmp_path, DONE, store=store, titles=TitleModel(titles, "small"))
    context_id = await world.start()
    release = store.hold(any_write)
    sending = asyncio.create_task(world.runtime.messages.send(context_id, "the first line"))
    await store.reached.wait()
    closing = await closing_under(world)
    release.set()
    await asyncio.gather(closing, sending)
    await settle()
    assert titles.requests == []
    assert (await store.open(context_id)).core.title == "the first line"


def is_driven(live: LiveContext) -> bool:
    return live.task is not None


async def test_a_cancel_beside_close_returns(tmp_path: Path) -> None:
    world = World(tmp_path, calls_answer(("change", "a")), DONE)
    context_id = await world.start("supervised")
    await world.turn(context_id)
    live = await live_context(world.runtime, context_id)
    cancelling = asyncio.create_task(world.runtime.turns.cancel(context_id))
    while not is_driven(live):
        await asyncio.sleep(0)
    await world.runtime.close()
    async with asyncio.timeout(HANG_SECONDS):
        await cancelling
    assert (live.task, world.change.ran) == (None, [])


# processors


class RedactingProcessor:
    """A processor that takes as long as the test wants."""

    def __init__(self) -> None:
        self.began, self.release = asyncio.Event(), asyncio.Event()

    async def __call__(self, messages: Sequence[Message]) -> Sequence[Message]:
        self.began.set()
        await self.release.wait()
        return [msgspec.structs.replace(message, content="[redacted]") for message in messages]


async def context_in_processor(tmp_path: Path, by: str) -> tuple[World, str]:
    """A context whose message was with a processor when a cancel or a close came."""
    redacts = RedactingProcessor()
    store = MemoryStore()
    world = World(tmp_path, DONE, DONE, store=store, processors=[redacts])
    context_id = await world.start()
    await world.runtime.messages.send(context_id, "secret")
    await redacts.began.wait()
    if by == "cancel":
        await world.runtime.turns.cancel(context_id)
    else:
        await world.runtime.close()
        world = World(tmp_path, DONE, DONE, store=store, processors=[redacts], ids_from=_LATER)
    redacts.release.set()
    return world, context_id


@pytest.mark.parametrize("by", ["cancel", "close"])
async def test_continue_processes_a_message_whose_processors_were_cut_short(tmp_path: Path, by: str) -> None:
    world, context_id = await context_in_processor(tmp_path, by)
    await world.runtime.turns.continue_(context_id)
    await world.runtime.turns.rested(context_id)
    ((window,),) = [request.messages for request in world.model.requests]
    assert b"[redacted]" in window
    assert texts_of(await world.runtime.messages.read(context_id)) == ["[redacted]", "done"]


@pytest.mark.parametrize("by", ["cancel", "close"])
async def test_a_message_whose_processors_were_cut_short_does_not_reach_the_model_with_the_next_one(
    tmp_path: Path, by: str
) -> None:
    world, context_id = await context_in_processor(tmp_path, by)
    await world.turn(context_id, "next")
    (request,) = world.model.requests
    assert request.messages
    assert not any(b"secret" in fragment for fragment in request.messages)
