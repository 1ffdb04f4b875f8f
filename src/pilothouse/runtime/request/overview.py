"""The overview of the workspace: stored as an injection at the start, when the workspace changes, and on request. The
prompt contains the newest one."""

import asyncio

from pilothouse.domain.budgets import OverviewSettings
from pilothouse.domain.contexts import Overview
from pilothouse.domain.errors import ToolError
from pilothouse.domain.messages import OVERVIEW
from pilothouse.domain.value import MessageId
from pilothouse.runtime.context.live_context import LiveContext
from pilothouse.runtime.notices import system_notice
from pilothouse.tools.overview import describe_workspace


async def newest_overview(live: LiveContext) -> str | None:
    """The text of the newest overview, if it describes the present workspace."""
    overview = live.core.overview
    if overview is None or overview.workspace != live.core.workspace:
        return None
    if live.overview is None or live.overview[0] != overview.message_id:
        (message,) = await live.dependencies.store.messages(live.id, [overview.message_id])
        live.overview = (overview.message_id, getattr(message, "content", ""))
    return live.overview[1]


async def update_overview(live: LiveContext, branch: str) -> None:
    """Store a new overview where one is enabled and due. A folder that cannot be read gets none."""
    settings = live.dependencies.overview
    if settings is None or not settings.enabled or not _is_due(live, branch, settings):
        return
    text = await describe(live, settings)
    if text is not None:
        async with live.lock:
            await put_overview(live, branch, text, "runtime")


def _is_due(live: LiveContext, branch: str, settings: OverviewSettings) -> bool:
    overview = live.core.overview
    if overview is None or overview.workspace != live.core.workspace:
        return live.core.workspace is not None
    new_messages = live.branches[branch].length - overview.at_length
    return settings.every is not None and (new_messages >= settings.every or new_messages < 0)


async def describe(live: LiveContext, settings: OverviewSettings) -> str | None:
    """The overview's text; None for a workspace that cannot be read."""
    try:
        workspace = live.files.workspace()
        return await asyncio.to_thread(describe_workspace, workspace, settings, live.counter.count)
    except ToolError:
        return None


async def put_overview(live: LiveContext, branch: str, text: str, by: str) -> MessageId:
    """Commit an overview as an injection. The caller holds the lock. Raises: StoreError."""
    message = system_notice(live, "injection", text, detail={"about": OVERVIEW, "by": by})
    draft = live.draft()
    draft.append(message, branch)
    length = live.branches[branch].length
    draft.core["overview"] = Overview(message_id=message.id, workspace=live.core.workspace or "", at_length=length)
    await live.commit(draft)
    return message.id
