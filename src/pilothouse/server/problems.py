"""Errors as responses: `application/problem+json` (RFC 9457) with a stable code and a text in the user's language."""

from collections.abc import Mapping
from http import HTTPStatus
from typing import Any

import msgspec
from starlette.responses import Response

from pilothouse.api.views import Problem
from pilothouse.domain.codes import Code, Language, Reason
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
from pilothouse.i18n import translate

_MAX_TEXT_CHARACTERS = 1000
_MAX_REASONS = 20
POLICY = (
    "default-src 'none'; script-src 'self'; style-src {styles}; img-src 'self' data:; connect-src 'self'; "
    "font-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
# Sent with every response.
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


class HTTPProblem(RequestError):
    """A request that the server rejects before the runtime handles it."""

    def __init__(self, status: int, code: Code, headers: dict[str, str] | None = None, **params: Any) -> None:
        super().__init__(code, **params)
        self.status = status
        self.headers = headers or {}


def status_of(error: PilothouseError) -> int:
    """Return the HTTP status for an error."""
    if isinstance(error, HTTPProblem):
        return error.status
    if error.reason.code is Code.RUNTIME_CLOSED:
        return 503
    return next((status for kind, status in _STATUSES if isinstance(error, kind)), 500)


def problem_response(error: PilothouseError, language: Language) -> Response:
    headers = error.headers if isinstance(error, HTTPProblem) else None
    return _response(status_of(error), error.reason, language, headers)


def internal_response(language: Language) -> Response:
    """Respond to an unexpected exception. The details are in the log, not in the response."""
    return _response(500, Reason(Code.INTERNAL, {"detail": "see the server's log"}), language)


def _response(status: int, reason: Reason, language: Language, headers: dict[str, str] | None = None) -> Response:
    problem = Problem(
        title=HTTPStatus(status).phrase,
        status=status,
        code=reason.code,
        detail=translate(reason, language)[:_MAX_TEXT_CHARACTERS],
        params=plain_params(reason.params),
    )
    return Response(msgspec.json.encode(problem), status, headers, media_type="application/problem+json")


def plain_params(params: Mapping[str, Any]) -> dict[str, Any]:
    """Convert parameters to short JSON values, so that a problem is never larger than its request. A Reason among them
    becomes {code, params}."""
    return {str(name): _plain_value(value) for name, value in params.items()}


def _plain_value(value: Any) -> Any:
    match value:
        case None | bool() | int() | float():
            return value
        case Reason():
            return {"code": value.code, "params": plain_params(value.params)}
        case [Reason(), *_]:
            return [_plain_value(each) for each in value[:_MAX_REASONS]]
        case _:
            return str(value)[:_MAX_TEXT_CHARACTERS]
