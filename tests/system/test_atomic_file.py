"""Atomic writes: a crash, a refusal or an exception at any step leaves the whole old file or the new one."""

import errno
import os
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from pilothouse.config.credentials import Credentials, StoredSetup
from pilothouse.sandbox.entries import Entries
from pilothouse.sandbox.workspace import ABSENT, Workspace
from pilothouse.storage.files.disk import Disk
from pilothouse.system.atomic_file import FileOperations, fill_and_rename, renamed_into_place, replace_file
from pilothouse.system.private_file import replace_private_file
from pilothouse.testing.disk import FaultyDisk
from pilothouse.tools.undo.changes import ChangedFile, ChangeEntry, ChangeLog
from pilothouse.tools.undo.limits import UndoLimits
from pilothouse.tools.uploads import UploadStore

OLD, NEW = b"the old content", b"the new content"


class Traced(FileOperations):
    """Notes each operation; the one numbered `fails_at` is refused."""

    def __init__(self, fails_at: int | None = None) -> None:
        self.trace: list[str] = []
        self._fails_at = fails_at

    def _note(self, name: str) -> None:
        self.trace.append(name)
        if len(self.trace) - 1 == self._fails_at:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    def create(self, path: Path) -> int:
        self._note("create")
        return super().create(path)

    def write(self, fd: int, data: bytes | memoryview) -> int:
        self._note("write")
        return super().write(fd, data[:8])  # always a short write

    def sync(self, fd: int) -> None:
        self._note("sync folder" if stat.S_ISDIR(os.fstat(fd).st_mode) else "sync file")
        super().sync(fd)

    def rename(self, source: Path, target: Path) -> None:
        self._note("rename")
        super().rename(source, target)


