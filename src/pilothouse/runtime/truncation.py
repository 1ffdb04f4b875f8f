"""Building a request that fits. What does not fit is sent shortened or left out, with a notice in its place; what is
stored stays whole."""

import asyncio
import bisect
from collections.abc import Sequence
from typing import NamedTuple

from pilothouse.domain.branches import Branch
from pilothouse.domain.messages import Message, ToolRequest, ToolResult
from pilothouse.domain.values import Value
from pilothouse.llm.base import ModelMessage, ModelRequest, UserText
from pilothouse.runtime.compressing import pinned_positions, read
from pilothouse.runtime.live import Live
from pilothouse.runtime.rounds import Counts, Outline, corrected, count, load, request_of, said_last
from pilothouse.runtime.windows import token_ratio
from pilothouse.window.history import Block, History, first_from
from pilothouse.window.telling import shown, tokens_in
from pilothouse.window.truncation import (
    MIN_ROOM_TOKENS,
    NOTICE_TOKENS,
    Item,
    Rank,
    left_out,
    shares,
    shorten_message,
    shorten_round,
)


class Truncation(Value, kw_only=True):
    """What was done to a request so that it fits."""

    results: int = 0
    """Results that are sent shortened."""
    messages: int = 0
    """Other messages that are sent shortened."""
    pins: int = 0
    """Pinned messages among the shortened and the left out ones."""
    left_out: int = 0
    """Messages that are not sent."""
    tokens: int = 0
    """What all this saves, as we count it."""


class Fitted(NamedTuple):
    request: ModelRequest
    counts: Counts
    """Before anything was shortened: the figure of the meter."""
    total: int
    """After that."""
    truncation: Truncation


async def fitted(live: Live, branch: str, made: Outline, history: History, limit: int | None = None) -> Fitted:
    """A request of at most `limit` tokens as the provider counts them; of what the budget allows, without one. It is
    longer only where the prompt and the tools leave no room."""
    limit = live.budget.request_tokens if limit is None else limit
    counts = count(live, made, history)
    if corrected(live, counts.total) <= limit:
        return Fitted(request_of(live, made, history.fragments()), counts, counts.total, Truncation())
    fixed = sum(counts.prompt) + counts.tools + history.ending_tokens
    room = max(MIN_ROOM_TOKENS, int(limit / token_ratio(live)) - fixed) - NOTICE_TOKENS
    shortener = _Shortener(live, live.branches[branch], history, with_tools=bool(made.offers))
    items = [*await _items(live, branch, shortener.blocks), Item(counts.attached, rank=Rank.REQUIRED)]
    *given, for_attached = shares(items, room)
    for number, tokens in enumerate(given):
        if tokens < items[number].tokens:
            await shortener.shorten(number, tokens, is_pinned=items[number].rank is Rank.PINNED)
    if shortener.is_stale():  # the branch was compressed while somebody only looked
        return await fitted(live, branch, made, await load(live, branch, made), limit)
    attached = await shortener.attached(made.attached, for_attached, counts.attached)
    request = request_of(live, made, shortener.fragments(), attached)
    return Fitted(request, counts, counts.total - shortener.saved, shortener.truncation())


async def _items(live: Live, branch: str, blocks: Sequence[Block]) -> list[Item]:
    """The blocks of a history with their ranks."""
    turn = live.core.turn
    first = first_from(blocks, turn.start if turn is not None else (await said_last(live)).start)
    pinned = {
        bisect.bisect_right(blocks, position, key=lambda block: block.start) - 1
        for position in await pinned_positions(live, live.branches[branch])
    }
    required = {first, len(blocks) - 1}

    def rank(number: int, block: Block) -> Rank:
        if number in required:
            return Rank.REQUIRED
        if block.is_summary:
            return Rank.SUMMARY
        if number in pinned:
            return Rank.PINNED
        return Rank.BEFORE_TURN if number < first else Rank.IN_TURN

    return [Item(block.tokens, block.results, block.calls, rank(number, block)) for number, block in enumerate(blocks)]


class _Shortener:
    """Puts shorter fragments in the place of a history's own, as it is at this instant."""

    def __init__(self, live: Live, branch: Branch, history: History, *, with_tools: bool) -> None:
        self._live = live
        self._branch = branch
        self._history = history
        self._length = history.length
        self.blocks = list(history.blocks())
        self._with_tools = with_tools
        self._fragments, self._ending = history.fragments_by_block()
        self._results = self._messages = self._pins = self._left_out = 0
        self._notice_at: int | None = None
        self._saved = 0

    def is_stale(self) -> bool:
        """Whether the branch is another list by now."""
        branch = self._live.branches.get(self._branch.name)
        return branch is None or branch.key != self._branch.key

    @property
    def saved(self) -> int:
        return self._saved - (NOTICE_TOKENS if self._left_out else 0)

    def truncation(self) -> Truncation:
        return Truncation(
            results=self._results,
            messages=self._messages,
            pins=self._pins,
            left_out=self._left_out,
            tokens=self.saved,
        )

    def fragments(self) -> list[bytes]:
        if self._notice_at is not None:
            notice = self._live.parts.adapter.encode(left_out(self._left_out))
            self._fragments[self._notice_at] = [notice]
        return [*(fragment for block in self._fragments for fragment in block), *self._ending]

    async def shorten(self, number: int, tokens: int, *, is_pinned: bool) -> None:
        """A block within so many tokens; with none, it is left out."""
        self._pins += is_pinned
        if tokens == 0:
            self._left_out += len(self._fragments[number])
            self._notice_at = number if self._notice_at is None else self._notice_at
            self._saved += self.blocks[number].tokens
            self._fragments[number] = []
            return
        end = self.blocks[number + 1].start if number + 1 < len(self.blocks) else self._length
        found = await read(self._live, self._branch, [(self.blocks[number].start, end)])
        if self.is_stale() or not found or isinstance(found[0], ToolRequest) != (self.blocks[number].results > 0):
            return  # the branch is being compressed while somebody only looks
        messages = await asyncio.to_thread(self._shortened, number, tokens, found)
        self._put(number, messages)

    def _shortened(self, number: int, tokens: int, found: Sequence[Message]) -> list[ModelMessage]:
        message, *others = found
        counter = self._live.counter
        if not isinstance(message, ToolRequest):
            self._messages += 1
            return [shorten_message(shown(message, sees=self._live.facts.vision), counter, tokens)]
        request = self._history.calls_at(self.blocks[number].start, message)
        asked = {call.id for call in request.calls}
        results = {each.call_id: each for each in reversed(others) if isinstance(each, ToolResult)}
        results = {call_id: each for call_id, each in results.items() if call_id in asked}
        short = shorten_round(request, results, counter, tokens, with_tools=self._with_tools)
        self._results += short.results
        self._messages += short.is_request_shortened
        return short.messages

    def _put(self, number: int, messages: Sequence[ModelMessage]) -> None:
        used = sum(tokens_in(message, self._live.counter) for message in messages)
        self._saved += self.blocks[number].tokens - used
        self._fragments[number] = [self._live.parts.adapter.encode(message) for message in messages]

    async def attached(self, messages: Sequence[ModelMessage], tokens: int, before: int) -> Sequence[ModelMessage]:
        """What came with the person's message within so many tokens, of `before`."""
        if tokens >= before:
            return messages
        text = "\n\n".join(message.content for message in messages if isinstance(message, UserText))
        counter = self._live.counter
        short = await asyncio.to_thread(shorten_message, UserText(content=text), counter, tokens)
        self._messages += 1
        self._saved += before - tokens_in(short, counter)
        return [short]
