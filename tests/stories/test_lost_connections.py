"""A tool loses its connection in the middle of a call: a call that only reads is tried again, once, and visibly."""

from pathlib import Path
from typing import Any

import pytest

from pilothouse.domain.calls import CallRecord
from pilothouse.domain.codes import Code
from pilothouse.domain.errors import ConnectionLost
from pilothouse.domain.states import ExecutingTool
from pilothouse.testing.tools import NoteTool
from pilothouse.testing.world import World
from pilothouse.tools.base import ToolContext
from tests.support.mcp_tools import (
    DONE,
    answer_with_calls,
    log_of,
    ready,
    set_server_tools,
    tool_server,
    world_with_tools,
)

READS = {"annotations": {"readOnlyHint": True}}


async def turn_with(folder: Path, tool: str, *, trusted: bool = True) -> tuple[World, CallRecord]:
    """A turn in which the model calls a tool of an MCP server, whose annotations count where it is trusted."""
    set_server_tools(folder / "docs", {"name": tool, **READS})
    definition = tool_server(folder / "docs", trusted=trusted)
    world = world_with_tools(folder, answer_with_calls((f"docs__{tool}", {"text": "here"})), DONE, mcp=[definition])
    async with world.runtime:
        await ready(world.runtime, "docs")
        context_id = await world.start("agent")
        await world.turn(context_id)
        (call,) = (await world.runtime.calls.read(context_id)).items
    return world, call


def attempt_counts(world: World) -> list[int]:
    return sorted({state.attempt for state in world.entered if isinstance(state, ExecutingTool)})


async def test_a_read_only_call_is_tried_again_after_its_server_ended(tmp_path: Path) -> None:
    world, call = await turn_with(tmp_path, "die_once")
    assert (call.status, attempt_counts(world)) == ("executed", [1, 2])
    assert sum(line.startswith("die_once") for line in log_of(tmp_path / "docs")) == 2


async def test_a_read_only_call_is_tried_again_only_once(tmp_path: Path) -> None:
    world, call = await turn_with(tmp_path, "die")
    assert (call.status, attempt_counts(world)) == ("failed", [1, 2])
    assert sum(line.startswith("die ") for line in log_of(tmp_path / "docs")) == 2


async def test_a_call_that_may_change_something_is_never_tried_again(tmp_path: Path) -> None:
    world, call = await turn_with(tmp_path, "die_once", trusted=False)
    assert (call.status, attempt_counts(world)) == ("failed", [1])
    assert sum(line.startswith("die_once") for line in log_of(tmp_path / "docs")) == 1


class LostTool(NoteTool):
    """A read-only tool whose connection is lost in every call."""

    async def run(self, arguments: Any, context: ToolContext) -> str:
        await super().run(arguments, context)
        raise ConnectionLost(Code.TOOL_FAILED, tool=self.name, detail="the connection was lost")


@pytest.mark.parametrize(("mode", "runs"), [("agent", 2), ("review", 2), ("supervised", 1), ("ask", 1)])
async def test_a_call_is_retried_only_if_the_present_mode_allows_it(tmp_path: Path, mode: str, runs: int) -> None:
    lost = LostTool("look", "read_only", hold=True)
    world = World(tmp_path, answer_with_calls(("look", {"text": "here"})), DONE, tools=[lost])
    async with world.runtime:
        context_id = await world.start("agent")
        await world.runtime.messages.send(context_id, "go")
        await lost.started.wait()
        await world.runtime.modes.switch(context_id, mode)
        lost.release.set()
        await world.runtime.turns.rested(context_id)
        assert len(lost.ran) == runs
