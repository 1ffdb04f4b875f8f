"""stream: send one request to the model; store and signal the deltas of the answer as they arrive. retry: wait visibly
after a transient error."""

import asyncio
from contextlib import aclosing, suppress
from dataclasses import replace

from pilothouse.domain.codes import Code
from pilothouse.domain.errors import ModelError, ModelRefused, ModelTooLong, ModelUnavailable, StoreError
from pilothouse.domain.messages import Text, TextEnd
from pilothouse.domain.signals import ContextChanged
from pilothouse.domain.states import (
    AwaitingLLMFirstChunk,
    ConnectingToLLM,
    EnhancingSystemPrompt,
    PreparingLLMRequest,
    ProcessingLLMResponse,
    StreamingLLMResponse,
    TransientError,
    name_of,
)
from pilothouse.domain.value import MessageId
from pilothouse.llm.base import CallDelta, ReasoningTextDelta, TextDelta
from pilothouse.llm.prices import with_cost
from pilothouse.runtime.turn.answer import DeltaWriter, StreamedAnswer
from pilothouse.runtime.turn.round import Next, PreparedRequest, Round
from pilothouse.runtime.turn.turn import Turn
from pilothouse.system.ambient import backoff_seconds, timestamp

_MAX_ANSWER_CHARACTERS = 20_000_000
_MIN_TOKENS_FOR_RATIO = 200
_MAX_TOO_LONG_RETRIES = 5
_RESUMES = (ConnectingToLLM, PreparingLLMRequest, EnhancingSystemPrompt)

Resume = type[ConnectingToLLM] | type[PreparingLLMRequest] | type[EnhancingSystemPrompt]


async def stream(turn: Turn, round_: Round) -> Next:
    live, prepared = turn.live, round_.prepared
    assert prepared is not None
    await _discard_earlier_attempt(turn)
    answer = StreamedAnswer(MessageId(turn.dependencies.ambient.new_id()), prepared.adapter.format.name)
    turn.delta_writer = delta_writer = DeltaWriter(live, answer, turn.open.id)
    try:
        await _receive(turn, prepared, answer, delta_writer)
        await delta_writer.close()
        if answer.finish_reason is None:
            raise ModelUnavailable(Code.MODEL_CUT)
    except asyncio.CancelledError:
        with suppress(StoreError):
            await delta_writer.close()  # flush now: the store may be closed before the writer's timer fires
        raise
    except ModelError as error:
        with suppress(StoreError):
            await delta_writer.close()
        return await _after_error(turn, round_, prepared, answer, error)
    except StoreError:
        # The store refused the deltas: the text stays in memory with the refused draft, and the round is sent again.
        if not _has_stored_cut_text(turn) and (partial_text := _take_partial(turn, round_, "cut")) is not None:
            turn.requests.cut_round = turn.open.round
            async with live.lock:
                draft = live.draft()
                draft.append(partial_text, turn.open.branch)
                live.pending.refused = draft
        raise
    _count_usage(turn, prepared, answer)
    return Next(ProcessingLLMResponse(), replace(round_, answer=answer, retries=0))


async def _discard_earlier_attempt(turn: Turn) -> None:
    """Discard the deltas of an earlier attempt of the round. Only the first partial text of a round is stored; clients
    drop the text of later attempts."""
    live, delta_writer = turn.live, turn.live.delta_writer
    if delta_writer is not None and delta_writer.turn == turn.open.id and delta_writer.has_flushed:
        await live.dependencies.store.forget_deltas(live.id, delta_writer.message_id)
        turn.delta_writer = None
        live.dependencies.hub.publish(ContextChanged(context_id=live.id, version=live.version, fields=("streaming",)))


async def _store_cut_text(turn: Turn, round_: Round) -> None:
    """Store the text of a stream that was cut, once in a round: otherwise every retry would leave another copy."""
    if _has_stored_cut_text(turn):
        _take_partial(turn, round_, "cut")
    elif await store_partial(turn, round_, "cut"):
        turn.requests.cut_round = turn.open.round


def _has_stored_cut_text(turn: Turn) -> bool:
    return turn.requests.cut_round == turn.open.round


async def _receive(turn: Turn, prepared: PreparedRequest, answer: StreamedAnswer, delta_writer: DeltaWriter) -> None:
    live = turn.live
    async with aclosing(prepared.adapter.stream(prepared.request)) as events:
        async for event in events:
            answer.apply(event)
            if answer.size > _MAX_ANSWER_CHARACTERS:
                raise ModelRefused(Code.MODEL_ENDLESS, limit=_MAX_ANSWER_CHARACTERS)
            if isinstance(live.state, ConnectingToLLM):
                turn.live.enter(AwaitingLLMFirstChunk())
            if isinstance(event, TextDelta | ReasoningTextDelta):
                live.enter(_progress(answer), signal=False)
                delta_writer.schedule_flush()
            elif isinstance(event, CallDelta):
                live.enter(_progress(answer), signal=False)


def _progress(answer: StreamedAnswer) -> StreamingLLMResponse:
    return StreamingLLMResponse(
        chunks_received=len(answer.deltas) + len(answer.reasoning_deltas) + len(answer.calls),
        chars_accumulated=answer.characters,
    )


