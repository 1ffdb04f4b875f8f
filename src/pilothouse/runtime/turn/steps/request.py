"""request: build the model request of this round from messages that are cached in encoded form."""

from pilothouse.domain.codes import Code, Reason
from pilothouse.domain.states import ConnectingToLLM, State
from pilothouse.runtime.request.builder import provider_tokens
from pilothouse.runtime.request.truncation import FittedRequest, Truncation, fit_request
from pilothouse.runtime.turn.steps.fit import load_turn_history
from pilothouse.runtime.turn.turn import Turn


async def request(turn: Turn) -> State:
    limit_reason = _over_limit(turn)
    if limit_reason is not None:
        return turn.give_up(limit_reason, "limit")
    live, outline = turn.live, turn.outline
    assert outline is not None
    while True:
        adapter = turn.dependencies.adapter
        limit = min(live.budget.request_tokens, turn.request_limit or live.budget.request_tokens)
        fitted = await fit_request(live, turn.open.branch, outline, await load_turn_history(turn), limit)
        if adapter is turn.dependencies.adapter:  # otherwise the request may be in the format of another provider
            break
    if provider_tokens(live, fitted.total) > limit:
        refusal = turn.too_long_reason
        return turn.give_up(_window_full(turn, fitted), "limit") if refusal is None else turn.give_up(refusal, "error")
    _notify_of_truncation(turn, fitted.truncation)
    turn.request_tokens, turn.request = fitted.total, fitted.request
    turn.adapter = adapter
    return ConnectingToLLM()


def _notify_of_truncation(turn: Turn, truncation: Truncation) -> None:
    """Put notices of shortened and omitted messages into the outbox: once a turn, and again when the counts grow."""
    counts = {
        Code.RESULTS_CUT: truncation.results,
        Code.MESSAGES_SHORTENED: truncation.messages,
        Code.MESSAGES_LEFT_OUT: truncation.left_out,
        Code.PINS_SHORTENED: truncation.pins,
    }
    figures = {"tokens": provider_tokens(turn.live, truncation.tokens), "budget": turn.live.budget.tokens}
    for code, count in counts.items():
        if count > turn.noticed_counts.get(code, 0):
            turn.noticed_counts[code] = count
            turn.outbox.append(turn.progress_notice(Reason(code, {"count": count, **figures})))


def _window_full(turn: Turn, fitted: FittedRequest) -> Reason:
    live, counts = turn.live, fitted.counts
    own_counts = {"prompt": sum(counts.prompt), "tools": counts.tools, "tokens": counts.total}
    figures = {name: provider_tokens(live, tokens) for name, tokens in own_counts.items()}
    return Reason(Code.WINDOW_FULL, {**figures, "budget": live.budget.tokens})


def _over_limit(turn: Turn) -> Reason | None:
    limits, usage = turn.dependencies.limits, turn.open.usage
    tokens = usage.input_tokens + usage.output_tokens
    if limits.turn_tokens is not None and tokens >= limits.turn_tokens:
        return Reason(Code.LIMIT_TOKENS, {"used": tokens, "limit": limits.turn_tokens})
    if limits.turn_cost is not None and (usage.cost or 0) >= limits.turn_cost:
        return Reason(Code.LIMIT_COST, {"used": round(usage.cost or 0, 6), "limit": limits.turn_cost})
    return None
