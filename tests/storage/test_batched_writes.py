"""Small writes of many contexts share a thread, and fail each by itself."""

import asyncio
from collections.abc import Callable, Sequence
from functools import partial

import pytest

from pilothouse.domain.codes import Code
from pilothouse.domain.errors import StoreRefused, StoreUnavailable
from pilothouse.storage.files.batched_writes import BatchedWrites


class Threads:
    """Runs batches one at a time, each when the test releases it."""

    def __init__(self) -> None:
        self.batches: list[int] = []
        self.released = asyncio.Semaphore(0)
        self.error: Exception | None = None

    async def run(self, work: Callable[[], Sequence[Exception | None]]) -> Sequence[Exception | None]:
        await self.released.acquire()
        if self.error is not None:
            raise self.error
        outcomes = await asyncio.to_thread(work)
        self.batches.append(len(outcomes))
        return outcomes


async def test_writes_that_arrive_while_a_thread_works_share_the_next_one() -> None:
    threads, written = Threads(), list[int]()
    writes = BatchedWrites(threads.run)
    first = asyncio.ensure_future(writes.write(lambda: written.append(0)))
    await asyncio.sleep(0)
    others = [asyncio.ensure_future(writes.write(partial(written.append, number))) for number in (1, 2, 3)]
    threads.released.release()
    await first
    threads.released.release()
    await asyncio.gather(*others)
    assert (threads.batches, written) == ([1, 3], [0, 1, 2, 3])


async def test_a_refused_write_fails_no_other() -> None:
    threads, written = Threads(), list[str]()
    writes = BatchedWrites(threads.run)

    def refuse() -> None:
        raise StoreRefused(Code.STORE_REFUSED, detail="no space left")

    tasks = [asyncio.ensure_future(writes.write(work)) for work in (refuse, lambda: written.append("a"))]
    threads.released.release()
    refused, accepted = await asyncio.gather(*tasks, return_exceptions=True)
    assert isinstance(refused, StoreRefused)
    assert (accepted, written) == (None, ["a"])


async def test_every_write_of_a_batch_fails_without_the_data_directory() -> None:
    threads = Threads()
    threads.error = StoreUnavailable(Code.STORE_UNAVAILABLE, path="/gone", detail="")
    writes = BatchedWrites(threads.run)
    tasks = [asyncio.ensure_future(writes.write(lambda: None)) for _ in range(2)]
    threads.released.release()
    outcomes = await asyncio.gather(*tasks, return_exceptions=True)
    assert [type(outcome) for outcome in outcomes] == [StoreUnavailable, StoreUnavailable]


async def test_a_cancelled_caller_leaves_its_write_in_the_batch() -> None:
    threads, written = Threads(), list[str]()
    writes = BatchedWrites(threads.run)
    cancelled = asyncio.ensure_future(writes.write(lambda: written.append("a")))
    await asyncio.sleep(0)
    cancelled.cancel()
    with pytest.raises(asyncio.CancelledError):
        await cancelled
    threads.released.release()
    threads.released.release()
    await writes.write(lambda: written.append("b"))
    assert written == ["a", "b"]
