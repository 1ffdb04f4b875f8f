"""Server-sent events: encoding an event, and the response that streams them."""

import asyncio
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import aclosing
from typing import Literal

import msgspec
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from pilothouse.server.metrics import StreamSlot
from pilothouse.sse import sse_event

HEARTBEAT = b": \n\n"
MAX_STALL_SECONDS = 60.0
_END_TIMEOUT_SECONDS = 2.0
_ENCODER = msgspec.json.Encoder()


def event(name: str, data: object) -> bytes:
    return sse_event(_ENCODER.encode(data), name)


class EventStream(Response):
    """Streams events to one client, with a heartbeat when nothing else was sent for `heartbeat` seconds.

    The stream ends as soon as `is_authorized` returns False. A slow client delays only its own stream, for
    MAX_STALL_SECONDS at most; when a client disconnects, the iterator is closed. `slot` counts the stream among the
    open ones.
    """

    media_type = "text/event-stream"

    def __init__(
        self,
        chunks: AsyncGenerator[bytes, None],
        *,
        heartbeat: float,
        is_authorized: Callable[[], bool],
        slot: StreamSlot,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(headers={"cache-control": "no-store", "x-accel-buffering": "no", **(headers or {})})
        del self.headers["content-length"]
        self._chunks = chunks
        self._heartbeat = heartbeat
        self._is_authorized = is_authorized
        self._slot = slot
        slot.is_handed_over = True
        self._chunk_count = 0
        """The number of chunks sent so far, heartbeats included."""
        self._is_over = False

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            await self._stream(scope, receive, send)
        finally:
            self._slot.release()

    async def _stream(self, scope: Scope, receive: Receive, send: Send) -> None:
        await send({"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers})
        tasks = [
            asyncio.ensure_future(work) for work in (self._send(send), self._heartbeats(send), _disconnected(receive))
        ]
        try:
            await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.wait(tasks)
        sending, heartbeats, _ = tasks
        if not sending.cancelled():
            sending.result()
        elif not heartbeats.cancelled():
            await self._end(scope, send, is_stalled=heartbeats.result() == "stalled")

    async def _end(self, scope: Scope, send: Send, *, is_stalled: bool) -> None:
        """End the response before the iterator is exhausted; abort the connection if the client does not read."""
        try:
            async with asyncio.timeout(0 if is_stalled else _END_TIMEOUT_SECONDS):
                await send({"type": "http.response.body", "body": b"", "more_body": False})
        except TimeoutError:
            scope["state"]["abort"]()

    async def _send(self, send: Send) -> None:
        async with aclosing(self._chunks) as chunks:
            async for chunk in chunks:
                await self._put(send, chunk)
        self._is_over = True
        await send({"type": "http.response.body", "body": b"", "more_body": False})

    async def _put(self, send: Send, chunk: bytes) -> None:
        await send({"type": "http.response.body", "body": chunk, "more_body": True})
        self._chunk_count += 1

    async def _wait_for_heartbeat(self) -> bool:
        """Wait until the next heartbeat is due, or tokens change. Return whether tokens changed."""
        tokens_changed = self._slot.must_check_user
        try:
            async with asyncio.timeout(self._heartbeat):
                await tokens_changed.wait()
        except TimeoutError:
            return False
        tokens_changed.clear()
        return True

    async def _heartbeats(self, send: Send) -> Literal["stalled", "over"]:
        """Send a heartbeat whenever the stream was silent for a period. Return why the stream must end: the client does
        not read, or its user's token is no longer valid."""
        while True:
            count = self._chunk_count
            must_check_user = await self._wait_for_heartbeat()
            if not self._is_authorized():
                return "over"
            if self._chunk_count == count and not self._is_over and not must_check_user:
                try:
                    async with asyncio.timeout(MAX_STALL_SECONDS):
                        await self._put(send, HEARTBEAT)
                except TimeoutError:  # the client neither reads nor disconnects
                    return "stalled"


async def _disconnected(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
