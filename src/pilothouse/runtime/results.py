"""Results: the one place where a call gets its end, as a record, a message and an audit entry in one draft."""

from collections.abc import Sequence
from typing import Literal

import msgspec

from pilothouse.domain.calls import CallRecord
from pilothouse.domain.codes import Code, Reason, say
from pilothouse.domain.contexts import OpenTurn
from pilothouse.domain.messages import Metadata, ToolResult
from pilothouse.domain.values import CallId, MessageId
from pilothouse.runtime.draft import Draft
from pilothouse.runtime.live import Live

MAX_PATHS_TOLD = 50
EndStatus = Literal["executed", "failed", "rejected", "denied", "cancelled", "interrupted"]


def end_call(
    draft: Draft,
    live: Live,
    call_id: CallId,
    status: EndStatus,
    *,
    content: str | None = None,
    reason: Reason | None = None,
    duration_ms: int | None = None,
    exit_status: int | None = None,
    by: str = "runtime",
) -> None:
    """Give a call its one result. `reason` is put into English for the model where there is no content."""
    call = draft.call(call_id)
    turn = open_turn(live)
    at = live.parts.now()
    told = say(reason or Reason(Code.NOT_RUN)) if content is None else content
    if call.asked_by is not None:  # a question of a running call: the model has not asked, and gets no result
        draft.change_call(call_id, status=status, reason=reason or call.reason, finished_at=at)
        draft.note("call_ended", by, call=call.id, tool=call.tool, status=status)
        return
    message = ToolResult(
        id=MessageId(live.parts.ambient.new_id()),
        timestamp=at,
        role="tool",
        metadata=Metadata(turn=turn.id, round=call.round),
        call_id=call.id,
        tool=call.tool,
        content=_with_undone(draft, told),
        status=status,
        duration_ms=duration_ms,
        error=reason,
        exit_status=exit_status,
    )
    draft.append(message, turn.branch)
    ended = {"status": status, "exit_status": exit_status}
    draft.change_call(call_id, **ended, reason=reason or call.reason, finished_at=at, result_id=message.id)
    known = {name: value for name, value in ended.items() if value is not None}
    draft.note("call_ended", by, call=call.id, tool=call.tool, **known)


def _with_undone(draft: Draft, content: str) -> str:
    """A result with what a person has undone since the calls were asked for, told once."""
    turn: OpenTurn | None = draft.value("turn")
    if turn is None or not turn.undone_paths:
        return content
    draft.core["turn"] = msgspec.structs.replace(turn, undone_paths=(), undone_more=0)
    return f"{content}\n{say_undone(turn.undone_paths, turn.undone_more)}"


def say_undone(paths: Sequence[str], more: int = 0) -> str:
    """An undo in words for the model. `more` files beside these were put back."""
    more += max(0, len(paths) - MAX_PATHS_TOLD)
    listed = ", ".join(paths[:MAX_PATHS_TOLD]) + (f" and {more} more" if more > 0 else "")
    return f"[{say(Reason(Code.CHANGE_UNDONE, {'paths': listed}))}]"


def close_open_calls(draft: Draft, live: Live, not_started: Reason, *, status: EndStatus = "cancelled") -> None:
    """Every open call gets its result: those that had started say that they may have run."""
    for call in draft.all_calls():
        if call.status == "executing":
            end_call(draft, live, call.id, status, reason=may_have_run(call))
        elif call.is_open:
            end_call(draft, live, call.id, status, reason=not_started)


def may_have_run(call: CallRecord) -> Reason:
    return Reason(Code.INTERRUPTED_CALL if call.effect == "read_only" else Code.MAY_HAVE_RUN)


def open_turn(live: Live) -> OpenTurn:
    assert live.core.turn is not None
    return live.core.turn
