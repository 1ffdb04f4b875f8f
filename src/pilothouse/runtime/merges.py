"""Merging branches: what a merge would do, and doing it, in one commit. Ids move, messages never."""

from collections.abc import Collection, Sequence
from contextlib import suppress

import msgspec

from pilothouse.domain.branches import Branch, MergedBlock
from pilothouse.domain.codes import Code
from pilothouse.domain.errors import Conflict, NotFound
from pilothouse.domain.merging import (
    MergeConflict,
    MergePlan,
    Provenance,
    Strategy,
    candidates,
    is_mark,
    left_behind,
    origin_of,
    ranges_of,
)
from pilothouse.domain.messages import Message, Metadata, SystemControl, ToolRequest, ToolResult
from pilothouse.domain.states import Failed, Idle, MergingBranches, name_of
from pilothouse.domain.values import CallId, MessageId
from pilothouse.runtime.branches import between_turns, branch_of
from pilothouse.runtime.contexts import Contexts
from pilothouse.runtime.draft import Draft
from pilothouse.runtime.live import Live

_AT_ONCE = 500
_LOOKED_BACK = 50
_CONFLICTS_KEPT = 100


async def preview_merge(
    contexts: Contexts,
    context_id: str,
    source: str,
    *,
    target: str | None = None,
    strategy: Strategy = "append",
    message_ids: Sequence[str] = (),
) -> MergePlan:
    """What `merge` would do now. Nothing changes. Raises: InvalidInput, NotFound, Conflict, StoreError."""
    live = await contexts.find(context_id)
    return await _plan(live, source, target or live.core.active_branch, strategy, message_ids)


async def merge(
    contexts: Contexts,
    context_id: str,
    source: str,
    *,
    target: str | None = None,
    strategy: Strategy = "append",
    message_ids: Sequence[str] = (),
    by: str = "local",
) -> MergePlan:
    """Merge messages of one branch into another (the active one). Where nothing is left to merge, nothing changes.

    Raises: InvalidInput, NotFound, Conflict (a turn is open, into itself), StoreError; then all is as before.
    """
    async with contexts.locked(context_id) as live:
        if not isinstance(live.state, Idle | Failed):
            raise Conflict(Code.TURN_ACTIVE, state=name_of(live.state))
        plan = await _plan(live, source, target or live.core.active_branch, strategy, message_ids)
        if plan.merged:
            passing = MergingBranches(source=plan.source, target=plan.target, strategy=plan.strategy)
            await between_turns(live, passing, lambda draft: _put(live, draft, plan, by))
        return plan


def _put(live: Live, draft: Draft, plan: MergePlan, by: str) -> None:
    """The note of the merge, then the merged messages, and where each came from."""
    at = live.parts.now()
    target = live.branches[plan.target]
    mark = SystemControl(
        id=MessageId(live.parts.ambient.new_id()),
        timestamp=at,
        role="system",
        metadata=Metadata(mode=live.core.mode),
        kind="branch_merge",
        detail=msgspec.to_builtins(
            {
                "source": plan.source,
                "strategy": plan.strategy,
                "merged": plan.merged,
                "conflicts": list(plan.conflicts[:_CONFLICTS_KEPT]),
                "conflicts_total": len(plan.conflicts),
                "by": by,
            }
        ),
    )
    draft.append(mark, plan.target)
    draft.appended[plan.target].extend(plan.message_ids)
    block = MergedBlock(
        start=target.length + 1,
        count=plan.merged,
        source=plan.source,
        ranges=ranges_of(plan.positions),
        strategy=plan.strategy,
        at=at,
        by=by,
    )
    told = {"source": plan.source, "target": plan.target, "strategy": plan.strategy, "merged": plan.merged}
    draft.note("branches_merged", by, **told)
    draft.branches[plan.target] = msgspec.structs.replace(target, merged=(*target.merged, block))


