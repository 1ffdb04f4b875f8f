"""Filters of system calls, for operations that Landlock does not cover. `system_calls` lists the allowed calls.

A filter is a small kernel program (classic BPF): it sees a call's registers, never the memory behind an address.
"""

# The supervisor starts with every command: this module imports little.

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
_SECCOMP_NUMBER = {"x86_64": 317, "aarch64": 277}
_AUDIT_ARCH = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
_SECCOMP_SET_MODE_FILTER = 1
_SECCOMP_GET_ACTION_AVAIL = 2
_SECCOMP_FILTER_FLAG_NEW_LISTENER = 8

# Operations of BPF programs.
_LOAD = 0x20  # BPF_LD | BPF_W | BPF_ABS
_AND = 0x54  # BPF_ALU | BPF_AND | BPF_K
_JUMP_EQUAL = 0x15  # BPF_JMP | BPF_JEQ | BPF_K
_JUMP_GREATER = 0x25  # BPF_JMP | BPF_JGT | BPF_K
_JUMP_GREATER_EQUAL = 0x35  # BPF_JMP | BPF_JGE | BPF_K
_JUMP_BITS_SET = 0x45  # BPF_JMP | BPF_JSET | BPF_K
_RETURN = 0x06  # BPF_RET | BPF_K

# Actions: SECCOMP_RET_ALLOW, SECCOMP_RET_ERRNO, SECCOMP_RET_USER_NOTIF.
_ALLOW = 0x7FFF0000
_ERRNO = 0x00050000
_NOTIFY = 0x7FC00000
_PRETEND = _ERRNO | 0
"""The call is not made and returns 0."""

# Offsets in struct seccomp_data.
_NUMBER_OFFSET = 0
_ARCH_OFFSET = 4
_ARGUMENTS_OFFSET = 16
_X32_SYSCALL_BIT = 0x40000000  # numbers from here on belong to the x32 ABI of x86_64

_O_ACCMODE = 3
_O_TRUNC = 0o1000
_S_IFMT = 0o170000
_S_IFCHR = 0o020000
_S_IFBLK = 0o060000
_AF_UNIX = 1
_SOCK_STREAM = 1
_SOCK_SEQPACKET = 5
_SOCK_TYPE_MASK = 0xF
_RLIMIT_CORE = 4
_SHARED_REQUEUE = (3, 4, 12)  # FUTEX_REQUEUE, CMP_REQUEUE, CMP_REQUEUE_PI without FUTEX_PRIVATE_FLAG (128)
_CLONE_NAMESPACES = 0x7E020000  # mount, control group, host name, IPC, user, process, network
_CLONE_NEWTIME = 0x80  # of unshare(2) only: clone(2) has the exit signal there
_OPEN_TREE_CLONE = 1
# Requests that only query, or change only a descriptor of the command's own.
_IOCTL = (
    *(0x5401, 0x802C542A, 0x5405),  # TCGETS, TCGETS2, TCGETA: the settings of a terminal
    *(0x5413, 0x540F, 0x5429, 0x5424),  # TIOCGWINSZ, TIOCGPGRP, TIOCGSID, TIOCGETD: its size, group, session, kind
    *(0x541B, 0x5411, 0x5460),  # FIONREAD, TIOCOUTQ, FIOQSIZE: sizes of pending data and of files
    *(0x5421, 0x5450, 0x5451),  # FIONBIO, FIONCLEX, FIOCLEX: of a descriptor
    *(0x80086601, 0x80046601, 0x801C581F, 0x80087601),  # FS_IOC_GETFLAGS (also 32 bits), FSGETXATTR, GETVERSION
    *(0x00000002, 0xC020660B),  # FIGETBSZ, FS_IOC_FIEMAP: blocks of a file
)
# The allowed requests among those of the types that file systems define: flags and versions of a file, its blocks, and
# copies of blocks into a file that must be open for writing (FICLONE, FICLONERANGE).
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
    """Whether the architecture's system calls are known, and the kernel supports filters that notify a listener."""
    machine = os.uname().machine
    if not system_calls.has_table(machine):
        return False
    action = ctypes.c_uint32(_NOTIFY)
    return _seccomp(_SECCOMP_GET_ACTION_AVAIL, 0, action) == 0


