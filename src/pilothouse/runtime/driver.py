"""The driver: runs the steps of a turn until the context rests. Cancellation and errors become states here, once."""

import asyncio

from pilothouse.domain.errors import StoreError
from pilothouse.domain.states import Cancelling, Failed, Idle, State, WaitingForRecovery
from pilothouse.domain.transitions import IllegalTransition
from pilothouse.runtime.failing import failed, store_failure, told
from pilothouse.runtime.steps import STEPS, Step
from pilothouse.runtime.steps.hold import hold
from pilothouse.runtime.turn import Turn


async def drive(turn: Turn) -> None:
    """Run steps until the context rests."""
    clock = turn.parts.ambient.monotonic
    turn.begun, turn.driven_since = True, clock()
    while step := STEPS.get(type(turn.live.state)):
        step = hold if turn.must_pause else step
        _enter(turn, Cancelling() if turn.must_stop else await _guarded(step, turn))
    turn.driven_seconds += clock() - turn.driven_since
    if isinstance(turn.live.state, Failed):
        await store_failure(turn)


def _enter(turn: Turn, state: State) -> None:
    try:
        turn.enter(state)
    except IllegalTransition as error:
        turn.enter(failed(turn, error))


async def _guarded(step: Step, turn: Turn) -> State:
    try:
        async with asyncio.timeout(turn.seconds_left()) as limit:
            turn.time_limit = limit
            return await step(turn)
    except asyncio.CancelledError:
        return _cancelled(turn)
    except TimeoutError as error:
        if not limit.expired():
            return failed(turn, error)
        turn.out_of_time = True
        return Cancelling()
    except StoreError as error:
        return WaitingForRecovery(reason=told(turn, error.reason))
    except Exception as error:  # a bug of ours must not leave the context in a state that nobody drives
        return failed(turn, error)


def _cancelled(turn: Turn) -> State:
    task = asyncio.current_task()
    assert task is not None
    if turn.cancelled_by is None:
        if task.cancelling():
            raise asyncio.CancelledError  # the runtime is closing; recovery will tidy up
        return failed(turn, RuntimeError("a step was cancelled from inside"))
    task.uncancel()
    # The step may have reached the end of the turn in the commit that the cancellation had to wait for.
    return turn.live.state if isinstance(turn.live.state, Idle | Cancelling) else Cancelling()
