"""The keeper: a small process of its own around each command. Nothing of the command outlives it, wherever it moves to.

All that loses its parent comes to the keeper, so that even what has left its group, its session and its environment
can be found. When the runtime is gone, however it went, the keeper's input ends, and it ends everything.
It imports as little as it can, not even `signal`: it starts with every command.
"""

import os
import resource
import select
import sys

from pilothouse.sandbox import landlock, seccomp
from pilothouse.sandbox.process_tree import children, descendants

TYPE_CHECKING = False
if TYPE_CHECKING:  # what types need takes longer to import than all the rest
    from _socket import socket
    from collections.abc import Callable

    from pilothouse.sandbox.signal_listener import SignalListener

_PR_SET_CHILD_SUBREAPER = 36
_SIGKILL, _SIGPIPE = 9, 13
_LOOK_EVERY = 0.05
_DYING_LOOK_EVERY = 0.002
MAX_ENDING_SECONDS = 10
MAX_REAPED_AT_ONCE = 1024
_ABI_WITH_TRUNCATION, _ABI_WITH_SIGNALS = 3, 6
NOT_STARTED, TOO_MANY = 126, -1


def main(spec: list[str]) -> None:
    """`spec`: how it is confined (no, read_only, workspace), the version of the Landlock ABI to use (0 for none),
    whether to filter system calls, how many processes it may be, the descriptor of a file with the grants, then the
    program and its arguments."""
    confinement, abi, is_filtered, processes, granted, *argv = spec
    grants = _read_grants(int(granted))
    _limit_core_files()
    limit = int(processes)
    version, has_filter = int(abi), is_filtered == "1"
    asks_about_signals = confinement == "read_only" and 0 < version < _ABI_WITH_SIGNALS and has_filter
    ours, theirs = _channel() if asks_about_signals else (None, None)

    if _is_runtime_gone():
        os._exit(128 + _SIGKILL)

    def become() -> None:
        _become(_Confined(confinement, version, has_filter, grants, theirs), argv)

    # Twice: a command that ends its keeper finds another one behind it.
    _guard(2 * limit, lambda: _guard(limit, become, ours, theirs))


def _is_runtime_gone() -> bool:
    """Whether the input has ended.

    Asked before anything is started: a runtime that was killed after it had forked and before this program ran left no
    process that its successor could find by its mark. The successor has told the person by now that the command did
    not end; it must not begin then.
    """
    return bool(select.select([0], [], [], 0)[0]) and not os.read(0, 1)


def _limit_core_files() -> None:
    """One byte: no core file, and (unlike 0) no crash handler of the machine, which would run outside.

    A hard limit of 0 cannot be raised.
    """
    hard = resource.getrlimit(resource.RLIMIT_CORE)[1]
    allowed = 0 if hard == 0 else 1
    resource.setrlimit(resource.RLIMIT_CORE, (allowed, allowed))


def _read_grants(fd: int) -> "list[landlock.Grant]":
    """Leaves and paths in turn. The file is closed before the command starts."""
    with open(fd, "rb") as file:
        data = file.read()
    parts = os.fsdecode(data).split("\0") if data else []
    return list(zip(parts[1::2], parts[::2], strict=True))


class _Confined:
    """How a command is confined."""

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
        """Takes the descriptor on which the kernel asks about signals, where the keeper decides about them."""


def _channel() -> "tuple[socket, socket]":
    import _socket

    return _socket.socketpair()


def _guard(
    processes: int,
    inside: "Callable[[], None]",
    channel: "socket | None" = None,
    theirs: "socket | None" = None,
) -> None:
    """Do something in a child, and let nothing of it outlive this process. Does not return."""
    landlock._libc().prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    child = os.fork()
    if child == 0:
        inside()
    status = 128 + _SIGKILL
    try:
        if theirs is not None:
            theirs.close()
        status = _keep(child, processes, channel)
    finally:
        _end_all()
        if status == TOO_MANY:
            _say(f"\n[ended: it had more than {processes} processes]\n")
        os._exit(128 + _SIGKILL if status == TOO_MANY else status)


def _say(text: str) -> None:
    try:
        os.write(2, text.encode())
    except OSError:
        pass  # nobody reads any more


