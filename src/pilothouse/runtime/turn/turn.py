"""`Turn`: a turn while it is driven. State that must survive a restart lies in the context's `OpenTurn` instead."""

import asyncio
from dataclasses import dataclass, field

from pilothouse.domain.calls import CallRecord
from pilothouse.domain.codes import Code, Reason
from pilothouse.domain.contexts import OpenTurn, TurnEnd
from pilothouse.domain.errors import StoreError
from pilothouse.domain.messages import ErrorMessage, Message, Metadata, Processing
from pilothouse.domain.signals import MessageChanged
from pilothouse.domain.states import (
    Cancelling,
    ConnectingToLLM,
    EnhancingSystemPrompt,
    Idle,
    OptimizingContext,
    PreparingLLMRequest,
    SavingMessage,
    State,
    TransientError,
)
from pilothouse.domain.value import CallId
from pilothouse.runtime.context.draft import Draft, PendingChange
from pilothouse.runtime.context.live_context import LiveContext
from pilothouse.runtime.notices import error_message, progress_notice
from pilothouse.runtime.turn.answer import DeltaWriter
from pilothouse.runtime.turn.round import Next, Round

_OUTPUT_SIGNAL_INTERVAL_SECONDS = 0.1
_MAX_TAIL_CHARACTERS = 4000
_STATES_BEFORE_REQUEST = (
    EnhancingSystemPrompt,
    OptimizingContext,
    PreparingLLMRequest,
    ConnectingToLLM,
    TransientError,
)


@dataclass
class RequestHistory:
    """Refusals and truncations of a turn's requests so far, which shape the following ones."""

    too_long_count: int = 0
    """How many requests the provider has refused as too long."""
    too_long_reason: Reason | None = None
    limit: int | None = None
    """Tokens that a request may hold after refusals, where that is less than the budget."""
    noticed_counts: dict[Code, int] = field(default_factory=dict)
    """By kind of truncation: the count of which the person was last notified."""
    cut_round: int | None = None
    """The round whose partial text is stored already: the first attempt's, and no later one's."""


class Turn:
    """Cancellation, pause and time limit of a turn, and what its requests have taught."""

    def __init__(self, live: LiveContext, first_round: Round | None = None) -> None:
        live.files.forget_workspace()
        self.live = live
        self.dependencies = live.dependencies
        self.next_round = first_round or Round()
        """The round with which the next drive begins."""
        self.requests = RequestHistory()
        self.clock = TurnClock(live)
        self.delta_writer: DeltaWriter | None = None
        """The writer of the last answer."""
        self.live_outputs: dict[CallId, LiveOutput] = {}
        """The outputs of the running calls."""
        self.retry_now = asyncio.Event()
        self.work_available = asyncio.Event()
        """Wakes the `execute` step: a command has started or decided a call."""
        self.has_begun = False
        self.settled = asyncio.Event()
        """Set while no driver works on the turn."""
        self.cancelled_by: str | None = None
        self.paused_by: str | None = None
        self.is_retaining_results = False
        """Whether results are kept in memory and no call can be decided, because the store refused a commit."""

    @property
    def open(self) -> OpenTurn:
        assert self.live.core.turn is not None
        return self.live.core.turn

    def metadata(self, round_: Round) -> Metadata:
        """The metadata of a message of this round: with the mode and the model of its request, whatever the person has
        chosen since; before a request, with those that the context would use."""
        live, prepared = self.live, round_.prepared
        mode = round_.outline.mode if round_.outline is not None else live.dependencies.modes.stored(live.core.mode)
        model = prepared.request.model if prepared is not None else live.model().name
        return Metadata(
            turn=self.open.id, round=self.open.round, mode=mode.name, persona=live.core.persona, model=model
        )

    def error_message(self, reason: Reason, round_: Round) -> ErrorMessage:
        return error_message(self.live, reason, self.metadata(round_))

    def progress_notice(self, reason: Reason, round_: Round) -> Processing:
        """A notice for the person that does not end the turn."""
        return progress_notice(self.live, reason, self.metadata(round_))

    def finish_with(self, message: Message, round_: Round, end: TurnEnd) -> Next:
        """End the turn with a last message."""
        self.live.pending.messages.append(message)
        return Next(SavingMessage(message_id=message.id), Round(outline=round_.outline, end=end))

    def give_up(self, reason: Reason, round_: Round, end: TurnEnd) -> Next:
        """End the turn with a message that says why."""
        return self.finish_with(self.error_message(reason, round_), round_, end)

    @property
    def must_stop(self) -> bool:
        """Whether the turn is cancelled but not in `Cancelling` yet. No further step may start."""
        return self.cancelled_by is not None and not isinstance(self.live.state, Cancelling)

    @property
    def stopping_state(self) -> State:
        """The state after an interruption. Commits are shielded: the step may have ended the turn in the commit that
        delayed the interruption."""
        state = self.live.state
        return state if isinstance(state, Idle | Cancelling) else Cancelling()

    @property
    def must_pause(self) -> bool:
        """Whether a paused turn is about to send a request. The gate holds back calls that wait to start."""
        return self.live.paused_by is not None and isinstance(self.live.state, _STATES_BEFORE_REQUEST)

    async def commit(self, draft: Draft, state: State | None = None) -> None:
        """Commit a draft together with the pending change. The caller holds the lock.

        Raises: StoreError; the refused draft is then pending, and the next commit includes it.
        """
        live, version = self.live, self.live.version
        pending, live.pending = live.pending, PendingChange(live.pending.refused)
        pending.add_to(draft, self.open.branch if live.core.turn is not None else live.core.active_branch)
        try:
            await live.commit(draft, state)
        except StoreError:
            live.pending.refused = draft.without_starts()
            raise
        except Exception:
            if live.version == version:  # a bug before the store had the change must not lose the model's messages
                live.pending = pending
            raise

    async def close(self, draft: Draft, end: TurnEnd) -> Next:
        """Close the turn with the commit of this draft. The caller holds the lock. Raises: StoreError."""
        draft.core.update(turn=None, last_turn=end)
        idle = Idle()
        await self.commit(draft, idle)
        return Next(idle)

    async def close_with_error(self, draft: Draft, message: ErrorMessage, end: TurnEnd) -> Next:
        """Close the turn with one commit that holds a draft and the message that says why it ends. The caller holds
        the lock. Raises: StoreError."""
        draft.append(message, self.open.branch)
        self.live.enter(SavingMessage(message_id=message.id))
        return await self.close(draft, end)


