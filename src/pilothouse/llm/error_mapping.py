"""Map error responses of providers to model errors, with details that can be displayed."""

import re
from collections.abc import Mapping
from email.utils import parsedate_to_datetime
from typing import Any

import msgspec

from pilothouse.domain.codes import Code
from pilothouse.domain.errors import ModelError, ModelRefused, ModelTooLong, ModelUnavailable

_MAX_DETAIL_CHARACTERS = 500
# Errors of servers about requests that do not fit: OpenAI has a code, each other server has its own wording.
_TOO_LONG = re.compile(
    rb"(?i)context_length_exceeded|context[ _-]?(length|window|size)|maximum context|too many tokens"
    rb"|prompt is too long|input is too long|exceed[^.]{0,40}(context|token)"
)
_WINDOW = re.compile(
    rb'(?i)n_ctx\\*"\s*:\s*(\d{1,9})|context (?:length|size|window)(?: (?:is|of|only))* ?\(?(\d{1,9}) ?tokens'
)
_MIN_WINDOW_TOKENS = 512


def safe_params(params: Mapping[str, Any], key: str | None) -> dict[str, Any]:
    """Parameters with the API key replaced and long texts shortened. In this order: a cut through the key would leave
    its beginning."""
    texts = {name: value for name, value in params.items() if isinstance(value, str)}
    masked = {name: value.replace(key, "[hidden]") if key else value for name, value in texts.items()}
    return {**params, **{name: value[:_MAX_DETAIL_CHARACTERS] for name, value in masked.items()}}


def error_of_response(status: int, headers: Mapping[str, str], body: bytes) -> ModelError:
    """The error for a response with an error status."""
    detail, retry_after = _detail(body), _retry_after(headers)
    if status == 429:
        return ModelUnavailable(Code.MODEL_RATE_LIMITED, retry_after=retry_after, detail=detail)
    if status in (400, 413, 422, 500) and _TOO_LONG.search(body):  # 500 by some versions of llama.cpp and Ollama
        return ModelTooLong(Code.MODEL_TOO_LONG, window=_window_in(body), detail=detail)
    if status >= 500 or status in (408, 409, 425):
        return ModelUnavailable(Code.MODEL_OVERLOADED, retry_after=retry_after, status=status, detail=detail)
    code = Code.MODEL_AUTH if status in (401, 403) else Code.MODEL_REFUSED
    return ModelRefused(code, status=status, detail=detail)


def error_of_event(line: bytes, error: Any) -> ModelError:
    """The error for an error event within an answer."""
    if _TOO_LONG.search(line):
        return ModelTooLong(Code.MODEL_TOO_LONG, window=_window_in(line), detail=_message_of(error))
    return ModelUnavailable(Code.MODEL_OVERLOADED, status="in the stream", detail=_message_of(error))


def _window_in(body: bytes) -> int | None:
    """The size of the context window, where the text of an error names it."""
    match = _WINDOW.search(body)
    window = int(match[1] or match[2]) if match is not None else 0
    return window if window >= _MIN_WINDOW_TOKENS else None


def error_of_non_stream(body: bytes) -> ModelError:
    """The error for a 200 response that is no event stream: an error in JSON, or the page of a proxy."""
    if _TOO_LONG.search(body):
        return ModelTooLong(Code.MODEL_TOO_LONG, window=_window_in(body), detail=_detail(body))
    return ModelRefused(Code.MODEL_REFUSED, status=200, detail=_detail(body))


def _detail(body: bytes) -> str:
    try:
        return _message_of(msgspec.json.decode(body))
    except (msgspec.MsgspecError, UnicodeDecodeError):
        return body.decode(errors="replace").strip() or "no details"


def _message_of(data: Any) -> str:
    if isinstance(data, dict):
        inner = data.get("error", data)
        if isinstance(inner, dict):
            return str(inner.get("message") or inner)
        return str(inner)
    return str(data)


def _retry_after(headers: Mapping[str, str]) -> float | None:
    """The seconds to wait. A date is compared with the provider's clock (its Date header), not with the local one."""
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
