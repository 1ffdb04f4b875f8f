"""The filter of system calls, read as the kernel reads it: also for the architecture that the tests do not run on."""

import errno
import os
import re
import stat
import struct

import pytest

from pilothouse.sandbox import seccomp, system_calls

ALLOW, ERRNO, NOTIFY = 0x7FFF0000, 0x00050000, 0x7FC00000
EOPNOTSUPP = ERRNO | errno.EOPNOTSUPP
EPERM, ENOSYS, ENOTTY, EINVAL = (ERRNO | number for number in (errno.EPERM, errno.ENOSYS, errno.ENOTTY, errno.EINVAL))
ARCHITECTURES = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
I386, ARM = 0x40000003, 0x40000028
MACHINES = pytest.mark.parametrize("machine", ARCHITECTURES)


def verdict(program: bytes, architecture: int, number: int, arguments: tuple[int, ...] = ()) -> int:
    """Classic BPF, as far as the filter uses it."""
    data = struct.pack("=IIQ6Q", number, architecture, 0, *(*arguments, *[0] * 6)[:6])
    at, value = 0, 0
    while True:
        operation, if_true, if_false, operand = struct.unpack_from("=HBBI", program, 8 * at)
        at += 1
        match operation:
            case 0x20:
                (value,) = struct.unpack_from("=I", data, operand)
            case 0x54:
                value &= operand
            case 0x15:
                at += if_true if value == operand else if_false
            case 0x25:
                at += if_true if value > operand else if_false
            case 0x35:
                at += if_true if value >= operand else if_false
            case 0x45:
                at += if_true if value & operand else if_false
            case 0x06:
                return int(operand)
            case _:
                raise AssertionError(f"an operation that is not known: {operation:#x}")


@MACHINES
@pytest.mark.parametrize("asks", [True, False])
def test_every_number_is_answered_as_the_table_says(machine: str, asks: bool) -> None:
    program = seccomp.read_only_filter(machine, asks_about_signals=asks)
    wanted = {
        **dict.fromkeys(system_calls.numbers(machine, system_calls.ALLOWED).values(), ALLOW),
        **dict.fromkeys(system_calls.numbers(machine, system_calls.REFUSED).values(), EPERM),
        **dict.fromkeys(system_calls.numbers(machine, system_calls.SIGNALS).values(), NOTIFY if asks else ALLOW),
    }
    conditional = set(system_calls.numbers(machine, system_calls.CONDITIONAL).values())
    for number in {*range(480), 512, 999, 2**31, 2**32 - 1} - conditional:
        assert verdict(program, ARCHITECTURES[machine], number) == wanted.get(number, ENOSYS), number


@MACHINES
def test_programs_of_32_bits_can_call_nothing(machine: str) -> None:
    for program in (
        seccomp.read_only_filter(machine, asks_about_signals=True),
        seccomp.workspace_filter(machine, allows_truncation=True),
        seccomp.workspace_filter(machine, allows_truncation=False),
    ):
        for number in range(0, 480, 7):
            assert verdict(program, I386, number) == verdict(program, ARM, number) == EPERM
            assert verdict(program, ARCHITECTURES[machine], 0x40000000 | number) == ENOSYS


