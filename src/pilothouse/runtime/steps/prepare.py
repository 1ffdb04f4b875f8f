"""prepare: what holds in this round: the mode of this instant, the tools that it offers, the prompt."""

from pilothouse.domain.states import OptimizingContext, PreparingLLMRequest, State
from pilothouse.runtime.turn import Turn
from pilothouse.window.prompt import system_prompt


async def prepare(turn: Turn) -> State:
    live, parts = turn.live, turn.parts
    turn.mode = parts.modes.named(live.core.mode)
    turn.offers = parts.registry.offered(turn.mode)
    branch = live.branches[turn.open.branch]
    turn.system = system_prompt(turn.mode, turn.offers, workspace=live.core.workspace, addition=branch.prompt_addition)
    turn.enter(OptimizingContext())
    return PreparingLLMRequest()
