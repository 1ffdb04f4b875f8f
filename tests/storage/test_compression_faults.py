"""The n-th disk operation fails during compressions and undos: reported, nothing half done, and work continues."""

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from pilothouse.domain.errors import StoreError
from pilothouse.domain.states import Idle
from pilothouse.storage.files.store import FileStore
from pilothouse.testing.disk import Fault, FaultyDisk
from tests.support.compression_scenario import BUDGET, PHASES, check, run_compressions, send_and_wait, settle
from tests.support.full_windows import SmallWindowWorld
from tests.support.live_contexts import live_context, pool_of
from tests.support.scale import LONG, Record

STEP = 1 if LONG else 7
AT = "2026-01-01T00:00:00.000Z"


class Trial:
    """The whole scenario on a disk that fails from a phase on; refused commands are retried."""

    def __init__(self, path: Path, phase: str, number: int, fault: Fault, *, lasting: bool) -> None:
        self.path = path
        self.disk = FaultyDisk()
        self.phase, self.number, self.fault, self.lasting = phase, number, fault, lasting
        store = FileStore(path / "data", now=lambda: AT, disk=self.disk)
        self.world = SmallWindowWorld(path, store=store, budget=BUDGET)
        self.steps: list[str] = []
        self.message_ids: list[str] = []
        self.reported = 0

    def _begins(self, phase: str) -> None:
        if phase == self.phase:
            self.disk.arm(self.number, self.fault, lasting=self.lasting)

    async def run(self) -> None:
        try:
            await run_compressions(self.world.runtime, self.path, "trial", self._act, self._begins)
        except StoreError:  # automatic continuation and the checkpoint raise here
            self.reported += 1
            self.disk.disarm()
            await settle(self.world.runtime, "trial")

    async def _act(self, step: str, command: Callable[[], Awaitable[Any]]) -> Any:
        before = await self._standing() if step in ("compressed", "undone") else None
        try:
            result = await command()
        except StoreError:
            self.reported += 1
            self.disk.disarm()
            assert before is None or before == await self._standing(), "refused, it changes nothing"
            result = await command()
        self.steps.append(step)
        if step == "said":
            self.message_ids.append(result.message_id)
        return result

    async def _standing(self) -> tuple[Any, ...]:
        live = await self.world.runtime.contexts.get("trial")
        assert isinstance(live.state, Idle)
        return dict(live.branches), live.core.usage, live.core.audit

    async def check(self) -> None:
        """Check in this process and in the next one."""
        self.disk.disarm()
        runtime = self.world.runtime
        live = await live_context(runtime, "trial")
        for name, branch in live.branches.items():
            assert len(await pool_of(runtime).dependencies.store.branch_ids(live.id, name)) == branch.length
        await runtime.close()
        again = SmallWindowWorld(
            self.path, store=FileStore(self.path / "data", now=lambda: AT), budget=BUDGET, ids_from=10**6
        )
        await check(again.runtime, "trial", self.message_ids, self.steps)
        await send_and_wait(again.runtime, "trial")
        self.world.check_requests()
        again.check_requests()
        await again.runtime.close()


@pytest.mark.seconds(1800)
@pytest.mark.parametrize("lasting", [False, True], ids=["once", "lasting"])
@pytest.mark.parametrize("fault", ["ENOSPC", "EIO", "short"])
async def test_the_nth_operation_fails(tmp_path: Path, fault: Fault, lasting: bool, record_property: Record) -> None:
    fired = reported = 0
    for phase in PHASES:
        for number in range(1, 10**6, STEP):
            trial = Trial(tmp_path / phase / str(number), phase, number, fault, lasting=lasting)
            await trial.run()
            await trial.check()
            fired += trial.disk.fired > 0
            reported += trial.reported > 0
            if not trial.disk.fired:
                break
    record_property("figure", f"{fired} operations failed with {fault} while compressing, {reported} were told")
    assert fired > 100 // STEP
    assert reported