def _become(confined: _Confined, argv: list[str]) -> None:
    """In the child: give away what it must not have, then become the command."""
    try:
        os.setsid()
        nothing = os.open(os.devnull, os.O_RDONLY)
        os.dup2(nothing, 0)
        if landlock.abi() < confined.version:
            raise OSError("the kernel has less of Landlock than the command must be confined with")
        if confined.version:
            landlock.confine(confined.grants, network=confined.kind != "read_only", version=confined.version)
        elif confined.kind == "workspace":
            raise OSError("the kernel has no Landlock")
        if confined.kind != "no":
            landlock.give_up_capabilities(landlock.WORKSPACE_CAPABILITIES if confined.kind == "workspace" else 0)
        _filter(confined)
        landlock._libc().signal(_SIGPIPE, None)  # Python ignores it, and what it starts would, too
        os.execve(argv[0], argv, os.environ)  # noqa: S606
    except OSError as error:
        _say(f"[not started: {error}]\n")
    finally:
        os._exit(NOT_STARTED)


def _filter(confined: _Confined) -> None:
    """Refuse the system calls that Landlock does not know. Raises: OSError."""
    machine = os.uname().machine
    if confined.kind == "workspace" and not confined.has_filter:
        raise OSError("the command must be confined with a filter of system calls")
    if confined.kind == "no" or not confined.has_filter:
        return
    if not seccomp.is_available():
        raise OSError("the kernel takes no filter of system calls, and the command must be confined with one")
    if confined.kind == "workspace":
        is_truncation_known = confined.version >= _ABI_WITH_TRUNCATION
        seccomp.install(seccomp.workspace_program(machine, allows_truncation=is_truncation_known))
        return
    program = seccomp.reading_program(machine, asks_about_signals=confined.listener is not None)
    listener = seccomp.install(program, listener=confined.listener is not None)
    if confined.listener is not None and listener is not None:
        import _socket

        rights = (_socket.SOL_SOCKET, _socket.SCM_RIGHTS, listener.to_bytes(4, sys.byteorder))
        confined.listener.sendmsg([b"."], [rights])
        os.close(listener)


def _keep(child: int, processes: int, channel: "socket | None") -> int:
    """Wait until the command is over, the runtime is gone, or there are too many processes."""
    ended = os.pidfd_open(child)
    listener = None
    while True:
        asking = [each.fileno() for each in (channel, listener) if each is not None]
        ready, _, _ = select.select([0, ended, *asking], [], [], _LOOK_EVERY)
        if 0 in ready and not os.read(0, 1):
            return 128 + _SIGKILL
        over = _reap(child)
        if over is not None:
            return over
        if channel is not None and channel.fileno() in ready:
            listener, channel = _received(channel), None
        elif listener is not None and listener.fileno() in ready:
            listener.answer()
        if len(descendants(os.getpid(), processes + 1)) > processes:
            return TOO_MANY


def _received(channel: "socket") -> "SignalListener | None":
    """The descriptor that the child sends before it becomes the command; none where it did not come so far."""
    from pilothouse.sandbox.signal_listener import SignalListener

    with_rights = channel.recvmsg(1, 64)[1]
    channel.close()
    return SignalListener(int.from_bytes(with_rights[0][2][:4], sys.byteorder)) if with_rights else None


def _reap(child: int) -> int | None:
    """Take leave of those that have ended. Gives the command's status, if it was among them."""
    status = None
    for _ in range(MAX_REAPED_AT_ONCE):  # processes may end faster than this loop runs
        try:
            pid, found = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return status
        if pid == 0:
            return status
        if pid == child:
            code = os.waitstatus_to_exitcode(found)
            status = code if code >= 0 else 128 - code
    return status


def _end_all() -> None:
    """Kill our children until none is left: what a killed process has started comes to us as well."""
    _raise_priority()
    deadline = os.times().elapsed + MAX_ENDING_SECONDS
    killed: list[int] = []
    while os.times().elapsed < deadline:
        left = children(os.getpid())
        if not left and not _has_children():
            return
        if not _end(left):  # processes of another user
            select.select([], [], [], _LOOK_EVERY)
        elif left == killed:  # a process may take long to die: one that waits for a disk, or gives back much memory
            select.select([], [], [], _DYING_LOOK_EVERY)
        killed = left
        _reap(0)


def _raise_priority() -> None:
    """As root: a flood of processes leaves little time to the one that ends them."""
    try:
        os.setpriority(os.PRIO_PROCESS, 0, -20)
    except OSError:
        pass


def _end(pids: list[int]) -> bool:
    """Kill children with their whole process groups, the newest first. Gives whether any of that was permitted.

    Chains of processes that each start the next one and exit are faster than a look at all of them, but no process
    that is being forked slips through a signal to its group. The kernel gives the number of a child to no other
    process before `_reap`, so no group is a stranger's. Our own group holds the keepers.
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
    """Whether there are children; the list in /proc may leave some out while others end."""
    try:
        os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
    except ChildProcessError:
        return False
    return True


if __name__ == "__main__":
    main(sys.argv[1:])
