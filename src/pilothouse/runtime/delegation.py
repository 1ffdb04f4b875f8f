"""Sub-agents: a context that another one sent. It has its own turn, state and audit, and never more leave."""

import asyncio
from contextlib import suppress
from pathlib import Path

from pilothouse.domain.codes import Code
from pilothouse.domain.contexts import TurnEnd
from pilothouse.domain.errors import InvalidInput, RequestError, StoreError, ToolError
from pilothouse.domain.messages import Text
from pilothouse.domain.states import Failed, Idle
from pilothouse.domain.values import ContextId
from pilothouse.runtime.catalogue import create_context
from pilothouse.runtime.contexts import Contexts
from pilothouse.runtime.live import Live
from pilothouse.runtime.messages import read_messages, send
from pilothouse.runtime.turns import cancel

_LOOKED_BACK = 20
_CUT_OFF: frozenset[TurnEnd] = frozenset({"limit", "error", "interrupted"})
"""Ends of a turn after which the text so far is worth having. After the others the person has decided against it."""


async def delegate(contexts: Contexts, live: Live, task: str, mode: str | None) -> str:
    """Let a sub-agent do a task; gives its answer. If this is cancelled, so is the sub-agent.

    Raises: ToolError when it came to no answer.
    """
    child = ContextId(contexts.parts.ambient.new_id())
    try:
        await create_context(
            contexts,
            Path(live.core.workspace or "."),
            mode=mode or live.core.mode,
            persona=live.core.persona,
            model=live.model,
            parent=live.id,
            context_id=child,
        )
        await send(contexts, child, task)
        ended = await _until_it_ends(contexts, child)
    except (InvalidInput, StoreError) as error:
        raise ToolError(error.reason.code, **error.reason.params) from error
    except asyncio.CancelledError:
        by = (live.turn.cancelled_by if live.turn is not None else None) or "runtime"
        with suppress(RequestError, StoreError):
            await cancel(contexts, child, by=by)
        raise
    answer = await _last_text(contexts, child)
    end = ended.core.last_turn if isinstance(ended.state, Idle) else "failed"
    if answer is not None and end == "complete":
        return answer
    if answer is not None and end in _CUT_OFF:
        raise ToolError(Code.SUBAGENT_INCOMPLETE, end=end, context_id=child, text=answer)
    raise ToolError(Code.SUBAGENT_ENDED, end=end, context_id=child)


async def _until_it_ends(contexts: Contexts, child: ContextId) -> Live:
    """Through all its rests: it may wait for the person any time, and the person decides there."""
    live = await contexts.find(child)
    live.users += 1  # who sent it steers it: it stays in memory as long as it is waited for
    try:
        with contexts.parts.hub.subscribe([child]) as signals:
            while not _has_ended(live):
                await anext(signals)
    finally:
        live.users -= 1
    return live


def _has_ended(live: Live) -> bool:
    if isinstance(live.state, Failed):
        return live.task is None
    return isinstance(live.state, Idle) and live.core.turn is None


async def _last_text(contexts: Contexts, child: ContextId) -> str | None:
    for message in reversed(await read_messages(contexts, child, limit=_LOOKED_BACK)):
        if isinstance(message, Text) and message.role == "assistant" and message.content:
            return message.content
    return None
