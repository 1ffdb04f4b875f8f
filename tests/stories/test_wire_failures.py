"""Real error responses of providers, over a real socket: the person gets the reason, and the conversation continues."""

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from typing import Any, Self

import msgspec
import pytest

from pilothouse.domain.budgets import Budget
from pilothouse.domain.codes import Code, Reason
from pilothouse.domain.messages import ErrorMessage, Message, SystemControl, Text
from pilothouse.domain.states import Idle, TransientError
from pilothouse.i18n import translate
from pilothouse.llm.openai import OpenAIAdapter
from pilothouse.llm.script import Answer, Script, ScriptedCall
from pilothouse.runtime.limits import Limits
from pilothouse.testing.provider import FakeProvider
from pilothouse.testing.world import World
from pilothouse.window.summary import INSTRUCTION
from tests.support.assertions import content_of
from tests.support.full_windows import WORDS
from tests.support.live_contexts import live_context

RETRIES = 2
SILENCE = 0.3  # for cases of silence; in others a slow machine must not decide
FINE = Answer(text="all is well")
LOOKS = Answer(calls=(ScriptedCall(tool="look", arguments={"text": "before"}),))
CHANGES = ScriptedCall(tool="change", arguments={"text": "danger"})
SPENT = 1 + RETRIES

Said = Answer | bytes  # an answer of the script, or a whole response as it goes over the wire


class ScriptedProvider(FakeProvider):
    """Plays scripted responses, for requests of a turn and for those of a summary."""

    def __init__(self, turn: Sequence[Said], summary: Sequence[Said] = ()) -> None:
        plays = [tuple(each for each in part if isinstance(each, Answer)) for part in (turn, summary)]
        super().__init__(Script(turn=plays[0], summary=plays[1]))
        self._left = {"turn": list(turn), "summary": list(summary)}

    async def __aenter__(self) -> Self:
        await super().__aenter__()
        return self

    def next_answer(self, body: bytes) -> Answer:
        self.requests.append(msgspec.json.decode(body))
        return self.player.answer(_purpose(self.requests[-1]))

    async def _answer(self, body: bytes, writer: asyncio.StreamWriter) -> None:
        request = msgspec.json.decode(body)
        left = self._left[_purpose(request)]
        reply = left.pop(0) if left and not self.find_faults(body) else None
        if isinstance(reply, bytes):
            self.requests.append(request)
            writer.write(reply)
        else:
            await super()._answer(body, writer)

    def requests_for(self, purpose: str) -> list[dict[str, Any]]:
        return [request for request in self.requests if _purpose(request) == purpose]


def _purpose(request: dict[str, Any]) -> Any:
    begins = INSTRUCTION[:60]
    return "summary" if request["messages"][0]["content"].startswith(begins) else "turn"


def http(status: int, body: Any, kind: str = "application/json", **headers: str) -> bytes:
    content = (body if isinstance(body, str) else json.dumps(body)).encode()
    fields = {"content-type": kind, "connection": "close", "content-length": str(len(content)), **headers}
    lines = [f"{name.replace('_', '-')}: {value}" for name, value in fields.items()]
    return "\r\n".join([f"HTTP/1.1 {status} X", *lines, "", ""]).encode() + content


def refusing(status: int, message: str = "no luck today", **headers: str) -> bytes:
    return http(status, {"error": {"message": message, "type": "error", "param": None, "code": None}}, **headers)


@contextlib.asynccontextmanager
async def wired(
    tmp_path: Path, turn: Sequence[Said], summary: Sequence[Said] = (), **options: Any
) -> AsyncIterator[tuple[World, ScriptedProvider]]:
    is_silent = any(isinstance(part, Answer) and part.silence is not None for part in (*turn, *summary))
    async with ScriptedProvider(turn, summary) as wire:
        adapter = OpenAIAdapter(wire.base_url, "key", silence_seconds=SILENCE if is_silent else 60)
        world = World(tmp_path, adapter=adapter, limits=Limits(retries=RETRIES), **options)
        try:
            yield world, wire
        finally:
            await world.runtime.close()


