"""Work that comes to its end whoever waits for it."""

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

T = TypeVar("T")


async def finish_in_thread(work: Callable[[], T]) -> T:
    """The same for blocking work: a thread cannot be stopped, so who is cancelled waits for it."""
    found: list[T] = []

    async def run() -> None:
        found.append(await asyncio.to_thread(work))

    await finish(run())
    return found[0]


async def finish(work: Coroutine[Any, Any, object]) -> None:
    """Run to the end even if the caller is cancelled meanwhile; the cancellation then goes on."""
    task = asyncio.ensure_future(work)
    try:
        await asyncio.shield(task)
    except asyncio.CancelledError:
        while not task.done():
            try:
                await asyncio.wait({task})
            except asyncio.CancelledError:
                continue
        if not task.cancelled():
            task.result()
        raise
