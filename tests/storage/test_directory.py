"""The data directory as a whole: contexts being made, listed and closed while other things happen or go wrong."""

import asyncio
import os
import shutil
import threading
import tracemalloc
from pathlib import Path

import pytest

from pilothouse.domain.contexts import Change
from pilothouse.domain.errors import Conflict, StoreError
from pilothouse.domain.messages import Text
from pilothouse.domain.states import Idle
from pilothouse.domain.value import ContextId, MessageId
from pilothouse.llm.script import Answer, ScriptedCall
from pilothouse.storage.base import FENCE
from pilothouse.storage.files import recovery
from pilothouse.storage.files.disk import Disk
from pilothouse.storage.files.journal import segments
from pilothouse.storage.files.regular_files import read_regular_file
from pilothouse.storage.files.store import FileStore
from pilothouse.testing.world import World
from tests.storage.test_contract import AT, ID, append, core, first, text
from tests.storage.test_file_store import abandon
from tests.storage.test_users import ForgetfulDisk
from tests.support.assertions import content_of
from tests.support.held_disk import HeldDisk


def files(path: Path, disk: Disk | None = None) -> FileStore:
    return FileStore(path / "data", now=lambda: AT, disk=disk)


async def test_a_checkpoint_that_raises_never_keeps_the_directory_from_the_next_process(tmp_path: Path) -> None:
    before = len(os.listdir("/proc/self/fd"))
    store = files(tmp_path)
    await store.create(first())
    await store.create(Change(core=core(context_id="other", title="still here")))
    await store.user_log("local")
    unsafe = Text(id=MessageId("../../evil"), timestamp=AT, role="user", content="x")
    await store.commit(ID, append(unsafe), expected=1, fence=FENCE)
    with pytest.raises(ValueError, match="is no id"):
        await store.close()
    await store.close()
    assert len(os.listdir("/proc/self/fd")) <= before
    store = files(tmp_path)
    assert (await store.open(ContextId("other"))).core.title == "still here"
    assert (await store.open(ID)).version == 2
    abandon(store)


async def test_a_context_whose_creator_was_cancelled_is_created_once_and_whole(tmp_path: Path) -> None:
    disk = HeldDisk()
    world = World(tmp_path, Answer(text="here"), store=files(tmp_path, disk))
    disk.holding = True
    one = asyncio.create_task(world.runtime.contexts.create(tmp_path, context_id="x"))
    await disk.reached()
    one.cancel()
    other = asyncio.create_task(world.runtime.contexts.create(tmp_path, context_id="x"))
    await asyncio.sleep(0)
    disk.release.set()
    results = await asyncio.gather(one, other, return_exceptions=True)
    assert [type(each) for each in results] == [asyncio.CancelledError, Conflict]
    assert len(list((tmp_path / "data/contexts/x/journal").iterdir())) == 1
    await world.turn("x")
    await world.runtime.close()
    world = World(tmp_path, store=files(tmp_path), ids_from=1000)
    assert content_of((await world.runtime.messages.read("x"))[-1]) == "here"
    await world.runtime.close()


async def test_a_context_that_is_written_out_while_the_list_is_read_is_not_listed_as_damaged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = files(tmp_path / "killed")
    world = World(tmp_path, Answer(text="1"), store=store)
    context_id = await world.start()
    await world.turn(context_id, "the title")
    shutil.copytree(tmp_path / "killed/data/contexts", tmp_path / "left/data/contexts")
    await world.runtime.close()
    store = files(tmp_path / "left")
    world = World(tmp_path, Answer(text="2"), store=store, ids_from=1000)
    reached, release, loop = asyncio.Event(), threading.Event(), asyncio.get_running_loop()
    real, calls = segments, list[Path]()

    def held(folder: Path) -> list[Path]:
        entries = real(folder)
        calls.append(folder)
        if len(calls) == 1:
            loop.call_soon_threadsafe(reached.set)
            release.wait(30)
        return entries

    monkeypatch.setattr(recovery, "segments", held)
    listing = asyncio.create_task(world.runtime.contexts.list())
    await reached.wait()
    await world.turn(context_id)
    await store.checkpoint(context_id)
    release.set()
    assert [(summary.title, summary.damage) for summary in (await listing).items] == [("the title", None)]
    await world.runtime.close()


async def test_the_folder_of_the_blobs_is_synced_before_a_blob_in_it_is_acknowledged(tmp_path: Path) -> None:
    disk = ForgetfulDisk("nothing yet")
    store = files(tmp_path, disk)
    await store.create(first())
    large = text(1, "y" * 100_000)
    disk.failing = ID
    with pytest.raises(StoreError):
        await store.commit(ID, append(large), expected=1, fence=FENCE)
    assert disk.failing is None
    await store.commit(ID, append(large), expected=1, fence=FENCE)
    assert ID in disk.synced
    assert await store.messages(ID, [large.id]) == [large]
    await store.close()


async def test_a_queued_message_that_cannot_be_read_is_held_and_not_written_over(tmp_path: Path) -> None:
    call = Answer(calls=(ScriptedCall(tool="change", arguments={"text": "x"}),))
    world = World(tmp_path, call, store=files(tmp_path))
    context_id = await world.start("supervised")
    await world.turn(context_id)
    queued = await world.runtime.messages.send(context_id, "important words", queue=True)
    await world.runtime.close()
    path = tmp_path / "data/contexts" / context_id / "messages_pool" / f"{queued.message_id}.json"
    damaged = bytearray(path.read_bytes())
    damaged[0] ^= 1
    path.write_bytes(damaged)
    world = World(tmp_path, Answer(text="done"), store=files(tmp_path), ids_from=1000)
    await world.runtime.calls.approve_all(context_id)
    live = await world.runtime.turns.rested(context_id)
    assert (live.state, len(live.core.queue)) == (Idle(), 1)
    with pytest.raises(StoreError):
        await world.runtime.turns.continue_(context_id)
    await world.runtime.close()
    assert path.read_bytes() == damaged


def test_a_small_file_is_read_without_memory_for_the_largest_allowed(tmp_path: Path) -> None:
    path = tmp_path / "small"
    path.write_bytes(b"x" * 1000)
    tracemalloc.start()
    try:
        assert read_regular_file(path, 64 * 1024 * 1024) == b"x" * 1000
        assert tracemalloc.get_traced_memory()[1] < 1024 * 1024
    finally:
        tracemalloc.stop()
