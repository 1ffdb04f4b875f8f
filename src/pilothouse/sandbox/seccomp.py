"""Filters of system calls, for what Landlock does not know. `system_calls` says which calls a filter lets through.

A filter is a small program for the kernel (classic BPF). It sees the numbers in a call's registers, never what an
address points to. The keeper imports this module, so it imports next to nothing.
"""

import ctypes
import errno
import os
import struct

from pilothouse.sandbox import system_calls

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    Step = tuple[int, int, int, int]  # operation, jump if true, jump if false, operand

_PR_SET_NO_NEW_PRIVS = 38
_SYSTEM_CALL = {"x86_64": 317, "aarch64": 277}  # seccomp(2)
_AUDIT_ARCHITECTURE = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
_SET_FILTER, _ACTION_AVAILABLE = 1, 2
_WITH_LISTENER = 8
_LOAD, _AND, _JUMP_EQUAL, _JUMP_OVER, _JUMP_FROM, _JUMP_BITS, _RETURN = 0x20, 0x54, 0x15, 0x25, 0x35, 0x45, 0x06
_ALLOW, _ERRNO, _NOTIFY = 0x7FFF0000, 0x00050000, 0x7FC00000
_PRETEND = _ERRNO | 0
"""The call is not made and returns 0."""
_NUMBER_AT, _ARCHITECTURE_AT, _ARGUMENTS_AT = 0, 4, 16
_X32 = 0x40000000  # numbers from here on are of the x32 form of x86_64

_O_ACCMODE, _O_TRUNC = 3, 0o1000
_S_IFMT, _S_IFCHR, _S_IFBLK = 0o170000, 0o020000, 0o060000
_AF_UNIX, _SOCK_STREAM, _SOCK_SEQPACKET, _SOCK_TYPE = 1, 1, 5, 0xF
_RLIMIT_CORE = 4
_SHARED_REQUEUE = (3, 4, 12)  # FUTEX_REQUEUE, CMP_REQUEUE, CMP_REQUEUE_PI without FUTEX_PRIVATE_FLAG (128)
_CLONE_NAMESPACES = 0x7E020000  # mount, control group, host name, IPC, user, process, network
_CLONE_NEWTIME = 0x80  # of unshare(2) only: clone(2) has the signal of the end there
_OPEN_TREE_CLONE = 1
# Requests that ask, or change nothing but a descriptor of the command's own.
_IOCTL = (
    *(0x5401, 0x802C542A, 0x5405),  # TCGETS, TCGETS2, TCGETA: the settings of a terminal
    *(0x5413, 0x540F, 0x5429, 0x5424),  # TIOCGWINSZ, TIOCGPGRP, TIOCGSID, TIOCGETD: its size, group, session, kind
    *(0x541B, 0x5411, 0x5460),  # FIONREAD, TIOCOUTQ, FIOQSIZE: how much there is
    *(0x5421, 0x5450, 0x5451),  # FIONBIO, FIONCLEX, FIOCLEX: of a descriptor
    *(0x80086601, 0x80046601, 0x801C581F, 0x80087601),  # FS_IOC_GETFLAGS (also 32 bits), FSGETXATTR, GETVERSION
    *(0x00000002, 0xC020660B),  # FIGETBSZ, FS_IOC_FIEMAP: blocks of a file
)
# What a command may ask a file system for, of the types of requests that file systems have: flags and versions of a
# file, its blocks, and copies of blocks into a file that must be open for writing (FICLONE, FICLONERANGE).
_FILE_SYSTEM_IOCTL = (0x80086601, 0x80046601, 0x801C581F, 0x80087601, 0xC020660B, 0x40049409, 0x4020940D)
_FILE_SYSTEM_TYPES = (
    *(0x5800, 0x6600, 0x7200, 0x7600, 0x9400, 0xF500),  # XFS, ext4 and all, FAT, versions, btrfs, F2FS
    *(0x6F00, 0x9700, 0xBC00, 0xCF00),  # OCFS2 (makes files), Ceph, bcachefs (makes and removes folders), CIFS
)
# Without locks, leases, watches, and signals to other processes. F_SETFL changes a descriptor of the command's own.
_FCNTL = (
    *(0, 1, 2, 3, 4, 1030),  # F_DUPFD, F_GETFD, F_SETFD, F_GETFL, F_SETFL, F_DUPFD_CLOEXEC
    *(5, 36, 9, 11, 16, 1025),  # F_GETLK, F_OFD_GETLK, F_GETOWN, F_GETSIG, F_GETOWN_EX, F_GETLEASE
    *(1027, 1028, 1031, 1032, 1033, 1034, 1035),  # F_DUPFD_QUERY, F_CREATED_QUERY, pipe sizes, seals, F_GET_RW_HINT
)


