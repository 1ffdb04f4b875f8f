"""request: the window of this round, put together from what is kept encoded."""

from pilothouse.domain.codes import Code, Reason
from pilothouse.domain.states import ConnectingToLLM, LoadingMessages, State
from pilothouse.llm.base import ModelRequest
from pilothouse.runtime.turn import Turn

_SHOWN_AFTER = 0.1


async def request(turn: Turn) -> State:
    over = _over_limit(turn)
    if over is not None:
        return turn.give_up(over, "limit")
    live, parts = turn.live, turn.parts
    began = parts.ambient.monotonic()

    async def loading(loaded: int, total: int) -> None:
        if parts.ambient.monotonic() - began > _SHOWN_AFTER:
            turn.enter(LoadingMessages(loaded=loaded, total=total))

    messages = await live.windows.fragments(
        parts.store,
        parts.adapter,
        live.id,
        live.branches[turn.open.branch],
        with_tools=bool(turn.offers),
        loading=loading,
    )
    turn.request = ModelRequest(model=parts.model, system=turn.system, messages=messages, tools=turn.offers)
    return ConnectingToLLM()


def _over_limit(turn: Turn) -> Reason | None:
    limits, usage = turn.parts.limits, turn.open.usage
    used = usage.input_tokens + usage.output_tokens
    if limits.turn_tokens is not None and used >= limits.turn_tokens:
        return Reason(Code.LIMIT_TOKENS, {"used": used, "limit": limits.turn_tokens})
    if limits.turn_cost is not None and (usage.cost or 0) >= limits.turn_cost:
        return Reason(Code.LIMIT_COST, {"used": round(usage.cost or 0, 6), "limit": limits.turn_cost})
    return None
