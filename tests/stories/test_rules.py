"""Rules, policies, folders and elevation: permanent decisions of a person and their effects."""

from pathlib import Path

import msgspec
import pytest

from pilothouse.domain.codes import Code
from pilothouse.domain.decisions import FolderMode
from pilothouse.domain.errors import Conflict, InvalidInput, NotFound
from pilothouse.domain.modes import Modes
from pilothouse.domain.policies import Policy
from pilothouse.domain.rules import Origin, Rule, RuleId, RuleOption, Scope
from pilothouse.domain.states import AwaitingToolApproval
from pilothouse.domain.workspace_policy import WorkspacePolicy
from pilothouse.i18n import translate, translate_rule
from pilothouse.llm.script import Answer, ScriptedCall
from pilothouse.runtime.commands.calls import PersonsDecision
from pilothouse.storage.files.store import FileStore
from pilothouse.testing.world import World
from pilothouse.tools.builtin.edit_file import WriteFile
from pilothouse.tools.builtin.undo import Undo
from tests.support.assertions import content_of, present
from tests.support.live_contexts import live_context

DONE = Answer(text="done")


def calls_answer(*calls: tuple[str, str] | tuple[str, str, str]) -> Answer:
    calls_requested = []
    for tool, text, *path in calls:
        arguments = {"text": text, **({"path": path[0]} if path else {})}
        calls_requested.append(ScriptedCall(tool=tool, arguments=arguments))
    return Answer(calls=tuple(calls_requested))


def files(tmp_path: Path) -> FileStore:
    return FileStore(tmp_path / "data", now=lambda: "2026-01-01T00:00:00.000Z", state_dir=tmp_path / "state")


async def approve(world: World, context_id: str, always: RuleOption | None = None) -> None:
    (call, *_) = await world.runtime.calls.pending(context_id)
    decision = PersonsDecision(id=call.id, verdict="approve", digest=call.digest, always=always)
    await world.runtime.calls.decide(context_id, [decision])
    await world.runtime.turns.rested(context_id)


async def test_the_chosen_rule_option_becomes_exactly_the_rule_shown(tmp_path: Path) -> None:
    world = World(tmp_path, calls_answer(("change", "a", "docs/x.md")), DONE)
    context_id = await world.start("supervised")
    await world.turn(context_id)
    (call,) = await world.runtime.calls.pending(context_id)
    offers = await world.runtime.rules.offers(context_id, call.id)
    assert [offer.scope for offer in offers] == [
        *("exact", "folder", "tool"),
        *("exact_for_good", "folder_for_good", "tool_for_good"),
    ]
    await approve(world, context_id, always="folder")
    (rule,) = await world.runtime.rules.read(context_id)
    shown = offers[1].rule
    assert (rule.effect, rule.scope, rule.lifetime) == (shown.effect, shown.scope, shown.lifetime)
    assert rule.scope.folder == "docs"
    assert rule.origin.call == call.id
    assert "allow change [docs/] · in this conversation" in translate_rule(rule)


async def test_an_always_allow_rule_runs_the_next_call_until_revoked(tmp_path: Path) -> None:
    world = World(
        tmp_path,
        calls_answer(("change", "a", "docs/x")),
        DONE,
        calls_answer(("change", "b", "docs/y"), ("change", "c", "src/z")),
        DONE,
        calls_answer(("change", "d", "docs/y")),
    )
    context_id = await world.start("supervised")
    await world.turn(context_id)
    await approve(world, context_id, always="folder")
    await world.turn(context_id)
    assert world.change.ran == ["a", "b"]
    assert [call.arguments["text"] for call in await world.runtime.calls.pending(context_id)] == ["c"]
    await approve(world, context_id)
    (rule,) = await world.runtime.rules.read(context_id)
    await world.runtime.rules.revoke(rule.id, context_id=context_id)
    await world.turn(context_id)
    assert world.change.ran == ["a", "b", "c"]
    assert isinstance((await world.runtime.contexts.get(context_id)).state, AwaitingToolApproval)
    with pytest.raises(NotFound, match="no rule"):
        await world.runtime.rules.revoke(rule.id, context_id=context_id)