class Failure(msgspec.Struct, frozen=True):
    """A refusal, how often it is retried, and its reason for the person; `partial` is the text that stays."""

    refusal: Said
    code: Code
    params: dict[str, Any]
    times: int = SPENT
    partial: str | None = None


def _http(status: int, code: Code, times: int = SPENT) -> Failure:
    params = {"detail": "no luck today"} if status == 429 else {"status": status, "detail": "no luck today"}
    return Failure(refusing(status), code, params, times)


def _stream(*lines: str) -> Answer:
    return Answer(raw=tuple(f"data: {line}\n\n" for line in lines))


CHUNK = '{"choices":[{"delta":{"content":"Half of "}}]}'
CUT_TEXT = Answer(deltas=("Half of ", "it"), cut=1)
CUT_CALL = Answer(deltas=("I will ",), calls=(CHANGES,), cut=2)
CUT_BEHIND_CALL = Answer(deltas=("I will ",), calls=(CHANGES,), cut=3)
PAGE = "<html><body>Bad gateway</body></html>"

FAILURES = {
    "400": _http(400, Code.MODEL_REFUSED, 1),
    "401": _http(401, Code.MODEL_AUTH, 1),
    "403": _http(403, Code.MODEL_AUTH, 1),
    "404": _http(404, Code.MODEL_REFUSED, 1),
    "413": _http(413, Code.MODEL_REFUSED, 1),
    "422": _http(422, Code.MODEL_REFUSED, 1),
    "429": _http(429, Code.MODEL_RATE_LIMITED),
    "429 with a time": Failure(
        refusing(429, "slow down", retry_after="7"), Code.MODEL_RATE_LIMITED, {"detail": "slow down"}
    ),
    "500": _http(500, Code.MODEL_OVERLOADED),
    "502": _http(502, Code.MODEL_OVERLOADED),
    "503": _http(503, Code.MODEL_OVERLOADED),
    "a page of a proxy": Failure(http(502, PAGE, "text/html"), Code.MODEL_OVERLOADED, {"status": 502, "detail": PAGE}),
    "200 with an error in JSON": Failure(
        http(200, {"error": {"message": "no such model"}}),
        Code.MODEL_REFUSED,
        {"status": 200, "detail": "no such model"},
        1,
    ),
    "an error in the stream": Failure(
        _stream('{"error": {"message": "the engine died"}}'),
        Code.MODEL_OVERLOADED,
        {"status": "in the stream", "detail": "the engine died"},
    ),
    "an error behind some text": Failure(
        _stream(CHUNK, '{"error": {"message": "the engine died"}}'),
        Code.MODEL_OVERLOADED,
        {"status": "in the stream", "detail": "the engine died"},
        partial="Half of ",
    ),
    "a garbled chunk": Failure(_stream("{garbled"), Code.MODEL_GARBLED, {}),
    "a garbled chunk behind some text": Failure(_stream(CHUNK, "{garbled"), Code.MODEL_GARBLED, {}, partial="Half of "),
    "cut before anything": Failure(Answer(text="x", cut=0), Code.MODEL_CUT, {}),
    "cut in the middle of a text": Failure(CUT_TEXT, Code.MODEL_CUT, {}, partial="Half of "),
    "cut in the middle of a call": Failure(CUT_CALL, Code.MODEL_CUT, {}, partial="I will "),
    "cut behind a whole call": Failure(CUT_BEHIND_CALL, Code.MODEL_CUT, {}, partial="I will "),
    "an empty stream": Failure(_stream(), Code.MODEL_CUT, {}),
    "an answer that says nothing": Failure(Answer(text=""), Code.EMPTY_ANSWER, {}, 1),
    "silence": Failure(Answer(text="x", silence=0), Code.MODEL_TIMEOUT, {"seconds": SILENCE}),
    "silence behind some text": Failure(
        Answer(deltas=("Half of ", "it"), silence=1), Code.MODEL_TIMEOUT, {"seconds": SILENCE}, partial="Half of "
    ),
}
failures = pytest.mark.parametrize("name", FAILURES)


