"""Recovery: bring an interrupted context into a resting state, as the table in the specification says.

After a crash, a context reads as if its recovery was stored (`show_recovery`); its first owner ends what still runs and
stores that. A change that the store refused during a turn stays in memory until the store accepts it;
`store_unsaved_change` then closes the turn as interrupted, and the command `continue` goes on with its work.
"""

import asyncio

from pilothouse.domain.codes import Code, Reason
from pilothouse.domain.contexts import StoredContext
from pilothouse.domain.errors import StoreError
from pilothouse.domain.messages import ErrorMessage, Text
from pilothouse.domain.states import Idle, State, WaitingForRecovery, is_resting
from pilothouse.runtime.authorization.authorization import (
    close_open_calls,
    current_turn,
    end_call,
    may_have_run,
    next_state,
)
from pilothouse.runtime.authorization.call_inspection import close_unseen_calls
from pilothouse.runtime.context.draft import Draft
from pilothouse.runtime.context.live_context import LiveContext
from pilothouse.runtime.notices import error_message, present_metadata
from pilothouse.runtime.turn.turn import turn_of
from pilothouse.sandbox.processes import kill_marked

RETRY_INTERVAL_SECONDS = 10.0


async def end_left_processes(stored: StoredContext) -> None:
    """End the processes that commands of a dead runtime left behind."""
    executing = [call.id for call in stored.calls.values() if call.status == "executing"]
    if executing:
        await asyncio.to_thread(kill_marked, executing)


def show_recovery(live: LiveContext) -> None:
    """Make an interrupted context read as its recovery will leave it, without storing anything: the first command, or
    the start of the runtime, stores the same change. Does nothing where the context rests."""
    if not is_resting(live.core.state):
        live.show_recovery(*_recover(live))


def _recover(live: LiveContext) -> tuple[Draft, State]:
    """The draft to commit so that the context is usable, and the state for that commit."""
    draft = live.draft()
    draft.note("recovered", "runtime", state=live.core.state)
    if live.core.turn is None:
        return draft, Idle()
    _complete_partials(live, draft)
    _end_interrupted_calls(live, draft)
    if any(call.is_open for call in draft.round_calls()):
        return draft, next_state(draft)
    draft.append(interruption_message(live), current_turn(live).branch)
    draft.core.update(turn=None, last_turn="interrupted")
    return draft, Idle()


def _end_interrupted_calls(live: LiveContext, draft: Draft) -> None:
    """End the calls that had started, since no result will come. Approved calls that had not started need a new
    decision."""
    for call in draft.round_calls():
        if call.status == "executing":
            end_call(draft, live, call.id, "interrupted", reason=may_have_run(call))
        elif call.status == "approved":
            draft.undecide_call(call.id)
        elif call.asked_by is not None and call.is_open:  # the call that asked has ended
            end_call(draft, live, call.id, "cancelled", reason=Reason(Code.NOT_RUN))


def _complete_partials(live: LiveContext, draft: Draft) -> None:
    turn = current_turn(live)
    for partial in live.stored.partials:
        if partial.turn == turn.id and (partial.deltas or partial.reasoning is not None):
            message = Text(
                id=partial.message_id,
                timestamp=live.dependencies.now(),
                role="assistant",
                metadata=present_metadata(live),
                content="".join(partial.deltas),
                chunks=tuple(map(len, partial.deltas)),
                ended="interrupted",
                reasoning=partial.reasoning,
            )
            draft.append(message, turn.branch)


def interruption_message(live: LiveContext) -> ErrorMessage:
    """The message that ends an interrupted turn."""
    return error_message(live, Reason(Code.INTERRUPTED), present_metadata(live))


async def store_unsaved_change(live: LiveContext) -> None:
    """Store the unsaved change and close its turn. The caller holds the lock, and the context waits for recovery.

    A turn whose end is part of the refused draft keeps that end. No call, request or queued message starts.
    Raises: StoreError when the store still refuses; then the context keeps waiting for the store.
    """
    turn = turn_of(live)
    draft = live.draft()
    if draft.value("turn") is not None:
        close_unseen_calls(draft, live, Reason(Code.NOT_RUN))
        close_open_calls(draft, live, Reason(Code.NOT_RUN), status="interrupted")
        draft.append(interruption_message(live), current_turn(live).branch)
        draft.core.update(turn=None, last_turn="interrupted")
    try:
        await turn.commit(draft, Idle())
    except StoreError as error:
        if isinstance(live.state, WaitingForRecovery) and live.state.reason != error.reason:
            live.enter(WaitingForRecovery(reason=error.reason))
        raise
    live.turn = None
