"""The events of a chat stream: text, starts and ends of tool calls, errors, and the title."""

from collections.abc import AsyncIterator, Iterator, Sequence
from typing import Any

import msgspec

from pilothouse.domain.codes import Code, Language, Reason
from pilothouse.domain.exit_status import is_failure
from pilothouse.domain.messages import ErrorMessage, ToolRequest, ToolResult
from pilothouse.domain.states import Failed, SavingMessage, WaitingForRecovery
from pilothouse.domain.value import CallId
from pilothouse.i18n import translate
from pilothouse.runtime.context.snapshot import ContextSnapshot
from pilothouse.runtime.events.turn_events import (
    AnswerCut,
    MessageAdded,
    StateEntered,
    TextAdded,
    TurnEvent,
)
from pilothouse.runtime.runtime import Runtime
from pilothouse.server.sse import event

_MAX_RESULT_CHARACTERS = 100_000
# A denial by the mode ends the turn with one error; its calls get no events of their own.
_TURN_ENDING_DENIALS = frozenset({Code.MODE_DENIED, Code.ROUND_DENIED})


class ChatEventEncoder:
    """Encodes the events of one turn for a chat client."""

    def __init__(self, runtime: Runtime, context_id: str, language: Language, *, title: str | None) -> None:
        self._runtime = runtime
        self._context_id = context_id
        self._language = language
        self._title = title
        self._arguments: dict[CallId, Any] = {}
        self._started: set[CallId] = set()
        self._has_sent_error = False
        self._live: ContextSnapshot | None = None
        self.waiting: Sequence[ContextSnapshot] = ()
        """The contexts that wait for a person when `encode` has ended: the context itself, or its sub-agents."""

    async def encode(self, turn_events: AsyncIterator[TurnEvent]) -> AsyncIterator[bytes]:
        """Encode the events until they end."""
        async for turn_event in turn_events:
            live = self._live = await self._runtime.contexts.get(self._context_id)
            data = b"".join((*self._context_changes(live, turn_event), *self._encode_event(turn_event)))
            if data:
                yield data
        live = self._live = await self._runtime.contexts.get(self._context_id)
        self.waiting = waiting_contexts(live)

    def last_error(self) -> bytes:
        """Encode the error that stopped the turn, unless an event has reported one."""
        state = self._live.state if self._live is not None else None
        if self._has_sent_error:
            return b""
        match state:
            case Failed(error_message=reason) | WaitingForRecovery(reason=reason):
                return error_event(reason, self._language)
            case _:
                return b""

    def _context_changes(self, live: ContextSnapshot, turn_event: TurnEvent) -> Iterator[bytes]:
        """Encode a new title, and the calls that have started."""
        if live.core.title != self._title:
            self._title = live.core.title
            yield event("title", {"title": self._title})
        if isinstance(turn_event, StateEntered | MessageAdded):
            for call in live.calls.values():
                self._arguments[call.id] = call.arguments
                if call.status == "executing" and call.id not in self._started:
                    self._started.add(call.id)
                    yield event("tool_start", {"id": call.id, "name": call.tool, "args": call.arguments})

    def _encode_event(self, turn_event: TurnEvent) -> Iterator[bytes]:
        match turn_event:
            case MessageAdded(message=ToolRequest() as message):
                for call in message.calls:
                    self._arguments.setdefault(call.id, _decode(call.arguments))
            case TextAdded(text=text):
                yield event("token", {"text": text})
            case AnswerCut() if self._is_running():
                yield error_event(Reason(Code.ANSWER_RESTARTED), self._language)
            case MessageAdded(message=ToolResult() as message):
                yield from self._encode_result(message)
            case MessageAdded(message=ErrorMessage(reason=reason)):
                self._has_sent_error = True
                yield error_event(reason, self._language)

    def _is_running(self) -> bool:
        return self._live is not None and not self._live.is_resting and not isinstance(self._live.state, SavingMessage)

    def _encode_result(self, message: ToolResult) -> Iterator[bytes]:
        if message.status == "denied" and message.error is not None and message.error.code in _TURN_ENDING_DENIALS:
            return
        if message.status in ("executed", "failed") and message.call_id not in self._started:
            self._started.add(message.call_id)  # the call ended before its start was noticed
            arguments = self._arguments.get(message.call_id)
            yield event("tool_start", {"id": message.call_id, "name": message.tool, "args": arguments})
        result = translate(message.error, self._language) if message.error is not None else message.content
        status = "failed" if is_failure(message.exit_status) else message.status
        data = {
            "id": message.call_id,
            "name": message.tool,
            "status": status,
            "result": result[:_MAX_RESULT_CHARACTERS],
        }
        exit_status = {} if message.exit_status is None else {"exit_status": message.exit_status}
        yield event("tool_end", {**data, **exit_status})


def error_event(reason: Reason, language: Language) -> bytes:
    """Encode an error. A denial by plan mode has its own text here, under the same code."""
    is_plan = reason.code is Code.MODE_DENIED and reason.params.get("mode") == "plan"
    message_reason = Reason(Code.PLAN_DENIED, reason.params) if is_plan else reason
    return event("error", {"message": translate(message_reason, language), "code": reason.code})


def waiting_contexts(live: ContextSnapshot) -> Sequence[ContextSnapshot]:
    """Return the contexts that wait for a person: the context itself, else its waiting sub-agents."""
    return [live] if live.is_waiting else live.waiting_subagents


def _decode(arguments: str) -> Any:
    """Decode the arguments that the model sent; text that is not JSON stays as it is."""
    try:
        return msgspec.json.decode(arguments)
    except (msgspec.MsgspecError, UnicodeError, RecursionError):
        return arguments
