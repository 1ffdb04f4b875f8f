"""The supervisor starts with every command."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from pilothouse.sandbox import confinement, processes
from pilothouse.sandbox.confinement import Confinement
from tests.support.kernel import needs_workspace_sandbox
from tests.support.scale import HANG_SECONDS

LOADED = (
    "import sys; sys.path.append(sys.argv[1]); import pilothouse.sandbox.supervisor, "
    "pilothouse.sandbox.signal_listener; print(*sys.modules, sep='\\n')"
)
# Each of these modules, with those that it loads in turn, takes milliseconds.
SLOW = {"asyncio", "collections", "contextlib", "enum", "functools", "re", "signal", "subprocess", "typing"}


def test_the_supervisor_loads_no_slow_module() -> None:
    program = [sys.executable, "-I", "-S", "-B", "-c", LOADED, processes._PACKAGES]
    loaded = subprocess.check_output(program, text=True, timeout=HANG_SECONDS).split()
    assert "pilothouse.sandbox.signal_listener" in loaded
    assert SLOW & set(loaded) == set()


async def run(folder: Path, command: str, environment: dict[str, str], confined: Confinement) -> str:
    running = await processes.start(
        ["/bin/bash", "-c", command],
        cwd=str(folder),
        call_id=f"call-{os.urandom(6).hex()}",
        environment=environment,
        confinement=confined,
    )
    try:
        return (await running.output.read()).decode()
    finally:
        await running.end()


@needs_workspace_sandbox
async def test_a_variable_that_acts_on_programs_does_not_reach_the_supervisor_outside_of_the_sandbox(
    tmp_path: Path,
) -> None:
    """The loader of every dynamic program writes to the files that LD_DEBUG_OUTPUT names."""
    work, outside = tmp_path / "work", tmp_path / "outside"
    work.mkdir()
    outside.mkdir()
    environment = {"PATH": os.defpath, "LD_DEBUG": "files", "LD_DEBUG_OUTPUT": str(outside / "log")}
    confined = confinement.workspace_confinement([str(work)])
    assert "LD_DEBUG=files" in (await run(work, "export", environment, confined)).replace('"', "")
    assert list(outside.iterdir()) == []


async def test_the_supervisor_has_no_variable_of_the_command(tmp_path: Path) -> None:
    environment = {"PATH": os.defpath, "PLANTED": "planted"}
    output = await run(
        tmp_path, "tr '\\0' '\\n' < /proc/$PPID/environ; echo $PLANTED", environment, confinement.UNCONFINED
    )
    assert [line.partition("=")[0] for line in output.splitlines()] == [processes.MARK, "planted"]


@pytest.mark.parametrize("value", ["", "two\nlines", "a=b", "\udcff\udcfe", "好", "x" * 100_000])
async def test_a_command_gets_each_variable_unchanged(tmp_path: Path, value: str) -> None:
    environment = {"PATH": os.defpath, "EMPTY": "", "GIVEN": value, "LAST": "last"}
    assert await run(tmp_path, "env -0 > environment", environment, confinement.UNCONFINED) == ""
    variables = (tmp_path / "environment").read_bytes().split(b"\0")
    assert {b"EMPTY=", b"GIVEN=" + os.fsencode(value), b"LAST=last"} <= set(variables)


async def test_a_variable_too_long_for_a_program_is_reported(tmp_path: Path) -> None:
    output = await run(tmp_path, "true", {"PATH": os.defpath, "LONG": "x" * 200_000}, confinement.UNCONFINED)
    assert "[not started: " in output
    assert "Argument list too long" in output
