"""The turn: what it carries from step to step."""

import asyncio
from collections.abc import Sequence
from typing import Any

import msgspec

from pilothouse.domain.codes import Code, Reason
from pilothouse.domain.contexts import OpenTurn, TurnEnd
from pilothouse.domain.errors import StoreError
from pilothouse.domain.messages import ErrorMessage, Message, Metadata, Processing, Usage
from pilothouse.domain.modes import Mode
from pilothouse.domain.prices import priced
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
from pilothouse.domain.values import MessageId
from pilothouse.llm.base import Adapter, ModelRequest
from pilothouse.runtime.answer import Answer
from pilothouse.runtime.compressing import Compression
from pilothouse.runtime.draft import Draft
from pilothouse.runtime.live import Live
from pilothouse.runtime.parts import Parts
from pilothouse.runtime.rounds import Outline
from pilothouse.window.compression import Plan

_BEFORE_A_REQUEST = (
    EnhancingSystemPrompt,
    OptimizingContext,
    PreparingLLMRequest,
    ConnectingToLLM,
    TransientError,
)


class Compressing:
    """A compression that a person has asked for: `made` is what it takes, `total` what the window counts before it."""

    def __init__(self, branch: str, made: Plan, total: int, *, by: str, focus: str | None) -> None:
        self.branch = branch
        self.made = made
        self.total = total
        self.by = by
        self.focus = focus
        self.done: Compression | None = None
        self.error: StoreError | None = None

    def is_done(self, done: Compression) -> None:
        self.done = done


