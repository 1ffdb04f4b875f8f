"""Contexts and their sub-agents as one thing: deleted together or not at all, counted once, never left behind."""

import asyncio
import json
from pathlib import Path

import pytest

from pilothouse.domain.contexts import ALL_CONTEXTS, ContextQuery, ContextSummary
from pilothouse.domain.errors import Conflict, NotFound
from pilothouse.llm.script import Answer, ScriptedCall
from pilothouse.storage.files.store import FileStore
from pilothouse.storage.memory import MemoryStore
from pilothouse.testing.world import World
from tests.support.held_store import settle

AT = "2026-01-01T00:00:00.000Z"
CALL = Answer(calls=(ScriptedCall(tool="change", arguments={"text": "x"}),))


def files(path: Path) -> FileStore:
    return FileStore(path / "data", now=lambda: AT)


def change_metadata(path: Path, context_id: str, **fields: object) -> None:
    file = path / "data/contexts" / context_id / "metadata.json"
    file.write_text(json.dumps({**json.loads(file.read_text()), **fields}))


async def test_a_refused_deletion_deletes_no_sub_agent(tmp_path: Path) -> None:
    world = World(tmp_path, CALL)
    context_id = await world.start("supervised")
    child = await world.runtime.contexts.create(tmp_path, parent=context_id)
    await world.turn(context_id)
    with pytest.raises(Conflict, match="isn't finished"):
        await world.runtime.contexts.delete(context_id)
    assert {summary.context_id for summary in await world.dependencies.store.contexts()} == {context_id, child}
    await world.runtime.turns.cancel(context_id)
    await world.runtime.contexts.delete(context_id)
    assert await world.dependencies.store.contexts() == []


class HeldListingStore(MemoryStore):
    """While `holding`, a listing waits for `release` and returns the earlier contexts."""

    def __init__(self) -> None:
        super().__init__()
        self.holding = False
        self.listed = asyncio.Event()
        self.release = asyncio.Event()

    async def contexts(self, query: ContextQuery = ALL_CONTEXTS) -> list[ContextSummary]:
        summaries = await super().contexts(query)
        if self.holding:
            self.listed.set()
            await self.release.wait()
        return summaries


async def test_a_sub_agent_created_during_its_parents_deletion_is_deleted_too(tmp_path: Path) -> None:
    store = HeldListingStore()
    world = World(tmp_path, store=store)
    context_id = await world.start()
    store.holding = True
    deleting = asyncio.create_task(world.runtime.contexts.delete(context_id))
    await store.listed.wait()
    making = asyncio.create_task(world.runtime.contexts.create(tmp_path, parent=context_id))
    await settle()
    store.holding = False
    store.release.set()
    await asyncio.gather(deleting, making, return_exceptions=True)
    left = {summary.context_id: summary.parent for summary in await store.contexts()}
    assert [parent for parent in left.values() if parent is not None and parent not in left] == []


async def test_no_sub_agent_is_created_for_a_deleted_parent(tmp_path: Path) -> None:
    world = World(tmp_path)
    context_id = await world.start()
    await world.runtime.contexts.delete(context_id)
    with pytest.raises(NotFound):
        await world.runtime.contexts.create(tmp_path, parent=context_id)
    assert await world.dependencies.store.contexts() == []


async def test_a_cycle_of_parents_is_counted_once_and_can_be_deleted(tmp_path: Path) -> None:
    world = World(tmp_path, store=files(tmp_path))
    await world.runtime.contexts.create(tmp_path, context_id="one")
    await world.runtime.contexts.create(tmp_path, context_id="two", parent="one")
    await world.runtime.close()
    used = {"input_tokens": 3}
    change_metadata(tmp_path, "one", parent="two", usage=used)
    change_metadata(tmp_path, "two", usage=used)
    world = World(tmp_path, store=files(tmp_path), ids_from=1000)
    totals = await world.runtime.contexts.usage("one")
    assert (totals.own.input_tokens, totals.total.input_tokens) == (3, 6)
    await world.runtime.contexts.delete("one")
    assert await world.dependencies.store.contexts() == []
    await world.runtime.close()


async def test_a_sub_agent_that_cannot_be_read_does_not_keep_the_others_from_being_deleted(tmp_path: Path) -> None:
    world = World(tmp_path, store=files(tmp_path))
    await world.runtime.contexts.create(tmp_path, context_id="sender")
    for name in ("newer", "whole"):
        await world.runtime.contexts.create(tmp_path, context_id=name, parent="sender")
    await world.runtime.close()
    change_metadata(tmp_path, "newer", format=99)
    world = World(tmp_path, store=files(tmp_path), ids_from=1000)
    await world.runtime.contexts.delete("sender")
    (left,) = (await world.runtime.contexts.list()).items
    assert left.context_id == "newer"
    assert left.damage is not None, "it is left alone, and listed"
    await world.runtime.close()
