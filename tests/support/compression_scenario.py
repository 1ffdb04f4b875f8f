"""Automatic and requested compressions and undos, and a check of their effects in another process."""

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from pilothouse.domain.branches import MAIN
from pilothouse.domain.budgets import Budget
from pilothouse.domain.errors import Conflict
from pilothouse.domain.messages import ErrorMessage, Text
from pilothouse.domain.states import Failed, Idle, WaitingForRecovery, is_resting
from pilothouse.domain.value import ContextId, MessageId
from pilothouse.runtime.context.live_context import LiveContext
from pilothouse.runtime.runtime import Runtime
from pilothouse.testing import wire
from tests.support.assertions import file_store
from tests.support.live_contexts import live_context_at_rest, pool_of

BUDGET = Budget(tokens=4000, recent=2)
PHASES = ("auto", "by hand", "undo", "undo again")
_MESSAGE = "word " * 500
_LARGE = "word " * 1000

Act = Callable[[str, Callable[[], Awaitable[Any]]], Awaitable[Any]]


async def run_compressions(
    runtime: Runtime, workspace: Path, name: str, act: Act, begins: Callable[[str], None]
) -> None:
    """`act` runs a command under its name and records the acknowledgement; `begins` is called at each phase."""

    async def say(text: str) -> None:
        await act("said", lambda: runtime.messages.send(name, text))
        await settle(runtime, name)

    async def fill() -> None:
        while (meter := await runtime.window.meter(name)).tokens + 900 < meter.trigger:
            await say(_MESSAGE)

    async def write_out() -> None:
        await file_store(pool_of(runtime).dependencies.store).checkpoint(ContextId(name))

    await act("created", lambda: runtime.contexts.create(workspace, context_id=name))
    await fill()
    begins("auto")
    await say(_LARGE)
    await write_out()
    await fill()
    begins("by hand")
    await act("compressed", lambda: runtime.compression.compress(name))
    await write_out()
    await say("between")
    begins("undo")
    await act("undone", lambda: runtime.compression.undo(name))
    await write_out()
    begins("undo again")
    await act("undone", lambda: runtime.compression.undo(name))
    await write_out()
    await say("last")


async def settle(runtime: Runtime, name: str) -> None:
    """Continue until a turn is complete. Raises: StoreError."""
    while True:
        live = await live_context_at_rest(runtime, name)
        match live.state:
            case WaitingForRecovery() | Failed():
                await runtime.turns.continue_(name)
            case Idle() if live.core.last_turn == "complete":
                return
            case _:
                await runtime.turns.continue_(name)


async def check(runtime: Runtime, name: str, user_ids: list[str], steps: list[str]) -> None:
    """The state is before or after, never between; nothing acknowledged is lost; compressions can be undone."""
    if "created" not in steps:
        return
    live = await pool_of(runtime).owned(name)
    assert is_resting(live.state)
    assert not isinstance(live.state, Failed)
    whole = await unfolded(runtime, live, MAIN)
    await _check_said(runtime, live, whole, user_ids)
    await _check_chain(runtime, live)
    _check_steps(live, steps)
    wire.check((await runtime.window.read(name)).request)
    assert (await runtime.contexts.audit(name)).chain.whole
    if not isinstance(live.state, Idle):
        await runtime.turns.cancel(name)
    while live.branches[MAIN].compressed is not None:
        await runtime.compression.undo(name)
    ids = await pool_of(runtime).dependencies.store.branch_ids(live.id, MAIN)
    assert ids[: len(whole)] == whole
    assert list(live.branches) == [MAIN]
    wire.check((await runtime.window.read(name)).request)


async def unfolded(runtime: Runtime, live: LiveContext, branch: str) -> list[MessageId]:
    """Every message ever on a branch, in order, as undoing all compressions would restore it."""
    own = await pool_of(runtime).dependencies.store.branch_ids(live.id, branch)
    done = live.branches[branch].compressed
    return own if done is None else [*await unfolded(runtime, live, done.original), *own[done.replacement_length :]]


async def _check_said(runtime: Runtime, live: LiveContext, whole: list[MessageId], user_ids: list[str]) -> None:
    messages = await pool_of(runtime).dependencies.store.messages(live.id, whole)
    ids = [message.id for message in messages if isinstance(message, Text) and message.role == "user"]
    assert ids[: len(user_ids)] == user_ids, "what was acknowledged is there, in its order"
    assert len(ids) <= len(user_ids) + 1, "and at most the one that was being sent"
    assert not [m for m in messages if isinstance(m, ErrorMessage) and m.timestamp == ""], "and it can be read"


async def _check_chain(runtime: Runtime, live: LiveContext) -> None:
    """A branch is based on each original, which has all its messages."""
    originals = {name for name, branch in live.branches.items() if branch.original_of is not None}
    needed = {branch.compressed.original for branch in live.branches.values() if branch.compressed is not None}
    assert originals == needed == set(live.branches) - {MAIN}
    for branch in live.branches.values():
        ids = await pool_of(runtime).dependencies.store.branch_ids(live.id, branch.name)
        assert len(ids) == branch.length == len(set(ids))
        if (done := branch.compressed) is None:
            continue
        before = await pool_of(runtime).dependencies.store.branch_ids(live.id, done.original)
        assert len(before) == done.length
        assert ids[0] == done.summary_id
        assert ids[1 : done.replacement_length] == before[len(before) - done.replacement_length + 1 :]


def _check_steps(live: LiveContext, steps: list[str]) -> None:
    """The number of compressions: as acknowledged, or one step further."""
    depth, branch = 0, live.branches[MAIN]
    while branch.compressed is not None:
        depth, branch = depth + 1, live.branches[branch.compressed.original]
    if "undone" in steps:
        assert depth <= 1, "all of it is too much again: it may have been compressed with the last message"
    elif "compressed" in steps:
        assert depth in (2, 1)
    else:
        assert depth <= 2


async def send_and_wait(runtime: Runtime, name: str) -> None:
    """Send one more message and wait for the answer."""
    await runtime.messages.send(name, "still there?")
    live = await live_context_at_rest(runtime, name)
    assert live.core.last_turn == "complete"
    try:
        await runtime.compression.compress(name)
    except Conflict:
        return
    assert live.branches[MAIN].compressed is not None
