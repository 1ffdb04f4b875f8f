"""uvicorn's HTTP protocol with the limits that it lacks: on the size of headers, on the time they take to arrive, and
on unauthenticated connections."""

import asyncio
import re
from typing import Any, cast

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from pilothouse.domain.codes import Code
from pilothouse.server.connections import ConnectionPool
from pilothouse.server.problems import HEADERS, HTTPProblem, problem_response

MAX_HEADER_BYTES = 64 * 1024
MAX_HEADER_SECONDS = 10.0


class _LingeringTransport:
    """A transport that hands its closing over to the protocol."""

    def __init__(self, transport: asyncio.Transport, protocol: "BoundedProtocol") -> None:
        self._transport, self._protocol = transport, protocol

    def __getattr__(self, name: str) -> Any:
        return getattr(self._transport, name)

    def close(self) -> None:
        if not self._protocol.linger():
            self._transport.close()

    def is_closing(self) -> bool:
        return self._protocol.is_lingering or self._transport.is_closing()


class BoundedProtocol(HttpToolsProtocol):
    """Closes connections whose headers are too large or arrive too slowly."""

    is_lingering = False
    _header_bytes = 0
    _deadline: asyncio.TimerHandle | None = None
    _is_in_body = False

    def __init__(self, pool: ConnectionPool, **options: Any) -> None:
        super().__init__(**options)
        self._pool = pool

    @property
    def is_idle(self) -> bool:
        return self.cycle is None or self.cycle.response_complete

    def drop(self) -> None:
        if self.is_lingering or not self.transport.is_closing():
            self.transport.abort()

    def set_user(self, user: str | None) -> None:
        """Assign the connection to the user of the current request's token; None if it has no valid one.

        Raises: HTTPProblem if the user, or the server, has too many connections.
        """
        if self.transport.is_closing():
            return
        if user is not None:
            self._pool.authenticate(self, user)
        else:
            self._pool.add(self)

    def connection_made(self, transport: Any) -> None:
        super().connection_made(cast("asyncio.Transport", _LingeringTransport(transport, self)))
        self._pool.add(self)
        self._start_deadline()

    def connection_lost(self, exc: Exception | None) -> None:
        self._pool.discard(self)
        self._cancel_deadline()
        super().connection_lost(exc)

    def linger(self) -> bool:
        """End the response to a request whose body is still arriving, and discard the rest of the body, for as long as
        headers may take. A socket that is closed before everything is read resets the connection, and the client, or a
        proxy, loses the response. Return False if the connection can be closed at once."""
        if self.is_lingering or not self._is_in_body or self.cycle is None or self.cycle.keep_alive:
            return False
        self.is_lingering = True
        self._cancel_deadline()
        self._start_deadline()
        self.flow.resume_reading()
        self.transport.write_eof()
        return True

    def data_received(self, data: bytes) -> None:
        if self.is_lingering:
            return
        if self._deadline is None and not self._is_in_body:
            self._start_deadline()  # the next request on the same connection
        if self._deadline is not None and not self._is_in_body:
            self._header_bytes += len(data)
        super().data_received(data)
        if self._deadline is not None and not self._is_in_body and self._header_bytes > MAX_HEADER_BYTES:
            self._cancel_deadline()
            self.transport.abort()

    def on_headers_complete(self) -> None:
        self._cancel_deadline()
        self._is_in_body = True
        self.scope["state"]["abort"] = self.transport.abort
        self.scope["state"]["set_user"] = self.set_user
        target_host = _host_of_target(self.url)
        if target_host is not None:
            self.scope["state"]["target_host"] = target_host
        super().on_headers_complete()

    def on_message_complete(self) -> None:
        self._is_in_body = False
        if self.cycle.response_complete:
            self._cancel_deadline()  # the deadline was for the rest of the body
        super().on_message_complete()

    def on_response_complete(self) -> None:
        super().on_response_complete()
        if self._is_in_body and not self.transport.is_closing():
            self._start_deadline()  # the rest of the body is discarded, and must arrive within the same time as headers

    def send_400_response(self, msg: str) -> None:  # noqa: ARG002
        """Answer input that is not HTTP with a problem document, like any other bad request."""
        response = problem_response(HTTPProblem(400, Code.NOT_HTTP), "en")
        for name, value in HEADERS.items():
            response.headers.setdefault(name, value)
        head = b"".join(b"%b: %b\r\n" % header for header in response.raw_headers)
        self.transport.write(b"HTTP/1.1 400 Bad Request\r\nconnection: close\r\n" + head + b"\r\n" + response.body)
        self.transport.close()

    def _start_deadline(self) -> None:
        self._header_bytes = 0
        self._deadline = self.loop.call_later(MAX_HEADER_SECONDS, self._time_out)

    def _cancel_deadline(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None

    def _time_out(self) -> None:
        self._deadline = None
        self.drop()


def _host_of_target(target: bytes) -> str | None:
    """Return the host that a request target names (`GET http://HOST/…`); None for a mere path."""
    if target.startswith(b"/") or target == b"*":
        return None
    return re.split(rb"[/?#]", target.partition(b"://")[2], maxsplit=1)[0].decode("latin-1")
