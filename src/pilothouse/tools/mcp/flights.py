"""Requests under way on a connection: whose they are, how long they may take, and whom a server's question reaches."""

from __future__ import annotations

import asyncio
import contextlib
import contextvars
from collections.abc import Coroutine
from typing import Any, TypeVar

from pilothouse.tools.mcp.values import Asker

T = TypeVar("T")
_LEAVE_SECONDS = 0.5
GHOST_SECONDS = 30.0
MESSAGE_AT_MOST = 4000

# Set while a request is made. Over HTTP the SDK carries it to what comes back on the request's own stream.
_OWN: contextvars.ContextVar[Flight | None] = contextvars.ContextVar("mcp_flight", default=None)


class Flight:
    """One request. Its clock stands while a person is being asked."""

    def __init__(self, asker: Asker | None) -> None:
        self.asker = asker
        self._questions: set[asyncio.Future[Any]] = set()
        self._limit: asyncio.Timeout | None = None
        self._left: float | None = None

    async def run(self, request: Coroutine[Any, Any, T], seconds: float, kept: set[asyncio.Task[Any]]) -> T:
        """Raises: TimeoutError, ConnectionAbortedError, and what the request raises. Who is cancelled
        waits hardly: the word to the server goes out in the background, by a task in `kept`."""
        context = contextvars.copy_context()
        context.run(_OWN.set, self)
        task = asyncio.create_task(request, context=context)
        kept.add(task)
        task.add_done_callback(lambda done: _forget(done, kept))
        try:
            async with asyncio.timeout(seconds) as self._limit:
                await asyncio.wait({task})
            if task.cancelled():
                raise ConnectionAbortedError
            return task.result()
        finally:
            self._limit = None
            for question in self._questions:
                question.cancel()
            if not task.done():
                task.cancel()
                await asyncio.wait({task}, timeout=_LEAVE_SECONDS)

    async def ask(self, message: str, schema: dict[str, Any]) -> dict[str, Any] | None:
        """What the person answers; None when they decline, when nobody can be asked, when the call has ended."""
        if self.asker is None or self._limit is None:
            return None
        question = asyncio.ensure_future(self.asker(message[:MESSAGE_AT_MOST], schema))
        self._questions.add(question)
        self._stand()
        try:
            # Not awaited itself: a cancelled question would pass for a cancelled handler, and end the session.
            await asyncio.wait({question})
            failed = question.cancelled() or question.exception() is not None
            return None if failed else question.result()
        finally:
            question.cancel()
            self._questions.discard(question)
            self._go_on()

    def _stand(self) -> None:
        limit = self._limit
        if limit is not None and limit.when() is not None:
            self._left = (limit.when() or 0) - asyncio.get_running_loop().time()
            limit.reschedule(None)

    def _go_on(self) -> None:
        if self._limit is not None and self._left is not None and not self._questions:
            with contextlib.suppress(RuntimeError):  # it has just ended
                self._limit.reschedule(asyncio.get_running_loop().time() + self._left)
            self._left = None


class Flights:
    """All requests that are under way on one connection."""

    def __init__(self) -> None:
        self._now: set[Flight] = set()
        self._tasks: set[asyncio.Task[Any]] = set()
        self._ghosts = 0

    async def run(self, request: Coroutine[Any, Any, T], seconds: float, asker: Asker | None) -> T:
        flight = Flight(asker)
        self._now.add(flight)
        try:
            return await flight.run(request, seconds, self._tasks)
        except (TimeoutError, asyncio.CancelledError):
            self._ghosts += 1
            asyncio.get_running_loop().call_later(GHOST_SECONDS, self._lay)
            raise
        finally:
            self._now.discard(flight)

    def related(self) -> Flight | None:
        """The request that a server's question belongs to: the one that the SDK names, else the only one.

        A server may go on for a while with what was given up: its question must not reach another conversation.
        """
        own = _OWN.get()
        if own is not None:
            return own if own in self._now else None
        return next(iter(self._now)) if len(self._now) == 1 and not self._ghosts else None

    def _lay(self) -> None:
        self._ghosts -= 1

    def abandon(self) -> None:
        """The session is closed: nothing more can come of what is left."""
        for task in self._tasks:
            task.cancel()


def _forget(task: asyncio.Task[Any], kept: set[asyncio.Task[Any]]) -> None:
    kept.discard(task)
    if not task.cancelled():
        task.exception()  # looked at: one that was abandoned has nobody else to look
