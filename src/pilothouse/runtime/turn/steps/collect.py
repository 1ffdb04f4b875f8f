"""collect: count the completed round and begin the next one, unless the limit of rounds is reached."""

import msgspec

from pilothouse.domain.codes import Code, Reason
from pilothouse.domain.contexts import OpenTurn
from pilothouse.domain.states import EnhancingSystemPrompt, ProcessingToolResults, State, ToolAutoLoop
from pilothouse.runtime.turn.turn import Turn


async def collect(turn: Turn) -> State:
    live = turn.live
    turn.enter(ProcessingToolResults())
    async with live.lock:  # a commit in flight would restore the old round
        turn_in_next_round = _next_round(turn)
    turn.enter(ToolAutoLoop(depth=turn_in_next_round.round - 1, tools_executed=turn_in_next_round.tools_executed))
    limit = turn.dependencies.limits.rounds
    if turn_in_next_round.round > limit:
        return turn.give_up(Reason(Code.LIMIT_ROUNDS, {"limit": limit}), "limit")
    return EnhancingSystemPrompt()


def _next_round(turn: Turn) -> OpenTurn:
    live = turn.live
    executed = sum(
        call.status in ("executed", "failed") for call in live.calls.values() if call.round == turn.open.round
    )
    open_turn = msgspec.structs.replace(
        turn.open, round=turn.open.round + 1, tools_executed=turn.open.tools_executed + executed
    )
    live.core = msgspec.structs.replace(live.core, turn=open_turn)
    return open_turn
