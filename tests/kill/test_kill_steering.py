"""kill -9 at store writes and at random instants while a person steers: rules, queue, branches, merges, imports."""

import random
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from pilothouse.llm.script import Script
from pilothouse.llm.scripted import ScriptedAdapter
from tests.kill.test_kill_turn import Zygote
from tests.kill.turn_process import runtime_of
from tests.support.scale import LONG, Record
from tests.support.steering_scenario import check, refuse_nothing

SEED = random.randrange(2**32)


@pytest.fixture
def zygote() -> Iterator[Zygote]:
    process_factory = Zygote("tests.kill.steering_process")
    yield process_factory
    process_factory.close()


class SteeredDirectory:
    """A data directory in which every process steers a context of its own."""

    def __init__(self, root: Path) -> None:
        self.root = root
        (root / "work").mkdir(parents=True)
        (root / "acks").touch()

    def order(self, name: str, **more: int) -> dict[str, object]:
        paths = {part: str(self.root / part) for part in ("data", "acks")}
        return {**paths, "workspace": str(self.root / "work"), "epoch": name, **more}

    def done(self, name: str) -> list[str]:
        lines = [line.split() for line in (self.root / "acks").read_text().splitlines()]
        return [words[1] for words in lines if words[0] == name]

    async def check(self, name: str) -> None:
        effects = self.root / "work/effects"
        ran = Counter(effects.read_text().split()) if effects.exists() else Counter()
        async with runtime_of(self.root / "data", self.root / "work", ScriptedAdapter(Script())) as runtime:
            await check(runtime, name, self.done(name), ran)
            if "created" in self.done(name):
                await refuse_nothing(runtime, name)


@pytest.mark.seconds(3600)
async def test_killed_at_store_writes(tmp_path: Path, zygote: Zygote, record_property: Record) -> None:
    step = 1 if LONG else 4
    number = 1 + SEED % step
    killed = 0
    steered = SteeredDirectory(tmp_path / "0")
    while True:
        name = f"w{number}"
        if killed % 20 == 19:  # a fresh folder now and then, so that its making is hit as well
            steered = SteeredDirectory(tmp_path / str(number))
        status = zygote.run(steered.order(name, kill_at=number))
        await steered.check(name)
        if status != 9:
            break
        killed += 1
        number += step
    assert "deleted" in steered.done(name), "the scenario came to its end"
    record_property("figure", f"{killed} kills at store writes while steering, seed {SEED}")


@pytest.mark.seconds(3600)
async def test_killed_at_random_instants(tmp_path: Path, zygote: Zygote, record_property: Record) -> None:
    chance = random.Random(SEED)
    steered = SteeredDirectory(tmp_path)
    killed = 0
    for number in range(200 if LONG else 12):
        status = zygote.run(steered.order(f"r{number}"), kill_after=chance.uniform(0.003, 0.15))
        killed += status == 9
        await steered.check(f"r{number}")
    record_property("figure", f"{killed} kills at random instants while steering, seed {SEED}")
