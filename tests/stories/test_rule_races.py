"""Edge cases of rules, elevation and policies: evicted contexts, expired rules, and calls that no rule allows."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from pilothouse.domain.errors import Conflict
from pilothouse.domain.personas import Persona, Personas, ToolPolicy
from pilothouse.domain.policies import Policy
from pilothouse.domain.rules import Scope
from pilothouse.domain.states import AwaitingToolApproval, Idle
from pilothouse.domain.workspace_policy import WorkspacePolicy
from pilothouse.llm.script import Answer, ScriptedCall
from pilothouse.testing.world import World
from tests.support.assertions import content_of
from tests.support.held_store import DELEGATES, DONE, HeldStore, calls_answer, family, waiting_child
from tests.support.live_contexts import live_context


async def test_contexts_evicted_during_a_switch_are_not_opened_twice(tmp_path: Path) -> None:
    store = HeldStore()
    world = World(
        tmp_path,
        calls_answer(("change", "a")),
        calls_answer(("change", "b")),
        DONE,
        DONE,
        store=store,
        max_idle_contexts=2,
    )
    first, second = await world.start("supervised"), await world.start("supervised")
    others = [await world.start() for _ in range(3)]
    await world.turn(first)
    await world.turn(second)
    before = await live_context(world.runtime, second)
    release = store.hold(lambda context_id, _: context_id == first)
    giving = asyncio.create_task(world.runtime.rules.give("allow", Scope(tool="change")))
    await store.reached.wait()
    for other in others:
        await world.runtime.contexts.get(other)
    assert await live_context(world.runtime, second) is before
    release.set()
    await giving
    for context_id in (first, second):
        live = await world.runtime.turns.rested(context_id)
        assert (live.state, live.core.last_turn) == (Idle(), "complete")
    assert sorted(world.change.ran) == ["a", "b"]


async def test_rules_hold_in_a_context_that_is_imported_under_another_id(tmp_path: Path) -> None:
    world = World(tmp_path)
    context_id = await world.start()
    rule = await world.runtime.rules.give("deny", Scope(tool="change"), context_id=context_id)
    data = b"".join([piece async for piece in world.runtime.exports.create(context_id)])
    other = World(tmp_path, calls_answer(("change", "a")), DONE, ids_from=10**6)
    await other.runtime.imports.create(data, context_id="copy")
    assert [each.id for each in await other.runtime.rules.read("copy")] == [rule.id]
    await other.turn("copy")
    assert other.change.ran == []


async def test_rules_whose_time_is_up_make_room(tmp_path: Path) -> None:
    world = World(tmp_path)
    context_id = await world.start()
    for number in range(50):
        await world.runtime.rules.give("allow", Scope(tool=f"tool{number}"), context_id=context_id, minutes=1)
    with pytest.raises(Conflict):
        await world.runtime.rules.give("deny", Scope(tool="change"), context_id=context_id)
    world.ambient.advance(61)
    rule = await world.runtime.rules.give("deny", Scope(tool="change"), context_id=context_id)
    assert await world.runtime.rules.read(context_id) == [rule]


async def test_elevate_reports_exactly_which_calls_start_and_wait(tmp_path: Path) -> None:
    world = World(tmp_path, calls_answer(*[("change", str(number)) for number in range(4)]), DONE)
    context_id = await world.start("review")
    await world.turn(context_id)
    pending = [call.id for call in await world.runtime.calls.pending(context_id)]
    world.change.release.clear()
    elevation = await world.runtime.modes.elevate(context_id, calls=2)
    assert (list(elevation.started), list(elevation.waiting)) == (pending[:2], pending[2:])
    assert [call.id for call in await world.runtime.calls.pending(context_id)] == pending[2:]
    world.change.release.set()
    await world.runtime.turns.rested(context_id)
    assert world.change.ran == ["0", "1"]
    assert [call.id for call in await world.runtime.calls.pending(context_id)] == pending[2:]


async def test_a_second_elevation_ends_the_first_in_the_audit(tmp_path: Path) -> None:
    world = World(tmp_path)
    context_id = await world.start("review")
    await world.runtime.modes.elevate(context_id, calls=5)
    await world.runtime.modes.elevate(context_id, calls=1)
    await world.runtime.modes.end_elevation(context_id)
    entries = [
        entry
        for entry in (await world.runtime.contexts.audit(context_id)).entries
        if entry.kind.startswith("elevation")
    ]
    assert [(entry.kind, entry.detail.get("how")) for entry in entries] == [
        ("elevation_started", None),
        ("elevation_ended", "replaced"),
        ("elevation_started", None),
        ("elevation_ended", "ended_by_person"),
    ]


async def test_in_review_no_rule_allows_a_call_that_the_policy_asks_about(tmp_path: Path) -> None:
    world = World(tmp_path, calls_answer(("look", "a")), DONE)
    context_id = await world.start("review")
    await world.runtime.modes.set_policy(context_id, Policy(kind="manual"))
    await world.runtime.rules.give("allow", Scope(tool="look"), context_id=context_id)
    await world.turn(context_id)
    assert isinstance((await world.runtime.contexts.get(context_id)).state, AwaitingToolApproval)
    assert world.look.ran == []


async def test_limited_auto_counts_the_rounds_of_a_sub_agent(tmp_path: Path) -> None:
    rounds = [calls_answer(("change", str(number))) for number in range(5)]
    world = family(tmp_path, DELEGATES, *rounds, DONE, DONE)
    context_id = await world.start()
    await world.runtime.modes.set_policy(context_id, Policy(kind="limited_auto", depth=2))
    await world.runtime.messages.send(context_id, "go")
    await waiting_child(world, context_id)
    assert world.change.ran == ["0", "1"]


MUTE = Persona("mute", tools=ToolPolicy(denied=frozenset({"ask_user"})))


@pytest.mark.parametrize(
    ("persona", "parts"),
    [
        (None, {"workspace_policy": lambda _: WorkspacePolicy(disabled=frozenset({"ask_user"}))}),
        ("mute", {"personas": lambda _: Personas([MUTE])}),
    ],
)
async def test_a_question_that_may_not_be_asked_is_denied(
    tmp_path: Path, persona: str | None, parts: dict[str, Any]
) -> None:
    question = ScriptedCall(tool="ask_user", arguments={"questions": [{"question": "?"}]})
    world = World(tmp_path, Answer(calls=(question,)), DONE, **parts)
    context_id = await world.runtime.contexts.create(tmp_path, persona=persona)
    await world.turn(context_id)
    assert [call.status for call in await world.dependencies.store.calls(context_id)] == ["denied"]
    assert content_of((await world.runtime.messages.read(context_id))[-1]) == "done", "the model is told, and goes on"
