"""Commands that change a context's policy: mode, approval policy, persona, elevation. Each decides all calls that have
not started again, in the same commit, and reaches the sub-agents before it returns."""

from collections.abc import Callable, Collection
from contextlib import suppress

import msgspec

from pilothouse.domain.calls import CallRecord
from pilothouse.domain.codes import Code, Reason
from pilothouse.domain.elevations import Elevation, check_end
from pilothouse.domain.errors import Conflict, InvalidInput, StoreError
from pilothouse.domain.modes import Mode, Modes, Verdict
from pilothouse.domain.policies import Policy, check_policy
from pilothouse.domain.value import CallId, Value
from pilothouse.runtime.authorization.authorization import (
    ReleaseFilter,
    can_start,
    decide_call,
    redecide_pending,
    release_all,
    release_none,
    release_shown,
    start_calls,
    state_after_decisions,
)
from pilothouse.runtime.authorization.policy_snapshot import current_snapshot, settle_elevation
from pilothouse.runtime.authorization.policy_snapshot import end_elevation as end_in_draft
from pilothouse.runtime.commands.command_group import CommandGroup
from pilothouse.runtime.context.draft import Draft
from pilothouse.runtime.context.live_context import LiveContext
from pilothouse.runtime.context.snapshot import own_copy
from pilothouse.runtime.dependencies import RuntimeDependencies
from pilothouse.runtime.notices import system_notice
from pilothouse.runtime.pool import ContextPool
from pilothouse.system.ambient import timestamp

_REFUSED_STATUSES = frozenset({"rejected", "denied"})


class ModeSwitch(Value):
    """The effect of a change of policy on the calls that had not started."""

    mode: str
    started: tuple[CallId, ...] = ()
    rejected: tuple[CallId, ...] = ()
    """Calls that were rejected or denied."""
    waiting: tuple[CallId, ...] = ()
    """Calls that wait for the person."""


