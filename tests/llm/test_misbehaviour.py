"""A provider that fails in every way it can, over a real socket: the turn ends in a defined state, nothing is lost."""

import asyncio
import contextlib
import json
import socket
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

from pilothouse.domain.codes import Code
from pilothouse.domain.errors import ModelRefused, ModelUnavailable
from pilothouse.domain.messages import ErrorMessage, Text, ToolResult
from pilothouse.domain.states import Idle, TransientError
from pilothouse.llm.openai import OpenAIAdapter
from pilothouse.llm.script import Answer, Script, ScriptedCall, ScriptedError
from pilothouse.runtime.limits import Limits
from pilothouse.testing.provider import FakeProvider
from pilothouse.testing.world import World
from tests.support.scale import HANG_SECONDS

FINE = msgspec.convert({"text": "all is well", "usage": {"input_tokens": 3, "output_tokens": 4}}, Answer)


@contextlib.asynccontextmanager
async def provided(
    tmp_path: Path, *answers: Answer, silence_seconds: float = 0.3, **options: Any
) -> AsyncIterator[tuple[World, FakeProvider]]:
    async with FakeProvider(Script(turn=answers)) as provider:
        adapter = OpenAIAdapter(provider.base_url, "key", connect_seconds=1, silence_seconds=silence_seconds)
        world = World(tmp_path, adapter=adapter, **options)
        yield world, provider
        await world.runtime.close()


def failing(status: int, retry_after: str | None = None) -> Answer:
    return Answer(error=ScriptedError(status=status, message="no luck", retry_after=retry_after))


async def last(world: World, context_id: str) -> Any:
    return (await world.runtime.messages.read(context_id))[-1]


async def test_text_calls_usage_and_the_finish_reason_arrive(tmp_path: Path) -> None:
    call = Answer(text="let me look", calls=(ScriptedCall(tool="look", arguments={"text": "ä你"}),))
    async with provided(tmp_path, call, FINE) as (world, provider):
        context_id = await world.start()
        await world.turn(context_id, "hello ü")
        assert world.look.ran == ["ä你"]
        message = await last(world, context_id)
        assert (message.content, message.finish_reason) == ("all is well", "stop")
        assert (await world.runtime.contexts.get(context_id)).core.usage.output_tokens == 4
        first, second = provider.requests
        assert first["messages"][-1] == {"role": "user", "content": "hello ü"}
        assert [tool["function"]["name"] for tool in first["tools"]] == ["look", "change", "ask_user"]
        roles = [message["role"] for message in second["messages"]]
        assert roles == ["system", "user", "assistant", "tool"]
        assert second["messages"][2]["tool_calls"][0]["id"] == second["messages"][3]["tool_call_id"]
        assert b"authorization: bearer key" in provider.headers[0].lower()


@pytest.mark.parametrize("status", [408, 429, 500, 502, 503, 529])
async def test_a_transient_error_is_retried_visibly(tmp_path: Path, status: int) -> None:
    async with provided(tmp_path, failing(status), failing(status), FINE) as (world, _):
        context_id = await world.start()
        await world.turn(context_id)
        assert (await last(world, context_id)).content == "all is well"
        retries = [state for state in world.entered if isinstance(state, TransientError)]
        assert [(state.retry_count, state.max_retries) for state in retries] == [(1, 5), (2, 5)]
        assert world.ambient.slept[0] < world.ambient.slept[1]


@pytest.mark.parametrize("status", [400, 401, 403, 404, 422])
async def test_a_permanent_error_is_not_retried(tmp_path: Path, status: int) -> None:
    async with provided(tmp_path, failing(status), FINE) as (world, provider):
        context_id = await world.start()
        await world.turn(context_id)
        message = await last(world, context_id)
        assert isinstance(message, ErrorMessage)
        assert "no luck" in message.reason.params["detail"]
        assert len(provider.requests) == 1
        await world.runtime.turns.continue_(context_id)
        await world.runtime.turns.rested(context_id)
        assert (await last(world, context_id)).content == "all is well"


@pytest.mark.parametrize(
    ("header", "seconds"),
    [("7", 7), ("0.5", 0.5), ("Thu, 01 Jan 2026 00:00:09 GMT", 9), ("999999", 120), ("-3", 0)],
)
async def test_retry_after_is_honoured_and_capped(tmp_path: Path, header: str, seconds: float) -> None:
    async with provided(tmp_path, failing(429, header), FINE) as (world, _):
        context_id = await world.start()
        await world.turn(context_id)
        assert world.ambient.slept == [seconds]


