"""Limits the signals of a confined command to its own processes, where Landlock cannot (below ABI 6)."""

# The kernel suspends a process that sends a signal until the supervisor has answered (seccomp user notification). The
# arguments come from registers, so they cannot change afterwards, but the target's process number may be reused before
# the answer: the supervisor sends such signals itself, through a pidfd of the process that it has checked. A process
# that signals itself or its own group continues with its own call: those numbers stay taken while it waits, and a
# group never leaves its session, which contains nothing but the command.

# The supervisor imports this module before a command starts: the import of `signal` alone would take half as long.

import ctypes
import errno
import fcntl
import os
import struct

from pilothouse.sandbox import system_calls
from pilothouse.sandbox.process_tree import descendants

_SECCOMP_IOCTL_NOTIF_RECV = 0xC0502100
_SECCOMP_IOCTL_NOTIF_SEND = 0xC0182101
_SECCOMP_IOCTL_NOTIF_ID_VALID = 0x40082102
_SECCOMP_NOTIF = struct.Struct("=QIIiIQ6Q")  # id, thread, flags, number, architecture, instruction, arguments
_SECCOMP_NOTIF_RESP = struct.Struct("=QqiI")  # id, value, error, flags
_SECCOMP_USER_NOTIF_FLAG_CONTINUE = 1
_MAX_SIGNAL = 64
_PIDFD_SEND_SIGNAL = 424  # the same on every architecture
_TGKILL = {"x86_64": 234, "aarch64": 131}


class SignalListener:
    """The supervisor's end: readable when a process waits for an answer."""

    def __init__(self, fd: int) -> None:
        self._fd = fd
        self._names = {number: name for name, number in _numbers().items()}

    def fileno(self) -> int:
        return self._fd

    def answer(self) -> None:
        """Answer one waiting process. A process that was killed while waiting needs no answer."""
        request = bytearray(_SECCOMP_NOTIF.size)
        try:
            fcntl.ioctl(self._fd, _SECCOMP_IOCTL_NOTIF_RECV, request, True)
            cookie, thread, _, number, _, _, *arguments = _SECCOMP_NOTIF.unpack(request)
            outcome = self._outcome_or_error(cookie, thread, number, list(map(_signed, arguments)))
            flags = _SECCOMP_USER_NOTIF_FLAG_CONTINUE if outcome is None else 0
            response = _SECCOMP_NOTIF_RESP.pack(cookie, 0, -(outcome or 0), flags)
            fcntl.ioctl(self._fd, _SECCOMP_IOCTL_NOTIF_SEND, response)
        except OSError:
            return

    def _outcome_or_error(self, cookie: int, thread: int, number: int, arguments: list[int]) -> int | None:
        try:
            return self._outcome(cookie, thread, self._names.get(number, ""), arguments)
        except OSError as error:
            return error.errno or errno.EPERM

    def _outcome(self, cookie: int, thread: int, name: str, arguments: list[int]) -> int | None:
        """The error of the call, 0 for success; None to let the process continue with the call."""
        sender = _process_of(thread)
        target = arguments[0]
        if sender is None:
            return errno.ESRCH
        if name == "kill":
            return self._kill(sender, target, arguments[1])
        if name == "tkill" and target != thread:
            # Fails where the sender has ended.
            fcntl.ioctl(self._fd, _SECCOMP_IOCTL_NOTIF_ID_VALID, struct.pack("=Q", cookie))
            return _send_to_thread(sender, target, arguments[1])
        return None if target in (sender, thread) else errno.EPERM

    def _kill(self, sender: int, target: int, number: int) -> int | None:
        group = os.getpgid(sender)
        if not 0 <= number <= _MAX_SIGNAL:
            return errno.EINVAL
        if target in (0, sender, -group):
            return None
        if target > 0:
            return _send(target, number)
        members = [
            pid for pid in descendants(os.getpid()) if pid != sender and (target == -1 or _group_of(pid) == -target)
        ]
        outcomes = [_send(pid, number) for pid in members]
        return 0 if 0 in outcomes else errno.EPERM if _has_group(-target) else errno.ESRCH


def _numbers() -> dict[str, int]:
    return system_calls.numbers(os.uname().machine, system_calls.SIGNALS)


def _signed(argument: int) -> int:
    """A process or signal number of 32 bits: the kernel ignores the rest of the register."""
    return ctypes.c_int32(argument & 0xFFFFFFFF).value


def _send(pid: int, number: int) -> int:
    """Send a signal to a process below the supervisor, and to no other. Returns the error, 0 for none."""
    try:
        process = os.pidfd_open(pid)
    except OSError as error:
        return errno.ESRCH if error.errno == errno.EINVAL else error.errno or errno.ESRCH
    try:
        if not _is_below(pid, os.getpid()):
            return errno.EPERM
        # Reaches only the checked process, even if its number was reused.
        libc = ctypes.CDLL(None, use_errno=True)
        failed = libc.syscall(
            ctypes.c_long(_PIDFD_SEND_SIGNAL), ctypes.c_int(process), ctypes.c_int(number), None, ctypes.c_uint(0)
        )
        return ctypes.get_errno() if failed else 0
    finally:
        os.close(process)


def _send_to_thread(process: int, thread: int, number: int) -> int:
    """Signal another thread of the sender's own process. The kernel checks that the thread belongs to it."""
    libc = ctypes.CDLL(None, use_errno=True)
    call = ctypes.c_long(_TGKILL[os.uname().machine])
    failed = libc.syscall(call, ctypes.c_int(process), ctypes.c_int(thread), ctypes.c_int(number))
    return ctypes.get_errno() if failed else 0


def _is_below(pid: int, supervisor: int) -> bool:
    while pid > 1:
        parent = _status(pid, b"PPid:")
        if parent == supervisor:
            return True
        if parent is None:
            return False
        pid = parent
    return False


def _process_of(thread: int) -> int | None:
    return _status(thread, b"Tgid:")


def _status(pid: int, field: bytes) -> int | None:
    try:
        with open(f"/proc/{pid}/status", "rb") as file:
            return next((int(line.split()[1]) for line in file if line.startswith(field)), None)
    except OSError:
        return None


def _group_of(pid: int) -> int | None:
    try:
        return os.getpgid(pid)
    except OSError:
        return None


def _has_group(group: int) -> bool:
    return any(entry.isdigit() and _group_of(int(entry)) == group for entry in os.listdir("/proc"))
