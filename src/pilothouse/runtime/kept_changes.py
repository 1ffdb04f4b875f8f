"""What the store refused in a turn is kept in memory; here it is stored, as soon as the store takes it.

A turn that the store broke off does not go on by itself: it is closed as interrupted, and `continue` goes on.
"""

from pilothouse.domain.codes import Code, Reason
from pilothouse.domain.errors import StoreError
from pilothouse.domain.states import Idle, WaitingForRecovery
from pilothouse.runtime.live import Live
from pilothouse.runtime.looking import close_unseen_calls
from pilothouse.runtime.recovery import interruption
from pilothouse.runtime.results import close_open_calls, open_turn
from pilothouse.runtime.turn import turn_of

RETRY_SECONDS = 10.0


async def store_kept_change(live: Live) -> None:
    """Store what is kept and close its turn. The caller holds the lock, and the context waits for recovery.

    A turn whose end is part of what is kept keeps that end. Nothing starts: no call, no request, no queued message.
    Raises: StoreError when the store still refuses; then the context goes on waiting.
    """
    turn = turn_of(live)
    draft = turn.closing_draft()
    if draft.value("turn") is not None:
        close_unseen_calls(draft, live, turn.outbox, Reason(Code.NOT_RUN))
        close_open_calls(draft, live, Reason(Code.NOT_RUN), status="interrupted")
        draft.append(interruption(live), open_turn(live).branch)
        draft.core.update(turn=None, last_turn="interrupted")
    try:
        await turn.commit(draft, Idle())
    except StoreError as error:
        if isinstance(live.state, WaitingForRecovery) and live.state.reason != error.reason:
            live.enter(WaitingForRecovery(reason=error.reason))
        raise
    live.turn = live.outlet = None
