"""read: the whole answer is here. Text ends the turn, calls go to the gate."""

from typing import Any

from pilothouse.domain.codes import Code, Reason
from pilothouse.domain.messages import Text, ToolCall, ToolRequest
from pilothouse.domain.states import ParsingToolCalls, SavingMessage, State
from pilothouse.domain.values import CallId
from pilothouse.runtime.answer import Answer, CallInProgress
from pilothouse.runtime.turn import Turn


async def read(turn: Turn) -> State:
    answer, turn.answer = turn.answer, None
    assert answer is not None
    turn.retries = 0
    if not answer.has_content:
        return turn.give_up(Reason(Code.EMPTY_ANSWER), "error")
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
        # Cut off by the length limit before its arguments came: no arguments is not the same as none needed.
        arguments = key[2] or ("(cut off)" if answer.finish_reason == "length" else "")
        kept.append(ToolCall(id=call_id, provider_id=call.id, tool=call.tool, arguments=arguments))
    return tuple(kept)


def _key(call: CallInProgress) -> tuple[str, str, str]:
    return call.id, call.tool, "".join(call.arguments)
