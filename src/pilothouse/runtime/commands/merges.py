"""Commands about merging branches: preview, merge in one commit, provenance. Ids move, messages are never copied."""

from collections.abc import Collection, Sequence
from contextlib import suppress

import msgspec

from pilothouse.domain.branches import Branch, MergedBlock
from pilothouse.domain.codes import Code
from pilothouse.domain.errors import Conflict, NotFound
from pilothouse.domain.merges import (
    MergeConflict,
    MergePlan,
    Provenance,
    Strategy,
    is_merge_note,
    merge_candidates,
    origin_of,
    ranges_of,
    separation_conflicts,
)
from pilothouse.domain.messages import Message, ToolRequest, ToolResult
from pilothouse.domain.states import Failed, Idle, MergingBranches, name_of
from pilothouse.domain.value import CallId, MessageId
from pilothouse.runtime.commands.branches import between_turns, branch_of
from pilothouse.runtime.commands.command_group import CommandGroup
from pilothouse.runtime.context.draft import Draft
from pilothouse.runtime.context.live_context import LiveContext
from pilothouse.runtime.notices import system_notice
from pilothouse.storage.base import READ_BATCH_MESSAGES

_MAX_TAIL_MESSAGES = 50
_MAX_CONFLICTS_STORED = 100


class MergeCommands(CommandGroup):
    """Merge branches, and find out where messages came from."""

    async def preview(
        self,
        context_id: str,
        source: str,
        *,
        target: str | None = None,
        strategy: Strategy = "append",
        message_ids: Sequence[str] = (),
    ) -> MergePlan:
        """The predicted effect of `merge`. Nothing changes. Raises: InvalidInput, NotFound, Conflict, StoreError."""
        live = await self._pool.find(context_id)
        return await _plan(live, source, target or live.core.active_branch, strategy, message_ids)

    async def merge(
        self,
        context_id: str,
        source: str,
        *,
        target: str | None = None,
        strategy: Strategy = "append",
        message_ids: Sequence[str] = (),
        by: str = "local",
    ) -> MergePlan:
        """Merge messages of one branch into another, by default the active one. If no message remains to be merged,
        nothing changes.

        Raises: InvalidInput, NotFound, Conflict (a turn is open, into itself), StoreError; then nothing has changed.
        """
        async with self._pool.locked(context_id) as live:
            if not isinstance(live.state, Idle | Failed):
                raise Conflict(Code.TURN_ACTIVE, state=name_of(live.state))
            plan = await _plan(live, source, target or live.core.active_branch, strategy, message_ids)
            if plan.merged:
                passing = MergingBranches(source=plan.source, target=plan.target, strategy=plan.strategy)
                await between_turns(live, passing, lambda draft: _put_merge(live, draft, plan, by))
            return plan

    async def provenance(self, context_id: str, message_id: str, *, branch: str | None = None) -> Provenance | None:
        """The origin of a merged message on a branch, by default the active one; None for a message that was not
        merged.

        Raises: NotFound.
        """
        live = await self._pool.find(context_id)
        target_branch = branch_of(live, branch or live.core.active_branch)
        ids = await live.storage.branch_ids(target_branch.name)
        if message_id not in ids:
            raise NotFound(Code.UNKNOWN_MESSAGE, message_id=message_id, branch=target_branch.name)
        return origin_of(target_branch, ids.index(MessageId(message_id)))


def _put_merge(live: LiveContext, draft: Draft, plan: MergePlan, by: str) -> None:
    """Put the notice of the merge, the merged messages and their provenance into a draft."""
    at = live.dependencies.now()
    target = live.branches[plan.target]
    notice = system_notice(
        live,
        "branch_merge",
        detail=msgspec.to_builtins(
            {
                "source": plan.source,
                "strategy": plan.strategy,
                "merged": plan.merged,
                "conflicts": list(plan.conflicts[:_MAX_CONFLICTS_STORED]),
                "conflicts_total": len(plan.conflicts),
                "by": by,
            }
        ),
    )
    draft.append(notice, plan.target)
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
    audit_detail = {"source": plan.source, "target": plan.target, "strategy": plan.strategy, "merged": plan.merged}
    draft.note("branches_merged", by, **audit_detail)
    draft.branches[plan.target] = msgspec.structs.replace(target, merged=(*target.merged, block))


