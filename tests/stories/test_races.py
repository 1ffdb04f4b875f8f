"""Commands that meet: callers that give up, cancels in the wrong moment, tools that misbehave at every step."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from pilothouse.domain.errors import Conflict, StoreRefused
from pilothouse.domain.messages import FileReference, ToolRequest, ToolResult, Usage
from pilothouse.domain.states import AwaitingToolApproval, Idle, WaitingForRecovery
from pilothouse.domain.value import ContextId
from pilothouse.llm.script import Answer, ScriptedCall
from pilothouse.runtime.commands.calls import PersonsDecision
from pilothouse.runtime.limits import Limits
from pilothouse.sandbox.workspace import Workspace
from pilothouse.storage.files.store import FileStore
from pilothouse.testing.tools import NoteTool
from pilothouse.testing.world import World
from pilothouse.tools.base import CallPreview
from pilothouse.tools.builtin.read_file import ReadFile
from tests.support.assertions import content_of
from tests.support.held_store import HeldStore, any_write, no_write
from tests.support.live_contexts import live_context
from tests.support.scale import HANG_SECONDS

CHANGE = ScriptedCall(tool="change", arguments={"text": "b"})
OTHER = ScriptedCall(tool="change", arguments={"text": "c"})


async def results(world: World, context_id: str) -> list[ToolResult]:
    return [m for m in await world.runtime.messages.read(context_id) if isinstance(m, ToolResult)]


async def test_a_cancel_right_behind_a_message_ends_the_turn_before_it_began(tmp_path: Path) -> None:
    world = World(tmp_path, *[Answer(text="x")] * 40)
    context_id = await world.start()
    for yields in range(20):  # at every instant of its beginning
        await world.runtime.messages.send(context_id, "x")
        for _ in range(yields):
            await asyncio.sleep(0)
        try:
            await world.runtime.turns.cancel(context_id)
        except Conflict:
            pass
        assert isinstance((await world.runtime.contexts.get(context_id)).state, Idle)
    await world.turn(context_id)
    assert content_of((await world.runtime.messages.read(context_id))[-1]) == "x"


async def test_a_cancel_right_behind_an_approval_leaves_no_call_without_a_result(tmp_path: Path) -> None:
    world = World(tmp_path, Answer(calls=(CHANGE,)))
    context_id = await world.start("supervised")
    await world.turn(context_id)
    await world.runtime.calls.approve_all(context_id)
    await world.runtime.turns.cancel(context_id)
    assert isinstance((await world.runtime.contexts.get(context_id)).state, Idle)
    assert len(await results(world, context_id)) == 1


@pytest.mark.parametrize("command", ["send", "approve", "switch", "answer"])
async def test_a_caller_cancelled_during_the_commit_leaves_the_turn_driven(tmp_path: Path, command: str) -> None:
    store = HeldStore(commit_seconds=0)
    question = ScriptedCall(tool="ask_user", arguments={"questions": [{"question": "?"}]})
    first = Answer(calls=(question,)) if command == "answer" else Answer(calls=(CHANGE,))
    answers = [Answer(text="done")] if command == "send" else [first, Answer(text="done")]
    world = World(tmp_path, *answers, store=store)
    context_id = await world.start("agent" if command == "send" else "supervised")
    if command != "send":
        await world.turn(context_id)
    store.commit_seconds = 0.1
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.02):
            match command:
                case "send":
                    await world.runtime.messages.send(context_id, "x")
                case "approve":
                    await world.runtime.calls.approve_all(context_id)
                case "switch":
                    await world.runtime.modes.switch(context_id, "agent")
                case "answer":
                    await world.runtime.calls.answer(context_id, ["yes"])
    store.commit_seconds = 0
    await world.runtime.turns.rested(context_id)
    assert content_of((await world.runtime.messages.read(context_id))[-1]) == "done"


async def test_a_call_that_had_not_started_on_a_full_store_never_runs(tmp_path: Path) -> None:
    store = HeldStore(commit_seconds=0)
    world = World(tmp_path, Answer(calls=(CHANGE, OTHER)), Answer(text="x"), store=store)
    context_id = await world.start()
    store.refuses = lambda _, change: any(isinstance(message, ToolResult) for message in change.messages)
    await world.turn(context_id)
    live = await world.runtime.contexts.get(context_id)
    assert isinstance(live.state, WaitingForRecovery)
    store.refuses = no_write
    switch = await world.runtime.modes.switch(context_id, "plan")
    live = await world.runtime.contexts.get(context_id)
    assert (switch.rejected, live.state, live.core.last_turn) == ((), Idle(), "interrupted")
    await world.runtime.turns.continue_(context_id)
    await world.runtime.turns.rested(context_id)
    await world.runtime.modes.switch(context_id, "agent")
    await world.runtime.turns.rested(context_id)
    assert world.change.ran == ["b"]
    assert [result.status for result in await results(world, context_id)] == ["executed", "interrupted"]


class MisbehavingTool(NoteTool):
    """Misbehaves as configured, at the configured step."""

    def __init__(self, *, prepare: Any = None, run: Any = None) -> None:
        super().__init__("odd", "mutating")
        self._prepare, self._run = prepare, run

    async def prepare(self, arguments: Any, workspace: Any) -> Any:
        if self._prepare is not None:
            return await self._prepare()
        return await super().prepare(arguments, workspace)

    async def run(self, arguments: Any, job: Any) -> Any:
        return await self._run() if self._run is not None else await super().run(arguments, job)


async def cancelled_inside() -> None:
    raise asyncio.CancelledError


async def a_number() -> int:
    return 7


async def nothing() -> None:
    pass


async def no_unicode() -> str:
    return "a\udcffb"


async def raises_no_unicode() -> str:
    raise ValueError("a\udcffb")


@pytest.mark.parametrize(
    ("odd", "status"),
    [
        ({"run": cancelled_inside}, "failed"),
        ({"prepare": cancelled_inside}, "failed"),
        ({"run": a_number}, "failed"),
        ({"run": nothing}, "failed"),
        ({"run": no_unicode}, "executed"),
        ({"run": raises_no_unicode}, "failed"),
    ],
)
async def test_a_misbehaving_tool_does_not_stop_the_turn(tmp_path: Path, odd: dict[str, Any], status: str) -> None:
    world = World(
        tmp_path, Answer(calls=(ScriptedCall(tool="odd"), CHANGE)), Answer(text="on"), tools=[MisbehavingTool(**odd)]
    )
    context_id = await world.start()
    await world.turn(context_id)
    assert {result.tool: result.status for result in await results(world, context_id)} == {
        "odd": status,
        "change": "executed",
    }
    assert content_of((await world.runtime.messages.read(context_id))[-1]) == "on"


async def test_a_slow_prepare_never_delays_a_cancel(tmp_path: Path) -> None:
    looks = 0

    async def slow_the_second_time() -> Any:
        nonlocal looks
        looks += 1
        if looks > 1:
            await asyncio.sleep(30)
        return await NoteTool("odd", "mutating").prepare(NoteTool.parameters(), Workspace(tmp_path))

    world = World(
        tmp_path, Answer(calls=(ScriptedCall(tool="odd"),)), tools=[MisbehavingTool(prepare=slow_the_second_time)]
    )
    context_id = await world.start("supervised")
    await world.turn(context_id)
    (call,) = await world.runtime.calls.pending(context_id)
    edit = PersonsDecision(id=call.id, verdict="approve", arguments={"text": "z"})
    deciding = asyncio.create_task(world.runtime.calls.decide(context_id, [edit]))
    await asyncio.sleep(0.05)
    async with asyncio.timeout(HANG_SECONDS):
        await world.runtime.turns.cancel(context_id)
    deciding.cancel()
    assert isinstance((await world.runtime.contexts.get(context_id)).state, Idle)


async def test_a_cancel_during_the_gate_gives_every_call_a_result(tmp_path: Path) -> None:
    hanging = asyncio.Event()

    async def hang() -> None:
        hanging.set()
        await asyncio.sleep(30)

    calls = (ScriptedCall(tool="odd"), CHANGE)
    world = World(tmp_path, Answer(calls=calls), tools=[MisbehavingTool(prepare=hang)])
    context_id = await world.start()
    await world.runtime.messages.send(context_id, "go")
    await hanging.wait()
    await world.runtime.turns.cancel(context_id)
    (request,) = [m for m in await world.runtime.messages.read(context_id) if isinstance(m, ToolRequest)]
    assert [result.call_id for result in await results(world, context_id)] == [call.id for call in request.calls]
    assert (await world.runtime.calls.get(context_id, request.calls[0].id)).status == "cancelled"


async def test_a_mode_switch_beside_a_cancel_starts_no_call(tmp_path: Path) -> None:
    world = World(tmp_path, Answer(calls=(CHANGE,)))
    context_id = await world.start("supervised")
    await world.turn(context_id)
    await asyncio.gather(world.runtime.turns.cancel(context_id), world.runtime.modes.switch(context_id, "agent"))
    started = [
        entry for entry in (await world.runtime.contexts.audit(context_id)).entries if entry.kind == "call_started"
    ]
    assert len(started) == len(world.change.ran) == 0


async def test_usage_is_counted_also_when_a_command_commits_meanwhile(tmp_path: Path) -> None:
    store = HeldStore(commit_seconds=0)
    answer = Answer(deltas=("a", "b"), delta_delay=0.02, usage=Usage(input_tokens=100, output_tokens=10))
    world = World(tmp_path, answer, store=store)
    context_id = await world.start()
    await world.runtime.messages.send(context_id, "x")
    store.commit_seconds = 0.06
    await world.runtime.branches.create(context_id, "other")
    await world.runtime.turns.rested(context_id)
    assert (await world.runtime.contexts.get(context_id)).core.usage.input_tokens == 100


async def test_a_reject_that_was_refused_leaves_no_trace_in_how_the_turn_ends(tmp_path: Path) -> None:
    store = HeldStore(commit_seconds=0)
    world = World(tmp_path, Answer(calls=(CHANGE,)), Answer(text="x"), store=store)
    context_id = await world.start("supervised")
    await world.turn(context_id)
    store.refuses = any_write
    with pytest.raises(StoreRefused):
        await world.runtime.calls.reject_all(context_id)
    store.refuses = no_write
    await world.runtime.calls.approve_all(context_id)
    await world.runtime.turns.rested(context_id)
    assert (await world.runtime.contexts.get(context_id)).core.last_turn == "complete"


async def test_a_file_that_was_not_read_before_the_cancel_is_read_by_continue(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("the content")
    world = World(tmp_path, Answer(text="x"))
    context_id = await world.start()
    await world.runtime.messages.send(context_id, [{"type": "file_reference", "path": "a.txt"}])
    await world.runtime.turns.cancel(context_id)
    await world.runtime.turns.continue_(context_id)
    await world.runtime.turns.rested(context_id)
    (file,) = [m for m in await world.runtime.messages.read(context_id) if isinstance(m, FileReference)]
    assert file.content == "the content"
    assert b"the content" in world.model.requests[0].messages[0]


async def test_a_waiting_turn_cannot_be_deleted_with_its_context(tmp_path: Path) -> None:
    world = World(tmp_path, Answer(calls=(CHANGE,)))
    context_id = await world.start("supervised")
    await world.turn(context_id)
    assert isinstance((await world.runtime.contexts.get(context_id)).state, AwaitingToolApproval)
    with pytest.raises(Conflict):
        await world.runtime.contexts.delete(context_id)
    await world.runtime.turns.cancel(context_id)
    await world.runtime.contexts.delete(context_id)
    assert (await world.runtime.contexts.list()).items == ()


async def test_concurrent_openers_share_one_context_even_when_one_is_cancelled(tmp_path: Path) -> None:
    class SlowOpeningStore(HeldStore):
        async def open(self, context_id: ContextId) -> Any:
            await asyncio.sleep(0.05)
            return await super().open(context_id)

    store = SlowOpeningStore(commit_seconds=0)
    context_id = await World(tmp_path, store=store).start()
    world = World(tmp_path, *[Answer(text="x")] * 3, store=store, ids_from=1000)
    first = asyncio.create_task(world.runtime.contexts.get(context_id))
    second = asyncio.create_task(world.runtime.messages.send(context_id, "b"))
    await asyncio.sleep(0.01)
    first.cancel()
    await asyncio.sleep(0)
    with pytest.raises(Conflict):
        await asyncio.gather(second, world.runtime.messages.send(context_id, "c"))
    await world.runtime.turns.rested(context_id)
    await world.turn(context_id)
    assert len(await world.runtime.messages.read(context_id)) == 4


async def test_a_draft_kept_during_another_commit_is_not_lost(tmp_path: Path) -> None:
    store = HeldStore(commit_seconds=0)
    blocking_tool = NoteTool("held", "read_only", hold=True)
    calls = (ScriptedCall(tool="look", arguments={"text": "1"}), ScriptedCall(tool="held", arguments={"text": "2"}))
    world = World(tmp_path, Answer(calls=calls), Answer(text="x"), store=store, tools=[blocking_tool])
    context_id = await world.start()
    store.refuses = lambda _, change: any(isinstance(message, ToolResult) for message in change.messages)
    await world.runtime.messages.send(context_id, "go")
    live = await live_context(world.runtime, context_id)
    while live.pending.refused is None:
        await asyncio.sleep(0.001)
    store.refuses = no_write
    store.commit_seconds = 0.05
    switching = asyncio.create_task(world.runtime.modes.switch(context_id, "review"))
    await asyncio.sleep(0.01)
    blocking_tool.release.set()
    await switching
    store.commit_seconds = 0
    await world.runtime.turns.rested(context_id)
    assert isinstance(live.state, WaitingForRecovery)
    await world.runtime.turns.continue_(context_id)
    await world.runtime.turns.rested(context_id)
    assert {result.tool: result.status for result in await results(world, context_id)} == {
        "look": "executed",
        "held": "executed",
    }


async def test_no_call_starts_while_a_refused_draft_is_retried(tmp_path: Path) -> None:
    store = HeldStore(commit_seconds=0)
    blocking_tool = NoteTool("held", "read_only", hold=True)
    calls = (ScriptedCall(tool="look"), ScriptedCall(tool="held"), CHANGE)
    world = World(tmp_path, Answer(calls=calls), Answer(text="x"), store=store, tools=[blocking_tool])
    context_id = await world.start("review")
    store.refuses = lambda _, change: any(isinstance(message, ToolResult) for message in change.messages)
    await world.runtime.messages.send(context_id, "go")
    live = await live_context(world.runtime, context_id)
    while live.pending.refused is None:
        await asyncio.sleep(0.001)
    store.refuses = no_write
    with pytest.raises(Conflict):
        await world.runtime.calls.approve_all(context_id)
    blocking_tool.release.set()
    await world.runtime.turns.rested(context_id)
    await world.runtime.turns.continue_(context_id)
    await world.runtime.turns.rested(context_id)
    assert world.change.ran == []
    statuses = {result.tool: result.status for result in await results(world, context_id)}
    assert statuses == {"look": "executed", "held": "executed", "change": "interrupted"}


async def returns_nothing() -> None:
    pass


async def no_unicode_preview() -> Any:
    return CallPreview(effect="mutating", preview="a\udcffb")


@pytest.mark.parametrize("prepare", [returns_nothing, raises_no_unicode])
async def test_a_tool_with_an_invalid_preview_fails_that_call_only(tmp_path: Path, prepare: Any) -> None:
    store = FileStore(tmp_path / "data", now=lambda: "")
    calls = (ScriptedCall(tool="odd"), CHANGE)
    world = World(
        tmp_path,
        Answer(text="I do", calls=calls),
        Answer(text="on"),
        tools=[MisbehavingTool(prepare=prepare)],
        store=store,
    )
    context_id = await world.start()
    await world.turn(context_id)
    assert {result.tool: result.status for result in await results(world, context_id)} == {
        "odd": "failed",
        "change": "executed",
    }
    await world.runtime.close()


async def test_an_invalid_unicode_preview_is_stored_with_replacements(tmp_path: Path) -> None:
    store = FileStore(tmp_path / "data", now=lambda: "")
    world = World(
        tmp_path,
        Answer(calls=(ScriptedCall(tool="odd"),)),
        tools=[MisbehavingTool(prepare=no_unicode_preview)],
        store=store,
    )
    context_id = await world.start("supervised")
    await world.turn(context_id)
    (call,) = await world.runtime.calls.pending(context_id)
    assert call.preview == "a\\xffb"
    await world.runtime.close()


async def test_the_persons_own_time_is_not_the_turns(tmp_path: Path) -> None:
    world = World(tmp_path, Answer(calls=(CHANGE,)), Answer(text="x"), limits=Limits(turn_seconds=5))
    context_id = await world.start("supervised")
    await world.turn(context_id)
    world.ambient.advance(3600)
    await world.runtime.calls.approve_all(context_id)
    await world.runtime.turns.rested(context_id)
    assert (world.change.ran, (await world.runtime.contexts.get(context_id)).core.last_turn) == (["b"], "complete")


async def test_a_cancel_after_the_end_was_refused_keeps_how_the_turn_ended(tmp_path: Path) -> None:
    store = HeldStore(commit_seconds=0)
    world = World(tmp_path, Answer(text="the whole answer"), store=store)
    context_id = await world.start()
    store.refuses = lambda _, change: change.core.turn is None
    await world.turn(context_id)
    assert isinstance((await world.runtime.contexts.get(context_id)).state, WaitingForRecovery)
    store.refuses = no_write
    await world.runtime.turns.cancel(context_id)
    live = await world.runtime.contexts.get(context_id)
    assert (live.state, live.core.last_turn) == (Idle(), "complete")
    assert content_of((await world.runtime.messages.read(context_id))[-1]) == "the whole answer"


async def test_a_recreated_workspace_is_used_by_the_next_turn(tmp_path: Path) -> None:
    workspace = tmp_path / "work"
    workspace.mkdir()
    (workspace / "a").write_text("old")
    read = ScriptedCall(tool="read_file", arguments={"path": "a"})
    world = World(workspace, *[Answer(calls=(read,)), Answer(text="x")] * 2, tools=[ReadFile()])
    context_id = await world.start()
    await world.turn(context_id)
    workspace.rename(tmp_path / "moved")
    workspace.mkdir()
    (workspace / "a").write_text("new")
    await world.turn(context_id)
    assert [result.content for result in await results(world, context_id)] == ["old", "new"]
