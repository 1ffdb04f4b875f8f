"""Commands that control a turn: continue, cancel, pause, resume, retry now."""

from contextlib import suppress

from pilothouse.domain.codes import Code
from pilothouse.domain.contexts import CONTINUABLE_ENDS
from pilothouse.domain.errors import Conflict, NotFound, StoreError, StoreRefused
from pilothouse.domain.messages import Message, is_unresolved
from pilothouse.domain.states import (
    Cancelling,
    EnhancingSystemPrompt,
    ExecutingTool,
    Failed,
    Idle,
    Paused,
    ProcessingUserMessage,
    SavingMessage,
    State,
    TransientError,
    WaitingForRecovery,
    name_of,
)
from pilothouse.runtime.authorization.authorization import redecide_pending, release_none, start_calls, state_after_rest
from pilothouse.runtime.commands.command_group import CommandGroup
from pilothouse.runtime.commands.modes import redecide_subagents
from pilothouse.runtime.commands.queue import take_first_held
from pilothouse.runtime.context.live_context import LiveContext
from pilothouse.runtime.context.snapshot import ContextSnapshot, snapshot_of
from pilothouse.runtime.pool import ContextPool
from pilothouse.runtime.request.last_input import read_last_input
from pilothouse.runtime.turn.round import Round
from pilothouse.runtime.turn.turn import Turn, turn_of
from pilothouse.runtime.turn.user_input import open_turn


class TurnCommands(CommandGroup):
    """Cancel, pause, resume and continue the turn of a context."""

    async def cancel(self, context_id: str, *, by: str = "local") -> None:
        """End the open turn in any state, and those of its sub-agents; return after their end.

        Raises: Conflict when no turn is open, StoreError when the end could not be stored.
        """
        failing = await self._pool.find(context_id)
        if isinstance(failing.state, Failed) and failing.turn is not None:
            await failing.turn.settled.wait()  # the driver is closing the turn, which must not be interrupted
        async with self._pool.locked(
            context_id, stores_unsaved=False
        ) as live:  # `stop` stores the unsaved change, as cancelled
            if live.storage.recovery is not None:  # an interrupted turn, whose recovery the store has refused so far
                await self._pool.store_recovery(live)
                live.publish_state()
                if isinstance(live.state, Idle):
                    return
            if isinstance(live.state, Idle):
                raise Conflict(Code.NOTHING_TO_CANCEL)
            turn = turn_of(live)
            is_first = turn.cancelled_by is None
            # A driver between two turns checks `cancelled_by` itself.
            is_driven = turn.has_begun and not turn.settled.is_set()
            turn.cancelled_by = by
            turn.settled.clear()
            if live.task is None or live.is_resting:
                live.enter(Cancelling())
                self._pool.drive(live)
            elif is_first and is_driven:
                live.task.cancel()
            children = tuple(live.subagents)
        await turn.settled.wait()
        for child in children:
            if child.core.turn is not None:  # also a turn that a person began there
                with suppress(Conflict, NotFound, StoreError):
                    await self.cancel(child.id, by=by)
        if isinstance(live.state, WaitingForRecovery):
            raise StoreRefused(live.state.reason.code, **live.state.reason.params)

    async def pause(self, context_id: str, *, by: str = "local") -> None:
        """Pause the turn before its next request or start of a call; running calls finish. Its sub-agents pause too.

        Raises: Conflict when no turn works.
        """
        async with self._pool.locked(context_id) as live:
            turn = live.turn
            is_stopping = turn is not None and turn.cancelled_by is not None
            if live.is_resting or live.core.turn is None or turn is None or is_stopping or _is_ending(live):
                raise Conflict(Code.NOT_PAUSABLE, state=name_of(live.state))
            turn.paused_by = by
            turn.retry_now.set()  # end a wait for a retry
            children = tuple(live.subagents)
        await _end_retry_waits(children)

    async def resume(self, context_id: str, *, by: str = "local") -> None:
        """Resume a paused turn. All calls that have not started are decided again by the present policy; pending calls
        stay pending.

        Raises: Conflict when the turn is not paused, StoreError.
        """
        async with self._pool.locked(context_id) as live:
            is_pausing = live.turn is not None and live.turn.paused_by is not None
            is_ancestor_paused = any(ancestor.is_paused for ancestor in live.ancestors)
            if is_ancestor_paused or (not is_pausing and not isinstance(live.state, Paused)):
                raise Conflict(Code.NOT_PAUSED, state=name_of(live.state))
            if isinstance(live.state, Paused):
                await _resume(self._pool, live, live.state, by)
            elif live.turn is not None:
                live.turn.paused_by = None  # the pause had not taken effect yet
                live.turn.work_available.set()
            children = tuple(live.subagents)
        await _resume_descendants(self._pool, children, by)

    async def continue_(self, context_id: str) -> None:
        """Continue a turn that was cancelled, limited, failed or interrupted, without a new message; where no turn is
        unfinished, begin the first held message of the queue.

        Raises: Conflict when there is nothing to continue; StoreError when the store still refuses.
        """
        was_waiting = isinstance((await self._pool.find(context_id)).state, WaitingForRecovery)
        async with self._pool.locked(context_id) as live:  # `locked` stores an unsaved change first
            match live.state:
                case Failed():
                    await _continue(self._pool, live)
                case Idle() if live.core.last_turn == "interrupted" or (
                    live.core.last_turn in CONTINUABLE_ENDS and not was_waiting
                ):
                    await _continue(self._pool, live)
                case Idle() if live.core.queue:
                    await take_first_held(self._pool, live)
                case _ if was_waiting:  # the turn has ended with the unsaved change, stored by now
                    pass
                case _:
                    raise Conflict(Code.NOT_CONTINUABLE, state=name_of(live.state))
        await redecide_subagents(self._pool, live, live.core.owner)

    async def rested(self, context_id: str) -> ContextSnapshot:
        """Wait until the context rests. Raises: NotFound, StoreError."""
        return snapshot_of(await self._pool.rested(context_id))

    async def retry_now(self, context_id: str) -> None:
        """End the wait for the next retry. Raises: Conflict when no retry is planned."""
        async with self._pool.locked(context_id) as live:
            if not isinstance(live.state, TransientError) or live.turn is None:
                raise Conflict(Code.NOTHING_TO_RETRY, state=name_of(live.state))
            live.turn.retry_now.set()


