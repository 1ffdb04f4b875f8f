"""Putting a request together. Where even the least does not fit, the longest results are sent cut short; what is
stored stays whole."""

from typing import NamedTuple

from pilothouse.domain.messages import ToolRequest, ToolResult
from pilothouse.llm.base import ModelRequest
from pilothouse.runtime.compressing import read
from pilothouse.runtime.live import Live
from pilothouse.runtime.rounds import Counts, Outline, corrected, count, request_of
from pilothouse.window.history import History, render
from pilothouse.window.telling import result_text

_RESULT_AT_LEAST = 2000
_WORTH_CUTTING = 600


class Fitted(NamedTuple):
    """A request, and what it counts: `counts` before results were cut, `total` after that. `cut` results save `saved`
    tokens."""

    request: ModelRequest
    counts: Counts
    total: int
    cut: int = 0
    saved: int = 0


async def fitted(live: Live, branch: str, made: Outline, history: History) -> Fitted:
    counts = count(live, made, history)
    too_many = corrected(live, counts.total) - live.budget.tokens
    if too_many <= 0:
        return Fitted(request_of(live, made, history.fragments()), counts, counts.total)
    shorter = await _with_shorter_results(live, branch, history, too_many, with_tools=bool(made.offers))
    request = request_of(live, made, shorter.fragments)
    return Fitted(request, counts, counts.total - shorter.saved, shorter.cut, shorter.saved)


class _Shorter(NamedTuple):
    fragments: list[bytes]
    cut: int
    saved: int


async def _with_shorter_results(
    live: Live, branch: str, history: History, too_many: int, *, with_tools: bool
) -> _Shorter:
    """The fragments of a history with its longest results cut, longest first, until `too_many` tokens are saved or
    there is nothing more to cut."""
    blocks = history.blocks()
    order = sorted(range(len(blocks)), key=lambda number: -blocks[number].results)
    replaced: dict[int, list[bytes]] = {}
    saved = cut = 0
    for number in order:
        if corrected(live, saved) >= too_many or blocks[number].results < _WORTH_CUTTING:
            break
        shorter = await _cut(live, branch, history, number, with_tools=with_tools)
        if shorter.cut:
            replaced[number] = shorter.fragments
            saved, cut = saved + shorter.saved, cut + shorter.cut
    fragments = history.fragments()
    for number in sorted(replaced, reverse=True):
        start, end = history.fragments_of(number)
        fragments[start:end] = replaced[number]
    return _Shorter(fragments, cut, saved)


async def _cut(live: Live, branch: str, history: History, number: int, *, with_tools: bool) -> _Shorter:
    blocks = history.blocks()
    end = blocks[number + 1].start if number + 1 < len(blocks) else history.length
    request, *others = await read(live, live.branches[branch], [(blocks[number].start, end)])
    if not isinstance(request, ToolRequest):  # the branch was compressed while somebody only looked
        return _Shorter([], 0, 0)
    results = {each.call_id: each for each in reversed(others) if isinstance(each, ToolResult)}
    count = live.counter.count
    fragments = render(request, results, live.parts.adapter.encode, with_tools=with_tools, limit=_RESULT_AT_LEAST)
    long = [each for each in results.values() if len(each.content) > _RESULT_AT_LEAST]
    saved = sum(count(result_text(each)) - count(result_text(each, _RESULT_AT_LEAST)) for each in long)
    return _Shorter(fragments, len(long), saved)
