"""fit: load and count the history; compress the messages before the turn where the budget is exceeded."""

from dataclasses import replace

from pilothouse.domain.states import CompressingMessages, LoadingMessages, PreparingLLMRequest
from pilothouse.llm.base import WireFormat
from pilothouse.runtime.compression.branch import compress_branch, due_plan
from pilothouse.runtime.dependencies import ModelChoice
from pilothouse.runtime.request.builder import Outline, count_tokens, make_outline
from pilothouse.runtime.turn.round import Next, Round
from pilothouse.runtime.turn.turn import Turn
from pilothouse.window.history import History

_LOADING_SHOWN_AFTER_SECONDS = 0.1


async def fit(turn: Turn, round_: Round) -> Next:
    live, name, outline = turn.live, turn.open.branch, round_.outline
    assert outline is not None
    model = live.model()
    history = await load_turn_history(turn, outline, model)
    total = count_tokens(live, outline, history, model).total
    plan = await due_plan(live, name, history, total, model, must_shorten=round_.must_compress)
    if plan is not None:
        turn.enter(CompressingMessages(messages_to_compress=plan.messages))
        await compress_branch(live, name, plan, total, enter=turn.enter, by="runtime")
        outline = await make_outline(live, name)  # the mode may have changed during the compression
    return Next(PreparingLLMRequest(), replace(round_, outline=outline, must_compress=False))


async def load_turn_history(
    turn: Turn, outline: Outline, model: ModelChoice, wire_format: WireFormat | None = None
) -> History:
    """The history of the turn's branch, by default in the format of the present adapter. The state shows the progress
    where loading takes a while."""
    ambient = turn.dependencies.ambient
    started_at = ambient.monotonic()

    async def show_progress(loaded: int, total: int) -> None:
        if ambient.monotonic() - started_at > _LOADING_SHOWN_AFTER_SECONDS:
            turn.enter(LoadingMessages(loaded=loaded, total=total))

    return await turn.live.history_cache.history(
        turn.live,
        turn.open.branch,
        model,
        with_tools=outline.has_tools,
        wire_format=wire_format,
        on_progress=show_progress,
    )
