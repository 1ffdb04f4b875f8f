"""Contexts: listed by pages, archived, deleted, exported and imported, with their usage."""

import shutil
from pathlib import Path

import msgspec
import pytest

from pilothouse.domain.codes import Code
from pilothouse.domain.contexts import FORMAT
from pilothouse.domain.errors import Conflict, InvalidInput
from pilothouse.domain.messages import Usage
from pilothouse.domain.policies import Policy
from pilothouse.domain.rules import Scope
from pilothouse.domain.states import AwaitingToolApproval
from pilothouse.domain.value import ContextId
from pilothouse.domain.workspace_policy import WorkspacePolicy
from pilothouse.llm.model_catalog import ModelCatalog, ModelFacts
from pilothouse.llm.prices import Price
from pilothouse.llm.script import Answer, ScriptedCall
from pilothouse.runtime.limits import Limits
from pilothouse.storage.base import Store
from pilothouse.storage.files.store import FileStore
from pilothouse.storage.memory import MemoryStore
from pilothouse.testing.tools import NoteTool
from pilothouse.testing.world import World
from tests.support.assertions import reason_of

CALL = Answer(text="I will", calls=(ScriptedCall(tool="change", arguments={"text": "x", "path": "a"}),))


def files(tmp_path: Path, name: str = "data") -> FileStore:
    return FileStore(tmp_path / name, now=lambda: "2026-01-01T00:00:00.000Z")


def priced_at(of_input: float, of_output: float) -> ModelCatalog:
    return ModelCatalog({"test": ModelFacts(price=Price(input=of_input, output=of_output))})


@pytest.mark.parametrize("kind", ["memory", "files"])
async def test_contexts_are_listed_newest_first_by_pages_that_never_repeat_or_skip(tmp_path: Path, kind: str) -> None:
    world = World(tmp_path, store=files(tmp_path) if kind == "files" else MemoryStore())
    context_ids = []
    for _ in range(7):
        context_ids.append(await world.start())
        world.ambient.advance(1)
    ids, cursor, pages = [], None, 0
    while True:
        page = await world.runtime.contexts.list(limit=3, cursor=cursor)
        ids += [summary.context_id for summary in page.items]
        pages += 1
        if page.next is None:
            break
        cursor = page.next
    assert ids == context_ids[::-1]
    assert pages == 3
    with pytest.raises(InvalidInput, match="Invalid position"):
        await world.runtime.contexts.list(cursor="nonsense")
    await world.runtime.close()


async def test_an_archived_context_is_out_of_the_list_until_a_message_brings_it_back(tmp_path: Path) -> None:
    world = World(tmp_path, Answer(text="x"))
    context_id = await world.start()
    await world.runtime.contexts.change(context_id, archived=True)
    assert (await world.runtime.contexts.list()).items == ()
    assert [each.context_id for each in (await world.runtime.contexts.list(archived=True)).items] == [context_id]
    await world.turn(context_id)
    assert [each.context_id for each in (await world.runtime.contexts.list()).items] == [context_id]


async def test_usage_is_added_up_and_has_a_cost_where_a_price_is_known(tmp_path: Path) -> None:
    used = Usage(input_tokens=1000, output_tokens=500)
    for catalogue, cost in ((priced_at(2.0, 8.0), 0.012), (ModelCatalog(), None)):
        world = World(tmp_path, Answer(text="1", usage=used), Answer(text="2", usage=used), catalog=catalogue)
        context_id = await world.start()
        await world.turn(context_id)
        await world.turn(context_id)
        totals = await world.runtime.contexts.usage(context_id)
        assert (totals.own.input_tokens, totals.own.output_tokens) == (2000, 1000)
        assert totals.total.cost == (pytest.approx(cost) if cost is not None else None)


async def test_a_turn_ends_at_its_cost_limit(tmp_path: Path) -> None:
    used = Usage(input_tokens=1_000_000)
    world = World(
        tmp_path,
        Answer(calls=CALL.calls, usage=used),
        Answer(text="never"),
        catalog=priced_at(1.0, 1.0),
        limits=Limits(turn_cost=0.5),
    )
    context_id = await world.start()
    await world.turn(context_id)
    assert reason_of((await world.runtime.messages.read(context_id))[-1]).code is Code.LIMIT_COST


# export and import


async def exported(world: World, context_id: str) -> bytes:
    return b"".join([piece async for piece in world.runtime.exports.create(context_id)])


