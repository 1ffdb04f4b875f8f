"""compress: a compression that a person requested between turns. If the store refuses, nothing changes and the request
reports the error."""

from pilothouse.domain.errors import StoreError
from pilothouse.domain.states import Idle, SavingContext
from pilothouse.runtime.compression.branch import compress_branch
from pilothouse.runtime.turn.round import Next, Round
from pilothouse.runtime.turn.turn import Turn


async def compress(turn: Turn, round_: Round) -> Next:
    compression = round_.compression
    assert compression is not None
    try:
        await compress_branch(
            turn.live,
            compression.branch,
            compression.plan,
            compression.total,
            enter=turn.enter,
            by=compression.by,
            focus=compression.focus,
            between_turns=True,
            on_done=compression.complete,
        )
    except StoreError as error:
        compression.error = error
        if not isinstance(turn.live.state, SavingContext):  # the branch could not be read
            turn.enter(SavingContext())
        return Next(Idle())
    return Next(turn.live.state)
