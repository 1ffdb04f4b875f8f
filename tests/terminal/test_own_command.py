"""`!command` at a real terminal: the command reads the keys, Ctrl-C ends it, and the conversation continues."""

import asyncio
import os
import signal
import sys
import termios
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from pilothouse.terminal.own_command import run_own_command
from pilothouse.testing.world import World
from tests.cli.test_main import Command
from tests.support.scale import HANG_SECONDS
from tests.terminal.test_steering import Terminal

CTRL_C = "\x03"


@pytest.fixture
def command(tmp_path: Path) -> Command:
    return Command(tmp_path)


@pytest.fixture
def terminal(command: Command) -> Iterator[Terminal]:
    new_terminal = Terminal(command, "--model", command.script({"text": "I see."}), controlling=True)
    new_terminal.wait_for(" › ")
    yield new_terminal
    new_terminal.close()


PROGRAM = 'import os, time; open("pid", "w").write(str(os.getpid())); print("beg" + "un", flush=True); time.sleep(1000)'
SLEEPER = f"{sys.executable} -c '{PROGRAM}'"
"""Writes its process id, says that it has begun, and goes on."""


def is_running(command: Command) -> bool:
    """Whether the process runs whose id a command has written. An ended process may wait to be reaped."""
    try:
        stat = Path("/proc", (command.workspace / "pid").read_text(), "stat").read_text()
    except FileNotFoundError:
        return False
    return stat.rpartition(")")[2].split()[0] != "Z"


def assert_conversation_works(terminal: Terminal) -> None:
    terminal.wait_for(" › ")
    terminal.type("hello")
    terminal.wait_for("I see.")


def test_ctrl_c_ends_the_command_and_the_conversation_continues(terminal: Terminal, command: Command) -> None:
    terminal.type(f"!{SLEEPER}; echo not reached")
    terminal.wait_for("begun")
    terminal.press(CTRL_C)
    assert "SIGINT" in terminal.wait_for("]")
    assert not is_running(command)
    assert_conversation_works(terminal)


def test_a_signal_to_the_program_alone_reaches_the_command(command: Command) -> None:
    other = Terminal(command, "--data-dir", str(command.folder / "other"), "--model", "demo")
    try:
        other.wait_for(" › ")
        other.type(f"!{SLEEPER}")
        other.wait_for("begun")
        other.process.send_signal(signal.SIGINT)
        other.wait_for(" › ")
        assert not is_running(command)
    finally:
        other.close()


def test_a_command_that_ignores_ctrl_c_is_ended_by_the_second(terminal: Terminal, command: Command) -> None:
    terminal.type(f"!trap '' INT; {SLEEPER}")
    terminal.wait_for("begun")
    terminal.press(CTRL_C)
    terminal.wait_for("Press Ctrl-C again")
    terminal.press(CTRL_C)
    terminal.wait_for("]")
    assert not is_running(command)
    assert_conversation_works(terminal)


def test_a_process_that_ignores_the_end_of_its_shell_is_killed(terminal: Terminal, command: Command) -> None:
    terminal.type(f"!trap '' INT; (trap '' TERM; exec {SLEEPER})")
    terminal.wait_for("begun")
    terminal.press(CTRL_C)
    terminal.wait_for("Press Ctrl-C again")
    terminal.press(CTRL_C)
    terminal.wait_for("]")
    assert not is_running(command)
    assert_conversation_works(terminal)


def test_a_command_ends_with_the_program(terminal: Terminal, command: Command) -> None:
    terminal.type(f"!{SLEEPER}")
    terminal.wait_for("begun")
    terminal.process.send_signal(signal.SIGTERM)
    assert terminal.process.wait(HANG_SECONDS) == 128 + signal.SIGTERM
    assert not is_running(command)


def test_a_command_reads_typed_input_and_leaves_the_terminal_unchanged(terminal: Terminal) -> None:
    terminal.type("!echo rea''dy; read line; stty -echo; echo \"got $line\"")
    terminal.wait_for("ready")
    terminal.type("some words")
    terminal.wait_for("got some words")
    assert_conversation_works(terminal)
    assert "hello" in terminal.output


def test_a_command_of_a_script_does_not_read_the_lines_behind_it(command: Command) -> None:
    code, output, _ = command.run("--model", command.script({"text": "I see."}), stdin="!cat\nhello\n/quit\n")
    assert (code, "I see." in output) == (0, True)


def test_an_own_command_has_the_whole_environment_and_its_output_is_for_the_person_only(command: Command) -> None:
    command.environment["OPENAI_API_KEY"] = "planted-key"
    terminal = Terminal(command, "--model", command.script({"text": "I see."}), controlling=True)
    try:
        terminal.wait_for(" › ")
        terminal.type("!printenv OPENAI_API_KEY")
        terminal.wait_for("planted-key")
        assert_conversation_works(terminal)
    finally:
        terminal.close()
    stored = b"".join(path.read_bytes() for path in (command.folder / "data").rglob("*") if path.is_file())
    assert b"printenv OPENAI_API_KEY" in stored, "the audit has the command"
    assert b"planted-key" not in stored


class _NoTerminal:
    """Lines whose terminal is gone, or without one."""

    def __init__(self, error: Exception | None = None) -> None:
        self._error = error

    @contextmanager
    def lend_terminal(self, _: Any) -> Iterator[None]:
        if self._error is not None:
            raise self._error
        yield


async def noted(world: World, context_id: str) -> list[Any]:
    entries = (await world.runtime.contexts.audit(context_id)).entries
    return [entry.detail for entry in entries if entry.kind == "command_by_person"]


async def test_a_command_whose_wait_is_cancelled_is_audited(tmp_path: Path) -> None:
    world, pipe = World(tmp_path), tmp_path / "begun"
    os.mkfifo(pipe)
    line = f"echo begun >{pipe}; exec sleep 1000"
    async with world.runtime:
        context_id = await world.start()
        lines: Any = _NoTerminal()
        work = asyncio.create_task(run_own_command(world.runtime, context_id, line, lines, "en"))
        async with asyncio.timeout(HANG_SECONDS):
            assert await asyncio.to_thread(pipe.read_text) == "begun\n"
            work.cancel()
            with pytest.raises(asyncio.CancelledError):
                await work
        assert await noted(world, context_id) == [{"command": line, "status": -signal.SIGTERM}]


async def test_a_closed_terminal_is_reported_and_nothing_is_audited(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    world = World(tmp_path)
    async with world.runtime:
        context_id = await world.start()
        lines: Any = _NoTerminal(termios.error(5, "Input/output error"))
        await run_own_command(world.runtime, context_id, "true", lines, "en")
        assert "Input/output error" in capsys.readouterr().out
        assert await noted(world, context_id) == []