async def provenance(
    contexts: Contexts, context_id: str, message_id: str, *, branch: str | None = None
) -> Provenance | None:
    """Where a message of a branch (the active one) was merged from; None for one that was said there.

    Raises: NotFound.
    """
    live = await contexts.find(context_id)
    found = branch_of(live, branch or live.core.active_branch)
    ids = await contexts.parts.store.branch_ids(live.id, found.name)
    if message_id not in ids:
        raise NotFound(Code.UNKNOWN_MESSAGE, message_id=message_id, branch=found.name)
    return origin_of(found, ids.index(MessageId(message_id)))


async def _plan(live: Live, source: str, target: str, strategy: Strategy, chosen: Sequence[str]) -> MergePlan:
    branch_of(live, source), branch_of(live, target)
    if source == target:
        raise Conflict(Code.MERGE_INTO_ITSELF, branch=source)
    store = live.parts.store
    source_ids = await store.branch_ids(live.id, source)
    target_ids = await store.branch_ids(live.id, target)
    compressed = await _told_in_short(live, source, source_ids, target, target_ids)
    found = candidates(source_ids, target_ids, strategy, [MessageId(each) for each in chosen], compressed=compressed)
    messages = await _read(live, [source_ids[position] for position in found.positions])
    pairs = [(at, message) for at, message in zip(found.positions, messages, strict=True) if not is_mark(message)]
    conflicts = [MergeConflict(kind="already_there", message_id=source_ids[at]) for at in found.already_there]
    if strategy == "cherry_pick":
        conflicts += [MergeConflict(kind="not_mergeable", message_id=mark.id) for mark in messages if is_mark(mark)]
    block = [message for _, message in pairs]
    tail = await store.messages(live.id, target_ids[-_LOOKED_BACK:])
    conflicts += left_behind(tail, block, await _answered(live, block, set(source_ids)))
    return MergePlan(
        source=source,
        target=target,
        strategy=strategy,
        message_ids=tuple(message.id for message in block),
        positions=tuple(at for at, _ in pairs),
        conflicts=tuple(conflicts),
    )


async def _told_in_short(
    live: Live, source: str, source_ids: Sequence[MessageId], target: str, target_ids: Sequence[MessageId]
) -> set[MessageId]:
    """What the target holds only in short, and the summaries of the source where the target holds all they tell."""
    known, _ = await _compressed(live, live.branches[target])
    told, summaries = await _compressed(live, live.branches[source])
    if summaries and told <= {*source_ids, *target_ids, *known}:
        known |= summaries
    return known


async def _compressed(live: Live, branch: Branch) -> tuple[set[MessageId], set[MessageId]]:
    """The messages that a branch tells in short, and the summaries that do so, also those that are told in turn."""
    found: set[MessageId] = set()
    summaries: set[MessageId] = set()
    for _ in live.branches:  # a file from elsewhere may name them in a circle
        done = branch.compressed
        if done is None or done.original not in live.branches:
            break
        summaries.add(done.summary_id)
        found.update(await live.parts.store.branch_ids(live.id, done.original, 0, done.length))
        branch = live.branches[done.original]
    return found - summaries, summaries


async def _read(live: Live, ids: Sequence[MessageId]) -> list[Message]:
    """Some at a time: a long branch must not hold up a cancel."""
    found: list[Message] = []
    for start in range(0, len(ids), _AT_ONCE):
        found += await live.parts.store.messages(live.id, ids[start : start + _AT_ONCE])
    return found


async def _answered(live: Live, block: Sequence[Message], on_source: Collection[MessageId]) -> set[CallId]:
    """The calls of a block that have a result on the source."""
    results = {message.call_id for message in block if isinstance(message, ToolResult)}
    asked = {call.id for message in block if isinstance(message, ToolRequest) for call in message.calls}
    for call_id in asked - results:
        with suppress(NotFound):
            record = live.calls.get(call_id) or await live.parts.store.call(live.id, call_id)
            if record.result_id in on_source:
                results.add(call_id)
    return results
