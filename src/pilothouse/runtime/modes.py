"""The command that switches the mode: every call that has not started is decided anew, in the same commit."""

from pilothouse.domain.calls import Status
from pilothouse.domain.codes import Code, Reason
from pilothouse.domain.messages import Metadata, SystemControl
from pilothouse.domain.modes import Verdict
from pilothouse.domain.values import CallId, MessageId, Value
from pilothouse.runtime.contexts import Contexts, turn_of
from pilothouse.runtime.deciding import after_decisions, can_start, decide_call, start_calls
from pilothouse.runtime.live import Draft, Live
from pilothouse.runtime.results import end_call


class ModeSwitch(Value):
    """What became of every call that had not started."""

    mode: str
    started: tuple[CallId, ...] = ()
    rejected: tuple[CallId, ...] = ()
    waiting: tuple[CallId, ...] = ()


async def switch_mode(contexts: Contexts, context_id: str, mode: str, *, by: str = "local") -> ModeSwitch:
    """When this returns, no call decided under the old mode will start.

    Raises: InvalidInput for an unknown mode, NotFound, StoreError; then nothing has changed.
    """
    chosen = contexts.parts.modes.named(mode)
    async with contexts.locked(context_id) as live:
        draft = live.draft()
        if chosen.name != live.core.mode:
            note_switch(draft, live, chosen.name, by)
        if live.core.turn is None:
            await live.commit(draft)
            return ModeSwitch(mode=chosen.name)
        not_started = [call.id for call in draft.round_calls() if call.status in ("pending", "approved")]
        _decide_anew(live, draft, chosen.name, by)
        turn = turn_of(live)
        starts = can_start(live)
        if starts:
            start_calls(turn, draft, mode=chosen)
        await live.commit(draft, after_decisions(turn, draft), then=lambda: contexts.drive(live))
        return _told(chosen.name, live, not_started, "approved" if starts else "executing")


def note_switch(draft: Draft, live: Live, mode: str, by: str) -> None:
    """Put a switch into a draft: the mode, the audit, and the entry in the conversation."""
    before = live.core.mode
    draft.core["mode"] = mode
    draft.note("mode_switched", by, source=before, target=mode)
    message = SystemControl(
        id=MessageId(live.parts.ambient.new_id()),
        timestamp=live.parts.now(),
        role="system",
        metadata=Metadata(mode=mode),
        kind="mode_switch",
        detail={"from": before, "to": mode, "by": by},
    )
    draft.append(message, live.core.active_branch if live.core.turn is None else live.core.turn.branch)


def _decide_anew(live: Live, draft: Draft, mode: str, by: str) -> None:
    chosen = live.parts.modes.named(mode)
    for call in draft.round_calls():
        if call.status not in ("pending", "approved"):
            continue
        decision = decide_call(call, chosen)
        draft.note(
            "call_decided",
            by,
            call=call.id,
            tool=call.tool,
            mode=mode,
            verdict=decision.verdict.name.lower(),
            reason=decision.reason,
            digest=call.digest,
        )
        at = live.parts.now()
        if decision.verdict is Verdict.DENY:
            reason = Reason(Code.REJECTED_BY_SWITCH, {"mode": mode})
            end_call(draft, live, call.id, "rejected", reason=reason, by=by)
        elif decision.verdict is Verdict.RUN:
            draft.change_call(call.id, status="approved", decided_at=at, decided_by=by, reason=decision.reason)
        else:
            draft.change_call(call.id, status="pending", approval=None, reason=decision.reason)


def _told(mode: str, live: Live, calls: list[CallId], starting: Status) -> ModeSwitch:
    found = {call_id: live.calls[call_id].status for call_id in calls}
    return ModeSwitch(
        mode=mode,
        started=tuple(call_id for call_id, status in found.items() if status in ("executing", starting)),
        rejected=tuple(call_id for call_id, status in found.items() if status == "rejected"),
        waiting=tuple(
            call_id for call_id, status in found.items() if status not in ("executing", starting, "rejected")
        ),
    )
