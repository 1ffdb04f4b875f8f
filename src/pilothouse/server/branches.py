"""Branches: made, forked, switched to, merged, deleted."""

from typing import Annotated

from msgspec import Meta

from pilothouse.domain.codes import Code
from pilothouse.domain.errors import NotFound
from pilothouse.domain.merging import MergePlan, Strategy
from pilothouse.domain.shapes import BranchShape, ContextShape, Page
from pilothouse.domain.values import MessageId, Value
from pilothouse.runtime.forks import read_forks
from pilothouse.server.contexts import get
from pilothouse.server.inputs import BranchName, Id, Ids
from pilothouse.server.serving import Call
from pilothouse.server.views import branch_shape

Addition = Annotated[str, Meta(max_length=100_000)]


class NewBranch(Value, kw_only=True):
    """With the messages of `source` (the active one), up to and with `at`."""

    name: BranchName
    source: BranchName | None = None
    at: Id | None = None
    prompt_addition: Addition | None = None


class BranchChange(Value):
    prompt_addition: Addition | None


class ActiveBranch(Value):
    branch: BranchName


class Merge(Value, kw_only=True):
    """With `preview`, only what it would do."""

    target: BranchName | None = None
    strategy: Strategy = "append"
    message_ids: Ids = ()
    preview: bool = False


class IdsQuery(Value):
    """The ids before the position `before`."""

    before: Annotated[int, Meta(ge=0)] | None = None
    limit: Annotated[int, Meta(ge=1, le=1000)] = 100


async def read(call: Call, context_id: str) -> Page[BranchShape]:
    live = await call.runtime.context(context_id)
    forks = await read_forks(live)
    branches = list(live.branches.values())
    shapes = [await branch_shape(call.runtime, live.id, branch, fork=forks.get(branch.name)) for branch in branches]
    return Page(tuple(shapes))


async def read_one(call: Call, context_id: str, branch: str, query: IdsQuery) -> BranchShape:
    live = await call.runtime.context(context_id)
    if branch not in live.branches:
        raise NotFound(Code.UNKNOWN_BRANCH, branch=branch, allowed=", ".join(live.branches))
    forks = await read_forks(live)
    return await branch_shape(
        call.runtime,
        live.id,
        live.branches[branch],
        fork=forks.get(branch),
        before=query.before,
        limit=query.limit,
    )


async def create(call: Call, context_id: str, body: NewBranch) -> BranchShape:
    if body.at is not None:
        await call.runtime.fork(
            context_id,
            body.name,
            at=MessageId(body.at),
            source=body.source,
            prompt_addition=body.prompt_addition,
        )
    else:
        await call.runtime.create_branch(
            context_id, body.name, source=body.source, prompt_addition=body.prompt_addition
        )
    return await read_one(call, context_id, body.name, IdsQuery())


async def change(call: Call, context_id: str, branch: str, body: BranchChange) -> BranchShape:
    await call.runtime.set_prompt_addition(context_id, body.prompt_addition, branch=branch, by=call.user)
    return await read_one(call, context_id, branch, IdsQuery())


async def activate(call: Call, context_id: str, body: ActiveBranch) -> ContextShape:
    await call.runtime.switch_branch(context_id, body.branch)
    return await get(call, context_id)


async def merge(call: Call, context_id: str, source: str, body: Merge) -> MergePlan:
    if body.preview:
        return await call.runtime.preview_merge(
            context_id, source, target=body.target, strategy=body.strategy, message_ids=body.message_ids
        )
    return await call.runtime.merge(
        context_id,
        source,
        target=body.target,
        strategy=body.strategy,
        message_ids=body.message_ids,
        by=call.user,
    )


async def delete(call: Call, context_id: str, branch: str) -> None:
    await call.runtime.delete_branch(context_id, branch, by=call.user)