async def rich_context(world: World) -> ContextId:
    """A context with one of each kind of content."""
    context_id = await world.start("supervised")
    await world.runtime.messages.send(context_id, "go", key="k1")
    await world.runtime.turns.rested(context_id)
    await world.runtime.rules.give("deny", Scope(folder="deploy"), context_id=context_id)
    await world.runtime.rules.give("ask", Scope(tool="look"), context_id=context_id, minutes=30)
    await world.runtime.calls.approve_all(context_id)
    await world.runtime.turns.rested(context_id)
    await world.runtime.branches.create(context_id, "idea", prompt_addition="Be bold.")
    await world.runtime.branches.switch(context_id, "idea")
    await world.turn(context_id, "x" * 100_000)
    await world.runtime.branches.switch(context_id, "main")
    await world.runtime.merges.merge(context_id, "idea")
    await world.runtime.contexts.change(context_id, title="Rich 富")
    await world.runtime.branches.create(context_id, "gone")
    await world.runtime.branches.delete(context_id, "gone")
    await world.runtime.messages.send(context_id, "again", key="k2")
    await world.runtime.turns.rested(context_id)
    await world.runtime.messages.send(context_id, "queued", queue=True)
    assert isinstance((await world.runtime.contexts.get(context_id)).state, AwaitingToolApproval)
    return context_id


async def everything(store: Store, context_id: ContextId) -> object:
    stored = await store.open(context_id)
    pool = await store.message_ids(context_id)
    return (
        stored.core,
        stored.branches,
        stored.calls,
        {name: await store.branch_ids(context_id, name) for name in stored.branches},
        await store.messages(context_id, pool),
        await store.calls(context_id),
        (await store.audit(context_id)).entries,
        await store.sent_keys(context_id),
    )


@pytest.mark.parametrize("kinds", [("memory", "files"), ("files", "memory"), ("files", "files")])
async def test_an_imported_context_equals_the_exported_one(tmp_path: Path, kinds: tuple[str, str]) -> None:
    stores = [files(tmp_path, f"data{n}") if kind == "files" else MemoryStore() for n, kind in enumerate(kinds)]
    answers = [CALL, Answer(text="1"), Answer(text="2"), CALL, Answer(text="3")]
    world = World(tmp_path, *answers, store=stores[0])
    context_id = await rich_context(world)
    data = await exported(world, context_id)
    other = World(tmp_path, Answer(text="4"), Answer(text="5"), store=stores[1], ids_from=10**6)
    imported = await other.runtime.imports.create(data)
    assert imported.left_out == ()
    assert await everything(stores[1], context_id) == await everything(stores[0], context_id)
    assert await exported(other, context_id) == data
    assert (await other.runtime.contexts.audit(context_id)).chain.whole
    await other.runtime.calls.approve_all(context_id)
    await other.runtime.turns.rested(context_id)
    assert other.change.ran == ["x"], "and it goes on from there"
    with pytest.raises(Conflict, match="already"):
        await other.runtime.imports.create(data)
    copy = await other.runtime.imports.create(data, context_id="copy")
    assert copy.context_id == "copy"
    await world.runtime.close()
    await other.runtime.close()


async def test_permissions_are_imported_only_on_request(tmp_path: Path) -> None:
    world = World(tmp_path, CALL, Answer(text="1"))
    context_id = await world.start("supervised")
    await world.runtime.rules.give("allow", Scope(tool="change"), context_id=context_id)
    await world.runtime.rules.give("deny", Scope(tool="look"), context_id=context_id)
    await world.runtime.modes.set_policy(context_id, Policy(kind="manual"))
    data = await exported(world, context_id)
    careful = World(tmp_path, CALL)
    imported = await careful.runtime.imports.create(data)
    assert [reason.code for reason in imported.left_out] == [Code.RULE_ALLOWS], "a policy only makes things stricter"
    assert [rule.effect for rule in await careful.runtime.rules.read(context_id)] == ["deny"]
    await careful.turn(context_id)
    assert careful.change.ran == []
    particular = World(
        tmp_path, CALL, workspace_policy=lambda _: WorkspacePolicy(mode="plan", preference=Policy(kind="manual"))
    )
    await particular.runtime.imports.create(data)
    assert (await particular.runtime.contexts.get(context_id)).core.mode == "plan", "never looser than the person's own"
    trusting = World(tmp_path, CALL, Answer(text="1"))
    await trusting.runtime.imports.create(data, grants=True)
    assert len(await trusting.runtime.rules.read(context_id)) == 2


