"""The routes that control a turn: cancel, pause, resume, continue, retry, mode, elevation and answers."""

from typing import Annotated

from msgspec import Meta

from pilothouse.api.views import CallView, ContextView, Page
from pilothouse.domain.value import Value
from pilothouse.runtime.commands.modes import ModeSwitch
from pilothouse.server.contexts import get
from pilothouse.server.queries import Id, ModeName, ShownDigests
from pilothouse.server.state import RequestContext
from pilothouse.server.view_builder import call_views


class ModeBody(Value):
    mode: ModeName


class SwitchBody(Value, kw_only=True):
    mode: ModeName
    shown: ShownDigests | None = None
    """The digests of the pending calls that the person has read: the switch starts none but these."""


class ElevationBody(Value, kw_only=True):
    """A temporary permission to change files. Set exactly one of `calls`, `turn` and `minutes`."""

    calls: Annotated[int, Meta(ge=1, le=100)] | None = None
    """The number of calls after which the elevation ends."""
    turn: bool = False
    """Whether the elevation ends with the turn."""
    minutes: Annotated[float, Meta(gt=0, le=1440)] | None = None
    """The minutes after which the elevation ends."""
    shown: ShownDigests | None = None
    """The digests of the pending calls that the person has read: the elevation starts none but these."""


class AnswersBody(Value):
    answers: Annotated[tuple[str, ...], Meta(max_length=100)] = ()
    """The answers, in the order of the questions."""
    decline: bool = False
    """Whether to decline the question instead; only a running call's question can be declined."""
    call_id: Id | None = None
    """The call that asks; the one with the oldest question by default."""


async def cancel(request: RequestContext, context_id: str) -> ContextView:
    await request.runtime.turns.cancel(context_id, by=request.user)
    return await get(request, context_id)


async def pause(request: RequestContext, context_id: str) -> ContextView:
    await request.runtime.turns.pause(context_id, by=request.user)
    return await get(request, context_id)


async def resume(request: RequestContext, context_id: str) -> ContextView:
    await request.runtime.turns.resume(context_id, by=request.user)
    return await get(request, context_id)


async def go_on(request: RequestContext, context_id: str) -> ContextView:
    await request.runtime.turns.continue_(context_id)
    return await get(request, context_id)


async def retry(request: RequestContext, context_id: str) -> ContextView:
    await request.runtime.turns.retry_now(context_id)
    return await get(request, context_id)


async def switch_mode(request: RequestContext, context_id: str, body: SwitchBody) -> ModeSwitch:
    return await request.runtime.modes.switch(context_id, body.mode, shown=body.shown, by=request.user)


async def preview_mode(request: RequestContext, context_id: str, query: ModeBody) -> Page[CallView]:
    """Return the calls that a switch of the mode would start."""
    calls = await request.runtime.modes.would_start(context_id, query.mode)
    return Page(await call_views(request.runtime, context_id, calls))


async def elevate(request: RequestContext, context_id: str, body: ElevationBody) -> ModeSwitch:
    return await request.runtime.modes.elevate(
        context_id, calls=body.calls, turn=body.turn, minutes=body.minutes, shown=body.shown, by=request.user
    )


async def end_elevation(request: RequestContext, context_id: str) -> ModeSwitch:
    return await request.runtime.modes.end_elevation(context_id, by=request.user)


async def answer(request: RequestContext, context_id: str, body: AnswersBody) -> ContextView:
    if body.decline:
        await request.runtime.calls.decline(context_id, call_id=body.call_id, by=request.user)
    else:
        await request.runtime.calls.answer(context_id, body.answers, call_id=body.call_id, by=request.user)
    return await get(request, context_id)