class Turn:
    """One turn while it is driven. What must survive a restart lies in the context's `OpenTurn` instead. `received` are
    messages that are not complete yet; `noted` are fields of the core that the next commit takes along; `settled` is
    set while nobody drives it."""

    def __init__(self, live: Live, received: Sequence[Message] = ()) -> None:
        live.forget_workspace()
        self.live = live
        self.received = tuple(received)
        self.driven_seconds = 0.0
        self.driven_since = live.parts.ambient.monotonic()
        self.mode: Mode = live.parts.modes.stored(live.core.mode)
        self.outline: Outline | None = None
        self.request: ModelRequest | None = None
        self.adapter: Adapter | None = None
        self.counted = 0
        self.too_long = 0
        self.too_long_reason: Reason | None = None
        self.must_shorten = False
        self.remarked: dict[Code, int] = {}
        self.request_limit: int | None = None
        self.compressing: Compressing | None = None
        self.noted: dict[str, Any] = {}
        self.answer: Answer | None = None
        self.cut_round: int | None = None
        self.retries = 0
        self.wait_seconds = 0.0
        self.retry_now = asyncio.Event()
        self.outbox: list[Message] = []
        self.closing: Draft | None = None
        self.end: TurnEnd = "complete"
        self.begun = False
        self.cancelled_by: str | None = None
        self.paused_by: str | None = None
        self.is_keeping = False
        self.settled = asyncio.Event()
        self.time_limit: asyncio.Timeout | None = None
        self._delegating_since: float | None = None
        self.out_of_time = False
        self.used: Usage | None = None

    @property
    def parts(self) -> Parts:
        return self.live.parts

    @property
    def open(self) -> OpenTurn:
        assert self.live.core.turn is not None
        return self.live.core.turn

    def seconds_left(self) -> float | None:
        """What is left of the turn's time. The person's own time does not count, and ending takes what it takes.
        While a sub-agent works, its own turn has the limit: it may wait for the person."""
        limit = self.parts.limits.turn_seconds
        if limit is None or isinstance(self.live.state, SavingMessage | Cancelling) or self.is_delegating:
            return None
        now = self.parts.ambient.monotonic()
        return max(0.0, limit - self.driven_seconds - (now - self.driven_since))

    @property
    def is_delegating(self) -> bool:
        return any(call.status == "executing" and call.effect == "delegating" for call in self.live.calls.values())

    def follow_delegation(self) -> None:
        """The turn's clock stands still while a sub-agent works; called whenever that may have changed."""
        now = self.parts.ambient.monotonic()
        if self.is_delegating == (self._delegating_since is not None):
            return
        if self._delegating_since is None:
            self._delegating_since = now
        else:
            self.driven_since += now - self._delegating_since
            self._delegating_since = None
        left = self.seconds_left()
        if self.time_limit is not None:
            self.time_limit.reschedule(None if left is None else asyncio.get_running_loop().time() + left)

    def enter(self, state: State) -> None:
        if state is not self.live.state:
            self.live.enter(state)

    @property
    def model(self) -> str:
        """The one that was asked, whatever was chosen since; before that, the one that would be."""
        return self.request.model if self.request is not None else self.live.model

    def metadata(self) -> Metadata:
        who = self.live.core.persona
        return Metadata(turn=self.open.id, round=self.open.round, mode=self.mode.name, persona=who, model=self.model)

    def new_message_id(self) -> MessageId:
        return MessageId(self.parts.ambient.new_id())

    def error(self, reason: Reason) -> ErrorMessage:
        return ErrorMessage(
            id=self.new_message_id(),
            timestamp=self.parts.now(),
            role="assistant",
            metadata=self.metadata(),
            reason=reason,
        )

    def remark(self, reason: Reason) -> Processing:
        """Something that a person should know, and that ends nothing."""
        at = self.parts.now()
        return Processing(
            id=self.new_message_id(),
            timestamp=at,
            role="system",
            metadata=self.metadata(),
            stage=str(reason.code),
            started_at=at,
            detail={"params": reason.params},
        )

    def give_up(self, reason: Reason, end: TurnEnd) -> SavingMessage:
        """End the turn with a message that says why. Gives the state to go to."""
        message = self.error(reason)
        self.outbox.append(message)
        self.end = end
        return SavingMessage(message_id=message.id)

    def closing_draft(self) -> Draft:
        """What the commit that ends the turn begins with: also what the store has refused before."""
        draft, self.closing = self.closing or self.live.draft(), None
        return draft

    @property
    def must_stop(self) -> bool:
        """Cancelled, and not on its way out yet: nothing more may start."""
        return self.cancelled_by is not None and not isinstance(self.live.state, Cancelling)

    @property
    def must_pause(self) -> bool:
        """Paused by a person, and about to send a request. Calls that wait to start are held by the gate."""
        return self.live.paused_by is not None and isinstance(self.live.state, _BEFORE_A_REQUEST)

    async def commit(self, draft: Draft, state: State | None = None) -> None:
        """Commit with everything in the outbox before it. The caller holds the lock.

        Raises: StoreError; the draft is then kept, and `continue` commits it first.
        """
        outbox, self.outbox = self.outbox, []
        if outbox:
            draft.messages[:0] = outbox
            draft.appended.setdefault(self.open.branch, [])[:0] = [message.id for message in outbox]
        self._add_usage(draft)
        draft.core.update(self.noted)
        self.noted = {}
        try:
            await self.live.commit(draft, state)
        except StoreError:
            self.live.unsaved = draft.without_starts()
            raise

    def _add_usage(self, draft: Draft) -> None:
        """What the model reported goes into the totals of the context and of the turn."""
        used, self.used = self.used, None
        if used is None:
            return
        used = priced(used, self.parts.catalogue.facts(self.model).price)
        draft.core["usage"] = self.live.core.usage.plus(used)
        opened: OpenTurn | None = draft.core.get("turn", self.live.core.turn)
        if opened is not None:
            draft.core["turn"] = msgspec.structs.replace(opened, usage=opened.usage.plus(used))


def turn_of(live: Live) -> Turn:
    """The open turn, made anew where a restart or a long rest has forgotten it."""
    if live.turn is None:
        live.turn = Turn(live)
    return live.turn