async def test_a_call_that_still_waits_has_its_present_reason(tmp_path: Path) -> None:
    world = World(tmp_path, calls_answer(("change", "a")), DONE)
    context_id = await world.start("supervised")
    await world.turn(context_id)
    (by_mode,) = await world.runtime.calls.pending(context_id)
    rule = await world.runtime.rules.give("ask", Scope(tool="change"), context_id=context_id)
    await world.runtime.modes.switch(context_id, "agent")
    (by_rule,) = await world.runtime.calls.pending(context_id)
    assert by_mode.reason != by_rule.reason
    assert present(by_rule.reason).code is Code.RULE_ASKS
    assert present(by_rule.reason).params["rule"] == rule.id


async def test_choosing_a_rule_option_runs_the_other_calls_it_covers(tmp_path: Path) -> None:
    world = World(tmp_path, calls_answer(("look", "a"), ("look", "b"), ("change", "c")), DONE)
    context_id = await world.start("supervised")
    await world.turn(context_id)
    await approve(world, context_id, always="tool")
    assert world.look.ran == ["a", "b"]
    assert world.change.ran == []


async def test_a_permanent_rule_holds_in_other_conversations_and_after_a_restart(tmp_path: Path) -> None:
    world = World(tmp_path, calls_answer(("change", "a")), DONE, store=files(tmp_path))
    first = await world.start("supervised")
    await world.turn(first)
    await approve(world, first, always="tool_for_good")
    await world.runtime.close()
    answers = [calls_answer(("change", "b")), DONE, calls_answer(("change", "c")), DONE]
    again = World(tmp_path, *answers, store=files(tmp_path), ids_from=1000)
    second = await again.start("supervised")
    await again.turn(second)
    assert again.change.ran == ["b"]
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    third = await again.runtime.contexts.create(elsewhere, mode="supervised")
    await again.turn(third)
    assert again.change.ran == ["b"], "a rule holds in the workspace in which it was given"
    await again.runtime.close()


@pytest.mark.parametrize("mode", ["review", "plan", "ask"])
async def test_a_permanent_rule_allows_nothing_in_a_stricter_mode(tmp_path: Path, mode: str) -> None:
    world = World(tmp_path, calls_answer(("change", "a")), DONE)
    context_id = await world.start(mode)
    await world.runtime.rules.give("allow", Scope())
    await world.turn(context_id)
    assert world.change.ran == []


async def test_in_review_no_rule_is_offered_and_none_can_be_taken(tmp_path: Path) -> None:
    world = World(tmp_path, calls_answer(("change", "a")))
    context_id = await world.start("review")
    await world.turn(context_id)
    (call,) = await world.runtime.calls.pending(context_id)
    assert await world.runtime.rules.offers(context_id, call.id) == []
    with pytest.raises(InvalidInput, match="isn't available"):
        await approve(world, context_id, always="exact")
    assert world.change.ran == []


async def test_a_deny_rule_denies_waiting_calls_and_the_model_gets_the_reason(tmp_path: Path) -> None:
    world = World(tmp_path, calls_answer(("change", "a", "deploy/x"), ("look", "b")), DONE)
    context_id = await world.start("supervised")
    await world.turn(context_id)
    await world.runtime.rules.give("deny", Scope(tool="change", folder="deploy"), context_id=context_id)
    (waiting,) = await world.runtime.calls.pending(context_id)
    assert waiting.tool == "look"
    await world.runtime.rules.give("deny", Scope(folder="deploy"), context_id=context_id)
    await world.runtime.turns.rested(context_id)
    assert (world.change.ran, world.look.ran) == ([], []), "nobody knows what the second one touches"
    assert content_of((await world.runtime.messages.read(context_id))[-1]) == "done", "the model is told, and goes on"


async def test_a_deny_rule_holds_in_agent_and_is_named_in_the_explanation(tmp_path: Path) -> None:
    world = World(tmp_path, calls_answer(("change", "a", "deploy/x")), DONE)
    context_id = await world.start("agent")
    rule = await world.runtime.rules.give("deny", Scope(folder="deploy"))
    await world.turn(context_id)
    assert world.change.ran == []
    calls = await world.dependencies.store.calls(context_id)
    assert calls[0].status == "denied"
    steps = (await world.runtime.calls.explain(context_id, calls[0].id)).steps
    assert [step.event.code for step in steps] == [Code.WHY_DENY, Code.WHY_ENDED]
    assert steps[0].why is not None
    assert steps[0].why.params["rule"] == rule.id
    assert "Not allowed by a rule: * [deploy/]" in translate(steps[0].why)
    assert "规则不允许" in translate(steps[0].why, "zh")


