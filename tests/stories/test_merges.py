"""Special cases of forks and merges: around notices, on damaged lists, of many messages, with a cancelled caller."""

import asyncio
import logging
from collections.abc import Sequence
from pathlib import Path

import msgspec
import pytest

from pilothouse.domain.branches import MAIN, Branch
from pilothouse.domain.contexts import Change, ContextCore
from pilothouse.domain.merges import origin_of
from pilothouse.domain.messages import ErrorMessage, Message, SystemControl, Text
from pilothouse.domain.states import Failed, Idle
from pilothouse.domain.value import ContextId, MessageId
from pilothouse.llm.script import Answer, Script, ScriptedCall
from pilothouse.storage.files.store import FileStore
from pilothouse.storage.memory import MemoryStore
from pilothouse.testing.disk import FaultyDisk
from pilothouse.testing.world import World
from tests.support.assertions import content_of, present
from tests.support.held_store import HeldStore, any_write, no_write
from tests.support.live_contexts import live_context, live_context_at_rest
from tests.support.raising_adapter import RaisingAdapter
from tests.support.valid_requests import assert_valid_request

AT = "2026-01-01T00:00:00.000Z"
CALL = Answer(text="I will", calls=(ScriptedCall(tool="change", arguments={"text": "x"}),))


def files(tmp_path: Path, disk: FaultyDisk | None = None) -> FileStore:
    return FileStore(tmp_path / "data", now=lambda: AT, disk=disk)


def answers(count: int) -> list[Answer]:
    return [Answer(text=f"answer {number}") for number in range(count)]


def kinds(messages: Sequence[Message]) -> list[str]:
    return [type(message).__name__ for message in messages]


def results_in_last_request(world: World) -> list[str]:
    """The results of calls in the last request."""
    assert_valid_request(world.model.requests[-1])
    decoded = map(msgspec.json.decode, world.model.requests[-1].messages)
    return [fragment["content"] for fragment in decoded if fragment["role"] == "tool"]


# results apart from their calls


async def context_with_call(tmp_path: Path) -> tuple[World, ContextId, list[Message]]:
    """A call and its result on main; an empty branch is active."""
    world = World(tmp_path, CALL, *answers(4))
    context_id = await world.start("agent")
    await world.runtime.branches.create(context_id, "empty")
    await world.turn(context_id, "go")
    messages = await world.runtime.messages.read(context_id)
    await world.runtime.branches.switch(context_id, "empty")
    assert kinds(messages) == ["Text", "ToolRequest", "ToolResult", "Text"]
    return world, context_id, messages


async def test_a_result_cherry_picked_without_its_call_is_a_conflict(tmp_path: Path) -> None:
    world, context_id, (text, request, result, _) = await context_with_call(tmp_path)
    chosen = [request.id, text.id, result.id]
    done = await world.runtime.merges.merge(context_id, MAIN, strategy="cherry_pick", message_ids=chosen)
    assert {(conflict.kind, conflict.message_id) for conflict in done.conflicts} == {
        ("result_left_behind", request.id),
        ("call_left_behind", result.id),
    }
    await world.turn(context_id)
    assert results_in_last_request(world) == ["Not run."]


async def test_a_result_cherry_picked_before_its_call_is_a_conflict(tmp_path: Path) -> None:
    world, context_id, (_, request, result, _) = await context_with_call(tmp_path)
    done = await world.runtime.merges.merge(
        context_id, MAIN, strategy="cherry_pick", message_ids=[result.id, request.id]
    )
    assert {(conflict.kind, conflict.message_id) for conflict in done.conflicts} == {
        ("result_left_behind", request.id),
        ("call_left_behind", result.id),
    }
    await world.turn(context_id)
    assert results_in_last_request(world) == ["Not run."]


@pytest.mark.parametrize("between", [False, True], ids=["at once", "after a turn"])
async def test_a_result_cherry_picked_later_is_a_conflict_after_another_message(tmp_path: Path, between: bool) -> None:
    world, context_id, (_, request, result, _) = await context_with_call(tmp_path)
    await world.runtime.merges.merge(context_id, MAIN, strategy="cherry_pick", message_ids=[request.id])
    if between:
        await world.turn(context_id, "hm")
    done = await world.runtime.merges.merge(context_id, MAIN, strategy="cherry_pick", message_ids=[result.id])
    assert [conflict.kind for conflict in done.conflicts] == (["call_left_behind"] if between else [])
    await world.turn(context_id)
    assert results_in_last_request(world) == ["Not run." if between else "noted x"]


