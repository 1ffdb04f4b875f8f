"""The adapter for OpenAI chat completions, and everything compatible with it."""

import io
from collections.abc import AsyncGenerator, Iterator
from contextlib import contextmanager
from typing import Any

import aiohttp
import msgspec
from aiohttp.helpers import get_env_proxy_for_url
from yarl import URL

from pilothouse.domain.codes import Code, Reason
from pilothouse.domain.errors import ModelError, ModelRefused, ModelUnavailable
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
from pilothouse.llm.refusals import in_the_stream, not_a_stream, refusal, told
from pilothouse.llm.sse import data_lines

CONNECT_SECONDS = 10.0
SILENCE_SECONDS = 120.0
_ERROR_BODY = 4000
_LIST_AT_MOST, _LISTED_AT_MOST, _NAME_AT_MOST = 8_000_000, 1000, 100
_SENT_AT_ONCE = 512 * 1024


class _Function(msgspec.Struct):
    name: str | None = None
    arguments: str | dict[str, Any] | None = None


class _Call(msgspec.Struct):
    index: int | None = None
    id: str | int | None = None
    function: _Function | None = None


class _Delta(msgspec.Struct):
    content: str | None = None
    refusal: str | None = None
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


# What compatible servers say for the same: Mistral, proxies to Anthropic and Gemini, Zhipu, DeepSeek.
_FINISHES = {
    **dict.fromkeys(("max_tokens", "model_length", "max_output_tokens"), "length"),
    **dict.fromkeys(("safety", "sensitive", "prohibited_content", "blocklist", "recitation", "spii"), "content_filter"),
}
_REFUSAL = "refusal"
_BROKEN_OFF = frozenset({"insufficient_system_resource"})

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
            way = _way(self._url)
            async with self._client().post(self._url, data=data, allow_redirects=False, **way) as response:
                if response.status != 200:
                    raise refusal(response.status, response.headers, await _start_of_body(response))
                yield Connected()
                if response.headers.get("content-type", "text/event-stream").startswith("application/json"):
                    raise not_a_stream(await _start_of_body(response))
                finish: str | None = None
                async for line in data_lines(response.content.iter_any()):
                    if line == b"[DONE]":
                        finish = finish or "stop"
                        break
                    for event in _events(line):
                        if isinstance(event, Finished):
                            finish = event.reason if finish != _REFUSAL else finish
                        else:
                            yield event
                if finish is not None:  # else there was no end mark: what is missing decides the turn
                    yield Finished(reason=finish)

    async def models(self) -> list[str]:
        """The names that the server lists, in their order. Raises: ModelUnavailable, ModelRefused."""
        with self._as_model_errors():
            way = _way(self._models_url)
            async with self._client().get(self._models_url, allow_redirects=False, **way) as response:
                if response.status != 200:
                    raise refusal(response.status, response.headers, await _start_of_body(response))
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
            error.reason = Reason(error.reason.code, told(error.reason.params, self._key))
            error.args = (error.reason.code, error.reason.params)
            raise
        except aiohttp.ConnectionTimeoutError as error:
            raise ModelUnavailable(Code.MODEL_CONNECT, address=self._url, detail="it did not answer") from error
        except TimeoutError as error:
            raise ModelUnavailable(Code.MODEL_TIMEOUT, seconds=self._silence) from error
        except (aiohttp.ClientPayloadError, aiohttp.ServerDisconnectedError, ConnectionResetError) as error:
            raise ModelUnavailable(Code.MODEL_CUT) from error
        except (aiohttp.ClientError, OSError, UnicodeError) as error:  # the last for a host that cannot be one
            raise ModelUnavailable(Code.MODEL_CONNECT, address=self._url, detail=str(error) or repr(error)) from error

    def _client(self) -> aiohttp.ClientSession:
        if self._session is None:
            self._session = aiohttp.ClientSession(
                headers=self._headers,
                timeout=self._timeout,
                connector=aiohttp.TCPConnector(limit=0),
            )
        return self._session

    async def close(self) -> None:
        if self._session is not None:
            await self._session.close()


def _way(address: str) -> dict[str, Any]:
    """Through the proxy that the environment names. A password of the person's `.netrc` goes nowhere, as it would with
    all that a client can take from the environment: whoever is asked may be anybody."""
    try:
        proxy, login = get_env_proxy_for_url(URL(address))
    except (LookupError, ValueError):
        return {}
    return {"proxy": proxy, "proxy_auth": login}


def _events(line: bytes) -> list[ModelEvent]:
    try:
        chunk = _CHUNK.decode(line)
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise ModelUnavailable(Code.MODEL_GARBLED, detail=str(error)) from error
    if chunk.error is not None:
        raise in_the_stream(line, chunk.error)
    events: list[ModelEvent] = []
    for choice in chunk.choices or ():
        if choice.delta is not None:
            if choice.delta.content:
                events.append(TextDelta(text=choice.delta.content))
            if choice.delta.refusal:  # its own finish reason, "stop", comes later
                events += [TextDelta(text=choice.delta.refusal), Finished(reason=_REFUSAL)]
            for position, call in enumerate(choice.delta.tool_calls or ()):
                events.append(_call_delta(call, position))
        if choice.finish_reason:
            events.append(Finished(reason=_finish(choice.finish_reason)))
    if chunk.usage is not None:
        given, made = chunk.usage.prompt_tokens, chunk.usage.completion_tokens
        events.append(UsageReported(usage=Usage(input_tokens=int(given or 0), output_tokens=int(made or 0))))
    return events


def _finish(reason: str) -> str:
    """The common name of a finish reason. Raises: ModelUnavailable for one that says that the provider broke off."""
    if reason in _BROKEN_OFF:
        raise ModelUnavailable(Code.MODEL_CUT)
    return _FINISHES.get(reason.lower(), reason)


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
    body = bytearray()
    async for part in response.content.iter_any():
        body += part
        if len(body) >= most:
            break
    return bytes(body[:most])
