"""Commands that change what stands in a context: mode, policy, persona, elevation. Each decides every call that has
not started anew, in the same commit, and reaches the sub-agents before it is acknowledged."""

from collections.abc import Callable, Collection
from contextlib import suppress

import msgspec

from pilothouse.ambient import timestamp
from pilothouse.domain.calls import CallRecord
from pilothouse.domain.codes import Code, Reason
from pilothouse.domain.elevations import Elevation, check_end
from pilothouse.domain.errors import Conflict, InvalidInput, StoreError
from pilothouse.domain.messages import Metadata, SystemControl
from pilothouse.domain.modes import Mode, Verdict
from pilothouse.domain.policies import Policy, check_policy
from pilothouse.domain.values import CallId, MessageId, Value
from pilothouse.runtime.contexts import Contexts
from pilothouse.runtime.deciding import (
    Opener,
    after_decisions,
    anything,
    can_start,
    decide_anew,
    decide_call,
    nothing,
    only_shown,
    start_calls,
)
from pilothouse.runtime.draft import Draft
from pilothouse.runtime.live import Live
from pilothouse.runtime.parts import Parts
from pilothouse.runtime.standing import end_elevation as end_in_draft
from pilothouse.runtime.standing import settle_elevation, standing_of
from pilothouse.runtime.turn import turn_of

_REFUSED = frozenset({"rejected", "denied"})


class ModeSwitch(Value):
    """What became of every call that had not started."""

    mode: str
    started: tuple[CallId, ...] = ()
    rejected: tuple[CallId, ...] = ()
    waiting: tuple[CallId, ...] = ()


async def switch_mode(
    contexts: Contexts, context_id: str, mode: str, *, shown: Collection[str] | None = None, by: str = "local"
) -> ModeSwitch:
    """When this returns, no call decided under the old mode will start, here or in a sub-agent. With `shown`, the
    digests of calls that the person has read, no other call that waits is started: it goes on waiting.

    Raises: InvalidInput for an unknown mode, NotFound, StoreError; then nothing has changed.
    """
    chosen = contexts.parts.modes.named(mode)

    def change(live: Live, draft: Draft) -> None:
        if chosen.name != live.core.mode:
            note_switch(draft, live, chosen.name, by)
        end_in_draft(draft, "mode_switched", by)

    denial = Reason(Code.REJECTED_BY_SWITCH, {"mode": chosen.name})
    return await restand(contexts, context_id, change, by=by, opens=only_shown(anything, shown), denial=denial)


async def would_start(contexts: Contexts, context_id: str, mode: str) -> list[CallRecord]:
    """The calls that a switch to a mode would start now, those of sub-agents too: they follow. Clients ask first where
    one of them is dangerous or was not read.

    Raises: InvalidInput, NotFound.
    """
    live = await contexts.find(context_id)
    return _would_start(live, live, contexts.parts.modes.named(mode))


def _would_start(live: Live, switched: Live, mode: Mode) -> list[CallRecord]:
    """Those of a context and of all below it, if one of its family were switched."""
    standing = standing_of(live)
    if live is switched:
        standing = msgspec.structs.replace(standing, mode=mode, elevated=False)
    else:
        above = list(standing.above)
        place = live.above.index(switched)
        above[place] = msgspec.structs.replace(above[place], mode=mode, elevated=False)
        standing = msgspec.structs.replace(standing, above=tuple(above))
    waiting = [call for call in live.draft().round_calls() if call.status in ("pending", "approved")]
    found = [call for call in waiting if decide_call(call, standing).verdict is Verdict.RUN]
    children = sorted(live.children, key=lambda each: each.id)
    return found + [call for child in children for call in _would_start(child, switched, mode)]


async def set_policy(contexts: Contexts, context_id: str, policy: Policy | None, *, by: str = "local") -> ModeSwitch:
    """The context's own approval policy; None goes back to the person's preference. Raises: NotFound, StoreError."""
    if policy is not None:
        check_policy(policy)

    def change(_: Live, draft: Draft) -> None:
        draft.core["policy"] = policy
        draft.note("policy_set", by, policy=policy)

    return await restand(contexts, context_id, change, by=by, opens=nothing)


async def set_persona(contexts: Contexts, context_id: str, persona: str | None, *, by: str = "local") -> ModeSwitch:
    """Raises: InvalidInput for an unknown persona, NotFound, StoreError."""

    def change(live: Live, draft: Draft) -> None:
        check_persona(contexts.parts, live.core.workspace, persona)
        draft.core["persona"] = persona
        draft.note("persona_set", by, persona=persona)

    return await restand(contexts, context_id, change, by=by, opens=nothing)


def check_persona(parts: Parts, workspace: str | None, persona: str | None) -> None:
    """Raises: InvalidInput for one that there is not in a workspace."""
    known = parts.personas(workspace) if persona is not None else {}
    if persona is not None and persona not in known:
        raise InvalidInput(Code.UNKNOWN_PERSONA, persona=persona, allowed=", ".join(known) or "-")


