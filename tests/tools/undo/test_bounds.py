"""Undo data is bounded, its limits are reported, and its cost for a command does not grow with earlier commands."""

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from pilothouse.config.schema import UndoTable
from pilothouse.domain.codes import Code
from pilothouse.domain.errors import ToolError
from pilothouse.sandbox.entries import Entries
from pilothouse.sandbox.workspace import Root, Workspace
from pilothouse.tools.undo import baseline as baselines
from pilothouse.tools.undo.baseline import Baseline
from pilothouse.tools.undo.changes import ChangedFile, ChangeEntry, ChangeLog
from pilothouse.tools.undo.comparison import compare
from pilothouse.tools.undo.limits import UndoLimits
from pilothouse.tools.undo.revert import undo_last
from pilothouse.tools.undo.tree import FileStat
from tests.support.scale import LONG

DAY = 86_400


def never() -> bool:
    return False


def write(log: ChangeLog, workspace: Workspace, path: str, data: bytes, call: str) -> None:
    """Edit a file as a tool does: record its content, then replace it."""
    before = (workspace.root / path).read_bytes()
    (workspace.root / path).write_bytes(data)
    after = Entries(workspace).state(path).content
    (workspace.root / path).write_bytes(before)
    file = ChangedFile(path, before=Entries(workspace).state(path).content, after=after, mode=0o644)
    log.add(ChangeEntry(call=call, tool="write", files=(file,)), [before])
    (workspace.root / path).write_bytes(data)


def size_of(folder: Path) -> int:
    return sum(path.lstat().st_size for path in folder.rglob("*") if path.is_file())


def test_the_oldest_contents_go_when_a_conversation_keeps_too_much(tmp_path: Path) -> None:
    (tmp_path / "w").mkdir()
    (tmp_path / "w" / "a").write_bytes(bytes(600_000))
    workspace = Workspace(tmp_path / "w")
    log = ChangeLog(tmp_path / "log", UndoLimits(conversation_megabytes=2))
    for number in range(10):
        write(log, workspace, "a", bytes([number + 1]) * 600_000, f"call-{number}")
    assert size_of(tmp_path / "log" / "before") <= 2_000_000
    for number in (9, 8, 7):
        assert undo_last(log, workspace).paths == ("a",)
        assert (tmp_path / "w" / "a").read_bytes() == bytes([number]) * 600_000
    with pytest.raises(ToolError) as caught:
        undo_last(log, workspace)
    assert caught.value.reason.code is Code.UNDO_EXPIRED


def test_contents_that_are_too_old_go_when_the_conversation_is_next_used(tmp_path: Path) -> None:
    (tmp_path / "w").mkdir()
    (tmp_path / "w" / "a").write_bytes(b"one")
    workspace = Workspace(tmp_path / "w")
    log = ChangeLog(tmp_path / "log", UndoLimits(days=30))
    write(log, workspace, "a", b"two", "old")
    (pack,) = (tmp_path / "log" / "before").iterdir()
    os.utime(pack, (pack.stat().st_mtime - 31 * DAY,) * 2)
    log = ChangeLog(tmp_path / "log", UndoLimits(days=30))
    write(log, workspace, "a", b"three", "new")
    assert undo_last(log, workspace).paths == ("a",)
    assert (tmp_path / "w" / "a").read_bytes() == b"two"
    with pytest.raises(ToolError) as caught:
        undo_last(log, workspace)
    assert caught.value.reason.code is Code.UNDO_EXPIRED


def test_recording_a_change_reads_no_earlier_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    log = ChangeLog(tmp_path / "log", UndoLimits())
    for number in range(50):
        log.add(ChangeEntry(call=f"call-{number}", tool="execute"), [])
    listed: list[object] = []

    def read(log: ChangeLog) -> Iterator[object]:
        listed.append(log)
        return iter(())

    monkeypatch.setattr(ChangeLog, "_list_contents", read)
    monkeypatch.setattr(ChangeLog, "_lines", read)
    log.add(ChangeEntry(call="last", tool="execute"), [])
    assert listed == []


