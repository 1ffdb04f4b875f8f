"""A change that opens waiting calls starts only those that the person has read, where the client names them."""

from pathlib import Path

import pytest

from pilothouse.domain.calls import CallRecord
from pilothouse.domain.rules import RuleOption, Scope
from pilothouse.domain.states import AwaitingToolApproval
from pilothouse.llm.script import Answer, ScriptedCall
from pilothouse.runtime.commands.calls import PersonsDecision
from pilothouse.testing.world import World
from pilothouse.tools.builtin.edit_file import WriteFile
from pilothouse.tools.function_tools import tool
from tests.stories.test_rules import calls_answer as asks_with_paths
from tests.support.held_store import DELEGATES, DONE, calls_answer, family, waiting_child
from tests.support.live_contexts import live_context

TWO = asks_with_paths(("change", "read", "a.txt"), ("change", "unread", "b.txt"))


async def two_waiting(world: World, mode: str = "supervised") -> tuple[str, CallRecord, CallRecord]:
    context_id = await world.start(mode)
    await world.turn(context_id)
    read, unread = await world.runtime.calls.pending(context_id)
    return context_id, read, unread


async def still_waits(world: World, context_id: str, call: CallRecord) -> bool:
    await world.runtime.turns.rested(context_id)
    live = await live_context(world.runtime, context_id)
    pending = await world.runtime.calls.pending(context_id)
    return [each.id for each in pending] == [call.id] and isinstance(live.state, AwaitingToolApproval)


async def test_a_switch_starts_the_call_that_was_read_and_leaves_the_other_waiting(tmp_path: Path) -> None:
    world = World(tmp_path, TWO, DONE)
    context_id, read, unread = await two_waiting(world)
    outcome = await world.runtime.modes.switch(context_id, "agent", shown=[read.digest])
    assert (outcome.mode, outcome.started, outcome.waiting) == ("agent", (read.id,), (unread.id,))
    assert await still_waits(world, context_id, unread)
    await world.runtime.calls.decide(
        context_id, [PersonsDecision(id=unread.id, verdict="approve", digest=unread.digest)]
    )
    await world.runtime.turns.rested(context_id)
    assert await world.runtime.calls.pending(context_id) == []


async def test_a_switch_that_denies_also_reaches_unread_calls(tmp_path: Path) -> None:
    world = World(tmp_path, TWO, DONE)
    context_id, read, unread = await two_waiting(world)
    outcome = await world.runtime.modes.switch(context_id, "ask", shown=[])
    assert outcome.rejected == (read.id, unread.id)


async def test_an_elevation_of_one_call_is_left_for_the_call_that_was_read(tmp_path: Path) -> None:
    world = World(tmp_path, asks_with_paths(("change", "unread", "b.txt"), ("change", "read", "a.txt")), DONE)
    context_id, unread, read = await two_waiting(world, "review")
    outcome = await world.runtime.modes.elevate(context_id, calls=1, shown=[read.digest])
    assert outcome.started == (read.id,)
    assert await still_waits(world, context_id, unread)


@pytest.mark.parametrize("always", ["tool", "tool_for_good"])
async def test_a_rule_created_with_a_call_leaves_unread_calls_waiting(tmp_path: Path, always: RuleOption) -> None:
    world = World(tmp_path, TWO, DONE)
    context_id, read, unread = await two_waiting(world)
    decision = PersonsDecision(id=read.id, verdict="approve", digest=read.digest, always=always)
    await world.runtime.calls.decide(context_id, [decision], shown=[read.digest])
    assert await still_waits(world, context_id, unread)


async def test_a_rule_for_future_calls_starts_no_waiting_call(tmp_path: Path) -> None:
    world = World(tmp_path, TWO, DONE)
    context_id, read, unread = await two_waiting(world)
    await world.runtime.rules.give("allow", Scope(tool="change"), context_id=context_id, shown=())
    await world.runtime.rules.give("allow", Scope(tool="change"), shown=())
    assert [call.id for call in await world.runtime.calls.pending(context_id)] == [read.id, unread.id]


async def test_a_switch_leaves_the_unread_call_of_a_sub_agent_waiting(tmp_path: Path) -> None:
    world = family(tmp_path, DELEGATES, calls_answer(("look", "a")), calls_answer(("change", "b")), DONE, DONE)
    world.look.release.clear()
    context_id = await world.start()
    await world.runtime.messages.send(context_id, "go")
    await world.look.started.wait()
    await world.runtime.modes.switch(context_id, "supervised")
    world.look.release.set()
    child = await waiting_child(world, context_id)
    await world.runtime.modes.switch(context_id, "agent", shown=[])
    assert [call.tool for call in await world.runtime.calls.pending(child)] == ["change"]


async def test_a_resumed_turn_starts_nothing_that_waited_for_the_person(tmp_path: Path) -> None:
    """The switch to a looser mode left this call out: resuming is not approving."""
    world = World(tmp_path, calls_answer(("look", "a"), ("change", "b")), DONE)
    world.look.release.clear()
    context_id = await world.start("review")
    await world.runtime.messages.send(context_id, "go")
    await world.look.started.wait()
    await world.runtime.turns.pause(context_id)
    world.look.release.set()
    await world.runtime.turns.rested(context_id)
    (unread,) = await world.runtime.calls.pending(context_id)
    await world.runtime.modes.switch(context_id, "agent", shown=[])
    await world.runtime.turns.resume(context_id)
    assert await still_waits(world, context_id, unread)


async def test_only_our_own_file_tools_have_arguments_that_are_the_content_of_a_file(tmp_path: Path) -> None:
    """A tool of somebody else may run what it calls `source`."""

    @tool()
    async def evaluate(source: str) -> str:
        """Run something."""
        return source

    padded = "x = 1" + " " * 200 + "; y = 2"
    other = ScriptedCall(tool="evaluate", arguments={"source": padded})
    ours = ScriptedCall(tool="write_file", arguments={"path": "a.py", "content": padded})
    world = World(tmp_path, Answer(calls=(other, ours)), DONE, tools=[evaluate, WriteFile()])
    _, *calls = await two_waiting(world)
    assert ["padding" in call.dangerous for call in calls] == [True, False]