async def errors(world: World, context_id: str) -> list[ErrorMessage]:
    messages = await world.runtime.messages.read(context_id, limit=1000)
    return [message for message in messages if isinstance(message, ErrorMessage)]


def check_error(error: Message, code: Code, params: dict[str, Any]) -> Reason:
    """An assistant's message of the kind error, whose words are made where they are read."""
    assert isinstance(error, ErrorMessage)
    encoded = msgspec.to_builtins(error)
    assert (encoded["role"], encoded["type"]) == ("assistant", "error")
    assert error.reason.code is code
    assert {name: error.reason.params.get(name) for name in params} == params
    english, chinese = translate(error.reason, "en"), translate(error.reason, "zh")
    assert english.isascii()
    assert not chinese.isascii()
    for words in (english, chinese):
        assert all(str(value) in words for value in params.values())
    return error.reason


async def continue_or_send(world: World, context_id: str, how: str | None) -> None:
    if how is None:
        await world.runtime.turns.continue_(context_id)
        await world.runtime.turns.rested(context_id)
    else:
        await world.turn(context_id, how)


@pytest.mark.parametrize("how", [None, "continue", "继续"], ids=["command", "en", "zh"])
@failures
async def test_a_provider_failure_is_reported_and_the_conversation_continues(
    tmp_path: Path, name: str, how: str | None
) -> None:
    failure = FAILURES[name]
    async with wired(tmp_path, [LOOKS, *[failure.refusal] * failure.times, FINE]) as (world, wire):
        context_id = await world.start()
        await world.turn(context_id, "please look")
        live = await live_context(world.runtime, context_id)
        assert (live.state, live.core.last_turn, live.core.turn) == (Idle(), "error", None)
        assert len(wire.requests) == 1 + failure.times
        messages = await world.runtime.messages.read(context_id)
        reason = check_error(messages[-1], failure.code, failure.params)
        texts = [message for message in messages if isinstance(message, Text) and message.role == "assistant"]
        partials = [] if failure.partial is None else [(failure.partial, "cut")]
        assert [(text.content, text.ended) for text in texts] == partials, "one of them, however often it was tried"
        assert len(world.ambient.slept) == failure.times - 1

        await continue_or_send(world, context_id, how)
        assert (live.state, live.core.last_turn) == (Idle(), "complete")
        assert content_of((await world.runtime.messages.read(context_id))[-1]) == "all is well"
        assert world.look.ran == ["before"], "it goes on from where it was"
        assert world.change.ran == [], "nothing of a cut call runs"
        sent = wire.requests[-1]["messages"][1:]
        roles = ["user", "assistant", "tool"]
        assert [message["role"] for message in sent] == (roles if how is None else [*roles, "user"])
        assert how is None or sent[-1]["content"] == how
        sent_text = json.dumps(sent, ensure_ascii=False)
        for words in (
            translate(reason),
            translate(reason, "zh"),
            str(reason.params.get("detail", "-nothing-")),
            "Half",
            "I will",
        ):
            assert words not in sent_text


async def test_retry_after_of_a_provider_is_honoured_until_the_retries_are_spent(tmp_path: Path) -> None:
    failure = FAILURES["429 with a time"]
    async with wired(tmp_path, [failure.refusal] * failure.times) as (world, _):
        await world.turn(await world.start())
        assert world.ambient.slept == [7] * RETRIES
        waits = [state for state in world.entered if isinstance(state, TransientError)]
        assert [(wait.retry_count, wait.max_retries) for wait in waits] == [(1, RETRIES), (2, RETRIES)]


async def test_an_unreachable_provider_is_reported_and_used_once_it_is_back(tmp_path: Path) -> None:
    async with ScriptedProvider([FINE]) as wire:
        address = wire.base_url
        await wire.stop()
        world = World(tmp_path, adapter=OpenAIAdapter(address, None), limits=Limits(retries=RETRIES))
        context_id = await world.start()
        await world.turn(context_id, "are you there?")
        (error,) = await errors(world, context_id)
        check_error(error, Code.MODEL_CONNECT, {"address": f"{address}/chat/completions"})
        assert isinstance((await world.runtime.contexts.get(context_id)).state, Idle)
        port = int(address.split(":")[2].split("/")[0])
        wire._server = await asyncio.start_server(wire._serve, "127.0.0.1", port)
        await continue_or_send(world, context_id, None)
        assert content_of((await world.runtime.messages.read(context_id))[-1]) == "all is well"
        assert "127.0.0.1" not in json.dumps(wire.requests[-1]["messages"][1:])
        await world.runtime.close()


