"""Commands about branches: create, fork at a message, switch, delete, set the prompt addition. Messages are never
copied."""

from collections.abc import Callable

import msgspec

from pilothouse.domain.branches import Branch, fork_length
from pilothouse.domain.codes import Code, Reason
from pilothouse.domain.errors import Conflict, NotFound
from pilothouse.domain.payloads import check_text
from pilothouse.domain.states import Failed, Idle, SavingContext, State, SwitchingBranch, name_of
from pilothouse.domain.value import MessageId
from pilothouse.runtime.authorization.authorization import close_open_calls
from pilothouse.runtime.commands.command_group import CommandGroup
from pilothouse.runtime.commands.messages import put_branch
from pilothouse.runtime.context.draft import Draft
from pilothouse.runtime.context.live_context import LiveContext
from pilothouse.runtime.notices import system_notice

_MAX_MESSAGES_AROUND_FORK = 2000


class BranchCommands(CommandGroup):
    """Create, switch and delete the branches of a context."""

    async def create(
        self, context_id: str, name: str, *, source: str | None = None, prompt_addition: str | None = None
    ) -> Branch:
        """Create a branch with the messages of another one, by default the active one.

        Raises: InvalidInput, NotFound, Conflict.
        """
        check_text(prompt_addition or "")
        async with self._pool.locked(context_id) as live:
            origin = branch_of(live, source or live.core.active_branch)
            return await _create(live, name, origin, origin.length, prompt_addition)

    async def fork(
        self,
        context_id: str,
        name: str,
        *,
        at: MessageId,
        source: str | None = None,
        prompt_addition: str | None = None,
    ) -> Branch:
        """Create a branch that ends with the message `at`, and with its results if the message holds calls.

        Raises: InvalidInput, NotFound (no such message on that branch), Conflict (the name is taken, the
        message is still being written).
        """
        check_text(prompt_addition or "")
        async with self._pool.locked(context_id) as live:
            origin = branch_of(live, source or live.core.active_branch)
            store = self._pool.dependencies.store
            ids = await store.branch_ids(live.id, origin.name)
            if at not in ids:
                if live.delta_writer is not None and live.delta_writer.message_id == at:
                    raise Conflict(Code.MESSAGE_INCOMPLETE, message_id=at)
                raise NotFound(Code.UNKNOWN_MESSAGE, message_id=at, branch=origin.name)
            position = ids.index(at)
            search_start = max(0, position - _MAX_MESSAGES_AROUND_FORK)
            around = await store.messages(live.id, ids[search_start : position + _MAX_MESSAGES_AROUND_FORK])
            return await _create(
                live, name, origin, search_start + fork_length(around, position - search_start), prompt_addition
            )

    async def switch(self, context_id: str, name: str) -> None:
        """Raises: NotFound, Conflict while a turn is open, StoreError; then the old branch stays active."""
        async with self._pool.locked(context_id) as live:
            branch_of(live, name)

            def change(draft: Draft) -> None:
                draft.core["active_branch"] = name

            await between_turns(live, SwitchingBranch(source=live.core.active_branch, target=name), change)

    async def delete(self, context_id: str, name: str, *, by: str = "local") -> None:
        """Delete a branch; its messages stay in the pool. Raises: NotFound, Conflict for a branch in use,
        StoreError."""
        async with self._pool.locked(context_id) as live:
            branch_of(live, name)
            turn_branch = live.core.turn.branch if live.core.turn is not None else None
            if name in (live.core.active_branch, turn_branch):
                raise Conflict(Code.BRANCH_IN_USE, branch=name)
            draft = live.draft()
            draft.dropped.append(name)
            draft.note("branch_deleted", by, branch=name, length=live.branches[name].length)
            await live.commit(draft)

    async def set_prompt_addition(
        self, context_id: str, text: str | None, *, branch: str | None = None, by: str = "local"
    ) -> None:
        """Set the text that is added to the system prompt on one branch, from the next round on.

        Raises: InvalidInput, NotFound, StoreError.
        """
        check_text(text or "")
        async with self._pool.locked(context_id) as live:
            target = branch_of(live, branch or live.core.active_branch)
            draft = live.draft()
            draft.branches[target.name] = msgspec.structs.replace(target, prompt_addition=text or None)
            draft.append(system_notice(live, "prompt_change", text or "", detail={"by": by}), target.name)
            draft.note("prompt_changed", by, branch=target.name)
            await live.commit(draft)


async def _create(live: LiveContext, name: str, origin: Branch, length: int, addition: str | None = None) -> Branch:
    draft = live.draft()
    ids = await live.storage.branch_ids(origin.name, 0, length)
    put_branch(live, draft, name, origin, ids, addition)
    await live.commit(draft)
    return live.branches[name]


async def between_turns(live: LiveContext, working_state: State, change: Callable[[Draft], None]) -> None:
    """Commit a change while no turn is open, passing through a working state. The caller holds the lock.

    Raises: Conflict while a turn is open, StoreError; then nothing has changed.
    """
    if not isinstance(live.state, Idle | Failed):
        raise Conflict(Code.TURN_ACTIVE, state=name_of(live.state))
    resting_state = live.state
    live.enter(working_state)
    live.enter(SavingContext())
    try:
        draft = live.draft()
        if live.core.turn is not None:  # a failed turn whose close the store refused
            close_open_calls(draft, live, Reason(Code.NOT_RUN))
            draft.core["turn"] = None
        change(draft)
        await live.commit(draft, Idle())
    except BaseException:
        if isinstance(live.state, SavingContext):  # otherwise the commit succeeded before the caller was cancelled
            live.enter(resting_state)
        raise


def branch_of(live: LiveContext, name: str) -> Branch:
    """Raises: NotFound."""
    branch = live.branches.get(name)
    if branch is None:
        raise NotFound(Code.UNKNOWN_BRANCH, branch=name, allowed=", ".join(live.branches))
    return branch
