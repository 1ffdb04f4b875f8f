"""Incomplete answers are marked: after the output limit, a filter, a refusal or a cut stream."""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from pilothouse.domain.codes import Code
from pilothouse.domain.messages import ErrorMessage, Message, Text, ToolRequest, ToolResult
from pilothouse.domain.states import Idle
from pilothouse.i18n import translate
from pilothouse.llm.openai import OpenAIAdapter
from pilothouse.llm.script import Answer, Script, ScriptedCall
from pilothouse.runtime.events.turn_events import AnswerCut, TextAdded
from pilothouse.storage.files.store import FileStore
from pilothouse.testing.provider import FakeProvider
from pilothouse.testing.world import World
from tests.stories.test_recovery import crash, store_at
from tests.support.live_contexts import live_context
from tests.support.valid_requests import assert_valid_request

FINE = Answer(text="all is well")
CUT = Answer(deltas=("Half ", "of ", "it"), cut=2)
LONG_CUT = Answer(deltas=("Another ", "half ", "of ", "it"), cut=3)


async def messages(world: World, context_id: str) -> list[Message]:
    return await world.runtime.messages.read(context_id, limit=100)


async def answers(world: World, context_id: str) -> list[tuple[str, str]]:
    """The texts of the model, and how each ended."""
    all_messages = await messages(world, context_id)
    return [(each.content, each.ended) for each in all_messages if isinstance(each, Text) and each.role == "assistant"]


# the finish reason


@pytest.mark.parametrize(
    ("finish", "code", "end"),
    [
        ("length", Code.ANSWER_TOO_LONG, "limit"),
        ("content_filter", Code.ANSWER_FILTERED, "error"),
        ("refusal", Code.ANSWER_REFUSED, "error"),
    ],
)
@pytest.mark.parametrize("text", ["As I was say", ""])
async def test_an_incomplete_answer_is_followed_by_a_remark_and_can_be_continued(
    tmp_path: Path, finish: str, code: Code, end: str, text: str
) -> None:
    world = World(tmp_path, Answer(text=text, finish=finish), FINE)
    context_id = await world.start()
    await world.turn(context_id)
    live = await live_context(world.runtime, context_id)
    assert (live.state, live.core.last_turn) == (Idle(), end)
    *before, remark = await messages(world, context_id)
    assert isinstance(remark, ErrorMessage)
    assert remark.reason.code is code
    assert not translate(remark.reason, "zh").isascii()
    if text:
        assert isinstance(before[-1], Text)
        assert (before[-1].content, before[-1].finish_reason) == (text, finish)
    await world.runtime.turns.continue_(context_id)
    await world.runtime.turns.rested(context_id)
    assert live.core.last_turn == "complete"
    sent = world.model.requests[-1]
    assert_valid_request(sent)
    assert (text in str(sent.messages)) is True, "the model sees what it has said"
    assert (await answers(world, context_id))[-1] == ("all is well", "complete")


async def test_calls_cut_by_the_output_limit_are_not_run_and_the_reason_is_sent_to_the_model(tmp_path: Path) -> None:
    whole = ScriptedCall(tool="change", arguments={"text": "whole"})
    cut = ScriptedCall(tool="change", arguments='{"text": "half of i')
    bare = ScriptedCall(tool="change", arguments="")
    world = World(tmp_path, Answer(calls=(whole, cut, bare), finish="length"), FINE)
    context_id = await world.start()
    await world.turn(context_id)
    assert world.change.ran == ["whole"]
    results = [each for each in await messages(world, context_id) if isinstance(each, ToolResult)]
    assert sorted(each.status for each in results) == ["executed", "failed", "failed"]
    failed = [each for each in results if each.status == "failed"]
    assert [each.error.code for each in failed if each.error is not None] == [Code.ARGUMENTS_CUT] * 2
    assert all("output limit" in each.content for each in failed)
    live = await world.runtime.contexts.get(context_id)
    assert live.core.last_turn == "complete", "the model goes on with that"
    assert_valid_request(world.model.requests[-1])


async def test_calls_of_a_filtered_answer_are_dropped(tmp_path: Path) -> None:
    call = ScriptedCall(tool="change", arguments={"text": "x"})
    world = World(tmp_path, Answer(text="I will ", calls=(call,), finish="content_filter"))
    context_id = await world.start()
    await world.turn(context_id)
    assert world.change.ran == []
    assert not [each for each in await messages(world, context_id) if isinstance(each, ToolRequest)]
    assert await answers(world, context_id) == [("I will ", "complete")]


def _chunk(delta: dict[str, Any], finish: str | None = None) -> str:
    return "data: " + json.dumps({"choices": [{"index": 0, "delta": delta, "finish_reason": finish}]})


