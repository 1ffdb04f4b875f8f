"""fit: the history is loaded and counted; where it is too much, what came before the turn is compressed."""

from pilothouse.domain.states import CompressingMessages, LoadingMessages, PreparingLLMRequest, State
from pilothouse.runtime.compressing import compress_branch, due_plan
from pilothouse.runtime.rounds import count, load
from pilothouse.runtime.steps.prepare import look
from pilothouse.runtime.turn import Turn
from pilothouse.window.history import History

_SHOWN_AFTER = 0.1


async def fit(turn: Turn) -> State:
    history = await loaded(turn)
    assert turn.outline is not None
    total = count(turn.live, turn.outline, history).total
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


async def _compress(turn: Turn, history: History, total: int) -> None:
    live, name = turn.live, turn.open.branch
    made = await due_plan(live, name, history, total, must_shorten=turn.must_shorten)
    turn.must_shorten = False
    if made is None:
        return
    turn.enter(CompressingMessages(messages_to_compress=made.messages))
    await compress_branch(live, name, made, total, enter=turn.enter, by="runtime")
    await look(turn)  # the mode may be another one by now
