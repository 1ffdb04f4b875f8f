"""Authorization: deciding, starting and ending calls, and the state that follows, for the gate, the other steps and the
person's commands."""

from collections.abc import Callable, Collection, Sequence
from typing import Literal

import msgspec

from pilothouse.domain.calls import CallRecord
from pilothouse.domain.codes import Code, Reason
from pilothouse.domain.contexts import OpenTurn
from pilothouse.domain.decisions import CallFacts, Decision, PolicySnapshot, decide, must_be_confined
from pilothouse.domain.errors import Conflict
from pilothouse.domain.messages import ToolResult
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
from pilothouse.domain.value import CallId, MessageId
from pilothouse.i18n import translate
from pilothouse.runtime.authorization.policy_snapshot import snapshot_for_commit, use_elevation
from pilothouse.runtime.context.draft import Draft
from pilothouse.runtime.context.live_context import LiveContext
from pilothouse.runtime.notices import present_metadata

MAX_UNDONE_PATHS_LISTED = 50
EndStatus = Literal["executed", "failed", "rejected", "denied", "cancelled", "interrupted"]


def facts_of(call: CallRecord) -> CallFacts:
    return CallFacts(
        tool=call.tool,
        effect=call.effect,
        digest=call.digest,
        violation=call.violation,
        fingerprint=call.fingerprint,
        touches=call.touches,
        dangerous=call.dangerous,
        ask=call.ask,
        command_line=call.command_line,
    )


def decide_call(call: CallRecord, snapshot: PolicySnapshot) -> Decision:
    return decide(facts_of(call), snapshot, call.approval)


def note_decision(draft: Draft, call: CallRecord, decision: Decision, snapshot: PolicySnapshot, by: str) -> None:
    draft.note(
        "call_decided",
        by,
        call=call.id,
        tool=call.tool,
        mode=snapshot.modes,
        verdict=decision.verdict.audit_word,  # stored as run, wait or deny, never by the verdict's own name
        reason=decision.reason,
        rule=decision.rule,
        digest=call.digest,
    )


def start_calls(live: LiveContext, draft: Draft) -> None:
    """Mark approved calls as executing in a draft. The caller holds the lock.

    Committing a call as `executing` is its start: the driver finds the call there and runs it.

    Read-only calls run concurrently, mutating calls one after the other in the order of the request. A read-only call
    waits for earlier mutating calls that may run, and a mutating call waits for every earlier call that may run, so
    that no call sees the changes of a later one. A call that waits for the person holds no other call back. Each call
    is decided again by the present policy; a call that may no longer run is pending again, or denied.
    """
    if live.paused_by is not None:
        return
    executing = [call for call in draft.round_calls() if call.status == "executing"]
    running_writes = sum(call.effect == "mutating" for call in executing)
    running_reads = len(executing) - running_writes
    has_unfinished_write = has_unfinished_call = False
    for call in draft.round_calls():
        if call.status == "executing":
            has_unfinished_call = True
            has_unfinished_write = has_unfinished_write or call.effect == "mutating"
        if call.status != "approved":
            continue
        snapshot = snapshot_for_commit(live, draft)
        decision = decide_call(call, snapshot)
        if decision.verdict is Verdict.DENY:
            end_call(draft, live, call.id, "denied", reason=decision.reason)
            continue
        if decision.verdict is Verdict.ASK:
            draft.undecide_call(call.id, reason=decision.reason)
            continue
        has_earlier_call, has_unfinished_call = has_unfinished_call, True
        if call.effect == "mutating":
            has_unfinished_write = True
            if running_writes or has_earlier_call:
                continue
            running_writes += 1
        elif has_unfinished_write or running_reads >= live.dependencies.limits.parallel_reads:
            continue
        else:
            running_reads += 1
        _start(live, draft, call, decision, snapshot)


def _start(live: LiveContext, draft: Draft, call: CallRecord, decision: Decision, snapshot: PolicySnapshot) -> None:
    # A command that runs without approval, since it only reads, is confined to reading by the kernel as well.
    is_confinable = call.command_line is not None or call.effect == "mutating"
    confined = is_confinable and must_be_confined(facts_of(call), snapshot, call.approval)
    draft.change_call(call.id, status="executing", started_at=live.dependencies.now(), confined=confined)
    draft.note(
        "call_started",
        "runtime",
        call=call.id,
        tool=call.tool,
        mode=snapshot.modes,
        reason=decision.reason,
        rule=decision.rule,
        digest=call.digest,
    )
    if decision.elevated:
        use_elevation(live, draft)


ReleaseFilter = Callable[[CallRecord, Decision], bool]
"""Whether a change of policy may start a pending call that it now allows."""


def release_all(_: CallRecord, __: Decision) -> bool:
    return True


def release_none(_: CallRecord, __: Decision) -> bool:
    return False