class _Program(ctypes.Structure):
    _fields_ = [("length", ctypes.c_ushort), ("filter", ctypes.c_void_p)]


def is_available() -> bool:
    """Whether the architecture's system calls are known, and the kernel takes filters that can ask a listener."""
    machine = os.uname().machine
    if not system_calls.has_table(machine):
        return False
    action = ctypes.c_uint32(_NOTIFY)
    return _seccomp(_ACTION_AVAILABLE, 0, action) == 0


def install(program: bytes, *, listener: bool = False) -> int | None:
    """Filter the calls of this process and all that it starts, for good. Gives the descriptor on which the kernel asks
    about calls, where there is a listener. Raises: OSError."""
    buffer = ctypes.create_string_buffer(program, len(program))
    described = _Program(len(program) // 8, ctypes.addressof(buffer))
    failed = _libc().prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
    result = -1 if failed else _seccomp(_SET_FILTER, _WITH_LISTENER if listener else 0, described)
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{os.strerror(number)} (seccomp)")
    return result if listener else None


def _libc() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)


def _seccomp(operation: int, flags: int, argument: "ctypes.Structure | ctypes.c_uint32") -> int:
    number = ctypes.c_long(_SYSTEM_CALL[os.uname().machine])
    result: int = _libc().syscall(number, ctypes.c_uint(operation), ctypes.c_uint(flags), ctypes.byref(argument))
    return result


def reading_program(machine: str, *, asks_about_signals: bool) -> bytes:
    """For a command that only reads: what is not allowed is refused, and unknown numbers are no calls at all."""
    signals = system_calls.numbers(machine, system_calls.SIGNALS).values()
    allowed = sorted(system_calls.numbers(machine, system_calls.ALLOWED).values())
    refused = sorted(system_calls.numbers(machine, system_calls.REFUSED).values())
    steps = [
        *_of_architecture(machine),
        *_conditions(machine),
        *_each(signals, _NOTIFY if asks_about_signals else _ALLOW),
        *_each(allowed, _ALLOW),
        *_each(refused, _ERRNO | errno.EPERM),
        _give(_ERRNO | errno.ENOSYS),
    ]
    return _encoded(steps)


def workspace_program(machine: str, *, allows_truncation: bool) -> bytes:
    """For a command that may write beneath some folders: the system calls that change something elsewhere although
    Landlock grants nothing there. Truncation is among them where Landlock does not know it (below ABI 3)."""
    numbers = {name: each for table in _TABLES for name, each in system_calls.numbers(machine, table).items()}
    conditions = {
        "mknod": _makes_node(1),
        "mknodat": _makes_node(2),
        "ioctl": _asks_file_system(),
        "unshare": _unless_bits(0, _CLONE_NAMESPACES | _CLONE_NEWTIME),
        "clone": _unless_bits(0, _CLONE_NAMESPACES),
        "open_tree": _unless_bits(2, _OPEN_TREE_CLONE),
        "prlimit64": _limits_core_files(),
        "setrlimit": [_argument(0), (_JUMP_EQUAL, 0, 1, _RLIMIT_CORE), _give(_PRETEND), _give(_ALLOW)],
    }
    refused = ["open_by_handle_at", *_SETS_UP_FILE_SYSTEMS, *_SETS_UP_THE_MACHINE]
    # io_uring opens files and sets attributes unseen by filters; the flags of clone3 lie in memory, and libraries fall
    # back on clone; the kernel answers request_key by starting a program outside.
    hidden = ["io_uring_setup", "clone3", "request_key"]
    if not allows_truncation:
        conditions |= {"open": _opens(1), "openat": _opens(2)}
        refused.append("truncate")
        hidden.append("openat2")
    steps = [
        *_of_architecture(machine),
        *(step for name, rule in conditions.items() if name in numbers for step in _if(numbers[name], rule)),
        *_each([numbers[name] for name in refused], _ERRNO | errno.EPERM),
        *_each([numbers[name] for name in hidden], _ERRNO | errno.ENOSYS),
        *_each([numbers[name] for name in _SETS_ATTRIBUTES if name in numbers], _ERRNO | errno.EOPNOTSUPP),
        _give(_ALLOW),
    ]
    return _encoded(steps)