def names_in(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "file.json"
    path.write_bytes(OLD)
    return path


def test_the_file_is_written_and_synced_before_it_is_renamed_and_the_folder_after_it(path: Path) -> None:
    operations = Traced()
    replace_file(path, [NEW[:9], NEW[9:]], operations=operations)
    assert operations.trace == ["create", "write", "write", "write", "sync file", "rename", "sync folder"]
    assert path.read_bytes() == NEW


def test_a_cache_is_replaced_as_a_whole_without_a_sync(path: Path) -> None:
    operations = Traced()
    replace_file(path, [NEW], is_durable=False, operations=operations)
    assert operations.trace == ["create", "write", "write", "rename"]


@pytest.mark.parametrize("umask", [0o000, 0o022, 0o077])
def test_the_new_file_is_private_whatever_the_umask_and_the_old_file_say(path: Path, umask: int) -> None:
    path.chmod(0o644)
    before = os.umask(umask)
    try:
        replace_file(path, [NEW], prepare=lambda fd: os.utime(fd))
    finally:
        os.umask(before)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


@pytest.mark.parametrize("step", range(6))
def test_a_refused_step_leaves_the_old_file_and_no_temporary_one(path: Path, step: int) -> None:
    operations = Traced(fails_at=step)
    with pytest.raises(OSError, match="No space left"):
        replace_file(path, [NEW], operations=operations)
    expected = NEW if operations.trace[-1] == "sync folder" else OLD  # the new file is there, but maybe not durable
    assert (path.read_bytes(), names_in(path.parent)) == (expected, ["file.json"])


def test_an_exception_of_the_content_or_of_the_preparation_leaves_the_old_file(path: Path) -> None:
    def interrupted() -> Iterator[bytes]:
        yield NEW[:4]
        raise KeyboardInterrupt

    def refused(_: int) -> None:
        raise PermissionError(errno.EPERM, "not yours")

    open_before = len(os.listdir("/proc/self/fd"))
    with pytest.raises(KeyboardInterrupt):
        replace_file(path, interrupted())
    with pytest.raises(PermissionError):
        replace_file(path, [NEW], prepare=refused)
    with pytest.raises(ZeroDivisionError), renamed_into_place(path.with_name("t"), path):
        path.with_name("t").touch()
        raise ZeroDivisionError
    assert (path.read_bytes(), names_in(path.parent)) == (OLD, ["file.json"])
    assert len(os.listdir("/proc/self/fd")) == open_before


def test_a_leftover_temporary_file_is_replaced_and_a_link_there_not_followed(path: Path) -> None:
    temporary = path.with_name("draft")
    temporary.write_bytes(b"half of an ea")
    replace_file(path, [NEW], temporary=temporary)
    assert (path.read_bytes(), names_in(path.parent)) == (NEW, ["file.json"])
    elsewhere = path.with_name("elsewhere")
    elsewhere.write_bytes(OLD)
    temporary.symlink_to(elsewhere)
    replace_file(path, [b"newer"], temporary=temporary)
    assert (path.read_bytes(), elsewhere.read_bytes()) == (b"newer", OLD)


def test_a_link_in_the_place_of_the_file_is_replaced_and_not_followed(path: Path) -> None:
    link = path.with_name("link")
    link.symlink_to(path)
    replace_file(link, [NEW])
    assert (link.read_bytes(), link.is_symlink(), path.read_bytes()) == (NEW, False, OLD)


def test_a_disk_that_takes_no_bytes_is_an_error_and_no_endless_loop(path: Path) -> None:
    class Stuck(FileOperations):
        def write(self, fd: int, data: bytes | memoryview) -> int:
            return 0

    with pytest.raises(OSError, match="took no bytes"):
        replace_file(path, [NEW], operations=Stuck())
    assert (path.read_bytes(), names_in(path.parent)) == (OLD, ["file.json"])


def test_an_open_temporary_file_can_be_filled_by_the_caller(path: Path) -> None:
    temporary = path.with_name("draft")
    fd = FileOperations().create(temporary)
    fill_and_rename(fd, temporary, path, [NEW])
    assert (path.read_bytes(), names_in(path.parent)) == (NEW, ["file.json"])
    with pytest.raises(OSError, match="descriptor"):
        os.fstat(fd)


def test_the_store_refused_at_any_step_keeps_its_file_and_leaves_no_temporary_one(path: Path) -> None:
    disk = FaultyDisk()
    for at in range(1, 20):
        path.write_bytes(OLD)
        disk.arm(at, "ENOSPC")
        try:
            disk.replace_file(path, NEW)
        except OSError:
            assert names_in(path.parent) == ["file.json"]
        if not disk.fired:
            break
        assert path.read_bytes() in (OLD, NEW)
    assert (disk.fired, path.read_bytes(), at > 4) == (0, NEW, True)


# Every place that writes a whole file, killed before the n-th call of the system that changes something, for every n.
KILLED = """
import os, sys
sys.path.insert(0, sys.argv[3])
from pathlib import Path
from tests.system.test_atomic_file import PLACES
write = PLACES[sys.argv[1]]
folder = Path(sys.argv[2])
left = int(sys.argv[4])
def dying(call):
    def counted(*given, **named):
        global left
        left -= 1
        if left < 0: os.kill(os.getpid(), 9)
        return call(*given, **named)
    return counted
for name in ("open", "write", "fsync", "fdatasync", "replace", "rename", "unlink"):
    setattr(os, name, dying(getattr(os, name)))
write(folder, True)
"""


def _private(folder: Path, is_new: bool) -> None:
    replace_private_file(folder / "file", NEW if is_new else OLD)


def _credentials(folder: Path, is_new: bool) -> None:
    key = (NEW if is_new else OLD).decode().replace(" ", "-")
    Credentials(folder / "file").write(StoredSetup(base_url="http://127.0.0.1", key=key, model="m"))


def _store(folder: Path, is_new: bool) -> None:
    Disk().replace_file(folder / "file", NEW if is_new else OLD)


def _workspace(folder: Path, is_new: bool) -> None:
    workspace = Workspace(folder)
    if is_new:
        state = Entries(workspace).state("file")
        Entries(workspace).put("file", NEW, expected=state.content, mode=0o600, is_link=False)
    else:
        Entries(workspace).put("file", OLD, expected=ABSENT, mode=0o600, is_link=False)


PLACES = {"private": _private, "credentials": _credentials, "store": _store, "workspace": _workspace}


@pytest.mark.parametrize("place", PLACES)
def test_a_kill_before_any_step_leaves_the_old_file_whole_or_the_new_one(place: str, tmp_path: Path) -> None:
    contents = set()
    for number in range(40):
        folder = tmp_path / str(number)
        folder.mkdir()
        PLACES[place](folder, False)
        before = (folder / "file").read_bytes()
        root = str(Path(__file__).parents[2])
        command = [sys.executable, "-c", KILLED, place, str(folder), root, str(number)]
        code = subprocess.run(command, check=False, timeout=60).returncode
        after = (folder / "file").read_bytes()
        assert after in (before, before.replace(OLD, NEW).replace(b"the-old-content", b"the-new-content"))
        assert all(stat.S_IMODE(each.stat().st_mode) == 0o600 for each in folder.iterdir())
        contents.add(after)
        if code == 0:
            break
    assert (code, number > 3, len(contents), names_in(folder)) == (0, True, 2, ["file"])


def test_changes_and_uploads_leave_nothing_half_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    log = ChangeLog(tmp_path / "changes", UndoLimits())
    file = ChangedFile("a.txt", before="0" * 64, after=ABSENT)
    log.add(ChangeEntry(call="one", tool="write", files=(file,)), [OLD])
    uploads = UploadStore(tmp_path / "files/uploads")
    (tmp_path / "files").mkdir(mode=0o700)
    assert uploads.add("a.txt", OLD) == "a.txt"

    def refused(*_: object, **__: object) -> None:
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    monkeypatch.setattr(os, "replace", refused)
    with pytest.raises(OSError, match="Input/output"):
        log.add(ChangeEntry(call="two", tool="write", files=(file,)), [NEW])
    with pytest.raises(OSError, match="Input/output"):
        uploads.add("b.txt", NEW)
    assert names_in(tmp_path / "changes/before") == ["one.pack"]
    assert [upload.name for upload in uploads.all()] == ["a.txt"]
    assert names_in(tmp_path / "files") == ["uploads"]
