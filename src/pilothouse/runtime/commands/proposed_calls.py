"""Calls that no model sent: validating them, and opening a turn of their own that takes them to the gate."""

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from pilothouse.domain.calls import MAX_ORIGIN_CHARACTERS, is_origin
from pilothouse.domain.codes import Code
from pilothouse.domain.errors import InvalidInput
from pilothouse.domain.messages import Metadata, ToolCall, ToolRequest
from pilothouse.domain.value import CallId, MessageId, Value
from pilothouse.runtime.context.draft import Draft
from pilothouse.runtime.context.live_context import LiveContext
from pilothouse.runtime.turn.round import Round
from pilothouse.runtime.turn.turn import Turn
from pilothouse.runtime.turn.user_input import open_turn

MAX_PROPOSED_CALLS = 100
MAX_TOOL_NAME_CHARACTERS = 200


class ProposedCall(Value):
    """A tool call that a program proposes, such as a step of a workflow."""

    tool: str
    arguments: Mapping[str, Any] = {}


def check_proposal(calls: Sequence[ProposedCall], origin: str) -> None:
    """Raises: InvalidInput."""
    if not 1 <= len(calls) <= MAX_PROPOSED_CALLS:
        detail = f"{len(calls)} calls were proposed; 1 to {MAX_PROPOSED_CALLS} are allowed"
        raise InvalidInput(Code.INVALID_REQUEST, detail=detail)
    if not is_origin(origin):
        detail = f"the origin must be 1 to {MAX_ORIGIN_CHARACTERS} printable ASCII characters"
        raise InvalidInput(Code.INVALID_REQUEST, detail=detail)
    for call in calls:
        if not (call.tool.isprintable() and 1 <= len(call.tool) <= MAX_TOOL_NAME_CHARACTERS):
            detail = f"a tool's name must be 1 to {MAX_TOOL_NAME_CHARACTERS} printable characters"
            raise InvalidInput(Code.INVALID_REQUEST, detail=detail)


def open_proposal(
    live: LiveContext, draft: Draft, calls: Sequence[ProposedCall], origin: str
) -> tuple[Turn, ToolRequest]:
    """Open a turn for proposed calls in a draft. Raises: InvalidInput for arguments that are no JSON."""
    ambient, mode = live.dependencies.ambient, live.dependencies.modes.stored(live.core.mode)
    tool_calls = tuple(
        ToolCall(id=CallId(ambient.new_id()), provider_id="", tool=call.tool, arguments=_encoded(call))
        for call in calls
    )
    turn = open_turn(live, draft)
    draft.core["turn"] = msgspec.structs.replace(turn, origin=origin)
    request = ToolRequest(
        id=MessageId(ambient.new_id()),
        timestamp=live.dependencies.now(),
        role="assistant",
        metadata=Metadata(turn=turn.id, round=turn.round, mode=mode.name, persona=live.core.persona, origin=origin),
        calls=tool_calls,
    )
    return Turn(live, Round(calls=request)), request


def _encoded(call: ProposedCall) -> str:
    try:
        return msgspec.json.encode(call.arguments).decode()
    except (TypeError, UnicodeError, RecursionError) as error:
        detail = f"the arguments of {call.tool} are not JSON: {error}"
        raise InvalidInput(Code.INVALID_REQUEST, detail=detail) from error
