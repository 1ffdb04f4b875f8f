"""Compressing on request, its preview, its undo, and pins."""

import asyncio
from contextlib import suppress
from pathlib import Path

import pytest

from pilothouse.domain.branches import Branch
from pilothouse.domain.budgets import Budget
from pilothouse.domain.codes import Code
from pilothouse.domain.errors import Conflict, InvalidInput, NotFound, StoreError
from pilothouse.domain.messages import SystemControl, Text, ToolRequest, ToolResult, Usage
from pilothouse.domain.states import Idle, WaitingForRecovery
from pilothouse.llm.script import Answer, ScriptedCall, ScriptedError
from pilothouse.runtime.compression.commands import MAX_FOCUS_CHARACTERS, MAX_PINS
from pilothouse.testing.tools import NoteTool
from tests.support.full_windows import MANY_WORDS, ROOMY, SMALL, WORDS, SmallWindowWorld, look_calls, text_of
from tests.support.held_store import HeldStore
from tests.support.live_contexts import live_context

BY_HAND = ["compressing_messages", "generating_summary", "saving_context", "idle"]


async def main_of(world: SmallWindowWorld, context_id: str) -> Branch:
    return (await world.runtime.contexts.get(context_id)).branches["main"]


# on request


@pytest.mark.parametrize("budget", [SMALL, ROOMY, Budget(tokens=100_000)], ids=["over", "at", "far below the target"])
async def test_a_requested_compression_returns_the_figures_of_the_window(tmp_path: Path, budget: Budget) -> None:
    world = SmallWindowWorld(tmp_path, summaries=[Answer(text="In short.", usage=Usage(50, 5))], budget=budget)
    context_id = await world.start()
    for number in range(10):
        await world.turn(context_id, f"{number} {WORDS}")
    world.entered.clear()
    before, ids = await world.runtime.window.meter(context_id), await world.ids(context_id)
    preview = await world.runtime.compression.preview(context_id)
    assert await world.ids(context_id) == ids, "looking changes nothing"
    assert world.entered == []
    done = await world.runtime.compression.compress(context_id, by="me")
    assert world.trace() == BY_HAND
    after = await world.runtime.window.meter(context_id)
    assert (done.tokens_before, done.tokens_after) == (before.tokens, after.tokens)
    assert done.tokens_saved == before.tokens - after.tokens > 0
    window = await world.runtime.window.read(context_id)
    assert window.meter == after
    now = await world.ids(context_id)
    assert (done.messages, done.messages_kept) == (len(ids) - len(now) + 1, len(now) - 1)
    assert now == [done.summary_id, *ids[done.messages :]]
    assert (done.how, done.why, done.original) == ("model", None, "main-original")
    assert await world.ids(context_id, "main-original") == ids
    same = ("branch", "strategy", "messages", "messages_kept", "pinned", "tokens_before")
    assert [getattr(preview, name) for name in same] == [getattr(done, name) for name in same]
    (summary,) = await world.summaries(context_id)
    assert preview.tokens_after >= done.tokens_after, "it tells what it takes at most"
    assert (summary.metadata.tokens or 0) <= budget.summary_tokens
    live = await world.runtime.contexts.get(context_id)
    assert live.core.usage == Usage(50, 5)
    assert live.core.last_turn == "complete"
    entry = (await world.runtime.contexts.audit(context_id)).entries[-1]
    assert (entry.kind, entry.by) == ("history_compressed", "me")
    await world.turn(context_id, "go on")
    world.check_requests()


async def test_a_compression_never_makes_the_window_larger(tmp_path: Path) -> None:
    world = SmallWindowWorld(tmp_path, *[Answer(text="ok")] * 6)
    context_id = await world.start()
    for _ in range(6):
        await world.turn(context_id, "hi")
    before = (await world.runtime.window.meter(context_id)).tokens
    with suppress(Conflict):  # nothing to gain
        await world.runtime.compression.compress(context_id)
    assert (await world.runtime.window.meter(context_id)).tokens <= before


