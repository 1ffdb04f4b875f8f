"""The supervisor: a small process around each command. No process of the command outlives the supervisor.

As a subreaper the supervisor becomes the parent of every orphan below it, whatever its group, session or environment.
When the runtime ends, for whatever reason, the supervisor's standard input ends, and it kills all of its descendants.
"""

# This program starts with every command: each import costs time, even that of `signal`.

import os
import resource
import select
import sys

from pilothouse.sandbox import landlock, seccomp
from pilothouse.sandbox.process_tree import children, descendants

TYPE_CHECKING = False
if TYPE_CHECKING:  # modules for types take longer to import than all the others
    from _socket import socket
    from collections.abc import Callable

    from pilothouse.sandbox.signal_listener import SignalListener

_PR_SET_CHILD_SUBREAPER = 36
_SIGKILL = 9
_SIGPIPE = 13
_POLL_SECONDS = 0.05
_DYING_POLL_SECONDS = 0.002
MAX_ENDING_SECONDS = 10
MAX_REAPED_AT_ONCE = 1024
_ABI_WITH_TRUNCATION = 3
_ABI_WITH_SIGNALS = 6
NOT_STARTED_STATUS = 126
"""The exit status of a command that could not be confined or executed."""
TOO_MANY_PROCESSES_STATUS = -1
"""The status of a command that was killed for its number of processes."""


def main(arguments: list[str]) -> None:
    """Supervise one command. `arguments` are the kind of the confinement (no, read_only, workspace), the version of the
    Landlock ABI to use (0 for none), whether to filter system calls, how many processes are allowed, the descriptor of
    a file with the command's environment and grants, then the program and its arguments."""
    kind, abi, is_filtered, max_processes, orders_fd, *argv = arguments
    environment, grants = _read_orders(int(orders_fd))
    _limit_core_files()
    limit = int(max_processes)
    version, has_filter = int(abi), is_filtered == "1"
    asks_about_signals = kind == "read_only" and 0 < version < _ABI_WITH_SIGNALS and has_filter
    channel, child_channel = _channel() if asks_about_signals else (None, None)

    if _is_runtime_gone():
        os._exit(128 + _SIGKILL)

    def execute() -> None:
        _execute(_Restrictions(kind, version, has_filter, grants, child_channel), argv, environment)

    # Two levels: a command that kills its supervisor is still below another one.
    _supervise(2 * limit, lambda: _supervise(limit, execute, channel, child_channel))


def _is_runtime_gone() -> bool:
    """Whether the standard input has ended.

    Checked before the command starts: a runtime that was killed after its fork and before this program ran left no
    process that its successor could find by the mark. By now the successor has told the person that the command did
    not end; the command must not begin after that.
    """
    return bool(select.select([0], [], [], 0)[0]) and not os.read(0, 1)


def _limit_core_files() -> None:
    """A limit of one byte: no core file, and (unlike 0) no crash handler of the machine, which would run outside.

    A hard limit of 0 cannot be raised.
    """
    hard = resource.getrlimit(resource.RLIMIT_CORE)[1]
    limit = 0 if hard == 0 else 1
    resource.setrlimit(resource.RLIMIT_CORE, (limit, limit))


def _read_orders(fd: int) -> "tuple[dict[bytes, bytes], list[landlock.Grant]]":
    """The command's environment and grants, from the file that `processes.encode_orders` describes. The file is closed
    before the command starts."""
    with open(fd, "rb") as file:
        count, *parts = file.read().split(b"\0")
    end = 2 * int(count)
    environment = dict(zip(parts[:end:2], parts[1:end:2], strict=True))
    grants = [os.fsdecode(part) for part in parts[end:]]
    return environment, list(zip(grants[1::2], grants[::2], strict=True))


class _Restrictions:
    """How to confine a command."""

    def __init__(
        self,
        kind: str,
        version: int,
        has_filter: bool,
        grants: "list[landlock.Grant]",
        listener: "socket | None",
    ) -> None:
        self.kind = kind
        self.version = version
        """The version of the Landlock ABI to use; 0 for none."""
        self.has_filter = has_filter
        self.grants = grants
        self.listener = listener
        """The socket to the supervisor for the descriptor on which the kernel asks about signals; None where the
        supervisor does not decide about signals."""


def _channel() -> "tuple[socket, socket]":
    import _socket

    return _socket.socketpair()


def _supervise(
    max_processes: int,
    run: "Callable[[], None]",
    channel: "socket | None" = None,
    child_channel: "socket | None" = None,
) -> None:
    """Run a function in a child; no process below outlives this process. Does not return."""
    landlock.load_libc().prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    child = os.fork()
    if child == 0:
        run()
    status = 128 + _SIGKILL
    try:
        if child_channel is not None:
            child_channel.close()
        status = _wait(child, max_processes, channel)
    finally:
        _kill_all()
        if status == TOO_MANY_PROCESSES_STATUS:
            _print_error(f"\n[ended: it had more than {max_processes} processes]\n")
        os._exit(128 + _SIGKILL if status == TOO_MANY_PROCESSES_STATUS else status)


def _print_error(text: str) -> None:
    try:
        os.write(2, text.encode())
    except OSError:
        pass  # the reader is gone


