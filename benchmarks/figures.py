"""The figures. Ours and the floor are measured in turns, so that both see the same noise."""

import asyncio
import os
import statistics
import subprocess
import sys
import time
from pathlib import Path

from tests.support.live_contexts import pool_of

from benchmarks.systems import ROOT, BareClient, peer, peer_alone, pilothouse, provider, side_by_side
from pilothouse.domain.signals import ContentDelta
from pilothouse.domain.value import Value
from pilothouse.llm.script import Answer, Script, ScriptedCall
from pilothouse.llm.scripted import ScriptedAdapter
from pilothouse.runtime.runtime import Runtime
from pilothouse.testing.history import make_history

HELLO = [{"role": "user", "content": "words please"}]
TOOL = [{"role": "user", "content": "tool please"}]
ANSWERED = [*TOOL, {"role": "assistant", "content": "x"}, {"role": "tool", "content": "x"}]


class Row(Value):
    name: str
    unit: str
    ours: float
    goal: str
    floor: float | None = None
    peer: float | None = None

    def line(self) -> str:
        cells = [f"{self.name:<44}", self._figure(self.ours), self._figure(self.floor)]
        cells.append(f"{self.ours / self.floor:>8.1f}x" if self.floor else f"{'-':>9}")
        cells.append(self._figure(self.peer))
        cells.append(f"{self.peer / self.ours:>8.0f}x" if self.peer else f"{'-':>9}")
        return "".join(cells) + f"  {self.goal}"

    def _figure(self, value: float | None) -> str:
        return f"{'-':>14}" if value is None else f"{value:>8.4g} {self.unit:<5}"


def milliseconds(began: float) -> float:
    return (time.perf_counter() - began) * 1000


async def delta(folder: Path) -> Row:
    pieces = 1000
    ours, floor = [], []
    async with side_by_side(folder, deltas=pieces) as (runtime, context_id, bare):
        for _ in range(8):
            began = time.perf_counter()
            await runtime.messages.send(context_id, "words please")
            await runtime.turns.rested(context_id)
            ours.append(milliseconds(began))
            began = time.perf_counter()
            await bare.ask(HELLO)
            bare.append()
            floor.append(milliseconds(began))
    peer_figures = await peer_alone("delta", deltas=pieces)
    return Row(
        name="relay of one streamed delta, persisted",
        unit="us",
        ours=statistics.median(ours) * 1000 / pieces,
        floor=statistics.median(floor) * 1000 / pieces,
        peer=peer_figures["us_per_delta"] if peer_figures else None,
        goal="<= 1.5 x floor, >= 10 x ahead",
    )


async def first_token(folder: Path) -> Row:
    ours, floor = [], []
    async with side_by_side(folder, deltas=5) as (runtime, context_id, bare):
        for _ in range(40):
            with runtime.signals([context_id]) as signals:
                began = time.perf_counter()
                await runtime.messages.send(context_id, "words please")
                async for signal in signals:
                    if isinstance(signal, ContentDelta):
                        ours.append(milliseconds(began))
                        break
            await runtime.turns.rested(context_id)
            floor.append((await bare.ask(HELLO))[0] * 1000)
    overhead = statistics.median(ours) - statistics.median(floor)
    return Row(name="time to first token, overhead", unit="ms", ours=overhead, goal="<= 3 ms")


async def tool_round(folder: Path) -> Row:
    ours, floor = [], []
    async with side_by_side(folder, deltas=5) as (runtime, context_id, bare):
        for _ in range(40):
            ours.append(await _round_of_turn(runtime, context_id))
            began = time.perf_counter()
            await bare.ask(TOOL)
            bare.append()
            bare.append()
            floor.append(milliseconds(began))
    peer_figures = await peer_alone("tool_round", deltas=5)
    return Row(
        name="one tool round, durable",
        unit="ms",
        ours=statistics.median(ours),
        floor=statistics.median(floor),
        peer=peer_figures["ms"] if peer_figures else None,
        goal="<= 3 ms, >= 10 x ahead",
    )


