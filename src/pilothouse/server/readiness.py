"""Whether the server can store what its clients send, for probes that need no token."""

import asyncio

from pilothouse.runtime.runtime import Runtime

CHECK_INTERVAL_SECONDS = 1.0
CHECK_TIMEOUT_SECONDS = 2.0


class Readiness:
    """The result of the last check of the store.

    Anybody may ask. Therefore one check runs at a time, and at most one starts in CHECK_INTERVAL_SECONDS, however many
    requests there are: a check may write to a disk that refused the last write.
    """

    def __init__(self) -> None:
        self._check: asyncio.Task[bool] | None = None
        self._started_at = 0.0

    async def is_ready(self, runtime: Runtime) -> bool:
        """Whether the store is usable. A store that does not answer within CHECK_TIMEOUT_SECONDS is not."""
        now = runtime.ambient.monotonic()
        check = self._check
        if check is None or (check.done() and now - self._started_at >= CHECK_INTERVAL_SECONDS):
            check = self._check = asyncio.create_task(_is_store_usable(runtime))
            self._started_at = now
        done, _ = await asyncio.wait((check,), timeout=CHECK_TIMEOUT_SECONDS)
        return bool(done) and check.result()


async def _is_store_usable(runtime: Runtime) -> bool:
    return (await runtime.health()).refusal is None
