"""The simple chat stream: one call, the whole turn as events. The thread is the context of the same id."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import suppress
from typing import Annotated, Any, Literal, NamedTuple

from msgspec import Meta

from pilothouse.domain.codes import Code, Reason
from pilothouse.domain.contexts import check_context_id
from pilothouse.domain.errors import Conflict, InvalidInput, NotFound, PilothouseError
from pilothouse.domain.payloads import FileReferencePayload, Payload, TextPayload, check_payloads
from pilothouse.domain.states import AwaitingToolApproval, AwaitingUserAnswer, name_of
from pilothouse.domain.values import CallId, TurnId, Value
from pilothouse.runtime.calls import PersonsDecision
from pilothouse.runtime.following import Place, end_of, follow_turn
from pilothouse.runtime.live import Live
from pilothouse.server.counts import StreamSlot
from pilothouse.server.inputs import Id, ModeName
from pilothouse.server.messages import Files
from pilothouse.server.serving import Call
from pilothouse.server.sse import EventStream, event
from pilothouse.server.telling import Teller, error_event, waiting_in

CREATED_MODE = "build"


class ChatBody(Value, kw_only=True):
    message: Annotated[str, Meta(min_length=1, max_length=1_000_000)]
    files: Files | None = None
    mode: ModeName | None = None


class ResumeDecision(Value, kw_only=True):
    """It is about the call `id`; without one, about the call in the same place. `args` go with an edit."""

    type: Literal["approve", "reject", "edit"]
    id: Id | None = None
    digest: str | None = None
    args: dict[str, Any] | None = None
    reason: Annotated[str, Meta(max_length=10_000)] | None = None


class ResumeBody(Value, kw_only=True):
    """`context_id` says whose question is answered, where several conversations ask."""

    decisions: Annotated[tuple[ResumeDecision, ...], Meta(max_length=1000)] | None = None
    answers: Annotated[tuple[str, ...], Meta(max_length=100)] | None = None
    context_id: Id | None = None


class _Turn(NamedTuple):
    """Whose turn is told, from where on its branch."""

    live: Live
    id: TurnId | None
    place: Place
    title: str | None
    has_begun: bool = False


async def chat(call: Call, thread_id: str, body: ChatBody) -> EventStream:
    with call.stream_slot("chat") as slot:
        return _stream(call, await _begun(call, thread_id, body), slot)


async def _begun(call: Call, thread_id: str, body: ChatBody) -> _Turn:
    payloads: list[Payload] = [TextPayload(content=body.message)]
    payloads += [FileReferencePayload(path=path) for path in body.files or ()]
    check_payloads(payloads)
    if body.mode is not None:
        call.runtime.parts.modes.named(body.mode)
    live = await _thread(call, thread_id)
    place, title = end_of(live), live.core.title
    sent = await call.runtime.send(live.id, payloads, mode=body.mode, by=call.user)
    return _Turn(live, sent.turn_id, place, title)


async def resume(call: Call, thread_id: str, body: ResumeBody) -> EventStream:
    with call.stream_slot("chat") as slot:
        return _stream(call, await _resumed(call, thread_id, body), slot)


async def _resumed(call: Call, thread_id: str, body: ResumeBody) -> _Turn:
    if (body.decisions is None) == (body.answers is None):
        raise InvalidInput(Code.INVALID_REQUEST, detail="give `decisions` or `answers`")
    live = await call.own(thread_id)
    waiting = waiting_in(live)
    if not waiting or live.core.turn is None:
        raise Conflict(Code.NOTHING_TO_RESUME, state=name_of(live.state))
    turn = _Turn(live, live.core.turn.id, end_of(live), live.core.title, True)
    if body.answers is not None:
        asked = _chosen([each for each in waiting if _is_asked(each)], body.context_id)
        await call.runtime.answer(asked.id, body.answers, by=call.user)
    else:
        await _decide(call, waiting, body.decisions or ())
    return turn


def _is_asked(live: Live) -> bool:
    return isinstance(live.state, AwaitingUserAnswer) or bool(live.asked_by_calls())


def _chosen(waiting: list[Live], context_id: str | None) -> Live:
    """The one conversation that an answer is for. Raises: Conflict where that is not clear."""
    named = [each for each in waiting if context_id in (None, each.id, each.id.partition("~")[0])]
    if not named:
        raise Conflict(Code.NO_QUESTION)
    if len(named) > 1:
        raise Conflict(Code.AMBIGUOUS_DECISION, count=len(named))
    return named[0]


async def _decide(call: Call, waiting: list[Live], decisions: tuple[ResumeDecision, ...]) -> None:
    """Each with its call: by id among all that wait, by position only where one conversation does."""
    pending = [(each.id, record) for each in waiting for record in await call.runtime.pending_calls(each.id)]
    if len(decisions) > len(pending) or not decisions:
        raise InvalidInput(Code.TOO_MANY_DECISIONS, given=len(decisions), pending=len(pending))
    if len(waiting) > 1 and any(decision.id is None for decision in decisions):
        raise Conflict(Code.AMBIGUOUS_DECISION, count=len(waiting))
    owners = {record.id: (context_id, record.digest) for context_id, record in pending}
    found: dict[str, list[PersonsDecision]] = {}
    for decision, (_, record) in zip(decisions, pending, strict=False):
        made = _made(decision, decision.id or record.id)
        if made.id not in owners:
            raise NotFound(Code.UNKNOWN_CALL, call_id=made.id)
        owner, digest = owners[CallId(made.id)]
        if made.digest not in (None, digest):
            raise Conflict(Code.DIGEST_CHANGED, call_id=made.id)
        found.setdefault(owner, []).append(made)
    for context_id, made_there in found.items():
        await call.runtime.decide(context_id, made_there, by=call.user)


def _made(decision: ResumeDecision, call_id: str) -> PersonsDecision:
    if (decision.type == "edit") != (decision.args is not None):
        raise InvalidInput(Code.EDIT_WITHOUT_ARGUMENTS)
    return PersonsDecision(
        id=call_id,
        verdict="reject" if decision.type == "reject" else "approve",
        digest=decision.digest,
        arguments=decision.args,
        reason=decision.reason,
    )


async def _thread(call: Call, thread_id: str) -> Live:
    """The user's context of that id, made where there is none."""
    check_context_id(thread_id)
    with suppress(NotFound):
        return await call.own(thread_id)
    preferences = (await call.serving.sessions.get(call.user)).preferences
    with suppress(Conflict):  # another request has made it meanwhile
        await call.runtime.create_context(
            call.serving.workspace(None, call.user),
            usual_modes=(CREATED_MODE, call.serving.mode),
            policy=preferences.tool_approval_policy,
            context_id=thread_id,
            by=call.user,
        )
    return await call.own(thread_id)


