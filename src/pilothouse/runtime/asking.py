"""Questions in the middle of a call: a server wants to know something from the person for whom it works."""

from collections.abc import Sequence

import msgspec

from pilothouse.domain.calls import CallRecord, digest_of, display_name, fingerprint_of
from pilothouse.domain.codes import Code, Reason
from pilothouse.domain.modes import Verdict
from pilothouse.domain.values import CallId
from pilothouse.runtime.live import Live
from pilothouse.runtime.results import end_call
from pilothouse.runtime.standing import standing_of
from pilothouse.tools.base import Asked

_TOOL = "ask_user"
_QUESTIONS_AT_MOST = 10


async def ask_person(live: Live, call: CallRecord, asked: Sequence[Asked]) -> Sequence[str] | None:
    """The person's answers, in the order of the questions; None where they are not to be asked, or did not answer.

    The question is a record like any other, without a message: the model did not ask it. It is answered like one.
    """
    standing = standing_of(live)
    if _TOOL in standing.denied or any(each.mode.mutating is Verdict.DENY for each in (standing, *standing.above)):
        return None
    if sum(each.asked_by == call.id for each in live.calls.values()) >= _QUESTIONS_AT_MOST:
        return None
    record = _question(live, call, asked)
    async with live.lock:
        draft = live.draft()
        draft.calls[record.id] = record
        await live.commit(draft)
    live.tell_those_above()
    try:
        return await _answered(live, record.id)
    finally:
        await _close(live, record.id)


async def _answered(live: Live, call_id: CallId) -> Sequence[str] | None:
    with live.parts.hub.subscribe([live.id]) as signals:
        while True:
            record = live.calls.get(call_id)
            if record is None or not record.is_open:
                return record.answers if record is not None and record.status == "executed" else None
            await anext(signals)


async def _close(live: Live, call_id: CallId) -> None:
    """The call is over before anybody answered."""
    async with live.lock:
        record = live.calls.get(call_id)
        if record is None or not record.is_open or live.core.turn is None:
            return
        draft = live.draft()
        end_call(draft, live, call_id, "cancelled", reason=Reason(Code.NOT_RUN))
        await live.commit(draft)


def _question(live: Live, call: CallRecord, asked: Sequence[Asked]) -> CallRecord:
    call_id = CallId(live.parts.ambient.new_id())
    arguments = {"questions": [msgspec.to_builtins(each) for each in asked]}
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
        digest=digest_of(live.id, call_id, live.core.workspace, fingerprint),
        fingerprint=fingerprint,
        effect="question",
        status="pending",
        reason=Reason(Code.QUESTION),
        requested_at=live.parts.now(),
        asked_by=call.id,
    )
