"""Commands about branches: create, fork at a message, switch, delete, their prompt. Messages are never copied."""

from collections.abc import Callable

import msgspec

from pilothouse.domain.branches import Branch, fork_length
from pilothouse.domain.codes import Code, Reason
from pilothouse.domain.errors import Conflict, NotFound
from pilothouse.domain.messages import Metadata, SystemControl
from pilothouse.domain.payloads import check_text
from pilothouse.domain.states import Failed, Idle, SavingContext, State, SwitchingBranch, name_of
from pilothouse.domain.values import MessageId
from pilothouse.runtime.contexts import Contexts
from pilothouse.runtime.draft import Draft
from pilothouse.runtime.live import Live
from pilothouse.runtime.messages import put_branch
from pilothouse.runtime.results import close_open_calls

_LOOKED_AT = 2000


async def create_branch(
    contexts: Contexts, context_id: str, name: str, *, source: str | None = None, prompt_addition: str | None = None
) -> Branch:
    """A branch with the messages of another one (of the active one). Raises: InvalidInput, NotFound, Conflict."""
    check_text(prompt_addition or "")
    async with contexts.locked(context_id) as live:
        origin = branch_of(live, source or live.core.active_branch)
        return await _create(live, name, origin, origin.length, prompt_addition)


async def fork(
    contexts: Contexts,
    context_id: str,
    name: str,
    *,
    at: MessageId,
    source: str | None = None,
    prompt_addition: str | None = None,
) -> Branch:
    """A branch that ends with the message `at`, and with its results if it holds calls.

    Raises: InvalidInput, NotFound (no such message on that branch), Conflict (the name is taken, the
    message is still being written).
    """
    check_text(prompt_addition or "")
    async with contexts.locked(context_id) as live:
        origin = branch_of(live, source or live.core.active_branch)
        store = contexts.parts.store
        ids = await store.branch_ids(live.id, origin.name)
        if at not in ids:
            if live.outlet is not None and live.outlet.message_id == at:
                raise Conflict(Code.MESSAGE_INCOMPLETE, message_id=at)
            raise NotFound(Code.UNKNOWN_MESSAGE, message_id=at, branch=origin.name)
        position = ids.index(at)
        first = max(0, position - _LOOKED_AT)
        around = await store.messages(live.id, ids[first : position + _LOOKED_AT])
        return await _create(live, name, origin, first + fork_length(around, position - first), prompt_addition)


async def _create(live: Live, name: str, origin: Branch, length: int, addition: str | None = None) -> Branch:
    draft = live.draft()
    ids = await live.parts.store.branch_ids(live.id, origin.name, 0, length)
    put_branch(live, draft, name, origin, ids, addition)
    await live.commit(draft)
    return live.branches[name]


async def switch_branch(contexts: Contexts, context_id: str, name: str) -> None:
    """Raises: NotFound, Conflict while a turn is open, StoreError; then the old branch stays active."""
    async with contexts.locked(context_id) as live:
        branch_of(live, name)

        def change(draft: Draft) -> None:
            draft.core["active_branch"] = name

        await between_turns(live, SwitchingBranch(source=live.core.active_branch, target=name), change)


async def between_turns(live: Live, passing: State, change: Callable[[Draft], None]) -> None:
    """Something that is done as a whole while no turn is open, in one commit. The caller holds the lock.

    Raises: Conflict while a turn is open, StoreError; then all is as before.
    """
    if not isinstance(live.state, Idle | Failed):
        raise Conflict(Code.TURN_ACTIVE, state=name_of(live.state))
    before = live.state
    live.enter(passing)
    live.enter(SavingContext())
    try:
        draft = live.draft()
        if live.core.turn is not None:  # a failed turn that the store would not close then
            close_open_calls(draft, live, Reason(Code.NOT_RUN))
            draft.core["turn"] = None
        change(draft)
        await live.commit(draft, Idle())
    except BaseException:
        if isinstance(live.state, SavingContext):  # else it was done before whoever asked for it left
            live.state = before
            live.publish_state()
        raise


async def delete_branch(contexts: Contexts, context_id: str, name: str, *, by: str = "local") -> None:
    """Its messages stay in the pool. Raises: NotFound, Conflict for one that is in use, StoreError."""
    async with contexts.locked(context_id) as live:
        branch_of(live, name)
        working = live.core.turn.branch if live.core.turn is not None else None
        if name in (live.core.active_branch, working):
            raise Conflict(Code.BRANCH_IN_USE, branch=name)
        draft = live.draft()
        draft.dropped.append(name)
        draft.note("branch_deleted", by, branch=name, length=live.branches[name].length)
        await live.commit(draft)


async def set_prompt_addition(
    contexts: Contexts, context_id: str, text: str | None, *, branch: str | None = None, by: str = "local"
) -> None:
    """What the system prompt says beside the rest on one branch, from the next round on. Raises: InvalidInput,
    NotFound, StoreError."""
    check_text(text or "")
    async with contexts.locked(context_id) as live:
        found = branch_of(live, branch or live.core.active_branch)
        draft = live.draft()
        draft.branches[found.name] = msgspec.structs.replace(found, prompt_addition=text or None)
        mark = SystemControl(
            id=MessageId(live.parts.ambient.new_id()),
            timestamp=live.parts.now(),
            role="system",
            metadata=Metadata(mode=live.core.mode),
            kind="prompt_change",
            content=text or "",
            detail={"by": by},
        )
        draft.append(mark, found.name)
        draft.note("prompt_changed", by, branch=found.name)
        await live.commit(draft)


def branch_of(live: Live, name: str) -> Branch:
    """Raises: NotFound."""
    branch = live.branches.get(name)
    if branch is None:
        raise NotFound(Code.UNKNOWN_BRANCH, branch=name, allowed=", ".join(live.branches))
    return branch