async def test_a_retry_after_that_says_nothing_falls_back_to_the_backoff(tmp_path: Path) -> None:
    async with provided(tmp_path, failing(429, "soon"), FINE) as (world, _):
        context_id = await world.start()
        await world.turn(context_id)
        assert 0 < world.ambient.slept[0] < 1


async def test_after_five_retries_the_turn_fails_with_a_reason_and_can_be_continued(tmp_path: Path) -> None:
    async with provided(tmp_path, *[failing(503)] * 6, FINE) as (world, provider):
        context_id = await world.start()
        await world.turn(context_id)
        assert len(provider.requests) == 6
        assert world.states[-2:] == ["saving_message", "idle"]
        assert (await last(world, context_id)).reason.code == "model_overloaded"
        await world.runtime.turns.continue_(context_id)
        await world.runtime.turns.rested(context_id)
        assert (await last(world, context_id)).content == "all is well"


async def test_an_unreachable_provider_is_retried_then_reported(tmp_path: Path) -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        port = unused.getsockname()[1]
    world = World(tmp_path, adapter=OpenAIAdapter(f"http://127.0.0.1:{port}/v1", None), limits=Limits(retries=2))
    context_id = await world.start()
    await world.turn(context_id)
    assert (await last(world, context_id)).reason.code == "model_connect"
    assert world.states.count("transient_error") == 2
    await world.runtime.close()


@pytest.mark.parametrize("events", [0, 1, 2])
async def test_silence_at_any_point_ends_in_a_retry(tmp_path: Path, events: int) -> None:
    silent = Answer(deltas=("one ", "two ", "three"), silence=events)
    async with provided(tmp_path, silent, FINE) as (world, _):
        context_id = await world.start()
        await world.turn(context_id)
        assert (await last(world, context_id)).content == "all is well"
        assert world.states.count("transient_error") == 1


async def test_silence_before_the_headers_ends_in_a_retry(tmp_path: Path) -> None:
    async with provided(tmp_path, Answer(text="late", delay=5), FINE) as (world, _):
        context_id = await world.start()
        await world.turn(context_id)
        assert (await last(world, context_id)).content == "all is well"


async def test_a_silent_model_can_be_cancelled_at_once(tmp_path: Path) -> None:
    async with provided(tmp_path, Answer(text="x", silence=1), silence_seconds=60) as (world, _):
        context_id = await world.start()
        await world.runtime.messages.send(context_id, "hi")
        while "streaming_llm_response" not in world.states:
            await asyncio.sleep(0.01)
        async with asyncio.timeout(HANG_SECONDS):
            await world.runtime.turns.cancel(context_id)


async def test_a_cut_stream_keeps_its_text_runs_none_of_its_calls_and_is_asked_again(tmp_path: Path) -> None:
    change = ScriptedCall(tool="change", arguments={"text": "danger"})
    total = len(list(Answer(deltas=("I ", "will "), calls=(change,)).events()))
    for cut in range(1, total):
        async with provided(tmp_path, Answer(deltas=("I ", "will "), calls=(change,), cut=cut), FINE) as (
            world,
            provider,
        ):
            context_id = await world.start()
            await world.turn(context_id)
            assert world.change.ran == [], f"cut after {cut} events"
            texts = [m for m in await world.runtime.messages.read(context_id) if isinstance(m, Text)]
            assert [text.ended for text in texts[1:]] == ["cut", "complete"]
            assert texts[1].content == "I will "[: 2 if cut == 1 else 7]
            assert "will" not in str(provider.requests[1]["messages"][1:])


async def test_a_stream_that_ends_before_anything_came_is_retried(tmp_path: Path) -> None:
    async with provided(tmp_path, Answer(text="x", cut=0), FINE) as (world, _):
        context_id = await world.start()
        await world.turn(context_id)
        assert (await last(world, context_id)).content == "all is well"


def chunk(content: str) -> str:
    return '{"choices":[{"delta":{"content":"' + content + '"}}]}'


DONE = 'data: {"choices":[{"delta":{},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n'


