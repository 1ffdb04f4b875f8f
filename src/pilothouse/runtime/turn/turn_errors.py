"""Failures of a turn: publish the error, and close the turn where the store allows it."""

from contextlib import suppress

from pilothouse.domain.codes import Code, Reason
from pilothouse.domain.errors import PilothouseError, StoreError
from pilothouse.domain.states import Failed
from pilothouse.runtime.authorization.call_inspection import close_unseen_calls
from pilothouse.runtime.authorization.results import close_open_calls
from pilothouse.runtime.notices import publish_error
from pilothouse.runtime.turn.turn import Turn


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
