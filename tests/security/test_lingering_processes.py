"""Commands that resist their end: none of their processes is left two seconds after a stop.

Each process writes a file without pause, so that an overlooked one is noticed.
"""

import asyncio
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

from pilothouse.domain.calls import CallRecord
from pilothouse.domain.errors import Conflict
from pilothouse.domain.messages import ToolResult
from pilothouse.domain.states import ExecutingTool, Idle
from pilothouse.domain.value import ContextId
from pilothouse.llm.script import Answer, ScriptedCall
from pilothouse.runtime.limits import Limits
from pilothouse.sandbox import process_tree, processes
from pilothouse.sandbox.confinement import UNCONFINED
from pilothouse.storage.memory import MemoryStore
from pilothouse.testing.world import World
from pilothouse.tools.builtin import builtin_tools
from pilothouse.tools.builtin.grep.tool import Grep, find_ripgrep
from tests.security.hostile_folders import processes_in
from tests.support.assertions import content_of
from tests.support.scale import HANG_SECONDS, LONG

GROWTH_AT_MOST = 64 * 1024 * 1024
BUSY = 2000 if LONG else 100
"""How many of 2000 processes write without pause; the others only wait."""
DONE = Answer(text="done")
# An endless program, started by its absolute path, so that it is found in every folder.
WORKER = "#!/bin/bash\ntrap '' TERM INT HUP QUIT PIPE\nwhile :; do echo x >> {root}/grows; /bin/sleep 0.02; done\n"

# `W` is the worker.
STUBBORN = {
    "in the foreground": "W",
    "deaf": "trap '' TERM INT HUP QUIT; W",
    "in the background": "W & wait",
    "by nohup": "nohup W > /dev/null 2>&1 & sleep 600",
    "in a session of its own": "setsid W > /dev/null 2>&1 & sleep 600",
    "without an environment": "env -i setsid W > /dev/null 2>&1 < /dev/null & sleep 600",
    "forked twice": "( ( setsid env -i W > /dev/null 2>&1 < /dev/null & ) & ); sleep 600",
    "forked twice from elsewhere": "cd / && (setsid sh -c 'env -i setsid W & exit' &) ; sleep 600",
    "by another program": "python3 -c 'import os\nif os.fork() == 0:\n os.setsid()\n if os.fork() == 0:\n"
    '  os.execve("W", ["W"], {})\nelse: os.wait()\' ; sleep 600',
    "started again and again": "while :; do setsid env -i W > /dev/null 2>&1 & sleep 0.05; done",
    "by many": "for n in $(seq 30); do setsid env -i W > /dev/null 2>&1 & done; wait",
    "stopped": "W & kill -STOP $$; wait",
    "printing": "yes & W",
    "printing without a line": "head -c 100M /dev/zero | tr '\\0' x & W",
    "printing what is no text": "cat /dev/urandom & W",
    "reading": "cat; W & cat /dev/stdin; read x; W",
    "asking for a password": "read -s -p 'Password: ' x; W & python3 -c 'import getpass; getpass.getpass()'; W",
    "holding its output open": "exec 5>&1; setsid W & exec >/dev/null; wait",
}
# Commands that attack their supervisor.
AGAINST_THE_SUPERVISOR = {
    "which is ended": "setsid W & S; touch armed; kill -9 $PPID; sleep 600",
    "which is ended, by one without an environment": "setsid env -i W & S; touch armed; kill -9 $PPID; sleep 600",
    "which is stopped": "setsid W & S; kill -STOP $PPID; touch armed; sleep 600",
    "which is stopped, by one without an environment": "setsid env -i W & S; kill -STOP $PPID; touch armed; sleep 600",
}


def line(root: Path, command: str) -> str:
    """`S` waits until the worker is at work."""
    waits = f"until [ -e {root}/grows ]; do sleep 0.01; done"
    return (
        command.replace("W &", "W > /dev/null 2>&1 < /dev/null &")
        .replace("W", f"{root}/worker")
        .replace("S;", waits + ";")
    )


def prepared(root: Path) -> Path:
    root.mkdir()
    (root / "worker").write_text(WORKER.format(root=root))
    (root / "worker").chmod(0o755)
    return root


def execute(command: str, **more: Any) -> Answer:
    return Answer(calls=(ScriptedCall(tool="execute", arguments={"command": command, **more}),))


