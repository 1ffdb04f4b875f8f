"""Files and folders of the runtime: private to the user under any umask."""

import os
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest

from pilothouse.sandbox.workspace import Workspace
from pilothouse.storage.files.store import FileStore
from pilothouse.system.private_file import make_private_folders
from pilothouse.tools.undo.baseline import Baseline
from pilothouse.tools.undo.limits import UndoLimits


@pytest.fixture(autouse=True)
def open_umask() -> Iterator[None]:
    before = os.umask(0o022)
    yield
    os.umask(before)


def modes_below(folder: Path) -> set[str]:
    return {oct(stat.S_IMODE(path.stat().st_mode)) for path in (folder, *folder.rglob("*"))}


def test_folders_above_a_private_folder_are_made_private_too(tmp_path: Path) -> None:
    make_private_folders(tmp_path / "a/b/c")
    assert modes_below(tmp_path / "a") == {"0o700"}
    (tmp_path / "file").touch()
    with pytest.raises(OSError, match="file"):
        make_private_folders(tmp_path / "file")


def test_the_store_makes_its_folders_private(tmp_path: Path) -> None:
    FileStore(tmp_path / "home/data", now=lambda: "2026-01-01T00:00:00.000Z", state_dir=tmp_path / "state/pilothouse")
    assert modes_below(tmp_path / "home") == {"0o700", "0o600"}


def test_the_cache_of_undo_is_private(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pilothouse.tools.undo.baseline._MAX_UNSAVED_BYTES", 0)
    (tmp_path / "work").mkdir()
    (tmp_path / "work/a.txt").write_text("a secret")
    snapshot = Baseline(tmp_path / "cache/pilothouse", Workspace(tmp_path / "work"), UndoLimits()).take(lambda: False)
    snapshot.close()
    assert list((tmp_path / "cache").rglob("index"))
    assert modes_below(tmp_path / "cache") == {"0o700", "0o600"}
