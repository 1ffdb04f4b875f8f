"""A turn that nobody watches: what waits for a person is denied, whoever reads its text or leaves."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import suppress

import msgspec

from pilothouse.domain.codes import Code, Reason, say
from pilothouse.domain.errors import Conflict, NotFound, StoreError
from pilothouse.domain.messages import ErrorMessage
from pilothouse.domain.states import AwaitingToolApproval, AwaitingUserAnswer, Failed, WaitingForRecovery
from pilothouse.domain.values import MessageId, TurnId
from pilothouse.runtime.following import Cut, Event, Piece, Place, Seen, follow_turn
from pilothouse.runtime.live import Live
from pilothouse.server.serving import Call
from pilothouse.server.telling import waiting_in

_SHOWN = 200
_TRY_AGAIN = 1.0


class Unattended:
    """`failure` is what went wrong; `has_failed` tells an answer that a mode denied something from none at all."""

    def __init__(self, call: Call, live: Live, turn: TurnId | None, place: Place) -> None:
        self._call = call
        self._runtime = call.runtime
        self._turn = turn
        self._place = place
        self._not_done: list[str] = []
        self._texts: dict[MessageId, str] = {}
        self.live = live
        self.failure: Reason | None = None
        self.has_failed = False

    async def deny(self) -> None:
        """To be run beside: until the turn has ended, reject what waits, and answer that nobody is there."""
        with self._runtime.signals([self.live.id]) as signals:
            while not self._is_over(live := await self._runtime.context(self.live.id)):
                try:
                    for waiting in waiting_in(live):
                        with suppress(Conflict, NotFound):  # a person was there after all, and faster
                            await self._deny_one(waiting)
                except StoreError:  # nobody else would do it later
                    await self._runtime.parts.ambient.sleep(_TRY_AGAIN)
                    continue
                await anext(signals)

    def _is_over(self, live: Live) -> bool:
        self.live = live
        is_open = live.core.turn is not None and live.core.turn.id == self._turn
        return not is_open or isinstance(live.state, Failed | WaitingForRecovery)

    async def _deny_one(self, waiting: Live) -> None:
        if waiting.asked_by_calls():
            await self._runtime.decline(waiting.id, by="runtime")
        told = say(Reason(Code.NOBODY_HERE))
        if isinstance(waiting.state, AwaitingToolApproval):
            rejected = await self._runtime.reject_all(waiting.id, reason=told, by="runtime")
            self._not_done += [_shown(call.display_name, call.arguments) for call in rejected]
        elif isinstance(waiting.state, AwaitingUserAnswer):
            for asked in (await self._runtime.open_questions(waiting.id))[:1]:
                questions = asked.arguments["questions"]
                await self._runtime.answer(waiting.id, [told] * len(questions), by="runtime")
                self._not_done.append(_shown(asked.display_name, asked.arguments))

    async def text(self) -> AsyncIterator[str]:
        """What the model says, until the turn has ended or the server stops."""
        stopping = asyncio.ensure_future(self._call.serving.stopping.wait())
        try:
            with self._runtime.signals([self.live.id]) as signals:
                stopping.add_done_callback(lambda _: signals.close())
                events = follow_turn(
                    self._runtime,
                    self.live.id,
                    self._turn,
                    place=self._place,
                    signals=signals,
                    is_over=self._is_over,
                )
                async for event in events:
                    for piece in self._taken(event):
                        yield piece
        finally:
            stopping.cancel()
        self._note_end()

    def _taken(self, event: Event) -> list[str]:
        match event:
            case Piece(message_id=message_id, text=text):
                self._texts[message_id] = self._texts.get(message_id, "") + text
                return [text]
            case Cut(message_id=message_id):
                self._texts.pop(message_id, None)
                return [f"\n\n[{say(Reason(Code.ANSWER_RESTARTED), self._call.language)}]\n\n"]
            case Seen(message=ErrorMessage(reason=reason)):
                self.failure = reason
        return []

    def whole_text(self) -> str:
        """What the model has said in all, without the text of attempts that were cut."""
        return "".join(self._texts.values())

    def _note_end(self) -> None:
        """What a mode denied is an answer; what the model or the disk could not do is none."""
        self.has_failed = self.live.core.last_turn == "error" or isinstance(
            self.live.state, Failed | WaitingForRecovery
        )
        match self.live.state:
            case Failed(error_message=reason) | WaitingForRecovery(reason=reason):
                self.failure = reason
        if self._call.serving.stopping.is_set():
            self.failure = Reason(Code.SERVER_STOPPING)

    def remark(self, *, with_failure: bool) -> str:
        """What was not done, and what went wrong, so that no answer hides it."""
        told = []
        if self._not_done:
            told.append(say(Reason(Code.NOT_DONE, {"calls": "; ".join(self._not_done)}), self._call.language))
        if self.failure is not None and with_failure:
            told.append(say(self.failure, self._call.language))
        return "".join(f"\n\n[{each}]" for each in told)


def _shown(name: str, arguments: object) -> str:
    return f"{name} {msgspec.json.encode(arguments).decode()[:_SHOWN]}"
