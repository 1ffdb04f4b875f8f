"""compress: a person has asked for it, between turns. What the store refuses changes nothing, and they are told."""

from pilothouse.domain.errors import StoreError
from pilothouse.domain.states import Idle, SavingContext, State
from pilothouse.runtime.compressing import compress_branch
from pilothouse.runtime.turn import Turn


async def compress(turn: Turn) -> State:
    asked = turn.compressing
    assert asked is not None
    try:
        await compress_branch(
            turn.live,
            asked.branch,
            asked.made,
            asked.total,
            enter=turn.enter,
            by=asked.by,
            focus=asked.focus,
            between_turns=True,
            told=asked.is_done,
        )
    except StoreError as error:
        asked.error = error
        if not isinstance(turn.live.state, SavingContext):  # it could not even be read
            turn.enter(SavingContext())
        return Idle()
    return turn.live.state