async def test_a_whole_branch_with_calls_and_results_is_merged_without_a_conflict(tmp_path: Path) -> None:
    world, context_id, messages = await context_with_call(tmp_path)
    await world.runtime.branches.set_prompt_addition(context_id, "Be brief.")
    done = await world.runtime.merges.merge(context_id, MAIN)
    assert (done.merged, done.conflicts) == (len(messages), ())
    await world.turn(context_id)
    assert results_in_last_request(world) == ["noted x"]


# forks at and around marks


async def marked(tmp_path: Path, how: str) -> tuple[World, ContextId, list[Message]]:
    """A mark between a call and its result, and one behind them."""
    world = World(tmp_path, CALL, *answers(4))
    context_id = await world.start("supervised")
    await world.turn(context_id, "go")
    if how == "prompt":
        await world.runtime.branches.set_prompt_addition(context_id, "Be brief.")
        await world.runtime.calls.approve_all(context_id)
    else:
        await world.runtime.modes.switch(context_id, "agent")
    await world.runtime.turns.rested(context_id)
    await world.runtime.branches.set_prompt_addition(context_id, None)
    messages = await world.runtime.messages.read(context_id)
    assert kinds(messages) == ["Text", "ToolRequest", "SystemControl", "ToolResult", "Text", "SystemControl"]
    return world, context_id, messages


@pytest.mark.parametrize("how", ["prompt", "mode"])
@pytest.mark.parametrize(("at", "length"), [(0, 1), (1, 4), (2, 4), (3, 4), (4, 5), (5, 6)])
async def test_a_fork_at_or_around_a_notice_never_separates_a_call_from_its_result(
    tmp_path: Path, how: str, at: int, length: int
) -> None:
    world, context_id, messages = await marked(tmp_path, how)
    branch = await world.runtime.branches.fork(context_id, "fork", at=messages[at].id)
    assert branch.length == length
    assert await world.runtime.messages.read(context_id, branch="fork") == messages[:length]
    await world.runtime.branches.switch(context_id, "fork")
    await world.turn(context_id, "more")
    assert results_in_last_request(world) == (["noted x"] if length > 1 else [])


async def test_a_fork_at_a_call_that_still_waits_ends_with_it(tmp_path: Path) -> None:
    world = World(tmp_path, CALL, *answers(2))
    context_id = await world.start("supervised")
    await world.turn(context_id, "go")
    await world.runtime.branches.set_prompt_addition(context_id, "Be brief.")
    messages = await world.runtime.messages.read(context_id)
    assert kinds(messages) == ["Text", "ToolRequest", "SystemControl"]
    assert (await world.runtime.branches.fork(context_id, "call", at=messages[1].id)).length == 2
    assert (await world.runtime.branches.fork(context_id, "mark", at=messages[2].id)).length == 3
    await world.runtime.turns.cancel(context_id)
    await world.runtime.branches.switch(context_id, "mark")
    await world.turn(context_id, "more")
    assert results_in_last_request(world) == ["Not run."]


async def test_results_merged_after_a_notice_stay_with_their_call(tmp_path: Path) -> None:
    world, context_id, (_, request, result, _) = await context_with_call(tmp_path)
    await world.runtime.merges.merge(context_id, MAIN, strategy="cherry_pick", message_ids=[request.id])
    await world.runtime.merges.merge(context_id, MAIN, strategy="cherry_pick", message_ids=[result.id])
    messages = await world.runtime.messages.read(context_id)
    assert kinds(messages) == ["SystemControl", "ToolRequest", "SystemControl", "ToolResult"]
    assert [
        (await world.runtime.branches.fork(context_id, f"at {at}", at=messages[at].id)).length for at in range(4)
    ] == [
        1,
        4,
        4,
        4,
    ]


# damaged ids when a branch is made


