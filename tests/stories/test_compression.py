"""The window is full: earlier messages are summarized automatically, in one commit, and the turn continues."""

import asyncio
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from pilothouse.domain.budgets import Budget
from pilothouse.domain.codes import Code
from pilothouse.domain.errors import Conflict
from pilothouse.domain.messages import ErrorMessage, Message, SystemControl, Text, ToolRequest, ToolResult, Usage
from pilothouse.domain.rules import Scope
from pilothouse.domain.states import Idle, Paused
from pilothouse.llm.openai import OpenAIAdapter
from pilothouse.llm.script import Answer, Script, ScriptedCall, ScriptedError
from pilothouse.runtime.limits import Limits
from pilothouse.testing.provider import FakeProvider
from pilothouse.testing.world import World
from pilothouse.tools.builtin.delegate import Delegate
from tests.support.full_windows import (
    MANY_WORDS,
    ROOMY,
    SMALL,
    WORDS,
    Model,
    SmallWindowWorld,
    look_calls,
    own_count,
    text_of,
)
from tests.support.held_store import DELEGATES, child_of
from tests.support.live_contexts import live_context, live_context_at_rest
from tests.support.scale import HANG_SECONDS
from tests.support.valid_requests import assert_valid_request

TOO_LONG = Answer(error=ScriptedError(status=400, message="context_length_exceeded"))
BEFORE = ["processing_user_message", "enhancing_system_prompt", "optimizing_context"]
AFTER = [
    "preparing_llm_request",
    "connecting_to_llm",
    "awaiting_llm_first_chunk",
    "streaming_llm_response",
    "processing_llm_response",
    "saving_message",
    "idle",
]


async def test_messages_before_the_turn_are_summarized_and_nothing_else_changes(tmp_path: Path) -> None:
    world = SmallWindowWorld(tmp_path, summaries=[Answer(text="We talked.", usage=Usage(70, 7))])
    context_id = await world.filled()
    rule = await world.runtime.rules.give("deny", Scope(folder="deploy"), context_id=context_id)
    before = await world.ids(context_id)
    system = world.model.requests[-1].system
    sent = await world.runtime.messages.send(context_id, f"and then {MANY_WORDS}")
    live = await live_context_at_rest(world.runtime, context_id)
    assert world.trace() == [*BEFORE, "compressing_messages", "generating_summary", *AFTER]
    assert len(world.compressions()) == 1

    summary, *rest = await world.messages(context_id)
    assert isinstance(summary, SystemControl)
    assert summary.content == "We talked."
    assert summary.detail["how"] == "model"
    assert summary.detail["by"] == "runtime"
    all_ids = [*before, sent.message_id]
    assert await world.ids(context_id, "main-original") == all_ids
    assert (await world.ids(context_id))[1:-1] == all_ids[-len(rest) + 1 :], "the last ones stay as they were"
    assert len(rest) >= 10
    assert summary.detail["messages"] == len(all_ids) - len(rest) + 1
    original = live.branches["main-original"]
    assert (original.original_of, original.length) == ("main", len(all_ids))

    request = world.model.requests_for("turn")[-1]
    assert_valid_request(request)
    assert request.system == system
    assert "We talked." in text_of(request)
    assert (live.core.mode, live.core.rules) == ("agent", (rule,))
    assert live.core.usage == Usage(70, 7), "what the summary took counts"
    assert (await world.runtime.contexts.audit(context_id)).chain.whole
    assert "history_compressed" in [entry.kind for entry in (await world.runtime.contexts.audit(context_id)).entries]