async def test_the_focus_of_a_compression_is_in_the_instruction_and_bounded(tmp_path: Path) -> None:
    world = SmallWindowWorld(tmp_path)
    context_id = await world.filled()
    with pytest.raises(InvalidInput):
        await world.runtime.compression.compress(context_id, focus="x" * (MAX_FOCUS_CHARACTERS + 1))
    await world.runtime.compression.compress(context_id, focus="the engine")
    (request,) = world.model.requests_for("summary")
    assert request.system.endswith("Above all keep what concerns: the engine")


async def test_a_requested_compression_without_a_summary_truncates_and_says_why(tmp_path: Path) -> None:
    world = SmallWindowWorld(tmp_path, summaries=[Answer(error=ScriptedError(status=400))])
    context_id = await world.filled()
    done = await world.runtime.compression.compress(context_id)
    assert world.trace() == [*BY_HAND[:2], "compressing_messages", *BY_HAND[2:]]
    assert done.how == "truncated"
    assert done.why is not None
    assert done.why.code is Code.MODEL_REFUSED


async def test_compressing_is_refused_when_every_message_would_stay(tmp_path: Path) -> None:
    world = SmallWindowWorld(tmp_path)
    context_id = await world.start()
    for command in (world.runtime.compression.compress, world.runtime.compression.preview):
        with pytest.raises(Conflict, match="Nothing to compact"):
            await command(context_id)
    for number in range(8):
        await world.turn(context_id, f"{number} {WORDS}")
    await world.runtime.compression.compress(context_id)
    version = (await world.runtime.contexts.get(context_id)).version
    for command in (world.runtime.compression.compress, world.runtime.compression.preview):
        with pytest.raises(Conflict, match="Nothing to compact"):
            await command(context_id)
    assert (await world.runtime.contexts.get(context_id)).version == version
    with pytest.raises(NotFound):
        await world.runtime.compression.compress("nobody")


async def test_compressing_during_a_turn_is_refused_but_can_be_previewed(tmp_path: Path) -> None:
    blocking_tool = NoteTool("held", "read_only", hold=True)
    world = SmallWindowWorld(tmp_path, tools=[blocking_tool])
    context_id = await world.filled()
    world.model.answers_next(Answer(calls=(ScriptedCall(tool="held"),)))
    await world.runtime.messages.send(context_id, "go")
    await blocking_tool.started.wait()
    with pytest.raises(Conflict, match="isn't finished"):
        await world.runtime.compression.compress(context_id)
    with pytest.raises(Conflict, match="isn't finished"):
        await world.runtime.compression.undo(context_id)
    preview = await world.runtime.compression.preview(context_id)
    live = await world.runtime.contexts.get(context_id)
    assert live.core.turn is not None
    assert preview.messages <= live.core.turn.start
    blocking_tool.release.set()
    await world.runtime.turns.rested(context_id)


async def test_messages_sent_during_a_compression_are_refused_or_queued(tmp_path: Path) -> None:
    world = SmallWindowWorld(tmp_path)
    context_id = await world.filled()
    world.model.hold = True
    compressing = asyncio.create_task(world.runtime.compression.compress(context_id))
    await world.model.requested.wait()
    for refused in (
        world.runtime.messages.send(context_id, "now"),
        world.runtime.compression.compress(context_id),
        world.runtime.compression.undo(context_id),
        world.runtime.turns.pause(context_id),
        world.runtime.turns.continue_(context_id),
    ):
        with pytest.raises(Conflict):
            await refused
    queued = await world.runtime.messages.send(context_id, "later", queue=True)
    world.model.release.set()
    done = await compressing
    await world.runtime.turns.rested(context_id)
    now = await world.ids(context_id)
    assert now[0] == done.summary_id
    assert queued.message_id in now
    assert isinstance((await world.messages(context_id))[-1], Text)
    assert world.trace()[:5] == [*BY_HAND, "processing_user_message"]
    assert (await world.runtime.contexts.get(context_id)).core.queue == ()