@pytest.mark.parametrize(
    "raw",
    [
        ("\ufeff", f"data: {chunk('good')}\n\n", DONE),
        (f"data: {chunk('good')}\r\n\r\n", DONE.replace("\n", "\r\n")),
        (": a comment\n\nevent: ping\nid: 7\nretry: 5\n", f"data:{chunk('good')}\n\n", DONE),
        tuple(f"data: {chunk('good')}\n\n{DONE}"),
        (f"data: {chunk('good')}\n\n", 'data: {"unknown": {"shape": []}, "choices": []}\n\n', DONE),
        (f"data: {chunk('good')}\n\n", "data: [DONE]\n\n"),
        (f"data: {chunk('good')}\n\n", 'data: {"choices": null, "usage": {"prompt_tokens": 1.5}}\n\n', DONE),
    ],
    ids=["byte order mark", "CRLF", "comments", "byte by byte", "unknown fields", "no finish reason", "nulls"],
)
async def test_odd_but_valid_streams_are_understood(tmp_path: Path, raw: tuple[str, ...]) -> None:
    async with provided(tmp_path, Answer(raw=raw)) as (world, _):
        context_id = await world.start()
        await world.turn(context_id)
        assert (await last(world, context_id)).content == "good"


async def test_a_character_split_between_two_packets_is_whole(tmp_path: Path) -> None:
    whole = f"data: {chunk('你好')}\n\n".encode()
    cut = whole.index("你".encode()) + 1
    raw = (whole[:cut].decode("utf-8", "surrogateescape"), whole[cut:].decode("utf-8", "surrogateescape"), DONE)
    async with provided(tmp_path, Answer(raw=raw)) as (world, _):
        context_id = await world.start()
        await world.turn(context_id)
        assert (await last(world, context_id)).content == "你好"


@pytest.mark.parametrize(
    "raw",
    [
        ("data: this is no JSON\n\n",),
        ('data: {"choices": "wrong"}\n\n',),
        ('data: {"error": {"message": "overloaded"}}\n\n',),
        ("data: \udcff\udcfe\n\n",),
        ("<html>a proxy's page</html>",),
        ("",),
    ],
)
async def test_garbage_is_a_transient_error(tmp_path: Path, raw: tuple[str, ...]) -> None:
    async with provided(tmp_path, Answer(raw=raw), FINE) as (world, _):
        context_id = await world.start()
        await world.turn(context_id)
        assert (await last(world, context_id)).content == "all is well"
        assert world.states.count("transient_error") == 1


async def test_retry_now_does_not_wait(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with provided(tmp_path, failing(503), FINE) as (world, _):
        forever = asyncio.Event()

        async def sleep(_: float) -> None:
            await forever.wait()

        monkeypatch.setattr(world.ambient, "sleep", sleep)
        context_id = await world.start()
        await world.runtime.messages.send(context_id, "hi")
        while not isinstance((await world.runtime.contexts.get(context_id)).state, TransientError):
            await asyncio.sleep(0.01)
        await world.runtime.turns.retry_now(context_id)
        await world.runtime.turns.rested(context_id)
        assert (await last(world, context_id)).content == "all is well"


# malformed answers


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (ScriptedCall(tool="nonsense", arguments={}), "Unknown tool 'nonsense'"),
        (ScriptedCall(tool="", arguments={}), "Unknown tool ''"),
        (ScriptedCall(tool="change", arguments='{"text": "a'), "not valid JSON"),
        (ScriptedCall(tool="change", arguments='{"text": "a"} trailing'), "not valid JSON"),
        (ScriptedCall(tool="change", arguments="[1, 2]"), "an object was expected"),
        (ScriptedCall(tool="change", arguments={"text": 5}), "Expected `str`"),
        (ScriptedCall(tool="change", arguments={"txet": "a"}), "unknown field"),
        (ScriptedCall(tool="change", arguments="[" * 100_000), "not valid JSON"),
    ],
)
async def test_an_invalid_call_is_reported_to_the_model_and_not_run(
    tmp_path: Path, call: ScriptedCall, message: str
) -> None:
    async with provided(tmp_path, Answer(calls=(call,)), FINE) as (world, provider):
        context_id = await world.start()
        await world.turn(context_id)
        assert (await last(world, context_id)).content == "all is well"
        assert world.change.ran == []
        assert message in provider.requests[1]["messages"][-1]["content"]


