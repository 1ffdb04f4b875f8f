"""The prompt says about the offered tools what the gate decides, in every mode."""

import re
from pathlib import Path

import msgspec
import pytest

from pilothouse.domain.decisions import CallFacts, PolicySnapshot, decide
from pilothouse.domain.modes import Mode, Modes, Verdict, with_plan_commands
from pilothouse.domain.personas import Persona, Personas, ToolPolicy
from pilothouse.domain.tool_offers import ToolDescription
from pilothouse.llm.base import ModelRequest
from pilothouse.runtime.authorization.policy_snapshot import current_snapshot
from pilothouse.testing.tools import NoteTool
from pilothouse.testing.world import World
from pilothouse.tools.builtin import builtin_tools
from pilothouse.window.prompt import OfferedTool, join_parts, prompt_parts
from tests.support.held_store import DONE
from tests.support.live_contexts import live_context

NO_COMMANDS = Persona("careful", tools=ToolPolicy(denied=frozenset({"execute", "grep"})))
READS_FREELY = Mode(
    **{
        **msgspec.structs.asdict(Modes().all["agent"]),
        "name": "reader",
        "base": "agent",
        "aliases": (),
        "mutating": Verdict.DENY,
    }
)
ALL_MODES = {**Modes().all, **Modes([READS_FREELY]).all, "plan with commands": with_plan_commands(Modes()).all["plan"]}


async def request_in(
    folder: Path, mode: Mode, persona: str | None = None
) -> tuple[World, ModelRequest, PolicySnapshot]:
    """A request of a world with all built-in tools."""
    modes = with_plan_commands(Modes()) if mode == ALL_MODES["plan with commands"] else Modes([READS_FREELY])
    tools = [*builtin_tools(), NoteTool("unsure", "mutating")]
    world = World(folder, DONE, tools=tools, modes=modes, personas=lambda _: Personas([NO_COMMANDS]))
    context_id = await world.runtime.contexts.create(folder, mode=mode.name, persona=persona)
    await world.turn(context_id)
    return world, world.model.requests[0], current_snapshot(await live_context(world.runtime, context_id))


def names_after(words: str, system: str) -> set[str]:
    match = re.search(f"{words}: ([^.]*)\\.", system)
    return set(match[1].split(", ")) if match else set()


def stated_verdict(system: str, tool: str, *, only_reads: bool) -> Verdict | None:
    """The verdict that a prompt states for calls of a tool; None where the prompt states none."""
    free = names_after("Calls of these run without approval", system)
    if tool in free or (only_reads and tool in names_after("So do calls that only read of these", system)):
        return Verdict.ALLOW
    if tool in names_after("Other calls of these are denied", system) or "Every other call is denied." in system:
        return Verdict.DENY
    return Verdict.ASK if "Every other call waits for the person's approval." in system else None


@pytest.mark.parametrize("persona", [None, "careful"])
@pytest.mark.parametrize("mode", list(ALL_MODES))
async def test_the_prompt_says_about_each_tool_what_the_gate_decides(
    tmp_path: Path, mode: str, persona: str | None
) -> None:
    world, request, snapshot = await request_in(tmp_path, ALL_MODES[mode], persona)
    verdicts: list[Verdict] = []
    stated: list[Verdict | None] = []
    for offer in request.tools:
        tool = world.dependencies.registry.tools[offer.name]
        if tool.effect == "question":  # a question always reaches the person
            continue
        effects = {tool.effect, "read_only"} if getattr(tool, "effect_varies", False) else {tool.effect}
        for effect in sorted(effects):
            verdicts.append(decide(CallFacts(tool=offer.name, effect=effect, digest=""), snapshot).verdict)
            stated.append(stated_verdict(request.system, offer.name, only_reads=effect == "read_only"))
    if set(stated) == {None}:
        assert len(set(verdicts)) <= 1, "the mode treats all tools alike"
    else:
        assert stated == verdicts
    assert ("You have no tools now." in request.system) == (not request.tools)
    assert persona is None or "execute" not in request.system


async def test_the_prompt_of_review_says_what_runs_and_what_waits(tmp_path: Path) -> None:
    _, request, _ = await request_in(tmp_path, ALL_MODES["review"])
    free = names_after("Calls of these run without approval", request.system)
    assert {"read_file", "grep", "ask_user"} <= free
    assert free.isdisjoint({"write_file", "edit_file", "execute", "unsure"})
    assert names_after("So do calls that only read of these", request.system) == {"execute"}
    assert "You are in review mode: it is read-only." in request.system


async def test_the_prompt_of_ask_says_that_there_are_no_tools(tmp_path: Path) -> None:
    _, request, _ = await request_in(tmp_path, ALL_MODES["ask"])
    assert request.tools == ()
    assert "You have no tools now." in request.system
    assert "only answer questions" in request.system


async def test_plan_offers_nothing_that_is_denied_whatever_the_arguments_are(tmp_path: Path) -> None:
    _, request, snapshot = await request_in(tmp_path, ALL_MODES["plan"])
    assert {"write_file", "edit_file", "execute", "unsure"}.isdisjoint(tool.name for tool in request.tools)
    assert "You cannot run commands, write or edit anything" in request.system
    denied = [
        decide(CallFacts(tool=tool, effect="mutating", digest=""), snapshot) for tool in ("write_file", "execute")
    ]
    assert [(decision.verdict, decision.ends_turn) for decision in denied] == [(Verdict.DENY, True)] * 2


def test_only_a_description_that_its_definition_cuts_is_in_the_prompt() -> None:
    tools = [
        OfferedTool(ToolDescription(name=name, description=name * 10, parameters={}), Verdict.ALLOW)
        for name in ("short", "much longer ")
    ]
    parts = prompt_parts(
        Modes().all["agent"], tools, persona="p", workspace=None, addition=None, max_description_characters=99
    )
    system = join_parts(parts)
    assert "The full description of much longer :\n" + "much longer " * 10 in system
    assert "shortshort" not in system
