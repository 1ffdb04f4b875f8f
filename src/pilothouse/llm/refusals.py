"""What a provider says where it does not answer: which of our errors that is, in words that may be shown."""

import re
from collections.abc import Mapping
from email.utils import parsedate_to_datetime
from typing import Any

import msgspec

from pilothouse.domain.codes import Code
from pilothouse.domain.errors import ModelError, ModelRefused, ModelTooLong, ModelUnavailable

_TOLD_AT_MOST = 500
# How servers say that a request does not fit: there is a code for it, and everybody has words of their own.
_TOO_LONG = re.compile(
    rb"(?i)context_length_exceeded|context[ _-]?(length|window|size)|maximum context|too many tokens"
    rb"|prompt is too long|input is too long|exceed[^.]{0,40}(context|token)"
)
_WINDOW = re.compile(
    rb'(?i)n_ctx\\*"\s*:\s*(\d{1,9})|context (?:length|size|window)(?: (?:is|of|only))* ?\(?(\d{1,9}) ?tokens'
)
_SMALLEST_WINDOW = 512


def told(params: Mapping[str, Any], key: str | None) -> dict[str, Any]:
    """Without the key, and short: in this order, or the beginning of a key would be left where it is cut."""
    texts = {name: value for name, value in params.items() if isinstance(value, str)}
    hidden = {name: value.replace(key, "[hidden]") if key else value for name, value in texts.items()}
    return {**params, **{name: value[:_TOLD_AT_MOST] for name, value in hidden.items()}}


def refusal(status: int, headers: Mapping[str, str], body: bytes) -> ModelError:
    detail, retry_after = _detail(body), _retry_after(headers)
    if status == 429:
        return ModelUnavailable(Code.MODEL_RATE_LIMITED, retry_after=retry_after, detail=detail)
    if status in (400, 413, 422, 500) and _TOO_LONG.search(body):  # llama.cpp and Ollama have said it with 500 too
        return ModelTooLong(Code.MODEL_TOO_LONG, window=_window_in(body), detail=detail)
    if status >= 500 or status in (408, 409, 425):
        return ModelUnavailable(Code.MODEL_OVERLOADED, retry_after=retry_after, status=status, detail=detail)
    code = Code.MODEL_AUTH if status in (401, 403) else Code.MODEL_REFUSED
    return ModelRefused(code, status=status, detail=detail)


def in_the_stream(line: bytes, error: Any) -> ModelError:
    """One that comes when an answer had begun already."""
    if _TOO_LONG.search(line):
        return ModelTooLong(Code.MODEL_TOO_LONG, window=_window_in(line), detail=_message_of(error))
    return ModelUnavailable(Code.MODEL_OVERLOADED, status="in the stream", detail=_message_of(error))


def _window_in(body: bytes) -> int | None:
    """How many tokens fit, where the words of a refusal tell it."""
    found = _WINDOW.search(body)
    window = int(found[1] or found[2]) if found is not None else 0
    return window if window >= _SMALLEST_WINDOW else None


def not_a_stream(body: bytes) -> ModelError:
    """A 200 that is no event stream: an error in JSON, or a page of some proxy."""
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