@pytest.mark.parametrize("ids", [("same", "same"), ("", "")])
async def test_calls_with_the_same_id_or_none_are_distinguished(tmp_path: Path, ids: tuple[str, str]) -> None:
    calls = tuple(ScriptedCall(tool="change", arguments={"text": str(n)}, id=call_id) for n, call_id in enumerate(ids))
    async with provided(tmp_path, Answer(calls=calls), FINE, Answer(calls=calls), FINE) as (world, _):
        context_id = await world.start()
        await world.turn(context_id)
        assert world.change.ran == ["0", "1"]
        await world.turn(context_id)
        assert world.change.ran == ["0", "1", "0", "1"]


async def test_the_same_call_sent_twice_under_one_id_runs_once(tmp_path: Path) -> None:
    calls = (ScriptedCall(tool="change", arguments={"text": "x"}, id="one"),) * 2
    async with provided(tmp_path, Answer(calls=calls), FINE) as (world, _):
        context_id = await world.start()
        await world.turn(context_id)
        assert world.change.ran == ["x"]


async def test_an_empty_answer_ends_the_turn_with_a_notice(tmp_path: Path) -> None:
    async with provided(tmp_path, Answer(text=""), FINE) as (world, _):
        context_id = await world.start()
        await world.turn(context_id)
        assert (await last(world, context_id)).reason.code == "empty_answer"
        await world.turn(context_id)


async def test_calls_with_the_finish_reason_stop_run(tmp_path: Path) -> None:
    answer = Answer(calls=(ScriptedCall(tool="look", arguments={"text": "a"}),), finish="stop")
    async with provided(tmp_path, answer, FINE) as (world, _):
        context_id = await world.start()
        await world.turn(context_id)
        assert world.look.ran == ["a"]


async def test_a_thousand_calls_at_once_each_get_one_result(tmp_path: Path) -> None:
    calls = tuple(ScriptedCall(tool="look", arguments={"text": str(n)}) for n in range(1000))
    async with provided(tmp_path, Answer(calls=calls), FINE, silence_seconds=30) as (world, provider):
        context_id = await world.start()
        await world.turn(context_id)
        assert sorted(world.look.ran, key=int) == [str(n) for n in range(1000)]
        results = [m for m in provider.requests[1]["messages"] if m["role"] == "tool"]
        assert len({message["tool_call_id"] for message in results}) == 1000


async def test_an_argument_of_five_megabytes_is_refused_and_the_turn_continues(tmp_path: Path) -> None:
    call = ScriptedCall(tool="change", arguments={"text": "x" * 5_000_000})
    async with provided(tmp_path, Answer(calls=(call,)), FINE, silence_seconds=30) as (world, provider):
        context_id = await world.start()
        await world.turn(context_id)
        assert world.change.ran == []
        (result,) = [message for message in provider.requests[1]["messages"] if message["role"] == "tool"]
        assert "1000000" in result["content"].replace(",", "")
        assert isinstance((await world.runtime.contexts.get(context_id)).state, Idle)


async def test_a_tool_result_beyond_all_bounds_is_cut_for_the_model_and_kept_whole(tmp_path: Path) -> None:
    call = ScriptedCall(tool="look", arguments={"text": "x" * 500_000})
    async with provided(tmp_path, Answer(calls=(call,)), FINE, silence_seconds=30) as (world, provider):
        context_id = await world.start()
        await world.turn(context_id)
        assert len(provider.requests[1]["messages"][-1]["content"]) < 61_000
        results = [m for m in await world.runtime.messages.read(context_id) if isinstance(m, ToolResult)]
        assert len(results[0].content) > 500_000


def call_chunk(**call: Any) -> str:
    return "data: " + json.dumps({"choices": [{"delta": {"tool_calls": [call]}}]}) + "\n\n"


@pytest.mark.parametrize(
    "raw",
    [
        (call_chunk(index=0, id=7, function={"name": "change", "arguments": {"text": "x"}}),),
        tuple(call_chunk(index=0, id="a", function={"name": "change", "arguments": p}) for p in ('{"text":', '"x"}')),
        (call_chunk(id="a", function={"name": "change", "arguments": '{"text":"x"}'}),),
        tuple(call_chunk(index=0, function={"name": "change", "arguments": p}) for p in ('{"text":', '"x"}')),
    ],
    ids=["an object, a number as id", "the name in every part", "no index", "the name in every part, no id"],
)
async def test_calls_in_unusual_forms_run(tmp_path: Path, raw: tuple[str, ...]) -> None:
    async with provided(tmp_path, Answer(raw=(*raw, DONE)), FINE) as (world, _):
        context_id = await world.start()
        await world.turn(context_id)
        assert world.change.ran == ["x"]


