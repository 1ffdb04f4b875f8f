"""Ends of audit chains are recorded outside the data directory: cut or rewritten chains are reported, allow nothing."""

import asyncio
import errno
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest

from pilothouse.domain.audit import AuditDraft, AuditHead, chain
from pilothouse.domain.codes import Code, Reason
from pilothouse.domain.errors import StoreError, StoreRefused
from pilothouse.domain.rules import Scope, substitute_rule
from pilothouse.domain.states import AwaitingToolApproval, Idle
from pilothouse.domain.value import ContextId
from pilothouse.llm.script import Answer, ScriptedCall
from pilothouse.runtime.authorization import user_rules
from pilothouse.storage.base import FENCE
from pilothouse.storage.files.disk import Disk
from pilothouse.storage.files.journal import encode_line, read_lines
from pilothouse.storage.files.store import FileStore
from pilothouse.testing.disk import Fault, FaultyDisk
from pilothouse.testing.world import World
from tests.storage.test_contract import AT
from tests.support.assertions import file_store, present
from tests.support.live_contexts import live_context
from tests.support.scale import LONG, Record

CHANGE = Answer(text="I will", calls=(ScriptedCall(tool="change", arguments={"text": "x"}),))
DONE = Answer(text="done")


def files(path: Path, disk: Disk | None = None) -> FileStore:
    return FileStore(path / "data", now=lambda: AT, disk=disk, state_dir=path / "state")


def opened(path: Path, *answers: Answer, ids_from: int = 1000, disk: Disk | None = None) -> World:
    return World(path, *answers, store=files(path, disk), ids_from=ids_from)


async def conversation(path: Path, turns: int = 2) -> ContextId:
    """The id of a conversation with some turns, closed in good order."""
    world = opened(path, *([CHANGE, DONE] * turns), ids_from=0)
    context_id = await world.start("agent")
    for _ in range(turns):
        await world.turn(context_id)
    await world.runtime.close()
    return context_id


def audit_file(path: Path, context_id: str) -> Path:
    return path / "data/contexts" / context_id / "audit.jsonl"


def cut_audit(path: Path, context_id: str, lines: int) -> None:
    """Cut the audit as somebody who knows the format: the last entries are gone, and everything else fits."""
    folder = path / "data/contexts" / context_id
    lines_left = (folder / "audit.jsonl").read_bytes().splitlines(keepends=True)[:-lines]
    (folder / "audit.jsonl").write_bytes(b"".join(lines_left))
    metadata = msgspec.json.decode((folder / "metadata.json").read_bytes())
    last = msgspec.json.decode(lines_left[-1])
    metadata["audit"] = {"count": last["sequence"], "hash": last["hash"]}
    metadata["audit_bytes"] = sum(map(len, lines_left))
    (folder / "metadata.json").write_bytes(msgspec.json.encode(metadata))


async def given_and_revoked(path: Path) -> Path:
    """The file of a rules log that allows the tool, and then no longer."""
    world = opened(path, ids_from=0)
    rule = await world.runtime.rules.give("allow", Scope(tool="change"))
    await world.runtime.rules.revoke(rule.id)
    await world.runtime.close()
    (log,) = (path / "data/users/local/journal").iterdir()
    return log


async def call_waits(world: World, mode: str = "supervised") -> bool:
    context_id = await world.start(mode)
    await world.turn(context_id)
    return isinstance((await world.runtime.contexts.get(context_id)).state, AwaitingToolApproval)


# the log of lasting rules


def without_last_line(data: bytes) -> bytes:
    return b"".join(data.splitlines(keepends=True)[:-1])


