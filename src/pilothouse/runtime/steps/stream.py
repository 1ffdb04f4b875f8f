"""stream: one request to the model, its pieces written and signalled as they come."""

import asyncio
from contextlib import aclosing

from pilothouse.ambient import timestamp
from pilothouse.domain.codes import Code
from pilothouse.domain.errors import ModelError, ModelRefused, ModelTooLong, ModelUnavailable, StoreError
from pilothouse.domain.messages import Ended, Text, Usage
from pilothouse.domain.signals import ContextChanged
from pilothouse.domain.states import (
    AwaitingLLMFirstChunk,
    ConnectingToLLM,
    EnhancingSystemPrompt,
    PreparingLLMRequest,
    ProcessingLLMResponse,
    State,
    StreamingLLMResponse,
    TransientError,
    name_of,
)
from pilothouse.llm.base import CallDelta, TextDelta
from pilothouse.runtime.answer import Answer, Outlet
from pilothouse.runtime.rounds import corrected
from pilothouse.runtime.turn import Turn

ANSWER_LIMIT = 20_000_000
_WORTH_COMPARING = 200
MAX_TOO_LONG = 5

Resume = type[ConnectingToLLM] | type[PreparingLLMRequest] | type[EnhancingSystemPrompt]


async def stream(turn: Turn) -> State:
    _forget_earlier_attempt(turn)
    turn.answer = answer = Answer(turn.new_message_id())
    turn.live.outlet = outlet = Outlet(turn.live, answer.message_id, turn.open.id, answer.deltas)
    try:
        await _receive(turn, answer, outlet)
        if answer.finish_reason is None:
            raise ModelUnavailable(Code.MODEL_CUT)
    except asyncio.CancelledError:
        outlet.close()  # what has come is written now: the store may be closed before its timer
        raise
    except ModelError as error:
        outlet.close()
        return await _after_error(turn, answer, error)
    except StoreError:
        # The pieces could not be written: the text is kept in memory, and the round will be asked again.
        if not _has_kept_cut(turn) and (partial := _partial(turn, "cut")) is not None:
            turn.cut_round = turn.open.round
            async with turn.live.lock:
                kept = turn.live.draft()
                kept.append(partial, turn.open.branch)
                turn.live.unsaved = kept
        raise
    outlet.close()
    _count(turn, answer)
    return ProcessingLLMResponse()


def _forget_earlier_attempt(turn: Turn) -> None:
    """Only the first text of a round that was cut is kept; clients drop what they show of a later one."""
    live, outlet = turn.live, turn.live.writing
    if outlet is not None and outlet.turn == turn.open.id and outlet.flushed:
        live.parts.store.forget_deltas(live.id, outlet.message_id)
        live.outlet = None
        live.parts.hub.publish(ContextChanged(context_id=live.id, version=live.version, fields=("streaming",)))


async def _keep_cut(turn: Turn) -> None:
    """Store the text of a stream that was cut, once in a round: every retry would leave a copy of it."""
    if _has_kept_cut(turn):
        turn.answer = None
        return
    if turn.answer is not None and turn.answer.deltas:
        turn.cut_round = turn.open.round
    await keep_partial(turn, "cut")


def _has_kept_cut(turn: Turn) -> bool:
    return turn.cut_round == turn.open.round


async def _receive(turn: Turn, answer: Answer, outlet: Outlet) -> None:
    assert turn.request is not None
    assert turn.adapter is not None
    live = turn.live
    async with aclosing(turn.adapter.stream(turn.request)) as events:
        async for event in events:
            answer.take(event)
            if answer.size > ANSWER_LIMIT:
                raise ModelRefused(Code.MODEL_ENDLESS, limit=ANSWER_LIMIT)
            if isinstance(live.state, ConnectingToLLM):
                turn.enter(AwaitingLLMFirstChunk())
            if isinstance(event, TextDelta):
                live.enter(_progress(answer), signal=False)
                outlet.moved()
            elif isinstance(event, CallDelta):
                live.enter(_progress(answer), signal=False)


