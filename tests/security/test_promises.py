"""Every promise of the sandbox, on every version of the Landlock ABI, as root and as an ordinary user.

Older kernels are emulated: an argument of the supervisor sets the highest version that it may use. No setting and no
variable of the environment can do that to a running product.
"""

import contextlib
import ctypes
import errno
import json
import os
import pty
import re
import secrets
import shlex
import socket
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from pilothouse.domain.promises import KERNEL_OF_ABI, MEANS, Kernel, SandboxPromise
from pilothouse.sandbox import confinement, seccomp, system_calls
from pilothouse.sandbox.confinement import Confinement
from tests.security.cases import SHELL
from tests.security.hostile_folders import tree
from tests.security.test_sandbox_alone import (
    CHANGES,
    IS_ROOT,
    NOBODY,
    PATH,
    PYTHON,
    USERS,
    bait,
    copied,
    place,
    run,
    somebody,
)
from tests.support.kernel import needs_sandbox
from tests.support.scale import LONG

pytestmark = needs_sandbox

__all__ = ["bait"]  # a fixture
MACHINE = os.uname().machine
ABIS = range(1, confinement.kernel().landlock + 1)
ATTACK = Path(__file__).with_name("sandbox_attack.py").read_text()
TABLES = ("ALLOWED", "CONDITIONAL", "SIGNALS", "REFUSED", "ABSENT")
LIBC = ctypes.CDLL(None, use_errno=True)
IPC_CREAT = 0o1000


def numbers() -> dict[str, int]:
    return {
        name: at for table in TABLES for name, at in system_calls.numbers(MACHINE, getattr(system_calls, table)).items()
    }


def reading(folder: Path, abi: int) -> Confinement:
    return confinement.read_only_confinement([str(folder)], {"PATH": PATH}, with_kernel=Kernel(abi, filter=True))


@contextlib.contextmanager
def shared_objects() -> Iterator[dict[str, int]]:
    """IPC of the machine that everybody may use."""
    shm = LIBC.shmget(0, 4096, IPC_CREAT | 0o666)
    msg, sem = LIBC.msgget(0, IPC_CREAT | 0o666), LIBC.semget(0, 1, IPC_CREAT | 0o666)
    try:
        yield {"shm": shm, "msg": msg, "sem": sem}
    finally:
        LIBC.shmctl(shm, 0, None)
        LIBC.msgctl(msg, 0, None)
        LIBC.semctl(sem, 0, 0)


@contextlib.contextmanager
def victims(user: int | None) -> Iterator[tuple[Path, dict[str, Any], subprocess.Popen[bytes], socket.socket]]:
    """The targets of an attack: a process, a terminal, sockets, shared memory, a file outside."""
    master, terminal = pty.openpty()
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    shared = Path("/dev/shm", f"promises-{secrets.token_hex(4)}")
    with place(user) as base, somebody(user) as other, shared_objects() as ids:
        try:
            os.chmod(os.ttyname(terminal), 0o666)
            os.write(master, b"typed by the person\n")
            listener.bind(f"\0{base.name}")
            listener.setblocking(False)
            shared.write_text("planted")
            shared.chmod(0o666)
            (base / "out.txt").chmod(0o666)
            where = {
                **ids,
                "numbers": numbers(),
                "file": str(base / "out.txt"),
                "folder": str(base / "home"),
                "pid": other.pid,
                "at": 0x400000,
                "mq": "promises",
                "abstract": base.name,
                "terminal": os.ttyname(terminal),
                "shared": str(shared),
            }
            yield base, where, other, listener
        finally:
            shared.unlink()
            listener.close()
            os.close(master)
            os.close(terminal)


def attack(base: Path, where: dict[str, Any], confined: Confinement, user: int | None) -> dict[str, int]:
    script = f"/usr/bin/python3 -c {shlex.quote(ATTACK)} {shlex.quote(json.dumps(where))}"
    output = run(script, base / "work", confined, user)
    results: dict[str, int] = json.loads(output)
    return results


def state_of_ipc(where: dict[str, Any]) -> tuple[object, ...]:
    """The numbers of attached processes and of waiters in the shared memory."""
    lines = [Path(f"/proc/sysvipc/{name}").read_text().splitlines() for name in ("shm", "msg", "sem")]
    return tuple(
        line
        for each, name in zip(lines, ("shm", "msg", "sem"), strict=True)
        for line in each
        if line.split()[1] == str(where[name])
    )