def install(program: bytes, *, listener: bool = False) -> int | None:
    """Filter the calls of this process and its descendants, for good. With a `listener`, returns the descriptor on
    which the kernel notifies of calls. Raises: OSError."""
    buffer = ctypes.create_string_buffer(program, len(program))
    header = _Program(len(program) // 8, ctypes.addressof(buffer))
    flags = _SECCOMP_FILTER_FLAG_NEW_LISTENER if listener else 0
    failed = _libc().prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
    result = -1 if failed else _seccomp(_SECCOMP_SET_MODE_FILTER, flags, header)
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{os.strerror(number)} (seccomp)")
    return result if listener else None


def _libc() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)


def _seccomp(operation: int, flags: int, argument: "ctypes.Structure | ctypes.c_uint32") -> int:
    number = ctypes.c_long(_SECCOMP_NUMBER[os.uname().machine])
    result: int = _libc().syscall(number, ctypes.c_uint(operation), ctypes.c_uint(flags), ctypes.byref(argument))
    return result


def read_only_filter(machine: str, *, asks_about_signals: bool) -> bytes:
    """For a read-only command: only listed calls are allowed, and unknown numbers fail with ENOSYS."""
    signals = system_calls.numbers(machine, system_calls.SIGNALS).values()
    allowed = sorted(system_calls.numbers(machine, system_calls.ALLOWED).values())
    refused = sorted(system_calls.numbers(machine, system_calls.REFUSED).values())
    steps = [
        *_check_architecture(machine),
        *_conditions(machine),
        *_return_for(signals, _NOTIFY if asks_about_signals else _ALLOW),
        *_return_for(allowed, _ALLOW),
        *_return_for(refused, _ERRNO | errno.EPERM),
        _return(_ERRNO | errno.ENOSYS),
    ]
    return _encode(steps)


def workspace_filter(machine: str, *, allows_truncation: bool) -> bytes:
    """For a command that may write beneath some folders: denies the system calls that can change something elsewhere
    despite Landlock. Truncation is among them where Landlock does not cover it (below ABI 3)."""
    numbers = {name: number for table in _TABLES for name, number in system_calls.numbers(machine, table).items()}
    conditions = {
        "mknod": _makes_node(1),
        "mknodat": _makes_node(2),
        "ioctl": _file_system_requests(),
        "unshare": _without_bits(0, _CLONE_NAMESPACES | _CLONE_NEWTIME),
        "clone": _without_bits(0, _CLONE_NAMESPACES),
        "open_tree": _without_bits(2, _OPEN_TREE_CLONE),
        "prlimit64": _core_file_limit(),
        "setrlimit": [_argument(0), (_JUMP_EQUAL, 0, 1, _RLIMIT_CORE), _return(_PRETEND), _return(_ALLOW)],
    }
    refused = ["open_by_handle_at", *_FILE_SYSTEM_SETUP, *_MACHINE_SETUP]
    # io_uring opens files and sets attributes unseen by filters; the flags of clone3 lie in memory, and libraries fall
    # back on clone; the kernel answers request_key by starting a program outside.
    absent = ["io_uring_setup", "clone3", "request_key"]
    if not allows_truncation:
        conditions |= {"open": _opens(1), "openat": _opens(2)}
        refused.append("truncate")
        absent.append("openat2")
    steps = [
        *_check_architecture(machine),
        *(step for name, rule in conditions.items() if name in numbers for step in _if(numbers[name], rule)),
        *_return_for([numbers[name] for name in refused], _ERRNO | errno.EPERM),
        *_return_for([numbers[name] for name in absent], _ERRNO | errno.ENOSYS),
        *_return_for([numbers[name] for name in _ATTRIBUTE_CHANGES if name in numbers], _ERRNO | errno.EOPNOTSUPP),
        _return(_ALLOW),
    ]
    return _encode(steps)


