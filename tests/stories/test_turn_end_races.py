"""Between two turns, between a sender and its sub-agents, between a refusal and the store: the last instants count."""

import asyncio
import signal
from collections.abc import AsyncGenerator, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from pilothouse.domain.codes import Code
from pilothouse.domain.errors import Conflict, InvalidInput
from pilothouse.domain.messages import ErrorMessage, Message
from pilothouse.domain.policies import Policy
from pilothouse.domain.states import Idle, Paused, WaitingForRecovery
from pilothouse.domain.value import ContextId
from pilothouse.llm.base import ModelEvent, ModelRequest
from pilothouse.llm.script import Answer, Script, ScriptedCall
from pilothouse.llm.scripted import ScriptedAdapter
from pilothouse.storage.memory import MemoryStore
from pilothouse.testing.tools import NoteTool
from pilothouse.testing.world import World
from tests.support.held_store import (
    DELEGATES,
    DONE,
    HeldStore,
    calls_answer,
    family,
    no_write,
    sent_and_waiting,
    settle,
)
from tests.support.live_contexts import live_context_at_rest, pool_of
from tests.support.scale import HANG_SECONDS

QUESTION = Answer(calls=(ScriptedCall(tool="ask_user", arguments={"questions": [{"question": "?"}]}),))


class HeldAdapter(ScriptedAdapter):
    """Its answers come when the test wants them."""

    def __init__(self, *answers: Answer) -> None:
        super().__init__(Script(turn=answers))
        self.requested, self.release = asyncio.Event(), asyncio.Event()

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelEvent, None]:
        self.requested.set()
        await self.release.wait()
        async for event in super().stream(request):
            yield event


async def test_a_cancel_of_a_turn_whose_driver_is_between_two_turns_ends_it(tmp_path: Path) -> None:
    store, model = HeldStore(), HeldAdapter(QUESTION, DONE, DONE, DONE)
    world = World(tmp_path, store=store, adapter=model)
    context_id = await world.start()
    await world.runtime.messages.send(context_id, "one")
    await model.requested.wait()
    await world.runtime.messages.send(context_id, "two", queue=True)
    release = store.hold(lambda _, change: bool(change.calls))
    model.release.set()
    await store.reached.wait()
    answering = asyncio.create_task(world.runtime.calls.answer(context_id, ["yes"]))
    await settle()
    cancelling = asyncio.create_task(world.runtime.turns.cancel(context_id))
    await settle()
    release.set()
    async with asyncio.timeout(HANG_SECONDS):
        await asyncio.gather(answering, cancelling)
        live = await live_context_at_rest(world.runtime, context_id)
    assert (live.state, live.task, live.core.last_turn) == (Idle(), None, "cancelled")


# a mode that comes with a held message


async def mode_held_above(world: World) -> tuple[ContextId, ContextId]:
    """A parent whose queue holds a message with the mode `plan`, and a sub-agent that waits for the person."""
    parent = await world.start("supervised")
    await world.turn(parent, "one")
    await world.runtime.messages.send(parent, "two", queue=True, mode="plan")
    await world.runtime.calls.reject_all(parent)
    live = await world.runtime.turns.rested(parent)
    assert (live.state, len(live.core.queue)) == (Idle(), 1)
    child = await world.runtime.contexts.create(world.workspace, mode="supervised", parent=parent)
    await world.turn(child, "go")
    return parent, child


async def test_a_mode_that_comes_with_a_held_message_is_not_acknowledged_while_a_sub_agent_starts_something(
    tmp_path: Path,
) -> None:
    store = HeldStore()
    world = World(tmp_path, calls_answer(("change", "p")), calls_answer(("change", "c")), DONE, DONE, store=store)
    parent, child = await mode_held_above(world)
    release = store.hold(lambda held_id, _: held_id == child)
    approving = asyncio.create_task(world.runtime.calls.approve_all(child))
    await store.reached.wait()
    continuing = asyncio.create_task(world.runtime.turns.continue_(parent))
    await settle()
    assert not continuing.done()
    release.set()
    await asyncio.gather(approving, continuing)
    assert (await world.runtime.turns.rested(parent)).core.mode == "plan"
    await world.runtime.turns.rested(child)


