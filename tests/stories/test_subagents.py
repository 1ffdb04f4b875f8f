"""Sub-agents: a task in a context of its own, with never more permissions than the parent has now."""

import shutil
from pathlib import Path

import msgspec
import pytest

from pilothouse.domain.codes import Code
from pilothouse.domain.contexts import Change
from pilothouse.domain.errors import NotFound
from pilothouse.domain.messages import ToolResult, Usage
from pilothouse.domain.policies import Policy
from pilothouse.domain.states import Paused
from pilothouse.llm.script import Answer, ScriptedCall
from pilothouse.runtime.limits import Limits
from pilothouse.storage.base import FENCE
from pilothouse.storage.files.store import FileStore
from pilothouse.storage.memory import MemoryStore
from pilothouse.testing.tools import NoteTool
from tests.support.assertions import content_of, instance_of, present
from tests.support.held_store import child_of, family, waiting_child

CALL = Answer(text="I will", calls=(ScriptedCall(tool="change", arguments={"text": "x", "path": "a"}),))


def files(tmp_path: Path) -> FileStore:
    return FileStore(tmp_path / "data", now=lambda: "2026-01-01T00:00:00.000Z")


def delegates(task: str, mode: str | None = None) -> Answer:
    arguments = {"task": task, **({"mode": mode} if mode else {})}
    return Answer(calls=(ScriptedCall(tool="delegate", arguments=arguments),))


async def test_a_sub_agent_does_a_task_and_its_answer_is_the_result(tmp_path: Path) -> None:
    used = Usage(input_tokens=10)
    inner = [Answer(calls=CALL.calls, usage=used), Answer(text="It is 42.", usage=used)]
    world = family(tmp_path, delegates("find out"), *inner, Answer(text="It says 42.", usage=used))
    context_id = await world.start()
    await world.turn(context_id)
    messages = await world.runtime.messages.read(context_id)
    assert content_of(messages[2]) == "It is 42."
    assert content_of(messages[-1]) == "It says 42."
    child = await child_of(world, context_id)
    assert world.change.ran == ["x"]
    assert (await world.runtime.contexts.list()).items[0].context_id == context_id
    assert len((await world.runtime.contexts.list()).items) == 1, "sub-agents are a list of their own"
    totals = await world.runtime.contexts.usage(context_id)
    assert (totals.own.input_tokens, totals.total.input_tokens) == (10, 30)
    assert content_of((await world.runtime.messages.read(child))[0]) == "find out"
    await world.runtime.contexts.delete(context_id)
    with pytest.raises(NotFound):
        await world.runtime.contexts.get(child)


async def test_text_of_a_sub_agent_before_its_output_limit_reaches_the_parent(tmp_path: Path) -> None:
    world = family(tmp_path, delegates("find out"), Answer(text="It is 4", finish="length"), Answer(text="done"))
    context_id = await world.start()
    await world.turn(context_id)
    result = (await world.runtime.messages.read(context_id))[2]
    assert present(instance_of(ToolResult, result).error).code is Code.SUBAGENT_INCOMPLETE
    assert content_of(result).startswith("The sub-agent didn't finish (limit).")
    assert content_of(result).endswith("\nIt is 4")


async def test_a_sub_agent_is_bound_by_its_parents_present_mode(tmp_path: Path) -> None:
    world = family(tmp_path, delegates("change it", mode="agent"), CALL, Answer(text="done"))
    context_id = await world.start("plan")
    await world.turn(context_id)
    assert world.change.ran == []
    inner = world.model.requests[1]
    assert "change" not in {tool.name for tool in inner.tools}
    assert "'plan' of who sent you" in inner.system
    result = (await world.runtime.messages.read(context_id))[2]
    assert "gave no answer (denied)" in content_of(result)


async def test_a_switch_reaches_a_sub_agent_that_waits(tmp_path: Path) -> None:
    for target, ran in (("agent", ["x"]), ("plan", [])):
        world = family(tmp_path, delegates("change it"), CALL, Answer(text="inner"), Answer(text="outer"))
        context_id = await world.start("agent")
        await world.runtime.modes.set_policy(context_id, Policy(kind="white_list", tools=frozenset({"delegate"})))
        await world.runtime.modes.switch(context_id, "agent")
        await world.runtime.messages.send(context_id, "go")
        child = await waiting_child(world, context_id)
        (call,) = await world.runtime.calls.pending(child)
        assert present(call.reason).code is Code.POLICY_WAITS, "the parent's policy binds it too"
        if target == "agent":
            await world.runtime.calls.approve_all(child)
        else:
            await world.runtime.modes.switch(context_id, target)
        await world.runtime.turns.rested(context_id)
        assert world.change.ran == ran


