"""Sub-agents and races: commands for a conversation reach its sub-agents in every state."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from pilothouse.domain.codes import Code
from pilothouse.domain.errors import Conflict, InvalidInput, RequestError
from pilothouse.domain.messages import ToolResult
from pilothouse.domain.policies import Policy
from pilothouse.domain.states import Idle, Paused, ProcessingUserMessage
from pilothouse.domain.value import ContextId
from pilothouse.llm.base import ModelEvent, ModelRequest
from pilothouse.llm.script import Answer, Script, ScriptedCall
from pilothouse.llm.scripted import ScriptedAdapter
from pilothouse.runtime.limits import Limits
from pilothouse.storage.files.store import FileStore
from pilothouse.storage.memory import MemoryStore
from pilothouse.testing.tools import NoteTool
from pilothouse.testing.world import World
from tests.properties.oracle import OrderedStore
from tests.support.assertions import content_of, instance_of, present
from tests.support.held_store import (
    DELEGATE,
    DELEGATES,
    DONE,
    HeldStore,
    calls_answer,
    child_of,
    family,
    no_write,
    sent_and_waiting,
    settle,
    waiting_child,
)
from tests.support.live_contexts import live_context
from tests.support.scale import HANG_SECONDS


class SlowOpeningStore(MemoryStore):
    """Opens one of its contexts some instants later than the others."""

    def __init__(self) -> None:
        super().__init__()
        self.slow: ContextId | None = None
        self.instants = 0

    async def open(self, context_id: ContextId) -> Any:
        for _ in range(self.instants if context_id == self.slow else 0):
            await asyncio.sleep(0)
        return await super().open(context_id)


@pytest.mark.parametrize("instants", [1, 2])
async def test_a_sub_agent_is_bound_by_its_parents_present_mode_although_both_left_memory(
    tmp_path: Path, instants: int
) -> None:
    store = SlowOpeningStore()
    world = family(
        tmp_path, calls_answer(("look", "a")), calls_answer(("change", "b")), DONE, store=store, max_idle_contexts=1
    )
    world.look.release.clear()
    parent = await world.start()
    child = await world.runtime.contexts.create(tmp_path, parent=parent)
    one, two = await world.start(), await world.start()
    store.slow, store.instants = one, instants
    await asyncio.gather(world.runtime.contexts.get(one), world.runtime.messages.send(child, "go"))
    await world.look.started.wait()
    for other in (two, one):
        await world.runtime.contexts.get(other)
    await world.runtime.modes.switch(parent, "plan")
    world.look.release.set()
    await world.runtime.turns.rested(child)
    assert (world.look.ran, world.change.ran) == (["a"], [])


async def test_contexts_opened_in_the_same_instant_all_open(tmp_path: Path) -> None:
    world = family(tmp_path, DONE, max_idle_contexts=1)
    parent = await world.start()
    child = await world.runtime.contexts.create(tmp_path, parent=parent)
    other = await world.start()
    async with asyncio.timeout(HANG_SECONDS):
        await asyncio.gather(world.runtime.contexts.get(other), world.runtime.contexts.get(child))


async def test_a_mode_that_comes_with_a_message_is_not_acknowledged_while_a_sub_agent_starts_something(
    tmp_path: Path,
) -> None:
    store = HeldStore()
    world = family(tmp_path, calls_answer(("change", "a")), DONE, DONE, store=store)
    parent = await world.start()
    child = await world.runtime.contexts.create(tmp_path, parent=parent)
    release = store.hold(lambda _, change: any(call.status == "executing" for call in change.calls))
    await world.runtime.messages.send(child, "go")
    await store.reached.wait()
    sending = asyncio.create_task(world.runtime.messages.send(parent, "hello", mode="plan"))
    await settle()
    assert not sending.done()
    release.set()
    await sending
    assert (await world.runtime.contexts.get(parent)).core.mode == "plan"
    await world.runtime.turns.rested(child)


async def test_a_mode_that_comes_with_a_message_has_decided_what_waits_in_the_sub_agents(tmp_path: Path) -> None:
    world = family(tmp_path, calls_answer(("change", "a"), ("change", "b")), DONE, DONE)
    world.change.release.clear()
    parent = await world.start()
    child = await world.runtime.contexts.create(tmp_path, parent=parent)
    await world.runtime.messages.send(child, "go")
    await world.change.started.wait()
    await world.runtime.messages.send(parent, "hello", mode="plan")
    assert [call.status for call in await world.dependencies.store.calls(child)] == ["executing", "denied"]
    world.change.release.set()
    await world.runtime.turns.rested(child)
    assert world.change.ran == ["a"]


class FailingOnceAdapter(ScriptedAdapter):
    """Its second request meets a bug."""

    requests_seen = 0

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelEvent, None]:
        self.requests_seen += 1
        if self.requests_seen == 2:
            raise RuntimeError("a bug")
        async for event in super().stream(request):
            yield event


async def test_a_failed_sub_agent_lets_its_parent_continue(tmp_path: Path) -> None:
    store = FileStore(tmp_path / "data", now=lambda: "2026-01-01T00:00:00.000Z")
    world = family(tmp_path, store=store, adapter=FailingOnceAdapter(Script(turn=(DELEGATES, DONE))))
    context_id = await world.start()
    await world.turn(context_id)
    result, last = (await world.runtime.messages.read(context_id))[-2:]
    assert present(instance_of(ToolResult, result).error).code is Code.SUBAGENT_ENDED
    assert content_of(last) == "done"
    assert (await world.runtime.contexts.get(await child_of(world, context_id))).core.turn is None
    await world.runtime.close()


async def test_cancelling_the_parent_while_the_sub_agent_is_being_sent_leaves_none_working(tmp_path: Path) -> None:
    store = HeldStore()
    world = family(tmp_path, DELEGATES, calls_answer(("change", "a")), DONE, store=store)
    context_id = await world.start()
    release = store.hold(
        lambda held_id, change: held_id != context_id and isinstance(change.core.state, ProcessingUserMessage)
    )
    await world.runtime.messages.send(context_id, "go")
    await store.reached.wait()
    cancelling = asyncio.create_task(world.runtime.turns.cancel(context_id))
    await settle()
    release.set()
    await cancelling
    await settle()
    child = await live_context(world.runtime, await child_of(world, context_id))
    assert (child.task, child.state, child.core.last_turn) == (None, Idle(), "cancelled")
    assert world.change.ran == []


async def test_a_delete_that_is_refused_deletes_nothing(tmp_path: Path) -> None:
    world = family(tmp_path, DELEGATES, DONE, calls_answer(("change", "a")), DONE)
    context_id = await world.start("review")
    await world.turn(context_id)
    child = await child_of(world, context_id)
    with pytest.raises(Conflict, match="isn't finished"):
        await world.runtime.contexts.delete(context_id)
    assert content_of((await world.runtime.messages.read(child))[-1]) == "done"
    assert {each.context_id for each in await world.dependencies.store.contexts()} == {context_id, child}


# pause


async def test_a_pause_while_a_sub_agent_is_just_ending_is_no_error(tmp_path: Path) -> None:
    store = HeldStore()
    world = family(tmp_path, DELEGATES, Answer(text="inner"), Answer(text="outer"), store=store)
    context_id = await world.start()
    release = store.hold(
        lambda held_id, change: held_id != context_id and change.core.turn is None and bool(change.messages)
    )
    await world.runtime.messages.send(context_id, "go")
    await store.reached.wait()
    pausing = asyncio.create_task(world.runtime.turns.pause(context_id))
    await settle()
    release.set()
    await pausing
    live = await world.runtime.turns.rested(context_id)
    assert isinstance(live.state, Paused)
    await world.runtime.turns.resume(context_id)
    await world.runtime.turns.rested(context_id)
    assert content_of((await world.runtime.messages.read(context_id))[-1]) == "outer"


async def test_approvals_in_a_sub_agent_of_a_paused_parent_start_nothing(tmp_path: Path) -> None:
    world = family(tmp_path, DELEGATES, calls_answer(("change", "a")), DONE, DONE)
    context_id, child = await sent_and_waiting(world)
    await world.runtime.turns.pause(context_id)
    await world.runtime.calls.approve_all(child)
    await world.runtime.turns.rested(child)
    await settle()
    assert (world.change.ran, len(world.model.requests)) == ([], 2)
    await world.runtime.turns.resume(context_id)
    await world.runtime.turns.rested(context_id)
    assert world.change.ran == ["a"]


async def test_a_sub_agent_that_was_being_created_when_the_pause_came_sends_no_request(tmp_path: Path) -> None:
    store = HeldStore()
    world = family(tmp_path, DELEGATES, calls_answer(("change", "a")), DONE, DONE, store=store)
    context_id = await world.start()
    release = store.hold(lambda _, change: change.core.parent == context_id)
    await world.runtime.messages.send(context_id, "go")
    await store.reached.wait()
    pausing = asyncio.create_task(world.runtime.turns.pause(context_id))
    await settle()
    release.set()
    await pausing
    await settle()
    child = await world.runtime.turns.rested(await child_of(world, context_id))
    assert isinstance(child.state, Paused)
    assert len(world.model.requests) == 1
    await world.runtime.turns.resume(context_id)
    live = await world.runtime.turns.rested(context_id)
    assert (live.core.last_turn, world.change.ran) == ("complete", ["a"])


async def test_resume_reaches_a_paused_sub_agent_however_few_contexts_are_kept(tmp_path: Path) -> None:
    world = family(tmp_path, DELEGATES, calls_answer(("look", "a")), DONE, Answer(text="outer"), max_idle_contexts=1)
    world.look.release.clear()
    context_id = await world.start()
    await world.runtime.messages.send(context_id, "go")
    await world.look.started.wait()
    child = await child_of(world, context_id)
    await world.runtime.turns.pause(context_id)
    world.look.release.set()
    assert isinstance((await world.runtime.turns.rested(child)).state, Paused)
    for _ in range(3):
        await world.runtime.contexts.get(await world.start())
    await world.runtime.turns.resume(context_id)
    await world.runtime.turns.rested(context_id)
    assert content_of((await world.runtime.messages.read(context_id))[-1]) == "outer"


# ancestors


async def test_a_switch_reaches_a_waiting_sub_agent_however_few_contexts_are_kept(tmp_path: Path) -> None:
    world = family(tmp_path, DELEGATES, calls_answer(("change", "a")), DONE, Answer(text="outer"), max_idle_contexts=1)
    context_id, child = await sent_and_waiting(world)
    for _ in range(3):
        await world.runtime.contexts.get(await world.start())
    await world.runtime.modes.switch(context_id, "plan")
    assert [call.status for call in await world.dependencies.store.calls(child)] == ["denied"]
    await world.runtime.turns.rested(context_id)
    assert world.change.ran == []
    assert content_of((await world.runtime.messages.read(context_id))[-1]) == "outer"


async def test_a_switch_holds_although_the_store_refuses_it_for_a_sub_agent(tmp_path: Path) -> None:
    store = HeldStore()
    world = family(tmp_path, DELEGATES, calls_answer(("change", "a")), DONE, DONE, store=store)
    context_id, child = await sent_and_waiting(world)
    store.refuses = lambda refused_id, _: refused_id == child
    await world.runtime.modes.switch(context_id, "plan")
    store.refuses = no_write
    assert (await world.runtime.contexts.get(context_id)).core.mode == "plan"
    with pytest.raises(InvalidInput):
        await world.runtime.calls.approve_all(child)
    assert world.change.ran == []


async def test_the_persons_time_in_a_sub_agent_is_not_that_of_the_parents_turn(tmp_path: Path) -> None:
    world = family(tmp_path, DELEGATES, calls_answer(("change", "a")), DONE, DONE, limits=Limits(turn_seconds=5))
    context_id, child = await sent_and_waiting(world)
    world.ambient.advance(3600)
    await world.runtime.calls.approve_all(child)
    live = await world.runtime.turns.rested(context_id)
    assert (live.core.last_turn, world.change.ran) == ("complete", ["a"])


@pytest.mark.parametrize("started", ["by itself", "by an approval"])
async def test_while_a_sub_agent_works_no_time_runs_out_for_the_parent(tmp_path: Path, started: str) -> None:
    blocking_tool = NoteTool("held", "mutating", hold=True)
    together = Answer(calls=(ScriptedCall(tool="held"), DELEGATE))
    answers = [together, calls_answer(("change", "a")), DONE, DONE]
    world = family(tmp_path, *answers, tools=[blocking_tool], limits=Limits(turn_seconds=0.3))
    context_id = await world.start()
    free = frozenset({"held", "delegate"} if started == "by itself" else {"held"})
    await world.runtime.modes.set_policy(context_id, Policy(kind="white_list", tools=free))
    await world.runtime.messages.send(context_id, "go")
    await blocking_tool.started.wait()
    if started == "by an approval":
        await world.runtime.calls.approve_all(context_id)
    blocking_tool.release.set()
    child = await waiting_child(world, context_id)
    parent = await live_context(world.runtime, context_id)
    await asyncio.wait({present(parent.task)}, timeout=0.4)
    assert (parent.core.last_turn, parent.task is None) == ("complete", False)
    await world.runtime.calls.approve_all(child)
    await world.runtime.turns.rested(context_id)
    assert world.change.ran == ["a"]


@pytest.mark.parametrize("instants", range(8))
@pytest.mark.parametrize("switch_first", [True, False])
async def test_a_call_start_in_progress_is_finished_before_an_ancestors_switch_returns(
    tmp_path: Path, instants: int, switch_first: bool
) -> None:
    store = OrderedStore()
    world = World(tmp_path, calls_answer(("change", "a")), DONE, store=store)
    await world.runtime.contexts.create(tmp_path, mode="agent", context_id="root")
    await world.runtime.contexts.create(tmp_path, mode="supervised", parent="root", context_id="child")
    await world.turn("child")
    returned: list[int] = []

    async def switch() -> None:
        await world.runtime.modes.switch("root", "ask")
        returned.append(len(store.order))

    async def approve() -> None:
        for _ in range(instants):
            await asyncio.sleep(0)
        with suppress(RequestError):
            await world.runtime.calls.approve_all("child")

    await asyncio.gather(*([switch(), approve()] if switch_first else [approve(), switch()]))
    await world.runtime.turns.rested("child")
    started = [at for at, (_, entry) in enumerate(store.order) if entry.kind == "call_started"]
    assert all(at < returned[0] for at in started)
    await world.runtime.close()
