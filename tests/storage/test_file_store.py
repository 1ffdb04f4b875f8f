"""The file store: its layout, its lock, and its handling of damage."""

import os
import shutil
import stat
import subprocess
import sys
from pathlib import Path

import msgspec
import pytest

from pilothouse.domain.branches import MAIN, Branch
from pilothouse.domain.contexts import FORMAT, Change
from pilothouse.domain.errors import Conflict, NotFound, PilothouseError, StoreDamaged, StoreError, StoreLocked
from pilothouse.domain.messages import ErrorMessage
from pilothouse.domain.states import Failed
from pilothouse.domain.value import CallId, ContextId, MessageId, TurnId
from pilothouse.storage.base import FENCE
from pilothouse.storage.files.journal import encode_line
from pilothouse.storage.files.store import FileStore
from pilothouse.testing.disk import FaultyDisk
from tests.storage.test_contract import AT, ID, append, core, first, message_id, text
from tests.support.assertions import content_of
from tests.support.scale import LONG, Record


async def filled(path: Path, count: int = 3, *, checkpoint: bool) -> FileStore:
    """A store with some messages, one a commit; closed properly only if it is to be checkpointed."""
    store = FileStore(path, now=lambda: AT)
    await store.create(first())
    for number in range(1, count + 1):
        await store.commit(ID, append(text(number, f"message {number}")), expected=number, fence=FENCE)
    if checkpoint:
        await store.close()
        store = FileStore(path, now=lambda: AT)
    return store


def abandon(store: FileStore) -> None:
    """Leave a store as a killed process would: nothing is written, only the lock is released."""
    store._closed = True
    for handle in store._checkpoints.values():
        handle.cancel()
    store._threads.shutdown()
    os.close(store._lock_fd)


async def test_the_folder_reads_as_documented(tmp_path: Path) -> None:
    store = await filled(tmp_path, checkpoint=True)
    folder = tmp_path / "contexts" / ID
    metadata = msgspec.json.decode((folder / "metadata.json").read_bytes())
    assert metadata["mode"] == "agent"
    assert metadata["branches"]["main"]["message_ids"] == [message_id(n) for n in (1, 2, 3)]
    message = msgspec.json.decode((folder / "messages_pool" / f"{message_id(1)}.json").read_bytes())
    assert (message["type"], message["content"]) == ("text", "message 1")
    assert not list((folder / "journal").iterdir())
    await store.close()


