"""A user's log: permanent decisions are there, or every call asks; refused ones are not there."""

import asyncio
import os
from pathlib import Path

import pytest

from pilothouse.domain.audit import AuditDraft, AuditEntry, AuditHead, chain
from pilothouse.domain.codes import Code
from pilothouse.domain.errors import StaleWrite, StoreDamaged, StoreError
from pilothouse.domain.rules import Scope
from pilothouse.domain.states import AwaitingToolApproval
from pilothouse.llm.script import Answer, ScriptedCall
from pilothouse.runtime.commands.calls import PersonsDecision
from pilothouse.storage.files.disk import Disk
from pilothouse.storage.files.store import FileStore
from pilothouse.testing.disk import Fault, FaultyDisk
from pilothouse.testing.world import World
from tests.storage.test_contract import AT
from tests.support.held_store import HeldStore
from tests.support.scale import LONG, Record

CALL = Answer(text="I will", calls=(ScriptedCall(tool="change", arguments={"text": "x"}),))


def files(path: Path, disk: Disk | None = None) -> FileStore:
    return FileStore(path / "data", now=lambda: AT, disk=disk)


def entry(number: int) -> tuple[AuditEntry, ...]:
    return chain(AuditHead(), [AuditDraft(kind="rule_given", at=AT, by="x", detail={"n": number})])[1]


async def numbers(store: FileStore) -> list[int]:
    return [each.detail["n"] for each in (await store.user_log("u")).entries]


async def denied(path: Path, *tools: str) -> Path:
    """The file with a rule for each tool, one a line."""
    world = World(path, store=files(path))
    for tool in tools:
        await world.runtime.rules.give("deny", Scope(tool=tool))
    await world.runtime.close()
    (log,) = (path / "data/users/local/journal").iterdir()
    return log


async def rules(world: World) -> list[tuple[str, str]]:
    return [(rule.effect, rule.scope.tool) for rule in await world.runtime.rules.read()]


async def test_a_damaged_line_costs_only_its_rule_and_every_call_asks(
    tmp_path: Path,
) -> None:
    log = await denied(tmp_path, "a", "b", "c")
    lines = log.read_bytes().split(b"\n")
    lines[1] = b"garbage" + lines[1][7:]
    log.write_bytes(b"\n".join(lines))
    expected: list[tuple[str, str]] = []
    for attempt in range(3):
        store = files(tmp_path)
        world = World(tmp_path, CALL, store=store, ids_from=1000 * (attempt + 1))
        assert await rules(world) == [("deny", "a"), ("deny", "c"), *expected, ("ask", "*")]
        assert [reason.code for reason in (await store.user_log("local")).damage] == [Code.RULES_DAMAGED]
        context_id = await world.start("agent")
        await world.turn(context_id)
        assert isinstance((await world.runtime.contexts.get(context_id)).state, AwaitingToolApproval)
        await world.runtime.rules.give("deny", Scope(tool=f"new {attempt}"))
        expected.append(("deny", f"new {attempt}"))
        await world.runtime.close()
    (aside,) = (tmp_path / "data/users/local/aside").iterdir()
    assert aside.read_bytes() == lines[1] + b"\n"


async def test_an_unfinished_line_is_reported_and_blocks_nothing(tmp_path: Path) -> None:
    log = await denied(tmp_path, "a", "b")
    whole = log.read_bytes()
    with log.open("ab") as file:
        file.write(whole[:30])
    for attempt in range(2):
        store = files(tmp_path)
        world = World(tmp_path, CALL, Answer(text="done"), store=store, ids_from=1000 * (attempt + 1))
        new = [("deny", f"new {number}") for number in range(attempt)]
        assert await rules(world) == [("deny", "a"), ("deny", "b"), *new]
        assert [reason.code for reason in (await store.user_log("local")).damage] == [Code.TAIL_CUT]
        context_id = await world.start("agent")
        await world.turn(context_id)
        assert world.change.ran == ["x"]
        await world.runtime.rules.give("deny", Scope(tool=f"new {attempt}"))
        await world.runtime.close()


async def rules_with_a_byte_flipped(path: Path, log: Path, whole: bytes, offset: int) -> list[tuple[str, str]]:
    data = bytearray(whole)
    data[offset] ^= 1
    log.write_bytes(data)
    world = World(path, store=files(path))
    listed = await rules(world)
    await world.runtime.close()
    return listed


async def test_a_rule_with_a_damaged_line_has_a_substitute(tmp_path: Path, record_property: Record) -> None:
    log = await denied(tmp_path, "change")
    whole = log.read_bytes()
    offsets = range(0, len(whole) - 1, 1 if LONG else 9)
    for offset in offsets:
        assert await rules_with_a_byte_flipped(tmp_path, log, whole, offset) == [("ask", "*")], offset
    record_property("figure", f"{len(offsets)} bytes of a rule flipped, everything waited each time")


async def test_a_rule_with_a_damaged_line_end_is_not_lost(
    tmp_path: Path,
) -> None:
    log = await denied(tmp_path, "change")
    listed = await rules_with_a_byte_flipped(tmp_path, log, log.read_bytes(), -1)
    assert listed in ([("deny", "change")], [("ask", "*")])