@pytest.mark.parametrize("user", USERS)
@pytest.mark.parametrize("abi", ABIS)
def test_no_escape_from_the_sandbox_works(abi: int, user: int | None) -> None:
    with victims(user) as (base, where, other, listener):
        before, shared = tree(base), state_of_ipc(where)
        results = attack(base, where, reading(base / "work", abi), user)
        # If Landlock confines signals, the sandbox needs no seccomp listener, so that a command may have its own.
        if abi >= 6:
            results.pop("a filter with a listener")
        assert {name: result for name, result in results.items() if result >= 0} == {}
        assert tree(base) == before
        assert state_of_ipc(where) == shared
        assert other.poll() is None
        assert _limits_of(other.pid) == _limits_of(os.getpid())
        with pytest.raises(BlockingIOError):
            listener.recv(10)
        assert results["a number that nobody has"] == results["a number of x32"] == -errno.ENOSYS


@pytest.mark.parametrize("user", USERS)
@pytest.mark.parametrize("abi", ABIS)
def test_no_shell_command_changes_a_file(abi: int, user: int | None) -> None:
    with place(user) as base:
        places = {"out": base / "out.txt", "base": base, "python": PYTHON, "tag": base.name}
        lines = [f"( {line.format(**places)}\n)" for line in CHANGES.values()]
        before = tree(base)
        run("\n".join(lines), base / "work", reading(base / "work", abi), user)
        assert tree(base) == before
        assert [path for path in ("/dev/shm", "/tmp", "/var/tmp", "/run") if Path(path, base.name, "x").exists()] == []


@pytest.mark.skipif(not LONG, reason="a long run")
@pytest.mark.parametrize("user", USERS)
@pytest.mark.parametrize("abi", ABIS)
def test_no_dangerous_line_does_anything(abi: int, user: int | None, bait: Path) -> None:
    for case in SHELL:
        with place(user) as base:
            folder = copied(bait, base, user)
            before = tree(base)
            run(case.command, folder, reading(folder, abi), user)
            assert tree(base) == before, case.id


def _limits_of(pid: int) -> str:
    return next(line for line in Path(f"/proc/{pid}/limits").read_text().splitlines() if "open files" in line)


def test_most_escapes_work_without_the_sandbox() -> None:
    """A control of the test above: the attacks can succeed."""
    user = NOBODY if IS_ROOT else None
    with victims(user) as (base, where, other, listener):
        results = attack(base, where, confinement.UNCONFINED, user)
        worked = {name for name, result in results.items() if result >= 0}
        assert (base / "out.txt").read_text() == ""
        assert other.wait() == -9
        assert listener.recv(10) == b"planted"
        assert len(worked) >= 50, sorted(results.keys() - worked)


WORKS = """timeout 0.1 sleep 30; echo timeout $?
sleep 30 & kill %1; wait %1; echo job $?
set -m; (sleep 30; true) & kill -TERM -- -$!; wait $!; echo group $?; set +m
bash -c 'kill -TERM $$; echo no'; echo itself $?
setsid -w sh -c 'trap "echo trapped" USR1; kill -USR1 $$; kill -USR1 0'
/usr/bin/python3 -c 'import os; os.abort()'; echo abort $?
/usr/bin/python3 -c 'import signal, threading, time
signal.signal(signal.SIGUSR1, lambda *_: print("thread"))
signal.pthread_kill(threading.main_thread().ident, signal.SIGUSR1)'
kill -0 $$ && echo alive; kill -0 999999 || echo none
yes | head -1; echo pipe ${PIPESTATUS[0]}
cat f.txt > /dev/null; echo x 2> /dev/null >> /dev/null; echo null $?
cat <(echo process)"""


@pytest.mark.parametrize("abi", sorted({min(ABIS), min(5, max(ABIS)), max(ABIS)}))
@pytest.mark.parametrize("user", USERS)
def test_timeouts_job_control_and_redirections_work_as_ever(abi: int, user: int | None) -> None:
    with place(user) as base:
        output = run(WORKS, base / "work", reading(base / "work", abi), user)
        wanted = (
            *("timeout 124", "job 143", "group 143", "itself 143", "trapped\ntrapped", "abort 134", "thread", "alive"),
            *("none", "y\npipe 141", "null 0", "process"),
        )
        assert [each for each in wanted if each not in output] == [], output
        assert "no\n" not in output


def test_a_signal_goes_to_no_process_that_has_left_the_command(tmp_path: Path) -> None:
    """The first process outside is the supervisor itself, then the runtime, then whatever has their numbers."""
    killing = "for pid in $PPID $(ps -o ppid= -p $PPID) 1 -1; do kill -9 -- $pid; done; echo left"
    for abi in ABIS:
        assert "left\n" in run(killing, tmp_path, reading(tmp_path, abi), None)


