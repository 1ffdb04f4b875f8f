"""Fitting a request into the budget: messages are shortened, or omitted with a notice in their place. Stored messages
do not change."""

import asyncio
import bisect
from collections.abc import Sequence
from typing import NamedTuple

from pilothouse.domain.branches import Branch
from pilothouse.domain.messages import Message, ToolRequest, ToolResult
from pilothouse.domain.value import Value
from pilothouse.llm.base import ModelMessage, ModelRequest, UserText
from pilothouse.runtime.compression.branch import pinned_positions, read_ranges
from pilothouse.runtime.context.live_context import LiveContext
from pilothouse.runtime.dependencies import ModelChoice
from pilothouse.runtime.request.builder import (
    Counts,
    Outline,
    build_request,
    count_tokens,
)
from pilothouse.runtime.request.last_input import read_last_input
from pilothouse.window.history import Block, History, first_from
from pilothouse.window.model_messages import to_model_message, tokens_in
from pilothouse.window.truncation import (
    MIN_ROOM_TOKENS,
    NOTICE_TOKENS,
    Item,
    Rank,
    allocate_tokens,
    omission_notice,
    shorten_beside,
    shorten_message,
    shorten_round,
)


class Truncation(Value, kw_only=True):
    """How a request was shortened to fit."""

    results: int = 0
    """Results that are shortened."""
    messages: int = 0
    """Other messages that are shortened."""
    pins: int = 0
    """Pinned messages among the shortened and omitted ones."""
    left_out: int = 0
    """Messages that are omitted."""
    tokens: int = 0
    """Tokens saved, by our own count."""


class FittedRequest(NamedTuple):
    """A request within its limit."""

    request: ModelRequest
    counts: Counts
    """Before the truncation, as the meter shows them."""
    total: int
    """Tokens after the truncation."""
    truncation: Truncation


async def fit_request(
    live: LiveContext, branch: str, outline: Outline, history: History, model: ModelChoice, limit: int | None = None
) -> FittedRequest:
    """A request of at most `limit` tokens by the provider's count, by default the budget's limit. The request exceeds
    the limit only where prompt and tools leave no room. The request is for the given model and in the format of the
    history, also where another provider is set up before its end."""
    limit = model.budget.request_tokens if limit is None else limit
    counts, wire_format = count_tokens(live, outline, history, model), history.wire_format
    if model.provider_tokens(counts.total) <= limit:
        request = build_request(model, outline, wire_format, history.fragments())
        return FittedRequest(request, counts, counts.total, Truncation())
    fixed = sum(counts.prompt) + counts.tools + history.ending_tokens
    room = max(MIN_ROOM_TOKENS, int(limit / model.token_ratio) - fixed) - NOTICE_TOKENS
    shortener = _Shortener(live, live.branches[branch], history, model, with_tools=outline.has_tools)
    items = [*await _items(live, branch, shortener.blocks), Item(counts.attached, rank=Rank.REQUIRED)]
    *block_shares, attached_share = allocate_tokens(items, room)
    for index, tokens in enumerate(block_shares):
        if tokens < items[index].tokens:
            await shortener.shorten(index, tokens, is_pinned=items[index].rank is Rank.PINNED)
    if shortener.is_stale():  # the branch was compressed during a preview
        reloaded = await live.history_cache.history(
            live, branch, model, with_tools=outline.has_tools, wire_format=wire_format
        )
        return await fit_request(live, branch, outline, reloaded, model, limit)
    attached = await shortener.attached(outline.attached, attached_share, counts.attached)
    request = build_request(model, outline, wire_format, shortener.fragments(), attached)
    return FittedRequest(request, counts, counts.total - shortener.saved, shortener.truncation())


