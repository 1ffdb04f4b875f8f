"""A damaged journal line before, in or after a compression costs only its own change."""

from pathlib import Path

import pytest

from pilothouse.domain.branches import MAIN, Branch
from pilothouse.domain.contexts import Change, StoredContext
from pilothouse.domain.value import MessageId
from pilothouse.storage.base import FENCE
from pilothouse.storage.files.store import FileStore
from tests.storage.test_contract import AT, ID, append, compressed, core, first, message_id, text, undone
from tests.storage.test_file_store import abandon

OLD = [message_id(number) for number in range(100)]
SUMMARY = text(1000, "in short")
SINCE = [text(number) for number in range(2000, 2003)]


def stored_again(name: str, key: str) -> Change:
    """The change of a new prompt or a merge: the branch itself, with no ids."""
    return Change(core=core(), branches={name: Branch(name=name, key=key, created_at=AT, prompt_addition="Be kind.")})


CHANGES = {
    "create": first(),
    "fill": append(*(text(number) for number in range(100))),
    "compress": compressed(MAIN, "k2", "k-main", "original", SUMMARY.id, *OLD[-2:], messages=(SUMMARY,)),
    "since": append(*SINCE[:2]),
    "told anew": stored_again(MAIN, "k2"),
    "undo": undone(MAIN, "k-main", "original", *(each.id for each in SINCE[:2])),
    "last": append(SINCE[2]),
}


async def damaged(
    path: Path, line: str, *steps: str, checkpoint_after: str | None = None
) -> tuple[FileStore, StoredContext]:
    """A context in which one line of the journal was damaged."""
    store = FileStore(path, now=lambda: AT)
    for version, step in enumerate(steps):
        if step == "create":
            await store.create(CHANGES[step])
        else:
            await store.commit(ID, CHANGES[step], expected=version, fence=FENCE)
        if step == checkpoint_after:
            await store.checkpoint(ID)
    abandon(store)
    written = [step for step in steps if checkpoint_after is None or steps.index(step) > steps.index(checkpoint_after)]
    (segment,) = (path / "contexts" / ID / "journal").iterdir()
    lines = segment.read_bytes().splitlines(keepends=True)
    at = written.index(line)
    lines[at] = lines[at][:20] + b"\0" * (len(lines[at]) - 21) + b"\n"
    segment.write_bytes(b"".join(lines))
    store = FileStore(path, now=lambda: AT)
    return store, await store.open(ID)


@pytest.mark.parametrize("checkpoint_after", [None, "create"])
async def test_a_damaged_line_before_a_compression_costs_its_own_messages(
    tmp_path: Path, checkpoint_after: str | None
) -> None:
    steps = ("create", "fill", "compress", "since")
    store, opened = await damaged(tmp_path, "fill", *steps, checkpoint_after=checkpoint_after)
    assert [reason.code for reason in opened.damage] == ["journal_gap"]
    assert await store.branch_ids(ID, MAIN) == [SUMMARY.id, *OLD[-2:], *(each.id for each in SINCE[:2])]
    assert await store.branch_ids(ID, "original") == []
    await store.close()


async def test_a_damaged_line_that_created_the_branch_leaves_the_renamed_one(tmp_path: Path) -> None:
    steps = ("create", "fill", "compress", "since", "undo", "last")
    store, opened = await damaged(tmp_path, "create", *steps)
    assert opened.branches[MAIN].length == len(await store.branch_ids(ID, MAIN))
    assert (await store.branch_ids(ID, MAIN))[-1] == SINCE[2].id
    await store.close()


@pytest.mark.parametrize("checkpoint_after", [None, "fill"])
async def test_an_unreadable_compression_leaves_the_branch_unchanged(
    tmp_path: Path, checkpoint_after: str | None
) -> None:
    store, opened = await damaged(
        tmp_path, "compress", "create", "fill", "compress", "since", checkpoint_after=checkpoint_after
    )
    assert list(opened.branches) == [MAIN]
    assert await store.branch_ids(ID, MAIN) == [*OLD, *(each.id for each in SINCE[:2])]
    await store.close()


@pytest.mark.parametrize("checkpoint_after", [None, "fill"])
async def test_a_branch_stored_again_after_an_unreadable_compression_keeps_its_list(
    tmp_path: Path, checkpoint_after: str | None
) -> None:
    steps = ("create", "fill", "compress", "since", "told anew", "last")
    store, _ = await damaged(tmp_path, "compress", *steps, checkpoint_after=checkpoint_after)
    ids = await store.branch_ids(ID, MAIN)
    await store.close()
    assert ids == [*OLD, *(each.id for each in SINCE)]


@pytest.mark.parametrize("checkpoint_after", [None, "fill"])
async def test_an_undo_after_an_unreadable_compression_loses_nothing(
    tmp_path: Path, checkpoint_after: str | None
) -> None:
    steps = ("create", "fill", "compress", "since", "undo", "last")
    store, _ = await damaged(tmp_path, "compress", *steps, checkpoint_after=checkpoint_after)
    ids = await store.branch_ids(ID, MAIN)
    await store.checkpoint(ID)
    await store.close()
    assert ids == [*OLD, *(each.id for each in SINCE)]


@pytest.mark.parametrize("checkpoint_after", [None, "fill", "compress"])
async def test_an_unreadable_undo_leaves_the_branch_compressed_with_its_original(
    tmp_path: Path, checkpoint_after: str | None
) -> None:
    steps = ("create", "fill", "compress", "since", "undo", "last")
    store, opened = await damaged(tmp_path, "undo", *steps, checkpoint_after=checkpoint_after)
    assert set(opened.branches) == {MAIN, "original"}
    assert await store.branch_ids(ID, MAIN) == [SUMMARY.id, *OLD[-2:], *(each.id for each in SINCE)]
    assert await store.branch_ids(ID, "original") == OLD
    await store.close()


@pytest.mark.parametrize("after", [None, "fill", "compress", "since", "undo"])
async def test_a_compression_and_its_undo_are_read_back_from_the_journal_behind_any_checkpoint(
    tmp_path: Path, after: str | None
) -> None:
    steps = ("create", "fill", "compress", "since", "undo", "last")
    expected: list[MessageId] = []
    for end in range(2, len(steps) + 1):
        store = FileStore(tmp_path / str(end), now=lambda: AT)
        await store.create(CHANGES["create"])
        for version, step in enumerate(steps[1:end], start=1):
            await store.commit(ID, CHANGES[step], expected=version, fence=FENCE)
            if step == after:
                await store.checkpoint(ID)
        expected = await store.branch_ids(ID, MAIN)
        names = set((await store.open(ID)).branches)
        abandon(store)
        store = FileStore(tmp_path / str(end), now=lambda: AT)
        assert set((await store.open(ID)).branches) == names
        assert await store.branch_ids(ID, MAIN) == expected
        if "original" in names:
            assert await store.branch_ids(ID, "original") == OLD
        await store.close()
    assert expected == [*OLD, *(each.id for each in SINCE)]
