"""The running requests of a connection: their time limits, and the person who gets an MCP server's question."""

from __future__ import annotations

import asyncio
import contextlib
import contextvars
from collections.abc import Coroutine
from typing import Any, TypeVar

from pilothouse.tools.mcp.types import Asker

T = TypeVar("T")
_CANCEL_TIMEOUT_SECONDS = 0.5
ABANDONED_SECONDS = 30.0
MAX_MESSAGE_CHARACTERS = 4000

# The request being made. Over HTTP the SDK propagates the context to messages on the request's own stream.
_CURRENT: contextvars.ContextVar[PendingRequest | None] = contextvars.ContextVar("mcp_request", default=None)


class PendingRequest:
    """A request to a server. The time limit is suspended while a person is being asked."""

    def __init__(self, asker: Asker | None) -> None:
        self.asker = asker
        self._questions: set[asyncio.Future[Any]] = set()
        self._limit: asyncio.Timeout | None = None
        self._remaining_seconds: float | None = None

    async def run(self, request: Coroutine[Any, Any, T], seconds: float, tasks: set[asyncio.Task[Any]]) -> T:
        """Raises: TimeoutError, ConnectionAbortedError, and what the request raises. A cancelled caller waits only
        briefly: the cancellation is sent to the server in the background, by a task kept in `tasks`."""
        context = contextvars.copy_context()
        context.run(_CURRENT.set, self)
        task = asyncio.create_task(request, context=context)
        tasks.add(task)
        task.add_done_callback(lambda finished: _forget(finished, tasks))
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
                await asyncio.wait({task}, timeout=_CANCEL_TIMEOUT_SECONDS)

    async def ask(self, message: str, schema: dict[str, Any]) -> dict[str, Any] | None:
        """The person's answer; None where the person declines, nobody can be asked, or the call has ended."""
        if self.asker is None or self._limit is None:
            return None
        question = asyncio.ensure_future(self.asker(message[:MAX_MESSAGE_CHARACTERS], schema))
        self._questions.add(question)
        self._suspend_limit()
        try:
            # `await question` would let a cancelled question look like a cancelled handler, which ends the session.
            await asyncio.wait({question})
            failed = question.cancelled() or question.exception() is not None
            return None if failed else question.result()
        finally:
            question.cancel()
            self._questions.discard(question)
            self._resume_limit()

    def _suspend_limit(self) -> None:
        limit = self._limit
        if limit is not None and limit.when() is not None:
            self._remaining_seconds = (limit.when() or 0) - asyncio.get_running_loop().time()
            limit.reschedule(None)

    def _resume_limit(self) -> None:
        if self._limit is not None and self._remaining_seconds is not None and not self._questions:
            with contextlib.suppress(RuntimeError):  # the limit has just expired
                self._limit.reschedule(asyncio.get_running_loop().time() + self._remaining_seconds)
            self._remaining_seconds = None


class PendingRequests:
    """All running requests of one connection."""

    def __init__(self) -> None:
        self._running: set[PendingRequest] = set()
        self._tasks: set[asyncio.Task[Any]] = set()
        self._abandoned = 0

    async def run(self, request: Coroutine[Any, Any, T], seconds: float, asker: Asker | None) -> T:
        pending = PendingRequest(asker)
        self._running.add(pending)
        try:
            return await pending.run(request, seconds, self._tasks)
        except (TimeoutError, asyncio.CancelledError):
            self._abandoned += 1
            asyncio.get_running_loop().call_later(ABANDONED_SECONDS, self._forget_abandoned)
            raise
        finally:
            self._running.discard(pending)

    def request_for_question(self) -> PendingRequest | None:
        """The request that a server's question belongs to: the one named by the SDK, else the only running one.

        A server may continue an abandoned request for a while: its question must not reach another conversation.
        """
        current = _CURRENT.get()
        if current is not None:
            return current if current in self._running else None
        return next(iter(self._running)) if len(self._running) == 1 and not self._abandoned else None

    def _forget_abandoned(self) -> None:
        self._abandoned -= 1

    def abandon(self) -> None:
        """Cancel the tasks of a closed session: no answer can arrive any more."""
        for task in self._tasks:
            task.cancel()


def _forget(task: asyncio.Task[Any], tasks: set[asyncio.Task[Any]]) -> None:
    tasks.discard(task)
    if not task.cancelled():
        task.exception()  # retrieve the exception: nobody else does after an abandonment
