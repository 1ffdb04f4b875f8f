"""Landlock: the kernel takes away from a process, and all that it starts, what it is not given here.

A small binding of three system calls. Used in the keeper, before a command is started; needs no privilege. It imports
next to nothing, for the keeper's sake.
"""

import ctypes
import os

_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446  # the same on every architecture
_OPENAT2, _AT_FDCWD, _RESOLVE_NO_SYMLINKS = 437, -100, 0x04
_VERSION = 1
_PATH_BENEATH = 1
_PR_SET_NO_NEW_PRIVS = 38
_PR_CAPBSET_DROP = 24
_CAPABILITY_VERSION = 0x20080522

EXECUTE, WRITE_FILE, READ_FILE, READ_DIR = 1 << 0, 1 << 1, 1 << 2, 1 << 3
_MAKE_AND_REMOVE = sum(1 << bit for bit in range(4, 13))
_MAKE_DEVICES = 1 << 6 | 1 << 11  # character and block devices: a node reaches its device wherever the node lies
_REFER, _TRUNCATE, _IOCTL, _RESOLVE_UNIX = 1 << 13, 1 << 14, 1 << 15, 1 << 16
_BY_ABI = (
    (1, EXECUTE | WRITE_FILE | READ_FILE | READ_DIR | _MAKE_AND_REMOVE),
    (2, _REFER),
    (3, _TRUNCATE),
    (5, _IOCTL),
    (9, _RESOLVE_UNIX),  # connecting to a socket by its path
)
_ONLY_FOR_FOLDERS = READ_DIR | _MAKE_AND_REMOVE | _REFER | _RESOLVE_UNIX
_TCP = 0b11
_SCOPES = 0b11

READ = EXECUTE | READ_FILE | READ_DIR

# What root needs for ordinary work on files and processes: CHOWN, DAC_OVERRIDE, FOWNER, FSETID, KILL, SETGID, SETUID,
# NET_BIND_SERVICE. The others reach past Landlock: devices, modules, file handles, settings of the machine.
WORKSPACE_CAPABILITIES = sum(1 << number for number in (0, 1, 3, 4, 5, 6, 7, 10))


class _Attributes(ctypes.Structure):
    _fields_ = [("fs", ctypes.c_uint64), ("net", ctypes.c_uint64), ("scoped", ctypes.c_uint64)]


class _PathBeneath(ctypes.Structure):
    _pack_ = 1
    _fields_ = [("allowed", ctypes.c_uint64), ("fd", ctypes.c_int32)]


Grant = tuple[str, str]  # a path without links in it, and what may be done beneath it: list, read or write


def _libc() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)


def abi() -> int:
    """The version that the kernel has; 0 where it has none, or none that is switched on."""
    try:
        found: int = _libc().syscall(
            ctypes.c_long(_CREATE_RULESET), None, ctypes.c_size_t(0), ctypes.c_uint32(_VERSION)
        )
    except (OSError, AttributeError):
        return 0
    return max(found, 0)


def confine(grants: list[Grant], *, network: bool, version: int) -> None:
    """Keep this process to what is granted, for good, with what this version of the ABI knows. Without `network` it
    makes no connection, and reaches no process outside, where the kernel knows how. Raises: OSError."""
    handled = sum(rights for since, rights in _BY_ABI if version >= since)
    ruleset = _create(handled, 0 if network or version < 4 else _TCP, 0 if network or version < 6 else _SCOPES, version)
    try:
        for grant in grants:
            _grant(ruleset, grant, handled)
        _check(_libc().prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), "no new privileges")
        restricted = _libc().syscall(ctypes.c_long(_RESTRICT_SELF), ctypes.c_int(ruleset), ctypes.c_uint32(0))
        _check(restricted, "restrict")
    finally:
        os.close(ruleset)


def give_up_capabilities(kept: int = 0) -> None:
    """Take root's privileges from this process and all that it starts, but for the capabilities in this bit mask."""
    libc = _libc()
    for number in range(64):
        if not kept >> number & 1:
            libc.prctl(_PR_CAPBSET_DROP, number, 0, 0, 0)
    header = (ctypes.c_uint32 * 2)(_CAPABILITY_VERSION, 0)
    sets = (ctypes.c_uint32 * 6)()  # effective, permitted, inheritable; then the same for numbers from 32 on
    _check(libc.capget(ctypes.byref(header), ctypes.byref(sets)), "read capabilities")
    halves = (kept & 0xFFFFFFFF, kept >> 32)
    reduced = (ctypes.c_uint32 * 6)(*(old & halves[index // 3] for index, old in enumerate(sets)))
    _check(libc.capset(ctypes.byref(header), ctypes.byref(reduced)), "give up capabilities")


def _create(handled: int, net: int, scoped: int, version: int) -> int:
    attributes = _Attributes(handled, net, scoped)
    size = 24 if version >= 6 else 16 if version >= 4 else 8
    return _check(
        _libc().syscall(
            ctypes.c_long(_CREATE_RULESET), ctypes.byref(attributes), ctypes.c_size_t(size), ctypes.c_uint32(0)
        ),
        "create",
    )


def _grant(ruleset: int, grant: Grant, handled: int) -> None:
    path, leave = grant
    fd = _open(path)
    if fd is None:
        return  # what is not there needs no leave
    try:
        allowed = {"list": READ_DIR, "read": READ}.get(leave, handled & ~_MAKE_DEVICES)
        if not os.path.isdir(f"/proc/self/fd/{fd}"):
            allowed &= ~_ONLY_FOR_FOLDERS
        rule = _PathBeneath(allowed & handled, fd)
        _check(
            _libc().syscall(
                ctypes.c_long(_ADD_RULE),
                ctypes.c_int(ruleset),
                ctypes.c_int(_PATH_BENEATH),
                ctypes.byref(rule),
                ctypes.c_uint32(0),
            ),
            path,
        )
    finally:
        os.close(fd)


def _open(path: str) -> int | None:
    """Nothing that was swapped for a link since the grant was made is followed, at any place of the path."""
    how = (ctypes.c_uint64 * 3)(os.O_PATH | os.O_CLOEXEC, 0, _RESOLVE_NO_SYMLINKS)
    fd: int = _libc().syscall(
        ctypes.c_long(_OPENAT2),
        ctypes.c_int(_AT_FDCWD),
        ctypes.c_char_p(os.fsencode(path)),
        ctypes.byref(how),
        ctypes.c_size_t(ctypes.sizeof(how)),
    )
    return fd if fd >= 0 else None


def _check(result: int, what: str) -> int:
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{os.strerror(number)} (Landlock: {what})")
    return result