# a request that is too long


def _vllm(message: str) -> bytes:
    return http(400, {"object": "error", "message": message, "type": "BadRequestError", "param": None, "code": 400})


OPENAI = "This model's maximum context length is 8192 tokens. However, your messages resulted in 9012 tokens."
LLAMA = {
    "code": 400,
    "message": "the request exceeds the available context size, try increasing it",
    "type": "exceed_context_size_error",
    "n_prompt_tokens": 9012,
    "n_ctx": 8192,
}
OLLAMA = "the input length exceeds the context length"
TOO_LONG: dict[str, Said] = {
    "OpenAI": http(
        400, {"error": {"message": OPENAI, "type": "invalid_request_error", "code": "context_length_exceeded"}}
    ),
    "OpenAI, only the code": http(400, {"error": {"message": "Too long.", "code": "context_length_exceeded"}}),
    "vLLM": _vllm("This model's maximum context length is 4096 tokens. However, you requested 9012 tokens"),
    "vLLM, newer": http(
        400, {"error": {"message": "However, the model's context length is only 4096 tokens", "code": 400}}
    ),
    "llama.cpp": http(400, {"error": LLAMA}),
    "llama.cpp, as an error of its own": http(500, {"error": {**LLAMA, "code": 500}}),
    "llama.cpp, without the status": http(200, {"error": LLAMA}),
    "llama.cpp, in the stream": _stream(json.dumps({"error": LLAMA})),
    "Ollama": http(400, {"error": {"message": OLLAMA, "type": "invalid_request_error", "param": None, "code": None}}),
    "Ollama, plain": http(500, {"error": OLLAMA}),
    "Ollama, what its runner said": http(400, {"error": {"message": json.dumps({"error": LLAMA}), "code": None}}),
    "a proxy": http(413, "prompt is too long", "text/plain"),
}
too_long = pytest.mark.parametrize("server", TOO_LONG)
TALK = 8
TALKS = [Answer(text=f"{number} {WORDS}") for number in range(TALK)]
IN_SHORT = Answer(text="In short.")


async def context_to_summarize(world: World) -> str:
    """A conversation with messages to summarize, far from full."""
    context_id = await world.start()
    for number in range(TALK):
        await world.turn(context_id, f"{number} {WORDS}")
    return context_id


async def summaries(world: World, context_id: str) -> list[SystemControl]:
    messages = await world.runtime.messages.read(context_id, limit=1000)
    return [message for message in messages if isinstance(message, SystemControl) and message.kind == "summary"]


@too_long
async def test_a_request_that_is_too_long_is_compressed_once_and_sent_again(tmp_path: Path, server: str) -> None:
    async with wired(tmp_path, [*TALKS, TOO_LONG[server], FINE], [IN_SHORT]) as (world, wire):
        context_id = await context_to_summarize(world)
        await world.turn(context_id, "and now?")
        assert await errors(world, context_id) == []
        (summary,) = await summaries(world, context_id)
        assert (summary.content, summary.detail["how"]) == ("In short.", "model")
        refused, sent = wire.requests_for("turn")[-2:]
        assert len(sent["messages"]) < len(refused["messages"])
        assert "In short." in sent["messages"][1]["content"]
        assert content_of((await world.runtime.messages.read(context_id))[-1]) == "all is well"
        assert world.ambient.slept == [0], "there is nothing to wait for"


SAYS_NOTHING = ("OpenAI, only the code", "Ollama", "Ollama, plain", "a proxy")


