"""hold: the person has paused the turn, and nothing is on its way: it rests until they say go on."""

from pilothouse.domain.states import EnhancingSystemPrompt, Paused, State, name_of
from pilothouse.runtime.turn import Turn


async def hold(turn: Turn) -> State:
    """The round begins anew after it: mode, tools and window may be others by then."""
    async with turn.live.lock:
        by = turn.live.paused_by
        if by is None:  # taken back meanwhile
            return turn.live.state
        draft = turn.live.draft()
        draft.note("turn_paused", by)
        paused = Paused(resume_to=name_of(EnhancingSystemPrompt))
        await turn.commit(draft, paused)
        return paused
