"""The history of a branch as fragments of one wire format, built message by message: only new messages cost.

One rule covers forks, merges, crashes and cancellation: every call is followed by exactly one result. A call without a
result on this branch gets "not run"; a result without its call is omitted.

The history consists of blocks: a single message, or a request with its results. A block is sent as a whole or not at
all. The block holds its position on the branch and its tokens, so fitting a request needs no messages.

A block includes texts that stand beside its messages: before a person's message the files that are open in the editor,
where they differ from those before; behind the results of a round the notices that arrived while calls were open.
"""

import bisect
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import msgspec

from pilothouse.domain.messages import (
    Message,
    ToolCall,
    ToolRequest,
    ToolResult,
    is_overview,
    is_sent_to_model,
    waits_for_results,
)
from pilothouse.domain.value import CallId
from pilothouse.llm.base import AssistantCalls, AssistantText, ModelMessage, UserText, WireFormat
from pilothouse.window.model_messages import (
    CONTINUE_TEXT,
    NO_OPEN_FILES,
    TOKENS_PER_MESSAGE,
    as_calls,
    as_text,
    open_files_text,
    reasoning_tokens,
    to_model_message,
    tokens_in,
    tokens_of,
)
from pilothouse.window.tokens import Counter

_MAX_CALL_ID_CHARACTERS = 64


class Block(NamedTuple):
    """A message, or a request with its results."""

    start: int
    """The position of the first message on the branch. The block ends where the next one starts."""
    fragment: int
    """The index of the first fragment."""
    tokens: int
    results: int = 0
    """The part of `tokens` that are tool results, which can be shortened."""
    calls: int = 0
    """The number of calls."""
    is_summary: bool = False


