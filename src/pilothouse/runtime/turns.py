"""Commands that steer a turn: cancel, pause, resume, continue, retry at once."""

from contextlib import suppress

from pilothouse.domain.codes import Code
from pilothouse.domain.contexts import CONTINUABLE
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
from pilothouse.runtime.contexts import Contexts
from pilothouse.runtime.deciding import after_a_rest, decide_anew, nothing, start_calls
from pilothouse.runtime.live import Live
from pilothouse.runtime.modes import follow_children
from pilothouse.runtime.opening import open_turn
from pilothouse.runtime.queue import take_held
from pilothouse.runtime.rounds import said_last
from pilothouse.runtime.turn import Turn, turn_of


async def continue_turn(contexts: Contexts, context_id: str) -> None:
    """Go on from where a turn was cancelled, limited, failed or interrupted, without a new message; where nothing was
    left open, take the first message that is held in the queue.

    Raises: Conflict when there is nothing to continue; StoreError when the store still refuses.
    """
    was_waiting = isinstance((await contexts.find(context_id)).state, WaitingForRecovery)
    async with contexts.locked(context_id) as live:  # what the store refused before is stored now
        match live.state:
            case Failed():
                await _continue(contexts, live)
            case Idle() if live.core.last_turn == "interrupted" or (
                live.core.last_turn in CONTINUABLE and not was_waiting
            ):
                await _continue(contexts, live)
            case Idle() if live.core.queue:
                await take_held(contexts, live)
            case _ if was_waiting:  # the turn had come to its end, only the store had not taken it
                pass
            case _:
                raise Conflict(Code.NOT_CONTINUABLE, state=name_of(live.state))
    await follow_children(contexts, live, live.core.owner)


async def _continue(contexts: Contexts, live: Live) -> None:
    """A new turn without a new message. What the last one did not come to do with its message is done first."""
    draft = live.draft()
    said = await said_last(live)  # it answers that: that, and what was done about it, still belongs to the turn
    open_turn(live, draft, start=said.start, message_id=said.message_id)
    unfinished = [message for message in said.recent if _is_unfinished(message)]
    state = ProcessingUserMessage() if unfinished else EnhancingSystemPrompt()
    await live.commit(draft, state, then=lambda: contexts.drive(live, Turn(live, unfinished)))


def _is_unfinished(message: Message) -> bool:
    """A file or an image that nobody has read, or a message that the person's processors have not passed yet."""
    return message.metadata.held == "processing" or (is_unresolved(message) and message.metadata.held is None)


async def cancel(contexts: Contexts, context_id: str, *, by: str = "local") -> None:
    """End the open turn, in whatever state it is, and those of its sub-agents; returns when it has ended.

    Raises: Conflict when there is none, StoreError when the end could not be stored.
    """
    failing = await contexts.find(context_id)
    if isinstance(failing.state, Failed) and failing.turn is not None:
        await failing.turn.settled.wait()  # it is being closed already; that must not be cut
    async with contexts.locked(context_id, stores_kept=False) as live:  # it stores what is kept, as cancelled
        if isinstance(live.state, Idle):
            raise Conflict(Code.NOTHING_TO_CANCEL)
        turn = turn_of(live)
        first = turn.cancelled_by is None
        is_driven = turn.begun and not turn.settled.is_set()  # else its driver is between two turns, and finds out
        turn.cancelled_by = by
        turn.settled.clear()
        if live.task is None or live.is_resting:
            live.enter(Cancelling())
            contexts.drive(live)
        elif first and is_driven:
            live.task.cancel()
        children = tuple(live.children)
    await turn.settled.wait()
    for child in children:
        if child.core.turn is not None:  # also what a person said there themselves
            with suppress(Conflict, NotFound, StoreError):
                await cancel(contexts, child.id, by=by)
    if isinstance(live.state, WaitingForRecovery):
        raise StoreRefused(live.state.reason.code, **live.state.reason.params)


async def pause(contexts: Contexts, context_id: str, *, by: str = "local") -> None:
    """Hold the turn before its next request or call start; what runs finishes. Its sub-agents are held too.

    Raises: Conflict when nothing is going on.
    """
    async with contexts.locked(context_id) as live:
        turn = live.turn
        stopping = turn is not None and turn.cancelled_by is not None
        if live.is_resting or live.core.turn is None or turn is None or stopping or _is_ending(live):
            raise Conflict(Code.NOT_PAUSABLE, state=name_of(live.state))
        turn.paused_by = by
        turn.retry_now.set()  # a wait for a retry is no work that must finish
        children = tuple(live.children)
    await _reach_below(children)


async def _reach_below(children: tuple[Live, ...]) -> None:
    """Those below are held by whoever is above them. What is in its commit is waited for, a wait for a retry ends."""
    for child in children:
        async with child.lock:
            if child.turn is not None:
                child.turn.retry_now.set()
            below = tuple(child.children)
        await _reach_below(below)


def _is_ending(live: Live) -> bool:
    return isinstance(live.state, SavingMessage | Cancelling)


async def resume(contexts: Contexts, context_id: str, *, by: str = "local") -> None:
    """Go on from where the turn was paused; what has not started is decided by what now stands. What waits for the
    person goes on waiting.

    Raises: Conflict when it is not paused, StoreError.
    """
    async with contexts.locked(context_id) as live:
        pausing = live.turn is not None and live.turn.paused_by is not None
        held_above = any(each.is_held for each in live.above)
        if held_above or (not pausing and not isinstance(live.state, Paused)):
            raise Conflict(Code.NOT_PAUSED, state=name_of(live.state))
        if isinstance(live.state, Paused):
            await _resume(contexts, live, live.state, by)
        elif live.turn is not None:
            live.turn.paused_by = None  # it had not taken effect yet
            live.wake.set()
        children = tuple(live.children)
    await _resume_below(contexts, children, by)


async def _resume_below(contexts: Contexts, children: tuple[Live, ...], by: str) -> None:
    """Those below that came to rest meanwhile go on; one that is still at work was not held yet."""
    for child in children:
        if isinstance(child.state, Paused):
            with suppress(Conflict, NotFound):
                await resume(contexts, child.id, by=by)
        else:
            await _resume_below(contexts, tuple(child.children), by)


async def _resume(contexts: Contexts, live: Live, paused: Paused, by: str) -> None:
    turn = turn_of(live)
    before, turn.paused_by = turn.paused_by, None
    draft = live.draft()
    draft.note("turn_resumed", by)
    target: State = EnhancingSystemPrompt()
    if paused.resume_to == name_of(ExecutingTool):
        decide_anew(live, draft, by, opens=nothing)
        start_calls(turn, draft)
        target = after_a_rest(draft)
    try:
        await live.commit(draft, target, then=lambda: contexts.drive(live))
    except BaseException:
        if isinstance(live.state, Paused):
            turn.paused_by = before
        raise


async def retry_now(contexts: Contexts, context_id: str) -> None:
    """Do not wait for the retry that is planned. Raises: Conflict when none is."""
    async with contexts.locked(context_id) as live:
        if not isinstance(live.state, TransientError) or live.turn is None:
            raise Conflict(Code.NOTHING_TO_RETRY, state=name_of(live.state))
        live.turn.retry_now.set()
