"""Sub-agents: contexts that another context starts. A sub-agent has its own turn, state and audit, and never more
permissions than its ancestors."""

import asyncio
from contextlib import suppress
from pathlib import Path

from pilothouse.domain.codes import Code
from pilothouse.domain.contexts import TurnEnd
from pilothouse.domain.errors import InvalidInput, RequestError, StoreError, ToolError
from pilothouse.domain.messages import Text
from pilothouse.domain.states import Failed, Idle
from pilothouse.domain.value import ContextId
from pilothouse.runtime.commands.contexts import ContextCommands
from pilothouse.runtime.commands.messages import MessageCommands
from pilothouse.runtime.commands.turns import TurnCommands
from pilothouse.runtime.context.live_context import LiveContext
from pilothouse.runtime.context.snapshot import ContextSnapshot
from pilothouse.runtime.events.attend import EventCommands
from pilothouse.runtime.pool import ContextPool

_MAX_MESSAGES_SEARCHED = 20
_ENDS_WITH_PARTIAL_ANSWER: frozenset[TurnEnd] = frozenset({"limit", "error", "interrupted"})
"""Ends of a turn after which the error carries the text so far. After the other ends the person has decided against the
task."""


async def delegate(pool: ContextPool, live: LiveContext, task: str, mode: str | None) -> str:
    """Let a sub-agent do a task, and return its answer. Cancelling this coroutine cancels the sub-agent.

    Raises: ToolError when the sub-agent gave no complete answer.
    """
    child_id = ContextId(pool.dependencies.ambient.new_id())
    try:
        await ContextCommands(pool).create(
            Path(live.core.workspace or "."),
            mode=mode or live.core.mode,
            persona=live.core.persona,
            model=live.model().name,
            parent=live.id,
            context_id=child_id,
        )
        await MessageCommands(pool).send(child_id, task)
        child = await _wait_until_ended(pool, child_id)
    except (InvalidInput, StoreError) as error:
        raise ToolError(error.reason.code, **error.reason.params) from error
    except asyncio.CancelledError:
        by = (live.turn.cancelled_by if live.turn is not None else None) or "runtime"
        with suppress(RequestError, StoreError):
            await TurnCommands(pool).cancel(child_id, by=by)
        raise
    answer = await _last_text(pool, child_id)
    end = child.core.last_turn if isinstance(child.state, Idle) else "failed"
    if answer is not None and end == "complete":
        return answer
    if answer is not None and end in _ENDS_WITH_PARTIAL_ANSWER:
        raise ToolError(Code.SUBAGENT_INCOMPLETE, end=end, context_id=child_id, text=answer)
    raise ToolError(Code.SUBAGENT_ENDED, end=end, context_id=child_id)


async def _wait_until_ended(pool: ContextPool, child_id: ContextId) -> LiveContext:
    """Wait through every resting state: the sub-agent may wait for the person, who decides in its context."""
    live = await pool.find(child_id)
    live.pin_count += 1  # the sub-agent stays in memory while its parent waits for it
    try:
        async for _ in EventCommands(pool).attend(child_id, None, is_over=_has_ended, contents=False):
            pass
    finally:
        live.pin_count -= 1
    return live


def _has_ended(child: ContextSnapshot) -> bool:
    if isinstance(child.state, Failed):
        return not child.is_driven
    return isinstance(child.state, Idle) and child.core.turn is None


async def _last_text(pool: ContextPool, child_id: ContextId) -> str | None:
    for message in reversed(await MessageCommands(pool).read(child_id, limit=_MAX_MESSAGES_SEARCHED)):
        if isinstance(message, Text) and message.role == "assistant" and message.content:
            return message.content
    return None
