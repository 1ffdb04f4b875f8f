"""An undo is part of the conversation: people read it there, and the model gets the restored files."""

import re
from pathlib import Path
from typing import Literal

import pytest

from pilothouse.client import Client
from pilothouse.domain.codes import Language
from pilothouse.domain.messages import SystemControl, ToolResult
from pilothouse.domain.states import AwaitingToolApproval
from pilothouse.runtime.commands.calls import PersonsDecision
from pilothouse.runtime.events.turn_events import MessageAdded
from pilothouse.terminal.event_lines import show_event
from pilothouse.terminal.foreign_text import QuotedStream
from pilothouse.testing.served import Served
from pilothouse.testing.world import World
from tests.support.mcp_tools import DONE, answer_with_calls, world_with_tools, writes

LANGUAGES: dict[Language, str] = {"en": "Reverted ", "zh": "已还原 "}
TOLD = "has undone your last file change"
WRITE_A = ("write_file", {"path": "a.txt", "content": "new"})
WRITE_B = ("write_file", {"path": "b.txt", "content": "new"})


def sent(world: World, number: int = -1) -> str:
    """A request to the model, whole."""
    return b"\n".join(world.model.requests[number].messages).decode()


async def notes(world: World, context_id: str) -> list[SystemControl]:
    messages = await world.runtime.messages.read(context_id)
    return [each for each in messages if isinstance(each, SystemControl) and each.detail.get("about") == "undo"]


async def test_the_next_turn_tells_the_model_which_files_were_restored(tmp_path: Path) -> None:
    world = world_with_tools(tmp_path, writes("a.txt", "new"), DONE, DONE, DONE)
    async with world.runtime:
        context_id = await world.start("agent")
        await world.turn(context_id, "go")
        await world.runtime.workspaces.undo(context_id)
        await world.turn(context_id, "and now?")
        assert sent(world).count(TOLD) == 1
        assert re.search(rf"{TOLD}.*a\.txt", sent(world))
        assert sent(world).index(TOLD) < sent(world).index("and now?")
        await world.turn(context_id, "and later?")
        assert sent(world).count(TOLD) == 1


@pytest.mark.parametrize("verdict", ["approve", "reject"])
async def test_an_undo_while_calls_wait_is_reported_with_the_next_result(
    tmp_path: Path, verdict: Literal["approve", "reject"]
) -> None:
    """Every server refuses a request with a message between a call and its result."""
    world = world_with_tools(tmp_path, answer_with_calls(WRITE_A, WRITE_B), DONE, DONE)
    async with world.runtime:
        context_id = await world.start("supervised")
        await world.turn(context_id, "go")
        first, second = await world.runtime.calls.pending(context_id)
        await world.runtime.calls.decide(
            context_id, [PersonsDecision(id=first.id, verdict="approve", digest=first.digest)]
        )
        await world.runtime.turns.rested(context_id)
        assert isinstance((await world.runtime.contexts.get(context_id)).state, AwaitingToolApproval)
        await world.runtime.workspaces.undo(context_id)
        assert [note.content for note in await notes(world, context_id)] == [""]
        decision = PersonsDecision(id=second.id, verdict=verdict, digest=second.digest, reason="no")
        await world.runtime.calls.decide(context_id, [decision])
        await world.runtime.turns.rested(context_id)
        results = [each for each in await world.runtime.messages.read(context_id) if isinstance(each, ToolResult)]
        assert [TOLD in each.content for each in results] == [False, True]
        assert "a.txt" in results[1].content
        assert sent(world).count(TOLD) == 1
        assert "not run" not in sent(world)


async def test_an_undo_while_calls_wait_survives_a_restart_and_a_cancel(tmp_path: Path) -> None:
    world = world_with_tools(tmp_path, answer_with_calls(WRITE_A, WRITE_B))
    async with world.runtime:
        context_id = await world.start("supervised")
        await world.turn(context_id, "go")
        first, _ = await world.runtime.calls.pending(context_id)
        await world.runtime.calls.decide(
            context_id, [PersonsDecision(id=first.id, verdict="approve", digest=first.digest)]
        )
        await world.runtime.turns.rested(context_id)
        await world.runtime.workspaces.undo(context_id)
    again = world_with_tools(tmp_path, DONE)
    async with again.runtime:
        await again.runtime.turns.cancel(context_id)
        await again.runtime.turns.rested(context_id)
        await again.turn(context_id, "go on")
        assert sent(again).count(TOLD) == 1


async def test_people_read_an_undo_in_the_conversation_in_every_client(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    world = world_with_tools(tmp_path, writes("a.txt", "new"), DONE)
    async with world.runtime, Served(world.runtime, [world.workspace]) as served, served.client() as client:
        context_id = await world.start("agent")
        await world.turn(context_id, "go")
        await client.request("POST", f"/api/contexts/{context_id}/undo")
        await check_http(client, context_id)
        (note,) = await notes(world, context_id)
        for language, title in LANGUAGES.items():
            show_event(MessageAdded(note), language, QuotedStream())
            assert f"{title}a.txt" in capsys.readouterr().out
            parts = [part async for part in world.runtime.exports.markdown(context_id, language=language)]
            assert f"**{title.rstrip(': ：')}**: `a.txt`" in b"".join(parts).decode()


async def check_http(client: Client, context_id: str) -> None:
    answer = await client.request("GET", f"/api/contexts/{context_id}/messages")
    last = answer["items"][-1]
    assert (last["type"], last["kind"], last["detail"]["paths"]) == ("system_control", "injection", ["a.txt"])


async def test_an_undo_of_very_many_files_names_some_of_them(tmp_path: Path) -> None:
    world = world_with_tools(tmp_path, answer_with_calls(("execute", {"command": "touch f{1..200}"})), DONE, DONE)
    async with world.runtime:
        context_id = await world.start("agent")
        await world.turn(context_id, "go")
        undone = await world.runtime.workspaces.undo(context_id)
        assert len(undone.paths) == 200
        (note,) = await notes(world, context_id)
        assert (len(note.detail["paths"]), note.detail["count"]) == (50, 200)
        assert "and 150 more" in note.content


async def test_undos_while_calls_wait_keep_no_more_paths_than_are_reported(tmp_path: Path) -> None:
    many, more = (("execute", {"command": f"touch {name}{{1..80}}"}) for name in "fg")
    world = world_with_tools(tmp_path, answer_with_calls(many, more), DONE, answer_with_calls(WRITE_A), DONE)
    async with world.runtime:
        context_id = await world.start("agent")
        await world.turn(context_id, "go")
        await world.runtime.modes.switch(context_id, "supervised")
        await world.turn(context_id, "go on")
        for _ in range(2):
            assert len((await world.runtime.workspaces.undo(context_id)).paths) == 80
        turn = (await world.runtime.contexts.get(context_id)).core.turn
        assert turn is not None
        assert (len(turn.undone_paths), turn.undone_more) == (50, 110)
        (call,) = await world.runtime.calls.pending(context_id)
        await world.runtime.calls.decide(
            context_id, [PersonsDecision(id=call.id, verdict="approve", digest=call.digest)]
        )
        await world.runtime.turns.rested(context_id)
        assert "and 110 more" in sent(world)
