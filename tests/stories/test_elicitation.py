"""An MCP server asks during a call: the person answers, and the call continues. The model never sees the question."""

import asyncio
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pilothouse.domain.calls import CallRecord
from pilothouse.domain.errors import Conflict
from pilothouse.domain.messages import ToolResult
from pilothouse.domain.rules import Scope
from pilothouse.domain.states import AwaitingUserAnswer, ExecutingTool, Idle, State, is_resting
from pilothouse.llm.script import Answer
from pilothouse.storage.files.store import FileStore
from pilothouse.testing.disk import FaultyDisk
from pilothouse.testing.served import Served
from pilothouse.testing.world import World
from pilothouse.tools.builtin.delegate import Delegate
from tests.stories.test_recovery import crash
from tests.support.live_contexts import live_context
from tests.support.mcp_tools import (
    DONE,
    NOW,
    answer_with_calls,
    log_of,
    ready,
    set_server_tools,
    tool_server,
    until,
    world_with_tools,
)
from tests.support.scale import HANG_SECONDS

ASK = answer_with_calls(("docs__ask", {"text": "form"}))


def world_with_asking_server(
    folder: Path, *answers: Answer, trusted: bool = False, seconds: float = 60, **options: Any
) -> World:
    set_server_tools(folder / "docs", {"name": "ask", "annotations": {"readOnlyHint": True}})
    return world_with_tools(
        folder, *answers, mcp=[tool_server(folder / "docs", trusted=trusted, seconds=seconds)], **options
    )


async def context_with_question(world: World, mode: str = "agent") -> tuple[str, CallRecord]:
    """A context in which a server has just asked."""
    await ready(world.runtime, "docs")
    context_id = await world.start(mode)
    await world.runtime.messages.send(context_id, "go")
    return context_id, await question(world, context_id)


async def question(world: World, context_id: str) -> CallRecord:
    async with asyncio.timeout(HANG_SECONDS):
        while not (questions := await world.runtime.calls.open_questions(context_id)):
            await asyncio.sleep(0.01)
    return questions[0]


async def results(world: World, context_id: str) -> list[ToolResult]:
    messages = await world.runtime.messages.read(context_id, branch="main", limit=100)
    return [message for message in messages if isinstance(message, ToolResult)]


async def state(world: World, context_id: str) -> State:
    return (await world.runtime.contexts.get(context_id)).state


async def test_the_answer_is_sent_to_the_server_and_the_call_continues(tmp_path: Path) -> None:
    world = world_with_asking_server(tmp_path, ASK, DONE)
    async with world.runtime:
        context_id, record = await context_with_question(world)
        assert isinstance(await state(world, context_id), ExecutingTool)
        texts = [each["question"] for each in record.arguments["questions"]]
        assert texts == ["[docs] Which colour?\nColour", "count"]
        before = len(await world.runtime.messages.read_ids(context_id, "main", limit=100))
        await world.runtime.calls.answer(context_id, ["red", "3"])
        assert await world.runtime.calls.open_questions(context_id) == []
        assert len(await world.runtime.messages.read_ids(context_id, "main", limit=100)) == before, "no message for it"
        await world.runtime.turns.rested(context_id)
        (result,) = await results(world, context_id)
        assert json.loads(result.content) == {"action": "accept", "content": {"colour": "red", "count": 3}}
        assert log_of(tmp_path / "docs").count('ask {"text": "form"}') == 1
        kinds = [entry.kind for entry in (await world.runtime.contexts.audit(context_id)).entries]
        assert "question_answered" in kinds
        assert (await world.runtime.contexts.audit(context_id)).chain.whole


async def test_a_question_is_shown_and_answered_over_http_while_the_call_runs(tmp_path: Path) -> None:
    world = world_with_asking_server(tmp_path, ASK, DONE)
    async with world.runtime, Served(world.runtime, [world.workspace]) as served, served.client() as client:
        context_id, record = await context_with_question(world)
        shown = await client.request("GET", f"/api/contexts/{context_id}")
        assert shown["current_state"]["type"] == "executing_tool"
        assert [each["id"] for each in shown["open_questions"]] == [record.id]
        assert shown["pending_tool_calls"] == []
        await client.request("POST", f"/api/contexts/{context_id}/answers", {"answers": ["blue", ""]})
        await world.runtime.turns.rested(context_id)
        (result,) = await results(world, context_id)
        assert json.loads(result.content)["content"] == {"colour": "blue"}, "what may be left out is left out"


