"""`Turn`: the values that one turn carries from step to step."""

import asyncio
from collections.abc import Sequence
from typing import Any

import msgspec

from pilothouse.domain.codes import Code, Reason
from pilothouse.domain.contexts import OpenTurn, TurnEnd
from pilothouse.domain.errors import StoreError
from pilothouse.domain.messages import ErrorMessage, Message, Metadata, Processing, Usage
from pilothouse.domain.modes import Mode
from pilothouse.domain.states import (
    Cancelling,
    ConnectingToLLM,
    EnhancingSystemPrompt,
    OptimizingContext,
    PreparingLLMRequest,
    SavingMessage,
    State,
    TransientError,
)
from pilothouse.domain.value import MessageId
from pilothouse.llm.base import Adapter, ModelRequest
from pilothouse.llm.prices import with_cost
from pilothouse.runtime.compression.branch import Compression
from pilothouse.runtime.context.draft import Draft
from pilothouse.runtime.context.live_context import LiveContext
from pilothouse.runtime.dependencies import RuntimeDependencies
from pilothouse.runtime.notices import error_message, progress_notice
from pilothouse.runtime.request.builder import Outline
from pilothouse.runtime.turn.answer import StreamedAnswer
from pilothouse.window.compression import CompressionPlan

_STATES_BEFORE_REQUEST = (
    EnhancingSystemPrompt,
    OptimizingContext,
    PreparingLLMRequest,
    ConnectingToLLM,
    TransientError,
)


class CompressionRequest:
    """A compression that a person has requested between turns."""

    def __init__(self, branch: str, plan: CompressionPlan, total: int, *, by: str, focus: str | None) -> None:
        self.branch = branch
        self.plan = plan
        self.total = total
        """Tokens that the window counts before the compression."""
        self.by = by
        self.focus = focus
        self.result: Compression | None = None
        self.error: StoreError | None = None

    def complete(self, result: Compression) -> None:
        self.result = result


