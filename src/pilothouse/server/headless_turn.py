"""A turn without a person: its approvals and questions are rejected, whether or not a client reads its text."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import suppress
from typing import Literal

import msgspec

from pilothouse.domain.calls import CallRecord
from pilothouse.domain.codes import Code, Reason
from pilothouse.domain.errors import Conflict, NotFound, PilothouseError, StoreError
from pilothouse.domain.messages import ErrorMessage
from pilothouse.domain.states import Failed, WaitingForRecovery
from pilothouse.domain.value import MessageId, TurnId
from pilothouse.i18n import translate
from pilothouse.runtime.commands.calls import PersonsDecision
from pilothouse.runtime.context.snapshot import ContextSnapshot
from pilothouse.runtime.events.attend import Attendant, Decisions
from pilothouse.runtime.events.turn_events import (
    AnswerCut,
    BranchPosition,
    MessageAdded,
    TextAdded,
    TurnEvent,
)
from pilothouse.server.state import RequestContext

_MAX_ARGUMENT_CHARACTERS = 200
_STORE_RETRY_SECONDS = 1.0


class HeadlessTurn(Attendant):
    """Follows one turn, collects its text, and rejects the calls and questions that wait for a person."""

    def __init__(
        self, request: RequestContext, live: ContextSnapshot, turn: TurnId | None, position: BranchPosition
    ) -> None:
        self._request = request
        self._runtime = request.runtime
        self._turn = turn
        self._position = position
        self._rejected: list[str] = []
        self._texts: dict[MessageId, str] = {}
        self.live = live
        self.failure: Reason | None = None
        """The error that ended the turn, or the last error that the turn reported."""
        self.has_failed = False
        """Whether the turn produced no valid answer, as opposed to an answer in which the mode denied a call."""

    async def reject_pending(self) -> None:
        """Reject pending calls and decline questions until the turn ends. Runs as a background task."""
        events = self._runtime.events.attend(self.live.id, self, is_over=self._is_over, contents=False, by="runtime")
        async for _ in events:
            pass

    def _is_over(self, live: ContextSnapshot) -> bool:
        self.live = live
        is_open = live.core.turn is not None and live.core.turn.id == self._turn
        return not is_open or isinstance(live.state, Failed | WaitingForRecovery)

    async def decide(self, context: ContextSnapshot, calls: Sequence[CallRecord]) -> Decisions:  # noqa: ARG002
        reason = translate(Reason(Code.NOBODY_HERE))
        return Decisions([PersonsDecision(call.id, "reject", call.digest, reason=reason) for call in calls])

    async def answer(
        self,
        context: ContextSnapshot,  # noqa: ARG002
        question: CallRecord,
    ) -> list[str] | Literal["decline"]:
        if question.asked_by is not None:
            return "decline"
        return [translate(Reason(Code.NOBODY_HERE))] * len(question.arguments["questions"])

    async def note_outcome(self, decided: Sequence[CallRecord], refusals: Sequence[PilothouseError]) -> bool:
        """Note what was not done. A person may have decided first; a refused write is tried again, since no other task
        rejects these calls."""
        self._rejected += [_describe(call.display_name, call.arguments) for call in decided if call.asked_by is None]
        if not any(isinstance(refusal, StoreError) for refusal in refusals):
            return False
        await self._runtime.ambient.sleep(_STORE_RETRY_SECONDS)
        return True

    async def text(self) -> AsyncIterator[str]:
        """Yield the model's text until the turn ends or the server stops."""
        stopping = asyncio.ensure_future(self._request.server.stopping.wait())
        try:
            with self._runtime.signals([self.live.id]) as signals:
                stopping.add_done_callback(lambda _: signals.close())
                events = self._runtime.events.of_turn(
                    self.live.id,
                    self._turn,
                    start=self._position,
                    signals=signals,
                    is_over=self._is_over,
                )
                async for event in events:
                    for text_piece in self._text_of(event):
                        yield text_piece
        finally:
            stopping.cancel()
        with suppress(Conflict, NotFound, StoreError):  # the runtime is closing, or the context was deleted
            self.live = await self._runtime.contexts.get(self.live.id)
        self._record_end()

    def _text_of(self, event: TurnEvent) -> list[str]:
        match event:
            case TextAdded(message_id=message_id, text=text):
                self._texts[message_id] = self._texts.get(message_id, "") + text
                return [text]
            case AnswerCut(message_id=message_id):
                self._texts.pop(message_id, None)
                return [f"\n\n[{translate(Reason(Code.ANSWER_RESTARTED), self._request.language)}]\n\n"]
            case MessageAdded(message=ErrorMessage(reason=reason)):
                self.failure = reason
        return []

    def full_text(self) -> str:
        """Return the model's text without attempts that were cut off."""
        return "".join(self._texts.values())

    def _record_end(self) -> None:
        """Record how the turn ended. A denied call leaves an answer; an error of the model or the store does not."""
        self.has_failed = self.live.core.last_turn == "error" or isinstance(
            self.live.state, Failed | WaitingForRecovery
        )
        match self.live.state:
            case Failed(error_message=reason) | WaitingForRecovery(reason=reason):
                self.failure = reason
        if self._request.server.stopping.is_set():
            self.failure = Reason(Code.SERVER_STOPPING)

    def remark(self, *, with_failure: bool) -> str:
        """Return a note for the end of the answer that names the rejected calls and the failure."""
        notes = []
        if self._rejected:
            reason = Reason(Code.NOT_DONE, {"calls": "; ".join(self._rejected)})
            notes.append(translate(reason, self._request.language))
        if self.failure is not None and with_failure:
            notes.append(translate(self.failure, self._request.language))
        return "".join(f"\n\n[{note}]" for note in notes)


def _describe(name: str, arguments: object) -> str:
    return f"{name} {msgspec.json.encode(arguments).decode()[:_MAX_ARGUMENT_CHARACTERS]}"
