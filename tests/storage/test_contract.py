"""The store's contract, on every store."""

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from pilothouse.domain.audit import AuditDraft, AuditEntry, chain
from pilothouse.domain.branches import MAIN, Branch
from pilothouse.domain.calls import CallRecord, Status
from pilothouse.domain.contexts import FORMAT, Change, ContextCore, ContextQuery, OpenTurn
from pilothouse.domain.errors import Conflict, InvalidInput, NotFound, StaleWrite
from pilothouse.domain.messages import ErrorMessage, Reasoning, Text
from pilothouse.domain.states import Idle, ProcessingUserMessage
from pilothouse.domain.value import CallId, ContextId, MessageId, TurnId
from pilothouse.storage.base import FENCE, Store
from pilothouse.storage.files.store import FileStore
from pilothouse.storage.memory import MemoryStore

AT = "2026-01-01T00:00:00.000Z"
ID = ContextId("ctx-1")
TURN = TurnId("turn-1")


def message_id(number: int) -> MessageId:
    return MessageId(f"01900000-0000-7000-8000-{number:012x}")


def text(number: int, content: str = "hello") -> Text:
    return Text(id=message_id(number), timestamp=AT, role="user", content=content)


def core(**fields: Any) -> ContextCore:
    usual: dict[str, Any] = {"context_id": ID, "format": FORMAT, "created_at": AT, "updated_at": AT, "mode": "agent"}
    return ContextCore(**{**usual, **fields})


def first() -> Change:
    return Change(core=core(), branches={MAIN: Branch(name=MAIN, key="k-main", created_at=AT)})


def append(*messages: Text, **fields: object) -> Change:
    return Change(core=core(**fields), messages=messages, appended={MAIN: tuple(m.id for m in messages)})


def call(status: Status = "pending") -> CallRecord:
    return CallRecord(
        id=CallId("01900000-0000-7000-8000-0000000000ff"),
        provider_id="p",
        message_id=message_id(1),
        turn=TURN,
        round=1,
        tool="look",
        display_name="Look",
        arguments={"path": "a"},
        digest="d",
        fingerprint="f",
        effect="read_only",
        status=status,
        requested_at=AT,
    )


Make = Callable[[], Store]
Reopen = Callable[[Store], Awaitable[Store]]