_TABLES = (system_calls.CONDITIONAL, system_calls.REFUSED, system_calls.ABSENT)


# A mounted file system can write by itself where Landlock denies the command every write: overlayfs empties its work
# directory. A process that creates, or joins, a user namespace has the privilege to mount one.
_FILE_SYSTEM_SETUP = (
    *("mount", "umount2", "pivot_root", "mount_setattr", "fsopen", "fsconfig", "fsmount", "fspick", "move_mount"),
    *("open_tree_attr", "setns"),
)
# The kernel writes to the file of acct and swapon; programs of bpf run in the kernel.
_MACHINE_SETUP = ("acct", "swapon", "swapoff", "bpf")


# Programs take the error for that of a file system without extended attributes, and continue without.
_ATTRIBUTE_CHANGES = (
    *("setxattr", "lsetxattr", "fsetxattr", "setxattrat", "removexattr", "lremovexattr", "fremovexattr"),
    *("removexattrat", "file_setattr"),
)


def _file_system_requests() -> "list[Step]":
    """Requests to file systems need no file that is open for writing: some set flags, or create folders (btrfs)."""
    return [
        _argument(1),
        *_return_for(_FILE_SYSTEM_IOCTL, _ALLOW),
        (_AND, 0, 0, 0xFF00),
        *_return_for(_FILE_SYSTEM_TYPES, _ERRNO | errno.ENOTTY),
        _return(_ALLOW),
    ]


def _without_bits(index: int, bits: int) -> "list[Step]":
    """Allow a call unless one of these flags is set in an argument."""
    return [_argument(index), (_JUMP_BITS_SET, 0, 1, bits), _return(_ERRNO | errno.EPERM), _return(_ALLOW)]


def _core_file_limit() -> "list[Step]":
    """prlimit64, except for the limit that keeps a crash from starting the machine's crash handler, which writes
    outside.

    With a limit of 0 the handler would start. Programs that avoid core files (gpg) set 0 and exit where that fails: a
    change of their own limit seems to succeed.
    """
    return [
        _argument(1),
        (_JUMP_EQUAL, 1, 0, _RLIMIT_CORE),
        _return(_ALLOW),
        _argument(0),
        (_JUMP_EQUAL, 0, 7, 0),
        *_unless_zero(2, _return(_PRETEND)),
        _return(_ALLOW),
        *_unless_zero(2, _return(_ERRNO | errno.EPERM)),
        _return(_ALLOW),
    ]


def _makes_node(index: int) -> "list[Step]":
    """Creating a node that is no device; the argument holds its type."""
    refuse = _ERRNO | errno.EPERM
    return [_argument(index), (_AND, 0, 0, _S_IFMT), *_return_for((_S_IFCHR, _S_IFBLK), refuse), _return(_ALLOW)]


def _check_architecture(machine: str) -> "list[Step]":
    """Deny every call of programs of another architecture (32 bits), then load the call's number."""
    return [
        (_LOAD, 0, 0, _ARCH_OFFSET),
        (_JUMP_EQUAL, 1, 0, _AUDIT_ARCH[machine]),
        _return(_ERRNO | errno.EPERM),
        (_LOAD, 0, 0, _NUMBER_OFFSET),
        (_JUMP_GREATER_EQUAL, 0, 1, _X32_SYSCALL_BIT),
        _return(_ERRNO | errno.ENOSYS),
    ]