HIGH = 1 << 32
CONDITIONS = [
    ("openat", (0, 0, os.O_RDONLY), ALLOW),
    ("openat", (0, 0, os.O_RDONLY | os.O_CLOEXEC | os.O_DIRECTORY), ALLOW),
    ("openat", (0, 0, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), ALLOW),  # Landlock decides
    ("openat", (0, 0, os.O_RDWR | os.O_TRUNC), ALLOW),
    ("openat", (0, 0, os.O_TRUNC), EPERM),
    ("openat", (0, 0, HIGH | os.O_TRUNC | os.O_CLOEXEC), EPERM),
    ("openat", (0, 0, 3), EPERM),
    ("openat", (0, 0, 3 | os.O_TRUNC), EPERM),
    ("ioctl", (0, 0x5401), ALLOW),
    ("ioctl", (0, HIGH | 0x5401), ALLOW),
    ("ioctl", (0, 0x5412), ENOTTY),
    ("ioctl", (0, 0x5402), ENOTTY),
    ("ioctl", (0, 0x40087602), ENOTTY),
    ("fcntl", (0, 3), ALLOW),
    *(("fcntl", (0, command), EINVAL) for command in (6, 7, 8, 10, 15, 37, 38, 1024, 1026, 1036, 1038, 2000)),
    ("clone", (17,), ALLOW),
    *(("clone", (17 | 1 << bit,), EPERM) for bit in (17, 25, 26, 27, 28, 29, 30)),
    ("socketpair", (1, 1), ALLOW),
    ("socketpair", (1, 5 | os.O_CLOEXEC | os.O_NONBLOCK), ALLOW),
    ("socketpair", (1, 2), EPERM),
    ("socketpair", (1, 2 | os.O_CLOEXEC), EPERM),
    ("socketpair", (1, 3), EPERM),
    ("socketpair", (30, 1), EPERM),
    ("sendto", (3, 0, 0, 0, 0), ALLOW),
    ("sendto", (3, 0, 0, 0, 0x7F0000001000), EPERM),
    ("sendto", (3, 0, 0, 0, HIGH), EPERM),
    ("prlimit64", (0,), ALLOW),
    ("prlimit64", (4711,), EPERM),
    ("prlimit64", (0, 4, 0), ALLOW),
    ("prlimit64", (0, 7, 0x7F0000001000), ALLOW),
    ("prlimit64", (0, 4, 0x7F0000001000), EPERM),
    ("prlimit64", (0, 4, HIGH), EPERM),
    ("setrlimit", (4,), EPERM),
    *(("futex", (0, operation), EPERM) for operation in (3, 4, 12, 4 | 256, HIGH | 3)),
    *(("futex", (0, operation), ALLOW) for operation in (0, 1, 5, 9, 9 | 256, 3 | 128, 4 | 128, 12 | 128)),
    ("setrlimit", (7,), ALLOW),
]


@MACHINES
@pytest.mark.parametrize(("name", "arguments", "wanted"), CONDITIONS)
def test_the_arguments_of_a_call_decide(machine: str, name: str, arguments: tuple[int, ...], wanted: int) -> None:
    program = seccomp.read_only_filter(machine, asks_about_signals=False)
    number = system_calls.numbers(machine, system_calls.CONDITIONAL)[name]
    assert verdict(program, ARCHITECTURES[machine], number, arguments) == wanted


@MACHINES
def test_a_command_that_reads_asks_a_terminal_only_what_changes_nothing(machine: str) -> None:
    reads = {
        *(0x5401, 0x5405, 0x540F, 0x5411, 0x5413, 0x541B),  # settings (two forms), group, output left, size, input left
        *(
            0x5421,
            0x5424,
            0x5429,
            0x5450,
            0x5451,
            0x5460,
        ),  # waiting, discipline, session, closing (two), size of a file
    }
    program = seccomp.read_only_filter(machine, asks_about_signals=False)
    number = numbers(machine)["ioctl"]
    requests = range(0x5400, 0x5500)
    assert {each for each in requests if verdict(program, ARCHITECTURES[machine], number, (0, each)) == ALLOW} == reads
    assert all(verdict(program, ARCHITECTURES[machine], number, (0, each)) == ENOTTY for each in {*requests} - reads)


def refusals(program: bytes, machine: str) -> dict[str, int]:
    """The calls that a filter refuses, whatever their arguments."""
    return {
        name: result
        for name, number in numbers(machine).items()
        if (result := verdict(program, ARCHITECTURES[machine], number)) != ALLOW
    }


def numbers(machine: str) -> dict[str, int]:
    return {
        name: number
        for table in ("ALLOWED", "CONDITIONAL", "SIGNALS", "REFUSED", "ABSENT")
        for name, number in system_calls.numbers(machine, getattr(system_calls, table)).items()
    }