def _stream(call: Call, turn: _Turn, slot: StreamSlot) -> EventStream:
    return EventStream(_events(call, turn), heartbeat=call.serving.heartbeat, goes_on=call.is_user, slot=slot)


async def _events(call: Call, turn: _Turn) -> AsyncGenerator[bytes, None]:
    """The turn; then what it waits for; `done` in any case. The turn itself goes on whoever leaves."""
    context_id = turn.live.id
    stopping = asyncio.ensure_future(call.serving.stopping.wait())
    teller = Teller(call.runtime, context_id, call.language, title=turn.title)
    try:
        with call.runtime.signals([context_id]) as signals:
            stopping.add_done_callback(lambda _: signals.close())
            happens = follow_turn(
                call.runtime, context_id, turn.id, place=turn.place, has_begun=turn.has_begun, signals=signals
            )
            async for piece in teller.tell(happens):
                yield piece
        if stopping.done():
            yield error_event(Reason(Code.SERVER_STOPPING), call.language)
        else:
            yield await _interrupt(call, teller.waiting) + teller.last_error()
    except PilothouseError as error:
        yield error_event(error.reason, call.language)
    finally:
        stopping.cancel()
    yield event("done", {})


async def _interrupt(call: Call, waiting: list[Live]) -> bytes:
    """What a person must decide or answer, and in which conversation: a sub-agent has its own."""
    calls = []
    for each in waiting:
        if isinstance(each.state, AwaitingToolApproval):
            for record in await call.runtime.pending_calls(each.id):
                about = {"id": record.id, "name": record.tool, "args": record.arguments}
                calls.append({**about, "digest": record.digest, "preview": record.preview, "context_id": each.id})
    if calls:
        return event("interrupt", {"tool_calls": calls})
    for each in waiting:
        asked = await call.runtime.open_questions(each.id)
        if asked:
            return event("interrupt", {"questions": asked[0].arguments["questions"], "context_id": each.id})
    return b""
