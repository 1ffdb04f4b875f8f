"""A conversation with a persona: its tools, its mode, waiting calls after a switch, and a removed persona."""

from pathlib import Path

import pytest

from pilothouse.domain.codes import Code
from pilothouse.domain.errors import InvalidInput
from pilothouse.domain.personas import Persona, Personas, ToolPolicy
from pilothouse.domain.rules import Scope
from pilothouse.domain.states import AwaitingToolApproval
from pilothouse.domain.workspace_policy import WorkspacePolicy
from pilothouse.llm.script import Answer
from pilothouse.storage.files.store import FileStore
from pilothouse.testing.world import World
from tests.stories.test_trust import statuses, trust
from tests.support.assertions import present
from tests.support.held_store import DELEGATES, DONE, calls_answer, child_of, family, waiting_child
from tests.support.mcp_tools import world_with_tools

READER = Persona("reader", tools=ToolPolicy(denied=frozenset({"change"})))
CHANGER = Persona("changer", tools=ToolPolicy(allowed=frozenset({"change", "delegate"})))
CATEGORY = Persona("category", tools=ToolPolicy(denied_categories=frozenset({"external"})))
BOTH = calls_answer(("change", "a"), ("look", "b"))


def personas_for(workspace: str | None) -> Personas:
    return Personas([READER, CHANGER, CATEGORY])


def files(tmp_path: Path) -> FileStore:
    return FileStore(tmp_path / "data", now=lambda: "2026-01-01T00:00:00.000Z")


def add_project_persona(folder: Path, name: str, text: str) -> None:
    where = folder / ".pilothouse/personas"
    where.mkdir(parents=True, exist_ok=True)
    (where / f"{name}.toml").write_text(text)


def has(folder: Path, name: str, text: str) -> None:
    """The person's own, for `furnished`."""
    (folder / "own/personas").mkdir(parents=True, exist_ok=True)
    (folder / "own/personas" / f"{name}.toml").write_text(text)


def offered(world: World, request: int = 0) -> set[str]:
    return {tool.name for tool in world.model.requests[request].tools}


# tools


@pytest.mark.parametrize("mode", ["agent", "supervised", "review", "plan"])
async def test_a_denied_tool_is_neither_offered_nor_run_in_any_mode(tmp_path: Path, mode: str) -> None:
    world = World(tmp_path, calls_answer(("change", "a")), DONE, personas=personas_for)
    context_id = await world.runtime.contexts.create(tmp_path, mode=mode, persona="reader")
    await world.runtime.rules.give("allow", Scope(tool="change"), context_id=context_id)
    await world.turn(context_id)
    assert world.change.ran == []
    assert await statuses(world, context_id) == ["denied"]
    assert "change" not in offered(world)


async def test_a_call_denied_by_the_persona_does_not_stop_the_others(tmp_path: Path) -> None:
    world = World(tmp_path, BOTH, DONE, personas=personas_for)
    context_id = await world.runtime.contexts.create(tmp_path, persona="reader")
    await world.turn(context_id)
    assert (world.change.ran, world.look.ran) == ([], ["b"])
    denied = (await world.runtime.calls.read(context_id)).items[0]
    assert (present(denied.reason).code, present(denied.reason).params["persona"]) == (Code.PERSONA_DENIED, "reader")


async def test_a_whole_category_can_be_denied(tmp_path: Path) -> None:
    world = World(tmp_path, BOTH, DONE, personas=personas_for)
    context_id = await world.runtime.contexts.create(tmp_path, persona="category")
    await world.turn(context_id)
    assert (world.change.ran, world.look.ran) == ([], [])
    assert offered(world) == {"ask_user"}


async def test_no_persona_switches_on_what_the_settings_have_switched_off(tmp_path: Path) -> None:
    off = WorkspacePolicy(disabled=frozenset({"change"}))
    world = World(tmp_path, calls_answer(("change", "a")), DONE, personas=personas_for, workspace_policy=lambda _: off)
    context_id = await world.runtime.contexts.create(tmp_path, persona="changer")
    await world.turn(context_id)
    assert world.change.ran == []
    assert "change" not in offered(world)
    (call,) = (await world.runtime.calls.read(context_id)).items
    assert present(call.reason).code is Code.TOOL_DISABLED


