"""What the gate, the person's commands and a mode switch share: deciding calls, starting them, what comes next."""

from pilothouse.domain.calls import CallRecord
from pilothouse.domain.codes import Code
from pilothouse.domain.decisions import CallFacts, Decision, decide
from pilothouse.domain.errors import Conflict
from pilothouse.domain.modes import Mode, Verdict
from pilothouse.domain.states import (
    AwaitingToolApproval,
    AwaitingUserAnswer,
    CollectingToolResults,
    ExecutingTool,
    SavingMessage,
    State,
    name_of,
)
from pilothouse.runtime.live import Draft, Live
from pilothouse.runtime.turn import Turn


def decide_call(call: CallRecord, mode: Mode) -> Decision:
    facts = CallFacts(tool=call.tool, effect=call.effect, digest=call.digest, limit=call.limit)
    return decide(facts, mode=mode, approval=call.approval)


def start_calls(turn: Turn, draft: Draft, *, mode: Mode | None = None) -> None:
    """Turn decided calls into started ones: committing the draft starts them. The caller holds the lock.

    Read-only calls go together, mutating ones one after the other in the order asked. Each is decided once
    more by the mode of this instant; one that may no longer run waits for the person again.
    """
    live = turn.live
    mode = mode or turn.parts.modes.named(live.core.mode)
    executing = [call for call in draft.round_calls() if call.status == "executing"]
    reads = sum(call.effect == "read_only" for call in executing)
    writes = len(executing) - reads
    for call in draft.round_calls():
        if call.status != "approved":
            continue
        decision = decide_call(call, mode)
        if decision.verdict is not Verdict.RUN:
            draft.change_call(call.id, status="pending", approval=None, decided_at=None, decided_by=None)
            continue
        if call.effect == "read_only" and reads < turn.parts.limits.parallel_reads:
            reads += 1
        elif call.effect != "read_only" and writes == 0:
            writes += 1
        else:
            continue
        draft.change_call(call.id, status="executing", started_at=turn.parts.now())
        draft.note("call_started", "runtime", call=call.id, tool=call.tool, mode=mode.name, digest=call.digest)


def next_state(draft: Draft) -> State:
    """Where a round stands, told from its calls alone."""
    calls = draft.round_calls()
    executing = [call for call in calls if call.status == "executing"]
    if executing:
        return executing_state(calls)
    pending = [call for call in calls if call.status == "pending" and not call.is_question]
    if pending:
        return AwaitingToolApproval(
            pending_requests=tuple(call.id for call in pending), tool_names=tuple(call.tool for call in pending)
        )
    questions = [call for call in calls if call.status == "pending"]
    if questions:
        return AwaitingUserAnswer(question_ids=tuple(call.id for call in questions))
    return CollectingToolResults()


def after_decisions(turn: Turn, draft: Draft) -> State | None:
    """Where a resting round goes after a person's decisions; None where its driver will find out by itself.

    With every call rejected and no word why, the turn ends.
    """
    if not isinstance(turn.live.state, AwaitingToolApproval | AwaitingUserAnswer):
        return None
    calls = draft.round_calls()
    if calls and all(_rejected_without_reason(call) for call in calls):
        return SavingMessage()
    return next_state(draft)


def check_decidable(live: Live) -> None:
    """Raises: Conflict where a decision could start nothing."""
    if not can_start(live):
        raise Conflict(Code.TURN_ACTIVE, state=name_of(live.state))


def can_start(live: Live) -> bool:
    """Whether a call that is started now would run."""
    cancelled = live.turn is not None and live.turn.cancelled_by is not None
    on_calls = isinstance(live.state, AwaitingToolApproval | AwaitingUserAnswer | ExecutingTool)
    return on_calls and not cancelled and live.unsaved is None


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