async def test_a_mode_that_comes_with_a_held_message_has_decided_what_waits_in_the_sub_agents(tmp_path: Path) -> None:
    world = World(tmp_path, calls_answer(("change", "p")), calls_answer(("change", "c")), DONE, DONE)
    parent, child = await mode_held_above(world)
    await world.runtime.turns.continue_(parent)
    assert await world.runtime.calls.pending(child) == []
    assert [call.status for call in await world.dependencies.store.calls(child)] == ["denied"]
    await asyncio.gather(world.runtime.turns.rested(parent), world.runtime.turns.rested(child))
    assert world.change.ran == []


# commits that the store refuses


async def test_a_refusal_whose_write_the_store_refuses_still_ends_the_turn_with_the_refusal(tmp_path: Path) -> None:
    async def refuse(messages: Sequence[Message]) -> Sequence[Message]:
        raise InvalidInput(Code.INVALID_PAYLOAD, detail="no secrets here", allowed="-")

    store = HeldStore()
    world = World(tmp_path, DONE, store=store, processors=[refuse])
    context_id = await world.start()
    store.refuses = lambda _, change: any(message.metadata.held == "refused" for message in change.messages)
    await world.runtime.messages.send(context_id, "secret")
    live = await world.runtime.turns.rested(context_id)
    assert isinstance(live.state, WaitingForRecovery)
    store.refuses = no_write
    await world.runtime.turns.continue_(context_id)
    live = await world.runtime.turns.rested(context_id)
    assert (live.state, live.core.last_turn, world.model.requests) == (Idle(), "error", [])
    sent, refusal = await world.runtime.messages.read(context_id)
    assert isinstance(refusal, ErrorMessage)
    assert (sent.metadata.held, refusal.reason.code) == ("refused", Code.INVALID_PAYLOAD)


async def test_approving_is_refused_while_results_wait_for_the_store(tmp_path: Path) -> None:
    store = HeldStore()
    slow = NoteTool("slow", "read_only", hold=True)
    together = calls_answer(("slow", "s"), ("look", "l"), ("change", "c"))
    world = World(tmp_path, together, DONE, store=store, tools=[slow])
    context_id = await world.start()
    await world.runtime.modes.set_policy(context_id, Policy(kind="white_list", tools=frozenset({"slow", "look"})))
    store.refuses = lambda _, change: any(call.status == "executed" for call in change.calls)
    await world.runtime.messages.send(context_id, "go")
    await slow.started.wait()
    await settle()
    store.refuses = no_write
    await world.runtime.contexts.change(context_id, title="T")
    with pytest.raises(Conflict):
        await world.runtime.calls.approve_all(context_id)
    slow.release.set()
    await world.runtime.turns.rested(context_id)
    await world.runtime.turns.continue_(context_id)
    live = await world.runtime.turns.rested(context_id)
    assert (live.state, world.change.ran) == (Idle(), [])
    statuses = {call.tool: call.status for call in await world.dependencies.store.calls(context_id)}
    assert statuses == {"slow": "executed", "look": "executed", "change": "interrupted"}


async def test_the_audit_contains_no_refused_pause(tmp_path: Path) -> None:
    store, model = HeldStore(), HeldAdapter(calls_answer(("look", "a")), DONE)
    world = World(tmp_path, store=store, adapter=model)
    context_id = await world.start()
    await world.runtime.messages.send(context_id, "go")
    await model.requested.wait()
    await world.runtime.turns.pause(context_id)
    store.refuses = lambda _, change: isinstance(change.core.state, Paused)
    model.release.set()
    live = await world.runtime.turns.rested(context_id)
    assert isinstance(live.state, WaitingForRecovery)
    store.refuses = no_write
    await world.runtime.turns.continue_(context_id)
    live = await world.runtime.turns.rested(context_id)
    assert (live.state, world.look.ran) == (Idle(), [])
    assert "turn_paused" not in [entry.kind for entry in (await world.runtime.contexts.audit(context_id)).entries]


# memory


class GatedOpeningStore(MemoryStore):
    """Opens no context until `gate` is set, and then all at the same instant."""

    def __init__(self) -> None:
        super().__init__()
        self.gate = asyncio.Event()
        self.gate.set()

    async def open(self, context_id: ContextId) -> Any:
        await self.gate.wait()
        return await super().open(context_id)


@contextmanager
def fails_if_the_loop_stands_still(seconds: float) -> Iterator[None]:
    def fail(*_: object) -> None:
        raise SystemExit("the event loop stands still")

    before = signal.signal(signal.SIGALRM, fail)
    whole = signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, *whole)
        signal.signal(signal.SIGALRM, before)


