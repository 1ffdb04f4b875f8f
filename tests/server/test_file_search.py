"""Files by some letters of their path, over the HTTP API: their order, omitted files, and that a search
blocks nobody."""

import asyncio
import os
import threading
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from pilothouse.client import Client
from pilothouse.client.http_client import ServerError
from pilothouse.sandbox.workspace import Workspace
from pilothouse.testing.served import Served
from pilothouse.testing.world import World
from pilothouse.tools import file_index
from pilothouse.tools.file_index import FileIndex, Listing, list_workspace
from tests.support.live_contexts import pool_of

LATER = 60.0


class SearchedWorkspace:
    """A context, and the search results in its workspace."""

    def __init__(self, world: World, client: Client, context_id: str) -> None:
        self.world, self.client, self.context_id = world, client, context_id

    async def answer(self, query: str = "", limit: int = 20) -> Any:
        path = f"/api/contexts/{self.context_id}/files?query={quote(query)}&limit={limit}"
        return await self.client.request("GET", path)

    async def paths(self, query: str = "", limit: int = 20) -> list[str]:
        return [each["path"] for each in (await self.answer(query, limit))["items"]]


@asynccontextmanager
async def searched_workspace(folder: Path, **parts: Any) -> AsyncIterator[SearchedWorkspace]:
    world = World(folder, **parts)
    async with world.runtime, Served(world.runtime, [folder]) as served, served.client() as client:
        yield SearchedWorkspace(world, client, await world.start())


def plant(root: Path, *paths: str) -> None:
    for name in paths:
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).touch()


async def test_better_matches_come_first_whatever_their_case(tmp_path: Path) -> None:
    plant(tmp_path, "src/Main.py", "src/domain.py", "main/other.txt", "m/a/i/n.md", "unlike.txt", "src/maintain.py")
    async with searched_workspace(tmp_path) as here:
        paths = await here.paths("MAIN")
        assert paths == ["main", "src/Main.py", "src/maintain.py", "src/domain.py", "main/other.txt", "m/a/i/n.md"]
        assert await here.paths("src/ma") == ["src/Main.py", "src/maintain.py", "src/domain.py"]
        assert await here.paths("smpy") == ["src/Main.py", "src/domain.py", "src/maintain.py"]
        assert await here.paths("main", limit=2) == paths[:2]
        assert await here.paths("nothing like it") == []


async def test_folders_are_marked_and_an_empty_query_lists_the_nearest_files(tmp_path: Path) -> None:
    plant(tmp_path, "a/b/deep.txt", "top.txt")
    async with searched_workspace(tmp_path) as here:
        answer = await here.answer()
        assert answer == {
            "items": [
                {"path": "a", "is_folder": True},
                {"path": "top.txt", "is_folder": False},
                {"path": "a/b", "is_folder": True},
                {"path": "a/b/deep.txt", "is_folder": False},
            ],
            "is_cut": False,
        }
        assert await here.paths("a/") == ["a", "a/b", "a/b/deep.txt"]


async def test_ignored_protected_and_dependency_files_are_never_listed(tmp_path: Path) -> None:
    plant(tmp_path, "kept.txt", "secret/key.txt", "build/out.txt", "node_modules/m/kept.txt", ".git/kept.txt")
    (tmp_path / ".gitignore").write_text("build/\n*.log\n")
    plant(tmp_path, "kept.log")
    async with searched_workspace(tmp_path, private_folders=[tmp_path / "secret"]) as here:
        assert sorted(await here.paths("e", limit=200)) == [".gitignore", "kept.txt"]


async def test_links_lead_nowhere_outside_and_odd_names_break_nothing(tmp_path: Path) -> None:
    root = tmp_path / "root"
    plant(root, "own/file.txt", "nämé 文件.txt")
    plant(tmp_path, "outside/hidden.txt")
    (root / "out").symlink_to(tmp_path / "outside")
    (root / "file-out").symlink_to(tmp_path / "outside/hidden.txt")
    (root / "gone").symlink_to(root / "nothing")
    (root / "in").symlink_to(root / "own")
    (root / "round").symlink_to(root)
    os.mkfifo(root / "pipe")
    with open(os.path.join(os.fsencode(root), b"bad-\xff.txt"), "w"):
        pass
    async with searched_workspace(root) as here:
        answer = await here.answer(limit=200)
        folders = {each["path"]: each["is_folder"] for each in answer["items"]}
        names = {"own/file.txt": False, "nämé 文件.txt": False, "bad-\\xff.txt": False}
        assert folders == {"own": True, "in": True, "round": True, **names}
        assert await here.paths("文件") == ["nämé 文件.txt"]


@pytest.mark.parametrize("query", ["[", "^", "]-", "\\", "(a+)+$", "a" * 200, ".*", "\n", "İ", "\U0001f600"])
async def test_a_query_is_matched_literally(tmp_path: Path, query: str) -> None:
    plant(tmp_path, "a" * 100, "plain.txt", f"x{query[:20]}.txt".replace("/", ""))
    async with searched_workspace(tmp_path) as here:
        paths = await here.paths(query)
        assert (f"x{query}.txt" in paths) == (len(query) <= 20)


