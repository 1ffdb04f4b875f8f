"""Several writes of one file in one answer: each builds on the content written before, and on no other."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pilothouse.domain.calls import CallRecord
from pilothouse.domain.codes import Code
from pilothouse.domain.rules import Scope
from pilothouse.runtime.commands.calls import PersonsDecision
from pilothouse.testing.world import World
from tests.support.mcp_tools import DONE, answer_with_calls, world_with_tools

Asked = tuple[str, dict[str, Any]]
BEFORE = "one\ntwo\nthree\n"


def write(content: str, path: str = "a.txt") -> Asked:
    return ("write_file", {"path": path, "content": content})


def edit(old: str, new: str, path: str = "a.txt") -> Asked:
    return ("edit_file", {"path": path, "edits": [{"old_text": old, "new_text": new}]})


def cell(source: str, **more: Any) -> Asked:
    return ("notebook_edit", {"path": "a.ipynb", "cell": 0, "source": source, **more})


def notebook(*sources: str) -> str:
    cells = [{"cell_type": "markdown", "metadata": {}, "source": [source]} for source in sources]
    return json.dumps({"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 4})


def sources(text: str) -> list[str]:
    return ["".join(cell["source"]) for cell in json.loads(text)["cells"]]


CASES: dict[str, tuple[str | None, list[Asked], str]] = {
    "edit, edit": (BEFORE, [edit("one", "1"), edit("two", "2")], "1\n2\nthree\n"),
    "three edits": (BEFORE, [edit("one", "1"), edit("two", "2"), edit("three", "3")], "1\n2\n3\n"),
    "edit of an edit": (BEFORE, [edit("one", "1"), edit("1", "I")], "I\ntwo\nthree\n"),
    "write, write": (BEFORE, [write("first\n"), write("second\n")], "second\n"),
    "write, edit": (BEFORE, [write("first\n"), edit("first", "second")], "second\n"),
    "edit, write": (BEFORE, [edit("one", "1"), write("second\n")], "second\n"),
    "new file, write": (None, [write("first\n"), write("second\n")], "second\n"),
    "new file, edit": (None, [write("first\n"), edit("first", "second")], "second\n"),
    "new file, two edits": (None, [write("a\nb\n"), edit("a", "1"), edit("b", "2")], "1\n2\n"),
}
every_case = pytest.mark.parametrize(("before", "calls", "after"), CASES.values(), ids=CASES.keys())


def prepared_file(folder: Path, before: str | None, name: str = "a.txt") -> Path:
    file = folder / "workspace" / name
    file.parent.mkdir()
    if before is not None:
        file.write_text(before)
    return file


async def approve(world: World, context_id: str, *calls: CallRecord) -> None:
    decisions = [PersonsDecision(id=call.id, verdict="approve", digest=call.digest) for call in calls]
    await world.runtime.calls.decide(context_id, decisions)
    await world.runtime.turns.rested(context_id)


async def outcomes_of(world: World, context_id: str) -> list[tuple[str, Code | None]]:
    calls = (await world.runtime.calls.read(context_id)).items
    return [(call.status, call.reason.code if call.reason and call.status != "executed" else None) for call in calls]


async def undo_all(world: World, context_id: str, file: Path, count: int, before: str | None) -> None:
    for _ in range(count):
        await world.runtime.workspaces.undo(context_id)
    assert (file.read_text() if file.exists() else None) == before


@every_case
async def test_writes_of_one_answer_build_on_each_other_and_can_be_undone(
    tmp_path: Path, before: str | None, calls: list[Asked], after: str
) -> None:
    file = prepared_file(tmp_path, before)
    world = world_with_tools(tmp_path, answer_with_calls(*calls), DONE)
    async with world.runtime:
        context_id = await world.start("agent")
        await world.turn(context_id, "go")
        assert await outcomes_of(world, context_id) == [("executed", None)] * len(calls)
        assert file.read_text() == after
        await undo_all(world, context_id, file, len(calls), before)


@every_case
@pytest.mark.parametrize("way", ["together", "one by one", "after restarts"])
async def test_writes_of_one_answer_that_a_person_approves_build_on_each_other(
    tmp_path: Path, before: str | None, calls: list[Asked], after: str, way: str
) -> None:
    file = prepared_file(tmp_path, before)
    world = world_with_tools(tmp_path, answer_with_calls(*calls), DONE)
    async with world.runtime:
        context_id = await world.start("supervised")
        await world.turn(context_id, "go")
        pending = list(await world.runtime.calls.pending(context_id))
        assert len(pending) == len(calls)
        if way == "together":
            await approve(world, context_id, *pending)
        elif way == "one by one":
            for call in pending:
                await approve(world, context_id, call)
        else:
            await approve(world, context_id, pending[0])
    for call in pending[1:] if way == "after restarts" else ():
        world = world_with_tools(tmp_path, DONE)
        async with world.runtime:
            await approve(world, context_id, call)
    world = world_with_tools(tmp_path, DONE)
    async with world.runtime:
        assert await outcomes_of(world, context_id) == [("executed", None)] * len(calls)
        assert file.read_text() == after
        await undo_all(world, context_id, file, len(calls), before)


@pytest.mark.parametrize("mode", ["agent", "supervised"])
async def test_cells_of_a_notebook_are_edited_one_after_the_other(tmp_path: Path, mode: str) -> None:
    file = prepared_file(tmp_path, None, "a.ipynb")
    calls = [
        write(notebook("zero"), "a.ipynb"),
        cell("changed"),
        cell("put in", action="insert", kind="markdown"),
        edit("put in", "put first", "a.ipynb"),
    ]
    world = world_with_tools(tmp_path, answer_with_calls(*calls), DONE)
    async with world.runtime:
        context_id = await world.start(mode)
        await world.turn(context_id, "go")
        if mode == "supervised":
            await approve(world, context_id, *await world.runtime.calls.pending(context_id))
        assert await outcomes_of(world, context_id) == [("executed", None)] * 4
        assert sources(file.read_text()) == ["put first", "changed"]
        await undo_all(world, context_id, file, 4, None)


def changed_by_somebody(file: Path) -> None:
    file.write_text(file.read_text() + "four\n")


@pytest.mark.parametrize("second", [edit("two", "2"), write("second\n")], ids=["edit", "write"])
async def test_a_file_that_somebody_changed_between_two_writes_is_left_alone(tmp_path: Path, second: Asked) -> None:
    file = prepared_file(tmp_path, BEFORE)
    world = world_with_tools(tmp_path, answer_with_calls(edit("one", "1"), second), DONE)
    async with world.runtime:
        context_id = await world.start("supervised")
        await world.turn(context_id, "go")
        first, later = await world.runtime.calls.pending(context_id)
        await approve(world, context_id, first)
        changed_by_somebody(file)
        await approve(world, context_id, later)
        (_, (status, code)) = await outcomes_of(world, context_id)
    assert (status, code in (Code.FILE_CHANGED, Code.FILE_CHANGED_SINCE_READ)) == ("failed", True)
    assert file.read_text() == "1\ntwo\nthree\nfour\n"


@pytest.mark.parametrize("change", [changed_by_somebody, Path.unlink])
async def test_a_change_by_somebody_is_noticed_after_a_restart(tmp_path: Path, change: Callable[[Path], None]) -> None:
    file = prepared_file(tmp_path, BEFORE)
    world = world_with_tools(tmp_path, answer_with_calls(edit("one", "1"), edit("two", "2")), DONE)
    async with world.runtime:
        context_id = await world.start("supervised")
        await world.turn(context_id, "go")
        first, later = await world.runtime.calls.pending(context_id)
        await approve(world, context_id, first)
    change(file)
    left = file.read_text() if file.exists() else None
    world = world_with_tools(tmp_path, DONE)
    async with world.runtime:
        await approve(world, context_id, later)
        (_, (status, _)) = await outcomes_of(world, context_id)
    assert status == "failed"
    assert (file.read_text() if file.exists() else None) == left


async def test_a_write_by_a_command_of_the_same_answer_fails_the_next_edit(tmp_path: Path) -> None:
    file = prepared_file(tmp_path, BEFORE)
    by_command = ("execute", {"command": "echo four >> a.txt"})
    world = world_with_tools(tmp_path, answer_with_calls(edit("one", "1"), by_command, edit("two", "2")), DONE)
    async with world.runtime:
        context_id = await world.start("supervised")
        await world.turn(context_id, "go")
        await approve(world, context_id, *await world.runtime.calls.pending(context_id))
        *_, (status, _) = await outcomes_of(world, context_id)
    assert status == "failed"
    assert file.read_text() == "1\ntwo\nthree\nfour\n"


async def test_an_edit_after_a_rejected_write_applies_to_the_original_file(tmp_path: Path) -> None:
    file = prepared_file(tmp_path, BEFORE)
    world = world_with_tools(tmp_path, answer_with_calls(edit("one", "1"), edit("two", "2"), edit("1", "I")), DONE)
    async with world.runtime:
        context_id = await world.start("supervised")
        await world.turn(context_id, "go")
        first, second, third = await world.runtime.calls.pending(context_id)
        rejection = PersonsDecision(id=first.id, verdict="reject", reason="no", digest=first.digest)
        await world.runtime.calls.decide(context_id, [rejection])
        await approve(world, context_id, second, third)
        statuses = [status for status, _ in await outcomes_of(world, context_id)]
    assert statuses == ["rejected", "executed", "failed"]
    assert file.read_text() == "one\n2\nthree\n"


async def test_a_write_that_a_rule_let_run_does_not_hold_back_an_approved_edit(tmp_path: Path) -> None:
    file = prepared_file(tmp_path, BEFORE)
    world = world_with_tools(tmp_path, answer_with_calls(write("first\n"), edit("first", "second")), DONE)
    async with world.runtime:
        context_id = await world.start("supervised")
        await world.runtime.rules.give("allow", Scope(tool="write_file"), context_id=context_id)
        await world.turn(context_id, "go")
        await approve(world, context_id, *await world.runtime.calls.pending(context_id))
        assert await outcomes_of(world, context_id) == [("executed", None)] * 2
    assert file.read_text() == "second\n"


async def test_a_pending_edit_of_a_file_that_is_not_written_yet_can_be_edited(tmp_path: Path) -> None:
    file = prepared_file(tmp_path, None)
    world = world_with_tools(tmp_path, answer_with_calls(write("first\n"), edit("first", "second")), DONE)
    async with world.runtime:
        context_id = await world.start("supervised")
        await world.turn(context_id, "go")
        first, later = await world.runtime.calls.pending(context_id)
        arguments = edit("first", "third")[1]
        shown = await world.runtime.calls.preview_edit(context_id, later.id, arguments)
        assert shown.violation is None
        await approve(world, context_id, first)
        decision = PersonsDecision(id=later.id, verdict="approve", arguments=arguments, digest=later.digest)
        await world.runtime.calls.decide(context_id, [decision])
        await world.runtime.turns.rested(context_id)
        assert await outcomes_of(world, context_id) == [("executed", None)] * 2
    assert file.read_text() == "third\n"
