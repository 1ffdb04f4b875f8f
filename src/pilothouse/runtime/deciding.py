"""What the gate and the person's commands share: deciding calls, starting them, and what comes next."""

from collections.abc import Callable, Collection

import msgspec

from pilothouse.domain.calls import CallRecord
from pilothouse.domain.codes import Code, Reason
from pilothouse.domain.decisions import CallFacts, Decision, Standing, decide, must_be_confined
from pilothouse.domain.errors import Conflict
from pilothouse.domain.modes import Verdict
from pilothouse.domain.states import (
    AwaitingToolApproval,
    AwaitingUserAnswer,
    CollectingToolResults,
    ExecutingTool,
    Paused,
    SavingMessage,
    State,
    name_of,
)
from pilothouse.runtime.draft import Draft
from pilothouse.runtime.live import Live
from pilothouse.runtime.results import EndStatus, end_call
from pilothouse.runtime.standing import present, use_elevation
from pilothouse.runtime.turn import Turn


def facts_of(call: CallRecord) -> CallFacts:
    return CallFacts(
        tool=call.tool,
        effect=call.effect,
        digest=call.digest,
        limit=call.limit,
        fingerprint=call.fingerprint,
        touches=call.touches,
        dangerous=call.dangerous,
        ask=call.ask,
        line=call.line,
    )


def decide_call(call: CallRecord, standing: Standing) -> Decision:
    return decide(facts_of(call), standing, call.approval)


def note_decision(draft: Draft, call: CallRecord, decision: Decision, standing: Standing, by: str) -> None:
    draft.note(
        "call_decided",
        by,
        call=call.id,
        tool=call.tool,
        mode=standing.modes,
        verdict=decision.verdict.name.lower(),
        reason=decision.reason,
        rule=decision.rule,
        digest=call.digest,
    )


def start_calls(turn: Turn, draft: Draft) -> None:
    """Turn decided calls into started ones: committing the draft starts them. The caller holds the lock.

    Read-only calls go together, mutating ones one after the other in the order asked. A call that reads waits for the
    changes that were asked for before it and may run, and a change waits for every call before it that may run: no call
    sees what a later one makes. A call that waits for the person holds nothing back. Each is decided once more by what
    stands at this instant; one that may no longer run waits for the person again, or is denied.
    """
    live = turn.live
    if live.paused_by is not None:
        return
    executing = [call for call in draft.round_calls() if call.status == "executing"]
    writes = sum(call.effect == "mutating" for call in executing)
    others = len(executing) - writes
    is_changing = has_unfinished = False
    for call in draft.round_calls():
        if call.status == "executing":
            has_unfinished = True
            is_changing = is_changing or call.effect == "mutating"
        if call.status != "approved":
            continue
        standing = present(live, draft)
        decision = decide_call(call, standing)
        if decision.verdict is Verdict.DENY:
            end_call(draft, live, call.id, "denied", reason=decision.reason)
            continue
        if decision.verdict is Verdict.WAIT:
            undecided = {"approval": None, "decided_at": None, "decided_by": None}
            draft.change_call(call.id, status="pending", reason=decision.reason, waited=True, **undecided)
            continue
        has_earlier, has_unfinished = has_unfinished, True
        if call.effect == "mutating":
            is_changing = True
            if writes or has_earlier:
                continue
            writes += 1
        elif is_changing or others >= turn.parts.limits.parallel_reads:
            continue
        else:
            others += 1
        _start(turn, draft, call, decision, standing)


def _start(turn: Turn, draft: Draft, call: CallRecord, decision: Decision, standing: Standing) -> None:
    # Reading by itself is left to a command only where it can do nothing else.
    can_be = call.line is not None or call.effect == "mutating"
    confined = can_be and must_be_confined(facts_of(call), standing, call.approval)
    draft.change_call(call.id, status="executing", started_at=turn.parts.now(), confined=confined)
    draft.note(
        "call_started",
        "runtime",
        call=call.id,
        tool=call.tool,
        mode=standing.modes,
        reason=decision.reason,
        rule=decision.rule,
        digest=call.digest,
    )
    if decision.elevated:
        use_elevation(turn.live, draft)


Opener = Callable[[CallRecord, Decision], bool]


def anything(_: CallRecord, __: Decision) -> bool:
    return True


def nothing(_: CallRecord, __: Decision) -> bool:
    return False


def only_shown(opens: Opener, shown: Collection[str] | None) -> Opener:
    """Of what a change opens, only the calls whose digest is in `shown`: those that the person has read. None: all."""
    if shown is None:
        return opens
    digests = frozenset(shown)
    return lambda call, decision: call.digest in digests and opens(call, decision)


