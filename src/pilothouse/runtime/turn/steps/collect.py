"""collect: begin the next round, unless the limit of rounds is reached. The last result's commit counted the round."""

from pilothouse.domain.codes import Code, Reason
from pilothouse.domain.states import EnhancingSystemPrompt, ProcessingToolResults, ToolAutoLoop
from pilothouse.runtime.turn.round import Next, Round
from pilothouse.runtime.turn.turn import Turn


async def collect(turn: Turn, round_: Round) -> Next:
    turn.enter(ProcessingToolResults())
    turn.enter(ToolAutoLoop(depth=turn.open.round - 1, tools_executed=turn.open.tools_executed))
    limit = turn.dependencies.limits.rounds
    if turn.open.round > limit:
        return turn.give_up(Reason(Code.LIMIT_ROUNDS, {"limit": limit}), round_, "limit")
    return Next(EnhancingSystemPrompt())
