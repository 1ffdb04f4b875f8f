"""Calls that no model sent: they pass the same gate, carry their origin, and end without a request to the model."""

import asyncio
from pathlib import Path

import pytest

from pilothouse.domain.codes import Code
from pilothouse.domain.errors import Conflict, InvalidInput, StoreRefused
from pilothouse.domain.messages import ErrorMessage, ToolRequest, ToolResult
from pilothouse.domain.states import AwaitingToolApproval, ExecutingTool, Idle, name_of
from pilothouse.llm.script import Answer
from pilothouse.runtime.commands.proposed_calls import MAX_PROPOSED_CALLS, ProposedCall
from pilothouse.runtime.limits import Limits
from pilothouse.storage.files.store import FileStore
from pilothouse.terminal.call_card import call_card
from pilothouse.testing.tools import NoteTool
from pilothouse.testing.world import World
from tests.support.held_store import HeldStore
from tests.support.valid_requests import assert_valid_request

ORIGIN = "workflow:release"
LOOK = ProposedCall(tool="look", arguments={"text": "a"})
CHANGE = ProposedCall(tool="change", arguments={"text": "b"})


async def test_proposed_calls_run_in_agent_mode_and_the_turn_ends_without_a_request(tmp_path: Path) -> None:
    world = World(tmp_path)
    context_id = await world.start("agent")
    records = await world.runtime.calls.propose(context_id, [LOOK, CHANGE], origin=ORIGIN)
    assert [(record.tool, record.status, record.origin) for record in records] == [
        ("look", "executed", ORIGIN),
        ("change", "executed", ORIGIN),
    ]
    assert (world.look.ran, world.change.ran, world.model.requests) == (["a"], ["b"], [])
    context = await world.runtime.contexts.get(context_id)
    assert (context.state, context.core.turn, context.core.last_turn) == (Idle(), None, "complete")
    request, *results = await world.runtime.messages.read(context_id)
    assert isinstance(request, ToolRequest)
    assert request.metadata.origin == ORIGIN
    assert [type(result) for result in results] == [ToolResult, ToolResult]
    assert [name_of(state) for state in world.entered] == [
        "parsing_tool_calls",
        "executing_tool",
        "executing_tool",
        "collecting_tool_results",
        "processing_tool_results",
        "tool_auto_loop",
        "saving_message",
        "idle",
    ]


async def test_the_next_request_is_valid_and_says_that_the_model_did_not_send_the_calls(tmp_path: Path) -> None:
    world = World(tmp_path, Answer(text="I see."))
    context_id = await world.start("agent")
    await world.runtime.calls.propose(context_id, [LOOK], origin=ORIGIN)
    await world.turn(context_id, "what came of it?")
    (request,) = world.model.requests
    assert_valid_request(request)
    assert b"[These calls came from workflow:release.]" in b"".join(request.messages)


async def test_a_proposed_call_waits_for_the_person_who_sees_its_origin(tmp_path: Path) -> None:
    store = FileStore(tmp_path / "data", now=lambda: "2026-01-01T00:00:00.000Z", state_dir=tmp_path / "state")
    world = World(tmp_path, store=store)
    context_id = await world.start("supervised")
    (record,) = await world.runtime.calls.propose(context_id, [CHANGE], origin=ORIGIN)
    assert record.status == "pending"
    assert "Proposed by workflow:release, not by the model." in call_card(record, "en")
    await world.runtime.close()

    store = FileStore(tmp_path / "data", now=lambda: "2026-01-01T00:00:00.000Z", state_dir=tmp_path / "state")
    world = World(tmp_path, store=store, ids_from=1000)
    assert isinstance((await world.runtime.contexts.get(context_id)).state, AwaitingToolApproval)
    await world.runtime.calls.approve_all(context_id)
    context = await world.runtime.turns.rested(context_id)
    assert (world.change.ran, context.state, context.core.last_turn) == (["b"], Idle(), "complete")
    assert world.model.requests == []
    await world.runtime.close()


@pytest.mark.parametrize("mode", ["agent", "supervised", "review", "plan", "ask"])
async def test_the_mode_decides_proposed_calls_like_those_of_the_model(tmp_path: Path, mode: str) -> None:
    world = World(tmp_path)
    context_id = await world.start(mode)
    (record,) = await world.runtime.calls.propose(context_id, [CHANGE], origin=ORIGIN)
    expected = {"agent": "executed", "supervised": "pending", "review": "pending", "plan": "denied", "ask": "denied"}
    assert record.status == expected[mode]
    assert world.change.ran == (["b"] if mode == "agent" else [])


async def test_a_denied_proposal_ends_its_turn_with_the_reason(tmp_path: Path) -> None:
    world = World(tmp_path)
    context_id = await world.start("plan")
    await world.runtime.calls.propose(context_id, [LOOK, CHANGE], origin=ORIGIN)
    assert world.look.ran == []
    *_, last = await world.runtime.messages.read(context_id)
    assert isinstance(last, ErrorMessage)
    assert last.reason.code is Code.MODE_DENIED
    assert (await world.runtime.contexts.get(context_id)).core.last_turn == "denied"


async def test_a_proposal_is_refused_while_a_turn_is_open(tmp_path: Path) -> None:
    world = World(tmp_path)
    context_id = await world.start("supervised")
    await world.runtime.calls.propose(context_id, [CHANGE], origin=ORIGIN)
    with pytest.raises(Conflict) as error:
        await world.runtime.calls.propose(context_id, [LOOK], origin=ORIGIN)
    assert error.value.reason.code is Code.TURN_ACTIVE
    assert world.look.ran == []


