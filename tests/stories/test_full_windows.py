"""Requests whose minimum does not fit are shortened, with a notice for the person; never an endless loop."""

from pathlib import Path

import msgspec
import pytest

from pilothouse.domain.budgets import Budget
from pilothouse.domain.codes import Code, Reason
from pilothouse.domain.messages import ErrorMessage, Processing, Text, ToolResult
from pilothouse.domain.payloads import ClientMetadata, ImagePayload, MessageAttachments, TextPayload
from pilothouse.domain.states import Idle
from pilothouse.llm.base import ModelRequest
from pilothouse.llm.model_catalog import ModelCatalog, ModelFacts
from pilothouse.llm.script import Answer, ScriptedError
from pilothouse.testing.tools import NoteArguments, NoteTool
from pilothouse.tools.base import ToolContext
from pilothouse.window.tokens import counter_for
from tests.support.full_windows import MANY_WORDS, SMALL, WORDS, SmallWindowWorld, look_calls, text_of
from tests.support.live_contexts import live_context

LONG = "word " * 4000  # about four and a half thousand tokens


class VerboseTool(NoteTool):
    """A tool whose results are as long as its argument says, in words."""

    def __init__(self) -> None:
        super().__init__("look", "read_only")

    async def run(self, arguments: NoteArguments, job: ToolContext) -> str:
        await super().run(arguments, job)
        return "word " * int(arguments.text.split(",")[0])


async def errors(world: SmallWindowWorld, context_id: str) -> list[Reason]:
    """The reasons shown to the person: errors that ended a turn, and notices that did not."""
    reasons = []
    for message in await world.messages(context_id):
        if isinstance(message, ErrorMessage):
            reasons.append(message.reason)
        elif isinstance(message, Processing):
            reasons.append(Reason(Code(message.stage), message.detail["params"]))
    return reasons


async def results(world: SmallWindowWorld, context_id: str) -> list[ToolResult]:
    return [message for message in await world.messages(context_id) if isinstance(message, ToolResult)]


def cut_results_in(request: ModelRequest) -> int:
    """How many results a request carries cut short."""
    messages = [msgspec.json.decode(message) for message in request.messages]
    return sum("characters left out" in message["content"] for message in messages if message["role"] == "tool")


async def test_a_result_that_does_not_fit_is_sent_cut_short_and_kept_whole(tmp_path: Path) -> None:
    world = SmallWindowWorld(tmp_path, look_calls("4000"), look_calls("10"), tools=[VerboseTool()])
    context_id = await world.start()
    await world.turn(context_id, "look at it")
    live = await world.runtime.contexts.get(context_id)
    assert live.core.last_turn == "complete"
    long, short = await results(world, context_id)
    assert long.content == "word " * 4000, "what is stored is whole"
    for request in world.model.requests[1:]:
        assert cut_results_in(request) == 1
    (error,) = await errors(world, context_id)
    assert error.code is Code.RESULTS_CUT, "told once, not in every round"
    assert error.params["count"] == 1
    meter = await world.runtime.window.meter(context_id)
    window = await world.runtime.window.read(context_id)
    assert window.results_cut == 1
    assert window.meter == meter, "one figure, whoever asks"
    assert 0 < error.params["tokens"] <= window.tokens_cut, "later rounds may cut more of the same result"
    assert meter.tokens - window.tokens_cut <= SMALL.request_tokens
    assert short.content in str(window.request)
    world.check_requests()


async def test_as_few_results_are_cut_as_needed_the_longest_first(tmp_path: Path) -> None:
    world = SmallWindowWorld(tmp_path, look_calls("600"), look_calls("1700"), look_calls("400"), tools=[VerboseTool()])
    context_id = await world.start()
    await world.turn(context_id, "look at it")
    last = [msgspec.json.decode(message) for message in world.model.requests[-1].messages]
    tools = [message["content"] for message in last if message["role"] == "tool"]
    assert ["left out" in content for content in tools] == [False, True, False]
    world.check_requests()


