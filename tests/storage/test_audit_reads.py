"""Entries of an audit and the verdict on its chain come from the same bytes, even if the file is exchanged."""

import asyncio
import builtins
import io
import itertools
import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pilothouse.domain.audit import AuditEntry
from pilothouse.domain.codes import Code
from pilothouse.domain.errors import Conflict
from pilothouse.domain.rules import is_substitute
from pilothouse.domain.value import ContextId
from pilothouse.storage.files import audit_chain
from pilothouse.storage.files.store import FileStore
from pilothouse.terminal import turn_commands
from pilothouse.testing.served import Served
from pilothouse.testing.world import World
from tests.storage.test_audit_heads import CHANGE, DONE, audit_file, conversation, cut_audit, files, opened
from tests.support.assertions import file_store
from tests.support.scale import HANG_SECONDS

FORGED = "spoof"


def forged(data: bytes) -> bytes:
    """Entries of the same length that name another mode."""
    assert len(FORGED) == len("agent")
    return data.replace(b'"agent"', b'"%s"' % FORGED.encode())


class FileExchanger:
    """A process that exchanges a file whenever it is about to be opened, in a given order of contents."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, path: Path) -> None:
        self._path = path
        self._contents: list[bytes] = []
        for module, name in ((os, "open"), (io, "open"), (builtins, "open")):
            monkeypatch.setattr(module, name, self._before(getattr(module, name)))

    def _before(self, opened: Callable[..., Any]) -> Callable[..., Any]:
        def exchanged(path: Any, *arguments: Any, **options: Any) -> Any:
            if self._contents and path == self._path:
                content = self._contents.pop(0)
                other = self._path.with_name("other")
                other.write_bytes(content)
                other.replace(self._path)
            return opened(path, *arguments, **options)

        return exchanged

    def plan(self, *contents: bytes) -> None:
        self._contents = list(contents)


Reader = Callable[[World, str, pytest.CaptureFixture[str]], Any]


async def served(world: World, route: str) -> tuple[str, bool]:
    async with Served(world.runtime, [world.workspace]) as server, server.client() as client:
        page = await client.request("GET", route)
    return json.dumps(page), not page["chain"]["whole"]


async def served_audit(world: World, context_id: str, _: Any) -> tuple[str, bool]:
    return await served(world, f"/api/contexts/{context_id}/audit")


async def served_explanation(world: World, context_id: ContextId, _: Any) -> tuple[str, bool]:
    (call, *_) = await world.dependencies.store.calls(context_id)
    return await served(world, f"/api/contexts/{context_id}/tool-calls/{call.id}/explain")


async def exported(world: World, context_id: str, _: Any) -> tuple[str, bool]:
    data = b"".join([piece async for piece in world.runtime.exports.create(context_id)]).decode()
    lines = [line for line in data.splitlines() if json.loads(line)["type"] == "audit"]
    return "".join(lines), "chain" in json.loads(data.splitlines()[0])


async def printed_audit(world: World, context_id: str, capsys: pytest.CaptureFixture[str]) -> tuple[str, bool]:
    await turn_commands.audit(world.runtime, context_id, "", "en")
    text = capsys.readouterr().out
    return text, "cut off or rewritten" in text


async def printed_explanation(world: World, context_id: str, capsys: pytest.CaptureFixture[str]) -> tuple[str, bool]:
    await turn_commands.why(world.runtime, context_id, "", "en")
    text = capsys.readouterr().out
    return text, "cut off or rewritten" in text


@pytest.mark.parametrize("read", [served_audit, served_explanation, exported, printed_audit, printed_explanation])
async def test_a_file_that_is_exchanged_between_two_reads_never_has_forged_entries_shown_as_whole(
    tmp_path: Path, read: Reader, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    context_id = await conversation(tmp_path)
    path = audit_file(tmp_path, context_id)
    genuine = path.read_bytes()
    world = opened(tmp_path)
    await world.runtime.contexts.get(context_id)
    exchange = FileExchanger(monkeypatch, path)
    outcomes = set()
    for contents in itertools.product((genuine, forged(genuine)), repeat=3):
        exchange.plan(*contents)
        text, is_doubted = await read(world, context_id, capsys)
        assert is_doubted or FORGED not in text
        outcomes.add(is_doubted)
    assert outcomes == {True, False}
    exchange.plan()
    path.write_bytes(genuine)
    await world.runtime.close()


async def test_forged_entries_are_found_where_size_and_times_of_the_file_stay_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(audit_chain, "_signature", lambda _: ())
    monkeypatch.setattr(audit_chain, "MIN_BLOCK_BYTES", 600)
    context_id = await conversation(tmp_path, turns=4)
    path = audit_file(tmp_path, context_id)
    lines = path.read_bytes().splitlines(keepends=True)
    for number in range(len(lines)):
        changed = lines[number].replace(b'"at":"2', b'"at":"3')
        path.write_bytes(b"".join(lines))
        store = files(tmp_path)
        await store.open(context_id)
        path.write_bytes(b"".join([*lines[:number], changed, *lines[number + 1 :]]))
        for after in range(0, len(lines), 3):
            page = await store.audit(context_id, after, 3)
            if any(entry.at.startswith("3") for entry in page.entries):
                assert page.chain.broken_at == number + 1
                break
        else:
            raise AssertionError(f"entry {number + 1} was not shown")
        await store.close()
    path.write_bytes(b"".join(lines))


async def test_every_page_holds_the_same_entries_whether_the_file_was_checked_before_or_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(audit_chain, "MIN_BLOCK_BYTES", 1000)
    context_id = await conversation(tmp_path, turns=4)
    world = opened(tmp_path)
    await world.runtime.modes.switch(context_id, "review")  # the last entry is not in the file yet
    store = world.dependencies.store
    assert isinstance(store, FileStore)
    entries = (await store.audit(context_id)).entries
    assert [entry.sequence for entry in entries] == list(range(1, len(entries) + 1))
    path = audit_file(tmp_path, context_id)
    assert len(path.read_bytes().splitlines()) == len(entries) - 1
    for after, limit in itertools.product(range(len(entries) + 2), (0, 1, 5, None)):
        for is_changed in (False, True):
            if is_changed:
                os.utime(path)
            page = await store.audit(context_id, after, limit)
            assert page.chain.whole
            assert page.entries == entries[after : None if limit is None else after + limit]
    await world.runtime.close()


async def test_a_page_at_the_end_of_a_long_audit_reads_no_more_than_one_at_its_beginning(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(audit_chain, "MIN_BLOCK_BYTES", 1000)
    context_id = await conversation(tmp_path, turns=10)
    store = files(tmp_path)
    await store.open(context_id)
    count = len(audit_file(tmp_path, context_id).read_bytes().splitlines())
    decoded: list[bytes] = []
    monkeypatch.setattr(audit_chain, "entry_or_none", lambda line: decoded.append(line))
    for after in (0, count // 2, count - 2):
        decoded.clear()
        await store.audit(context_id, after, 2)
        assert len(decoded) == 2
    await store.close()


async def test_an_audit_that_grows_by_many_checkpoints_is_checked_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(audit_chain, "MIN_BLOCK_BYTES", 4000)
    context_id = await conversation(tmp_path, turns=10)
    world = opened(tmp_path)
    store = world.dependencies.store
    assert isinstance(store, FileStore)
    await world.runtime.contexts.get(context_id)
    entry_or_none, decoded = audit_chain.entry_or_none, list[bytes]()

    def noted(line: bytes) -> AuditEntry | None:
        decoded.append(line)
        return entry_or_none(line)

    monkeypatch.setattr(audit_chain, "entry_or_none", noted)
    for number in range(20):
        await world.runtime.modes.switch(context_id, "review" if number % 2 else "agent")
        await world.runtime.modes.switch(context_id, "plan")
        await store.checkpoint(context_id)
        decoded.clear()
        for _ in range(2):
            page = await store.audit(context_id, 0, 0)
            assert (page.chain.whole, page.chain.confirmed) == (True, True)
        assert decoded == [], "entries that were checked before are not checked again"
    path = audit_file(tmp_path, context_id)
    checked = store._open[context_id].audit_state._checked
    assert checked is not None
    blocks = checked.blocks.all()
    assert [block.start for block in blocks] == [0, *itertools.accumulate(block.size for block in blocks[:-1])]
    assert sum(block.size for block in blocks) == path.stat().st_size
    assert len(blocks) <= path.stat().st_size // 4000 + 1
    first, *others = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(first.replace(b'"at":"2', b'"at":"3') + b"".join(others))
    assert (await store.audit(context_id, len(others), 1)).chain.broken_at == 1
    path.write_bytes(first + b"".join(others))
    await world.runtime.close()


async def test_a_pipe_in_the_place_of_an_audit_is_reported_and_blocks_nothing(tmp_path: Path) -> None:
    context_id = await conversation(tmp_path)
    path = audit_file(tmp_path, context_id)
    path.unlink()
    os.mkfifo(path)
    store = files(tmp_path)
    try:
        async with asyncio.timeout(HANG_SECONDS):
            page = await store.audit(context_id)
        assert (page.entries, page.chain.broken_at) == ((), 1)
    finally:
        pipe = os.open(path, os.O_RDWR | os.O_NONBLOCK)  # a waiting reader continues, and finds no pipe again
        path.unlink()
        os.close(pipe)
        await store.close()


@pytest.mark.parametrize("is_written_since", [False, True])
async def test_a_person_accepts_the_entries_that_were_read_and_no_others(
    tmp_path: Path, is_written_since: bool
) -> None:
    context_id = await conversation(tmp_path)
    cut_audit(tmp_path, context_id, 1)
    path = audit_file(tmp_path, context_id)
    world = opened(tmp_path, CHANGE, DONE)
    assert not (await world.runtime.contexts.audit(context_id)).chain.whole
    if is_written_since:
        await world.turn(context_id)
        await file_store(world.dependencies.store).checkpoint(context_id)
    (rule,) = [rule for rule in await world.runtime.rules.read(context_id) if is_substitute(rule)]
    *lines, last = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join([*lines, last.replace(b'"at":"2', b'"at":"3')]))
    with pytest.raises(Conflict) as refused:
        await world.runtime.rules.revoke(rule.id, context_id=context_id)
    assert refused.value.reason.code is Code.AUDIT_CHANGED
    assert rule in await world.runtime.rules.read(context_id)
    assert not (await world.runtime.contexts.audit(context_id)).chain.whole
    await world.runtime.rules.revoke(rule.id, context_id=context_id)  # the person has looked again
    assert rule not in await world.runtime.rules.read(context_id)
    assert (await world.runtime.contexts.audit(context_id)).chain.whole
    await world.runtime.close()


async def test_entries_that_were_written_since_the_person_looked_are_accepted_with_the_others(tmp_path: Path) -> None:
    context_id = await conversation(tmp_path)
    cut_audit(tmp_path, context_id, 1)
    world = opened(tmp_path, CHANGE, DONE)
    await world.turn(context_id)
    await file_store(world.dependencies.store).checkpoint(context_id)
    (rule,) = [rule for rule in await world.runtime.rules.read(context_id) if is_substitute(rule)]
    await world.runtime.rules.revoke(rule.id, context_id=context_id)
    assert (await world.runtime.contexts.audit(context_id)).chain.whole
    await world.runtime.close()
    world = opened(tmp_path)
    assert (await world.runtime.contexts.audit(context_id)).chain.whole
    assert (await world.runtime.contexts.get(context_id)).damage == ()
    await world.runtime.close()


async def test_an_audit_that_was_removed_as_a_whole_can_be_accepted(tmp_path: Path) -> None:
    context_id = await conversation(tmp_path)
    audit_file(tmp_path, context_id).unlink()
    store = files(tmp_path)
    assert (await store.audit(context_id)).chain.broken_at == 1
    await store.accept_audit(context_id)
    assert (await store.audit(context_id)).chain.whole
    await store.close()


async def test_entries_behind_a_line_that_cannot_be_read_are_paged_through(tmp_path: Path) -> None:
    context_id = await conversation(tmp_path)
    path = audit_file(tmp_path, context_id)
    first, second, *others = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(first + b"\n" * len(second) + b"".join(others))
    world = opened(tmp_path)
    sequences: list[int] = []
    async with Served(world.runtime, [world.workspace]) as server, server.client() as client:
        cursor: str | None = "0"
        while cursor is not None:
            page = await client.request("GET", f"/api/contexts/{context_id}/audit?limit=10&cursor={cursor}")
            sequences += [entry["sequence"] for entry in page["items"]]
            cursor = page["next"]
    assert sequences == [1, *range(3, len(others) + 3)]
    await world.runtime.close()


async def test_a_forged_entry_is_printed_unchanged(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    context_id = await conversation(tmp_path)
    path = audit_file(tmp_path, context_id)
    first, *others = path.read_bytes().splitlines(keepends=True)
    forged = {**json.loads(first), "detail": {"rule": {"x": 1}, "reason": {"code": "no such code"}}}
    path.write_bytes(json.dumps(forged).encode() + b"\n" + b"".join(others))
    world = opened(tmp_path)
    await turn_commands.audit(world.runtime, context_id, "", "en")
    text = capsys.readouterr().out
    assert '{"x":1}' in text
    assert "cut off or rewritten" in text
    await world.runtime.close()


@pytest.mark.parametrize("end", [b"", b"partial"])
def test_entries_are_appended_behind_the_last_line_that_has_an_end(
    tmp_path: Path, end: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(audit_chain, "MAX_LINE_BYTES", 100)
    whole = b"first\n" + b"x" * 200_000 + b"\n" + b"last\n"
    (tmp_path / "audit.jsonl").write_bytes(whole + end)
    assert audit_chain.whole_lines_size(tmp_path / "audit.jsonl", len(whole + end)) == len(whole)
    (tmp_path / "audit.jsonl").write_bytes(b"x" * 200_000)
    assert audit_chain.whole_lines_size(tmp_path / "audit.jsonl", 200_000) == 0


async def test_a_line_without_an_end_is_read_in_pieces_and_breaks_the_chain(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(audit_chain, "MAX_LINE_BYTES", 2000)
    context_id = await conversation(tmp_path)
    path = audit_file(tmp_path, context_id)
    first, *lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(first + b"x" * (sum(map(len, lines)) - 1) + b"\n")
    taken: list[bytes] = []
    entry_or_none = audit_chain.entry_or_none

    def noted(line: bytes) -> AuditEntry | None:
        taken.append(line)
        return entry_or_none(line)

    monkeypatch.setattr(audit_chain, "entry_or_none", noted)
    store = files(tmp_path)
    page = await store.audit(context_id)
    assert ([entry.sequence for entry in page.entries], page.chain.broken_at) == ([1], 2)
    assert max(map(len, taken)) <= 2000
    await store.close()
