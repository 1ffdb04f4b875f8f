"""A turn told as it goes: text, calls that begin and end, errors, a title. For clients that want one stream."""

from collections.abc import AsyncIterator, Iterator
from typing import Any

import msgspec

from pilothouse.domain.codes import Code, Language, Reason, say
from pilothouse.domain.exit_status import is_failure
from pilothouse.domain.messages import ErrorMessage, ToolRequest, ToolResult
from pilothouse.domain.states import Failed, SavingMessage, WaitingForRecovery
from pilothouse.domain.values import CallId
from pilothouse.runtime.following import Asks, At, ChildWaits, Cut, Event, Piece, Seen
from pilothouse.runtime.live import Live
from pilothouse.runtime.runtime import Runtime
from pilothouse.server.sse import event

RESULT_AT_MOST = 100_000
# The mode's wall is told once, as the error that ends the turn.
_WALLS = frozenset({Code.MODE_DENIED, Code.ROUND_DENIED})


class Teller:
    """`waiting` are, at the end, those who wait for a person: the context, or its sub-agents."""

    def __init__(self, runtime: Runtime, context_id: str, language: Language, *, title: str | None) -> None:
        self._runtime = runtime
        self._context_id = context_id
        self._language = language
        self._title = title
        self._arguments: dict[CallId, Any] = {}
        self._started: set[CallId] = set()
        self._told_error = False
        self._live: Live | None = None
        self.waiting: list[Live] = []

    async def tell(self, events: AsyncIterator[Event]) -> AsyncIterator[bytes]:
        """Until the events end, or a sub-agent or a running call waits for a person."""
        async for happened in events:
            live = self._live = await self._runtime.context(self._context_id)
            told = b"".join((*self._beside(live, happened), *self._about(happened)))
            if told:
                yield told
            if isinstance(happened, ChildWaits | Asks):
                break
        live = self._live = await self._runtime.context(self._context_id)
        self.waiting = waiting_in(live)

    def last_error(self) -> bytes:
        """What stopped the turn, where no message said so."""
        state = self._live.state if self._live is not None else None
        if self._told_error:
            return b""
        match state:
            case Failed(error_message=reason) | WaitingForRecovery(reason=reason):
                return error_event(reason, self._language)
            case _:
                return b""

    def _beside(self, live: Live, happened: Event) -> Iterator[bytes]:
        if live.core.title != self._title:
            self._title = live.core.title
            yield event("title", {"title": self._title})
        if isinstance(happened, At | Seen):
            for call in live.calls.values():
                self._arguments[call.id] = call.arguments
                if call.status == "executing" and call.id not in self._started:
                    self._started.add(call.id)
                    yield event("tool_start", {"id": call.id, "name": call.tool, "args": call.arguments})

    def _about(self, happened: Event) -> Iterator[bytes]:
        match happened:
            case Seen(message=ToolRequest() as message):
                for call in message.calls:
                    self._arguments.setdefault(call.id, _decoded(call.arguments))
            case Piece(text=text):
                yield event("token", {"text": text})
            case Cut() if self._goes_on():
                yield error_event(Reason(Code.ANSWER_RESTARTED), self._language)
            case Seen(message=ToolResult() as message):
                yield from self._ended(message)
            case Seen(message=ErrorMessage(reason=reason)):
                self._told_error = True
                yield error_event(reason, self._language)

    def _goes_on(self) -> bool:
        return self._live is not None and not self._live.is_resting and not isinstance(self._live.state, SavingMessage)

    def _ended(self, message: ToolResult) -> Iterator[bytes]:
        is_wall = message.status == "denied" and message.error is not None and message.error.code in _WALLS
        if is_wall:
            return
        if message.status in ("executed", "failed") and message.call_id not in self._started:
            self._started.add(message.call_id)  # it was over before anybody looked
            arguments = self._arguments.get(message.call_id)
            yield event("tool_start", {"id": message.call_id, "name": message.tool, "args": arguments})
        told = say(message.error, self._language) if message.error is not None else message.content
        status = "failed" if is_failure(message.exit_status) else message.status
        data = {"id": message.call_id, "name": message.tool, "status": status, "result": told[:RESULT_AT_MOST]}
        ended = {} if message.exit_status is None else {"exit_status": message.exit_status}
        yield event("tool_end", {**data, **ended})


def error_event(reason: Reason, language: Language) -> bytes:
    """What went wrong. The wall of plan mode has words of its own here."""
    is_plan = reason.code is Code.MODE_DENIED and reason.params.get("mode") == "plan"
    words = Reason(Code.PLAN_DENIED, reason.params) if is_plan else reason
    return event("error", {"message": say(words, language), "code": reason.code})


def waiting_in(live: Live) -> list[Live]:
    """Who waits for a person: the context itself, else those below it."""
    return [live] if live.is_waiting() else live.waiting_below()


def _decoded(arguments: str) -> Any:
    """What the model sent, as far as it is JSON."""
    try:
        return msgspec.json.decode(arguments)
    except (msgspec.MsgspecError, UnicodeError, RecursionError):
        return arguments