def decide_anew(live: Live, draft: Draft, by: str, *, opens: Opener = anything, denial: Reason | None = None) -> None:
    """Every call that has not started is decided by what now stands: run, wait, or not to run (rejected, for
    `denial`, or denied).

    What waits for the person starts only where this very change opens it (`opens`): a call that was left to them after
    a crash is not theirs decided by something else that they do.
    """
    standing = present(live, draft)
    elevation = draft.value("elevation")
    left = elevation.calls_left if elevation is not None else None
    for call in draft.round_calls():
        if call.status not in ("pending", "approved"):
            continue
        decision = decide_call(call, msgspec.structs.replace(standing, elevated=standing.elevated and left != 0))
        waits = decision.verdict is Verdict.WAIT and decision.reason == call.reason
        stays = decision.verdict is Verdict.RUN and not opens(call, decision)
        if call.status == "pending" and (waits or stays):
            continue
        left = left - 1 if left and decision.elevated else left
        note_decision(draft, call, decision, standing, by)
        at = live.parts.now()
        if decision.verdict is Verdict.DENY:
            status: EndStatus = "rejected" if denial is not None else "denied"
            end_call(draft, live, call.id, status, reason=denial or decision.reason, by=by)
        elif decision.verdict is Verdict.RUN:
            draft.change_call(call.id, status="approved", decided_at=at, decided_by=by, reason=decision.reason)
        else:
            draft.change_call(call.id, status="pending", approval=None, reason=decision.reason, waited=True)


def note_approved_round(draft: Draft) -> None:
    """A person has decided: what counts the rounds that ran by themselves begins anew."""
    turn = draft.value("turn")
    if turn is not None:
        draft.core["turn"] = msgspec.structs.replace(turn, decided_round=turn.round)


def next_state(draft: Draft) -> State:
    """Where a round stands, told from its calls alone, and from whether the person has paused the turn."""
    calls = draft.round_calls()
    executing = [call for call in calls if call.status == "executing"]
    if executing:
        return executing_state(calls)
    by = draft.live.paused_by
    if by is not None and any(call.is_open for call in calls):
        draft.note("turn_paused", by)
        return Paused(resume_to=name_of(ExecutingTool))
    pending = [call for call in calls if call.status == "pending" and not call.is_question]
    if pending:
        return AwaitingToolApproval(
            pending_requests=tuple(call.id for call in pending), tool_names=tuple(call.tool for call in pending)
        )
    questions = [call for call in calls if call.status == "pending"]
    if questions:
        return AwaitingUserAnswer(question_ids=tuple(call.id for call in questions))
    return CollectingToolResults()


def after_decisions(live: Live, draft: Draft) -> State | None:
    """Where a resting round goes after a person's decisions; None where its driver, or who resumes it, will find out.

    With every call rejected and no word why, the turn ends.
    """
    if not isinstance(live.state, AwaitingToolApproval | AwaitingUserAnswer):
        return None
    return after_a_rest(draft)


def after_a_rest(draft: Draft) -> State:
    calls = draft.round_calls()
    if calls and all(_rejected_without_reason(call) for call in calls):
        return SavingMessage()
    return next_state(draft)


def check_decidable(live: Live) -> None:
    """Raises: Conflict where a decision could never start anything."""
    if not _is_decidable(live):
        raise Conflict(Code.TURN_ACTIVE, state=name_of(live.state))


def _is_decidable(live: Live) -> bool:
    turn = live.turn
    ending = turn is not None and (turn.cancelled_by is not None or turn.is_keeping)
    on_calls = isinstance(live.state, AwaitingToolApproval | AwaitingUserAnswer | ExecutingTool | Paused)
    return on_calls and not ending and live.unsaved is None


def can_start(live: Live) -> bool:
    """Whether a call that a command starts now would run. A paused turn records what is decided and starts nothing."""
    return _is_decidable(live) and live.paused_by is None and not isinstance(live.state, Paused)


def _rejected_without_reason(call: CallRecord) -> bool:
    return call.status == "rejected" and not (call.reason is not None and call.reason.params.get("reason"))


def executing_state(calls: list[CallRecord]) -> ExecutingTool:
    executing = [call for call in calls if call.status == "executing"]
    return ExecutingTool(
        tool_name=executing[0].tool,
        running=len(executing),
        done=sum(not call.is_open for call in calls),
        total=len(calls),
    )