@pytest.mark.parametrize(
    ("lines", "code"),
    [
        ([_chunk({"refusal": "I cannot "}), _chunk({"refusal": "do that."}), _chunk({}, "stop")], Code.ANSWER_REFUSED),
        ([_chunk({"content": "I cannot do that."}), _chunk({}, "max_tokens")], Code.ANSWER_TOO_LONG),
        ([_chunk({"content": "I cannot do that."}), _chunk({}, "SAFETY")], Code.ANSWER_FILTERED),
    ],
)
async def test_other_names_of_finish_reasons_and_refusals_are_known(
    tmp_path: Path, lines: list[str], code: Code
) -> None:
    raw = tuple(f"{line}\n\n" for line in [*lines, "data: [DONE]"])
    async with FakeProvider(Script(turn=(Answer(raw=raw),))) as provider:
        world = World(tmp_path, adapter=OpenAIAdapter(provider.base_url, "key"))
        context_id = await world.start()
        await world.turn(context_id)
        *_, last = await messages(world, context_id)
        assert isinstance(last, ErrorMessage)
        assert last.reason.code is code
        assert [text for text, _ in await answers(world, context_id)] == ["I cannot do that."]
        await world.runtime.close()


# streams that are cut


async def test_however_often_a_stream_is_cut_one_partial_text_stays(tmp_path: Path) -> None:
    world = World(tmp_path, CUT, LONG_CUT, CUT, FINE)
    context_id = await world.start()
    await world.turn(context_id)
    assert await answers(world, context_id) == [("Half of ", "cut"), ("all is well", "complete")]
    assert "Half" not in str(world.model.requests[-1].messages)


async def test_after_the_last_retry_one_partial_text_and_the_error_stay(tmp_path: Path) -> None:
    world = World(tmp_path, *[CUT] * 6)
    context_id = await world.start()
    await world.turn(context_id)
    assert await answers(world, context_id) == [("Half of ", "cut")]
    (*_, last) = await messages(world, context_id)
    assert isinstance(last, ErrorMessage)


async def test_each_round_may_keep_its_own_partial_text(tmp_path: Path) -> None:
    looks = Answer(calls=(ScriptedCall(tool="look", arguments={"text": "a"}),))
    world = World(tmp_path, CUT, CUT, looks, LONG_CUT, CUT, FINE)
    context_id = await world.start()
    await world.turn(context_id)
    assert await answers(world, context_id) == [
        ("Half of ", "cut"),
        ("Another half of ", "cut"),
        ("all is well", "complete"),
    ]


async def test_the_event_stream_names_texts_that_were_cut(tmp_path: Path) -> None:
    world = World(tmp_path, CUT, LONG_CUT, CUT, FINE)
    context_id = await world.start()
    await world.runtime.messages.send(context_id, "hello")
    texts: dict[str, str] = {}
    cuts: set[str] = set()
    async for event in world.runtime.events.of_context(context_id):
        match event:
            case TextAdded(message_id=message_id, text=text):
                texts[message_id] = texts.get(message_id, "") + text
            case AnswerCut(message_id=message_id):
                cuts.add(message_id)
    assert [text for message_id, text in texts.items() if message_id not in cuts] == ["all is well"]


@pytest.mark.parametrize("attempts", [1, 2, 3])
async def test_after_a_crash_in_a_later_attempt_no_earlier_one_comes_back(tmp_path: Path, attempts: int) -> None:
    silent = Answer(deltas=("What ", "was ", "seen"), silence=2)
    world = World(tmp_path, *[CUT] * attempts, silent, store=store_at(tmp_path))
    context_id = await world.start()
    await world.runtime.messages.send(context_id, "hello")
    live = await live_context(world.runtime, context_id)
    while len(world.model.requests) <= attempts or live.delta_writer is None or live.delta_writer.flushed < 2:
        await asyncio.sleep(0)
    await crash(world)
    again = World(tmp_path, FINE, store=store_at(tmp_path), ids_from=10**6)
    assert await answers(again, context_id) == [("Half of ", "cut"), ("What was ", "interrupted")]
    await again.runtime.turns.continue_(context_id)
    await again.runtime.turns.rested(context_id)
    assert (await answers(again, context_id))[-1] == ("all is well", "complete")
    await again.runtime.close()


async def test_a_dropped_attempt_does_not_come_back_after_a_crash_in_a_later_round(tmp_path: Path) -> None:
    looks = Answer(calls=(ScriptedCall(tool="look", arguments={"text": "a"}),))
    world = World(tmp_path, CUT, LONG_CUT, looks, Answer(text="x", silence=0), store=store_at(tmp_path))
    context_id = await world.start()
    await world.runtime.messages.send(context_id, "hello")
    while len(world.model.requests) < 4:
        await asyncio.sleep(0)
    assert isinstance(world.dependencies.store, FileStore)
    await crash(world)
    again = World(tmp_path, store=store_at(tmp_path), ids_from=10**6)
    assert await answers(again, context_id) == [("Half of ", "cut")]
    await again.runtime.close()
