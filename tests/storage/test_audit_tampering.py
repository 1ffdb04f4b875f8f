"""Somebody who writes the data directory of a running server: links, pipes, forged numbers, and kills in between."""

import asyncio
import contextlib
import os
import shutil
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest

from pilothouse.domain.audit import AuditDraft, AuditHead, chain
from pilothouse.domain.codes import Code
from pilothouse.domain.errors import PilothouseError, StoreDamaged, StoreError
from pilothouse.domain.rules import is_substitute
from pilothouse.domain.states import AwaitingToolApproval
from pilothouse.domain.value import ContextId
from pilothouse.storage.files import user_log
from pilothouse.storage.files.disk import Disk
from pilothouse.storage.files.journal import encode_line
from pilothouse.testing.world import World
from tests.storage.test_audit_heads import (
    CHANGE,
    DONE,
    audit_file,
    call_waits,
    conversation,
    cut_audit,
    files,
    given_and_revoked,
    opened,
    without_last_line,
)
from tests.storage.test_contract import AT
from tests.support.assertions import file_store
from tests.support.scale import HANG_SECONDS


class ProcessKilled(BaseException):
    """The process ends here: nothing after it is done."""


class DyingDisk(Disk):
    """A disk whose process is killed before one of its operations."""

    def __init__(self) -> None:
        self.operations_left = -1

    def _count(self) -> None:
        if self.operations_left == 0:
            raise ProcessKilled
        self.operations_left -= 1

    def open(self, path: Path, flags: int) -> int:
        self._count()
        return super().open(path, flags)

    def write(self, fd: int, data: bytes | memoryview) -> int:
        self._count()
        return super().write(fd, data)

    def sync(self, fd: int) -> None:
        self._count()
        super().sync(fd)

    def rename(self, source: Path, target: Path) -> None:
        self._count()
        super().rename(source, target)


async def accepted_and_recorded(path: Path, context_id: str | None) -> tuple[bool, bool]:
    """Whether the record is accepted, and whether it names the person."""
    world = opened(path)
    try:
        if context_id is None:
            stand_ins = [rule for rule in await world.runtime.rules.read() if is_substitute(rule)]
            entries = (await world.dependencies.store.user_log("local")).entries
        else:
            stand_ins = [rule for rule in await world.runtime.rules.read(context_id) if is_substitute(rule)]
            entries = (await world.runtime.contexts.audit(context_id)).entries
        is_recorded = any(entry.kind == "rule_revoked" and entry.by == "acceptor" for entry in entries)
        return not stand_ins, is_recorded
    finally:
        await world.runtime.close()


@pytest.mark.parametrize("kind", ["conversation", "rules"])
async def test_an_acceptance_and_its_record_are_one_commit_wherever_the_process_is_killed(
    tmp_path: Path, kind: str
) -> None:
    context_id = await conversation(tmp_path)
    if kind == "conversation":
        cut_audit(tmp_path, context_id, 2)
    else:
        log = await given_and_revoked(tmp_path)
        log.write_bytes(without_last_line(log.read_bytes()))
    about = context_id if kind == "conversation" else None
    for name in ("data", "state"):
        shutil.copytree(tmp_path / name, tmp_path / "before" / name)
    outcomes = []
    for operation in range(100):
        disk = DyingDisk()
        world = opened(tmp_path, disk=disk)
        await world.runtime.contexts.get(context_id)
        stand_in = next(rule for rule in await world.runtime.rules.read(about) if is_substitute(rule))
        disk.operations_left = operation
        with contextlib.suppress(ProcessKilled):
            await world.runtime.rules.revoke(stand_in.id, context_id=about, by="acceptor")
        is_over = disk.operations_left > 0
        disk.operations_left = 0  # a killed process does not tidy up
        with pytest.MonkeyPatch.context() as patched:
            patched.setattr(type(world.dependencies.store), "checkpoint", _nothing)
            await world.runtime.close()
        accepted, recorded = await accepted_and_recorded(tmp_path, about)
        assert accepted == recorded, operation
        outcomes.append(accepted)
        for name in ("data", "state"):
            shutil.rmtree(tmp_path / name)
            shutil.copytree(tmp_path / "before" / name, tmp_path / name)
        if is_over:
            break
    assert outcomes == sorted(outcomes)
    assert set(outcomes) == {False, True}


