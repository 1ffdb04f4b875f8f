"""Steering in the wrong moment: cancel, pause, continue and approvals that meet a commit or a refusal."""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable
from pathlib import Path

import pytest

from pilothouse.domain.errors import StoreRefused
from pilothouse.domain.messages import Message, Text
from pilothouse.domain.payloads import ClientMetadata
from pilothouse.domain.states import AwaitingToolApproval, ExecutingTool, Idle, WaitingForRecovery
from pilothouse.llm.base import ModelEvent, ModelRequest
from pilothouse.llm.script import Answer, Script
from pilothouse.llm.scripted import ScriptedAdapter
from pilothouse.runtime.commands.calls import PersonsDecision
from pilothouse.testing.world import World
from tests.support.held_store import DONE, HeldStore, any_write, calls_answer, no_write, settle


def texts_of(messages: list[Message]) -> list[str]:
    return [message.content for message in messages if isinstance(message, Text)]


async def working(world: World, mode: str = "agent") -> str:
    """A context whose turn is at its first call of `look`, which lasts until released."""
    world.look.release.clear()
    context_id = await world.start(mode)
    await world.runtime.messages.send(context_id, "go")
    await world.look.started.wait()
    return context_id


async def test_a_cancel_of_a_turn_that_just_rested_ends_it_also_with_a_queue(tmp_path: Path) -> None:
    store = HeldStore()
    world = World(tmp_path, calls_answer(("look", "a")), calls_answer(("change", "b")), DONE, store=store)
    context_id = await working(world, "review")
    await world.runtime.messages.send(context_id, "queued", queue=True)
    release = store.hold(lambda _, change: isinstance(change.core.state, AwaitingToolApproval))
    world.look.release.set()
    await store.reached.wait()
    cancelling = asyncio.create_task(world.runtime.turns.cancel(context_id))
    await settle()
    release.set()
    await cancelling
    live = await world.runtime.turns.rested(context_id)
    assert (live.state, live.core.turn, live.core.last_turn) == (Idle(), None, "cancelled")
    assert len(live.core.queue) == 1
    assert world.change.ran == []


async def test_a_cancel_returns_although_another_turn_has_begun_since(tmp_path: Path) -> None:
    store = HeldStore()
    world = World(tmp_path, calls_answer(("look", "a")), calls_answer(("change", "b")), DONE, DONE, store=store)
    context_id = await working(world)
    await world.runtime.messages.send(context_id, "queued", queue=True)
    world.change.release.clear()
    release = store.hold(lambda _, change: isinstance(change.core.state, Idle))
    cancelling = asyncio.create_task(world.runtime.turns.cancel(context_id))
    await store.reached.wait()
    sending = asyncio.create_task(world.runtime.messages.send(context_id, "next"))
    await settle()
    release.set()
    await sending
    await world.change.started.wait()
    await cancelling
    live = await world.runtime.contexts.get(context_id)
    assert isinstance(live.state, ExecutingTool)
    assert live.core.last_turn == "cancelled"
    world.change.release.set()
    live = await world.runtime.turns.rested(context_id)
    assert live.core.last_turn == "complete"


async def test_continue_with_a_cancelled_caller_still_drives_the_held_queue(tmp_path: Path) -> None:
    store = HeldStore()
    world = World(tmp_path, calls_answer(("change", "a")), DONE, store=store)
    context_id = await world.start("supervised")
    await world.turn(context_id)
    await world.runtime.messages.send(context_id, "queued", queue=True)
    await world.runtime.calls.reject_all(context_id)
    await world.runtime.turns.rested(context_id)
    release = store.hold(any_write)
    continuing = asyncio.create_task(world.runtime.turns.continue_(context_id))
    await store.reached.wait()
    continuing.cancel()
    await asyncio.sleep(0)
    release.set()
    with pytest.raises(asyncio.CancelledError):
        await continuing
    live = await world.runtime.turns.rested(context_id)
    assert (live.state, live.core.queue) == (Idle(), ())
    assert texts_of(await world.runtime.messages.read(context_id))[-2:] == ["queued", "done"]


async def test_a_turn_that_was_paused_when_the_store_refused_can_be_continued(tmp_path: Path) -> None:
    store = HeldStore()
    world = World(tmp_path, calls_answer(("look", "x"), ("change", "a"), ("change", "b")), DONE, store=store)
    world.change.release.clear()
    context_id = await world.start()
    await world.runtime.messages.send(context_id, "go")
    await world.change.started.wait()
    await world.runtime.turns.pause(context_id)
    store.refuses = any_write
    world.change.release.set()
    live = await world.runtime.turns.rested(context_id)
    assert isinstance(live.state, WaitingForRecovery)
    store.refuses = no_write
    await world.runtime.turns.continue_(context_id)
    live = await world.runtime.turns.rested(context_id)
    assert (live.state, world.change.ran) == (Idle(), ["a"])


