"""Building a request: the parts of the prompt, their order, and that the window shows exactly the request."""

from collections.abc import AsyncGenerator
from contextlib import aclosing
from pathlib import Path
from typing import Any

import msgspec
import pytest

from pilothouse.domain.budgets import OverviewSettings
from pilothouse.domain.modes import Modes
from pilothouse.domain.payloads import DataContext, MessageAttachments
from pilothouse.domain.personas import Persona, Personas, ToolPolicy
from pilothouse.domain.rules import Scope
from pilothouse.domain.states import AwaitingLLMFirstChunk, AwaitingToolApproval
from pilothouse.llm.base import ModelEvent, ModelRequest
from pilothouse.llm.chat_completions import CHAT_COMPLETIONS
from pilothouse.llm.script import Answer, Script
from pilothouse.llm.scripted import ScriptedAdapter
from pilothouse.runtime.request.preview import Window
from pilothouse.storage.memory import MemoryStore
from pilothouse.testing.tools import NoteTool
from pilothouse.testing.world import World
from pilothouse.tools.builtin.delegate import Delegate
from pilothouse.window.model_messages import CONTINUE_TEXT
from pilothouse.window.prompt import DEFAULT_IDENTITY, persona_text
from tests.support.full_windows import WORDS, SmallWindowWorld, look_calls
from tests.support.held_store import DELEGATES, DONE, calls_answer, family
from tests.support.live_contexts import live_context
from tests.support.mcp_tools import builtin_tools_for_world

ADA = Persona("ada", name="Ada", role="gardener", identity="You grow things.", prompt="Begin with the soil.")
READER = Persona("reader", prompt="Only read.", tools=ToolPolicy(denied=frozenset({"change"})))
NEVER = Answer(silence=0)
WITH_DATA = MessageAttachments(DataContext("a table", "t.csv", "x,y"), ("first extra", "second extra"))


def personas_for(workspace: str | None) -> Personas:
    return Personas([ADA, READER])


def parts_of(system: str, *beginnings: str) -> list[int]:
    """The positions of the parts of a prompt; each part occurs once."""
    assert all(system.count(each) == 1 for each in beginnings), system
    return [system.index(each) for each in beginnings]


def body_of(window: Window) -> bytes:
    return msgspec.json.encode(window.request)


async def wait_for_requests(world: World, context_id: str, times: int) -> None:
    """Wait until the model has received that many requests, and answers none."""
    live = await live_context(world.runtime, context_id)
    with world.runtime.signals([context_id]) as signals:
        while len(world.model.requests) < times or not isinstance(live.state, AwaitingLLMFirstChunk):
            await anext(signals)


async def cancelled_turn(world: World, context_id: str, times: int = 1, **options: Any) -> None:
    """A turn that is cancelled while its last request is open."""
    await world.runtime.messages.send(context_id, "go", **options)
    await wait_for_requests(world, context_id, times)
    await world.runtime.turns.cancel(context_id)


async def check_figures(world: World, context_id: str) -> Window:
    window = await world.runtime.window.read(context_id)
    assert sum(part.tokens for part in window.parts) == window.meter.tokens
    assert window.meter == await world.runtime.window.meter(context_id)
    return window


# the prompt


async def test_the_prompt_has_its_parts_in_their_order(tmp_path: Path) -> None:
    (tmp_path / "main.py").write_text("x")
    world = World(tmp_path, DONE, personas=personas_for, overview=OverviewSettings())
    context_id = await world.runtime.contexts.create(tmp_path, mode="review", persona="ada")
    await world.runtime.branches.set_prompt_addition(context_id, "Speak of tulips.")
    await world.turn(context_id)
    (request,) = world.model.requests
    review = Modes().all["review"].prompt
    whole = [persona_text(ADA), "Your tools are the ones", review, "Speak of tulips.", f"Workspace: {tmp_path}"]
    parts = parts_of(request.system, *whole)
    assert parts == sorted(parts)
    assert parts[0] == 0
    assert "main.py" in request.system[parts[-1] :]


@pytest.mark.parametrize("mode", list(Modes().all))
async def test_tools_are_described_in_their_definitions_only(tmp_path: Path, mode: str) -> None:
    world = World(tmp_path, DONE, tools=[*builtin_tools_for_world(), Delegate()])
    context_id = await world.start(mode)
    await world.turn(context_id)
    (request,) = world.model.requests
    assert not any(tool.description in request.system for tool in request.tools)
    names = {tool.name for tool in request.tools}
    if mode == "ask":
        assert names == set()
        assert "You have no tools now." in request.system
        assert "Paths are relative" not in request.system, "who has no tools need not know where they work"
    else:
        assert ("write_file" in names) == (mode != "plan")
        assert ("execute" in names) == (mode != "plan")
        assert {"read_file", "look"} < names
        assert f"The workspace is {tmp_path}." in request.system


