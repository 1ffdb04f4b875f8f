"""hold: the turn is paused and no request is in flight: rest until the person resumes the turn."""

from pilothouse.domain.states import EnhancingSystemPrompt, Paused, State, name_of
from pilothouse.runtime.turn.turn import Turn


async def hold(turn: Turn) -> State:
    """Enter `Paused`. The round begins again after it, since mode, tools and window may change meanwhile."""
    async with turn.live.lock:
        by = turn.live.paused_by
        if by is None:  # resumed meanwhile
            return turn.live.state
        draft = turn.live.draft()
        draft.note("turn_paused", by)
        paused = Paused(resume_to=name_of(EnhancingSystemPrompt))
        await turn.commit(draft, paused)
        return paused
