"""What is said to a server over a session of the SDK: agreeing on a revision, calling, answering its questions."""

from __future__ import annotations

import asyncio
import functools
from collections.abc import Awaitable
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from mcp.client.session import ClientSession
    from mcp_types import CallToolResult, InputRequiredResult, InputResponses
    from pydantic import TypeAdapter

    from pilothouse.tools.mcp.values import Clock

T = TypeVar("T")
PROBE_SECONDS = 5.0
_ROUNDS_AT_MOST = 10
_ROUND_SECONDS = 0.2


class Unsupported(Exception):
    """The server speaks no revision that we speak."""


async def agree(session: ClientSession) -> None:
    """The newest revision that both know: a question of the current one, else the older handshake.

    Raises: Unsupported, MCPError, ValidationError.
    """
    from mcp.shared.exceptions import MCPError
    from mcp_types import UNSUPPORTED_PROTOCOL_VERSION
    from pydantic import ValidationError

    try:
        # One of an older revision may not answer what it does not know.
        async with asyncio.timeout(PROBE_SECONDS):
            await session.discover()
            return
    except (TimeoutError, ValidationError, RuntimeError, MCPError):
        pass  # whatever it is: the older handshake will show
    try:
        await session.initialize()
    except RuntimeError as error:
        raise Unsupported(str(error)) from error
    except MCPError as error:
        if error.code != UNSUPPORTED_PROTOCOL_VERSION:
            raise
        # It was only slow: the first question has fixed the current revision.
        try:
            await session.discover()
        except (MCPError, RuntimeError, ValidationError):
            raise Unsupported(error.message) from error


async def call_tool(session: ClientSession, tool: str, arguments: dict[str, Any], clock: Clock) -> CallToolResult:
    """One call. In the current revision a server asks by an answer that says what it still needs.

    Not the SDK's own `call_tool`: that checks a result against the server's schema, on the event loop, and a
    schema can hold a pattern that takes for ever.
    """
    from mcp_types import CallToolRequest, CallToolRequestParams, InputRequiredResult

    responses, state = None, None
    for _ in range(_ROUNDS_AT_MOST):
        params = CallToolRequestParams(name=tool, arguments=arguments, input_responses=responses, request_state=state)
        result = await session.send_request(CallToolRequest(params=params), _call_result())
        if not isinstance(result, InputRequiredResult):
            return result
        state = result.request_state
        responses = await _answers(session, result)
        if responses is None:
            await clock.sleep(_ROUND_SECONDS)
    raise RuntimeError(f"the server asked more than {_ROUNDS_AT_MOST} times")


@functools.cache
def _call_result() -> TypeAdapter[CallToolResult | InputRequiredResult]:
    from mcp_types import CallToolResult, InputRequiredResult
    from pydantic import TypeAdapter

    return TypeAdapter(CallToolResult | InputRequiredResult)


async def _answers(session: ClientSession, result: InputRequiredResult) -> InputResponses | None:
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


async def known(request: Awaitable[T]) -> T | None:
    """None where the server does not know what was asked of it. Raises: what the request raises."""
    from mcp.shared.exceptions import MCPError
    from mcp_types import METHOD_NOT_FOUND

    try:
        return await request
    except MCPError as error:
        if error.code == METHOD_NOT_FOUND:
            return None
        raise


def may_be_closed(error: Exception) -> bool:
    """Whether it says that the connection is gone. A server may use the same number for anything else."""
    from mcp.shared.exceptions import MCPError
    from mcp_types import CONNECTION_CLOSED

    return isinstance(error, MCPError) and error.code == CONNECTION_CLOSED