def _conditions(machine: str) -> "list[Step]":
    """The calls that are allowed with some arguments."""
    refuse = _return(_ERRNO | errno.EPERM)
    rules: dict[str, list[Step]] = {
        "open": _opens(1),
        "openat": _opens(2),
        "ioctl": [_argument(1), *_return_for(_IOCTL, _ALLOW), _return(_ERRNO | errno.ENOTTY)],
        "fcntl": [_argument(1), *_return_for(_FCNTL, _ALLOW), _return(_ERRNO | errno.EINVAL)],
        "clone": _without_bits(0, _CLONE_NAMESPACES),
        # A pair of datagram sockets could send to any other socket.
        "socketpair": [
            _argument(0),
            (_JUMP_EQUAL, 1, 0, _AF_UNIX),
            refuse,
            _argument(1),
            (_AND, 0, 0, _SOCK_TYPE_MASK),
            *_return_for((_SOCK_STREAM, _SOCK_SEQPACKET), _ALLOW),
            refuse,
        ],
        # Only to the connected end, not to an address.
        "sendto": [*_unless_zero(4, refuse), _return(_ALLOW)],
        # Only the process's own limits, except the limit that keeps a crash from starting the machine's crash handler.
        "prlimit64": [
            _argument(0),
            (_JUMP_EQUAL, 1, 0, 0),
            refuse,
            _argument(1),
            (_JUMP_EQUAL, 1, 0, _RLIMIT_CORE),
            _return(_ALLOW),
            *_unless_zero(2, refuse),
            _return(_ALLOW),
        ],
        # Only within the process's own memory: a shared requeue moves other processes' waiters in a readable file.
        "futex": [
            _argument(1),
            (_AND, 0, 0, 0xFF),
            *_return_for(_SHARED_REQUEUE, _ERRNO | errno.EPERM),
            _return(_ALLOW),
        ],
        "setrlimit": [_argument(0), (_JUMP_EQUAL, 0, 1, _RLIMIT_CORE), refuse, _return(_ALLOW)],
    }
    numbers = system_calls.numbers(machine, system_calls.CONDITIONAL)
    return [step for name, number in numbers.items() for step in _if(number, rules[name])]


def _opens(index: int) -> "list[Step]":
    """Opening a file; the argument holds the flags. O_TRUNC without write access empties a file although Landlock
    sees only reading (below ABI 3); access mode 3 is neither reading nor writing for Landlock."""
    refuse = _return(_ERRNO | errno.EPERM)
    return [
        _argument(index),
        (_AND, 0, 0, _O_ACCMODE),
        (_JUMP_EQUAL, 0, 1, _O_ACCMODE),
        refuse,
        (_JUMP_EQUAL, 1, 0, os.O_RDONLY),
        _return(_ALLOW),
        _argument(index),
        (_JUMP_BITS_SET, 0, 1, _O_TRUNC),
        refuse,
        _return(_ALLOW),
    ]


def _argument(index: int, *, upper: bool = False) -> "Step":
    """Load half of an argument: both architectures are little-endian."""
    return (_LOAD, 0, 0, _ARGUMENTS_OFFSET + 8 * index + 4 * upper)


def _unless_zero(index: int, then: "Step") -> "list[Step]":
    """Take a step where an argument of 64 bits is not zero."""
    return [_argument(index), (_JUMP_EQUAL, 1, 0, 0), then, _argument(index, upper=True), (_JUMP_EQUAL, 1, 0, 0), then]


def _return(action: int) -> "Step":
    return (_RETURN, 0, 0, action)


def _return_for(values: "Iterable[int]", action: int) -> "list[Step]":
    """Return an action for each of some values; consecutive values are compared as a range."""
    ranges: list[list[int]] = []
    for value in sorted(values):
        if ranges and value == ranges[-1][1] + 1:
            ranges[-1][1] = value
        else:
            ranges.append([value, value])
    return [
        step
        for first, last in ranges
        for step in ((_JUMP_GREATER_EQUAL, 0, 2, first), (_JUMP_GREATER, 1, 0, last), _return(action))
    ]


def _if(number: int, then: "list[Step]") -> "list[Step]":
    return [(_JUMP_EQUAL, 0, len(then), number), *then]


def _encode(steps: "list[Step]") -> bytes:
    return b"".join(struct.pack("=HBBI", *step) for step in steps)
