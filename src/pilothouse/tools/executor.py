"""Execution of one call under its time limit. Every way in which a call can end becomes an `Outcome`."""

import asyncio
from typing import Any, Literal

import msgspec

from pilothouse.domain.codes import Code, Reason
from pilothouse.domain.errors import ConnectionLost, PilothouseError, tool_failure
from pilothouse.domain.value import Value
from pilothouse.i18n import translate
from pilothouse.sandbox.file_names import with_bytes_escaped
from pilothouse.tools.base import Tool, ToolContext, ToolOutput
from pilothouse.tools.results import MAX_RESULT_CHARACTERS, truncate_result

_TIMEOUT_GRACE_SECONDS = 2.0


class Outcome(Value):
    """The result of a finished call."""

    status: Literal["executed", "failed"]
    content: str
    error: Reason | None = None
    exit_status: int | None = None
    is_connection_lost: bool = False
    """Whether the call failed because the tool lost its connection."""


async def execute(tool: Tool[Any], arguments: Any, context: ToolContext) -> Outcome:
    """Run a call to its end. Only cancellation propagates."""
    try:
        # The grace period lets a tool that knows the limit end by itself and report more. A tool that keeps its own
        # time may be waiting for a person.
        keeps_time = context.seconds is None or getattr(tool, "keeps_time", False)
        async with asyncio.timeout(None if keeps_time else (context.seconds or 0) + _TIMEOUT_GRACE_SECONDS):
            result = await tool.run(arguments, context)
    except ConnectionLost as error:
        return msgspec.structs.replace(failed_outcome(error.reason), is_connection_lost=True)
    except PilothouseError as error:
        return failed_outcome(error.reason)
    except TimeoutError:
        return failed_outcome(Reason(Code.TOOL_TIMED_OUT, {"tool": tool.name, "seconds": context.seconds}))
    except Exception as error:  # a tool is foreign code and may raise anything; the conversation goes on
        return failed_outcome(tool_failure(tool.name, error))
    output = result if isinstance(result, ToolOutput) else ToolOutput(result)
    if not isinstance(output.content, str):
        return failed_outcome(
            tool_failure(tool.name, f"the tool returned {type(output.content).__name__} instead of text")
        )
    content = with_bytes_escaped(output.content)
    if (
        len(content) > MAX_RESULT_CHARACTERS and context.artifacts is not None
    ):  # `bounded` reports a failed write in its note
        content = await asyncio.to_thread(truncate_result, content, context.call_id, context.artifacts)
    return Outcome(status="executed", content=content, exit_status=output.exit_status)


def failed_outcome(reason: Reason) -> Outcome:
    """The outcome of a call that failed for this reason."""
    params = {
        name: with_bytes_escaped(value) if isinstance(value, str) else value for name, value in reason.params.items()
    }
    cleaned = Reason(reason.code, params)
    return Outcome(status="failed", content=translate(cleaned), error=cleaned)