async def test_the_reported_count_of_cut_results_is_exact(tmp_path: Path) -> None:
    world = SmallWindowWorld(tmp_path, look_calls("2000,a", "2000,b", "5,c"), tools=[VerboseTool()])
    context_id = await world.start()
    await world.turn(context_id, "look at it")
    (error,) = await errors(world, context_id)
    assert cut_results_in(world.model.requests[-1]) == 2
    assert error.params["count"] == 2


async def test_the_notice_of_cut_results_counts_only_the_cut_ones(tmp_path: Path) -> None:
    several = look_calls(*(f"350,{number}" for number in range(7)))
    world = SmallWindowWorld(tmp_path, look_calls("1320"), several, tools=[VerboseTool()], budget=Budget(tokens=5000))
    context_id = await world.start()
    await world.turn(context_id, "look at it")
    window = await world.runtime.window.read(context_id)
    notices = await errors(world, context_id)
    sent = cut_results_in(world.model.requests[-1])
    assert sent == 1
    assert window.results_cut == sent
    assert [each.params.get("count") for each in notices] in ([], [sent])


async def test_results_from_before_the_turn_go_before_any_is_cut(tmp_path: Path) -> None:
    world = SmallWindowWorld(tmp_path, look_calls("900"), tools=[VerboseTool()], budget=Budget(tokens=3000, recent=2))
    context_id = await world.filled()
    assert (await results(world, context_id)) != []
    await world.turn(context_id, MANY_WORDS)
    assert await results(world, context_id) == []
    assert await errors(world, context_id) == []
    assert len(await world.summaries(context_id)) == 1


async def test_a_message_longer_than_the_window_is_sent_shortened_with_its_head_and_tail(tmp_path: Path) -> None:
    world = SmallWindowWorld(tmp_path)
    context_id = await world.start()
    await world.turn(context_id, f"First this. {LONG} And then that.")
    assert (await world.runtime.contexts.get(context_id)).core.last_turn == "complete"
    (request,) = world.model.requests
    sent = text_of(request)
    assert sent.startswith("First this. ")
    assert sent.endswith(" And then that.")
    assert "characters left out: it is too long for the context window" in sent
    (error,) = await errors(world, context_id)
    assert error.code is Code.MESSAGES_SHORTENED
    assert error.params["count"] == 1
    assert error.params["budget"] == SMALL.tokens
    (question, *_) = [each for each in await world.messages(context_id) if isinstance(each, Text)]
    assert question.content == f"First this. {LONG} And then that.", "what is stored is whole"
    window = await world.runtime.window.read(context_id)
    assert window.messages_shortened == 1
    world.check_requests()


async def test_open_files_and_notices_are_shortened_with_the_messages_beside_them(tmp_path: Path) -> None:
    look = NoteTool("look", "read_only", hold=True)
    world = SmallWindowWorld(tmp_path, look_calls("x" * 9000), tools=[look], budget=Budget(tokens=1100))
    for number in range(60):
        (tmp_path / f"{'long name ' * 6}{number}.py").write_text("x")
    context_id = await world.start()
    opened = ClientMetadata(extra={"open_files": ["path " * 20] * 20})
    await world.runtime.messages.send(context_id, LONG, client_metadata=opened)
    await look.started.wait()
    await world.runtime.workspaces.add_overview(context_id)
    look.release.set()
    await world.runtime.turns.rested(context_id)
    assert (await world.runtime.contexts.get(context_id)).core.last_turn == "complete"
    world.check_requests()
    first, second = [text_of(request) for request in world.model.requests]
    assert "[Open in the person's editor]" in first
    assert "[The workspace as it is now" in second
    counter = counter_for(None)
    prompt_and_tools = sum(
        part.tokens for part in (await world.runtime.window.read(context_id)).parts if part.name not in ("history",)
    )
    assert max(counter.count(first), counter.count(second)) + prompt_and_tools <= Budget(tokens=1100).request_tokens


