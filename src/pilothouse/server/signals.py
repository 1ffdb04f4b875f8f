"""The signal streams: the current state of the contexts first, then every change. Each event has a bounded size."""

import asyncio
from collections.abc import AsyncGenerator, Sequence
from typing import Annotated, Any

import msgspec
from msgspec import Meta

from pilothouse.domain.codes import Code, Language, Reason
from pilothouse.domain.errors import PilothouseError
from pilothouse.domain.signals import (
    DELETED,
    ContentDelta,
    ContextChanged,
    ErrorRaised,
    MessageCreated,
    ReasoningDelta,
    SessionChanged,
    Signal,
    StateChanged,
    session_topic,
)
from pilothouse.domain.states import AwaitingToolApproval, AwaitingUserAnswer, State
from pilothouse.domain.value import Value
from pilothouse.i18n import translate
from pilothouse.server.metrics import StreamSlot
from pilothouse.server.queries import LISTED_IDS
from pilothouse.server.sse import EventStream, event
from pilothouse.server.state import RequestContext

MAX_EVENT_BYTES = 1024
MAX_STREAMED_CONTEXTS = 200
_MAX_LIST_ITEMS = 8
_MAX_ERROR_BYTES = 200
# Bytes of a text and entries of a list, in the order in which they are tried until an event fits.
_TRUNCATION_STEPS = ((200, 8), (100, 8), (50, 8), (25, 8), (12, 8), (12, 4), (12, 0))
_UNCUT_FIELDS = frozenset(
    {"event", "type", "code", "context_id", "message_id", "pending_requests", "question_ids", "user_id"}
)
_ENCODER = msgspec.json.Encoder()


class StreamQuery(Value):
    contexts: Annotated[str, Meta(max_length=MAX_STREAMED_CONTEXTS * 130, pattern=LISTED_IDS)] = ""
    """Comma-separated ids."""


class ErrorEvent(Value, kw_only=True):
    """An error of a context or of the whole stream."""

    context_id: str | None = None
    """The context; null for an error of the whole stream."""
    version: int | None = None
    """The context's version at the error, if known."""
    code: Code
    """The kind of error, stable for programs."""
    error_message: str
    """A text for people, in the request's language."""


async def stream(request: RequestContext, context_id: str) -> EventStream:
    """Stream the signals of one context."""
    with request.stream_slot("signals") as slot:
        return _stream(request, [context_id], slot, with_session=False)


async def stream_all(request: RequestContext, query: StreamQuery) -> EventStream:
    """Stream the signals of several contexts and of the user's session over one connection."""
    ids = list(dict.fromkeys(filter(None, query.contexts.split(","))))[:MAX_STREAMED_CONTEXTS]
    with request.stream_slot("signals") as slot:
        return _stream(request, ids, slot, with_session=True)


def _stream(request: RequestContext, ids: Sequence[str], slot: StreamSlot, *, with_session: bool) -> EventStream:
    chunks = _events(request, ids, with_session=with_session)
    return EventStream(chunks, heartbeat=request.server.heartbeat, is_authorized=request.has_valid_token, slot=slot)


async def _events(request: RequestContext, ids: Sequence[str], *, with_session: bool) -> AsyncGenerator[bytes, None]:
    state = request.server
    stopping = asyncio.ensure_future(state.stopping.wait())
    try:
        own_ids, errors = await _own_ids(request, ids)
        topics = [*own_ids, *([session_topic(request.user)] if with_session else [])]
        # Subscribing before the current state is read leaves no gap between the two.
        with request.runtime.signals(topics) as subscription:
            stopping.add_done_callback(lambda _: subscription.close())
            current = [chunk for context_id in own_ids for chunk in await _current_state(request, context_id)]
            if with_session:
                version = (await state.sessions.get(request.user)).version
                current.append(encode_signal(SessionChanged(user_id=request.user, version=version), request.language))
            yield b"".join([*errors, *current])
            while signals := await subscription.batch():
                state.metrics.signals_sent += len(signals)
                yield b"".join([encode_signal(signal, request.language) for signal in signals])
                if not with_session and any(_is_deletion(signal) for signal in signals):
                    return
        yield _error(Reason(Code.SERVER_STOPPING), request.language)
    finally:
        stopping.cancel()


