"""The loop that attends a turn: follow its events, ask an attendant about what waits for a person, apply the reply, and
go on."""

from collections.abc import AsyncIterator, Callable, Sequence
from typing import Literal

import msgspec

from pilothouse.domain.calls import CallRecord
from pilothouse.domain.codes import Code
from pilothouse.domain.errors import Conflict, InvalidInput, NotFound, PilothouseError, RequestError, StoreError
from pilothouse.domain.states import AwaitingUserAnswer, State
from pilothouse.domain.value import CallId, ContextId, TurnId, Value
from pilothouse.runtime.commands.calls import CallCommands, PersonsDecision
from pilothouse.runtime.commands.command_group import CommandGroup
from pilothouse.runtime.context.live_context import LiveContext
from pilothouse.runtime.context.snapshot import ContextSnapshot, own_copy, snapshot_of
from pilothouse.runtime.events.signal_bus import Subscription
from pilothouse.runtime.events.turn_events import (
    BranchPosition,
    EventReader,
    MessageAdded,
    ReasoningAdded,
    StateEntered,
    SubagentWaiting,
    TextAdded,
    TurnEvent,
)
from pilothouse.runtime.pool import ContextPool


class Decisions(Value):
    """Decisions about pending calls, which the runtime applies together. If it refuses one of them, it applies the
    others one by one."""

    decisions: Sequence[PersonsDecision]
    shown: Sequence[str] | None = None
    """The digests of the other calls that the person has seen: a rule that is given with a decision starts only these
    of the other calls; with None, all that the rule allows."""
    previewed: dict[str, CallRecord] = msgspec.field(default_factory=dict)
    """Edited calls by id, as `preview_edit` returned them."""


class Attendant:
    """Is asked about what waits for a person in a context and in its sub-agents. This class leaves everything for
    later; a subclass decides and answers."""

    async def decide(
        self,
        context: ContextSnapshot,  # noqa: ARG002
        calls: Sequence[CallRecord],  # noqa: ARG002
    ) -> Decisions | Literal["later"] | None:
        """Decide the pending calls of a context, or some of them. "later" ends the attendance. None leaves the calls to
        somebody else, and the turn is followed on."""
        return "later"

    async def answer(
        self,
        context: ContextSnapshot,  # noqa: ARG002
        question: CallRecord,  # noqa: ARG002
    ) -> list[str] | Literal["decline", "later"] | None:
        """Answer the questions of an `ask_user` call, or of a running call (`asked_by`), which can be declined instead.
        "later" and None are as in `decide`."""
        return "later"

    async def note_outcome(
        self,
        decided: Sequence[CallRecord],  # noqa: ARG002
        refusals: Sequence[PilothouseError],
    ) -> bool:
        """Called after each reply, with the calls that were decided or answered and with the errors of the others.
        Return whether to be asked again at once where all were refused; otherwise, the next signal leads to the next
        question. By default, a reply that came too late is ignored, and any other refusal ends the attendance with its
        error."""
        for refusal in refusals:
            if not isinstance(refusal, Conflict | NotFound):
                raise refusal
        return False


def is_resting(context: ContextSnapshot) -> bool:
    return context.is_resting


def has_stopped(context: ContextSnapshot) -> bool:
    """Whether a context rests and waits for no decision and no answer."""
    return context.is_resting and not context.is_waiting


def _waiting_calls(live: LiveContext) -> list[CallRecord]:
    """The calls that a person must decide, or the questions to answer, before the context goes on."""
    if not live.is_waiting():
        return []
    questions = live.calls_with_questions()
    is_question = isinstance(live.state, AwaitingUserAnswer)
    pending = [call for call in live.draft().round_calls() if call.status == "pending"]
    return questions or [call for call in pending if call.is_question == is_question]


_Outcome = tuple[list[CallRecord], list[PilothouseError]]
"""The calls that were decided or answered, and the errors of the others."""


