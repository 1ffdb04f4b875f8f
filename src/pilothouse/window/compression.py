"""Plan a compression: which messages of a history it replaces. Pure: blocks in, a plan out.

The strategies differ in the messages that stay, and in how the others are replaced:

recent_n     the last messages stay; a note says that the others are omitted
intelligent  as many of the last messages stay as fit; a summary replaces the others
importance   the last messages and the most important blocks stay; a summary replaces the others

Under every strategy pinned messages and at least `recent` last messages stay, a call and its results stay or go
together, and messages of the open turn stay.
"""

from collections.abc import Callable, Collection, Sequence

import msgspec

from pilothouse.domain.budgets import Budget, CompressionStrategy
from pilothouse.domain.messages import Message, SystemControl, Text, ToolRequest
from pilothouse.domain.value import Value
from pilothouse.window.history import Block

_MIN_REPLACED_TOKENS = 130
"""A summary of fewer tokens would be no shorter."""

Scorer = Callable[[Message], float]
"""The importance of a message."""


class CompressionPlan(Value, kw_only=True):
    """The messages that a compression replaces: those before `cut`, without the ranges in `kept_ranges`."""

    strategy: CompressionStrategy
    cut: int
    kept_ranges: tuple[tuple[int, int], ...] = ()
    """Ranges before `cut` that stay, as (first, last + 1)."""
    messages: int
    """The number of messages to replace."""
    tokens: int
    """The tokens of these messages."""
    earlier: int = 0
    """The part of `tokens` that belongs to earlier summaries."""
    needs_summary: bool
    """Whether a model writes a summary of the replaced messages."""

    def removed_ranges(self) -> list[tuple[int, int]]:
        """The ranges of messages to replace, in order."""
        ranges, start = [], 0
        for first, end in (*self.kept_ranges, (self.cut, self.cut)):
            if start < first:
                ranges.append((start, first))
            start = end
        return ranges


def plan_compression(
    blocks: Sequence[Block],
    length: int,
    budget: Budget,
    *,
    total: int,
    turn_start: int | None = None,
    pinned: Collection[int] = (),
    as_much_as_possible: bool = False,
    importance: Callable[[Block], float] | None = None,
) -> CompressionPlan | None:
    """Plan a compression; None where it would save too little.

    `length` is the number of messages, `total` the tokens of the whole request, `pinned` the positions of pinned
    messages.
    """
    if not blocks:
        return None
    bound = length - budget.recent if turn_start is None else min(turn_start, length - budget.recent)
    ends = [block.start for block in blocks[1:]] + [length]
    old = [number for number, end in enumerate(ends) if end <= bound]
    staying = {number for number in old if any(blocks[number].start <= at < ends[number] for at in pinned)}
    replaced = [number for number in old if number not in staying]
    if not as_much_as_possible and budget.strategy != "recent_n":
        excess = total + budget.summary_tokens - budget.target_tokens
        order = (
            replaced
            if importance is None
            else sorted(replaced, key=lambda number: _replacement_order(blocks[number], importance))
        )
        selected = _select_blocks(blocks, order, excess)
        staying |= set(replaced) - selected if importance is not None else set()
        replaced = [number for number in replaced if number in selected]
    tokens = sum(blocks[number].tokens for number in replaced)
    if all(blocks[number].is_summary for number in replaced):
        return None
    earlier = sum(blocks[number].tokens for number in replaced if blocks[number].is_summary)
    if tokens - earlier < _MIN_REPLACED_TOKENS or (
        not as_much_as_possible and not _saves_enough(tokens, earlier, total, budget)
    ):
        return None
    cut = ends[replaced[-1]]
    kept_ranges = _join_ranges(
        [(blocks[number].start, ends[number]) for number in sorted(staying) if ends[number] <= cut]
    )
    return CompressionPlan(
        strategy=budget.strategy,
        cut=cut,
        kept_ranges=kept_ranges,
        messages=cut - sum(end - start for start, end in kept_ranges),
        tokens=tokens,
        earlier=earlier,
        needs_summary=budget.strategy != "recent_n",
    )


def _replacement_order(block: Block, importance: Callable[[Block], float]) -> float:
    """The sort key of blocks: least important first. Earlier summaries come before all: the new one replaces them, so
    that summaries do not accumulate."""
    return float("-inf") if block.is_summary else importance(block)


def summary_tokens(tokens: int, earlier: int, budget: Budget) -> int:
    """The maximum length of a summary of so many tokens: that of the `earlier` summaries and half of the rest."""
    return min(budget.summary_tokens, earlier + (tokens - earlier) // 2)


def _saves_enough(tokens: int, earlier: int, total: int, budget: Budget) -> bool:
    """Whether a compression saves enough tokens besides those of earlier summaries. A compression that would be due
    again at once is made only if the request does not fit without it: each one costs a request to the model."""
    saved = tokens - max(earlier, summary_tokens(tokens, earlier, budget))
    return saved >= budget.min_saving_tokens and (
        total - saved <= budget.trigger_tokens or total > budget.request_tokens
    )


def _select_blocks(blocks: Sequence[Block], order: Sequence[int], min_tokens: int) -> set[int]:
    """The first blocks in `order` that have `min_tokens` together."""
    selected: set[int] = set()
    for number in order:
        if min_tokens <= 0:
            break
        selected.add(number)
        min_tokens -= blocks[number].tokens
    return selected


def with_pins(plan: CompressionPlan, blocks: Sequence[Block], pinned: Collection[int]) -> CompressionPlan:
    """The plan without the blocks at the `pinned` positions, which stay."""
    ends = [block.start for block in blocks[1:]] + [plan.cut]
    pinned_blocks = [
        (block, end)
        for block, end in zip(blocks, ends, strict=True)
        if end <= plan.cut and any(block.start <= at < end for at in pinned)
        if not any(first <= block.start < last for first, last in plan.kept_ranges)
    ]
    if not pinned_blocks:
        return plan
    kept_ranges = _join_ranges(sorted([*plan.kept_ranges, *((block.start, end) for block, end in pinned_blocks)]))
    messages = sum(end - block.start for block, end in pinned_blocks)
    tokens = sum(block.tokens for block, _ in pinned_blocks)
    changed: CompressionPlan = msgspec.structs.replace(
        plan, kept_ranges=kept_ranges, messages=plan.messages - messages, tokens=plan.tokens - tokens
    )
    return changed


def _join_ranges(ranges: Sequence[tuple[int, int]]) -> tuple[tuple[int, int], ...]:
    """Ordered ranges with adjacent ones joined."""
    joined: list[tuple[int, int]] = []
    for start, end in ranges:
        if joined and joined[-1][1] == start:
            joined[-1] = (joined[-1][0], end)
        else:
            joined.append((start, end))
    return tuple(joined)


def default_importance(message: Message) -> float:
    """The usual importance: summaries count most, then the person's messages, then answers, then tool results."""
    match message:
        case SystemControl(kind="summary"):
            return 4
        case Text(role="user"):
            return 3
        case Text():
            return 2
        case ToolRequest():
            return 1
        case _:
            return 1.5
