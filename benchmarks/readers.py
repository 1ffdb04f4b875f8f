"""Servers as processes, and one reader for all of their streams.

The reader writes and parses HTTP itself, so that reading costs little beside serving.
"""

import asyncio
import contextlib
import json
import os
import re
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from itertools import pairwise
from pathlib import Path

from benchmarks.systems import ROOT

TOKEN = "a-token-of-the-benchmarks"
STREAMS = 100
DELTAS = 200
DELAY = 0.02
LATE = 0.1
SECONDS_AT_MOST = 120

_STAMP = re.compile(rb"\d{20}")
_DELTA = re.compile(rb"event: ContentDelta\ndata: (.*)\n")
_LENGTH = re.compile(rb"content-length: (\d+)", re.IGNORECASE)
_LAST_CHUNK = b"\r\n0\r\n\r\n"
MEGABYTE = 1024.0**2


# Processes.


class Process:
    """A server that listens: ours, or the relay, which knows no contexts."""

    def __init__(self, pid: int, port: int, *, is_ours: bool) -> None:
        self.pid = pid
        self.port = port
        self.is_ours = is_ours

    def cpu(self) -> float:
        """Seconds of processor time so far, in user and system mode."""
        fields = Path(f"/proc/{self.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def memory(self, kind: str = "Rss") -> int:
        lines = Path(f"/proc/{self.pid}/smaps_rollup").read_text().splitlines()
        return next(int(line.split()[1]) * 1024 for line in lines if line.startswith(kind + ":"))


def with_bytecode(**more: str) -> dict[str, str]:
    """With compiled bytecode, as in an installation."""
    return {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"} | more


@contextmanager
def _running(command: Sequence[str], environment: dict[str, str]) -> Iterator[tuple[int, str]]:
    """Start a server; its process id, and its address once printed."""
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, cwd=ROOT, env=environment
    )
    with process:
        assert process.stdout is not None
        try:
            match = next(match for line in process.stdout if (match := re.search(r"http://[^ \n]+", line)))
            yield process.pid, match.group()
        finally:
            process.kill()


@contextmanager
def model(deltas: int, delay: float = 0) -> Iterator[str]:
    command = [sys.executable, "-m", "benchmarks.relay", "model", str(deltas), str(delay)]
    with _running(command, with_bytecode()) as (_, address):
        yield address


def our_command(folder: Path, port: int) -> list[str]:
    for name in ("data", "work", "config"):
        (folder / name).mkdir(exist_ok=True)
    options = ["--data-dir", str(folder / "data"), "--root", str(folder / "work")]
    return [sys.executable, "-m", "pilothouse.cli", "serve", "--no-open", "--port", str(port), *options]


def our_environment(folder: Path, address: str) -> dict[str, str]:
    return with_bytecode(
        PILOTHOUSE_TOKEN=TOKEN,
        PILOTHOUSE_MODEL="openai:fake",
        OPENAI_BASE_URL=address,
        XDG_CONFIG_HOME=str(folder / "config"),
    )


def relay_command(address: str, port: int) -> list[str]:
    return [sys.executable, "-m", "benchmarks.relay", str(port), address]


@contextmanager
def _ours(folder: Path, address: str) -> Iterator[Process]:
    with _running(our_command(folder, 0), our_environment(folder, address)) as (pid, url):
        yield Process(pid, _port_of(url), is_ours=True)


@contextmanager
def _relay(address: str) -> Iterator[Process]:
    with _running(relay_command(address, 0), with_bytecode()) as (pid, url):
        yield Process(pid, _port_of(url), is_ours=False)


def _port_of(address: str) -> int:
    return int(address.split(":")[2].partition("/")[0])


@contextmanager
def both(folder: Path, deltas: int, delay: float = 0) -> Iterator[tuple[Process, Process]]:
    with model(deltas, delay) as address, _ours(folder, address) as ours, _relay(address) as relay:
        yield ours, relay


# The reader.


class Connection:
    """A persistent connection: one request after the other."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer

    async def _begin(self, method: str, path: str, body: object) -> bytes:
        data = json.dumps(body).encode() if body is not None else b""
        kind = f"content-type: application/json\r\ncontent-length: {len(data)}\r\n" if data else ""
        head = f"{method} {path} HTTP/1.1\r\nhost: 127.0.0.1\r\nauthorization: Bearer {TOKEN}\r\n{kind}\r\n"
        self._writer.write(head.encode() + data)
        answer = await self._reader.readuntil(b"\r\n\r\n")
        if not answer.startswith(b"HTTP/1.1 2"):
            raise RuntimeError(f"{method} {path}: {answer.decode()}")
        return answer

    async def ask(self, method: str, path: str, body: object = None) -> bytes:
        match = _LENGTH.search(await self._begin(method, path, body))
        assert match is not None
        return await self._reader.readexactly(int(match.group(1)))

    async def stream(self, method: str, path: str, body: object = None) -> AsyncIterator[bytes]:
        """Whole events as they come, several where they came together. The frames between them are left in."""
        await self._begin(method, path, body)
        rest = b""
        while part := await self._reader.read(256 * 1024):
            whole, end, rest = (rest + part).rpartition(b"\n\n")
            yield whole + end
            if rest.endswith(_LAST_CHUNK):
                return

    def close(self) -> None:
        self._writer.close()


@asynccontextmanager
async def connected(process: Process) -> AsyncIterator[Connection]:
    connection = Connection(*await asyncio.open_connection("127.0.0.1", process.port))
    try:
        yield connection
    finally:
        connection.close()


class WatchedAnswer:
    """A received answer: for each piece the time when the model wrote it and when it arrived, in nanoseconds."""

    def __init__(self) -> None:
        self.pieces: list[tuple[int, int]] = []

    def take(self, data: bytes) -> None:
        now = time.monotonic_ns()
        self.pieces += [(int(stamp), now) for stamp in _STAMP.findall(data)]

    def delays(self) -> list[float]:
        """Milliseconds."""
        return [(here - written) / 1e6 for written, here in self.pieces]

    def gaps(self) -> list[float]:
        """Milliseconds between arrivals; pieces that came together count once."""
        times = sorted({here for _, here in self.pieces})
        return [(after - before) / 1e6 for before, after in pairwise(times)]

    def in_time(self) -> int:
        """How many were here when the time-table ended, or a little later."""
        end = self.pieces[0][0] + (DELTAS * DELAY + LATE) * 1e9
        return sum(here <= end for _, here in self.pieces)


async def new_context(connection: Connection) -> str:
    context_id: str = json.loads(await connection.ask("POST", "/api/contexts", {}))["context_id"]
    return context_id


async def _watch_chat(connection: Connection, path: str) -> WatchedAnswer:
    watched = WatchedAnswer()
    async for events in connection.stream("POST", path, {"message": "words please"}):
        watched.take(events)
    return watched


class Puller:
    """Sends a message in a context and follows the answer: after each signal it pulls the next part."""

    def __init__(self, context_id: str, connection: Connection, expected_pieces: int) -> None:
        self.watched = WatchedAnswer()
        self._context = f"/api/contexts/{context_id}"
        self._connection = connection
        self._expected_pieces = expected_pieces
        self._told: dict[str, str] = {}
        self._more = asyncio.Event()

    def tell(self, data: dict[str, str]) -> None:
        self._told = data
        self._more.set()

    async def run(self) -> None:
        body = {"payload": {"type": "text", "content": "words please"}}
        await self._connection.ask("POST", f"{self._context}/messages", body)
        while (count := len(self.watched.pieces)) < self._expected_pieces:
            await self._more.wait()
            self._more.clear()
            path = f"{self._context}/messages/{self._told['message_id']}/content?from_sequence={count}"
            self.watched.take(await self._connection.ask("GET", path))


async def _listen(connection: Connection, path: str, pullers: dict[str, Puller], is_open: asyncio.Event) -> None:
    async for events in connection.stream("GET", path):
        is_open.set()
        for match in _DELTA.findall(events):
            data = json.loads(match)
            pullers[data["context_id"]].tell(data)


class Reading:
    """Figures of all readers together, and their cost for the server."""

    def __init__(self, watched: Sequence[WatchedAnswer], cpu: float, wall: float) -> None:
        self.cpu = cpu
        self.wall = wall
        self.pieces = sum(len(each.pieces) for each in watched)
        self.delays = sorted(delay for each in watched for delay in each.delays())
        self.gaps = sorted(gap for each in watched for gap in each.gaps())
        self.in_time = sum(each.in_time() for each in watched) / self.pieces


async def _measured(
    process: Process, expected_pieces: int, work: Callable[[], Awaitable[Sequence[WatchedAnswer]]]
) -> Reading:
    cpu, began = process.cpu(), time.perf_counter()
    async with asyncio.timeout(SECONDS_AT_MOST):
        watched = await work()
    readings = Reading(watched, process.cpu() - cpu, time.perf_counter() - began)
    if readings.pieces != expected_pieces:
        raise RuntimeError(f"{readings.pieces} pieces came, not {expected_pieces}")
    return readings


async def read_chats(process: Process, count: int, deltas: int = DELTAS) -> Reading:
    """A number of pullers at a time, each over its own connection, in existing contexts."""
    async with contextlib.AsyncExitStack() as stack:
        chats = []
        for _ in range(count):
            connection = await stack.enter_async_context(connected(process))
            chats.append((connection, f"/api/chat/{await new_context(connection)}" if process.is_ours else "/chat"))

        async def work() -> list[WatchedAnswer]:
            return await asyncio.gather(*(_watch_chat(connection, path) for connection, path in chats))

        return await _measured(process, count * deltas, work)


async def read_pulls(process: Process, count: int, *, one_stream: bool) -> Reading:
    """Signals of all contexts over one connection, or each over its own; pulls over one connection a context."""
    async with contextlib.AsyncExitStack() as stack:
        pullers = {}
        for _ in range(count):
            connection = await stack.enter_async_context(connected(process))
            pulled_id = await new_context(connection)
            pullers[pulled_id] = Puller(pulled_id, connection, DELTAS)
        paths = [f"/api/contexts/{context_id}/stream" for context_id in pullers]
        if one_stream:
            paths = ["/api/stream?contexts=" + ",".join(pullers)]
        listening = []
        for path in paths:
            connection, is_open = await stack.enter_async_context(connected(process)), asyncio.Event()
            listening.append(asyncio.ensure_future(_listen(connection, path, pullers, is_open)))
            await is_open.wait()

        async def work() -> list[WatchedAnswer]:
            await asyncio.gather(*(puller.run() for puller in pullers.values()))
            return [puller.watched for puller in pullers.values()]

        try:
            return await _measured(process, count * DELTAS, work)
        finally:
            for task in listening:
                task.cancel()