async def test_a_cancelled_compression_changes_nothing_and_raises_for_its_caller(tmp_path: Path) -> None:
    world = SmallWindowWorld(tmp_path)
    context_id = await world.filled()
    before = await world.ids(context_id)
    world.model.hold = True
    compressing = asyncio.create_task(world.runtime.compression.compress(context_id))
    await world.model.requested.wait()
    await world.runtime.turns.cancel(context_id)
    with pytest.raises(Conflict) as caught:
        await compressing
    assert caught.value.reason.code is Code.CANCELLED
    live = await live_context(world.runtime, context_id)
    assert isinstance(live.state, Idle)
    assert list(live.branches) == ["main"]
    assert await world.ids(context_id) == before
    world.model.release.set()
    await world.turn(context_id, "go on")
    assert live.core.last_turn == "complete"
    assert (await world.runtime.compression.compress(context_id)).how == "model"


async def test_a_compression_finishes_after_its_caller_is_cancelled(tmp_path: Path) -> None:
    world = SmallWindowWorld(tmp_path)
    context_id = await world.filled()
    world.model.hold = True
    compressing = asyncio.create_task(world.runtime.compression.compress(context_id))
    await world.model.requested.wait()
    compressing.cancel()
    await asyncio.wait([compressing])
    world.model.release.set()
    live = await world.runtime.turns.rested(context_id)
    assert isinstance(live.state, Idle)
    assert len(await world.summaries(context_id)) == 1


async def test_a_compression_that_the_store_refuses_raises_and_changes_nothing(tmp_path: Path) -> None:
    store = HeldStore()
    world = SmallWindowWorld(tmp_path, store=store)
    context_id = await world.filled()
    before = await world.ids(context_id)
    store.refuses = lambda _, change: bool(change.renamed)
    with pytest.raises(StoreError):
        await world.runtime.compression.compress(context_id)
    live = await live_context(world.runtime, context_id)
    assert isinstance(live.state, Idle)
    assert await world.ids(context_id) == before
    assert live.core.usage == Usage()
    await world.turn(context_id, MANY_WORDS)
    assert isinstance(live.state, WaitingForRecovery), "in a turn it waits until the store works"
    store.refuses = lambda *_: False
    await world.runtime.turns.continue_(context_id)
    await world.runtime.turns.rested(context_id)
    assert live.core.last_turn == "complete"
    (summary,) = await world.summaries(context_id)
    store.refuses = lambda _, change: bool(change.renamed)
    now = await world.ids(context_id)
    with pytest.raises(StoreError):
        await world.runtime.compression.undo(context_id)
    assert await world.ids(context_id) == now
    assert isinstance(live.state, Idle)
    store.refuses = lambda *_: False
    await world.runtime.compression.undo(context_id)
    assert summary.id not in await world.ids(context_id)


# undo


async def test_after_an_undo_the_old_messages_are_followed_by_all_later_ones(tmp_path: Path) -> None:
    world = SmallWindowWorld(tmp_path)
    context_id = await world.filled()
    before = await world.ids(context_id)
    done = await world.runtime.compression.compress(context_id)
    await world.turn(context_id, "since")
    since = (await world.ids(context_id))[done.messages_kept + 1 :]
    world.entered.clear()
    undone = await world.runtime.compression.undo(context_id, by="me")
    assert world.trace() == ["compressing_messages", "saving_context", "idle"]
    assert (undone.branch, undone.messages) == ("main", len(before))
    assert await world.ids(context_id) == [*before, *since]
    live = await world.runtime.contexts.get(context_id)
    assert list(live.branches) == ["main"], "the original is the branch again"
    assert live.branches["main"].original_of is None
    assert live.branches["main"].keeps_whole
    assert (await world.runtime.contexts.audit(context_id)).entries[-1].kind == "compression_undone"
    with pytest.raises(Conflict, match="hasn't been compacted"):
        await world.runtime.compression.undo(context_id)
    with pytest.raises(NotFound):
        await world.runtime.compression.undo(context_id, branch="nowhere")
    await world.turn(context_id, "go on")
    assert text_of(world.model.requests[-1]).startswith("question 0")
    world.check_requests()


