"""finish and stop: the two ends of a turn. Commit (d)."""

from pilothouse.domain.codes import Code, Reason
from pilothouse.domain.states import Idle, SavingMessage, State
from pilothouse.runtime.looking import close_unseen_calls
from pilothouse.runtime.results import close_open_calls
from pilothouse.runtime.steps.stream import keep_partial
from pilothouse.runtime.turn import Turn


async def finish(turn: Turn) -> State:
    """Store the final answer, or what ended the turn instead of one, and close the turn."""
    live = turn.live
    async with live.lock:
        draft = turn.closing_draft()
        # Only rejections end a turn with nothing to say.
        silent = isinstance(live.state, SavingMessage) and live.state.message_id is None
        draft.core.update(turn=None, last_turn="rejected" if silent else turn.end)
        idle = Idle()
        await turn.commit(draft, idle)
        return idle


async def stop(turn: Turn) -> State:
    """Cancelled, or out of time: the partial text is kept and marked, every open call gets its result."""
    if turn.live.outlet is not None:
        turn.live.outlet.close()
    await keep_partial(turn, "cancelled")
    live = turn.live
    async with live.lock:
        draft = turn.closing_draft()
        idle = Idle()
        if draft.core.get("turn", live.core.turn) is None:  # it had ended, only the store would not take it
            await turn.commit(draft, idle)
            return idle
        by = turn.cancelled_by or "runtime"
        close_unseen_calls(draft, live, turn.outbox, Reason(Code.CANCELLED))
        close_open_calls(draft, live, Reason(Code.CANCELLED))
        if turn.out_of_time:
            reason = Reason(Code.LIMIT_TURN_TIME, {"seconds": turn.parts.limits.turn_seconds})
            draft.append(turn.error(reason), turn.open.branch)
        else:
            draft.note("turn_cancelled", by)
        draft.core.update(turn=None, last_turn="limit" if turn.out_of_time else "cancelled")
        await turn.commit(draft, idle)
        return idle
