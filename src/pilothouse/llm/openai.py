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
    ModelRequest,
    ReasoningTextDelta,
    TextDelta,
    UsageReported,
)
from pilothouse.llm.chat_completions import CHAT_COMPLETIONS
from pilothouse.llm.error_mapping import error_of_event, error_of_non_stream, error_of_response, safe_params
from pilothouse.sse import sse_events

CONNECT_TIMEOUT_SECONDS = 10.0
READ_TIMEOUT_SECONDS = 120.0
_MAX_ERROR_BODY_BYTES = 4000
_MAX_MODEL_LIST_BYTES = 8_000_000
_MAX_MODELS = 1000
_MAX_MODEL_NAME_CHARACTERS = 100
_MAX_UNSPLIT_BODY_BYTES = 512 * 1024
"""A longer body is sent in parts, so that it does not block the other streams."""


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
    # Compatible servers stream reasoning under either name. Other values than texts are ignored.
    reasoning_content: Any = None
    reasoning: Any = None
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


class _ModelEntry(msgspec.Struct):
    id: str


class _ModelList(msgspec.Struct):
    data: list[_ModelEntry]


# Finish reasons of compatible servers: Mistral, proxies to Anthropic and Gemini, Zhipu, DeepSeek.
_FINISH_REASONS = {
    **dict.fromkeys(("max_tokens", "model_length", "max_output_tokens"), "length"),
    **dict.fromkeys(("safety", "sensitive", "prohibited_content", "blocklist", "recitation", "spii"), "content_filter"),
}
_MAX_LINE_BYTES = 16 * 1024 * 1024
_REFUSAL = "refusal"
_ABORT_REASONS = frozenset({"insufficient_system_resource"})

_CHUNK = msgspec.json.Decoder(_Chunk)


class OpenAIAdapter:
    """An adapter for one server. The API key is sent in a header only: no redirect is followed, and errors that repeat
    the key are masked."""

    name = "openai"
    format = CHAT_COMPLETIONS

    def __init__(
        self,
        base_url: str,
        key: str | None,
        *,
        connect_seconds: float = CONNECT_TIMEOUT_SECONDS,
        silence_seconds: float = READ_TIMEOUT_SECONDS,
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

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelEvent, None]:
        with self._as_model_errors():
            body = self.format.body(request)
            data = body if len(body) < _MAX_UNSPLIT_BODY_BYTES else io.BytesIO(body)
            proxy_options = _proxy_options(self._url)
            async with self._client().post(self._url, data=data, allow_redirects=False, **proxy_options) as response:
                if response.status != 200:
                    raise error_of_response(response.status, response.headers, await _start_of_body(response))
                yield Connected()
                if response.headers.get("content-type", "text/event-stream").startswith("application/json"):
                    raise error_of_non_stream(await _start_of_body(response))
                finish: str | None = None
                parts = response.content.iter_any()
                async for _, line in sse_events(parts, max_line_bytes=_MAX_LINE_BYTES, accept_cut_line=True):
                    if line == b"[DONE]":
                        finish = finish or "stop"
                        break
                    for event in _events(line):
                        if isinstance(event, Finished):
                            finish = event.reason if finish != _REFUSAL else finish
                        else:
                            yield event
                if finish is not None:  # otherwise the answer was cut, and the turn handles that
                    yield Finished(reason=finish)

    async def models(self) -> list[str]:
        """The names of the models that the server lists, sorted. Raises: ModelUnavailable, ModelRefused."""
        with self._as_model_errors():
            proxy_options = _proxy_options(self._models_url)
            async with self._client().get(self._models_url, allow_redirects=False, **proxy_options) as response:
                if response.status != 200:
                    raise error_of_response(response.status, response.headers, await _start_of_body(response))
                body = await _start_of_body(response, _MAX_MODEL_LIST_BYTES)
        try:
            names = {model.id for model in msgspec.json.decode(body, type=_ModelList).data}
        except (msgspec.MsgspecError, UnicodeDecodeError) as error:
            raise ModelRefused(Code.MODEL_GARBLED, detail=str(error)) from error
        return sorted(
            name for name in names if name and name.isprintable() and len(name) <= _MAX_MODEL_NAME_CHARACTERS
        )[:_MAX_MODELS]

    @contextmanager
    def _as_model_errors(self) -> Iterator[None]:
        try:
            yield
        except ModelError as error:
            error.reason = Reason(error.reason.code, safe_params(error.reason.params, self._key))
            error.args = (error.reason.code, error.reason.params)
            raise
        except aiohttp.ConnectionTimeoutError as error:
            raise ModelUnavailable(Code.MODEL_CONNECT, address=self._url, detail="no answer") from error
        except TimeoutError as error:
            raise ModelUnavailable(Code.MODEL_TIMEOUT, seconds=self._silence) from error
        except (aiohttp.ClientPayloadError, aiohttp.ServerDisconnectedError, ConnectionResetError) as error:
            raise ModelUnavailable(Code.MODEL_CUT) from error
        except (aiohttp.ClientError, OSError, UnicodeError) as error:  # UnicodeError: an impossible host name
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


def _proxy_options(address: str) -> dict[str, Any]:
    """The proxy that the environment names. Other settings of the environment are not used: with `trust_env` the client
    would also send passwords from the person's `.netrc` to any server."""
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
        raise error_of_event(line, chunk.error)
    events: list[ModelEvent] = []
    for choice in chunk.choices or ():
        if choice.delta is not None:
            events += _reasoning(choice.delta)
            if choice.delta.content:
                events.append(TextDelta(text=choice.delta.content))
            if choice.delta.refusal:  # its own finish reason, "stop", comes later
                events += [TextDelta(text=choice.delta.refusal), Finished(reason=_REFUSAL)]
            for position, call in enumerate(choice.delta.tool_calls or ()):
                events.append(_call_delta(call, position))
        if choice.finish_reason:
            events.append(Finished(reason=_finish_reason(choice.finish_reason)))
    if chunk.usage is not None:
        prompt, completion = chunk.usage.prompt_tokens, chunk.usage.completion_tokens
        events.append(UsageReported(usage=Usage(input_tokens=int(prompt or 0), output_tokens=int(completion or 0))))
    return events


def _reasoning(delta: _Delta) -> list[ReasoningTextDelta]:
    text = delta.reasoning_content or delta.reasoning  # some servers send both
    return [ReasoningTextDelta(text=text)] if text and isinstance(text, str) else []


def _finish_reason(reason: str) -> str:
    """The common name of a finish reason. Raises: ModelUnavailable for the reason that the provider aborted."""
    if reason in _ABORT_REASONS:
        raise ModelUnavailable(Code.MODEL_CUT)
    return _FINISH_REASONS.get(reason.lower(), reason)


def _call_delta(call: _Call, position: int) -> CallDelta:
    function = call.function or _Function()
    arguments = function.arguments or ""
    return CallDelta(
        index=position if call.index is None else call.index,
        id="" if call.id is None else str(call.id),
        tool=function.name or "",
        arguments=arguments if isinstance(arguments, str) else msgspec.json.encode(arguments).decode(),
    )


async def _start_of_body(response: aiohttp.ClientResponse, max_bytes: int = _MAX_ERROR_BODY_BYTES) -> bytes:
    """The beginning of a body, of at most `max_bytes`."""
    body = bytearray()
    async for part in response.content.iter_any():
        body += part
        if len(body) >= max_bytes:
            break
    return bytes(body[:max_bytes])