def turn_of(live: LiveContext) -> Turn:
    """The context's turn in memory. Created anew where a restart, or removal from memory, has dropped the object."""
    if live.turn is None:
        live.turn = Turn(live)
    return live.turn


class TurnClock:
    """The time that a turn has used, and its limit. Time in which the turn waits for a person, or in which a sub-agent
    works, does not count."""

    def __init__(self, live: LiveContext) -> None:
        self._live = live
        self._now = live.dependencies.ambient.monotonic
        self._earlier_seconds = 0.0
        """Time of earlier drives."""
        self._driven_since = self._now()
        self._delegating_since: float | None = None
        self._timeout: asyncio.Timeout | None = None

    def start(self) -> None:
        """Start to count: a driver works on the turn."""
        self._driven_since = self._now()

    def stop(self) -> None:
        self._earlier_seconds += self._now() - self._driven_since

    def limit_step(self) -> asyncio.Timeout:
        """The timeout of the next step."""
        self._timeout = asyncio.timeout(self._seconds_left())
        return self._timeout

    def update_delegation(self) -> None:
        """Stop or restart the clock. Called whenever a delegating call may have started or ended."""
        if self._is_delegating == (self._delegating_since is not None):
            return
        now = self._now()
        if self._delegating_since is None:
            self._delegating_since = now
        else:
            self._driven_since += now - self._delegating_since
            self._delegating_since = None
        seconds = self._seconds_left()
        if self._timeout is not None:
            self._timeout.reschedule(None if seconds is None else asyncio.get_running_loop().time() + seconds)

    @property
    def _is_delegating(self) -> bool:
        return any(call.status == "executing" and call.effect == "delegating" for call in self._live.calls.values())

    def _seconds_left(self) -> float | None:
        """The time left to the turn; None for no limit. The steps that end a turn have no limit. While a sub-agent
        works, the limit applies to the sub-agent's own turn, which may wait for the person."""
        limit = self._live.dependencies.limits.turn_seconds
        if limit is None or isinstance(self._live.state, SavingMessage | Cancelling) or self._is_delegating:
            return None
        return max(0.0, limit - self._earlier_seconds - (self._now() - self._driven_since))


class LiveOutput:
    """The output of one running call for people who watch: the last characters, in memory only, signalled at most ten
    times a second."""

    def __init__(self, live: LiveContext, call: CallRecord) -> None:
        self.total = 0
        """Characters that the call has printed so far."""
        self.tail = ""
        """The last of these characters."""
        self._live = live
        self._call = call
        self._timer: asyncio.TimerHandle | None = None

    def add(self, text: str) -> None:
        self.total += len(text)
        self.tail = (self.tail + text)[-_MAX_TAIL_CHARACTERS:]
        if self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(_OUTPUT_SIGNAL_INTERVAL_SECONDS, self._publish)

    def after(self, position: int) -> str:
        """The output behind the first `position` characters, as far as `tail` still holds it."""
        return self.tail[-(self.total - position) :] if self.total > position else ""

    def close(self) -> None:
        if self._timer is not None:
            self._timer.cancel()

    def _publish(self) -> None:
        self._timer = None
        hub, live = self._live.dependencies.hub, self._live
        if hub.has_listeners(live.id):
            hub.publish(MessageChanged(context_id=live.id, version=live.version, message_id=self._call.message_id))