async def elevate(
    contexts: Contexts,
    context_id: str,
    *,
    calls: int | None = None,
    turn: bool = False,
    minutes: float | None = None,
    shown: Collection[str] | None = None,
    by: str = "local",
) -> ModeSwitch:
    """Run as in agent mode for the next calls, for this turn, or for some minutes: exactly one of them. With `shown`,
    of the calls that wait only those with these digests start.

    Raises: InvalidInput, Conflict where the mode has no elevation or no turn is open, NotFound, StoreError.
    """
    check_end(calls, turn, minutes)
    parts = contexts.parts

    def change(live: Live, draft: Draft) -> None:
        if not parts.modes.stored(live.core.mode).elevates:
            allowed = ", ".join(mode.name for mode in parts.modes.all.values() if mode.elevates)
            raise Conflict(Code.NOT_ELEVATABLE, mode=live.core.mode, allowed=allowed)
        if turn and live.core.turn is None:
            raise Conflict(Code.ELEVATION_WITHOUT_TURN)
        end_in_draft(draft, "replaced", by)
        seconds = minutes * 60 if minutes is not None else None
        draft.core["elevation"] = Elevation(
            by=by,
            at=parts.now(),
            runtime=parts.runtime_id,
            calls_left=calls,
            turn=live.core.turn.id if turn and live.core.turn is not None else None,
            until=timestamp(parts.ambient.now() + seconds) if seconds is not None else None,
            deadline=parts.ambient.monotonic() + seconds if seconds is not None else None,
        )
        draft.note("elevation_started", by, calls=calls, turn=turn, minutes=minutes)

    opens = only_shown(lambda _, decision: decision.elevated, shown)
    return await restand(contexts, context_id, change, by=by, opens=opens)


async def end_elevation(contexts: Contexts, context_id: str, *, by: str = "local") -> ModeSwitch:
    """Raises: Conflict when there is none, NotFound, StoreError."""

    def change(live: Live, draft: Draft) -> None:
        settle_elevation(live, draft)
        if draft.value("elevation") is None:
            raise Conflict(Code.NO_ELEVATION)
        end_in_draft(draft, "ended_by_person", by)

    return await restand(contexts, context_id, change, by=by, opens=nothing)


async def elevation(contexts: Contexts, context_id: str) -> Elevation | None:
    """The one that holds now, with what is left of it."""
    live = await contexts.find(context_id)
    draft = live.draft()
    settle_elevation(live, draft)
    found: Elevation | None = draft.value("elevation")
    return found


async def restand(
    contexts: Contexts,
    context_id: str,
    change: Callable[[Live, Draft], None],
    *,
    by: str,
    opens: Opener = anything,
    denial: Reason | None = None,
) -> ModeSwitch:
    """Change what stands, decide anew what has not started, and let the sub-agents follow."""
    async with contexts.locked(context_id) as live:
        draft = live.draft()
        change(live, draft)
        told = await _decide_and_commit(contexts, live, draft, by=by, opens=opens, denial=denial)
        children = tuple(live.children)
    await follow(contexts, children, by, opens=opens)
    return told


async def follow_children(contexts: Contexts, live: Live, by: str) -> None:
    """The mode of a context was switched with a message: its sub-agents follow. What waits there goes on waiting."""
    await follow(contexts, tuple(live.children), by, opens=nothing)


async def follow(contexts: Contexts, lives: tuple[Live, ...], by: str, *, opens: Opener) -> None:
    """What stands above these, or for their person, has changed: nothing decided before it may start after it.

    A store that refuses leaves their calls as they are: each is decided once more when it starts.
    """
    for live in lives:
        live.users += 1
    try:
        for live in lives:
            async with live.lock:
                with suppress(StoreError):
                    await _follow_one(contexts, live, by, opens)
                children = tuple(live.children)
            await follow(contexts, children, by, opens=opens)
    finally:
        for live in lives:
            live.users -= 1


async def _follow_one(contexts: Contexts, live: Live, by: str, opens: Opener) -> None:
    draft = live.draft()
    if live.core.turn is not None:
        decide_anew(live, draft, by, opens=opens)
        if draft.calls:
            await _start_and_commit(contexts, live, draft)


async def _decide_and_commit(
    contexts: Contexts, live: Live, draft: Draft, *, by: str, opens: Opener, denial: Reason | None
) -> ModeSwitch:
    if live.core.turn is None:
        await live.commit(draft)
        return ModeSwitch(mode=live.core.mode)
    not_started = [call.id for call in draft.round_calls() if call.status in ("pending", "approved")]
    decide_anew(live, draft, by, opens=opens, denial=denial)
    # What is approved runs when it is its turn, or when its driver comes to it; but not while nothing may start.
    starting = {"executing", "approved"} if can_start(live) else {"executing"}
    await _start_and_commit(contexts, live, draft)
    found = {call_id: draft.call(call_id).status for call_id in not_started}
    return ModeSwitch(
        mode=live.core.mode,
        started=tuple(call_id for call_id, status in found.items() if status in starting),
        rejected=tuple(call_id for call_id, status in found.items() if status in _REFUSED),
        waiting=tuple(call_id for call_id, status in found.items() if status not in {*starting, *_REFUSED}),
    )


async def _start_and_commit(contexts: Contexts, live: Live, draft: Draft) -> None:
    turn = turn_of(live)
    if can_start(live):
        start_calls(turn, draft)
    await live.commit(draft, after_decisions(live, draft), then=lambda: contexts.drive(live))


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
