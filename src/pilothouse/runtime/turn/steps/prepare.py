"""prepare: the outline of the round: the present mode, the tools that the mode offers, the prompt."""

from pilothouse.domain.states import OptimizingContext, State
from pilothouse.runtime.request.builder import make_outline
from pilothouse.runtime.request.overview import update_overview
from pilothouse.runtime.turn.turn import Turn


async def prepare(turn: Turn) -> State:
    live = turn.live
    await live.services.open_workspace_servers(live.core)  # another client may have changed the folder's trust
    await update_overview(live, turn.open.branch)
    await build_outline(turn)
    return OptimizingContext()


async def build_outline(turn: Turn) -> None:
    """Build the outline of the next request from the present mode and configuration."""
    turn.outline = await make_outline(turn.live, turn.open.branch)
    turn.mode = turn.outline.mode
