"""The driver: runs the steps of a turn until the context rests. Cancellation and errors become states here, once."""

import asyncio
from contextlib import suppress

from pilothouse.domain.codes import Code, Reason
from pilothouse.domain.errors import PilothouseError, StoreError
from pilothouse.domain.signals import ErrorRaised
from pilothouse.domain.states import Cancelling, Failed, Idle, State, WaitingForRecovery
from pilothouse.runtime.looking import close_unseen_calls
from pilothouse.runtime.results import close_open_calls
from pilothouse.runtime.steps import STEPS, Step
from pilothouse.runtime.turn import Turn


async def drive(turn: Turn) -> None:
    """Run steps until the context rests."""
    turn.begun = True
    while step := STEPS.get(type(turn.live.state)):
        turn.enter(Cancelling() if turn.must_stop else await _guarded(step, turn))
    if isinstance(turn.live.state, Failed):
        await _store_failure(turn)


async def _guarded(step: Step, turn: Turn) -> State:
    try:
        async with asyncio.timeout(turn.seconds_left()) as limit:
            return await step(turn)
    except asyncio.CancelledError:
        return _cancelled(turn)
    except TimeoutError as error:
        if not limit.expired():
            return _failed(turn, error)
        turn.out_of_time = True
        return Cancelling()
    except StoreError as error:
        return WaitingForRecovery(reason=_told(turn, error.reason))
    except Exception as error:  # a bug of ours must not leave the context in a state that nobody drives
        return _failed(turn, error)


def _failed(turn: Turn, error: Exception) -> Failed:
    turn.parts.report(error)
    return Failed(error_message=_told(turn, _reason_of(error)), failed_at=turn.parts.now())


def _cancelled(turn: Turn) -> State:
    task = asyncio.current_task()
    assert task is not None
    if turn.cancelled_by is None:
        if task.cancelling():
            raise asyncio.CancelledError  # the runtime is closing; recovery will tidy up
        return _failed(turn, RuntimeError("a step was cancelled from inside"))
    task.uncancel()
    # The step may have reached the end of the turn in the commit that the cancellation had to wait for.
    return turn.live.state if isinstance(turn.live.state, Idle | Cancelling) else Cancelling()


def _reason_of(error: Exception) -> Reason:
    if isinstance(error, PilothouseError):
        return error.reason
    return Reason(Code.INTERNAL, {"detail": f"{type(error).__name__}: {error}"})


def _told(turn: Turn, reason: Reason) -> Reason:
    live = turn.live
    live.parts.hub.publish(ErrorRaised(context_id=live.id, version=live.version, reason=reason))
    return reason


async def _store_failure(turn: Turn) -> None:
    """Close the turn where the store allows it; if not, recovery does it after a restart."""
    live = turn.live
    with suppress(StoreError):
        async with live.lock:
            if live.core.turn is None or not isinstance(live.state, Failed):
                return
            draft = live.draft()
            close_unseen_calls(draft, live, turn.outbox, Reason(Code.NOT_RUN))
            close_open_calls(draft, live, Reason(Code.NOT_RUN))
            draft.core.update(turn=None, last_turn="error")
            await turn.commit(draft)