async def test_two_calls_under_one_index_are_two(tmp_path: Path) -> None:
    parts = [call_chunk(index=0, id=n, function={"name": "change", "arguments": f'{{"text":"{n}"}}'}) for n in "ab"]
    async with provided(tmp_path, Answer(raw=(*parts, DONE)), FINE) as (world, _):
        context_id = await world.start()
        await world.turn(context_id)
        assert world.change.ran == ["a", "b"]


async def test_a_call_cut_off_by_the_length_limit_is_not_run_without_arguments(tmp_path: Path) -> None:
    answer = Answer(calls=(ScriptedCall(tool="change", arguments=""),), finish="length")
    async with provided(tmp_path, answer, FINE) as (world, _):
        context_id = await world.start()
        await world.turn(context_id)
        assert world.change.ran == []


@pytest.mark.parametrize("kind", ["text", "arguments"])
async def test_an_answer_that_never_ends_is_cut_off(tmp_path: Path, kind: str) -> None:
    part = "x" * 1_000_000
    if kind == "text":
        parts = [f"data: {chunk(part)}\n\n"] * 25
    else:
        parts = [call_chunk(index=0, function={"name": "change", "arguments": '{"text": "'})]
        parts += [call_chunk(index=0, function={"arguments": part})] * 25
    async with provided(tmp_path, Answer(raw=tuple(parts)), FINE, silence_seconds=30) as (world, _):
        context_id = await world.start()
        await world.turn(context_id)
        assert (await last(world, context_id)).reason.code == "model_endless"
        await world.turn(context_id)
        assert (await last(world, context_id)).content == "all is well"


KEY = "sk-nobody-may-see-this-Zx9Q"


@pytest.mark.parametrize("before", [0, 470, 490, 499, 600])
@pytest.mark.parametrize("form", ['{"error": {"message": "%s"}}', '{"error": "%s"}', '"%s"', "%s"])
async def test_a_shortened_provider_error_contains_no_part_of_the_key(before: int, form: str) -> None:
    words = "x" * before + KEY

    async def refuse(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(f"HTTP/1.1 401 No\r\nconnection: close\r\n\r\n{form % words}".encode())
        writer.close()

    async with await asyncio.start_server(refuse, "127.0.0.1", 0) as server:
        port = server.sockets[0].getsockname()[1]
        adapter = OpenAIAdapter(f"http://127.0.0.1:{port}", KEY)
        with pytest.raises(ModelRefused) as caught:
            await adapter.models()
        await adapter.close()
    assert "sk" not in str(caught.value) + str(caught.value.reason)
    assert len(caught.value.reason.params["detail"]) <= 500


@pytest.mark.parametrize("host", ["a..b", ".", "a" * 64, "xn--a", "[::ffff:1.2.3.4]x", "1.2.3.4.5"])
async def test_an_invalid_host_name_is_reported_as_unreachable(host: str) -> None:
    adapter = OpenAIAdapter(f"http://{host}/v1", KEY)
    with pytest.raises(ModelUnavailable) as caught:
        await adapter.models()
    await adapter.close()
    assert caught.value.reason.code is Code.MODEL_CONNECT


@pytest.mark.parametrize("key", [KEY, None])
async def test_a_password_of_the_persons_own_files_goes_to_no_provider(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, key: str | None
) -> None:
    (tmp_path / "netrc").write_text("default login me password theirs\n")
    (tmp_path / "netrc").chmod(0o600)
    monkeypatch.setenv("NETRC", str(tmp_path / "netrc"))
    async with FakeProvider(Script(), models=("small",)) as provider:
        adapter = OpenAIAdapter(provider.base_url, key)
        assert await adapter.models() == ["small"]
        await adapter.close()
        assert b"basic" not in provider.headers[-1].lower()


async def test_proxies_of_the_environment_are_used_unless_no_proxy_excludes_the_host(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with FakeProvider(Script(), models=("small",), key=KEY) as provider:
        monkeypatch.setenv("http_proxy", provider.base_url.removesuffix("/v1"))
        monkeypatch.setenv("no_proxy", "127.0.0.1")
        for address, target in (("http://far.test/v1", "http://far.test/v1/models"), (provider.base_url, "/v1/models")):
            adapter = OpenAIAdapter(address, KEY)
            assert await adapter.models() == ["small"]
            await adapter.close()
            assert provider.headers[-1].startswith(f"GET {target} ".encode())
