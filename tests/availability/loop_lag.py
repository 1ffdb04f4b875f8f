"""How long the event loop is blocked, in the process's own CPU time: other programs on the machine do not count.

Work on the loop, and a call into C that keeps the interpreter's lock in another thread, both block it. Python code in a
thread does not: the loop gets its turn every few milliseconds.
"""

import asyncio
import contextlib
import hashlib
import time
from collections.abc import Iterator

_TICK_SECONDS = 0.002
_UNITS = 30


def unit_seconds() -> float:
    """Seconds that a fixed amount of work takes on this machine now (10 to 50 ms): Python code and some hashing."""
    began = time.process_time()
    digest = hashlib.sha256()
    for number in range(100_000):
        digest.update(b"%d" % (number * number % 7919))
    return max(time.process_time() - began, 0.005)


def max_gap_seconds() -> float:
    """More than this between two ticks is a blocked loop; the best of three measurements is the unit."""
    return _UNITS * min(unit_seconds() for _ in range(3))


class LoopWatch:
    """The gaps between the ticks of a task that only sleeps."""

    def __init__(self) -> None:
        self.cpu_gaps: list[float] = []
        self.wall_gaps: list[float] = []

    @contextlib.contextmanager
    def watching(self) -> Iterator[None]:
        task = asyncio.ensure_future(self._tick())
        try:
            yield
        finally:
            task.cancel()

    async def _tick(self) -> None:
        cpu, wall = time.process_time(), time.monotonic()
        while True:
            try:
                await asyncio.sleep(_TICK_SECONDS)
            finally:  # the last gap counts, too
                now, then = time.process_time(), time.monotonic()
                self.cpu_gaps.append(now - cpu)
                self.wall_gaps.append(then - wall - _TICK_SECONDS)
                cpu, wall = now, then

    @property
    def worst(self) -> float:
        return max(self.cpu_gaps, default=0.0)

    def wall_percentile(self, share: float) -> float:
        ordered = sorted(self.wall_gaps)
        return ordered[min(len(ordered) - 1, int(share * len(ordered)))] if ordered else 0.0