async def test_a_sub_agent_has_the_persona_of_its_parent(tmp_path: Path) -> None:
    world = family(tmp_path, DELEGATES, BOTH, DONE, DONE, personas=personas_for)
    context_id = await world.runtime.contexts.create(tmp_path, persona="reader")
    await world.turn(context_id)
    child = await child_of(world, context_id)
    assert (await world.runtime.contexts.get(child)).core.persona == "reader"
    assert (world.change.ran, world.look.ran) == ([], ["b"])
    assert "change" not in offered(world, 1)


async def test_a_sub_agent_with_another_persona_has_only_what_both_may_use(tmp_path: Path) -> None:
    world = family(tmp_path, DELEGATES, BOTH, DONE, DONE, personas=personas_for)
    context_id = await world.start("supervised")
    await world.runtime.rules.give("allow", Scope(tool="delegate"), context_id=context_id)
    await world.runtime.messages.send(context_id, "go")
    child = await waiting_child(world, context_id)
    assert sorted(await statuses(world, child)) == ["pending", "pending"]
    await world.runtime.modes.set_persona(child, "changer")
    assert sorted(await statuses(world, child)) == ["denied", "pending"], "it may not look"
    switched = await world.runtime.modes.set_persona(context_id, "reader")
    assert switched.started == ()
    await world.runtime.turns.rested(context_id)
    assert (world.change.ran, world.look.ran) == ([], []), "and who sent it may not change"


# switching in the middle


async def test_a_persona_switch_decides_waiting_calls_again_and_starts_nothing(tmp_path: Path) -> None:
    world = World(tmp_path, BOTH, DONE, personas=personas_for)
    context_id = await world.start("supervised")
    await world.turn(context_id)
    assert await statuses(world, context_id) == ["pending", "pending"]
    change, look = (call.id for call in (await world.runtime.calls.read(context_id)).items)
    switched = await world.runtime.modes.set_persona(context_id, "reader")
    assert (switched.started, switched.rejected, switched.waiting) == ((), (change,), (look,))
    assert isinstance((await world.runtime.contexts.get(context_id)).state, AwaitingToolApproval)
    await world.runtime.modes.set_persona(context_id, None)
    assert await statuses(world, context_id) == ["denied", "pending"], "what was denied stays so"
    noted = [
        entry.detail["persona"]
        for entry in (await world.runtime.contexts.audit(context_id)).entries
        if entry.kind == "persona_set"
    ]
    assert noted == ["reader", None]


async def test_an_unknown_name_is_refused_with_the_known_ones_and_nothing_changes(tmp_path: Path) -> None:
    world = World(tmp_path, personas=personas_for)
    with pytest.raises(InvalidInput, match="reader, changer, category"):
        await world.runtime.contexts.create(tmp_path, persona="nobody")
    assert (await world.runtime.contexts.list()).items == ()
    context_id = await world.runtime.contexts.create(tmp_path, persona="reader")
    for attempt in (
        world.runtime.modes.set_persona(context_id, "nobody"),
        world.runtime.contexts.change(context_id, persona="nobody", title="New"),
    ):
        with pytest.raises(InvalidInput, match="reader, changer, category"):
            await attempt
    live = await world.runtime.contexts.get(context_id)
    assert (live.core.persona, live.core.title) == ("reader", None)


# gone


async def test_a_persona_without_its_file_may_use_no_tool(tmp_path: Path) -> None:
    world = World(tmp_path, store=files(tmp_path), personas=personas_for)
    context_id = await world.runtime.contexts.create(tmp_path, persona="changer")
    await world.runtime.close()
    again = World(tmp_path, BOTH, DONE, store=files(tmp_path))
    await again.turn(context_id)
    assert (again.look.ran, again.change.ran) == ([], [])
    assert offered(again) == set()
    await again.runtime.close()


