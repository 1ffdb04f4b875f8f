"""read: turn the complete answer into messages. Text ends the turn, calls go to the gate."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from pilothouse.domain.codes import Code, Reason
from pilothouse.domain.contexts import TurnEnd
from pilothouse.domain.messages import Text, ToolCall, ToolRequest
from pilothouse.domain.states import ParsingToolCalls
from pilothouse.domain.value import CallId
from pilothouse.runtime.turn.answer import CallInProgress, StreamedAnswer
from pilothouse.runtime.turn.round import Next, Round
from pilothouse.runtime.turn.turn import Turn

# By the finish reason of an incomplete answer: the error that the person sees, and the end of the turn.
_TOO_LONG: tuple[Code, TurnEnd] = (Code.ANSWER_TOO_LONG, "limit")
_EMPTY: tuple[Code, TurnEnd] = (Code.EMPTY_ANSWER, "error")
_INCOMPLETE: Mapping[str, tuple[Code, TurnEnd]] = {
    "length": _TOO_LONG,
    "content_filter": (Code.ANSWER_FILTERED, "error"),
    "refusal": (Code.ANSWER_REFUSED, "error"),
}


async def read(turn: Turn, round_: Round) -> Next:
    answer = round_.answer
    assert answer is not None
    incomplete = _INCOMPLETE.get(answer.finish_reason or "")
    if not answer.has_content:
        incomplete = incomplete or _EMPTY
    calls = _distinct(answer.calls)
    common: dict[str, Any] = {
        "id": answer.message_id,
        "timestamp": turn.dependencies.now(),
        "role": "assistant",
        "metadata": turn.metadata(round_),
        "content": answer.text,
        "chunks": tuple(map(len, answer.deltas)),
        "finish_reason": answer.finish_reason,
        "usage": answer.usage,
        "reasoning": answer.reasoning(),
        "opaque": answer.opaque_parts(calls),
    }
    if turn.delta_writer is not None:
        turn.delta_writer.is_taken = True
    if incomplete == _TOO_LONG and answer.calls:
        incomplete = None  # each truncated call gets a result that says so, and the turn goes on
    if incomplete is not None:
        # Calls of a filtered answer are dropped, since parts of them may be missing.
        if answer.has_deltas:
            turn.live.pending.messages.append(Text(**common))
        code, end = incomplete
        return turn.give_up(Reason(code), round_, end)
    if not answer.calls:
        return turn.finish_with(Text(**common), round_, "complete")
    request = ToolRequest(**common, calls=_calls(turn, answer, calls))
    turn.live.pending.messages.append(request)
    return Next(ParsingToolCalls(), replace(round_, calls=request))


def _distinct(calls: Sequence[CallInProgress]) -> list[CallInProgress]:
    """A call sent twice under one provider id is one call."""
    distinct: list[CallInProgress] = []
    keys: set[tuple[str, str, str]] = set()
    for call in calls:
        key = _key(call)
        if not (call.id and key in keys):
            distinct.append(call)
        keys.add(key)
    return distinct


def _calls(turn: Turn, answer: StreamedAnswer, calls: Sequence[CallInProgress]) -> tuple[ToolCall, ...]:
    """The calls as the provider sent them, each with an id of the runtime."""
    # Missing arguments of a call that the output limit cut must not pass for empty ones.
    missing = "(cut off)" if answer.finish_reason == "length" else ""
    return tuple(
        ToolCall(
            id=CallId(turn.dependencies.ambient.new_id()),
            provider_id=call.id,
            tool=call.tool,
            arguments="".join(call.arguments) or missing,
        )
        for call in calls
    )


def _key(call: CallInProgress) -> tuple[str, str, str]:
    return call.id, call.tool, "".join(call.arguments)
