"""`ProcessHandles`: a process with everything below it, held so that none is lost when its parent ends first."""

import asyncio
import os
import select
import signal
from contextlib import suppress

from pilothouse.sandbox.process_tree import descendants


class ProcessHandles:
    """Handles of a process and of its descendants. A handle keeps naming its process after another one has become the
    parent, and never names a new process that reuses the number. Without pidfds (other systems, Linux before 5.3), only
    the process itself is signalled and nothing can be waited for."""

    def __init__(self, pid: int) -> None:
        self._pid = pid
        self._handles: dict[int, int] = {}
        """By process id: the pidfd."""

    def __enter__(self) -> "ProcessHandles":
        return self

    def __exit__(self, *_: object) -> None:
        for handle in self._handles.values():
            os.close(handle)
        self._handles.clear()

    def signal(self, number: signal.Signals) -> None:
        """Send a signal to each process, children before their parents."""
        self._open_new()
        if not self._handles:
            with suppress(ProcessLookupError, PermissionError):
                os.kill(self._pid, number)
        for handle in reversed(self._handles.values()):
            with suppress(ProcessLookupError, PermissionError):
                signal.pidfd_send_signal(handle, number)

    async def have_ended(self, seconds: float) -> bool:
        """Wait until every process has ended, for at most `seconds`."""
        return await asyncio.to_thread(self._wait, seconds)

    def _open_new(self) -> None:
        """Open handles of the processes that have been started since."""
        if not hasattr(os, "pidfd_open"):
            return
        # The number of a process that has ended may name another one by now.
        running = [pid for pid, handle in self._handles.items() if not _has_ended(handle)]
        for parent in running if self._handles else [self._pid]:
            for pid in (parent, *descendants(parent)):
                if pid not in self._handles:
                    with suppress(OSError):  # ended already, or an old kernel
                        self._handles[pid] = os.pidfd_open(pid)

    def _wait(self, seconds: float) -> bool:
        running = select.poll()
        for handle in self._handles.values():
            running.register(handle, select.POLLIN)
        count = len(self._handles)
        # The handles that are ready are unregistered, so each call waits for the ones that are left.
        while count and (ready := running.poll(seconds * 1000)):
            for handle, _ in ready:
                running.unregister(handle)
            count -= len(ready)
        return count == 0


def _has_ended(handle: int) -> bool:
    ended = select.poll()
    ended.register(handle, select.POLLIN)
    return bool(ended.poll(0))
