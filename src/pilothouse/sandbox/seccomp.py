"""A filter of system calls for what must only read: no connections, no change of modes, owners, times or attributes.

Landlock does not know these. One small program for the kernel, on the two architectures whose numbers are known here.
"""

import ctypes
import errno
import os
import struct

_PR_SET_NO_NEW_PRIVS, _PR_SET_SECCOMP, _FILTER = 38, 22, 2
_LOAD, _JUMP_EQUAL, _JUMP_FROM, _RETURN = 0x20, 0x15, 0x35, 0x06
_ALLOW, _ERRNO = 0x7FFF0000, 0x00050000
_NUMBER_AT, _ARCHITECTURE_AT, _ARGUMENT_AT = 0, 4, 16
_WITH_ARGUMENTS = {"x86_64": (302, 16), "aarch64": (261, 29)}  # prlimit64, ioctl
_CHANGES_FLAGS = (0x40086602, 0x40046602, 0x401C5820, 0x5412)  # of files, and typing into a terminal
_X32 = 0x40000000

# Connections of every kind, rings that make them, looking into other processes, and what marks a file.
_X86_64: dict[str, int] = {
    "socket": 41,
    "io_uring_setup": 425,
    "ptrace": 101,
    "process_vm_writev": 311,
    "pidfd_getfd": 438,
    "chmod": 90,
    "fchmod": 91,
    "fchmodat": 268,
    "fchmodat2": 452,
    "chown": 92,
    "fchown": 93,
    "lchown": 94,
    "fchownat": 260,
    "utime": 132,
    "utimes": 235,
    "futimesat": 261,
    "utimensat": 280,
    "setxattr": 188,
    "lsetxattr": 189,
    "fsetxattr": 190,
    "removexattr": 197,
    "lremovexattr": 198,
    "fremovexattr": 199,
    "mount": 165,
    "bpf": 321,
    "keyctl": 250,
    "add_key": 248,
    "userfaultfd": 323,
    "setxattrat": 463,
    "removexattrat": 466,
    "file_setattr": 469,
}
_ARM_64: dict[str, int] = {
    "socket": 198,
    "io_uring_setup": 425,
    "ptrace": 117,
    "process_vm_writev": 271,
    "pidfd_getfd": 438,
    "fchmod": 52,
    "fchmodat": 53,
    "fchmodat2": 452,
    "fchownat": 54,
    "fchown": 55,
    "utimensat": 88,
    "setxattr": 5,
    "lsetxattr": 6,
    "fsetxattr": 7,
    "removexattr": 14,
    "lremovexattr": 15,
    "fremovexattr": 16,
    "mount": 40,
    "bpf": 280,
    "keyctl": 219,
    "add_key": 217,
    "userfaultfd": 282,
    "setxattrat": 463,
    "removexattrat": 466,
    "file_setattr": 469,
}
# What reaches beyond files: how others are scheduled, and queues that outlive a command.
_X86_64 |= {"setpriority": 141, "sched_setscheduler": 144, "sched_setparam": 142, "sched_setaffinity": 203}
_X86_64 |= {"sched_setattr": 314, "ioprio_set": 251, "shmget": 29, "semget": 64, "msgget": 68, "mq_open": 240}
_X86_64 |= {"truncate": 76, "ftruncate": 77}
_ARM_64 |= {"setpriority": 140, "sched_setscheduler": 119, "sched_setparam": 118, "sched_setaffinity": 122}
_ARM_64 |= {"sched_setattr": 274, "ioprio_set": 30, "shmget": 194, "semget": 190, "msgget": 186, "mq_open": 180}
_ARM_64 |= {"truncate": 45, "ftruncate": 46}
_MACHINES = {"x86_64": (0xC000003E, _X86_64), "aarch64": (0xC00000B7, _ARM_64)}


class _Program(ctypes.Structure):
    _fields_ = [("length", ctypes.c_ushort), ("filter", ctypes.c_void_p)]


def is_known() -> bool:
    return os.uname().machine in _MACHINES


def refuse_changes() -> None:
    """For this process and all that it starts, for good. Raises: OSError."""
    machine = os.uname().machine
    architecture, numbers = _MACHINES[machine]
    code = _program(architecture, sorted(numbers.values()), machine)
    buffer = ctypes.create_string_buffer(code, len(code))
    program = _Program(len(code) // 8, ctypes.addressof(buffer))
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) or libc.prctl(
        _PR_SET_SECCOMP, _FILTER, ctypes.byref(program), 0, 0
    ):
        number = ctypes.get_errno()
        raise OSError(number, f"{os.strerror(number)} (seccomp)")


def _program(architecture: int, refused: list[int], machine: str) -> bytes:
    """Of another architecture (32 bits): nothing. Of the refused ones: a permission error. All others go through."""
    refuse, allow = (_RETURN, 0, 0, _ERRNO | errno.EPERM), (_RETURN, 0, 0, _ALLOW)
    prlimit, ioctl = _WITH_ARGUMENTS[machine]
    flags = [step for request in _CHANGES_FLAGS for step in ((_JUMP_EQUAL, 0, 1, request), refuse)]
    steps = [
        (_LOAD, 0, 0, _ARCHITECTURE_AT),
        (_JUMP_EQUAL, 1, 0, architecture),
        refuse,
        (_LOAD, 0, 0, _NUMBER_AT),
        (_JUMP_FROM, 0, 1, _X32),
        refuse,
        *(step for number in refused for step in ((_JUMP_EQUAL, 0, 1, number), refuse)),
        *_if(prlimit, [(_LOAD, 0, 0, _ARGUMENT_AT), (_JUMP_EQUAL, 1, 0, 0), refuse, allow]),  # only one's own
        *_if(ioctl, [(_LOAD, 0, 0, _ARGUMENT_AT + 8), *flags, allow]),
        allow,
    ]
    return b"".join(struct.pack("=HBBI", *step) for step in steps)


def _if(number: int, then: list[tuple[int, int, int, int]]) -> list[tuple[int, int, int, int]]:
    return [(_JUMP_EQUAL, 0, len(then), number), *then]
