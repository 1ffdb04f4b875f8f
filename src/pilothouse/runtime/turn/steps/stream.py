"""stream: send one request to the model; store and signal the deltas of the answer as they arrive."""

import asyncio
from contextlib import aclosing

from pilothouse.domain.codes import Code
from pilothouse.domain.errors import ModelError, ModelRefused, ModelTooLong, ModelUnavailable, StoreError
from pilothouse.domain.messages import Text, TextEnd, Usage
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
from pilothouse.runtime.request.builder import provider_tokens
from pilothouse.runtime.turn.answer import DeltaWriter, StreamedAnswer
from pilothouse.runtime.turn.turn import Turn
from pilothouse.system.ambient import backoff_seconds, timestamp

_MAX_ANSWER_CHARACTERS = 20_000_000
_MIN_TOKENS_FOR_RATIO = 200
_MAX_TOO_LONG_RETRIES = 5

Resume = type[ConnectingToLLM] | type[PreparingLLMRequest] | type[EnhancingSystemPrompt]


async def stream(turn: Turn) -> State:
    _discard_earlier_attempt(turn)
    turn.answer = answer = StreamedAnswer(turn.new_message_id())
    turn.live.delta_writer = delta_writer = DeltaWriter(turn.live, answer.message_id, turn.open.id, answer.deltas)
    try:
        await _receive(turn, answer, delta_writer)
        if answer.finish_reason is None:
            raise ModelUnavailable(Code.MODEL_CUT)
    except asyncio.CancelledError:
        delta_writer.close()  # flush now: the store may be closed before the writer's timer fires
        raise
    except ModelError as error:
        delta_writer.close()
        return await _after_error(turn, answer, error)
    except StoreError:
        # The store refused the deltas: the text stays in memory as an unsaved change, and the round is sent again.
        if not _has_stored_cut_text(turn) and (partial_text := _take_partial(turn, "cut")) is not None:
            turn.cut_round = turn.open.round
            async with turn.live.lock:
                draft = turn.live.draft()
                draft.append(partial_text, turn.open.branch)
                turn.live.unsaved = draft
        raise
    delta_writer.close()
    _count_usage(turn, answer)
    return ProcessingLLMResponse()


def _discard_earlier_attempt(turn: Turn) -> None:
    """Discard the deltas of an earlier attempt of the round. Only the first partial text of a round is stored; clients
    drop the text of later attempts."""
    live, delta_writer = turn.live, turn.live.open_delta_writer
    if delta_writer is not None and delta_writer.turn == turn.open.id and delta_writer.flushed:
        live.dependencies.store.forget_deltas(live.id, delta_writer.message_id)
        live.delta_writer = None
        live.dependencies.hub.publish(ContextChanged(context_id=live.id, version=live.version, fields=("streaming",)))


async def _store_cut_text(turn: Turn) -> None:
    """Store the text of a stream that was cut, once in a round: otherwise every retry would leave another copy."""
    if _has_stored_cut_text(turn):
        turn.answer = None
        return
    if turn.answer is not None and turn.answer.deltas:
        turn.cut_round = turn.open.round
    await store_partial(turn, "cut")


def _has_stored_cut_text(turn: Turn) -> bool:
    return turn.cut_round == turn.open.round


async def _receive(turn: Turn, answer: StreamedAnswer, delta_writer: DeltaWriter) -> None:
    assert turn.request is not None
    assert turn.adapter is not None
    live = turn.live
    async with aclosing(turn.adapter.stream(turn.request)) as events:
        async for event in events:
            answer.apply(event)
            if answer.size > _MAX_ANSWER_CHARACTERS:
                raise ModelRefused(Code.MODEL_ENDLESS, limit=_MAX_ANSWER_CHARACTERS)
            if isinstance(live.state, ConnectingToLLM):
                turn.enter(AwaitingLLMFirstChunk())
            if isinstance(event, TextDelta):
                live.enter(_progress(answer), signal=False)
                delta_writer.schedule_flush()
            elif isinstance(event, CallDelta):
                live.enter(_progress(answer), signal=False)


def _progress(answer: StreamedAnswer) -> StreamingLLMResponse:
    return StreamingLLMResponse(
        chunks_received=len(answer.deltas) + len(answer.calls), chars_accumulated=answer.characters
    )


