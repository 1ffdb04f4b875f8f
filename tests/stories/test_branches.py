"""Branches whole: deleting, prompts, and the three merges with their conflicts, provenance and preview."""

from pathlib import Path

import pytest

from pilothouse.domain.errors import Conflict, InvalidInput, NotFound, StoreError
from pilothouse.domain.merges import Strategy, origin_of
from pilothouse.domain.messages import SystemControl, Text, ToolRequest, ToolResult
from pilothouse.domain.states import Idle
from pilothouse.domain.value import ContextId, MessageId
from pilothouse.llm.script import Answer, ScriptedCall
from pilothouse.storage.files.store import FileStore
from pilothouse.testing.disk import FaultyDisk
from pilothouse.testing.tools import NoteTool
from pilothouse.testing.world import World
from tests.support.assertions import present
from tests.support.live_contexts import live_context
from tests.support.valid_requests import assert_valid_request


def files(tmp_path: Path, disk: FaultyDisk | None = None) -> FileStore:
    return FileStore(tmp_path / "data", now=lambda: "2026-01-01T00:00:00.000Z", disk=disk)


async def ids(world: World, context_id: ContextId, branch: str) -> list[MessageId]:
    return await world.dependencies.store.branch_ids(context_id, branch)


async def two_branches(world: World) -> ContextId:
    """main: a A b B; idea: a A c C, where each answer echoes."""
    context_id = await world.start()
    await world.turn(context_id, "a")
    await world.runtime.branches.create(context_id, "idea")
    await world.turn(context_id, "b")
    await world.runtime.branches.switch(context_id, "idea")
    await world.turn(context_id, "c")
    await world.runtime.branches.switch(context_id, "main")
    return context_id


def answers(count: int = 8) -> list[Answer]:
    return [Answer(text=f"answer {number}") for number in range(count)]


@pytest.mark.parametrize("strategy", ["append", "rebase"])
async def test_a_merge_adds_missing_messages_in_one_commit_without_copies(tmp_path: Path, strategy: Strategy) -> None:
    world = World(tmp_path, *answers())
    context_id = await two_branches(world)
    before = await ids(world, context_id, "main")
    pool = set(await world.dependencies.store.message_ids(context_id))
    version = (await world.runtime.contexts.get(context_id)).version
    preview = await world.runtime.merges.preview(context_id, "idea", strategy=strategy)
    assert (await world.runtime.contexts.get(context_id)).version == version, "a preview changes nothing"
    done = await world.runtime.merges.merge(context_id, "idea", strategy=strategy, by="me")
    assert done == preview
    assert done.merged == 2
    live = await live_context(world.runtime, context_id)
    assert live.version == version + 1
    after = await ids(world, context_id, "main")
    (mark,) = set(await world.dependencies.store.message_ids(context_id)) - pool
    assert after == [*before, mark, *(await ids(world, context_id, "idea"))[-2:]]
    assert isinstance(live.state, Idle)
    assert world.states[-3:] == ["merging_branches", "saving_context", "idle"]
    origin = await world.runtime.merges.provenance(context_id, after[-1])
    assert (present(origin).branch, present(origin).position, present(origin).by) == ("idea", 3, "me")
    assert await world.runtime.merges.provenance(context_id, after[0]) is None
    with pytest.raises(NotFound):
        await world.runtime.merges.provenance(context_id, "nothing")
    assert (await world.runtime.merges.merge(context_id, "idea", strategy="append")).merged == 0
    assert await ids(world, context_id, "main") == after, "nothing left: nothing changes"


async def test_merging_back_and_forth_converges(tmp_path: Path) -> None:
    world = World(tmp_path, *answers())
    context_id = await two_branches(world)
    assert (await world.runtime.merges.merge(context_id, "idea")).merged == 2
    assert (await world.runtime.merges.merge(context_id, "main", target="idea")).merged == 2
    assert (await world.runtime.merges.merge(context_id, "idea")).merged == 0
    assert (await world.runtime.merges.merge(context_id, "main", target="idea")).merged == 0


