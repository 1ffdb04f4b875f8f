"""Reasoning and opaque parts of a provider: kept with the answer, streamed beside the text, sent back only in the
format that produced them, and never a part of titles, exports as Markdown, or summaries."""

import asyncio
from pathlib import Path
from typing import Any

import msgspec
import pytest

from pilothouse.api.views import MessageView
from pilothouse.domain.budgets import Budget
from pilothouse.domain.messages import OpaquePart, Reasoning, Text, ToolRequest
from pilothouse.domain.states import StreamingLLMResponse
from pilothouse.domain.value import MessageId
from pilothouse.llm.base import CallDelta, OpaquePartReceived, ReasoningTextDelta, TextDelta
from pilothouse.llm.openai import OpenAIAdapter
from pilothouse.llm.script import Answer, Script, ScriptedCall
from pilothouse.llm.scripted import ScriptedAdapter
from pilothouse.runtime.dependencies import ProviderHandle
from pilothouse.runtime.events.turn_events import ReasoningAdded, TextAdded
from pilothouse.runtime.turn.answer import StreamedAnswer
from pilothouse.server.view_builder import message_views
from pilothouse.storage.memory import MemoryStore
from pilothouse.testing import wire
from pilothouse.testing.alternating_format import ALTERNATING, faults, seal_of
from pilothouse.testing.alternating_provider import AlternatingAdapter, AlternatingProvider
from pilothouse.testing.provider import FakeProvider
from pilothouse.testing.world import World
from tests.stories.test_import import exported, packed
from tests.stories.test_recovery import crash, store_at
from tests.support.assertions import instance_of, present
from tests.support.full_windows import MANY_WORDS
from tests.support.live_contexts import live_context

THOUGHT = ("I should ", "look first.")
WHOLE = "".join(THOUGHT)
LOOK = ScriptedCall(tool="look", arguments={"text": "here"})


def sealed(thought: str = WHOLE, **more: Any) -> Answer:
    """An answer with a thought that the provider has signed."""
    return Answer(reasoning=(thought,), opaque=(seal_of(thought),), **more)


def use(world: World, adapter: ScriptedAdapter) -> None:
    world.dependencies.use(ProviderHandle(adapter=adapter, model="test", models=(), titles=None))


async def answers(world: World, context_id: str) -> list[Text | ToolRequest]:
    messages = await world.runtime.messages.read(context_id)
    return [each for each in messages if isinstance(each, Text | ToolRequest) and each.role == "assistant"]


def data_line(**delta: Any) -> str:
    return f"data: {msgspec.json.encode({'choices': [{'delta': delta}]}).decode()}\n\n"


# stored answers


async def test_reasoning_is_kept_beside_the_text_and_not_sent_back_in_chat_completions(tmp_path: Path) -> None:
    answered = (Answer(reasoning=THOUGHT, text="I look.", calls=(LOOK,)), Answer(reasoning=("Now.",), text="Done."))
    async with FakeProvider(Script(turn=answered)) as provider:
        world = World(tmp_path, adapter=OpenAIAdapter(provider.base_url, "key"))
        context_id = await world.start()
        await world.turn(context_id)
        request, text = await answers(world, context_id)
        assert isinstance(request, ToolRequest)
        assert request.content == "I look."
        assert request.reasoning == Reasoning("chat_completions", WHOLE, (9, 11))
        assert (present(text.reasoning).text, text.content, text.opaque) == ("Now.", "Done.", ())
        assert WHOLE not in str(provider.requests)
        streaming = [state for state in world.entered if isinstance(state, StreamingLLMResponse)]
        assert {state.chars_accumulated for state in streaming[:2]} == {0}, "reasoning is no text of the answer"
        await world.runtime.close()


@pytest.mark.parametrize(
    ("deltas", "expected"),
    [
        ([{"reasoning_content": "a"}, {"reasoning_content": "b"}], "ab"),
        ([{"reasoning": "a"}, {"reasoning": "b", "content": ""}], "ab"),
        ([{"reasoning": "a", "reasoning_content": "a"}], "a"),
        ([{"reasoning_content": None, "reasoning": "a"}], "a"),
        ([{"reasoning_content": ""}, {"reasoning": {"text": "a"}}, {"reasoning_content": [1]}], None),
    ],
)
async def test_reasoning_is_read_under_either_name_of_compatible_servers(
    tmp_path: Path, deltas: list[dict[str, Any]], expected: str | None
) -> None:
    raw = (*(data_line(**delta) for delta in deltas), data_line(content="good"), "data: [DONE]\n\n")
    async with FakeProvider(Script(turn=(Answer(raw=raw),))) as provider:
        world = World(tmp_path, adapter=OpenAIAdapter(provider.base_url, "key"))
        context_id = await world.start()
        await world.turn(context_id)
        (answer,) = await answers(world, context_id)
        assert answer.content == "good"
        assert (answer.reasoning.text if answer.reasoning is not None else None) == expected
        await world.runtime.close()