async def test_two_compressions_are_undone_step_by_step(tmp_path: Path) -> None:
    world = SmallWindowWorld(tmp_path)
    context_id = await world.filled()
    first = await world.ids(context_id)
    await world.runtime.compression.compress(context_id)
    await world.fill(context_id)
    second = await world.ids(context_id)
    await world.runtime.compression.compress(context_id)
    await world.turn(context_id, "since")
    since = (await world.ids(context_id))[-2:]
    await world.runtime.compression.undo(context_id)
    assert await world.ids(context_id) == [*second, *since]
    assert (await main_of(world, context_id)).compressed is not None
    await world.runtime.compression.undo(context_id)
    dropped = len(first) - (len(first) - 10)
    assert (await world.ids(context_id))[: len(first)] == first
    assert await world.ids(context_id) == [*first, *second[1 + dropped :], *since]
    assert list((await world.runtime.contexts.get(context_id)).branches) == ["main"]


async def test_a_compression_is_undone_after_later_forks_and_merges(tmp_path: Path) -> None:
    world = SmallWindowWorld(tmp_path)
    context_id = await world.filled()
    before = await world.ids(context_id)
    await world.runtime.branches.create(context_id, "early")
    done = await world.runtime.compression.compress(context_id)
    await world.runtime.branches.create(context_id, "late")
    await world.runtime.branches.switch(context_id, "late")
    await world.turn(context_id, "on the other branch")
    await world.runtime.branches.switch(context_id, "main")
    await world.turn(context_id, "here")
    await world.runtime.merges.merge(context_id, "late")
    compressed = await world.ids(context_id)
    late = await world.ids(context_id, "late")
    await world.runtime.compression.undo(context_id)
    assert await world.ids(context_id) == [*before, *compressed[done.messages_kept + 1 :]]
    assert await world.ids(context_id, "early") == before
    assert await world.ids(context_id, "late") == late
    origin = await world.runtime.merges.provenance(context_id, late[-1], branch="main")
    assert origin is not None
    assert (origin.branch, origin.position) == ("late", len(late) - 1)
    assert await world.runtime.merges.provenance(context_id, before[-1], branch="main") is None
    await world.turn(context_id, "go on")
    world.check_requests()


async def test_provenance_of_merged_messages_survives_a_compression_and_its_undo(tmp_path: Path) -> None:
    world = SmallWindowWorld(tmp_path)
    context_id = await world.start()
    await world.runtime.branches.create(context_id, "idea")
    await world.turn(context_id, "here")
    await world.runtime.branches.switch(context_id, "idea")
    await world.turn(context_id, "there")
    await world.turn(context_id, "there too")
    await world.runtime.branches.switch(context_id, "main")
    await world.fill(context_id)
    await world.runtime.merges.merge(context_id, "idea")
    merged = (await world.ids(context_id))[-4:]
    origins = [await world.runtime.merges.provenance(context_id, each) for each in merged]
    assert None not in origins
    await world.runtime.compression.compress(context_id)
    assert [await world.runtime.merges.provenance(context_id, each) for each in merged] == origins
    await world.runtime.compression.undo(context_id)
    assert [await world.runtime.merges.provenance(context_id, each) for each in merged] == origins


