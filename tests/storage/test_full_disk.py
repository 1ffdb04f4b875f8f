"""A disk is full, read-only or broken at any instant: the caller gets an error, nothing acknowledged is lost, nothing
runs twice, and with room again every conversation returns to Idle."""

import os
import random
import subprocess
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from pilothouse.config.credentials import Credentials, StoredSetup
from pilothouse.config.trust import Trust
from pilothouse.domain.contexts import CONTINUABLE_ENDS
from pilothouse.domain.errors import StoreError, StoreRefused
from pilothouse.domain.messages import Text, ToolRequest, ToolResult
from pilothouse.domain.states import AwaitingToolApproval, Idle, WaitingForRecovery
from pilothouse.llm.script import Answer, ScriptedCall
from pilothouse.runtime.context.recovery import RETRY_INTERVAL_SECONDS
from pilothouse.storage.files.store import FileStore
from pilothouse.storage.memory import MemoryStore
from pilothouse.testing.disk import Fault, FaultyDisk
from pilothouse.testing.world import World
from pilothouse.tools.mcp.servers import AcceptedTools
from tests.support.assertions import content_of
from tests.support.live_contexts import live_context, live_context_at_rest
from tests.support.mcp_tools import DONE, builtin_tools_for_world, runs, writes
from tests.support.scale import LONG, Record

NOW = "2026-01-01T00:00:00.000Z"
FAULTS: tuple[Fault, ...] = ("ENOSPC", "EIO", "EROFS", "EDQUOT")
SEEDS = 200 if LONG else 25


def answers(count: int) -> list[Answer]:
    """Every other one asks for calls; no two calls are the same."""
    calls = [
        tuple(ScriptedCall(tool=tool, arguments={"text": f"{number}{tool}"}) for tool in ("look", "change"))
        for number in range(count)
    ]
    text = "some text, so that pieces are written " * 3
    return [Answer(text=text, calls=calls[number] if number % 2 == 0 else ()) for number in range(count)]


async def leave_waiting(world: World, context_id: str) -> None:
    """Advance the clock to the next attempt, as often as needed."""
    with world.runtime.signals([context_id]) as signals:
        live = await live_context(world.runtime, context_id)
        while isinstance(live.state, WaitingForRecovery):
            world.ambient.advance(RETRY_INTERVAL_SECONDS)
            await signals.batch()


@pytest.mark.seconds(1800)
async def test_a_write_may_fail_at_any_instant(tmp_path: Path, record_property: Record) -> None:
    fired = waited = 0
    for seed in range(SEEDS):
        chance = random.Random(seed)
        trial = Trial(tmp_path / str(seed), chance)
        await trial.run()
        await trial.check()
        fired += trial.fired
        waited += trial.waited
    record_property("figure", f"{SEEDS} runs with {fired} faults, {waited} waits for recovery, all left by themselves")
    assert fired + waited > SEEDS
    assert waited


class Trial:
    """Messages and approvals on a disk that fails at random, with any error, once or for a while."""

    def __init__(self, folder: Path, chance: random.Random) -> None:
        folder.mkdir()
        self.folder = folder
        self.chance = chance
        self.disk = FaultyDisk()
        self.world = World(folder, *answers(100), store=self.store())
        self.sent: list[str] = []
        self.waited = 0
        self.fired = 0
        self.context_id = ""

    def store(self) -> FileStore:
        return FileStore(self.folder / "data", now=lambda: NOW, disk=self.disk)

    async def run(self) -> None:
        self.context_id = await self.world.start(self.chance.choice(["agent", "supervised"]))
        for _ in range(4):
            self.fired += self.disk.fired > 0
            lasting = self.chance.random() < 0.5
            self.disk.arm(self.chance.randint(1, 25), self.chance.choice(FAULTS), lasting=lasting)
            await self.say()
            await self.settle()

    async def say(self) -> None:
        for _ in range(2):
            try:
                sent = await self.world.runtime.messages.send(self.context_id, "go")
            except StoreError:  # reported: the person tries again when there is room
                self.disk.disarm()
                await leave_waiting(self.world, self.context_id)
            else:
                self.sent.append(sent.message_id)
                return

    async def settle(self) -> None:
        runtime = self.world.runtime
        while True:
            live = await live_context_at_rest(runtime, self.context_id)
            requests = len(self.world.model.requests)
            match live.state:
                case WaitingForRecovery():
                    self.waited += 1
                    with pytest.raises(StoreError):
                        self.disk.arm(1, "ENOSPC", lasting=True)
                        await runtime.messages.send(self.context_id, "refused", queue=True)
                    self.disk.disarm()
                    await leave_waiting(self.world, self.context_id)
                    assert isinstance(live.state, Idle)
                    assert (live.core.turn, len(self.world.model.requests)) == (None, requests), "it went on by itself"
                case AwaitingToolApproval():
                    await self.insist(lambda: runtime.calls.approve_all(self.context_id))
                case Idle() if live.core.last_turn in CONTINUABLE_ENDS:
                    await self.insist(lambda: runtime.turns.continue_(self.context_id))
                case Idle():
                    return
                case _:
                    raise AssertionError(live.state)

    async def insist(self, command: Any) -> None:
        try:
            await command()
        except StoreError:
            self.disk.disarm()

    async def check(self) -> None:
        """Check the conversation in a fresh process."""
        self.disk.disarm()
        await self.world.runtime.close()
        again = World(self.folder, Answer(text="still here"), store=self.store(), ids_from=10**6)
        messages = await again.runtime.messages.read(self.context_id, limit=1000)
        users = [each.id for each in messages if isinstance(each, Text) and each.role == "user"]
        assert users == self.sent
        call_ids = [call.id for each in messages if isinstance(each, ToolRequest) for call in each.calls]
        assert Counter(call_ids) == Counter(each.call_id for each in messages if isinstance(each, ToolResult))
        assert max(Counter(self.world.change.ran).values(), default=1) == 1
        assert (await again.runtime.contexts.audit(self.context_id)).chain.whole
        await again.turn(self.context_id)
        assert content_of((await again.runtime.messages.read(self.context_id))[-1]) == "still here"
        await again.runtime.close()


