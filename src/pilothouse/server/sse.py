"""Server-sent events: how an event is written, and an answer that goes on until somebody leaves."""

import asyncio
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import aclosing
from typing import Literal

import msgspec
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from pilothouse.server.counts import StreamSlot

HEARTBEAT = b": \n\n"
STALLED_SECONDS = 60.0
_SECONDS_TO_END = 2.0
_ENCODER = msgspec.json.Encoder()


def event(name: str, data: object) -> bytes:
    return b"event: %b\ndata: %b\n\n" % (name.encode(), _ENCODER.encode(data))


class EventStream(Response):
    """Sends what the iterator gives, piece by piece, and a sign of life every `heartbeat` seconds as long as `goes_on`
    says so. It waits for a slow reader, but not for ever, and for nobody else; when the reader leaves, the iterator is
    closed. `slot` is what counts it among the open streams."""

    media_type = "text/event-stream"

    def __init__(
        self,
        pieces: AsyncGenerator[bytes, None],
        *,
        heartbeat: float,
        goes_on: Callable[[], bool],
        slot: StreamSlot,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(headers={"cache-control": "no-store", "x-accel-buffering": "no", **(headers or {})})
        del self.headers["content-length"]
        self._pieces = pieces
        self._heartbeat = heartbeat
        self._goes_on = goes_on
        self._slot = slot
        slot.is_handed_over = True
        self._sent = 0
        self._is_over = False

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            await self._stream(scope, receive, send)
        finally:
            self._slot.release()

    async def _stream(self, scope: Scope, receive: Receive, send: Send) -> None:
        await send({"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers})
        tasks = [asyncio.ensure_future(work) for work in (self._send(send), self._beat(send), _left(receive))]
        try:
            await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.wait(tasks)
        sending, beating, _ = tasks
        if not sending.cancelled():
            sending.result()
        elif not beating.cancelled():
            await self._end(scope, send, is_stalled=beating.result() == "stalled")

    async def _end(self, scope: Scope, send: Send, *, is_stalled: bool) -> None:
        """Before the pieces have come to theirs. Who does not read is not waited for."""
        try:
            async with asyncio.timeout(0 if is_stalled else _SECONDS_TO_END):
                await send({"type": "http.response.body", "body": b"", "more_body": False})
        except TimeoutError:
            scope["state"]["abort"]()

    async def _send(self, send: Send) -> None:
        async with aclosing(self._pieces) as pieces:
            async for piece in pieces:
                await self._put(send, piece)
        self._is_over = True
        await send({"type": "http.response.body", "body": b"", "more_body": False})

    async def _put(self, send: Send, piece: bytes) -> None:
        await send({"type": "http.response.body", "body": piece, "more_body": True})
        self._sent += 1

    async def _wait_for_beat(self) -> bool:
        """Returns whether tokens have changed before it was time for a sign of life."""
        changed = self._slot.must_check_user
        try:
            async with asyncio.timeout(self._heartbeat):
                await changed.wait()
        except TimeoutError:
            return False
        changed.clear()
        return True

    async def _beat(self, send: Send) -> Literal["stalled", "over"]:
        """A sign of life where nothing was sent meanwhile. Ends when the stream must."""
        while True:
            before = self._sent
            must_check_user = await self._wait_for_beat()
            if not self._goes_on():
                return "over"
            if self._sent == before and not self._is_over and not must_check_user:
                try:
                    async with asyncio.timeout(STALLED_SECONDS):
                        await self._put(send, HEARTBEAT)
                except TimeoutError:  # it neither reads nor leaves
                    return "stalled"


async def _left(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
