"""The simple chat stream, through real HTTP: one call, the whole turn; the scenarios of the plan and build document."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from pilothouse.client import CallDecided, Client, ServerError
from pilothouse.domain.states import Idle
from pilothouse.llm.script import Answer, ScriptedCall
from pilothouse.storage.files.store import FileStore
from pilothouse.testing.served import Served
from pilothouse.testing.tools import NoteTool
from pilothouse.testing.world import World
from pilothouse.tools.builtin import builtin_tools
from tests.support.assertions import ended
from tests.support.held_store import DONE, HeldStore, calls_answer, no_write, settle
from tests.support.live_contexts import live_context

CHINESE = "当前为思考模式，请切换到 build 模式执行操作"
QUESTION = {"questions": [{"question": "Which one?", "options": ["a", "b"]}]}
Events = list[tuple[str, Any]]


@asynccontextmanager
async def chat_client(
    workspace: Path, *answers: Answer, language: str = "en", **options: Any
) -> AsyncIterator[tuple[World, Client, Served]]:
    world = World(workspace, *answers, tools=[*builtin_tools(), *options.pop("tools", ())], **options)
    async with (
        world.runtime,
        Served(world.runtime, [workspace]) as served,
        served.client(language=language) as client,
    ):
        yield world, client, served


async def collected(stream: AsyncIterator[tuple[str, Any]]) -> Events:
    return [event async for event in stream]


def names(events: Events) -> list[str]:
    """In order, tokens in a row as one."""
    result: list[str] = []
    for name, _ in events:
        if name != "token" or result[-1:] != ["token"]:
            result.append(name)
    return [name for name in result if name != "title"]


def data(events: Events, name: str) -> list[Any]:
    return [each for kind, each in events if kind == name]


def runs(command: str) -> Answer:
    return Answer(calls=(ScriptedCall(tool="execute", arguments={"command": command}),))


def resume(client: Client, thread: str, body: Any) -> AsyncIterator[tuple[str, Any]]:
    return client.events("POST", f"/api/chat/{thread}/resume", body)


# the four scenarios


async def test_in_build_a_command_runs_without_being_asked_for(tmp_path: Path) -> None:
    (tmp_path / "seen.txt").write_text("x")
    async with chat_client(tmp_path, runs("ls"), Answer(text="There it is.")) as (_, client, _):
        events = await collected(client.chat("t", "run ls", mode="build"))
    assert names(events) == ["tool_start", "tool_end", "token", "done"]
    assert data(events, "tool_start")[0]["args"] == {"command": "ls"}
    (ended,) = data(events, "tool_end")
    assert (ended["name"], ended["status"]) == ("execute", "executed")
    assert "seen.txt" in ended["result"]
    assert data(events, "token") == [{"text": "There it is."}]


@pytest.mark.parametrize("tool", ["execute", "write_file", "edit_file"])
@pytest.mark.parametrize("language", ["en", "zh-CN,zh;q=0.9,en;q=0.8"])
async def test_in_plan_a_change_is_one_error_with_the_hint_then_done(tmp_path: Path, tool: str, language: str) -> None:
    arguments = {
        "execute": {"command": "touch made"},
        "write_file": {"path": "made", "content": "x"},
        "edit_file": {"path": "made", "old": "a", "new": "b"},
    }[tool]
    request = Answer(calls=(ScriptedCall(tool=tool, arguments=arguments),))
    async with chat_client(tmp_path, request, DONE, language=language) as (world, client, _):
        events = await collected(client.chat("t", "do it", mode="plan"))
        assert len(world.model.requests) == 1
    assert names(events) == ["error", "done"]
    (error,) = data(events, "error")
    assert error["code"] == "mode_denied"
    if language == "en":
        assert "Plan mode" in error["message"]
        assert "build mode" in error["message"]
    else:
        assert error["message"] == CHINESE
    assert not (tmp_path / "made").exists()


@pytest.mark.parametrize("mode", ["plan", "build"])
async def test_a_question_interrupts_in_plan_and_build_alike(tmp_path: Path, mode: str) -> None:
    question = Answer(calls=(ScriptedCall(tool="ask_user", arguments=QUESTION),))
    async with chat_client(tmp_path, question, Answer(text="Good.")) as (world, client, _):
        events = await collected(client.chat("t", "help me choose", mode=mode))
        assert names(events) == ["interrupt", "done"]
        assert data(events, "interrupt")[0]["questions"][0]["question"] == "Which one?"
        events = await collected(resume(client, "t", {"answers": ["b"]}))
        assert names(events) == ["tool_start", "tool_end", "token", "done"]
        assert "b" in str(world.model.requests[-1].messages[-1])


async def test_in_build_several_commands_run_one_after_the_other(tmp_path: Path) -> None:
    written = Answer(calls=(ScriptedCall(tool="write_file", arguments={"path": "test.txt", "content": "hello"}),))
    async with chat_client(tmp_path, runs("pwd"), runs("ls"), written, Answer(text="All done.")) as (_, client, _):
        events = await collected(client.chat("t", "pwd, then ls, then make test.txt", mode="build"))
    assert names(events) == [*["tool_start", "tool_end"] * 3, "token", "done"]
    assert [each["status"] for each in data(events, "tool_end")] == ["executed"] * 3
    assert (tmp_path / "test.txt").read_text() == "hello"


# other promises of the chat stream


async def test_a_thread_that_is_created_starts_in_build_and_keeps_its_mode_afterwards(tmp_path: Path) -> None:
    async with chat_client(tmp_path, DONE, DONE, DONE) as (_, client, _):
        await collected(client.chat("t", "one"))
        assert (await client.request("GET", "/api/contexts/t"))["mode"] == "agent"
        await collected(client.chat("t", "two", mode="planner"))
        await collected(client.chat("t", "three"))
        assert (await client.request("GET", "/api/contexts/t"))["mode"] == "plan"


async def test_pending_calls_interrupt_and_are_decided_by_id_by_position_and_with_edits(tmp_path: Path) -> None:
    answers = calls_answer(("change", "a"), ("change", "b"), ("change", "c")), Answer(text="Done.")
    async with chat_client(tmp_path, *answers) as (world, client, _):
        events = await collected(client.chat("t", "go", mode="supervised"))
        assert names(events) == ["interrupt", "done"]
        calls = data(events, "interrupt")[0]["tool_calls"]
        assert [call["args"]["text"] for call in calls] == ["a", "b", "c"]
        events = await collected(resume(client, "t", {"decisions": [{"type": "reject", "id": calls[2]["id"]}]}))
        assert names(events) == ["tool_end", "interrupt", "done"]
        assert data(events, "tool_end")[0]["status"] == "rejected"
        decisions = [{"type": "approve", "digest": calls[0]["digest"]}, {"type": "edit", "args": {"text": "B"}}]
        events = await collected(resume(client, "t", {"decisions": decisions}))
        assert [each["id"] for each in data(events, "tool_start")] == [calls[0]["id"], calls[1]["id"]]
        assert [each["id"] for each in data(events, "tool_end")] == [calls[0]["id"], calls[1]["id"]]
        assert names(events)[-2:] == ["token", "done"]
        assert world.change.ran == ["a", "B"]


@pytest.mark.parametrize(
    ("body", "status"),
    [
        ({"decisions": [{"type": "approve"}] * 2}, 422),
        ({"decisions": []}, 422),
        ({"decisions": [{"type": "approve", "id": "nobody"}]}, 404),
        ({"decisions": [{"type": "approve", "digest": "other"}]}, 409),
        ({"answers": ["x"]}, 409),
        ({}, 422),
        ({"decisions": [{"type": "approve"}], "answers": ["x"]}, 422),
    ],
)
async def test_a_resume_that_does_not_fit_is_refused_and_changes_nothing(
    tmp_path: Path, body: Any, status: int
) -> None:
    async with chat_client(tmp_path, calls_answer(("change", "a")), DONE) as (world, client, _):
        await collected(client.chat("t", "go", mode="supervised"))
        with pytest.raises(ServerError) as refused:
            await collected(resume(client, "t", body))
        assert refused.value.problem.status == status
        assert len((await client.request("GET", "/api/contexts/t"))["pending_tool_calls"]) == 1
        assert world.change.ran == []


async def test_a_thread_that_waits_for_nothing_cannot_be_resumed(tmp_path: Path) -> None:
    async with chat_client(tmp_path, DONE) as (_, client, _):
        await collected(client.chat("t", "hi"))
        with pytest.raises(ServerError) as refused:
            await collected(resume(client, "t", {"decisions": [{"type": "approve"}]}))
        assert refused.value.problem.code == "nothing_to_resume"
        with pytest.raises(ServerError) as refused:
            await collected(resume(client, "unknown", {"answers": ["x"]}))
        assert refused.value.problem.status == 404


async def test_a_busy_thread_is_409_and_a_blank_message_makes_no_thread(tmp_path: Path) -> None:
    async with chat_client(tmp_path, calls_answer(("change", "a")), DONE) as (_, client, _):
        await collected(client.chat("t", "go", mode="supervised"))
        with pytest.raises(ServerError) as refused:
            await collected(client.chat("t", "again"))
        assert (refused.value.problem.status, refused.value.problem.code) == (409, "turn_active")
        for message, mode in (("  \n", None), ("x", "no-such-mode")):
            with pytest.raises(ServerError) as refused:
                await collected(client.chat("fresh", message, mode=mode))
            assert refused.value.problem.status == 422
        with pytest.raises(ServerError) as refused:
            await client.request("GET", "/api/contexts/fresh")
        assert refused.value.problem.status == 404


async def test_a_file_is_attached_by_its_path(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("the secret word is plum")
    async with chat_client(tmp_path, DONE) as (world, client, _):
        body = {"message": "read it", "files": ["notes.txt"]}
        events = await collected(client.events("POST", "/api/chat/t", body))
        assert names(events) == ["token", "done"]
        assert "plum" in str(world.model.requests[-1].messages)


async def test_a_turn_continues_after_its_chat_client_disconnects(tmp_path: Path) -> None:
    pay = NoteTool("pay", "mutating", hold=True)
    async with chat_client(tmp_path, calls_answer(("pay", "a")), DONE, tools=[pay]) as (world, client, served):
        stream = client.chat("t", "go")
        async for name, _ in stream:
            if name == "tool_start":
                break
        await ended(stream)
        pay.release.set()
        live = await world.runtime.turns.rested("t")
        assert (live.state, pay.ran) == (Idle(), ["a"])
        while served.server_state.metrics.chats_open:
            await asyncio.sleep(0)


async def test_a_model_that_fails_is_an_error_then_done(tmp_path: Path) -> None:
    async with chat_client(tmp_path) as (_, client, _):  # the script is empty
        events = await collected(client.chat("t", "go"))
    assert names(events) == ["error", "done"]
    assert data(events, "error")[0]["code"] == "script_exhausted"


async def test_the_title_comes_with_the_first_turn(tmp_path: Path) -> None:
    async with chat_client(tmp_path, DONE, DONE) as (_, client, _):
        events = await collected(client.chat("t", "Fix the door\nplease"))
        assert data(events, "title") == [{"title": "Fix the door"}]
        assert not data(await collected(client.chat("t", "and the window")), "title")


async def test_a_queued_message_is_not_in_the_stream_of_the_previous_turn(tmp_path: Path) -> None:
    pay = NoteTool("pay", "mutating", hold=True)
    answers = calls_answer(("pay", "a")), Answer(text="first"), Answer(text="second")
    async with chat_client(tmp_path, *answers, tools=[pay]) as (world, client, _):
        stream = client.chat("t", "go")
        events = [await anext(stream), await anext(stream)]
        await client.send("t", "and then", queue=True)
        pay.release.set()
        events += [event async for event in stream]
        assert "".join(each["text"] for each in data(events, "token")) == "first"
        assert names(events)[-1] == "done"
        live = await world.runtime.turns.rested("t")
        assert live.core.queue == ()


async def test_a_stopping_server_sends_an_error_then_done(tmp_path: Path) -> None:
    pay = NoteTool("pay", "mutating", hold=True)
    async with chat_client(tmp_path, calls_answer(("pay", "a")), DONE, tools=[pay]) as (_, client, served):
        events = []
        async for name, each in client.chat("t", "go"):
            events.append((name, each))
            if name == "tool_start":
                served.server_state.stopping.set()
    assert names(events) == ["tool_start", "error", "done"]
    assert data(events, "error")[0]["code"] == "server_stopping"


async def two_children_wait(world: World, workspace: Path) -> None:
    """The thread `t`, and below it two sub-agents that wait for a person."""
    await world.runtime.contexts.create(workspace, context_id="t")
    for child in ("child-a", "child-b"):
        await world.runtime.contexts.create(workspace, mode="supervised", parent="t", context_id=child)
        await world.turn(child)


async def test_a_decision_must_name_its_call_when_several_sub_agents_wait(tmp_path: Path) -> None:
    pay = NoteTool("pay", "mutating", hold=True)
    answers = calls_answer(("change", "1")), calls_answer(("change", "2")), calls_answer(("pay", "x")), DONE, DONE, DONE
    async with chat_client(tmp_path, *answers, tools=[pay]) as (world, client, _):
        await two_children_wait(world, tmp_path)
        events = await collected(client.chat("t", "go"))
        assert names(events)[-2:] == ["interrupt", "done"]
        calls = data(events, "interrupt")[0]["tool_calls"]
        assert [(call["context_id"], call["args"]["text"]) for call in calls] == [("child-a", "1"), ("child-b", "2")]
        with pytest.raises(ServerError) as refused:
            await collected(resume(client, "t", {"decisions": [{"type": "approve"}]}))
        assert (refused.value.problem.status, refused.value.problem.code) == (409, "ambiguous_decision")
        events = await collected(resume(client, "t", {"decisions": [{"type": "approve", "id": calls[1]["id"]}]}))
        await world.runtime.turns.rested("child-b")
        assert world.change.ran == ["2"]
        pay.release.set()
        await world.runtime.turns.rested("t")


@pytest.mark.parametrize("decision", [{"type": "edit"}, {"type": "approve", "args": {"text": "x"}}])
async def test_arguments_belong_to_an_edit_and_an_edit_has_arguments(tmp_path: Path, decision: Any) -> None:
    async with chat_client(tmp_path, calls_answer(("change", "a")), DONE) as (world, client, _):
        await collected(client.chat("t", "go", mode="supervised"))
        with pytest.raises(ServerError) as refused:
            await collected(resume(client, "t", {"decisions": [decision]}))
        assert refused.value.problem.code == "edit_without_arguments"
        assert world.change.ran == []


async def test_a_chat_sent_while_the_last_turn_closes_streams_from_its_own_beginning(tmp_path: Path) -> None:
    store = HeldStore()
    answers = Answer(text="first"), Answer(text="second")
    async with chat_client(tmp_path, *answers, store=store) as (world, client, _):
        await world.runtime.contexts.create(tmp_path, context_id="t")
        live = await live_context(world.runtime, "t")
        release = store.hold(lambda _, change: change.core.turn is None)
        before = asyncio.ensure_future(collected(client.chat("t", "one")))
        await store.reached.wait()
        after = asyncio.ensure_future(collected(client.chat("t", "two")))
        while live.lock.locked() and not live.lock._waiters:
            await asyncio.sleep(0)
        release.set()
        store.hold(no_write)
        assert data(await before, "token") == [{"text": "first"}]
        assert data(await after, "token") == [{"text": "second"}]


async def test_a_resume_repeats_no_event_of_the_earlier_stream(tmp_path: Path) -> None:
    first = Answer(text="Let me see. ", calls=calls_answer(("change", "a")).calls)
    async with chat_client(tmp_path, first, Answer(text="Done.")) as (_, client, _):
        events = await collected(client.chat("t", "go", mode="supervised"))
        assert "".join(each["text"] for each in data(events, "token")) == "Let me see. "
        events = await collected(resume(client, "t", {"decisions": [{"type": "approve"}]}))
        assert "".join(each["text"] for each in data(events, "token")) == "Done."


async def test_a_chat_stream_has_the_whole_text_of_every_round_of_a_fast_model(tmp_path: Path) -> None:
    rounds = [Answer(text=f"round {number} ", calls=calls_answer(("look", str(number))).calls) for number in range(5)]
    store = FileStore(tmp_path / "data", now=lambda: "2026-11-15T00:00:00.000Z")
    async with chat_client(tmp_path, *[*rounds, Answer(text="end")] * 5, store=store) as (_, client, _):
        for turn in range(5):
            events = await collected(client.chat(f"t{turn}", "go", mode="build"))
            streamed = "".join(each["text"] for each in data(events, "token"))
            assert streamed == "".join(f"round {number} " for number in range(5)) + "end"


async def test_decisions_over_several_conversations_are_checked_before_the_first_is_made(tmp_path: Path) -> None:
    pay = NoteTool("pay", "mutating", hold=True)
    answers = calls_answer(("change", "1")), calls_answer(("change", "2")), calls_answer(("pay", "x")), DONE, DONE, DONE
    async with chat_client(tmp_path, *answers, tools=[pay]) as (world, client, _):
        await two_children_wait(world, tmp_path)
        calls = data(await collected(client.chat("t", "go")), "interrupt")[0]["tool_calls"]
        good = {"type": "approve", "id": calls[0]["id"]}
        for bad in ({"type": "approve", "id": calls[1]["id"], "digest": "x"}, {"type": "approve", "id": "nobody"}):
            with pytest.raises(ServerError):
                await collected(resume(client, "t", {"decisions": [good, bad]}))
        await settle()
        assert world.change.ran == []
        pay.release.set()
        await world.runtime.turns.rested("t")


@pytest.mark.parametrize(("finish", "code"), [("length", "answer_too_long"), ("content_filter", "answer_filtered")])
async def test_an_incomplete_answer_is_an_error_event_after_its_text(tmp_path: Path, finish: str, code: str) -> None:
    async with chat_client(tmp_path, Answer(text="As I was say", finish=finish)) as (_, client, _):
        events = await collected(client.chat("t", "hello"))
    assert names(events) == ["token", "error", "done"]
    assert data(events, "error")[0]["code"] == code


async def test_a_restarted_stream_has_an_event_between_the_texts(tmp_path: Path) -> None:
    cut = Answer(deltas=("Half ", "of ", "it"), cut=2, delta_delay=0.01)
    async with chat_client(tmp_path, cut, cut, Answer(text="All of it.")) as (_, client, _):
        events = await collected(client.chat("t", "hello"))
    restarts = [at for at, (name, each) in enumerate(events) if name == "error"]
    assert {events[at][1]["code"] for at in restarts} == {"answer_restarted"}
    after = [each["text"] for name, each in events[restarts[-1] :] if name == "token"]
    assert "".join(after) == "All of it."


async def test_a_resume_with_a_decided_call_is_told_the_decision(tmp_path: Path) -> None:
    async with chat_client(tmp_path, calls_answer(("change", "a"), ("change", "b")), DONE) as (world, client, _):
        first, second = data(await collected(client.chat("t", "go", mode="supervised")), "interrupt")[0]["tool_calls"]
        late = {"decisions": [{"type": "approve", "id": first["id"]}]}
        await collected(resume(client, "t", {"decisions": [{"type": "reject", "id": first["id"]}]}))
        both = {"decisions": [*late["decisions"], {"type": "approve", "id": second["id"]}]}
        for body in (late, both):  # while another call waits
            await refused_with_the_decision(client, body, first["id"])
        assert world.change.ran == []
        await collected(resume(client, "t", {"decisions": [{"type": "reject"}]}))
        await refused_with_the_decision(client, late, first["id"])  # when nothing waits


async def test_a_resume_with_a_decided_call_of_a_sub_agent_is_told_the_decision(tmp_path: Path) -> None:
    pay = NoteTool("pay", "mutating", hold=True)
    answers = calls_answer(("change", "1")), calls_answer(("change", "2")), calls_answer(("pay", "x")), DONE, DONE, DONE
    async with chat_client(tmp_path, *answers, tools=[pay]) as (world, client, _):
        await two_children_wait(world, tmp_path)
        first, _ = data(await collected(client.chat("t", "go")), "interrupt")[0]["tool_calls"]
        await world.runtime.calls.reject_all("child-a", ids=[first["id"]])
        await world.runtime.turns.rested("child-a")
        late = {"decisions": [{"type": "approve", "id": first["id"]}]}
        await refused_with_the_decision(client, late, first["id"])
        with pytest.raises(ServerError) as refused:
            await collected(resume(client, "t", {"decisions": [{"type": "approve", "id": "nobody"}]}))
        assert refused.value.problem.code == "unknown_call"
        pay.release.set()
        await world.runtime.turns.rested("t")


async def refused_with_the_decision(client: Client, body: Any, call_id: str) -> None:
    with pytest.raises(CallDecided) as refused:
        await collected(resume(client, "t", body))
    assert (refused.value.problem.status, refused.value.call_id, refused.value.verdict) == (409, call_id, "rejected")
