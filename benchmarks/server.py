"""Figures of the server process as its clients see them: each compared with a bare relay of the same shape."""

import contextlib
import json
import socket
import statistics
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from benchmarks.figures import Row, milliseconds
from benchmarks.readers import (
    DELAY,
    DELTAS,
    MEGABYTE,
    STREAMS,
    TOKEN,
    Connection,
    Process,
    Reading,
    both,
    connected,
    model,
    new_context,
    our_command,
    our_environment,
    read_chats,
    read_pulls,
    relay_command,
    with_bytecode,
)
from benchmarks.systems import ROOT


async def chat_stream(folder: Path) -> list[Row]:
    """A long answer as fast as the model can give it."""
    deltas, runs = 20_000, 5
    ours, floor = [], []
    with both(folder, deltas) as (server, relay):
        for _ in range(runs):
            ours.append(await read_chats(server, 1, deltas))
            floor.append(await read_chats(relay, 1, deltas))
    return [
        Row(
            name=f"chat stream of {deltas:,}, one delta: {label}",
            unit="us",
            ours=statistics.median(getattr(reading, field) for reading in ours) * 1e6 / deltas,
            floor=statistics.median(getattr(reading, field) for reading in floor) * 1e6 / deltas,
            goal="<= 2 x a bare relay",
        )
        for label, field in (("CPU", "cpu"), ("wall", "wall"))
    ]


async def served_streams(folder: Path) -> list[Row]:
    """100 contexts at 50 deltas a second each. The floor has no signals: its readers are sent all, as chats are."""
    with both(folder, DELTAS, DELAY) as (server, relay):
        floor = await read_chats(relay, STREAMS)
        readings = {
            "chats": await read_chats(server, STREAMS),
            "pulls, 1 stream": await read_pulls(server, STREAMS, one_stream=True),
            f"pulls, {STREAMS} streams": await read_pulls(server, STREAMS, one_stream=False),
        }
    return [
        row for label, reading in {"relayed": floor, **readings}.items() for row in _keeps_up(label, reading, floor)
    ]


def _keeps_up(label: str, reading: Reading, floor: Reading) -> list[Row]:
    gap, least = _percentile(reading.gaps, 99), _percentile(floor.gaps, 99)
    name, more = f"{STREAMS} {label}: CPU of {reading.wall:.1f} s", f"  p99 gap, {reading.in_time:.0%} came in time"
    return [
        Row(name=name, unit="s", ours=reading.cpu, floor=floor.cpu, goal="half a core"),
        Row(name=more, unit="ms", ours=gap, floor=least, goal="<= 60 ms"),
    ]


async def one_pull(folder: Path) -> Row:
    """While the message is being written, beside the least that a request to Starlette costs."""
    count, runs = 1000, 5
    with both(folder, 2000, 0.05) as (server, relay):
        async with connected(server) as talking, connected(relay) as beside:
            context = f"/api/contexts/{await new_context(talking)}"
            body = {"payload": {"type": "text", "content": "words please"}}
            await talking.ask("POST", f"{context}/messages", body)
            ours: list[float] = []
            floor: list[float] = []
            while len(ours) < runs:
                writing = json.loads(await talking.ask("GET", context))["streaming"]
                if writing is not None and writing["sequence"]:
                    path = f"{context}/messages/{writing['message_id']}/content"
                    sequence = writing["sequence"] - 1
                    ours.append(await _cost(server, talking, f"{path}?from_sequence={sequence}", count))
                    floor.append(await _cost(relay, beside, "/api/health", count))
    goal = "printed only"
    return Row(name="one pull: CPU", unit="us", ours=statistics.median(ours), floor=statistics.median(floor), goal=goal)


async def _cost(process: Process, connection: Connection, path: str, count: int) -> float:
    """Microseconds of processor time for one request."""
    cpu = process.cpu()
    for _ in range(count):
        await connection.ask("GET", path)
    return (process.cpu() - cpu) / count * 1e6


async def delta_to_client(folder: Path) -> list[Row]:
    """The delay of a piece from the model to its reader, with ten streams at a time, so that no core is saturated."""
    streams = 10
    with both(folder, DELTAS, DELAY) as (server, relay):
        floor = await read_chats(relay, streams)
        readings = {
            "chat stream": await read_chats(server, streams),
            "signal and pull": await read_pulls(server, streams, one_stream=True),
        }
    return [
        Row(
            name=f"from model to client, {label}: p{percent}",
            unit="ms",
            ours=_percentile(reading.delays, percent),
            floor=_percentile(floor.delays, percent),
            goal="printed only",
        )
        for label, reading in readings.items()
        for percent in (50, 99)
    ]


