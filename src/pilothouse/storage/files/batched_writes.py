"""`BatchedWrites`: small writes of many contexts, done together in one thread at a time."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import NamedTuple

from pilothouse.domain.errors import StoreError

_Outcome = Exception | None


class _Write(NamedTuple):
    work: Callable[[], None]
    done: "asyncio.Future[None]"


class BatchedWrites:
    """Writes that arrive while a thread works wait for the next thread, which does all of them: with a hundred streams,
    a thread for each write would cost more than the writes."""

    def __init__(self, run: Callable[[Callable[[], Sequence[_Outcome]]], Awaitable[Sequence[_Outcome]]]) -> None:
        """`run` runs a function in a thread of the store."""
        self._run = run
        self._waiting: list[_Write] = []
        self._task: asyncio.Task[None] | None = None

    async def write(self, work: Callable[[], None]) -> None:
        """Do a write. A cancelled caller leaves it in the batch. Raises: StoreError."""
        done: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.append(_Write(work, done))
        if self._task is None:
            self._task = asyncio.create_task(self._write_batches())
        await done

    async def _write_batches(self) -> None:
        batch: list[_Write] = []
        try:
            while self._waiting:
                batch, self._waiting = self._waiting, []
                for write, error in zip(batch, await self._outcomes(batch), strict=True):
                    if write.done.done():  # the caller was cancelled
                        continue
                    if error is None:
                        write.done.set_result(None)
                    else:
                        write.done.set_exception(error)
        finally:
            self._task = None
            left, self._waiting = (*batch, *self._waiting), []
            for write in left:  # not done where this task was cancelled or failed
                write.done.cancel()

    async def _outcomes(self, batch: Sequence[_Write]) -> Sequence[_Outcome]:
        try:
            return await self._run(lambda: [_outcome(write.work) for write in batch])
        except StoreError as error:  # the data directory is gone
            return [error] * len(batch)


def _outcome(work: Callable[[], None]) -> _Outcome:
    try:
        work()
    except Exception as error:  # a failed write must not fail those of other contexts
        return error
    return None
