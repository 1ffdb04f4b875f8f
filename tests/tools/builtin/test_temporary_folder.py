"""A confined command has its own temporary folder, which is removed when the command has ended."""

import shutil
import threading
from pathlib import Path
from typing import Any

import pytest

from pilothouse.domain.value import CallId
from pilothouse.sandbox.workspace import Workspace
from pilothouse.tools.base import ToolContext
from pilothouse.tools.builtin.execute import Execute, ExecuteArguments
from tests.support.kernel import needs_workspace_sandbox

pytestmark = needs_workspace_sandbox


async def run(command: str, folder: Path) -> Path:
    """Run a command that ends by printing its temporary folder."""
    execute = Execute(sandbox="workspace")
    job = ToolContext(call_id=CallId("call"), workspace=Workspace(folder), seconds=60)
    output = await execute.run(ExecuteArguments(command=f"{command}; echo $TMPDIR"), job)
    return Path(str(output.content).strip())


async def test_the_temporary_folder_of_a_command_is_not_removed_on_the_event_loop(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    threads: list[threading.Thread] = []
    remove = shutil.rmtree

    def remove_and_note(*args: Any, **kwargs: Any) -> None:
        threads.append(threading.current_thread())
        remove(*args, **kwargs)

    monkeypatch.setattr(shutil, "rmtree", remove_and_note)
    temporary = await run("touch $TMPDIR/file", tmp_path)
    assert temporary.is_absolute()
    assert not temporary.exists()
    assert len(threads) == 1
    assert threading.main_thread() not in threads


async def test_a_temporary_folder_that_is_a_thousand_folders_deep_is_removed(tmp_path: Path) -> None:
    temporary = await run("mkdir -p $TMPDIR/$(printf 'a/%.0s' {1..1100})", tmp_path)
    assert temporary.is_absolute()
    assert not temporary.exists()
