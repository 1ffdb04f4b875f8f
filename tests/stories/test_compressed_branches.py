"""A compressed branch among others: forked, edited, merged to and fro, taken elsewhere in a file."""

import asyncio
import hashlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest

from pilothouse.domain.codes import Code
from pilothouse.domain.errors import Conflict, InvalidInput
from pilothouse.domain.merges import Strategy
from pilothouse.domain.messages import Text
from pilothouse.domain.states import Idle
from pilothouse.domain.value import ContextId, MessageId
from pilothouse.runtime.events.turn_events import MessageAdded, branch_end
from pilothouse.storage.files.store import FileStore
from tests.support.assertions import present
from tests.support.full_windows import MANY_WORDS, SmallWindowWorld
from tests.support.held_store import settle
from tests.support.live_contexts import live_context, live_context_at_rest

STRATEGIES: list[Strategy] = ["append", "rebase", "cherry_pick"]
strategies = pytest.mark.parametrize("strategy", STRATEGIES)


async def merge_all(
    world: SmallWindowWorld, context_id: ContextId, source: str, target: str, strategy: Strategy
) -> list[str]:
    """Merge and return the merged messages."""
    chosen = await world.ids(context_id, source) if strategy == "cherry_pick" else []
    preview = await world.runtime.merges.preview(
        context_id, source, target=target, strategy=strategy, message_ids=chosen
    )
    done = await world.runtime.merges.merge(context_id, source, target=target, strategy=strategy, message_ids=chosen)
    assert done == preview
    now = await world.ids(context_id, target)
    assert len(set(now)) == len(now)
    return list(done.message_ids)


async def compressed_and_diverged(world: SmallWindowWorld) -> tuple[ContextId, list[str], list[str], list[str]]:
    """main, compressed, with later messages; idea, which diverged before that, with messages of its own. Returns
    the common messages, and the other ones of each."""
    context_id = await world.filled()
    common = await world.ids(context_id)
    await world.runtime.branches.create(context_id, "idea")
    await world.runtime.compression.compress(context_id)
    await world.turn(context_id, "here")
    here = (await world.ids(context_id))[-2:]
    await world.runtime.branches.switch(context_id, "idea")
    await world.turn(context_id, "there")
    there = (await world.ids(context_id, "idea"))[-2:]
    await world.runtime.branches.switch(context_id, "main")
    return context_id, common, here, there


async def assert_branch_works(world: SmallWindowWorld, context_id: str, branch: str) -> None:
    live = await world.runtime.contexts.get(context_id)
    if live.core.active_branch != branch:
        await world.runtime.branches.switch(context_id, branch)
    await world.turn(context_id, "go on")
    assert isinstance((await world.messages(context_id, branch))[-1], Text)
    world.check_requests()


@strategies
async def test_messages_that_the_target_has_summarized_are_not_merged_into_it(
    tmp_path: Path, strategy: Strategy
) -> None:
    world = SmallWindowWorld(tmp_path)
    context_id, _, _, there = await compressed_and_diverged(world)
    assert await merge_all(world, context_id, "idea", "main", strategy) == there
    assert await merge_all(world, context_id, "main-original", "main", strategy) == []
    await assert_branch_works(world, context_id, "main")


@strategies
async def test_a_summary_of_messages_that_the_target_has_is_not_merged(tmp_path: Path, strategy: Strategy) -> None:
    world = SmallWindowWorld(tmp_path)
    context_id, common, here, there = await compressed_and_diverged(world)
    assert await merge_all(world, context_id, "main", "idea", strategy) == here
    now = await world.ids(context_id, "idea")
    assert now[: len(common)] == common
    assert now[len(common) : len(common) + 2] == there
    assert await merge_all(world, context_id, "main", "main-original", strategy) == here
    await assert_branch_works(world, context_id, "idea")


@strategies
async def test_a_summary_of_messages_that_the_target_lacks_is_merged_in_its_place(
    tmp_path: Path, strategy: Strategy
) -> None:
    world = SmallWindowWorld(tmp_path)
    context_id = await world.start()
    await world.runtime.branches.create(context_id, "fresh")
    await world.fill(context_id)
    done = await world.runtime.compression.compress(context_id)
    now = await world.ids(context_id)
    assert await merge_all(world, context_id, "main", "fresh", strategy) == now
    assert done.summary_id in await world.ids(context_id, "fresh")
    await assert_branch_works(world, context_id, "fresh")


