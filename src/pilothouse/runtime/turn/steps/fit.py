"""fit: load and count the history; compress the messages before the turn where the budget is exceeded."""

from pilothouse.domain.states import CompressingMessages, LoadingMessages, PreparingLLMRequest, State
from pilothouse.runtime.compression.branch import compress_branch, due_plan
from pilothouse.runtime.request.builder import count_tokens, load_history
from pilothouse.runtime.turn.steps.prepare import build_outline
from pilothouse.runtime.turn.turn import Turn
from pilothouse.window.history import History

_LOADING_SHOWN_AFTER_SECONDS = 0.1


async def fit(turn: Turn) -> State:
    history = await load_turn_history(turn)
    assert turn.outline is not None
    total = count_tokens(turn.live, turn.outline, history).total
    await _compress(turn, history, total)
    return PreparingLLMRequest()


async def load_turn_history(turn: Turn) -> History:
    """The history of the turn's branch. The state shows the progress where loading takes a while."""
    ambient = turn.dependencies.ambient
    started_at = ambient.monotonic()

    async def show_progress(loaded: int, total: int) -> None:
        if ambient.monotonic() - started_at > _LOADING_SHOWN_AFTER_SECONDS:
            turn.enter(LoadingMessages(loaded=loaded, total=total))

    assert turn.outline is not None
    return await load_history(turn.live, turn.open.branch, turn.outline, show_progress)


async def _compress(turn: Turn, history: History, total: int) -> None:
    live, name = turn.live, turn.open.branch
    plan = await due_plan(live, name, history, total, must_shorten=turn.must_shorten)
    turn.must_shorten = False
    if plan is None:
        return
    turn.enter(CompressingMessages(messages_to_compress=plan.messages))
    await compress_branch(live, name, plan, total, enter=turn.enter, by="runtime")
    await build_outline(turn)  # the mode may have changed during the compression
