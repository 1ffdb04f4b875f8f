"""The overview of the workspace: stored as an injection at the start, when the workspace changes, and on request.

The prompt holds the overview of the first request of the branch, so that its requests begin alike. Later overviews are
messages of the history, at their place, until a compression begins the history anew with the newest one.
"""

import asyncio

import msgspec

from pilothouse.domain.branches import Branch, PromptOverview
from pilothouse.domain.budgets import OverviewSettings
from pilothouse.domain.contexts import Overview, prompt_overview
from pilothouse.domain.errors import ToolError
from pilothouse.domain.messages import OVERVIEW, Text, ToolRequest
from pilothouse.domain.value import MessageId
from pilothouse.runtime.context.draft import Draft
from pilothouse.runtime.context.live_context import LiveContext
from pilothouse.runtime.notices import system_notice
from pilothouse.tools.overview import describe_workspace

_MAX_MESSAGES_BEFORE_ANSWER = 20
"""A branch whose requests were answered has an answer among so many messages."""


async def overview_in_prompt(live: LiveContext, branch: str) -> str | None:
    """The text of the overview in the prompt of a branch's requests."""
    overview = prompt_overview(live.core, live.branches[branch])
    return None if overview is None or overview.message_id is None else await _text_of(live, overview.message_id)


async def _text_of(live: LiveContext, message_id: MessageId) -> str:
    return getattr(await live.history_cache.message(live, message_id), "content", "")


async def update_overview(live: LiveContext, branch: str) -> None:
    """Before a request: store a new overview where one is enabled and due, and record which one the prompt holds from
    the first request on. A folder that cannot be read gets no overview."""
    settings = live.dependencies.overview
    if settings is not None and settings.enabled and _is_due(live, branch, settings):
        text = await describe(live, settings)
        if text is not None:
            async with live.lock:
                overview = live.core.overview
                if overview is not None and await _is_known(live, branch, overview, text):
                    await _postpone(live, overview, live.branches[branch].length)
                else:
                    await put_overview(live, branch, text, "runtime")
    if live.branches[branch].overview is None and prompt_overview(live.core, live.branches[branch]) is not None:
        async with live.lock:
            draft = live.draft()
            await _settle_prompt(live, draft, branch, None)
            await live.commit(draft)


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
        return await asyncio.to_thread(describe_workspace, workspace, settings, live.model().counter.count)
    except ToolError:
        return None


async def _is_known(live: LiveContext, name: str, overview: Overview, text: str) -> bool:
    """Whether the newest overview is in the requests of a branch, and has this text."""
    in_prompt = prompt_overview(live.core, live.branches[name])
    if in_prompt is None or await _text_of(live, overview.message_id) != text:
        return False
    if overview.message_id == in_prompt.message_id:
        return True
    return overview.message_id in await live.storage.branch_ids(name, in_prompt.length)


async def _postpone(live: LiveContext, overview: Overview, length: int) -> None:
    """Make the next overview due as if a new one had been stored."""
    draft = live.draft()
    draft.core["overview"] = msgspec.structs.replace(overview, at_length=length)
    await live.commit(draft)


async def put_overview(live: LiveContext, branch: str, text: str, by: str) -> MessageId:
    """Commit an overview as an injection. The caller holds the lock. Raises: StoreError."""
    message = system_notice(live, "injection", text, detail={"about": OVERVIEW, "by": by})
    draft = live.draft()
    await _settle_prompt(live, draft, branch, message.id)
    draft.append(message, branch)
    length = live.branches[branch].length
    draft.core["overview"] = Overview(message_id=message.id, workspace=live.core.workspace or "", at_length=length)
    await live.commit(draft)
    return message.id


async def _settle_prompt(live: LiveContext, draft: Draft, name: str, new: MessageId | None) -> None:
    """Record in a draft which overview the prompt of a branch holds, unless that is recorded. `new` is an overview
    about to be appended: it is in the prompt where the branch has no answer yet, or none in this workspace."""
    branch = draft.branches.get(name, live.branches[name])
    if branch.overview is not None:
        return
    overview = prompt_overview(live.core, branch)
    if overview is None:
        is_late = live.core.overview is None and await _has_answer(live, branch)
        length = draft.length(name)
        overview = PromptOverview(message_id=None if is_late else new, length=length if is_late else length + 1)
    draft.branches[name] = msgspec.structs.replace(branch, overview=overview)


async def _has_answer(live: LiveContext, branch: Branch) -> bool:
    store = live.dependencies.store
    ids = await store.branch_ids(live.id, branch.name, 0, _MAX_MESSAGES_BEFORE_ANSWER)
    messages = await store.messages(live.id, ids)
    return any(isinstance(message, Text | ToolRequest) and message.role == "assistant" for message in messages)
