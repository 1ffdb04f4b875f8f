"""prepare, fit and request: the three steps that build a round's request. compress: a compression between turns."""

from dataclasses import replace

from pilothouse.domain.codes import Code, Reason
from pilothouse.domain.errors import StoreError
from pilothouse.domain.states import (
    CompressingMessages,
    ConnectingToLLM,
    Idle,
    LoadingMessages,
    OptimizingContext,
    PreparingLLMRequest,
    SavingContext,
)
from pilothouse.llm.base import WireFormat
from pilothouse.runtime.compression.branch import compress_branch, due_plan
from pilothouse.runtime.dependencies import ModelChoice
from pilothouse.runtime.request.builder import Outline, count_tokens, make_outline
from pilothouse.runtime.request.overview import update_overview
from pilothouse.runtime.request.truncation import FittedRequest, Truncation, fit_request
from pilothouse.runtime.turn.round import Next, PreparedRequest, Round
from pilothouse.runtime.turn.turn import Turn
from pilothouse.window.history import History

_LOADING_SHOWN_AFTER_SECONDS = 0.1


async def prepare(turn: Turn, round_: Round) -> Next:
    """Make the outline of the round: the present mode, the tools that the mode offers, the prompt."""
    live = turn.live
    await live.services.open_workspace_servers(live.core)  # another client may have changed the folder's trust
    await update_overview(live, turn.open.branch)
    return Next(OptimizingContext(), replace(round_, outline=await make_outline(live, turn.open.branch)))


async def fit(turn: Turn, round_: Round) -> Next:
    """Load and count the history; compress the messages before the turn where the budget is exceeded."""
    live, name, outline = turn.live, turn.open.branch, round_.outline
    assert outline is not None
    model = live.model()
    history = await _load_history(turn, outline, model)
    total = count_tokens(live, outline, history, model).total
    plan = await due_plan(live, name, history, total, model, must_shorten=round_.must_compress)
    if plan is not None:
        turn.live.enter(CompressingMessages(messages_to_compress=plan.messages))
        await compress_branch(live, name, plan, total, enter=turn.live.enter, by="runtime")
        outline = await make_outline(live, name)  # the mode may have changed during the compression
    return Next(PreparingLLMRequest(), replace(round_, outline=outline, must_compress=False))


async def _load_history(
    turn: Turn, outline: Outline, model: ModelChoice, wire_format: WireFormat | None = None
) -> History:
    """The history of the turn's branch, by default in the format of the present adapter. The state shows the progress
    where loading takes a while."""
    ambient = turn.dependencies.ambient
    started_at = ambient.monotonic()

    async def show_progress(loaded: int, total: int) -> None:
        if ambient.monotonic() - started_at > _LOADING_SHOWN_AFTER_SECONDS:
            turn.live.enter(LoadingMessages(loaded=loaded, total=total))

    return await turn.live.history_cache.history(
        turn.live,
        turn.open.branch,
        model,
        with_tools=outline.has_tools,
        wire_format=wire_format,
        on_progress=show_progress,
    )


async def request(turn: Turn, round_: Round) -> Next:
    """Build the model request from messages that are cached in encoded form, shortened to fit the budget."""
    limit_reason = _over_limit(turn)
    if limit_reason is not None:
        return turn.give_up(limit_reason, round_, "limit")
    live, outline = turn.live, round_.outline
    assert outline is not None
    while True:
        adapter, model = turn.dependencies.adapter, live.model()
        limit = min(model.budget.request_tokens, turn.requests.limit or model.budget.request_tokens)
        history = await _load_history(turn, outline, model, adapter.format)
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
    if fitted.truncation != Truncation():
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


async def compress(turn: Turn, round_: Round) -> Next:
    """Do a compression that a person requested between turns. If the store refuses, nothing changes and the command
    reports the error."""
    compression = round_.compression
    assert compression is not None
    try:
        await compress_branch(
            turn.live,
            compression.branch,
            compression.plan,
            compression.total,
            enter=turn.live.enter,
            by=compression.by,
            focus=compression.focus,
            between_turns=True,
            on_done=compression.complete,
        )
    except StoreError as error:
        compression.error = error
        if not isinstance(turn.live.state, SavingContext):  # the branch could not be read
            turn.live.enter(SavingContext())
        return Next(Idle())
    return Next(turn.live.state)
