"""A conversation continues with another provider, which may use another wire format."""

from collections.abc import AsyncGenerator, Callable, Sequence
from pathlib import Path
from typing import Any

import msgspec
import pytest

from pilothouse.domain.budgets import Budget
from pilothouse.domain.messages import Message
from pilothouse.domain.payloads import DataContext, MessageAttachments
from pilothouse.domain.value import ContextId, MessageId
from pilothouse.llm.base import ModelEvent, ModelRequest
from pilothouse.llm.chat_completions import CHAT_COMPLETIONS
from pilothouse.llm.model_catalog import ModelCatalog, ModelFacts
from pilothouse.llm.script import Answer, Script, ScriptedCall, ScriptedError
from pilothouse.llm.scripted import ScriptedAdapter
from pilothouse.runtime.dependencies import ProviderHandle
from pilothouse.storage.memory import MemoryStore
from pilothouse.testing import alternating_format, wire
from pilothouse.testing.alternating_format import ALTERNATING
from pilothouse.testing.world import World
from tests.support.full_windows import MANY_WORDS
from tests.support.pngs import picture

LOOK = Answer(text="I look.", calls=(ScriptedCall(tool="look", arguments={"text": "here"}),))


def use(world: World, adapter: ScriptedAdapter) -> None:
    world.dependencies.use(ProviderHandle(adapter=adapter, model="test", models=(), titles=None))


async def test_the_history_is_sent_in_the_format_of_the_present_provider(tmp_path: Path) -> None:
    world = World(tmp_path, LOOK, Answer(text="First answer."), LOOK, Answer(text="Last answer."))
    other = ScriptedAdapter(Script(turn=(LOOK, Answer(text="Second answer."))), ALTERNATING)
    context_id = await world.start()
    await world.turn(context_id, "first question")
    use(world, other)
    await world.turn(context_id, "second question")
    use(world, world.model)
    await world.turn(context_id, "third question")
    bodies = [ALTERNATING.body(request) for request in other.requests]
    assert [alternating_format.faults(body) for body in bodies] == [[], []]
    assert {"first question", "First answer.", "second question"} <= set(
        alternating_format.text_of(bodies[-1]).split("\n")
    )
    last = CHAT_COMPLETIONS.body(world.model.requests[-1])
    wire.check(msgspec.json.decode(last))
    assert b"Second answer." in last


async def test_a_format_that_is_used_again_costs_no_second_encoding(tmp_path: Path) -> None:
    world = World(tmp_path, *[Answer(text="An answer.")] * 3)
    other = ScriptedAdapter(Script(turn=(Answer(text="An answer."),)), ALTERNATING)
    context_id = await world.start()
    for adapter in (world.model, other, world.model):
        use(world, adapter)
        await world.turn(context_id)
    first, second = (request.messages for request in world.model.requests)
    assert [id(message) for message in second[: len(first)]] == [id(message) for message in first]


class FailingAdapter(ScriptedAdapter):
    """Fails, after the person has set up another provider."""

    def __init__(self, on_request: Callable[[], None]) -> None:
        super().__init__(Script(turn=(Answer(error=ScriptedError(status=503)),)))
        self._on_request = on_request

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelEvent, None]:
        self._on_request()
        async for event in super().stream(request):
            yield event


async def test_a_retry_with_another_provider_is_in_that_providers_format(tmp_path: Path) -> None:
    world = World(tmp_path, Answer(text="An answer."))
    other = ScriptedAdapter(Script(turn=(Answer(text="Another answer."),)), ALTERNATING)
    context_id = await world.start()
    await world.turn(context_id)
    failing = FailingAdapter(lambda: use(world, other))
    use(world, failing)
    await world.turn(context_id)
    assert len(failing.requests) == 1
    assert [alternating_format.faults(ALTERNATING.body(request)) for request in other.requests] == [[]]


class InterruptedStore(MemoryStore):
    """Calls `on_read` at every read of messages, as if a person's command came at that instant."""

    def __init__(self) -> None:
        super().__init__()
        self.on_read: Callable[[], None] = lambda: None

    async def messages(self, context_id: ContextId, ids: Sequence[MessageId]) -> list[Message]:
        self.on_read()
        return await super().messages(context_id, ids)


def alternately(world: World, *adapters: ScriptedAdapter) -> Callable[[], None]:
    """A function that sets up the next of the adapters with each call."""
    count = 0

    def use_next() -> None:
        nonlocal count
        count += 1
        use(world, adapters[count % len(adapters)])

    return use_next


def check_request(body: Any) -> None:
    """A decoded body is valid in the one format that it is in."""
    if "turns" in body:
        assert alternating_format.faults(msgspec.json.encode(body)) == []
    else:
        wire.check(body)


