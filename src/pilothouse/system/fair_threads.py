"""A thread pool for blocking work that users share fairly: the work of one user never takes all threads."""

import contextlib
import threading
from collections import Counter, deque
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextvars import ContextVar
from typing import Any, NamedTuple, ParamSpec, TypeVar

MAX_THREADS = 32
MAX_THREADS_PER_USER = 4

acting_user: ContextVar[str | None] = ContextVar("acting_user", default=None)
"""The user for whom the present task works. The server sets the variable for a request, the driver for a turn. None
stands for the runtime itself."""

P = ParamSpec("P")
T = TypeVar("T")


class _Work(NamedTuple):
    future: "Future[Any]"
    """The future of the submitter. The pool has another future, for the thread that does the work."""
    function: Callable[[], Any]


class FairThreads(ThreadPoolExecutor):
    """A pool with a bounded number of threads for each user. Further work of a user waits in order.

    As the default executor of an event loop, the pool bounds every `asyncio.to_thread`: scans of a workspace, hashing,
    diffs.
    """

    def __init__(
        self, max_threads: int = MAX_THREADS, max_per_user: int = MAX_THREADS_PER_USER, name: str = "work"
    ) -> None:
        super().__init__(max_threads, thread_name_prefix=name)
        self._max_per_user = max_per_user
        self._lock = threading.Lock()
        self._running: Counter[str] = Counter()
        self._waiting: dict[str, deque[_Work]] = {}
        self._is_shut_down = False

    def submit(self, function: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> "Future[T]":
        user = acting_user.get()
        if user is None:
            return super().submit(function, *args, **kwargs)
        future: Future[T] = Future()
        work = _Work(future, lambda: function(*args, **kwargs))
        with self._lock:
            if self._is_shut_down:
                raise RuntimeError("cannot schedule new futures after shutdown")
            if self._running[user] >= self._max_per_user:
                self._waiting.setdefault(user, deque()).append(work)
                return future
            self._running[user] += 1
        try:
            self._submit_work(user, work)
        except RuntimeError:  # the pool is shut down
            self._release_refused(user)
            raise
        return future

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Without `cancel_futures`, work that waits for a thread of its user is still finished."""
        with self._lock:
            self._is_shut_down = True
            waiting = [work for user_work in self._waiting.values() for work in user_work] if cancel_futures else []
            if cancel_futures:
                self._waiting.clear()
        for work in waiting:
            work.future.cancel()
        super().shutdown(wait, cancel_futures=cancel_futures)

    def _submit_work(self, user: str, work: "_Work") -> None:
        """Raises: RuntimeError after a shutdown of the pool."""

        def end(pool_future: "Future[None]") -> None:
            if pool_future.cancelled():  # the pool was shut down before a thread was free
                work.future.cancel()

        super().submit(self._run, user, work).add_done_callback(end)

    def _run(self, user: str, work: "_Work") -> None:
        next_work: _Work | None = work
        while next_work is not None:
            _complete(next_work)
            next_work = self._next(user)
            if next_work is not None:
                with contextlib.suppress(RuntimeError):  # the pool is shutting down: this thread does the rest
                    self._submit_work(user, next_work)  # queued after the work of others
                    return

    def _next(self, user: str) -> "_Work | None":
        with self._lock:
            waiting = self._waiting.get(user)
            if waiting:
                return waiting.popleft()
            self._waiting.pop(user, None)
            self._release(user)
            return None

    def _release_refused(self, user: str) -> None:
        """Release a thread that the pool refused. Waiting work is cancelled if the user has no other thread."""
        with self._lock:
            self._release(user)
            waiting = self._waiting.pop(user, ()) if user not in self._running else ()
        for work in waiting:
            work.future.cancel()

    def _release(self, user: str) -> None:
        self._running[user] -= 1
        if not self._running[user]:
            del self._running[user]


def _complete(work: _Work) -> None:
    if not work.future.set_running_or_notify_cancel():
        return
    try:
        result = work.function()
    except BaseException as error:  # raised by the future to its waiter
        work.future.set_exception(error)
    else:
        work.future.set_result(result)
