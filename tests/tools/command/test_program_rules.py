"""A rule for a program never allows a program of the workspace that has the same name."""

import os
from pathlib import Path

import pytest

from pilothouse.domain.command_line import starts_with_words
from pilothouse.sandbox.command_environment import CommandEnvironment
from pilothouse.sandbox.workspace import Workspace
from pilothouse.tools.builtin.execute import Execute, ExecuteArguments

SYSTEM = "/usr/bin:/bin"


async def matches_rule(path: str, root: Path, words: tuple[str, ...], command: str) -> bool:
    workspace = Workspace(root, environment=CommandEnvironment.of({"PATH": path}))
    preview = await Execute().prepare(ExecuteArguments(command), workspace)
    assert preview.command_line is not None
    return starts_with_words(preview.command_line, words)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (root := tmp_path / "work").mkdir()
    for name in ("grep", "mytool"):
        (root / name).write_text("#!/bin/sh\necho of the workspace\n")
        (root / name).chmod(0o755)
    (tmp_path / "link").symlink_to(root)
    return root


@pytest.mark.parametrize(
    "first", [".", "", "./sub/..", "{root}", "{root}/../link", "/proc/self/cwd", "//proc/self/cwd", "/dev/fd/../cwd"]
)
async def test_a_program_of_the_workspace_that_comes_first_matches_no_rule(root: Path, first: str) -> None:
    path = f"{first.format(root=root)}:{SYSTEM}"
    assert not await matches_rule(path, root, ("grep",), "grep x f")
    assert not await matches_rule(path, root, ("grep",), "./grep x f")


@pytest.mark.parametrize("last", [".", "", "{root}", "/proc/self/cwd"])
async def test_an_installed_program_that_comes_first_matches_its_rule(root: Path, last: str) -> None:
    path = f"{SYSTEM}:{last.format(root=root)}"
    assert await matches_rule(path, root, ("grep",), "grep x f")
    assert not await matches_rule(path, root, ("mytool",), "mytool x")


@pytest.mark.parametrize("path", ["", ":", ".", "/nonexistent:"])
async def test_a_program_is_of_the_workspace_where_the_shell_looks_nowhere_else(root: Path, path: str) -> None:
    assert not await matches_rule(path, root, ("mytool",), "mytool x")


async def test_a_program_that_is_nowhere_matches_its_rule(root: Path) -> None:
    assert await matches_rule(f"/nonexistent:{os.defpath}", root, ("nowhere",), "nowhere x")