def _count_usage(turn: Turn, prepared: PreparedRequest, answer: StreamedAnswer) -> None:
    """Note the reported usage for the next commit, and correct our token counts by the provider's from then on. Counts
    that differ by more than a factor of two are no correction, since some providers leave out cached tokens."""
    if answer.usage is None:
        return
    pending, model = turn.live.pending, prepared.request.model
    pending.add_usage(with_cost(answer.usage, turn.dependencies.catalog.facts(model).price))
    reported = answer.usage.input_tokens
    if prepared.tokens >= _MIN_TOKENS_FOR_RATIO and 0.5 <= reported / prepared.tokens <= 2:
        pending.core.update(token_ratio=round(reported / prepared.tokens, 3), token_ratio_of=model)


async def _after_error(
    turn: Turn, round_: Round, prepared: PreparedRequest, answer: StreamedAnswer, error: ModelError
) -> Next:
    resume: Resume = ConnectingToLLM
    if answer.has_content or answer.has_deltas:
        # No call of a partial answer runs: a truncated argument may still parse.
        await _store_cut_text(turn, round_)
        resume = PreparingLLMRequest
    if isinstance(error, ModelTooLong) and turn.requests.too_long_count < _MAX_TOO_LONG_RETRIES:
        must_compress = _limit_next_request(turn, prepared, error)
        state = _transient_error(turn, error, EnhancingSystemPrompt, round_.retries, 0.0)
        return Next(state, replace(round_, must_compress=must_compress))
    if isinstance(error, ModelRefused) or round_.retries >= turn.dependencies.limits.retries:
        return turn.give_up(error.reason, round_, "error")
    retries = round_.retries + 1
    state = _transient_error(turn, error, resume, retries, _retry_delay(turn, error, retries))
    return Next(state, replace(round_, retries=retries))


def _limit_next_request(turn: Turn, prepared: PreparedRequest, error: ModelTooLong) -> bool:
    """Reduce the next request after the provider refused one as too long: our count was wrong, or the window is smaller
    than the catalog says. The first refusal compresses the messages before the turn, and this function returns True;
    each further one halves the limit of this turn's requests."""
    history, model = turn.requests, turn.live.model()
    history.too_long_count += 1
    history.too_long_reason = error.reason
    if error.window is not None:
        turn.dependencies.catalog.learn_window(prepared.request.model, error.window)
    if history.too_long_count == 1 and model.budget.auto_compress:
        return True
    history.limit = model.provider_tokens(prepared.tokens) // 2
    return False


def _transient_error(turn: Turn, error: ModelError, resume: Resume, retries: int, seconds: float) -> TransientError:
    return TransientError(
        error_type=error.reason,
        retry_count=retries,
        max_retries=turn.dependencies.limits.retries,
        retry_at=timestamp(turn.dependencies.ambient.now() + seconds),
        resume_to=name_of(resume),
        wait_seconds=seconds,
    )


def _retry_delay(turn: Turn, error: ModelError, retries: int) -> float:
    limits = turn.dependencies.limits
    retry_after = error.retry_after if isinstance(error, ModelUnavailable) else None
    if retry_after is not None:
        return min(retry_after, limits.retry_seconds_at_most)
    first, max_seconds = limits.retry_seconds, limits.retry_seconds_at_most
    return backoff_seconds(turn.dependencies.ambient, retries, first=first, max_seconds=max_seconds)


async def store_partial(turn: Turn, round_: Round, ended: TextEnd) -> bool:
    """Store the text of an answer that will not be completed. Returns whether there was any."""
    message = _take_partial(turn, round_, ended)
    if message is None:
        return False
    async with turn.live.lock:
        draft = turn.live.draft()
        draft.append(message, turn.open.branch)
        await turn.commit(draft)
    return True


def _take_partial(turn: Turn, round_: Round, ended: TextEnd) -> Text | None:
    """Take the text and the reasoning of the answer that was being streamed, once, as a message. Fragments of calls are
    dropped, and opaque parts, which no provider takes back from an incomplete answer."""
    writer = turn.live.delta_writer
    if writer is None or writer.is_taken or writer.turn != turn.open.id:
        return None
    writer.is_taken = True
    answer = writer.answer
    if not answer.has_deltas:
        return None
    return Text(
        id=writer.message_id,
        timestamp=turn.dependencies.now(),
        role="assistant",
        metadata=turn.metadata(round_),
        content=answer.text,
        chunks=tuple(map(len, answer.deltas)),
        ended=ended,
        reasoning=answer.reasoning(),
    )


async def retry(turn: Turn, round_: Round) -> Next:
    """Wait until the next attempt is due. The person can end the wait."""
    state = turn.live.state
    assert isinstance(state, TransientError)
    turn.retry_now.clear()
    waits = {
        asyncio.ensure_future(turn.dependencies.ambient.sleep(state.wait_seconds)),
        asyncio.ensure_future(turn.retry_now.wait()),
    }
    try:
        await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for wait in waits:
            wait.cancel()
    has_other_adapter = round_.prepared is not None and round_.prepared.adapter is not turn.dependencies.adapter
    if has_other_adapter and state.resume_to == name_of(ConnectingToLLM):
        return Next(PreparingLLMRequest(), round_)  # a provider with other models was set up during the wait
    return Next(next(resume() for resume in _RESUMES if name_of(resume) == state.resume_to), round_)
