"""Compression of a branch: the plan, the summary, and the one commit that moves the branch onto the summary.

The original messages stay in the pool, and on a branch of their own, which takes over the old list unchanged.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import msgspec

from pilothouse.domain.branches import Branch, Compressed, merged_blocks_after, next_name
from pilothouse.domain.budgets import Budget
from pilothouse.domain.codes import Reason
from pilothouse.domain.contexts import OpenTurn, prompt_overview
from pilothouse.domain.messages import Message, SystemControl
from pilothouse.domain.states import Idle, SavingContext, State
from pilothouse.domain.value import MessageId, Value
from pilothouse.runtime.compression.summarizer import Summary, SummaryMethod, summarize
from pilothouse.runtime.context.draft import Draft
from pilothouse.runtime.context.live_context import LiveContext
from pilothouse.runtime.dependencies import ModelChoice
from pilothouse.runtime.notices import system_notice
from pilothouse.runtime.request.last_input import read_last_input
from pilothouse.storage.base import READ_BATCH_MESSAGES
from pilothouse.window.compression import CompressionPlan, plan_compression, summary_tokens, with_pins
from pilothouse.window.history import Block, History
from pilothouse.window.model_messages import tokens_of


class Compression(Value, kw_only=True, omit_defaults=False):
    """The effect of a compression, predicted or done."""

    branch: str
    strategy: str
    messages: int
    """Messages that the summary replaces."""
    messages_kept: int
    """Messages that stay on the branch."""
    pinned: int
    """Pinned messages among the replaced stretch, which stay."""
    tokens_before: int
    """Tokens of the window before the compression."""
    tokens_after: int
    """Tokens of the window after it. A prediction assumes the longest possible summary."""
    tokens_saved: int
    summary_id: MessageId | None = None
    original: str | None = None
    """The branch that keeps the original list."""
    how: SummaryMethod | None = None
    why: Reason | None = None
    """The error of the model, where the summary was made without it."""


async def due_plan(
    live: LiveContext, name: str, history: History, total: int, model: ModelChoice, *, must_shorten: bool = False
) -> CompressionPlan | None:
    """The plan of an automatic compression; None where none is due, or where a compression saves nothing.
    `must_shorten`: the provider has refused the history as too long."""
    branch, budget = live.branches[name], model.budget
    limit = budget.request_tokens if branch.keeps_whole else budget.trigger_tokens
    if not budget.auto_compress or not (must_shorten or model.provider_tokens(total) > limit):
        return None
    budget = model.own_budget
    recents = (0,) if must_shorten else _recent_counts(budget.recent, minimum=0)
    return await _first_that_fits(live, branch, history, total, budget, recents, as_far_as_possible=must_shorten)


async def requested_plan(
    live: LiveContext, name: str, history: History, total: int, model: ModelChoice
) -> CompressionPlan | None:
    """The plan of a requested compression: down to the target; where the window is below the target already, as far as
    the recent messages allow. None where a compression saves nothing."""
    branch, budget = live.branches[name], model.own_budget
    recents = _recent_counts(budget.recent, minimum=1) if total > budget.trigger_tokens else (budget.recent,)
    is_below_target = total <= budget.target_tokens
    return await _first_that_fits(live, branch, history, total, budget, recents, as_far_as_possible=is_below_target)


def _recent_counts(recent: int, *, minimum: int) -> tuple[int, ...]:
    """Numbers of recent messages to keep, in the order to try: the budget's number, then repeatedly half of it."""
    return (recent, *_recent_counts(recent // 2, minimum=minimum)) if recent > minimum else (minimum,)


async def _first_that_fits(
    live: LiveContext,
    branch: Branch,
    history: History,
    total: int,
    budget: Budget,
    recents: Sequence[int],
    *,
    as_far_as_possible: bool,
) -> CompressionPlan | None:
    """The plan that keeps the most recent messages and leaves the request below the trigger; where no plan does, the
    one that removes most. `total`, the tokens of the whole request, and the budget are in tokens of our own count."""
    blocks, length = list(history.blocks()), history.length
    turn, pinned = live.core.turn, await pinned_positions(live, branch)
    if turn is None and (last_message := await read_last_input(live)).message_id is not None:
        pinned.append(last_message.start)  # the person's last message is never summarized
    uses_importance = budget.strategy == "importance" and not as_far_as_possible
    score = await _importance(live, branch, blocks) if uses_importance else None
    best: CompressionPlan | None = None
    for recent in recents:
        candidate = plan_compression(
            blocks,
            length,
            msgspec.structs.replace(budget, recent=recent),
            total=total,
            turn_start=turn.start if turn is not None else None,
            pinned=pinned,
            as_much_as_possible=as_far_as_possible,
            importance=score,
        )
        best = candidate or best
        if candidate is not None:
            after = total - candidate.tokens + summary_tokens(candidate.tokens, candidate.earlier, budget)
            if after <= budget.trigger_tokens:
                break
    return best


async def pinned_positions(live: LiveContext, branch: Branch) -> list[int]:
    if not live.core.pins:
        return []
    pins = set(live.core.pins)
    ids = await live.storage.branch_ids(branch.name)
    return [at for at, message_id in enumerate(ids) if message_id in pins]


async def _importance(live: LiveContext, branch: Branch, blocks: Sequence[Block]) -> Callable[[Block], float]:
    messages = await read_ranges(live, branch, [(0, branch.length)])
    starts = [block.start for block in blocks[1:]] + ([branch.length] if blocks else [])
    scores = {
        block.start: max(map(live.dependencies.importance, messages[block.start : end]), default=0.0)
        for block, end in zip(blocks, starts, strict=True)
    }
    return lambda block: scores[block.start]


async def read_ranges(live: LiveContext, branch: Branch, ranges: Sequence[tuple[int, int]]) -> list[Message]:
    """Messages of a branch, read in batches, so that a long branch does not delay a cancel."""
    messages: list[Message] = []
    for begin, end in ranges:
        for start in range(begin, end, READ_BATCH_MESSAGES):
            ids = await live.storage.branch_ids(branch.name, start, min(end, start + READ_BATCH_MESSAGES))
            messages += await live.storage.messages(ids)
    return messages


def compression_effect(
    model: ModelChoice, branch: Branch, plan: CompressionPlan, total: int, own_summary_tokens: int
) -> Compression:
    """The effect of a plan on the window. `total` is the token count of the present request."""
    before = model.provider_tokens(total)
    after = model.provider_tokens(total - plan.tokens + own_summary_tokens)
    return Compression(
        branch=branch.name,
        strategy=plan.strategy,
        messages=plan.messages,
        messages_kept=branch.length - plan.messages,
        pinned=sum(end - start for start, end in plan.kept_ranges),
        tokens_before=before,
        tokens_after=after,
        tokens_saved=before - after,
    )


async def compress_branch(
    live: LiveContext,
    name: str,
    plan: CompressionPlan,
    total: int,
    *,
    enter: Callable[[State], None],
    by: str,
    focus: str | None = None,
    between_turns: bool = False,
    on_done: Callable[[Compression], None] = lambda _: None,
) -> None:
    """Summarize and replace the messages of a plan, in one commit, with which `on_done` is called.

    Raises: StoreError; then nothing has changed.
    """
    messages = await read_ranges(live, live.branches[name], plan.removed_ranges())
    summary = await summarize(live, messages, plan, enter, focus)
    async with live.lock:
        branch, draft = live.branches[name], live.draft()
        plan = await _with_new_pins(live, branch, plan)
        model = live.model()
        figures = compression_effect(model, branch, plan, total, tokens_of(_message(live, summary), model.counter))
        compression = await _put_summary(live, draft, branch, plan, summary, figures, by)
        draft.add_usage(summary.usage)
        if between_turns:
            enter(SavingContext())
        await live.commit(draft, Idle() if between_turns else None, then=lambda: on_done(compression))


async def _with_new_pins(live: LiveContext, branch: Branch, plan: CompressionPlan) -> CompressionPlan:
    """The plan without messages that were pinned while the summary was generated."""
    pinned = await pinned_positions(live, branch)
    if not pinned:
        return plan
    history = await live.history_cache.history(live, branch.name, live.model(), with_tools=True)
    return with_pins(plan, history.blocks(), pinned)


async def _put_summary(
    live: LiveContext,
    draft: Draft,
    branch: Branch,
    plan: CompressionPlan,
    summary: Summary,
    prediction: Compression,
    by: str,
) -> Compression:
    """Put the move of a branch onto its summary into a draft. Messages appended since the plan stay behind the
    summary."""
    ids = await live.storage.branch_ids(branch.name)
    kept_ids = [message_id for start, end in plan.kept_ranges for message_id in ids[start:end]]
    original = _name_for_original(live, branch)
    message = _message(live, summary, _detail(summary, prediction, original, by))
    new_ids = [message.id, *kept_ids, *ids[plan.cut :]]
    shift = len(kept_ids) + 1 - plan.cut
    draft.messages.append(message)
    draft.appended[branch.name] = [*new_ids, *draft.appended.get(branch.name, ())]
    begun_anew = msgspec.structs.replace(branch, overview=None, length=len(draft.appended[branch.name]))
    draft.renamed[branch.name] = original
    draft.branches[original] = msgspec.structs.replace(branch, name=original, original_of=branch.name)
    draft.branches[branch.name] = msgspec.structs.replace(
        branch,
        key=live.dependencies.ambient.new_id(),
        length=0,
        merged=merged_blocks_after(branch, plan.cut, shift),
        compressed=Compressed(
            original=original,
            length=len(ids),
            replacement_length=len(new_ids),
            head=len(kept_ids) + 1,
            summary_id=message.id,
        ),
        keeps_whole=False,
        overview=prompt_overview(live.core, begun_anew),
    )
    for other in live.branches.values():
        if other.compressed is not None and other.compressed.original == branch.name:  # its original is renamed
            compression = msgspec.structs.replace(other.compressed, original=original)
            draft.branches[other.name] = msgspec.structs.replace(other, compressed=compression)
    turn: OpenTurn | None = draft.value("turn")
    if turn is not None and turn.branch == branch.name:
        draft.core["turn"] = msgspec.structs.replace(turn, start=max(0, turn.start + shift))
    draft.note(
        "history_compressed",
        by,
        branch=branch.name,
        original=original,
        messages=prediction.messages,
        how=summary.method,
    )
    result: Compression = msgspec.structs.replace(
        prediction, summary_id=message.id, original=original, how=summary.method, why=summary.failure
    )
    return result


def _name_for_original(live: LiveContext, branch: Branch) -> str:
    # Includes names of originals that have been deleted since.
    originals = {other.compressed.original for other in live.branches.values() if other.compressed}
    taken_names = {*live.branches, *originals}
    base_name = f"{branch.name[:80]}-original"
    return next_name(base_name, taken_names) if base_name in taken_names else base_name


def _detail(summary: Summary, result: Compression, original: str, by: str) -> dict[str, Any]:
    detail: dict[str, Any] = {
        "original": original,
        "how": summary.method,
        "strategy": result.strategy,
        "messages": result.messages,
        "tokens_before": result.tokens_before,
        "tokens_after": result.tokens_after,
        "files": list(summary.files),
        "by": by,
    }
    if summary.failure is not None:
        detail["why"] = msgspec.to_builtins(summary.failure)
    return detail


def _message(live: LiveContext, summary: Summary, detail: Mapping[str, Any] | None = None) -> SystemControl:
    return system_notice(live, "summary", summary.text, detail=detail or {})
