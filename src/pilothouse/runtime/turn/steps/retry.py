"""retry: wait visibly after a transient error. The person can end the wait."""

import asyncio

from pilothouse.domain.states import (
    ConnectingToLLM,
    EnhancingSystemPrompt,
    PreparingLLMRequest,
    State,
    TransientError,
    name_of,
)
from pilothouse.runtime.turn.turn import Turn

_RESUMES = (ConnectingToLLM, PreparingLLMRequest, EnhancingSystemPrompt)


async def retry(turn: Turn) -> State:
    state = turn.live.state
    assert isinstance(state, TransientError)
    turn.retry_now.clear()
    waits = {
        asyncio.ensure_future(turn.dependencies.ambient.sleep(turn.wait_seconds)),
        asyncio.ensure_future(turn.retry_now.wait()),
    }
    try:
        await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for wait in waits:
            wait.cancel()
    if turn.adapter is not turn.dependencies.adapter and state.resume_to == name_of(ConnectingToLLM):
        return PreparingLLMRequest()  # a provider with other models was set up during the wait
    return next(resume() for resume in _RESUMES if name_of(resume) == state.resume_to)
