"""The driver: runs the steps of a turn until the context rests. Only here do cancellation and errors become states."""

import asyncio
from dataclasses import replace

from pilothouse.domain.errors import StoreError
from pilothouse.domain.states import (
    Cancelling,
    EnhancingSystemPrompt,
    Failed,
    Paused,
    State,
    WaitingForRecovery,
    name_of,
)
from pilothouse.domain.transitions import IllegalTransition
from pilothouse.runtime.notices import publish_error
from pilothouse.runtime.turn.round import Next, Round
from pilothouse.runtime.turn.steps import STEPS, Step
from pilothouse.runtime.turn.steps.finish import close_failed_turn, fail_turn
from pilothouse.runtime.turn.turn import Turn


async def drive(turn: Turn) -> None:
    """Run steps until the context rests. The round that a step returns is the next step's input."""
    live, turn.has_begun = turn.live, True
    turn.settled.clear()
    try:
        turn.clock.start()
        round_, turn.next_round = turn.next_round, Round()
        while step := STEPS.get(type(live.state)):
            step = _pause if turn.must_pause else step
            state, round_ = Next(Cancelling(), round_) if turn.must_stop else await _run_guarded(step, turn, round_)
            if state is not live.state:  # otherwise a commit of the step has entered the state
                try:
                    live.enter(state)
                except IllegalTransition as error:
                    live.enter(fail_turn(turn, error))
        turn.clock.stop()
        if isinstance(live.state, Failed):
            await close_failed_turn(turn)
    finally:
        turn.settled.set()


async def _pause(turn: Turn, round_: Round) -> Next:
    """Enter `Paused` where no request is in flight. A resumed turn begins its round again, since the mode, tools and
    window may have changed during the pause."""
    async with turn.live.lock:
        by = turn.live.paused_by
        if by is None:  # resumed before this step took the lock
            return Next(turn.live.state, round_)
        draft = turn.live.draft()
        draft.note("turn_paused", by)
        paused = Paused(resume_to=name_of(EnhancingSystemPrompt))
        await turn.commit(draft, paused)
        return Next(paused)


async def _run_guarded(step: Step, turn: Turn, round_: Round) -> Next:
    """Run a step. After an error, the round is the one that the step was given."""
    try:
        async with turn.clock.limit_step() as timeout:
            return await step(turn, round_)
    except asyncio.CancelledError:
        return Next(_state_after_cancel(turn), round_)
    except TimeoutError as error:
        if not timeout.expired():
            return Next(fail_turn(turn, error), round_)
        return Next(turn.stopping_state, replace(round_, is_out_of_time=True))
    except StoreError as error:
        if turn.live.storage.is_lost:
            raise asyncio.CancelledError from error  # another owner goes on with the turn
        publish_error(turn.live, error.reason)
        return Next(WaitingForRecovery(reason=error.reason), round_)
    except Exception as error:  # a bug in a step must not leave the context in a working state without a driver
        return Next(fail_turn(turn, error), round_)


def _state_after_cancel(turn: Turn) -> State:
    task = asyncio.current_task()
    assert task is not None
    if turn.cancelled_by is None or turn.live.storage.is_lost:
        if task.cancelling():
            raise asyncio.CancelledError  # the runtime is closing; recovery closes the turn
        return fail_turn(turn, RuntimeError("a step was cancelled from inside"))
    task.uncancel()
    return turn.stopping_state
