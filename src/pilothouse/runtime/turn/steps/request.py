"""request: build the model request of this round from messages that are cached in encoded form."""

from dataclasses import replace

from pilothouse.domain.codes import Code, Reason
from pilothouse.domain.states import ConnectingToLLM
from pilothouse.runtime.dependencies import ModelChoice
from pilothouse.runtime.request.truncation import FittedRequest, Truncation, fit_request
from pilothouse.runtime.turn.round import Next, PreparedRequest, Round
from pilothouse.runtime.turn.steps.fit import load_turn_history
from pilothouse.runtime.turn.turn import Turn


async def request(turn: Turn, round_: Round) -> Next:
    limit_reason = _over_limit(turn)
    if limit_reason is not None:
        return turn.give_up(limit_reason, round_, "limit")
    live, outline = turn.live, round_.outline
    assert outline is not None
    while True:
        adapter, model = turn.dependencies.adapter, live.model()
        limit = min(model.budget.request_tokens, turn.requests.limit or model.budget.request_tokens)
        history = await load_turn_history(turn, outline, model, adapter.format)
        fitted = await fit_request(live, turn.open.branch, outline, history, model, limit)
        # Otherwise the request is in the format of another provider, or may hold images for a model without vision.
        if adapter is turn.dependencies.adapter and model.name == live.model().name:
            break
    if model.provider_tokens(fitted.total) > limit:
        refusal = turn.requests.too_long_reason
        if refusal is not None:
            return turn.give_up(refusal, round_, "error")
        return turn.give_up(_window_full(model, fitted), round_, "limit")
    round_ = replace(round_, prepared=PreparedRequest(fitted.request, adapter, fitted.total))
    _notify_of_truncation(turn, round_, model, fitted.truncation)
    return Next(ConnectingToLLM(), round_)


def _notify_of_truncation(turn: Turn, round_: Round, model: ModelChoice, truncation: Truncation) -> None:
    """Store notices of shortened and omitted messages with the next commit: once a turn, and again when the counts
    grow."""
    counts = {
        Code.RESULTS_CUT: truncation.results,
        Code.MESSAGES_SHORTENED: truncation.messages,
        Code.MESSAGES_LEFT_OUT: truncation.left_out,
        Code.PINS_SHORTENED: truncation.pins,
    }
    figures = {"tokens": model.provider_tokens(truncation.tokens), "budget": model.budget.tokens}
    for code, count in counts.items():
        if count > turn.requests.noticed_counts.get(code, 0):
            turn.requests.noticed_counts[code] = count
            turn.live.pending.messages.append(turn.progress_notice(Reason(code, {"count": count, **figures}), round_))


def _window_full(model: ModelChoice, fitted: FittedRequest) -> Reason:
    counts = fitted.counts
    own_counts = {"prompt": sum(counts.prompt), "tools": counts.tools, "tokens": counts.total}
    figures = {name: model.provider_tokens(tokens) for name, tokens in own_counts.items()}
    return Reason(Code.WINDOW_FULL, {**figures, "budget": model.budget.tokens})


def _over_limit(turn: Turn) -> Reason | None:
    limits, usage = turn.dependencies.limits, turn.open.usage
    tokens = usage.input_tokens + usage.output_tokens
    if limits.turn_tokens is not None and tokens >= limits.turn_tokens:
        return Reason(Code.LIMIT_TOKENS, {"used": tokens, "limit": limits.turn_tokens})
    if limits.turn_cost is not None and (usage.cost or 0) >= limits.turn_cost:
        return Reason(Code.LIMIT_COST, {"used": round(usage.cost or 0, 6), "limit": limits.turn_cost})
    return None
