"""A failed command is not done: its record, its result and every client show its exit status."""

import io
from contextlib import redirect_stdout
from pathlib import Path

import pytest

from pilothouse.cli.run import run
from pilothouse.client import CallDecided
from pilothouse.domain.messages import ToolResult
from pilothouse.i18n import translate_exit_status
from pilothouse.runtime.events.turn_events import MessageAdded
from pilothouse.terminal.event_lines import show_event
from pilothouse.terminal.foreign_text import QuotedStream
from pilothouse.testing.served import Served
from tests.support.mcp_tools import DONE, answer_with_calls, runs, world_with_tools, writes


@pytest.mark.parametrize(
    ("command", "status"),
    [("true", 0), ("exit 3", 3), ("kill -TERM $$", 143), ("kill -KILL $$", 137), ("cat missing", 1)],
)
@pytest.mark.parametrize("mode", ["agent", "review"])
async def test_the_record_of_a_command_has_its_exit_status(
    tmp_path: Path, command: str, status: int, mode: str
) -> None:
    world = world_with_tools(tmp_path, runs(command), DONE)
    async with world.runtime:
        context_id = await world.start(mode)
        await world.turn(context_id, "go")
        if await world.runtime.calls.pending(context_id):  # in review, what may change things waits
            await world.runtime.calls.approve_all(context_id)
            await world.runtime.turns.rested(context_id)
        (call,) = (await world.runtime.calls.read(context_id)).items
        assert (call.status, call.exit_status) == ("executed", status)
    again = world_with_tools(tmp_path)
    async with again.runtime:
        assert (await again.runtime.calls.get(context_id, call.id)).exit_status == status


async def test_a_call_without_a_command_or_with_a_timeout_has_no_exit_status(tmp_path: Path) -> None:
    slow = answer_with_calls(("execute", {"command": "sleep 60", "timeout": 0.05}))
    world = world_with_tools(tmp_path, writes("a", "b"), slow, DONE)
    async with world.runtime:
        context_id = await world.start()
        await world.turn(context_id, "go")
        calls = (await world.runtime.calls.read(context_id)).items
        assert [(call.status, call.exit_status) for call in calls] == [("executed", None), ("failed", None)]


async def test_no_client_shows_a_failed_command_as_done(tmp_path: Path) -> None:
    world = world_with_tools(tmp_path, *[runs("echo out; exit 3"), DONE] * 3)
    async with world.runtime, Served(world.runtime, [world.workspace]) as served, served.client() as client:
        events = [event async for event in client.chat("thread", "go", mode="agent")]
        (ended,) = [data for name, data in events if name == "tool_end"]
        assert (ended["status"], ended["exit_status"]) == ("failed", 3)
        (call,) = (await client.request("GET", "/api/contexts/thread/tool-calls"))["items"]
        assert (call["status"], call["exit_status"]) == ("executed", 3)
        for language, outcome in (("en", "failed, exit code 3"), ("zh", "失败，退出代码 3")):
            header = {"accept-language": language}
            path = f"/api/contexts/thread/tool-calls/{call['id']}"
            steps = (await client.request("GET", f"{path}/explain", headers=header))["items"]
            assert outcome in steps[-1]["what"]
            with pytest.raises(CallDecided) as caught:
                await client.request("POST", f"{path}/approve", {}, headers=header)
            assert outcome in caught.value.problem.detail
            assert (caught.value.status, caught.value.problem.params["exit_status"]) == ("executed", 3)
        exported = b"".join([piece async for piece in world.runtime.exports.markdown("thread")]).decode()
        assert "failed, exit code 3" in exported
        err = io.StringIO()
        await run(world.runtime, "thread", "go", mode=None, output="text", language="en", out=io.StringIO(), err=err)
        assert "execute echo out; exit 3: exit code 3" in err.getvalue()
        results = [each for each in await world.runtime.messages.read("thread") if isinstance(each, ToolResult)]
        shown = io.StringIO()
        with redirect_stdout(shown):
            show_event(MessageAdded(message=results[0]), "zh", QuotedStream())
        assert "✗ execute: 退出代码 3" in shown.getvalue()


@pytest.mark.parametrize(
    ("status", "text"),
    [
        (3, "exit code 3"),
        (137, "exit code 137 (SIGKILL)"),
        (-15, "exit code -15 (SIGTERM)"),
        (255, "exit code 255"),
    ],
)
def test_a_signal_is_named(status: int, text: str) -> None:
    assert translate_exit_status(status) == text
