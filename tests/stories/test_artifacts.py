"""A conversation has one folder: whole outputs and undo data are in it, move with it and are deleted with it."""

import logging
import os
import shutil
import time
from pathlib import Path

import pytest

from pilothouse.domain.states import Idle
from pilothouse.domain.value import MessageId
from pilothouse.storage.files import migration
from pilothouse.storage.files.store import FileStore
from pilothouse.testing.world import World
from tests.support.live_contexts import live_context
from tests.support.mcp_tools import DONE, NOW, answer_with_calls, runs, world_with_tools, writes

LONG = "seq 1 20000"


async def turn(world: World, context_id: str) -> None:
    await world.turn(context_id, "go")
    assert isinstance((await world.runtime.contexts.get(context_id)).state, Idle)


async def results(world: World, context_id: str) -> list[str]:
    calls = (await world.runtime.calls.read(context_id)).items
    messages = await world.runtime.messages.read(context_id, ids=[call.result_id or MessageId("") for call in calls])
    return [getattr(message, "content", "") for message in messages]


def output_name(result: str) -> str:
    """The path that a cut result names."""
    return result.split(" is in ", 1)[1].split(":", 1)[0]


async def test_a_copied_folder_brings_its_whole_outputs_and_its_undo_data(tmp_path: Path) -> None:
    old, new = tmp_path / "old", tmp_path / "new"
    for folder in (old, new):
        folder.mkdir()
    workspace = tmp_path / "project"
    world = world_with_tools(old, writes("a.txt", "two"), runs(LONG), DONE, workspace=workspace)
    (workspace / "a.txt").write_text("one")
    async with world.runtime:
        context_id = await world.start()
        await turn(world, context_id)
        name = output_name((await results(world, context_id))[-1])
    shutil.copytree(old / "data" / "contexts" / context_id, new / "data" / "contexts" / context_id)
    shutil.rmtree(old)

    read = answer_with_calls(("read_file", {"path": name, "start_line": 12_000, "end_line": 12_000}))
    again = world_with_tools(new, read, DONE, workspace=workspace, ids_from=1000)
    async with again.runtime:
        await turn(again, context_id)
        assert (await results(again, context_id))[-1] == "12000\n"
        assert list((await again.runtime.workspaces.undo(context_id)).paths) == ["a.txt"]
        assert (workspace / "a.txt").read_text() == "one"


async def test_files_of_an_earlier_version_move_into_the_folder_of_their_conversation(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.WARNING, "pilothouse")
    world = world_with_tools(tmp_path, writes("a.txt", "two"), runs(LONG), DONE)
    (world.workspace / "a.txt").write_text("one")
    async with world.runtime:
        context_id = await world.start()
        await turn(world, context_id)
        name = Path(output_name((await results(world, context_id))[-1])).name
    data = tmp_path / "data"
    former = data / "kept" / context_id
    former.parent.mkdir()
    (data / "contexts" / context_id / "artifacts").rename(former)
    for path in ("snapshots/0123456789abcdef.git/objects/aa/bb", "of-a-deleted-conversation/before/cc"):
        (former.parent / path).parent.mkdir(parents=True)
        (former.parent / path).write_bytes(bytes(1_500_000))

    # A stored result of that time names the whole path.
    read = answer_with_calls(("read_file", {"path": str(former / "outputs" / name), "start_line": 3, "end_line": 3}))
    again = world_with_tools(tmp_path, read, DONE, ids_from=1000)
    assert ["pilothouse clean" in record.getMessage() for record in caplog.records] == [True], "told at the start, once"
    async with again.runtime:
        await turn(again, context_id)
        assert (await results(again, context_id))[-1] == "3\n"
        assert list((await again.runtime.workspaces.undo(context_id)).paths) == ["a.txt"]
        assert (again.workspace / "a.txt").read_text() == "one"
    assert [path.name for path in data.iterdir() if "kept" in path.name or "snapshots" in path.name] == []


async def test_the_name_of_whole_outputs_does_not_hide_a_folder_of_the_workspace(tmp_path: Path) -> None:
    own = answer_with_calls(("read_file", {"path": "outputs/model.txt"}), ("list_directory", {"path": "outputs"}))
    world = world_with_tools(tmp_path, runs(LONG), own, writes("outputs/new.txt", "new"), DONE)
    (world.workspace / "outputs").mkdir()
    (world.workspace / "outputs" / "model.txt").write_text("weights")
    async with world.runtime:
        context_id = await world.start()
        await turn(world, context_id)
        _, read, listed, _ = await results(world, context_id)
    assert (read, listed) == ("weights", "model.txt")
    assert (world.workspace / "outputs" / "new.txt").read_text() == "new"


async def test_whole_outputs_cannot_be_written(tmp_path: Path) -> None:
    world = world_with_tools(tmp_path, runs(LONG), DONE)
    async with world.runtime:
        context_id = await world.start()
        await turn(world, context_id)
        name = output_name((await results(world, context_id))[-1])
        workspace = (await live_context(world.runtime, context_id)).files.workspace()
        for path in (name, str(world.workspace / name), str(workspace.readable()[-1]) + "/" + Path(name).name):
            limit = workspace.violation(path, writing=True)
            assert limit is not None, path
            assert workspace.violation(path) is None, path


def snapshots_of_an_earlier_version(data: Path, count: int) -> Path:
    objects = data / "kept" / "snapshots" / "0123456789abcdef.git" / "objects"
    for number in range(count):
        path = objects / f"{number % 50:02x}" / str(number)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"x")
    return data / ".deleted-snapshots"


def file_count(folder: Path) -> int:
    return sum(len(names) for _, _, names in os.walk(folder))


async def test_programs_that_run_shortly_remove_old_snapshots_part_by_part_and_say_so_once(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    caplog.set_level(logging.WARNING, "pilothouse")
    remove_entry = migration.SnapshotRemoval._remove_entry

    def remove_slowly(removal: migration.SnapshotRemoval, name: str, folder_fd: int) -> None:
        time.sleep(0.001)
        remove_entry(removal, name, folder_fd)

    monkeypatch.setattr(migration.SnapshotRemoval, "_remove_entry", remove_slowly)
    monkeypatch.setattr(migration, "REMOVAL_SECONDS_AT_CLOSE", 0.1)
    await FileStore(tmp_path, now=lambda: NOW).close()
    obsolete = snapshots_of_an_earlier_version(tmp_path, 1000)
    await FileStore(tmp_path, now=lambda: NOW).close()
    assert file_count(obsolete) > 0, "the end of a program waits for a part only"
    for _ in range(1000):
        if not obsolete.exists():
            break
        await FileStore(tmp_path, now=lambda: NOW).close()
    assert not obsolete.exists()
    (message,) = [record.getMessage() for record in caplog.records]
    assert "pilothouse clean" in message


async def test_a_kept_folder_of_one_s_own_stays(tmp_path: Path) -> None:
    for path in ("note.txt", "photos/1.jpg", "snapshots/summer/2.jpg", "my photos/before/3.jpg"):
        (tmp_path / "kept" / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "kept" / path).write_text("x")
    before = sorted((tmp_path / "kept").rglob("*"))
    for _ in range(2):
        await FileStore(tmp_path, now=lambda: NOW).close()
    assert sorted((tmp_path / "kept").rglob("*")) == before