def _percentile(values: Sequence[float], percent: int) -> float:
    return statistics.quantiles(values, n=100)[percent - 1]


async def served_memory(folder: Path) -> list[Row]:
    """Idle after the start; then per context in memory, per evicted context, and per open stream."""
    retained, count, streams = 100, 1000, 300
    with both(folder, 20) as (server, relay):
        await _health(server)
        await _health(relay)
        idle, least, shared = server.memory(), relay.memory(), server.memory("Pss")
        await _one_by_one(server, "first", 10)
        before = server.memory()
        await _one_by_one(server, "held", retained - 10)
        per_context = (server.memory() - before) / (retained - 10)
        await _one_by_one(server, "more", retained)
        before = server.memory()
        await _one_by_one(server, "idle", count)
        left = (server.memory() - before) / count
    folder = folder / "streams"
    folder.mkdir()
    with both(folder, 20) as (server, relay):
        await _one_by_one(server, "context", retained)
        paths = [f"/api/contexts/context{number % retained}/stream" for number in range(streams)]
        each = await _open_streams(server, paths)
        each_floor = await _open_streams(relay, ["/stream"] * streams)
    label = f"memory of the server, idle (PSS {shared / MEGABYTE:.0f} MB)"
    return [
        Row(name=label, unit="MB", ours=idle / MEGABYTE, floor=least / MEGABYTE, goal="<= 70 MB"),
        Row(name=f"  a context that is held ({retained} are)", unit="KB", ours=per_context / 1024, goal="printed only"),
        Row(name=f"  an idle context, of {count:,} more", unit="KB", ours=left / 1024, goal="<= 20 KB"),
        Row(
            name=f"  an open signal stream, of {streams}",
            unit="KB",
            ours=each / 1024,
            floor=each_floor / 1024,
            goal="<= 60 KB",
        ),
    ]


async def _health(process: Process) -> None:
    async with connected(process) as connection:
        await connection.ask("GET", "/api/health")


async def _one_by_one(process: Process, name: str, count: int) -> None:
    """So many contexts with one turn each."""
    async with connected(process) as connection:
        for number in range(count):
            async for _ in connection.stream("POST", f"/api/chat/{name}{number}", {"message": "words please"}):
                pass


async def _open_streams(process: Process, paths: Sequence[str]) -> float:
    """Bytes that each adds, when the first few have been opened before."""
    async with contextlib.AsyncExitStack() as stack:
        before = 0
        first = len(paths) // 10
        for number, path in enumerate([*paths[:first], *paths]):
            connection = await stack.enter_async_context(connected(process))
            await anext(connection.stream("GET", path))
            if number == first - 1:
                before = process.memory()
        return (process.memory() - before) / len(paths)


async def served_start(folder: Path) -> Row:
    """From the start of the process until a request is answered."""
    with model(1) as address:
        ours, floor, bare = [], [], []
        for _ in range(8):
            port = _free_port()
            ours.append(_until_answered(our_command(folder, port), port, our_environment(folder, address)))
            port = _free_port()
            floor.append(_until_answered(relay_command(address, port), port, with_bytecode()))
            began = time.perf_counter()
            subprocess.run([sys.executable, "-c", "pass"], env=with_bytecode(), check=True)  # noqa: ASYNC221
            bare.append(milliseconds(began))
    name = f"server's start (the interpreter's: {min(bare):.0f} ms)"
    return Row(name=name, unit="ms", ours=min(ours), floor=min(floor), goal="<= 500 ms")


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port: int = listener.getsockname()[1]
        return port


def _until_answered(command: Sequence[str], port: int, environment: dict[str, str]) -> float:
    question = f"GET /api/health HTTP/1.1\r\nhost: 127.0.0.1\r\nauthorization: Bearer {TOKEN}\r\n\r\n".encode()
    began = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd=ROOT, env=environment)
    with process:
        try:
            while True:
                try:
                    with socket.create_connection(("127.0.0.1", port)) as connection:
                        connection.sendall(question)
                        assert connection.recv(4096).startswith(b"HTTP/1.1 200")
                        return milliseconds(began)
                except ConnectionRefusedError:
                    if process.poll() is not None:
                        raise RuntimeError(f"it has ended: {command}") from None
                    time.sleep(0.001)
        finally:
            process.kill()
