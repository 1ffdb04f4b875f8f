"""The HTTP transport: the SDK's streamable HTTP, over a client that bounds responses and detects a lost session."""

from __future__ import annotations

import asyncio
import contextlib
import ipaddress
from collections import deque
from collections.abc import AsyncIterator, Mapping
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from pilothouse.domain.codes import Reason
from pilothouse.tools.mcp.definitions import MAX_CALL_SECONDS, MCPServerDefinition
from pilothouse.tools.mcp.http_problems import connection_problem, response_problem
from pilothouse.tools.mcp.transport import Transport, finish
from pilothouse.tools.mcp.types import Clock, TransportEnd

if TYPE_CHECKING:
    import httpx2

MAX_RESPONSE_BYTES = 8 * 1024 * 1024
_RESPONSE_TOO_LONG = "it sent a response of more than 8 MB"
_CONNECT_TIMEOUT_SECONDS = 10.0
_DELETE_TIMEOUT_SECONDS = 0.5
_MAX_CONNECTIONS = 200
_MAX_LISTENS = 20
_LISTEN_WINDOW_SECONDS = 60.0
_SESSION_HEADER = "mcp-session-id"


@contextlib.asynccontextmanager
async def http_transport(
    definition: MCPServerDefinition, environment: Mapping[str, str], clock: Clock
) -> AsyncIterator[Transport]:
    """A transport to an address. An unreachable server is reported as the end of the transport."""
    import httpx2
    from mcp.client.streamable_http import streamable_http_client

    url = definition.url or ""
    watch = _ConnectionWatch(clock)
    # Loading the certificates blocks for a while.
    transport = await asyncio.to_thread(_transport, watch, proxy_for(url, environment))
    client = httpx2.AsyncClient(
        transport=transport,
        headers={"accept-encoding": "identity", **definition.headers},
        timeout=httpx2.Timeout(_CONNECT_TIMEOUT_SECONDS, read=MAX_CALL_SECONDS),
        follow_redirects=False,
        trust_env=False,
    )
    async with (
        client,
        streamable_http_client(url, http_client=client, max_sse_event_size=MAX_RESPONSE_BYTES) as (read, write),
    ):
        yield Transport(read, write, watch.ended, watch.hint, lambda: watch.evidence)


def proxy_for(url: str, environment: Mapping[str, str]) -> str | None:
    """The proxy that the environment names for an address; never one for this machine itself."""
    parts = urlsplit(url)
    host = parts.hostname or ""
    if is_loopback_host(host):
        return None
    named = {name.lower(): value for name, value in environment.items()}
    direct = [entry.strip().lstrip(".").lower() for entry in named.get("no_proxy", "").split(",")]
    if "*" in direct or any(entry and f".{host}".endswith(f".{entry}") for entry in direct):
        return None
    return named.get(f"{parts.scheme}_proxy") or named.get("all_proxy") or None


def is_loopback_host(host: str) -> bool:
    """Whether the host of a URL is this machine, as are all names below `.localhost` (RFC 6761)."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")


class _ConnectionWatch:
    """Observations that the SDK does not report: an unreachable server, a lost session."""

    def __init__(self, clock: Clock) -> None:
        self.ended: asyncio.Future[TransportEnd] = asyncio.get_running_loop().create_future()
        self._clock = clock
        self._listen_times: deque[float] = deque(maxlen=_MAX_LISTENS)
        self._status: int | None = None
        self._has_listened = False
        self.evidence: Reason | None = None

    def hint(self) -> str:
        return f"HTTP {self._status}" if self._status is not None else ""

    def on_response(self, method: str, status: int, headers: Mapping[str, str], *, has_session: bool) -> None:
        self._status = status if status >= 400 and method == "POST" else None
        if method == "POST":
            self.evidence = response_problem(status, headers)
        if method == "GET" and status == 200:
            self._has_listened = True
        elif has_session and (status == 404 or (method == "GET" and self._has_listened and 400 <= status < 500)):
            finish(self.ended, "it lost the session")

    def may_listen(self) -> bool:
        """Whether the SDK may open another event stream. The SDK reopens a stream as soon as it ends, without limit."""
        now = self._clock.monotonic()
        if len(self._listen_times) == _MAX_LISTENS and now - self._listen_times[0] < _LISTEN_WINDOW_SECONDS:
            return False
        self._listen_times.append(now)
        return True

    def on_loss(self, error: Exception) -> None:
        self.evidence = connection_problem(error)
        finish(self.ended, f"can't connect: {error or type(error).__name__}")


def _transport(watch: _ConnectionWatch, proxy: str | None) -> httpx2.AsyncBaseTransport:
    import httpx2

    limits = httpx2.Limits(max_connections=_MAX_CONNECTIONS)

    class Watched(httpx2.AsyncHTTPTransport):
        async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
            if request.method == "DELETE":
                return await self._delete_session(request)
            if request.method == "GET" and not watch.may_listen():
                raise httpx2.ConnectError("its streams keep ending")
            try:
                response = await super().handle_async_request(request)
            except httpx2.TransportError as error:
                watch.on_loss(error)
                if request.method != "POST":
                    raise
                # An exception would cancel all running requests in the SDK's task group.
                return httpx2.Response(502, request=request)
            watch.on_response(
                request.method, response.status_code, response.headers, has_session=_SESSION_HEADER in request.headers
            )
            # Without the header, no body is decompressed into more bytes than were counted.
            headers = [pair for pair in response.headers.raw if pair[0].lower() != b"content-encoding"]
            return httpx2.Response(
                response.status_code,
                headers=headers,
                stream=_bounded(response, watch, is_endless=request.method == "GET"),
                extensions=response.extensions,
            )

        async def _delete_session(self, request: httpx2.Request) -> httpx2.Response:
            """Tell the server that the session ends, without waiting for long."""
            with contextlib.suppress(TimeoutError, httpx2.TransportError):
                async with asyncio.timeout(_DELETE_TIMEOUT_SECONDS):
                    response = await super().handle_async_request(request)
                    await response.aclose()
            return httpx2.Response(204, request=request)

    return Watched(trust_env=False, limits=limits, proxy=proxy)


def _bounded(response: httpx2.Response, watch: _ConnectionWatch, *, is_endless: bool) -> httpx2.AsyncByteStream:
    """A response body. A body that is too long or breaks off raises an error that the SDK expects."""
    import httpx2

    is_events = response.headers.get("content-type", "").lower().startswith("text/event-stream")
    stream = response.stream
    assert isinstance(stream, httpx2.AsyncByteStream)
    inner: httpx2.AsyncByteStream = stream
    fault: Any = httpx2.SSEError if is_events else httpx2.StreamError

    class Bounded(httpx2.AsyncByteStream):
        async def __aiter__(self) -> AsyncIterator[bytes]:
            size = 0
            try:
                async for chunk in inner:
                    size += len(chunk)
                    if size > MAX_RESPONSE_BYTES and not is_endless:
                        raise fault(_RESPONSE_TOO_LONG)
                    yield chunk
            except httpx2.TransportError as error:
                if isinstance(error, httpx2.SSEError):
                    raise
                if not is_endless:
                    watch.on_loss(error)
                raise fault(f"the connection was lost: {error or type(error).__name__}") from error

        async def aclose(self) -> None:
            await inner.aclose()

    return Bounded()
