"""Requests to an MCP server over a session of the SDK: negotiation of the revision, tool calls, answers to the MCP
server's questions.
"""

from __future__ import annotations

import asyncio
import functools
from collections.abc import Awaitable
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from mcp.client.session import ClientSession
    from mcp_types import CallToolResult, InputRequiredResult, InputResponses
    from pydantic import TypeAdapter

    from pilothouse.tools.mcp.types import Clock

T = TypeVar("T")
PROBE_TIMEOUT_SECONDS = 5.0
_MAX_INPUT_ROUNDS = 10
_INPUT_RETRY_DELAY_SECONDS = 0.2


class UnsupportedRevision(Exception):
    """The server supports no revision of MCP that we support."""


async def negotiate(session: ClientSession) -> None:
    """Agree on the newest common revision: `discover` of the current one, else the handshake of the older ones.

    Raises: UnsupportedRevision, MCPError, ValidationError.
    """
    from mcp.shared.exceptions import MCPError
    from mcp_types import UNSUPPORTED_PROTOCOL_VERSION
    from pydantic import ValidationError

    try:
        # A server of an older revision may ignore an unknown request.
        async with asyncio.timeout(PROBE_TIMEOUT_SECONDS):
            await session.discover()
            return
    except (TimeoutError, ValidationError, RuntimeError, MCPError):
        pass  # any failure: try the older handshake
    try:
        await session.initialize()
    except RuntimeError as error:
        raise UnsupportedRevision(str(error)) from error
    except MCPError as error:
        if error.code != UNSUPPORTED_PROTOCOL_VERSION:
            raise
        # The server was only slow: `discover` has settled the current revision.
        try:
            await session.discover()
        except (MCPError, RuntimeError, ValidationError):
            raise UnsupportedRevision(error.message) from error


async def call_tool(session: ClientSession, tool: str, arguments: dict[str, Any], clock: Clock) -> CallToolResult:
    """Call a tool. In the current revision, a server that needs input returns its questions as a result.

    The SDK's own `call_tool` is not used: it validates the result against the server's schema on the event loop, and a
    schema may contain a regular expression that never ends.
    """
    from mcp_types import CallToolRequest, CallToolRequestParams, InputRequiredResult

    responses, state = None, None
    for _ in range(_MAX_INPUT_ROUNDS):
        params = CallToolRequestParams(name=tool, arguments=arguments, input_responses=responses, request_state=state)
        result = await session.send_request(CallToolRequest(params=params), _result_adapter())
        if not isinstance(result, InputRequiredResult):
            return result
        state = result.request_state
        responses = await _answer_requests(session, result)
        if responses is None:
            await clock.sleep(_INPUT_RETRY_DELAY_SECONDS)
    raise RuntimeError(f"the server asked more than {_MAX_INPUT_ROUNDS} times")


@functools.cache
def _result_adapter() -> TypeAdapter[CallToolResult | InputRequiredResult]:
    from mcp_types import CallToolResult, InputRequiredResult
    from pydantic import TypeAdapter

    return TypeAdapter(CallToolResult | InputRequiredResult)


async def _answer_requests(session: ClientSession, result: InputRequiredResult) -> InputResponses | None:
    from mcp.client.session import ClientRequestContext
    from mcp.shared.exceptions import MCPError
    from mcp_types import ErrorData

    if not result.input_requests:
        return None
    answers: InputResponses = {}
    for key, request in result.input_requests.items():
        context = ClientRequestContext(session=session, request_id=key)
        answer = await session.dispatch_input_request(context, request)
        if isinstance(answer, ErrorData):
            raise MCPError.from_error_data(answer)
        answers[key] = answer
    return answers


async def or_none(request: Awaitable[T]) -> T | None:
    """The result of a request, None where the server does not know the method. Raises: what the request raises."""
    from mcp.shared.exceptions import MCPError
    from mcp_types import METHOD_NOT_FOUND

    try:
        return await request
    except MCPError as error:
        if error.code == METHOD_NOT_FOUND:
            return None
        raise


def may_be_closed(error: Exception) -> bool:
    """Whether the error code means a closed connection. A server may use the same code for anything else."""
    from mcp.shared.exceptions import MCPError
    from mcp_types import CONNECTION_CLOSED

    return isinstance(error, MCPError) and error.code == CONNECTION_CLOSED
