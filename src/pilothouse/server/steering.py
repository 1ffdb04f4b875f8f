"""Steering a turn: cancel, pause, resume, continue, retry; mode, elevation, answers."""

from typing import Annotated

from msgspec import Meta

from pilothouse.domain.shapes import CallShape, ContextShape, Page
from pilothouse.domain.values import Value
from pilothouse.runtime.modes import ModeSwitch
from pilothouse.server.contexts import get
from pilothouse.server.inputs import Id, ModeName, Shown
from pilothouse.server.serving import Call
from pilothouse.server.views import call_shapes


class ModeBody(Value):
    mode: ModeName


class SwitchBody(Value, kw_only=True):
    """With `shown`, the digests of calls that the person has read, no other call that waits is started."""

    mode: ModeName
    shown: Shown | None = None


class ElevationBody(Value, kw_only=True):
    """Exactly one end: a number of calls, this turn, or minutes. `shown`: as for a switch of the mode."""

    calls: Annotated[int, Meta(ge=1, le=100)] | None = None
    turn: bool = False
    minutes: Annotated[float, Meta(gt=0, le=1440)] | None = None
    shown: Shown | None = None


class AnswersBody(Value):
    """One for each question, in their order. What a running call asks may also be declined. `call_id` names
    the question that was shown; without it, the oldest is meant."""

    answers: Annotated[tuple[str, ...], Meta(max_length=100)] = ()
    decline: bool = False
    call_id: Id | None = None


async def cancel(call: Call, context_id: str) -> ContextShape:
    await call.runtime.cancel(context_id, by=call.user)
    return await get(call, context_id)


async def pause(call: Call, context_id: str) -> ContextShape:
    await call.runtime.pause(context_id, by=call.user)
    return await get(call, context_id)


async def resume(call: Call, context_id: str) -> ContextShape:
    await call.runtime.resume(context_id, by=call.user)
    return await get(call, context_id)


async def go_on(call: Call, context_id: str) -> ContextShape:
    await call.runtime.continue_turn(context_id)
    return await get(call, context_id)


async def retry(call: Call, context_id: str) -> ContextShape:
    await call.runtime.retry_now(context_id)
    return await get(call, context_id)


async def switch_mode(call: Call, context_id: str, body: SwitchBody) -> ModeSwitch:
    return await call.runtime.switch_mode(context_id, body.mode, shown=body.shown, by=call.user)


async def preview_mode(call: Call, context_id: str, query: ModeBody) -> Page[CallShape]:
    """The calls that a switch would start."""
    calls = await call.runtime.would_start(context_id, query.mode)
    return Page(await call_shapes(call.runtime, context_id, calls))


async def elevate(call: Call, context_id: str, body: ElevationBody) -> ModeSwitch:
    return await call.runtime.elevate(
        context_id, calls=body.calls, turn=body.turn, minutes=body.minutes, shown=body.shown, by=call.user
    )


async def end_elevation(call: Call, context_id: str) -> ModeSwitch:
    return await call.runtime.end_elevation(context_id, by=call.user)


async def answer(call: Call, context_id: str, body: AnswersBody) -> ContextShape:
    if body.decline:
        await call.runtime.decline(context_id, call_id=body.call_id, by=call.user)
    else:
        await call.runtime.answer(context_id, body.answers, call_id=body.call_id, by=call.user)
    return await get(call, context_id)
