"""The workspace overview: stored as an injection at the start, when the workspace changes and on request. The prompt
carries the newest."""

import asyncio

from pilothouse.domain.budgets import OverviewSettings
from pilothouse.domain.contexts import Overview
from pilothouse.domain.errors import ToolError
from pilothouse.domain.messages import OVERVIEW, Metadata, SystemControl
from pilothouse.domain.values import MessageId
from pilothouse.runtime.live import Live
from pilothouse.tools.overview import describe_workspace


async def newest_overview(live: Live) -> str | None:
    """The newest description of the workspace, if there is one of the one that the context has now."""
    known = live.core.overview
    if known is None or known.workspace != live.core.workspace:
        return None
    if live.overview is None or live.overview[0] != known.message_id:
        (message,) = await live.parts.store.messages(live.id, [known.message_id])
        live.overview = (known.message_id, getattr(message, "content", ""))
    return live.overview[1]


async def keep_overview(live: Live, branch: str) -> None:
    """See to it that there is one, where that is wanted. A folder that cannot be looked at has none."""
    settings = live.parts.overview
    if settings is None or not settings.enabled or not _is_due(live, branch, settings):
        return
    text = await described(live, settings)
    if text is not None:
        async with live.lock:
            await put_overview(live, branch, text, "runtime")


def _is_due(live: Live, branch: str, settings: OverviewSettings) -> bool:
    known = live.core.overview
    if known is None or known.workspace != live.core.workspace:
        return live.core.workspace is not None
    passed = live.branches[branch].length - known.at_length
    return settings.every is not None and (passed >= settings.every or passed < 0)


async def described(live: Live, settings: OverviewSettings) -> str | None:
    """None for a workspace that cannot be looked at."""
    try:
        workspace = live.workspace()
        return await asyncio.to_thread(describe_workspace, workspace, settings, live.counter.count)
    except ToolError:
        return None


async def put_overview(live: Live, branch: str, text: str, by: str) -> MessageId:
    """The caller holds the lock. Raises: StoreError."""
    message = SystemControl(
        id=MessageId(live.parts.ambient.new_id()),
        timestamp=live.parts.now(),
        role="system",
        metadata=Metadata(mode=live.core.mode),
        kind="injection",
        content=text,
        detail={"about": OVERVIEW, "by": by},
    )
    draft = live.draft()
    draft.append(message, branch)
    length = live.branches[branch].length
    draft.core["overview"] = Overview(message_id=message.id, workspace=live.core.workspace or "", at_length=length)
    await live.commit(draft)
    return message.id