async def test_the_explanation_of_a_call_lists_every_step(tmp_path: Path) -> None:
    world = World(tmp_path, calls_answer(("change", "a")), DONE)
    context_id = await world.start("supervised")
    await world.turn(context_id)
    await approve(world, context_id, always="exact")
    (call,) = await world.dependencies.store.calls(context_id)
    steps = [
        " ".join(translate(reason) for reason in (step.event, step.why) if reason is not None)
        for step in (await world.runtime.calls.explain(context_id, call.id)).steps
    ]
    assert steps[0] == "Approval was required in Supervised mode. Supervised mode asks before actions like this."
    assert steps[1] == "Approved by local in Supervised mode. Approved by local."
    assert steps[-2].startswith("Started in Supervised mode.")
    assert steps[-1] == "Result: done."
    with pytest.raises(NotFound):
        await world.runtime.calls.explain(context_id, "nothing")


async def test_a_rule_with_an_end_expires(tmp_path: Path) -> None:
    world = World(tmp_path, calls_answer(("change", "a")), DONE, calls_answer(("change", "b")), DONE)
    context_id = await world.start("supervised")
    await world.runtime.rules.give("allow", Scope(tool="change"), minutes=5)
    await world.turn(context_id)
    world.ambient.advance(5 * 60)
    await world.turn(context_id)
    assert world.change.ran == ["a"]
    assert await world.runtime.rules.read(context_id) == []


async def test_an_unreadable_rules_log_makes_every_call_ask_until_a_person_accepts(
    tmp_path: Path,
) -> None:
    world = World(tmp_path, store=files(tmp_path))
    await world.runtime.rules.give("deny", Scope(tool="change"))
    await world.runtime.rules.give("deny", Scope(tool="look"))
    await world.runtime.close()
    (log,) = (tmp_path / "data/users/local/journal").iterdir()
    data = bytearray(log.read_bytes())
    data[40] ^= 1
    log.write_bytes(data)
    again = World(
        tmp_path, calls_answer(("change", "a")), DONE, calls_answer(("change", "b")), DONE, store=files(tmp_path)
    )
    context_id = await again.start("agent")
    await again.turn(context_id)
    assert again.change.ran == [], "the rule that was lost may have denied it"
    assert [rule.scope.tool for rule in await again.runtime.rules.read()] == ["look", "*"]
    assert (tmp_path / "data/users/local/aside").is_dir()
    await again.runtime.calls.reject_all(context_id)
    await again.runtime.turns.rested(context_id)
    standin = (await again.runtime.rules.read())[-1]
    await again.runtime.rules.revoke(standin.id)
    await again.runtime.close()
    third = World(tmp_path, calls_answer(("change", "b")), DONE, store=files(tmp_path), ids_from=2000)
    context_id = await third.start("agent")
    await third.turn(context_id)
    assert third.change.ran == ["b"], "and what was acknowledged does not come back"
    await third.runtime.close()


async def test_a_policy_makes_agent_mode_ask_and_a_context_overrides_the_preference(tmp_path: Path) -> None:
    world = World(
        tmp_path,
        calls_answer(("change", "a")),
        DONE,
        calls_answer(("change", "b")),
        DONE,
        workspace_policy=lambda _: WorkspacePolicy(preference=Policy(kind="manual")),
    )
    context_id = await world.start("agent")
    await world.turn(context_id)
    assert world.change.ran == []
    await approve(world, context_id)
    await world.runtime.modes.set_policy(context_id, Policy(kind="white_list", tools=frozenset({"change"})))
    await world.turn(context_id)
    assert world.change.ran == ["a", "b"]


async def test_an_enforced_policy_cannot_be_overridden(tmp_path: Path) -> None:
    world = World(
        tmp_path,
        calls_answer(("change", "a")),
        workspace_policy=lambda _: WorkspacePolicy(policies=(Policy(kind="manual"),)),
    )
    context_id = await world.start("agent")
    await world.runtime.modes.set_policy(context_id, Policy())
    await world.turn(context_id)
    assert world.change.ran == []


async def test_limited_auto_runs_some_rounds_then_asks_and_an_approval_restarts_the_count(tmp_path: Path) -> None:
    rounds = [calls_answer(("change", str(number))) for number in range(7)]
    world = World(tmp_path, *rounds, DONE)
    context_id = await world.start("agent")
    await world.runtime.modes.set_policy(context_id, Policy(kind="limited_auto", depth=2))
    await world.turn(context_id)
    assert world.change.ran == ["0", "1"]
    await approve(world, context_id)
    assert world.change.ran == ["0", "1", "2", "3", "4"]
    assert isinstance((await world.runtime.contexts.get(context_id)).state, AwaitingToolApproval)