async def _items(live: LiveContext, branch: str, blocks: Sequence[Block]) -> list[Item]:
    """The blocks of a history with their ranks."""
    turn = live.core.turn
    first_of_turn = first_from(blocks, turn.start if turn is not None else (await read_last_input(live)).start)
    pinned = {
        bisect.bisect_right(blocks, position, key=lambda block: block.start) - 1
        for position in await pinned_positions(live, live.branches[branch])
    }
    required = {first_of_turn, len(blocks) - 1}

    def rank(number: int, block: Block) -> Rank:
        if number in required:
            return Rank.REQUIRED
        if block.is_summary:
            return Rank.SUMMARY
        if number in pinned:
            return Rank.PINNED
        return Rank.BEFORE_TURN if number < first_of_turn else Rank.IN_TURN

    return [Item(block.tokens, block.results, block.calls, rank(number, block)) for number, block in enumerate(blocks)]


class _Shortener:
    """Replaces a history's encoded fragments, as of its construction, by shortened ones."""

    def __init__(
        self, live: LiveContext, branch: Branch, history: History, model: ModelChoice, *, with_tools: bool
    ) -> None:
        self._live = live
        self._counter = model.counter
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
        """Whether the branch has another list by now."""
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
            notice = self._history.wire_format.encode(omission_notice(self._left_out))
            self._fragments[self._notice_at] = [notice]
        return [*(fragment for block in self._fragments for fragment in block), *self._ending]

    async def shorten(self, number: int, tokens: int, *, is_pinned: bool) -> None:
        """Shorten a block to a number of tokens; zero omits the block."""
        self._pins += is_pinned
        if tokens == 0:
            self._left_out += len(self._fragments[number])
            self._notice_at = number if self._notice_at is None else self._notice_at
            self._saved += self.blocks[number].tokens
            self._fragments[number] = []
            return
        end = self.blocks[number + 1].start if number + 1 < len(self.blocks) else self._length
        messages = await read_ranges(self._live, self._branch, [(self.blocks[number].start, end)])
        if self.is_stale() or not messages or isinstance(messages[0], ToolRequest) != (self.blocks[number].results > 0):
            return  # the branch is being compressed during a preview
        shortened = await asyncio.to_thread(self._shorten_messages, number, tokens, messages)
        self._replace(number, shortened)

    def _shorten_messages(self, number: int, tokens: int, messages: Sequence[Message]) -> list[ModelMessage]:
        message, *others = messages
        counter = self._counter
        beside = shorten_beside(self._history.texts_beside(self.blocks[number].start), counter, tokens)
        tokens -= sum(tokens_in(text, counter) for text in beside)
        if not isinstance(message, ToolRequest):
            self._messages += 1
            model_message = to_model_message(message, vision=self._history.vision)
            return [*beside, shorten_message(model_message, counter, tokens)]
        request = self._history.calls_at(self.blocks[number].start, message)
        call_ids = {call.id for call in request.calls}
        results = {result.call_id: result for result in reversed(others) if isinstance(result, ToolResult)}
        results = {call_id: result for call_id, result in results.items() if call_id in call_ids}
        round_messages = shorten_round(
            request,
            results,
            counter,
            tokens,
            with_tools=self._with_tools,
            reasoning_of=self._history.reasoning_of,
        )
        self._results += round_messages.results
        self._messages += round_messages.is_request_shortened
        return [*round_messages.messages, *beside]

    def _replace(self, number: int, messages: Sequence[ModelMessage]) -> None:
        tokens = sum(tokens_in(message, self._counter) for message in messages)
        self._saved += self.blocks[number].tokens - tokens
        self._fragments[number] = [self._history.wire_format.encode(message) for message in messages]

    async def attached(self, messages: Sequence[ModelMessage], tokens: int, before: int) -> Sequence[ModelMessage]:
        """The attachments of the person's message, which count `before` tokens, shortened to `tokens`."""
        if tokens >= before:
            return messages
        text = "\n\n".join(message.content for message in messages if isinstance(message, UserText))
        counter = self._counter
        shortened = await asyncio.to_thread(shorten_message, UserText(content=text), counter, tokens)
        self._messages += 1
        self._saved += before - tokens_in(shortened, counter)
        return [shortened]
