"""The signal streams: first the present, then what changes. Each event is small, whatever it is about."""

import asyncio
from collections.abc import AsyncGenerator, Sequence
from typing import Annotated, Any

import msgspec
from msgspec import Meta

from pilothouse.domain.codes import Code, Language, Reason, say
from pilothouse.domain.errors import PilothouseError
from pilothouse.domain.signals import (
    DELETED,
    ContentDelta,
    ContextChanged,
    ErrorRaised,
    MessageCreated,
    SessionChanged,
    Signal,
    StateChanged,
    session_topic,
)
from pilothouse.domain.states import AwaitingToolApproval, AwaitingUserAnswer, State
from pilothouse.domain.values import Value
from pilothouse.server.counts import StreamSlot
from pilothouse.server.inputs import LISTED_IDS
from pilothouse.server.serving import Call
from pilothouse.server.sse import EventStream, event

EVENT_AT_MOST = 1024
CONTEXTS_AT_MOST = 200
_LISTED = 8
_SHOWN = 200
_STEPS = ((200, 8), (100, 8), (50, 8), (25, 8), (12, 8), (12, 4), (12, 0))
_WHOLE = frozenset({"event", "type", "code", "context_id", "message_id", "pending_requests", "question_ids", "user_id"})
_ENCODER = msgspec.json.Encoder()


class StreamQuery(Value):
    """`contexts` are ids with commas between them."""

    contexts: Annotated[str, Meta(max_length=CONTEXTS_AT_MOST * 130, pattern=LISTED_IDS)] = ""


class ErrorTold(Value, kw_only=True):
    """An error as its event tells it: what has happened, where and when if it is about a context."""

    context_id: str | None = None
    version: int | None = None
    code: Code
    error_message: str


async def stream(call: Call, context_id: str) -> EventStream:
    """The signals of one context."""
    with call.stream_slot("signals") as slot:
        return _stream(call, [context_id], slot, with_session=False)


async def stream_all(call: Call, query: StreamQuery) -> EventStream:
    """The signals of several contexts and of the user's session, over one connection."""
    ids = list(dict.fromkeys(filter(None, query.contexts.split(","))))[:CONTEXTS_AT_MOST]
    with call.stream_slot("signals") as slot:
        return _stream(call, ids, slot, with_session=True)


def _stream(call: Call, ids: Sequence[str], slot: StreamSlot, *, with_session: bool) -> EventStream:
    pieces = _events(call, ids, with_session=with_session)
    return EventStream(pieces, heartbeat=call.serving.heartbeat, goes_on=call.is_user, slot=slot)


async def _events(call: Call, ids: Sequence[str], *, with_session: bool) -> AsyncGenerator[bytes, None]:
    serving = call.serving
    stopping = asyncio.ensure_future(serving.stopping.wait())
    try:
        own, refusals = await _own(call, ids)
        topics = [*own, *([session_topic(call.user)] if with_session else [])]
        with call.runtime.signals(topics) as subscription:  # before the present is read: nothing falls between
            stopping.add_done_callback(lambda _: subscription.close())
            present = [piece for each in own for piece in await _present(call, each)]
            if with_session:
                version = (await serving.sessions.get(call.user)).version
                present.append(written(SessionChanged(user_id=call.user, version=version), call.language))
            yield b"".join([*refusals, *present])
            while signals := await subscription.batch():
                serving.counts.signals_sent += len(signals)
                yield b"".join([written(signal, call.language) for signal in signals])
                if not with_session and any(_is_end(signal) for signal in signals):
                    return
        yield _error(Reason(Code.SERVER_STOPPING), call.language)
    finally:
        stopping.cancel()


def _is_end(signal: Signal) -> bool:
    return isinstance(signal, ContextChanged) and DELETED in signal.fields


async def _own(call: Call, ids: Sequence[str]) -> tuple[list[str], list[bytes]]:
    """Those that there are; for each of the others, what is wrong with it."""
    own, refusals = [], []
    for context_id in ids:
        try:
            own.append((await call.own(context_id)).id)
        except PilothouseError as error:
            refusals.append(_error(error.reason, call.language, context_id))
    return list(own), refusals


async def _present(call: Call, context_id: str) -> list[bytes]:
    """What a client needs to be right: the state, the version, and how far a message has come that is being written."""
    try:
        live = await call.runtime.context(context_id)
    except PilothouseError as error:
        return [_error(error.reason, call.language, context_id)]
    about: dict[str, Any] = {"context_id": live.id, "version": live.version}
    found: list[Signal] = [StateChanged(**about, state=live.state), ContextChanged(**about, fields=("*",))]
    outlet = live.writing
    if outlet is not None and outlet.flushed:
        message = {**about, "message_id": outlet.message_id}
        found.append(MessageCreated(**message, role="assistant", type="text"))
        found.append(ContentDelta(**message, sequence=outlet.flushed))
    return [written(signal, call.language) for signal in found]


def written(signal: Signal, language: Language) -> bytes:
    """A signal as an event of bounded size. One that had to be cut says so."""
    if isinstance(signal, ErrorRaised):
        return _error(signal.reason, language, signal.context_id, signal.version)
    if isinstance(signal, StateChanged):
        signal = msgspec.structs.replace(signal, state=_short(signal.state))
    name = str(signal.__struct_config__.tag)
    found = event(name, signal)
    for shown, listed in _STEPS:
        if len(found) <= EVENT_AT_MOST:
            break
        found = event(name, {**_cut(msgspec.to_builtins(signal), shown, listed), "cut": True})
    return found


def _short(state: State) -> State:
    """A list inside a state in its first entries, with how many there are."""
    match state:
        case AwaitingToolApproval():
            ids, names = state.pending_requests, state.tool_names
            return AwaitingToolApproval(ids[:_LISTED], names[:_LISTED], total=len(ids))
        case AwaitingUserAnswer():
            return AwaitingUserAnswer(state.question_ids[:_LISTED], total=len(state.question_ids))
        case _:
            return state


def _error(reason: Reason, language: Language, context_id: str | None = None, version: int | None = None) -> bytes:
    message = _cut_text(say(reason, language), _SHOWN)
    return event("Error", ErrorTold(context_id=context_id, version=version, code=reason.code, error_message=message))


def _cut(value: Any, shown: int, listed: int, name: str = "") -> Any:
    """With every text in it cut to so many bytes, and every list to so many entries. Names of fields, tags and ids are
    ours and stay whole; the parameters of a reason go first."""
    match value:
        case str():
            return value if name in _WHOLE else _cut_text(value, shown)
        case dict():
            kept = list(value.items())[: listed if name == "params" else None]
            return {key: _cut(each, shown, listed, key) for key, each in kept}
        case list() | tuple():
            return [_cut(each, shown, listed, name) for each in value[:listed]]
        case _:
            return value


def _cut_text(text: str, shown: int) -> str:
    """As many characters as fit, as they are written."""
    text = text[:shown]
    while len(_ENCODER.encode(text)) > shown + 2:
        text = text[: len(text) * 3 // 4]
    return text