async def test_a_prompt_that_leaves_no_room_ends_the_turn_with_the_figures(tmp_path: Path) -> None:
    world = SmallWindowWorld(tmp_path, budget=Budget(tokens=550))
    context_id = await world.start()
    empty = (await world.runtime.window.meter(context_id)).tokens
    await world.turn(context_id, "hello")
    live = await world.runtime.contexts.get(context_id)
    assert isinstance(live.state, Idle)
    assert live.core.last_turn == "limit"
    assert world.model.requests == [], "it was not even sent"
    (error,) = await errors(world, context_id)
    figures = error.params
    assert error.code is Code.WINDOW_FULL
    assert figures["budget"] == 550
    assert figures["prompt"] + figures["tools"] == pytest.approx(empty, abs=10)
    world.set_budget(20_000)
    await world.runtime.turns.continue_(context_id)
    live = await world.runtime.turns.rested(context_id)
    assert live.core.last_turn == "complete"
    assert len(world.model.requests) == 1


async def test_attachments_of_a_message_are_shortened_too(tmp_path: Path) -> None:
    world = SmallWindowWorld(tmp_path)
    context_id = await world.start()
    attached = MessageAttachments(extra_user_messages=("First.", LONG, "Last."))
    await world.turn(context_id, "hello", attached=attached)
    (error,) = await errors(world, context_id)
    assert error.code is Code.MESSAGES_SHORTENED
    sent = msgspec.json.decode(world.model.requests[-1].messages[-1])["content"]
    assert sent.startswith("First.")
    assert sent.endswith("Last.")
    assert "characters left out" in sent
    world.check_requests()


async def test_pins_that_fill_the_window_are_shortened_with_a_notice(tmp_path: Path) -> None:
    world = SmallWindowWorld(tmp_path, budget=Budget(tokens=30_000, recent=2))
    context_id = await world.start()
    for number in range(8):
        await world.turn(context_id, f"keep {number} {MANY_WORDS}")
    for message_id in await world.ids(context_id):
        await world.runtime.compression.pin(context_id, message_id)
    world.set_budget(3000)
    world.model.requests.clear()
    await world.turn(context_id, "and now?")
    live = await live_context(world.runtime, context_id)
    assert live.core.last_turn == "complete"
    params_by_code = {each.code: each.params for each in await errors(world, context_id)}
    assert params_by_code[Code.PINS_SHORTENED]["count"] > 0
    sent = text_of(world.model.requests[-1])
    assert all(f"keep {number} " in sent for number in range(8)), "each of them is there, in short"
    for message_id in live.core.pins:
        await world.runtime.compression.pin(context_id, message_id, pinned=False)
    await world.turn(context_id, "and then?")
    assert len(await world.summaries(context_id)) == 1
    world.check_requests()


async def test_without_auto_compress_the_oldest_messages_are_left_out_with_a_notice(
    tmp_path: Path,
) -> None:
    world = SmallWindowWorld(tmp_path, budget=Budget(tokens=3000, auto_compress=False))
    context_id = await world.filled()
    await world.turn(context_id, "word " * 900)
    live = await world.runtime.contexts.get(context_id)
    assert live.core.last_turn == "complete"
    (error,) = await errors(world, context_id)
    assert error.code is Code.MESSAGES_LEFT_OUT
    assert f"[{error.params['count']} messages are left out here" in text_of(world.model.requests[-1])
    assert await world.summaries(context_id) == []
    await world.runtime.compression.compress(context_id)
    assert (await world.runtime.window.read(context_id)).messages_left_out == 0
    world.check_requests()


