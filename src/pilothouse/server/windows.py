"""The window: what the next request would carry, how full it is, compressions, pins, the workspace overview."""

from typing import Annotated

from msgspec import Meta

from pilothouse.domain.budgets import Meter
from pilothouse.domain.messages import Usage
from pilothouse.domain.shapes import ContextShape
from pilothouse.domain.values import MessageId, Value
from pilothouse.runtime.compressing import Compression
from pilothouse.runtime.compressions import FOCUS_AT_MOST, Undone
from pilothouse.runtime.looking_ahead import Window
from pilothouse.server.inputs import BranchName
from pilothouse.server.serving import Call
from pilothouse.server.views import context_shape


class CompressionAsked(Value, kw_only=True):
    """`preview` only tells what it would do. `focus` says what the summary is to keep above all."""

    preview: bool = False
    focus: Annotated[str, Meta(min_length=1, max_length=FOCUS_AT_MOST)] | None = None


class UndoAsked(Value):
    """The active branch, where none is named."""

    branch: BranchName | None = None


class UsageShape(Value, kw_only=True, omit_defaults=False):
    """What a context used itself and together with its sub-agents; and how full its window is now."""

    own: Usage
    total: Usage
    window: Meter


class Added(Value):
    message_id: MessageId


async def window(call: Call, context_id: str) -> Window:
    return await call.runtime.read_window(context_id)


async def usage(call: Call, context_id: str) -> UsageShape:
    used = await call.runtime.usage(context_id)
    return UsageShape(own=used.own, total=used.total, window=await call.runtime.meter(context_id))


async def compress(call: Call, context_id: str, body: CompressionAsked) -> Compression:
    if body.preview:
        return await call.runtime.preview_compression(context_id)
    return await call.runtime.compress(context_id, focus=body.focus, by=call.user)


async def undo_compression(call: Call, context_id: str, body: UndoAsked) -> Undone:
    return await call.runtime.undo_compression(context_id, branch=body.branch, by=call.user)


async def pin(call: Call, context_id: str, message_id: str) -> ContextShape:
    await call.runtime.pin(context_id, message_id)
    return await context_shape(call.runtime, await call.runtime.context(context_id))


async def unpin(call: Call, context_id: str, message_id: str) -> ContextShape:
    await call.runtime.pin(context_id, message_id, pinned=False)
    return await context_shape(call.runtime, await call.runtime.context(context_id))


async def add_overview(call: Call, context_id: str) -> Added:
    return Added(await call.runtime.add_overview(context_id, by=call.user))
