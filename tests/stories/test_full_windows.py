"""Where even the least does not fit: results are sent cut short, then the person is told; never an endless loop."""

from pathlib import Path

import msgspec
import pytest

from pilothouse.domain.budgets import Budget
from pilothouse.domain.codes import Code, Reason
from pilothouse.domain.messages import ErrorMessage, Processing, Text, ToolResult
from pilothouse.domain.payloads import Attached
from pilothouse.domain.states import Idle
from pilothouse.llm.base import ModelRequest
from pilothouse.llm.script import Answer, ScriptedError
from pilothouse.testing.tools import NoteArguments, NoteTool
from pilothouse.tools.base import Job
from tests.compressing import MANY_WORDS, SMALL, WORDS, Model, Small, looks

LONG = "word " * 4000  # about four and a half thousand tokens


class Verbose(NoteTool):
    """Its results are as long as its text says, in words."""

    def __init__(self) -> None:
        super().__init__("look", "read_only")

    async def run(self, arguments: NoteArguments, job: Job) -> str:
        await super().run(arguments, job)
        return "word " * int(arguments.text.split(",")[0])


async def errors(world: Small, context_id: str) -> list[Reason]:
    """What a person is told: what ended a turn, and remarks that end nothing."""
    found = []
    for message in await world.messages(context_id):
        if isinstance(message, ErrorMessage):
            found.append(message.reason)
        elif isinstance(message, Processing):
            found.append(Reason(Code(message.stage), message.detail["params"]))
    return found


async def results(world: Small, context_id: str) -> list[ToolResult]:
    return [message for message in await world.messages(context_id) if isinstance(message, ToolResult)]


def cut_in(request: ModelRequest) -> int:
    """How many results a request carries cut short."""
    messages = [msgspec.json.decode(message) for message in request.messages]
    return sum("characters left out" in message["content"] for message in messages if message["role"] == "tool")


async def test_a_result_that_does_not_fit_is_sent_cut_short_and_kept_whole(tmp_path: Path) -> None:
    world = Small(tmp_path, looks("4000"), looks("10"), tools=[Verbose()])
    context_id = await world.start()
    await world.turn(context_id, "look at it")
    live = await world.runtime.context(context_id)
    assert live.core.last_turn == "complete"
    long, short = await results(world, context_id)
    assert long.content == "word " * 4000, "what is stored is whole"
    for request in world.model.requests[1:]:
        assert cut_in(request) == 1
    (told,) = await errors(world, context_id)
    assert told.code is Code.RESULTS_CUT, "told once, not in every round"
    assert told.params["count"] == 1
    meter = await world.runtime.meter(context_id)
    window = await world.runtime.read_window(context_id)
    assert window.results_cut == 1
    assert window.meter == meter, "one figure, whoever asks"
    assert told.params["tokens"] == window.tokens_cut
    assert meter.tokens - window.tokens_cut <= SMALL.tokens
    assert short.content in str(window.request)
    world.check_requests()


async def test_as_few_results_are_cut_as_needed_the_longest_first(tmp_path: Path) -> None:
    world = Small(tmp_path, looks("700"), looks("1700"), looks("500"), tools=[Verbose()])
    context_id = await world.start()
    await world.turn(context_id, "look at it")
    last = [msgspec.json.decode(message) for message in world.model.requests[-1].messages]
    tools = [message["content"] for message in last if message["role"] == "tool"]
    assert ["left out" in content for content in tools] == [False, True, False]
    world.check_requests()


async def test_the_count_of_what_was_cut_is_that_of_results(tmp_path: Path) -> None:
    world = Small(tmp_path, looks("2000,a", "2000,b", "5,c"), tools=[Verbose()])
    context_id = await world.start()
    await world.turn(context_id, "look at it")
    (told,) = await errors(world, context_id)
    assert cut_in(world.model.requests[-1]) == 2
    assert told.params["count"] == 2


async def test_what_was_not_cut_is_not_told_as_cut(tmp_path: Path) -> None:
    several = looks(*(f"350,{number}" for number in range(7)))
    world = Small(tmp_path, looks("1320"), several, tools=[Verbose()], budget=Budget(tokens=4300))
    context_id = await world.start()
    await world.turn(context_id, "look at it")
    window = await world.runtime.read_window(context_id)
    told = await errors(world, context_id)
    sent = cut_in(world.model.requests[-1])
    assert sent == 1
    assert window.results_cut == sent
    assert [each.params.get("count") for each in told] in ([], [sent])


async def test_results_from_before_the_turn_go_before_any_is_cut(tmp_path: Path) -> None:
    world = Small(tmp_path, looks("900"), tools=[Verbose()], budget=Budget(tokens=3000, recent=2))
    context_id = await world.filled()
    assert (await results(world, context_id)) != []
    await world.turn(context_id, MANY_WORDS)
    assert await results(world, context_id) == []
    assert await errors(world, context_id) == []
    assert len(await world.summaries(context_id)) == 1


