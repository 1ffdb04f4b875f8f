"""The adapter for OpenAI chat completions, and everything compatible with it."""

import io
import re
from collections.abc import AsyncGenerator, Iterator, Mapping
from contextlib import contextmanager
from email.utils import parsedate_to_datetime
from typing import Any

import aiohttp
import msgspec

from pilothouse.domain.codes import Code, Reason
from pilothouse.domain.errors import ModelError, ModelRefused, ModelTooLong, ModelUnavailable
from pilothouse.domain.messages import Usage
from pilothouse.llm.base import (
    CallDelta,
    Connected,
    Finished,
    ModelEvent,
    ModelMessage,
    ModelRequest,
    TextDelta,
    UsageReported,
)
from pilothouse.llm.chat_form import encode_body, encode_message
from pilothouse.llm.sse import data_lines

CONNECT_SECONDS = 10.0
SILENCE_SECONDS = 120.0
_ERROR_BODY = 4000
_LIST_AT_MOST, _LISTED_AT_MOST, _NAME_AT_MOST = 8_000_000, 1000, 100
_SENT_AT_ONCE = 512 * 1024
# How servers say that a request does not fit: there is a code for it, and everybody has words of their own.
_TOO_LONG = re.compile(
    rb"(?i)context_length_exceeded|context[ _-]?(length|window|size)|maximum context|too many tokens"
    rb"|prompt is too long|input is too long|exceed[^.]{0,40}(context|token)"
)
_WINDOW = re.compile(
    rb'(?i)n_ctx\\*"\s*:\s*(\d{1,9})|context (?:length|size|window)(?: (?:is|of|only))* ?\(?(\d{1,9}) ?tokens'
)
_SMALLEST_WINDOW = 512


class _Function(msgspec.Struct):
    name: str | None = None
    arguments: str | dict[str, Any] | None = None


class _Call(msgspec.Struct):
    index: int | None = None
    id: str | int | None = None
    function: _Function | None = None


class _Delta(msgspec.Struct):
    content: str | None = None
    tool_calls: list[_Call] | None = None


class _Choice(msgspec.Struct):
    delta: _Delta | None = None
    finish_reason: str | None = None


class _Usage(msgspec.Struct):
    prompt_tokens: float | None = None
    completion_tokens: float | None = None


class _Chunk(msgspec.Struct):
    choices: list[_Choice] | None = None
    usage: _Usage | None = None
    error: Any = None


class _Listed(msgspec.Struct):
    id: str


class _List(msgspec.Struct):
    data: list[_Listed]


_CHUNK = msgspec.json.Decoder(_Chunk)


class OpenAIAdapter:
    """Gets its HTTP settings by constructor; the key goes into the header and nowhere else: no redirect is followed,
    and what a server says of it is not said again."""

    name = "openai"

    def __init__(
        self,
        base_url: str,
        key: str | None,
        *,
        connect_seconds: float = CONNECT_SECONDS,
        silence_seconds: float = SILENCE_SECONDS,
    ) -> None:
        self._url = base_url.rstrip("/") + "/chat/completions"
        self._models_url = base_url.rstrip("/") + "/models"
        self._key = key
        self._silence = silence_seconds
        self._timeout = aiohttp.ClientTimeout(total=None, sock_connect=connect_seconds, sock_read=silence_seconds)
        self._headers = {"content-type": "application/json", "accept": "text/event-stream"}
        if key:
            self._headers["authorization"] = f"Bearer {key}"
        self._session: aiohttp.ClientSession | None = None

    def encode(self, message: ModelMessage) -> bytes:
        return encode_message(message)

    def body(self, request: ModelRequest) -> bytes:
        return encode_body(request)

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelEvent, None]:
        with self._as_model_errors():
            body = self.body(request)
            # A large one goes as a file: it is sent in parts, and does not hold up the other streams.
            data = body if len(body) < _SENT_AT_ONCE else io.BytesIO(body)
            async with self._client().post(self._url, data=data, allow_redirects=False) as response:
                if response.status != 200:
                    raise _refusal(response, await _start_of_body(response))
                yield Connected()
                if response.headers.get("content-type", "text/event-stream").startswith("application/json"):
                    raise _not_a_stream(await _start_of_body(response))
                finished = False
                async for line in data_lines(response.content.iter_any()):
                    if line == b"[DONE]":
                        break
                    for event in _events(line):
                        finished = finished or isinstance(event, Finished)
                        yield event
                else:
                    return  # no end mark: what is missing decides the turn
                if not finished:
                    yield Finished(reason="stop")

    async def models(self) -> list[str]:
        """The names that the server lists, in their order. Raises: ModelUnavailable, ModelRefused."""
        with self._as_model_errors():
            async with self._client().get(self._models_url, allow_redirects=False) as response:
                if response.status != 200:
                    raise _refusal(response, await _start_of_body(response))
                body = await _start_of_body(response, _LIST_AT_MOST)
        try:
            names = {each.id for each in msgspec.json.decode(body, type=_List).data}
        except (msgspec.MsgspecError, UnicodeDecodeError) as error:
            raise ModelRefused(Code.MODEL_GARBLED, detail=str(error)) from error
        return sorted(name for name in names if name and name.isprintable() and len(name) <= _NAME_AT_MOST)[
            :_LISTED_AT_MOST
        ]

    @contextmanager
    def _as_model_errors(self) -> Iterator[None]:
        try:
            yield
        except ModelError as error:
            key = self._key
            if key and any(key in str(value) for value in error.reason.params.values()):
                error.reason = Reason(error.reason.code, _without(key, error.reason.params))
                error.args = (error.reason.code, error.reason.params)
            raise
        except aiohttp.ConnectionTimeoutError as error:
            raise ModelUnavailable(Code.MODEL_CONNECT, address=self._url, detail="it did not answer") from error
        except TimeoutError as error:
            raise ModelUnavailable(Code.MODEL_TIMEOUT, seconds=self._silence) from error
        except (aiohttp.ClientPayloadError, aiohttp.ServerDisconnectedError, ConnectionResetError) as error:
            raise ModelUnavailable(Code.MODEL_CUT) from error
        except (aiohttp.ClientError, OSError) as error:
            raise ModelUnavailable(Code.MODEL_CONNECT, address=self._url, detail=str(error) or repr(error)) from error

    def _client(self) -> aiohttp.ClientSession:
        if self._session is None:
            self._session = aiohttp.ClientSession(
                headers=self._headers,
                timeout=self._timeout,
                connector=aiohttp.TCPConnector(limit=0),
                trust_env=True,
            )
        return self._session

    async def close(self) -> None:
        if self._session is not None:
            await self._session.close()