async def _nothing(*_: object) -> None:
    """No checkpoint."""


READERS: dict[str, Callable[[World, str], Awaitable[object]]] = {
    "audit": lambda world, context_id: world.runtime.contexts.audit(context_id),
    "export": lambda world, context_id: _drained(world.runtime.exports.create(context_id)),
    "markdown": lambda world, context_id: _drained(world.runtime.exports.markdown(context_id)),
}


async def _drained(parts: AsyncIterator[bytes]) -> None:
    async for _ in parts:
        pass


@pytest.mark.parametrize("reader", READERS)
async def test_a_chain_that_a_reader_finds_broken_makes_calls_wait_at_once(tmp_path: Path, reader: str) -> None:
    world = opened(tmp_path, CHANGE, DONE, CHANGE, DONE, CHANGE, DONE, ids_from=0)
    context_id = await world.start("agent")
    await world.turn(context_id)
    await file_store(world.dependencies.store).checkpoint(context_id)
    path = audit_file(tmp_path, context_id)
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join([lines[0], b"x" * (len(lines[1]) - 1) + b"\n", *lines[2:]]))
    await READERS[reader](world, context_id)
    live = await world.runtime.contexts.get(context_id)
    assert [reason.code for reason in live.damage] == [Code.AUDIT_CUT]
    await world.turn(context_id)
    assert isinstance((await world.runtime.contexts.get(context_id)).state, AwaitingToolApproval)
    (stand_in,) = [rule for rule in await world.runtime.rules.read(context_id) if is_substitute(rule)]
    await world.runtime.rules.revoke(stand_in.id, context_id=context_id)
    assert (await world.runtime.contexts.get(context_id)).damage == ()
    assert (await world.runtime.contexts.audit(context_id)).chain.whole
    await world.runtime.close()


def place_pipe(path: Path) -> None:
    os.mkfifo(path)


def place_link(path: Path) -> None:
    target = path.parent.parent / "elsewhere"
    target.write_bytes(b"{}\n")
    path.symlink_to(target)


@pytest.mark.parametrize("place", [place_pipe, place_link])
@pytest.mark.parametrize(
    "name", ["audit.jsonl", "metadata.json", "keys.jsonl", "streaming.log", "journal", "head", "rules"]
)
async def test_a_pipe_or_link_in_the_place_of_a_file_neither_blocks_nor_is_followed(
    tmp_path: Path, name: str, place: Callable[[Path], None]
) -> None:
    context_id = await conversation(tmp_path)
    await given_and_revoked(tmp_path)
    folder = tmp_path / "data/contexts" / context_id
    (head,) = (tmp_path / "state/audit-heads").glob(f"*/contexts/{context_id}")
    (rules,) = (tmp_path / "data/users/local/journal").iterdir()
    path = {"head": head, "rules": rules, "journal": folder / "journal/000000000900-000.log"}.get(name, folder / name)
    path.parent.mkdir(exist_ok=True)
    path.unlink(missing_ok=True)
    place(path)
    try:
        async with asyncio.timeout(HANG_SECONDS):
            await _use(tmp_path, context_id)
    finally:
        if place is place_pipe and path.is_fifo():
            os.close(os.open(path, os.O_RDWR | os.O_NONBLOCK))  # waiting writers continue
    if place is place_link:
        elsewhere = path.parent.parent / "elsewhere"
        assert elsewhere.read_bytes() == b"{}\n"


async def _use(path: Path, context_id: ContextId) -> None:
    """Open a conversation, read its audit and continue, as far as the store allows."""
    world = opened(path, CHANGE, DONE)
    try:
        await world.runtime.contexts.audit(context_id)
        await world.turn(context_id)
        await file_store(world.dependencies.store).checkpoint(context_id)
    except StoreError:
        pass
    finally:
        await world.runtime.close()


