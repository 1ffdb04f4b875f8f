"""fit: the history is loaded and counted; where it is too much, what came before the turn is compressed."""

from pilothouse.domain.states import CompressingMessages, LoadingMessages, PreparingLLMRequest, State
from pilothouse.runtime.compressing import compress_branch, plan_for
from pilothouse.runtime.rounds import corrected, count, load
from pilothouse.runtime.summarising import own_budget
from pilothouse.runtime.turn import Turn
from pilothouse.window.history import History

_SHOWN_AFTER = 0.1


async def fit(turn: Turn) -> State:
    history = await loaded(turn)
    assert turn.outline is not None
    total = count(turn.live, turn.outline, history).total
    if _is_due(turn, total):
        await _compress(turn, history, total)
    return PreparingLLMRequest()


async def loaded(turn: Turn) -> History:
    """The history of the turn's branch; that it is being read is shown where it takes a while."""
    ambient = turn.parts.ambient
    began = ambient.monotonic()

    async def loading(loaded: int, total: int) -> None:
        if ambient.monotonic() - began > _SHOWN_AFTER:
            turn.enter(LoadingMessages(loaded=loaded, total=total))

    assert turn.outline is not None
    return await load(turn.live, turn.open.branch, turn.outline, loading)


def _is_due(turn: Turn, total: int) -> bool:
    live, budget = turn.live, turn.live.budget
    if not budget.auto_compress:
        return False
    keeps_whole = live.branches[turn.open.branch].keeps_whole
    limit = budget.tokens if keeps_whole else budget.trigger_tokens
    return turn.was_too_long or corrected(live, total) > limit


async def _compress(turn: Turn, history: History, total: int) -> None:
    live, name = turn.live, turn.open.branch
    made = await plan_for(
        live, live.branches[name], history, total, budget=own_budget(live), in_turn=True, by_person=turn.was_too_long
    )
    if made is None:  # what could go is too little: the request tells what does not fit
        return
    turn.enter(CompressingMessages(messages_to_compress=made.messages))
    await compress_branch(live, name, made, total, enter=turn.enter, by="runtime")
