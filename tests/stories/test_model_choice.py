"""The choice of the model and its effects on token counts, the window, costs and stored figures."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from pilothouse.domain.codes import Code
from pilothouse.domain.errors import InvalidInput
from pilothouse.domain.messages import Message, ToolRequest, ToolResult, Usage
from pilothouse.domain.personas import Persona, Personas
from pilothouse.llm.base import ModelMessage
from pilothouse.llm.model_catalog import ModelCatalog, ModelFacts
from pilothouse.llm.prices import Price
from pilothouse.llm.script import Answer, ScriptedCall
from pilothouse.storage.files.store import FileStore
from pilothouse.testing.tools import NoteTool
from pilothouse.testing.world import World
from pilothouse.window.model_messages import as_calls, to_model_message, tokens_in
from pilothouse.window.tokens import counter_for
from tests.support.full_windows import WORDS, SmallWindowWorld, look_calls
from tests.support.held_store import DELEGATES, DONE, child_of, family
from tests.support.live_contexts import live_context

USED = Usage(input_tokens=1_000_000, output_tokens=100_000)
FACTS = {
    "test": ModelFacts(window=50_000, price=Price(1, 10)),
    "small": ModelFacts(window=9_000, tokenizer="o200k", price=Price(2, 20)),
    "large": ModelFacts(window=900_000, tokenizer="cl100k"),
}
PERSONAS = [
    Persona("thrifty", model="small"),
    Persona("named", model="openai:large"),
    Persona("dreamer", model="there-is-none"),
]
MIXED = f"Straße, 你好, naïve camelCaseWords {'0123456789' * 5} " * 4


def world_with_models(folder: Path, *answers: Answer, **options: Any) -> World:
    defaults: dict[str, Any] = {
        "models": ["small", "large"],
        "catalog": ModelCatalog(FACTS),
        "personas": lambda _: Personas(PERSONAS),
        **options,
    }
    return World(folder, *answers, **defaults)


async def test_the_model_of_a_context_overrides_its_personas_and_that_the_default(tmp_path: Path) -> None:
    world = world_with_models(tmp_path, *[DONE] * 6)
    context_id = await world.start()
    steps: Sequence[tuple[dict[str, Any], str]] = [
        ({}, "test"),
        ({"persona": "thrifty"}, "small"),
        ({"model": "large"}, "large"),
        ({"model": None}, "small"),
        ({"persona": "named"}, "large"),
        ({"persona": "dreamer"}, "test"),
    ]
    for change, expected in steps:
        await world.runtime.contexts.change(context_id, **change)
        await world.turn(context_id)
        assert world.model.requests[-1].model == expected
        assert (await world.runtime.window.read(context_id)).model == expected
        answer = (await world.runtime.messages.read(context_id))[-1]
        assert answer.metadata.model == expected


async def test_a_model_that_is_gone_is_replaced_by_the_next_in_line(tmp_path: Path) -> None:
    store = FileStore(tmp_path / "data", now=lambda: "2026-01-01T00:00:00.000Z")
    world = world_with_models(tmp_path, store=store)
    context_id = await world.runtime.contexts.create(tmp_path, model="large", persona="thrifty")
    await world.runtime.close()
    for models, expected in ((["small"], "small"), ([], "test"), (["small", "large"], "large")):
        store = FileStore(tmp_path / "data", now=lambda: "2026-01-01T00:00:00.000Z")
        again = world_with_models(tmp_path, DONE, store=store, models=models, ids_from=1000)
        await again.turn(context_id)
        await again.runtime.close()
        assert again.model.requests[0].model == expected


async def test_an_unknown_name_is_refused_with_the_known_ones_and_nothing_changes(tmp_path: Path) -> None:
    world = world_with_models(tmp_path)
    context_id = await world.runtime.contexts.create(tmp_path, model="small")
    for attempt in (
        world.runtime.contexts.create(tmp_path, model="huge"),
        world.runtime.contexts.change(context_id, model="huge", title="New"),
        world.runtime.contexts.change(context_id, model="", title="New"),
    ):
        with pytest.raises(InvalidInput, match="test, small, large") as caught:
            await attempt
        assert caught.value.reason.code is Code.UNKNOWN_MODEL
    live = await world.runtime.contexts.get(context_id)
    assert (await world.runtime.contexts.model(context_id), live.core.title) == ("small", None)
    assert len((await world.runtime.contexts.list()).items) == 1


async def test_a_sub_agent_uses_the_model_of_its_parent(tmp_path: Path) -> None:
    world = family(tmp_path, DELEGATES, DONE, DONE, models=["small"], catalog=ModelCatalog(FACTS))
    context_id = await world.runtime.contexts.create(tmp_path, model="small")
    await world.turn(context_id)
    await child_of(world, context_id)
    assert [request.model for request in world.model.requests] == ["small"] * 3


async def test_the_budget_follows_the_model_unless_the_person_has_set_one(tmp_path: Path) -> None:
    for token_budget, expected in ((None, [50_000, 9_000, 900_000]), (7_000, [7_000] * 3)):
        world = world_with_models(tmp_path, token_budget=token_budget)
        budgets = []
        for name in FACTS:
            context_id = await world.runtime.contexts.create(tmp_path, model=name)
            meter = await world.runtime.window.meter(context_id)
            assert (meter.trigger, meter.target) == (meter.budget * 8 // 10, meter.budget // 2)
            budgets.append(meter.budget)
        assert budgets == expected
    world = world_with_models(tmp_path, catalog=ModelCatalog({}))
    assert (await world.runtime.window.meter(await world.start())).budget == 128_000, "of an unknown one, the usual"


async def test_a_smaller_model_compresses_the_history_of_a_larger_one(tmp_path: Path) -> None:
    facts = {"test": ModelFacts(window=100_000), "tiny": ModelFacts(window=4_000)}
    world = SmallWindowWorld(tmp_path, models=["tiny"], catalog=ModelCatalog(facts))
    context_id = await world.start()
    for number in range(21):
        await world.turn(context_id, f"{number} {WORDS}")
    assert await world.summaries(context_id) == []
    await world.runtime.contexts.change(context_id, model="tiny")
    window = await world.runtime.window.read(context_id)
    assert window.compresses
    assert window.meter.tokens > window.meter.budget
    await world.turn(context_id, "on")
    assert len(await world.summaries(context_id)) == 1
    assert {request.model for request in world.model.requests[-2:]} == {"tiny"}


# stored figures


async def test_an_answer_names_its_model_even_if_another_is_chosen_meanwhile(tmp_path: Path) -> None:
    world = world_with_models(tmp_path, Answer(text="from the first", usage=USED, delta_delay=0.01), DONE)
    context_id = await world.start()
    await world.runtime.messages.send(context_id, "go")
    live = await live_context(world.runtime, context_id)
    with world.runtime.signals([context_id]) as signals:
        while live.delta_writer is None or not live.delta_writer.flushed:
            await anext(signals)
    await world.runtime.contexts.change(context_id, model="small")
    await world.runtime.turns.rested(context_id)
    answer = (await world.runtime.messages.read(context_id))[-1]
    assert answer.metadata.model == "test"
    assert (await world.runtime.contexts.usage(context_id)).own.cost == 2.0, "it costs what that one costs"


async def test_a_model_chosen_between_two_rounds_is_used_in_the_next(tmp_path: Path) -> None:
    look = NoteTool("look", "read_only", hold=True)
    world = world_with_models(tmp_path, look_calls("a"), DONE, tools=[look])
    context_id = await world.start()
    await world.runtime.messages.send(context_id, "go")
    await look.started.wait()
    await world.runtime.contexts.change(context_id, model="small")
    look.release.set()
    await world.runtime.turns.rested(context_id)
    assert [request.model for request in world.model.requests] == ["test", "small"]
    messages = await world.runtime.messages.read(context_id)
    assert [each.metadata.model for each in messages if each.role == "assistant"] == ["test", "small"]


async def test_a_cost_uses_the_price_of_the_model_that_answered(tmp_path: Path) -> None:
    world = world_with_models(tmp_path, *[Answer(text="x", usage=USED)] * 3)
    context_id = await world.start()
    costs = []
    for model in ("test", "small", "large"):
        await world.runtime.contexts.change(context_id, model=model)
        await world.turn(context_id)
        costs.append((await world.runtime.contexts.usage(context_id)).own.cost)
    assert costs == [2.0, 6.0, 6.0]
    unpriced = world_with_models(tmp_path, Answer(text="x", usage=USED))
    context_id = await unpriced.runtime.contexts.create(tmp_path, model="large")
    await unpriced.turn(context_id)
    assert (await unpriced.runtime.contexts.usage(context_id)).own.cost is None, (
        "what has no known price costs nothing known"
    )


async def test_answers_name_the_persona_of_their_request(tmp_path: Path) -> None:
    world = world_with_models(tmp_path, look_calls("a"), DONE)
    context_id = await world.runtime.contexts.create(tmp_path, persona="thrifty")
    await world.turn(context_id)
    messages = await world.runtime.messages.read(context_id)
    assert {each.metadata.persona for each in messages if each.role == "assistant"} == {"thrifty"}


# how it is counted


def read_by_the_model(message: Message, others: Sequence[Message]) -> list[ModelMessage]:
    if isinstance(message, ToolRequest):
        return [next(iter(as_calls(message, {})))]
    results = [each for each in others if getattr(each, "call_id", None) == getattr(message, "call_id", "")]
    if results:
        requests = [each for each in others if isinstance(each, ToolRequest)]
        result_by_call = {each.call_id: each for each in others if isinstance(each, ToolResult)}
        calls = [each for request in requests for each in list(as_calls(request, result_by_call))[1:]]
        return [each for each in calls if getattr(each, "call_id", None) == getattr(message, "call_id", "")]
    return [to_model_message(message)]


@pytest.mark.parametrize("model", list(FACTS))
async def test_the_token_count_stored_with_a_message_is_that_of_its_encoded_form(tmp_path: Path, model: str) -> None:
    (tmp_path / "a.txt").write_text(MIXED)
    calls = tuple(ScriptedCall(tool="look", arguments={"text": text}) for text in (MIXED, "b"))
    odd = (ScriptedCall(tool="no such töol", arguments="not json"),)
    answers = Answer(text=MIXED, calls=calls), Answer(calls=odd), Answer(text=MIXED)
    world = world_with_models(tmp_path, *answers)
    context_id = await world.runtime.contexts.create(tmp_path, model=model)
    payloads = [{"type": "text", "content": MIXED}, {"type": "file_reference", "path": "a.txt"}]
    await world.runtime.messages.send(context_id, payloads)
    await world.runtime.turns.rested(context_id)
    counter = counter_for(FACTS[model].tokenizer)
    messages = await world.runtime.messages.read(context_id)
    assert len(messages) == 8
    for message in messages:
        expected = sum(tokens_in(each, counter) for each in read_by_the_model(message, messages))
        assert (message.metadata.tokens, message.metadata.counter) == (expected, counter.name), message
    window = await world.runtime.window.read(context_id)
    assert window.meter.counter == counter.name
    assert window.meter.is_estimate == counter.is_estimate
    (history,) = [part.tokens for part in window.parts if part.name == "history"]
    ending = counter.count("Please go on.") + 4
    assert history == sum(each.metadata.tokens or 0 for each in messages) + ending


async def test_with_another_tokenizer_messages_are_counted_again_and_stored_counts_stay(tmp_path: Path) -> None:
    world = world_with_models(tmp_path, Answer(text=MIXED), Answer(text=MIXED))
    context_id = await world.start()
    await world.turn(context_id, MIXED)
    before = await world.runtime.messages.read(context_id)
    for model in ("small", "large", "test"):
        await world.runtime.contexts.change(context_id, model=model)
        counter = counter_for(FACTS[model].tokenizer)
        window = await world.runtime.window.read(context_id)
        assert window.meter.counter == counter.name
        for part in window.parts:
            if part.text is not None:
                assert part.tokens == counter.count(part.text)
        (history,) = [part.tokens for part in window.parts if part.name == "history"]
        counts = [tokens_in(to_model_message(message), counter) for message in before]
        assert history == sum(counts) + counter.count("Please go on.") + 4
    assert await world.runtime.messages.read(context_id) == before, "a message never changes"
    await world.runtime.contexts.change(context_id, model="small")
    await world.turn(context_id, MIXED)
    counters = [each.metadata.counter for each in await world.runtime.messages.read(context_id)]
    assert counters == ["estimate", "estimate", "o200k", "o200k"]


@pytest.mark.parametrize("change", [{"model": "small"}, {"persona": "thrifty"}], ids=["chosen", "by persona"])
async def test_the_token_ratio_of_one_model_does_not_apply_to_another(tmp_path: Path, change: dict[str, Any]) -> None:
    world = world_with_models(tmp_path, Answer(text="x", usage=Usage(900, 1)), DONE)
    context_id = await world.start()
    await world.runtime.branches.set_prompt_addition(context_id, MIXED * 3)
    await world.turn(context_id)
    ratio = (await world.runtime.contexts.get(context_id)).core.token_ratio
    assert ratio != 1.0
    assert not (await world.runtime.window.meter(context_id)).is_estimate
    await world.runtime.contexts.change(context_id, **change)
    window = await world.runtime.window.read(context_id)
    counter = counter_for("o200k")
    for part in window.parts:
        if part.text is not None:
            assert part.tokens == counter.count(part.text)