async def test_cherry_picking_takes_messages_in_the_named_order_and_lists_conflicts(
    tmp_path: Path,
) -> None:
    change = Answer(calls=(ScriptedCall(tool="change", arguments={"text": "x"}),))
    world = World(tmp_path, Answer(text="1"), change, Answer(text="2"), Answer(text="3"))
    context_id = await world.start()
    await world.turn(context_id, "a")
    await world.runtime.branches.create(context_id, "idea")
    await world.runtime.branches.switch(context_id, "idea")
    await world.turn(context_id, "b")
    await world.runtime.branches.switch(context_id, "main")
    source = await world.runtime.messages.read(context_id, branch="idea")
    request = next(message for message in source if isinstance(message, ToolRequest))
    result = next(message for message in source if isinstance(message, ToolResult))
    chosen = [source[-1].id, request.id, source[0].id]
    done = await world.runtime.merges.merge(context_id, "idea", strategy="cherry_pick", message_ids=chosen)
    assert list(done.message_ids) == [source[-1].id, request.id]
    assert {(conflict.kind, conflict.message_id) for conflict in done.conflicts} == {
        ("already_there", source[0].id),
        ("result_left_behind", request.id),
    }
    main = await world.runtime.messages.read(context_id)
    mark = next(message for message in main if isinstance(message, SystemControl))
    assert mark.detail["merged"] == 2
    alone = await world.runtime.merges.preview(context_id, "idea", strategy="cherry_pick", message_ids=[result.id])
    assert alone.conflicts == (), "its call is there by now"
    await world.turn(context_id, "go on")
    assert_valid_request(world.model.requests[-1])


async def test_a_result_without_its_call_is_listed(tmp_path: Path) -> None:
    change = Answer(calls=(ScriptedCall(tool="change", arguments={"text": "x"}),))
    world = World(tmp_path, change, Answer(text="2"), Answer(text="3"))
    context_id = await world.start()
    await world.runtime.branches.create(context_id, "empty")
    await world.turn(context_id, "b")
    result = next(m for m in await world.runtime.messages.read(context_id) if isinstance(m, ToolResult))
    await world.runtime.branches.switch(context_id, "empty")
    done = await world.runtime.merges.merge(context_id, "main", strategy="cherry_pick", message_ids=[result.id])
    assert [conflict.kind for conflict in done.conflicts] == ["call_left_behind"]
    await world.turn(context_id, "go on")
    assert_valid_request(world.model.requests[-1])


async def test_an_impossible_merge_is_refused_and_changes_nothing(tmp_path: Path) -> None:
    world = World(tmp_path, *answers())
    context_id = await two_branches(world)
    version = (await world.runtime.contexts.get(context_id)).version
    with pytest.raises(Conflict, match="into itself"):
        await world.runtime.merges.merge(context_id, "main")
    with pytest.raises(NotFound, match="Choose one of: main, idea"):
        await world.runtime.merges.merge(context_id, "nothing")
    with pytest.raises(InvalidInput, match="aren't on the source branch"):
        await world.runtime.merges.merge(context_id, "idea", strategy="cherry_pick", message_ids=["x"])
    assert (await world.runtime.contexts.get(context_id)).version == version


async def test_merging_is_refused_while_a_turn_is_open(tmp_path: Path) -> None:
    blocking_tool = NoteTool("held", "read_only", hold=True)
    first = Answer(calls=(ScriptedCall(tool="held"),))
    world = World(tmp_path, first, Answer(text="x"), tools=[blocking_tool])
    context_id = await world.start()
    await world.runtime.branches.create(context_id, "other")
    await world.runtime.messages.send(context_id, "go")
    await blocking_tool.started.wait()
    with pytest.raises(Conflict, match="isn't finished"):
        await world.runtime.merges.merge(context_id, "other")
    with pytest.raises(Conflict, match="in use"):
        await world.runtime.branches.delete(context_id, "main")
    blocking_tool.release.set()
    await world.runtime.turns.rested(context_id)