def test_a_baseline_keeps_the_nearest_files_within_its_budget_with_a_notice(tmp_path: Path) -> None:
    root = tmp_path / "w"
    (root / "deep" / "er").mkdir(parents=True)
    (root / "near").write_bytes(bytes(700_000))
    (root / "deep" / "er" / "far").write_bytes(b"x" * 700_000)
    workspace = Workspace(root)
    limits = UndoLimits(baseline_megabytes=1)
    cache = Baseline(tmp_path / "cache", workspace, limits)
    before = cache.take(never)
    assert before.is_cut
    (root / "near").write_bytes(b"new")
    (root / "deep" / "er" / "far").write_bytes(b"new")
    entry, *_ = compare(before, cache.take(never, before), workspace, "call", "execute", limits)
    assert entry is not None
    assert [file.path for file in entry.files] == ["near"]
    assert [(reason.code, reason.params["paths"]) for reason in entry.left] == [(Code.UNDO_OVER_BUDGET, "deep/er/far")]
    assert size_of(tmp_path / "cache") < 1_100_000


def test_contents_that_no_file_holds_any_more_are_dropped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(baselines, "_MIN_GARBAGE_BYTES", 100_000)
    monkeypatch.setattr(baselines, "_MAX_UNSAVED_BYTES", 100_000)
    root = tmp_path / "w"
    root.mkdir()
    (root / "empty").write_bytes(b"")
    (root / "still").write_bytes(b"still the same")
    workspace = Workspace(root)
    cache = Baseline(tmp_path / "cache", workspace, UndoLimits())
    contents = cache.take(never)
    (root / "empty too").write_bytes(b"")
    for number in range(30):
        (root / "a").write_bytes(bytes([number]) * 50_000)
        before = cache.take(never)
        (root / "a").write_bytes(bytes([number + 100]) * 50_000)
        after = cache.take(never, before)
        assert before.content(before.files["a"]) == bytes([number]) * 50_000
        assert after.content(after.files["still"]) == b"still the same"
        assert after.content(after.files["empty"]) == after.content(after.files["empty too"]) == b""
        before.close()
        after.close()
    assert size_of(tmp_path / "cache") < 400_000
    assert contents.content(contents.files["still"]) == b"still the same", (
        "a look that is still compared keeps its contents"
    )


def test_all_baselines_together_are_bounded(tmp_path: Path) -> None:
    for number in range(6):
        root = tmp_path / f"w{number}"
        root.mkdir()
        (root / "a").write_bytes(bytes([number]) * 400_000)
        cache = Baseline(tmp_path / "cache", Workspace(root), UndoLimits(baseline_megabytes=1))
        for content in range(3):
            (root / "a").write_bytes(bytes([number * 3 + content]) * 400_000)
            cache.take(never).close()
    assert size_of(tmp_path / "cache") <= 2_000_000 + 1_200_000


def test_a_change_of_the_same_size_within_the_same_tick_is_noticed(tmp_path: Path) -> None:
    """The rule for racy files: very recent times do not prove that a file is unchanged."""
    root = tmp_path / "w"
    root.mkdir()
    workspace = Workspace(root)
    cache = Baseline(tmp_path / "cache", workspace, UndoLimits())
    path = root / "a"
    path.write_bytes(b"one")
    status = path.stat()
    before = cache.take(never)
    with open(path, "r+b") as file:
        file.write(b"two")
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))
    # With a coarse clock, a second change has the same times as the first.
    before.files["a"] = before.files["a"]._replace(
        stat=before.files["a"].stat._replace(ctime_ns=path.stat().st_ctime_ns)
    )
    entry, *_ = compare(before, cache.take(never, before), workspace, "call", "execute", UndoLimits())
    assert entry is not None
    assert [file.path for file in entry.files] == ["a"]


def note_reads(monkeypatch: pytest.MonkeyPatch, names: list[str]) -> None:
    """Note the name of each file that the baseline reads."""
    read = baselines._Reader._read_data

    def noting(self: baselines._Reader, fd: int, name: str, status: FileStat) -> bytes | None:
        names.append(name)
        return read(self, fd, name, status)

    monkeypatch.setattr(baselines._Reader, "_read_data", noting)