async def test_a_window_of_8192_tokens_works_after_many_long_messages(tmp_path: Path) -> None:
    world = SmallWindowWorld(tmp_path, budget=Budget(tokens=8192))
    context_id = await world.start()
    for number in range(8):
        await world.turn(context_id, f"chapter {number} {'word ' * 2500}")
        assert (await world.runtime.contexts.get(context_id)).core.last_turn == "complete"
        assert f"chapter {number}" in text_of(world.model.requests_for("turn")[-1])
    assert len(await world.summaries(context_id)) == 1
    world.check_requests()


async def test_compressing_by_hand_keeps_fewer_recent_messages_where_ten_do_not_fit(tmp_path: Path) -> None:
    world = SmallWindowWorld(tmp_path, budget=Budget(tokens=8192, auto_compress=False))
    context_id = await world.start()
    for number in range(4):
        await world.turn(context_id, f"chapter {number} {'word ' * 1500}")
    before = await world.runtime.window.meter(context_id)
    preview = await world.runtime.compression.preview(context_id)
    done = await world.runtime.compression.compress(context_id)
    assert done.messages == preview.messages > 0
    after = await world.runtime.window.meter(context_id)
    assert after.tokens < after.trigger < before.tokens
    assert "chapter 3" in str((await world.runtime.window.read(context_id)).request), "the last message stays"


async def test_a_round_of_fifty_huge_results_is_answered(tmp_path: Path) -> None:
    world = SmallWindowWorld(tmp_path, look_calls(*(f"9000,{number}" for number in range(50))), tools=[VerboseTool()])
    context_id = await world.start()
    await world.turn(context_id, "look at it")
    assert (await world.runtime.contexts.get(context_id)).core.last_turn == "complete"
    assert Code.RESULTS_CUT in [each.code for each in await errors(world, context_id)]
    world.check_requests()


async def test_an_image_that_does_not_fit_is_named_in_its_place(tmp_path: Path) -> None:
    facts = {"test": ModelFacts(window=1700, vision=True)}
    world = SmallWindowWorld(tmp_path, catalog=ModelCatalog(facts))
    context_id = await world.start()
    pixel = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
    await world.runtime.messages.send(context_id, [TextPayload(content="what is it?"), ImagePayload(base64=pixel)])
    await world.runtime.turns.rested(context_id)
    assert (await world.runtime.contexts.get(context_id)).core.last_turn == "complete"
    assert "does not fit into the context window" in text_of(world.model.requests[-1])
    world.check_requests()


@pytest.mark.parametrize("summaries", ["fine", "fails", "long"])
@pytest.mark.parametrize("strategy", ["recent_n", "intelligent", "importance"])
@pytest.mark.parametrize("size", [60, 300, 1500])
async def test_thirty_rounds_of_large_results_are_answered(
    tmp_path: Path, strategy: str, summaries: str, size: int
) -> None:
    answers = {"fine": Answer(text="In short."), "fails": Answer(error=ScriptedError(status=400))}
    of = answers.get(summaries, Answer(text="word " * 3000))
    budget = msgspec.convert({"tokens": 2500, "strategy": strategy}, Budget)
    rounds = [look_calls(f"{size},{number}") for number in range(30)]
    world = SmallWindowWorld(tmp_path, summaries=[of] * 60, budget=budget, tools=[VerboseTool()])
    context_id = await world.filled()
    world.model.answers_next(*rounds, summary=[of] * 60)
    await world.turn(context_id, f"look at all of it {WORDS}")
    live = await world.runtime.contexts.get(context_id)
    assert isinstance(live.state, Idle)
    assert live.core.last_turn == "complete"
    assert len(await results(world, context_id)) == 30
    assert isinstance((await world.messages(context_id))[-1], Text)
    in_rounds = " ".join(world.trace()).split("enhancing_system_prompt")
    assert max(each.count("optimizing_context compressing_messages") for each in in_rounds) <= 1
    assert len(world.compressions()) <= 8, "only what came before the turn can go"
    world.check_requests()
