"""The chat endpoints: one request streams a whole turn as events. A thread is the context with the same id."""

import asyncio
from collections.abc import AsyncGenerator, Sequence
from contextlib import suppress
from typing import Annotated, Any, Literal, NamedTuple

from msgspec import Meta

from pilothouse.domain.codes import Code, Reason
from pilothouse.domain.contexts import check_context_id
from pilothouse.domain.errors import Conflict, InvalidInput, NotFound, PilothouseError
from pilothouse.domain.payloads import FileReferencePayload, Payload, TextPayload, check_payloads
from pilothouse.domain.states import AwaitingToolApproval, AwaitingUserAnswer, name_of
from pilothouse.domain.value import CallId, TurnId, Value
from pilothouse.runtime.commands.calls import PersonsDecision
from pilothouse.runtime.context.snapshot import ContextSnapshot
from pilothouse.runtime.events.attend import Attendant
from pilothouse.runtime.events.turn_events import BranchPosition, branch_end
from pilothouse.server.chat_events import ChatEventEncoder, error_event, waiting_contexts
from pilothouse.server.messages import Files
from pilothouse.server.metrics import StreamSlot
from pilothouse.server.queries import Id, ModeName
from pilothouse.server.sse import EventStream, event
from pilothouse.server.state import RequestContext

NEW_THREAD_MODE = "build"


class ChatBody(Value, kw_only=True):
    message: Annotated[str, Meta(min_length=1, max_length=1_000_000)]
    files: Files | None = None
    mode: ModeName | None = None


class ResumeDecision(Value, kw_only=True):
    """A decision about one pending call."""

    type: Literal["approve", "reject", "edit"]
    id: Id | None = None
    """The call; without an id, the pending call at the same position."""
    digest: str | None = None
    args: dict[str, Any] | None = None
    """The new arguments of an edit."""
    reason: Annotated[str, Meta(max_length=10_000)] | None = None


class ResumeBody(Value, kw_only=True):
    """Either decisions about pending calls, or answers to a question."""

    decisions: Annotated[tuple[ResumeDecision, ...], Meta(max_length=1000)] | None = None
    answers: Annotated[tuple[str, ...], Meta(max_length=100)] | None = None
    context_id: Id | None = None
    """The conversation whose question is answered, when several have one."""


class _StreamedTurn(NamedTuple):
    """The turn to stream."""

    live: ContextSnapshot
    id: TurnId | None
    position: BranchPosition
    """The end of the branch before the turn's events."""
    title: str | None
    """The context's title then; a `title` event reports a new one."""
    has_begun: bool = False


async def chat(request: RequestContext, thread_id: str, body: ChatBody) -> EventStream:
    with request.stream_slot("chat") as slot:
        return _stream(request, await _start_turn(request, thread_id, body), slot)


async def _start_turn(request: RequestContext, thread_id: str, body: ChatBody) -> _StreamedTurn:
    payloads: list[Payload] = [TextPayload(content=body.message)]
    payloads += [FileReferencePayload(path=path) for path in body.files or ()]
    check_payloads(payloads)
    if body.mode is not None:
        request.runtime.modes.table.named(body.mode)
    live = await _get_or_create_thread(request, thread_id)
    position, title = branch_end(live), live.core.title
    sent = await request.runtime.messages.send(live.id, payloads, mode=body.mode, by=request.user)
    return _StreamedTurn(live, sent.turn_id, position, title)


async def resume(request: RequestContext, thread_id: str, body: ResumeBody) -> EventStream:
    with request.stream_slot("chat") as slot:
        return _stream(request, await _resume_turn(request, thread_id, body), slot)


async def _resume_turn(request: RequestContext, thread_id: str, body: ResumeBody) -> _StreamedTurn:
    if (body.decisions is None) == (body.answers is None):
        raise InvalidInput(Code.INVALID_REQUEST, detail="send either `decisions` or `answers`")
    live = await request.own(thread_id)
    waiting = waiting_contexts(live)
    await _check_undecided(request, live, waiting, body.decisions or ())
    if not waiting or live.core.turn is None:
        raise Conflict(Code.NOTHING_TO_RESUME, state=name_of(live.state))
    turn = _StreamedTurn(live, live.core.turn.id, branch_end(live), live.core.title, True)
    if body.answers is not None:
        target = _select_context([each for each in waiting if _has_question(each)], body.context_id)
        await request.runtime.calls.answer(target.id, body.answers, by=request.user)
    else:
        await _decide(request, waiting, body.decisions or ())
    return turn


async def _check_undecided(
    request: RequestContext,
    live: ContextSnapshot,
    waiting: Sequence[ContextSnapshot],
    decisions: tuple[ResumeDecision, ...],
) -> None:
    """Raises: Conflict, with the decision, where a decision names a call that is decided already."""
    pending = {record.id for each in waiting for record in await request.runtime.calls.pending(each.id)}
    named = [CallId(decision.id) for decision in decisions if decision.id is not None]
    others = [call_id for call_id in named if call_id not in pending]
    if others:
        await request.runtime.calls.check_undecided(live.id, others)


def _has_question(live: ContextSnapshot) -> bool:
    return isinstance(live.state, AwaitingUserAnswer) or live.has_questions


