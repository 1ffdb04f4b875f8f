"""After a crash: what is found becomes something that can go on. The table in the specification, to the letter."""

import asyncio

from pilothouse.domain.codes import Code, Reason
from pilothouse.domain.messages import ErrorMessage, Metadata, Text
from pilothouse.domain.states import Idle, State, is_resting
from pilothouse.domain.values import MessageId
from pilothouse.runtime.deciding import next_state
from pilothouse.runtime.draft import Draft
from pilothouse.runtime.live import Live
from pilothouse.runtime.results import end_call, may_have_run, open_turn
from pilothouse.sandbox.processes import end_marked


async def recover(live: Live) -> tuple[Draft, State] | None:
    """What to commit so that the context is usable, and the state that it then has; None when all is well."""
    executing = [call for call in live.calls.values() if call.status == "executing"]
    if executing:
        # Before anything else: nothing that the dead process left may go on working.
        await asyncio.to_thread(end_marked, [call.id for call in executing])
    if is_resting(live.core.state):
        return None
    draft = live.draft()
    draft.note("recovered", "runtime", state=live.core.state)
    if live.core.turn is None:
        return draft, Idle()
    _complete_partials(live, draft)
    after_break(live, draft)
    if any(call.is_open for call in draft.round_calls()):
        return draft, next_state(draft)
    draft.append(interruption(live), open_turn(live).branch)
    draft.core.update(turn=None, last_turn="interrupted")
    return draft, Idle()


def after_break(live: Live, draft: Draft) -> None:
    """What had started has no result to wait for; what had not starts only by a new decision."""
    for call in draft.round_calls():
        if call.status == "executing":
            end_call(draft, live, call.id, "interrupted", reason=may_have_run(call))
        elif call.status == "approved":
            draft.change_call(call.id, status="pending", approval=None, decided_at=None, decided_by=None)
        elif call.asked_by is not None and call.is_open:  # who asked is gone
            end_call(draft, live, call.id, "cancelled", reason=Reason(Code.NOT_RUN))


def _complete_partials(live: Live, draft: Draft) -> None:
    turn = open_turn(live)
    for partial in live.partials:
        if partial.turn == turn.id and partial.deltas:
            message = Text(
                id=partial.message_id,
                timestamp=live.parts.now(),
                role="assistant",
                metadata=Metadata(turn=turn.id, round=turn.round, mode=live.core.mode, model=live.model),
                content="".join(partial.deltas),
                chunks=tuple(map(len, partial.deltas)),
                ended="interrupted",
            )
            draft.append(message, turn.branch)


def interruption(live: Live) -> ErrorMessage:
    """The message that ends a turn which was broken off."""
    turn = open_turn(live)
    return ErrorMessage(
        id=MessageId(live.parts.ambient.new_id()),
        timestamp=live.parts.now(),
        role="assistant",
        metadata=Metadata(turn=turn.id, round=turn.round, mode=live.core.mode),
        reason=Reason(Code.INTERRUPTED),
    )
