"""A command of each kind that steers, in a row, and a check of their effects in another process."""

from collections import Counter
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from pilothouse.domain.errors import Conflict
from pilothouse.domain.messages import Text, ToolRequest, ToolResult
from pilothouse.domain.policies import Policy
from pilothouse.domain.rules import Scope
from pilothouse.domain.states import (
    AwaitingToolApproval,
    Failed,
    Idle,
    Paused,
    WaitingForRecovery,
    is_resting,
)
from pilothouse.llm.script import Answer, ScriptedCall
from pilothouse.runtime.runtime import Runtime
from tests.support.live_contexts import live_context, live_context_at_rest, pool_of

Act = Callable[[str, Callable[[], Awaitable[Any]]], Awaitable[Any]]
Settle = Callable[[str], Awaitable[None]]


def answers(name: str, count: int = 40) -> list[Answer]:
    """Every other one asks for a change; there are more than an undisturbed run needs."""
    return [
        Answer(
            text=f"answer {number} of {name}",
            calls=(ScriptedCall(tool="change", arguments={"text": f"{name}-{number}"}),) if number % 2 == 0 else (),
        )
        for number in range(count)
    ]


async def steer(runtime: Runtime, workspace: Path, name: str, act: Act, settle: Settle) -> None:
    """`act` runs a command under its name and returns whether it was acknowledged; `settle` finishes a turn."""
    await act("created", lambda: runtime.contexts.create(workspace, context_id=name, mode="supervised"))
    here = await act("rule", lambda: runtime.rules.give("deny", Scope(folder="deploy"), context_id=name))
    good = await act("rule_for_good", lambda: runtime.rules.give("allow", Scope(tool=f"tool-{name}")))
    await act("policy", lambda: runtime.modes.set_policy(name, Policy(kind="manual")))
    await act("one", lambda: runtime.messages.send(name, "one", key="k1"))
    await runtime.turns.rested(name)
    await act("two", lambda: runtime.messages.send(name, "two", key="k2", queue=True))
    await settle(name)
    await act("branch", lambda: runtime.branches.create(name, "idea"))
    await act("switched", lambda: runtime.branches.switch(name, "idea"))
    await act("three", lambda: runtime.messages.send(name, "three"))
    await settle(name)
    await act("switched_back", lambda: runtime.branches.switch(name, "main"))
    await act("merged", lambda: runtime.merges.merge(name, "idea"))
    await act("deleted_branch", lambda: runtime.branches.delete(name, "idea"))
    await act("title", lambda: runtime.contexts.change(name, title="A title"))
    await act("prompt", lambda: runtime.branches.set_prompt_addition(name, "Be kind."))
    await act("edited", lambda: _edit_first(runtime, name))
    await settle(name)
    await act("revoked", lambda: runtime.rules.revoke(here.id, context_id=name))
    await act("revoked_for_good", lambda: runtime.rules.revoke(good.id))
    await act("archived", lambda: runtime.contexts.change(name, archived=True))
    data = b"".join([piece async for piece in runtime.exports.create(name)])
    await act("imported", lambda: runtime.imports.create(data, context_id=f"{name}-copy"))
    await act("deleted", lambda: runtime.contexts.delete(f"{name}-copy"))


async def _edit_first(runtime: Runtime, name: str) -> Any:
    messages = await runtime.messages.read(name, branch="main", limit=1000)
    first = next(message for message in messages if isinstance(message, Text) and message.content == "one")
    return await runtime.messages.edit(name, first.id, "one, better")


async def settle_by_approving(runtime: Runtime, name: str) -> None:
    """Approve calls until none waits. Raises: StoreError."""
    while True:
        live = await live_context_at_rest(runtime, name)
        match live.state:
            case AwaitingToolApproval():
                await runtime.calls.approve_all(name)
            case Paused():
                await runtime.turns.resume(name)
            case WaitingForRecovery() | Failed():
                await runtime.turns.continue_(name)
            case Idle() if live.core.last_turn in ("complete", "rejected") and not live.core.queue:
                return
            case _:
                await runtime.turns.continue_(name)