@pytest.mark.parametrize("how", ["create", "fork"])
async def test_a_branch_made_from_a_damaged_list_has_its_gap_in_the_same_place_and_nowhere_else(
    tmp_path: Path, how: str
) -> None:
    store = files(tmp_path)
    world = World(tmp_path, *answers(50), store=store)
    context_id = await world.start()
    for number in range(40):
        await world.turn(context_id, f"message {number}")
    await store.checkpoint(context_id)
    whole = await store.branch_ids(context_id, MAIN)
    (listed,) = (tmp_path / "data/contexts" / context_id / "branches").glob("*.ids")
    data = bytearray(listed.read_bytes())
    data[10 * (len(data) // len(whole)) + 5] = ord("!")
    listed.write_bytes(data)
    damaged = await store.branch_ids(context_id, MAIN)
    assert [at for at, (one, other) in enumerate(zip(damaged, whole, strict=True)) if one != other] == [10]
    if how == "create":
        await world.runtime.branches.create(context_id, "copy")
    else:
        await world.runtime.branches.fork(context_id, "copy", at=whole[-1])
    assert await store.branch_ids(context_id, "copy") == damaged
    await store.checkpoint(context_id)
    assert await store.branch_ids(context_id, "copy") == damaged
    await world.runtime.close()
    world = World(tmp_path, *answers(1), store=files(tmp_path), ids_from=10**6)
    assert await world.dependencies.store.branch_ids(context_id, "copy") == damaged
    messages = await world.runtime.messages.read(context_id, branch="copy", limit=100)
    assert [at for at, message in enumerate(messages) if isinstance(message, ErrorMessage)] == [10]
    await world.runtime.branches.switch(context_id, "copy")
    await world.turn(context_id, "more")
    assert isinstance((await world.runtime.contexts.get(context_id)).state, Idle)
    await world.runtime.close()


# merges of many messages


class CountingStore(MemoryStore):
    """Knows the most messages that anybody has asked for at once."""

    def __init__(self) -> None:
        super().__init__()
        self.most = 0

    async def messages(self, context_id: ContextId, ids: Sequence[MessageId]) -> list[Message]:
        self.most = max(self.most, len(ids))
        return await super().messages(context_id, ids)


async def long_history(store: MemoryStore, count: int) -> ContextId:
    """All messages on main, all but the first on `most`, none on `empty`."""
    context_id = ContextId("long")
    texts = [
        Text(id=MessageId(f"01900000-0000-7000-9000-{number:012x}"), timestamp=AT, role="user", content=str(number))
        for number in range(count)
    ]
    ids = tuple(text.id for text in texts)
    branches = {name: Branch(name=name, key=f"k-{name}", created_at=AT) for name in (MAIN, "most", "empty")}
    core = ContextCore(context_id=context_id, created_at=AT, updated_at=AT, mode="agent")
    appended = {MAIN: ids, "most": ids[1:], "empty": ()}
    await store.create(Change(core=core, messages=tuple(texts), branches=branches, appended=appended))
    return context_id


async def test_a_big_merge_yields_to_other_work_between_pieces(tmp_path: Path) -> None:
    store = CountingStore()
    world = World(tmp_path, store=store)
    context_id = await long_history(store, 3000)
    preview = await world.runtime.merges.preview(context_id, MAIN, target="empty")
    done = await world.runtime.merges.merge(context_id, MAIN, target="empty")
    assert (preview.merged, done.merged) == (3000, 3000)
    assert store.most <= 1000
    branch = (await world.runtime.contexts.get(context_id)).branches["empty"]
    assert branch.length == 3001
    assert present(origin_of(branch, 3000)).position == 2999


async def test_the_notice_of_a_merge_with_many_conflicts_stays_small_and_has_their_count(tmp_path: Path) -> None:
    store = MemoryStore()
    world = World(tmp_path, store=store)
    context_id = await long_history(store, 3000)
    done = await world.runtime.merges.merge(context_id, MAIN, target="most", strategy="rebase")
    assert (done.merged, len(done.conflicts)) == (1, 2999)
    recent = await world.runtime.messages.read(context_id, branch="most", limit=2)
    (mark,) = [message for message in recent if isinstance(message, SystemControl)]
    assert mark.detail["conflicts_total"] == 2999
    assert len(msgspec.json.encode(mark)) < 20_000


# between turns, when something has gone wrong


async def failed_turn(
    tmp_path: Path, store: HeldStore, caplog: pytest.LogCaptureFixture
) -> tuple[World, ContextId, RaisingAdapter]:
    """main with a turn that a bug has ended; beside it `two` with a message of its own."""
    model = RaisingAdapter(Script(turn=tuple(answers(6))), raises=lambda: False)
    world = World(tmp_path, adapter=model, store=store)
    context_id = await world.start()
    await world.runtime.branches.create(context_id, "two")
    await world.runtime.branches.switch(context_id, "two")
    await world.turn(context_id, "on two")
    await world.runtime.branches.switch(context_id, MAIN)
    model.raises = lambda: True
    with caplog.at_level(logging.CRITICAL):
        await world.turn(context_id, "on main")
    model.raises = lambda: False
    assert isinstance((await world.runtime.contexts.get(context_id)).state, Failed)
    return world, context_id, model


@pytest.mark.parametrize("command", ["switch", "merge"])
async def test_a_caller_cancelled_after_the_commit_leaves_the_context_as_stored(
    tmp_path: Path, command: str, caplog: pytest.LogCaptureFixture
) -> None:
    store = HeldStore()
    world, context_id, _ = await failed_turn(tmp_path, store, caplog)
    release = store.hold(any_write, after=True)
    work = (
        world.runtime.branches.switch(context_id, "two")
        if command == "switch"
        else world.runtime.merges.merge(context_id, "two")
    )
    task = asyncio.create_task(work)
    await store.reached.wait()
    task.cancel()
    await asyncio.sleep(0)
    store.hold(no_write)
    release.set()
    with pytest.raises(asyncio.CancelledError):
        await task
    live = await live_context(world.runtime, context_id)
    stored = await store.open(context_id)
    assert live.state == stored.core.state == Idle()
    assert live.core == stored.core
    assert live.version == stored.version
    assert live.core.active_branch == ("two" if command == "switch" else MAIN)
    await world.turn(context_id, "more")
    assert content_of((await world.runtime.messages.read(context_id))[-1]) == "answer 1"


@pytest.mark.parametrize("command", ["switch", "merge"])
async def test_a_failed_turn_that_could_not_be_closed_is_closed_by_the_next_command(
    tmp_path: Path, command: str, caplog: pytest.LogCaptureFixture
) -> None:
    disk = FaultyDisk()
    model = RaisingAdapter(Script(turn=tuple(answers(6))), raises=lambda: False)

    def fill_disk() -> bool:
        disk.arm(1, "ENOSPC", lasting=True)
        return True

    world = World(tmp_path, adapter=model, store=files(tmp_path, disk))
    context_id = await world.start()
    await world.turn(context_id, "a")
    await world.runtime.branches.create(context_id, "idea")
    await world.runtime.branches.switch(context_id, "idea")
    await world.turn(context_id, "b")
    await world.runtime.branches.switch(context_id, MAIN)
    model.raises = fill_disk
    with caplog.at_level(logging.CRITICAL):
        await world.turn(context_id, "c")
    model.raises = lambda: False
    disk.disarm()
    live = await live_context(world.runtime, context_id)
    assert isinstance(live.state, Failed)
    assert live.core.turn is not None
    if command == "switch":
        await world.runtime.branches.switch(context_id, "idea")
    else:
        await world.runtime.merges.merge(context_id, "idea")
        branch = live.branches[MAIN]
        ids = await world.dependencies.store.branch_ids(context_id, MAIN)
        assert branch.length == len(ids)
        merged = (await world.dependencies.store.branch_ids(context_id, "idea"))[-2:]
        places = [at for at in range(branch.length) if origin_of(branch, at) is not None]
        assert [ids[at] for at in places] == merged
        assert [present(origin_of(branch, at)).position for at in places] == [2, 3]
    live = await live_context_at_rest(world.runtime, context_id)
    assert (live.state, live.core.turn) == (Idle(), None)
    await world.turn(context_id, "more")
    assert isinstance(live.state, Idle)
    await world.runtime.contexts.delete(context_id)
    await world.runtime.close()
