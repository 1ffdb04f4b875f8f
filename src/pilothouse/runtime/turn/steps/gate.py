"""gate: inspect and decide every call of the round: allow, ask or deny. Commit (b)."""

import msgspec

from pilothouse.domain.calls import CallRecord
from pilothouse.domain.codes import Code, Reason
from pilothouse.domain.contexts import TurnEnd
from pilothouse.domain.decisions import Decision
from pilothouse.domain.messages import ToolRequest
from pilothouse.domain.modes import Verdict
from pilothouse.domain.states import SavingMessage, State
from pilothouse.domain.value import CallId
from pilothouse.runtime.authorization.authorization import decide_call, next_state, note_decision, start_calls
from pilothouse.runtime.authorization.call_inspection import inspect_calls, is_always_denied
from pilothouse.runtime.authorization.policy_snapshot import current_snapshot, snapshot_for_commit
from pilothouse.runtime.authorization.results import EndStatus, end_call
from pilothouse.runtime.context.draft import Draft
from pilothouse.runtime.turn.turn import Turn

# A call that breaks one of these limits is denied. Any other limit is the model's mistake: the call has failed.
_DENIALS = frozenset(
    {Code.UNKNOWN_TOOL, Code.TOOL_DISABLED, Code.OUTSIDE_WORKSPACE, Code.PROTECTED_PATH, Code.CLEANS_DATA}
)


async def gate(turn: Turn) -> State:
    live = turn.live
    request = turn.outbox[-1]
    assert isinstance(request, ToolRequest)
    snapshot = current_snapshot(live)
    denied = {call.id for call in request.calls if is_always_denied(live, call.tool, snapshot)}
    records = await inspect_calls(live, request, denied)
    try:
        state = await _decide_round(turn, request, records, denied)
        if state is None:  # the mode has changed: the calls that were skipped as denied need an inspection
            records = await inspect_calls(live, request)
            state = await _decide_round(turn, request, records, set())
        assert state is not None
        return state
    except Exception:
        if live.unsaved is None and request not in turn.outbox:
            turn.outbox.append(request)  # a bug in the gate must not lose the model's message
        raise


async def _decide_round(
    turn: Turn, request: ToolRequest, records: list[CallRecord], denied: set[CallId]
) -> State | None:
    """Decide and commit all calls of a round. `denied` are the calls that were not prepared, because the mode denied
    them. Returns None, with nothing changed, where the mode no longer denies one of them."""
    live = turn.live
    async with live.lock:
        draft = live.draft()
        snapshot = snapshot_for_commit(live, draft)
        if any(record.id in denied and not is_always_denied(live, record.tool, snapshot) for record in records):
            return None
        turn.mode = snapshot.mode
        turn.outbox.remove(request)
        draft.append(request, turn.open.branch)
        for record in records:
            draft.calls[record.id] = record
        limit_reason = _repeated_call_limit(turn, draft, records)
        decisions = {record.id: decide_call(record, snapshot) for record in records}
        for record in records:
            note_decision(draft, record, decisions[record.id], snapshot, "mode")
        if any(decision.ends_turn for decision in decisions.values()):
            return _deny_round(turn, draft, records, decisions)
        if limit_reason is not None:
            return _stop_round(turn, draft, records, limit_reason)
        for record in records:
            _apply_decision(turn, draft, record, decisions[record.id])
        start_calls(turn, draft)
        state = next_state(draft)
        await turn.commit(draft, state)
        return state


def _apply_decision(turn: Turn, draft: Draft, record: CallRecord, decision: Decision) -> None:
    if decision.verdict is Verdict.DENY:
        is_mistake = decision.reason == record.violation and decision.reason.code not in _DENIALS
        status: EndStatus = "failed" if is_mistake else "denied"
        end_call(draft, turn.live, record.id, status, reason=decision.reason)
        return
    at = turn.dependencies.now()
    if decision.verdict is Verdict.ALLOW:
        draft.change_call(record.id, status="approved", reason=decision.reason, decided_at=at, decided_by="mode")
    else:
        draft.change_call(record.id, reason=decision.reason, waited=True)


def _deny_round(
    turn: Turn, draft: Draft, records: list[CallRecord], decisions: dict[CallId, Decision]
) -> SavingMessage:
    """Deny the whole round, since the mode forbids one of its calls: no call starts, each gets a result, and one error
    says why."""
    not_run = Reason(Code.ROUND_DENIED, {"mode": turn.mode.name})
    ending_reasons = [decision.reason for decision in decisions.values() if decision.ends_turn]
    for record in records:
        decision = decisions[record.id]
        reason = decision.reason if decision.verdict is Verdict.DENY else not_run
        end_call(draft, turn.live, record.id, "denied", reason=reason)
    return _end_turn(turn, draft, ending_reasons[0], "denied")


def _stop_round(turn: Turn, draft: Draft, records: list[CallRecord], reason: Reason) -> SavingMessage:
    for record in records:
        end_call(draft, turn.live, record.id, "cancelled", reason=Reason(Code.NOT_RUN))
    return _end_turn(turn, draft, reason, "limit")


def _end_turn(turn: Turn, draft: Draft, reason: Reason, end: TurnEnd) -> SavingMessage:
    """End the turn with the one commit that holds the calls, their results and the reason."""
    message = turn.error_message(reason)
    draft.append(message, turn.open.branch)
    turn.closing, turn.end = draft, end
    return SavingMessage(message_id=message.id)


def _repeated_call_limit(turn: Turn, draft: Draft, records: list[CallRecord]) -> Reason | None:
    """The reason to end the turn where the model repeats one call with the same arguments too often. Repetitions in a
    row count across rounds."""
    last_fingerprint, count = turn.open.last_fingerprint, turn.open.repeats
    limit = turn.dependencies.limits.repeated_calls
    reason = None
    for record in records:
        count = count + 1 if record.fingerprint == last_fingerprint else 1
        last_fingerprint = record.fingerprint
        if count >= limit and reason is None:
            reason = Reason(Code.LIMIT_REPEATED_CALL, {"tool": record.tool, "count": count})
    draft.core["turn"] = msgspec.structs.replace(turn.open, last_fingerprint=last_fingerprint, repeats=count)
    return reason