CLAIMS: dict[str, Callable[[dict[str, Any]], None]] = {
    "messages": lambda metadata: metadata["branches"]["main"].update(length=10**12),
    "fewer messages": lambda metadata: metadata["branches"]["main"].update(length=10**9),
    "entries": lambda metadata: metadata.update(audit={"count": 10**12, "hash": "0" * 64}),
    "bytes of the audit": lambda metadata: metadata.update(audit_bytes=10**12),
    "bytes of keys": lambda metadata: metadata.update(keys_bytes=10**12),
    "some bytes of keys": lambda metadata: metadata.update(keys_bytes=10**10),
    "a negative size": lambda metadata: metadata.update(keys_bytes=-5),
    "commits": lambda metadata: metadata.update(version=10**15),
    "rules": lambda metadata: metadata.update(rules=[_rule(number) for number in range(20_000)]),
}


def _rule(number: int) -> dict[str, object]:
    return {
        "id": f"rule{number}",
        "effect": "allow",
        "scope": {"tool": "change"},
        "origin": {"by": "local", "at": AT},
    }


@pytest.mark.parametrize("claim", CLAIMS)
async def test_a_checkpoint_that_claims_too_much_costs_no_more_than_its_file(tmp_path: Path, claim: str) -> None:
    context_id = await conversation(tmp_path)
    folder = tmp_path / "data/contexts" / context_id
    metadata = msgspec.json.decode((folder / "metadata.json").read_bytes())
    CLAIMS[claim](metadata)
    (folder / "metadata.json").write_bytes(msgspec.json.encode(metadata))
    world = opened(tmp_path, CHANGE, DONE)
    try:
        live = await world.runtime.contexts.get(context_id)
        assert live.damage or "bytes" in claim
        assert len(await world.dependencies.store.branch_ids(context_id, "main")) < 100_000
        assert len(await world.dependencies.store.sent_keys(context_id)) < 100
        await world.runtime.contexts.audit(context_id)
        await world.turn(context_id)
        await file_store(world.dependencies.store).checkpoint(context_id)
    except PilothouseError:
        pass
    await world.runtime.close()
    assert sum(path.stat().st_size for path in folder.rglob("*") if path.is_file()) < 50_000_000


def log_of_rules(count: int) -> bytes:
    drafts = [AuditDraft(kind="rule_given", at=AT, by="x", detail={"rule": _rule(number)}) for number in range(count)]
    _, entries = chain(AuditHead(), drafts)
    return encode_line(msgspec.json.encode({"version": 1, "entries": entries}))


@pytest.mark.parametrize("limit", ["rules", "entries", "bytes"])
async def test_a_log_of_too_many_rules_is_a_clear_error(
    tmp_path: Path, limit: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = await given_and_revoked(tmp_path)
    log.write_bytes(log_of_rules(3000))
    if limit == "entries":
        monkeypatch.setattr(user_log, "MAX_LOG_ENTRIES", 2000)
    elif limit == "bytes":
        monkeypatch.setattr(user_log, "MAX_LOG_BYTES", 100_000)
    world = opened(tmp_path, CHANGE, DONE)
    with pytest.raises(StoreDamaged) as refused:
        await call_waits(world)
    assert refused.value.reason.code is Code.RULES_DAMAGED
    await world.runtime.close()


async def test_a_head_that_accepts_more_entries_than_exist_accepts_nothing(tmp_path: Path) -> None:
    log = await given_and_revoked(tmp_path)
    (head,) = (tmp_path / "state/audit-heads").glob("*/users/local")
    noted = msgspec.json.decode(head.read_bytes())
    for length in (10**12, -1):
        noted["accepted"] = {"length": length, "digest": "0" * 64, "end": {"count": 10**12, "hash": "0" * 64}}
        head.write_bytes(msgspec.json.encode(noted))
        store = files(tmp_path)
        assert (await store.user_log("local")).accepted == 0
        await store.close()
    assert log.exists()


@pytest.mark.parametrize("detail", [{}, {"rule": 1}, {"rule": {"id": "x"}}])
async def test_an_entry_of_the_rules_log_that_holds_no_rule_is_a_clear_error(
    tmp_path: Path, detail: dict[str, Any]
) -> None:
    log = await given_and_revoked(tmp_path)
    _, entries = chain(AuditHead(), [AuditDraft(kind="rule_given", at=AT, by="x", detail=detail)])
    log.write_bytes(encode_line(msgspec.json.encode({"version": 1, "entries": entries})))
    world = opened(tmp_path, CHANGE, DONE)
    with pytest.raises(StoreDamaged):
        await call_waits(world)
    await world.runtime.close()
