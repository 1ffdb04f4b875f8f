"""Bugs and failures: the context shows them, loses nothing, and can be continued."""

import asyncio
import logging
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from pilothouse.domain.errors import StoreRefused
from pilothouse.domain.messages import Message, ToolResult
from pilothouse.domain.states import Failed, Idle, ProcessingUserMessage, WaitingForRecovery
from pilothouse.llm.script import Answer, Script, ScriptedCall
from pilothouse.storage.files.store import FileStore
from pilothouse.testing.disk import FaultyDisk
from pilothouse.testing.tools import NoteTool
from pilothouse.testing.world import World
from tests.support.assertions import content_of
from tests.support.held_store import HeldStore, no_write
from tests.support.live_contexts import live_context, live_context_at_rest
from tests.support.raising_adapter import RaisingAdapter

DONE = Answer(text="done")
CHANGE = ScriptedCall(tool="change", arguments={"text": "x"})


async def test_a_bug_fails_the_turn_visibly_and_a_message_or_continue_works(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    script = Script(turn=(Answer(text="never"), Answer(text="fine"), Answer(text="again")))
    model = RaisingAdapter(script, raises=lambda: not model.requests, after_event=True)
    world = World(tmp_path, adapter=model)
    context_id = await world.start()
    with caplog.at_level(logging.CRITICAL):
        await world.turn(context_id)
    live = await live_context(world.runtime, context_id)
    assert isinstance(live.state, Failed)
    assert "a bug" in live.state.error_message.params["detail"]
    assert (await world.dependencies.store.open(context_id)).core.state == live.state
    await world.runtime.turns.continue_(context_id)
    await world.runtime.turns.rested(context_id)
    assert content_of((await world.runtime.messages.read(context_id))[-1]) == "fine"
    await world.turn(context_id)
    assert content_of((await world.runtime.messages.read(context_id))[-1]) == "again"


async def test_a_turn_after_a_failed_one_does_not_show_the_failed_answer_as_streaming(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    release = asyncio.Event()

    async def hold_second(messages: Sequence[Message]) -> Sequence[Message]:
        if content_of(messages[0]) == "again":
            await release.wait()
        return messages

    model = RaisingAdapter(Script(turn=(Answer(text="cut"), DONE)), raises=lambda: not model.requests, after_event=True)
    store = HeldStore()
    store.refuses = lambda _, change: change.core.last_turn == "error"
    world = World(tmp_path, adapter=model, store=store, processors=[hold_second])
    context_id = await world.start()
    with caplog.at_level(logging.CRITICAL):
        await world.turn(context_id)
    failed = await world.runtime.contexts.get(context_id)
    assert isinstance(failed.state, Failed)
    assert failed.core.turn is not None, "the store has refused to close the turn"
    store.refuses = no_write
    await world.runtime.messages.send(context_id, "again")
    present = await world.runtime.contexts.get(context_id)
    assert isinstance(present.state, ProcessingUserMessage)
    assert present.streaming is None
    release.set()
    await world.runtime.turns.rested(context_id)
    assert content_of((await world.runtime.messages.read(context_id))[-1]) == "done"


class RaisingTool(NoteTool):
    async def prepare(self, arguments: Any, workspace: Any) -> Any:
        raise ZeroDivisionError("while looking")


async def test_a_tool_that_raises_while_preparing_or_running_fails_its_call_only(tmp_path: Path) -> None:
    def explode(_: str) -> None:
        raise KeyError("while running")

    tools = [RaisingTool("clumsy", "mutating"), NoteTool("bomb", "mutating", on_run=explode)]
    calls = (ScriptedCall(tool="clumsy"), ScriptedCall(tool="bomb"), CHANGE)
    world = World(tmp_path, Answer(calls=calls), Answer(text="I see"), tools=tools)
    context_id = await world.start()
    await world.turn(context_id)
    results = [m for m in await world.runtime.messages.read(context_id) if isinstance(m, ToolResult)]
    assert {result.tool: result.status for result in results} == {
        "clumsy": "failed",
        "bomb": "failed",
        "change": "executed",
    }
    assert isinstance((await world.runtime.contexts.get(context_id)).state, Idle)


async def test_a_refused_command_changes_nothing_and_works_when_there_is_room(tmp_path: Path) -> None:
    disk = FaultyDisk()
    store = FileStore(tmp_path / "data", now=lambda: "", disk=disk)
    world = World(tmp_path, Answer(calls=(CHANGE,)), Answer(text="done"), store=store)
    context_id = await world.start("supervised")
    disk.arm(1, "ENOSPC", lasting=True)
    for _ in range(3):
        with pytest.raises(StoreRefused, match="No space left"):
            await world.runtime.messages.send(context_id, "hi")
        with pytest.raises(StoreRefused):
            await world.runtime.modes.switch(context_id, "agent")
    live = await world.runtime.contexts.get(context_id)
    assert (live.state, live.core.mode, live.branches["main"].length) == (Idle(), "supervised", 0)
    disk.disarm()
    await world.turn(context_id)
    disk.arm(1, "ENOSPC", lasting=True)
    with pytest.raises(StoreRefused):
        await world.runtime.calls.approve_all(context_id)
    assert len(await world.runtime.calls.pending(context_id)) == 1
    assert world.change.ran == []
    disk.disarm()
    await world.runtime.calls.approve_all(context_id)
    await world.runtime.turns.rested(context_id)
    assert world.change.ran == ["x"]
    await world.runtime.close()


async def test_a_turn_on_a_full_disk_waits_for_recovery_and_continue_stores_its_draft(tmp_path: Path) -> None:
    disk = FaultyDisk()
    slow = NoteTool("slow", "mutating", hold=True)
    store = FileStore(tmp_path / "data", now=lambda: "", disk=disk)
    calls = (ScriptedCall(tool="slow", arguments={"text": "x"}),)
    world = World(tmp_path, Answer(calls=calls), Answer(text="done"), store=store, tools=[slow])
    context_id = await world.start()
    await world.runtime.messages.send(context_id, "hi")
    await slow.started.wait()
    disk.arm(1, "ENOSPC", lasting=True)
    slow.release.set()
    live = await live_context_at_rest(world.runtime, context_id)
    assert isinstance(live.state, WaitingForRecovery)
    with pytest.raises(StoreRefused):
        await world.runtime.turns.continue_(context_id)
    assert isinstance(live.state, WaitingForRecovery)
    disk.disarm()
    await world.runtime.turns.continue_(context_id)
    await world.runtime.turns.rested(context_id)
    assert slow.ran == ["x"]
    assert b"noted x" in world.model.requests[-1].messages[-1]
    await world.runtime.close()


async def test_a_full_disk_can_be_cancelled_out_of(tmp_path: Path) -> None:
    disk = FaultyDisk()
    slow = NoteTool("slow", "mutating", hold=True)
    store = FileStore(tmp_path / "data", now=lambda: "", disk=disk)
    calls = (ScriptedCall(tool="slow", arguments={"text": "x"}),)
    world = World(tmp_path, Answer(calls=calls), store=store, tools=[slow])
    context_id = await world.start()
    await world.runtime.messages.send(context_id, "hi")
    await slow.started.wait()
    disk.arm(1, "ENOSPC", lasting=True)
    slow.release.set()
    await world.runtime.turns.rested(context_id)
    disk.disarm()
    await world.runtime.turns.cancel(context_id)
    assert isinstance((await world.runtime.contexts.get(context_id)).state, Idle)
    results = [m for m in await world.runtime.messages.read(context_id) if isinstance(m, ToolResult)]
    assert [result.content for result in results] == ["noted x"]
    await world.runtime.close()


async def test_without_its_workspace_a_context_is_readable_and_its_calls_fail_with_a_reason(tmp_path: Path) -> None:
    workspace = tmp_path / "work"
    workspace.mkdir()
    world = World(workspace, Answer(text="one"), Answer(calls=(CHANGE,)), Answer(text="I see"))
    context_id = await world.start()
    await world.turn(context_id)
    workspace.rmdir()
    again = World(workspace, Answer(calls=(CHANGE,)), Answer(text="I see"), store=world.dependencies.store)
    assert content_of((await again.runtime.messages.read(context_id))[-1]) == "one"
    await again.turn(context_id)
    assert b"Can't open the project folder" in again.model.requests[-1].messages[-1]
    assert again.change.ran == []
