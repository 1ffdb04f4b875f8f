"""The history of a branch as the adapter's own fragments, folded message by message: only what is new costs.

One rule serves fork, merge, crash and cancel alike: every call is followed by exactly one result. A call
without one on this branch gets "not run"; a result without its call is left out.

It is made of blocks: a message by itself, or a request with its results. A block is kept whole or not at all, and knows
where it begins on the branch and what it counts; so what fits can be told without reading anything.
"""

import bisect
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

import msgspec

from pilothouse.domain.messages import Message, ToolCall, ToolRequest, ToolResult, is_told
from pilothouse.domain.values import CallId
from pilothouse.llm.base import AssistantText, ModelMessage, UserText
from pilothouse.window.telling import GO_ON, PER_MESSAGE, as_calls, as_text, shown, tokens_in, tokens_of
from pilothouse.window.tokens import Counter

_ID_AT_MOST = 64

Encode = Callable[[ModelMessage], bytes]


class Block(NamedTuple):
    """From the message at `start` up to the next block. `fragment` is where its fragments begin; `results` is the part
    of its tokens that are results, of so many `calls`: they can be shortened where nothing else helps."""

    start: int
    fragment: int
    tokens: int
    results: int = 0
    calls: int = 0
    is_summary: bool = False


class History:
    """`with_tools` is false where the request carries none: then calls and results are told as text. `sees` says
    whether the model does: then it is shown images."""

    def __init__(self, encode: Encode, counter: Counter, *, with_tools: bool, sees: bool = False) -> None:
        self._encode = encode
        self._counter = counter
        self._with_tools = with_tools
        self._sees = sees
        self._closed: list[bytes] = []
        self._blocks: list[Block] = []
        self._tokens = 0
        self._by_assistant = False
        self._request: ToolRequest | None = None
        self._request_at = 0
        self._results: dict[CallId, ToolResult] = {}
        self._asked: set[CallId] = set()
        self._calls_of: dict[int, tuple[ToolCall, ...]] = {}
        self.length = 0

    def extend(self, messages: Iterable[Message]) -> None:
        for message in messages:
            self._take(message)
            self.length += 1

    def _take(self, message: Message) -> None:
        if isinstance(message, ToolResult):
            self._take_result(message)
        elif is_told(message):
            self._close()
            if not isinstance(message, ToolRequest):
                self._put(message)
            elif calls := self._not_asked_before(message):
                self._request, self._request_at = msgspec.structs.replace(message, calls=calls), self.length

    def _not_asked_before(self, request: ToolRequest) -> tuple[ToolCall, ...]:
        """An id that is none, or is there twice, is refused by every API; only a file from elsewhere can hold one."""
        new = (call for call in request.calls if call.id not in self._asked and 0 < len(call.id) <= _ID_AT_MOST)
        calls = {call.id: call for call in new}
        self._asked.update(calls)
        if len(calls) == len(request.calls):
            return request.calls
        self._calls_of[self.length] = tuple(calls.values())
        return self._calls_of[self.length]

    def _put(self, message: Message) -> None:
        told = shown(message, sees=self._sees)
        tokens = tokens_of(message, self._counter, sees=self._sees)
        is_summary = getattr(message, "kind", None) == "summary"
        self._blocks.append(Block(self.length, len(self._closed), tokens, is_summary=is_summary))
        self._closed.append(self._encode(told))
        self._tokens += tokens
        self._by_assistant = isinstance(told, AssistantText)

    @property
    def tokens(self) -> int:
        """All of it, what is still open too."""
        return self._tokens + (self._open_block().tokens if self._request is not None else 0) + self.ending_tokens

    def fragments(self) -> list[bytes]:
        """All of it, the calls that are still open answered too. It ends with something to answer: some servers refuse
        a request that ends with the model's own words."""
        ending = [self._encode(UserText(content=GO_ON))] if self._needs_ending() else []
        return self._closed + self._rendered() + ending

    def blocks(self) -> Sequence[Block]:
        """In their order, the open one last."""
        return [*self._blocks, self._open_block()] if self._request is not None else self._blocks

    def fragments_by_block(self) -> tuple[list[list[bytes]], list[bytes]]:
        """The fragments of each block, and those behind the last one."""
        fragments = self.fragments()
        starts = [block.fragment for block in self.blocks()]
        end = len(fragments) - (1 if self._needs_ending() else 0)
        ends = [*starts[1:], end] if starts else []
        return [fragments[start:stop] for start, stop in zip(starts, ends, strict=True)], fragments[end:]

    def calls_at(self, position: int, request: ToolRequest) -> ToolRequest:
        """The request at a position as it is sent: with the calls that no earlier one has asked for."""
        calls = self._calls_of.get(position)
        return request if calls is None else msgspec.structs.replace(request, calls=calls)

    def _needs_ending(self) -> bool:
        return self._request is None and (self._by_assistant or not self._closed)

    @property
    def ending_tokens(self) -> int:
        """What stands behind the last block."""
        return self._counter.count(GO_ON) + PER_MESSAGE if self._needs_ending() else 0

    def _take_result(self, result: ToolResult) -> None:
        request = self._request
        if request is None or result.call_id in self._results:
            return
        if any(call.id == result.call_id for call in request.calls):
            self._results[result.call_id] = result
            if len(self._results) == len(request.calls):
                self._close()

    def _close(self) -> None:
        if self._request is None:
            return
        block = self._open_block()
        self._blocks.append(block)
        self._closed += self._rendered()
        self._tokens += block.tokens
        self._by_assistant = False
        self._request = None
        self._results = {}

    def _open_block(self) -> Block:
        assert self._request is not None
        if not self._with_tools:
            asked, answered = (tokens_in(each, self._counter) for each in as_text(self._request, self._results))
            return Block(self._request_at, len(self._closed), asked + answered, answered, len(self._request.calls))
        told = list(as_calls(self._request, self._results))
        results = sum(
            tokens_of(self._results[call.id], self._counter)
            if call.id in self._results
            else tokens_in(text, self._counter)
            for call, text in zip(self._request.calls, told[1:], strict=True)
        )
        tokens = tokens_of(self._request, self._counter) + results
        return Block(self._request_at, len(self._closed), tokens, results, len(self._request.calls))

    def _rendered(self) -> list[bytes]:
        if self._request is None:
            return []
        tell = as_calls if self._with_tools else as_text
        return [self._encode(message) for message in tell(self._request, self._results)]


def first_from(blocks: Sequence[Block], position: int) -> int:
    """The number of the first block that begins at a position or behind it."""
    return bisect.bisect_left(blocks, position, key=lambda block: block.start)
