"""Diagnosis of HTTP and network errors: why an address cannot be used as an MCP server."""

import socket
import ssl
from collections.abc import Iterator, Mapping

from pilothouse.domain.codes import Code, Reason

_MCP_TYPES = ("application/json", "text/event-stream")
_MAX_LOCATION_CHARACTERS = 200


def connection_problem(error: Exception) -> Reason:
    """Why a connection failed or broke off."""
    causes = list(_causes(error))
    detail = str(error) or type(error).__name__
    if any(isinstance(cause, socket.gaierror) for cause in causes):
        return Reason(Code.MCP_UNKNOWN_HOST)
    if any(isinstance(cause, ssl.SSLError) for cause in causes):
        return Reason(Code.MCP_TLS, {"detail": detail})
    if any(isinstance(cause, ConnectionRefusedError) for cause in causes):
        return Reason(Code.MCP_REFUSED)
    return Reason(Code.MCP_UNREACHABLE, {"detail": detail})


def response_problem(status: int, headers: Mapping[str, str]) -> Reason | None:
    """The problem with a response to one of our requests; None for a good response."""
    media_type = headers.get("content-type", "").partition(";")[0].strip().lower()
    if status in (401, 403, 407):
        return Reason(Code.MCP_UNAUTHORIZED, {"status": status})
    if status in (404, 405, 410):
        return Reason(Code.MCP_NO_ENDPOINT, {"status": status})
    if 300 <= status < 400:
        return Reason(Code.MCP_REDIRECT, {"location": headers.get("location", "")[:_MAX_LOCATION_CHARACTERS]})
    if status >= 400:
        return Reason(Code.MCP_HTTP_STATUS, {"status": status})
    if status == 200 and media_type not in _MCP_TYPES:
        return Reason(Code.MCP_NOT_MCP, {"kind": media_type or "?"})
    return None


def _causes(error: BaseException) -> Iterator[BaseException]:
    """An error and all errors that led to it."""
    yield error
    inner = [error.__cause__, error.__context__, *getattr(error, "exceptions", ())]
    for linked in dict.fromkeys(cause for cause in inner if cause is not None):
        yield from _causes(linked)