def _count_usage(turn: Turn, answer: StreamedAnswer) -> None:
    """Note the reported usage for the next commit of the turn."""
    if answer.usage is not None:
        turn.uncommitted_usage = answer.usage.plus(turn.uncommitted_usage or Usage())
        _update_token_ratio(turn, answer.usage.input_tokens)


def _update_token_ratio(turn: Turn, reported: int) -> None:
    """Correct our token counts by the provider's count from now on. Counts that differ by more than a factor of two are
    ignored, since some providers leave out cached tokens."""
    assert turn.request is not None
    if turn.request_tokens >= _MIN_TOKENS_FOR_RATIO and 0.5 <= reported / turn.request_tokens <= 2:
        turn.pending_core_fields.update(
            token_ratio=round(reported / turn.request_tokens, 3), token_ratio_of=turn.request.model
        )


async def _after_error(turn: Turn, answer: StreamedAnswer, error: ModelError) -> State:
    resume: Resume = ConnectingToLLM
    if answer.has_content:
        # No call of a partial answer runs: a truncated argument may still parse.
        await _store_cut_text(turn)
        resume = PreparingLLMRequest
    if isinstance(error, ModelTooLong) and turn.too_long_count < _MAX_TOO_LONG_RETRIES:
        _shrink_request(turn, error)
        return _transient_error(turn, error, EnhancingSystemPrompt, 0.0)
    if isinstance(error, ModelRefused) or turn.retries >= turn.dependencies.limits.retries:
        return turn.give_up(error.reason, "error")
    turn.retries += 1
    return _transient_error(turn, error, resume, _retry_delay(turn, error))


def _shrink_request(turn: Turn, error: ModelTooLong) -> None:
    """Reduce the next request after the provider refused one as too long: our count was wrong, or the window is smaller
    than the catalog says. The first refusal compresses the messages before the turn; each further one halves the limit
    of this turn's requests."""
    assert turn.request is not None
    turn.too_long_count += 1
    turn.too_long_reason = error.reason
    turn.wait_seconds = 0.0
    if error.window is not None:
        turn.dependencies.catalog.learn_window(turn.request.model, error.window)
    if turn.too_long_count == 1 and turn.live.budget.auto_compress:
        turn.must_shorten = True
    else:
        turn.request_limit = provider_tokens(turn.live, turn.request_tokens) // 2


def _transient_error(turn: Turn, error: ModelError, resume: Resume, seconds: float) -> TransientError:
    return TransientError(
        error_type=error.reason,
        retry_count=turn.retries,
        max_retries=turn.dependencies.limits.retries,
        retry_at=timestamp(turn.dependencies.ambient.now() + seconds),
        resume_to=name_of(resume),
        wait_seconds=seconds,
    )


async def store_partial(turn: Turn, ended: TextEnd) -> None:
    """Store the text of an answer that will not be completed."""
    message = _take_partial(turn, ended)
    if message is not None:
        async with turn.live.lock:
            draft = turn.live.draft()
            draft.append(message, turn.open.branch)
            await turn.commit(draft)


def _take_partial(turn: Turn, ended: TextEnd) -> Text | None:
    """Take the text so far from the turn, as a message. Fragments of calls are dropped."""
    answer, turn.answer = turn.answer, None
    if answer is None or not answer.deltas:
        return None
    return Text(
        id=answer.message_id,
        timestamp=turn.dependencies.now(),
        role="assistant",
        metadata=turn.metadata(),
        content=answer.text,
        chunks=tuple(map(len, answer.deltas)),
        ended=ended,
    )


def _retry_delay(turn: Turn, error: ModelError) -> float:
    limits = turn.dependencies.limits
    retry_after = error.retry_after if isinstance(error, ModelUnavailable) else None
    if retry_after is not None:
        turn.wait_seconds = min(retry_after, limits.retry_seconds_at_most)
    else:
        first, max_seconds = limits.retry_seconds, limits.retry_seconds_at_most
        turn.wait_seconds = backoff_seconds(
            turn.dependencies.ambient, turn.retries, first=first, max_seconds=max_seconds
        )
    return turn.wait_seconds
