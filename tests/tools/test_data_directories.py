"""No tool looks into a data directory, ours or another Pilothouse's, in any place."""

from pathlib import Path

import pytest

from pilothouse.domain.codes import Code
from pilothouse.domain.value import MessageId
from pilothouse.llm.script import Answer
from pilothouse.storage.files.store import FileStore
from pilothouse.testing.world import World
from tests.support.mcp_tools import DONE, NOW, answer_with_calls, runs, world_with_tools

SECRET = "conversation"


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A workspace that holds the runtime's own data directory, and one of another runtime."""
    other = tmp_path / "workspace" / "backup" / "pilothouse"
    other.mkdir(parents=True)
    FileStore(other, now=lambda: NOW)
    (other / "contexts" / "one").mkdir()
    (other / "contexts" / "one" / "metadata.json").write_text(SECRET)
    (tmp_path / "workspace" / "mine.txt").write_text(SECRET)
    return tmp_path


async def results(world: World, context_id: str) -> list[str]:
    calls = (await world.runtime.calls.read(context_id)).items
    messages = await world.runtime.messages.read(context_id, ids=[call.result_id or MessageId("") for call in calls])
    return [getattr(message, "content", "") for message in messages]


def inside(home: Path, *answers: Answer) -> World:
    """A world whose data directory is in its workspace."""
    return world_with_tools(home / "workspace", *answers, workspace=home / "workspace")


@pytest.mark.parametrize(
    ("tool", "arguments", "expected"),
    [
        ("grep", {"pattern": SECRET}, "mine.txt:1: conversation"),
        ("grep", {"pattern": SECRET, "path": "backup"}, "No matches."),
        ("glob", {"pattern": "**/metadata.json"}, "No files match."),
        ("list_directory", {"path": ".", "depth": 5}, "backup/\nbackup/pilothouse/\nmine.txt"),
    ],
)
async def test_search_tools_skip_data_directories(
    home: Path, tool: str, arguments: dict[str, object], expected: str
) -> None:
    world = inside(home, answer_with_calls((tool, arguments)), DONE)
    async with world.runtime:
        context_id = await world.start()
        await world.turn(context_id)
        (result,) = await results(world, context_id)
    assert result.split("\n[")[0] == expected


async def test_the_file_finder_and_the_overview_skip_data_directories(home: Path) -> None:
    world = inside(home, DONE)
    async with world.runtime:
        context_id = await world.start()
        await world.turn(context_id)
        listing = await world.runtime.workspaces.find_files(context_id, "metadata", 50)
        assert [file.path for file in listing.items] == []
        every = await world.runtime.workspaces.find_files(context_id, "", 50)
        assert not any("contexts" in file.path for file in every.items)


@pytest.mark.parametrize("path", ["backup/pilothouse/contexts/one/metadata.json", "data/lock"])
async def test_a_file_in_a_data_directory_cannot_be_read(home: Path, path: str) -> None:
    world = inside(home, answer_with_calls(("read_file", {"path": path})), DONE)
    async with world.runtime:
        context_id = await world.start()
        await world.turn(context_id)
        (call,) = (await world.runtime.calls.read(context_id)).items
        assert (call.status, call.reason and call.reason.code) == ("denied", Code.PROTECTED_PATH)


def size_of(folder: Path) -> int:
    return sum(path.lstat().st_size for path in folder.rglob("*") if path.is_file())


async def test_undo_keeps_no_copy_of_data_directories_and_does_not_grow_with_commands(home: Path) -> None:
    (home / "workspace" / "large.bin").write_bytes(bytes(3_000_000))
    world = inside(home, *[answer for _ in range(15) for answer in (runs("echo hello"), DONE)])
    data = home / "workspace" / "data"
    sizes = []
    async with world.runtime:
        context_id = await world.start()
        for _ in range(15):
            await world.turn(context_id)
            sizes.append(size_of(data / "cache"))
        assert sizes[0] < 4_000_000
        assert sizes[-1] - sizes[0] < 100_000, sizes
        contents = b"".join(path.read_bytes() for path in (data / "cache").rglob("contents"))
        assert contents.count(SECRET.encode()) == 1, "the workspace's own file, not the other runtime's"
