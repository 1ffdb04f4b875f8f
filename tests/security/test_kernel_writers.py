"""`sandbox = "workspace"`: writes and programs outside that the kernel would make on behalf of a command.

Landlock checks the paths of a process, not the writes of a file system that the process has set up.
"""

import contextlib
import errno
import json
import os
import shlex
import subprocess
from pathlib import Path

import pytest

from pilothouse.domain.promises import Kernel
from pilothouse.sandbox import confinement, system_calls
from pilothouse.sandbox.confinement import Confinement
from tests.security.test_sandbox_alone import USERS, place, run
from tests.support.kernel import needs_sandbox

pytestmark = needs_sandbox

ABIS = range(1, confinement.kernel().landlock + 1)
MACHINE = os.uname().machine
ATTACK = Path(__file__).with_name("kernel_writers_attack.py").read_text()
TABLES = (*(system_calls.ALLOWED, system_calls.CONDITIONAL), *(system_calls.REFUSED, system_calls.ABSENT))
NUMBERS = {name: number for table in TABLES for name, number in system_calls.numbers(MACHINE, table).items()}
PERMITTED = ("unshare files", "clone", "open_tree", "core limit", "setrlimit core", "other limit")
HIDDEN = ("clone3", "io_uring_setup", "request_key")
# Refused by the kernel for want of a file, a device or a privilege, each with an error of its own.
REFUSED_OTHERWISE = ("fuse", "loop", "core pattern", "quotactl", "fanotify that decides", "process_vm_writev")


def writing(base: Path, abi: int, *, with_filter: bool = True) -> Confinement:
    return confinement.workspace_confinement([str(base / "work")], with_kernel=Kernel(abi, filter=with_filter))


def attacked(base: Path, abi: int, user: int | None) -> dict[str, int]:
    where = {"numbers": NUMBERS, "outside": str(base / "home"), "pid": os.getpid()}
    command = shlex.join(["/usr/bin/python3", "-c", ATTACK, json.dumps(where)])
    text = run(command, base / "work", writing(base, abi), user)
    results: dict[str, int] = json.loads(text.splitlines()[-1])
    return results


@pytest.mark.parametrize("user", USERS)
@pytest.mark.parametrize("abi", ABIS)
def test_a_confined_command_sets_up_no_kernel_writer(abi: int, user: int | None) -> None:
    with place(user) as base:
        victim = base / "home/work/kept"  # overlayfs takes the name `work` in its work directory for its own
        victim.mkdir(parents=True)
        for path in (victim, victim.parent):
            os.chown(path, user if user is not None else -1, -1)
        results = attacked(base, abi, user)
        assert victim.is_dir()
        assert not (base / "home/index").exists()
    assert results.pop("core limit is kept") == 1
    assert {name: results.pop(name) for name in PERMITTED} == dict.fromkeys(PERMITTED, 0)
    assert {name: results.pop(name) for name in HIDDEN} == dict.fromkeys(HIDDEN, -errno.ENOSYS)
    assert all(results.pop(name) < 0 for name in REFUSED_OTHERWISE)
    assert results == dict.fromkeys(results, -errno.EPERM)


@pytest.mark.parametrize("user", USERS)
def test_programs_that_create_namespaces_or_mounts_fail_with_an_error(user: int | None) -> None:
    with place(user) as base:
        commands = ("unshare -Ur true", "unshare -Urm mount -t tmpfs none sub", "mount -t tmpfs none sub")
        for command in commands:
            text = run(f"LC_ALL=C {command}; echo $?", base / "work", writing(base, max(ABIS)), user)
            assert any(words in text for words in ("not permitted", "denied", "superuser")), text
            assert not text.endswith("\n0\n")


def test_a_crash_leaves_no_core_file_whatever_limit_the_command_sets() -> None:
    with place(None) as base:
        command = "ulimit -c 0; ulimit -c unlimited; (kill -SEGV $BASHPID); ls"
        text = run(command, base / "work", writing(base, max(ABIS)), None)
        assert text.splitlines()[-2:] == ["f.txt", "sub"], text


def test_threads_and_processes_start_as_before(tmp_path: Path) -> None:
    """Libraries fall back on clone where the kernel seems to have no clone3."""
    program = """
import concurrent.futures, subprocess, threading
with concurrent.futures.ThreadPoolExecutor(4) as pool:
    print(sum(pool.map(abs, range(5))))
print(subprocess.run(["echo", "spawned"], capture_output=True, text=True, close_fds=False).stdout)
"""
    with place(None) as base:
        text = run(shlex.join(["/usr/bin/python3", "-c", program]), base / "work", writing(base, max(ABIS)), None)
        assert text.split() == ["10", "spawned"], text


def test_a_command_does_not_start_where_there_is_no_filter() -> None:
    assert not Kernel(landlock=7, filter=False).keeps_to_workspace
    assert Kernel(landlock=1, filter=True).keeps_to_workspace
    with place(None) as base:
        text = run("echo started", base / "work", writing(base, max(ABIS), with_filter=False), None)
        assert text.startswith("[not started"), text


def test_overlayfs_empties_a_work_directory_without_a_filter() -> None:
    """A control of the attack: without the sandbox it succeeds, although the kernel returns an error."""
    with place(None) as base:
        (base / "home/work/kept").mkdir(parents=True)
        where = {"numbers": NUMBERS, "outside": str(base / "home"), "pid": os.getpid()}
        # Only the first attack: the others would change the machine.
        attack = ATTACK.partition('FOUND["overlay"]')[0] + "print(in_child(overlay))"
        command = ["/usr/bin/python3", "-c", attack, json.dumps(where)]
        done = subprocess.run(command, cwd=base / "work", capture_output=True, text=True, check=False)
        # The folder that overlayfs leaves is closed: only root looks into it as it is.
        with contextlib.suppress(FileNotFoundError):
            (base / "home/work").chmod(0o700)
        if (base / "home/work/kept").exists():
            pytest.skip(f"this kernel sets up no overlayfs here: {done.stdout}{done.stderr}")