@too_long
async def test_the_window_size_is_learned_from_a_refusal_that_names_it(tmp_path: Path, server: str) -> None:
    window = None if server in SAYS_NOTHING else 4096 if "vLLM" in server else 8192
    async with wired(tmp_path, [*TALKS, TOO_LONG[server], FINE], [IN_SHORT]) as (world, _):
        context_id = await context_to_summarize(world)
        before = (await world.runtime.window.meter(context_id)).budget
        assert before > 8192
        await world.turn(context_id, "and now?")
        assert (await world.runtime.window.meter(context_id)).budget == (window or before)
        fresh = await world.start()
        assert (await world.runtime.window.meter(fresh)).budget == (window or before), (
            "it is the model's, not the conversation's"
        )


@too_long
async def test_a_request_that_stays_too_long_is_an_error_and_can_be_continued(tmp_path: Path, server: str) -> None:
    reply = TOO_LONG[server]
    async with wired(tmp_path, [*TALKS, reply, reply, FINE], [IN_SHORT]) as (world, wire):
        context_id = await context_to_summarize(world)
        await world.turn(context_id, "and now?")
        live = await world.runtime.contexts.get(context_id)
        assert (live.state, live.core.last_turn) == (Idle(), "error")
        (error,) = await errors(world, context_id)
        reason = check_error(error, Code.MODEL_TOO_LONG, {})
        assert len(await summaries(world, context_id)) == 1
        await continue_or_send(world, context_id, None)
        assert content_of((await world.runtime.messages.read(context_id))[-1]) == "all is well"
        assert translate(reason) not in json.dumps(wire.requests[-1])
        assert len(wire.requests_for("summary")) == 1


async def test_a_request_that_cannot_be_compressed_is_retried_once_and_reported(tmp_path: Path) -> None:
    reply = TOO_LONG["OpenAI"]
    async with wired(tmp_path, [reply, reply]) as (world, wire):
        context_id = await world.start()
        await world.turn(context_id)
        (error,) = await errors(world, context_id)
        check_error(error, Code.MODEL_TOO_LONG, {"detail": OPENAI})
        assert len(wire.requests) == 2


async def test_without_auto_compress_fewer_messages_are_sent(tmp_path: Path) -> None:
    budget = Budget(auto_compress=False)
    async with wired(tmp_path, [*TALKS, TOO_LONG["OpenAI"], FINE], budget=budget) as (world, wire):
        context_id = await context_to_summarize(world)
        await world.turn(context_id, "and now?")
        assert await errors(world, context_id) == []
        assert (await world.runtime.contexts.get(context_id)).core.last_turn == "complete"
        *_, refused, sent = (len(json.dumps(request)) for request in wire.requests)
        assert sent < refused
        assert await summaries(world, context_id) == []


# a summary that fails

SUMMARY_FAILURES = {
    **{name: (failure.refusal, failure.code) for name, failure in FAILURES.items()},
    **{f"too long, {server}": (refusal, Code.MODEL_TOO_LONG) for server, refusal in TOO_LONG.items()},
}


@pytest.mark.parametrize("name", SUMMARY_FAILURES)
async def test_a_turn_continues_without_a_summary_when_the_model_gives_none(tmp_path: Path, name: str) -> None:
    reply, code = SUMMARY_FAILURES[name]
    async with wired(tmp_path, [*TALKS, TOO_LONG["OpenAI"], FINE], [reply, reply]) as (world, wire):
        context_id = await context_to_summarize(world)
        await world.turn(context_id, "and now?")
        live = await world.runtime.contexts.get(context_id)
        assert (live.state, live.core.last_turn) == (Idle(), "complete")
        (summary,) = await summaries(world, context_id)
        assert summary.detail["how"] == "truncated"
        assert summary.detail["why"]["code"] == code
        assert "earlier messages were left out" in summary.content
        for words in ("no luck", "Half of", "I will", "context"):
            assert words not in summary.content, "neither the error nor half of an answer is told as a summary"
        assert await errors(world, context_id) == []
        assert world.change.ran == []
        assert content_of((await world.runtime.messages.read(context_id))[-1]) == "all is well"
        assert summary.content in wire.requests[-1]["messages"][1]["content"]
