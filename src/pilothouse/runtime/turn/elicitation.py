"""Elicitation: an MCP server asks the person a question while one of its calls runs."""

from collections.abc import Sequence

import msgspec

from pilothouse.domain.calls import CallRecord, call_digest, display_name, fingerprint_of
from pilothouse.domain.codes import Code, Reason
from pilothouse.domain.modes import Verdict
from pilothouse.domain.value import CallId
from pilothouse.runtime.authorization.authorization import end_call
from pilothouse.runtime.authorization.policy_snapshot import current_snapshot
from pilothouse.runtime.context.live_context import LiveContext
from pilothouse.tools.base import UserQuestion

_TOOL = "ask_user"
_MAX_QUESTIONS_PER_CALL = 10


async def elicit(live: LiveContext, call: CallRecord, questions: Sequence[UserQuestion]) -> Sequence[str] | None:
    """The person's answers, in the order of the questions; None where the policy forbids questions, or where the person
    did not answer.

    The question is stored as a call record without a message, since the model did not ask. The person answers it like
    an `ask_user` call.
    """
    snapshot = current_snapshot(live)
    if _TOOL in snapshot.denied or any(item.mode.mutating is Verdict.DENY for item in (snapshot, *snapshot.ancestors)):
        return None
    if sum(item.asked_by == call.id for item in live.calls.values()) >= _MAX_QUESTIONS_PER_CALL:
        return None
    record = _question_record(live, call, questions)
    async with live.lock:
        draft = live.draft()
        draft.calls[record.id] = record
        await live.commit(draft)
    live.notify_ancestors()
    try:
        return await _wait_for_answer(live, record.id)
    finally:
        await _cancel_question_record(live, record.id)


async def _wait_for_answer(live: LiveContext, call_id: CallId) -> Sequence[str] | None:
    with live.dependencies.hub.subscribe([live.id]) as signals:
        while True:
            record = live.calls.get(call_id)
            if record is None or not record.is_open:
                return record.answers if record is not None and record.status == "executed" else None
            await anext(signals)


async def _cancel_question_record(live: LiveContext, call_id: CallId) -> None:
    """Cancel the question of a call that ended before the person answered."""
    async with live.lock:
        record = live.calls.get(call_id)
        if record is None or not record.is_open or live.core.turn is None:
            return
        draft = live.draft()
        end_call(draft, live, call_id, "cancelled", reason=Reason(Code.NOT_RUN))
        await live.commit(draft)


def _question_record(live: LiveContext, call: CallRecord, questions: Sequence[UserQuestion]) -> CallRecord:
    call_id = CallId(live.dependencies.ambient.new_id())
    arguments = {"questions": [msgspec.to_builtins(question) for question in questions]}
    fingerprint = fingerprint_of(_TOOL, arguments)
    return CallRecord(
        id=call_id,
        provider_id="",
        message_id=call.message_id,
        turn=call.turn,
        round=call.round,
        tool=_TOOL,
        display_name=display_name(_TOOL),
        arguments=arguments,
        digest=call_digest(live.id, call_id, live.core.workspace, fingerprint),
        fingerprint=fingerprint,
        effect="question",
        status="pending",
        reason=Reason(Code.QUESTION),
        requested_at=live.dependencies.now(),
        asked_by=call.id,
    )
