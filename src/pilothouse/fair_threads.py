"""Threads for blocking work, shared fairly between users: nobody's long work takes all of them."""

import contextlib
import threading
from collections import Counter, deque
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextvars import ContextVar
from typing import Any, ParamSpec, TypeVar

MAX_THREADS = 32
MAX_THREADS_PER_USER = 4

acting_user: ContextVar[str | None] = ContextVar("acting_user", default=None)
"""The user for whom the present task works. The server sets it for a request, the driver for a turn; None is the
runtime itself."""

P = ParamSpec("P")
T = TypeVar("T")


class FairThreads(ThreadPoolExecutor):
    """A pool in which the work of one user has a bounded number of threads; more of it waits in order.

    As a loop's default executor it holds for every `asyncio.to_thread`: scans of a workspace, hashing, diffs.
    """

    def __init__(
        self, max_threads: int = MAX_THREADS, max_per_user: int = MAX_THREADS_PER_USER, name: str = "work"
    ) -> None:
        super().__init__(max_threads, thread_name_prefix=name)
        self._max_per_user = max_per_user
        self._lock = threading.Lock()
        self._running: Counter[str] = Counter()
        self._waiting: dict[str, deque[Callable[[], None]]] = {}

    def submit(self, function: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> "Future[T]":
        user = acting_user.get()
        if user is None:
            return super().submit(function, *args, **kwargs)
        future: Future[T] = Future()

        def work() -> None:
            _fill(future, lambda: function(*args, **kwargs))

        with self._lock:
            if self._running[user] >= self._max_per_user:
                self._waiting.setdefault(user, deque()).append(work)
                return future
            self._running[user] += 1
        try:
            super().submit(self._run, user, work)
        except RuntimeError:  # the pool is shut down
            self._next(user)
            raise
        return future

    def _run(self, user: str, work: Callable[[], None]) -> None:
        next_work: Callable[[], None] | None = work
        while next_work is not None:
            next_work()
            next_work = self._next(user)
            if next_work is not None:
                with contextlib.suppress(RuntimeError):  # the pool is shutting down: this thread does the rest
                    super().submit(self._run, user, next_work)  # behind the work of others
                    return

    def _next(self, user: str) -> Callable[[], None] | None:
        with self._lock:
            waiting = self._waiting.get(user)
            if waiting:
                return waiting.popleft()
            self._waiting.pop(user, None)
            self._running[user] -= 1
            if not self._running[user]:
                del self._running[user]
            return None


def _fill(future: "Future[Any]", function: Callable[[], Any]) -> None:
    if not future.set_running_or_notify_cancel():
        return
    try:
        result = function()
    except BaseException as error:  # whoever waits for it gets it
        future.set_exception(error)
    else:
        future.set_result(result)