async def check(runtime: Runtime, name: str, done: list[str], ran: Counter[str]) -> None:
    """Acknowledged commands hold; others are there as a whole or not at all."""
    assert all(count == 1 for count in ran.values()), "something ran twice"
    if "created" not in done:
        return
    live = await live_context(runtime, name)
    assert is_resting(live.state)
    await _check_rules(runtime, live, done)
    await _check_messages(runtime, name, live, done)
    await _check_branches(runtime, name, live, done)
    if "policy" in done:
        assert live.core.policy == Policy(kind="manual")
    if "title" in done:
        assert live.core.title == "A title"
    if "archived" in done:
        assert live.core.archived
    assert (await runtime.contexts.audit(name)).chain.whole
    await _check_copy(runtime, name, done)


async def _check_rules(runtime: Runtime, live: Any, done: list[str]) -> None:
    here = [rule for rule in live.core.rules if rule.scope.folder == "deploy"]
    good = [rule for rule in await runtime.rules.read() if rule.scope.tool == f"tool-{live.id}"]
    for created, revoked, rules in (("rule", "revoked", here), ("rule_for_good", "revoked_for_good", good)):
        if revoked in done:
            assert not rules
        elif created in done and not _may_be_under_way(revoked, done):
            assert len(rules) == 1
    assert not [rule for rule in await runtime.rules.read() if rule.id.startswith("damaged")]


def _may_be_under_way(step: str, done: list[str]) -> bool:
    before = {"revoked": "edited", "revoked_for_good": "revoked", "deleted_branch": "merged"}
    return step not in done and before[step] in done


async def _check_messages(runtime: Runtime, name: str, live: Any, done: list[str]) -> None:
    store = pool_of(runtime).dependencies.store
    pool = await store.messages(live.id, await store.message_ids(live.id))
    queued = [message_id for item in live.core.queue for message_id in item.message_ids]
    for text in ("one", "two", "three"):
        message_ids = [message.id for message in pool if isinstance(message, Text) and message.content == text]
        assert len(message_ids) <= 1
        if text in done:
            ids = {each for branch in live.branches for each in await store.branch_ids(live.id, branch)}
            assert message_ids, f"{text} is lost"
            assert (message_ids[0] in ids) != (message_ids[0] in queued)
    calls = [call.id for message in pool if isinstance(message, ToolRequest) for call in message.calls]
    still_open = {call.id for call in live.calls.values() if call.is_open}
    results = Counter(message.call_id for message in pool if isinstance(message, ToolResult))
    assert results == Counter(set(calls) - still_open)
    for key, text in (("k1", "one"), ("k2", "two")):
        if text in done:
            again = await runtime.messages.send(name, text, key=key, queue=text == "two")
            assert again.message_id in {m.id for m in pool if isinstance(m, Text) and m.content == text}


async def _check_branches(runtime: Runtime, name: str, live: Any, done: list[str]) -> None:
    store = pool_of(runtime).dependencies.store
    main = await store.branch_ids(live.id, "main")
    block = [block for block in live.branches["main"].merged if block.source == "idea"]
    messages = await store.messages(live.id, main)
    marks = [at for at, message in enumerate(messages) if getattr(message, "kind", "") == "branch_merge"]
    assert [each.start for each in block] == [at + 1 for at in marks], "the mark, the block and where it came from"
    for each in block:
        assert len(main) >= each.start + each.count
        assert "three" in [getattr(message, "content", "") for message in messages[each.start :]]
    if "merged" in done:
        assert block
    if "deleted_branch" in done:
        assert "idea" not in live.branches
    elif "branch" in done and not _may_be_under_way("deleted_branch", done):
        assert "idea" in live.branches


async def _check_copy(runtime: Runtime, name: str, done: list[str]) -> None:
    copies = [
        each for each in await pool_of(runtime).dependencies.store.contexts() if each.context_id == f"{name}-copy"
    ]
    if "deleted" in done:
        assert not copies
    elif copies:
        copy = await live_context(runtime, f"{name}-copy")
        assert (await runtime.contexts.audit(f"{name}-copy")).chain.whole
        pool = await pool_of(runtime).dependencies.store.message_ids(copy.id)
        assert not [m for m in await pool_of(runtime).dependencies.store.messages(copy.id, pool) if m.timestamp == ""]
    assert not [each for each in await pool_of(runtime).dependencies.store.contexts() if each.damage is not None]


async def refuse_nothing(runtime: Runtime, name: str) -> None:
    """A context that was found in whatever state can be brought to rest by a person."""
    try:
        await runtime.turns.cancel(name)
    except Conflict:
        pass
    assert isinstance((await runtime.contexts.get(name)).state, Idle)