@asynccontextmanager
async def at_work(tmp_path: Path, *answers: Answer, **limits: Any) -> AsyncIterator[tuple[World, ContextId]]:
    root = tmp_path / "work"
    world = World(root, *answers, tools=builtin_tools(), store=MemoryStore(tmp_path / "kept"), limits=Limits(**limits))
    async with world.runtime:
        yield world, await world.start("agent")


async def grown(root: Path, name: str = "grows") -> None:
    async with asyncio.timeout(HANG_SECONDS):
        while not (root / name).exists():
            await asyncio.sleep(0.01)


async def is_quiet(root: Path) -> bool:
    """Whether no process is left soon, and no file grows afterwards."""
    until = time.monotonic() + HANG_SECONDS
    while left := processes_in(root):
        if time.monotonic() > until:
            end(left)
            return False
        await asyncio.sleep(0.02)
    size = (root / "grows").stat().st_size if (root / "grows").exists() else 0
    await asyncio.sleep(0.2)
    return size == ((root / "grows").stat().st_size if (root / "grows").exists() else 0)


def end(left: list[str]) -> None:
    """Processes that a test found to be left are ended after the test."""
    for each in left:
        try:
            os.kill(int(each.split()[0]), signal.SIGKILL)
        except ProcessLookupError:
            continue


def own_size() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGESIZE")


async def first_outcome(world: World, context_id: ContextId) -> tuple[CallRecord, str]:
    (record,) = await world.dependencies.store.calls(context_id)
    results = [each for each in await world.runtime.messages.read(context_id) if isinstance(each, ToolResult)]
    return record, results[-1].content


@pytest.mark.parametrize("name", [*STUBBORN, *AGAINST_THE_SUPERVISOR])
async def test_no_process_of_a_stopped_command_is_left(tmp_path: Path, name: str) -> None:
    root = prepared(tmp_path / "work")
    command = {**STUBBORN, **AGAINST_THE_SUPERVISOR}[name]
    async with at_work(tmp_path, execute(line(root, command))) as (world, context_id):
        await world.runtime.messages.send(context_id, "go")
        await grown(root, "armed" if name in AGAINST_THE_SUPERVISOR else "grows")
        async with asyncio.timeout(HANG_SECONDS):
            # A command that has ended its supervisor ends its turn, too, perhaps before the cancel.
            with suppress(*([Conflict] if name in AGAINST_THE_SUPERVISOR else [])):
                await world.runtime.turns.cancel(context_id)
            await world.runtime.turns.rested(context_id)
        assert await is_quiet(root)
        assert isinstance((await world.runtime.contexts.get(context_id)).state, Idle)
        (record,) = await world.dependencies.store.calls(context_id)
        assert not record.is_open


@pytest.mark.parametrize("name", ["which is ended", "which is ended, by one without an environment"])
async def test_no_process_of_a_command_that_killed_its_supervisor_is_left(tmp_path: Path, name: str) -> None:
    root = prepared(tmp_path / "work")
    command = AGAINST_THE_SUPERVISOR[name].removesuffix("; sleep 600")
    async with at_work(tmp_path, execute(line(root, command)), DONE) as (world, context_id):
        await world.turn(context_id)
        assert await is_quiet(root)


@pytest.mark.parametrize("name", ["deaf", "without an environment", "forked twice", "by many", "printing"])
async def test_no_process_of_a_command_survives_its_time_limit(tmp_path: Path, name: str) -> None:
    root = prepared(tmp_path / "work")
    command = execute(line(root, STUBBORN[name]), timeout=0.5)
    async with at_work(tmp_path, command, DONE) as (world, context_id):
        await world.runtime.messages.send(context_id, "go")
        async with asyncio.timeout(HANG_SECONDS):
            await world.runtime.turns.rested(context_id)
        assert await is_quiet(root)
        record, output = await first_outcome(world, context_id)
        assert record.status == "failed"
        assert "ended after 0.5 seconds" in output


@pytest.mark.parametrize("name", ["by nohup", "without an environment", "forked twice", "forked twice from elsewhere"])
async def test_no_process_of_a_finished_command_is_left(tmp_path: Path, name: str) -> None:
    root = prepared(tmp_path / "work")
    command = STUBBORN[name].replace("sleep 600", f"until [ -e {root}/grows ]; do sleep 0.01; done")
    async with at_work(tmp_path, execute(line(root, command)), DONE) as (world, context_id):
        await world.turn(context_id)
        assert (await first_outcome(world, context_id))[0].status == "executed"
        assert await is_quiet(root)