_TABLES = (system_calls.CONDITIONAL, system_calls.REFUSED, system_calls.ABSENT)


# A file system that is set up can write by itself where Landlock lets the command write nothing: overlayfs empties its
# work directory. Whoever makes, or joins, a user namespace has the privilege to set one up.
_SETS_UP_FILE_SYSTEMS = (
    *("mount", "umount2", "pivot_root", "mount_setattr", "fsopen", "fsconfig", "fsmount", "fspick", "move_mount"),
    *("open_tree_attr", "setns"),
)
# The kernel writes to the file of acct and swapon; programs of bpf run in the kernel.
_SETS_UP_THE_MACHINE = ("acct", "swapon", "swapoff", "bpf")


# Programs take the error for that of a file system without attributes, and go on without.
_SETS_ATTRIBUTES = (
    *("setxattr", "lsetxattr", "fsetxattr", "setxattrat", "removexattr", "lremovexattr", "fremovexattr"),
    *("removexattrat", "file_setattr"),
)


def _asks_file_system() -> "list[Step]":
    """Requests to file systems need no file that is open for writing: some set flags, or make folders (btrfs)."""
    return [
        _argument(1),
        *_each(_FILE_SYSTEM_IOCTL, _ALLOW),
        (_AND, 0, 0, 0xFF00),
        *_each(_FILE_SYSTEM_TYPES, _ERRNO | errno.ENOTTY),
        _give(_ALLOW),
    ]


def _unless_bits(at: int, bits: int) -> "list[Step]":
    """Everything but a call with one of these flags in this argument."""
    return [_argument(at), (_JUMP_BITS, 0, 1, bits), _give(_ERRNO | errno.EPERM), _give(_ALLOW)]


def _limits_core_files() -> "list[Step]":
    """prlimit64, but for the limit that keeps a crash from starting the machine's crash handler, which writes outside.

    With a limit of 0 the handler would start. Programs that want no core files (gpg) set 0 and give up where that
    fails: of their own limit they are told that it is set.
    """
    return [
        _argument(1),
        (_JUMP_EQUAL, 1, 0, _RLIMIT_CORE),
        _give(_ALLOW),
        _argument(0),
        (_JUMP_EQUAL, 0, 7, 0),
        *_unless_zero(2, _give(_PRETEND)),
        _give(_ALLOW),
        *_unless_zero(2, _give(_ERRNO | errno.EPERM)),
        _give(_ALLOW),
    ]


def _makes_node(at: int) -> "list[Step]":
    """Making a file that is no device, with the type in this argument."""
    refuse = _ERRNO | errno.EPERM
    return [_argument(at), (_AND, 0, 0, _S_IFMT), *_each((_S_IFCHR, _S_IFBLK), refuse), _give(_ALLOW)]


def _of_architecture(machine: str) -> "list[Step]":
    """Programs of another architecture (32 bits) can call nothing; then the call's number is loaded."""
    return [
        (_LOAD, 0, 0, _ARCHITECTURE_AT),
        (_JUMP_EQUAL, 1, 0, _AUDIT_ARCHITECTURE[machine]),
        _give(_ERRNO | errno.EPERM),
        (_LOAD, 0, 0, _NUMBER_AT),
        (_JUMP_FROM, 0, 1, _X32),
        _give(_ERRNO | errno.ENOSYS),
    ]