async def full_world(tmp_path: Path, *answers: Answer) -> tuple[World, InterruptedStore, ContextId]:
    """A conversation whose next request must be shortened."""
    store = InterruptedStore()
    budget = Budget(tokens=2500, auto_compress=False)
    world = World(tmp_path, *[LOOK, Answer(text=MANY_WORDS)] * 4, *answers, store=store, budget=budget)
    context_id = await world.start()
    for _ in range(4):
        await world.turn(context_id, MANY_WORDS)
    return world, store, context_id


@pytest.mark.parametrize("first", [0, 1])
async def test_a_preview_during_which_the_provider_changes_is_in_one_format(tmp_path: Path, first: int) -> None:
    world, store, context_id = await full_world(tmp_path)
    other = ScriptedAdapter(Script(), ALTERNATING)
    adapters = [world.model, other]
    use(world, adapters[first])
    store.on_read = alternately(world, adapters[first], adapters[1 - first])
    window = await world.runtime.window.read(context_id)
    assert window.messages_left_out + window.messages_shortened > 0
    check_request(window.request)


@pytest.mark.parametrize("changes", [1, 2, 3, 4, 5])
async def test_a_request_is_in_the_format_of_the_provider_that_sends_it_however_often_that_changes(
    tmp_path: Path, changes: int
) -> None:
    world, store, context_id = await full_world(tmp_path, *[Answer(text="An answer.")] * 9)
    other = ScriptedAdapter(Script(turn=(Answer(text="An answer."),)), ALTERNATING)
    use_next = alternately(world, world.model, other)

    def interrupt() -> None:
        nonlocal changes
        if changes > 0:
            changes -= 1
            use_next()

    world.model.requests.clear()
    store.on_read = interrupt
    attached = MessageAttachments(DataContext("a table", "t.csv", "x,y " * 400), (MANY_WORDS,))
    await world.turn(context_id, MANY_WORDS, attached=attached)
    store.on_read = lambda: None
    assert (await world.runtime.contexts.get(context_id)).core.last_turn == "complete"
    bodies = [msgspec.json.decode(CHAT_COMPLETIONS.body(request)) for request in world.model.requests]
    bodies += [msgspec.json.decode(ALTERNATING.body(request)) for request in other.requests]
    assert len(bodies) == 1
    check_request(bodies[0])
    assert ("turns" in bodies[0]) == (len(other.requests) == 1)


async def test_images_are_sent_in_the_present_format_to_a_model_that_sees_and_as_text_to_another(
    tmp_path: Path,
) -> None:
    facts = {"test": ModelFacts(vision=True), "blind": ModelFacts(vision=False)}
    world = World(tmp_path, *[Answer(text="A picture.")] * 2, catalog=ModelCatalog(facts))
    other = ScriptedAdapter(Script(turn=(Answer(text="A picture."),) * 2), ALTERNATING)
    context_id = await world.start()
    (tmp_path / "seen.png").write_bytes(picture())
    payload = {"type": "image", "path": "seen.png"}
    await world.runtime.messages.send(context_id, [payload])
    await world.runtime.turns.rested(context_id)
    for adapter, model in ((other, "test"), (other, "blind"), (world.model, "blind")):
        world.dependencies.use(ProviderHandle(adapter=adapter, model=model, models=(), titles=None))
        await world.turn(context_id)
    seeing, blind = (ALTERNATING.body(request) for request in other.requests)
    assert [alternating_format.faults(body) for body in (seeing, blind)] == [[], []]
    assert (b'"kind":"image"' in seeing, b'"kind":"image"' in blind) == (True, False)
    bodies = [msgspec.json.decode(CHAT_COMPLETIONS.body(request)) for request in world.model.requests]
    for body in bodies:
        wire.check(body)
    assert ["image_url" in str(body) for body in bodies] == [True, False]


async def test_a_model_chosen_while_the_request_is_built_gets_no_images_of_a_model_that_sees(tmp_path: Path) -> None:
    facts = {"test": ModelFacts(vision=True, window=6000), "blind": ModelFacts(vision=False, window=6000)}
    store = InterruptedStore()
    world = World(tmp_path, Answer(text="Seen."), catalog=ModelCatalog(facts), models=["blind"], store=store)
    context_id = await world.start()
    (tmp_path / "seen.png").write_bytes(picture())
    blind = ProviderHandle(adapter=world.model, model="blind", models=(), titles=None)

    def choose_when_prepared() -> None:
        if "preparing_llm_request" in world.states:
            world.dependencies.use(blind)

    store.on_read = choose_when_prepared
    long_text = {"type": "text", "content": MANY_WORDS * 20}
    await world.runtime.messages.send(context_id, [{"type": "image", "path": "seen.png"}, long_text])
    await world.runtime.turns.rested(context_id)
    (last,) = world.model.requests
    assert last.model == "blind"
    assert b"image_url" not in CHAT_COMPLETIONS.body(last)