async def test_a_message_that_can_never_fit_ends_the_turn_with_the_figures(tmp_path: Path) -> None:
    world = Small(tmp_path)
    context_id = await world.start()
    empty = (await world.runtime.meter(context_id)).tokens
    await world.turn(context_id, LONG)
    live = await world.runtime.context(context_id)
    assert isinstance(live.state, Idle)
    assert live.core.last_turn == "limit"
    assert world.model.requests == [], "it was not even sent"
    (told,) = await errors(world, context_id)
    figures = told.params
    assert told.code is Code.WINDOW_FULL
    assert figures["tokens"] == (await world.runtime.meter(context_id)).tokens
    assert figures["budget"] == SMALL.tokens
    assert figures["prompt"] + figures["kept"] == figures["tokens"]
    assert figures["prompt"] == pytest.approx(empty, abs=10)
    world.set_budget(20_000)
    await world.runtime.continue_turn(context_id)
    await world.runtime.rested(context_id)
    assert live.core.last_turn == "complete"
    assert len(world.model.requests) == 1


async def test_what_comes_with_a_message_counts_too(tmp_path: Path) -> None:
    world = Small(tmp_path)
    context_id = await world.start()
    attached = Attached(extra_user_messages=(LONG,))
    await world.turn(context_id, "hello", attached=attached)
    (told,) = await errors(world, context_id)
    assert told.code is Code.WINDOW_FULL
    assert told.params["tokens"] > SMALL.tokens
    world.set_budget(20_000)
    await world.runtime.continue_turn(context_id)
    await world.runtime.rested(context_id)
    assert LONG in str(msgspec.json.decode(world.model.requests[-1].messages[-1]))


async def test_where_pins_fill_the_window_unpinning_and_continuing_helps(tmp_path: Path) -> None:
    world = Small(tmp_path, budget=Budget(tokens=3000, recent=2))
    context_id = await world.filled()
    for message_id in await world.ids(context_id):
        await world.runtime.pin(context_id, message_id)
    await world.turn(context_id, "word " * 900)
    (told,) = await errors(world, context_id)
    assert told.code is Code.WINDOW_FULL
    assert await world.summaries(context_id) == [], "nothing could go"
    live = await world.runtime.context(context_id)
    for message_id in live.core.pins:
        await world.runtime.pin(context_id, message_id, pinned=False)
    await world.runtime.continue_turn(context_id)
    await world.runtime.rested(context_id)
    assert live.core.last_turn == "complete"
    assert len(await world.summaries(context_id)) == 1
    world.check_requests()


async def test_compressing_by_hand_helps_where_it_is_not_done_by_itself(tmp_path: Path) -> None:
    world = Small(tmp_path, budget=Budget(tokens=3000, auto_compress=False))
    context_id = await world.filled()
    await world.turn(context_id, "word " * 900)
    live = await world.runtime.context(context_id)
    assert live.core.last_turn == "limit"
    await world.runtime.compress(context_id)
    await world.runtime.continue_turn(context_id)
    await world.runtime.rested(context_id)
    assert live.core.last_turn == "complete"


@pytest.mark.parametrize("summaries", ["fine", "fails", "long"])
@pytest.mark.parametrize("strategy", ["recent_n", "intelligent", "importance"])
@pytest.mark.parametrize("size", [60, 300, 1500])
async def test_thirty_rounds_of_large_results_end_in_a_defined_state(
    tmp_path: Path, strategy: str, summaries: str, size: int
) -> None:
    answers = {"fine": Answer(text="In short."), "fails": Answer(error=ScriptedError(status=400))}
    of = answers.get(summaries, Answer(text="word " * 3000))
    budget = msgspec.convert({"tokens": 2500, "strategy": strategy}, Budget)
    rounds = [looks(f"{size},{number}") for number in range(30)]
    world = Small(tmp_path, summaries=[of] * 60, budget=budget, tools=[Verbose()])
    context_id = await world.filled()
    world.model._player = Model(rounds, [of] * 60)._player
    await world.turn(context_id, f"look at all of it {WORDS}")
    live = await world.runtime.context(context_id)
    assert isinstance(live.state, Idle)
    assert live.core.last_turn in ("complete", "limit")
    if live.core.last_turn == "limit":
        told = (await errors(world, context_id))[-1]
        assert told.code is Code.WINDOW_FULL
        assert told.params["tokens"] > budget.tokens
    else:
        assert len(await results(world, context_id)) == 30
        assert isinstance((await world.messages(context_id))[-1], Text)
    in_rounds = " ".join(world.trace()).split("enhancing_system_prompt")
    assert max(each.count("optimizing_context compressing_messages") for each in in_rounds) <= 1
    assert len(world.compressions()) <= 8, "only what came before the turn can go"
    world.check_requests()
