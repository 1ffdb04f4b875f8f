"""The driver: runs the steps of a turn until the context rests. Only here do cancellation and errors become states."""

import asyncio

from pilothouse.domain.errors import StoreError
from pilothouse.domain.states import (
    Cancelling,
    EnhancingSystemPrompt,
    Failed,
    Idle,
    Paused,
    State,
    WaitingForRecovery,
    name_of,
)
from pilothouse.domain.transitions import IllegalTransition
from pilothouse.runtime.notices import publish_error
from pilothouse.runtime.turn.steps import STEPS, Step
from pilothouse.runtime.turn.turn import Turn
from pilothouse.runtime.turn.turn_errors import close_failed_turn, fail_turn


async def drive(turn: Turn) -> None:
    """Run steps until the context rests."""
    clock = turn.dependencies.ambient.monotonic
    turn.has_begun, turn.driven_since = True, clock()
    while step := STEPS.get(type(turn.live.state)):
        step = _pause if turn.must_pause else step
        _enter(turn, Cancelling() if turn.must_stop else await _run_guarded(step, turn))
    turn.driven_seconds += clock() - turn.driven_since
    if isinstance(turn.live.state, Failed):
        await close_failed_turn(turn)


def _enter(turn: Turn, state: State) -> None:
    try:
        turn.enter(state)
    except IllegalTransition as error:
        turn.enter(fail_turn(turn, error))


async def _pause(turn: Turn) -> State:
    """Enter `Paused` where no request is in flight. A resumed turn begins its round again, since the mode, tools and
    window may have changed during the pause."""
    async with turn.live.lock:
        by = turn.live.paused_by
        if by is None:  # resumed before this step took the lock
            return turn.live.state
        draft = turn.live.draft()
        draft.note("turn_paused", by)
        paused = Paused(resume_to=name_of(EnhancingSystemPrompt))
        await turn.commit(draft, paused)
        return paused


async def _run_guarded(step: Step, turn: Turn) -> State:
    try:
        async with asyncio.timeout(turn.seconds_left()) as timeout:
            turn.time_limit = timeout
            return await step(turn)
    except asyncio.CancelledError:
        return _state_after_cancel(turn)
    except TimeoutError as error:
        if not timeout.expired():
            return fail_turn(turn, error)
        turn.out_of_time = True
        return Cancelling()
    except StoreError as error:
        publish_error(turn.live, error.reason)
        return WaitingForRecovery(reason=error.reason)
    except Exception as error:  # a bug in a step must not leave the context in a working state without a driver
        return fail_turn(turn, error)


def _state_after_cancel(turn: Turn) -> State:
    task = asyncio.current_task()
    assert task is not None
    if turn.cancelled_by is None:
        if task.cancelling():
            raise asyncio.CancelledError  # the runtime is closing; recovery closes the turn
        return fail_turn(turn, RuntimeError("a step was cancelled from inside"))
    task.uncancel()
    # Commits are shielded: the step may have ended the turn in the commit that delayed the cancellation.
    return turn.live.state if isinstance(turn.live.state, Idle | Cancelling) else Cancelling()
