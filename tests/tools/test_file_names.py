"""File names that are not UTF-8, or look so: each is shown in a notation that opens the file again."""

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pilothouse.domain.codes import Code
from pilothouse.domain.errors import ToolError
from pilothouse.sandbox.file_names import escape, printable, unescape, with_bytes_escaped
from pilothouse.sandbox.workspace import Workspace
from pilothouse.tools.builtin.grep.tool import find_ripgrep
from pilothouse.tools.file_index import list_workspace
from tests.tools.builtin.test_builtin_tools import use

NAMES = [b"bad\xff.txt", b"caf\xe9.txt", b"a\\xffb.txt", b"new\nline.txt", b"a\\x5cxff.txt", "ü\u202e.txt".encode()]


@given(st.binary(min_size=1, max_size=20))
def test_every_name_is_read_back_from_its_notation(raw: bytes) -> None:
    name = os.fsdecode(raw)
    for notation in (escape(name), printable(name)):
        assert unescape(notation) == name
        notation.encode()
    assert printable(name).isprintable()


@given(st.lists(st.sampled_from([b"\\", b"x", b"5c", b"ff", b"0a", b"\xff", b"\n", b"2f", b"a"]), max_size=9))
def test_names_that_look_like_the_notation_are_distinguished(parts: list[bytes]) -> None:
    name = os.fsdecode(b"".join(parts))
    assert unescape(escape(name)) == name
    assert unescape(printable(name)) == name


def test_the_notation_spells_no_separator_and_no_dots() -> None:
    assert unescape("\\x2e\\x2e\\x2fsecret") == "\\x2e\\x2e\\x2fsecret"
    assert unescape("a\\xFF") == "a\udcff"
    assert with_bytes_escaped("a\udcff\ud800") == "a\\xff\\ud800"


def plant(root: Path, raw: bytes, content: str = "needle\n") -> Path:
    path = Path(os.fsdecode(os.fsencode(root) + b"/" + raw))
    path.write_text(content)
    return path


@pytest.mark.parametrize("raw", NAMES)
async def test_a_listed_file_can_be_read_edited_and_written(tmp_path: Path, raw: bytes) -> None:
    path = plant(tmp_path, raw)
    listed = await use(tmp_path, "list_directory")
    assert listed == await use(tmp_path, "glob", pattern="*.txt")
    assert await use(tmp_path, "grep", pattern="needle") == f"{listed}:1: needle"
    assert await use(tmp_path, "grep", pattern="needle", path=listed) == f"{listed}:1: needle"
    assert await use(tmp_path, "read_file", path=listed) == "needle\n"
    await use(tmp_path, "edit_file", path=listed, edits=[{"old_text": "needle", "new_text": "thread"}])
    assert path.read_text() == "thread\n"
    await use(tmp_path, "write_file", path=listed, content="whole\n")
    assert path.read_text() == "whole\n"
    assert [os.fsencode(each) for each in os.listdir(tmp_path)] == [raw]


async def test_a_folder_with_such_a_name_is_listed_searched_and_entered(tmp_path: Path) -> None:
    (tmp_path / "d\udcff").mkdir()
    plant(tmp_path / "d\udcff", b"in\xfe.txt")
    assert await use(tmp_path, "list_directory", path="d\\xff") == "in\\xfe.txt"
    assert await use(tmp_path, "glob", pattern="*.txt", path="d\\xff") == "d\\xff/in\\xfe.txt"
    assert await use(tmp_path, "grep", pattern="needle", path="d\\xff") == "d\\xff/in\\xfe.txt:1: needle"
    assert await use(tmp_path, "execute", command="ls | wc -l", cwd="d\\xff") == "1\n"
    assert find_ripgrep() is not None


async def test_a_notebook_with_such_a_name_can_be_edited(tmp_path: Path) -> None:
    path = plant(tmp_path, b"n\xff.ipynb", '{"cells": [{"cell_type": "markdown", "metadata": {}, "source": []}]}')
    await use(tmp_path, "notebook_edit", path="n\\xff.ipynb", cell=0, source="hello")
    assert '"hello"' in path.read_text()


def test_the_file_finder_names_such_files_in_the_notation(tmp_path: Path) -> None:
    plant(tmp_path, b"bad\xff.txt")
    listing = list_workspace(Workspace(tmp_path), lambda: False)
    assert [entry.path for entry in listing.entries] == ["bad\\xff.txt"]


@pytest.mark.parametrize("path", ["\\xff/../../secret", "\\x00", "d\\xff/.git/config", "link\\xff"])
def test_the_notation_opens_no_way_out(tmp_path: Path, path: str) -> None:
    root = tmp_path / "root"
    (root / "d\udcff" / ".git").mkdir(parents=True)
    (root / "d\udcff" / ".git" / "config").touch()
    (root / "link\udcff").symlink_to("/etc/passwd")
    workspace = Workspace(root)
    assert workspace.violation(path, writing=True) is not None
    with pytest.raises(ToolError) as caught:
        workspace.write(path, b"x", expected=None)
    assert caught.value.reason.code in (Code.OUTSIDE_WORKSPACE, Code.PROTECTED_PATH)


async def test_a_command_that_writes_a_protected_file_by_an_odd_name_is_refused(tmp_path: Path) -> None:
    """The shell knows no notation: a folder that is literally called so is the one that counts."""
    (tmp_path / "d\\xff").symlink_to(".git")
    (tmp_path / ".git").mkdir()
    with pytest.raises(ToolError) as caught:
        await use(tmp_path, "execute", command="echo x > 'd\\xff/config'")
    assert caught.value.reason.code is Code.PROTECTED_PATH
