"""The keys of requests that were taken: the same request gets the same answer, whatever has happened to the files."""

import shutil
from pathlib import Path

import pytest

from pilothouse.domain.codes import Code
from pilothouse.domain.contexts import Change, SentKey
from pilothouse.domain.errors import InvalidInput, StoreError
from pilothouse.llm.script import Answer
from pilothouse.storage.base import FENCE
from pilothouse.storage.files.store import FileStore
from pilothouse.testing.disk import FaultyDisk
from pilothouse.testing.world import World
from tests.storage.test_contract import AT, ID, append, core, first, text


def files(path: Path, disk: FaultyDisk | None = None) -> FileStore:
    return FileStore(path / "data", now=lambda: AT, disk=disk)


def world_on(path: Path, store: FileStore, *, ids_from: int = 0) -> World:
    return World(path, *(Answer(text=str(number)) for number in range(9)), store=store, ids_from=ids_from)


def sent(key: str, body: str = "body") -> SentKey:
    return SentKey(key=key, body=body, message_id=text(1).id, at=AT)


async def pay(world: World, context_id: str, key: str = "k1") -> object:
    answer = await world.runtime.messages.send(context_id, "pay", key=key)
    await world.runtime.turns.rested(context_id)
    return answer


async def test_a_key_that_was_replayed_from_the_journal_is_known_after_the_next_checkpoint(tmp_path: Path) -> None:
    store = files(tmp_path / "killed")
    world = world_on(tmp_path, store)
    context_id = await world.start()
    answer = await pay(world, context_id)
    shutil.copytree(tmp_path / "killed/data/contexts", tmp_path / "left/data/contexts")
    await world.runtime.close()
    store = files(tmp_path / "left")
    world = world_on(tmp_path, store, ids_from=10**6)
    assert await pay(world, context_id) == answer
    await world.turn(context_id, "something else")
    await store.checkpoint(context_id)
    assert await pay(world, context_id) == answer
    assert len(await store.sent_keys(context_id)) == 1
    await world.runtime.close()


async def test_keys_looked_up_before_a_checkpoint_are_known_after_it_with_later_ones(
    tmp_path: Path,
) -> None:
    store = files(tmp_path)
    await store.create(first())
    version = 1
    for number in range(6):
        version = await store.commit(ID, Change(core=core(), keys=(sent(f"k{number}"),)), expected=version, fence=FENCE)
        assert [await store.sent_key(ID, f"k{each}") for each in range(number + 1)] == [
            sent(f"k{each}") for each in range(number + 1)
        ]
        assert await store.sent_key(ID, f"k{number + 1}") is None
        if number % 2:
            await store.checkpoint(ID)
    assert [each.key for each in await store.sent_keys(ID)] == [f"k{number}" for number in range(6)]
    await store.close()


async def test_a_key_is_known_after_a_failed_sync_a_reopening_and_a_checkpoint(tmp_path: Path) -> None:
    disk = FaultyDisk()
    store = files(tmp_path, disk)
    world = world_on(tmp_path, store)
    context_id = await world.start()
    answer = await pay(world, context_id)
    disk.arm(2, "EIO")
    with pytest.raises(StoreError):
        await world.runtime.contexts.change(context_id, title="refused")
    disk.disarm()
    await world.runtime.contexts.change(context_id, title="taken")
    assert await pay(world, context_id) == answer
    await store.checkpoint(context_id)
    assert await pay(world, context_id) == answer
    await world.runtime.close()


async def test_a_key_whose_commit_was_refused_is_not_known(tmp_path: Path) -> None:
    disk = FaultyDisk()
    store = files(tmp_path, disk)
    await store.create(first())
    assert await store.sent_key(ID, "k1") is None
    disk.arm(1, "ENOSPC", lasting=True)
    with pytest.raises(StoreError):
        await store.commit(ID, Change(core=core(), keys=(sent("k1"),)), expected=1, fence=FENCE)
    disk.disarm()
    assert await store.sent_key(ID, "k1") is None
    await store.close()


@pytest.mark.parametrize("torn", [b"", b'{"key":"half a li'], ids=["whole", "torn"])
async def test_keys_survive_lost_metadata_and_are_not_overwritten(tmp_path: Path, torn: bytes) -> None:
    world = world_on(tmp_path, files(tmp_path))
    context_id = await world.start()
    answers = {key: await pay(world, context_id, key) for key in ("k1", "k2")}
    await world.runtime.close()
    folder = tmp_path / "data/contexts" / context_id
    metadata = folder / "metadata.json"
    metadata.write_bytes(metadata.read_bytes()[:100])
    with (folder / "keys.jsonl").open("ab") as file:
        file.write(torn)
    for attempt in range(1, 3):
        world = world_on(tmp_path, files(tmp_path), ids_from=10**6 * attempt)
        assert {key: await pay(world, context_id, key) for key in answers} == answers
        answers[f"new {attempt}"] = await pay(world, context_id, f"new {attempt}")
        await world.runtime.close()
    world = world_on(tmp_path, files(tmp_path), ids_from=10**7)
    assert {key: await pay(world, context_id, key) for key in answers} == answers
    await world.runtime.close()


async def test_metadata_lost_after_half_a_checkpoint_loses_no_key(tmp_path: Path) -> None:
    store = files(tmp_path)
    await store.create(first())
    await store.commit(ID, append(text(1)), expected=1, fence=FENCE)
    await store.commit(ID, Change(core=core(), keys=(sent("old"),)), expected=2, fence=FENCE)
    await store.checkpoint(ID)
    await store.commit(ID, Change(core=core(), keys=(sent("new"),)), expected=3, fence=FENCE)
    folder = tmp_path / "data/contexts" / ID
    journal = {path: path.read_bytes() for path in (folder / "journal").iterdir()}
    await store.close()
    for path, data in journal.items():
        path.write_bytes(data)
    (folder / "metadata.json").write_bytes(b"damaged")
    for _ in range(2):
        store = files(tmp_path)
        assert [await store.sent_key(ID, key) for key in ("old", "new")] == [sent("old"), sent("new")]
        await store.close()


async def test_an_imported_key_is_known_before_and_after_the_first_checkpoint(tmp_path: Path) -> None:
    world = world_on(tmp_path, files(tmp_path / "one"))
    context_id = await world.start()
    answer = await pay(world, context_id)
    data = b"".join([piece async for piece in world.runtime.exports.create(context_id)])
    await world.runtime.close()
    store = files(tmp_path / "other")
    world = world_on(tmp_path, store, ids_from=10**6)
    await world.runtime.imports.create(data)
    assert await pay(world, context_id) == answer
    await store.checkpoint(context_id)
    assert await pay(world, context_id) == answer
    await world.runtime.close()
    world = world_on(tmp_path, files(tmp_path / "other"), ids_from=10**7)
    assert await pay(world, context_id) == answer
    with pytest.raises(InvalidInput) as caught:
        await world.runtime.messages.send(context_id, "pay twice", key="k1")
    assert caught.value.reason.code is Code.KEY_REUSED
    await world.runtime.close()
