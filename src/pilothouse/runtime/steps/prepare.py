"""prepare: what holds in this round: the mode of this instant, the tools that it offers, the prompt."""

from pilothouse.domain.states import OptimizingContext, State
from pilothouse.runtime.overviews import keep_overview
from pilothouse.runtime.rounds import outline
from pilothouse.runtime.turn import Turn


async def prepare(turn: Turn) -> State:
    live = turn.live
    await live.home.open_folder(live.core)  # trust may have been given or taken from elsewhere
    await keep_overview(live, turn.open.branch)
    await look(turn)
    return OptimizingContext()


async def look(turn: Turn) -> None:
    """What holds now."""
    turn.outline = await outline(turn.live, turn.open.branch)
    turn.mode = turn.outline.mode
