"""`pilothouse clean` shows the size of the data directory and frees unneeded files only."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from pilothouse.storage.files.store import FileStore
from tests.support.mcp_tools import DONE, NOW, runs, world_with_tools
from tests.support.scale import HANG_SECONDS


def pilothouse(folder: Path, *arguments: str) -> "subprocess.CompletedProcess[str]":
    environment = {"PATH": os.environ["PATH"], "HOME": str(folder), "LANG": "C.UTF-8"}
    program = [sys.executable, "-m", "pilothouse.cli", *arguments, "--data-dir", str(folder / "data")]
    return subprocess.run(
        program, env=environment, capture_output=True, text=True, timeout=HANG_SECONDS, stdin=subprocess.DEVNULL
    )


async def used_data_directory(folder: Path) -> str:
    """A data directory with a conversation, undo data, a cache and remnants."""
    world = world_with_tools(folder, runs("echo new > a; seq 1 20000"), DONE)
    (world.workspace / "a").write_bytes(bytes(2_000_000))
    async with world.runtime:
        context_id = await world.start()
        await world.turn(context_id)
    remnant = folder / "data" / ".deleted-snapshots"
    remnant.mkdir()
    (remnant / "pack").write_bytes(bytes(1_000_000))
    return context_id


async def test_clean_lists_caches_and_remnants_first_and_frees_them_with_yes(tmp_path: Path) -> None:
    context_id = await used_data_directory(tmp_path)
    shown = pilothouse(tmp_path, "clean")
    assert shown.returncode == 0, shown.stderr
    assert context_id in shown.stdout
    assert "You can free 3.0 MB." in shown.stdout
    assert (tmp_path / "data" / "cache").is_dir(), "nothing is freed without leave"

    freed = pilothouse(tmp_path, "clean", "--yes")
    assert "Freed 3.0 MB." in freed.stdout, freed.stdout + freed.stderr
    assert not (tmp_path / "data" / "cache").exists()
    again = world_with_tools(tmp_path, ids_from=1000)
    async with again.runtime:
        assert list((await again.runtime.workspaces.undo(context_id)).paths) == ["a"], "what undo needs is no cache"
        assert (again.workspace / "a").read_bytes() == bytes(2_000_000)


async def test_undo_data_that_has_expired_is_freed(tmp_path: Path) -> None:
    context_id = await used_data_directory(tmp_path)
    pilothouse(tmp_path, "clean", "--yes")
    (pack,) = (tmp_path / "data" / "contexts" / context_id / "artifacts" / "before").iterdir()
    os.utime(pack, (pack.stat().st_mtime - 31 * 86_400,) * 2)
    assert "Freed 2.0 MB." in pilothouse(tmp_path, "clean", "--yes").stdout
    assert not pack.exists()


async def test_clean_frees_nothing_that_a_running_server_uses(tmp_path: Path) -> None:
    await used_data_directory(tmp_path)
    store = FileStore(tmp_path / "data", now=lambda: NOW)
    (tmp_path / "data" / "cache").mkdir(exist_ok=True)
    result = pilothouse(tmp_path, "clean", "--yes")
    assert result.returncode == 75
    assert "in use" in result.stderr
    assert (tmp_path / "data" / "cache").is_dir()
    await store.close()


def test_clean_reports_that_there_is_no_data(tmp_path: Path) -> None:
    assert "No data" in pilothouse(tmp_path, "clean").stdout


@pytest.mark.parametrize("folders", [("cache",), ("cache", "contexts"), (".deleted-photos", "cache/baselines")])
def test_a_folder_that_is_no_data_directory_stays_as_it_is(tmp_path: Path, folders: tuple[str, ...]) -> None:
    for folder in folders:
        (tmp_path / "data" / folder).mkdir(parents=True)
        (tmp_path / "data" / folder / "precious").write_text("x")
    before = sorted(tmp_path.rglob("*"))
    result = pilothouse(tmp_path, "clean", "--yes")
    assert result.returncode == 0, result.stderr
    assert "Nothing was deleted" in result.stdout
    assert sorted(tmp_path.rglob("*")) == before


async def test_only_the_program_s_own_files_are_freed(tmp_path: Path) -> None:
    await used_data_directory(tmp_path)
    data = tmp_path / "data"
    precious = [
        data / path / "precious"
        for path in ("cache", "cache/baselines/mine", ".deleted-photos", "contexts/.deleted-my photos")
    ]
    for path in precious:
        path.parent.mkdir(exist_ok=True)
        path.write_text("x")
    assert "Freed 3.0 MB." in pilothouse(tmp_path, "clean", "--yes").stdout
    await FileStore(data, now=lambda: NOW).close()
    assert [path for path in precious if not path.exists()] == []
    assert sorted(path.name for path in (data / "cache" / "baselines").iterdir()) == ["mine"]