def _progress(answer: Answer) -> StreamingLLMResponse:
    return StreamingLLMResponse(
        chunks_received=len(answer.deltas) + len(answer.calls), chars_accumulated=answer.characters
    )


def _count(turn: Turn, answer: Answer) -> None:
    """Usage is stored with the next commit of the turn."""
    if answer.usage is not None:
        turn.used = answer.usage.plus(turn.used or Usage())
        _correct(turn, answer.usage.input_tokens)


def _correct(turn: Turn, reported: int) -> None:
    """What the provider counted corrects our count from now on. What is far from it was counted otherwise: some leave
    out what they had kept."""
    assert turn.request is not None
    if turn.counted >= _WORTH_COMPARING and 0.5 <= reported / turn.counted <= 2:
        turn.noted.update(token_ratio=round(reported / turn.counted, 3), token_ratio_of=turn.request.model)


async def _after_error(turn: Turn, answer: Answer, error: ModelError) -> State:
    resume: Resume = ConnectingToLLM
    if answer.has_content:
        # None of its calls is run: an argument may be cut in a way that still parses.
        await _keep_cut(turn)
        resume = PreparingLLMRequest
    if isinstance(error, ModelTooLong) and turn.too_long < MAX_TOO_LONG:
        _send_less(turn, error)
        return _waiting(turn, error, EnhancingSystemPrompt, 0.0)
    if isinstance(error, ModelRefused) or turn.retries >= turn.parts.limits.retries:
        return turn.give_up(error.reason, "error")
    turn.retries += 1
    return _waiting(turn, error, resume, _wait(turn, error))


def _send_less(turn: Turn, error: ModelTooLong) -> None:
    """Our count was wrong, or the window is smaller than we know. What came before the turn is compressed first; each
    further refusal halves what this turn may send."""
    assert turn.request is not None
    turn.too_long += 1
    turn.too_long_reason = error.reason
    turn.wait_seconds = 0.0
    if error.window is not None:
        turn.parts.catalogue.learn_window(turn.request.model, error.window)
    if turn.too_long == 1 and turn.live.budget.auto_compress:
        turn.must_shorten = True
    else:
        turn.request_limit = corrected(turn.live, turn.counted) // 2


def _waiting(turn: Turn, error: ModelError, resume: Resume, seconds: float) -> TransientError:
    return TransientError(
        error_type=error.reason,
        retry_count=turn.retries,
        max_retries=turn.parts.limits.retries,
        retry_at=timestamp(turn.parts.ambient.now() + seconds),
        resume_to=name_of(resume),
        wait_seconds=seconds,
    )


async def keep_partial(turn: Turn, ended: Ended) -> None:
    """Store what has arrived of an answer that will not be completed."""
    message = _partial(turn, ended)
    if message is not None:
        async with turn.live.lock:
            draft = turn.live.draft()
            draft.append(message, turn.open.branch)
            await turn.commit(draft)


def _partial(turn: Turn, ended: Ended) -> Text | None:
    """The text so far. Fragments of calls are dropped."""
    answer, turn.answer = turn.answer, None
    if answer is None or not answer.deltas:
        return None
    return Text(
        id=answer.message_id,
        timestamp=turn.parts.now(),
        role="assistant",
        metadata=turn.metadata(),
        content=answer.text,
        chunks=tuple(map(len, answer.deltas)),
        ended=ended,
    )


def _wait(turn: Turn, error: ModelError) -> float:
    limits = turn.parts.limits
    asked = error.retry_after if isinstance(error, ModelUnavailable) else None
    if asked is not None:
        turn.wait_seconds = min(asked, limits.retry_seconds_at_most)
    else:
        backoff = limits.retry_seconds * 2 ** (turn.retries - 1)
        turn.wait_seconds = min(backoff, limits.retry_seconds_at_most) * (0.5 + turn.parts.ambient.fraction() / 2)
    return turn.wait_seconds
