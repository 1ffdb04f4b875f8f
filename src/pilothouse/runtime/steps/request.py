"""request: the window of this round, put together from what is kept encoded."""

from pilothouse.domain.codes import Code, Reason
from pilothouse.domain.states import ConnectingToLLM, State
from pilothouse.runtime.rounds import Counts, corrected
from pilothouse.runtime.squeezing import fitted
from pilothouse.runtime.steps.fit import loaded
from pilothouse.runtime.turn import Turn


async def request(turn: Turn) -> State:
    over = _over_limit(turn)
    if over is not None:
        return turn.give_up(over, "limit")
    live, made = turn.live, turn.outline
    assert made is not None
    found = await fitted(live, turn.open.branch, made, await loaded(turn))
    if corrected(live, found.total) > live.budget.tokens:
        return turn.give_up(_full(turn, found.counts, found.total), "limit")
    _tell(turn, found.cut, found.saved)
    turn.counted, turn.request = found.total, found.request
    turn.adapter = turn.parts.adapter  # the model that the request names is one of its
    return ConnectingToLLM()


def _tell(turn: Turn, count: int, saved: int) -> None:
    """Once, and again when more had to be cut."""
    if count > turn.results_cut:
        turn.results_cut = count
        reason = Reason(Code.RESULTS_CUT, {"count": count, "tokens": corrected(turn.live, saved)})
        turn.outbox.append(turn.remark(reason))


def _full(turn: Turn, counts: Counts, total: int) -> Reason:
    live = turn.live
    prompt = corrected(live, sum(counts.prompt) + counts.tools)
    figures = {"tokens": corrected(live, total), "budget": live.budget.tokens, "prompt": prompt}
    return Reason(Code.WINDOW_FULL, {**figures, "kept": figures["tokens"] - prompt})


def _over_limit(turn: Turn) -> Reason | None:
    limits, usage = turn.parts.limits, turn.open.usage
    used = usage.input_tokens + usage.output_tokens
    if limits.turn_tokens is not None and used >= limits.turn_tokens:
        return Reason(Code.LIMIT_TOKENS, {"used": used, "limit": limits.turn_tokens})
    if limits.turn_cost is not None and (usage.cost or 0) >= limits.turn_cost:
        return Reason(Code.LIMIT_COST, {"used": round(usage.cost or 0, 6), "limit": limits.turn_cost})
    return None