MOUNTS = (
    *("mount", "umount2", "pivot_root", "mount_setattr", "fsopen", "fsconfig", "fsmount", "fspick", "move_mount"),
    *("open_tree_attr", "setns"),
)
ADDRESS = 0x7F0000001000
WORKSPACE_CONDITIONS = [
    *(("unshare", (1 << bit,), EPERM) for bit in (7, 17, 25, 26, 27, 28, 29, 30)),
    *(("unshare", (flags,), ALLOW) for flags in (0, 0x200, 0x400, 0x40000)),
    *(("clone", (17 | 1 << bit,), EPERM) for bit in (17, 25, 26, 27, 28, 29, 30)),
    ("clone", (HIGH | 17 | 1 << 28,), EPERM),
    *(("clone", (flags,), ALLOW) for flags in (17, 0x3D0F00, 0x4111)),
    ("open_tree", (0, 0, 1), EPERM),
    ("open_tree", (0, 0, HIGH | 0x80001), EPERM),
    ("open_tree", (0, 0, 0x80000), ALLOW),
    ("prlimit64", (0, 4, 0), ALLOW),
    ("prlimit64", (0, 4, ADDRESS), ERRNO),
    ("prlimit64", (0, 4, HIGH), ERRNO),
    ("prlimit64", (HIGH, HIGH | 4, ADDRESS), ERRNO),
    ("prlimit64", (4711, 4, 0), ALLOW),
    ("prlimit64", (4711, 4, ADDRESS), EPERM),
    ("prlimit64", (4711, 4, HIGH), EPERM),
    ("prlimit64", (0, 1, ADDRESS), ALLOW),
    ("setrlimit", (4, ADDRESS), ERRNO),
    ("setrlimit", (7, ADDRESS), ALLOW),
]


@MACHINES
@pytest.mark.parametrize(("name", "arguments", "wanted"), WORKSPACE_CONDITIONS)
def test_the_arguments_of_a_call_decide_for_a_command_that_may_write(
    machine: str, name: str, arguments: tuple[int, ...], wanted: int
) -> None:
    program = seccomp.workspace_filter(machine, allows_truncation=True)
    assert verdict(program, ARCHITECTURES[machine], numbers(machine)[name], arguments) == wanted


@MACHINES
@pytest.mark.parametrize("allows_truncation", [True, False])
def test_a_command_that_may_write_is_refused_only_what_passes_landlock(machine: str, allows_truncation: bool) -> None:
    program = seccomp.workspace_filter(machine, allows_truncation=allows_truncation)
    truncation = {} if allows_truncation else {"truncate": EPERM, "openat2": ENOSYS}
    attributes = {name: EOPNOTSUPP for name in numbers(machine) if re.search("(set|remove)(xattr|xattrat)$", name)}
    assert refusals(program, machine) == {
        **dict.fromkeys(("open_by_handle_at", *MOUNTS, "acct", "swapon", "swapoff", "bpf"), EPERM),
        **dict.fromkeys(("io_uring_setup", "clone3", "request_key"), ENOSYS),
        "file_setattr": EOPNOTSUPP,
        **attributes,
        **truncation,
    }


REQUESTS = [
    *((request, ENOTTY) for request in (0x40086602, 0x40046602, 0x401C5820, 0x40087602, 0x40806685, 0x5000940E)),
    *((request, ENOTTY) for request in (0x40186F04, 0x4020BC11, 0x40189702, 0xCF04)),
    *((request, ALLOW) for request in (0x80086601, 0x801C581F, 0x40049409, 0x5413, 0x5401, 0x5421)),
]


@MACHINES
@pytest.mark.parametrize(("request_number", "wanted"), REQUESTS)
def test_a_command_that_may_write_asks_a_file_system_for_no_change(
    machine: str, request_number: int, wanted: int
) -> None:
    program = seccomp.workspace_filter(machine, allows_truncation=True)
    for arguments in ((3, request_number), (3, HIGH | request_number)):
        assert verdict(program, ARCHITECTURES[machine], numbers(machine)["ioctl"], arguments) == wanted


@MACHINES
def test_a_command_that_may_write_opens_no_file_for_reading_to_empty_it(machine: str) -> None:
    program, number = seccomp.workspace_filter(machine, allows_truncation=False), numbers(machine)["openat"]
    assert verdict(program, ARCHITECTURES[machine], number, (0, 0, os.O_TRUNC)) == EPERM
    assert verdict(program, ARCHITECTURES[machine], number, (0, 0, os.O_TRUNC | os.O_WRONLY)) == ALLOW


@MACHINES
@pytest.mark.parametrize("kind", [stat.S_IFREG, stat.S_IFIFO, stat.S_IFSOCK, stat.S_IFCHR, stat.S_IFBLK, 0])
def test_a_command_that_may_write_makes_no_device(machine: str, kind: int) -> None:
    program = seccomp.workspace_filter(machine, allows_truncation=True)
    wanted = EPERM if kind in (stat.S_IFCHR, stat.S_IFBLK) else ALLOW
    for name, arguments in (("mknod", (0, kind | 0o600)), ("mknodat", (0, 0, HIGH | kind | 0o600))):
        if name in numbers(machine):
            assert verdict(program, ARCHITECTURES[machine], numbers(machine)[name], arguments) == wanted
