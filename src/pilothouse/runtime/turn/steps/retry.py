"""retry: wait visibly after a transient error. The person can end the wait."""

import asyncio

from pilothouse.domain.states import (
    ConnectingToLLM,
    EnhancingSystemPrompt,
    PreparingLLMRequest,
    TransientError,
    name_of,
)
from pilothouse.runtime.turn.round import Next, Round
from pilothouse.runtime.turn.turn import Turn

_RESUMES = (ConnectingToLLM, PreparingLLMRequest, EnhancingSystemPrompt)


async def retry(turn: Turn, round_: Round) -> Next:
    state = turn.live.state
    assert isinstance(state, TransientError)
    turn.retry_now.clear()
    waits = {
        asyncio.ensure_future(turn.dependencies.ambient.sleep(state.wait_seconds)),
        asyncio.ensure_future(turn.retry_now.wait()),
    }
    try:
        await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for wait in waits:
            wait.cancel()
    has_other_adapter = round_.prepared is not None and round_.prepared.adapter is not turn.dependencies.adapter
    if has_other_adapter and state.resume_to == name_of(ConnectingToLLM):
        return Next(PreparingLLMRequest(), round_)  # a provider with other models was set up during the wait
    return Next(next(resume() for resume in _RESUMES if name_of(resume) == state.resume_to), round_)
