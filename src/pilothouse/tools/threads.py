"""Blocking work off the event loop."""

import asyncio
import threading
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractContextManager, asynccontextmanager
from typing import Any, TypeVar

_WAIT_SECONDS = 0.5
T = TypeVar("T")


async def in_thread(function: Callable[..., Any], *args: Any) -> Any:
    """Run blocking work in a thread. Threads cannot be stopped: a cancelled caller waits for it, briefly, so that
    nothing is written after the call has ended."""
    return await _waited_for(asyncio.ensure_future(asyncio.to_thread(function, *args)))


async def until_cancelled(work: Callable[[Callable[[], bool]], T]) -> T:
    """Run blocking work in a thread; `work` gets a function that says whether it should stop."""
    stop = threading.Event()
    return await _waited_for(asyncio.ensure_future(asyncio.to_thread(work, stop.is_set)), stop.set)


@asynccontextmanager
async def entered_in_thread(manager: AbstractContextManager[T]) -> AsyncIterator[T]:
    """Enter a context manager in a thread and leave it here. A cancelled caller leaves it as soon as it is entered."""
    entering = asyncio.ensure_future(asyncio.to_thread(manager.__enter__))

    def leave(entered: "asyncio.Future[T]") -> None:
        if not entered.cancelled() and entered.exception() is None:
            manager.__exit__(None, None, None)

    try:
        yield await asyncio.shield(entering)
    finally:
        entering.add_done_callback(leave)


async def _waited_for(running: "asyncio.Future[T]", stop: Callable[[], None] = lambda: None) -> T:
    try:
        return await asyncio.shield(running)
    except asyncio.CancelledError:
        stop()
        await asyncio.wait({running}, timeout=_WAIT_SECONDS)
        raise
