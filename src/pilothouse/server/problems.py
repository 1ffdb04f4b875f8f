"""Errors as answers: `application/problem+json` with a stable code, in the reader's language."""

from collections.abc import Mapping
from http import HTTPStatus
from typing import Any

import msgspec
from starlette.responses import Response

from pilothouse.domain.codes import Code, Language, Reason, say
from pilothouse.domain.errors import (
    Conflict,
    InvalidInput,
    ModelError,
    NotFound,
    PilothouseError,
    RequestError,
    StaleWrite,
    StoreError,
    ToolError,
)
from pilothouse.domain.shapes import Problem

_TEXT_AT_MOST = 1000
_REASONS_AT_MOST = 20
POLICY = (
    "default-src 'none'; script-src 'self'; style-src {styles}; img-src 'self' data:; connect-src 'self'; "
    "font-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
# On every answer.
HEADERS = {
    "content-security-policy": POLICY.format(styles="'self'"),
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), geolocation=(), microphone=()",
    "cache-control": "no-store",
}
_STATUSES: tuple[tuple[type[PilothouseError], int], ...] = (
    (InvalidInput, 422),
    (NotFound, 404),
    (Conflict, 409),
    (StaleWrite, 409),
    (StoreError, 503),
    (ModelError, 502),
    (ToolError, 422),
)


class Refused(RequestError):
    """A request that does not come as far as the runtime."""

    def __init__(self, status: int, code: Code, headers: dict[str, str] | None = None, **params: Any) -> None:
        super().__init__(code, **params)
        self.status = status
        self.headers = headers or {}


def status_of(error: PilothouseError) -> int:
    if isinstance(error, Refused):
        return error.status
    if error.reason.code is Code.RUNTIME_CLOSED:
        return 503
    return next((status for kind, status in _STATUSES if isinstance(error, kind)), 500)


def problem_response(error: PilothouseError, language: Language) -> Response:
    headers = error.headers if isinstance(error, Refused) else None
    return _response(status_of(error), error.reason, language, headers)


def internal_response(language: Language) -> Response:
    """A bug of ours. What it was stands in the log, not in the answer."""
    return _response(500, Reason(Code.INTERNAL, {"detail": "see the server's log"}), language)


def _response(status: int, reason: Reason, language: Language, headers: dict[str, str] | None = None) -> Response:
    problem = Problem(
        title=HTTPStatus(status).phrase,
        status=status,
        code=reason.code,
        detail=say(reason, language)[:_TEXT_AT_MOST],
        params=plain(reason.params),
    )
    return Response(msgspec.json.encode(problem), status, headers, media_type="application/problem+json")


def plain(params: Mapping[str, Any]) -> dict[str, Any]:
    """Parameters as short plain values: what is told about a request is never larger than the request was. Reasons
    among them are given as {code, params}."""
    return {str(name): _plain_value(value) for name, value in params.items()}


def _plain_value(value: Any) -> Any:
    match value:
        case None | bool() | int() | float():
            return value
        case Reason():
            return {"code": value.code, "params": plain(value.params)}
        case [Reason(), *_]:
            return [_plain_value(each) for each in value[:_REASONS_AT_MOST]]
        case _:
            return str(value)[:_TEXT_AT_MOST]
