"""A conversation continues with another provider, which may use another wire format."""

from collections.abc import AsyncGenerator, Callable
from pathlib import Path

import msgspec

from pilothouse.llm.base import ModelEvent, ModelRequest
from pilothouse.llm.chat_completions import CHAT_COMPLETIONS
from pilothouse.llm.script import Answer, Script, ScriptedCall, ScriptedError
from pilothouse.llm.scripted import ScriptedAdapter
from pilothouse.runtime.dependencies import ProviderHandle
from pilothouse.testing import alternating_format, wire
from pilothouse.testing.alternating_format import ALTERNATING
from pilothouse.testing.world import World

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
