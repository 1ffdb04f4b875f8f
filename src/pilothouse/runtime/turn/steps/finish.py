"""finish and stop: the two steps that end a turn. Commit (d)."""

from pilothouse.domain.codes import Code, Reason
from pilothouse.domain.states import Idle, SavingMessage, State
from pilothouse.runtime.authorization.call_inspection import close_unseen_calls
from pilothouse.runtime.authorization.results import close_open_calls
from pilothouse.runtime.turn.steps.stream import store_partial
from pilothouse.runtime.turn.turn import Turn


async def finish(turn: Turn) -> State:
    """Store the final answer, or the error that ended the turn, and close the turn."""
    live = turn.live
    async with live.lock:
        draft = turn.closing_draft()
        # Only rejections end a turn without a final message.
        is_rejected = isinstance(live.state, SavingMessage) and live.state.message_id is None
        draft.core.update(turn=None, last_turn="rejected" if is_rejected else turn.end)
        idle = Idle()
        await turn.commit(draft, idle)
        return idle


async def stop(turn: Turn) -> State:
    """End a cancelled turn, or one that is out of time: store the partial text with a mark, and give every open call a
    result."""
    if turn.live.delta_writer is not None:
        turn.live.delta_writer.close()
    await store_partial(turn, "cancelled")
    live = turn.live
    async with live.lock:
        draft = turn.closing_draft()
        idle = Idle()
        if draft.core.get("turn", live.core.turn) is None:  # the unsaved change ends the turn already
            await turn.commit(draft, idle)
            return idle
        by = turn.cancelled_by or "runtime"
        close_unseen_calls(draft, live, turn.outbox, Reason(Code.CANCELLED))
        close_open_calls(draft, live, Reason(Code.CANCELLED))
        if turn.out_of_time:
            reason = Reason(Code.LIMIT_TURN_TIME, {"seconds": turn.dependencies.limits.turn_seconds})
            draft.append(turn.error_message(reason), turn.open.branch)
        else:
            draft.note("turn_cancelled", by)
        draft.core.update(turn=None, last_turn="limit" if turn.out_of_time else "cancelled")
        await turn.commit(draft, idle)
        return idle