async def tool_round_in_process(folder: Path) -> Row:
    """The same with the model in process: the runtime's own cost, compared with two durable appends."""
    turns = 60
    answers: list[Answer] = []
    for number in range(turns):
        call = ScriptedCall(tool="noop", arguments={"text": str(number)})
        answers += [Answer(calls=(call,)), Answer(text="done"), Answer(text="words")]
    ours, floor = [], []
    bare = BareClient("", folder / "log")
    async with pilothouse(folder / "data", "", ScriptedAdapter(Script(turn=tuple(answers)))) as runtime:
        context_id = await runtime.contexts.create(folder)
        for _ in range(turns):
            ours.append(await _round_of_turn(runtime, context_id))
            began = time.perf_counter()
            bare.append()
            bare.append()
            floor.append(milliseconds(began))
    await bare.close()
    return Row(
        name="one tool round, model in process",
        unit="ms",
        ours=statistics.median(ours),
        floor=statistics.median(floor),
        goal="<= 3 ms",
    )


async def _round_of_turn(runtime: Runtime, context_id: str) -> float:
    """A turn with one tool round, less a turn without: the cost of the round alone."""
    began = time.perf_counter()
    await runtime.messages.send(context_id, "tool please")
    await runtime.turns.rested(context_id)
    with_tool = milliseconds(began)
    began = time.perf_counter()
    await runtime.messages.send(context_id, "words please")
    await runtime.turns.rested(context_id)
    return with_tool - milliseconds(began)


async def approval(folder: Path) -> Row:
    ours, floor = [], []
    async with side_by_side(folder, deltas=5, mode="supervised") as (runtime, context_id, bare):
        for _ in range(40):
            await runtime.messages.send(context_id, "tool please")
            await runtime.turns.rested(context_id)
            began = time.perf_counter()
            await runtime.calls.approve_all(context_id)
            await runtime.turns.rested(context_id)
            ours.append(milliseconds(began))
            began = time.perf_counter()
            for _ in range(3):
                bare.append()
            await bare.ask(ANSWERED)
            floor.append(milliseconds(began))
    peer_figures = await peer_alone("approval", deltas=5)
    return Row(
        name="one approved call, stored and resumed",
        unit="ms",
        ours=statistics.median(ours),
        floor=statistics.median(floor),
        peer=peer_figures["ms"] if peer_figures else None,
        goal="<= 5 ms",
    )


async def _history(folder: Path, count: int, *, warm: bool) -> tuple[float, float]:
    """Milliseconds of a turn that sends so many messages, ours and a bare client with a body of the same size."""
    body = b'{"messages":[' + b",".join([b'{"role":"user","content":"' + b"x" * 200 + b'"}'] * count) + b"]}"
    ours, floor = [], []
    with provider(deltas=5) as address:
        bare = BareClient(address, folder / "log")
        context_id = await make_history(folder / "data", folder, count)
        runtime = pilothouse(folder / "data", address)
        for number in range(8 if warm else 3):
            if not warm:
                await runtime.close()
                runtime = pilothouse(folder / "data", address)
            began = time.perf_counter()
            await runtime.messages.send(context_id, "words please")
            await runtime.turns.rested(context_id)
            if number or not warm:
                ours.append(milliseconds(began))
            began = time.perf_counter()
            bare.append()
            await bare.ask(body)
            bare.append()
            floor.append(milliseconds(began))
        await runtime.close()
        await bare.close()
    return statistics.median(ours), statistics.median(floor)


async def history_warm(folder: Path) -> Row:
    ours, floor = await _history(folder, 5000, warm=True)
    peer_figures = await peer_alone("history", "--messages", "5000", deltas=5)
    return Row(
        name="one turn with 5,000 messages, warm",
        unit="ms",
        ours=ours,
        floor=floor,
        peer=peer_figures["ms"] if peer_figures else None,
        goal="<= 3 x floor, >= 50 x ahead",
    )


async def history_cold(folder: Path) -> Row:
    ours, floor = await _history(folder, 5000, warm=False)
    return Row(name="the same, cold: everything read from disk", unit="ms", ours=ours, floor=floor, goal="printed only")


