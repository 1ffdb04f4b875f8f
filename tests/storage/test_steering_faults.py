"""The n-th operation on the disk fails while a person steers: reported, nothing half done, and work continues."""

from collections import Counter
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from pilothouse.domain.errors import StoreError
from pilothouse.storage.files.store import FileStore
from pilothouse.testing.disk import Fault, FaultyDisk
from pilothouse.testing.world import World
from tests.support.scale import LONG, Record
from tests.support.steering_scenario import answers, check, refuse_nothing, settle_by_approving, steer

STEP = 1 if LONG else 3


class Trial:
    def __init__(self, path: Path) -> None:
        self.path = path
        self.disk = FaultyDisk()
        store = FileStore(path / "data", now=lambda: "2026-01-01T00:00:00.000Z", disk=self.disk)
        self.world = World(path, *answers("trial", 80), store=store)
        self.done: list[str] = []
        self.reported = 0

    async def run(self) -> None:
        runtime = self.world.runtime
        await steer(runtime, self.path, "trial", self._act, self._settle)

    async def _act(self, step: str, command: Callable[[], Awaitable[Any]]) -> Any:
        try:
            result = await command()
        except StoreError:
            self.reported += 1
            self.disk.disarm()
            result = await command()
        self.done.append(step)
        return result

    async def _settle(self, name: str) -> None:
        while True:
            try:
                return await settle_by_approving(self.world.runtime, name)
            except StoreError:
                self.reported += 1
                self.disk.disarm()

    async def check(self) -> None:
        self.disk.disarm()
        await self.world.runtime.close()
        store = FileStore(self.path / "data", now=lambda: "2026-01-01T00:00:00.000Z")
        again = World(self.path, store=store, ids_from=10**6)
        await check(again.runtime, "trial", self.done, Counter(self.world.change.ran))
        await refuse_nothing(again.runtime, "trial")
        await again.runtime.close()


@pytest.mark.seconds(1800)
@pytest.mark.parametrize("lasting", [False, True], ids=["once", "lasting"])
@pytest.mark.parametrize("fault", ["ENOSPC", "EIO", "short"])
async def test_the_nth_operation_fails(tmp_path: Path, fault: Fault, lasting: bool, record_property: Record) -> None:
    clean = Trial(tmp_path / "clean")
    await clean.run()
    total = clean.disk.count
    await clean.check()
    reported = fired = 0
    for number in range(1, total + 1, STEP):
        trial = Trial(tmp_path / str(number))
        trial.disk.arm(number, fault, lasting=lasting)
        await trial.run()
        fired += trial.disk.fired > 0
        reported += trial.reported > 0
        await trial.check()
    record_property("figure", f"{fired} of {total} operations failed with {fault} while steering, {reported} were told")
    assert fired > total // STEP // 2