async def test_a_context_is_recovered_once_there_is_room(tmp_path: Path) -> None:
    """Also a call that had not started waits for the person again, as after any crash."""
    disk = FaultyDisk()
    store = FileStore(tmp_path / "data", now=lambda: NOW, disk=disk)
    world = World(tmp_path, Answer(text="x", delay=1000), store=store)
    context_id = await world.start()
    await world.runtime.messages.send(context_id, "hello")
    live = await world.runtime.contexts.get(context_id)
    disk.arm(1, "ENOSPC", lasting=True)  # as a killed process leaves the context: the turn is not closed
    await world.runtime.close()
    disk.disarm()
    again = World(tmp_path, DONE, store=FileStore(tmp_path / "data", now=lambda: NOW, disk=disk), ids_from=10**6)
    disk.arm(1, "ENOSPC", lasting=True)
    with pytest.raises(StoreError):
        await again.runtime.turns.continue_(context_id)
    live = await again.runtime.contexts.get(context_id)
    assert isinstance(live.state, WaitingForRecovery)
    disk.disarm()
    await leave_waiting(again, context_id)
    live = await again.runtime.turns.rested(context_id)
    assert (live.state, live.core.last_turn) == (Idle(), "interrupted")
    await again.runtime.turns.continue_(context_id)
    await again.runtime.turns.rested(context_id)
    assert content_of((await again.runtime.messages.read(context_id))[-1]) == "done"
    await again.runtime.close()


async def test_a_kept_draft_is_stored_when_the_runtime_closes(tmp_path: Path) -> None:
    disk = FaultyDisk()
    world = World(tmp_path, *answers(1), DONE, store=FileStore(tmp_path / "data", now=lambda: NOW, disk=disk))
    world.change.release.clear()
    context_id = await world.start()
    await world.runtime.messages.send(context_id, "go")
    await world.change.started.wait()
    disk.arm(1, "EDQUOT", lasting=True)
    world.change.release.set()
    assert isinstance((await world.runtime.turns.rested(context_id)).state, WaitingForRecovery)
    disk.disarm()
    await world.runtime.close()
    again = World(tmp_path, store=FileStore(tmp_path / "data", now=lambda: NOW), ids_from=10**6)
    live = await again.runtime.contexts.get(context_id)
    live = await again.runtime.turns.rested(context_id)
    assert (live.state, live.core.last_turn) == (Idle(), "interrupted")
    results = [each for each in await again.runtime.messages.read(context_id) if isinstance(each, ToolResult)]
    assert {each.tool: each.status for each in results} == {"change": "executed", "look": "executed"}
    await again.runtime.close()