async def _continue(pool: ContextPool, live: LiveContext) -> None:
    """Open a turn without a new message. The turn first processes and resolves messages that the last one did not."""
    draft = live.draft()
    last_message = await read_last_input(live)  # the turn begins at the person's last message, which it answers
    open_turn(live, draft, start=last_message.start, message_id=last_message.message_id)
    unfinished = [message for message in last_message.recent if _is_unfinished(message)]
    state = ProcessingUserMessage() if unfinished else EnhancingSystemPrompt()
    await live.commit(draft, state, then=lambda: pool.drive(live, Turn(live, Round(incoming=tuple(unfinished)))))


def _is_unfinished(message: Message) -> bool:
    """Whether a message has an unresolved file or image, or has not passed the processors yet."""
    return message.metadata.held == "processing" or (is_unresolved(message) and message.metadata.held is None)


async def _end_retry_waits(children: tuple[LiveContext, ...]) -> None:
    """End the waits for retries in sub-agents, whose drivers then see that an ancestor is paused. Taking each lock
    waits for commits in flight."""
    for child in children:
        async with child.lock:
            if child.turn is not None:
                child.turn.retry_now.set()
            grandchildren = tuple(child.subagents)
        await _end_retry_waits(grandchildren)


def _is_ending(live: LiveContext) -> bool:
    return isinstance(live.state, SavingMessage | Cancelling)


async def _resume_descendants(pool: ContextPool, children: tuple[LiveContext, ...], by: str) -> None:
    """Resume the sub-agents that are paused. A sub-agent that still works has not been paused yet."""
    for child in children:
        if isinstance(child.state, Paused):
            with suppress(Conflict, NotFound):
                await TurnCommands(pool).resume(child.id, by=by)
        else:
            await _resume_descendants(pool, tuple(child.subagents), by)


async def _resume(pool: ContextPool, live: LiveContext, paused: Paused, by: str) -> None:
    turn = turn_of(live)
    paused_by, turn.paused_by = turn.paused_by, None
    draft = live.draft()
    draft.note("turn_resumed", by)
    next_state: State = EnhancingSystemPrompt()
    if paused.resume_to == name_of(ExecutingTool):
        redecide_pending(live, draft, by, releases=release_none)
        start_calls(live, draft)
        next_state = state_after_rest(draft)
    try:
        await live.commit(draft, next_state, then=lambda: pool.drive(live))
    except BaseException:
        if isinstance(live.state, Paused):
            turn.paused_by = paused_by
        raise
