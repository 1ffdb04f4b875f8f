"""Figures of the page in a real browser: the built page, a server of its own, a model at 200 tokens a second.

`web/bench` measures and prints a line of JSON for each figure; the targets are in this file.
"""

import asyncio
import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from benchmarks.figures import Row
from benchmarks.page_model import PARAGRAPH
from benchmarks.readers import TOKEN, our_command, our_environment
from benchmarks.systems import ROOT
from pilothouse.testing.history import make_history

SIZES = (100, 1_000, 10_000)
SETTINGS = "[window]\ntoken_budget = 100000000\nauto_compress = false\n"

# Required and desired values, by the name of a figure in `web/bench`.
GOALS = {
    "first load of the page, LCP": "<= 1500 ms, aim 800",
    "open 10,000 messages, cold": "<= 1000 ms, aim 500",
    "open 10,000 messages, warm": "<= 300 ms, aim 100",
    "open 10,000 messages, cold, CPU / 4": "<= 2500 ms, aim 1500",
    "switch to a loaded tab": "<= 200 ms, aim 100",
    "elements with 10,000 messages": "<= 2500, aim 1500",
    "JS heap with 10,000 messages": "<= 150 MB, aim 80",
    "streaming: gap between frames, p95": "<= 20 ms, aim 17",
    "streaming: gap between frames, p99": "<= 50 ms, aim 34",
    "streaming: frames over 50 ms": "<= 1 %, aim 0",
    "streaming: long tasks": "<= 5 %, aim 1",
    "streaming, CPU / 4: gap, p95": "<= 67 ms, aim 34",
    "streaming, CPU / 4: long tasks": "<= 30 %, aim 10",
    "streaming: from model to screen, p95": "<= 100 ms, aim 50",
    "streaming: shift of the layout (CLS)": "<= 0.02, aim 0",
    "10 s unpinned: drift of what is read": "<= 1 px, aim 0",
    "a key in the box while streaming": "<= 100 ms, aim 50",
    "the menu of modes while streaming": "<= 100 ms, aim 50",
    "another tab while streaming": "<= 100 ms, aim 50",
    "a key in the box, CPU / 4": "<= 200 ms, aim 100",
    "the menu of modes, CPU / 4": "<= 200 ms, aim 100",
    "another tab, CPU / 4": "<= 200 ms, aim 100",
    "approve": "<= 100 ms, aim 50",
    "approve: until the decision is sent": "<= 50 ms, aim 16",
    "eager JavaScript, packed": "<= 300 kB, aim 230",
    "all styles, packed": "<= 30 kB, aim 20",
    "added to the wheel": "<= 5 MB, aim 3",
}


async def page(folder: Path) -> list[Row]:
    workspace = folder / "work"
    workspace.mkdir()
    (folder / "config" / "pilothouse").mkdir(parents=True)
    (folder / "config" / "pilothouse" / "config.toml").write_text(SETTINGS)
    contexts = {
        size: await make_history(folder / "data", workspace, size, title=f"{size}", content=_said) for size in SIZES
    }
    with _model() as address, _server(folder, address) as link:
        environment = {**os.environ, "BENCH_LINK": link, "BENCH_TOKEN": TOKEN, "BENCH_CONTEXTS": json.dumps(contexts)}
        command = ["npm", "--prefix", str(ROOT / "web"), "run", "--silent", "bench"]
        completed = await asyncio.to_thread(
            subprocess.run, command, env=environment, capture_output=True, text=True, check=False
        )
    sys.stderr.write(completed.stderr)
    return [_row(json.loads(line)) for line in completed.stdout.splitlines() if line.startswith("{")]


def _row(figure: dict[str, Any]) -> Row:
    name = figure["name"]
    return Row(
        name=name,
        unit=figure["unit"],
        ours=figure["ours"],
        floor=figure.get("floor"),
        goal=GOALS.get(name, "printed only"),
    )


def _said(number: int) -> str:
    """Short questions, and answers of very different lengths."""
    if number % 2 == 0:
        return f"{number} what of the log?"
    return f"{number} " + PARAGRAPH * (number * 7919 % 4) + "And so on."


@contextmanager
def _model() -> Iterator[str]:
    command = [sys.executable, "-m", "benchmarks.page_model"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=ROOT) as process:
        assert process.stdout is not None
        try:
            yield process.stdout.readline().strip()
        finally:
            process.kill()


@contextmanager
def _server(folder: Path, address: str) -> Iterator[str]:
    """Start the server and return the address that it prints."""
    with subprocess.Popen(
        our_command(folder, 0),
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        cwd=ROOT,
        env=our_environment(folder, address),
    ) as process:
        assert process.stdout is not None
        try:
            yield next(match[0] for line in process.stdout if (match := re.search(r"http://[^/ \n]+", line)))
        finally:
            process.terminate()