def test_opaque_parts_keep_their_places_when_a_repeated_call_is_dropped() -> None:
    answer = StreamedAnswer(MessageId("m"), "alternating")
    for event in (
        ReasoningTextDelta(text="think"),
        OpaquePartReceived(data="one"),
        TextDelta(text="text"),
        CallDelta(index=0, id="a", tool="look", arguments="{}"),
        CallDelta(index=1, id="a", tool="look", arguments="{}"),
        OpaquePartReceived(data="two"),
        CallDelta(index=2, id="b", tool="look", arguments="{}"),
    ):
        answer.apply(event)
    first, _, last = answer.calls
    assert answer.opaque_parts([first, last]) == (
        OpaquePart("alternating", "one", after_reasoning=5),
        OpaquePart("alternating", "two", after_reasoning=5, after_text=4, after_calls=1),
    )


async def test_an_answer_of_reasoning_alone_is_kept_with_the_error_and_not_sent(tmp_path: Path) -> None:
    world = World(tmp_path, Answer(reasoning=THOUGHT), Answer(text="Done."))
    context_id = await world.start()
    await world.turn(context_id)
    (answer,) = await answers(world, context_id)
    assert (answer.content, present(answer.reasoning).text) == ("", WHOLE)
    context = await world.runtime.contexts.get(context_id)
    assert context.core.last_turn == "error"
    await world.turn(context_id, "again")
    assert not any(b"assistant" in message for message in world.model.requests[-1].messages)


# requests


async def test_a_format_gets_its_own_opaque_parts_back_unchanged(tmp_path: Path) -> None:
    two = Answer(reasoning=("First. ",), opaque=(seal_of("First. "),), text="I look.", calls=(LOOK,))
    async with AlternatingProvider(Script(turn=(two, sealed(text="Done."), Answer(text="Yes.")))) as provider:
        world = World(tmp_path, adapter=AlternatingAdapter(provider.base_url))
        context_id = await world.start()
        await world.turn(context_id)
        await world.turn(context_id, "really?")
        thoughts = [
            [part["text"] for turn in request["turns"] for part in turn["parts"] if part["kind"] == "thought"]
            for request in provider.requests
        ]
        assert thoughts == [[], ["First. "], ["First. ", WHOLE]]
        await world.runtime.close()


async def test_no_format_gets_reasoning_or_opaque_parts_of_another_one(tmp_path: Path) -> None:
    chat = World(tmp_path, *[sealed("of chat", text="Chat.", calls=(LOOK,)), sealed("of chat", text="Chat.")] * 2)
    own = sealed("of alternating", text="Alternating.")
    other = ScriptedAdapter(Script(turn=(own, own)), ALTERNATING)
    context_id = await chat.start()
    for adapter in (chat.model, other, chat.model, other):
        use(chat, adapter)
        await chat.turn(context_id)
    for request in chat.model.requests:
        body = chat.model.format.body(request)
        wire.check(msgspec.json.decode(body))
        assert not [part for part in (b"of chat", b"of alternating", b"seal") if part in body]
    first, second = (ALTERNATING.body(request) for request in other.requests)
    assert [faults(first), faults(second)] == [[], []]
    assert (b"thought" in first, b"of chat" in second) == (False, False)
    assert second.count(b"of alternating") == 1