def with_half_a_last_line(data: bytes) -> bytes:
    *lines, last = data.splitlines(keepends=True)
    return b"".join(lines) + last[: len(last) // 2]


def with_another_last_line(data: bytes) -> bytes:
    """A whole chain with sums that fit, in which another rule was revoked."""
    first, _ = [present(payload) for _, _, payload in read_lines(data)]
    entry = msgspec.json.decode(first)["entries"][0]
    other = AuditDraft(kind="rule_revoked", at=AT, by="x", detail={"rule": {**entry["detail"]["rule"], "id": "other"}})
    _, entries = chain(AuditHead(1, entry["hash"]), [other])
    return encode_line(first) + encode_line(msgspec.json.encode({"version": 2, "entries": entries}))


def with_an_acceptance_of_the_cut(data: bytes) -> bytes:
    """The revocation is replaced by the entry that a person's acceptance of its loss would leave."""
    first, second = [msgspec.json.decode(present(payload)) for _, _, payload in read_lines(data)]
    first_entry, lost = first["entries"][0], second["entries"][0]
    return encode_line(msgspec.json.encode(first)) + accepting_line(
        AuditHead(1, first_entry["hash"]), Reason(Code.RULES_CUT, {"known": 2, "hash": lost["hash"]})
    )


def with_an_acceptance_of_a_forged_entry(data: bytes) -> bytes:
    """The revocation names another rule under its old hash, and an entry behind it accepts that."""
    first, second = [msgspec.json.decode(present(payload)) for _, _, payload in read_lines(data)]
    second["entries"][0]["detail"]["rule"]["id"] = "other"
    return b"".join(encode_line(msgspec.json.encode(line)) for line in (first, second)) + accepting_line(
        AuditHead(2, second["entries"][0]["hash"]), Reason(Code.AUDIT_BROKEN, {"sequence": 2})
    )


def with_an_acceptance_of_garbage(data: bytes) -> bytes:
    """The revocation cannot be read, and an entry behind it accepts that."""
    first, second = [present(payload) for _, _, payload in read_lines(data)]
    entry = msgspec.json.decode(second)["entries"][0]
    garbage = b"x" * 9 + b"\n"
    start = len(encode_line(first))
    detail = f"{len(garbage)} bytes, kept as aside/000000000001-000.log-{start}.0"
    reason = Reason(Code.RULES_DAMAGED, {"detail": detail})
    return encode_line(first) + garbage + accepting_line(AuditHead(2, entry["hash"]), reason)


def accepting_line(head: AuditHead, reason: Reason) -> bytes:
    detail = msgspec.to_builtins({"rule": substitute_rule(reason)})
    _, entries = chain(head, [AuditDraft(kind="rule_revoked", at=AT, by="local", detail=detail)])
    return encode_line(msgspec.json.encode({"version": head.count + 1, "entries": entries}))


TAMPERING = (
    without_last_line,
    with_half_a_last_line,
    with_another_last_line,
    with_an_acceptance_of_the_cut,
    with_an_acceptance_of_a_forged_entry,
    with_an_acceptance_of_garbage,
    lambda data: b"",
)


@pytest.mark.parametrize("tampered", TAMPERING)
async def test_a_rules_log_that_was_cut_or_rewritten_does_not_revive_a_revoked_rule(
    tmp_path: Path, tampered: Callable[[bytes], bytes]
) -> None:
    log = await given_and_revoked(tmp_path)
    log.write_bytes(tampered(log.read_bytes()))
    for attempt in range(2):  # opening it accepts nothing
        world = opened(tmp_path, CHANGE, DONE, ids_from=1000 * (attempt + 1))
        assert await call_waits(world)
        assert {reason.code for reason in world.runtime.rules.damage("local")} & {
            Code.RULES_CUT,
            Code.AUDIT_BROKEN,
        }
        await world.runtime.close()


async def test_a_removed_rules_log_makes_every_call_ask(tmp_path: Path) -> None:
    await given_and_revoked(tmp_path)
    shutil.rmtree(tmp_path / "data/users")
    world = opened(tmp_path, CHANGE, DONE)
    assert await call_waits(world, "agent")
    await world.runtime.close()


async def test_no_rule_allows_calls_that_ask_because_of_a_damaged_rules_log(tmp_path: Path) -> None:
    log = await given_and_revoked(tmp_path)
    log.write_bytes(without_last_line(log.read_bytes()))
    world = opened(tmp_path, CHANGE, DONE)
    context_id = await world.start("agent")
    await world.turn(context_id)
    (call,) = await world.runtime.calls.pending(context_id)
    assert present(call.reason).code is Code.RULES_IN_DOUBT
    assert await world.runtime.rules.offers(context_id, call.id) == []
    await world.runtime.rules.give("allow", Scope(tool="change"), context_id=context_id)
    assert await world.runtime.calls.pending(context_id) == [call]
    await world.runtime.close()


async def test_the_person_accepts_the_rules_log_by_revoking_its_substitute_rule(tmp_path: Path) -> None:
    log = await given_and_revoked(tmp_path)
    log.write_bytes(without_last_line(log.read_bytes()))
    world = opened(tmp_path)
    shown = await world.runtime.rules.read()
    assert [(rule.effect, rule.scope.tool) for rule in shown] == [("allow", "change"), ("ask", "*")]
    await world.runtime.rules.revoke(shown[0].id, by="me")
    assert world.runtime.rules.damage("local") != ()
    await world.runtime.rules.revoke(shown[1].id, by="me")
    assert world.runtime.rules.damage("local") == ()
    await world.runtime.close()
    again = opened(tmp_path, CHANGE, DONE, ids_from=2000)
    assert await again.runtime.rules.read() == []
    assert await call_waits(again)
    await again.runtime.close()


async def test_asking_for_the_damage_of_a_rules_log_hashes_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = await given_and_revoked(tmp_path)
    log.write_bytes(without_last_line(log.read_bytes()))
    world = opened(tmp_path)
    await world.runtime.rules.read()
    hashed: list[object] = []
    monkeypatch.setattr(user_rules, "_damage", hashed.append)
    assert [reason.code for reason in world.runtime.rules.damage("local")] == [Code.RULES_CUT]
    assert hashed == []
    monkeypatch.undo()
    await world.runtime.close()


@pytest.mark.parametrize("tampered", TAMPERING)
async def test_an_accepted_rules_log_stays_accepted_until_it_changes_again(
    tmp_path: Path, tampered: Callable[[bytes], bytes]
) -> None:
    log = await given_and_revoked(tmp_path)
    log.write_bytes(tampered(log.read_bytes()))
    world = opened(tmp_path)
    for rule in await world.runtime.rules.read():
        await world.runtime.rules.revoke(rule.id, by="me")
    assert await world.runtime.rules.read() == []
    await world.runtime.close()
    for attempt in range(2):
        world = opened(tmp_path, CHANGE, DONE, ids_from=2000 + 1000 * attempt)
        assert await world.runtime.rules.read() == []
        assert (await world.dependencies.store.user_log("local")).check().whole
        rule = await world.runtime.rules.give("allow", Scope(tool="change"))
        await world.runtime.rules.revoke(rule.id)
        await world.runtime.close()
    segments = sorted((tmp_path / "data/users/local/journal").iterdir())
    segments[-1].write_bytes(without_last_line(segments[-1].read_bytes()))
    world = opened(tmp_path, CHANGE, DONE, ids_from=9000)
    assert await call_waits(world)
    await world.runtime.close()


async def test_an_acceptance_that_a_kill_kept_from_being_recorded_is_requested_again(tmp_path: Path) -> None:
    log = await given_and_revoked(tmp_path)
    log.write_bytes(without_last_line(log.read_bytes()))
    shutil.copytree(tmp_path / "state", tmp_path / "before")
    world = opened(tmp_path)
    for rule in await world.runtime.rules.read():
        await world.runtime.rules.revoke(rule.id, by="me")
    await world.runtime.close()
    shutil.rmtree(tmp_path / "state")
    shutil.copytree(tmp_path / "before", tmp_path / "state")
    world = opened(tmp_path, CHANGE, DONE)
    assert [rule.scope.tool for rule in await world.runtime.rules.read()] == ["*"]
    assert await call_waits(world)
    await world.runtime.close()


async def test_rules_of_an_earlier_version_count_and_are_noted_with_the_next_one(tmp_path: Path) -> None:
    world = World(tmp_path, store=FileStore(tmp_path / "data", now=lambda: AT))  # without a state directory
    await world.runtime.rules.give("allow", Scope(tool="change"))
    await world.runtime.close()
    world = opened(tmp_path, CHANGE, DONE)
    assert not await call_waits(world)
    assert (await world.dependencies.store.user_log("local")).noted is None
    await world.runtime.rules.give("deny", Scope(tool="look"))
    assert (await world.dependencies.store.user_log("local")).noted is not None
    await world.runtime.close()


# the audit of a conversation


async def chain_of(path: Path, context_id: ContextId) -> tuple[bool, bool, int | None]:
    store = files(path)
    state = (await store.audit(context_id, limit=0)).chain
    await store.close()
    return state.whole, state.confirmed, state.broken_at


async def test_a_chain_written_here_is_confirmed_at_once_and_after_a_restart(tmp_path: Path) -> None:
    world = opened(tmp_path, CHANGE, DONE, ids_from=0)
    context_id = await world.start("agent")
    assert (await world.runtime.contexts.audit(context_id)).chain.confirmed
    await world.turn(context_id)
    assert (await world.runtime.contexts.audit(context_id)).chain.confirmed
    await world.runtime.close()
    assert await chain_of(tmp_path, context_id) == (True, True, None)


@pytest.mark.parametrize("lines", [1, 3])
async def test_a_cut_conversation_is_reported_and_every_call_in_it_asks(tmp_path: Path, lines: int) -> None:
    context_id = await conversation(tmp_path)
    count = len(audit_file(tmp_path, context_id).read_bytes().splitlines())
    cut_audit(tmp_path, context_id, lines)
    assert await chain_of(tmp_path, context_id) == (False, False, count - lines + 1)
    world = opened(tmp_path, CHANGE, DONE)
    live = await world.runtime.contexts.get(context_id)
    assert [reason.code for reason in live.damage] == [Code.AUDIT_CUT]
    await world.turn(context_id)
    assert isinstance((await world.runtime.contexts.get(context_id)).state, AwaitingToolApproval)
    await world.runtime.close()
    assert (await chain_of(tmp_path, context_id))[0] is False  # going on with it does not cover it up


async def test_the_person_accepts_a_cut_conversation_by_revoking_its_substitute_rule(
    tmp_path: Path,
) -> None:
    context_id = await conversation(tmp_path)
    cut_audit(tmp_path, context_id, 2)
    world = opened(tmp_path, CHANGE, DONE)
    (rule,) = await world.runtime.rules.read(context_id)
    await world.runtime.rules.revoke(rule.id, context_id=context_id)
    assert await world.runtime.rules.read(context_id) == []
    await world.turn(context_id)
    live = await world.runtime.contexts.get(context_id)
    assert isinstance(live.state, Idle)
    assert live.damage == ()
    await world.runtime.close()
    assert await chain_of(tmp_path, context_id) == (True, True, None)


async def test_a_cut_conversation_is_accepted_only_once_the_acceptance_is_committed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    context_id = await conversation(tmp_path)
    cut_audit(tmp_path, context_id, 2)
    world = opened(tmp_path)
    live = await live_context(world.runtime, context_id)
    before = live.damage
    (rule,) = await world.runtime.rules.read(context_id)
    during = []

    async def cancelled(*_: object, **__: object) -> int:
        during.append(live.damage)
        raise asyncio.CancelledError

    with monkeypatch.context() as patched:
        patched.setattr(world.dependencies.store, "commit", cancelled)
        with pytest.raises(asyncio.CancelledError):
            await world.runtime.rules.revoke(rule.id, context_id=context_id)
    assert during == [before]
    assert await world.runtime.rules.read(context_id) == [rule]
    await world.runtime.rules.revoke(rule.id, context_id=context_id)
    assert await world.runtime.rules.read(context_id) == []
    await world.runtime.close()


class DiskWithoutHeads(Disk):
    """The state directory is read-only, the data directory is not."""

    refuses = False

    def replace_file(self, path: Path, data: bytes) -> None:
        if self.refuses and "audit-heads" in path.parts:
            raise OSError(errno.EROFS, os.strerror(errno.EROFS))
        super().replace_file(path, data)


@pytest.mark.parametrize("kind", ["conversation", "rules"])
async def test_an_acceptance_that_cannot_be_recorded_is_refused_and_calls_keep_waiting(
    tmp_path: Path, kind: str
) -> None:
    """Only the record outside of the data directory says that the person has accepted."""
    context_id = await conversation(tmp_path)
    if kind == "conversation":
        cut_audit(tmp_path, context_id, 2)
    else:
        log = await given_and_revoked(tmp_path)
        log.write_bytes(without_last_line(log.read_bytes()))
    disk = DiskWithoutHeads()
    world = opened(tmp_path, disk=disk)
    of = {"context_id": context_id} if kind == "conversation" else {}
    await world.runtime.contexts.get(context_id)
    asking = [rule for rule in await world.runtime.rules.read(**of) if rule.effect == "ask"]
    disk.refuses = True
    with pytest.raises(StoreRefused):
        await world.runtime.rules.revoke(asking[0].id, **of)
    assert [rule for rule in await world.runtime.rules.read(**of) if rule.effect == "ask"] == asking
    disk.refuses = False
    await world.runtime.rules.revoke(asking[0].id, **of)
    assert [rule for rule in await world.runtime.rules.read(**of) if rule.effect == "ask"] == []
    await world.runtime.close()


async def test_forged_reordered_and_removed_entries_are_detected(tmp_path: Path) -> None:
    context_id = await conversation(tmp_path)
    file = audit_file(tmp_path, context_id)
    whole = file.read_bytes()
    lines = whole.splitlines(keepends=True)
    forged = lines[2].replace(b'"by":"', b'"by":"X', 1)
    trials = {
        3: [*lines[:2], forged[:-3] + forged[-2:], *lines[3:]],
        2: [lines[0], lines[2], lines[1], *lines[3:]],
        4: [*lines[:3], *lines[4:]],
        len(lines): [*lines[:-1], b"{}\n"],
    }
    for broken_at, changed in trials.items():
        file.write_bytes(b"".join(changed))
        assert await chain_of(tmp_path, context_id) == (False, False, broken_at)
    file.write_bytes(whole)
    assert await chain_of(tmp_path, context_id) == (True, True, None)


def forged(lines: list[bytes]) -> list[bytes]:
    return [lines[0], lines[1].replace(b'"by":"mode"', b'"by":"anna"'), *lines[2:]]


def with_a_longer_entry(lines: list[bytes]) -> list[bytes]:
    return [lines[0], lines[1].replace(b'"by":"', b'"by":"somebody else', 1), *lines[2:]]


def with_an_unreadable_entry(lines: list[bytes]) -> list[bytes]:
    return [lines[0], b"x" * (len(lines[1]) - 1) + b"\n", *lines[2:]]


def without_the_last_bytes(lines: list[bytes]) -> list[bytes]:
    return [*lines[:-1], lines[-1][:-7]]


FORGING: tuple[Callable[[list[bytes]], list[bytes]], ...] = (
    forged,
    with_a_longer_entry,
    with_an_unreadable_entry,
    without_the_last_bytes,
    lambda lines: [*lines[:2], *lines[3:]],
    lambda lines: [],
)


@pytest.mark.parametrize("change", FORGING)
async def test_calls_wait_where_an_entry_was_forged_until_the_person_accepts_it(
    tmp_path: Path, change: Callable[[list[bytes]], list[bytes]]
) -> None:
    context_id = await conversation(tmp_path)
    file = audit_file(tmp_path, context_id)
    before = file.read_bytes()
    file.write_bytes(b"".join(change(before.splitlines(keepends=True))))
    assert file.read_bytes() != before
    for attempt in range(2):  # going on with it does not cover it up
        world = opened(tmp_path, CHANGE, ids_from=1000 * (attempt + 1))
        assert [reason.code for reason in (await world.runtime.contexts.get(context_id)).damage] == [Code.AUDIT_CUT]
        await world.turn(context_id)
        assert isinstance((await world.runtime.contexts.get(context_id)).state, AwaitingToolApproval)
        await world.runtime.turns.cancel(context_id)
        await world.runtime.turns.rested(context_id)
        await world.runtime.close()
    world = opened(tmp_path, ids_from=4000)
    (rule,) = await world.runtime.rules.read(context_id)
    await world.runtime.rules.revoke(rule.id, context_id=context_id)
    assert (await world.runtime.contexts.audit(context_id)).chain.whole
    await world.runtime.close()
    for attempt in range(2):
        world = opened(tmp_path, CHANGE, DONE, ids_from=5000 + 1000 * attempt)
        assert (await world.runtime.contexts.get(context_id)).damage == ()
        await world.turn(context_id)
        assert isinstance((await world.runtime.contexts.get(context_id)).state, Idle)
        await world.runtime.close()
        assert await chain_of(tmp_path, context_id) == (True, True, None)
    last = file.read_bytes()
    file.write_bytes(last[:100] + b"x" + last[101:])  # an acceptance holds for exactly the accepted chain
    assert not (await chain_of(tmp_path, context_id))[0]


async def test_a_completely_rewritten_chain_is_detected(tmp_path: Path) -> None:
    context_id = await conversation(tmp_path)
    folder = tmp_path / "data/contexts" / context_id
    old = [msgspec.json.decode(line) for line in audit_file(tmp_path, context_id).read_bytes().splitlines()]
    drafts = [AuditDraft(kind=each["kind"], at=AT, by="X", detail=each.get("detail", {})) for each in old]
    head, entries = chain(AuditHead(), drafts)
    data = b"".join(msgspec.json.encode(entry) + b"\n" for entry in entries)
    audit_file(tmp_path, context_id).write_bytes(data)
    metadata = msgspec.json.decode((folder / "metadata.json").read_bytes())
    metadata |= {"audit": msgspec.to_builtins(head), "audit_bytes": len(data)}
    (folder / "metadata.json").write_bytes(msgspec.json.encode(metadata))
    assert await chain_of(tmp_path, context_id) == (False, False, len(old))


async def test_a_copied_folder_is_not_confirmed_until_something_is_written(tmp_path: Path) -> None:
    context_id = await conversation(tmp_path)
    shutil.copytree(tmp_path / "data", tmp_path / "elsewhere/data")
    there = tmp_path / "elsewhere"
    assert await chain_of(there, context_id) == (True, False, None)
    assert await chain_of(there, context_id) == (True, False, None)  # reading confirms nothing
    world = opened(there, DONE)
    await world.turn(context_id)
    await world.runtime.close()
    assert await chain_of(there, context_id) == (True, True, None)
    assert await chain_of(tmp_path, context_id) == (True, True, None)  # the other one goes its own way


@pytest.mark.parametrize("turns", [1, 60])
async def test_a_head_that_is_older_than_the_chain_is_normal(tmp_path: Path, turns: int) -> None:
    context_id = await conversation(tmp_path, 1)
    shutil.copytree(tmp_path / "state", tmp_path / "old")
    world = opened(tmp_path, *([CHANGE, DONE] * turns))
    for _ in range(turns):
        await world.turn(context_id)
    await world.runtime.close()
    shutil.rmtree(tmp_path / "state")
    shutil.copytree(tmp_path / "old", tmp_path / "state")
    assert await chain_of(tmp_path, context_id) == (True, True, None)
    world = opened(tmp_path, ids_from=9000)
    assert (await world.runtime.contexts.get(context_id)).damage == ()
    await world.runtime.close()


async def test_a_removed_data_directory_is_reported_until_the_person_accepts(
    tmp_path: Path,
) -> None:
    """Somebody who made the directory look new for a moment could restore an older copy."""
    await given_and_revoked(tmp_path)
    context_id = await conversation(tmp_path)
    shutil.rmtree(tmp_path / "data")
    world = opened(tmp_path, CHANGE, DONE, CHANGE, DONE, ids_from=0)
    assert await file_store(world.dependencies.store).lost_contexts() == [context_id]
    (rule,) = await world.runtime.rules.read()
    await world.runtime.rules.revoke(rule.id)
    await world.dependencies.store.accept_audit(context_id)
    assert not await call_waits(world, "agent")
    assert (await world.runtime.contexts.audit(context_id)).chain.whole  # a new one, which got the same id
    await world.runtime.close()


@pytest.mark.parametrize("turns", [0, 5])
async def test_a_removed_conversation_restarted_under_its_name_is_reported_and_asks(tmp_path: Path, turns: int) -> None:
    """However many entries the new one has."""
    world = opened(tmp_path, CHANGE, DONE, ids_from=0)
    context_id = await world.runtime.contexts.create(world.workspace, mode="agent", context_id="work")
    await world.turn(context_id)
    await world.runtime.close()
    shutil.rmtree(tmp_path / "data/contexts/work")
    world = opened(tmp_path, *([DONE] * turns), ids_from=1000)
    assert await world.runtime.contexts.create(world.workspace, mode="agent", context_id="work") == context_id
    for _ in range(turns):
        await world.turn(context_id)
        await world.runtime.modes.switch(context_id, "supervised")
        await world.runtime.modes.switch(context_id, "agent")
    for attempt in range(2):
        assert [reason.code for reason in (await world.runtime.contexts.get(context_id)).damage] == [Code.AUDIT_CUT]
        assert not (await world.runtime.contexts.audit(context_id)).chain.whole
        await world.runtime.close()
        world = opened(tmp_path, CHANGE, DONE, ids_from=3000 * (attempt + 1))
    await world.turn(context_id)
    assert isinstance((await world.runtime.contexts.get(context_id)).state, AwaitingToolApproval)
    (rule,) = await world.runtime.rules.read(context_id)
    await world.runtime.rules.revoke(rule.id, context_id=context_id)
    await world.runtime.close()
    assert await chain_of(tmp_path, context_id) == (True, True, None)


async def test_a_deleted_conversation_can_be_restarted_under_its_name_without_a_report(tmp_path: Path) -> None:
    world = opened(tmp_path, CHANGE, DONE, CHANGE, DONE, ids_from=0)
    for _ in range(2):
        context_id = await world.runtime.contexts.create(world.workspace, mode="agent", context_id="work")
        await world.turn(context_id)
        await file_store(world.dependencies.store).checkpoint(context_id)
        live = await world.runtime.contexts.get(context_id)
        assert (live.state, live.damage) == (Idle(), ())
        await world.runtime.contexts.delete(context_id)
    await world.runtime.close()


async def test_only_removed_and_not_deleted_conversations_are_reported_as_missing(tmp_path: Path) -> None:
    first, second = await conversation(tmp_path), None
    world = opened(tmp_path, CHANGE, DONE)
    second = await world.start("agent")
    await world.turn(second)
    await world.runtime.close()
    store = files(tmp_path)
    await store.delete(first, fence=FENCE)
    assert await store.lost_contexts() == []
    await store.close()
    shutil.rmtree(tmp_path / "data/contexts" / second)
    store = files(tmp_path)
    assert await store.lost_contexts() == [second]
    await store.close()


# crashes and full disks


async def scenario(path: Path, disk: FaultyDisk) -> None:
    """Turns and rules; whatever is refused is left."""
    world = opened(path, *([CHANGE, DONE] * 2), ids_from=0, disk=disk)
    try:
        context_id = await world.start("agent")
        rule = await world.runtime.rules.give("allow", Scope(tool="other"))
        await world.turn(context_id)
        await file_store(world.dependencies.store).checkpoint(context_id)
        await world.runtime.rules.revoke(rule.id)
        await world.turn(context_id)
    except StoreError:
        pass
    disk.disarm()
    await world.runtime.close()


async def suspected(path: Path) -> list[str]:
    """The names of everything that a fresh process reports as cut or rewritten."""
    store = files(path)
    names = ["rules"] if (await store.user_log("local")).is_cut else []
    names += [
        each.context_id for each in await store.contexts() if not (await store.audit(each.context_id)).chain.whole
    ]
    names += await store.lost_contexts()
    await store.close()
    return names


@pytest.mark.parametrize("fault", ["ENOSPC", "EIO"])
async def test_no_refused_write_is_taken_for_tampering(tmp_path: Path, fault: Fault, record_property: Record) -> None:
    disk = FaultyDisk()
    await scenario(tmp_path / "whole", disk)
    count = disk.count
    step = 1 if LONG else 10
    for at in range(1, count + 1, step):
        for lasting in (False, True):
            path = tmp_path / f"{at}-{lasting}"
            disk = FaultyDisk()
            disk.arm(at, fault, lasting=lasting)
            try:
                await scenario(path, disk)
            except OSError:
                continue  # the directory itself could not be made
            assert await suspected(path) == []
    record_property(
        "figure",
        f"audit heads: {fault} at {len(range(1, count + 1, step))} of {count} operations, none taken for tampering",
    )


class CopyingDisk(FaultyDisk):
    """Before each operation, copies the files that a process killed there would leave."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self._path = path

    def _fails(self) -> bool:
        number = self.count + 1
        if (self._path / "data").exists() and number % (1 if LONG else 4) == 0:
            shutil.copytree(self._path, self._path.parent / f"killed-{number}" / "x")
        return super()._fails()


async def test_no_kill_is_taken_for_tampering(tmp_path: Path, record_property: Record) -> None:
    path = tmp_path / "x"
    path.mkdir()
    disk = CopyingDisk(path)
    await scenario(path, disk)
    trials = sorted(tmp_path.glob("killed-*"))
    assert len(trials) > 10
    for trial in trials:
        path.rename(tmp_path / "before")  # heads belong to a path: the copy must lie where the killed one lay
        (trial / "x").rename(path)
        assert await suspected(path) == []
        path.rename(trial / "x")
        (tmp_path / "before").rename(path)
    record_property("figure", f"audit heads: {len(trials)} kills, none taken for tampering")


async def test_a_head_that_is_noted_while_the_audit_is_read_is_not_taken_for_tampering(tmp_path: Path) -> None:
    world = opened(tmp_path, CHANGE, DONE, CHANGE, DONE, ids_from=0)
    store = world.dependencies.store
    assert isinstance(store, FileStore)
    context_id = await world.start("agent")
    await world.turn(context_id)
    await store.checkpoint(context_id)
    context = store._open[context_id]
    audit = context.audit_snapshot()
    await world.turn(context_id)
    await store.checkpoint(context_id)
    assert context.audit_state.read(audit).page.chain.whole
    await world.runtime.close()


@pytest.mark.parametrize("way", ["accepted", "recorded"])
async def test_a_read_that_began_before_an_acceptance_does_not_undo_it(tmp_path: Path, way: str) -> None:
    context_id = await conversation(tmp_path)
    file = audit_file(tmp_path, context_id)
    file.write_bytes(b"".join(forged(file.read_bytes().splitlines(keepends=True))))
    world = opened(tmp_path, CHANGE, DONE)
    store = world.dependencies.store
    assert isinstance(store, FileStore)
    (rule,) = await world.runtime.rules.read(context_id)
    context = store._open[context_id]
    audit = context.audit_snapshot()
    if way == "accepted":
        await store.accept_audit(context_id)
    else:
        await world.runtime.rules.revoke(rule.id, context_id=context_id)
    assert not context.audit_state.read(audit).page.chain.whole
    await store.checkpoint(context_id)
    await world.runtime.close()
    world = opened(tmp_path, ids_from=3000)
    assert (await world.runtime.contexts.get(context_id)).damage == ()
    await world.runtime.close()


async def test_a_read_that_began_before_a_checkpoint_does_not_keep_a_person_from_accepting(tmp_path: Path) -> None:
    context_id = await conversation(tmp_path)
    cut_audit(tmp_path, context_id, 2)
    world = opened(tmp_path, CHANGE, DONE)
    store = world.dependencies.store
    assert isinstance(store, FileStore)
    await world.runtime.contexts.get(context_id)
    context = store._open[context_id]
    audit = context.audit_snapshot()
    await world.turn(context_id)
    await store.checkpoint(context_id)
    context.remember_audit(context.audit_state.read(audit))
    await store.accept_audit(context_id)
    assert (await store.audit(context_id)).chain.whole
    await world.runtime.close()


async def test_a_state_directory_that_cannot_be_written_refuses_nothing(tmp_path: Path) -> None:
    (tmp_path / "state").write_text("a file")
    context_id = await conversation(tmp_path)
    assert await chain_of(tmp_path, context_id) == (True, False, None)
