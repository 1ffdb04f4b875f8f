"""Shorten a request that does not fit: the tokens that each block gets, and messages shortened to them.

In this order, and only as far as needed: the oldest blocks before the turn are omitted; results are shortened; the
longest blocks are shortened; blocks of the turn, pinned ones and summaries are omitted. The first message of the turn
and its last block are always sent.
"""

import contextlib
import itertools
from collections.abc import Callable, Mapping, Sequence
from enum import IntEnum
from typing import Any, NamedTuple

import msgspec

from pilothouse.domain.messages import ToolCall, ToolRequest, ToolResult
from pilothouse.domain.value import CallId
from pilothouse.llm.base import AssistantText, ModelMessage, UserImage, UserText
from pilothouse.window.model_messages import TOKENS_PER_MESSAGE, as_calls, as_text, shorten_characters, tokens_in
from pilothouse.window.tokens import Counter

MIN_ROOM_TOKENS = 300
"""The room beside the prompt and the tools with which a turn can go on."""
NOTICE_TOKENS = 40
"""The tokens of the notice about omitted blocks, at most."""
MIN_BLOCK_TOKENS = 80
MIN_RESULT_TOKENS = 500
_MIN_RESULT_CHARACTERS = 400
_MIN_VALUE_CHARACTERS = 80
_MAX_CHARACTERS_PER_TOKEN = 8
_MAX_NAME_CHARACTERS = 60
_MAX_ESTIMATES = 4
_MAX_VALUES = 10_000
"""Arguments of more values than these are shortened as text, not value by value."""
_NOTICE = (
    "[{count} messages are left out here: they do not fit into the context window. The person can still read them.]"
)


class Rank(IntEnum):
    """The order in which blocks are omitted."""

    BEFORE_TURN = 0
    IN_TURN = 1
    PINNED = 2
    SUMMARY = 3
    REQUIRED = 4


class Item(NamedTuple):
    """A block of a request."""

    tokens: int
    results: int = 0
    """The part of `tokens` that are results."""
    calls: int = 0
    """The number of calls with these results."""
    rank: Rank = Rank.BEFORE_TURN


def allocate_tokens(items: Sequence[Item], room: int) -> list[int]:
    """The tokens of each item so that all fit into `room`: its own where it is sent whole, 0 where it is omitted. The
    items fit if `room` holds `MIN_BLOCK_TOKENS` for each required one."""
    shares = [item.tokens for item in items]
    _omit_blocks(items, shares, room, (Rank.BEFORE_TURN,))
    if sum(shares) <= room:
        return shares
    _shorten_results(items, shares, room)
    if sum(shares) <= room:
        return shares
    _omit_blocks(items, shares, room, (Rank.IN_TURN, Rank.PINNED, Rank.SUMMARY), min_tokens=MIN_BLOCK_TOKENS)
    level = _water_level(shares, room)
    return [min(tokens, level) for tokens in shares]


def _omit_blocks(
    items: Sequence[Item], shares: list[int], room: int, ranks: Sequence[Rank], min_tokens: int | None = None
) -> None:
    """Omit items of these ranks, the oldest first, until the others fit, each with `min_tokens` tokens at most."""
    needed = [tokens if min_tokens is None else min(tokens, min_tokens) for tokens in shares]
    excess = sum(needed) - room
    for rank in ranks:
        for number, item in enumerate(items):
            if excess <= 0:
                return
            if item.rank is rank:
                excess -= needed[number]
                shares[number] = 0


def _shorten_results(items: Sequence[Item], shares: list[int], room: int) -> None:
    sent_numbers = [number for number, tokens in enumerate(shares) if tokens and items[number].results]
    room += sum(items[number].results for number in sent_numbers) - sum(shares)
    tokens_per_result = [
        items[number].results // items[number].calls for number in sent_numbers for _ in range(items[number].calls)
    ]
    level = max(MIN_RESULT_TOKENS, _water_level(tokens_per_result, room))
    for number in sent_numbers:
        shares[number] -= max(0, items[number].results - level * items[number].calls)