async def test_revoking_trust_denies_waiting_and_later_calls_of_its_persona(tmp_path: Path) -> None:
    world = world_with_tools(tmp_path, BOTH, DONE, BOTH, DONE)
    add_project_persona(world.workspace, "theirs", 'prompt = "Do it."\n')
    async with world.runtime:
        first = await world.start("supervised")
        with pytest.raises(InvalidInput, match="Unknown persona 'theirs'"):
            await world.runtime.modes.set_persona(first, "theirs")
        await trust(world, first)
        await world.runtime.modes.set_persona(first, "theirs")
        await world.turn(first)
        assert await statuses(world, first) == ["pending", "pending"]
        await world.runtime.workspaces.distrust(first)
        await world.runtime.turns.rested(first)
        assert await statuses(world, first) == ["denied", "denied"]
        await world.runtime.modes.switch(first, "agent")
        await world.turn(first)
        assert (world.look.ran, world.change.ran) == ([], [])
        assert offered(world, -1) == set()


async def test_an_untrusted_change_of_a_persona_enables_no_tool(tmp_path: Path) -> None:
    world = world_with_tools(tmp_path, calls_answer(("change", "a")), DONE)
    add_project_persona(world.workspace, "theirs", '[tools]\ndenied = ["change"]\n')
    async with world.runtime:
        context_id = await world.start()
        await trust(world, context_id)
        await world.runtime.modes.set_persona(context_id, "theirs")
        add_project_persona(world.workspace, "theirs", "")
        add_project_persona(world.workspace, "later", "")
        await world.turn(context_id)
        assert await statuses(world, context_id) == ["denied"]
        with pytest.raises(InvalidInput, match="Unknown persona 'later'"):
            await world.runtime.modes.set_persona(context_id, "later")


async def test_a_projects_allow_list_enables_no_tool_that_the_person_disabled(tmp_path: Path) -> None:
    (tmp_path / "own").mkdir()
    (tmp_path / "own/tools.toml").write_text("[tools.change]\nenabled = false\n")
    world = world_with_tools(tmp_path, calls_answer(("change", "a")), DONE)
    add_project_persona(world.workspace, "theirs", '[tools]\nallowed = ["change"]\nallowed_categories = ["external"]\n')
    async with world.runtime:
        context_id = await world.start()
        await trust(world, context_id)
        await world.runtime.modes.set_persona(context_id, "theirs")
        await world.turn(context_id)
        assert await statuses(world, context_id) == ["denied"]
        assert world.change.ran == []


# the mode of a new conversation


@pytest.mark.parametrize(
    ("configured", "mine", "theirs", "expected"),
    [
        ("supervised", "agent", None, "agent"),
        ("supervised", None, "agent", "supervised"),
        ("supervised", None, "plan", "supervised"),
        ("supervised", None, "ask", "ask"),
        (None, None, "review", "review"),
        (None, "review", "ask", "review"),
        ("plan", None, None, "plan"),
    ],
    ids=["own", "looser", "looser in reading", "stricter", "stricter than the default", "hidden", "none"],
)
async def test_an_own_persona_sets_the_mode_and_a_projects_persona_only_a_stricter_one(
    tmp_path: Path, configured: str | None, mine: str | None, theirs: str | None, expected: str
) -> None:
    has(tmp_path, "x" if mine else "other", f'default_mode = "{mine or "agent"}"')
    (tmp_path / "own/config.toml").write_text(f'mode = "{configured}"' if configured else "")
    world = world_with_tools(tmp_path)
    add_project_persona(world.workspace, "x", f'default_mode = "{theirs}"' if theirs else "")
    async with world.runtime:
        await trust(world, await world.start())
        context_id = await world.runtime.contexts.create(world.workspace, persona="x")
        assert (await world.runtime.contexts.get(context_id)).core.mode == expected
        named = await world.runtime.contexts.create(world.workspace, persona="x", mode="review")
        assert (await world.runtime.contexts.get(named)).core.mode == "review", "who names one gets it"
        await world.runtime.modes.set_persona(named, None)
        await world.runtime.modes.set_persona(named, "x")
        assert (await world.runtime.contexts.get(named)).core.mode == "review", "a persona alone switches no mode"


async def test_a_preference_for_something_stricter_binds_a_projects_persona_too(tmp_path: Path) -> None:
    world = world_with_tools(tmp_path, Answer(text="x"))
    add_project_persona(world.workspace, "x", 'default_mode = "agent"')
    async with world.runtime:
        await trust(world, await world.start())
        context_id = await world.runtime.contexts.create(world.workspace, persona="x", usual_modes=["ask", None])
        assert (await world.runtime.contexts.get(context_id)).core.mode == "ask"
