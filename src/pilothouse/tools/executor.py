"""Running one call: its time limit, and every way in which it can end, as a value."""

import asyncio
from typing import Any, Literal

from pilothouse.domain.codes import Code, Reason, say
from pilothouse.domain.errors import ToolError
from pilothouse.domain.values import Value
from pilothouse.tools.base import Job, Tool


class Outcome(Value):
    status: Literal["executed", "failed"]
    content: str
    error: Reason | None = None


async def execute(tool: Tool[Any], arguments: Any, job: Job) -> Outcome:
    """Run a call to its end. Only cancellation passes through."""
    try:
        async with asyncio.timeout(job.seconds):
            content = await tool.run(arguments, job)
    except ToolError as error:
        return failed(error.reason)
    except TimeoutError:
        return failed(Reason(Code.TOOL_TIMED_OUT, {"tool": tool.name, "seconds": job.seconds}))
    except Exception as error:  # a tool is foreign code: whatever it raises, the conversation goes on
        return failed(Reason(Code.TOOL_FAILED, {"tool": tool.name, "detail": f"{type(error).__name__}: {error}"}))
    return Outcome(status="executed", content=content)


def failed(reason: Reason) -> Outcome:
    return Outcome(status="failed", content=say(reason), error=reason)
