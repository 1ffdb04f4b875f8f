"""Unsaved changes: drafts that the store refused during a turn, kept in memory until the store accepts them.

A turn that ended with such a refusal is closed as interrupted; the command `continue` goes on with its work.
"""

from pilothouse.domain.codes import Code, Reason
from pilothouse.domain.errors import StoreError
from pilothouse.domain.states import Idle, WaitingForRecovery
from pilothouse.runtime.authorization.call_inspection import close_unseen_calls
from pilothouse.runtime.authorization.results import close_open_calls, current_turn
from pilothouse.runtime.context.live_context import LiveContext
from pilothouse.runtime.context.recovery import interruption_message
from pilothouse.runtime.turn.turn import turn_of

RETRY_INTERVAL_SECONDS = 10.0


async def store_unsaved_change(live: LiveContext) -> None:
    """Store the unsaved change and close its turn. The caller holds the lock, and the context waits for recovery.

    A turn whose end is part of the unsaved change keeps that end. No call, request or queued message starts.
    Raises: StoreError when the store still refuses; then the context goes on waiting.
    """
    turn = turn_of(live)
    draft = turn.closing_draft()
    if draft.value("turn") is not None:
        close_unseen_calls(draft, live, turn.outbox, Reason(Code.NOT_RUN))
        close_open_calls(draft, live, Reason(Code.NOT_RUN), status="interrupted")
        draft.append(interruption_message(live), current_turn(live).branch)
        draft.core.update(turn=None, last_turn="interrupted")
    try:
        await turn.commit(draft, Idle())
    except StoreError as error:
        if isinstance(live.state, WaitingForRecovery) and live.state.reason != error.reason:
            live.enter(WaitingForRecovery(reason=error.reason))
        raise
    live.turn = live.delta_writer = None
