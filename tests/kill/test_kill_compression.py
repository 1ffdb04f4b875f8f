"""kill -9 at store writes and random instants of compressions and undos: the state is before or after."""

import random
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.kill.test_kill_turn import Zygote
from tests.kill.turn_process import runtime_of
from tests.support.compression_scenario import BUDGET, PHASES, check, send_and_wait
from tests.support.full_windows import Model
from tests.support.scale import LONG, Record

SEED = random.randrange(2**32)
STEP = 1 if LONG else 4


@pytest.fixture
def zygote() -> Iterator[Zygote]:
    process_factory = Zygote("tests.kill.compression_process")
    yield process_factory
    process_factory.close()


class CompressedDirectory:
    """A data directory in which every process compresses a context of its own."""

    def __init__(self, root: Path) -> None:
        self.root = root
        (root / "work").mkdir(parents=True)
        (root / "acks").touch()

    def order(self, name: str, **more: object) -> dict[str, object]:
        paths = {part: str(self.root / part) for part in ("data", "acks")}
        return {**paths, "workspace": str(self.root / "work"), "epoch": name, **more}

    def acknowledged(self, name: str) -> list[list[str]]:
        lines = [line.split() for line in (self.root / "acks").read_text().splitlines()]
        return [words[1:] for words in lines if words[0] == name]

    async def check(self, name: str) -> list[str]:
        """Gives the steps that were acknowledged."""
        done = self.acknowledged(name)
        steps = [step for step, _ in done]
        user_ids = [message_id for step, message_id in done if step == "said"]
        async with runtime_of(self.root / "data", self.root / "work", Model(), budget=BUDGET) as runtime:
            await check(runtime, name, user_ids, steps)
            if "created" in steps:
                await send_and_wait(runtime, name)
        return steps


@pytest.mark.seconds(3600)
@pytest.mark.parametrize("phase", PHASES)
async def test_killed_at_store_writes(tmp_path: Path, zygote: Zygote, phase: str, record_property: Record) -> None:
    """The n-th operation on the disk since the phase began is never finished, for every n or for some of them."""
    squeezed = CompressedDirectory(tmp_path)
    killed, number = 0, 1 + SEED % STEP
    while True:
        name = f"w{number}"
        status = zygote.run(squeezed.order(name, phase=phase, kill_at=number))
        steps = await squeezed.check(name)
        if status != 9:
            break
        killed += 1
        number += STEP
    assert "end" in steps, "the scenario came to its end"
    record_property("figure", f"{killed} kills at store writes from {phase!r} on, while compressing, seed {SEED}")


@pytest.mark.seconds(3600)
async def test_killed_at_random_instants(tmp_path: Path, zygote: Zygote, record_property: Record) -> None:
    chance = random.Random(SEED)
    squeezed = CompressedDirectory(tmp_path)
    killed = 0
    for number in range(200 if LONG else 12):
        status = zygote.run(squeezed.order(f"r{number}"), kill_after=chance.uniform(0.003, 0.09))
        killed += status == 9
        await squeezed.check(f"r{number}")
    record_property("figure", f"{killed} kills at random instants while compressing, seed {SEED}")
