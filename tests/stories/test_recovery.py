"""After a crash: the table of the specification, row by row. The process is gone; another opens the stored data."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from pilothouse.domain.calls import Effect
from pilothouse.domain.codes import Code
from pilothouse.domain.errors import StoreRefused
from pilothouse.domain.messages import ErrorMessage, Text, ToolRequest, ToolResult
from pilothouse.domain.states import AwaitingToolApproval, AwaitingUserAnswer, Idle
from pilothouse.llm.script import Answer, ScriptedCall
from pilothouse.storage.files.store import FileStore
from pilothouse.testing.tools import NoteTool
from pilothouse.testing.world import World
from tests.storage.test_file_store import abandon
from tests.support.assertions import content_of, instance_of
from tests.support.live_contexts import live_context, pool_of
from tests.support.valid_requests import assert_valid_request

SLOW_CHANGES = tuple(ScriptedCall(tool="slow", arguments={"text": str(n)}) for n in range(2))
QUESTION = ScriptedCall(tool="ask_user", arguments={"questions": [{"question": "Which?"}]})


def store_at(path: Path) -> FileStore:
    return FileStore(path / "data", now=lambda: "2026-01-01T00:00:00.000Z")


class FullDiskStore(FileStore):
    """Refuses every commit while the disk is full."""

    is_full = True

    async def commit(self, *args: Any, **options: Any) -> int:
        if self.is_full:
            raise StoreRefused(Code.STORE_REFUSED, detail="no space left")
        return await super().commit(*args, **options)


async def crash(world: World) -> None:
    """Leave everything as a killed process does: no step continues, nothing is written."""
    store = world.dependencies.store
    assert isinstance(store, FileStore)
    for live in pool_of(world.runtime).in_memory():
        if live.task is not None:
            live.task.cancel()
            await asyncio.wait({live.task})
    abandon(store)


async def until(world: World, state: str) -> None:
    while state not in world.states:
        await asyncio.sleep(0)


@pytest.mark.parametrize("mode", ["supervised", "review"])
async def test_a_resting_state_is_unchanged_and_the_pending_call_still_works(tmp_path: Path, mode: str) -> None:
    call = ScriptedCall(tool="change", arguments={"text": "x"})
    world = World(tmp_path, Answer(calls=(call,)), store=store_at(tmp_path))
    context_id = await world.start(mode)
    await world.turn(context_id)
    before = (await world.runtime.contexts.get(context_id)).state
    await crash(world)
    again = World(tmp_path, Answer(text="done"), store=store_at(tmp_path))
    live = await again.runtime.contexts.get(context_id)
    assert live.state == before
    assert again.entered == []
    await again.runtime.calls.approve_all(context_id)
    await again.runtime.turns.rested(context_id)
    assert again.change.ran == ["x"]
    await again.runtime.close()


async def test_an_open_question_survives(tmp_path: Path) -> None:
    world = World(tmp_path, Answer(calls=(QUESTION,)), store=store_at(tmp_path))
    context_id = await world.start()
    await world.turn(context_id)
    await crash(world)
    again = World(tmp_path, Answer(text="done"), store=store_at(tmp_path))
    assert isinstance((await again.runtime.contexts.get(context_id)).state, AwaitingUserAnswer)
    await again.runtime.calls.answer(context_id, ["that one"])
    await again.runtime.turns.rested(context_id)
    assert b"that one" in again.model.requests[0].messages[-1]
    await again.runtime.close()


async def test_working_with_no_call_started_becomes_idle_and_continue_repeats_the_round(tmp_path: Path) -> None:
    world = World(tmp_path, Answer(text="x", delay=1000), store=store_at(tmp_path))
    context_id = await world.start()
    await world.runtime.messages.send(context_id, "hello")
    await until(world, "connecting_to_llm")
    await crash(world)
    again = World(tmp_path, Answer(text="here"), store=store_at(tmp_path))
    live = await again.runtime.contexts.get(context_id)
    assert isinstance(live.state, Idle)
    user, error = await again.runtime.messages.read(context_id)
    assert isinstance(error, ErrorMessage)
    assert (content_of(user), error.reason.code) == ("hello", "interrupted")
    await again.runtime.turns.continue_(context_id)
    await again.runtime.turns.rested(context_id)
    assert content_of((await again.runtime.messages.read(context_id))[-1]) == "here"
    await again.runtime.close()


async def test_streaming_keeps_the_partial_text_and_drops_fragments_of_calls(tmp_path: Path) -> None:
    call = ScriptedCall(tool="change", arguments={"text": "x"})
    world = World(tmp_path, Answer(deltas=("one ", "two "), calls=(call,), silence=3), store=store_at(tmp_path))
    context_id = await world.start()
    await world.runtime.messages.send(context_id, "hello")
    live = await live_context(world.runtime, context_id)
    while live.delta_writer is None or live.delta_writer.flushed < 2:
        await asyncio.sleep(0.01)
    message_id = live.delta_writer.message_id
    assert await world.runtime.messages.read_content(context_id, message_id, 1) == [(2, "two ")]
    await crash(world)
    again = World(tmp_path, Answer(text="on"), store=store_at(tmp_path))
    assert isinstance((await again.runtime.contexts.get(context_id)).state, Idle)
    _, partial, error = await again.runtime.messages.read(context_id)
    assert isinstance(partial, Text)
    assert (partial.id, partial.content, partial.ended) == (message_id, "one two ", "interrupted")
    assert await again.runtime.messages.read_content(context_id, message_id, 1) == [(2, "two ")]
    assert again.change.ran == []
    await again.runtime.turns.continue_(context_id)
    await again.runtime.turns.rested(context_id)
    assert any(b"one two" in fragment for fragment in again.model.requests[0].messages)
    await again.runtime.close()


@pytest.mark.parametrize(("effect", "code"), [("mutating", "may_have_run"), ("read_only", "interrupted_call")])
async def test_a_call_with_an_intent_and_no_result_is_reported_as_interrupted(
    tmp_path: Path, effect: Effect, code: str
) -> None:
    slow = NoteTool("slow", effect, hold=True)
    world = World(tmp_path, Answer(calls=SLOW_CHANGES[:1]), tools=[slow], store=store_at(tmp_path))
    context_id = await world.start()
    await world.runtime.messages.send(context_id, "go")
    await slow.started.wait()
    await crash(world)
    again = World(tmp_path, Answer(text="on"), tools=[slow], store=store_at(tmp_path))
    assert isinstance((await again.runtime.contexts.get(context_id)).state, Idle)
    results = [m for m in await again.runtime.messages.read(context_id) if isinstance(m, ToolResult)]
    assert [(result.status, result.error.code) for result in results if result.error] == [("interrupted", code)]
    await again.runtime.turns.continue_(context_id)
    await again.runtime.turns.rested(context_id)
    assert slow.ran == ["0"]
    assert_valid_request(again.model.requests[0])
    await again.runtime.close()


async def test_approved_and_not_started_is_pending_again_even_in_agent(tmp_path: Path) -> None:
    slow = NoteTool("slow", "mutating", hold=True)
    world = World(tmp_path, Answer(calls=SLOW_CHANGES), tools=[slow], store=store_at(tmp_path))
    context_id = await world.start("agent")
    await world.runtime.messages.send(context_id, "go")
    await slow.started.wait()
    await crash(world)
    free = NoteTool("slow", "mutating")
    again = World(tmp_path, Answer(text="on"), tools=[free], store=store_at(tmp_path))
    live = await again.runtime.contexts.get(context_id)
    assert isinstance(live.state, AwaitingToolApproval)
    (pending,) = await again.runtime.calls.pending(context_id)
    assert pending.arguments == {"text": "1"}
    assert free.ran == []
    await again.runtime.calls.approve_all(context_id)
    await again.runtime.turns.rested(context_id)
    assert free.ran == ["1"]
    await again.runtime.close()


async def test_a_mode_switch_during_streaming_decides_the_calls_of_that_answer(tmp_path: Path) -> None:
    change = ScriptedCall(tool="change", arguments={"text": "x"})
    world = World(tmp_path, Answer(deltas=("a", "b"), calls=(change,), delta_delay=0.01))
    context_id = await world.start("agent")
    await world.runtime.messages.send(context_id, "go")
    await until(world, "streaming_llm_response")
    await world.runtime.modes.switch(context_id, "plan")
    await world.runtime.turns.rested(context_id)
    assert world.change.ran == []
    last = (await world.runtime.messages.read(context_id))[-1]
    assert isinstance(last, ErrorMessage)
    assert last.reason.code == "mode_denied"


async def test_recovery_is_stored_once_and_restarting_fifty_times_changes_nothing_more(tmp_path: Path) -> None:
    world = World(tmp_path, Answer(text="x", delay=1000), store=store_at(tmp_path))
    context_id = await world.start()
    await world.runtime.messages.send(context_id, "hello")
    await until(world, "connecting_to_llm")
    await crash(world)
    for _ in range(50):
        again = World(tmp_path, store=store_at(tmp_path))
        assert len((await again.runtime.contexts.list()).items) == 1
        messages = await again.runtime.messages.read(context_id)
        assert [type(message) for message in messages] == [Text, ErrorMessage]
        await crash(again)


async def test_a_fork_never_separates_a_call_from_its_result_and_a_switch_shows_the_other_branch(
    tmp_path: Path,
) -> None:
    call = ScriptedCall(tool="look", arguments={"text": "x"})
    world = World(tmp_path, Answer(calls=(call, call)), Answer(text="done"), Answer(text="other"))
    context_id = await world.start()
    await world.turn(context_id)
    user, request, first, second, answer = await world.runtime.messages.read(context_id)
    assert isinstance(request, ToolRequest)
    fork = await world.runtime.branches.fork(context_id, "at the call", at=request.id)
    assert fork.length == 4
    assert (await world.runtime.branches.fork(context_id, "at a result", at=first.id)).length == 4
    assert (await world.runtime.branches.fork(context_id, "at the question", at=user.id)).length == 1
    await world.runtime.branches.switch(context_id, "at the question")
    assert world.states[-3:] == ["switching_branch", "saving_context", "idle"]
    await world.turn(context_id, "differently")
    assert len(world.model.requests[-1].messages) == 2
    assert_valid_request(world.model.requests[-1])
    await world.runtime.branches.switch(context_id, "main")
    assert (await world.runtime.messages.read(context_id))[-1].id == answer.id
    assert instance_of(ToolResult, second).call_id == request.calls[1].id


async def test_a_cancel_during_a_refused_recovery_stores_the_recovery_first(tmp_path: Path) -> None:
    slow = NoteTool("slow", "mutating", hold=True)
    world = World(tmp_path, Answer(text="I begin.", calls=SLOW_CHANGES), store=store_at(tmp_path), tools=[slow])
    context_id = await world.start()
    await world.runtime.messages.send(context_id, "go")
    await slow.started.wait()
    await crash(world)
    store = FullDiskStore(tmp_path / "data", now=lambda: "2026-01-01T00:00:00.000Z")
    again = World(tmp_path, store=store, tools=[NoteTool("slow", "mutating")])
    with pytest.raises(StoreRefused):
        await again.runtime.turns.cancel(context_id)
    store.is_full = False
    await again.runtime.turns.cancel(context_id)
    shown = await again.runtime.messages.read(context_id)
    statuses = [message.status for message in shown if isinstance(message, ToolResult)]
    assert statuses[0] == "interrupted"
    assert isinstance((await again.runtime.contexts.get(context_id)).state, AwaitingToolApproval | Idle)
    await again.runtime.close()
    after = World(tmp_path, store=store_at(tmp_path), tools=[NoteTool("slow", "mutating")])
    assert [message.id for message in await after.runtime.messages.read(context_id)][: len(shown)] == [
        message.id for message in shown
    ]
    assert (await after.runtime.contexts.audit(context_id)).chain.whole
    await after.runtime.close()