def _water_level(amounts: Sequence[int], room: int) -> int:
    """The highest level such that the amounts, each lowered to this level, fit into `room` together."""
    remaining, ascending = room, sorted(amounts)
    for number, amount in enumerate(ascending):
        others = len(ascending) - number
        if amount * others > remaining:
            return max(0, remaining // others)
        remaining -= amount
    return ascending[-1] if ascending else 0


def omission_notice(count: int) -> UserText:
    return UserText(content=_NOTICE.format(count=count))


def shorten_text(text: str, counter: Counter, tokens: int) -> str:
    """The head and the tail of a text within `tokens`, with a notice between them."""
    total = counter.count(text)
    if total <= tokens:
        return text
    length = min(len(text) - 1, len(text) * tokens // total, tokens * _MAX_CHARACTERS_PER_TOKEN)
    for attempt in itertools.count():
        if length <= 0:
            break
        shorter = shorten_characters(text, length, "it is too long for the context window")
        used = counter.count(shorter)
        if used <= tokens:
            return shorter
        # First by the density of the text. A text that is denser towards its ends would take many such steps: then by
        # halves.
        length = min(length - 1, length * tokens // used * 19 // 20 if attempt < _MAX_ESTIMATES else length // 2)
    return shorten_characters(text, 0, "it is too long for the context window").strip()


def shorten_message(message: ModelMessage, counter: Counter, tokens: int) -> ModelMessage:
    """Shorten a message that is no call and no result."""
    room = tokens - TOKENS_PER_MESSAGE
    match message:
        case UserImage(name=name):
            notice = f"[The image {name[-_MAX_NAME_CHARACTERS:]} does not fit into the context window: it is not shown]"
            return UserText(content=shorten_text(notice, counter, room))
        case AssistantText(content=content):
            return AssistantText(content=shorten_text(content, counter, room))
        case UserText(content=content):
            return UserText(content=shorten_text(content, counter, room))
        case _:
            raise AssertionError(f"{type(message).__name__} is a part of a round")


def shorten_beside(texts: Sequence[ModelMessage], counter: Counter, tokens: int) -> list[ModelMessage]:
    """Shorten the texts beside the messages of a block, which has `tokens` in all: they may take half of them."""
    if sum(tokens_in(text, counter) for text in texts) <= tokens // 2:
        return list(texts)
    return [shorten_message(text, counter, tokens // 2 // len(texts)) for text in texts]


class ShortRound(NamedTuple):
    """A request with its results, shortened."""

    messages: list[ModelMessage]
    results: int
    """How many results were shortened."""
    is_request_shortened: bool
    """Whether the text of the request or the arguments of its calls were shortened too."""


def shorten_round(
    request: ToolRequest,
    results: Mapping[CallId, ToolResult],
    counter: Counter,
    tokens: int,
    *,
    with_tools: bool,
    reasoning_of: str | None = None,
) -> ShortRound:
    """Shorten the results, then also the text and the arguments. If that is not enough, the round is sent as text.

    A request whose text or arguments are shortened is sent without reasoning, since a provider's signatures belong to
    the whole answer.
    Each attempt costs a pass over the round. The number of passes is the logarithm of the number of limits.
    """
    convert = as_calls if with_tools else as_text
    whole = next(iter(as_calls(request, {}, 0, reasoning_of=reasoning_of) if with_tools else as_text(request, {}, 0)))
    whole_tokens = tokens_in(whole, counter)
    without_arguments = _without_arguments(request)

    def with_short_results(limit: int) -> tuple[list[ModelMessage], int]:
        answers = list(convert(without_arguments, results, limit))[1:]
        return [whole, *answers], whole_tokens + _count(answers, counter)

    arguments = [_values_or_none(call) for call in request.calls]

    def all_short(limit: int) -> tuple[list[ModelMessage], int]:
        messages = list(convert(_short_request(request, arguments, limit), results, limit))
        return messages, _count(messages, counter)

    for attempt, min_characters in ((with_short_results, _MIN_RESULT_CHARACTERS), (all_short, _MIN_VALUE_CHARACTERS)):
        if attempt is with_short_results and whole_tokens > tokens:
            continue
        fitting = _longest_that_fits(attempt, _limits(tokens, len(request.calls), min_characters), tokens)
        if fitting is not None:
            limit, messages = fitting
            return ShortRound(messages, _count_longer(results, limit), attempt is all_short)
    short = _short_request(request, arguments, _MIN_VALUE_CHARACTERS)
    messages = [
        shorten_message(message, counter, tokens // 2) for message in as_text(short, results, _MIN_RESULT_CHARACTERS)
    ]
    return ShortRound(messages, len(results), True)


def _limits(tokens: int, calls: int, min_characters: int) -> list[int]:
    """Decreasing limits on the characters of each part of a round, down to `min_characters`."""
    limit = tokens * _MAX_CHARACTERS_PER_TOKEN // calls
    limits: list[int] = []
    while limit > min_characters:
        limits.append(limit)
        limit = limit * 2 // 3
    return [*limits, min_characters]


def _longest_that_fits(
    attempt: Callable[[int], tuple[list[ModelMessage], int]], limits: Sequence[int], tokens: int
) -> tuple[int, list[ModelMessage]] | None:
    """The messages of the largest limit that takes at most `tokens`, found by bisection; None where none does."""
    messages, used = attempt(limits[-1])
    if used > tokens:
        return None
    fitting = limits[-1], messages
    low, high = 0, len(limits) - 1
    while low < high:
        middle = (low + high) // 2
        messages, used = attempt(limits[middle])
        if used <= tokens:
            fitting, high = (limits[middle], messages), middle
        else:
            low = middle + 1
    return fitting


def _without_arguments(request: ToolRequest) -> ToolRequest:
    """The request without text and arguments, for converting only its results."""
    calls = tuple(msgspec.structs.replace(call, arguments="{}") for call in request.calls)
    bare: ToolRequest = msgspec.structs.replace(request, content="", calls=calls)
    return bare


def _count(messages: Sequence[ModelMessage], counter: Counter) -> int:
    return sum(tokens_in(message, counter) for message in messages)


def _count_longer(results: Mapping[CallId, ToolResult], limit: int) -> int:
    return sum(len(result.content) > limit for result in results.values())


def _short_request(request: ToolRequest, arguments: Sequence[Any], limit: int) -> ToolRequest:
    """The request with short texts. `arguments` are the decoded ones of each call; None for calls shortened as text."""
    shorter: ToolRequest = msgspec.structs.replace(
        request,
        content=shorten_characters(request.content, limit),
        calls=tuple(_short_call(call, values, limit) for call, values in zip(request.calls, arguments, strict=True)),
    )
    return shorter


def _short_call(call: ToolCall, values: Any, limit: int) -> ToolCall:
    if len(call.arguments) <= limit:
        return call
    arguments = shorten_characters(call.arguments, limit)
    if values is not None:
        with contextlib.suppress(msgspec.MsgspecError, UnicodeError, OverflowError, RecursionError):
            arguments = msgspec.json.encode(_short_values(values, limit)).decode()
    shorter: ToolCall = msgspec.structs.replace(call, arguments=arguments)
    return shorter


def _values_or_none(call: ToolCall) -> Any:
    """The decoded arguments of a call; None if they are no JSON, or of so many values that shortening each one saves
    nothing."""
    try:
        values = msgspec.json.decode(call.arguments)
    except (msgspec.MsgspecError, UnicodeError, OverflowError, RecursionError):
        return None
    return values if _has_few_values(values) else None


def _has_few_values(data: Any) -> bool:
    remaining, stack = _MAX_VALUES, [data]
    while stack:
        value = stack.pop()
        parts = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
        remaining -= len(parts)
        if remaining < 0:
            return False
        stack += parts
    return True


def _short_values(data: Any, limit: int) -> Any:
    match data:
        case str():
            return shorten_characters(data, limit)
        case dict():
            return {key: _short_values(value, limit) for key, value in data.items()}
        case list():
            return [_short_values(value, limit) for value in data]
        case _:
            return data