async def test_a_chat_client_receives_and_answers_the_question(tmp_path: Path) -> None:
    world = world_with_asking_server(tmp_path, ASK, DONE)
    async with world.runtime, Served(world.runtime, [world.workspace]) as served, served.client() as client:
        await ready(world.runtime, "docs")
        events: list[tuple[str, Any]] = []
        async with asyncio.timeout(HANG_SECONDS):
            async for event in client.chat("thread", "go", mode="agent"):
                events.append(event)
                if event[0] == "interrupt":
                    break
        assert events[-1][0] == "interrupt", events
        assert events[-1][1]["questions"][0]["question"] == "[docs] Which colour?\nColour"
        body = {"answers": ["red", ""]}
        async with asyncio.timeout(HANG_SECONDS):
            rest = [event async for event in client.events("POST", "/api/chat/thread/resume", body)]
        assert rest[-1][0] == "done"
        (result,) = await results(world, "thread")
        assert json.loads(result.content)["action"] == "accept"


async def test_a_question_without_a_person_watching_is_declined(tmp_path: Path) -> None:
    world = world_with_asking_server(tmp_path, ASK, DONE, trusted=True)
    async with world.runtime, Served(world.runtime, [world.workspace]) as served, served.client() as client:
        await ready(world.runtime, "docs")
        body = {"model": "pilothouse", "messages": [{"role": "user", "content": "go"}]}
        async with asyncio.timeout(HANG_SECONDS):
            answer = await client.request("POST", "/v1/chat/completions", body)
        assert "done" in answer["choices"][0]["message"]["content"]
        assert log_of(tmp_path / "docs")[-1] == 'answered {"action": "decline"}'


async def test_a_question_of_a_sub_agents_server_reaches_the_person_and_is_answered(tmp_path: Path) -> None:
    task = answer_with_calls(("delegate", {"task": "ask them"}))
    world = world_with_asking_server(tmp_path, task, ASK, DONE, DONE, tools=[Delegate()])
    async with world.runtime:
        await ready(world.runtime, "docs")
        parent = await world.start()
        await world.runtime.messages.send(parent, "go")
        async with asyncio.timeout(HANG_SECONDS):
            while not (children := (await world.runtime.contexts.list(parent=parent)).items):
                await asyncio.sleep(0.01)
        child = children[0].context_id
        await question(world, child)
        await world.runtime.calls.answer(child, ["red", ""])
        await world.runtime.turns.rested(parent)
        (result,) = await results(world, child)
        assert json.loads(result.content)["action"] == "accept"


async def test_a_sub_agent_of_a_parent_in_plan_mode_asks_nobody(tmp_path: Path) -> None:
    task = answer_with_calls(("delegate", {"task": "ask them"}))
    world = world_with_asking_server(tmp_path, task, ASK, DONE, DONE, trusted=True, tools=[Delegate()])
    async with world.runtime:
        await ready(world.runtime, "docs")
        parent = await world.start("plan")
        async with asyncio.timeout(HANG_SECONDS):
            await world.turn(parent, "go")
        assert log_of(tmp_path / "docs")[-1] == 'answered {"action": "decline"}'


async def test_a_person_can_decline_a_question(tmp_path: Path) -> None:
    world = world_with_asking_server(tmp_path, ASK, DONE)
    async with world.runtime:
        context_id, record = await context_with_question(world)
        await world.runtime.calls.decline(context_id)
        await world.runtime.turns.rested(context_id)
        (result,) = await results(world, context_id)
        assert json.loads(result.content) == {"action": "decline"}
        assert (await world.runtime.calls.get(context_id, record.id)).status == "rejected"
        with pytest.raises(Conflict):
            await world.runtime.calls.decline(context_id)


async def test_an_answer_that_does_not_fit_the_form_declines(tmp_path: Path) -> None:
    world = world_with_asking_server(tmp_path, ASK, DONE)
    async with world.runtime:
        context_id, _ = await context_with_question(world)
        await world.runtime.calls.answer(context_id, ["red", "many"])
        await world.runtime.turns.rested(context_id)
        (result,) = await results(world, context_id)
        assert json.loads(result.content)["action"] == "decline"


@pytest.mark.parametrize(("reply", "action"), [("yes", "accept"), ("no", "decline"), ("whatever", "decline")])
async def test_a_question_without_a_form_is_a_yes_or_a_no(tmp_path: Path, reply: str, action: str) -> None:
    world = world_with_asking_server(tmp_path, answer_with_calls(("docs__ask", {"text": "yes or no"})), DONE)
    async with world.runtime:
        context_id, record = await context_with_question(world)
        assert record.arguments["questions"][0]["options"] == ("yes", "no")
        await world.runtime.calls.answer(context_id, [reply])
        await world.runtime.turns.rested(context_id)
        (result,) = await results(world, context_id)
        assert json.loads(result.content)["action"] == action