async def test_undoing_copies_the_original_when_it_is_in_use(tmp_path: Path) -> None:
    world = SmallWindowWorld(tmp_path)
    context_id = await world.filled()
    before = await world.ids(context_id)
    done = await world.runtime.compression.compress(context_id)
    assert done.original is not None
    await world.runtime.branches.switch(context_id, done.original)
    await world.runtime.compression.undo(context_id, branch="main")
    assert await world.ids(context_id) == before
    assert await world.ids(context_id, done.original) == before
    live = await live_context(world.runtime, context_id)
    assert live.core.active_branch == done.original
    await world.turn(context_id, "on the original")
    assert await world.ids(context_id) == before, "the two are apart"
    assert live.branches["main"].key != live.branches[done.original].key


async def test_later_messages_on_the_original_stay_there(tmp_path: Path) -> None:
    world = SmallWindowWorld(tmp_path)
    context_id = await world.filled()
    before = await world.ids(context_id)
    done = await world.runtime.compression.compress(context_id)
    assert done.original is not None
    await world.runtime.branches.create(context_id, "fork", source=done.original)
    await world.runtime.branches.switch(context_id, done.original)
    await world.turn(context_id, "there")
    there = await world.ids(context_id, done.original)
    await world.runtime.branches.switch(context_id, "main")
    await world.turn(context_id, "here")
    here = (await world.ids(context_id))[-2:]
    await world.runtime.compression.undo(context_id)
    assert await world.ids(context_id) == [*before, *here]
    assert await world.ids(context_id, done.original) == there
    assert await world.ids(context_id, "fork") == before


async def test_a_later_merge_into_the_original_does_not_change_the_branch(tmp_path: Path) -> None:
    world = SmallWindowWorld(tmp_path)
    context_id = await world.filled()
    await world.runtime.branches.create(context_id, "idea")
    await world.runtime.branches.switch(context_id, "idea")
    await world.turn(context_id, "an idea")
    await world.runtime.branches.switch(context_id, "main")
    done = await world.runtime.compression.compress(context_id)
    await world.runtime.merges.merge(context_id, "idea", target=done.original)
    await world.turn(context_id, "here")
    await world.turn(context_id, "and here")
    await world.runtime.compression.undo(context_id)
    for message_id in (await world.ids(context_id))[-4:]:
        assert await world.runtime.merges.provenance(context_id, message_id) is None


async def test_a_compression_without_its_original_cannot_be_undone(tmp_path: Path) -> None:
    world = SmallWindowWorld(tmp_path)
    context_id = await world.filled()
    done = await world.runtime.compression.compress(context_id)
    assert done.original is not None
    await world.runtime.branches.delete(context_id, done.original)
    now = await world.ids(context_id)
    with pytest.raises(Conflict, match="was deleted"):
        await world.runtime.compression.undo(context_id)
    assert await world.ids(context_id) == now
    for number in range(5):
        await world.turn(context_id, f"{number}")
    branch = await world.runtime.branches.create(context_id, done.original)
    assert branch.length >= done.messages + done.messages_kept
    with pytest.raises(Conflict, match="was deleted"):
        await world.runtime.compression.undo(context_id)  # another branch has that name now


async def test_the_name_of_a_deleted_original_is_not_given_to_another_one(tmp_path: Path) -> None:
    world = SmallWindowWorld(tmp_path)
    context_id = await world.filled()
    first = await world.runtime.compression.compress(context_id)
    assert first.original is not None
    await world.runtime.branches.delete(context_id, first.original)
    await world.fill(context_id)
    before = await world.ids(context_id)
    second = await world.runtime.compression.compress(context_id)
    live = await live_context(world.runtime, context_id)
    assert second.original != first.original
    assert second.original is not None
    await world.runtime.branches.create(context_id, "other", source=second.original)
    assert (await world.runtime.merges.preview(context_id, "other")).merged == 0
    await world.runtime.compression.undo(context_id)
    assert await world.ids(context_id) == before
    with pytest.raises(Conflict, match="was deleted"):
        await world.runtime.compression.undo(context_id)
    assert isinstance(live.state, Idle)


