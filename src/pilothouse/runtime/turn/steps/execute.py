"""execute and collect: run every started call to its one result, and begin the next round. Commit (c): results together
with the starts of the next calls."""

import asyncio
import itertools
from collections.abc import Collection

import msgspec

from pilothouse.domain.calls import CallRecord
from pilothouse.domain.codes import Code, Reason
from pilothouse.domain.errors import PilothouseError, StoreError, tool_failure
from pilothouse.domain.modes import Verdict
from pilothouse.domain.states import (
    CollectingToolResults,
    EnhancingSystemPrompt,
    ExecutingTool,
    Paused,
    ProcessingToolResults,
    SavingMessage,
    State,
    ToolAutoLoop,
)
from pilothouse.domain.value import CallId
from pilothouse.i18n import translate
from pilothouse.runtime.authorization.authorization import (
    decide_call,
    end_call,
    executing_state,
    next_state,
    start_calls,
)
from pilothouse.runtime.authorization.call_inspection import prepare
from pilothouse.runtime.authorization.policy_snapshot import current_snapshot
from pilothouse.runtime.context.draft import Draft
from pilothouse.runtime.request.conversation import read_conversation
from pilothouse.runtime.turn.elicitation import elicit
from pilothouse.runtime.turn.round import Next, Round
from pilothouse.runtime.turn.turn import LiveOutput, Turn
from pilothouse.tools.base import ToolContext, parse_arguments
from pilothouse.tools.executor import Outcome, failed_outcome
from pilothouse.tools.executor import execute as execute_tool

_CANCEL_TIMEOUT_SECONDS = 0.8

Running = dict[CallId, asyncio.Task[tuple[Outcome, int]]]
"""By call: the task that runs it, and gives the outcome and the duration in milliseconds."""


async def execute(turn: Turn, round_: Round) -> Next:
    """Run the calls that are marked as executing, also those that a command marks while others run."""
    running: Running = {}
    retried: set[CallId] = set()
    try:
        while True:
            turn.clock.update_delegation()
            turn.work_available.clear()
            for call in turn.live.draft().round_calls():
                if call.status == "executing" and call.id not in running:
                    running[call.id] = asyncio.create_task(_run(turn, round_, call, retried))
            await _wait_for_change(turn, running)
            state = await _commit_results(turn, running, retried)
            turn.clock.update_delegation()
            if not isinstance(state, ExecutingTool):
                return Next(state, round_)
    except StoreError:
        await _retain_results(turn, running)
        raise
    finally:
        await _cancel_all(running)


async def _commit_results(turn: Turn, running: Running, retried: Collection[CallId]) -> State:
    """Commit the results of ended calls together with the starts of the next ones."""
    live = turn.live
    async with live.lock:
        draft = live.draft()
        for call_id in [call_id for call_id, task in running.items() if task.done()]:
            _end_call(turn, draft, call_id, running.pop(call_id))
        start_calls(live, draft)
        state = next_state(draft, retried)
        if draft.calls or isinstance(state, Paused | CollectingToolResults):
            await turn.commit(draft, state)
        else:
            turn.live.enter(state)
        return state


async def _retain_results(turn: Turn, running: Running) -> None:
    """After the store refused: let running calls finish and retain their results in memory with the refused draft.
    Until that draft is stored, no call can be decided, since no driver would start the call. A turn that was cancelled
    during the refused commit waits for no call."""
    turn.is_retaining_results = True
    task = asyncio.current_task()
    is_cancelled = turn.cancelled_by is not None or (task is not None and task.cancelling() > 0)
    if running and not is_cancelled:
        await asyncio.wait(running.values())
    async with turn.live.lock:
        draft = turn.live.draft()
        for call_id in [call_id for call_id, task in running.items() if task.done()]:
            _end_call(turn, draft, call_id, running.pop(call_id))
        turn.live.pending.refused = draft


async def _wait_for_change(turn: Turn, running: Running) -> None:
    """Wait until a call has ended, or a command has started another one."""
    wake_up = asyncio.ensure_future(turn.work_available.wait())
    try:
        await asyncio.wait({wake_up, *running.values()}, return_when=asyncio.FIRST_COMPLETED)
    finally:
        wake_up.cancel()


async def _run(turn: Turn, round_: Round, call: CallRecord, retried: set[CallId]) -> tuple[Outcome, int]:
    started_at = turn.dependencies.ambient.monotonic()
    live_output = turn.live_outputs[call.id] = LiveOutput(turn.live, call)
    try:
        outcome = await _outcome(turn, round_, call)
        if outcome.is_connection_lost and _may_retry(turn, call):
            retried.add(call.id)
            turn.live.enter(executing_state(turn.live.draft().round_calls(), retried))
            outcome = await _outcome(turn, round_, call)
    finally:
        live_output.close()
        turn.live_outputs.pop(call.id, None)
    return outcome, round((turn.dependencies.ambient.monotonic() - started_at) * 1000)


def _may_retry(turn: Turn, call: CallRecord) -> bool:
    """Whether a call whose connection was lost is tried again, once: only a call that reads, and only where the present
    policy still allows it."""
    is_allowed = decide_call(call, current_snapshot(turn.live)).verdict is Verdict.ALLOW
    return call.effect == "read_only" and is_allowed and isinstance(turn.live.state, ExecutingTool)


