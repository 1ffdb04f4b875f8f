"""Running one call: its time limit, and every way in which it can end, as a value."""

import asyncio
from typing import Any, Literal

from pilothouse.domain.codes import Code, Reason, say
from pilothouse.domain.errors import PilothouseError
from pilothouse.domain.values import Value
from pilothouse.sandbox.file_names import with_bytes_escaped
from pilothouse.tools.base import Job, Tool, ToolOutput
from pilothouse.tools.results import AT_MOST, bounded

_GRACE = 2.0


class Outcome(Value):
    status: Literal["executed", "failed"]
    content: str
    error: Reason | None = None
    exit_status: int | None = None


async def execute(tool: Tool[Any], arguments: Any, job: Job) -> Outcome:
    """Run a call to its end. Only cancellation passes through."""
    try:
        # A tool that knows its limit may end by itself and tell more: this is for the others. One that keeps its own
        # time may wait for a person meanwhile.
        keeps_time = job.seconds is None or getattr(tool, "keeps_time", False)
        async with asyncio.timeout(None if keeps_time else (job.seconds or 0) + _GRACE):
            given = await tool.run(arguments, job)
    except PilothouseError as error:
        return failed(error.reason)
    except TimeoutError:
        return failed(Reason(Code.TOOL_TIMED_OUT, {"tool": tool.name, "seconds": job.seconds}))
    except Exception as error:  # a tool is foreign code: whatever it raises, the conversation goes on
        return failed(Reason(Code.TOOL_FAILED, {"tool": tool.name, "detail": f"{type(error).__name__}: {error}"}))
    output = given if isinstance(given, ToolOutput) else ToolOutput(given)
    if not isinstance(output.content, str):
        detail = f"it gave {type(output.content).__name__} instead of text"
        return failed(Reason(Code.TOOL_FAILED, {"tool": tool.name, "detail": detail}))
    whole = with_bytes_escaped(output.content)
    if len(whole) > AT_MOST and job.artifacts is not None:  # it says itself where the whole could not be kept
        whole = await asyncio.to_thread(bounded, whole, job.call_id, job.artifacts)
    return Outcome(status="executed", content=whole, exit_status=output.exit_status)


def failed(reason: Reason) -> Outcome:
    params = {
        name: with_bytes_escaped(value) if isinstance(value, str) else value for name, value in reason.params.items()
    }
    cleaned = Reason(reason.code, params)
    return Outcome(status="failed", content=say(cleaned), error=cleaned)