async def test_a_new_file_is_found_soon_and_concurrent_queries_share_one_walk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    looked, look = list[int](), list_workspace

    def counted(workspace: Workspace, stopped: Callable[[], bool]) -> Listing:
        looked.append(1)
        return look(workspace, stopped)

    monkeypatch.setattr(file_index, "list_workspace", counted)
    plant(tmp_path, "one.txt")
    async with searched_workspace(tmp_path) as here:
        assert await asyncio.gather(*[here.paths("one") for _ in range(10)]) == [["one.txt"]] * 10
        assert len(looked) == 1
        plant(tmp_path, "one-more.txt")
        here.world.ambient.advance(LATER)
        assert await here.paths("one") == ["one.txt", "one-more.txt"]


async def test_other_requests_are_answered_during_a_walk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    begun, gate, look = threading.Event(), threading.Event(), file_index.list_workspace

    def held(*args: Any) -> Any:
        begun.set()
        gate.wait()
        return look(*args)

    monkeypatch.setattr(file_index, "list_workspace", held)
    plant(tmp_path, "one.txt")
    async with searched_workspace(tmp_path) as here:
        task = asyncio.create_task(here.paths("one"))
        await asyncio.to_thread(begun.wait)
        assert (await here.client.request("GET", "/api/health"))["status"] == "ok"
        assert not task.done()
        gate.set()
        assert await task == ["one.txt"]


async def test_a_slow_walk_through_one_workspace_delays_no_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun, gate, look = threading.Event(), threading.Event(), file_index.list_workspace

    def held(workspace: Workspace, stopped: Any) -> Any:
        if workspace.root.name == "slow":
            begun.set()
            gate.wait()
        return look(workspace, stopped)

    monkeypatch.setattr(file_index, "list_workspace", held)
    names = [f"quick{number}" for number in range(file_index.MAX_LISTINGS + 4)]
    for name in ("slow", *names):
        plant(tmp_path, f"{name}/of-{name}.txt")
    async with searched_workspace(tmp_path) as here:
        runtime = here.world.runtime
        ids = {name: await runtime.contexts.create(tmp_path / name) for name in ("slow", *names)}
        task = asyncio.create_task(runtime.workspaces.find_files(ids["slow"], "of"))
        await asyncio.to_thread(begun.wait)
        for _ in range(2):
            for name in names:
                assert [each.path for each in (await runtime.workspaces.find_files(ids[name], "of")).items] == [
                    f"of-{name}.txt"
                ]
        assert not task.done()
        assert len(pool_of(runtime).file_index._listings) <= file_index.MAX_LISTINGS + 1
        gate.set()
        assert [each.path for each in (await task).items] == ["of-slow.txt"]


async def test_a_walk_ends_when_its_last_waiter_is_cancelled(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    begun, unwanted, look = threading.Event(), threading.Event(), file_index.list_workspace
    walks = []

    def held(workspace: Workspace, stopped: Callable[[], bool]) -> Any:
        walks.append(workspace)
        if len(walks) == 1:
            begun.set()
            while not stopped():
                pass
            unwanted.set()
        return look(workspace, stopped)

    monkeypatch.setattr(file_index, "list_workspace", held)
    plant(tmp_path, "one.txt")
    async with searched_workspace(tmp_path) as here:
        runtime = here.world.runtime
        task = [asyncio.create_task(runtime.workspaces.find_files(here.context_id, "one")) for _ in range(2)]
        await asyncio.to_thread(begun.wait)
        task[0].cancel()
        await asyncio.wait({task[0]})
        assert not unwanted.is_set()
        task[1].cancel()
        await asyncio.to_thread(unwanted.wait)
        assert len(walks) == 1
        assert await here.paths("one") == ["one.txt"]


async def test_a_walk_that_takes_too_long_is_cut_and_marked_as_cut(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(50):
        plant(tmp_path, f"{number}/file.txt")
    async with searched_workspace(tmp_path) as here:
        clock = iter(range(10_000))
        monkeypatch.setattr(pool_of(here.world.runtime), "file_index", FileIndex(lambda: float(next(clock))))
        answer = await here.answer(limit=200)
        assert answer["is_cut"]
        assert len(answer["items"]) < 100


async def test_the_memory_for_long_paths_is_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(file_index, "_MAX_TOTAL_CHARACTERS", 2000)
    plant(tmp_path, "near.txt", *(f"{'d' * 200}/{'e' * 200}/{number}.txt" for number in range(50)))
    async with searched_workspace(tmp_path) as here:
        answer = await here.answer(limit=200)
        assert answer["is_cut"]
        assert sum(len(each["path"]) for each in answer["items"]) <= 2000
        assert await here.paths("near") == ["near.txt"]


async def test_a_missing_workspace_is_reported(tmp_path: Path) -> None:
    root = tmp_path / "root"
    root.mkdir()
    async with searched_workspace(root) as here:
        root.rmdir()
        with pytest.raises(ServerError) as caught:
            await here.answer()
        assert (caught.value.problem.status, caught.value.problem.code) == (422, "invalid_workspace")
