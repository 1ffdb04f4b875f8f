"""read: the whole answer is here. Text ends the turn, calls go to the gate."""

from collections.abc import Mapping
from typing import Any

from pilothouse.domain.codes import Code, Reason
from pilothouse.domain.contexts import TurnEnd
from pilothouse.domain.messages import Text, ToolCall, ToolRequest
from pilothouse.domain.states import ParsingToolCalls, SavingMessage, State
from pilothouse.domain.values import CallId
from pilothouse.runtime.answer import Answer, CallInProgress
from pilothouse.runtime.turn import Turn

# How an answer ended that is not complete, by its finish reason: what the person is told, and how the turn ends.
_TOO_LONG: tuple[Code, TurnEnd] = (Code.ANSWER_TOO_LONG, "limit")
_EMPTY: tuple[Code, TurnEnd] = (Code.EMPTY_ANSWER, "error")
_INCOMPLETE: Mapping[str, tuple[Code, TurnEnd]] = {
    "length": _TOO_LONG,
    "content_filter": (Code.ANSWER_FILTERED, "error"),
    "refusal": (Code.ANSWER_REFUSED, "error"),
}


async def read(turn: Turn) -> State:
    answer, turn.answer = turn.answer, None
    assert answer is not None
    turn.retries = 0
    incomplete = _INCOMPLETE.get(answer.finish_reason or "")
    if not answer.has_content:
        code, end = incomplete or _EMPTY
        return turn.give_up(Reason(code), end)
    common: dict[str, Any] = {
        "id": answer.message_id,
        "timestamp": turn.parts.now(),
        "role": "assistant",
        "metadata": turn.metadata(),
        "content": answer.text,
        "chunks": tuple(map(len, answer.deltas)),
        "finish_reason": answer.finish_reason,
        "usage": answer.usage,
    }
    if incomplete == _TOO_LONG and answer.calls:
        incomplete = None  # each call that was cut gets a result that says so, and the model goes on
    if incomplete is not None:
        # Calls of an answer that was filtered are dropped: nobody knows what is missing of them.
        if answer.deltas:
            turn.outbox.append(Text(**common))
        code, end = incomplete
        return turn.give_up(Reason(code), end)
    if not answer.calls:
        turn.outbox.append(Text(**common))
        return SavingMessage(message_id=answer.message_id)
    turn.outbox.append(ToolRequest(**common, calls=_calls(turn, answer)))
    return ParsingToolCalls()


def _calls(turn: Turn, answer: Answer) -> tuple[ToolCall, ...]:
    """The calls as sent, each under an id of ours. The same call sent twice under one id is one call."""
    kept: list[ToolCall] = []
    seen: set[tuple[str, str, str]] = set()
    for call in answer.calls:
        key = _key(call)
        if call.id and key in seen:
            continue
        seen.add(key)
        call_id = CallId(turn.parts.ambient.new_id())
        # Cut off by the output limit before its arguments came: no arguments is not the same as none needed.
        arguments = key[2] or ("(cut off)" if answer.finish_reason == "length" else "")
        kept.append(ToolCall(id=call_id, provider_id=call.id, tool=call.tool, arguments=arguments))
    return tuple(kept)


def _key(call: CallInProgress) -> tuple[str, str, str]:
    return call.id, call.tool, "".join(call.arguments)
