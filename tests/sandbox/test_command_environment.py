"""The variables that commands get: real commands print them."""

import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from pilothouse.domain.calls import PARTIAL_HASH_SUFFIX
from pilothouse.domain.command_variables import SET_VARIABLES
from pilothouse.domain.promises import Kernel
from pilothouse.domain.value import CallId
from pilothouse.sandbox.command_environment import INHERITED_VARIABLES, CommandEnvironment
from pilothouse.sandbox.workspace import Workspace
from pilothouse.tools.base import ToolContext
from pilothouse.tools.builtin.execute import Execute, ExecuteArguments
from pilothouse.tools.command.shell import Sandbox
from tests.support.kernel import needs_sandbox, needs_workspace_sandbox

DOCUMENT = Path(__file__).parents[2] / "docs/tools.md"
PATH = "/usr/local/bin:/usr/bin:/bin"
LISTED = ("SSH_AUTH_SOCK", "PYTHONPATH", "UNSET")
LOCALES = ("LANG", "LC_ALL", "LC_TIME")
# The environment of a process with every variable that commands may get, and others.
PROCESS = {
    **{name: f"/{name.lower()}" for name in INHERITED_VARIABLES},
    **dict.fromkeys(LOCALES, "C.UTF-8"),
    **dict.fromkeys(("OPENAI_API_KEY", "PILOTHOUSE_TOKEN", "AWS_SECRET_ACCESS_KEY", "EDITOR"), "planted"),
    "PATH": PATH,
    "SSH_AUTH_SOCK": "/socket",
    "PYTHONPATH": "/modules",
    "TERM": "xterm",
    "BASH_ENV": "planted",
}
OF_THE_SHELL = {"PWD", "SHLVL", "_"}
OF_EVERY_COMMAND = {*INHERITED_VARIABLES, *LOCALES, *SET_VARIABLES, "PILOTHOUSE_CALL", *OF_THE_SHELL}
OF_READ_ONLY_COMMANDS = {"GIT_CONFIG_COUNT", "GIT_CONFIG_GLOBAL", "GIT_OPTIONAL_LOCKS"} | {
    f"GIT_CONFIG_{kind}_{number}" for kind in ("KEY", "VALUE") for number in range(4)
}
PRINTERS = ("env", "printenv", "strings -n 1 /proc/self/environ | cat", "cat /proc/self/environ | xargs -0 -n 1")


async def run(
    folder: Path,
    command: str,
    variables: Mapping[str, str] = PROCESS,
    names: Sequence[str] = LISTED,
    *,
    sandbox: Sandbox = "off",
    confined: bool = False,
    kernel: Kernel | None = None,
) -> str:
    workspace = Workspace(folder, environment=CommandEnvironment.of(variables, names))
    context = ToolContext(CallId(f"call-{os.urandom(6).hex()}"), workspace, confined=confined)
    return (await Execute(sandbox, kernel).run(ExecuteArguments(command), context)).content


def names_in(output: str) -> set[str]:
    return {match[1] for match in re.finditer(r"^(\w+)=", output, re.MULTILINE)}


@pytest.mark.parametrize("command", PRINTERS)
@pytest.mark.parametrize("sandbox", ["off", pytest.param("workspace", marks=needs_workspace_sandbox)])
async def test_a_command_has_exactly_the_default_variables_and_the_listed_ones(
    tmp_path: Path, command: str, sandbox: Sandbox
) -> None:
    output = await run(tmp_path, command, sandbox=sandbox)
    assert names_in(output) == {*OF_EVERY_COMMAND, "SSH_AUTH_SOCK", "PYTHONPATH"}
    assert "planted" not in output
    assert "SSH_AUTH_SOCK=/socket\n" in output
    assert "TERM=dumb\n" in output
    assert ("TMPDIR=/tmpdir\n" in output) == (sandbox == "off")


@pytest.mark.parametrize("command", PRINTERS)
@pytest.mark.parametrize("kernel", [pytest.param(None, marks=needs_sandbox), Kernel()])
async def test_a_command_that_runs_without_approval_has_no_listed_variable(
    tmp_path: Path, command: str, kernel: Kernel | None
) -> None:
    output = await run(tmp_path, command, confined=True, kernel=kernel)
    assert names_in(output) == {*OF_EVERY_COMMAND, *OF_READ_ONLY_COMMANDS}
    assert "planted" not in output


async def test_a_process_without_variables_gives_commands_a_path_and_a_locale(tmp_path: Path) -> None:
    output = await run(tmp_path, "env", {})
    assert names_in(output) == {"PATH", "LC_CTYPE", *SET_VARIABLES, "PILOTHOUSE_CALL", *OF_THE_SHELL}


async def test_listing_a_default_variable_changes_nothing(tmp_path: Path) -> None:
    variables = {**PROCESS, "LANG": "zh_CN.GBK", "LC_ALL": "ja_JP.SJIS"}
    names = ("PATH", "HOME", "LANG", "LC_ALL", "LC_ANYTHING")
    assert CommandEnvironment.of(variables, names) == CommandEnvironment.of(variables)
    assert "LC_ALL=C.UTF-8\n" in await run(tmp_path, "env", variables, names)


async def test_without_a_path_a_command_does_not_look_in_its_working_directory(tmp_path: Path) -> None:
    """The path that a shell takes then may end with the working directory."""
    (tmp_path / "mytool").write_text("#!/bin/sh\necho of the workspace\n")
    (tmp_path / "mytool").chmod(0o755)
    assert "not found" in await run(tmp_path, "mytool", {})
    assert await run(tmp_path, "echo $PATH", {}) == f"{os.defpath}\n"


@pytest.mark.parametrize(
    ("name", "value", "may_change"),
    [
        ("SSH_AUTH_SOCK", "/socket", False),
        ("LD_PRELOAD", "", False),
        ("LD_PRELOAD", "lib.so", True),
        ("PYTHONPATH", "src", True),
    ],
)
async def test_an_approval_says_that_other_files_decide_where_a_variable_makes_programs_run_code(
    tmp_path: Path, name: str, value: str, may_change: bool
) -> None:
    workspace = Workspace(tmp_path, environment=CommandEnvironment.of({"PATH": PATH, name: value}, [name]))
    (tmp_path / "run.sh").write_text("#!/bin/sh\n")
    (tmp_path / "run.sh").chmod(0o755)
    for command in ("./run.sh", "rm f", "mkdir d"):
        shown = await Execute().prepare(ExecuteArguments(command), workspace)
        assert shown.content_hash is not None
        assert shown.content_hash.endswith(PARTIAL_HASH_SUFFIX) is may_change, command


def test_the_documentation_names_every_default_variable() -> None:
    section = DOCUMENT.read_text().partition("### The environment of commands\n")[2].partition("\n### ")[0]
    table = "\n".join(line for line in section.splitlines() if line.startswith("| `"))
    assert set(re.findall(r"`([A-Z_]+)`", table)) == {*INHERITED_VARIABLES, "LANG"}
    for name, value in SET_VARIABLES.items():
        assert f"`{name}={value}`" in section