@strategies
async def test_merging_back_and_forth_with_a_compressed_branch_converges(tmp_path: Path, strategy: Strategy) -> None:
    world = SmallWindowWorld(tmp_path)
    context_id, _, here, there = await compressed_and_diverged(world)
    assert await merge_all(world, context_id, "idea", "main", strategy) == there
    assert await merge_all(world, context_id, "main", "idea", strategy) == here
    for _ in range(2):
        assert await merge_all(world, context_id, "idea", "main", strategy) == []
        assert await merge_all(world, context_id, "main", "idea", strategy) == []
    await assert_branch_works(world, context_id, "main")


@strategies
async def test_two_compressed_branches_merge_only_new_messages(tmp_path: Path, strategy: Strategy) -> None:
    world = SmallWindowWorld(tmp_path)
    context_id, common, here, there = await compressed_and_diverged(world)
    await world.runtime.branches.switch(context_id, "idea")
    second = await world.runtime.compression.compress(context_id)
    gone = set(common) - set(await world.ids(context_id, "idea"))
    assert gone
    taken = await merge_all(world, context_id, "main", "idea", strategy)
    assert gone.isdisjoint(taken)
    assert taken == here, "also its summary tells only what the other one has in short"
    taken = await merge_all(world, context_id, "idea", "main", strategy)
    assert second.summary_id not in taken
    assert taken == there
    await assert_branch_works(world, context_id, "main")


@strategies
async def test_a_twice_compressed_branch_adds_nothing_to_one_with_all_its_messages(
    tmp_path: Path, strategy: Strategy
) -> None:
    world = SmallWindowWorld(tmp_path)
    context_id, _, _, _ = await compressed_and_diverged(world)
    await world.runtime.merges.merge(context_id, "main", target="idea")
    await world.fill(context_id)
    await world.runtime.merges.merge(context_id, "main", target="idea")
    await world.runtime.compression.compress(context_id)
    assert await merge_all(world, context_id, "main", "idea", strategy) == []


@strategies
@pytest.mark.parametrize("how", ["create", "fork", "edit"])
async def test_messages_that_a_fork_has_summarized_are_not_merged_into_it(
    tmp_path: Path, how: str, strategy: Strategy
) -> None:
    world = SmallWindowWorld(tmp_path)
    context_id, common, _, there = await compressed_and_diverged(world)
    now = await world.ids(context_id)
    if how == "create":
        await world.runtime.branches.create(context_id, "fork")
    elif how == "fork":
        await world.runtime.branches.fork(context_id, "fork", at=MessageId(now[-1]))
    else:
        await world.runtime.messages.edit(context_id, now[-2], "said otherwise", name="fork")
        await world.runtime.turns.rested(context_id)
    summarized = set(common) - set(await world.ids(context_id, "fork"))
    assert summarized
    taken = await merge_all(world, context_id, "idea", "fork", strategy)
    assert set(there) <= set(taken)
    assert summarized.isdisjoint(taken)


async def test_a_fork_of_a_compressed_branch_is_a_branch_like_any_other(tmp_path: Path) -> None:
    world = SmallWindowWorld(tmp_path)
    context_id, _, _, _ = await compressed_and_diverged(world)
    now = await world.ids(context_id)
    fork = await world.runtime.branches.fork(context_id, "fork", at=MessageId(now[3]))
    assert fork.length >= 4
    assert not fork.keeps_whole
    edited = await world.runtime.messages.edit(context_id, now[-2], "said otherwise")
    live = await live_context_at_rest(world.runtime, context_id)
    assert await world.ids(context_id, live.core.active_branch) != now
    assert edited.message_id in await world.ids(context_id, live.core.active_branch)
    await world.runtime.compression.undo(context_id, branch="main")
    assert now[-1] in await world.ids(context_id)
    await assert_branch_works(world, context_id, "fork")
    await world.fill(context_id)
    await world.turn(context_id, MANY_WORDS)
    world.check_requests()


# elsewhere