async def test_a_stricter_policy_does_not_start_what_a_crash_left_waiting(tmp_path: Path) -> None:
    """No waiting call starts by another action of the person."""
    world = World(tmp_path, calls_answer(("change", "a")))
    context_id = await world.start("supervised")
    await world.turn(context_id)
    live = await live_context(world.runtime, context_id)
    core = msgspec.structs.replace(live.core, mode="agent")  # as if found so after a crash
    live.stored = msgspec.structs.replace(live.stored, core=core)
    await world.runtime.modes.set_policy(context_id, Policy())
    await world.runtime.rules.give("ask", Scope(tool="look"))
    await world.runtime.turns.rested(context_id)
    assert world.change.ran == []


async def test_a_folder_has_its_own_mode_and_the_turn_continues(tmp_path: Path) -> None:
    plan = FolderMode(folder="deploy", mode=Modes().named("plan"))
    world = World(
        tmp_path,
        calls_answer(("change", "a", "deploy/x"), ("change", "b", "docs/x"), ("change", "c")),
        DONE,
        workspace_policy=lambda _: WorkspacePolicy(folder_modes=(plan,)),
    )
    context_id = await world.start("agent")
    await world.turn(context_id)
    assert world.change.ran == ["b"], "c might touch the folder: nobody knows"
    assert content_of((await world.runtime.messages.read(context_id))[-1]) == "done"


async def test_a_link_changed_while_a_call_waits_does_not_redirect_it(tmp_path: Path) -> None:
    for name in ("docs/real", "deploy"):
        (tmp_path / name).mkdir(parents=True)
    link = tmp_path / "docs/link"
    link.symlink_to("real")
    write = Answer(calls=(ScriptedCall(tool="write_file", arguments={"path": "docs/link/x", "content": "y"}),))
    plan = FolderMode(folder="deploy", mode=Modes().named("plan"))
    world = World(
        tmp_path, write, DONE, tools=[WriteFile()], workspace_policy=lambda _: WorkspacePolicy(folder_modes=(plan,))
    )
    context_id = await world.start("supervised")
    await world.turn(context_id)
    link.unlink()
    link.symlink_to("../deploy")
    await approve(world, context_id)
    assert not (tmp_path / "deploy/x").exists()
    (call,) = await world.dependencies.store.calls(context_id)
    assert (call.status, present(call.reason).code) == ("failed", Code.REACH_CHANGED)


async def test_a_file_rule_is_listed_and_can_only_be_changed_in_its_file(tmp_path: Path) -> None:
    rule = Rule(
        id=RuleId("config-1"),
        effect="deny",
        scope=Scope(tool="change"),
        origin=Origin(by="file", file="config.toml, line 3"),
    )
    world = World(tmp_path, workspace_policy=lambda _: WorkspacePolicy(rules=(rule,)))
    context_id = await world.start()
    assert await world.runtime.rules.read(context_id) == [rule]
    with pytest.raises(Conflict, match=r"config\.toml, line 3"):
        await world.runtime.rules.revoke("config-1", context_id=context_id)


async def test_a_removed_mode_allows_nothing(tmp_path: Path) -> None:
    own = msgspec.structs.replace(Modes().named("agent"), name="mine", aliases=())
    world = World(tmp_path, store=files(tmp_path), modes=Modes([own]))
    context_id = await world.start("mine")
    await world.runtime.close()
    again = World(tmp_path, calls_answer(("look", "a")), DONE, store=files(tmp_path))
    await again.turn(context_id)
    assert again.look.ran == []
    await again.runtime.modes.switch(context_id, "agent")
    await again.runtime.close()


# elevation


async def elevated(world: World, context_id: str) -> object:
    return await world.runtime.modes.elevation(context_id)


async def test_elevation_for_some_calls_runs_exactly_so_many(tmp_path: Path) -> None:
    world = World(tmp_path, calls_answer(("change", "a"), ("look", "x"), ("change", "b"), ("change", "c")), DONE)
    context_id = await world.start("review")
    await world.runtime.modes.elevate(context_id, calls=2)
    await world.turn(context_id)
    assert world.change.ran == ["a", "b"]
    assert [call.arguments["text"] for call in await world.runtime.calls.pending(context_id)] == ["c"]
    assert await elevated(world, context_id) is None
    kinds = [entry.kind for entry in (await world.runtime.contexts.audit(context_id)).entries]
    assert kinds.index("elevation_started") < kinds.index("elevation_ended")
    assert (await world.runtime.contexts.get(context_id)).core.mode == "review"