async def test_a_shortened_answer_is_sent_without_its_signed_reasoning(tmp_path: Path) -> None:
    long_call = ScriptedCall(tool="look", arguments={"text": "x " * 4000})
    answered = [sealed(text=MANY_WORDS, calls=(long_call,)), sealed(MANY_WORDS, text=MANY_WORDS)] * 3
    async with AlternatingProvider(Script(turn=tuple(answered))) as provider:
        budget = Budget(tokens=3000, auto_compress=False)
        world = World(tmp_path, adapter=AlternatingAdapter(provider.base_url), budget=budget)
        context_id = await world.start()
        for _ in range(3):
            await world.turn(context_id, MANY_WORDS)
        window = await world.runtime.window.read(context_id)
        assert faults(msgspec.json.encode(window.request)) == []
        shortened = [turn["parts"] for turn in window.request["turns"] if "characters left out" in str(turn["parts"])]
        model_parts = [parts for parts in shortened if any(part["kind"] in ("call", "thought") for part in parts)]
        assert model_parts
        assert not [part for parts in model_parts for part in parts if part["kind"] == "thought"]
        await world.runtime.close()


async def test_reasoning_counts_in_the_window_of_a_format_that_sends_it_back(tmp_path: Path) -> None:
    adapter = ScriptedAdapter(Script(turn=(sealed(MANY_WORDS, text="Done."),)), ALTERNATING)
    world = World(tmp_path, adapter=adapter)
    context_id = await world.start()
    await world.turn(context_id)
    with_reasoning = (await world.runtime.window.meter(context_id)).tokens
    use(world, ScriptedAdapter(Script()))
    without = (await world.runtime.window.meter(context_id)).tokens
    assert 400 < with_reasoning - without < 700


# incomplete answers


@pytest.mark.parametrize("text", ["", "one two "])
async def test_a_killed_process_loses_no_reasoning_that_was_streamed(tmp_path: Path, text: str) -> None:
    deltas = (text,) if text else ()
    answer = Answer(reasoning=THOUGHT, opaque=("seal",), deltas=deltas, silence=3 + len(deltas))
    world = World(tmp_path, answer, store=store_at(tmp_path))
    context_id = await world.start()
    await world.runtime.messages.send(context_id, "hello")
    live = await live_context(world.runtime, context_id)
    while (writer := live.delta_writer) is None or (writer.reasoning_flushed, writer.flushed) != (2, len(deltas)):
        await asyncio.sleep(0.01)
    message_id = writer.message_id
    assert await world.runtime.messages.read_reasoning(context_id, message_id, 1) == [(2, "look first.")]
    await crash(world)
    again = World(tmp_path, Answer(text="on"), store=store_at(tmp_path))
    (partial,) = await answers(again, context_id)
    assert isinstance(partial, Text)
    assert (partial.id, partial.content, partial.ended) == (message_id, text, "interrupted")
    assert partial.reasoning == Reasoning("chat_completions", WHOLE, (9, 11))
    assert partial.opaque == ()
    assert await again.runtime.messages.read_reasoning(context_id, message_id, 1) == [(2, "look first.")]
    await again.runtime.turns.continue_(context_id)
    await again.runtime.turns.rested(context_id)
    await again.runtime.close()


async def test_an_answer_that_was_cut_while_thinking_keeps_its_reasoning_and_is_requested_again(tmp_path: Path) -> None:
    cut = [sealed(text="and more", cut=number) for number in (1, 2)]
    world = World(tmp_path, *cut, Answer(text="Done."))
    context_id = await world.start()
    await world.turn(context_id)
    first, last = await answers(world, context_id)
    assert isinstance(first, Text)
    assert (first.ended, first.content, present(first.reasoning).text, first.opaque) == ("cut", "", WHOLE, ())
    assert (last.content, last.reasoning) == ("Done.", None)
    assert not any(b"look first" in message for message in world.model.requests[-1].messages)


async def test_a_turn_cancelled_while_thinking_keeps_the_reasoning(tmp_path: Path) -> None:
    async with AlternatingProvider(Script(turn=(sealed(silence=2), Answer(text="Done.")))) as provider:
        world = World(tmp_path, adapter=AlternatingAdapter(provider.base_url))
        context_id = await world.start()
        await world.runtime.messages.send(context_id, "go")
        with world.runtime.signals([context_id]) as signals:
            while (streaming := (await world.runtime.contexts.get(context_id)).streaming) is None or (
                not streaming.reasoning_sequence
            ):
                await anext(signals)
        await world.runtime.turns.cancel(context_id)
        (answer,) = await answers(world, context_id)
        assert isinstance(answer, Text)
        assert (answer.ended, answer.content, present(answer.reasoning).text) == ("cancelled", "", WHOLE)
        await world.turn(context_id, "again")
        assert "thought" not in str(provider.requests[-1])
        await world.runtime.close()


