"""collect: the round is complete. On to the next one, unless a limit says that it is enough."""

import msgspec

from pilothouse.domain.codes import Code, Reason
from pilothouse.domain.contexts import OpenTurn
from pilothouse.domain.states import EnhancingSystemPrompt, ProcessingToolResults, State, ToolAutoLoop
from pilothouse.runtime.turn import Turn


async def collect(turn: Turn) -> State:
    live = turn.live
    turn.enter(ProcessingToolResults())
    async with live.lock:  # a commit in flight would put the old round back
        opened = _next_round(turn)
    turn.enter(ToolAutoLoop(depth=opened.round - 1, tools_executed=opened.tools_executed))
    limit = turn.parts.limits.rounds
    if opened.round > limit:
        return turn.give_up(Reason(Code.LIMIT_ROUNDS, {"limit": limit}), "limit")
    return EnhancingSystemPrompt()


def _next_round(turn: Turn) -> OpenTurn:
    live = turn.live
    ran = sum(call.status in ("executed", "failed") for call in live.calls.values() if call.round == turn.open.round)
    opened = msgspec.structs.replace(
        turn.open, round=turn.open.round + 1, tools_executed=turn.open.tools_executed + ran
    )
    live.core = msgspec.structs.replace(live.core, turn=opened)
    return opened
