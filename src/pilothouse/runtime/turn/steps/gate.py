"""gate: inspect and decide every call of the round: allow, ask or deny. Commit (b)."""

from dataclasses import replace

import msgspec

from pilothouse.domain.calls import CallRecord
from pilothouse.domain.codes import Code, Reason
from pilothouse.domain.decisions import Decision
from pilothouse.domain.modes import Mode, Verdict
from pilothouse.domain.value import CallId
from pilothouse.runtime.authorization.authorization import (
    EndStatus,
    decide_call,
    end_call,
    next_state,
    note_decision,
    start_calls,
)
from pilothouse.runtime.authorization.call_inspection import inspect_calls, is_always_denied
from pilothouse.runtime.authorization.policy_snapshot import current_snapshot, snapshot_for_commit
from pilothouse.runtime.context.draft import Draft
from pilothouse.runtime.context.live_context import LiveContext
from pilothouse.runtime.notices import error_message
from pilothouse.runtime.turn.round import Next, Round
from pilothouse.runtime.turn.turn import Turn
from pilothouse.sandbox.command_environment import CommandEnvironment

# A call that breaks one of these limits is denied. Any other limit is the model's mistake: the call has failed.
_DENIALS = frozenset(
    {Code.UNKNOWN_TOOL, Code.TOOL_DISABLED, Code.OUTSIDE_WORKSPACE, Code.PROTECTED_PATH, Code.CLEANS_DATA}
)


async def gate(turn: Turn, round_: Round) -> Next:
    live, request = turn.live, round_.calls
    assert request is not None
    snapshot = current_snapshot(live)
    denied = {call.id for call in request.calls if is_always_denied(live, call.tool, snapshot)}
    environment = live.files.environment
    records = await inspect_calls(live, request, environment, denied)
    decided = await _decide_round(turn, round_, records, environment, denied)
    if decided is None:  # the mode has changed: the calls that were skipped as denied need an inspection
        records = await inspect_calls(live, request, environment)
        decided = await _decide_round(turn, round_, records, environment, set())
    assert decided is not None
    return decided


async def _decide_round(
    turn: Turn, round_: Round, records: list[CallRecord], environment: CommandEnvironment, denied: set[CallId]
) -> Next | None:
    """Decide and commit all calls of a round, which were inspected in `environment`. `denied` are the calls that were
    not prepared, because the mode denied them. Returns None, with nothing changed, where the mode no longer denies one
    of them."""
    live = turn.live
    async with live.lock:
        draft = live.draft()
        draft.environment = environment  # a client may have given another one since the inspection
        snapshot = snapshot_for_commit(live, draft)
        if any(record.id in denied and not is_always_denied(live, record.tool, snapshot) for record in records):
            return None
        for record in records:
            draft.calls[record.id] = record
        limit_reason = _repeated_call_limit(turn, draft, records)
        decisions = {record.id: decide_call(record, snapshot) for record in records}
        for record in records:
            note_decision(draft, record, decisions[record.id], snapshot, "mode")
        metadata = msgspec.structs.replace(turn.metadata(round_), mode=snapshot.mode.name)
        denial = next((decision.reason for decision in decisions.values() if decision.ends_turn), None)
        if denial is not None:
            _deny_all(live, draft, records, decisions, snapshot.mode)
            return await turn.close_with_error(draft, error_message(live, denial, metadata), "denied")
        if limit_reason is not None:
            for record in records:
                end_call(draft, live, record.id, "cancelled", reason=Reason(Code.NOT_RUN))
            return await turn.close_with_error(draft, error_message(live, limit_reason, metadata), "limit")
        for record in records:
            _apply_decision(turn, draft, record, decisions[record.id])
        start_calls(live, draft)
        state = next_state(draft)
        await turn.commit(draft, state)
        return Next(state, replace(round_, answer=None, calls=None))


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


def _deny_all(
    live: LiveContext, draft: Draft, records: list[CallRecord], decisions: dict[CallId, Decision], mode: Mode
) -> None:
    """Deny the whole round, since the mode forbids one of its calls: no call starts, and each gets a result."""
    not_run = Reason(Code.ROUND_DENIED, {"mode": mode.name})
    for record in records:
        decision = decisions[record.id]
        reason = decision.reason if decision.verdict is Verdict.DENY else not_run
        end_call(draft, live, record.id, "denied", reason=reason)


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
