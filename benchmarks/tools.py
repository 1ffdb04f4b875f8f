"""Figures about tools: the cost of classification, artifacts, confinement and undo data beside a bare command."""

import asyncio
import os
import shutil
import statistics
import subprocess
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from benchmarks.figures import Row, milliseconds
from pilothouse.domain.value import CallId
from pilothouse.sandbox.command_environment import CommandEnvironment
from pilothouse.sandbox.shell.classify import classify_uncached
from pilothouse.sandbox.shell.grammar import _parser
from pilothouse.sandbox.workspace import Workspace
from pilothouse.tools.artifacts import ArtifactFolder, ArtifactStore
from pilothouse.tools.base import ToolContext
from pilothouse.tools.builtin.execute import Execute, ExecuteArguments
from pilothouse.tools.builtin.grep.tool import Grep, GrepArguments, find_ripgrep

_LINE = "git log --oneline -5 | head -n 3 && ls -la src 2>/dev/null"
_FILES = 3000


async def judging(folder: Path) -> Row:  # noqa: ARG001
    """Check a line with three commands, compared with parsing it alone."""
    parser = _parser()
    ours = _microseconds(lambda: classify_uncached(_LINE))
    floor = _microseconds(lambda: parser.parse(_LINE.encode()))
    return Row(name="judging a command line", unit="us", ours=ours, floor=floor, goal="<= 1 ms")


def _microseconds(work: Callable[[], Any]) -> float:
    took = []
    for _ in range(20):
        began = time.perf_counter()
        for _ in range(50):
            work()
        took.append((time.perf_counter() - began) * 20_000)
    return statistics.median(took)


async def commands(folder: Path) -> list[Row]:
    """A command that does nothing: under its supervisor, and confined; compared with a shell started directly."""
    tool = Execute()
    arguments = ExecuteArguments(command="true")
    workspace = Workspace(folder, environment=CommandEnvironment.of(os.environ))

    async def run(confined: bool) -> None:
        await tool.run(arguments, ToolContext(CallId("c"), workspace, confined=confined))

    async def bare() -> None:
        process = await asyncio.create_subprocess_exec("bash", "-c", "true")
        await process.wait()

    floor = await _median(bare)
    return [
        Row(
            name="a command under its supervisor",
            unit="ms",
            ours=await _median(lambda: run(False)),
            floor=floor,
            goal="-",
        ),
        Row(
            name="the same, confined by the kernel",
            unit="ms",
            ours=await _median(lambda: run(True)),
            floor=floor,
            goal="-",
        ),
    ]


async def remembering(folder: Path) -> list[Row]:
    """A command that changes one of many files, with undo data; compared with the same without."""
    return [await _remembering(folder, files) for files in (_FILES, 100_000)]


async def _remembering(folder: Path, files: int) -> Row:
    root = _tree(folder, files)
    tool = Execute()
    workspace = Workspace(root, environment=CommandEnvironment.of(os.environ))
    artifacts = ArtifactFolder(folder / f"artifacts{files}")

    async def run(artifacts: ArtifactStore | None) -> None:
        arguments = ExecuteArguments(command="echo $RANDOM > changed.txt")
        await tool.run(arguments, ToolContext(CallId(f"c{time.perf_counter_ns()}"), workspace, artifacts=artifacts))

    await asyncio.sleep(2.5)  # files changed within two seconds are read again: a project's mostly are older
    await run(artifacts)
    ours, floor = await _median(lambda: run(artifacts)), await _median(lambda: run(None))
    return Row(name=f"a command that can be undone, {files:,} files", unit="ms", ours=ours, floor=floor, goal="-")


async def searching(folder: Path) -> list[Row]:
    """A regular expression over 3,000 files: with ripgrep and without, beside ripgrep alone."""
    root = _tree(folder)
    program = find_ripgrep() or shutil.which("rg")
    arguments = GrepArguments(pattern=r"need\w+ in", max_results=50)
    job = ToolContext(CallId("c"), Workspace(root))
    rows = []
    floor = 0.0
    if program is not None:
        floor = await _median(lambda: asyncio.to_thread(_ripgrep, program, root))
        with_it = Grep(program)
        ours = await _median(lambda: with_it.run(arguments, job))
        rows.append(Row(name="grep over 3,000 files, with ripgrep", unit="ms", ours=ours, floor=floor, goal="-"))
    without = Grep(None)
    ours = await _median(lambda: without.run(arguments, job))
    return [*rows, Row(name="the same without it", unit="ms", ours=ours, floor=floor or None, goal="-")]


def _ripgrep(program: str, root: Path) -> None:
    subprocess.run([program, "-n", r"need\w+ in", str(root)], check=False, capture_output=True)


def _tree(folder: Path, files: int = _FILES) -> Path:
    root = folder / f"tree{files}"
    for number in range(files):
        path = root / f"folder{number % (files // 60)}" / f"file{number}.txt"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("some text that is searched\n" * 40 + ("a needle in here\n" if number % 100 == 0 else ""))
    return root


async def _median(work: Callable[[], Awaitable[Any]], rounds: int = 15) -> float:
    took = []
    for _ in range(rounds):
        began = time.perf_counter()
        await work()
        took.append(milliseconds(began))
    return statistics.median(took)