async def test_opening_a_context_during_its_eviction_does_not_deadlock(
    tmp_path: Path,
) -> None:
    store = GatedOpeningStore()
    world = World(tmp_path, store=store, max_idle_contexts=1)
    one, two = await world.start(), await world.start()

    async def find_when_opened() -> None:
        await store.gate.wait()
        await pool_of(world.runtime).find(one)

    store.gate.clear()
    leaving = asyncio.create_task(pool_of(world.runtime).find(one))
    await settle()
    staying = asyncio.create_task(pool_of(world.runtime).find(two))
    await settle()
    leaving.cancel()
    await settle()
    finding = asyncio.create_task(find_when_opened())
    await asyncio.sleep(0)
    store.gate.set()
    with fails_if_the_loop_stands_still(10):
        await asyncio.gather(staying, finding)


# a paused sender


@pytest.mark.parametrize("how", ["after a restart", "with few contexts kept"])
async def test_a_paused_parent_pauses_its_sub_agents(tmp_path: Path, how: str) -> None:
    store, model = HeldStore(), HeldAdapter(calls_answer(("look", "p")), calls_answer(("change", "c")), DONE, DONE)
    world = World(tmp_path, store=store, adapter=model, max_idle_contexts=1)
    parent = await world.start()
    child = await world.runtime.contexts.create(tmp_path, parent=parent)
    await world.runtime.messages.send(parent, "work")
    await model.requested.wait()
    await world.runtime.turns.pause(parent)
    model.release.set()
    assert isinstance((await world.runtime.turns.rested(parent)).state, Paused)
    if how == "after a restart":
        await world.runtime.close()
        world = World(tmp_path, store=store, adapter=model, ids_from=1_000_000)
    else:
        await world.runtime.contexts.get(await world.start())
    await world.turn(child, "go")
    states = [(await world.runtime.contexts.get(context_id)).state for context_id in (parent, child)]
    assert [type(state) for state in states] == [Paused, Paused]
    assert (world.change.ran, len(model.requests)) == ([], 1)
    await world.runtime.turns.resume(parent)
    await asyncio.gather(world.runtime.turns.rested(parent), world.runtime.turns.rested(child))
    assert (world.look.ran, len(model.requests)) == (["p"], 4)


async def test_continue_in_a_sub_agent_of_a_paused_parent_works(tmp_path: Path) -> None:
    store, model = HeldStore(), HeldAdapter(calls_answer(("change", "c")), DONE, DONE)
    world = World(tmp_path, store=store, adapter=model)
    model.release.set()
    parent = await world.start()
    child = await world.runtime.contexts.create(tmp_path, mode="supervised", parent=parent)
    store.refuses = lambda refused_id, change: refused_id == child and bool(change.calls)
    await world.turn(child, "go")
    store.refuses = no_write
    for event in (model.requested, model.release):
        event.clear()
    await world.runtime.messages.send(parent, "work")
    await model.requested.wait()
    await world.runtime.turns.pause(parent)
    await world.runtime.turns.continue_(child)
    live = await live_context_at_rest(world.runtime, child)
    assert (type(live.state), live.pending.refused, world.change.ran) == (Paused, None, [])
    await world.runtime.turns.resume(parent)
    model.release.set()
    assert isinstance((await world.runtime.turns.rested(child)).state, Idle)
    await world.runtime.turns.rested(parent)
    assert world.change.ran == []


async def test_a_pause_of_a_parent_waits_for_a_sub_agents_start_in_its_commit(tmp_path: Path) -> None:
    store = HeldStore()
    world = family(tmp_path, DELEGATES, calls_answer(("change", "a")), DONE, DONE, store=store)
    parent, child = await sent_and_waiting(world)
    release = store.hold(lambda held_id, _: held_id == child)
    approving = asyncio.create_task(world.runtime.calls.approve_all(child))
    await store.reached.wait()
    pausing = asyncio.create_task(world.runtime.turns.pause(parent))
    await settle()
    assert (pausing.done(), world.change.ran) == (False, [])
    release.set()
    await asyncio.gather(approving, pausing)
    await settle()
    assert (world.change.ran, len(world.model.requests)) == (["a"], 2)
    await world.runtime.turns.resume(parent)
    live = await world.runtime.turns.rested(parent)
    assert (live.core.last_turn, world.change.ran) == ("complete", ["a"])