async def history_huge(folder: Path) -> Row:
    ours, floor = await _history(folder, 100_000, warm=True)
    return Row(name="one turn with 100,000 messages, warm", unit="ms", ours=ours, floor=floor, goal="<= 3 x floor")


async def bytes_per_turn(folder: Path) -> Row:
    with provider(deltas=5) as address:
        context_id = await make_history(folder / "data", folder, 5000)
        async with pilothouse(folder / "data", address) as runtime:
            before = _bytes_written()
            await runtime.messages.send(context_id, "tool please")
            await runtime.turns.rested(context_id)
        written = _bytes_written() - before
        peer_figures = await peer(address, "bytes", "--messages", "5000")
    return Row(
        name="bytes written for a turn at 5,000 messages",
        unit="B",
        ours=written,
        peer=peer_figures["bytes"] if peer_figures else None,
        goal="constant, < 40 KB",
    )


def _bytes_written() -> int:
    fields = dict(line.split(": ") for line in Path("/proc/self/io").read_text().splitlines())
    return int(fields["wchar"])


async def hundred_streams(folder: Path) -> Row:
    """100 streams at 50 deltas a second each for 4 seconds: processor time used, beside bare readers of the same."""
    with provider(deltas=200, delta_delay=0.02) as address:
        async with pilothouse(folder / "data", address) as runtime:
            contexts = [await runtime.contexts.create(folder) for _ in range(100)]
            gaps: list[float] = []
            began, cpu = time.perf_counter(), time.process_time()
            await asyncio.gather(*(_watched(runtime, context_id, gaps) for context_id in contexts))
            ours, wall = time.process_time() - cpu, time.perf_counter() - began
        bare = BareClient(address, folder / "log")
        cpu = time.process_time()
        await asyncio.gather(*(bare.ask(HELLO) for _ in range(100)))
        floor = time.process_time() - cpu
        await bare.close()
    p99 = statistics.quantiles(gaps, n=100)[98] * 1000
    name = f"100 streams: CPU s of {wall:.1f} s (p99 gap {p99:.0f} ms)"
    return Row(name=name, unit="s", ours=ours, floor=floor, goal="half a core, p99 gap <= 60 ms")


async def _watched(runtime: Runtime, context_id: str, gaps: list[float]) -> None:
    with runtime.signals([context_id]) as signals:
        await runtime.messages.send(context_id, "words please")
        last = None
        async for signal in signals:
            if isinstance(signal, ContentDelta):
                now = time.perf_counter()
                if last is not None:
                    gaps.append(now - last)
                last = now
            live = await runtime.contexts.get(context_id)
            if live.is_resting:
                return


async def start_up(folder: Path) -> Row:  # noqa: ARG001
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}

    def took(*command: str) -> float:
        taken = []
        for _ in range(8):
            began = time.perf_counter()
            subprocess.run(command, env=environment, check=True, stdout=subprocess.DEVNULL, cwd=ROOT)
            taken.append(milliseconds(began))
        return min(taken)

    ours = took(sys.executable, "-m", "pilothouse.cli", "--version")
    bare = took(sys.executable, "-c", "pass")
    return Row(name="--version, over the bare interpreter", unit="ms", ours=ours - bare, goal="<= 60 ms")


async def idle_memory(folder: Path) -> Row:
    count = 1000
    with provider(deltas=20) as address:
        async with pilothouse(folder / "data", address) as runtime:
            for _ in range(2 * pool_of(runtime).dependencies.max_idle_contexts):
                await _one_turn(runtime, folder)
            before = _resident()
            for _ in range(count):
                await _one_turn(runtime, folder)
            each = (_resident() - before) / count / 1024
    return Row(name="memory of one idle context", unit="KB", ours=each, goal="<= 20 KB")


async def _one_turn(runtime: Runtime, folder: Path) -> None:
    context_id = await runtime.contexts.create(folder)
    await runtime.messages.send(context_id, "words please")
    await runtime.turns.rested(context_id)


def _resident() -> int:
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")