async def test_a_compressed_context_is_the_same_after_export_and_import_and_can_be_undone_there(
    tmp_path: Path,
) -> None:
    world = SmallWindowWorld(tmp_path)
    context_id = await world.filled()
    before = await world.ids(context_id)
    await world.runtime.compression.pin(context_id, before[0])
    await world.runtime.compression.compress(context_id)
    await world.turn(context_id, "since")
    since = (await world.ids(context_id))[-2:]
    data = b"".join([piece async for piece in world.runtime.exports.create(context_id)])
    other = SmallWindowWorld(tmp_path, ids_from=10**6)
    imported = (await other.runtime.imports.create(data)).context_id
    assert await other.ids(imported) == await world.ids(context_id)
    assert (await other.runtime.contexts.get(imported)).core.pins == (before[0],)
    assert await other.runtime.window.meter(imported) == await world.runtime.window.meter(context_id)
    await other.runtime.compression.undo(imported)
    assert await other.ids(imported) == [*before, *since]
    await assert_branch_works(other, imported, "main")


async def test_a_compressed_context_is_the_same_after_a_restart_and_can_be_undone_then(tmp_path: Path) -> None:
    def files() -> FileStore:
        return FileStore(tmp_path / "data", now=lambda: "2026-01-01T00:00:00.000Z")

    world = SmallWindowWorld(tmp_path, store=files())
    context_id = await world.compressed()
    now, meter = await world.ids(context_id), await world.runtime.window.meter(context_id)
    original = await world.ids(context_id, "main-original")
    await world.runtime.close()
    again = SmallWindowWorld(tmp_path, store=files(), ids_from=10**6)
    assert await again.ids(context_id) == now
    assert await again.runtime.window.meter(context_id) == meter
    await again.runtime.compression.undo(context_id)
    await again.runtime.close()
    last = SmallWindowWorld(tmp_path, store=files(), ids_from=2 * 10**6)
    assert await last.ids(context_id) == [*original, now[-1]]
    live = await last.runtime.contexts.get(context_id)
    assert list(live.branches) == ["main"]
    assert live.branches["main"].keeps_whole
    await assert_branch_works(last, context_id, "main")
    await last.runtime.close()


def _changed(data: bytes, change: Callable[[dict[str, Any]], None]) -> bytes:
    """The file of a stranger: lines changed, and the digest made right again."""
    lines = []
    for line in data.splitlines()[:-1]:
        decoded = msgspec.json.decode(line)
        change(decoded)
        lines.append(msgspec.json.encode(decoded) + b"\n")
    body = b"".join(lines)
    return body + msgspec.json.encode({"type": "end", "digest": hashlib.sha256(body).hexdigest()}) + b"\n"


def _core(**fields: Any) -> Callable[[dict[str, Any]], None]:
    def change(line: dict[str, Any]) -> None:
        if line["type"] == "core":
            line["core"].update(fields)

    return change


def _compressed(**fields: Any) -> Callable[[dict[str, Any]], None]:
    def change(line: dict[str, Any]) -> None:
        if line["type"] == "branch":
            compressed = {"original": "main", "length": 3, "kept": 1, "head": 1, "summary_id": "x"}
            line["branch"]["compressed"] = {**compressed, **line["branch"].get("compressed", {}), **fields}

    return change


STRANGE = {
    "a ratio of nothing": _core(token_ratio=0),
    "a ratio below nothing": _core(token_ratio=-3),
    "a ratio without end": _core(token_ratio=1e300),
    "a ratio of next to nothing": _core(token_ratio=1e-300),
    "many pins": _core(pins=["nothing"] * 1000),
    "an overview that is not there": _core(
        overview={"message_id": "00000000-0000-0000-0000-00000000ffff", "workspace": "/", "at_length": -5}
    ),
    "its own original": _compressed(original="main"),
    "originals in a circle": _compressed(original="idea"),
    "an original that is not there": _compressed(original="nowhere"),
    "more than there is": _compressed(length=10**12),
    "less than nothing": _compressed(length=-7, kept=-9),
    "more kept than there is": _compressed(kept=10**12),
    "what stands there twice": _compressed(length=-3, kept=-9),
}