async def test_a_refused_merge_changes_nothing(tmp_path: Path) -> None:
    disk = FaultyDisk()
    world = World(tmp_path, *answers(), store=files(tmp_path, disk))
    context_id = await two_branches(world)
    before = await ids(world, context_id, "main")
    disk.arm(1, "ENOSPC", lasting=True)
    with pytest.raises(StoreError):
        await world.runtime.merges.merge(context_id, "idea")
    disk.disarm()
    live = await live_context(world.runtime, context_id)
    assert isinstance(live.state, Idle)
    assert await ids(world, context_id, "main") == before
    assert live.branches["main"].merged == ()
    await world.runtime.close()


@pytest.mark.parametrize("long", [False, True], ids=["short", "long"])
async def test_a_deleted_branch_is_gone_after_a_restart_and_its_name_can_be_used_again(
    tmp_path: Path, long: bool
) -> None:
    store = files(tmp_path)
    turns = 40 if long else 1
    world = World(tmp_path, *answers(turns + 2), store=store)
    context_id = await world.start()
    await world.runtime.branches.create(context_id, "idea")
    await world.runtime.branches.switch(context_id, "idea")
    for number in range(turns):
        await world.turn(context_id, str(number))
    await store.checkpoint(context_id)
    with pytest.raises(Conflict, match="in use"):
        await world.runtime.branches.delete(context_id, "idea")
    await world.runtime.branches.switch(context_id, "main")
    await world.runtime.branches.delete(context_id, "idea")
    with pytest.raises(NotFound):
        await world.runtime.branches.switch(context_id, "idea")
    await world.runtime.close()
    lists = tmp_path / "data/contexts" / context_id / "branches"
    assert not lists.is_dir() or not list(lists.iterdir())
    again = World(tmp_path, Answer(text="new"), store=files(tmp_path), ids_from=10**6)
    assert list((await again.runtime.contexts.get(context_id)).branches) == ["main"]
    await again.runtime.branches.create(context_id, "idea")
    await again.runtime.branches.switch(context_id, "idea")
    await again.turn(context_id, "fresh")
    texts = [m.content for m in await again.runtime.messages.read(context_id) if isinstance(m, Text)]
    assert texts == ["fresh", "new"]
    await again.runtime.close()


async def test_a_branch_prompt_applies_to_its_branch_from_the_next_round(tmp_path: Path) -> None:
    world = World(tmp_path, *answers())
    context_id = await world.start()
    await world.runtime.branches.create(context_id, "pirate", prompt_addition="Talk like a pirate.")
    await world.turn(context_id, "a")
    await world.runtime.branches.switch(context_id, "pirate")
    await world.turn(context_id, "b")
    await world.runtime.branches.set_prompt_addition(context_id, "Talk like a lawyer.")
    await world.turn(context_id, "c")
    await world.runtime.branches.set_prompt_addition(context_id, None)
    await world.turn(context_id, "d")
    talk = [
        next((word for word in ("pirate", "lawyer") if word in request.system), None)
        for request in world.model.requests
    ]
    assert talk == [None, "pirate", "lawyer", None]
    length = (await world.runtime.contexts.get(context_id)).branches["pirate"].length
    assert length == len(await ids(world, context_id, "pirate"))


async def test_a_fork_keeps_where_its_merged_messages_came_from(tmp_path: Path) -> None:
    world = World(tmp_path, *answers(), store=files(tmp_path))
    context_id = await two_branches(world)
    await world.runtime.merges.merge(context_id, "idea")
    await world.runtime.branches.create(context_id, "copy")
    await world.runtime.close()
    again = World(tmp_path, store=files(tmp_path), ids_from=10**6)
    branch = (await again.runtime.contexts.get(context_id)).branches["copy"]
    assert present(origin_of(branch, branch.length - 1)).branch == "idea"
    await again.runtime.close()
