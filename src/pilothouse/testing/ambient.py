"""A clock that tests advance, and predictable ids."""

import asyncio
import os

# Processes are marked with the id of their call, and the end of a call may end every process with its mark. Tests that
# run at the same time, in other workers or in other runs on this machine, must not end each other's processes.
_WORKER = int(os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw"))
_RUN = int(os.environ.get("TEST_RUN", "0"))


class ManualAmbient:
    """Sleeping advances the clock instead of waiting. Ids count up, so that runs can be compared."""

    def __init__(self, start: float = 1_800_000_000.0, *, ids_from: int = 0) -> None:
        self._now = start
        self._ids = ids_from
        self.slept: list[float] = []
        self._advanced = asyncio.Event()

    def now(self) -> float:
        return self._now

    def monotonic(self) -> float:
        return self._now

    def advance(self, seconds: float) -> None:
        self._now += seconds
        self._advanced.set()
        self._advanced = asyncio.Event()

    async def background_sleep(self, seconds: float) -> None:
        """Wait until the test has advanced the clock by `seconds`."""
        due = self._now + seconds
        while self._now < due:
            await self._advanced.wait()

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self._now += seconds
        await asyncio.sleep(0)

    def new_id(self) -> str:
        self._ids += 1
        return f"0190{_RUN >> 16:04x}-{_RUN & 0xFFFF:04x}-7{_WORKER:03x}-8000-{self._ids:012x}"

    def fraction(self) -> float:
        return 0.5

    def new_secret(self) -> str:
        return f"secret-{self.new_id()}"