async def _plan(
    live: LiveContext, source: str, target: str, strategy: Strategy, message_ids: Sequence[str]
) -> MergePlan:
    branch_of(live, source), branch_of(live, target)
    if source == target:
        raise Conflict(Code.MERGE_INTO_ITSELF, branch=source)
    source_ids = await live.storage.branch_ids(source)
    target_ids = await live.storage.branch_ids(target)
    already_summarized = await _already_summarized(live, source, source_ids, target, target_ids)
    selection = merge_candidates(
        source_ids,
        target_ids,
        strategy,
        [MessageId(message_id) for message_id in message_ids],
        compressed=already_summarized,
    )
    messages = await _read(live, [source_ids[position] for position in selection.positions])
    pairs = [
        (position, message)
        for position, message in zip(selection.positions, messages, strict=True)
        if not is_merge_note(message)
    ]
    conflicts = [
        MergeConflict(kind="already_there", message_id=source_ids[position]) for position in selection.already_there
    ]
    if strategy == "cherry_pick":
        conflicts += [
            MergeConflict(kind="not_mergeable", message_id=mark.id) for mark in messages if is_merge_note(mark)
        ]
    block = [message for _, message in pairs]
    tail = await live.storage.messages(target_ids[-_MAX_TAIL_MESSAGES:])
    conflicts += separation_conflicts(tail, block, await _answered_calls(live, block, set(source_ids)))
    return MergePlan(
        source=source,
        target=target,
        strategy=strategy,
        message_ids=tuple(message.id for message in block),
        positions=tuple(position for position, _ in pairs),
        conflicts=tuple(conflicts),
    )


async def _already_summarized(
    live: LiveContext, source: str, source_ids: Sequence[MessageId], target: str, target_ids: Sequence[MessageId]
) -> set[MessageId]:
    """The messages that the target holds only in summarized form, and the summaries of the source where the target
    holds everything that they summarize."""
    in_target, _ = await _compressed(live, live.branches[target])
    in_source, summaries = await _compressed(live, live.branches[source])
    if summaries and in_source <= {*source_ids, *target_ids, *in_target}:
        in_target |= summaries
    return in_target


async def _compressed(live: LiveContext, branch: Branch) -> tuple[set[MessageId], set[MessageId]]:
    """The messages that the summaries of a branch replace, and these summaries, including summarized ones."""
    replaced: set[MessageId] = set()
    summaries: set[MessageId] = set()
    for _ in live.branches:  # bounded, since the originals of an imported file may form a cycle
        compression = branch.compressed
        if compression is None or compression.original not in live.branches:
            break
        summaries.add(compression.summary_id)
        ids = await live.storage.branch_ids(compression.original, 0, compression.length)
        replaced.update(ids)
        branch = live.branches[compression.original]
    return replaced - summaries, summaries


async def _read(live: LiveContext, ids: Sequence[MessageId]) -> list[Message]:
    """Messages, read in batches, so that a long branch does not delay a cancel."""
    messages: list[Message] = []
    for start in range(0, len(ids), READ_BATCH_MESSAGES):
        messages += await live.storage.messages(ids[start : start + READ_BATCH_MESSAGES])
    return messages


async def _answered_calls(live: LiveContext, block: Sequence[Message], on_source: Collection[MessageId]) -> set[CallId]:
    """The calls of a block that have a result in the block or on the source branch."""
    answered = {message.call_id for message in block if isinstance(message, ToolResult)}
    call_ids = {call.id for message in block if isinstance(message, ToolRequest) for call in message.calls}
    for call_id in call_ids - answered:
        with suppress(NotFound):
            record = live.calls.get(call_id) or await live.storage.call(call_id)
            if record.result_id in on_source:
                answered.add(call_id)
    return answered
