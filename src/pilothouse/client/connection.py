"""A connection to a server: requests, events, and saying something exactly once."""

import io
from collections.abc import AsyncIterator, Callable, Sequence
from types import TracebackType
from typing import Any, TypeVar

import aiohttp
import msgspec

from pilothouse.ambient import Ambient, SystemAmbient
from pilothouse.domain.codes import Code
from pilothouse.domain.payloads import Payload, TextPayload
from pilothouse.domain.shapes import Problem, SentShape

T = TypeVar("T")
_SILENCE = 60.0
_ANSWER_SECONDS = 60.0
_SENT_AT_ONCE = 512 * 1024  # more is handed over piece by piece: an image must not hold up everything else
RETRY = (0.05, 2.0)
LOST = (aiohttp.ClientError, TimeoutError, OSError)


class ServerError(Exception):
    """The server refused. `problem` says why."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem.detail)
        self.problem = problem

    @property
    def is_temporary(self) -> bool:
        return self.problem.status in (429, 502, 503)


class CallDecided(ServerError):
    """A decision came too late: the call was decided already, maybe by this very decision sent twice."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem)
        self.call_id = str(problem.params["call_id"])
        self.verdict = str(problem.params["verdict"])
        """What was decided: approved, rejected, denied, cancelled or interrupted."""
        self.decided_by = str(problem.params["decided_by"])
        self.decided_at = problem.params["decided_at"]
        self.status = str(problem.params["status"])
        """What became of the call since."""


class Client:
    """Use it as an async context manager. `token` opens the server at `url`."""

    def __init__(self, url: str, token: str, *, ambient: Ambient | None = None, language: str = "en") -> None:
        self._url = url.rstrip("/")
        self._headers = {"authorization": f"Bearer {token}", "accept-language": language}
        self.ambient = ambient or SystemAmbient()
        self._http: aiohttp.ClientSession | None = None

    async def __aenter__(self) -> "Client":
        self._http = aiohttp.ClientSession(headers=self._headers, timeout=aiohttp.ClientTimeout(total=_ANSWER_SECONDS))
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._http is not None:
            await self._http.close()

    async def call(
        self,
        method: str,
        path: str,
        body: Any = None,
        *,
        kind: type[T] | Any = Any,
        headers: dict[str, str] | None = None,
    ) -> Any:
        """One request; gives the answer, decoded as `kind`. Raises: ServerError, and aiohttp's errors."""
        data = msgspec.json.encode(body) if body is not None else None
        sent = {**(headers or {}), **({"content-type": "application/json"} if data is not None else {})}
        given = io.BytesIO(data) if data is not None and len(data) > _SENT_AT_ONCE else data
        async with self._session.request(method, self._url + path, data=given, headers=sent) as answer:
            content = await answer.read()
            if answer.status >= 400:
                raise _error(_problem(answer.status, content))
            return msgspec.json.decode(content, type=kind) if content else None

    async def send(
        self,
        context_id: str,
        said: str | Sequence[Payload],
        *,
        mode: str | None = None,
        queue: bool = False,
        key: str | None = None,
    ) -> SentShape:
        """Say something, once: it is tried again under the same key until the server has answered.

        Raises: ServerError when it refuses.
        """
        payloads = [TextPayload(content=said)] if isinstance(said, str) else list(said)
        body = {"payloads": payloads, "queue": queue, **({"mode": mode} if mode is not None else {})}
        headers = {"idempotency-key": key or self.ambient.new_id()}
        found: SentShape = await self.persist(
            lambda: self.call("POST", f"/api/contexts/{context_id}/messages", body, kind=SentShape, headers=headers)
        )
        return found

    async def persist(self, work: Callable[[], Any]) -> Any:
        """Do something that may be done twice, until it is done. Raises: ServerError when it is refused."""
        pause = RETRY[0]
        while True:
            try:
                return await work()
            except ServerError as error:
                if not error.is_temporary:
                    raise
            except LOST:
                pass
            await self.ambient.sleep(pause * (0.5 + self.ambient.fraction()))
            pause = min(pause * 2, RETRY[1])

    async def chat(self, thread_id: str, message: str, *, mode: str | None = None) -> AsyncIterator[tuple[str, Any]]:
        """A whole turn as events. Raises: ServerError."""
        body = {"message": message, **({"mode": mode} if mode is not None else {})}
        async for event in self.events("POST", f"/api/chat/{thread_id}", body):
            yield event

    async def events(self, method: str, path: str, body: Any = None) -> AsyncIterator[tuple[str, Any]]:
        """Server-sent events as (name, data). Raises: ServerError, and aiohttp's errors when the connection is lost."""
        data = msgspec.json.encode(body) if body is not None else None
        headers = {"content-type": "application/json"} if data is not None else {}
        timeout = aiohttp.ClientTimeout(total=None, connect=_ANSWER_SECONDS, sock_read=_SILENCE)
        request = self._session.request(method, self._url + path, data=data, headers=headers, timeout=timeout)
        async with request as answer:
            if answer.status >= 400:
                raise _error(_problem(answer.status, await answer.read()))
            name, rest = "", b""
            async for part in answer.content.iter_any():
                *lines, rest = (rest + part).split(b"\n")  # what was cut in the middle is not used
                for line in lines:
                    if line.startswith(b"event: "):
                        name = line[7:].decode()
                    elif line.startswith(b"data: ") and name:
                        yield name, msgspec.json.decode(line[6:])

    @property
    def _session(self) -> aiohttp.ClientSession:
        assert self._http is not None, "use it as an async context manager"
        return self._http


def _error(problem: Problem) -> ServerError:
    return CallDecided(problem) if problem.code == Code.CALL_DECIDED else ServerError(problem)


def _problem(status: int, content: bytes) -> Problem:
    try:
        return msgspec.json.decode(content, type=Problem)
    except (msgspec.MsgspecError, UnicodeDecodeError):
        detail = content[:200].decode("utf-8", "replace")
        return Problem(title="", status=status, code="", detail=detail)