def test_an_untouched_file_is_read_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = tmp_path / "w"
    root.mkdir()
    (root / "a").write_bytes(b"one")
    os.utime(root / "a", (1, 1))
    read: list[str] = []
    note_reads(monkeypatch, read)
    monkeypatch.setattr(baselines, "_RACY_NS", -(10**18))  # as if a long time had gone by
    cache = Baseline(tmp_path / "cache", Workspace(root), UndoLimits())
    for _ in range(3):
        cache.take(never).close()
    assert read == ["a"]


def test_the_next_look_loads_no_index_and_a_small_change_saves_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = tmp_path / "w"
    root.mkdir()
    (root / "a").write_bytes(b"zero")
    cache = Baseline(tmp_path / "cache", Workspace(root), UndoLimits())
    cache.take(never).close()
    (index,) = (tmp_path / "cache").glob("*/index")
    saved = index.read_bytes()
    monkeypatch.setattr(Baseline, "_load", lambda _: pytest.fail("the index was loaded"))
    for text in (b"one", b"two"):
        (root / "a").write_bytes(text)
        look = cache.take(never)
        assert look.content(look.files["a"]) == text
        look.close()
    assert index.read_bytes() == saved
    monkeypatch.undo()
    monkeypatch.setattr(baselines, "_CACHE", baselines._SnapshotCache())  # the next process
    look = cache.take(never)
    assert look.content(look.files["a"]) == b"two"
    look.close()
    assert index.read_bytes() != saved, "else every process would read what changed since and keep it anew"


def test_a_process_holds_no_removed_contents_open(tmp_path: Path) -> None:
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "a").write_bytes(b"a")
        Baseline(tmp_path / "cache", Workspace(tmp_path / name), UndoLimits()).take(never).close()
    shutil.rmtree(tmp_path / "cache")
    Baseline(tmp_path / "cache", Workspace(tmp_path / "one"), UndoLimits()).take(never).close()
    assert all(not each.is_removed for each in baselines._CACHE._snapshots.values())


def test_a_home_folder_is_covered_up_to_a_smaller_bound(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "home" / "project").mkdir(parents=True)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    limits = UndoLimits()
    for folder, expected in (("home", limits.home_files), (".", limits.home_files), ("home/project", limits.files)):
        root = tmp_path / folder
        limit = Baseline(tmp_path / "cache", Workspace(root), limits).max_entries(str(root.resolve()))
        assert limit == expected, folder


@pytest.mark.skipif(not LONG, reason="makes 100,000 files")
def test_a_change_among_100_000_files_is_undone(tmp_path: Path) -> None:
    root = tmp_path / "w"
    for folder in range(1000):
        (root / f"d{folder}").mkdir(parents=True)
        for number in range(100):
            (root / f"d{folder}" / f"f{number}").write_bytes(b"%d %d" % (folder, number))
    workspace = Workspace(root)
    limits = UndoLimits(files=150_000)
    cache = Baseline(tmp_path / "cache", workspace, limits)
    log = ChangeLog(tmp_path / "log", limits)
    before = cache.take(never)
    assert not before.is_cut
    shutil.rmtree(root / "d7")
    (root / "d999" / "f99").write_bytes(b"new")
    entry, baseline, _ = compare(before, cache.take(never, before), workspace, "call", "execute", limits)
    assert entry is not None
    log.add(entry, (before.content(file) if file is not None else None for file in baseline))
    assert len(undo_last(log, workspace).paths) == 101
    assert (root / "d7" / "f42").read_bytes() == b"7 42"
    assert (root / "d999" / "f99").read_bytes() == b"999 99"


def test_a_raised_limit_counts_for_files_that_were_not_kept(tmp_path: Path) -> None:
    root = tmp_path / "w"
    root.mkdir()
    (root / "a").write_bytes(bytes(1_500_000))
    os.utime(root / "a", (1, 1))
    before = Baseline(tmp_path / "cache", Workspace(root), UndoLimits(baseline_megabytes=1)).take(never)
    again = Baseline(tmp_path / "cache", Workspace(root), UndoLimits(baseline_megabytes=1)).take(never)
    assert (before.is_cut, again.is_cut) == (True, True), "the next conversation is told, too"
    raised = Baseline(tmp_path / "cache", Workspace(root), UndoLimits(baseline_megabytes=2)).take(never)
    assert not raised.is_cut
    assert raised.content(raised.files["a"]) == bytes(1_500_000)