class ModeCommands(CommandGroup):
    """The mode of a context, and what changes its effect: policy, persona and elevation."""

    @property
    def table(self) -> Modes:
        """The modes that the configuration defines."""
        return self._pool.dependencies.modes

    async def switch(
        self, context_id: str, mode: str, *, shown: Collection[str] | None = None, by: str = "local"
    ) -> ModeSwitch:
        """Switch the mode. When this returns, no call decided under the old mode will start, here or in a sub-agent.
        With `shown`, the digests of calls that the person has seen, no other pending call is started.

        Raises: InvalidInput for an unknown mode, NotFound, StoreError; then nothing has changed.
        """
        new_mode = self._pool.dependencies.modes.named(mode)

        def change(live: LiveContext, draft: Draft) -> None:
            if new_mode.name != live.core.mode:
                record_switch(draft, live, new_mode.name, by)
            end_in_draft(draft, "mode_switched", by)

        denial = Reason(Code.REJECTED_BY_SWITCH, {"mode": new_mode.name})
        return await change_policy(
            self._pool, context_id, change, by=by, releases=release_shown(release_all, shown), denial=denial
        )

    async def would_start(self, context_id: str, mode: str) -> list[CallRecord]:
        """The calls that a switch to a mode would start now, including those of sub-agents, which follow the switch.
        Clients ask for confirmation where one of these calls is dangerous or has not been shown.

        Raises: InvalidInput, NotFound.
        """
        live = await self._pool.find(context_id)
        return list(map(own_copy, _would_start(live, live, self._pool.dependencies.modes.named(mode))))

    async def set_policy(self, context_id: str, policy: Policy | None, *, by: str = "local") -> ModeSwitch:
        """Set the context's own approval policy; None restores the person's preference. Raises: NotFound,
        StoreError."""
        if policy is not None:
            check_policy(policy)

        def change(_: LiveContext, draft: Draft) -> None:
            draft.core["policy"] = policy
            draft.note("policy_set", by, policy=policy)

        return await change_policy(self._pool, context_id, change, by=by, releases=release_none)

    async def set_persona(self, context_id: str, persona: str | None, *, by: str = "local") -> ModeSwitch:
        """Set or remove the persona. Raises: InvalidInput for an unknown persona, NotFound, StoreError."""

        def change(live: LiveContext, draft: Draft) -> None:
            check_persona(self._pool.dependencies, live.core.workspace, persona)
            draft.core["persona"] = persona
            draft.note("persona_set", by, persona=persona)

        return await change_policy(self._pool, context_id, change, by=by, releases=release_none)

    async def elevate(
        self,
        context_id: str,
        *,
        calls: int | None = None,
        turn: bool = False,
        minutes: float | None = None,
        shown: Collection[str] | None = None,
        by: str = "local",
    ) -> ModeSwitch:
        """Start an elevation: calls run as in agent mode for the next `calls`, for this `turn`, or for some `minutes`;
        exactly one of them is given. With `shown`, only pending calls with these digests start.

        Raises: InvalidInput, Conflict where the mode has no elevation or no turn is open, NotFound, StoreError.
        """
        check_end(calls, turn, minutes)
        dependencies = self._pool.dependencies

        def change(live: LiveContext, draft: Draft) -> None:
            if not dependencies.modes.stored(live.core.mode).elevates:
                allowed = ", ".join(mode.name for mode in dependencies.modes.all.values() if mode.elevates)
                raise Conflict(Code.NOT_ELEVATABLE, mode=live.core.mode, allowed=allowed)
            if turn and live.core.turn is None:
                raise Conflict(Code.ELEVATION_WITHOUT_TURN)
            end_in_draft(draft, "replaced", by)
            seconds = minutes * 60 if minutes is not None else None
            draft.core["elevation"] = Elevation(
                by=by,
                at=dependencies.now(),
                runtime=dependencies.runtime_id,
                calls_left=calls,
                turn=live.core.turn.id if turn and live.core.turn is not None else None,
                until=timestamp(dependencies.ambient.now() + seconds) if seconds is not None else None,
                deadline=dependencies.ambient.monotonic() + seconds if seconds is not None else None,
            )
            draft.note("elevation_started", by, calls=calls, turn=turn, minutes=minutes)

        releases = release_shown(lambda _, decision: decision.elevated, shown)
        return await change_policy(self._pool, context_id, change, by=by, releases=releases)

    async def end_elevation(self, context_id: str, *, by: str = "local") -> ModeSwitch:
        """End the elevation. Raises: Conflict when there is none, NotFound, StoreError."""

        def change(live: LiveContext, draft: Draft) -> None:
            settle_elevation(live, draft)
            if draft.value("elevation") is None:
                raise Conflict(Code.NO_ELEVATION)
            end_in_draft(draft, "ended_by_person", by)

        return await change_policy(self._pool, context_id, change, by=by, releases=release_none)

    async def elevation(self, context_id: str) -> Elevation | None:
        """The elevation in force, with its remaining calls; None where there is none."""
        live = await self._pool.find(context_id)
        draft = live.draft()
        settle_elevation(live, draft)
        present: Elevation | None = draft.value("elevation")
        return present


def _would_start(live: LiveContext, switched: LiveContext, mode: Mode) -> list[CallRecord]:
    """The calls of a context and its sub-agents that would start if `switched`, the context or an ancestor, changed its
    mode."""
    snapshot = current_snapshot(live)
    if live is switched:
        snapshot = msgspec.structs.replace(snapshot, mode=mode, elevated=False)
    else:
        ancestors = list(snapshot.ancestors)
        position = live.ancestors.index(switched)
        ancestors[position] = msgspec.structs.replace(ancestors[position], mode=mode, elevated=False)
        snapshot = msgspec.structs.replace(snapshot, ancestors=tuple(ancestors))
    waiting = [call for call in live.draft().round_calls() if call.status in ("pending", "approved")]
    startable = [call for call in waiting if decide_call(call, snapshot).verdict is Verdict.ALLOW]
    children = sorted(live.subagents, key=lambda child: child.id)
    return startable + [call for child in children for call in _would_start(child, switched, mode)]


def check_persona(dependencies: RuntimeDependencies, workspace: str | None, persona: str | None) -> None:
    """Raises: InvalidInput for a persona that a workspace does not have."""
    personas = dependencies.personas(workspace) if persona is not None else {}
    if persona is not None and persona not in personas:
        raise InvalidInput(Code.UNKNOWN_PERSONA, persona=persona, allowed=", ".join(personas) or "-")


