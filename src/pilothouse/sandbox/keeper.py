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

TYPE_CHECKING = False
if TYPE_CHECKING:  # what types need takes longer to import than all the rest
    from collections.abc import Callable

_PR_SET_CHILD_SUBREAPER = 36
_SIGKILL, _SIGPIPE = 9, 13
_LOOK_EVERY = 0.05
_KILLING_AT_MOST = 200
NOT_STARTED, TOO_MANY = 126, -1


def main(spec: list[str]) -> None:
    """`spec`: how it is confined (no, read_only, workspace), how many processes it may be, how many grants follow, each
    a leave and a path, then the program and its arguments."""
    confinement, processes, count, *rest = spec
    size = 2 * int(count)
    grants, argv = list(zip(rest[1:size:2], rest[0:size:2], strict=True)), rest[size:]
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    limit = int(processes)
    # Twice: a command that ends its keeper finds another one behind it.
    _guard(2 * limit, lambda: _guard(limit, lambda: _become(confinement, grants, argv)))


def _guard(processes: int, inside: "Callable[[], None]") -> None:
    """Do something in a child, and let nothing of it outlive this process. Does not return."""
    landlock._libc().prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    child = os.fork()
    if child == 0:
        inside()
    status = 128 + _SIGKILL
    try:
        status = _keep(child, processes)
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


def _become(confinement: str, grants: list[landlock.Grant], argv: list[str]) -> None:
    """In the child: give away what it must not have, then become the command."""
    try:
        os.setsid()
        nothing = os.open(os.devnull, os.O_RDONLY)
        os.dup2(nothing, 0)
        if confinement != "no":
            landlock.confine(grants, network=confinement != "read_only")
        if confinement == "read_only":
            landlock.give_up_capabilities()
        if confinement == "read_only" and seccomp.is_known():
            seccomp.refuse_changes()
        landlock._libc().signal(_SIGPIPE, None)  # Python ignores it, and what it starts would, too
        os.execve(argv[0], argv, os.environ)  # noqa: S606
    except OSError as error:
        _say(f"[not started: {error}]\n")
    finally:
        os._exit(NOT_STARTED)


def _keep(child: int, processes: int) -> int:
    """Wait until the command is over, the runtime is gone, or there are too many processes."""
    ended = os.pidfd_open(child)
    while True:
        ready, _, _ = select.select([0, ended], [], [], _LOOK_EVERY)
        if 0 in ready and not os.read(0, 1):
            return 128 + _SIGKILL
        over = _reap(child)
        if over is not None:
            return over
        if len(descendants(os.getpid())) > processes:
            return TOO_MANY


def _reap(child: int) -> int | None:
    """Take leave of all that have ended. Gives the command's status, if it was among them."""
    status = None
    while True:
        try:
            pid, found = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return status
        if pid == 0:
            return status
        if pid == child:
            code = os.waitstatus_to_exitcode(found)
            status = code if code >= 0 else 128 - code


def _end_all() -> None:
    """Kill whatever is left until nothing is: what is just being made comes to us as well."""
    for _ in range(_KILLING_AT_MOST):
        for pid in descendants(os.getpid()):
            try:
                os.kill(pid, _SIGKILL)
            except OSError:
                continue
        _reap(0)
        try:
            os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
        except ChildProcessError:
            return
        select.select([], [], [], 0.005)


def descendants(of: int) -> list[int]:
    found: list[int] = []
    todo = [of]
    while todo:
        parent = todo.pop()
        children = _children(parent)
        found += children
        todo += children
    return found


def _children(pid: int) -> list[int]:
    try:
        tasks = os.listdir(f"/proc/{pid}/task")
    except OSError:
        return []
    found: list[int] = []
    for task in tasks:
        try:
            with open(f"/proc/{pid}/task/{task}/children", "rb") as file:
                found += map(int, file.read().split())
        except OSError:
            continue
    return found


if __name__ == "__main__":
    main(sys.argv[1:])