def test_names_that_are_not_utf_8_stop_neither_a_look_nor_its_index(tmp_path: Path) -> None:
    root = Path(os.fsdecode(os.fsencode(tmp_path) + b"/w\xff"))
    for folder in (root, root / os.fsdecode(b"inner\xe9")):
        heads = folder / ".git" / "refs" / "heads"
        heads.mkdir(parents=True)
        (folder / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
        (heads / os.fsdecode(b"caf\xe9")).write_text("0" * 40 + "\n")
    (root / os.fsdecode(b"\xff.txt")).write_bytes(b"one")
    cache = Baseline(tmp_path / "cache", Workspace(root), UndoLimits())
    before = cache.take(never)
    assert sorted(before.git) == ["", "inner\\xe9"]
    assert before.git[""].references == {"refs/heads/caf\\xe9": "0" * 40}
    (root / os.fsdecode(b"\xff.txt")).write_bytes(b"two")
    entry, *_ = compare(before, cache.take(never, before), Workspace(root), "call", "execute", UndoLimits())
    assert entry is not None
    assert [file.path for file in entry.files] == ["\\xff.txt"]
    (index,) = (tmp_path / "cache").glob("*/index")
    assert index.stat().st_size > 0


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads every folder")
def test_a_folder_that_a_command_made_unreadable_is_reported_and_blocks_no_undo(tmp_path: Path) -> None:
    root = tmp_path / "w"
    (root / "closed").mkdir(parents=True)
    (root / "closed" / "a").write_bytes(b"one")
    workspace, limits = Workspace(root), UndoLimits()
    cache = Baseline(tmp_path / "cache", workspace, limits)
    before = cache.take(never)
    (root / "closed").chmod(0)
    try:
        entry, *_ = compare(before, cache.take(never, before), workspace, "call", "execute", limits)
    finally:
        (root / "closed").chmod(0o755)
    assert entry is not None
    assert entry.files == ()
    left = [(reason.code, reason.params["paths"]) for reason in entry.left]
    assert left == [(Code.UNDO_UNREADABLE, "closed/a"), (Code.UNDO_UNSEEN, "closed")]


def test_a_workspace_that_looks_like_a_data_directory_is_covered(tmp_path: Path) -> None:
    root = tmp_path / "w"
    (root / "contexts").mkdir(parents=True)
    (root / "src").mkdir()
    (root / "lock").write_bytes(b"")
    (root / "src" / "a.py").write_bytes(b"one")
    workspace, limits = Workspace(root), UndoLimits()
    cache = Baseline(tmp_path / "cache", workspace, limits)
    before = cache.take(never)
    (root / "src" / "a.py").unlink()
    (root / "src" / "contexts").mkdir()
    (root / "src" / "lock").write_bytes(b"")
    (root / "src" / "hidden.py").write_bytes(b"new")
    entry, *_ = compare(before, cache.take(never, before), workspace, "call", "execute", limits)
    assert entry is not None
    assert [file.path for file in entry.files] == ["src/a.py"]
    assert [(reason.code, reason.params["paths"]) for reason in entry.left] == [(Code.UNDO_UNSEEN, "src")]


def test_folders_that_overlap_are_covered_once(tmp_path: Path) -> None:
    root = tmp_path / "w"
    (root / "inner").mkdir(parents=True)
    (root / "inner" / "a").write_bytes(b"one")
    workspace = Workspace(root, extra_roots=[Root(root / "inner", True), Root(tmp_path, True)])
    before = Baseline(tmp_path.parent / f"{tmp_path.name}-cache", workspace, UndoLimits()).take(never)
    assert sorted(before.files) == ["inner/a"]


def test_a_file_over_the_budget_is_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = tmp_path / "w"
    root.mkdir()
    for number in range(5):
        with open(root / f"sparse{number}", "wb") as file:
            file.truncate(900_000)
    read: list[str] = []
    note_reads(monkeypatch, read)
    baseline = Baseline(tmp_path / "cache", Workspace(root), UndoLimits(baseline_megabytes=1)).take(never)
    assert (read, baseline.is_cut) == (["sparse0"], True)


def test_without_settings_the_limits_are_those_of_the_configuration() -> None:
    assert UndoLimits(**msgspec.structs.asdict(UndoTable())) == UndoLimits()