async def test_a_switch_of_the_mode_between_rounds_shows_in_the_next(tmp_path: Path) -> None:
    look = NoteTool("look", "read_only", hold=True)
    world = World(tmp_path, calls_answer(("look", "a")), DONE, tools=[look])
    context_id = await world.start("review")
    await world.runtime.messages.send(context_id, "go")
    await look.started.wait()
    await world.runtime.modes.switch(context_id, "plan")
    look.release.set()
    await world.runtime.turns.rested(context_id)
    before, after = world.model.requests
    review, plan = Modes().all["review"].prompt, Modes().all["plan"].prompt
    assert [review in before.system, plan in before.system] == [True, False]
    assert [review in after.system, plan in after.system] == [False, True]
    assert {tool.name for tool in before.tools} - {tool.name for tool in after.tools} == {"change"}
    answer = (await world.runtime.messages.read(context_id))[-1]
    assert answer.metadata.mode == "plan"


async def test_the_prompt_of_a_sub_agent_has_its_ancestors_present_modes(tmp_path: Path) -> None:
    look = NoteTool("look", "read_only", hold=True)
    world = family(tmp_path, DELEGATES, calls_answer(("look", "a")), DONE, DONE, tools=[look])
    context_id = await world.start("review")
    await world.runtime.rules.give("allow", Scope(tool="delegate"), context_id=context_id)
    await world.runtime.messages.send(context_id, "go")
    await look.started.wait()
    await world.runtime.modes.switch(context_id, "agent")
    look.release.set()
    await world.runtime.turns.rested(context_id)
    above, first, second, _ = world.model.requests
    bound = "You are a sub-agent; mode {!r} of who sent you binds you too."
    review = Modes().all["review"].prompt
    assert "You are a sub-agent" not in above.system
    assert f"{bound.format('review')} {review}" in first.system
    assert first.system.count(review) == 2, "its own mode is told as its own"
    assert bound.format("agent") in second.system
    assert second.system.count(review) == 1, "it has its own mode still"


async def test_a_persona_that_is_switched_in_the_middle_shows_in_the_next_round(tmp_path: Path) -> None:
    look = NoteTool("look", "read_only", hold=True)
    world = World(tmp_path, calls_answer(("look", "a")), DONE, DONE, tools=[look], personas=personas_for)
    context_id = await world.start()
    await world.runtime.messages.send(context_id, "go")
    await look.started.wait()
    await world.runtime.modes.set_persona(context_id, "reader")
    look.release.set()
    await world.runtime.turns.rested(context_id)
    await world.runtime.modes.set_persona(context_id, None)
    await world.turn(context_id)
    first, second, third = world.model.requests
    assert [request.system.startswith(DEFAULT_IDENTITY) for request in (first, second, third)] == [True, False, True]
    assert second.system.startswith(persona_text(READER))
    assert ["change" in {tool.name for tool in request.tools} for request in (first, second, third)] == [1, 0, 1]
    assert "change" not in second.system


async def test_a_branch_has_its_own_addition(tmp_path: Path) -> None:
    world = World(tmp_path, DONE, DONE, DONE)
    context_id = await world.start()
    await world.turn(context_id)
    await world.runtime.branches.create(context_id, "idea", prompt_addition="Think of ships.")
    await world.turn(context_id)
    await world.runtime.branches.switch(context_id, "idea")
    await world.turn(context_id)
    assert ["Think of ships." in request.system for request in world.model.requests] == [False, False, True]


# reading the window beforehand


async def test_the_window_before_a_message_lacks_only_that_message(tmp_path: Path) -> None:
    world = World(tmp_path, look_calls("a"), DONE, DONE)
    context_id = await world.start()
    await world.turn(context_id)
    window = await check_figures(world, context_id)
    await world.turn(context_id, "and now this")
    ahead, sent = window.request, msgspec.json.decode(CHAT_COMPLETIONS.body(world.model.requests[-1]))
    assert sent["messages"].pop() == {"role": "user", "content": "and now this"}
    assert ahead["messages"].pop() == {"role": "user", "content": CONTINUE_TEXT}, (
        "else it would end with the model's own words"
    )
    assert ahead == sent


@pytest.mark.parametrize("mode", ["agent", "plan", "ask"])
async def test_the_window_before_a_continue_equals_its_request(tmp_path: Path, mode: str) -> None:
    world = World(tmp_path, look_calls("a", "b"), NEVER, DONE)
    context_id = await world.start()
    await cancelled_turn(world, context_id, times=2)
    await world.runtime.modes.switch(context_id, mode)
    window = await check_figures(world, context_id)
    await world.runtime.turns.continue_(context_id)
    await world.runtime.turns.rested(context_id)
    request = world.model.requests[-1]
    assert body_of(window) == CHAT_COMPLETIONS.body(request)
    assert bool(request.tools) == (mode != "ask")
    assert (b"tool_calls" in body_of(window)) == (mode != "ask"), "without tools, earlier calls are told as text"
    assert b"noted a" in body_of(window)


