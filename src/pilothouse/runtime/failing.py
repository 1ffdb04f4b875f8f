"""When a turn fails: it is told, and the turn is closed where the store allows it."""

from contextlib import suppress

from pilothouse.domain.codes import Code, Reason
from pilothouse.domain.errors import PilothouseError, StoreError
from pilothouse.domain.signals import ErrorRaised
from pilothouse.domain.states import Failed
from pilothouse.runtime.looking import close_unseen_calls
from pilothouse.runtime.results import close_open_calls
from pilothouse.runtime.turn import Turn


def failed(turn: Turn, error: Exception) -> Failed:
    turn.parts.report(error)
    return Failed(error_message=told(turn, _reason_of(error)), failed_at=turn.parts.now())


def _reason_of(error: Exception) -> Reason:
    if isinstance(error, PilothouseError):
        return error.reason
    return Reason(Code.INTERNAL, {"detail": f"{type(error).__name__}: {error}"})


def told(turn: Turn, reason: Reason) -> Reason:
    live = turn.live
    live.parts.hub.publish(ErrorRaised(context_id=live.id, version=live.version, reason=reason))
    return reason


async def store_failure(turn: Turn) -> None:
    """Close the turn where the store allows it; if not, recovery does it after a restart."""
    live = turn.live
    with suppress(StoreError):
        async with live.lock:
            if live.core.turn is None or not isinstance(live.state, Failed):
                return
            draft = turn.closing_draft()
            close_unseen_calls(draft, live, turn.outbox, Reason(Code.NOT_RUN))
            close_open_calls(draft, live, Reason(Code.NOT_RUN))
            draft.core.update(turn=None, last_turn="error")
            await turn.commit(draft)
