"""Commands for a parent and their effects on its sub-agents."""

from pathlib import Path

import pytest

from pilothouse.llm.script import Answer
from tests.support.held_store import DELEGATES, DONE, calls_answer, family, waiting_child


@pytest.mark.parametrize("mode", ["agent", "supervised", "plan"])
async def test_the_preview_of_a_switch_names_the_calls_of_sub_agents_that_it_starts(tmp_path: Path, mode: str) -> None:
    world = family(
        tmp_path, DELEGATES, calls_answer(("look", "a")), calls_answer(("change", "b")), DONE, Answer(text="outer")
    )
    world.look.release.clear()
    context_id = await world.start()  # the sub-agent is in agent mode, and asks only because of its parent
    await world.runtime.messages.send(context_id, "go")
    await world.look.started.wait()
    await world.runtime.modes.switch(context_id, "supervised")
    world.look.release.set()
    child = await waiting_child(world, context_id)
    foreseen = [call.id for call in await world.runtime.modes.would_start(context_id, mode)]
    await world.runtime.modes.switch(context_id, mode)
    calls = await world.dependencies.store.calls(child)
    started = [call.id for call in calls if call.tool == "change" and call.started_at is not None]
    assert foreseen == started
    assert bool(started) == (mode == "agent")
