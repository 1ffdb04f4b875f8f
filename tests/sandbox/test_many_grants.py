"""A folder with very many entries beside private data is confined like any other, up to a reported limit."""

import os
import threading
from pathlib import Path

import pytest

from pilothouse.domain.errors import ToolError
from pilothouse.domain.value import CallId
from pilothouse.sandbox import confinement
from pilothouse.sandbox.workspace import Workspace
from pilothouse.tools.base import ToolContext
from pilothouse.tools.builtin.execute import Execute, ExecuteArguments
from pilothouse.tools.builtin.grep.tool import Grep, GrepArguments, find_ripgrep
from tests.support.kernel import needs_sandbox

pytestmark = needs_sandbox
ARGUMENT_BYTES = 2 * 1024 * 1024  # the kernel's limit for the arguments of a program, with a stack of 8 MB


def job(folder: Path, *, confined: bool = True) -> ToolContext:
    workspace = Workspace(folder, [folder / "data"])
    return ToolContext(call_id=CallId("call"), workspace=workspace, seconds=60, confined=confined)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "data").mkdir()
    (tmp_path / "data/secret").write_text("plum\n")
    (tmp_path / "open").write_text("pear\n")
    return tmp_path


async def run(command: str, folder: Path) -> str:
    return str((await Execute().run(ExecuteArguments(command=command), job(folder))).content)


async def test_a_command_runs_confined_beside_more_files_than_arguments_can_name(folder: Path) -> None:
    for number in range(ARGUMENT_BYTES // 250):
        os.close(os.open(folder / f"{number:0250}", os.O_CREAT | os.O_WRONLY))
    assert await run("cat open", folder) == "pear\n"
    assert "plum" not in await run("cat data/secret", folder)


async def test_a_command_does_not_inherit_the_file_of_its_grants(folder: Path) -> None:
    assert "memfd" not in await run("ls -l /proc/self/fd", folder)


async def test_readable_paths_of_a_program_are_computed_off_the_event_loop(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    threads: list[threading.Thread] = []
    without = confinement._without

    def without_and_note(path: str, private: set[str], listable: list[str]) -> list[str]:
        threads.append(threading.current_thread())
        return without(path, private, listable)

    monkeypatch.setattr(confinement, "_without", without_and_note)
    await run("cat open", folder)
    for ripgrep in (None, find_ripgrep()):
        assert "pear" in await Grep(ripgrep).run(GrepArguments(pattern="pear"), job(folder))
    await Execute(sandbox="workspace").run(ExecuteArguments(command="ls"), job(folder, confined=False))
    assert threads
    assert threading.main_thread() not in threads


async def test_too_many_entries_beside_private_data_are_reported(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(confinement, "MAX_ENTRIES_BESIDE_PRIVATE", 2)
    assert await run("cat open", folder) == "pear\n"
    (folder / "third").touch()
    with pytest.raises(ToolError, match=f"{folder} has more than 2 entries"):
        await run("cat open", folder)
    with pytest.raises(ToolError, match=f"{folder} has more than 2 entries"):
        await Grep(find_ripgrep()).run(GrepArguments(pattern="pear"), job(folder))
