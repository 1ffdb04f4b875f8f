"""Telling messages in short: asking the model for a summary, or saying what can be said without it."""

import asyncio
from collections.abc import Callable, Sequence
from typing import Literal, TypeVar

import msgspec

from pilothouse.domain.budgets import Budget
from pilothouse.domain.codes import Code, Reason
from pilothouse.domain.errors import ModelError, ModelUnavailable
from pilothouse.domain.messages import Message, Usage
from pilothouse.domain.prices import priced
from pilothouse.domain.states import CompressingMessages, GeneratingSummary, State
from pilothouse.domain.values import Value
from pilothouse.llm.base import Adapter, ModelRequest, UserText
from pilothouse.llm.whole import whole_answer
from pilothouse.runtime.live import Live
from pilothouse.runtime.windows import token_ratio
from pilothouse.window.compression import Plan, summary_tokens
from pilothouse.window.summary import files_touched, finished, fit_text, instruction, pieces, record, without_model
from pilothouse.window.telling import SUMMARY_AROUND

_PIECES = 8
_CHARACTERS_AT_MOST = 100_000
_TRIES = 2

_MANY = 1000

T = TypeVar("T")
How = Literal["model", "truncated", "recent_n"]


class Summary(Value, kw_only=True):
    """`why` says what went wrong, where no model could tell it."""

    text: str
    how: How
    files: tuple[str, ...] = ()
    why: Reason | None = None
    usage: Usage = Usage()


def own_budget(live: Live) -> Budget:
    """The budget in tokens as we count them."""
    budget: Budget = msgspec.structs.replace(live.budget, tokens=int(live.budget.tokens / token_ratio(live)))
    return budget


async def tell_in_short(
    live: Live, messages: Sequence[Message], made: Plan, enter: Callable[[State], None], focus: str | None
) -> Summary:
    """Ask the model where the plan says so; where it fails, say what can be said without it."""
    counter, budget = live.counter, own_budget(live)
    tokens = max(40, summary_tokens(made.tokens, made.earlier, budget) - SUMMARY_AROUND)
    files = await _beside(messages, lambda: files_touched(messages))
    how: How = "recent_n"
    why: Reason | None = None
    used = Usage()
    if made.summarised:
        enter(GeneratingSummary())
        try:
            text, used = await _asked(live, messages, budget, tokens, focus)
            return Summary(text=finished(text, files, counter, tokens), how="model", files=tuple(files), usage=used)
        except ModelError as error:
            how, why = "truncated", error.reason
            enter(CompressingMessages(messages_to_compress=made.messages))
    told = await _beside(messages, lambda: without_model(messages, counter, tokens))
    text = finished(told, files, counter, tokens)
    return Summary(text=text, how=how, files=tuple(files), why=why, usage=used)


async def _beside(messages: Sequence[Message], work: Callable[[], T]) -> T:
    """A long history takes its time: other conversations are not to wait for it."""
    return await asyncio.to_thread(work) if len(messages) > _MANY else work()


async def _asked(
    live: Live, messages: Sequence[Message], budget: Budget, tokens: int, focus: str | None
) -> tuple[str, Usage]:
    """Piece by piece, each with the summary of those before it. Raises: ModelError."""
    adapter, model, price = live.parts.adapter, live.model, live.facts.price
    around = budget.summary_tokens + tokens + live.counter.count(instruction(tokens, focus))
    room = max(200, budget.tokens - around) * 3 // 4
    found, left_out = await _beside(messages, lambda: pieces(record(messages), live.counter, room, _PIECES))
    text, used = "", Usage()
    for number, piece in enumerate(found):
        is_behind_gap = left_out and number == len(found) // 2
        gap = f"[{left_out} entries of the record are left out here]\n\n" if is_behind_gap else ""
        so_far = fit_text(text, live.counter, tokens)  # a model may have written more than it was asked for
        earlier = f"Earlier summary:\n{so_far}\n\n" if text else ""
        message = adapter.encode(UserText(content=f"{earlier}{gap}{piece}"))
        request = ModelRequest(model=model, system=instruction(tokens, focus), messages=[message], purpose="summary")
        text, usage = await _answered(live, adapter, request)
        used = used.plus(priced(usage, price))
    return text, used


async def _answered(live: Live, adapter: Adapter, request: ModelRequest) -> tuple[str, Usage]:
    for attempt in range(1, _TRIES + 1):
        try:
            text, usage = await whole_answer(adapter, request, characters=_CHARACTERS_AT_MOST)
        except ModelUnavailable:
            if attempt == _TRIES:
                raise
            await live.parts.ambient.sleep(live.parts.limits.retry_seconds)
            continue
        if text.strip():
            return text, usage
        raise ModelUnavailable(Code.EMPTY_ANSWER)
    raise AssertionError("the last attempt returns or raises")
