"""prepare: what holds in this round: the mode of this instant, the tools that it offers, the prompt."""

from pilothouse.domain.states import OptimizingContext, PreparingLLMRequest, State
from pilothouse.runtime.standing import standing_of
from pilothouse.runtime.turn import Turn
from pilothouse.window.prompt import system_prompt


async def prepare(turn: Turn) -> State:
    live = turn.live
    await live.home.open_folder(live.core.workspace)  # trust may have been given or taken from elsewhere
    standing = standing_of(live)
    turn.mode = standing.mode
    turn.offers = turn.parts.registry.offered(standing, turn.live.core.workspace)
    branch = live.branches[turn.open.branch]
    turn.system = system_prompt(
        standing.mode,
        turn.offers,
        above=[each.mode for each in standing.above],
        workspace=live.core.workspace,
        addition=branch.prompt_addition,
    )
    turn.enter(OptimizingContext())
    return PreparingLLMRequest()
