"""execute: what has started runs to its end, one result each. Commit (c), with the starts of what comes next."""

import asyncio
import itertools

import msgspec

from pilothouse.domain.calls import CallRecord
from pilothouse.domain.codes import Code, Reason, say
from pilothouse.domain.errors import PilothouseError, StoreError
from pilothouse.domain.states import ExecutingTool, Paused, State
from pilothouse.domain.values import CallId
from pilothouse.runtime.asking import ask_person
from pilothouse.runtime.deciding import next_state, start_calls
from pilothouse.runtime.draft import Draft
from pilothouse.runtime.looking import prepare
from pilothouse.runtime.printing import Printed
from pilothouse.runtime.results import end_call
from pilothouse.runtime.standing import standing_of
from pilothouse.runtime.turn import Turn
from pilothouse.tools.base import Job, parse_arguments
from pilothouse.tools.executor import Outcome, failed
from pilothouse.tools.executor import execute as execute_tool

_CANCEL_SECONDS = 0.8

Running = dict[CallId, asyncio.Task[tuple[Outcome, int]]]


async def execute(turn: Turn) -> State:
    running: Running = {}
    try:
        while True:
            turn.follow_delegation()
            turn.live.wake.clear()
            for call in turn.live.draft().round_calls():
                if call.status == "executing" and call.id not in running:
                    running[call.id] = asyncio.create_task(_run(turn, call))
            await _something_happens(turn, running)
            state = await _take_results(turn, running)
            turn.follow_delegation()
            if not isinstance(state, ExecutingTool):
                return state
    except StoreError:
        await _keep_results(turn, running)
        raise
    finally:
        await _end_all(running)


async def _take_results(turn: Turn, running: Running) -> State:
    """Commit what has ended together with the starts of what comes next."""
    live = turn.live
    async with live.lock:
        draft = live.draft()
        for call_id in [call_id for call_id, task in running.items() if task.done()]:
            _end(turn, draft, call_id, running.pop(call_id))
        start_calls(turn, draft)
        state = next_state(draft)
        if draft.calls or isinstance(state, Paused):
            await turn.commit(draft, state)
        else:
            turn.enter(state)
        return state


async def _keep_results(turn: Turn, running: Running) -> None:
    """The store refuses: what still runs may finish, and its results are kept in memory with the others. Meanwhile
    nothing can be decided: nobody would start it."""
    turn.is_keeping = True
    if running:
        await asyncio.wait(running.values())
    async with turn.live.lock:
        kept = turn.live.draft()
        for call_id in list(running):
            _end(turn, kept, call_id, running.pop(call_id))
        turn.live.unsaved = kept


async def _something_happens(turn: Turn, running: Running) -> None:
    """A call has ended, or a command has started another one."""
    woken = asyncio.ensure_future(turn.live.wake.wait())
    try:
        await asyncio.wait({woken, *running.values()}, return_when=asyncio.FIRST_COMPLETED)
    finally:
        woken.cancel()


async def _run(turn: Turn, call: CallRecord) -> tuple[Outcome, int]:
    began = turn.parts.ambient.monotonic()
    printed = turn.live.printed[call.id] = Printed(turn.live, call)
    try:
        outcome = await _outcome(turn, call)
    finally:
        printed.close()
        turn.live.printed.pop(call.id, None)
    return outcome, round((turn.parts.ambient.monotonic() - began) * 1000)


async def _outcome(turn: Turn, call: CallRecord) -> Outcome:
    live = turn.live
    tool = turn.parts.registry.find(call.tool, live.core.workspace)
    if tool is None:
        return failed(Reason(Code.UNKNOWN_TOOL, {"tool": call.tool, "allowed": ", ".join(turn.parts.registry.tools)}))
    try:
        arguments = parse_arguments(call.tool, tool.parameters, call.arguments)
        # A call that a rule or the mode let run was shown to nobody: a command takes its writes for foreign changes.
        earlier = _executed_before(turn, call)
        job = Job(
            call_id=call.id,
            workspace=live.workspace(),
            basis=_basis(call),
            # A sub-agent may wait for the person: its own calls have their limits.
            seconds=None if call.effect == "delegating" else turn.parts.limits.call_seconds,
            delegate=lambda task, mode: live.home.delegate(live, task, mode),
            ask=lambda asked: ask_person(live, call, asked),
            confined=call.confined,
            tell=live.printed[call.id].add,
            artifacts=live.artifacts,
            shown_before=frozenset(other.id for other in earlier if _was_shown(other)),
            executed_before=frozenset(other.id for other in earlier),
            remark=lambda reason: turn.outbox.append(turn.remark(reason)),
        )
    except PilothouseError as error:
        return failed(error.reason)
    if await _reaches_elsewhere(turn, call):
        return failed(Reason(Code.REACH_CHANGED, {"tool": call.tool}))
    return await execute_tool(tool, arguments, job)


def _basis(call: CallRecord) -> str | None:
    """A command that was shown to nobody may run what an earlier call of the round has written."""
    is_command = call.line is not None
    return None if is_command and not _was_shown(call) else call.basis


def _was_shown(call: CallRecord) -> bool:
    return call.waited or call.approval is not None


def _executed_before(turn: Turn, call: CallRecord) -> list[CallRecord]:
    """The executed calls of the round that were asked for before this one."""
    earlier = itertools.takewhile(lambda other: other.id != call.id, turn.live.draft().round_calls())
    return [other for other in earlier if other.status == "executed"]


async def _reaches_elsewhere(turn: Turn, call: CallRecord) -> bool:
    """Whether a call would touch something else than what was decided: a link may have changed since it was shown."""
    if call.touches and call.ask is None and call.effect == "mutating":
        workspace = turn.live.workspace()
        reasons = await asyncio.to_thread(lambda: [workspace.ask(path) for path in call.touches or ()])
        if any(reason is not None and reason.code is Code.RUNS_CODE for reason in reasons):
            return True
    if call.touches is None or not standing_of(turn.live).depends_on_folders:
        return False
    prepared = await prepare(turn.live, call.tool, call.arguments)
    return prepared.limit is None and prepared.touches != call.touches


def _end(turn: Turn, draft: Draft, call_id: CallId, task: asyncio.Task[tuple[Outcome, int]]) -> None:
    call = draft.call(call_id)
    if task.cancelled():  # not by us: by the time we cancel, nobody asks for results
        detail = "it was cancelled from inside"
        outcome, duration_ms = failed(Reason(Code.TOOL_FAILED, {"tool": call.tool, "detail": detail})), 0
    else:
        outcome, duration_ms = task.result()
    content = outcome.content
    if call.edited:
        arguments = msgspec.json.encode(call.arguments).decode()
        told = say(Reason(Code.ARGUMENTS_EDITED, {"arguments": arguments}))
        content = f"{told}\n{content}"
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
    for asked in draft.round_calls():
        if asked.asked_by == call_id and asked.is_open:  # nobody waits for the answer any more
            end_call(draft, turn.live, asked.id, "cancelled", reason=Reason(Code.NOT_RUN))


async def _end_all(running: Running) -> None:
    """A tool that does not end when it is cancelled is left behind: the person's cancel must not wait for it."""
    for task in running.values():
        task.cancel()
    if running:
        await asyncio.wait(running.values(), timeout=_CANCEL_SECONDS)
