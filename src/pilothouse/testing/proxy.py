"""A bad network: a TCP proxy on loopback that refuses some connections and cuts the others after some bytes."""

import asyncio
import socket
import struct
from collections.abc import Callable
from contextlib import suppress

_HOST = "127.0.0.1"
_READ = 64 * 1024
# A cut falls anywhere from inside the first line of a request to behind many events of a stream.
_BYTES_AT_LEAST = 16
_BYTES_AT_MOST = 256 * 1024
_CUT_IN_REQUESTS = 1 / 3


class Proxy:
    """Use it as an async context manager. Connections to `port` are passed on to the port `target`.

    `fraction` gives numbers from 0 to 1: all that happens is drawn from it. `refusals` and `cuts` count what was done
    to connections, `cut_requests` and `cut_answers` on which way they were cut.
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
        assert self._server is not None, "use it as an async context manager"
        port: int = self._server.sockets[0].getsockname()[1]
        return port

    @property
    def cuts(self) -> int:
        return self.cut_requests + self.cut_answers

    def calm(self) -> None:
        """From now on everything passes, also on the connections that there are."""
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
            await self._pass(reader, writer)
        except (OSError, asyncio.CancelledError):
            pass  # the server is down, somebody left, or we end
        finally:
            writer.close()
            self._passing.discard(task)

    async def _pass(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        answers, requests = await asyncio.open_connection(_HOST, self._target)
        enough = round(_BYTES_AT_LEAST * (_BYTES_AT_MOST / _BYTES_AT_LEAST) ** self._fraction())
        is_in_requests = self._fraction() < _CUT_IN_REQUESTS
        asking = asyncio.ensure_future(self._pump(reader, requests, enough if is_in_requests else None))
        answering = asyncio.ensure_future(self._pump(answers, writer, None if is_in_requests else enough))
        try:
            await asyncio.wait({asking, answering}, return_when=asyncio.FIRST_COMPLETED)
            self.cut_requests += _is_cut(asking)
            self.cut_answers += _is_cut(answering)
            if _is_cut(asking) or _is_cut(answering):
                self._end(requests)
                self._end(writer)
        finally:
            requests.close()
            for pump in (asking, answering):
                pump.cancel()
            await asyncio.wait({asking, answering})

    async def _pump(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, enough: int | None) -> bool:
        """Pass bytes on until there are no more, or `enough`; gives whether it was a cut."""
        passed = 0
        with suppress(OSError):  # one side is gone: so is the connection
            while data := await reader.read(_READ):
                if enough is not None and not self._is_calm and passed + len(data) >= enough:
                    writer.write(data[: max(0, enough - passed)])
                    return True
                passed += len(data)
                writer.write(data)
                await writer.drain()
        return False

    def _end(self, writer: asyncio.StreamWriter) -> None:
        """With an end that the other side can read up to, or with a reset that may take away what was on its way."""
        if self._fraction() < 0.5:
            writer.close()
            return
        own: socket.socket = writer.get_extra_info("socket")
        own.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        writer.transport.abort()


def _is_cut(pump: "asyncio.Future[bool]") -> bool:
    return pump.done() and not pump.cancelled() and pump.result()