async def test_every_file_of_the_store_is_private_to_the_user(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        data = tmp_path / "data"
        store = await filled(data, checkpoint=True)
        await store.commit(ID, append(text(4, "y" * 100_000)), expected=4, fence=FENCE)
        await store.append_deltas(ID, message_id(5), TurnId("t"), ["x"])
        modes = {stat.S_IMODE(path.stat().st_mode) for path in data.rglob("*") if path.is_file()}
        folders = {stat.S_IMODE(path.stat().st_mode) for path in [data, *data.rglob("*")] if path.is_dir()}
        await store.close()
    finally:
        os.umask(before)
    assert (modes, folders) == ({0o600}, {0o700})


async def test_a_copied_folder_opens_in_another_data_directory(tmp_path: Path) -> None:
    store = await filled(tmp_path / "a", checkpoint=True)
    await store.commit(ID, append(text(4)), expected=4, fence=FENCE)
    abandon(store)
    shutil.copytree(tmp_path / "a" / "contexts" / ID, tmp_path / "b" / "contexts" / ID)
    other = FileStore(tmp_path / "b", now=lambda: AT)
    assert len(await other.branch_ids(ID, MAIN)) == 4
    await other.close()


async def test_a_second_process_is_refused_and_a_dead_ones_lock_never_blocks(tmp_path: Path) -> None:
    code = (
        "import sys, os; from pathlib import Path; from pilothouse.storage.files.store import FileStore;"
        "FileStore(Path(sys.argv[1]), now=str); print('up', flush=True); sys.stdin.read(1); os._exit(9)"
    )
    with subprocess.Popen(
        [sys.executable, "-c", code, str(tmp_path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == b"up\n"
        with pytest.raises(StoreLocked, match=f"process {holder.pid}"):
            FileStore(tmp_path, now=lambda: AT)
        holder.kill()
    store = FileStore(tmp_path, now=lambda: AT)
    await store.close()


async def test_an_older_format_is_read_and_backed_up_unchanged(tmp_path: Path) -> None:
    store = await filled(tmp_path, checkpoint=True)
    await store.close()
    folder = tmp_path / "contexts" / ID
    path = folder / "metadata.json"
    before = path.read_bytes().replace(f' "format": {FORMAT},\n'.encode(), b"")
    assert b'"format"' not in before, "format 2 did not say its number"
    path.write_bytes(before)
    store = FileStore(tmp_path, now=lambda: AT)
    stored = await store.open(ID)
    assert stored.core.format == FORMAT
    await store.commit(ID, append(text(4)), expected=stored.version, fence=FENCE)
    await store.close()
    assert msgspec.json.decode(path.read_bytes())["format"] == FORMAT
    (backup,) = [each for each in folder.rglob("*") if "format-2" in each.name]
    assert backup.read_bytes() == before


async def test_a_newer_format_is_left_alone(tmp_path: Path) -> None:
    store = await filled(tmp_path, checkpoint=True)
    await store.close()
    path = tmp_path / "contexts" / ID / "metadata.json"
    path.write_bytes(path.read_bytes().replace(b'"version"', b'"format": 99,\n "version"'))
    before = path.read_bytes()
    store = FileStore(tmp_path, now=lambda: AT)
    with pytest.raises(StoreDamaged, match="newer version"):
        await store.open(ID)
    (summary,) = await store.contexts()
    assert summary.damage is not None
    await store.close()
    assert path.read_bytes() == before


async def test_a_damaged_context_does_not_hide_the_others(tmp_path: Path) -> None:
    store = await filled(tmp_path, checkpoint=True)
    for number in range(9):
        await store.create(Change(core=core(context_id=f"c{number}", title=str(number))))
    await store.close()
    for path in (tmp_path / "contexts" / ID).rglob("*"):
        if path.is_file():
            path.write_bytes(b"\0" * path.stat().st_size)
    store = FileStore(tmp_path, now=lambda: AT)
    assert len(await store.contexts()) == 10
    for number in range(9):
        assert (await store.open(ContextId(f"c{number}"))).core.title == str(number)
    await store.close()


async def test_a_missing_message_is_a_gap_and_the_rest_loads(tmp_path: Path) -> None:
    store = await filled(tmp_path, checkpoint=True)
    (tmp_path / "contexts" / ID / "messages_pool" / f"{message_id(2)}.json").unlink()
    messages = await store.messages(ID, await store.branch_ids(ID, MAIN))
    assert [isinstance(message, ErrorMessage) for message in messages] == [False, True, False]
    await store.close()


async def test_a_torn_tail_is_cut_set_aside_and_reported_three_times_in_a_row(tmp_path: Path) -> None:
    store = await filled(tmp_path, checkpoint=False)
    abandon(store)
    folder = tmp_path / "contexts" / ID
    for round_ in range(3):
        (segment, *_) = sorted((folder / "journal").iterdir(), reverse=True)
        with segment.open("ab") as file:
            file.write(b"0badc0de {torn" + str(round_).encode())
        store = FileStore(tmp_path, now=lambda: AT)
        opened = await store.open(ID)
        assert [reason.code for reason in opened.damage] == ["tail_cut"]
        await store.commit(ID, append(text(10 + round_)), expected=opened.version, fence=FENCE)
        abandon(store)
    store = FileStore(tmp_path, now=lambda: AT)
    assert len(await store.branch_ids(ID, MAIN)) == 6
    assert sorted(path.read_bytes()[-1:] for path in (folder / "aside").iterdir()) == [b"0", b"1", b"2"]
    await store.close()


def files_of(folder: Path) -> list[Path]:
    return sorted(path.relative_to(folder) for path in folder.rglob("*") if path.is_file())


@pytest.mark.seconds(900)
@pytest.mark.parametrize("checkpointed", [False, True])
async def test_every_file_cut_at_every_offset_still_loads_the_rest_and_keeps_the_bytes(
    tmp_path: Path, checkpointed: bool, record_property: Record
) -> None:
    """Counts are printed: each is one damaged copy that was opened, read, written to and opened again."""
    store = await filled(tmp_path / "good", checkpoint=checkpointed)
    if checkpointed:
        await store.commit(ID, append(text(4, "message 4")), expected=4, fence=FENCE)
    abandon(store)
    good = tmp_path / "good" / "contexts" / ID
    tried = 0
    for name in files_of(good):
        data = (good / name).read_bytes()
        step = 1 if LONG else max(1, len(data) // 60)
        for offset in range(0, len(data), step):
            for damaged in (data[:offset], data[:offset] + b"\0" * (len(data) - offset)):
                await _check_damaged(tmp_path / "try", good, name, damaged)
                tried += 1
    record_property("figure", f"{tried} damaged folders")
    assert tried > 100


async def _check_damaged(where: Path, good: Path, name: Path, damaged: bytes) -> None:
    folder = where / "contexts" / ID
    shutil.rmtree(where, ignore_errors=True)
    shutil.copytree(good, folder)
    (folder / name).write_bytes(damaged)
    store = FileStore(where, now=lambda: AT)
    try:
        opened = await store.open(ID)
    except PilothouseError:
        assert not damaged.strip(b"\0") or name.parts[0] == "journal", f"{name} with {len(damaged)} bytes"
        abandon(store)
        return
    messages = await store.messages(ID, await store.branch_ids(ID, MAIN))
    readable = {content_of(message) for message in messages if not isinstance(message, ErrorMessage)}
    # Every message whose own file is whole is still there; only the damaged file's content may be missing.
    lost = 4 if name.parts[0] == "journal" else 1 if name.parts[0] == "messages_pool" else 0
    total = 4 if (good / "metadata.json").exists() else 3
    assert len(readable) >= total - lost, f"{name} with {len(damaged)} bytes: {readable}"
    await store.commit(ID, append(text(77, "after")), expected=opened.version, fence=FENCE)
    await store.close()
    again = FileStore(where, now=lambda: AT)
    messages = await again.messages(ID, await again.branch_ids(ID, MAIN))
    assert messages[-1] == text(77, "after")
    await again.close()
    content = b"".join(path.read_bytes() for path in folder.rglob("*") if path.is_file())
    tail = damaged.rstrip(b"\0").rpartition(b"\n")[2][-20:]
    assert tail in content, f"the bytes of {name} cut to {len(damaged)} are gone"


def branch(name: str, key: str) -> Branch:
    return Branch(name=name, key=key, created_at=AT)


async def test_a_damaged_line_that_created_a_branch_costs_nothing_after_it(tmp_path: Path) -> None:
    store = FileStore(tmp_path, now=lambda: AT)
    await store.create(first())
    await store.commit(ID, append(text(1)), expected=1, fence=FENCE)
    fork = Change(core=core(), branches={"other": branch("other", "k2")}, appended={"other": (message_id(1),)})
    await store.commit(ID, fork, expected=2, fence=FENCE)
    more = Change(core=core(active_branch="other"), messages=(text(2),), appended={"other": (message_id(2),)})
    await store.commit(ID, more, expected=3, fence=FENCE)
    abandon(store)
    (segment,) = (tmp_path / "contexts" / ID / "journal").iterdir()
    lines = segment.read_bytes().split(b"\n")
    lines[2] = b"x" * len(lines[2])
    segment.write_bytes(b"\n".join(lines))
    store = FileStore(tmp_path, now=lambda: AT)
    opened = await store.open(ID)
    assert [reason.code for reason in opened.damage] == ["journal_gap"]
    assert await store.branch_ids(ID, opened.core.active_branch) == [message_id(2)]
    await store.close()


async def test_a_blob_is_never_written_over(tmp_path: Path) -> None:
    disk = FaultyDisk()
    store = FileStore(tmp_path, now=lambda: AT, disk=disk)
    await store.create(first())
    large = text(1, "y" * 100_000)
    await store.commit(ID, append(large), expected=1, fence=FENCE)
    disk.arm(1, "ENOSPC", lasting=True)
    with pytest.raises(StoreError):
        await store.commit(ID, Change(core=core(), messages=(large,)), expected=2, fence=FENCE)
    disk.disarm()
    assert await store.messages(ID, [large.id]) == [large]
    await store.close()


async def test_a_new_context_without_its_journal_is_listed_as_damaged_and_not_recreated(tmp_path: Path) -> None:
    store = FileStore(tmp_path, now=lambda: AT)
    await store.create(first())
    abandon(store)
    (segment,) = (tmp_path / "contexts" / ID / "journal").iterdir()
    segment.write_bytes(b"\0" * segment.stat().st_size)
    store = FileStore(tmp_path, now=lambda: AT)
    (summary,) = await store.contexts()
    assert summary.damage is not None
    with pytest.raises(Conflict):
        await store.create(first())
    assert isinstance((await store.open(ID)).core.state, Failed)
    await store.close()


async def test_a_line_of_a_newer_program_is_left_alone(tmp_path: Path) -> None:
    store = FileStore(tmp_path, now=lambda: AT)
    await store.create(first())
    abandon(store)
    (segment,) = (tmp_path / "contexts" / ID / "journal").iterdir()
    with segment.open("ab") as file:
        file.write(encode_line(b'{"version":2,"core":{"format":2,"something":"new"}}'))
    before = segment.read_bytes()
    store = FileStore(tmp_path, now=lambda: AT)
    with pytest.raises(StoreDamaged, match="newer version"):
        await store.open(ID)
    assert segment.read_bytes() == before
    await store.close()


async def test_no_id_leads_into_another_context(tmp_path: Path) -> None:
    store = await filled(tmp_path, checkpoint=True)
    await store.create(Change(core=core(context_id="other"), branches={MAIN: branch(MAIN, "k")}))
    for bad in (f"../../{ID}/messages_pool/{message_id(1)}", "nul\0", "", "x" * 300):
        (message,) = await store.messages(ContextId("other"), [MessageId(bad)])
        assert isinstance(message, ErrorMessage)
        with pytest.raises(NotFound):
            await store.call(ContextId("other"), CallId(bad))
    await store.close()


async def test_metadata_lost_after_half_a_checkpoint_lists_no_message_twice(tmp_path: Path) -> None:
    store = await filled(tmp_path, checkpoint=True)
    await store.commit(ID, append(text(4, "message 4")), expected=4, fence=FENCE)
    abandon(store)
    folder = tmp_path / "contexts" / ID
    journal = {path: path.read_bytes() for path in (folder / "journal").iterdir()}
    store = FileStore(tmp_path, now=lambda: AT)
    await store.open(ID)
    await store.close()
    for path, data in journal.items():
        path.write_bytes(data)
    (folder / "metadata.json").write_bytes(b"damaged")
    store = FileStore(tmp_path, now=lambda: AT)
    assert await store.branch_ids(ID, MAIN) == [message_id(number) for number in (1, 2, 3, 4)]
    await store.close()


async def test_a_deletion_that_was_cut_short_never_comes_back(tmp_path: Path) -> None:
    store = await filled(tmp_path, checkpoint=True)
    await store.close()
    (tmp_path / "contexts" / ID).rename(tmp_path / "contexts" / f".deleted-{ID}")
    store = FileStore(tmp_path, now=lambda: AT)
    assert await store.contexts() == []
    assert list((tmp_path / "contexts").iterdir()) == []
    await store.close()


async def test_failed_creations_leave_no_file_open(tmp_path: Path) -> None:
    disk = FaultyDisk()
    store = FileStore(tmp_path, now=lambda: AT, disk=disk)
    before = len(os.listdir("/proc/self/fd"))
    disk.fault, disk.lasting = "EIO", True
    for number in range(20):
        disk.arm(6, "EIO", lasting=True)
        with pytest.raises(StoreError):
            await store.create(Change(core=core(context_id=f"c{number}")))
    disk.disarm()
    assert len(os.listdir("/proc/self/fd")) <= before + 2
    await store.close()


async def test_a_context_whose_creation_failed_is_absent_and_can_be_created(tmp_path: Path) -> None:
    operations = FaultyDisk()
    store = FileStore(tmp_path / "counted", now=lambda: AT, disk=operations)
    before = operations.count
    await store.create(first())
    total = operations.count - before
    await store.close()
    for number in range(1, total + 1):
        disk = FaultyDisk()
        store = FileStore(tmp_path / str(number), now=lambda: AT, disk=disk)
        disk.arm(number, "EIO", lasting=True)
        with pytest.raises(StoreError):
            await store.create(first())
        disk.disarm()
        assert await store.contexts() == []
        with pytest.raises(NotFound):
            await store.open(ID)
        await store.create(first())
        assert (await store.open(ID)).core == first().core
        await store.close()
