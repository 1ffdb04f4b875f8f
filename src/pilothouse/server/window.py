"""The context window routes: preview of the next request, usage, compression, pins and the workspace overview."""

from typing import Annotated

from msgspec import Meta

from pilothouse.api.views import ContextView
from pilothouse.domain.budgets import Meter
from pilothouse.domain.messages import Usage
from pilothouse.domain.value import MessageId, Value
from pilothouse.runtime.compression.branch import Compression
from pilothouse.runtime.compression.commands import MAX_FOCUS_CHARACTERS, Undone
from pilothouse.runtime.request.preview import Window
from pilothouse.server.queries import BranchName
from pilothouse.server.state import RequestContext
from pilothouse.server.view_builder import context_view


class CompressBody(Value, kw_only=True):
    preview: bool = False
    """Whether to return the effect of the compression without compressing."""
    focus: Annotated[str, Meta(min_length=1, max_length=MAX_FOCUS_CHARACTERS)] | None = None
    """The subject that the summary must preserve in the most detail."""


class UndoCompressionBody(Value):
    branch: BranchName | None = None
    """The active branch by default."""


class UsageView(Value, kw_only=True, omit_defaults=False):
    """The tokens and the cost of a context, and how full its window is."""

    own: Usage
    """Without sub-agents."""
    total: Usage
    """With sub-agents."""
    window: Meter


class Added(Value):
    message_id: MessageId


async def window(request: RequestContext, context_id: str) -> Window:
    return await request.runtime.window.read(context_id)


async def usage(request: RequestContext, context_id: str) -> UsageView:
    result = await request.runtime.contexts.usage(context_id)
    return UsageView(own=result.own, total=result.total, window=await request.runtime.window.meter(context_id))


async def compress(request: RequestContext, context_id: str, body: CompressBody) -> Compression:
    if body.preview:
        return await request.runtime.compression.preview(context_id)
    return await request.runtime.compression.compress(context_id, focus=body.focus, by=request.user)


async def undo_compression(request: RequestContext, context_id: str, body: UndoCompressionBody) -> Undone:
    return await request.runtime.compression.undo(context_id, branch=body.branch, by=request.user)


async def pin(request: RequestContext, context_id: str, message_id: str) -> ContextView:
    await request.runtime.compression.pin(context_id, message_id)
    return await context_view(request.runtime, await request.runtime.contexts.get(context_id))


async def unpin(request: RequestContext, context_id: str, message_id: str) -> ContextView:
    await request.runtime.compression.pin(context_id, message_id, pinned=False)
    return await context_view(request.runtime, await request.runtime.contexts.get(context_id))


async def add_overview(request: RequestContext, context_id: str) -> Added:
    return Added(await request.runtime.workspaces.add_overview(context_id, by=request.user))
