"""Results: every call ends here, with its record, a message and an audit entry in one draft."""

from collections.abc import Sequence
from typing import Literal

import msgspec

from pilothouse.domain.calls import CallRecord
from pilothouse.domain.codes import Code, Reason
from pilothouse.domain.contexts import OpenTurn
from pilothouse.domain.messages import ToolResult
from pilothouse.domain.value import CallId, MessageId
from pilothouse.i18n import translate
from pilothouse.runtime.context.draft import Draft
from pilothouse.runtime.context.live_context import LiveContext
from pilothouse.runtime.notices import present_metadata

MAX_UNDONE_PATHS_LISTED = 50
EndStatus = Literal["executed", "failed", "rejected", "denied", "cancelled", "interrupted"]


def end_call(
    draft: Draft,
    live: LiveContext,
    call_id: CallId,
    status: EndStatus,
    *,
    content: str | None = None,
    reason: Reason | None = None,
    duration_ms: int | None = None,
    exit_status: int | None = None,
    by: str = "runtime",
) -> None:
    """Give a call its one result. Without `content`, the model gets `reason` in English."""
    call = draft.call(call_id)
    turn = current_turn(live)
    now = live.dependencies.now()
    text = translate(reason or Reason(Code.NOT_RUN)) if content is None else content
    if call.asked_by is not None:  # a question of a running call is not the model's: no result message
        draft.change_call(call_id, status=status, reason=reason or call.reason, finished_at=now)
        draft.note("call_ended", by, call=call.id, tool=call.tool, status=status)
        return
    message = ToolResult(
        id=MessageId(live.dependencies.ambient.new_id()),
        timestamp=now,
        role="tool",
        metadata=msgspec.structs.replace(present_metadata(live, draft.value("mode")), round=call.round),
        call_id=call.id,
        tool=call.tool,
        content=_with_undo_notice(draft, text),
        status=status,
        duration_ms=duration_ms,
        error=reason,
        exit_status=exit_status,
    )
    draft.append(message, turn.branch)
    outcome = {"status": status, "exit_status": exit_status}
    draft.change_call(call_id, **outcome, reason=reason or call.reason, finished_at=now, result_id=message.id)
    audit_detail = {name: value for name, value in outcome.items() if value is not None}
    draft.note("call_ended", by, call=call.id, tool=call.tool, **audit_detail)


def _with_undo_notice(draft: Draft, content: str) -> str:
    """A result together with a notice of the changes that the person has undone since the request, given once."""
    turn: OpenTurn | None = draft.value("turn")
    if turn is None or not turn.undone_paths:
        return content
    draft.core["turn"] = msgspec.structs.replace(turn, undone_paths=(), undone_more=0)
    return f"{content}\n{describe_undone(turn.undone_paths, turn.undone_more)}"


def describe_undone(paths: Sequence[str], more: int = 0) -> str:
    """A notice of an undo for the model. `more` is the number of restored files beside `paths`."""
    more += max(0, len(paths) - MAX_UNDONE_PATHS_LISTED)
    listed = ", ".join(paths[:MAX_UNDONE_PATHS_LISTED]) + (f" and {more} more" if more > 0 else "")
    return f"[{translate(Reason(Code.CHANGE_UNDONE, {'paths': listed}))}]"


def close_open_calls(draft: Draft, live: LiveContext, not_started: Reason, *, status: EndStatus = "cancelled") -> None:
    """Give every open call a result. The result of a started call says that the call may have run."""
    for call in draft.all_calls():
        if call.status == "executing":
            end_call(draft, live, call.id, status, reason=may_have_run(call))
        elif call.is_open:
            end_call(draft, live, call.id, status, reason=not_started)


def may_have_run(call: CallRecord) -> Reason:
    return Reason(Code.INTERRUPTED_CALL if call.effect == "read_only" else Code.MAY_HAVE_RUN)


def current_turn(live: LiveContext) -> OpenTurn:
    assert live.core.turn is not None
    return live.core.turn