def release_shown(releases: ReleaseFilter, shown_digests: Collection[str] | None) -> ReleaseFilter:
    """A filter that releases only calls whose digest the person has seen; with None, all that `releases` accepts."""
    if shown_digests is None:
        return releases
    digests = frozenset(shown_digests)
    return lambda call, decision: call.digest in digests and releases(call, decision)


def redecide_pending(
    live: LiveContext, draft: Draft, by: str, *, releases: ReleaseFilter = release_all, denial: Reason | None = None
) -> None:
    """Decide every call that has not started again, by the policy as of the commit: allow, ask or deny. A denied call
    counts as rejected by the person, with `denial` as the reason, where a `denial` is given.

    A pending call starts only where this change releases it (`releases`): a call that waits for the person, for example
    after a crash, must not start as a side effect of another action.
    """
    snapshot = snapshot_for_commit(live, draft)
    elevation = draft.value("elevation")
    calls_left = elevation.calls_left if elevation is not None else None
    for call in draft.round_calls():
        if call.status not in ("pending", "approved"):
            continue
        decision = decide_call(call, msgspec.structs.replace(snapshot, elevated=snapshot.elevated and calls_left != 0))
        keeps_waiting = decision.verdict is Verdict.ASK and decision.reason == call.reason
        is_withheld = decision.verdict is Verdict.ALLOW and not releases(call, decision)
        if call.status == "pending" and (keeps_waiting or is_withheld):
            continue
        calls_left = calls_left - 1 if calls_left and decision.elevated else calls_left
        note_decision(draft, call, decision, snapshot, by)
        at = live.dependencies.now()
        if decision.verdict is Verdict.DENY:
            status: EndStatus = "rejected" if denial is not None else "denied"
            end_call(draft, live, call.id, status, reason=denial or decision.reason, by=by)
        elif decision.verdict is Verdict.ALLOW:
            draft.change_call(call.id, status="approved", decided_at=at, decided_by=by, reason=decision.reason)
        else:
            draft.undecide_call(call.id, reason=decision.reason)


def restart_round_count(draft: Draft) -> None:
    """Restart the count of rounds in which no person has decided a call."""
    turn = draft.value("turn")
    if turn is not None:
        draft.core["turn"] = msgspec.structs.replace(turn, decided_round=turn.round)


def next_state(draft: Draft, retried: Collection[CallId] = ()) -> State:
    """The state that follows from a round's calls, and from whether the person has paused the turn. A draft that ends
    the round's last call also counts the round. `retried` are running calls that are tried again."""
    calls = draft.round_calls()
    if any(call.status == "executing" for call in calls):
        return executing_state(calls, retried)
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
    _count_round(draft, calls)
    return CollectingToolResults()


def _count_round(draft: Draft, calls: Sequence[CallRecord]) -> None:
    turn: OpenTurn = draft.value("turn")
    executed = sum(call.status in ("executed", "failed") for call in calls)
    draft.core["turn"] = msgspec.structs.replace(
        turn, round=turn.round + 1, tools_executed=turn.tools_executed + executed
    )


def state_after_decisions(live: LiveContext, draft: Draft) -> State | None:
    """The next state of a round that rests on its calls. None for any other state: the driver, or `resume`, then
    chooses the state.

    A turn whose calls were all rejected without a reason ends.
    """
    if not isinstance(live.state, AwaitingToolApproval | AwaitingUserAnswer):
        return None
    return state_after_rest(draft)


def state_after_rest(draft: Draft) -> State:
    calls = draft.round_calls()
    if calls and all(_rejected_without_reason(call) for call in calls):
        return SavingMessage()
    return next_state(draft)


def check_decidable(live: LiveContext) -> None:
    """Raises: Conflict where a decision could not start a call, now or later."""
    if not _is_decidable(live):
        raise Conflict(Code.TURN_ACTIVE, state=name_of(live.state))


def _is_decidable(live: LiveContext) -> bool:
    turn = live.turn
    is_ending = turn is not None and (turn.cancelled_by is not None or turn.is_retaining_results)
    is_on_calls = isinstance(live.state, AwaitingToolApproval | AwaitingUserAnswer | ExecutingTool | Paused)
    return is_on_calls and not is_ending and live.pending.refused is None


def can_start(live: LiveContext) -> bool:
    """Whether a call that a command starts now would run. A paused turn records decisions and starts no call."""
    return _is_decidable(live) and live.paused_by is None and not isinstance(live.state, Paused)


def _rejected_without_reason(call: CallRecord) -> bool:
    return call.status == "rejected" and not (call.reason is not None and call.reason.params.get("reason"))


def executing_state(calls: list[CallRecord], retried: Collection[CallId] = ()) -> ExecutingTool:
    """The state while calls run. A call that is tried again is the one that the state names."""
    executing = [call for call in calls if call.status == "executing"]
    tried_again = [call for call in executing if call.id in retried]
    return ExecutingTool(
        tool_name=(tried_again or executing)[0].tool,
        attempt=2 if tried_again else 1,
        running=len(executing),
        done=sum(not call.is_open for call in calls),
        total=len(calls),
    )


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
