"""prepare: the outline of the round: the present mode, the tools that the mode offers, the prompt."""

from dataclasses import replace

from pilothouse.domain.states import OptimizingContext
from pilothouse.runtime.request.builder import make_outline
from pilothouse.runtime.request.overview import update_overview
from pilothouse.runtime.turn.round import Next, Round
from pilothouse.runtime.turn.turn import Turn


async def prepare(turn: Turn, round_: Round) -> Next:
    live = turn.live
    await live.services.open_workspace_servers(live.core)  # another client may have changed the folder's trust
    await update_overview(live, turn.open.branch)
    return Next(OptimizingContext(), replace(round_, outline=await make_outline(live, turn.open.branch)))
