"""Shield a coroutine, or blocking work in a thread, from cancellation and wait for its end."""

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

T = TypeVar("T")


async def run_to_completion_in_thread(work: Callable[[], T]) -> T:
    """Run blocking work in a thread. A cancelled caller waits for its end, since a thread cannot be stopped."""
    results: list[T] = []

    async def run() -> None:
        results.append(await asyncio.to_thread(work))

    await run_to_completion(run())
    return results[0]


async def run_to_completion(work: Coroutine[Any, Any, object]) -> None:
    """Run a coroutine to its end even if the caller is cancelled; then raise the cancellation."""
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