@pytest.mark.parametrize("kernel", [Kernel(landlock=1000, filter=True), Kernel(landlock=1000)])
def test_a_command_that_the_kernel_cannot_confine_is_not_started(tmp_path: Path, kernel: Kernel) -> None:
    confined = confinement.read_only_confinement([str(tmp_path)], {"PATH": PATH}, with_kernel=kernel)
    output = run("echo started", tmp_path, confined, None)
    assert output.startswith("[not started: the kernel's Landlock ABI is too old")


# a command that is kept to its workspace


@pytest.mark.parametrize("abi", ABIS)
def test_a_command_that_is_kept_to_its_workspace_empties_no_file_outside(abi: int) -> None:
    with place(None) as base:
        confined = confinement.workspace_confinement([str(base / "work")], with_kernel=Kernel(abi, filter=True))
        emptying = "import os, sys\nfor flags in (os.O_TRUNC, os.O_TRUNC | 3):\n"
        emptying += "    try: os.open(sys.argv[1], flags)\n    except OSError: pass\n"
        emptying += "try: os.truncate(sys.argv[1], 0)\nexcept OSError: pass"
        inside = "echo new > f.txt; cat f.txt; truncate -s 1 f.txt"
        command = f"/usr/bin/python3 -c {shlex.quote(emptying)} {base}/out.txt; {inside}"
        output = run(command, base / "work", confined, None)
        assert (base / "out.txt").read_text() == "planted outside\n"
        assert output == "new\n"
        assert (base / "work/f.txt").read_text() == "n"


# the table


HEADER = Path("/usr/include/x86_64-linux-gnu/asm/unistd_64.h")
GENERIC = Path("/usr/include/asm-generic/unistd.h")


@pytest.mark.skipif(not HEADER.exists(), reason="the kernel's headers are not installed")
def test_every_system_call_is_decided_under_its_number() -> None:
    numbers = {
        name: at
        for table in TABLES
        for name, at in system_calls.numbers("x86_64", getattr(system_calls, table)).items()
    }
    listed = {name: int(at) for name, at in re.findall(r"#define __NR_(\w+) (\d+)", HEADER.read_text())}
    assert {name: at for name, at in numbers.items() if name in listed} == listed


@pytest.mark.skipif(not GENERIC.exists(), reason="the kernel's headers are not installed")
def test_every_system_call_of_the_other_architecture_is_decided_under_its_number() -> None:
    numbers = {
        name: at
        for table in TABLES
        for name, at in system_calls.numbers("aarch64", getattr(system_calls, table)).items()
    }
    matches = re.findall(r"#define __NR(?:3264)?_(\w+)\s+(\d+)\s*$", GENERIC.read_text(), re.MULTILINE)
    only_32_bits = re.compile(r".*64$")
    listed = {
        {"fstatat": "newfstatat"}.get(name, name): int(at)
        for name, at in matches
        if not (only_32_bits.match(name) and int(at) >= 403) and name not in ("arch_specific_syscall", "syscalls")
    }
    listed.pop("sync_file_range2")  # the same number, on other architectures
    assert {name: at for name, at in numbers.items() if name in listed} == listed


@pytest.mark.parametrize("machine", ["x86_64", "aarch64"])
def test_no_system_call_is_decided_twice_and_the_filter_fits_into_the_kernel(machine: str) -> None:
    all_numbers = [
        at for table in TABLES for at in system_calls.numbers(machine, getattr(system_calls, table)).values()
    ]
    assert len(all_numbers) == len(set(all_numbers))
    assert set(range(424, 471)) - set(all_numbers) == set()
    assert len(seccomp.read_only_filter(machine, asks_about_signals=True)) // 8 <= 4096


# which promise is kept where


@pytest.mark.parametrize(
    ("kernel", "broken"),
    [
        (Kernel(landlock=7, filter=True), ()),
        (Kernel(landlock=1, filter=True), ()),
        (Kernel(landlock=0, filter=True), ("writes", "truncation", "signals", "memory", "devices")),
        (Kernel(landlock=7, filter=False), ("writes", "network", "ipc", "devices")),
        (Kernel(landlock=5, filter=False), ("writes", "network", "signals", "ipc", "devices")),
        (Kernel(landlock=2, filter=False), ("writes", "truncation", "network", "signals", "ipc", "devices")),
        (Kernel(), tuple(SandboxPromise)),
    ],
)
def test_a_promise_without_a_mechanism_is_named(kernel: Kernel, broken: tuple[str, ...]) -> None:
    assert kernel.broken == broken
    assert kernel.is_complete is (not broken)


def test_every_promise_names_its_mechanism() -> None:
    assert set(MEANS) == set(SandboxPromise)
    assert all(means.needs for each in MEANS.values() for means in each)
    assert {means.landlock for each in MEANS.values() for means in each} <= {0, *KERNEL_OF_ABI}
