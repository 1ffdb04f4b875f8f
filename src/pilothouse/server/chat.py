"""The simple chat stream: one call, the whole turn as events. The thread is the context of the same id."""

import asyncio
from collections.abc import AsyncIterator
from typing import Annotated, Any, Literal

from msgspec import Meta

from pilothouse.domain.calls import CallRecord
from pilothouse.domain.codes import Code, Reason, say
from pilothouse.domain.contexts import check_context_id
from pilothouse.domain.errors import Conflict, InvalidInput, NotFound, PilothouseError
from pilothouse.domain.payloads import FileReferencePayload, Payload, TextPayload, check_payloads
from pilothouse.domain.states import AwaitingToolApproval, AwaitingUserAnswer, name_of
from pilothouse.domain.values import TurnId, Value
from pilothouse.runtime.calls import PersonsDecision
from pilothouse.runtime.live import Live
from pilothouse.server.inputs import Id, ModeName
from pilothouse.server.messages import Files
from pilothouse.server.serving import Call
from pilothouse.server.sse import EventStream, event
from pilothouse.server.telling import Teller

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
    decisions: Annotated[tuple[ResumeDecision, ...], Meta(max_length=1000)] | None = None
    answers: Annotated[tuple[str, ...], Meta(max_length=100)] | None = None


async def chat(call: Call, thread_id: str, body: ChatBody) -> EventStream:
    call.check_streams()
    payloads: list[Payload] = [TextPayload(content=body.message)]
    payloads += [FileReferencePayload(path=path) for path in body.files or ()]
    check_payloads(payloads)
    if body.mode is not None:
        call.runtime.parts.modes.named(body.mode)
    live = await _thread(call, thread_id)
    position, title = live.branches[live.core.active_branch].length, live.core.title
    sent = await call.runtime.send(live.id, payloads, mode=body.mode, by=call.user)
    return _stream(call, live, position, sent.turn_id, title)


async def resume(call: Call, thread_id: str, body: ResumeBody) -> EventStream:
    call.check_streams()
    if (body.decisions is None) == (body.answers is None):
        raise InvalidInput(Code.INVALID_REQUEST, detail="give `decisions` or `answers`")
    live = await call.own(thread_id)
    waiting = live if live.is_waiting() else next(iter(live.waiting_below()), None)
    if waiting is None or live.core.turn is None:
        raise Conflict(Code.NOTHING_TO_RESUME, state=name_of(live.state))
    position = live.branches[live.core.active_branch].length
    turn = live.core.turn.id
    if body.answers is not None:
        await call.runtime.answer(waiting.id, body.answers, by=call.user)
    else:
        pending = await call.runtime.pending_calls(waiting.id)
        await call.runtime.decide(waiting.id, _matched(body.decisions or (), pending), by=call.user)
    return _stream(call, live, position, turn, live.core.title)


async def _thread(call: Call, thread_id: str) -> Live:
    """The context of that id, made where there is none. Raises: Conflict for one that is somebody else's."""
    check_context_id(thread_id)
    try:
        live = await call.runtime.context(thread_id)
    except NotFound:
        preferences = (await call.serving.sessions.get(call.user)).preferences
        await call.runtime.create_context(
            call.serving.workspace(None),
            usual_mode=CREATED_MODE,
            policy=preferences.tool_approval_policy,
            context_id=thread_id,
            by=call.user,
        )
        live = await call.runtime.context(thread_id)
    if live.core.owner != call.user:
        raise Conflict(Code.THREAD_TAKEN, thread=thread_id)
    return live


def _matched(decisions: tuple[ResumeDecision, ...], pending: list[CallRecord]) -> list[PersonsDecision]:
    """Each decision with its call: by id, else by position. Raises: InvalidInput for one too many."""
    if len(decisions) > len(pending) or not decisions:
        raise InvalidInput(Code.TOO_MANY_DECISIONS, given=len(decisions), pending=len(pending))
    return [
        PersonsDecision(
            id=decision.id or call.id,
            verdict="reject" if decision.type == "reject" else "approve",
            digest=decision.digest,
            arguments=decision.args if decision.type == "edit" else None,
            reason=decision.reason,
        )
        for decision, call in zip(decisions, pending, strict=False)
    ]


def _stream(call: Call, live: Live, position: int, turn: TurnId | None, title: str | None) -> EventStream:
    return EventStream(_events(call, live, position, turn, title), heartbeat=call.serving.heartbeat)


async def _events(
    call: Call, live: Live, position: int, turn: TurnId | None, title: str | None
) -> AsyncIterator[bytes]:
    """The turn; then what it waits for; `done` in any case. The turn itself goes on whoever leaves."""
    counts = call.serving.counts
    stopping = asyncio.ensure_future(call.serving.stopping.wait())
    counts.chats_open += 1
    teller = Teller(call.runtime, live.id, call.language, turn=turn, title=title)
    try:
        with call.runtime.signals([live.id]) as signals:
            stopping.add_done_callback(lambda _: signals.close())
            async for piece in teller.tell(position, signals):
                yield piece
        if stopping.done():
            yield error_event(Reason(Code.SERVER_STOPPING), call)
        else:
            yield await _interrupt(call, teller.waiting) + teller.last_error()
    except PilothouseError as error:
        yield error_event(error.reason, call)
    finally:
        stopping.cancel()
        counts.chats_open -= 1
    yield event("done", {})


def error_event(reason: Reason, call: Call) -> bytes:
    return event("error", {"message": say(reason, call.language), "code": reason.code})


async def _interrupt(call: Call, waiting: Live | None) -> bytes:
    """What a person must decide or answer. A sub-agent's names its context."""
    match waiting.state if waiting is not None else None:
        case AwaitingToolApproval():
            assert waiting is not None
            calls = [
                {
                    "id": each.id,
                    "name": each.tool,
                    "args": each.arguments,
                    "digest": each.digest,
                    "preview": each.preview,
                    "context_id": waiting.id,
                }
                for each in await call.runtime.pending_calls(waiting.id)
            ]
            return event("interrupt", {"tool_calls": calls})
        case AwaitingUserAnswer():
            assert waiting is not None
            asked = await call.runtime.open_questions(waiting.id)
            questions = asked[0].arguments["questions"] if asked else []
            return event("interrupt", {"questions": questions, "context_id": waiting.id})
        case _:
            return b""
