"""The journal line of a compression or its undo is damaged: nothing else of the branch is lost."""

from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from pilothouse.storage.files.store import FileStore
from tests.storage.test_contract import AT
from tests.storage.test_file_store import abandon
from tests.support.assertions import file_store
from tests.support.full_windows import WORDS, SmallWindowWorld
from tests.support.live_contexts import live_context


async def _nothing(world: SmallWindowWorld, context_id: str) -> None:
    pass


async def _undo(world: SmallWindowWorld, context_id: str) -> None:
    await world.runtime.compression.undo(context_id)


async def _prompt(world: SmallWindowWorld, context_id: str) -> None:
    await world.runtime.branches.set_prompt_addition(context_id, "Be kind.")


async def _turn(world: SmallWindowWorld, context_id: str) -> None:
    await world.turn(context_id, "and then")


async def _again(world: SmallWindowWorld, context_id: str) -> None:
    for _ in range(3):
        await world.turn(context_id, WORDS)
    await world.runtime.compression.compress(context_id)


AFTER: dict[str, Callable[[SmallWindowWorld, str], Awaitable[None]]] = {
    "nothing": _nothing,
    "undone": _undo,
    "another prompt": _prompt,
    "a turn": _turn,
    "compressed again": _again,
}


def opened(tmp_path: Path, ids_from: int = 0) -> SmallWindowWorld:
    return SmallWindowWorld(tmp_path, store=FileStore(tmp_path / "data", now=lambda: AT), ids_from=ids_from)


CASES = [
    (lost, after) for lost in ("compression", "undoing") for after in AFTER if (lost, after) != ("undoing", "undone")
]


@pytest.mark.parametrize(("lost", "after"), CASES)
async def test_a_damaged_line_costs_its_own_summary_and_no_other_message(tmp_path: Path, lost: str, after: str) -> None:
    world = opened(tmp_path)
    context_id = await world.filled()
    (journal,) = (tmp_path / "data" / "contexts" / context_id / "journal").iterdir()
    if lost == "undoing":
        await world.runtime.compression.compress(context_id)
    start = journal.stat().st_size
    await (world.runtime.compression.compress if lost == "compression" else world.runtime.compression.undo)(context_id)
    await AFTER[after](world, context_id)
    live = await live_context(world.runtime, context_id)
    message_ids = {each for name in live.branches for each in await world.ids(context_id, name)}
    abandon(file_store(world.dependencies.store))
    data = bytearray(journal.read_bytes())
    data[start + 20] ^= 1
    journal.write_bytes(data)

    world = opened(tmp_path, ids_from=10**6)
    live = await live_context(world.runtime, context_id)
    ids_by_branch = {name: await world.ids(context_id, name) for name in live.branches}
    left = message_ids - {each for ids in ids_by_branch.values() for each in ids}
    assert len(left) <= 1, "at most the summary of that line"
    assert all(len(ids) == len(set(ids)) for ids in ids_by_branch.values())
    await world.turn(context_id, "go on")
    world.check_requests()
    await world.runtime.close()
