"""Modes are set on open descriptors: a link that takes the place of a file or folder in between has no effect.

The swap happens at the very system call before the mode is set, so that no test depends on who is faster.
"""

import os
import stat
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from pilothouse.domain.errors import ToolError
from pilothouse.sandbox import entries
from pilothouse.sandbox.entries import Entries
from pilothouse.sandbox.workspace import Workspace
from tests.security.test_sandbox_alone import IS_ROOT, NOBODY, PACKAGES, place

BITS = 0o741


class Scene:
    """A workspace, and beside it a folder and a file that must keep their modes."""

    def __init__(self, base: Path) -> None:
        self.root, self.outside, self.file = base / "work", base / "outside", base / "outside/file"
        self.root.mkdir()
        self.outside.mkdir(mode=0o700)
        self.file.write_text("theirs")
        self.file.chmod(0o600)

    @property
    def modes(self) -> list[int]:
        return [stat.S_IMODE(path.stat().st_mode) for path in (self.outside, self.file)]

    def swap(self, name: str, target: Path) -> None:
        """Put a link in the place of an entry."""
        (self.root / name).rename(self.root / "former")
        (self.root / name).symlink_to(target)


@pytest.fixture
def scene(tmp_path: Path) -> Scene:
    return Scene(tmp_path)


def test_a_link_in_the_place_of_a_folder_that_was_just_made_is_not_followed(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    make = os.mkdir

    def make_and_swap(path: str, *args: Any, **kwargs: Any) -> None:
        make(path, *args, **kwargs)
        scene.swap("gone", scene.outside)

    monkeypatch.setattr(os, "mkdir", make_and_swap)
    with pytest.raises(ToolError):
        Entries(Workspace(scene.root)).make_folder("gone", BITS)
    assert scene.modes == [0o700, 0o600]


@pytest.mark.parametrize("kind", ["folder", "file"])
def test_a_link_in_the_place_of_what_was_just_looked_at_is_not_followed(
    scene: Scene, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    spot = scene.root / "spot"
    if kind == "folder":
        spot.mkdir()
    else:
        spot.write_text("theirs")
    workspace = Entries(Workspace(scene.root))
    expected = workspace.state("spot").content
    look = entries._state

    def look_and_swap(dir_fd: int, name: str) -> Any:
        state = look(dir_fd, name)
        scene.swap(name, scene.outside if kind == "folder" else scene.file)
        return state

    monkeypatch.setattr(entries, "_state", look_and_swap)
    with pytest.raises(ToolError):
        workspace.set_bits("spot", BITS, expected=expected)
    assert scene.modes == [0o700, 0o600]


def test_another_name_of_a_file_outside_that_takes_the_place_keeps_its_mode(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`open` follows hard links: the opened file must have the expected content."""
    (scene.root / "spot").write_text("mine")
    workspace = Entries(Workspace(scene.root))
    expected = workspace.state("spot").content
    look = entries._state

    def look_and_swap(dir_fd: int, name: str) -> Any:
        state = look(dir_fd, name)
        (scene.root / name).unlink()
        (scene.root / name).hardlink_to(scene.file)
        return state

    monkeypatch.setattr(entries, "_state", look_and_swap)
    with pytest.raises(ToolError):
        workspace.set_bits("spot", BITS, expected=expected)
    assert scene.modes == [0o700, 0o600]


def test_folders_and_files_get_their_modes_back(scene: Scene) -> None:
    workspace = Entries(Workspace(scene.root))
    assert workspace.make_folder("made/inner", BITS)
    assert not workspace.make_folder("made/inner", 0o700)
    (scene.root / "file").write_text("mine")
    workspace.set_bits("file", BITS, expected=workspace.state("file").content)
    workspace.set_bits("made", 0o750, expected=workspace.state("made").content)
    modes = [stat.S_IMODE((scene.root / name).stat().st_mode) for name in ("made/inner", "file", "made")]
    assert modes == [BITS, BITS, 0o750]


REMOVES = """import asyncio, concurrent.futures.thread, os, sys, tempfile
sys.path.append(sys.argv[1])
from pilothouse.tools.command.shell import temporary_folder
if sys.argv[2] != "None":
    os.setgroups([])
    os.setgid(int(sys.argv[2]))
    os.setuid(int(sys.argv[2]))
tempfile.tempdir = sys.argv[3]
async def main():
    async with temporary_folder("workspace") as folder:
        for name in ("closed", "dark/inner"):
            os.makedirs(os.path.join(folder, name))
            os.symlink(sys.argv[4], os.path.join(folder, name, "link"))
        os.chmod(os.path.join(folder, "closed"), 0o500)
        os.chmod(os.path.join(folder, "dark"), 0)
    print(os.path.lexists(folder))
asyncio.run(main())
"""


def test_the_temporary_folder_of_a_command_is_removed_without_following_its_links() -> None:
    """As nobody where the tests run as root: root removes from every folder at once."""
    user = NOBODY if IS_ROOT else None
    with place(user) as base:
        (base / "out.txt").chmod(0o640)
        paths = [path for path in sys.path if path]
        program = f"import sys; sys.path += {paths!r}\n{REMOVES}"
        arguments = [PACKAGES, str(user), str(base / "work"), str(base / "out.txt")]
        done = subprocess.run(
            [sys.executable, "-B", "-c", program, *arguments], check=False, capture_output=True, text=True
        )
        assert done.stdout == "False\n", done.stderr
        assert stat.S_IMODE((base / "out.txt").stat().st_mode) == 0o640