async def test_after_a_compression_the_window_holds_no_more_than_the_target(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    world = SmallWindowWorld(tmp_path, budget=ROOMY)
    context_id = await world.filled()
    meters: list[int] = []
    streamed = world.model.stream

    async def look_first(request: Any) -> Any:
        if request.purpose == "turn":
            meters.append((await world.runtime.window.meter(context_id)).tokens)
        async for event in streamed(request):
            yield event

    monkeypatch.setattr(world.model, "stream", look_first)
    await world.turn(context_id, MANY_WORDS)
    (summary,) = await world.summaries(context_id)
    assert meters == [summary.detail["tokens_after"]], "the figures are those of the meter"
    assert meters[0] <= ROOMY.target_tokens
    assert summary.detail["tokens_before"] > ROOMY.trigger_tokens


async def test_a_summary_with_its_heading_stays_within_its_budget(tmp_path: Path) -> None:
    """Without this the window may be above the target of the compression."""
    world = SmallWindowWorld(tmp_path, summaries=[Answer(text="word " * 5000)])
    context_id = await world.compressed()
    (summary,) = await world.summaries(context_id)
    assert (summary.metadata.tokens or 0) <= SMALL.summary_tokens


async def test_below_the_trigger_nothing_is_compressed(tmp_path: Path) -> None:
    world = SmallWindowWorld(tmp_path)
    context_id = await world.filled()
    assert (await world.runtime.window.meter(context_id)).tokens <= SMALL.trigger_tokens
    window = await world.runtime.window.read(context_id)
    assert not window.compresses
    assert world.model.requests_for("summary") == []
    assert not world.compressions()


async def test_the_window_announces_a_coming_compression(tmp_path: Path) -> None:
    world = SmallWindowWorld(tmp_path)
    context_id = await world.filled()
    world.set_budget(2500)
    window = await world.runtime.window.read(context_id)
    assert window.meter.tokens > window.meter.trigger
    assert window.compresses
    await world.turn(context_id, "go")
    assert len(world.compressions()) == 1


async def test_the_summary_request_has_the_transcript_and_the_earlier_summary(tmp_path: Path) -> None:
    summaries = ["Decision: we use steel.", "We still use steel."]
    world = SmallWindowWorld(tmp_path, summaries=[Answer(text=text) for text in summaries])
    context_id = await world.compressed()
    await world.fill(context_id)
    await world.turn(context_id, MANY_WORDS)
    first, second = world.model.requests_for("summary")
    for request in (first, second):
        assert_valid_request(request)
        assert request.tools == ()
        assert "## Standing instructions" in request.system
    assert "Person: question 0 word" in text_of(first)
    assert "Agent: turn 1 word" in text_of(first)
    assert "Earlier summary:\nDecision: we use steel." in text_of(second)
    assert "question 0 word" not in text_of(second)
    (summary,) = await world.summaries(context_id)
    assert summary.content == "We still use steel."
    last = world.model.requests_for("turn")[-1]
    assert "Decision: we use steel." not in text_of(last)
    world.check_requests()


async def test_in_a_later_round_only_messages_before_the_turn_are_summarized(tmp_path: Path) -> None:
    world = SmallWindowWorld(tmp_path, model=Model())
    context_id = await world.filled()
    texts = [f"{number} {'word ' * 80}" for number in range(4)]
    world.model.answers_next(look_calls(texts[0]), look_calls(texts[1]), look_calls(texts[2]), look_calls(texts[3]))
    sent = await world.runtime.messages.send(context_id, "look at it")
    await world.runtime.turns.rested(context_id)
    assert world.compressions()
    rounds = " ".join(world.trace()).split("enhancing_system_prompt")
    assert "compressing_messages" not in rounds[1], "the first round fitted"
    messages = await world.messages(context_id)
    own = [at for at, message in enumerate(messages) if message.id == sent.message_id]
    behind = messages[own[0] :]
    assert [call.arguments for m in behind if isinstance(m, ToolRequest) for call in m.calls] == [
        f'{{"text":"{text}"}}' for text in texts
    ]
    assert len([message for message in behind if isinstance(message, ToolResult)]) == 4
    assert isinstance(messages[-1], Text)
    for change in world.compressions():
        turn = change.core.turn
        assert turn is not None
        assert change.appended["main"][turn.start] == sent.message_id, "the turn still knows where it began"
    world.check_requests()


async def test_a_second_compression_in_a_turn_never_takes_messages_of_the_turn(
    tmp_path: Path,
) -> None:
    texts = [f"{number} {'word ' * 110}" for number in range(9)]
    world = SmallWindowWorld(tmp_path, model=Model(), budget=Budget(tokens=4000))
    context_id = await world.filled()
    world.model.answers_next(*(look_calls(text) for text in texts))
    sent = await world.runtime.messages.send(context_id, "look at it")
    live = await world.runtime.turns.rested(context_id)
    first, *others = world.compressions()
    assert others, "the turn itself filled the window again"
    assert isinstance(live.state, Idle)
    for change in (first, *others):
        turn = change.core.turn
        assert turn is not None
        assert change.appended["main"][turn.start] == sent.message_id
    own = await world.ids(context_id)
    ran = [m for m in await world.messages(context_id) if isinstance(m, ToolResult)]
    assert len(ran) == len(texts)
    assert len(set(own)) == len(own)
    assert len(await world.summaries(context_id)) == 1
    assert _most_in_a_round(world) == 1
    world.check_requests()


def _most_in_a_round(world: SmallWindowWorld) -> int:
    rounds = " ".join(world.trace()).split("enhancing_system_prompt")
    return max(each.count("optimizing_context compressing_messages") for each in rounds)


@pytest.mark.parametrize(
    ("answers", "code", "requests"),
    [
        ([Answer(error=ScriptedError(status=500))] * 2, Code.MODEL_OVERLOADED, 2),
        ([Answer(error=ScriptedError(status=429))] * 2, Code.MODEL_RATE_LIMITED, 2),
        ([Answer(error=ScriptedError(status=400))], Code.MODEL_REFUSED, 1),
        ([Answer(error=ScriptedError(status=401))], Code.MODEL_AUTH, 1),
        ([TOO_LONG], Code.MODEL_TOO_LONG, 1),
        ([Answer(text="half of a summary", cut=1)] * 2, Code.MODEL_CUT, 2),
        ([Answer(text=" \n ")], Code.EMPTY_ANSWER, 1),
        ([Answer(deltas=("x" * 60_000,) * 3)], Code.MODEL_ENDLESS, 1),
    ],
)
async def test_a_failed_summary_is_replaced_by_truncation_and_the_turn_continues(
    tmp_path: Path, answers: list[Answer], code: Code, requests: int
) -> None:
    world = SmallWindowWorld(tmp_path, summaries=answers)
    context_id = await world.filled()
    await world.turn(context_id, f"and then {MANY_WORDS}")
    failing = ["compressing_messages", "generating_summary", "compressing_messages"]
    assert world.trace() == [*BEFORE, *failing, *AFTER]
    (summary,) = await world.summaries(context_id)
    assert summary.detail["how"] == "truncated"
    assert summary.detail["why"]["code"] == code
    assert "earlier messages were left out" in summary.content
    assert "- question" in summary.content, "what the person said is kept in short"
    assert len(world.model.requests_for("summary")) == requests
    live = await world.runtime.contexts.get(context_id)
    assert live.core.last_turn == "complete"
    world.check_requests()


async def test_a_summary_that_fails_once_is_retried(tmp_path: Path) -> None:
    answers = [Answer(error=ScriptedError(status=503)), Answer(text="In short.")]
    world = SmallWindowWorld(tmp_path, summaries=answers)
    context_id = await world.compressed()
    (summary,) = await world.summaries(context_id)
    assert (summary.content, summary.detail["how"]) == ("In short.", "model")


async def test_an_endless_summary_within_its_bound_is_cut_to_its_tokens(tmp_path: Path) -> None:
    world = SmallWindowWorld(tmp_path, summaries=[Answer(deltas=("word " * 2000,) * 9)])
    context_id = await world.compressed()
    (summary,) = await world.summaries(context_id)
    assert summary.detail["how"] == "model"
    assert summary.content.endswith("[… cut …]")
    assert (summary.metadata.tokens or 0) < SMALL.summary_tokens + 40


async def test_a_cancel_during_a_summary_changes_nothing_and_continue_works(tmp_path: Path) -> None:
    world = SmallWindowWorld(tmp_path)
    context_id = await world.filled()
    before = await world.ids(context_id)
    world.model.hold = True
    sent = await world.runtime.messages.send(context_id, MANY_WORDS)
    await world.model.requested.wait()
    assert world.states[-1] == "generating_summary"
    await world.runtime.turns.cancel(context_id)
    live = await live_context(world.runtime, context_id)
    assert isinstance(live.state, Idle)
    assert world.trace()[-3:] == ["generating_summary", "cancelling", "idle"]
    assert await world.ids(context_id) == [*before, sent.message_id]
    assert list(live.branches) == ["main"]
    world.model.release.set()
    await world.runtime.turns.continue_(context_id)
    live = await live_context_at_rest(world.runtime, context_id)
    assert live.core.last_turn == "complete"
    (summary,) = await world.summaries(context_id)
    assert sent.message_id in await world.ids(context_id), "it is still what the turn answers"
    assert await world.ids(context_id, "main-original") == [*before, sent.message_id]
    assert summary.detail["how"] == "model"


async def test_a_pause_during_a_summary_takes_effect_before_the_request(tmp_path: Path) -> None:
    world = SmallWindowWorld(tmp_path)
    context_id = await world.filled()
    world.model.hold = True
    await world.runtime.messages.send(context_id, MANY_WORDS)
    await world.model.requested.wait()
    await world.runtime.turns.pause(context_id)
    world.model.release.set()
    live = await world.runtime.turns.rested(context_id)
    assert isinstance(live.state, Paused)
    assert len(world.compressions()) == 1
    await world.runtime.turns.resume(context_id)
    live = await world.runtime.turns.rested(context_id)
    assert live.core.last_turn == "complete"
    assert len(world.compressions()) == 1


async def test_a_mode_switch_during_a_summary_takes_effect_and_keeps_its_notice(tmp_path: Path) -> None:
    world = SmallWindowWorld(tmp_path)
    context_id = await world.filled()
    change = Answer(calls=(ScriptedCall(tool="change", arguments={"text": "x"}),))
    world.model.answers_next(change)
    world.model.hold = True
    await world.runtime.messages.send(context_id, MANY_WORDS)
    await world.model.requested.wait()
    await world.runtime.modes.switch(context_id, "plan")
    world.model.release.set()
    live = await world.runtime.turns.rested(context_id)
    assert live.core.mode == "plan"
    assert world.change.ran == []
    messages = await world.messages(context_id)
    marks = [message for message in messages if isinstance(message, SystemControl) and message.kind == "mode_switch"]
    assert len(marks) == 1
    results = [message.status for message in messages if isinstance(message, ToolResult)]
    assert results == ["denied"]
    world.check_requests()


async def test_the_request_after_a_compression_names_the_mode_of_that_moment(tmp_path: Path) -> None:
    world = SmallWindowWorld(tmp_path)
    context_id = await world.filled()
    world.model.hold = True
    await world.runtime.messages.send(context_id, MANY_WORDS)
    await world.model.requested.wait()
    await world.runtime.modes.switch(context_id, "ask")
    world.model.release.set()
    await world.runtime.turns.rested(context_id)
    request = world.model.requests_for("turn")[-1]
    assert request.tools == (), "this mode offers none"
    assert "'ask'" in request.system


async def test_a_message_pinned_during_a_summary_stays(tmp_path: Path) -> None:
    world = SmallWindowWorld(tmp_path)
    context_id = await world.filled()
    first = (await world.ids(context_id))[0]
    world.model.hold = True
    await world.runtime.messages.send(context_id, MANY_WORDS)
    await world.model.requested.wait()
    await world.runtime.compression.pin(context_id, first)
    world.model.release.set()
    await world.runtime.turns.rested(context_id)
    assert len(await world.summaries(context_id)) == 1
    assert first in await world.ids(context_id)


async def test_commands_during_a_summary_are_refused_or_their_changes_kept(tmp_path: Path) -> None:
    world = SmallWindowWorld(tmp_path)
    context_id = await world.filled()
    before = await world.ids(context_id)
    await world.runtime.branches.create(context_id, "other")
    world.model.hold = True
    sent = await world.runtime.messages.send(context_id, MANY_WORDS)
    await world.model.requested.wait()
    for refused in (
        world.runtime.merges.merge(context_id, "other"),
        world.runtime.branches.switch(context_id, "other"),
        world.runtime.compression.compress(context_id),
        world.runtime.compression.undo(context_id),
        world.runtime.messages.send(context_id, "now"),
    ):
        with pytest.raises(Conflict, match="isn't finished"):
            await refused
    queued = await world.runtime.messages.send(context_id, "later", queue=True)
    await world.runtime.branches.create(context_id, "fork")
    await world.runtime.branches.set_prompt_addition(context_id, "Be kind.")
    world.model.release.set()
    await world.runtime.turns.rested(context_id)
    assert await world.ids(context_id, "fork") == [*before, sent.message_id], "a fork has all that there was"
    assert queued.message_id in await world.ids(context_id)
    contents = [getattr(message, "content", "") for message in await world.messages(context_id)]
    assert "Be kind." in contents
    world.check_requests()


async def test_without_auto_compress_no_turn_compresses(tmp_path: Path) -> None:
    world = SmallWindowWorld(tmp_path, budget=Budget(tokens=3000, auto_compress=False))
    context_id = await world.filled()
    await world.turn(context_id, MANY_WORDS)
    assert (await world.runtime.window.meter(context_id)).tokens > SMALL.trigger_tokens
    assert not (await world.runtime.window.read(context_id)).compresses
    assert not world.compressions()
    world.model.answers_next(TOO_LONG)
    await world.turn(context_id, "go on")
    live = await world.runtime.contexts.get(context_id)
    assert live.core.last_turn == "complete", "what is too long for the provider is sent shortened"
    assert not world.compressions()
    assert (await world.runtime.compression.compress(context_id)).how == "model", "on request it is"


async def test_recent_n_leaves_messages_out_with_a_notice_and_without_a_model(tmp_path: Path) -> None:
    world = SmallWindowWorld(tmp_path, budget=Budget(tokens=3000, strategy="recent_n", recent=6))
    context_id = await world.filled()
    before = await world.ids(context_id)
    sent = await world.runtime.messages.send(context_id, MANY_WORDS)
    await world.runtime.turns.rested(context_id)
    assert world.trace() == [*BEFORE, "compressing_messages", *AFTER]
    assert world.model.requests_for("summary") == []
    (summary,) = await world.summaries(context_id)
    assert summary.detail["how"] == "recent_n"
    assert "why" not in summary.detail
    assert "earlier messages were left out" in summary.content
    assert (await world.ids(context_id))[1:-1] == [*before, sent.message_id][-6:]


async def test_importance_keeps_messages_that_a_custom_scorer_rates_high(tmp_path: Path) -> None:
    def score(message: Message) -> float:
        return 10.0 if "precious" in getattr(message, "content", "") else 0.0

    world = SmallWindowWorld(tmp_path, budget=Budget(tokens=6000, strategy="importance"), importance=score)
    context_id = await world.start()
    await world.turn(context_id, "plain")
    precious = await world.runtime.messages.send(context_id, "precious")
    await world.runtime.turns.rested(context_id)
    await world.fill(context_id)
    before = await world.ids(context_id)
    await world.turn(context_id, MANY_WORDS)
    now = await world.ids(context_id)
    assert precious.message_id in now
    assert before[0] not in now
    assert before[-9:] == now[-11:-2]
    world.check_requests()


async def test_touched_files_are_named_in_any_summary(tmp_path: Path) -> None:
    call = ScriptedCall(tool="look", arguments={"text": "x", "path": "src/engine.py"})
    for number, summaries in enumerate([[Answer(text="Short.")], [Answer(error=ScriptedError(status=400))]]):
        (tmp_path / str(number)).mkdir()
        world = SmallWindowWorld(tmp_path / str(number), Answer(calls=(call,)), summaries=summaries)
        context_id = await world.compressed()
        (summary,) = await world.summaries(context_id)
        assert summary.content.endswith("Files touched: src/engine.py")
        assert summary.detail["files"] == ["src/engine.py"]


# the provider's own word


async def test_each_further_refusal_as_too_long_halves_what_the_turn_sends(tmp_path: Path) -> None:
    world = SmallWindowWorld(tmp_path, budget=Budget(tokens=100_000))
    context_id = await world.start()
    world.model.answers_next(*[TOO_LONG] * 4, Answer(text="fine"))
    await world.turn(context_id, "word " * 40_000)
    live = await live_context(world.runtime, context_id)
    assert live.core.last_turn == "complete"
    sizes = [len(text_of(request)) for request in world.model.requests_for("turn")]
    assert len(sizes) == 5
    assert all(after < 0.7 * before for before, after in pairwise(sizes[1:]))
    await world.turn(context_id, "and now?")
    assert live.core.last_turn == "complete"
    world.check_requests()


@pytest.mark.parametrize("retried", ["fits", "still too long"])
async def test_a_request_that_the_provider_finds_too_long_is_compressed_and_sent_once_more(
    tmp_path: Path, retried: str
) -> None:
    world = SmallWindowWorld(tmp_path)
    context_id = await world.filled()
    answers = [TOO_LONG, Answer(text="fine")] if retried == "fits" else [TOO_LONG, TOO_LONG]
    world.model.answers_next(*answers)
    await world.turn(context_id, "go on")
    trace = world.trace()
    at = trace.index("transient_error")
    assert trace[at - 1 : at + 6] == [
        "connecting_to_llm",
        "transient_error",
        "enhancing_system_prompt",
        "optimizing_context",
        "compressing_messages",
        "generating_summary",
        "preparing_llm_request",
    ]
    assert len(world.compressions()) == 1
    last = (await world.messages(context_id))[-1]
    live = await world.runtime.contexts.get(context_id)
    assert isinstance(live.state, Idle)
    if retried == "fits":
        assert isinstance(last, Text)
        assert last.content == "fine"
    else:
        assert isinstance(last, ErrorMessage)
        assert last.reason.code is Code.MODEL_TOO_LONG
        assert live.core.last_turn == "error"
        await world.runtime.turns.continue_(context_id)
        assert (await world.runtime.turns.rested(context_id)).core.last_turn == "complete"
    world.check_requests()


async def test_over_http_a_request_that_is_too_long_is_compressed_and_sent_again(tmp_path: Path) -> None:
    answers = [Answer(text=f"{number} {WORDS}") for number in range(8)]
    script = Script(turn=(*answers, TOO_LONG, Answer(text="In short."), Answer(text="fine")))
    async with FakeProvider(script) as provider:
        world = World(tmp_path, adapter=OpenAIAdapter(provider.base_url, "key"), budget=SMALL)
        context_id = await world.start()
        for number in range(9):
            await world.turn(context_id, f"{number} {WORDS}")
        messages = await world.runtime.messages.read(context_id, limit=100)
        assert [getattr(message, "content", "") for message in (messages[0], messages[-1])] == ["In short.", "fine"]
        assert provider.faults == []
        await world.runtime.close()


async def test_a_turn_that_was_found_too_long_once_is_not_compressed_in_every_round_that_follows(
    tmp_path: Path,
) -> None:
    world = SmallWindowWorld(tmp_path)
    context_id = await world.filled()
    answers = [TOO_LONG, *(look_calls(f"{number}") for number in range(6)), Answer(text="done")]
    world.model.answers_next(*answers)
    await world.turn(context_id, "go on")
    assert (await world.runtime.contexts.get(context_id)).core.last_turn == "complete"
    assert len(world.compressions()) == 1


async def test_token_counts_of_the_provider_correct_the_meter_and_the_trigger(tmp_path: Path) -> None:
    world = SmallWindowWorld(tmp_path, budget=ROOMY)
    context_id = await world.start()
    live = await live_context(world.runtime, context_id)
    plain = (await world.runtime.window.meter(context_id)).tokens

    async def reported() -> int:
        return round(await own_count(live) * 1.5)

    world.model.reports = reported
    await world.turn(context_id, "hello")
    assert live.core.token_ratio == pytest.approx(1.5, abs=0.01)
    meter = await world.runtime.window.meter(context_id)
    assert meter.tokens > plain * 1.5
    assert not meter.is_estimate
    while not world.compressions():
        before = (await world.runtime.window.meter(context_id)).tokens
        await world.turn(context_id, WORDS)
    assert before == pytest.approx(ROOMY.trigger_tokens, abs=300)
    (summary,) = await world.summaries(context_id)
    assert summary.detail["tokens_before"] > ROOMY.trigger_tokens
    assert summary.detail["tokens_after"] <= ROOMY.target_tokens


async def test_token_counts_of_one_model_do_not_correct_another(tmp_path: Path) -> None:
    world = SmallWindowWorld(tmp_path, models=("other",))
    context_id = await world.start()
    live = await live_context(world.runtime, context_id)

    async def reported() -> int:
        return round(await own_count(live) * 2)

    world.model.reports = reported
    await world.turn(context_id, "hello")
    doubled = (await world.runtime.window.meter(context_id)).tokens
    await world.runtime.contexts.change(context_id, model="other")
    meter = await world.runtime.window.meter(context_id)
    assert meter.tokens == pytest.approx(doubled / 2, abs=1)
    assert meter.is_estimate
    await world.runtime.contexts.change(context_id, model=None)
    assert (await world.runtime.window.meter(context_id)).tokens == doubled, "it is still known of the first one"


@pytest.mark.parametrize("factor", [0, 0.1, 5, 1000])
async def test_implausible_token_counts_of_a_provider_are_ignored(tmp_path: Path, factor: float) -> None:
    world = SmallWindowWorld(tmp_path)
    context_id = await world.start()
    live = await live_context(world.runtime, context_id)

    async def reported() -> int:
        return round(await own_count(live) * factor)

    world.model.reports = reported
    await world.turn(context_id, "hello")
    assert live.core.token_ratio == 1.0


async def test_tokens_of_summaries_count_against_the_limit_of_the_turn(tmp_path: Path) -> None:
    summaries = [Answer(text="In short.", usage=Usage(900, 200))]
    world = SmallWindowWorld(tmp_path, summaries=summaries, limits=Limits(turn_tokens=1000))
    context_id = await world.filled()
    await world.turn(context_id, MANY_WORDS)
    last = (await world.messages(context_id))[-1]
    assert isinstance(last, ErrorMessage)
    assert last.reason.code is Code.LIMIT_TOKENS
    assert last.reason.params["used"] == 1100


async def test_sub_agents_compress_too(tmp_path: Path) -> None:
    world = SmallWindowWorld(tmp_path, DELEGATES, tools=[Delegate()])
    context_id = await world.start()
    await world.turn(context_id, "go")
    child = await child_of(world, context_id)
    await world.fill(child)
    await world.turn(child, MANY_WORDS)
    assert len(await world.summaries(child)) == 1
    assert await world.summaries(context_id) == []
    world.check_requests()


async def test_a_context_is_compressed_again_and_again_and_stays_small(tmp_path: Path) -> None:
    world = SmallWindowWorld(tmp_path)
    context_id = await world.start()
    for number in range(60):
        await world.turn(context_id, f"{number} {WORDS}")
        assert len(await world.summaries(context_id)) <= 1
    assert 3 <= len(world.compressions()) <= 12
    meter = await world.runtime.window.meter(context_id)
    assert meter.tokens <= meter.trigger + 200
    pool = await world.dependencies.store.message_ids((await world.runtime.contexts.get(context_id)).id)
    texts = [m for m in await world.dependencies.store.messages(context_id, pool) if isinstance(m, Text)]
    assert len(texts) == 120, "nothing that was said is gone"
    world.check_requests()


async def test_a_close_during_a_summary_interrupts_the_turn_and_keeps_the_branch(
    tmp_path: Path,
) -> None:
    world = SmallWindowWorld(tmp_path)
    context_id = await world.filled()
    before = await world.ids(context_id)
    world.model.hold = True
    sent = await world.runtime.messages.send(context_id, MANY_WORDS)
    await world.model.requested.wait()
    await asyncio.wait_for(world.runtime.close(), HANG_SECONDS)
    again = SmallWindowWorld(tmp_path, store=world.dependencies.store, ids_from=10**6)
    live = await again.runtime.contexts.get(context_id)
    assert isinstance(live.state, Idle)
    assert (await again.ids(context_id))[:-1] == [*before, sent.message_id]
    await again.runtime.turns.continue_(context_id)
    await again.runtime.turns.rested(context_id)
    assert len(await again.summaries(context_id)) == 1
