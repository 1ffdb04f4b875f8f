"""gate: every call of the round is looked at and decided: run, wait or deny. Commit (b)."""

import msgspec

from pilothouse.domain.calls import CallRecord
from pilothouse.domain.codes import Code, Reason
from pilothouse.domain.contexts import TurnEnd
from pilothouse.domain.decisions import Decision
from pilothouse.domain.messages import ToolRequest
from pilothouse.domain.modes import Verdict
from pilothouse.domain.states import SavingMessage, State
from pilothouse.domain.values import CallId
from pilothouse.runtime.deciding import decide_call, next_state, note_decision, start_calls
from pilothouse.runtime.draft import Draft
from pilothouse.runtime.looking import is_always_denied, look_at_all
from pilothouse.runtime.results import EndStatus, end_call
from pilothouse.runtime.standing import present, standing_of
from pilothouse.runtime.turn import Turn

# These limits deny a call. Any other is a mistake of the model: the call failed, nobody denied it.
_DENIALS = frozenset(
    {Code.UNKNOWN_TOOL, Code.TOOL_DISABLED, Code.OUTSIDE_WORKSPACE, Code.PROTECTED_PATH, Code.CLEANS_DATA}
)


async def gate(turn: Turn) -> State:
    live = turn.live
    request = turn.outbox[-1]
    assert isinstance(request, ToolRequest)
    standing = standing_of(live)
    denied = {call.id for call in request.calls if is_always_denied(live, call.tool, standing)}
    records = await look_at_all(live, request, denied)
    try:
        state = await _decide_round(turn, request, records, denied)
        if state is None:  # the mode has changed: the calls that it would have denied have to be prepared after all
            records = await look_at_all(live, request)
            state = await _decide_round(turn, request, records, set())
        assert state is not None
        return state
    except Exception:
        if live.unsaved is None and request not in turn.outbox:
            turn.outbox.append(request)  # a bug of ours must not lose what the model said
        raise


async def _decide_round(
    turn: Turn, request: ToolRequest, records: list[CallRecord], denied: set[CallId]
) -> State | None:
    """`denied` are the calls that were not prepared, because the mode denied them. None, with nothing changed, where
    the mode does not deny one of them any more."""
    live = turn.live
    async with live.lock:
        draft = live.draft()
        standing = present(live, draft)
        if any(record.id in denied and not is_always_denied(live, record.tool, standing) for record in records):
            return None
        turn.mode = standing.mode
        turn.outbox.remove(request)
        draft.append(request, turn.open.branch)
        for record in records:
            draft.calls[record.id] = record
        repeated = _repeated(turn, draft, records)
        decisions = {record.id: decide_call(record, standing) for record in records}
        for record in records:
            note_decision(draft, record, decisions[record.id], standing, "mode")
        if any(decision.wall for decision in decisions.values()):
            return _deny_round(turn, draft, records, decisions)
        if repeated is not None:
            return _stop_round(turn, draft, records, repeated)
        for record in records:
            _decide(turn, draft, record, decisions[record.id])
        start_calls(turn, draft)
        state = next_state(draft)
        await turn.commit(draft, state)
        return state


def _decide(turn: Turn, draft: Draft, record: CallRecord, decision: Decision) -> None:
    if decision.verdict is Verdict.DENY:
        mistaken = decision.reason == record.limit and decision.reason.code not in _DENIALS
        status: EndStatus = "failed" if mistaken else "denied"
        end_call(draft, turn.live, record.id, status, reason=decision.reason)
        return
    at = turn.parts.now()
    if decision.verdict is Verdict.RUN:
        draft.change_call(record.id, status="approved", reason=decision.reason, decided_at=at, decided_by="mode")
    else:
        draft.change_call(record.id, reason=decision.reason, waited=True)


def _deny_round(
    turn: Turn, draft: Draft, records: list[CallRecord], decisions: dict[CallId, Decision]
) -> SavingMessage:
    """The wall of the mode: no call of the round starts, each gets a result, one error says why."""
    not_run = Reason(Code.ROUND_DENIED, {"mode": turn.mode.name})
    walls = [decision.reason for decision in decisions.values() if decision.wall]
    for record in records:
        decision = decisions[record.id]
        reason = decision.reason if decision.verdict is Verdict.DENY else not_run
        end_call(draft, turn.live, record.id, "denied", reason=reason)
    return _end_turn(turn, draft, walls[0], "denied")


def _stop_round(turn: Turn, draft: Draft, records: list[CallRecord], reason: Reason) -> SavingMessage:
    for record in records:
        end_call(draft, turn.live, record.id, "cancelled", reason=Reason(Code.NOT_RUN))
    return _end_turn(turn, draft, reason, "limit")


def _end_turn(turn: Turn, draft: Draft, reason: Reason, end: TurnEnd) -> SavingMessage:
    """Everything goes into the one commit that closes the turn: the calls, their results, and why."""
    message = turn.error(reason)
    draft.append(message, turn.open.branch)
    turn.closing, turn.end = draft, end
    return SavingMessage(message_id=message.id)


def _repeated(turn: Turn, draft: Draft, records: list[CallRecord]) -> Reason | None:
    """Counts the same call with the same arguments in a row, across rounds."""
    last, count = turn.open.last_fingerprint, turn.open.repeats
    limit = turn.parts.limits.repeated_calls
    found = None
    for record in records:
        count = count + 1 if record.fingerprint == last else 1
        last = record.fingerprint
        if count >= limit and found is None:
            found = Reason(Code.LIMIT_REPEATED_CALL, {"tool": record.tool, "count": count})
    draft.core["turn"] = msgspec.structs.replace(turn.open, last_fingerprint=last, repeats=count)
    return found