async def _outcome(turn: Turn, round_: Round, call: CallRecord) -> Outcome:
    live = turn.live
    tool = turn.dependencies.registry.find(call.tool, live.core.workspace)
    if tool is None:
        return failed_outcome(
            Reason(Code.UNKNOWN_TOOL, {"tool": call.tool, "allowed": ", ".join(turn.dependencies.registry.tools)})
        )
    try:
        arguments = parse_arguments(call.tool, tool.parameters, call.arguments)
        # Nobody saw a call that a rule or the mode allowed: a command treats that call's writes as foreign changes.
        earlier = _executed_before(turn, call)
        context = ToolContext(
            call_id=call.id,
            workspace=live.files.workspace(live.files.environment_of(call.id)),
            content_hash=_expected_content_hash(call),
            # A sub-agent may wait for the person. The time limit applies to the sub-agent's own calls.
            seconds=None if call.effect == "delegating" else turn.dependencies.limits.call_seconds,
            delegate=lambda task, mode: live.services.delegate(live, task, mode),
            ask=lambda questions: elicit(live, call, questions),
            confined=call.confined,
            report_output=turn.live_outputs[call.id].add,
            artifacts=live.files.artifacts,
            shown_before=frozenset(other.id for other in earlier if _was_shown(other)),
            executed_before=frozenset(other.id for other in earlier),
            conversation=lambda messages, characters: read_conversation(live, turn.open.branch, messages, characters),
            add_remark=lambda reason: live.pending.messages.append(turn.progress_notice(reason, round_)),
        )
    except PilothouseError as error:
        return failed_outcome(error.reason)
    if await _has_changed_reach(turn, call):
        return failed_outcome(Reason(Code.REACH_CHANGED, {"tool": call.tool}))
    return await execute_tool(tool, arguments, context)


def _expected_content_hash(call: CallRecord) -> str | None:
    """The content hash that a call is checked against. A command that no person saw has none: such a command may run
    files that an earlier call of the round has written."""
    is_command = call.command_line is not None
    return None if is_command and not _was_shown(call) else call.content_hash


def _was_shown(call: CallRecord) -> bool:
    return call.waited or call.approval is not None


def _executed_before(turn: Turn, call: CallRecord) -> list[CallRecord]:
    """The executed calls of the round that the model requested before this one."""
    earlier = itertools.takewhile(lambda other: other.id != call.id, turn.live.draft().round_calls())
    return [other for other in earlier if other.status == "executed"]


async def _has_changed_reach(turn: Turn, call: CallRecord) -> bool:
    """Whether a call would now touch other paths than the decided ones: links may have changed since the inspection."""
    if call.touches and call.ask is None and call.effect == "mutating":
        workspace = turn.live.files.workspace()
        reasons = await asyncio.to_thread(lambda: [workspace.approval_reason(path) for path in call.touches or ()])
        if any(reason is not None and reason.code is Code.RUNS_CODE for reason in reasons):
            return True
    if call.touches is None or not current_snapshot(turn.live).depends_on_folders:
        return False
    preview = await prepare(turn.live, call.tool, call.arguments, turn.live.files.environment_of(call.id))
    return preview.violation is None and preview.touches != call.touches


def _end_call(turn: Turn, draft: Draft, call_id: CallId, task: asyncio.Task[tuple[Outcome, int]]) -> None:
    call = draft.call(call_id)
    if task.cancelled():  # not by this step: results are not read after its own cancellations
        outcome, duration_ms = failed_outcome(tool_failure(call.tool, "the tool cancelled itself")), 0
    else:
        outcome, duration_ms = task.result()
    content = outcome.content
    if call.edited:
        arguments = msgspec.json.encode(call.arguments).decode()
        notice = translate(Reason(Code.ARGUMENTS_EDITED, {"arguments": arguments}))
        content = f"{notice}\n{content}"
    end_call(
        draft,
        turn.live,
        call_id,
        outcome.status,
        content=content,
        reason=outcome.error,
        duration_ms=duration_ms,
        exit_status=outcome.exit_status,
    )
    for question in draft.round_calls():
        if question.asked_by == call_id and question.is_open:  # the call has ended: nothing waits for the answer
            end_call(draft, turn.live, question.id, "cancelled", reason=Reason(Code.NOT_RUN))


async def _cancel_all(running: Running) -> None:
    """Cancel all running calls. A tool that ignores the cancellation is abandoned after the timeout, since the person's
    cancel must not wait for it."""
    for task in running.values():
        task.cancel()
    if running:
        await asyncio.wait(running.values(), timeout=_CANCEL_TIMEOUT_SECONDS)


async def collect(turn: Turn, round_: Round) -> Next:
    """Begin the next round, unless the limit of rounds is reached. The last result's commit counted the round. A turn
    of proposed calls ends here."""
    turn.live.enter(ProcessingToolResults())
    turn.live.enter(ToolAutoLoop(depth=turn.open.round - 1, tools_executed=turn.open.tools_executed))
    if turn.open.origin is not None:
        *_, last_result = (call.result_id for call in turn.live.calls.values() if call.result_id is not None)
        return Next(SavingMessage(message_id=last_result))
    limit = turn.dependencies.limits.rounds
    if turn.open.round > limit:
        return turn.give_up(Reason(Code.LIMIT_ROUNDS, {"limit": limit}), round_, "limit")
    return Next(EnhancingSystemPrompt())