async def test_an_undone_compression_is_repeated_only_when_the_window_is_full(tmp_path: Path) -> None:
    budget = Budget(tokens=3200)
    world = SmallWindowWorld(tmp_path, budget=budget)
    context_id = await world.compressed()
    await world.runtime.compression.undo(context_id)
    meter = await world.runtime.window.meter(context_id)
    assert meter.trigger < meter.tokens < budget.request_tokens
    assert not (await world.runtime.window.read(context_id)).compresses
    world.changes.clear()
    while not world.compressions():
        before = (await world.runtime.window.meter(context_id)).tokens
        await world.turn(context_id, "more")
    assert before + 20 > budget.request_tokens
    assert not (await main_of(world, context_id)).keeps_whole
    world.check_requests()


# pins


async def test_pinned_messages_stay_unchanged(tmp_path: Path) -> None:
    world = SmallWindowWorld(tmp_path, budget=ROOMY)
    context_id = await world.filled()
    before = await world.messages(context_id)
    pinned = [before[0], before[3], before[4]]
    for message in pinned:
        await world.runtime.compression.pin(context_id, message.id)
    done = await world.runtime.compression.compress(context_id)
    assert done.pinned == 3
    now = await world.messages(context_id)
    assert now[1:4] == pinned
    assert now[-10:] == before[-10:]
    await world.fill(context_id)
    await world.turn(context_id, MANY_WORDS)
    assert len(await world.summaries(context_id)) == 1
    assert (await world.messages(context_id))[1:4] == pinned
    live = await live_context(world.runtime, context_id)
    assert live.core.pins == tuple(message.id for message in pinned)
    for message in pinned:
        await world.runtime.compression.pin(context_id, message.id, pinned=False)
    assert live.core.pins == ()
    await world.fill(context_id)
    await world.turn(context_id, MANY_WORDS)
    assert pinned[0].id not in await world.ids(context_id)
    world.check_requests()


@pytest.mark.parametrize("which", ["call", "second result"])
async def test_a_pinned_call_or_result_keeps_its_whole_block(tmp_path: Path, which: str) -> None:
    world = SmallWindowWorld(tmp_path, look_calls("one", "two"))
    context_id = await world.filled()
    messages = await world.messages(context_id)
    group = [message for message in messages if isinstance(message, ToolRequest | ToolResult)]
    assert len(group) == 3
    await world.runtime.compression.pin(context_id, group[0 if which == "call" else 2].id)
    await world.runtime.compression.compress(context_id)
    assert (await world.messages(context_id))[1:4] == group
    await world.turn(context_id, "go on")
    world.check_requests()


async def test_pins_are_bounded_and_need_an_existing_message(tmp_path: Path) -> None:
    world = SmallWindowWorld(tmp_path, budget=Budget(tokens=100_000))
    context_id = await world.start()
    for _ in range(26):
        await world.turn(context_id, "x")
    ids = await world.ids(context_id)
    for message_id in ids[:MAX_PINS]:
        await world.runtime.compression.pin(context_id, message_id)
    with pytest.raises(Conflict, match="at most 50"):
        await world.runtime.compression.pin(context_id, ids[MAX_PINS])
    await world.runtime.compression.pin(context_id, ids[0])
    live = await world.runtime.contexts.get(context_id)
    assert len(live.core.pins) == MAX_PINS
    await world.runtime.compression.pin(context_id, ids[0], pinned=False)
    await world.runtime.compression.pin(context_id, ids[MAX_PINS])
    with pytest.raises(NotFound):
        await world.runtime.compression.pin(context_id, "01900000-0000-7000-8000-00000000ffff")
    await world.runtime.modes.switch(context_id, "plan")
    mark = (await world.messages(context_id))[-1]
    assert isinstance(mark, SystemControl)
    with pytest.raises(NotFound):
        await world.runtime.compression.pin(context_id, mark.id)
