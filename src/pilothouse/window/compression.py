"""What a compression takes out of a window. Pure: the blocks of a history in, a plan out.

Strategies differ in what stays whole and in how the rest is told:

recent_n     the last messages stay; the rest is left out, and that is said
intelligent  as many of the last messages as fit; the rest is summarised
importance   the last messages and the most important blocks that fit; the rest is summarised

Always: pinned messages and at least the last ones stay, a call stays with its results or goes with them, and what
belongs to the open turn is not touched.
"""

from collections.abc import Callable, Collection, Sequence

import msgspec

from pilothouse.domain.budgets import Budget, CompressionStrategy
from pilothouse.domain.messages import Message, SystemControl, Text, ToolRequest
from pilothouse.domain.values import Value
from pilothouse.window.history import Block

_LEAST = 130  # below this, a summary would be no shorter

Scorer = Callable[[Message], float]


class Plan(Value, kw_only=True):
    """Positions below `cut` go, but for the stretches in `kept`. `messages` and `tokens` are what goes, `earlier` is
    the part of it that are summaries; `summarised` says whether a model is asked to tell it in short."""

    strategy: CompressionStrategy
    cut: int
    kept: tuple[tuple[int, int], ...] = ()
    messages: int
    tokens: int
    earlier: int = 0
    summarised: bool

    def goes(self) -> list[tuple[int, int]]:
        """The stretches that go, in their order."""
        found, start = [], 0
        for first, end in (*self.kept, (self.cut, self.cut)):
            if start < first:
                found.append((start, first))
            start = end
        return found


def plan(
    blocks: Sequence[Block],
    length: int,
    budget: Budget,
    *,
    total: int,
    turn_start: int | None = None,
    pinned: Collection[int] = (),
    as_much_as_possible: bool = False,
    importance: Callable[[Block], float] | None = None,
) -> Plan | None:
    """None where nothing would be gained. `total` is all that the request counts, `pinned` are positions."""
    if not blocks:
        return None
    bound = length - budget.recent if turn_start is None else min(turn_start, length - budget.recent)
    ends = [block.start for block in blocks[1:]] + [length]
    old = [number for number, end in enumerate(ends) if end <= bound]
    stays = {number for number in old if any(blocks[number].start <= at < ends[number] for at in pinned)}
    free = [number for number in old if number not in stays]
    if not as_much_as_possible and budget.strategy != "recent_n":
        wanted = total + budget.summary_tokens - budget.target_tokens
        order = free if importance is None else sorted(free, key=lambda number: _rank(blocks[number], importance))
        chosen = _first_that_hold(blocks, order, wanted)
        stays |= set(free) - chosen if importance is not None else set()
        free = [number for number in free if number in chosen]
    tokens = sum(blocks[number].tokens for number in free)
    if all(blocks[number].is_summary for number in free):
        return None
    earlier = sum(blocks[number].tokens for number in free if blocks[number].is_summary)
    if tokens - earlier < _LEAST or (not as_much_as_possible and not _is_worth_it(tokens, earlier, total, budget)):
        return None
    cut = ends[free[-1]]
    kept = _joined([(blocks[number].start, ends[number]) for number in sorted(stays) if ends[number] <= cut])
    gone = cut - sum(end - start for start, end in kept)
    return Plan(
        strategy=budget.strategy,
        cut=cut,
        kept=kept,
        messages=gone,
        tokens=tokens,
        earlier=earlier,
        summarised=budget.strategy != "recent_n",
    )


def _rank(block: Block, importance: Callable[[Block], float]) -> float:
    """An earlier summary goes into the new one, however important: else they would pile up."""
    return float("-inf") if block.is_summary else importance(block)


def summary_tokens(tokens: int, earlier: int, budget: Budget) -> int:
    """What may stand for so many tokens: what `earlier` summaries among them take, and half of the rest."""
    return min(budget.summary_tokens, earlier + (tokens - earlier) // 2)


def _is_worth_it(tokens: int, earlier: int, total: int, budget: Budget) -> bool:
    """Whether enough is saved of what was not told in short before. What would be due again at once is done only where
    nothing would fit without it: each time costs a request."""
    saved = tokens - max(earlier, summary_tokens(tokens, earlier, budget))
    return saved >= budget.worth and (total - saved <= budget.trigger_tokens or total > budget.request_tokens)


def _first_that_hold(blocks: Sequence[Block], order: Sequence[int], wanted: int) -> set[int]:
    chosen: set[int] = set()
    for number in order:
        if wanted <= 0:
            break
        chosen.add(number)
        wanted -= blocks[number].tokens
    return chosen


def with_pins(made: Plan, blocks: Sequence[Block], pinned: Collection[int]) -> Plan:
    """The same plan, but the blocks of these positions stay."""
    ends = [block.start for block in blocks[1:]] + [made.cut]
    more = [
        (block, end)
        for block, end in zip(blocks, ends, strict=True)
        if end <= made.cut and any(block.start <= at < end for at in pinned)
        if not any(first <= block.start < last for first, last in made.kept)
    ]
    if not more:
        return made
    kept = _joined(sorted([*made.kept, *((block.start, end) for block, end in more)]))
    stays = sum(end - block.start for block, end in more)
    tokens = sum(block.tokens for block, _ in more)
    changed: Plan = msgspec.structs.replace(
        made, kept=kept, messages=made.messages - stays, tokens=made.tokens - tokens
    )
    return changed


def _joined(stretches: Sequence[tuple[int, int]]) -> tuple[tuple[int, int], ...]:
    joined: list[tuple[int, int]] = []
    for start, end in stretches:
        if joined and joined[-1][1] == start:
            joined[-1] = (joined[-1][0], end)
        else:
            joined.append((start, end))
    return tuple(joined)


def usual_importance(message: Message) -> float:
    """What a person said counts most, then what was summarised and answered, then what tools gave."""
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