@pytest.fixture(params=["memory", "files", "files, reopened"])
def stores(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[Make, Reopen]:
    """How to create a store, and how to reopen it: as it is, or from disk."""

    def make() -> Store:
        return MemoryStore() if request.param == "memory" else FileStore(tmp_path, now=lambda: AT)

    async def reopen(store: Store) -> Store:
        if request.param != "files, reopened":
            return store
        await store.close()
        return make()

    return make, reopen


async def test_an_opened_context_equals_the_committed_one(stores: tuple[Make, Reopen]) -> None:
    make, reopen = stores
    store = make()
    assert await store.create(first()) == 1
    assert await store.commit(ID, append(text(1), text(2), mode="plan", state=Idle()), expected=1, fence=FENCE) == 2
    store = await reopen(store)
    opened = await store.open(ID)
    assert (opened.version, opened.core.mode, opened.branches[MAIN].length) == (2, "plan", 2)
    assert await store.branch_ids(ID, MAIN) == [message_id(1), message_id(2)]
    assert await store.messages(ID, [message_id(2), message_id(1)]) == [text(2), text(1)]
    await store.close()


async def test_a_stale_version_or_fence_changes_nothing(stores: tuple[Make, Reopen]) -> None:
    make, reopen = stores
    store = make()
    await store.create(first())
    await store.commit(ID, append(text(1)), expected=1, fence=FENCE)
    with pytest.raises(StaleWrite):
        await store.commit(ID, append(text(2)), expected=1, fence=FENCE)
    for fence in (FENCE - 1, FENCE + 98):
        with pytest.raises(StaleWrite):
            await store.commit(ID, append(text(2)), expected=2, fence=fence)
        with pytest.raises(StaleWrite):
            await store.delete(ID, fence=fence)
    store = await reopen(store)
    assert await store.branch_ids(ID, MAIN) == [message_id(1)]
    await store.close()


async def test_missing_contexts_branches_and_calls_are_not_found(stores: tuple[Make, Reopen]) -> None:
    store = stores[0]()
    with pytest.raises(NotFound):
        await store.open(ContextId("nobody"))
    await store.create(first())
    with pytest.raises(Conflict):
        await store.create(first())
    with pytest.raises(NotFound):
        await store.branch_ids(ID, "nowhere")
    with pytest.raises(NotFound):
        await store.call(ID, CallId("nobody"))
    (missing,) = await store.messages(ID, [message_id(7)])
    assert isinstance(missing, ErrorMessage)
    await store.close()


async def test_calls_of_the_open_turn_come_with_the_context_and_others_are_found_by_id(
    stores: tuple[Make, Reopen],
) -> None:
    make, reopen = stores
    store = make()
    await store.create(first())
    turn = OpenTurn(id=TURN, branch=MAIN, started_at=AT)
    working = core(turn=turn, state=ProcessingUserMessage())
    await store.commit(ID, Change(core=working, calls=(call(),)), expected=1, fence=FENCE)
    await store.commit(ID, Change(core=working, calls=(call("executing"),)), expected=2, fence=FENCE)
    store = await reopen(store)
    assert [record.status for record in (await store.open(ID)).calls.values()] == ["executing"]
    await store.commit(ID, Change(core=core(), calls=(call("executed"),)), expected=3, fence=FENCE)
    store = await reopen(store)
    assert (await store.open(ID)).calls == {}
    assert (await store.call(ID, call().id)).status == "executed"
    await store.close()


async def test_a_message_can_be_put_again_and_large_ones_come_back_whole(stores: tuple[Make, Reopen]) -> None:
    make, reopen = stores
    store = make()
    await store.create(first())
    large = text(1, "x" * 300_000)
    await store.commit(ID, append(text(1, "draft")), expected=1, fence=FENCE)
    await store.commit(ID, Change(core=core(), messages=(large,)), expected=2, fence=FENCE)
    store = await reopen(store)
    assert await store.messages(ID, [large.id]) == [large]
    assert await store.branch_ids(ID, MAIN) == [large.id]
    await store.close()


async def test_long_branches_read_by_stretches_and_a_fork_shares_the_messages(stores: tuple[Make, Reopen]) -> None:
    make, reopen = stores
    store = make()
    await store.create(first())
    version = 1
    for start in range(0, 200, 50):
        version = await store.commit(
            ID, append(*(text(n) for n in range(start, start + 50))), expected=version, fence=FENCE
        )
        store = await reopen(store)
    fork = Branch(name="other ünd / odd", key="k2", created_at=AT, parent_branch=MAIN)
    ids = await store.branch_ids(ID, MAIN, 0, 100)
    await store.commit(
        ID,
        Change(core=core(), branches={fork.name: fork}, appended={fork.name: tuple(ids)}),
        expected=version,
        fence=FENCE,
    )
    store = await reopen(store)
    everything = [message_id(n) for n in range(200)]
    assert await store.branch_ids(ID, MAIN) == everything
    assert await store.branch_ids(ID, MAIN, 60, 70) == everything[60:70]
    assert await store.branch_ids(ID, MAIN, 195) == everything[195:]
    assert await store.branch_ids(ID, fork.name) == everything[:100]
    await store.close()


def compressed(
    name: str, key: str, old_key: str, original: str, *after: MessageId, messages: tuple[Text, ...] = ()
) -> Change:
    """The branch gets another name with its list, and another branch takes its own name."""
    return Change(
        core=core(),
        messages=messages,
        renamed={name: original},
        branches={
            original: Branch(name=original, key=old_key, created_at=AT, original_of=name),
            name: Branch(name=name, key=key, created_at=AT),
        },
        appended={name: after},
    )


def undone(name: str, old_key: str, original: str, *since: MessageId) -> Change:
    """The branch is gone, and its original has its name again."""
    return Change(
        core=core(),
        dropped=(name,),
        renamed={original: name},
        branches={name: Branch(name=name, key=old_key, created_at=AT, keeps_whole=True)},
        appended={name: since},
    )


@pytest.mark.parametrize("count", [3, 64, 65, 200])
async def test_a_branch_is_renamed_with_its_list_and_another_one_takes_its_name_in_one_change(
    stores: tuple[Make, Reopen], count: int
) -> None:
    make, reopen = stores
    store = make()
    await store.create(first())
    old = [message_id(number) for number in range(count)]
    await store.commit(ID, append(*(text(number) for number in range(count))), expected=1, fence=FENCE)
    store = await reopen(store)
    summary = text(1000, "in short")
    after = [summary.id, *old[-2:]]
    await store.commit(
        ID, compressed(MAIN, "k2", "k-main", "original", *after, messages=(summary,)), expected=2, fence=FENCE
    )
    store = await reopen(store)
    opened = await store.open(ID)
    assert {name: (each.name, each.key, each.length) for name, each in opened.branches.items()} == {
        MAIN: (MAIN, "k2", 3),
        "original": ("original", "k-main", count),
    }
    assert await store.branch_ids(ID, MAIN) == after
    assert await store.branch_ids(ID, "original") == old
    assert await store.branch_ids(ID, "original", count - 2) == old[-2:]
    assert (await store.messages(ID, [summary.id]))[0] == summary

    since = [text(number) for number in range(2000, 2070)]
    await store.commit(ID, append(*since), expected=3, fence=FENCE)
    store = await reopen(store)
    assert await store.branch_ids(ID, MAIN) == [*after, *(each.id for each in since)]
    await store.commit(ID, undone(MAIN, "k-main", "original", *(each.id for each in since)), expected=4, fence=FENCE)
    store = await reopen(store)
    opened = await store.open(ID)
    assert list(opened.branches) == [MAIN]
    assert opened.branches[MAIN].keeps_whole
    assert opened.branches[MAIN].length == count + 70
    assert await store.branch_ids(ID, MAIN) == [*old, *(each.id for each in since)]
    await store.commit(ID, append(text(3000)), expected=5, fence=FENCE)
    store = await reopen(store)
    assert (await store.branch_ids(ID, MAIN))[-1] == message_id(3000)
    await store.close()


async def test_a_renamed_branch_is_not_found_under_its_old_name(stores: tuple[Make, Reopen]) -> None:
    make, reopen = stores
    store = make()
    await store.create(first())
    await store.commit(ID, append(text(1)), expected=1, fence=FENCE)
    await store.commit(ID, Change(core=core(active_branch="other"), renamed={MAIN: "other"}), expected=2, fence=FENCE)
    store = await reopen(store)
    assert [(each.name, each.key) for each in (await store.open(ID)).branches.values()] == [("other", "k-main")]
    assert await store.branch_ids(ID, "other") == [message_id(1)]
    with pytest.raises(NotFound):
        await store.branch_ids(ID, MAIN)
    await store.close()


async def test_the_audit_is_kept_in_order(stores: tuple[Make, Reopen]) -> None:
    make, reopen = stores
    store = make()
    await store.create(first())
    head = core().audit
    entries: list[AuditEntry] = []
    for version in range(1, 4):
        drafts = [AuditDraft(kind="mode_switched", at=AT, by="me", detail={"n": version})]
        head, new = chain(head, drafts)
        entries += new
        await store.commit(ID, Change(core=core(audit=head), audit=new), expected=version, fence=FENCE)
        store = await reopen(store)
    assert (await store.audit(ID)).entries == tuple(entries)
    assert (await store.audit(ID, after=1, limit=1)).entries == (entries[1],)
    await store.close()


async def test_pieces_of_an_answer_that_another_attempt_replaces_are_forgotten(stores: tuple[Make, Reopen]) -> None:
    make, reopen = stores
    store = make()
    await store.create(first())
    turn = OpenTurn(id=TURN, branch=MAIN, started_at=AT)
    await store.commit(ID, Change(core=core(turn=turn, state=ProcessingUserMessage())), expected=1, fence=FENCE)
    await store.append_deltas(ID, message_id(9), TURN, ["half of "])
    await store.forget_deltas(ID, message_id(9))
    store = await reopen(store)
    assert (await store.open(ID)).partials == ()
    await store.close()


async def test_pieces_of_an_answer_survive_until_its_message_is_committed(stores: tuple[Make, Reopen]) -> None:
    make, reopen = stores
    store = make()
    await store.create(first())
    turn = OpenTurn(id=TURN, branch=MAIN, started_at=AT)
    await store.commit(ID, Change(core=core(turn=turn, state=ProcessingUserMessage())), expected=1, fence=FENCE)
    await store.append_deltas(ID, message_id(9), TURN, [], Reasoning("chat", "think\nhard", (5, 5)))
    await store.append_deltas(ID, message_id(9), TURN, ["one ", "two"], Reasoning("chat", ", well", (6,)))
    await store.append_deltas(ID, message_id(9), TURN, ["\nthree"])
    store = await reopen(store)
    opened = await store.open(ID)
    if opened.partials:
        assert opened.partials[0].deltas == ("one ", "two", "\nthree")
        assert opened.partials[0].reasoning == Reasoning("chat", "think\nhard, well", (5, 5, 6))
    await store.commit(ID, append(text(9)), expected=opened.version, fence=FENCE)
    store = await reopen(store)
    assert (await store.open(ID)).partials == ()
    await store.close()


async def test_listing_and_deleting(stores: tuple[Make, Reopen]) -> None:
    make, reopen = stores
    store = make()
    await store.create(first())
    newer = Change(core=core(context_id="b", updated_at="2026-02-01T00:00:00.000Z", title="B"))
    await store.create(newer)
    store = await reopen(store)
    assert [summary.context_id for summary in await store.contexts()] == ["b", ID]
    await store.delete(ID, fence=FENCE)
    assert [summary.title for summary in await store.contexts()] == ["B"]
    with pytest.raises(NotFound):
        await store.open(ID)
    await store.close()


async def test_a_list_holds_the_contexts_of_its_query_in_pages(stores: tuple[Make, Reopen]) -> None:
    make, reopen = stores
    store = make()
    fields: dict[str, dict[str, Any]] = {
        "old": {"updated_at": "2026-01-01T00:00:00.000Z"},
        "same-b": {"updated_at": "2026-01-02T00:00:00.000Z"},
        "same-a": {"updated_at": "2026-01-02T00:00:00.000Z"},
        "bobs": {"updated_at": "2026-01-03T00:00:00.000Z", "owner": "bob"},
        "put-away": {"updated_at": "2026-01-04T00:00:00.000Z", "archived": True},
        "child": {"updated_at": "2026-01-05T00:00:00.000Z", "parent": ContextId("old")},
    }
    for context_id, values in fields.items():
        await store.create(Change(core=core(context_id=context_id, **values)))
    store = await reopen(store)

    async def ids(**query: Any) -> list[str]:
        return [summary.context_id for summary in await store.contexts(ContextQuery(**query))]

    assert await ids() == ["child", "put-away", "bobs", "same-b", "same-a", "old"]
    assert await ids(owner="bob") == ["bobs"]
    assert await ids(archived=True) == ["put-away"]
    assert await ids(parent=ContextId("old")) == ["child"]
    assert await ids(parent=None, archived=False, owner="local") == ["same-b", "same-a", "old"]
    assert await ids(limit=2) == ["child", "put-away"]
    assert await ids(limit=2, before=("2026-01-02T00:00:00.000Z", "same-b")) == ["same-a", "old"]
    assert await ids(before=("2026-01-01T00:00:00.000Z", "old")) == []
    await store.close()


@pytest.mark.parametrize("bad", ["../up", "a/b", "", ".", "x" * 65, "nul\0", "ümlaut"])
async def test_an_id_that_is_no_folders_name_is_refused(tmp_path: Path, bad: str) -> None:
    store = FileStore(tmp_path, now=lambda: AT)
    with pytest.raises(InvalidInput):
        await store.create(Change(core=core(context_id=bad)))
    await store.close()