def _execute(restrictions: _Restrictions, argv: list[str], environment: dict[bytes, bytes]) -> None:
    """In the child: drop its rights and execute the command. Does not return."""
    try:
        os.setsid()
        null_fd = os.open(os.devnull, os.O_RDONLY)
        os.dup2(null_fd, 0)
        if landlock.abi() < restrictions.version:
            raise OSError("the kernel's Landlock ABI is too old for this sandbox")
        if restrictions.version:
            has_network = restrictions.kind != "read_only"
            landlock.confine(restrictions.grants, network=has_network, version=restrictions.version)
        elif restrictions.kind == "workspace":
            raise OSError("the kernel has no Landlock")
        if restrictions.kind != "no":
            landlock.drop_capabilities(landlock.WORKSPACE_CAPABILITIES if restrictions.kind == "workspace" else 0)
        _filter_system_calls(restrictions)
        landlock.load_libc().signal(_SIGPIPE, None)  # Python ignores the signal, and its children would inherit that
        os.execve(argv[0], argv, environment)  # noqa: S606
    except OSError as error:
        _print_error(f"[not started: {error}]\n")
    finally:
        os._exit(NOT_STARTED_STATUS)


def _filter_system_calls(restrictions: _Restrictions) -> None:
    """Deny the system calls that Landlock does not cover. Raises: OSError."""
    machine = os.uname().machine
    if restrictions.kind == "workspace" and not restrictions.has_filter:
        raise OSError("this sandbox requires a seccomp filter")
    if restrictions.kind == "no" or not restrictions.has_filter:
        return
    if not seccomp.is_available():
        raise OSError("the kernel takes no filter of system calls, and the command must be confined with one")
    if restrictions.kind == "workspace":
        is_truncation_covered = restrictions.version >= _ABI_WITH_TRUNCATION
        seccomp.install(seccomp.workspace_filter(machine, allows_truncation=is_truncation_covered))
        return
    program = seccomp.read_only_filter(machine, asks_about_signals=restrictions.listener is not None)
    listener = seccomp.install(program, listener=restrictions.listener is not None)
    if restrictions.listener is not None and listener is not None:
        import _socket

        rights = (_socket.SOL_SOCKET, _socket.SCM_RIGHTS, listener.to_bytes(4, sys.byteorder))
        restrictions.listener.sendmsg([b"."], [rights])
        os.close(listener)


def _wait(child: int, max_processes: int, channel: "socket | None") -> int:
    """Wait until the command ends, the runtime is gone, or there are too many processes. Returns the exit status."""
    child_fd = os.pidfd_open(child)
    listener = None
    while True:
        signal_fds = [source.fileno() for source in (channel, listener) if source is not None]
        ready, _, _ = select.select([0, child_fd, *signal_fds], [], [], _POLL_SECONDS)
        if 0 in ready and not os.read(0, 1):
            return 128 + _SIGKILL
        status = _reap(child)
        if status is not None:
            return status
        if channel is not None and channel.fileno() in ready:
            listener, channel = _receive_listener(channel), None
        elif listener is not None and listener.fileno() in ready:
            listener.answer()
        if len(descendants(os.getpid(), max_processes + 1)) > max_processes:
            return TOO_MANY_PROCESSES_STATUS


def _receive_listener(channel: "socket") -> "SignalListener | None":
    """The descriptor that the child sends before it executes the command; None where the child failed before."""
    from pilothouse.sandbox.signal_listener import SignalListener

    with_rights = channel.recvmsg(1, 64)[1]
    channel.close()
    return SignalListener(int.from_bytes(with_rights[0][2][:4], sys.byteorder)) if with_rights else None


def _reap(child: int) -> int | None:
    """Reap ended children. Returns the command's status, if the command was among them."""
    status = None
    for _ in range(MAX_REAPED_AT_ONCE):  # processes may end faster than this loop runs
        try:
            pid, wait_status = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return status
        if pid == 0:
            return status
        if pid == child:
            code = os.waitstatus_to_exitcode(wait_status)
            status = code if code >= 0 else 128 - code
    return status


def _kill_all() -> None:
    """Kill this process's children until none is left: the children of a killed process become its own."""
    _raise_priority()
    deadline = os.times().elapsed + MAX_ENDING_SECONDS
    killed: list[int] = []
    while os.times().elapsed < deadline:
        remaining = children(os.getpid())
        if not remaining and not _has_children():
            return
        if not _kill(remaining):  # processes of another user
            select.select([], [], [], _POLL_SECONDS)
        elif remaining == killed:  # a process that waits for a disk or frees much memory takes long to die
            select.select([], [], [], _DYING_POLL_SECONDS)
        killed = remaining
        _reap(0)


def _raise_priority() -> None:
    """As root: a flood of processes leaves little time to the process that kills them."""
    try:
        os.setpriority(os.PRIO_PROCESS, 0, -20)
    except OSError:
        pass


def _kill(pids: list[int]) -> bool:
    """Kill children with their whole process groups, the newest first. Returns whether any signal was permitted.

    Chains of processes that each start the next one and exit are faster than a scan of all processes, but no process
    that is being forked escapes a signal to its group. The kernel gives the number of a child to no other process
    before `_reap`, so no group belongs to a foreign process. The own group contains the supervisors, and is spared.
    """
    groups = {os.getpgrp()}
    is_permitted = False
    for pid in reversed(pids):
        try:
            group = os.getpgid(pid)
            if group not in groups:
                groups.add(group)
                os.killpg(group, _SIGKILL)
            os.kill(pid, _SIGKILL)
            is_permitted = True
        except OSError:
            continue
    return is_permitted


def _has_children() -> bool:
    """Whether there are children; the list in /proc may omit some while others end."""
    try:
        os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
    except ChildProcessError:
        return False
    return True


if __name__ == "__main__":
    main(sys.argv[1:])