async def test_an_undo_is_one_of_the_calls_of_an_elevation(tmp_path: Path) -> None:
    undo = ScriptedCall(tool="undo", arguments={})
    changes = [ScriptedCall(tool="change", arguments={"text": text}) for text in "ab"]
    world = World(tmp_path, Answer(calls=(undo, *changes)), DONE, tools=[Undo()])
    context_id = await world.start("review")
    await world.runtime.modes.elevate(context_id, calls=2)
    await world.turn(context_id)
    assert world.change.ran == ["a"]
    assert [call.arguments["text"] for call in await world.runtime.calls.pending(context_id)] == ["b"]
    assert await elevated(world, context_id) is None


async def test_elevation_starts_waiting_calls_and_ends_with_a_mode_switch(tmp_path: Path) -> None:
    world = World(tmp_path, calls_answer(("change", "a")), DONE, calls_answer(("change", "b")))
    context_id = await world.start("review")
    await world.turn(context_id)
    elevation = await world.runtime.modes.elevate(context_id, minutes=10)
    assert len(elevation.started) == 1
    await world.runtime.turns.rested(context_id)
    assert world.change.ran == ["a"]
    await world.runtime.modes.switch(context_id, "review")
    assert await elevated(world, context_id) is None
    await world.turn(context_id)
    assert world.change.ran == ["a"]


async def test_elevation_for_minutes_ends_by_the_monotonic_clock(tmp_path: Path) -> None:
    world = World(tmp_path, calls_answer(("change", "a")), DONE, calls_answer(("change", "b")))
    context_id = await world.start("review")
    await world.runtime.modes.elevate(context_id, minutes=10)
    await world.turn(context_id)
    world.ambient.advance(10 * 60)
    await world.turn(context_id)
    assert world.change.ran == ["a"]
    last = [
        entry for entry in (await world.runtime.contexts.audit(context_id)).entries if entry.kind == "elevation_ended"
    ]
    assert [entry.detail["how"] for entry in last] == ["time_up"]


async def test_elevation_for_a_turn_needs_an_open_turn_and_ends_with_it(tmp_path: Path) -> None:
    world = World(
        tmp_path, calls_answer(("change", "a")), calls_answer(("change", "b")), DONE, calls_answer(("change", "c"))
    )
    context_id = await world.start("review")
    with pytest.raises(Conflict, match="No turn is running"):
        await world.runtime.modes.elevate(context_id, turn=True)
    await world.turn(context_id)
    await world.runtime.modes.elevate(context_id, turn=True)
    await world.runtime.turns.rested(context_id)
    assert world.change.ran == ["a", "b"]
    await world.turn(context_id)
    assert world.change.ran == ["a", "b"]


async def test_elevation_ends_at_a_restart(tmp_path: Path) -> None:
    world = World(tmp_path, store=files(tmp_path))
    context_id = await world.start("review")
    await world.runtime.modes.elevate(context_id, calls=5)
    await world.runtime.close()
    again = World(tmp_path, calls_answer(("change", "a")), store=files(tmp_path), ids_from=1000)
    assert await elevated(again, context_id) is None
    await again.turn(context_id)
    assert again.change.ran == []
    ended = [
        entry.detail["how"]
        for entry in (await again.runtime.contexts.audit(context_id)).entries
        if entry.kind == "elevation_ended"
    ]
    assert ended == ["restarted"]
    await again.runtime.close()


async def test_elevation_can_be_ended_is_refused_elsewhere_and_needs_an_end(tmp_path: Path) -> None:
    world = World(tmp_path)
    context_id = await world.start("review")
    for wrong in ({}, {"calls": 0}, {"minutes": 0.0}, {"calls": 1, "minutes": 1.0}, {"calls": 10**9}):
        with pytest.raises(InvalidInput, match=r"Set exactly one limit|Enter a number of"):
            await world.runtime.modes.elevate(context_id, **wrong)
    await world.runtime.modes.elevate(context_id, calls=3)
    await world.runtime.modes.end_elevation(context_id)
    with pytest.raises(Conflict, match="Nothing extra is allowed for now"):
        await world.runtime.modes.end_elevation(context_id)
    for mode in ("agent", "supervised", "plan", "ask"):
        await world.runtime.modes.switch(context_id, mode)
        with pytest.raises(Conflict, match="review"):
            await world.runtime.modes.elevate(context_id, calls=1)
