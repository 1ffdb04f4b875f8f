"""Locks between processes: held as long as the file is open, released with the holder, private."""

import os
import stat
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from pilothouse.system.file_lock import is_locked, locked_file, locked_folder, try_lock

HOLD = """
import sys
from pathlib import Path
from pilothouse.system.file_lock import locked_file, locked_folder
with (locked_folder if Path(sys.argv[1]).is_dir() else locked_file)(Path(sys.argv[1])):
    print("held", flush=True)
    sys.stdin.read()
"""


def open_descriptors() -> int:
    return len(os.listdir("/proc/self/fd"))


def test_a_locked_file_is_made_private_and_is_free_afterwards(tmp_path: Path) -> None:
    before = open_descriptors()
    with locked_file(tmp_path / "lock") as fd:
        assert stat.S_IMODE(os.fstat(fd).st_mode) == 0o600
        other = os.open(tmp_path / "lock", os.O_RDWR)
        assert (is_locked(other), try_lock(other)) == (True, False)
    assert (is_locked(other), try_lock(other)) == (False, True)
    os.close(other)
    assert open_descriptors() == before


def test_two_simultaneous_lock_checks_do_not_see_each_other_as_holder(tmp_path: Path) -> None:
    (tmp_path / "lock").touch()
    one, other = (os.open(tmp_path / "lock", os.O_RDONLY) for _ in range(2))
    try:
        assert (is_locked(one), is_locked(other)) == (False, False)
    finally:
        os.close(one)
        os.close(other)


@pytest.mark.parametrize("name", ["lock", "."])
def test_a_second_holder_waits_for_the_first_and_follows_when_that_is_killed(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    (tmp_path / "lock").touch()
    command = [sys.executable, "-c", HOLD, str(path)]
    holder = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert holder.stdin is not None
    assert holder.stdout is not None
    is_held = threading.Event()

    def follow() -> None:
        with locked_folder(path) if path.is_dir() else locked_file(path):
            is_held.set()

    with holder:
        assert holder.stdout.readline() == b"held\n"
        thread = threading.Thread(target=follow)
        thread.start()
        assert not is_held.wait(0.2)
        holder.kill()
        assert is_held.wait(30)
        thread.join()


def test_a_missing_folder_or_file_cannot_be_locked(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError), locked_folder(tmp_path / "none"):
        pass
    with pytest.raises(FileNotFoundError), locked_file(tmp_path / "none/lock"):
        pass


def test_an_exception_inside_releases_the_lock(tmp_path: Path) -> None:
    for _ in range(2):
        with pytest.raises(ZeroDivisionError), locked_folder(tmp_path):
            raise ZeroDivisionError