async def test_the_window_before_a_continue_has_the_attachments(tmp_path: Path) -> None:
    world = World(tmp_path, look_calls("a"), NEVER, DONE)
    context_id = await world.start()
    await cancelled_turn(world, context_id, times=2, attached=WITH_DATA)
    window = await check_figures(world, context_id)
    await world.runtime.turns.continue_(context_id)
    await world.runtime.turns.rested(context_id)
    assert body_of(window) == CHAT_COMPLETIONS.body(world.model.requests[-1])


async def test_the_window_during_a_waiting_call_lacks_only_its_result(tmp_path: Path) -> None:
    world = World(tmp_path, calls_answer(("look", "a"), ("change", "b")), DONE)
    context_id = await world.start("review")
    await world.runtime.messages.send(context_id, "go", attached=WITH_DATA)
    live = await world.runtime.turns.rested(context_id)
    assert isinstance(live.state, AwaitingToolApproval)
    window = await check_figures(world, context_id)
    await world.runtime.calls.approve_all(context_id)
    await world.runtime.turns.rested(context_id)
    ahead, sent = window.request, msgspec.json.decode(CHAT_COMPLETIONS.body(world.model.requests[-1]))
    pairs = zip(ahead["messages"], sent["messages"], strict=True)
    assert [now["content"] for before, now in pairs if before != now] == ["noted b"]
    assert {**ahead, "messages": ()} == {**sent, "messages": ()}
    assert ahead["messages"][-1]["content"] == "second extra"


async def test_the_window_during_an_answer_equals_its_request(tmp_path: Path) -> None:
    world = World(tmp_path, look_calls("a"), NEVER)
    context_id = await world.start()
    await world.runtime.messages.send(context_id, "go", attached=WITH_DATA)
    await wait_for_requests(world, context_id, 2)
    window = await check_figures(world, context_id)
    assert body_of(window) == CHAT_COMPLETIONS.body(world.model.requests[-1])
    assert {part.name: part.tokens for part in window.parts}["attached"] > 0
    await world.runtime.turns.cancel(context_id)


async def test_the_window_after_a_compression_equals_the_next_request(tmp_path: Path) -> None:
    world = SmallWindowWorld(tmp_path, *[Answer(text=WORDS)] * 8, NEVER)
    context_id = await world.start()
    for number in range(8):
        await world.turn(context_id, f"{number} {WORDS}")
    await cancelled_turn(world, context_id, times=9)
    await world.runtime.compression.compress(context_id)
    window = await check_figures(world, context_id)
    assert not window.compresses
    await world.runtime.turns.continue_(context_id)
    await world.runtime.turns.rested(context_id)
    assert body_of(window) == CHAT_COMPLETIONS.body(world.model.requests[-1])
    assert b"Summary of the earlier part" in body_of(window)


async def test_with_the_providers_count_the_parts_still_add_up_to_the_figure_that_is_shown(tmp_path: Path) -> None:
    world = SmallWindowWorld(tmp_path)

    async def reported() -> int:
        return 1000

    world.model.reports = reported
    context_id = await world.start()
    await world.runtime.branches.set_prompt_addition(context_id, WORDS * 9)
    await world.turn(context_id, WORDS)
    assert (await world.runtime.contexts.get(context_id)).core.token_ratio not in (0, 1.0)
    window = await world.runtime.window.read(context_id)
    assert window.meter == await world.runtime.window.meter(context_id)
    assert abs(sum(part.tokens for part in window.parts) - window.meter.tokens) <= len(window.parts)


async def test_reading_the_window_changes_nothing(tmp_path: Path) -> None:
    world = World(tmp_path, DONE, overview=OverviewSettings())
    context_id = await world.start()
    await world.runtime.window.read(context_id)
    await world.turn(context_id)
    version = (await world.runtime.contexts.get(context_id)).version
    first, second = [await world.runtime.window.read(context_id) for _ in range(2)]
    assert first == second
    assert (await world.runtime.contexts.get(context_id)).version == version


# messages stored before a request


class RecordingAdapter(ScriptedAdapter):
    """Records the kinds of stored messages at every request."""

    def __init__(self, store: MemoryStore, *answers: Answer) -> None:
        super().__init__(Script(turn=answers))
        self._store = store
        self.stored_kinds: list[list[str]] = []

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelEvent, None]:
        (summary,) = await self._store.contexts()
        ids = await self._store.branch_ids(summary.context_id, "main")
        messages = await self._store.messages(summary.context_id, ids)
        self.stored_kinds.append([type(message).__name__ for message in messages])
        async with aclosing(super().stream(request)) as events:
            async for event in events:
                yield event


async def test_every_message_of_a_request_is_stored_before_the_request_is_sent(tmp_path: Path) -> None:
    store = MemoryStore()
    witness = RecordingAdapter(store, look_calls("a"), DONE)
    world = World(tmp_path, store=store, adapter=witness)
    context_id = await world.start()
    await world.turn(context_id)
    assert witness.stored_kinds == [["Text"], ["Text", "ToolRequest", "ToolResult"]]
