"""An unreliable network: a TCP proxy on loopback that refuses some connections and cuts others after some bytes."""

import asyncio
import socket
import struct
from collections.abc import Callable
from contextlib import suppress

_HOST = "127.0.0.1"
_READ_BYTES = 64 * 1024
# A cut falls anywhere from inside the first line of a request to behind many events of a stream.
_MIN_BYTES = 16
_MAX_BYTES = 256 * 1024
_REQUEST_CUT_FRACTION = 1 / 3


class Proxy:
    """An async context manager that forwards connections to `port` to the port `target`.

    `fraction` returns random numbers from 0 to 1, the only source of randomness. `refusals` and `cuts` count
    connections, `cut_requests` and `cut_answers` the cuts by direction.
    """

    def __init__(self, target: int, fraction: Callable[[], float], *, refused: float = 0.3) -> None:
        self._target = target
        self._fraction = fraction
        self._refused = refused
        self._is_calm = False
        self._server: asyncio.Server | None = None
        self._passing: set[asyncio.Task[None]] = set()
        self.refusals = 0
        self.cut_requests = 0
        self.cut_answers = 0

    @property
    def port(self) -> int:
        assert self._server is not None, "use the proxy as an async context manager"
        port: int = self._server.sockets[0].getsockname()[1]
        return port

    @property
    def cuts(self) -> int:
        return self.cut_requests + self.cut_answers

    def calm(self) -> None:
        """Forward everything from now on, also on existing connections."""
        self._is_calm = True

    async def __aenter__(self) -> "Proxy":
        self._server = await asyncio.start_server(self._serve, _HOST, 0)
        return self

    async def __aexit__(self, *_: object) -> None:
        if self._server is not None:
            self._server.close()
        for task in self._passing:
            task.cancel()
        if self._passing:
            await asyncio.wait(self._passing)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._passing.add(task)
        try:
            if not self._is_calm and self._fraction() < self._refused:
                self.refusals += 1
                self._end(writer)
                return
            await self._forward(reader, writer)
        except (OSError, asyncio.CancelledError):
            pass  # the server is down, a side has left, or the proxy ends
        finally:
            writer.close()
            self._passing.discard(task)

    async def _forward(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        answers, requests = await asyncio.open_connection(_HOST, self._target)
        max_bytes = round(_MIN_BYTES * (_MAX_BYTES / _MIN_BYTES) ** self._fraction())
        is_in_requests = self._fraction() < _REQUEST_CUT_FRACTION
        requests_pump = asyncio.ensure_future(self._pump(reader, requests, max_bytes if is_in_requests else None))
        answers_pump = asyncio.ensure_future(self._pump(answers, writer, None if is_in_requests else max_bytes))
        try:
            await asyncio.wait({requests_pump, answers_pump}, return_when=asyncio.FIRST_COMPLETED)
            self.cut_requests += _is_cut(requests_pump)
            self.cut_answers += _is_cut(answers_pump)
            if _is_cut(requests_pump) or _is_cut(answers_pump):
                self._end(requests)
                self._end(writer)
        finally:
            requests.close()
            for pump in (requests_pump, answers_pump):
                pump.cancel()
            await asyncio.wait({requests_pump, answers_pump})

    async def _pump(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, max_bytes: int | None) -> bool:
        """Forward bytes until the end or up to `max_bytes`. Return whether the connection was cut."""
        forwarded = 0
        with suppress(OSError):  # a side has closed the connection
            while data := await reader.read(_READ_BYTES):
                if max_bytes is not None and not self._is_calm and forwarded + len(data) >= max_bytes:
                    writer.write(data[: max(0, max_bytes - forwarded)])
                    return True
                forwarded += len(data)
                writer.write(data)
                await writer.drain()
        return False

    def _end(self, writer: asyncio.StreamWriter) -> None:
        """Close a connection, either in order or with a reset that may discard bytes in transit."""
        if self._fraction() < 0.5:
            writer.close()
            return
        own: socket.socket = writer.get_extra_info("socket")
        own.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        writer.transport.abort()


def _is_cut(pump: "asyncio.Future[bool]") -> bool:
    return pump.done() and not pump.cancelled() and pump.result()