RUNTIME = """import asyncio, os, sys
from pathlib import Path
from pilothouse.domain.value import CallId
from pilothouse.sandbox.workspace import Workspace
from pilothouse.tools.base import ToolContext
from pilothouse.tools.builtin.execute import Execute, ExecuteArguments
job = ToolContext(call_id=CallId("call"), workspace=Workspace(Path(sys.argv[1])))
asyncio.run(Execute().run(ExecuteArguments(sys.argv[2]), job))
"""


@pytest.mark.parametrize("name", STUBBORN)
async def test_no_process_of_a_command_survives_a_kill_of_the_runtime(tmp_path: Path, name: str) -> None:
    root = prepared(tmp_path / "work")
    program = [sys.executable, "-c", RUNTIME, str(root), line(root, STUBBORN[name])]
    with subprocess.Popen(program, cwd=tmp_path, stdout=subprocess.DEVNULL) as runtime:
        await grown(root)
        runtime.send_signal(signal.SIGKILL)
        runtime.wait()
    assert await is_quiet(root)


# output

# Each prints several times more than the memory that may be taken; with the full counts, one prints very much.
PRINTS = {
    "lines": f"yes | head -c {'1G' if LONG else '300M'}",
    "without a line": "head -c 300M /dev/zero | tr '\\0' x",
    "zeros": "head -c 300M /dev/zero",
    "no text": "head -c 200M /dev/urandom",
    "to both": "(yes | head -c 100M) & (yes | head -c 100M >&2); wait",
}


@pytest.mark.parametrize("name", PRINTS)
async def test_endless_output_keeps_memory_flat_and_the_server_responsive(tmp_path: Path, name: str) -> None:
    prepared(tmp_path / "work")
    command = f"echo first; {PRINTS[name]}; echo; echo last"
    async with at_work(tmp_path, execute(command), Answer(text="well"), DONE) as (world, context_id):
        other = await world.start("agent")
        before = most = own_size()
        await world.runtime.messages.send(context_id, "go")
        while not isinstance((await world.runtime.contexts.get(context_id)).state, ExecutingTool):
            await asyncio.sleep(0)
        async with asyncio.timeout(HANG_SECONDS):
            await world.turn(other, "and you?")
        assert [content_of(message) for message in await world.runtime.messages.read(other)][-1] == "well"
        resting = asyncio.ensure_future(world.runtime.turns.rested(context_id))
        while not resting.done():
            most = max(most, own_size())
            await asyncio.sleep(0.02)
        assert most - before < GROWTH_AT_MOST
        record, output = await first_outcome(world, context_id)
        assert record.status == "executed"
        assert len(output) < 50_000
        assert output.startswith("first")
        assert output.endswith("last\n")
        assert "left out" in output
    sizes = [path.stat().st_size for path in (tmp_path / "kept").rglob("*.txt")]
    assert max(sizes) <= 32 * 1024 * 1024


async def test_a_command_with_too_many_processes_is_ended_with_a_reason(tmp_path: Path) -> None:
    root = prepared(tmp_path / "work")
    workers = f"for n in $(seq {BUSY}); do {root}/worker & done"
    command = f"{workers}; for n in $(seq {2000 - BUSY}); do sleep 600 & done; wait"
    async with at_work(tmp_path, execute(command), DONE) as (world, context_id):
        async with asyncio.timeout(HANG_SECONDS):
            await world.turn(context_id)
        assert await is_quiet(root)
        _, output = await first_outcome(world, context_id)
        assert "it had more than 1024 processes" in output


ASKS = ("cat", "read -r x; echo got:$x", "read -s -p 'Password: ' x", "python3 -c 'input()'", "cat /dev/stdin; cat -")
TERMINAL = ("python3 -c 'import getpass; getpass.getpass()'", "cat < /dev/tty", "git commit -a", "sudo -S true")


@pytest.mark.parametrize("command", [*ASKS, *TERMINAL])
async def test_a_command_that_wants_input_gets_none_and_ends(tmp_path: Path, command: str) -> None:
    prepared(tmp_path / "work")
    async with at_work(tmp_path, execute(command), DONE, call_seconds=20) as (world, context_id):
        await world.turn(context_id)
        assert (await first_outcome(world, context_id))[0].status == "executed"


