"""The branch routes: list, create, change, activate, merge and delete."""

from typing import Annotated

from msgspec import Meta

from pilothouse.api.views import BranchView, ContextView, Page
from pilothouse.domain.codes import Code
from pilothouse.domain.errors import NotFound
from pilothouse.domain.merges import MergePlan, Strategy
from pilothouse.domain.value import MessageId, Value
from pilothouse.server.contexts import get
from pilothouse.server.queries import BranchName, Id, Ids
from pilothouse.server.state import RequestContext
from pilothouse.server.view_builder import branch_view

Addition = Annotated[str, Meta(max_length=100_000)]


class NewBranch(Value, kw_only=True):
    name: BranchName
    source: BranchName | None = None
    """The branch whose messages the new one starts with; the active one by default."""
    at: Id | None = None
    """The last message that the new branch takes over; all by default."""
    prompt_addition: Addition | None = None
    """Text that is added to the system prompt on this branch."""


class BranchChange(Value):
    prompt_addition: Addition | None
    """Text that is added to the system prompt on this branch; null removes it."""


class ActiveBranch(Value):
    branch: BranchName


class Merge(Value, kw_only=True):
    target: BranchName | None = None
    """The branch that receives the messages; the active one by default."""
    strategy: Strategy = "append"
    message_ids: Ids = ()
    """The messages to merge with the strategy `cherry_pick`."""
    preview: bool = False
    """Whether to return the plan of the merge without merging."""


class IdsQuery(Value):
    """A page of message ids."""

    before: Annotated[int, Meta(ge=0)] | None = None
    """The position before which the page ends; the end of the branch by default."""
    limit: Annotated[int, Meta(ge=1, le=1000)] = 100
    """The number of ids on the page."""


async def read(request: RequestContext, context_id: str) -> Page[BranchView]:
    live = await request.runtime.contexts.get(context_id)
    forks = await request.runtime.contexts.forks(live.id)
    branches = list(live.branches.values())
    views = [await branch_view(request.runtime, live.id, branch, fork=forks.get(branch.name)) for branch in branches]
    return Page(tuple(views))


async def read_one(request: RequestContext, context_id: str, branch: str, query: IdsQuery) -> BranchView:
    live = await request.runtime.contexts.get(context_id)
    if branch not in live.branches:
        raise NotFound(Code.UNKNOWN_BRANCH, branch=branch, allowed=", ".join(live.branches))
    forks = await request.runtime.contexts.forks(live.id)
    return await branch_view(
        request.runtime,
        live.id,
        live.branches[branch],
        fork=forks.get(branch),
        before=query.before,
        limit=query.limit,
    )


async def create(request: RequestContext, context_id: str, body: NewBranch) -> BranchView:
    if body.at is not None:
        await request.runtime.branches.fork(
            context_id,
            body.name,
            at=MessageId(body.at),
            source=body.source,
            prompt_addition=body.prompt_addition,
        )
    else:
        await request.runtime.branches.create(
            context_id, body.name, source=body.source, prompt_addition=body.prompt_addition
        )
    return await read_one(request, context_id, body.name, IdsQuery())


async def change(request: RequestContext, context_id: str, branch: str, body: BranchChange) -> BranchView:
    await request.runtime.branches.set_prompt_addition(context_id, body.prompt_addition, branch=branch, by=request.user)
    return await read_one(request, context_id, branch, IdsQuery())


async def activate(request: RequestContext, context_id: str, body: ActiveBranch) -> ContextView:
    await request.runtime.branches.switch(context_id, body.branch)
    return await get(request, context_id)


async def merge(request: RequestContext, context_id: str, source: str, body: Merge) -> MergePlan:
    if body.preview:
        return await request.runtime.merges.preview(
            context_id, source, target=body.target, strategy=body.strategy, message_ids=body.message_ids
        )
    return await request.runtime.merges.merge(
        context_id,
        source,
        target=body.target,
        strategy=body.strategy,
        message_ids=body.message_ids,
        by=request.user,
    )


async def delete(request: RequestContext, context_id: str, branch: str) -> None:
    await request.runtime.branches.delete(context_id, branch, by=request.user)