async def test_no_request_to_the_model_contains_the_question(tmp_path: Path) -> None:
    world = world_with_asking_server(tmp_path, ASK, DONE, DONE)
    async with world.runtime:
        context_id, _ = await context_with_question(world)
        await world.runtime.calls.answer(context_id, ["red", ""])
        await world.runtime.turns.rested(context_id)
        await world.turn(context_id, "again")
        sent = b"".join(world.model.requests[-1].messages)
        assert b"Which colour?" not in sent
        assert sent.count(b"docs__ask") >= 1


async def test_in_plan_nobody_is_asked(tmp_path: Path) -> None:
    world = world_with_asking_server(tmp_path, ASK, DONE, trusted=True)
    async with world.runtime:
        await ready(world.runtime, "docs")
        context_id = await world.start("plan")
        await world.turn(context_id, "go")
        (result,) = await results(world, context_id)
        assert json.loads(result.content) == {"action": "decline"}
        (call,) = (await world.runtime.calls.read(context_id)).items
        assert (call.tool, call.status) == ("docs__ask", "executed")


async def test_a_question_is_declined_where_ask_user_is_denied(tmp_path: Path) -> None:
    world = world_with_asking_server(tmp_path, ASK, DONE)
    async with world.runtime:
        await ready(world.runtime, "docs")
        await world.runtime.rules.give("deny", Scope(tool="ask_user"))
        context_id = await world.start()
        await world.turn(context_id, "go")
        (result,) = await results(world, context_id)
        assert json.loads(result.content) == {"action": "decline"}


async def test_a_cancelled_turn_closes_the_question(tmp_path: Path) -> None:
    world = world_with_asking_server(tmp_path, ASK, DONE)
    async with world.runtime:
        context_id, record = await context_with_question(world)
        async with asyncio.timeout(HANG_SECONDS):
            await world.runtime.turns.cancel(context_id)
        assert isinstance(await state(world, context_id), Idle)
        assert await world.runtime.calls.open_questions(context_id) == []
        assert (await world.runtime.calls.get(context_id, record.id)).status == "cancelled"
        (result,) = await results(world, context_id)
        assert result.status == "cancelled"
        with pytest.raises(Conflict):
            await world.runtime.calls.answer(context_id, ["red", ""])
        assert (await world.runtime.contexts.audit(context_id)).chain.whole


async def test_the_time_limit_of_a_call_stops_while_a_question_is_open(tmp_path: Path) -> None:
    world = world_with_asking_server(tmp_path, ASK, DONE, seconds=0.3)
    async with world.runtime:
        context_id, _ = await context_with_question(world)
        live = await live_context(world.runtime, context_id)
        assert live.task is not None
        done, _ = await asyncio.wait({live.task}, timeout=3)
        assert not done
        await world.runtime.calls.answer(context_id, ["red", ""])
        await world.runtime.turns.rested(context_id)
        (result,) = await results(world, context_id)
        assert json.loads(result.content)["action"] == "accept"


async def test_a_call_that_times_out_after_the_answer_ends_and_the_turn_continues(tmp_path: Path) -> None:
    world = world_with_asking_server(
        tmp_path, answer_with_calls(("docs__ask", {"text": "then hang"})), DONE, seconds=0.3
    )
    async with world.runtime:
        context_id, record = await context_with_question(world)
        await world.runtime.calls.answer(context_id, ["red", ""])
        async with asyncio.timeout(HANG_SECONDS):
            await world.runtime.turns.rested(context_id)
        assert (await world.runtime.contexts.get(context_id)).core.last_turn == "complete"
        (result,) = await results(world, context_id)
        assert result.status == "failed"
        assert (await world.runtime.calls.get(context_id, record.id)).status == "executed"


async def test_a_question_after_the_end_of_its_call_is_declined(tmp_path: Path) -> None:
    world = world_with_asking_server(tmp_path, answer_with_calls(("docs__ask", {"text": "late"})), DONE, seconds=0.2)
    async with world.runtime:
        await ready(world.runtime, "docs")
        context_id = await world.start()
        await world.turn(context_id, "go")
        (result,) = await results(world, context_id)
        assert result.status == "failed"
        await until(lambda: any(line.startswith("answered") for line in log_of(tmp_path / "docs")))
        assert json.loads(log_of(tmp_path / "docs")[-1].removeprefix("answered ")) == {"action": "decline"}
        assert await world.runtime.calls.open_questions(context_id) == []
        assert len((await world.runtime.calls.read(context_id)).items) == 1


async def test_a_question_is_closed_when_its_server_ends(tmp_path: Path) -> None:
    world = world_with_asking_server(tmp_path, ASK, DONE)
    async with world.runtime:
        context_id, record = await context_with_question(world)
        async with asyncio.timeout(HANG_SECONDS):
            await world.runtime.mcp_servers.reconnect("docs")
            await world.runtime.turns.rested(context_id)
        assert isinstance(await state(world, context_id), Idle)
        assert (await world.runtime.calls.get(context_id, record.id)).status == "cancelled"
        (result,) = await results(world, context_id)
        assert result.status == "failed"


