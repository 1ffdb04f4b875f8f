"""Commands about branches: create, fork at a message, switch. Messages are never copied."""

from pilothouse.domain.branches import Branch, check_name, fork_length
from pilothouse.domain.codes import Code
from pilothouse.domain.errors import Conflict, NotFound
from pilothouse.domain.states import Failed, Idle, SavingContext, SwitchingBranch, name_of
from pilothouse.domain.values import MessageId
from pilothouse.runtime.contexts import Contexts
from pilothouse.runtime.live import Live

_LOOKED_AT = 2000


async def create_branch(contexts: Contexts, context_id: str, name: str, *, source: str | None = None) -> Branch:
    """A branch with the messages of another one (of the active one). Raises: InvalidInput, NotFound, Conflict."""
    async with contexts.locked(context_id) as live:
        origin = _branch(live, source or live.core.active_branch)
        return await _create(live, name, origin, origin.length)


async def fork(contexts: Contexts, context_id: str, name: str, *, at: MessageId, source: str | None = None) -> Branch:
    """A branch that ends with the message `at`, and with its results if it holds calls.

    Raises: InvalidInput, NotFound (no such message on that branch), Conflict (the name is taken, the
    message is still being written).
    """
    async with contexts.locked(context_id) as live:
        origin = _branch(live, source or live.core.active_branch)
        store = contexts.parts.store
        ids = await store.branch_ids(live.id, origin.name)
        if at not in ids:
            if live.outlet is not None and live.outlet.message_id == at:
                raise Conflict(Code.MESSAGE_INCOMPLETE, message_id=at)
            raise NotFound(Code.UNKNOWN_MESSAGE, message_id=at, branch=origin.name)
        position = ids.index(at)
        following = await store.messages(live.id, ids[position : position + _LOOKED_AT])
        return await _create(live, name, origin, position + fork_length(following))


async def switch_branch(contexts: Contexts, context_id: str, name: str) -> None:
    """Raises: NotFound, Conflict while a turn is open, StoreError; then the old branch stays active."""
    async with contexts.locked(context_id) as live:
        _branch(live, name)
        if not isinstance(live.state, Idle | Failed):
            raise Conflict(Code.TURN_ACTIVE, state=name_of(live.state))
        before = live.state
        live.enter(SwitchingBranch(source=live.core.active_branch, target=name))
        live.enter(SavingContext())
        draft = live.draft()
        draft.core["active_branch"] = name
        try:
            await live.commit(draft, Idle())
        except BaseException:
            live.state = before
            live.publish_state()
            raise


def _branch(live: Live, name: str) -> Branch:
    branch = live.branches.get(name)
    if branch is None:
        raise NotFound(Code.UNKNOWN_BRANCH, branch=name, allowed=", ".join(live.branches))
    return branch


async def _create(live: Live, name: str, origin: Branch, length: int) -> Branch:
    check_name(name)
    if name in live.branches:
        raise Conflict(Code.BRANCH_EXISTS, branch=name)
    draft = live.draft()
    draft.branches[name] = Branch(
        name=name,
        key=live.parts.ambient.new_id(),
        created_at=live.parts.now(),
        parent_branch=origin.name,
        prompt_addition=origin.prompt_addition,
    )
    draft.appended[name] = await live.parts.store.branch_ids(live.id, origin.name, 0, length)
    await live.commit(draft)
    return live.branches[name]