class _Requests:
    """Puts what waits before an attendant, and applies the replies."""

    def __init__(self, pool: ContextPool, attendant: Attendant | None, by: str) -> None:
        self._calls = CallCommands(pool)
        self._attendant = attendant
        self._by = by
        self._left_to_others: set[tuple[CallId, ...]] = set()
        self._refused: set[tuple[CallId, ...]] = set()
        """Calls for which the last reply was refused. They are asked about again after the next signal."""

    async def ask(self, live: LiveContext) -> Literal["nothing", "asked", "left"]:
        """Ask about the first calls, or the first question, that the attendant has not left to others."""
        if self._attendant is None:
            return "nothing"
        for waiting in (live, *live.subagents_waiting()):
            calls = _waiting_calls(waiting)
            for asked in [[call] for call in calls] if calls and calls[0].is_question else [calls]:
                if asked and _ids(asked) not in self._left_to_others | self._refused:
                    return await self._ask_about(self._attendant, waiting, asked)
        self._refused.clear()
        return "nothing"

    async def _ask_about(
        self, attendant: Attendant, waiting: LiveContext, asked: Sequence[CallRecord]
    ) -> Literal["asked", "left"]:
        context, calls = snapshot_of(waiting), [own_copy(call) for call in asked]
        reply: Decisions | list[str] | Literal["decline", "later"] | None
        if calls[0].is_question:
            reply = await attendant.answer(context, calls[0])
        else:
            reply = await attendant.decide(context, calls)
        if reply == "later":
            return "left"
        if reply is None or (isinstance(reply, Decisions) and not reply.decisions):
            self._left_to_others.add(_ids(calls))
            return "asked"
        if isinstance(reply, Decisions):
            decided, refusals = await self._decide(context.id, reply)
        else:
            decided, refusals = await self._answer(context.id, calls[0], reply)
        is_asked_again = await attendant.note_outcome(decided, refusals)
        if not decided and not is_asked_again:
            self._refused.add(_ids(calls))
        return "asked"

    async def _answer(
        self, context_id: ContextId, question: CallRecord, answers: list[str] | Literal["decline"]
    ) -> _Outcome:
        try:
            if answers != "decline":
                await self._calls.answer(context_id, answers, call_id=question.id, by=self._by)
            elif question.asked_by is not None:
                await self._calls.decline(context_id, call_id=question.id, by=self._by)
            else:
                raise InvalidInput(Code.INVALID_REQUEST, detail="only the question of a running call can be declined")
        except (RequestError, StoreError) as error:
            return [], [error]
        return [question], []

    async def _decide(self, context_id: ContextId, reply: Decisions) -> _Outcome:
        """Apply decisions together. If one of them makes the batch fail, apply the others one by one."""
        decided: list[CallRecord] = []
        refusals: list[PilothouseError] = []
        batches = [list(reply.decisions)]
        while batches:
            batch = batches.pop(0)
            try:
                decided += await self._calls.decide(
                    context_id, batch, shown=reply.shown, previewed=reply.previewed, by=self._by
                )
            except StoreError as error:
                return decided, [*refusals, error]
            except RequestError as error:
                pending = {call.id for call in await self._calls.pending(context_id)}
                left = [[decision] for decision in batch if decision.id in pending]
                if len(batch) == 1 or len(left) < len(batch):
                    refusals.append(error)
                if len(batch) > 1:
                    batches += left
        return decided, refusals


def _ids(calls: Sequence[CallRecord]) -> tuple[CallId, ...]:
    return tuple(call.id for call in calls)