class Turn:
    """A turn while it is driven. State that must survive a restart lies in the context's `OpenTurn` instead."""

    def __init__(self, live: LiveContext, incoming: Sequence[Message] = ()) -> None:
        live.forget_workspace()
        self.live = live
        self.incoming = tuple(incoming)
        """The person's messages that are not processed or resolved yet."""
        self.driven_seconds = 0.0
        """Time of earlier drives, which counts towards the time limit."""
        self.driven_since = live.dependencies.ambient.monotonic()
        self.mode: Mode = live.dependencies.modes.stored(live.core.mode)
        self.outline: Outline | None = None
        self.request: ModelRequest | None = None
        self.adapter: Adapter | None = None
        self.request_tokens = 0
        """Tokens of the request by our own count."""
        self.too_long_count = 0
        """How many requests the provider has refused as too long."""
        self.too_long_reason: Reason | None = None
        self.must_shorten = False
        """Whether to compress even below the budget's trigger, because the provider refused the request."""
        self.noticed_counts: dict[Code, int] = {}
        """By kind of truncation: the count of which the person was last notified."""
        self.request_limit: int | None = None
        """Tokens that a request may hold after refusals, where that is less than the budget."""
        self.compression_request: CompressionRequest | None = None
        self.pending_core_fields: dict[str, Any] = {}
        """Fields of the core that the next commit includes."""
        self.answer: StreamedAnswer | None = None
        self.cut_round: int | None = None
        """The round whose partial text is stored already: the first attempt's, and no later one's."""
        self.retries = 0
        self.wait_seconds = 0.0
        self.retry_now = asyncio.Event()
        self.outbox: list[Message] = []
        """Messages that the next commit puts at the end of the branch, before its own."""
        self.closing: Draft | None = None
        """The draft that the commit which ends the turn begins with."""
        self.end: TurnEnd = "complete"
        self.has_begun = False
        self.cancelled_by: str | None = None
        self.paused_by: str | None = None
        self.is_retaining_results = False
        """Whether results are kept in memory and no call can be decided, because the store refused a commit."""
        self.settled = asyncio.Event()
        """Set while no driver works on the turn."""
        self.time_limit: asyncio.Timeout | None = None
        self._delegating_since: float | None = None
        self.out_of_time = False
        self.uncommitted_usage: Usage | None = None
        """Usage that the model reported since the last commit."""

    @property
    def dependencies(self) -> RuntimeDependencies:
        return self.live.dependencies

    @property
    def open(self) -> OpenTurn:
        assert self.live.core.turn is not None
        return self.live.core.turn

    def seconds_left(self) -> float | None:
        """The time left to the turn; None for no limit. Time spent waiting for the person does not count, and the steps
        that end a turn have no limit. While a sub-agent works, the limit applies to the sub-agent's own turn, which may
        wait for the person."""
        limit = self.dependencies.limits.turn_seconds
        if limit is None or isinstance(self.live.state, SavingMessage | Cancelling) or self.is_delegating:
            return None
        now = self.dependencies.ambient.monotonic()
        return max(0.0, limit - self.driven_seconds - (now - self.driven_since))

    @property
    def is_delegating(self) -> bool:
        return any(call.status == "executing" and call.effect == "delegating" for call in self.live.calls.values())

    def update_delegation_clock(self) -> None:
        """Stop or restart the turn's clock: time in which a sub-agent works does not count. Called whenever a
        delegating call may have started or ended."""
        now = self.dependencies.ambient.monotonic()
        if self.is_delegating == (self._delegating_since is not None):
            return
        if self._delegating_since is None:
            self._delegating_since = now
        else:
            self.driven_since += now - self._delegating_since
            self._delegating_since = None
        seconds = self.seconds_left()
        if self.time_limit is not None:
            self.time_limit.reschedule(None if seconds is None else asyncio.get_running_loop().time() + seconds)

    def enter(self, state: State) -> None:
        if state is not self.live.state:
            self.live.enter(state)

    @property
    def model(self) -> str:
        """The model of the present request, whatever the person has chosen since; before a request, the model that the
        context would use."""
        return self.request.model if self.request is not None else self.live.model

    def metadata(self) -> Metadata:
        persona = self.live.core.persona
        return Metadata(
            turn=self.open.id, round=self.open.round, mode=self.mode.name, persona=persona, model=self.model
        )

    def new_message_id(self) -> MessageId:
        return MessageId(self.dependencies.ambient.new_id())

    def error_message(self, reason: Reason) -> ErrorMessage:
        return error_message(self.live, reason, self.metadata())

    def progress_notice(self, reason: Reason) -> Processing:
        """A notice for the person that does not end the turn."""
        return progress_notice(self.live, reason, self.metadata())

    def give_up(self, reason: Reason, end: TurnEnd) -> SavingMessage:
        """End the turn with a message that says why, and return the next state."""
        message = self.error_message(reason)
        self.outbox.append(message)
        self.end = end
        return SavingMessage(message_id=message.id)

    def closing_draft(self) -> Draft:
        """The draft for the commit that ends the turn. The draft includes changes that the store has refused before."""
        draft, self.closing = self.closing or self.live.draft(), None
        return draft

    @property
    def must_stop(self) -> bool:
        """Whether the turn is cancelled but not in `Cancelling` yet. No further step may start."""
        return self.cancelled_by is not None and not isinstance(self.live.state, Cancelling)

    @property
    def must_pause(self) -> bool:
        """Whether a paused turn is about to send a request. The gate holds back calls that wait to start."""
        return self.live.paused_by is not None and isinstance(self.live.state, _STATES_BEFORE_REQUEST)

    async def commit(self, draft: Draft, state: State | None = None) -> None:
        """Commit a draft with the outbox before the draft's own messages. The caller holds the lock.

        Raises: StoreError; the context then keeps the draft as unsaved, and the next command commits it first.
        """
        outbox, self.outbox = self.outbox, []
        if outbox:
            draft.messages[:0] = outbox
            draft.appended.setdefault(self.open.branch, [])[:0] = [message.id for message in outbox]
        self._add_usage(draft)
        draft.core.update(self.pending_core_fields)
        self.pending_core_fields = {}
        try:
            await self.live.commit(draft, state)
        except StoreError:
            self.live.unsaved = draft.without_starts()
            raise

    def _add_usage(self, draft: Draft) -> None:
        """Add the usage that the model reported to the totals of the context and of the turn."""
        usage, self.uncommitted_usage = self.uncommitted_usage, None
        if usage is None:
            return
        usage = with_cost(usage, self.dependencies.catalog.facts(self.model).price)
        draft.core["usage"] = self.live.core.usage.plus(usage)
        current_turn: OpenTurn | None = draft.core.get("turn", self.live.core.turn)
        if current_turn is not None:
            draft.core["turn"] = msgspec.structs.replace(current_turn, usage=current_turn.usage.plus(usage))


def turn_of(live: LiveContext) -> Turn:
    """The context's turn in memory. Created anew where a restart, or removal from memory, has dropped the object."""
    if live.turn is None:
        live.turn = Turn(live)
    return live.turn
