"""Why an address is not an MCP server that can be used, from what HTTP and the network say."""

import socket
import ssl
from collections.abc import Iterator, Mapping

from pilothouse.domain.codes import Code, Reason

_MCP_TYPES = ("application/json", "text/event-stream")
_MAX_LOCATION_LETTERS = 200


def connection_problem(error: Exception) -> Reason:
    """Why no connection came to be, or broke off."""
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
    """What is wrong with a response to a request of ours; None where nothing is."""
    kind = headers.get("content-type", "").partition(";")[0].strip().lower()
    if status in (401, 403, 407):
        return Reason(Code.MCP_UNAUTHORIZED, {"status": status})
    if status in (404, 405, 410):
        return Reason(Code.MCP_NO_ENDPOINT, {"status": status})
    if 300 <= status < 400:
        return Reason(Code.MCP_REDIRECT, {"location": headers.get("location", "")[:_MAX_LOCATION_LETTERS]})
    if status >= 400:
        return Reason(Code.MCP_HTTP_STATUS, {"status": status})
    if status == 200 and kind not in _MCP_TYPES:
        return Reason(Code.MCP_NOT_MCP, {"kind": kind or "?"})
    return None


def _causes(error: BaseException) -> Iterator[BaseException]:
    """An error, and all that led to it."""
    yield error
    inner = [error.__cause__, error.__context__, *getattr(error, "exceptions", ())]
    for each in dict.fromkeys(cause for cause in inner if cause is not None):
        yield from _causes(each)