class _Stream:
    """The position of a stream of events, and the events since."""

    def __init__(self, pool: ContextPool, start: BranchPosition | None, *, contents: bool) -> None:
        self._pool = pool
        self._start = start
        self._contents = contents
        self._reader: EventReader | None = None
        self._state: State | None = None
        self._waiting: dict[ContextId, tuple[CallId, ...]] = {}

    async def new_events(self, live: LiveContext) -> AsyncIterator[TurnEvent]:
        state = live.state
        if self._contents:
            self._reader = self._reader or EventReader(self._pool, live, self._start)
            while self._reader.is_behind(live):
                async for event in self._reader.pull(live):
                    yield event
            # No await since the last pull, so the message that is being written follows all pulled ones.
            for event in self._reader.present_events(live):
                yield event
        if state != self._state:
            yield StateEntered(state=state)
        self._state = state

    def newly_waiting(self, live: LiveContext) -> list[SubagentWaiting]:
        """The sub-agents that wait for other calls or questions than before."""
        before = self._waiting
        self._waiting = {child.id: _ids(_waiting_calls(child)) for child in live.subagents_waiting()}
        return [
            SubagentWaiting(context_id=each)
            for each in sorted(self._waiting)
            if self._waiting[each] != before.get(each)
        ]

    def is_behind(self, live: LiveContext) -> bool:
        return live.state != self._state or (self._reader is not None and self._reader.is_behind(live))


class EventCommands(CommandGroup):
    """Streams of what happens in a context, and the loop that attends a turn."""

    async def attend(
        self,
        context_id: str,
        attendant: Attendant | None,
        *,
        start: BranchPosition | None = None,
        signals: Subscription | None = None,
        is_over: Callable[[ContextSnapshot], bool] = has_stopped,
        contents: bool = True,
        by: str = "local",
    ) -> AsyncIterator[TurnEvent]:
        """Follow a context, and ask `attendant` about what waits there and in its sub-agents, always after the events
        before it. The events are those behind `start` on the active branch, by default from its beginning; with
        `contents=False`, states and waiting sub-agents only. The stream ends when `is_over` holds, by default when the
        context rests and waits for nothing, when the attendant leaves what waits for later, when the subscription
        `signals` is closed, or when another owner takes the context over. Errors of the attendant end it too. None of
        these changes the turn.

        Raises: NotFound, Conflict when the runtime closes, StoreError.
        """
        stream = _Stream(self._pool, start, contents=contents)
        requests = _Requests(self._pool, attendant, by)
        with signals or self._pool.dependencies.hub.subscribe([context_id]) as subscription:
            while True:
                live = await self._pool.find(context_id)
                is_last = is_over(snapshot_of(live))
                async for event in stream.new_events(live):
                    yield event
                if is_last:
                    return
                for waiting in stream.newly_waiting(live):
                    yield waiting
                if stream.is_behind(live):
                    continue  # the attendant is asked after all events that led to what waits
                asked = await requests.ask(live)
                if asked == "left" or (asked == "nothing" and not await subscription.batch()) or live.storage.is_lost:
                    return

    def of_context(
        self,
        context_id: str,
        *,
        start: BranchPosition | None = None,
        signals: Subscription | None = None,
        is_over: Callable[[ContextSnapshot], bool] = is_resting,
    ) -> AsyncIterator[TurnEvent]:
        """The events behind `start` on the active branch, by default from its beginning. The stream ends when `is_over`
        holds, by default when the context rests, or when the subscription `signals` is closed."""
        return self.attend(context_id, None, start=start, signals=signals, is_over=is_over)

    async def of_turn(
        self,
        context_id: str,
        turn: TurnId | None,
        *,
        attendant: Attendant | None = None,
        start: BranchPosition | None = None,
        has_begun: bool = False,
        signals: Subscription | None = None,
        is_over: Callable[[ContextSnapshot], bool] = is_resting,
    ) -> AsyncIterator[TurnEvent]:
        """The events of one turn. Events of earlier turns are skipped, and an event of a later turn ends the stream."""
        async for event in self.attend(context_id, attendant, start=start, signals=signals, is_over=is_over):
            event_turn = event.turn if isinstance(event, TextAdded | ReasoningAdded) else None
            event_turn = event.message.metadata.turn if isinstance(event, MessageAdded) else event_turn
            has_begun = has_begun or event_turn == turn
            if event_turn is not None and event_turn != turn:
                if has_begun:
                    return
                continue
            if has_begun or not isinstance(event, MessageAdded):
                yield event
