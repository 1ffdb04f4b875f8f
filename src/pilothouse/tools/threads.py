"""Blocking work in threads, cancelled together with the call that waits for it."""

import asyncio
import threading
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractContextManager, asynccontextmanager
from typing import Any, TypeVar

_CANCEL_TIMEOUT_SECONDS = 0.5
T = TypeVar("T")
IsStopped = Callable[[], bool]
"""Returns True once the caller of a thread was cancelled."""


class Stopped(Exception):
    """Work in a thread was given up because its caller was cancelled: nobody waits for the result."""


async def in_thread(function: Callable[..., Any], *args: Any) -> Any:
    """Run blocking work in a thread. Threads cannot be stopped: a cancelled caller waits briefly for the thread, so
    that nothing is written after the call has ended."""
    return await _wait_shielded(asyncio.ensure_future(asyncio.to_thread(function, *args)))


async def until_cancelled(work: Callable[[IsStopped], T]) -> T:
    """Run blocking work in a thread. `work` receives a function that returns True once the caller was cancelled."""
    stop = threading.Event()
    return await _wait_shielded(asyncio.ensure_future(asyncio.to_thread(work, stop.is_set)), stop.set)


@asynccontextmanager
async def entered_in_thread(manager: AbstractContextManager[T]) -> AsyncIterator[T]:
    """Enter a context manager in a thread and leave it on the event loop. A cancelled caller leaves the manager as soon
    as the thread has entered it."""
    entering = asyncio.ensure_future(asyncio.to_thread(manager.__enter__))

    def leave(entered: "asyncio.Future[T]") -> None:
        if not entered.cancelled() and entered.exception() is None:
            manager.__exit__(None, None, None)

    try:
        yield await asyncio.shield(entering)
    finally:
        entering.add_done_callback(leave)


async def _wait_shielded(running: "asyncio.Future[T]", stop: Callable[[], None] = lambda: None) -> T:
    """Wait for a thread; after a cancellation, call `stop` and wait briefly for the thread to end."""
    try:
        return await asyncio.shield(running)
    except asyncio.CancelledError:
        stop()
        running.add_done_callback(_retrieve_exception)
        await asyncio.wait({running}, timeout=_CANCEL_TIMEOUT_SECONDS)
        raise


def _retrieve_exception(future: "asyncio.Future[Any]") -> None:
    """Keep asyncio from logging an exception that nobody waits for."""
    if not future.cancelled():
        future.exception()
