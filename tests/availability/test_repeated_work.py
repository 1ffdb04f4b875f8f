"""Work on what arrives in pieces, or is too long, grows with its length and not with the number of its pieces."""

from collections.abc import AsyncIterator
from typing import Any

import msgspec
import pytest

from pilothouse.domain.messages import ToolCall, ToolRequest, ToolResult
from pilothouse.domain.value import CallId, MessageId, Timestamp
from pilothouse.llm.base import CallDelta
from pilothouse.runtime.turn.answer import StreamedAnswer
from pilothouse.sse import sse_events
from pilothouse.window.tokens import Estimate
from pilothouse.window.truncation import shorten_round, shorten_text

MAX_PASSES = 8
MAX_PARSES = 20
NOW = Timestamp("2026-01-01T00:00:00Z")


class CountingCounter(Estimate):
    """An estimate that records how many characters it counts."""

    def __init__(self) -> None:
        self.characters = 0

    def count(self, text: str) -> int:
        self.characters += len(text)
        return super().count(text)


def request_with(arguments: str) -> ToolRequest:
    call = ToolCall(CallId("call"), "call", "tool", arguments)
    return ToolRequest(id=MessageId("message"), timestamp=NOW, role="assistant", calls=(call,))


LONG_ARGUMENTS = {
    "empty lists": '{"a":[' + "[]," * 600_000 + "[]]}",
    "short texts": msgspec.json.encode({"a": ["ab c"] * 250_000}).decode(),
    "one text": msgspec.json.encode({"a": "[]" * 900_000}).decode(),
    "no JSON": "[" * 1_800_000,
}


@pytest.mark.parametrize("with_tools", [True, False])
@pytest.mark.parametrize("tokens", [500, 20_000])
@pytest.mark.parametrize("kind", LONG_ARGUMENTS)
def test_shortening_a_round_takes_a_few_passes(
    kind: str, tokens: int, with_tools: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    arguments, counter, decoded = LONG_ARGUMENTS[kind], CountingCounter(), 0
    decode = msgspec.json.decode

    def counting_decode(text: str, *args: Any, **options: Any) -> Any:
        nonlocal decoded
        decoded += len(text)
        return decode(text, *args, **options)

    monkeypatch.setattr(msgspec.json, "decode", counting_decode)
    result = ToolResult(
        id=MessageId("result"),
        timestamp=NOW,
        role="tool",
        call_id=CallId("call"),
        tool="tool",
        content="word " * 300_000,
        status="executed",
    )
    short = shorten_round(request_with(arguments), {CallId("call"): result}, counter, tokens, with_tools=with_tools)
    assert sum(map(counter.count, map(str, short.messages))) <= 2 * tokens
    assert counter.characters + decoded <= MAX_PASSES * len(arguments)


def test_a_text_that_is_denser_at_its_ends_is_shortened_in_a_few_passes() -> None:
    ends = "".join("\U0001f600" * 40 + " " * step for step in range(300))
    text, counter = ends[::-1] + " " * 3_000_000 + ends, CountingCounter()
    assert Estimate().count(shorten_text(text, counter, 5000)) <= 5000
    assert counter.characters <= 2 * len(text)


@pytest.mark.parametrize("first", ['{"a":[{}', '{"a":"{}', '{"a" {}}', "{}}", '{"a":"\\\\\\"{}'])
def test_arguments_that_arrive_in_pieces_are_parsed_a_few_times(first: str, monkeypatch: pytest.MonkeyPatch) -> None:
    parses, decode = 0, msgspec.json.decode

    def counting_decode(*args: Any, **options: Any) -> Any:
        nonlocal parses
        parses += 1
        return decode(*args, **options)

    monkeypatch.setattr(msgspec.json, "decode", counting_decode)
    answer = StreamedAnswer(MessageId("message"), "chat_completions")
    for piece in (first, *["{}"] * 5000):
        answer.apply(CallDelta(index=0, id="", tool="tool", arguments=piece))
    assert parses <= MAX_PARSES
    (call,) = answer.calls
    assert "".join(call.arguments) == first + "{}" * 5000


@pytest.mark.parametrize("size", [1, 2, 3, 100])
@pytest.mark.parametrize("text", ['{"a":"}{\\"}"}', '{"a":{"b":["\\\\"]}}', "{}", '{"a":"{}\\\\"}'])
def test_a_call_behind_a_whole_one_is_another_call(text: str, size: int) -> None:
    answer = StreamedAnswer(MessageId("message"), "chat_completions")
    for _ in range(3):
        for start in range(0, len(text), size):
            answer.apply(CallDelta(index=0, id="", tool="tool", arguments=text[start : start + size]))
    assert ["".join(call.arguments) for call in answer.calls] == [text] * 3


class Part(bytes):
    """Bytes of a stream that note how many others were copied to put them behind those."""

    copied = 0

    def __radd__(self, before: bytes | bytearray) -> Any:
        if isinstance(before, bytearray):  # grows in place
            return NotImplemented
        Part.copied += len(before)
        return bytes(before) + bytes(self)


async def arriving(data: bytes, size: int) -> AsyncIterator[bytes]:
    for start in range(0, len(data), size):
        yield Part(data[start : start + size])


async def test_a_long_line_of_a_stream_is_not_copied_for_each_part(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Part, "copied", 0)
    payload = b"x" * 200_000
    data = b"\xef\xbb\xbf: comment\ndata: " + payload + b"\n\ndata: [DONE]"
    assert [line async for _, line in sse_events(arriving(data, 32), accept_cut_line=True)] == [payload, b"[DONE]"]
    assert Part.copied <= 2 * len(data)
