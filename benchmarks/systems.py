"""The measured systems: Pilothouse, a bare client that does the least, and a peer in an environment of its own."""

import asyncio
import json
import os
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any

import httpx2 as httpx

from pilothouse.llm.base import Adapter
from pilothouse.llm.openai import OpenAIAdapter
from pilothouse.runtime.dependencies import RuntimeDependencies
from pilothouse.runtime.runtime import Runtime
from pilothouse.storage.files.store import FileStore
from pilothouse.system.ambient import SystemAmbient, timestamp
from pilothouse.testing.tools import NoteTool
from pilothouse.tools.registry import Registry

ROOT = Path(__file__).parent.parent
PEER_PYTHON = ROOT / ".bench-venv" / "bin" / "python"


@contextmanager
def provider(deltas: int = 1000, delta_delay: float = 0) -> Iterator[str]:
    """Start a provider in a process of its own and return its address."""
    command = [sys.executable, "-m", "benchmarks.provider", str(deltas), str(delta_delay)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=ROOT) as process:
        assert process.stdout is not None
        try:
            yield process.stdout.readline().strip()
        finally:
            process.kill()


def pilothouse(data: Path, address: str, adapter: Adapter | None = None) -> Runtime:
    ambient = SystemAmbient()
    return Runtime(
        RuntimeDependencies(
            store=FileStore(data, now=lambda: timestamp(ambient.now())),
            adapter=adapter or OpenAIAdapter(address, "unused"),
            model="fake",
            registry=Registry([NoteTool("noop", "mutating")]),
            ambient=ambient,
            token_budget=10**9,  # the whole history is sent, as by the other systems
        )
    )


class BareClient:
    """The floor: an HTTP client that reads lines and decodes them, and one durable append for each message."""

    def __init__(self, address: str, log: Path) -> None:
        self._client = httpx.AsyncClient(timeout=60)
        self._url = address + "/chat/completions"
        self._fd = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND)

    def append(self, size: int = 1000) -> None:
        os.write(self._fd, b"x" * size)
        os.fdatasync(self._fd)

    async def ask(self, messages: list[dict[str, Any]] | bytes) -> tuple[float, int]:
        """Send one request and read its answer: the seconds to the first piece, and the number of pieces."""
        body = messages if isinstance(messages, bytes) else json.dumps({"model": "fake", "messages": messages}).encode()
        began, first, count = time.perf_counter(), 0.0, 0
        async with self._client.stream("POST", self._url, content=body) as response:
            async for line in response.aiter_lines():
                if line.startswith("data: {") and json.loads(line[6:])["choices"][0]["delta"].get("content"):
                    first = first or time.perf_counter() - began
                    count += 1
        return first, count

    async def close(self) -> None:
        await self._client.aclose()
        os.close(self._fd)


@asynccontextmanager
async def side_by_side(
    folder: Path, *, deltas: int, mode: str = "agent"
) -> AsyncIterator[tuple[Runtime, str, BareClient]]:
    """Ours with an open context, and a bare client, both on one provider."""
    with provider(deltas=deltas) as address:
        bare = BareClient(address, folder / "log")
        async with pilothouse(folder / "data", address) as runtime:
            yield runtime, await runtime.contexts.create(folder, mode=mode), bare
        await bare.close()


async def peer_alone(measure: str, *more: str, deltas: int) -> dict[str, Any] | None:
    """Measure the peer with a provider of its own. None if the peer is not installed."""
    with provider(deltas=deltas) as address:
        return await peer(address, measure, *more)


async def peer(address: str, measure: str, *more: str) -> dict[str, Any] | None:
    """Measure LangGraph with its SQLite checkpointer; None if LangGraph is not installed."""
    if not PEER_PYTHON.exists():
        return None
    process = await asyncio.create_subprocess_exec(
        str(PEER_PYTHON),
        str(ROOT / "benchmarks" / "peer.py"),
        address,
        measure,
        *more,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
    )
    output, _ = await process.communicate()
    figures: dict[str, Any] = json.loads(output)
    return figures