@pytest.mark.parametrize("change", STRANGE)
async def test_inconsistent_compression_data_of_an_import_breaks_nothing(tmp_path: Path, change: str) -> None:
    world = SmallWindowWorld(tmp_path)
    context_id, _, _, _ = await compressed_and_diverged(world)
    data = b"".join([piece async for piece in world.runtime.exports.create(context_id)])
    other = SmallWindowWorld(tmp_path, ids_from=10**6)
    try:
        imported = (await other.runtime.imports.create(_changed(data, STRANGE[change]))).context_id
    except InvalidInput:
        return
    await other.runtime.window.meter(imported)
    live = await live_context(other.runtime, imported)
    for command in (
        lambda: other.runtime.compression.undo(imported),
        lambda: other.turn(imported, MANY_WORDS),
        lambda: other.runtime.compression.compress(imported),
        lambda: other.runtime.merges.merge(imported, "idea"),
        lambda: other.runtime.compression.undo(imported),
    ):
        try:
            await command()
        except Exception as error:
            assert type(error).__name__ in ("Conflict", "NotFound"), error  # noqa: PT017
        assert isinstance(live.state, Idle)
        for name in live.branches:
            ids = await other.ids(imported, name)
            assert len(ids) == len(set(ids)), f"a message is twice on {name}"
    other.check_requests()


@pytest.mark.parametrize("undone_first", ["the branch", "the original"])
async def test_a_compressed_original_still_has_the_messages_of_its_branch(tmp_path: Path, undone_first: str) -> None:
    world = SmallWindowWorld(tmp_path)
    context_id = await world.filled()
    before = await world.ids(context_id)
    done = await world.runtime.compression.compress(context_id)
    assert done.original is not None
    await world.runtime.branches.switch(context_id, done.original)
    await world.runtime.compression.compress(context_id)
    await world.fill(context_id)
    there = (await world.ids(context_id, done.original))[11:]
    assert there
    await world.runtime.branches.switch(context_id, "main")
    await world.turn(context_id, "here")
    here = (await world.ids(context_id))[-2:]
    if undone_first == "the original":
        await world.runtime.compression.undo(context_id, branch=done.original)
        assert await world.ids(context_id, done.original) == [*before, *there]
    await world.runtime.compression.undo(context_id)
    assert await world.ids(context_id) == [*before, *here]
    if undone_first == "the branch":
        await world.runtime.compression.undo(context_id, branch=done.original)
        assert await world.ids(context_id, done.original) == [*before, *there]
    await assert_branch_works(world, context_id, "main")


async def test_undoing_the_compression_of_an_original_keeps_the_branch_based_on_it(
    tmp_path: Path,
) -> None:
    world = SmallWindowWorld(tmp_path)
    context_id = await world.filled()
    await world.runtime.compression.compress(context_id)
    await world.fill(context_id)
    second = await world.ids(context_id)
    done = await world.runtime.compression.compress(context_id)
    with pytest.raises(Conflict) as refused:
        await world.runtime.compression.undo(context_id, branch=done.original)
    assert refused.value.reason.code is Code.BRANCH_IN_USE
    await world.runtime.compression.undo(context_id)
    assert await world.ids(context_id) == second


async def test_following_a_branch_whose_original_names_itself_ends(tmp_path: Path) -> None:
    world = SmallWindowWorld(tmp_path)
    context_id = await world.compressed()
    await world.fill(context_id)
    await world.runtime.compression.compress(context_id)
    await world.runtime.branches.delete(context_id, "main-original")
    await world.runtime.branches.create(context_id, "main-original", source="main-original-2")
    live = await world.runtime.contexts.get(context_id)
    assert present(live.branches["main-original"].compressed).original == "main-original"
    message_ids: list[str] = []
    undone = asyncio.Event()

    async def watch() -> None:
        async for event in world.runtime.events.of_context(context_id, start=branch_end(live), is_over=lambda _: False):
            if isinstance(event, MessageAdded):
                message_ids.append(event.message.id)
                return
            undone.set()

    watching = asyncio.create_task(watch())
    await undone.wait()
    await world.runtime.compression.undo(context_id)
    await settle()
    await world.turn(context_id, "go on")
    await watching
    assert message_ids == (await world.ids(context_id))[-2:-1]