async def test_a_file_that_is_cut_changed_or_no_export_is_refused_with_what_is_wrong(tmp_path: Path) -> None:
    world = World(tmp_path, Answer(text="1"))
    context_id = await world.start()
    await world.turn(context_id)
    data = await exported(world, context_id)
    other = World(tmp_path)
    lines = data.splitlines(keepends=True)
    wrong = {
        "empty": b"",
        "no JSON": b"hello\n",
        "binary": bytes(range(256)),
        "another object": b'{"type": "other"}\n',
        "cut": data[: len(data) // 2],
        "cut at a line": b"".join(lines[:-1]),
        "changed": data.replace(b"hello", b"hallo"),
        "more behind the end": data + lines[1],
        "newer": data.replace(f'"format":{FORMAT}'.encode(), b'"format":99', 1),
        "deep": b"[" * 100_000,
    }
    for name, bad in wrong.items():
        with pytest.raises(InvalidInput) as caught:
            await other.runtime.imports.create(bad)
        assert caught.value.reason.code is Code.INVALID_EXPORT, name
    assert (await other.runtime.contexts.list()).items == ()


async def test_ids_in_a_file_cannot_lead_out_of_its_folder(tmp_path: Path) -> None:
    import hashlib

    world = World(tmp_path, Answer(text="1"))
    context_id = await world.start()
    await world.turn(context_id)
    data = await exported(world, context_id)
    message_id = (await world.dependencies.store.message_ids(context_id))[0]
    for old, new in ((message_id, "../../../../tmp/evil"), (context_id, "../evil"), ('"main"', '"elsewhere"')):
        body = b"".join(data.splitlines(keepends=True)[:-1]).replace(old.encode(), new.encode(), 1)
        body += msgspec.json.encode({"type": "end", "digest": hashlib.sha256(body).hexdigest()}) + b"\n"
        with pytest.raises(InvalidInput):
            await World(tmp_path, store=files(tmp_path, "fresh")).runtime.imports.create(body)
        shutil.rmtree(tmp_path / "fresh")


async def test_a_context_at_work_is_not_exported(tmp_path: Path) -> None:
    blocking_tool = NoteTool("held", "read_only", hold=True)
    world = World(tmp_path, Answer(calls=(ScriptedCall(tool="held"),)), Answer(text="x"), tools=[blocking_tool])
    context_id = await world.start()
    await world.runtime.messages.send(context_id, "go")
    await blocking_tool.started.wait()
    with pytest.raises(Conflict, match="isn't finished"):
        await exported(world, context_id)
    await world.runtime.turns.cancel(context_id)


async def test_a_folder_copied_to_another_data_directory_opens_there(tmp_path: Path) -> None:
    answers = [CALL, Answer(text="1"), Answer(text="2"), CALL, Answer(text="3")]
    world = World(tmp_path, *answers, store=files(tmp_path))
    context_id = await rich_context(world)
    before = await everything(world.dependencies.store, context_id)
    await world.runtime.close()
    (tmp_path / "moved/contexts").mkdir(parents=True)
    shutil.copytree(tmp_path / "data/contexts" / context_id, tmp_path / "moved/contexts" / context_id)
    other = World(tmp_path, Answer(text="4"), store=files(tmp_path, "moved"), ids_from=10**6)
    assert await everything(other.dependencies.store, context_id) == before
    assert len(await other.runtime.calls.pending(context_id)) == 1
    await other.runtime.close()


async def test_a_folder_of_the_first_format_is_read_and_backed_up_unchanged(tmp_path: Path) -> None:
    world = World(tmp_path, Answer(text="1"), store=files(tmp_path))
    context_id = await world.start()
    await world.turn(context_id)
    await world.runtime.close()
    path = tmp_path / "data/contexts" / context_id / "metadata.json"
    old = path.read_bytes().replace(f'"format": {FORMAT}'.encode(), b'"format": 1')
    if b'"format"' not in old:
        old = old.replace(b"{", b'{"format": 1,', 1)
    path.write_bytes(old)
    again = World(tmp_path, Answer(text="2"), store=files(tmp_path), ids_from=1000)
    await again.turn(context_id)
    await again.runtime.close()
    backups = list((path.parent / "aside").glob("metadata.json.format-1*"))
    assert [each.read_bytes() for each in backups] == [old]
    assert b'"format": 1' not in path.read_bytes()
