"""Connections for tests, and checks around every server that misbehaves."""

import asyncio
import contextlib
import os
import sys
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

from pilothouse.sandbox.processes import MARK
from pilothouse.system.ambient import SystemAmbient
from pilothouse.tools.mcp.connection import Connection
from pilothouse.tools.mcp.definitions import MCPServerDefinition
from tests.support.scale import HANG_SECONDS

FAKE = Path(__file__).with_name("fake_server.py")
PEERS = Path(__file__).with_name("peers") / "node_modules"
ENVIRONMENT = {name: os.environ[name] for name in ("PATH", "HOME", "LANG") if name in os.environ}
GROWTH_AT_MOST = 64 * 1024 * 1024


def fake(name: str, how: str = "healthy", **more: Any) -> MCPServerDefinition:
    return MCPServerDefinition(name=name, command=sys.executable, args=(str(FAKE), how), **more)


@contextlib.asynccontextmanager
async def connected(
    definition: MCPServerDefinition,
    *,
    ambient: Any = None,
    on_change: Callable[[Connection], None] = lambda connection: None,
    is_ready: bool = True,
) -> AsyncIterator[Connection]:
    """A connection, without a process left afterwards. A busy machine may take some time to end them."""
    connection = Connection(
        definition, environment=ENVIRONMENT, ambient=ambient or SystemAmbient(), on_change=on_change
    )
    await connection.start()
    try:
        if is_ready:
            assert await connection.ready(30), connection.error
        yield connection
    finally:
        async with asyncio.timeout(HANG_SECONDS):
            await connection.stop()
            assert connection.status == "stopped"
            while remaining_processes(definition.name):
                await asyncio.sleep(0.01)


@contextlib.asynccontextmanager
async def beside_a_healthy_server(name: str) -> AsyncIterator[None]:
    """Another server in the same process keeps answering, and memory stays flat."""
    async with connected(fake(f"beside-{name}")) as neighbour:
        Path("/proc/self/clear_refs").write_text("5")  # the peak counts from here
        before = memory("VmRSS")

        async def use() -> None:
            while True:
                async with asyncio.timeout(HANG_SECONDS):
                    assert (await neighbour.call("echo", {"text": "still here"})).text == "still here"
                await asyncio.sleep(0.02)

        using = asyncio.create_task(use())
        try:
            yield
        finally:
            using.cancel()
            await asyncio.wait({using})
        assert using.cancelled(), using.exception()
        assert neighbour.restarts == 0
        assert memory("VmHWM") - before < GROWTH_AT_MOST


def memory(what: str) -> int:
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(f"{what}:"):
            return int(line.split()[1]) * 1024
    raise AssertionError(what)


def remaining_processes(name: str) -> list[str]:
    """Processes of a server that are still there."""
    pids = []
    for entry in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if f"{MARK}=mcp-{name}-".encode() in (entry / "environ").read_bytes():
                pids.append((entry / "cmdline").read_bytes().replace(b"\0", b" ").decode())
    return pids


async def until(condition: Callable[[], bool], seconds: float = 10) -> None:
    async with asyncio.timeout(seconds):
        while not condition():
            await asyncio.sleep(0.01)
