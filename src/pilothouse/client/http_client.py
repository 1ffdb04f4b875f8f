"""The HTTP client of a server: requests, event streams, and messages that are sent exactly once."""

import io
from collections.abc import AsyncIterator, Callable, Sequence
from types import TracebackType
from typing import Any, TypeVar

import aiohttp
import msgspec

from pilothouse.api.views import Problem, SentView
from pilothouse.domain.codes import Code
from pilothouse.domain.payloads import Payload, TextPayload
from pilothouse.sse import sse_events
from pilothouse.system.ambient import Ambient, SystemAmbient, backoff_seconds

T = TypeVar("T")
_MAX_STREAM_SILENCE_SECONDS = 60.0
_RESPONSE_TIMEOUT_SECONDS = 60.0
_MAX_UNCHUNKED_BYTES = 512 * 1024  # larger bodies are sent in chunks, so that an image does not block the event loop
_FIRST_RETRY_SECONDS = 0.05
_MAX_RETRY_SECONDS = 2.0
CONNECTION_ERRORS = (aiohttp.ClientError, TimeoutError, OSError)


class ServerError(Exception):
    """The server answered with an error, described by `problem`."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem.detail)
        self.problem = problem

    @property
    def is_temporary(self) -> bool:
        """Whether the same request may succeed later."""
        return self.problem.status in (429, 502, 503)


class CallDecided(ServerError):
    """A decision came too late: the call is decided already, perhaps by a repetition of the same request."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem)
        self.call_id = str(problem.params["call_id"])
        self.verdict = str(problem.params["verdict"])
        """The decision: approved, rejected, denied, cancelled or interrupted."""
        self.decided_by = str(problem.params["decided_by"])
        self.decided_at = problem.params["decided_at"]
        self.status = str(problem.params["status"])
        """The present status of the call."""


class Client:
    """A client of the server at `url`, used as an async context manager. `token` is the user's access token."""

    def __init__(self, url: str, token: str, *, ambient: Ambient | None = None, language: str = "en") -> None:
        self._url = url.rstrip("/")
        self._headers = {"authorization": f"Bearer {token}", "accept-language": language}
        self.ambient = ambient or SystemAmbient()
        self._http: aiohttp.ClientSession | None = None

    async def __aenter__(self) -> "Client":
        self._http = aiohttp.ClientSession(
            headers=self._headers, timeout=aiohttp.ClientTimeout(total=_RESPONSE_TIMEOUT_SECONDS)
        )
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._http is not None:
            await self._http.close()

    async def request(
        self,
        method: str,
        path: str,
        body: Any = None,
        *,
        kind: type[T] | Any = Any,
        headers: dict[str, str] | None = None,
    ) -> Any:
        """Send a request; return the response, decoded as `kind`. Raises: ServerError, and aiohttp's errors."""
        data = msgspec.json.encode(body) if body is not None else None
        all_headers = {**(headers or {}), **({"content-type": "application/json"} if data is not None else {})}
        content = io.BytesIO(data) if data is not None and len(data) > _MAX_UNCHUNKED_BYTES else data
        async with self._session.request(method, self._url + path, data=content, headers=all_headers) as response:
            result = await response.read()
            if response.status >= 400:
                raise _error(_problem(response.status, result))
            return msgspec.json.decode(result, type=kind) if result else None

    async def send(
        self,
        context_id: str,
        content: str | Sequence[Payload],
        *,
        mode: str | None = None,
        queue: bool = False,
        key: str | None = None,
    ) -> SentView:
        """Send a message exactly once: the request is repeated with the same idempotency key until the server answers.

        Raises: ServerError if the server refuses it.
        """
        payloads = [TextPayload(content=content)] if isinstance(content, str) else list(content)
        body = {"payloads": payloads, "queue": queue, **({"mode": mode} if mode is not None else {})}
        headers = {"idempotency-key": key or self.ambient.new_id()}
        sent: SentView = await self.retry(
            lambda: self.request("POST", f"/api/contexts/{context_id}/messages", body, kind=SentView, headers=headers)
        )
        return sent

    async def retry(self, operation: Callable[[], Any]) -> Any:
        """Repeat an idempotent operation until it succeeds. Raises: ServerError if the server refuses it."""
        attempt = 0
        while True:
            attempt += 1
            try:
                return await operation()
            except ServerError as error:
                if not error.is_temporary:
                    raise
            except CONNECTION_ERRORS:
                pass
            await pause_before_retry(self.ambient, attempt)

    async def chat(self, thread_id: str, message: str, *, mode: str | None = None) -> AsyncIterator[tuple[str, Any]]:
        """Send a message and yield the events of the whole turn. Raises: ServerError."""
        body = {"message": message, **({"mode": mode} if mode is not None else {})}
        async for event in self.events("POST", f"/api/chat/{thread_id}", body):
            yield event

    async def events(self, method: str, path: str, body: Any = None) -> AsyncIterator[tuple[str, Any]]:
        """Yield server-sent events as (name, data). Raises: ServerError, and aiohttp's errors on a lost connection."""
        data = msgspec.json.encode(body) if body is not None else None
        headers = {"content-type": "application/json"} if data is not None else {}
        timeout = aiohttp.ClientTimeout(
            total=None, connect=_RESPONSE_TIMEOUT_SECONDS, sock_read=_MAX_STREAM_SILENCE_SECONDS
        )
        request = self._session.request(method, self._url + path, data=data, headers=headers, timeout=timeout)
        async with request as response:
            if response.status >= 400:
                raise _error(_problem(response.status, await response.read()))
            async for name, payload in sse_events(response.content.iter_any()):
                if name:
                    yield name, msgspec.json.decode(payload)

    @property
    def _session(self) -> aiohttp.ClientSession:
        assert self._http is not None, "use the client as an async context manager"
        return self._http


async def pause_before_retry(ambient: Ambient, attempt: int) -> None:
    """Wait after the n-th consecutive failure."""
    seconds = backoff_seconds(ambient, attempt, first=_FIRST_RETRY_SECONDS, max_seconds=_MAX_RETRY_SECONDS)
    await ambient.sleep(seconds)


def _error(problem: Problem) -> ServerError:
    return CallDecided(problem) if problem.code == Code.CALL_DECIDED else ServerError(problem)


def _problem(status: int, content: bytes) -> Problem:
    try:
        return msgspec.json.decode(content, type=Problem)
    except (msgspec.MsgspecError, UnicodeDecodeError):
        detail = content[:200].decode("utf-8", "replace")
        return Problem(title="", status=status, code="", detail=detail)