async def test_a_filtered_answer_keeps_its_reasoning(tmp_path: Path) -> None:
    world = World(tmp_path, Answer(reasoning=THOUGHT, text="One", finish="content_filter"))
    context_id = await world.start()
    await world.turn(context_id)
    (answer,) = await answers(world, context_id)
    assert (answer.content, present(answer.reasoning).text) == ("One", WHOLE)


# clients


async def test_reasoning_is_streamed_as_events_of_its_own_and_pulled_by_its_own_sequence(tmp_path: Path) -> None:
    deltas = tuple(f"thought {number} " for number in range(200))
    world = World(tmp_path, Answer(reasoning=deltas, text="The answer.", delta_delay=0.001))
    context_id = await world.start()
    sent = await world.runtime.messages.send(context_id, "go")
    events = [event async for event in world.runtime.events.of_turn(context_id, sent.turn_id)]
    thoughts = [event for event in events if isinstance(event, ReasoningAdded)]
    assert "".join(event.text for event in thoughts) == "".join(deltas)
    assert "".join(event.text for event in events if isinstance(event, TextAdded)) == "The answer."
    assert {event.turn for event in thoughts} == {sent.turn_id}
    (answer,) = await answers(world, context_id)
    for start in (0, 1, 199, 200, 201):
        pulled = await world.runtime.messages.read_reasoning(context_id, answer.id, start)
        assert pulled == list(enumerate(deltas, start=1))[start:]
    assert await world.runtime.messages.read_content(context_id, answer.id) == [(1, "The answer.")]
    late = [event async for event in world.runtime.events.of_turn(context_id, sent.turn_id)]
    assert "".join(event.text for event in late if isinstance(event, ReasoningAdded)) == "".join(deltas)


async def test_views_have_the_reasoning_and_no_opaque_parts(tmp_path: Path) -> None:
    world = World(tmp_path, sealed(text="I look.", calls=(LOOK,)), sealed(text="Done."))
    context_id = await world.start()
    await world.turn(context_id)
    messages = await answers(world, context_id)
    assert [len(message.opaque) for message in messages] == [1, 1]
    views = await message_views(world.runtime, context_id, messages)
    data = msgspec.json.encode(views)
    assert (data.count(WHOLE.encode()), seal_of(WHOLE).encode() in data) == (2, False)
    assert len(msgspec.json.decode(data, type=list[MessageView])) == 2


async def test_titles_markdown_and_summaries_have_no_reasoning(tmp_path: Path) -> None:
    answered = (Answer(reasoning=THOUGHT, text=MANY_WORDS),) * 6
    model = ScriptedAdapter(Script(turn=answered, summary=(Answer(reasoning=THOUGHT, text="In short."),) * 6))
    world = World(tmp_path, adapter=model, budget=Budget(tokens=4000))
    context_id = await world.start()
    for _ in range(6):
        await world.turn(context_id, MANY_WORDS)
    summary_requests = [str(request.messages) for request in model.requests if request.purpose == "summary"]
    assert summary_requests
    markdown = b"".join([piece async for piece in world.runtime.exports.markdown(context_id)]).decode()
    title = (await world.runtime.contexts.get(context_id)).core.title
    summary = (await world.runtime.messages.read(context_id, limit=100))[0]
    assert not [text for text in (*summary_requests, markdown, str(title), str(summary)) if "look first" in text]


async def test_an_export_keeps_reasoning_and_an_import_takes_no_opaque_parts(tmp_path: Path) -> None:
    world = World(tmp_path, sealed(text="Done."))
    context_id = await world.start()
    await world.turn(context_id)
    lines = await exported(world, context_id)
    assert seal_of(WHOLE) in str(lines)
    other = World(tmp_path, store=MemoryStore(), ids_from=1000)
    imported = await other.runtime.imports.create(packed(lines), workspace=tmp_path)
    (answer,) = await answers(other, imported.context_id)
    assert (present(answer.reasoning).text, answer.opaque) == (WHOLE, ())


def test_messages_of_earlier_versions_have_no_reasoning() -> None:
    old = b'{"type":"text","message_id":"m","timestamp":"","role":"assistant","content":"Hi.","chunks":[3]}'
    message = instance_of(Text, msgspec.json.decode(old, type=Text))
    assert (message.reasoning, message.opaque) == (None, ())
    assert msgspec.json.decode(msgspec.json.encode(message)) == msgspec.json.decode(old)