def _conditions(machine: str) -> "list[Step]":
    """The calls whose arguments decide."""
    refuse = _give(_ERRNO | errno.EPERM)
    rules: dict[str, list[Step]] = {
        "open": _opens(1),
        "openat": _opens(2),
        "ioctl": [_argument(1), *_each(_IOCTL, _ALLOW), _give(_ERRNO | errno.ENOTTY)],
        "fcntl": [_argument(1), *_each(_FCNTL, _ALLOW), _give(_ERRNO | errno.EINVAL)],
        "clone": _unless_bits(0, _CLONE_NAMESPACES),
        # A pair of datagram sockets could send to any other socket.
        "socketpair": [
            _argument(0),
            (_JUMP_EQUAL, 1, 0, _AF_UNIX),
            refuse,
            _argument(1),
            (_AND, 0, 0, _SOCK_TYPE),
            *_each((_SOCK_STREAM, _SOCK_SEQPACKET), _ALLOW),
            refuse,
        ],
        # Only to the other end, not to an address.
        "sendto": [*_unless_zero(4, refuse), _give(_ALLOW)],
        # Only its own, and not the one that keeps a crash from starting the machine's crash handler.
        "prlimit64": [
            _argument(0),
            (_JUMP_EQUAL, 1, 0, 0),
            refuse,
            _argument(1),
            (_JUMP_EQUAL, 1, 0, _RLIMIT_CORE),
            _give(_ALLOW),
            *_unless_zero(2, refuse),
            _give(_ALLOW),
        ],
        # Others' waiters in a file that can be read would be moved away for good. Only within its own memory.
        "futex": [_argument(1), (_AND, 0, 0, 0xFF), *_each(_SHARED_REQUEUE, _ERRNO | errno.EPERM), _give(_ALLOW)],
        "setrlimit": [_argument(0), (_JUMP_EQUAL, 0, 1, _RLIMIT_CORE), refuse, _give(_ALLOW)],
    }
    numbers = system_calls.numbers(machine, system_calls.CONDITIONAL)
    return [step for name, number in numbers.items() for step in _if(number, rules[name])]


def _opens(at: int) -> "list[Step]":
    """Opening a file, with the flags in this argument. O_TRUNC without write access empties a file although Landlock
    sees only reading (below ABI 3); access mode 3 is neither reading nor writing for Landlock."""
    refuse = _give(_ERRNO | errno.EPERM)
    return [
        _argument(at),
        (_AND, 0, 0, _O_ACCMODE),
        (_JUMP_EQUAL, 0, 1, _O_ACCMODE),
        refuse,
        (_JUMP_EQUAL, 1, 0, os.O_RDONLY),
        _give(_ALLOW),
        _argument(at),
        (_JUMP_BITS, 0, 1, _O_TRUNC),
        refuse,
        _give(_ALLOW),
    ]


def _argument(index: int, *, upper: bool = False) -> "Step":
    """Load half of an argument: both architectures are little-endian."""
    return (_LOAD, 0, 0, _ARGUMENTS_AT + 8 * index + 4 * upper)


def _unless_zero(index: int, then: "Step") -> "list[Step]":
    """One step for an argument that is an address, and not none."""
    return [_argument(index), (_JUMP_EQUAL, 1, 0, 0), then, _argument(index, upper=True), (_JUMP_EQUAL, 1, 0, 0), then]


def _give(action: int) -> "Step":
    return (_RETURN, 0, 0, action)


def _each(values: "Iterable[int]", action: int) -> "list[Step]":
    """Do the same for each of some values; neighbours are compared together."""
    ranges: list[list[int]] = []
    for value in sorted(values):
        if ranges and value == ranges[-1][1] + 1:
            ranges[-1][1] = value
        else:
            ranges.append([value, value])
    return [
        step for first, last in ranges for step in ((_JUMP_FROM, 0, 2, first), (_JUMP_OVER, 1, 0, last), _give(action))
    ]


def _if(number: int, then: "list[Step]") -> "list[Step]":
    return [(_JUMP_EQUAL, 0, len(then), number), *then]


def _encoded(steps: "list[Step]") -> bytes:
    return b"".join(struct.pack("=HBBI", *step) for step in steps)
