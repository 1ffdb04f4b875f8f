"""request: the window of this round, put together from what is kept encoded."""

from pilothouse.domain.codes import Code, Reason
from pilothouse.domain.states import ConnectingToLLM, State
from pilothouse.runtime.rounds import corrected
from pilothouse.runtime.steps.fit import loaded
from pilothouse.runtime.truncation import Fitted, Truncation, fitted
from pilothouse.runtime.turn import Turn


async def request(turn: Turn) -> State:
    over = _over_limit(turn)
    if over is not None:
        return turn.give_up(over, "limit")
    live, made = turn.live, turn.outline
    assert made is not None
    limit = min(live.budget.request_tokens, turn.request_limit or live.budget.request_tokens)
    found = await fitted(live, turn.open.branch, made, await loaded(turn), limit)
    if corrected(live, found.total) > limit:
        refused = turn.too_long_reason
        return turn.give_up(_full(turn, found), "limit") if refused is None else turn.give_up(refused, "error")
    _remark(turn, found.truncation)
    turn.counted, turn.request = found.total, found.request
    turn.adapter = turn.parts.adapter  # the model that the request names is one of its
    return ConnectingToLLM()


def _remark(turn: Turn, done: Truncation) -> None:
    """Say what was shortened and left out: once in a turn, and again when there is more of it."""
    counts = {
        Code.RESULTS_CUT: done.results,
        Code.MESSAGES_SHORTENED: done.messages,
        Code.MESSAGES_LEFT_OUT: done.left_out,
        Code.PINS_SHORTENED: done.pins,
    }
    figures = {"tokens": corrected(turn.live, done.tokens), "budget": turn.live.budget.tokens}
    for code, count in counts.items():
        if count > turn.remarked.get(code, 0):
            turn.remarked[code] = count
            turn.outbox.append(turn.remark(Reason(code, {"count": count, **figures})))


def _full(turn: Turn, found: Fitted) -> Reason:
    live, counts = turn.live, found.counts
    figures = {"prompt": sum(counts.prompt), "tools": counts.tools, "tokens": counts.total}
    told = {name: corrected(live, tokens) for name, tokens in figures.items()}
    return Reason(Code.WINDOW_FULL, {**told, "budget": live.budget.tokens})


def _over_limit(turn: Turn) -> Reason | None:
    limits, usage = turn.parts.limits, turn.open.usage
    used = usage.input_tokens + usage.output_tokens
    if limits.turn_tokens is not None and used >= limits.turn_tokens:
        return Reason(Code.LIMIT_TOKENS, {"used": used, "limit": limits.turn_tokens})
    if limits.turn_cost is not None and (usage.cost or 0) >= limits.turn_cost:
        return Reason(Code.LIMIT_COST, {"used": round(usage.cost or 0, 6), "limit": limits.turn_cost})
    return None