@pytest.mark.parametrize("mode", ["plan", "ask", "supervised"])
async def test_a_mode_switch_during_a_question_leaves_nothing_open(tmp_path: Path, mode: str) -> None:
    world = world_with_asking_server(tmp_path, ASK, DONE)
    async with world.runtime:
        context_id, _ = await context_with_question(world)
        await world.runtime.modes.switch(context_id, mode)
        if await world.runtime.calls.open_questions(context_id):
            await world.runtime.calls.answer(context_id, ["red", ""])
        async with asyncio.timeout(HANG_SECONDS):
            await world.runtime.turns.rested(context_id)
        assert isinstance(await state(world, context_id), Idle)
        (result,) = await results(world, context_id)
        assert result.status == "executed"


async def test_a_question_can_be_answered_in_a_paused_turn_that_continues_on_resume(tmp_path: Path) -> None:
    world = world_with_asking_server(tmp_path, ASK, DONE)
    async with world.runtime:
        context_id, _ = await context_with_question(world)
        await world.runtime.turns.pause(context_id)
        await world.runtime.calls.answer(context_id, ["red", ""])
        await world.runtime.turns.rested(context_id)
        if not isinstance(await state(world, context_id), Idle):
            await world.runtime.turns.resume(context_id)
            await world.runtime.turns.rested(context_id)
        assert isinstance(await state(world, context_id), Idle)
        (result,) = await results(world, context_id)
        assert json.loads(result.content)["action"] == "accept"


async def test_questions_of_two_calls_are_answered_one_after_the_other(tmp_path: Path) -> None:
    """Over a pipe, the questions of two concurrent calls cannot be assigned: they are declined."""
    both = answer_with_calls(("docs__ask", {"text": "form"}), ("docs__ask", {"text": "other"}))
    world = world_with_asking_server(tmp_path, both, DONE)
    async with world.runtime:
        context_id, first = await context_with_question(world)
        await world.runtime.calls.answer(context_id, ["red", ""])
        await _another(lambda record: record.id != first.id, world, context_id)
        await world.runtime.calls.answer(context_id, ["blue", ""])
        await world.runtime.turns.rested(context_id)
        contents = [json.loads(result.content) for result in await results(world, context_id)]
        assert [each["content"]["colour"] for each in contents] == ["red", "blue"]


async def _another(fits: Callable[[CallRecord], bool], world: World, context_id: str) -> None:
    async with asyncio.timeout(HANG_SECONDS):
        while not fits(await question(world, context_id)):
            await asyncio.sleep(0.01)


async def test_an_open_question_is_closed_by_an_orderly_restart(tmp_path: Path) -> None:
    world = world_with_asking_server(tmp_path, ASK, DONE)
    async with world.runtime:
        context_id, record = await context_with_question(world)
    again = world_with_asking_server(tmp_path, DONE, ids_from=1000)
    async with again.runtime:
        await closed_after_restart(again, context_id, record)


async def test_an_open_question_is_closed_after_a_crash(tmp_path: Path) -> None:
    disk = FaultyDisk()
    world = world_with_asking_server(
        tmp_path, ASK, DONE, store=FileStore(tmp_path / "data", now=lambda: NOW, disk=disk)
    )
    await world.runtime.start()
    context_id, record = await context_with_question(world)
    disk.arm(1, "EIO", lasting=True)  # no further write, as after a crash
    await crash(world)
    assert world.dependencies.mcp_servers is not None
    await world.dependencies.mcp_servers.stop()
    again = world_with_asking_server(tmp_path, DONE, ids_from=1000)
    async with again.runtime:
        await closed_after_restart(again, context_id, record)


async def closed_after_restart(world: World, context_id: str, record: CallRecord) -> None:
    live = await live_context(world.runtime, context_id)
    assert await world.runtime.calls.open_questions(context_id) == [], "nobody waits for an answer any more"
    assert is_resting(live.state)
    assert not isinstance(live.state, AwaitingUserAnswer)
    assert not (await world.runtime.calls.get(context_id, record.id)).is_open
    (result,) = await results(world, context_id)
    assert result.status in ("interrupted", "cancelled")
    with pytest.raises(Conflict):
        await world.runtime.calls.answer(context_id, ["red", ""])
    await world.turn(context_id, "go on")
    assert isinstance((await world.runtime.contexts.get(context_id)).state, Idle)
    assert (await world.runtime.contexts.audit(context_id)).chain.whole
