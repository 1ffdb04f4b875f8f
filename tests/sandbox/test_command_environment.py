"""The variables that commands get: real commands print them."""

import os
from collections.abc import Mapping
from pathlib import Path

from pilothouse.domain.value import CallId
from pilothouse.sandbox.command_environment import CommandEnvironment
from pilothouse.sandbox.workspace import Workspace
from pilothouse.tools.base import ToolContext
from pilothouse.tools.builtin.execute import Execute, ExecuteArguments


async def run(folder: Path, command: str, variables: Mapping[str, str]) -> str:
    workspace = Workspace(folder, environment=CommandEnvironment.of(variables))
    context = ToolContext(CallId(f"call-{os.urandom(6).hex()}"), workspace)
    return (await Execute().run(ExecuteArguments(command), context)).content


async def test_without_a_path_a_command_does_not_look_in_its_working_directory(tmp_path: Path) -> None:
    """The path that a shell takes then may end with the working directory."""
    (tmp_path / "mytool").write_text("#!/bin/sh\necho of the workspace\n")
    (tmp_path / "mytool").chmod(0o755)
    assert "not found" in await run(tmp_path, "mytool", {})
    assert await run(tmp_path, "echo $PATH", {}) == f"{os.defpath}\n"
