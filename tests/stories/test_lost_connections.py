"""A tool loses its connection in the middle of a call: a call that only reads is tried again, once, and visibly."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from pilothouse.domain.calls import CallRecord, Effect
from pilothouse.domain.codes import Code
from pilothouse.domain.errors import ConnectionLost
from pilothouse.domain.states import ExecutingTool
from pilothouse.runtime.events.turn_events import StateEntered, TurnEvent
from pilothouse.terminal.event_lines import show_event
from pilothouse.terminal.foreign_text import QuotedStream
from pilothouse.testing.tools import NoteTool
from pilothouse.testing.world import World
from pilothouse.tools.base import ToolContext
from pilothouse.tools.mcp.definitions import MCPServerDefinition
from tests.support.mcp_tools import (
    DONE,
    answer_with_calls,
    log_of,
    ready,
    set_server_tools,
    tool_server,
    until,
    world_with_tools,
)
from tests.tools.mcp.fake_http import serving

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


async def turn_over_http(folder: Path, *, cuts: int, trusted: bool) -> tuple[World, CallRecord, list[str]]:
    """A turn in which the model calls a tool of an MCP server at an address that resets connections in the middle of
    calls. Returns the calls that the server got, too."""
    async with serving() as fake:
        fake.calls_to_cut = cuts
        definition = MCPServerDefinition(name="web", url=fake.url, trusted=trusted)
        world = world_with_tools(folder, answer_with_calls(("web__echo", {"text": "here"})), DONE, mcp=[definition])
        async with world.runtime:
            await ready(world.runtime, "web")
            context_id = await world.start("agent")
            await world.turn(context_id)
            (call,) = (await world.runtime.calls.read(context_id)).items
        return world, call, fake.calls


async def test_a_read_only_call_over_http_is_tried_again_after_its_connection_was_reset(tmp_path: Path) -> None:
    world, call, calls = await turn_over_http(tmp_path, cuts=1, trusted=True)
    assert (call.status, attempt_counts(world), calls) == ("executed", [1, 2], ["echo", "echo"])


async def test_a_call_over_http_whose_connection_is_reset_twice_fails(tmp_path: Path) -> None:
    world, call, calls = await turn_over_http(tmp_path, cuts=5, trusted=True)
    assert (call.status, attempt_counts(world), calls) == ("failed", [1, 2], ["echo", "echo"])


async def test_a_call_over_http_that_may_change_something_is_never_sent_again(tmp_path: Path) -> None:
    world, call, calls = await turn_over_http(tmp_path, cuts=1, trusted=False)
    assert (call.status, attempt_counts(world), calls) == ("failed", [1], ["echo"])


async def test_the_state_names_the_call_that_is_tried_again_until_that_call_ends(tmp_path: Path) -> None:
    other = NoteTool("other", "read_only", hold=True)
    lost = OnceLostTool("lost", "read_only")
    calls = answer_with_calls(("other", {"text": "a"}), ("lost", {"text": "b"}))
    world = World(tmp_path, calls, DONE, tools=[other, lost])
    async with world.runtime:
        context_id = await world.start("agent")
        await world.runtime.messages.send(context_id, "go")
        await lost.again.wait()
        other.release.set()
        await until(lambda: any(isinstance(state, ExecutingTool) and state.done == 1 for state in world.entered))
        lost.may_end.set()
        await world.runtime.turns.rested(context_id)
    executing = [state for state in world.entered if isinstance(state, ExecutingTool)]
    assert [(state.tool_name, state.attempt, state.done) for state in executing] == [
        ("other", 1, 0),
        ("lost", 2, 0),
        ("lost", 2, 1),
    ]


async def test_clients_hear_of_the_second_attempt_and_the_terminal_says_so(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lost = OnceLostTool("lost", "read_only")
    world = World(tmp_path, answer_with_calls(("lost", {"text": "b"})), DONE, tools=[lost])
    async with world.runtime:
        context_id = await world.start("agent")
        events: list[TurnEvent] = []

        async def follow() -> None:
            async for event in world.runtime.events.of_context(context_id):
                events.append(event)
                if isinstance(event, StateEntered) and getattr(event.state, "attempt", 1) == 2:
                    lost.may_end.set()

        await world.runtime.messages.send(context_id, "go")
        await follow()
    for event in events:
        show_event(event, "en", QuotedStream())
    assert "The connection was lost while Lost ran. Trying once more." in capsys.readouterr().out


class OnceLostTool(NoteTool):
    """A read-only tool whose connection is lost in the first call. The second one ends when it may."""

    def __init__(self, name: str, effect: Effect) -> None:
        super().__init__(name, effect)
        self.again, self.may_end = asyncio.Event(), asyncio.Event()

    async def run(self, arguments: Any, context: ToolContext) -> str:
        result = await super().run(arguments, context)
        if len(self.ran) == 1:
            raise ConnectionLost(Code.TOOL_FAILED, tool=self.name, detail="the connection was lost")
        self.again.set()
        await self.may_end.wait()
        return result


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