async def change_policy(
    pool: ContextPool,
    context_id: str,
    change: Callable[[LiveContext, Draft], None],
    *,
    by: str,
    releases: ReleaseFilter = release_all,
    denial: Reason | None = None,
) -> ModeSwitch:
    """Change the policy, decide all calls that have not started again, and then those of the sub-agents."""
    async with pool.locked(context_id) as live:
        draft = live.draft()
        change(live, draft)
        mode_switch = await _decide_and_commit(pool, live, draft, by=by, releases=releases, denial=denial)
        children = tuple(live.subagents)
    await redecide_descendants(pool, children, by, releases=releases)
    return mode_switch


async def redecide_subagents(pool: ContextPool, live: LiveContext, by: str) -> None:
    """Decide the calls of the sub-agents again after a message has switched the mode. Pending calls stay pending."""
    await redecide_descendants(pool, tuple(live.subagents), by, releases=release_none)


async def redecide_descendants(
    pool: ContextPool, lives: tuple[LiveContext, ...], by: str, *, releases: ReleaseFilter
) -> None:
    """Decide the calls of contexts and their sub-agents again, after a change in the policy of an ancestor or a user:
    no call that was decided before the change may start after it.

    If the store refuses, the calls stay as they are: every call is decided again when it starts.
    """
    for live in lives:
        live.pin_count += 1
    try:
        for live in lives:
            async with live.lock:
                with suppress(StoreError, Conflict):  # a conflict: another owner drives the context
                    await _redecide_one(pool, live, by, releases)
                children = tuple(live.subagents)
            await redecide_descendants(pool, children, by, releases=releases)
    finally:
        for live in lives:
            live.pin_count -= 1


async def _redecide_one(pool: ContextPool, live: LiveContext, by: str, releases: ReleaseFilter) -> None:
    if live.core.turn is not None:
        await pool.take_ownership(live)
        draft = live.draft()
        redecide_pending(live, draft, by, releases=releases)
        if draft.calls:
            await _start_and_commit(pool, live, draft)


async def _decide_and_commit(
    pool: ContextPool, live: LiveContext, draft: Draft, *, by: str, releases: ReleaseFilter, denial: Reason | None
) -> ModeSwitch:
    if live.core.turn is None:
        await live.commit(draft)
        return ModeSwitch(mode=live.core.mode)
    not_started = [call.id for call in draft.round_calls() if call.status in ("pending", "approved")]
    redecide_pending(live, draft, by, releases=releases, denial=denial)
    # An approved call counts as started: it runs as soon as earlier calls allow it, unless the turn cannot start calls.
    starting = {"executing", "approved"} if can_start(live) else {"executing"}
    await _start_and_commit(pool, live, draft)
    statuses = {call_id: draft.call(call_id).status for call_id in not_started}
    return ModeSwitch(
        mode=live.core.mode,
        started=tuple(call_id for call_id, status in statuses.items() if status in starting),
        rejected=tuple(call_id for call_id, status in statuses.items() if status in _REFUSED_STATUSES),
        waiting=tuple(call_id for call_id, status in statuses.items() if status not in {*starting, *_REFUSED_STATUSES}),
    )


async def _start_and_commit(pool: ContextPool, live: LiveContext, draft: Draft) -> None:
    if can_start(live):
        start_calls(live, draft)
    await live.commit(draft, state_after_decisions(live, draft), then=lambda: pool.drive(live))


def record_switch(draft: Draft, live: LiveContext, mode: str, by: str) -> None:
    """Put a switch of mode into a draft: the mode, the audit entry, and the notice in the conversation."""
    old_mode = live.core.mode
    draft.core["mode"] = mode
    draft.note("mode_switched", by, source=old_mode, target=mode)
    detail = {"from": old_mode, "to": mode, "by": by}
    message = system_notice(live, "mode_switch", detail=detail, mode=mode)
    draft.append(message, live.core.active_branch if live.core.turn is None else live.core.turn.branch)
