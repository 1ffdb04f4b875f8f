"""Several calls in one answer: each sees the changes of those before it."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from pilothouse.domain.calls import CallRecord
from pilothouse.domain.codes import Code
from pilothouse.domain.messages import ToolResult
from pilothouse.domain.rules import Scope
from pilothouse.llm.script import Answer, ScriptedCall
from pilothouse.runtime.commands.calls import PersonsDecision
from pilothouse.runtime.limits import Limits
from pilothouse.testing.tools import NoteTool
from pilothouse.testing.world import World
from tests.support.mcp_tools import DONE, answer_with_calls, world_with_tools

WRITE = ("write_file", {"path": "run.sh", "content": "echo first; sleep 0.2; echo done > made\n"})
RUN = ("execute", {"command": "sh run.sh"})
READ = ("read_file", {"path": "made"})


async def test_a_command_may_run_what_the_call_before_it_has_written(tmp_path: Path) -> None:
    """The write was shown to nobody, so nobody has approved the new script."""
    world = world_with_tools(tmp_path, answer_with_calls(WRITE, RUN), DONE)
    async with world.runtime:
        context_id = await world.start("agent")
        await world.turn(context_id, "go")
        written, ran = (await world.runtime.calls.read(context_id)).items
        assert (written.status, ran.status, ran.exit_status) == ("executed", "executed", 0)


async def test_a_call_that_reads_waits_for_the_changes_asked_for_before_it(tmp_path: Path) -> None:
    world = world_with_tools(tmp_path, answer_with_calls(WRITE, RUN, READ, ("execute", {"command": "cat made"})), DONE)
    async with world.runtime:
        context_id = await world.start("agent")
        await world.turn(context_id, "go")
        calls = (await world.runtime.calls.read(context_id)).items
        assert [call.status for call in calls] == ["executed"] * 4
        results = [each for each in await world.runtime.messages.read(context_id) if isinstance(each, ToolResult)][-2:]
        assert all("done" in result.content for result in results)


async def test_no_more_calls_read_at_once_than_the_limit_says(tmp_path: Path) -> None:
    look = NoteTool("look", "read_only", hold=True)
    calls = tuple(ScriptedCall(tool="look", arguments={"text": str(number)}) for number in range(5))
    world = World(tmp_path, Answer(calls=calls), DONE, tools=[look], limits=Limits(parallel_reads=2))
    async with world.runtime:
        context_id = await world.start("agent")
        await world.runtime.messages.send(context_id, "go")
        await look.started.wait()
        started = [call.status for call in (await world.runtime.calls.read(context_id)).items]
        assert started == ["executing", "executing", "approved", "approved", "approved"]
        look.release.set()
        await world.runtime.turns.rested(context_id)
        assert sorted(look.ran) == list("01234")


async def test_an_approved_call_that_a_stricter_mode_returns_to_the_person_carries_no_decision(tmp_path: Path) -> None:
    look = NoteTool("look", "read_only", hold=True)
    calls = tuple(ScriptedCall(tool="look", arguments={"text": str(number)}) for number in range(3))
    world = World(tmp_path, Answer(calls=calls), DONE, tools=[look], limits=Limits(parallel_reads=1))
    async with world.runtime:
        context_id = await world.start("agent")
        await world.runtime.messages.send(context_id, "go")
        await look.started.wait()
        await world.runtime.modes.switch(context_id, "supervised")
        look.release.set()
        await world.runtime.turns.rested(context_id)
        returned = await world.runtime.calls.pending(context_id)
        assert len(returned) == 2
        for call in returned:
            assert (call.approval, call.decided_by, call.decided_at) == (None, None, None)


# in a mode in which a person approves each call

SCRIPT = "#!/bin/sh\necho written by the call > made\n"
FOUND = "#!/bin/sh\necho found there > made\n"
NEW_SCRIPT = ("write_file", {"path": "run.sh", "content": SCRIPT})
EDIT = ("edit_file", {"path": "run.sh", "edits": [{"old_text": "found there", "new_text": "written by the call"}]})
Asked = tuple[str, dict[str, Any]]


def executes(command: str) -> Asked:
    return ("execute", {"command": command})


async def approve_calls(world: World, context_id: str, *calls: CallRecord) -> list[CallRecord]:
    """The person approves calls, in one decision; the records of all calls of the round afterwards."""
    decisions = [PersonsDecision(id=call.id, verdict="approve", digest=call.digest) for call in calls]
    await world.runtime.calls.decide(context_id, decisions)
    await world.runtime.turns.rested(context_id)
    return list((await world.runtime.calls.read(context_id)).items)


@asynccontextmanager
async def waiting(folder: Path, *calls: Asked) -> AsyncIterator[tuple[World, str, list[CallRecord]]]:
    """A round whose calls wait for the person."""
    world = world_with_tools(folder, answer_with_calls(*calls), DONE)
    async with world.runtime:
        context_id = await world.start("supervised")
        await world.turn(context_id, "go")
        yield world, context_id, list(await world.runtime.calls.pending(context_id))


@pytest.mark.parametrize(
    ("is_there", "calls"),
    [
        (False, [NEW_SCRIPT, executes("sh run.sh")]),
        (False, [NEW_SCRIPT, executes("chmod +x run.sh"), executes("./run.sh")]),
        (True, [NEW_SCRIPT, executes("./run.sh")]),
        (True, [EDIT, executes("./run.sh")]),
        (
            False,
            [("write_file", {"path": "new/run.sh", "content": SCRIPT}), executes("cd new && sh run.sh && cp made ..")],
        ),
        (False, [("write_file", {"path": "Makefile", "content": "all:\n\tsh run.sh\n"}), NEW_SCRIPT, executes("make")]),
    ],
    ids=["new", "made executable", "replaced", "edited", "in a new folder", "two files"],
)
async def test_approving_a_write_and_a_command_approves_running_the_written_script(
    tmp_path: Path, is_there: bool, calls: list[Asked], monkeypatch: pytest.MonkeyPatch
) -> None:
    workspace = tmp_path / "workspace"
    workspace.mkdir()
    monkeypatch.chdir(workspace)  # as the terminal runs
    if is_there:
        (workspace / "run.sh").write_text(FOUND)
        (workspace / "run.sh").chmod(0o755)
    async with waiting(tmp_path, *calls) as (world, context_id, pending):
        records = await approve_calls(world, context_id, *pending)
    assert [
        (record.status, record.reason and record.reason.code) for record in records if record.status != "executed"
    ] == []
    assert (workspace / "made").read_text() == "written by the call\n"


def swapped(script: Path) -> None:
    script.write_text("#!/bin/sh\necho swapped > made\n")


def put_back(script: Path) -> None:
    script.write_text(FOUND)


def made_a_link(script: Path) -> None:
    script.rename(script.with_name("other.sh"))
    script.symlink_to("other.sh")


@pytest.mark.parametrize("attack", [swapped, put_back, made_a_link, Path.unlink])
async def test_a_script_that_is_not_as_the_approved_write_left_it_does_not_run(
    tmp_path: Path, attack: Callable[[Path], None]
) -> None:
    script = tmp_path / "workspace" / "run.sh"
    script.parent.mkdir()
    script.write_text(FOUND)
    async with waiting(tmp_path, NEW_SCRIPT, executes("sh run.sh")) as (world, context_id, (write, command)):
        assert (await approve_calls(world, context_id, write))[0].status == "executed"
        attack(script)
        ran = (await approve_calls(world, context_id, command))[1]
    assert (ran.status, ran.reason and ran.reason.code) == ("failed", Code.COMMAND_FILES_CHANGED)
    assert not (script.parent / "made").exists()


async def test_a_write_excuses_no_change_of_another_file(tmp_path: Path) -> None:
    other = tmp_path / "workspace" / "other.sh"
    other.parent.mkdir()
    other.write_text(FOUND)
    async with waiting(tmp_path, NEW_SCRIPT, executes("sh run.sh; sh other.sh")) as (world, context_id, pending):
        swapped(other)
        ran = (await approve_calls(world, context_id, *pending))[1]
    assert (ran.status, ran.reason and ran.reason.code) == ("failed", Code.COMMAND_FILES_CHANGED)


async def test_a_script_rewritten_by_a_command_of_the_round_does_not_run(tmp_path: Path) -> None:
    writes_by_command = executes("printf 'echo hidden > made' > run.sh")
    async with waiting(tmp_path, NEW_SCRIPT, writes_by_command, executes("sh run.sh")) as (world, context_id, pending):
        *_, ran = await approve_calls(world, context_id, *pending)
    assert (ran.status, ran.reason and ran.reason.code) == ("failed", Code.COMMAND_FILES_CHANGED)


async def test_a_write_that_a_rule_allowed_was_shown_to_nobody(tmp_path: Path) -> None:
    script = tmp_path / "workspace" / "run.sh"
    script.parent.mkdir()
    script.write_text(FOUND)
    world = world_with_tools(tmp_path, answer_with_calls(NEW_SCRIPT, executes("sh run.sh")), DONE)
    async with world.runtime:
        context_id = await world.start("supervised")
        await world.runtime.rules.give("allow", Scope(tool="write_file"), context_id=context_id)
        await world.turn(context_id, "go")
        ran = (await approve_calls(world, context_id, *await world.runtime.calls.pending(context_id)))[1]
    assert (ran.status, ran.reason and ran.reason.code) == ("failed", Code.COMMAND_FILES_CHANGED)


async def test_a_write_requested_after_a_command_is_not_run_by_it(tmp_path: Path) -> None:
    script = tmp_path / "workspace" / "run.sh"
    script.parent.mkdir()
    script.write_text(FOUND)
    async with waiting(tmp_path, executes("sh run.sh"), NEW_SCRIPT) as (world, context_id, (command, write)):
        await approve_calls(world, context_id, write)
        ran, _ = await approve_calls(world, context_id, command)
    assert (ran.status, ran.reason and ran.reason.code) == ("failed", Code.COMMAND_FILES_CHANGED)


async def test_a_write_is_known_after_a_restart(tmp_path: Path) -> None:
    async with waiting(tmp_path, NEW_SCRIPT, executes("sh run.sh")) as (world, context_id, (write, command)):
        await approve_calls(world, context_id, write)
    again = world_with_tools(tmp_path, DONE)
    async with again.runtime:
        _, ran = await approve_calls(again, context_id, command)
    assert (ran.status, ran.exit_status) == ("executed", 0)


# changes wait for the calls before them

CHANGE = ScriptedCall(tool="change", arguments={"text": "changed"})


def look_call(text: str) -> ScriptedCall:
    return ScriptedCall(tool="look", arguments={"text": text})


async def statuses(world: World, context_id: str) -> list[str]:
    return [call.status for call in (await world.runtime.calls.read(context_id)).items]


async def test_a_change_waits_for_the_reads_asked_for_before_it(tmp_path: Path) -> None:
    look, change = NoteTool("look", "read_only", hold=True), NoteTool("change", "mutating")
    answer = Answer(calls=(look_call("1"), look_call("2"), CHANGE, look_call("3")))
    world = World(tmp_path, answer, DONE, tools=[look, change])
    async with world.runtime:
        context_id = await world.start("agent")
        await world.runtime.messages.send(context_id, "go")
        await look.started.wait()
        assert await statuses(world, context_id) == ["executing", "executing", "approved", "approved"]
        assert change.ran == []
        look.release.set()
        await world.runtime.turns.rested(context_id)
        assert await statuses(world, context_id) == ["executed"] * 4
    assert (look.ran[2:], change.ran) == (["3"], ["changed"])


async def test_a_change_waits_for_reads_that_wait_for_their_turn(tmp_path: Path) -> None:
    order: list[str] = []
    look = NoteTool("look", "read_only", hold=True, on_run=order.append)
    change = NoteTool("change", "mutating", on_run=order.append)
    answer = Answer(calls=(look_call("1"), look_call("2"), CHANGE))
    world = World(tmp_path, answer, DONE, tools=[look, change], limits=Limits(parallel_reads=1))
    async with world.runtime:
        context_id = await world.start("agent")
        await world.runtime.messages.send(context_id, "go")
        await look.started.wait()
        assert await statuses(world, context_id) == ["executing", "approved", "approved"]
        look.release.set()
        await world.runtime.turns.rested(context_id)
    assert order == ["1", "2", "changed"]


async def test_a_read_that_waits_for_a_person_holds_no_change_back(tmp_path: Path) -> None:
    look, change = NoteTool("look", "read_only"), NoteTool("change", "mutating")
    world = World(tmp_path, Answer(calls=(look_call("1"), CHANGE)), DONE, tools=[look, change])
    async with world.runtime:
        context_id = await world.start("agent")
        await world.runtime.rules.give("ask", Scope(tool="look"), context_id=context_id)
        await world.turn(context_id, "go")
        assert await statuses(world, context_id) == ["pending", "executed"]
        await approve_calls(world, context_id, *await world.runtime.calls.pending(context_id))
        assert await statuses(world, context_id) == ["executed", "executed"]