@pytest.mark.parametrize("origin", ["", " ", " x", "x" * 101, "a\nb", "a\u202eb", "wörkflow", "a\u200bb"])
async def test_an_origin_that_could_mislead_is_refused(tmp_path: Path, origin: str) -> None:
    world = World(tmp_path)
    context_id = await world.start("agent")
    with pytest.raises(InvalidInput):
        await world.runtime.calls.propose(context_id, [LOOK], origin=origin)


@pytest.mark.parametrize("count", [0, MAX_PROPOSED_CALLS + 1])
async def test_a_proposal_of_no_calls_or_too_many_is_refused(tmp_path: Path, count: int) -> None:
    world = World(tmp_path)
    context_id = await world.start("agent")
    with pytest.raises(InvalidInput):
        await world.runtime.calls.propose(context_id, [LOOK] * count, origin=ORIGIN)
    assert (await world.runtime.contexts.get(context_id)).state == Idle()


@pytest.mark.parametrize("tool", ["", "a\ud800", "a\nb", "x" * 201])
async def test_a_name_that_no_tool_can_have_is_refused(tmp_path: Path, tool: str) -> None:
    world = World(tmp_path)
    context_id = await world.start("agent")
    with pytest.raises(InvalidInput):
        await world.runtime.calls.propose(context_id, [ProposedCall(tool=tool)], origin=ORIGIN)
    assert (await world.runtime.contexts.get(context_id)).state == Idle()


async def test_arguments_that_are_no_json_are_refused_and_nothing_changes(tmp_path: Path) -> None:
    world = World(tmp_path)
    context_id = await world.start("agent")
    version = (await world.runtime.contexts.get(context_id)).version
    with pytest.raises(InvalidInput):
        await world.runtime.calls.propose(
            context_id, [ProposedCall(tool="look", arguments={"text": object()})], origin=ORIGIN
        )
    assert (await world.runtime.contexts.get(context_id)).version == version


async def test_an_unknown_tool_or_wrong_arguments_fail_the_call_and_not_the_turn(tmp_path: Path) -> None:
    world = World(tmp_path)
    context_id = await world.start("agent")
    calls = [ProposedCall(tool="nonsense"), ProposedCall(tool="look", arguments={"unknown": 1}), LOOK]
    records = await world.runtime.calls.propose(context_id, calls, origin=ORIGIN)
    assert [record.status for record in records] == ["denied", "failed", "executed"]


async def test_a_cancelled_caller_leaves_the_turn_running(tmp_path: Path) -> None:
    blocking_tool = NoteTool("held", "mutating", hold=True)
    world = World(tmp_path, tools=[blocking_tool])
    context_id = await world.start("agent")
    proposing = asyncio.create_task(
        world.runtime.calls.propose(context_id, [ProposedCall(tool="held", arguments={"text": "1"})], origin=ORIGIN)
    )
    await blocking_tool.started.wait()
    proposing.cancel()
    await asyncio.wait([proposing])
    assert isinstance((await world.runtime.contexts.get(context_id)).state, ExecutingTool)
    blocking_tool.release.set()
    await world.runtime.turns.rested(context_id)
    assert blocking_tool.ran == ["1"]


async def test_the_person_cancels_a_turn_of_proposed_calls(tmp_path: Path) -> None:
    blocking_tool = NoteTool("held", "mutating", hold=True)
    world = World(tmp_path, tools=[blocking_tool])
    context_id = await world.start("agent")
    calls = [ProposedCall(tool="held", arguments={"text": "1"}), CHANGE]
    proposing = asyncio.create_task(world.runtime.calls.propose(context_id, calls, origin=ORIGIN))
    await blocking_tool.started.wait()
    await world.runtime.turns.cancel(context_id)
    assert [record.status for record in await proposing] == ["cancelled", "cancelled"]
    assert world.change.ran == []


async def test_no_proposed_call_starts_while_the_store_refuses_the_decisions(tmp_path: Path) -> None:
    store = HeldStore(commit_seconds=0)
    world = World(tmp_path, Answer(text="done"), store=store)
    context_id = await world.start("agent")
    store.refuses = lambda _, change: bool(change.calls)
    with pytest.raises(StoreRefused):
        await world.runtime.calls.propose(context_id, [CHANGE], origin=ORIGIN)
    assert world.change.ran == []
    store.refuses = lambda *_: False
    await world.runtime.turns.continue_(context_id)
    assert isinstance((await world.runtime.turns.rested(context_id)).state, Idle)
    assert world.change.ran == []


async def test_the_audit_says_who_proposed_a_call(tmp_path: Path) -> None:
    world = World(tmp_path)
    context_id = await world.start("agent")
    (record,) = await world.runtime.calls.propose(context_id, [LOOK], origin=ORIGIN, by="ann")
    entries = await world.runtime.contexts.audit(context_id)
    (entry,) = [entry for entry in entries.entries if entry.kind == "calls_proposed"]
    assert (entry.by, entry.detail["origin"], list(entry.detail["calls"])) == ("ann", ORIGIN, [record.id])


async def test_the_limit_of_rounds_is_no_matter_for_proposed_calls(tmp_path: Path) -> None:
    world = World(tmp_path, limits=Limits(rounds=1))
    context_id = await world.start("agent")
    (record,) = await world.runtime.calls.propose(context_id, [LOOK], origin=ORIGIN)
    assert record.status == "executed"
    assert (await world.runtime.contexts.get(context_id)).core.last_turn == "complete"
