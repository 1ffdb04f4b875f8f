"""finish and stop: the two steps that end a turn. Commit (d). Besides: how a failed turn is closed."""

from contextlib import suppress

from pilothouse.domain.codes import Code, Reason
from pilothouse.domain.errors import PilothouseError, StoreError
from pilothouse.domain.states import Failed, Idle, SavingMessage
from pilothouse.runtime.authorization.authorization import close_open_calls
from pilothouse.runtime.authorization.call_inspection import close_unseen_calls
from pilothouse.runtime.notices import publish_error
from pilothouse.runtime.turn.round import Next, Round
from pilothouse.runtime.turn.steps.stream import store_partial
from pilothouse.runtime.turn.turn import Turn


async def finish(turn: Turn, round_: Round) -> Next:
    """Store the final answer, or the error that ended the turn, and close the turn."""
    live = turn.live
    async with live.lock:
        # Only rejections end a turn without a final message.
        is_rejected = isinstance(live.state, SavingMessage) and live.state.message_id is None
        return await turn.close(live.draft(), "rejected" if is_rejected else round_.end)


async def stop(turn: Turn, round_: Round) -> Next:
    """End a cancelled turn, or one that is out of time: store the partial text with a mark, and give every open call a
    result."""
    if turn.delta_writer is not None:
        with suppress(StoreError):
            await turn.delta_writer.close()
    await store_partial(turn, round_, "cancelled")
    live = turn.live
    async with live.lock:
        draft = live.draft()
        if draft.value("turn") is None:  # the refused draft ends the turn already
            idle = Idle()
            await turn.commit(draft, idle)
            return Next(idle)
        close_unseen_calls(draft, live, Reason(Code.CANCELLED))
        close_open_calls(draft, live, Reason(Code.CANCELLED))
        if round_.is_out_of_time:
            reason = Reason(Code.LIMIT_TURN_TIME, {"seconds": turn.dependencies.limits.turn_seconds})
            draft.append(turn.error_message(reason, round_), turn.open.branch)
        else:
            draft.note("turn_cancelled", turn.cancelled_by or "runtime")
        return await turn.close(draft, "limit" if round_.is_out_of_time else "cancelled")


def fail_turn(turn: Turn, error: Exception) -> Failed:
    turn.dependencies.report(error)
    reason = _reason_of(error)
    publish_error(turn.live, reason)
    return Failed(error_message=reason, failed_at=turn.dependencies.now())


def _reason_of(error: Exception) -> Reason:
    if isinstance(error, PilothouseError):
        return error.reason
    return Reason(Code.INTERNAL, {"detail": f"{type(error).__name__}: {error}"})


async def close_failed_turn(turn: Turn) -> None:
    """Close a failed turn in the store. If the store refuses, recovery closes the turn after a restart."""
    live = turn.live
    with suppress(StoreError):
        async with live.lock:
            if live.core.turn is None or not isinstance(live.state, Failed):
                return
            draft = live.draft()
            close_unseen_calls(draft, live, Reason(Code.NOT_RUN))
            close_open_calls(draft, live, Reason(Code.NOT_RUN))
            draft.core.update(turn=None, last_turn="error")
            await turn.commit(draft)
