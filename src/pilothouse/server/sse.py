"""Server-sent events: how an event is written, and an answer that goes on until somebody leaves."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Mapping
from contextlib import aclosing
from typing import Any

import msgspec
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

HEARTBEAT = b": \n\n"
_ENCODER = msgspec.json.Encoder()


def event(name: str, data: object) -> bytes:
    return b"event: %b\ndata: %b\n\n" % (name.encode(), _ENCODER.encode(data))


class EventStream(Response):
    """Sends what the iterator gives, piece by piece, and a sign of life every `heartbeat` seconds as long as `goes_on`
    says so. It waits for a slow reader, and for nobody else; when the reader leaves, the iterator is closed."""

    media_type = "text/event-stream"

    def __init__(
        self,
        pieces: AsyncIterator[bytes],
        *,
        heartbeat: float,
        goes_on: Callable[[], bool] = lambda: True,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(headers={"cache-control": "no-store", "x-accel-buffering": "no", **(headers or {})})
        del self.headers["content-length"]
        self._pieces = pieces
        self._heartbeat = heartbeat
        self._goes_on = goes_on

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:  # noqa: ARG002
        await send({"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers})
        sending = asyncio.ensure_future(self._send(send))
        leaving = asyncio.ensure_future(_left(receive))
        try:
            await asyncio.wait({sending, leaving}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in (sending, leaving):
                task.cancel()
            await asyncio.wait({sending, leaving})
        if not sending.cancelled():
            sending.result()

    async def _send(self, send: Send) -> None:
        async with aclosing(self._with_signs_of_life()) as pieces:
            async for piece in pieces:
                await send({"type": "http.response.body", "body": piece, "more_body": True})
        await send({"type": "http.response.body", "body": b"", "more_body": False})

    async def _with_signs_of_life(self) -> AsyncGenerator[bytes, None]:
        upcoming: asyncio.Future[bytes | None] = asyncio.ensure_future(_next(self._pieces))
        try:
            while True:
                done, _ = await asyncio.wait({upcoming}, timeout=self._heartbeat)
                if not self._goes_on():
                    return
                if not done:
                    yield HEARTBEAT
                    continue
                piece = upcoming.result()
                if piece is None:
                    return
                yield piece
                upcoming = asyncio.ensure_future(_next(self._pieces))
        finally:
            upcoming.cancel()
            await asyncio.wait({upcoming})
            closing: Any = getattr(self._pieces, "aclose", None)
            if closing is not None:
                await closing()


async def _next(pieces: AsyncIterator[bytes]) -> bytes | None:
    return await anext(pieces, None)


async def _left(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
