"""kill -9 at every store write and at random instants: nothing acknowledged is lost, nothing runs twice."""

import json
import os
import random
import select
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from pilothouse.domain.branches import MAIN
from pilothouse.domain.messages import ErrorMessage, Message, Text, ToolRequest, ToolResult
from pilothouse.domain.states import is_resting
from pilothouse.llm.script import Script
from pilothouse.llm.scripted import ScriptedAdapter
from pilothouse.runtime.runtime import Runtime
from pilothouse.sandbox.supervisor import MAX_ENDING_SECONDS
from pilothouse.testing import wire
from tests.kill.turn_process import CONTEXT, MODES, runtime_of
from tests.support.live_contexts import live_context
from tests.support.scale import HANG_SECONDS, LONG, Record

KILLS = 1000 if LONG else 100
SEED = random.randrange(2**32)


class Zygote:
    def __init__(self, module: str = "tests.kill.turn_process") -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", module], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def run(self, order: dict[str, Any], *, kill_after: float | None = None) -> int:
        """Start one child, perhaps kill it, and give its wait status."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps(order) + "\n")
        self._process.stdin.flush()
        pid = int(self._process.stdout.readline())
        if kill_after is not None:
            time.sleep(kill_after)
            with suppress(ProcessLookupError):  # the process has ended
                os.kill(pid, 9)
        return int(self._process.stdout.readline())

    def close(self) -> None:
        self._process.communicate(timeout=HANG_SECONDS)


@pytest.fixture
def zygote() -> Iterator[Zygote]:
    process_factory = Zygote()
    yield process_factory
    process_factory.close()


class Victim:
    """A data directory whose process is killed again and again, and the writes acknowledged so far."""

    def __init__(self, root: Path) -> None:
        self.data, self.workspace, self.acks = root / "data", root / "work", root / "acks"
        self.workspace.mkdir(parents=True)
        self.acks.touch()
        self.kills = 0

    def order(self, epoch: str, **more: Any) -> dict[str, Any]:
        paths = {"data": str(self.data), "workspace": str(self.workspace), "acks": str(self.acks)}
        return {**paths, "epoch": epoch, "turns": 5, **more}

    async def check(self) -> None:
        """Open the data as the next process would, and check every promise."""
        runtime = runtime_of(self.data, self.workspace, ScriptedAdapter(Script()))
        async with runtime:
            if CONTEXT not in [summary.context_id for summary in (await runtime.contexts.list()).items]:
                assert "message" not in self.acks.read_text()
                return
            live = await live_context(runtime, CONTEXT)
            assert is_resting(live.state)
            messages = await runtime.messages.read(CONTEXT, branch=MAIN, limit=10**6)
            self._nothing_acknowledged_is_lost(messages, live.core.mode)
            self._every_call_has_one_result(messages, {call.id for call in live.calls.values() if call.is_open})
            await self._the_next_request_is_valid(runtime)
            assert (await runtime.contexts.audit(CONTEXT)).chain.whole
        self._nothing_ran_twice()
        self._nothing_is_left_running()

    def _nothing_acknowledged_is_lost(self, messages: list[Message], mode: str) -> None:
        lines = [line.split() for line in self.acks.read_text().splitlines()]
        acknowledged = [words[1] for words in lines if words[0] == "message"]
        present = [message.id for message in messages if isinstance(message, Text) and message.role == "user"]
        assert [message_id for message_id in present if message_id in set(acknowledged)] == acknowledged
        # A kill may fall between a commit and the note of its acknowledgement: one more message for each kill.
        assert len(present) - len(acknowledged) <= self.kills
        assert not any(isinstance(message, ErrorMessage) and message.timestamp == "" for message in messages)
        modes = [words[1] for words in lines if words[0] == "mode"]
        # As acknowledged, or one switch further: the next in the row, or the first of a new process.
        further = {MODES[position + 1] for position in range(len(MODES) - 1) if modes and MODES[position] == modes[-1]}
        assert mode in {MODES[0], *modes[-1:], *further}

    def _every_call_has_one_result(self, messages: list[Message], still_open: set[str]) -> None:
        calls = [call.id for message in messages if isinstance(message, ToolRequest) for call in message.calls]
        results = Counter(message.call_id for message in messages if isinstance(message, ToolResult))
        assert len(calls) == len(set(calls))
        for call_id in calls:
            assert results.pop(call_id, 0) == (0 if call_id in still_open else 1)
        assert not results

    async def _the_next_request_is_valid(self, runtime: Runtime) -> None:
        wire.check((await runtime.window.read(CONTEXT)).request)

    def _nothing_ran_twice(self) -> None:
        effects = self.workspace / "effects"
        ran = Counter(effects.read_text().split()) if effects.exists() else Counter()
        assert not [name for name, count in ran.items() if count > 1]

    def _nothing_is_left_running(self) -> None:
        """A supervisor that was started in the instant of the kill may still run: it sees that the runtime is gone,
        starts nothing, and ends."""
        mark = b"PILOTHOUSE_CALL="
        for entry in Path("/proc").glob("[0-9]*"):
            try:
                is_ours = mark in (entry / "environ").read_bytes()
                if is_ours and os.fsencode(os.readlink(entry / "cwd")) == os.fsencode(self.workspace):
                    command = (entry / "cmdline").read_bytes()
                    with open(os.pidfd_open(int(entry.name))) as process:
                        assert select.select([process], [], [], MAX_ENDING_SECONDS)[0], f"left running: {command!r}"
            except OSError:
                continue


@pytest.mark.seconds(3600)
async def test_killed_at_every_store_write(tmp_path: Path, zygote: Zygote, record_property: Record) -> None:
    """The n-th operation on the disk is never finished: for every n of a whole scenario, or for every other one."""
    step = 1 if LONG else 4
    number = 1 + SEED % step
    killed = 0
    victim = Victim(tmp_path / "0")
    while killed < KILLS * 3 // 4:
        if killed % 25 == 24:  # a fresh folder now and then, so that creation is hit as well
            victim = Victim(tmp_path / str(len(list(tmp_path.iterdir()))))
        status = zygote.run(victim.order(f"w{killed}", kill_at=number))
        number = number + step if status == 9 else 1  # the scenario has ended: start another
        killed += status == 9
        victim.kills += status == 9
        await victim.check()
    record_property("figure", f"{killed} kills at store writes, seed {SEED}")


@pytest.mark.seconds(3600)
async def test_killed_at_random_instants(tmp_path: Path, zygote: Zygote, record_property: Record) -> None:
    chance = random.Random(SEED)
    victim = Victim(tmp_path)
    killed = 0
    for number in range(KILLS // 4):
        if number % 10 == 9:
            victim = Victim(tmp_path / str(number))
        status = zygote.run(victim.order(f"r{number}"), kill_after=chance.uniform(0.005, 0.25))
        killed += status == 9
        victim.kills += status == 9
        await victim.check()
    record_property("figure", f"{killed} kills at random instants, seed {SEED}")
    assert killed > KILLS // 16