async def test_a_log_that_cannot_be_read_is_an_error_of_the_store_and_nothing_is_decided_without_it(
    tmp_path: Path,
) -> None:
    log = await denied(tmp_path, "change")
    whole = log.read_bytes()
    log.unlink()
    log.mkdir()
    world = World(tmp_path, CALL, Answer(text="done"), store=files(tmp_path), ids_from=1000)
    context_id = await world.start("agent")
    for command in (
        world.runtime.contexts.get(context_id),
        world.runtime.messages.send(context_id, "go"),
        world.runtime.rules.read(),
    ):
        with pytest.raises(StoreDamaged) as caught:
            await command
        assert caught.value.reason.code is Code.RULES_DAMAGED
    log.rmdir()
    log.write_bytes(whole)
    await world.turn(context_id)
    assert world.change.ran == []
    await world.runtime.close()


class ForgetfulDisk(Disk):
    """Syncing the folder `failing` fails once; `synced` are the folders that were synced since."""

    def __init__(self, failing: str) -> None:
        self.failing: str | None = failing
        self.synced: list[str] = []

    def sync_dir(self, path: Path) -> None:
        if path.name == self.failing:
            self.failing = None
            self.synced.clear()
            raise OSError(5, os.strerror(5))
        super().sync_dir(path)
        self.synced.append(path.name)


@pytest.mark.parametrize("folder", ["users", "u", "journal"])
async def test_a_folder_whose_sync_failed_is_synced_before_anything_in_it_is_acknowledged(
    tmp_path: Path, folder: str
) -> None:
    disk = ForgetfulDisk(folder)
    store = files(tmp_path, disk)
    with pytest.raises(StoreError):
        await store.append_user_log("u", entry(1), expected=0)
    assert disk.failing is None
    assert await numbers(store) == []
    assert await store.append_user_log("u", entry(2), expected=0) == 1
    assert folder in disk.synced
    await store.close()
    store = files(tmp_path)
    assert await numbers(store) == [2]
    await store.close()


@pytest.mark.parametrize("lasting", [False, True], ids=["once", "lasting"])
@pytest.mark.parametrize("fault", ["ENOSPC", "EIO", "short"])
async def test_the_user_log_has_every_acknowledged_and_no_refused_entry(
    tmp_path: Path, fault: Fault, lasting: bool, record_property: Record
) -> None:
    fired = 0
    for at in range(1, 40 if LONG else 20):
        disk = FaultyDisk()
        path = tmp_path / str(at)
        store = files(path, disk)
        version = 0
        acknowledged: list[int] = []
        disk.arm(at, fault, lasting=lasting)
        for number in range(1, 7):
            if number == 5:
                disk.disarm()
            try:
                version = await store.append_user_log("u", entry(number), expected=version)
            except StoreError:
                assert number < 5, "the disk works again"
            else:
                acknowledged.append(number)
        assert await numbers(store) == acknowledged
        await store.close()
        store = files(path)
        log = await store.user_log("u")
        assert await numbers(store) == acknowledged
        assert log.version == version
        assert {reason.code for reason in log.damage} <= {Code.TAIL_CUT}
        await store.close()
        fired += disk.fired > 0
    record_property("figure", f"{fired} faults ({fault}) in the log of a user")
    assert fired > 5


async def test_a_stale_version_of_the_log_changes_nothing(tmp_path: Path) -> None:
    store = files(tmp_path)
    await store.append_user_log("u", entry(1), expected=0)
    with pytest.raises(StaleWrite):
        await store.append_user_log("u", entry(2), expected=0)
    assert await numbers(store) == [1]
    await store.close()


async def test_a_rule_whose_creator_was_cancelled_holds_and_others_can_be_added(tmp_path: Path) -> None:
    store = HeldStore()
    release = store.hold_user_logs()
    world = World(tmp_path, CALL, Answer(text="done"), store=store)
    context_id = await world.start("agent")
    await world.runtime.contexts.get(context_id)
    giving = asyncio.create_task(world.runtime.rules.give("deny", Scope(tool="change")))
    await store.reached.wait()
    giving.cancel()
    await asyncio.sleep(0)
    release.set()
    with pytest.raises(asyncio.CancelledError):
        await giving
    assert await rules(world) == [("deny", "change")]
    await world.turn(context_id)
    assert world.change.ran == []
    await world.runtime.rules.give("deny", Scope(tool="look"))
    assert await rules(world) == [("deny", "change"), ("deny", "look")]
    assert (await store.user_log("local")).version == 2


class ContextFullDisk(Disk):
    """While `on`, there is room for the users' logs and for no context."""

    on = False

    def write(self, fd: int, data: bytes | memoryview) -> int:
        if self.on and "/contexts/" in os.readlink(f"/proc/self/fd/{fd}"):
            raise OSError(28, os.strerror(28))
        return super().write(fd, data)


async def test_a_decision_that_was_refused_leaves_no_rule_for_good(tmp_path: Path) -> None:
    disk = ContextFullDisk()
    world = World(tmp_path, CALL, CALL, Answer(text="done"), store=files(tmp_path, disk))
    context_id = await world.start("supervised")
    await world.turn(context_id)
    (call,) = await world.runtime.calls.pending(context_id)
    disk.on = True
    with pytest.raises(StoreError):
        await world.runtime.calls.decide(
            context_id, [PersonsDecision(id=call.id, verdict="approve", always="tool_for_good")]
        )
    disk.on = False
    assert await rules(world) == []
    await world.runtime.calls.reject_all(context_id)
    await world.runtime.turns.rested(context_id)
    await world.turn(context_id)
    assert world.change.ran == []
    await world.runtime.close()