def _select_context(waiting: Sequence[ContextSnapshot], context_id: str | None) -> ContextSnapshot:
    """Return the conversation that an answer is for. Raises: Conflict if there is none, or more than one."""
    matches = [each for each in waiting if context_id in (None, each.id, each.id.partition("~")[0])]
    if not matches:
        raise Conflict(Code.NO_QUESTION)
    if len(matches) > 1:
        raise Conflict(Code.AMBIGUOUS_DECISION, count=len(matches))
    return matches[0]


async def _decide(
    request: RequestContext, waiting: Sequence[ContextSnapshot], decisions: tuple[ResumeDecision, ...]
) -> None:
    """Match each decision to a pending call and apply it. Ids match in all waiting conversations; positions only if a
    single conversation waits.

    Raises: InvalidInput, NotFound, Conflict.
    """
    pending = [(each.id, record) for each in waiting for record in await request.runtime.calls.pending(each.id)]
    if len(decisions) > len(pending) or not decisions:
        raise InvalidInput(Code.TOO_MANY_DECISIONS, given=len(decisions), pending=len(pending))
    if len(waiting) > 1 and any(each.id is None for each in decisions):
        raise Conflict(Code.AMBIGUOUS_DECISION, count=len(waiting))
    owners = {record.id: (context_id, record.digest) for context_id, record in pending}
    by_context: dict[str, list[PersonsDecision]] = {}
    for resume_decision, (_, record) in zip(decisions, pending, strict=False):
        decision = _persons_decision(resume_decision, resume_decision.id or record.id)
        if decision.id not in owners:
            raise NotFound(Code.UNKNOWN_CALL, call_id=decision.id)
        owner, digest = owners[CallId(decision.id)]
        if decision.digest not in (None, digest):
            raise Conflict(Code.DIGEST_CHANGED, call_id=decision.id)
        by_context.setdefault(owner, []).append(decision)
    for context_id, context_decisions in by_context.items():
        await request.runtime.calls.decide(context_id, context_decisions, by=request.user)


def _persons_decision(decision: ResumeDecision, call_id: str) -> PersonsDecision:
    """Raises: InvalidInput for an edit without arguments, or arguments without an edit."""
    if (decision.type == "edit") != (decision.args is not None):
        raise InvalidInput(Code.EDIT_WITHOUT_ARGUMENTS)
    return PersonsDecision(
        id=call_id,
        verdict="reject" if decision.type == "reject" else "approve",
        digest=decision.digest,
        arguments=decision.args,
        reason=decision.reason,
    )


async def _get_or_create_thread(request: RequestContext, thread_id: str) -> ContextSnapshot:
    """Return the user's context with this id; create it if it does not exist."""
    check_context_id(thread_id)
    with suppress(NotFound):
        return await request.own(thread_id)
    preferences = (await request.server.sessions.get(request.user)).preferences
    with suppress(Conflict):  # a concurrent request created it
        await request.runtime.contexts.create(
            request.server.workspace(None, request.user),
            usual_modes=(NEW_THREAD_MODE, request.server.mode),
            policy=preferences.tool_approval_policy,
            context_id=thread_id,
            by=request.user,
        )
    return await request.own(thread_id)


def _stream(request: RequestContext, turn: _StreamedTurn, slot: StreamSlot) -> EventStream:
    return EventStream(
        _events(request, turn), heartbeat=request.server.heartbeat, is_authorized=request.has_valid_token, slot=slot
    )


async def _events(request: RequestContext, turn: _StreamedTurn) -> AsyncGenerator[bytes, None]:
    """Stream the turn's events, then an `interrupt` if a person must act, and always `done`. The turn itself continues
    when the client disconnects."""
    context_id = turn.live.id
    stopping = asyncio.ensure_future(request.server.stopping.wait())
    encoder = ChatEventEncoder(request.runtime, context_id, request.language, title=turn.title)
    try:
        with request.runtime.signals([context_id]) as signals:
            stopping.add_done_callback(lambda _: signals.close())
            turn_events = request.runtime.events.of_turn(
                context_id,
                turn.id,
                attendant=Attendant(),
                start=turn.position,
                has_begun=turn.has_begun,
                signals=signals,
            )
            async for chunk in encoder.encode(turn_events):
                yield chunk
        if stopping.done():
            yield error_event(Reason(Code.SERVER_STOPPING), request.language)
        else:
            yield await _interrupt(request, encoder.waiting) + encoder.last_error()
    except PilothouseError as error:
        yield error_event(error.reason, request.language)
    finally:
        stopping.cancel()
    yield event("done", {})


async def _interrupt(request: RequestContext, waiting: Sequence[ContextSnapshot]) -> bytes:
    """Encode the calls or the questions that wait for a person, with the id of their conversation: a sub-agent has its
    own."""
    calls = []
    for live in waiting:
        if isinstance(live.state, AwaitingToolApproval):
            for record in await request.runtime.calls.pending(live.id):
                fields = {"id": record.id, "name": record.tool, "args": record.arguments}
                calls.append({**fields, "digest": record.digest, "preview": record.preview, "context_id": live.id})
    if calls:
        return event("interrupt", {"tool_calls": calls})
    for live in waiting:
        questions = await request.runtime.calls.open_questions(live.id)
        if questions:
            return event("interrupt", {"questions": questions[0].arguments["questions"], "context_id": live.id})
    return b""