def _is_deletion(signal: Signal) -> bool:
    return isinstance(signal, ContextChanged) and DELETED in signal.fields


async def _own_ids(request: RequestContext, ids: Sequence[str]) -> tuple[list[str], list[bytes]]:
    """Return the ids of the contexts that the user owns, and an error event for each of the others."""
    own_ids, errors = [], []
    for context_id in ids:
        try:
            own_ids.append((await request.own(context_id)).id)
        except PilothouseError as error:
            errors.append(_error(error.reason, request.language, context_id))
    return list(own_ids), errors


async def _current_state(request: RequestContext, context_id: str) -> list[bytes]:
    """Encode the signals with which a client synchronizes: state, version, and the progress of a streamed message."""
    try:
        live = await request.runtime.contexts.get(context_id)
    except PilothouseError as error:
        return [_error(error.reason, request.language, context_id)]
    fields: dict[str, Any] = {"context_id": live.id, "version": live.version}
    signals: list[Signal] = [StateChanged(**fields, state=live.state), ContextChanged(**fields, fields=("*",))]
    writer = live.streaming
    if writer is not None and (writer.sequence or writer.reasoning_sequence):
        message = {**fields, "message_id": writer.message_id}
        signals.append(MessageCreated(**message, role="assistant", type="text"))
        if writer.reasoning_sequence:
            signals.append(ReasoningDelta(**message, sequence=writer.reasoning_sequence))
        if writer.sequence:
            signals.append(ContentDelta(**message, sequence=writer.sequence))
    return [encode_signal(signal, request.language) for signal in signals]


def encode_signal(signal: Signal, language: Language) -> bytes:
    """Encode a signal as an event of at most MAX_EVENT_BYTES. A truncated event carries `cut: true`."""
    if isinstance(signal, ErrorRaised):
        return _error(signal.reason, language, signal.context_id, signal.version)
    if isinstance(signal, StateChanged):
        signal = msgspec.structs.replace(signal, state=_shorten(signal.state))
    name = str(signal.__struct_config__.tag)
    data = event(name, signal)
    for text_bytes, list_items in _TRUNCATION_STEPS:
        if len(data) <= MAX_EVENT_BYTES:
            break
        data = event(name, {**_truncate(msgspec.to_builtins(signal), text_bytes, list_items), "cut": True})
    return data


def _shorten(state: State) -> State:
    """Keep the first entries of a list inside a state, and add their total."""
    match state:
        case AwaitingToolApproval():
            ids, names = state.pending_requests, state.tool_names
            return AwaitingToolApproval(ids[:_MAX_LIST_ITEMS], names[:_MAX_LIST_ITEMS], total=len(ids))
        case AwaitingUserAnswer():
            return AwaitingUserAnswer(state.question_ids[:_MAX_LIST_ITEMS], total=len(state.question_ids))
        case _:
            return state


def _error(reason: Reason, language: Language, context_id: str | None = None, version: int | None = None) -> bytes:
    message = _truncate_text(translate(reason, language), _MAX_ERROR_BYTES)
    return event("Error", ErrorEvent(context_id=context_id, version=version, code=reason.code, error_message=message))


def _truncate(value: Any, text_bytes: int, list_items: int, name: str = "") -> Any:
    """Truncate every text and every list inside a value. Field names, tags and ids have bounded lengths and stay whole;
    a reason keeps `list_items` of its parameters."""
    match value:
        case str():
            return value if name in _UNCUT_FIELDS else _truncate_text(value, text_bytes)
        case dict():
            items = list(value.items())[: list_items if name == "params" else None]
            return {key: _truncate(each, text_bytes, list_items, key) for key, each in items}
        case list() | tuple():
            return [_truncate(each, text_bytes, list_items, name) for each in value[:list_items]]
        case _:
            return value


def _truncate_text(text: str, text_bytes: int) -> str:
    """Truncate a text so that its JSON encoding fits."""
    text = text[:text_bytes]
    while len(_ENCODER.encode(text)) > text_bytes + 2:
        text = text[: len(text) * 3 // 4]
    return text
