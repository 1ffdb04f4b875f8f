"""Every limit of a command line also holds for a line passed to another command (`sh -c`)."""

import os
import shlex
from collections.abc import Callable
from pathlib import Path

import pytest

from pilothouse.domain.codes import Code
from pilothouse.sandbox.command_environment import CommandEnvironment
from pilothouse.sandbox.workspace import Workspace
from pilothouse.tools.base import CallPreview
from pilothouse.tools.builtin.execute import Execute, ExecuteArguments

WRAPPERS: dict[str, Callable[[str], str]] = {
    "plain": lambda line: line,
    "sh -c": lambda line: f"sh -c {shlex.quote(line)}",
    "bash -c": lambda line: f"bash -c {shlex.quote(line)}",
    "bash -ec": lambda line: f"bash -ec {shlex.quote(line)}",
    "eval": lambda line: f"eval {shlex.quote(line)}",
    "env sh -c": lambda line: f"env A=b sh -c {shlex.quote(line)}",
    "xargs sh -c": lambda line: f"ls | xargs sh -c {shlex.quote(line)}",
    "sh -c in sh -c": lambda line: f"sh -c {shlex.quote(f'sh -c {shlex.quote(line)}')}",
    "substitution": lambda line: f"echo $({line})",
    "sh -c in a substitution": lambda line: f"echo $(sh -c {shlex.quote(line)})",
}
LIMITED = {
    "an input of the runtime's own": ("", "cat < ../data/key", Code.PROTECTED_PATH),
    "an operand of the runtime's own": ("", "cat ../data/key", Code.PROTECTED_PATH),
    "an output to a protected file": ("", "echo x > .git/config", Code.PROTECTED_PATH),
    "a written protected file": ("", "tee .git/config", Code.PROTECTED_PATH),
    "names from a written file": ("echo .envrc > names; ", "xargs touch < names", Code.RUNS_CODE),
    "a script from a written file": ("echo 'touch .envrc' > names; ", "sh < names", Code.RUNS_CODE),
    "a written script": ("echo 'touch .envrc' > names; ", "sh names", Code.RUNS_CODE),
    "a written code file": ("", "touch .npmrc", Code.RUNS_CODE),
    "a code file as a pattern": ("", "tee .npmr?", Code.RUNS_CODE),
    "a code file in a script": ("", 'python3 -c \'open(".envrc", "w")\'', Code.RUNS_CODE),
    "a setting of git": ("", "git config core.hooksPath x", Code.RUNS_CODE),
    "too many readings": ("", "touch f{1..999999999}", Code.COMMAND_NOT_CHECKED),
}


async def prepared(folder: Path, command: str) -> CallPreview:
    for name in ("data", "project/.git"):
        (folder / name).mkdir(parents=True, exist_ok=True)
    (folder / "data/key").write_text("key\n")
    environment = CommandEnvironment.of({"PATH": os.environ["PATH"], "HOME": str(folder)})
    workspace = Workspace(folder / "project", [folder / "data"], environment=environment)
    return await Execute().prepare(ExecuteArguments(command=command), workspace)


@pytest.mark.parametrize("wrap", WRAPPERS.values(), ids=WRAPPERS)
@pytest.mark.parametrize(("before", "line", "code"), LIMITED.values(), ids=LIMITED)
async def test_each_limit_holds_in_a_nested_line(
    tmp_path: Path, before: str, line: str, code: Code, wrap: Callable[[str], str]
) -> None:
    shown = await prepared(tmp_path, before + wrap(line))
    reason = shown.violation or shown.ask
    assert reason is not None
    assert reason.code is code


@pytest.mark.parametrize("wrap", WRAPPERS.values(), ids=WRAPPERS)
@pytest.mark.parametrize("line", ["sort < names", "cat names", "wc -l < src/names"])
async def test_an_ordinary_input_of_a_nested_line_has_no_limit(
    tmp_path: Path, line: str, wrap: Callable[[str], str]
) -> None:
    shown = await prepared(tmp_path, wrap(line))
    assert (shown.violation, shown.ask) == (None, None)
