"""Pause and resume: a turn stops before its next request or call, durably, and nothing starts meanwhile."""

from pathlib import Path

import pytest

from pilothouse.domain.errors import Conflict
from pilothouse.domain.states import Idle, Paused
from pilothouse.domain.value import ContextId
from pilothouse.storage.files.store import FileStore
from pilothouse.testing.tools import NoteTool
from pilothouse.testing.world import World
from tests.support.assertions import content_of
from tests.support.held_store import DONE, calls_answer


def files(tmp_path: Path) -> FileStore:
    return FileStore(tmp_path / "data", now=lambda: "2026-01-01T00:00:00.000Z")


async def paused_at_work(world: World, blocking_tool: NoteTool, mode: str) -> ContextId:
    """A turn that is paused while a call of it runs."""
    context_id = await world.start(mode)
    await world.runtime.messages.send(context_id, "go")
    await blocking_tool.started.wait()
    await world.runtime.turns.pause(context_id)
    return context_id


async def test_a_pause_takes_effect_before_the_next_call_and_resume_continues(tmp_path: Path) -> None:
    blocking_tool = NoteTool("held", "mutating", hold=True)
    world = World(tmp_path, calls_answer(("held", "a"), ("change", "b")), DONE, tools=[blocking_tool])
    context_id = await paused_at_work(world, blocking_tool, "agent")
    blocking_tool.release.set()
    live = await world.runtime.turns.rested(context_id)
    assert live.state == Paused(resume_to="executing_tool")
    assert (blocking_tool.ran, world.change.ran) == (["a"], [])
    with pytest.raises(Conflict, match="Nothing to pause"):
        await world.runtime.turns.pause(context_id)
    await world.runtime.turns.resume(context_id)
    live = await world.runtime.turns.rested(context_id)
    assert isinstance(live.state, Idle)
    assert world.change.ran == ["b"]
    with pytest.raises(Conflict, match="isn't paused"):
        await world.runtime.turns.resume(context_id)


async def test_a_pause_before_a_request_survives_a_restart(tmp_path: Path) -> None:
    blocking_tool = NoteTool("held", "read_only", hold=True)
    world = World(tmp_path, calls_answer(("held", "a")), tools=[blocking_tool], store=files(tmp_path))
    context_id = await paused_at_work(world, blocking_tool, "agent")
    blocking_tool.release.set()
    live = await world.runtime.turns.rested(context_id)
    assert live.state == Paused(resume_to="enhancing_system_prompt")
    await world.runtime.close()
    again = World(tmp_path, DONE, store=files(tmp_path), ids_from=1000)
    assert isinstance((await again.runtime.contexts.get(context_id)).state, Paused)
    await again.runtime.turns.resume(context_id)
    await again.runtime.turns.rested(context_id)
    assert content_of((await again.runtime.messages.read(context_id))[-1]) == "done"
    await again.runtime.close()


async def test_approvals_while_paused_are_recorded_and_start_nothing(tmp_path: Path) -> None:
    blocking_tool = NoteTool("held", "read_only", hold=True)
    world = World(tmp_path, calls_answer(("held", "a"), ("change", "b")), DONE, tools=[blocking_tool])
    context_id = await paused_at_work(world, blocking_tool, "review")
    blocking_tool.release.set()
    await world.runtime.turns.rested(context_id)
    await world.runtime.calls.approve_all(context_id)
    await world.runtime.turns.rested(context_id)
    assert world.change.ran == []
    assert isinstance((await world.runtime.contexts.get(context_id)).state, Paused)
    await world.runtime.turns.resume(context_id)
    await world.runtime.turns.rested(context_id)
    assert world.change.ran == ["b"]


async def test_a_switch_while_paused_decides_and_starts_nothing_and_the_new_mode_holds_on_resume(
    tmp_path: Path,
) -> None:
    blocking_tool = NoteTool("held", "read_only", hold=True)
    world = World(tmp_path, calls_answer(("held", "a"), ("change", "b")), DONE, tools=[blocking_tool])
    context_id = await paused_at_work(world, blocking_tool, "review")
    blocking_tool.release.set()
    await world.runtime.turns.rested(context_id)
    assert (await world.runtime.modes.switch(context_id, "agent")).started == ()
    assert world.change.ran == []
    assert (await world.runtime.modes.switch(context_id, "plan")).rejected != ()
    await world.runtime.turns.resume(context_id)
    await world.runtime.turns.rested(context_id)
    assert world.change.ran == []


async def test_a_paused_turn_can_be_cancelled_and_a_pause_withdrawn(tmp_path: Path) -> None:
    blocking_tool = NoteTool("held", "mutating", hold=True)
    world = World(
        tmp_path,
        calls_answer(("held", "a"), ("change", "b")),
        DONE,
        calls_answer(("held", "c"), ("change", "d")),
        tools=[blocking_tool],
    )
    context_id = await paused_at_work(world, blocking_tool, "agent")
    await world.runtime.turns.resume(context_id)
    blocking_tool.release.set()
    await world.runtime.turns.rested(context_id)
    assert world.change.ran == ["b"]
    blocking_tool.release.clear()
    blocking_tool.started.clear()
    await world.runtime.messages.send(context_id, "go")
    await blocking_tool.started.wait()
    await world.runtime.turns.pause(context_id)
    blocking_tool.release.set()
    await world.runtime.turns.rested(context_id)
    await world.runtime.turns.cancel(context_id)
    assert isinstance((await world.runtime.contexts.get(context_id)).state, Idle)
    assert world.change.ran == ["b"]