class History:
    """The encoded history of one branch, for one model and one set of tools."""

    def __init__(
        self,
        wire_format: WireFormat,
        counter: Counter,
        *,
        with_tools: bool,
        vision: bool = False,
        overviews_from: int = 0,
    ) -> None:
        """Without tools in the request, calls and results are sent as text. `vision` says whether the model has vision
        and gets images. Overviews of the workspace before the position `overviews_from` are omitted: the one in the
        system prompt is as new."""
        self.wire_format = wire_format
        self._counter = counter
        self._with_tools = with_tools
        self.reasoning_of = wire_format.name if wire_format.sends_reasoning else None
        """The format whose reasoning the history holds, if any."""
        self.vision = vision
        self._overviews_from = overviews_from
        self._fragments: list[bytes] = []
        self._blocks: list[Block] = []
        self._tokens = 0
        self._ends_with_assistant = False
        self._request: ToolRequest | None = None
        self._request_at = 0
        self._results: dict[CallId, ToolResult] = {}
        self._call_ids: set[CallId] = set()
        self._calls_of: dict[int, tuple[ToolCall, ...]] = {}
        self._texts_beside: dict[int, list[ModelMessage]] = {}
        self._open_files = NO_OPEN_FILES
        self.length = 0

    def extend(self, messages: Iterable[Message]) -> None:
        for message in messages:
            self._add(message)
            self.length += 1

    def _add(self, message: Message) -> None:
        if isinstance(message, ToolResult):
            self._add_result(message)
        elif not is_sent_to_model(message) or (is_overview(message) and self.length < self._overviews_from):
            return
        elif self._request is not None and waits_for_results(message):
            self._texts_beside.setdefault(self._request_at, []).append(to_model_message(message))
        else:
            self._close()
            if not isinstance(message, ToolRequest):
                self._note_open_files(message)
                self._add_block(message)
            elif calls := self._new_calls(message):
                self._request, self._request_at = msgspec.structs.replace(message, calls=calls), self.length

    def _new_calls(self, request: ToolRequest) -> tuple[ToolCall, ...]:
        """The calls with a valid id that no earlier call has. Every API refuses the others. Only an imported
        conversation can hold such calls."""
        new_calls = (
            call
            for call in request.calls
            if call.id not in self._call_ids and 0 < len(call.id) <= _MAX_CALL_ID_CHARACTERS
        )
        calls = {call.id: call for call in new_calls}
        self._call_ids.update(calls)
        if len(calls) == len(request.calls):
            return request.calls
        self._calls_of[self.length] = tuple(calls.values())
        return self._calls_of[self.length]

    def _add_block(self, message: Message) -> None:
        model_message = to_model_message(message, vision=self.vision, reasoning_of=self.reasoning_of)
        tokens = tokens_of(message, self._counter, vision=self.vision) + self._count_beside(self.length)
        if isinstance(model_message, AssistantText):
            tokens += reasoning_tokens(model_message, self._counter)
        is_summary = getattr(message, "kind", None) == "summary"
        self._blocks.append(Block(self.length, len(self._fragments), tokens, is_summary=is_summary))
        self._fragments += [self.wire_format.encode(part) for part in (*self.texts_beside(self.length), model_message)]
        self._tokens += tokens
        if not waits_for_results(message):  # a notice asks for nothing
            self._ends_with_assistant = isinstance(model_message, AssistantText)

    def _note_open_files(self, message: Message) -> None:
        """Put the open files before a message if they differ from those before. They stay there for good."""
        text = open_files_text(message)
        if text is not None and text != self._open_files:
            self._open_files = text
            self._texts_beside[self.length] = [UserText(content=text)]

    def texts_beside(self, position: int) -> Sequence[ModelMessage]:
        """The texts beside the messages of the block that starts at a position."""
        return self._texts_beside.get(position, ())

    def _count_beside(self, position: int) -> int:
        return sum(tokens_in(message, self._counter) for message in self.texts_beside(position))

    @property
    def tokens(self) -> int:
        """The tokens of the whole history, with the open block and the ending."""
        return self._tokens + (self._open_block().tokens if self._request is not None else 0) + self.ending_tokens

    def fragments(self) -> list[bytes]:
        """The whole history, with "not run" for open calls. The last message is never the model's own: some servers
        refuse such a request."""
        ending = [self.wire_format.encode(UserText(content=CONTINUE_TEXT))] if self._needs_ending() else []
        return self._fragments + self._open_fragments() + ending

    def blocks(self) -> Sequence[Block]:
        """The blocks in order, the open one last."""
        return [*self._blocks, self._open_block()] if self._request is not None else self._blocks

    def fragments_by_block(self) -> tuple[list[list[bytes]], list[bytes]]:
        """The fragments of each block, and those behind the last block."""
        fragments = self.fragments()
        starts = [block.fragment for block in self.blocks()]
        end = len(fragments) - (1 if self._needs_ending() else 0)
        ends = [*starts[1:], end] if starts else []
        return [fragments[start:stop] for start, stop in zip(starts, ends, strict=True)], fragments[end:]

    def calls_at(self, position: int, request: ToolRequest) -> ToolRequest:
        """The request at a position, without the calls that repeat the id of an earlier call."""
        calls = self._calls_of.get(position)
        return request if calls is None else msgspec.structs.replace(request, calls=calls)

    def _needs_ending(self) -> bool:
        return self._request is None and (self._ends_with_assistant or not self._fragments)

    @property
    def ending_tokens(self) -> int:
        """The tokens of the text behind the last block."""
        return self._counter.count(CONTINUE_TEXT) + TOKENS_PER_MESSAGE if self._needs_ending() else 0

    def _add_result(self, result: ToolResult) -> None:
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
        self._fragments += self._open_fragments()
        self._tokens += block.tokens
        self._ends_with_assistant = False
        self._request = None
        self._results = {}

    def _open_block(self) -> Block:
        assert self._request is not None
        if not self._with_tools:
            request_tokens, result_tokens = (
                tokens_in(message, self._counter) for message in as_text(self._request, self._results)
            )
            return Block(
                self._request_at,
                len(self._fragments),
                request_tokens + result_tokens + self._count_beside(self._request_at),
                result_tokens,
                len(self._request.calls),
            )
        request_message, *answers = as_calls(self._request, self._results, reasoning_of=self.reasoning_of)
        assert isinstance(request_message, AssistantCalls)
        results = sum(
            tokens_of(self._results[call.id], self._counter)
            if call.id in self._results
            else tokens_in(result, self._counter)
            for call, result in zip(self._request.calls, answers, strict=True)
        )
        tokens = tokens_of(self._request, self._counter) + reasoning_tokens(request_message, self._counter)
        tokens += results + self._count_beside(self._request_at)
        return Block(self._request_at, len(self._fragments), tokens, results, len(self._request.calls))

    def _open_fragments(self) -> list[bytes]:
        if self._request is None:
            return []
        round_ = (
            as_calls(self._request, self._results, reasoning_of=self.reasoning_of)
            if self._with_tools
            else as_text(self._request, self._results)
        )
        messages = (*round_, *self.texts_beside(self._request_at))
        return [self.wire_format.encode(message) for message in messages]


def first_from(blocks: Sequence[Block], position: int) -> int:
    """The index of the first block that starts at or behind a position."""
    return bisect.bisect_left(blocks, position, key=lambda block: block.start)