async def test_cancel_reaches_the_sub_agents(tmp_path: Path) -> None:
    blocking_tool = NoteTool("held", "mutating", hold=True)
    inner = Answer(calls=(ScriptedCall(tool="held"),))
    world = family(tmp_path, delegates("hold"), inner, Answer(text="never"), tools=[blocking_tool])
    context_id = await world.start()
    await world.runtime.messages.send(context_id, "go")
    await blocking_tool.started.wait()
    child = await child_of(world, context_id)
    await world.runtime.turns.cancel(context_id)
    live = await world.runtime.turns.rested(child)
    assert live.core.turn is None
    assert live.core.last_turn == "cancelled"
    calls = await world.dependencies.store.calls(child)
    assert [call.status for call in calls] == ["cancelled"]


async def test_a_pause_pauses_the_sub_agents_and_resume_resumes_them(tmp_path: Path) -> None:
    blocking_tool = NoteTool("held", "mutating", hold=True)
    inner = [Answer(calls=(ScriptedCall(tool="held"),)), Answer(text="inner")]
    world = family(tmp_path, delegates("hold"), *inner, Answer(text="outer"), tools=[blocking_tool])
    context_id = await world.start()
    await world.runtime.messages.send(context_id, "go")
    await blocking_tool.started.wait()
    child = await child_of(world, context_id)
    await world.runtime.turns.pause(context_id)
    blocking_tool.release.set()
    live = await world.runtime.turns.rested(child)
    assert isinstance(live.state, Paused)
    await world.runtime.turns.resume(context_id)
    await world.runtime.turns.rested(context_id)
    assert content_of((await world.runtime.messages.read(context_id))[-1]) == "outer"


async def test_pause_and_resume_reach_the_sub_agent_of_a_sub_agent(tmp_path: Path) -> None:
    blocking_tool = NoteTool("held", "mutating", hold=True)
    inmost = Answer(calls=(ScriptedCall(tool="held"), ScriptedCall(tool="change", arguments={"text": "x"}, id="2")))
    texts = [Answer(text=text) for text in ("inmost", "inner", "outer")]
    world = family(tmp_path, delegates("1"), delegates("2"), inmost, *texts, tools=[blocking_tool])
    context_id = await world.start()
    await world.runtime.messages.send(context_id, "go")
    await blocking_tool.started.wait()
    grandchild = await child_of(world, await child_of(world, context_id))
    await world.runtime.turns.pause(context_id)
    blocking_tool.release.set()
    live = await world.runtime.turns.rested(grandchild)
    assert isinstance(live.state, Paused)
    assert world.change.ran == []
    await world.runtime.turns.resume(context_id)
    await world.runtime.turns.rested(context_id)
    assert world.change.ran == ["x"]
    assert content_of((await world.runtime.messages.read(context_id))[-1]) == "outer"


async def test_sub_agents_send_no_others_beyond_a_depth(tmp_path: Path) -> None:
    world = family(
        tmp_path,
        delegates("1"),
        delegates("2"),
        delegates("3"),
        Answer(text="c"),
        Answer(text="b"),
        Answer(text="a"),
        limits=Limits(delegation_depth=2),
    )
    context_id = await world.start()
    await world.turn(context_id)
    assert [("delegate" in {tool.name for tool in request.tools}) for request in world.model.requests[:3]] == [
        True,
        True,
        False,
    ]
    assert len(await world.dependencies.store.contexts()) == 3


async def test_many_sub_agents_work_at_once_and_none_is_lost(tmp_path: Path) -> None:
    count = 12
    calls = tuple(ScriptedCall(tool="delegate", arguments={"task": str(n)}, id=f"c{n}") for n in range(count))
    world = family(tmp_path, Answer(calls=calls), *[Answer(text="inner")] * count, Answer(text="outer"))
    context_id = await world.start()
    await world.turn(context_id)
    results = [content_of(m) for m in await world.runtime.messages.read(context_id) if m.role == "tool"]
    assert results == ["inner"] * count
    assert len((await world.runtime.contexts.list(parent=context_id)).items) == count


async def test_a_sub_agent_without_its_parent_may_do_nothing(tmp_path: Path) -> None:
    world = family(tmp_path, delegates("1"), Answer(text="inner"), Answer(text="outer"), store=files(tmp_path))
    context_id = await world.start()
    await world.turn(context_id)
    child = await child_of(world, context_id)
    await world.runtime.close()
    shutil.rmtree(tmp_path / "data/contexts" / context_id)
    again = family(tmp_path, CALL, store=files(tmp_path), ids_from=1000)
    await again.turn(child)
    assert again.change.ran == []
    await again.runtime.close()


async def test_a_context_in_a_cycle_of_parents_may_do_nothing(tmp_path: Path) -> None:
    store = MemoryStore()
    world = family(tmp_path, CALL, store=store)
    one = await world.start()
    two = await world.runtime.contexts.create(tmp_path, parent=one)
    stored = await store.open(one)
    cycle = Change(core=msgspec.structs.replace(stored.core, parent=two))
    await store.commit(one, cycle, expected=stored.version, fence=FENCE)
    again = family(tmp_path, CALL, store=store, ids_from=1000)
    await again.turn(one)
    assert again.change.ran == []