async def test_a_pause_withdrawn_at_the_last_instant_lets_the_turn_continue(tmp_path: Path) -> None:
    store = HeldStore()
    world = World(tmp_path, calls_answer(("look", "a")), DONE, store=store)
    context_id = await working(world)
    await world.runtime.turns.pause(context_id)
    results = store.hold(any_write)
    world.look.release.set()
    await store.reached.wait()
    title = store.hold(lambda _, change: change.core.title == "T")
    titling = asyncio.create_task(world.runtime.contexts.change(context_id, title="T"))
    await settle()
    results.set()
    await store.reached.wait()
    await settle()
    resuming = asyncio.create_task(world.runtime.turns.resume(context_id))
    await settle()
    title.set()
    await asyncio.gather(titling, resuming)
    live = await world.runtime.turns.rested(context_id)
    assert (live.state, live.core.last_turn) == (Idle(), "complete")


class InterruptingAdapter(ScriptedAdapter):
    """Does something while its answer with this number streams."""

    def __init__(self, *answers: Answer, number: int) -> None:
        super().__init__(Script(turn=answers))
        self.number = number
        self.meanwhile: Callable[[], Awaitable[None]] | None = None

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelEvent, None]:
        async for event in super().stream(request):
            if self.meanwhile is not None and len(self.requests) == self.number:
                meanwhile, self.meanwhile = self.meanwhile, None
                await meanwhile()
            yield event


async def test_a_pause_during_the_last_answer_holds_the_queue(tmp_path: Path) -> None:
    model = InterruptingAdapter(calls_answer(("look", "a")), Answer(text="1"), Answer(text="2"), number=2)
    world = World(tmp_path, adapter=model)
    context_id = await working(world)
    await world.runtime.messages.send(context_id, "queued", queue=True)
    model.meanwhile = lambda: world.runtime.turns.pause(context_id)
    world.look.release.set()
    live = await world.runtime.turns.rested(context_id)
    assert (live.state, len(live.core.queue)) == (Idle(), 1)
    await world.runtime.turns.continue_(context_id)
    await world.runtime.turns.rested(context_id)
    assert texts_of(await world.runtime.messages.read(context_id)) == ["go", "1", "queued", "2"]


async def test_the_same_request_with_another_trace_is_the_same_request(tmp_path: Path) -> None:
    world = World(tmp_path, DONE)
    context_id = await world.start()
    sent = []
    for trace in ("first", "second"):
        metadata = ClientMetadata(trace_id=trace)
        sent.append(await world.runtime.messages.send(context_id, "hello", key="k", client_metadata=metadata))
        await world.runtime.turns.rested(context_id)
    assert sent[0] == sent[1]
    assert texts_of(await world.runtime.messages.read(context_id)) == ["hello", "done"]


# commits that the store refuses


async def test_a_permanent_rule_is_not_kept_when_its_approval_is_refused(tmp_path: Path) -> None:
    store = HeldStore()
    world = World(tmp_path, calls_answer(("change", "a")), DONE, store=store)
    context_id = await world.start("supervised")
    await world.turn(context_id)
    (call,) = await world.runtime.calls.pending(context_id)
    store.refuses = any_write
    decision = PersonsDecision(id=call.id, verdict="approve", digest=call.digest, always="tool_for_good")
    with pytest.raises(StoreRefused):
        await world.runtime.calls.decide(context_id, [decision])
    assert await world.runtime.rules.read() == []
    assert await world.runtime.calls.pending(context_id) == [call]
    store.refuses = no_write
    await world.runtime.calls.decide(context_id, [decision])
    await world.runtime.turns.rested(context_id)
    assert [rule.scope.tool for rule in await world.runtime.rules.read()] == ["change"]
    assert world.change.ran == ["a"]


async def test_a_call_whose_start_was_refused_is_not_run(tmp_path: Path) -> None:
    store = HeldStore()
    world = World(tmp_path, calls_answer(("change", "a"), ("change", "b")), DONE, store=store)
    context_id = await world.start("supervised")
    await world.turn(context_id)
    world.change.release.clear()
    await world.runtime.calls.approve_all(context_id)
    await world.change.started.wait()
    store.refuses = any_write
    world.change.release.set()
    await world.runtime.turns.rested(context_id)
    store.refuses = no_write
    await world.runtime.turns.continue_(context_id)
    await world.runtime.turns.rested(context_id)
    _, call = await world.dependencies.store.calls(context_id)
    assert (call.arguments["text"], call.status, call.approval, call.decided_by) == ("b", "interrupted", None, None)
    assert await world.runtime.calls.pending(context_id) == []
    assert world.change.ran == ["a"]


async def test_a_call_whose_start_was_refused_has_used_up_no_elevation(tmp_path: Path) -> None:
    store = HeldStore()
    world = World(
        tmp_path, calls_answer(("look", "a"), ("change", "b")), DONE, calls_answer(("change", "c")), DONE, store=store
    )
    context_id = await world.start("review")
    await world.runtime.modes.elevate(context_id, calls=1)
    store.refuses = lambda _, change: any(call.status == "executing" for call in change.calls)
    await world.turn(context_id)
    store.refuses = no_write
    await world.runtime.turns.continue_(context_id)
    await world.runtime.turns.rested(context_id)
    assert await world.runtime.calls.pending(context_id) == []
    elevation = await world.runtime.modes.elevation(context_id)
    assert elevation is not None
    assert elevation.calls_left == 1
    assert "elevation_ended" not in [entry.kind for entry in (await world.runtime.contexts.audit(context_id)).entries]
    assert world.change.ran == []
