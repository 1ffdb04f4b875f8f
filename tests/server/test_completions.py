"""OpenAI's chat completions: the mode is fixed, and calls that need approval are denied and reported."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import aiohttp
import msgspec
import pytest

from pilothouse.client import Client, ServerError
from pilothouse.domain.messages import Usage
from pilothouse.domain.workspace_policy import WorkspacePolicy
from pilothouse.llm.script import Answer, ScriptedCall
from pilothouse.sse import sse_events
from pilothouse.testing.served import TOKEN, Served
from pilothouse.testing.tools import NoteTool
from pilothouse.testing.world import World
from pilothouse.tools.builtin.delegate import Delegate
from tests.support.held_store import DONE, HeldStore, calls_answer
from tests.support.live_contexts import live_context, live_context_at_rest

PATH = "/v1/chat/completions"
HELLO = [{"role": "user", "content": "hello"}]


@asynccontextmanager
async def serving(tmp_path: Path, *answers: Answer, **options: Any) -> AsyncIterator[tuple[World, Client, Served]]:
    world = World(tmp_path, *answers, tools=[Delegate()])
    async with (
        world.runtime,
        Served(world.runtime, [tmp_path], **options) as served,
        served.client() as client,
    ):
        yield world, client, served


async def test_an_answer_has_openais_form(tmp_path: Path) -> None:
    async with serving(tmp_path, Answer(text="Hello to you.", usage=Usage(input_tokens=7, output_tokens=3))) as (
        _,
        client,
        _,
    ):
        response = await client.request("POST", PATH, {"model": "x", "messages": HELLO, "temperature": 0.5, "n": 1})
    assert response["object"] == "chat.completion"
    assert response["choices"][0]["message"] == {"role": "assistant", "content": "Hello to you."}
    assert response["usage"] == {"prompt_tokens": 7, "completion_tokens": 3, "total_tokens": 10}


async def test_a_stream_has_openais_form_and_ends_with_done(tmp_path: Path) -> None:
    async with serving(tmp_path, Answer(deltas=("Hel", "lo."))) as (_, _, served), aiohttp.ClientSession() as http:
        body = {"model": "x", "messages": HELLO, "stream": True}
        headers = {"authorization": f"Bearer {TOKEN}"}
        async with http.post(served.url + PATH, json=body, headers=headers) as answer:
            assert answer.content_type == "text/event-stream"
            lines = [line async for line in answer.content if line.strip()]
    assert lines[-1] == b"data: [DONE]\n"
    chunks = [msgspec.json.decode(line.removeprefix(b"data: ")) for line in lines[:-1]]
    assert "".join(each["choices"][0]["delta"].get("content", "") for each in chunks) == "Hello."
    assert chunks[-1]["choices"][0]["finish_reason"] == "stop"
    assert {each["object"] for each in chunks} == {"chat.completion.chunk"}


@pytest.mark.parametrize("mode", ["review", "supervised", "plan", "ask"])
async def test_calls_that_need_approval_are_denied_and_reported_in_the_completion(tmp_path: Path, mode: str) -> None:
    answers = calls_answer(("change", "a")), Answer(text="I could not.")
    async with serving(tmp_path, *answers, completions_mode=mode) as (world, client, _):
        response = await client.request("POST", PATH, {"messages": HELLO})
        assert world.change.ran == []
    content = response["choices"][0]["message"]["content"]
    assert "Change" in content or "change" in content
    assert "[" in content


async def test_a_question_is_answered_with_a_note_that_nobody_is_there(tmp_path: Path) -> None:
    question = {"questions": [{"question": "Which?"}, {"question": "When?"}]}
    request = Answer(calls=(ScriptedCall(tool="ask_user", arguments=question),))
    async with serving(tmp_path, request, Answer(text="Fine.")) as (world, client, _):
        response = await client.request("POST", PATH, {"messages": HELLO})
        assert "Nobody can be asked" in str(world.model.requests[-1].messages)
    content = response["choices"][0]["message"]["content"]
    assert content.startswith("Fine.")
    assert "Not done" in content
    assert "Which?" in content


async def test_a_sub_agent_that_waits_is_denied_too(tmp_path: Path) -> None:
    sends = Answer(calls=(ScriptedCall(tool="delegate", arguments={"task": "change it"}),))
    answers = sends, calls_answer(("change", "a")), Answer(text="I was not allowed."), Answer(text="It was not done.")
    async with serving(tmp_path, *answers, completions_mode="review") as (world, client, _):
        response = await client.request("POST", PATH, {"messages": HELLO})
        assert world.change.ran == []
    assert "It was not done." in response["choices"][0]["message"]["content"]


async def test_earlier_messages_are_sent_to_the_model_unless_a_context_is_named(tmp_path: Path) -> None:
    async with serving(tmp_path, DONE, DONE) as (world, client, _):
        history = [
            {"role": "system", "content": "Be brief."},
            {"role": "user", "content": [{"type": "text", "text": "My name is Ada."}]},
            {"role": "assistant", "content": "Noted."},
            {"role": "user", "content": "What is it?"},
        ]
        await client.request("POST", PATH, {"messages": history})
        sent = str(world.model.requests[-1].messages)
        assert "Be brief." in sent
        assert "My name is Ada." in sent
        context_id = await world.start("agent")
        await client.request("POST", PATH, {"messages": history, "metadata": {"context_id": context_id}})
        assert "Ada" not in str(world.model.requests[-1].messages)
        live = await world.runtime.contexts.get(context_id)
        assert live.core.mode == "review"


async def test_bad_requests_are_refused_and_leave_nothing(tmp_path: Path) -> None:
    async with serving(tmp_path, DONE) as (world, client, served):
        bad: list[Any] = [
            {"messages": []},
            {},
            {"messages": [{"role": "assistant", "content": "x"}]},
            {"messages": [{"role": "user", "content": " "}]},
            {"messages": [{"role": "nobody", "content": "x"}]},
        ]
        for body in bad:
            with pytest.raises(ServerError) as refused:
                await client.request("POST", PATH, body)
            assert refused.value.problem.status == 422
        mine = await world.start()
        async with Client(served.url, served.tokens.add("anna")) as anna:
            with pytest.raises(ServerError) as refused:
                await anna.request("POST", PATH, {"messages": HELLO, "metadata": {"context_id": mine}})
            assert refused.value.problem.status == 404
        assert len((await client.request("GET", "/api/contexts"))["items"]) == 1


async def test_a_model_that_fails_is_502(tmp_path: Path) -> None:
    async with serving(tmp_path) as (_, client, _):
        with pytest.raises(ServerError) as refused:
            await client.request("POST", PATH, {"messages": HELLO})
        assert (refused.value.problem.status, refused.value.problem.code) == (502, "script_exhausted")


async def test_a_context_in_a_stricter_mode_stays_in_it(tmp_path: Path) -> None:
    async with serving(tmp_path, calls_answer(("change", "a")), completions_mode="agent") as (world, client, _):
        context_id = await world.start("plan")
        await client.request("POST", PATH, {"messages": HELLO, "metadata": {"context_id": context_id}})
        assert (await world.runtime.contexts.get(context_id)).core.mode == "plan"
        assert world.change.ran == []


async def test_a_stricter_mode_of_the_folder_and_the_users_policy_hold_here_too(tmp_path: Path) -> None:
    answers = calls_answer(("change", "a")), calls_answer(("look", "b")), DONE
    steering = WorkspacePolicy(mode="plan")
    world = World(tmp_path, *answers, workspace_policy=lambda _: steering)
    async with (
        world.runtime,
        Served(world.runtime, [tmp_path], completions_mode="agent") as served,
        served.client() as client,
    ):
        await client.request("PUT", "/api/session/preferences", {"tool_approval_policy": {"kind": "manual"}})
        await client.request("POST", PATH, {"messages": HELLO})
        await client.request("POST", PATH, {"messages": HELLO})
        assert (world.change.ran, world.look.ran) == ([], [])


async def test_waiting_calls_are_denied_after_the_client_disconnects(tmp_path: Path) -> None:
    answers = Answer(text="Let me see.", calls=calls_answer(("change", "a")).calls, delta_delay=0.01), DONE
    async with serving(tmp_path, *answers) as (world, _, served), aiohttp.ClientSession() as http:
        body = {"messages": HELLO, "stream": True}
        headers = {"authorization": f"Bearer {TOKEN}"}
        async with http.post(served.url + PATH, json=body, headers=headers) as answer:
            context_id = answer.headers["x-pilothouse-context"]
            await answer.content.readline()
        live = await live_context_at_rest(world.runtime, context_id)
        with world.runtime.signals([context_id]) as signals:
            while live.core.turn is not None:
                await anext(signals)
        assert (live.core.last_turn, world.change.ran) == ("complete", [])
        while served.server_state.metrics.chats_open:
            await asyncio.sleep(0)


@pytest.mark.parametrize("stream", [False, True])
async def test_a_stopping_server_ends_the_completion_with_an_error(tmp_path: Path, stream: bool) -> None:
    pay = NoteTool("pay", "read_only", hold=True)
    world = World(tmp_path, calls_answer(("pay", "a")), DONE, tools=[pay])
    async with world.runtime, Served(world.runtime, [tmp_path]) as served, aiohttp.ClientSession() as http:
        body = {"messages": HELLO, "stream": stream}
        headers = {"authorization": f"Bearer {TOKEN}"}
        asking = asyncio.ensure_future(http.post(served.url + PATH, json=body, headers=headers))
        await pay.started.wait()
        served.server_state.stopping.set()
        async with await asking as answer:
            text = await answer.text()
            assert answer.status == (200 if stream else 503)
            assert "stopping" in text
            assert not stream or text.endswith("data: [DONE]\n\n")


async def test_a_switch_to_a_stricter_mode_that_is_on_its_way_holds(tmp_path: Path) -> None:
    store = HeldStore()
    world = World(tmp_path, calls_answer(("change", "a")), DONE, store=store)
    async with (
        world.runtime,
        Served(world.runtime, [tmp_path], completions_mode="review") as served,
        served.client() as client,
    ):
        context_id = await world.start("agent")
        live = await live_context(world.runtime, context_id)
        release = store.hold(lambda _, change: change.core.mode == "plan")
        switching = asyncio.ensure_future(client.request("PUT", f"/api/contexts/{context_id}/mode", {"mode": "plan"}))
        await store.reached.wait()
        body = {"messages": HELLO, "metadata": {"context_id": context_id}}
        asking = asyncio.ensure_future(client.request("POST", PATH, body))
        while not live.lock._waiters:
            await asyncio.sleep(0)
        release.set()
        await asyncio.gather(switching, asking)
        assert (live.core.mode, world.change.ran) == ("plan", [])


async def test_a_store_that_refuses_the_denial_once_does_not_leave_the_call_waiting(tmp_path: Path) -> None:
    store = HeldStore()
    world = World(tmp_path, calls_answer(("change", "a")), Answer(text="Not done."), store=store)
    refused: list[int] = []

    def refuses(_: object, change: Any) -> bool:
        is_denial = any(call.status == "rejected" for call in change.calls)
        refused.extend([1] if is_denial and not refused else [])
        if is_denial and len(refused) == 1:
            refused.append(2)
            return True
        return False

    store.refuses = refuses
    async with world.runtime, Served(world.runtime, [tmp_path]) as served, served.client() as client:
        response = await client.request("POST", PATH, {"messages": HELLO})
    assert refused == [1, 2]
    assert "Not done." in response["choices"][0]["message"]["content"]
    assert world.change.ran == []


@pytest.mark.parametrize(
    ("modes", "chosen"),
    [
        (("ask", "plan"), "ask"),
        (("plan", "ask"), "ask"),
        (("plan", "supervised"), "plan"),
        (("supervised", "plan"), "plan"),
        (("review", "supervised"), "supervised"),
        (("agent", "review"), "review"),
        (("nope", None, "review"), "review"),
    ],
)
async def test_of_several_usual_modes_the_strictest_is_taken(tmp_path: Path, modes: Any, chosen: str) -> None:
    world = World(tmp_path)
    async with world.runtime:
        context_id = await world.runtime.contexts.create(tmp_path, usual_modes=modes)
        assert (await world.runtime.contexts.get(context_id)).core.mode == chosen


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize(
    ("finish", "expected"), [("length", "length"), ("content_filter", "content_filter"), ("refusal", "content_filter")]
)
@pytest.mark.parametrize("text", ["As I was say", ""])
async def test_the_finish_reason_of_an_incomplete_answer_is_passed_on(
    tmp_path: Path, stream: bool, finish: str, expected: str, text: str
) -> None:
    async with serving(tmp_path, Answer(text=text, finish=finish)) as (_, client, served):
        if not stream:
            (choice,) = (await client.request("POST", PATH, {"messages": HELLO}))["choices"]
            assert (choice["message"]["content"], choice["finish_reason"]) == (text, expected)
            return
        async with aiohttp.ClientSession() as http:
            headers = {"authorization": f"Bearer {TOKEN}"}
            async with http.post(
                served.url + PATH, json={"messages": HELLO, "stream": True}, headers=headers
            ) as answer:
                payloads = [payload async for _, payload in sse_events(answer.content)]
    chunks = [msgspec.json.decode(payload)["choices"][0] for payload in payloads[:-1]]
    assert "".join(each["delta"].get("content", "") for each in chunks) == text
    assert chunks[-1]["finish_reason"] == expected


async def test_a_whole_answer_holds_no_text_of_attempts_that_were_cut(tmp_path: Path) -> None:
    cut = Answer(deltas=("Half ", "of ", "it"), cut=2)
    async with serving(tmp_path, cut, cut, Answer(text="All of it.")) as (world, client, _):
        (choice,) = (await client.request("POST", PATH, {"messages": HELLO}))["choices"]
        assert world.ambient.slept
    assert choice == {"index": 0, "message": {"role": "assistant", "content": "All of it."}, "finish_reason": "stop"}
