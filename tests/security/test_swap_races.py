"""A folder is swapped for a link outside, again and again, while each tool works in it. No file outside changes."""

import asyncio
import contextlib
import ctypes
import json
import os
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from pilothouse.domain.budgets import OverviewSettings
from pilothouse.domain.errors import RequestError, StoreError, ToolError
from pilothouse.domain.value import CallId
from pilothouse.sandbox import openat
from pilothouse.sandbox.workspace import Workspace
from pilothouse.storage.memory import MemoryStore
from pilothouse.testing.world import World
from pilothouse.tools.artifacts import ArtifactFolder, ArtifactStore
from pilothouse.tools.base import ToolContext, parse_arguments
from pilothouse.tools.builtin import builtin_tools
from pilothouse.tools.executor import execute
from pilothouse.tools.overview import describe_workspace
from pilothouse.tools.registry import Registry
from pilothouse.tools.uploads import MAX_UPLOADS
from tests.security.hostile_folders import tree
from tests.support.scale import HANG_SECONDS, LONG, Record

SECRET = "the secret of the outside"
NOTEBOOK = json.dumps({"cells": [{"cell_type": "code", "source": ["mine"]}], "nbformat": 4, "nbformat_minor": 4})
TOOLS = Registry(builtin_tools()).tools
PATH = "spot/deep/f"
CALLS: dict[str, dict[str, Any]] = {
    "read_file": {"path": PATH},
    "write_file": {"path": PATH, "content": "mine too"},
    "edit_file": {"path": PATH, "edits": [{"old_text": "mine", "new_text": "mine"}]},
    "notebook_edit": {"path": "spot/deep/book", "cell": 0, "source": "mine"},
    "list_directory": {"path": "spot", "depth": 3},
    "glob": {"pattern": "**", "path": "spot"},
    "grep": {"pattern": ".", "path": "spot"},
    "execute": {"command": "cat f secret new 2>/dev/null; echo mine > new", "cwd": "spot/deep"},
}
ROUNDS = dict.fromkeys(CALLS, 10_000 if LONG else 200)
# Tools that start a process each time.
ROUNDS |= {"grep": 1_000 if LONG else 20, "execute": 500 if LONG else 10}

_LIBC = ctypes.CDLL(None, use_errno=True)
_HERE, _EXCHANGE = -100, 2


class Scene:
    """A workspace with the folder `spot`, and the same names with other contents outside."""

    def __init__(self, base: Path) -> None:
        self.base, self.root, self.outside = base, base / "proj", base / "outside"
        for place, text in (("proj/kept", "mine"), ("outside", SECRET)):
            (base / place / "deep").mkdir(parents=True)
            (base / place / "deep/f").write_text(text)
            (base / place / "deep/book").write_text(NOTEBOOK.replace("mine", text))
        (self.outside / "deep/secret").write_text(SECRET)

    def swap_link(self, over: threading.Event) -> None:
        """A link that is recreated each time."""
        spot, draft = self.root / "spot", self.root / "draft"
        while not over.is_set():
            for target in (self.outside, "kept", "../outside", "kept"):
                draft.symlink_to(target)
                os.replace(draft, spot)

    def swap_folder(self, over: threading.Event) -> None:
        """A real folder and a link, exchanged in one step: one of the two is always there."""
        self._exchange(self.root / "spot", self.outside, over)

    def swap_deeper(self, over: threading.Event) -> None:
        """The same, one folder further down."""
        self._exchange(self.root / "spot/deep", self.outside / "deep", over)

    def _exchange(self, spot: Path, target: Path, over: threading.Event) -> None:
        way = self.base / "way"
        way.symlink_to(target)
        while not over.is_set():
            result = _LIBC.renameat2(_HERE, os.fsencode(spot), _HERE, os.fsencode(way), _EXCHANGE)
            assert result == 0, os.strerror(ctypes.get_errno())

    @contextlib.contextmanager
    def racing(self, how: str) -> Iterator[None]:
        if how == "link":
            (self.root / "spot").symlink_to("kept")
        else:
            (self.root / "kept").rename(self.root / "spot")
        over = threading.Event()
        racer = threading.Thread(target=getattr(self, f"swap_{how}"), args=(over,))
        racer.start()
        try:
            yield
        finally:
            over.set()
            racer.join()