def _without(key: str, params: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value.replace(key, "[hidden]") if isinstance(value, str) else value for name, value in params.items()}


def _events(line: bytes) -> list[ModelEvent]:
    try:
        chunk = _CHUNK.decode(line)
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise ModelUnavailable(Code.MODEL_GARBLED, detail=str(error)) from error
    if chunk.error is not None:
        if _TOO_LONG.search(line):
            raise ModelTooLong(Code.MODEL_TOO_LONG, window=_window_in(line), detail=_message_of(chunk.error))
        raise ModelUnavailable(Code.MODEL_OVERLOADED, status="in the stream", detail=_message_of(chunk.error))
    events: list[ModelEvent] = []
    for choice in chunk.choices or ():
        if choice.delta is not None:
            if choice.delta.content:
                events.append(TextDelta(text=choice.delta.content))
            for position, call in enumerate(choice.delta.tool_calls or ()):
                events.append(_call_delta(call, position))
        if choice.finish_reason:
            events.append(Finished(reason=choice.finish_reason))
    if chunk.usage is not None:
        given, made = chunk.usage.prompt_tokens, chunk.usage.completion_tokens
        events.append(UsageReported(usage=Usage(input_tokens=int(given or 0), output_tokens=int(made or 0))))
    return events


def _call_delta(call: _Call, position: int) -> CallDelta:
    function = call.function or _Function()
    arguments = function.arguments or ""
    return CallDelta(
        index=position if call.index is None else call.index,
        id="" if call.id is None else str(call.id),
        tool=function.name or "",
        arguments=arguments if isinstance(arguments, str) else msgspec.json.encode(arguments).decode(),
    )


async def _start_of_body(response: aiohttp.ClientResponse, most: int = _ERROR_BODY) -> bytes:
    """Enough of an error's body to say what it says, however much there is."""
    body = b""
    async for part in response.content.iter_any():
        body += part
        if len(body) >= most:
            break
    return body[:most]


def _refusal(response: aiohttp.ClientResponse, body: bytes) -> ModelError:
    status, detail = response.status, _detail(body)
    retry_after = _retry_after(response.headers)
    if status == 429:
        return ModelUnavailable(Code.MODEL_RATE_LIMITED, retry_after=retry_after, detail=detail)
    if status in (400, 413, 422, 500) and _TOO_LONG.search(body):  # llama.cpp and Ollama have said it with 500 too
        return ModelTooLong(Code.MODEL_TOO_LONG, window=_window_in(body), detail=detail)
    if status >= 500 or status in (408, 409, 425):
        return ModelUnavailable(Code.MODEL_OVERLOADED, retry_after=retry_after, status=status, detail=detail)
    code = Code.MODEL_AUTH if status in (401, 403) else Code.MODEL_REFUSED
    return ModelRefused(code, status=status, detail=detail)


def _window_in(body: bytes) -> int | None:
    """How many tokens fit, where the words of a refusal tell it."""
    found = _WINDOW.search(body)
    window = int(found[1] or found[2]) if found is not None else 0
    return window if window >= _SMALLEST_WINDOW else None


def _not_a_stream(body: bytes) -> ModelError:
    """A 200 that is no event stream: an error in JSON, or a page of some proxy."""
    if _TOO_LONG.search(body):
        return ModelTooLong(Code.MODEL_TOO_LONG, window=_window_in(body), detail=_detail(body))
    return ModelRefused(Code.MODEL_REFUSED, status=200, detail=_detail(body))


def _detail(body: bytes) -> str:
    try:
        return _message_of(msgspec.json.decode(body))
    except (msgspec.MsgspecError, UnicodeDecodeError):
        return body.decode(errors="replace").strip()[:500] or "no details"


def _message_of(data: Any) -> str:
    if isinstance(data, dict):
        inner = data.get("error", data)
        if isinstance(inner, dict):
            return str(inner.get("message") or inner)[:500]
        return str(inner)[:500]
    return str(data)[:500]


def _retry_after(headers: Mapping[str, str]) -> float | None:
    """Seconds, or a date: that one is measured by the provider's own clock, whatever ours says."""
    value = headers.get("retry-after", "")
    try:
        return max(0.0, float(value))
    except ValueError:
        pass
    try:
        until, now = parsedate_to_datetime(value), parsedate_to_datetime(headers.get("date", ""))
        return max(0.0, (until - now).total_seconds())
    except (TypeError, ValueError):
        return None