async def test_an_editor_without_a_terminal_ends_at_its_time_limit(tmp_path: Path) -> None:
    root = prepared(tmp_path / "work")
    editor = execute("${EDITOR:-vi} note.txt; true", timeout=1)
    async with at_work(tmp_path, editor, DONE) as (world, context_id):
        async with asyncio.timeout(HANG_SECONDS):
            await world.turn(context_id)
        assert await is_quiet(root)


async def test_many_commands_are_stopped_at_once(tmp_path: Path) -> None:
    """Eight conversations, each with something that will not end: closing the runtime ends all of them."""
    root = prepared(tmp_path / "work")
    lines = [execute(f"setsid env -i {root}/worker & sleep 600 # {number}") for number in range(8)]
    async with at_work(tmp_path, *lines) as (world, first):
        others = [first, *[await world.start("agent") for _ in range(7)]]
        for context_id in others:
            await world.runtime.messages.send(context_id, "go")
        await grown(root)
        async with asyncio.timeout(HANG_SECONDS):
            await asyncio.gather(*(world.runtime.turns.cancel(context_id) for context_id in others))
        assert await is_quiet(root)


PATTERNS = ("(a+)+$", "(a|aa)+$", "a*a*a*a*a*b", "(.*)*x", "(a?){30}a{30}b")


@pytest.mark.parametrize("pattern", PATTERNS)
@pytest.mark.parametrize("engine", ["with ripgrep", "alone"])
async def test_a_hostile_pattern_ends_within_its_time_and_blocks_nobody(
    tmp_path: Path, pattern: str, engine: str
) -> None:
    root = prepared(tmp_path / "work")
    (root / "long").write_text("a" * 50_000 + "!\n")
    grep = Grep(find_ripgrep() if engine == "with ripgrep" else None, seconds=1)
    search = Answer(calls=(ScriptedCall(tool="grep", arguments={"pattern": pattern}),))
    world = World(root, search, Answer(text="well"), DONE, tools=[grep])
    async with world.runtime:
        context_id, other = await world.start("agent"), await world.start("agent")
        await world.runtime.messages.send(context_id, "go")
        async with asyncio.timeout(HANG_SECONDS):
            await world.turn(other, "and you?")
        async with asyncio.timeout(HANG_SECONDS):
            await world.runtime.turns.rested(context_id)
        assert processes_in(root) == []


def test_a_process_whose_name_looks_like_that_of_one_that_has_ended_is_ended_too(tmp_path: Path) -> None:
    program = shutil.copy("/bin/sh", tmp_path / "x) Z")
    script = '"$0" -c "echo started; while :; do sleep 60; done" & wait'
    with subprocess.Popen(["/bin/sh", "-c", script, program], stdout=subprocess.PIPE) as shell:
        try:
            assert shell.stdout is not None
            assert shell.stdout.readline() == b"started\n"
            processes.kill_descendants(shell.pid)
            assert shell.wait(timeout=HANG_SECONDS) == 0
        finally:
            shell.kill()


def test_no_more_processes_are_looked_at_than_are_asked_for() -> None:
    with subprocess.Popen(["/bin/sh", "-c", "sleep 60 & sleep 60 & sleep 60 & echo; wait"], stdout=-1) as shell:
        try:
            assert shell.stdout is not None
            shell.stdout.readline()
            assert len(process_tree.descendants(shell.pid, 2)) == 2
            assert len(process_tree.descendants(shell.pid)) == 3
        finally:
            processes.kill_descendants(shell.pid)
            shell.kill()


async def test_a_supervisor_that_comes_to_run_after_its_runtime_has_died_starts_nothing(tmp_path: Path) -> None:
    argv = ["/bin/sh", "-c", "echo ran > effect"]
    with processes.memory_file(processes.encode_orders(UNCONFINED, {})) as orders:
        supervisor = processes._supervisor_argv(UNCONFINED, 16, orders)
        done = subprocess.run([*supervisor, *argv], cwd=tmp_path, pass_fds=(orders,), stdin=subprocess.DEVNULL)
    assert done.returncode == 128 + signal.SIGKILL
    assert not (tmp_path / "effect").exists()