@pytest.fixture(params=["openat2", "stepwise"])
def scene(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Scene:
    """On the kernel's own resolution, and on ours."""
    if request.param == "stepwise":
        monkeypatch.setattr(openat, "_has_openat2", lambda: False)
    return Scene(tmp_path)


async def once(name: str, workspace: Workspace, artifacts: ArtifactStore | None = None) -> str | None:
    """Make a call as the gate would: its result, None if it was refused."""
    tool = TOOLS[name]
    parsed = parse_arguments(name, tool.parameters, CALLS.get(name, {}))
    try:
        prepared = await tool.prepare(parsed, workspace)
    except (ToolError, OSError):  # the gate makes a failed call of either
        return None
    assert SECRET not in (prepared.preview or "")
    if prepared.violation is not None:
        return None
    job = ToolContext(
        call_id=CallId("call"), workspace=workspace, content_hash=prepared.content_hash, seconds=20, artifacts=artifacts
    )
    outcome = await execute(tool, parsed, job)
    assert SECRET not in outcome.content
    return outcome.content if outcome.error is None else None


@pytest.mark.seconds(600)
@pytest.mark.parametrize("how", ["link", "folder", "deeper"])
@pytest.mark.parametrize("name", CALLS)
async def test_no_tool_leaves_the_workspace_during_a_swap_race(
    scene: Scene, name: str, how: str, record_property: Record
) -> None:
    outside = tree(scene.outside)
    done = 0
    with scene.racing(how):
        for _ in range(ROUNDS[name]):
            done += await once(name, Workspace(scene.root)) is not None
    assert tree(scene.outside) == outside
    record_property("figure", f"swap races: {name} {ROUNDS[name]} rounds by {how}, 0 outside")


@pytest.mark.seconds(600)
@pytest.mark.parametrize("how", ["link", "folder", "deeper"])
async def test_undo_never_leaves_the_workspace_during_a_swap_race(
    scene: Scene, how: str, record_property: Record
) -> None:
    """Each round makes a change and undoes it; either may be refused."""
    outside = tree(scene.outside)
    rounds = 1_000 if LONG else 40  # each round syncs several files

    async def change_and_undo(root: Path, number: int) -> tuple[bool, bool]:
        artifacts = ArtifactFolder(scene.base / f"artifacts{number}")
        changed = await once("write_file", Workspace(root), artifacts) is not None
        undone = False
        for _ in range(5):  # the overview needs several scans in a row that agree
            undone = undone or await once("undo", Workspace(root), artifacts) is not None
        return changed, undone

    calm = Scene(scene.base / "calm")
    (calm.root / "spot").symlink_to("kept")
    assert await change_and_undo(calm.root, rounds) == (True, True), "without the race both work"
    with scene.racing(how):
        results = [await change_and_undo(scene.root, number) for number in range(rounds)]
    assert tree(scene.outside) == outside
    done, undone = (sum(column) for column in zip(*results, strict=True))
    record_property("figure", f"swap races: undo {rounds} rounds by {how}, {done} changes, {undone} undone, 0 outside")


@pytest.mark.seconds(600)
@pytest.mark.parametrize("how", ["link", "folder"])
async def test_copying_an_upload_never_leaves_the_workspace_during_a_swap_race(scene: Scene, how: str) -> None:
    outside = tree(scene.outside)
    world = World(scene.root, store=MemoryStore(scene.base / "artifacts"))
    context_id = await world.start()
    await world.runtime.uploads.add(context_id, "mine", b"mine")
    (scene.root / "uploads").symlink_to("spot/deep")
    with scene.racing(how):
        for number in range(min(ROUNDS["write_file"] // 10, MAX_UPLOADS - 10)):
            with contextlib.suppress(RequestError, StoreError):
                await world.runtime.uploads.copy(context_id, "mine", f"spot/deep/f{number}")
            await world.runtime.uploads.add(context_id, f"f{number}", b"mine")
    assert tree(scene.outside) == outside


@pytest.mark.parametrize("how", ["link", "folder", "deeper"])
def test_the_overview_never_leaves_the_workspace_during_a_swap_race(scene: Scene, how: str) -> None:
    with scene.racing(how):
        for _ in range(ROUNDS["glob"]):
            assert "secret" not in describe_workspace(Workspace(scene.root), OverviewSettings(), len)


async def test_both_sides_of_the_race_can_win(scene: Scene) -> None:
    """A control of the tests above: a careless reader leaves the workspace in the same race."""
    contents: set[str] = set()
    with scene.racing("link"):
        async with asyncio.timeout(HANG_SECONDS):
            while len(contents) < 2:
                with contextlib.suppress(OSError):
                    contents.add((scene.root / PATH).read_text())
                await asyncio.sleep(0)
    assert contents == {"mine", SECRET}
