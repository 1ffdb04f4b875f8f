"""Landlock: the kernel denies a process and its descendants every access to files that is not granted here.

A small binding of three system calls, which need no privilege. The supervisor uses it before a command starts.
"""

# The supervisor starts with every command: this module imports little.

import ctypes
import os

# System calls: the numbers are the same on every architecture.
_LANDLOCK_CREATE_RULESET = 444
_LANDLOCK_ADD_RULE = 445
_LANDLOCK_RESTRICT_SELF = 446
_OPENAT2 = 437

_AT_FDCWD = -100
_RESOLVE_NO_SYMLINKS = 0x04
_CREATE_RULESET_VERSION = 1
_RULE_PATH_BENEATH = 1
_PR_SET_NO_NEW_PRIVS = 38
_PR_CAPBSET_DROP = 24
_LINUX_CAPABILITY_VERSION_3 = 0x20080522

EXECUTE = 1 << 0
WRITE_FILE = 1 << 1
READ_FILE = 1 << 2
READ_DIR = 1 << 3
_MAKE_AND_REMOVE = sum(1 << bit for bit in range(4, 13))
_MAKE_DEVICES = 1 << 6 | 1 << 11  # character and block devices: a node reaches its device wherever the node lies
_REFER = 1 << 13
_TRUNCATE = 1 << 14
_IOCTL_DEV = 1 << 15
_RESOLVE_UNIX = 1 << 16
_RIGHTS_BY_ABI = (
    (1, EXECUTE | WRITE_FILE | READ_FILE | READ_DIR | _MAKE_AND_REMOVE),
    (2, _REFER),
    (3, _TRUNCATE),
    (5, _IOCTL_DEV),
    (9, _RESOLVE_UNIX),  # connecting to a socket by its path
)
_FOLDER_RIGHTS = READ_DIR | _MAKE_AND_REMOVE | _REFER | _RESOLVE_UNIX
_NET_TCP = 0b11
_SCOPES = 0b11

READ = EXECUTE | READ_FILE | READ_DIR

# Root's capabilities for ordinary work on files and processes: CHOWN, DAC_OVERRIDE, FOWNER, FSETID, KILL, SETGID,
# SETUID, NET_BIND_SERVICE. The others bypass Landlock: devices, modules, file handles, settings of the machine.
WORKSPACE_CAPABILITIES = sum(1 << number for number in (0, 1, 3, 4, 5, 6, 7, 10))


class _Attributes(ctypes.Structure):
    _fields_ = [("fs", ctypes.c_uint64), ("net", ctypes.c_uint64), ("scoped", ctypes.c_uint64)]


class _PathBeneath(ctypes.Structure):
    _pack_ = 1
    _fields_ = [("allowed", ctypes.c_uint64), ("fd", ctypes.c_int32)]


Grant = tuple[str, str]
"""A path without links, and the access that is granted beneath it: list, read or write."""


def load_libc() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)


def abi() -> int:
    """The version of the kernel's Landlock ABI; 0 where the kernel has no Landlock, or Landlock is disabled."""
    try:
        version: int = load_libc().syscall(
            ctypes.c_long(_LANDLOCK_CREATE_RULESET),
            None,
            ctypes.c_size_t(0),
            ctypes.c_uint32(_CREATE_RULESET_VERSION),
        )
    except (OSError, AttributeError):
        return 0
    return max(version, 0)


def confine(grants: list[Grant], *, network: bool, version: int) -> None:
    """Restrict this process to the grants permanently, with the rights of an ABI version. Without `network`, also block
    TCP (ABI 4) and signals to outside processes (ABI 6). Raises: OSError."""
    handled = sum(rights for since, rights in _RIGHTS_BY_ABI if version >= since)
    net = 0 if network or version < 4 else _NET_TCP
    ruleset = _create(handled, net, 0 if network or version < 6 else _SCOPES, version)
    try:
        for grant in grants:
            _grant(ruleset, grant, handled)
        _check(load_libc().prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), "no new privileges")
        result = load_libc().syscall(ctypes.c_long(_LANDLOCK_RESTRICT_SELF), ctypes.c_int(ruleset), ctypes.c_uint32(0))
        _check(result, "restrict")
    finally:
        os.close(ruleset)


def drop_capabilities(mask: int = 0) -> None:
    """Drop root's privileges in this process and its descendants, except the capabilities in this bit mask."""
    libc = load_libc()
    for number in range(64):
        if not mask >> number & 1:
            libc.prctl(_PR_CAPBSET_DROP, number, 0, 0, 0)
    header = (ctypes.c_uint32 * 2)(_LINUX_CAPABILITY_VERSION_3, 0)
    sets = (ctypes.c_uint32 * 6)()  # effective, permitted, inheritable; then the same for numbers from 32 on
    _check(libc.capget(ctypes.byref(header), ctypes.byref(sets)), "read capabilities")
    halves = (mask & 0xFFFFFFFF, mask >> 32)
    reduced = (ctypes.c_uint32 * 6)(*(old & halves[index // 3] for index, old in enumerate(sets)))
    _check(libc.capset(ctypes.byref(header), ctypes.byref(reduced)), "give up capabilities")


def _create(handled: int, net: int, scoped: int, version: int) -> int:
    attributes = _Attributes(handled, net, scoped)
    size = 24 if version >= 6 else 16 if version >= 4 else 8
    return _check(
        load_libc().syscall(
            ctypes.c_long(_LANDLOCK_CREATE_RULESET),
            ctypes.byref(attributes),
            ctypes.c_size_t(size),
            ctypes.c_uint32(0),
        ),
        "create",
    )


def _grant(ruleset: int, grant: Grant, handled: int) -> None:
    path, access = grant
    fd = _open(path)
    if fd is None:
        return  # a missing path needs no grant
    try:
        allowed = {"list": READ_DIR, "read": READ}.get(access, handled & ~_MAKE_DEVICES)
        if not os.path.isdir(f"/proc/self/fd/{fd}"):
            allowed &= ~_FOLDER_RIGHTS
        rule = _PathBeneath(allowed & handled, fd)
        _check(
            load_libc().syscall(
                ctypes.c_long(_LANDLOCK_ADD_RULE),
                ctypes.c_int(ruleset),
                ctypes.c_int(_RULE_PATH_BENEATH),
                ctypes.byref(rule),
                ctypes.c_uint32(0),
            ),
            path,
        )
    finally:
        os.close(fd)


def _open(path: str) -> int | None:
    """Open a path without following links: a component may have been swapped for a link since the grant was made."""
    how = (ctypes.c_uint64 * 3)(os.O_PATH | os.O_CLOEXEC, 0, _RESOLVE_NO_SYMLINKS)
    fd: int = load_libc().syscall(
        ctypes.c_long(_OPENAT2),
        ctypes.c_int(_AT_FDCWD),
        ctypes.c_char_p(os.fsencode(path)),
        ctypes.byref(how),
        ctypes.c_size_t(ctypes.sizeof(how)),
    )
    return fd if fd >= 0 else None


def _check(result: int, operation: str) -> int:
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{os.strerror(number)} (Landlock: {operation})")
    return result