# a real file system


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of 1 MB that really runs full."""
    folder = tmp_path / "small"
    folder.mkdir()
    if os.geteuid() != 0:
        pytest.skip("mounting a file system needs root")
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", str(folder)], capture_output=True)
    if mounted.returncode:
        pytest.skip(f"no file system can be mounted here: {mounted.stderr.decode()}")
    yield folder
    subprocess.run(["umount", "-l", str(folder)], check=True)


def fill(folder: Path, *, leave: int = 0) -> Path:
    """Use up all room but for some bytes."""
    ballast = folder / "ballast"
    with open(ballast, "wb", buffering=0) as file:
        try:
            while True:
                file.write(bytes(4096))
        except OSError:
            file.truncate(max(0, file.tell() - leave))
    return ballast


async def test_a_turn_on_a_really_full_disk_rests_and_continues(small_disk: Path, tmp_path: Path) -> None:
    store = FileStore(small_disk / "data", now=lambda: NOW)
    world = World(tmp_path, *answers(1), DONE, DONE, store=store)
    world.change.release.clear()
    context_id = await world.start()
    await world.runtime.messages.send(context_id, "go")
    await world.change.started.wait()
    ballast = fill(small_disk)
    world.change.release.set()
    live = await world.runtime.turns.rested(context_id)
    assert isinstance(live.state, WaitingForRecovery)
    health = await store.health()
    assert health.refusal is not None
    assert health.refusal.reason.params["detail"] == os.strerror(28)
    assert health.free_bytes == 0
    for command in (
        world.runtime.messages.send(context_id, "more", queue=True),
        world.runtime.turns.continue_(context_id),
        world.runtime.turns.cancel(context_id),
        world.runtime.contexts.create(tmp_path),
    ):
        with pytest.raises(StoreError):
            await command
    ballast.unlink()
    await leave_waiting(world, context_id)
    live = await world.runtime.turns.rested(context_id)
    assert (live.state, world.change.ran) == (Idle(), ["0change"])
    assert (await store.health()).refusal is None
    await world.runtime.turns.continue_(context_id)
    await world.runtime.turns.rested(context_id)
    assert content_of((await world.runtime.messages.read(context_id))[-1]) == "done"
    await world.runtime.close()


@pytest.mark.parametrize("how", ["write_file", "execute"])
async def test_a_change_that_undo_cannot_record_is_refused(small_disk: Path, tmp_path: Path, how: str) -> None:
    workspace = tmp_path / "workspace"
    workspace.mkdir()
    large = os.urandom(60_000).hex()
    (workspace / "large.txt").write_text(large)
    answer = writes("large.txt", "small") if how == "write_file" else runs("echo small > large.txt")
    store = MemoryStore(small_disk / "data")
    world = World(workspace, answer, DONE, tools=builtin_tools_for_world(), store=store)
    context_id = await world.start()
    (workspace / "other.txt").write_text("x")
    ballast = fill(small_disk)
    await world.turn(context_id, "go")
    assert (workspace / "large.txt").read_text() == large
    (call,) = (await world.runtime.calls.read(context_id)).items
    assert (call.status, call.reason.code if call.reason else None) == ("failed", "change_not_kept")
    ballast.unlink()
    await world.runtime.close()


async def test_a_long_output_on_a_full_disk_is_reported_without_the_whole(small_disk: Path, tmp_path: Path) -> None:
    (tmp_path / "lines").write_text("a line of text\n" * 20_000)
    world = World(
        tmp_path, runs("cat lines"), DONE, tools=builtin_tools_for_world(), store=MemoryStore(small_disk / "data")
    )
    context_id = await world.start("review")  # the command only reads: nothing is recorded for undo
    fill(small_disk)
    await world.turn(context_id, "go")
    (result,) = [each for each in await world.runtime.messages.read(context_id) if isinstance(each, ToolResult)]
    assert result.status == "executed"
    assert f"could not be kept: {os.strerror(28)}" in result.content
    await world.runtime.close()


def test_small_files_of_the_runtime_stay_unchanged_on_a_full_disk(small_disk: Path, tmp_path: Path) -> None:
    (tmp_path / ".pilothouse").mkdir()
    (tmp_path / ".pilothouse" / "config.toml").write_text('mode = "plan"\n')
    credentials, accepted = Credentials(small_disk / "credentials.json"), small_disk / "accepted_tools.json"
    trust = Trust(small_disk / "trust.json", lambda: NOW)
    credentials.write(StoredSetup(base_url="http://a", key="first-key", model="a"))
    AcceptedTools(accepted).accept("docs", {"search": "one"})
    fill(small_disk)
    before = set(small_disk.iterdir())
    tools = AcceptedTools(accepted)
    with pytest.raises(StoreRefused):
        credentials.write(StoredSetup(base_url="http://b", key="x" * 10_000, model="b"))
    with pytest.raises(StoreRefused):
        tools.accept("docs", {"search": "two" * 10_000})
    with pytest.raises(StoreRefused):
        trust.trust(str(tmp_path), trust.status(str(tmp_path)).digest)
    assert (
        tools.accepted_definition("docs", "search")
        == AcceptedTools(accepted).accepted_definition("docs", "search")
        == "one"
    )
    stored = credentials.read()
    assert stored is not None
    assert stored.key == "first-key"
    assert trust.status(str(tmp_path)).status == "new"
    assert set(small_disk.iterdir()) == before, "a draft was left behind"
