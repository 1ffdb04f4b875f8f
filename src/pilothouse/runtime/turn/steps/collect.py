"""collect: begin the next round, unless the limit of rounds is reached. The last result's commit counted the round.
A turn of proposed calls ends here."""

from pilothouse.domain.codes import Code, Reason
from pilothouse.domain.states import EnhancingSystemPrompt, ProcessingToolResults, SavingMessage, ToolAutoLoop
from pilothouse.runtime.turn.round import Next, Round
from pilothouse.runtime.turn.turn import Turn


async def collect(turn: Turn, round_: Round) -> Next:
    turn.enter(ProcessingToolResults())
    turn.enter(ToolAutoLoop(depth=turn.open.round - 1, tools_executed=turn.open.tools_executed))
    if turn.open.origin is not None:
        *_, last_result = (call.result_id for call in turn.live.calls.values() if call.result_id is not None)
        return Next(SavingMessage(message_id=last_result))
    limit = turn.dependencies.limits.rounds
    if turn.open.round > limit:
        return turn.give_up(Reason(Code.LIMIT_ROUNDS, {"limit": limit}), round_, "limit")
    return Next(EnhancingSystemPrompt())
