"""Undoing changes of the agent: call by call, and never those of a person."""

import asyncio
import contextlib
import json
import os
import shutil
import stat
import subprocess
import sys
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from pilothouse.domain.codes import Code, Reason
from pilothouse.domain.errors import Conflict
from pilothouse.domain.states import AwaitingToolApproval, Idle
from pilothouse.domain.value import ContextId, MessageId
from pilothouse.i18n import translate
from pilothouse.runtime.limits import Limits
from pilothouse.sandbox import entries
from pilothouse.sandbox.workspace import Root
from pilothouse.testing.world import World
from pilothouse.tools.artifacts import ArtifactFolder
from pilothouse.tools.builtin.delegate import Delegate
from pilothouse.tools.undo import comparison, tree
from pilothouse.tools.undo.baseline import Baseline
from pilothouse.tools.undo.changes import ChangedFile, ChangeEntry
from pilothouse.tools.undo.limits import UndoLimits
from tests.support.assertions import instance_of
from tests.support.live_contexts import live_context
from tests.support.mcp_tools import DONE, answer_with_calls, builtin_tools_for_world, runs, world_with_tools, writes
from tests.support.scale import HANG_SECONDS

UNDO = answer_with_calls(("undo", {}))
NOTEBOOK = {
    "cells": [{"cell_type": "code", "source": ["1"], "metadata": {}, "outputs": [], "execution_count": None}],
    "metadata": {},
    "nbformat": 4,
    "nbformat_minor": 4,
}


async def done(world: World, *, mode: str = "agent") -> ContextId:
    """Run one turn in a context of its own."""
    context_id = await world.start(mode)
    await go(world, context_id)
    return context_id


async def go(world: World, context_id: str) -> None:
    await world.turn(context_id, "go")
    live = await world.runtime.contexts.get(context_id)
    assert isinstance(live.state, Idle), live.state


async def statuses(world: World, context_id: str) -> list[str]:
    return [call.status for call in (await world.runtime.calls.read(context_id)).items]


async def undo_last(world: World, context_id: str) -> list[str]:
    """Undo the last change and return the restored paths. No file may be left out."""
    undo = await world.runtime.workspaces.undo(context_id)
    assert undo.left == ()
    return sorted(undo.paths)


async def refusal(world: World, context_id: str) -> Conflict:
    with pytest.raises(Conflict) as caught:
        await world.runtime.workspaces.undo(context_id)
    return caught.value


async def undo_refusal(world: World, context_id: str) -> list[Code]:
    """The reason why no file of a change can be restored."""
    reason = (await refusal(world, context_id)).reason
    assert reason.code is Code.UNDO_NOTHING
    return [each.code for each in reason.params["left"]]


def mode_of(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


async def artifacts_of(world: World, context_id: ContextId) -> ArtifactFolder:
    return instance_of(ArtifactFolder, (await live_context(world.runtime, context_id)).files.artifacts)


async def test_changes_of_every_tool_are_undone_one_call_after_the_other(tmp_path: Path) -> None:
    edit = answer_with_calls(("edit_file", {"path": "a.txt", "edits": [{"old_text": "one", "new_text": "two"}]}))
    cell = answer_with_calls(("notebook_edit", {"path": "n.ipynb", "cell": 0, "source": "2"}))
    world = world_with_tools(
        tmp_path, writes("a.txt", "one"), edit, cell, runs("echo three > a.txt; echo x > new"), DONE
    )
    here = world.workspace
    (here / "n.ipynb").write_text(json.dumps(NOTEBOOK))
    notebook = (here / "n.ipynb").read_bytes()
    async with world.runtime:
        context_id = await done(world)
        assert await statuses(world, context_id) == ["executed"] * 4
        assert (here / "a.txt").read_text() == "three\n"
        assert await undo_last(world, context_id) == ["a.txt", "new"]
        assert (here / "a.txt").read_text() == "two"
        assert not (here / "new").exists()
        assert await undo_last(world, context_id) == ["n.ipynb"]
        assert (here / "n.ipynb").read_bytes() == notebook
        assert await undo_last(world, context_id) == ["a.txt"]
        assert (here / "a.txt").read_text() == "one"
        assert await undo_last(world, context_id) == ["a.txt"]
        assert not (here / "a.txt").exists()
        assert (await refusal(world, context_id)).reason.code is Code.NOTHING_TO_UNDO


async def test_files_deleted_by_a_command_come_back_with_their_mode_bits(tmp_path: Path) -> None:
    world = world_with_tools(tmp_path, runs("rm -r folder"), DONE)
    (world.workspace / "folder").mkdir()
    for name, mode in (("run.sh", 0o755), ("plain", 0o644)):
        (world.workspace / "folder" / name).write_bytes(b"\x00\xff" + name.encode())
        (world.workspace / "folder" / name).chmod(mode)
    async with world.runtime:
        context_id = await done(world)
        assert not (world.workspace / "folder").exists()
        assert await undo_last(world, context_id) == ["folder/plain", "folder/run.sh"]
        assert (world.workspace / "folder" / "run.sh").read_bytes() == b"\x00\xffrun.sh"
        assert mode_of(world.workspace / "folder" / "run.sh") == 0o755
        assert mode_of(world.workspace / "folder" / "plain") == 0o644


@pytest.mark.parametrize("mode", [0o600, 0o700, 0o640, 0o775])
@pytest.mark.parametrize("command", ["echo changed > secret", "rm secret", "rm secret; echo other > secret"])
async def test_a_file_that_is_put_back_after_a_command_is_as_private_as_it_was(
    tmp_path: Path, mode: int, command: str
) -> None:
    world = world_with_tools(tmp_path, runs(command), DONE)
    secret = world.workspace / "secret"
    secret.write_text("key")
    secret.chmod(mode)
    async with world.runtime:
        context_id = await done(world)
        assert await undo_last(world, context_id) == ["secret"]
        assert secret.read_text() == "key"
        assert oct(mode_of(secret)) == oct(mode)


async def test_a_file_that_was_written_over_gets_its_mode_bits_back(tmp_path: Path) -> None:
    world = world_with_tools(tmp_path, writes("run.sh", "new"), runs("chmod 644 run.sh; echo more >> run.sh"), DONE)
    script = world.workspace / "run.sh"
    script.write_text("old")
    script.chmod(0o755)
    async with world.runtime:
        context_id = await done(world)
        await world.runtime.workspaces.undo(context_id)
        assert (script.read_text(), mode_of(script)) == ("new", 0o755)
        await world.runtime.workspaces.undo(context_id)
        assert (script.read_text(), mode_of(script)) == ("old", 0o755)


async def test_a_command_that_only_changed_mode_bits_is_the_last_change(tmp_path: Path) -> None:
    world = world_with_tools(tmp_path, writes("a.txt", "two"), runs("chmod +x run.sh"), DONE)
    (world.workspace / "a.txt").write_text("one")
    script = world.workspace / "run.sh"
    script.write_text("old")
    script.chmod(0o644)
    async with world.runtime:
        context_id = await done(world)
        assert mode_of(script) == 0o755
        assert await undo_last(world, context_id) == ["run.sh"]
        assert mode_of(script) == 0o644
        assert (world.workspace / "a.txt").read_text() == "two", "the older change stands"


async def test_a_folder_that_a_command_removed_is_as_private_as_it_was(tmp_path: Path) -> None:
    world = world_with_tools(tmp_path, runs("rm -r secrets"), DONE)
    (world.workspace / "secrets" / "empty").mkdir(parents=True)
    (world.workspace / "secrets" / "key").write_text("key")
    (world.workspace / "secrets").chmod(0o700)
    async with world.runtime:
        context_id = await done(world)
        await world.runtime.workspaces.undo(context_id)
        assert mode_of(world.workspace / "secrets") == 0o700
        assert (world.workspace / "secrets" / "empty").is_dir()


async def test_the_permission_bits_of_a_folder_come_back(tmp_path: Path) -> None:
    world = world_with_tools(tmp_path, runs("chmod 755 private"), DONE)
    (world.workspace / "private").mkdir(mode=0o700)
    async with world.runtime:
        context_id = await done(world)
        assert await undo_last(world, context_id) == ["private"]
        assert mode_of(world.workspace / "private") == 0o700


async def test_a_folder_that_was_moved_and_replaced_by_a_link_comes_back_whole(tmp_path: Path) -> None:
    world = world_with_tools(tmp_path, runs("mv src lib && ln -s lib src"), DONE)
    (world.workspace / "src").mkdir()
    (world.workspace / "src" / "a.py").write_text("of the person")
    async with world.runtime:
        context_id = await done(world)
        await world.runtime.workspaces.undo(context_id)
    assert [path.name for path in world.workspace.iterdir()] == ["src"]
    assert not (world.workspace / "src").is_symlink()
    assert (world.workspace / "src" / "a.py").read_text() == "of the person"


async def test_a_command_that_times_out_keeps_its_output_despite_a_slow_scan(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    taken = Baseline.take
    slow = threading.Event()

    def take(*arguments: Any) -> Any:
        slow.wait(2.5)
        return taken(*arguments)

    monkeypatch.setattr(Baseline, "take", take)
    world = world_with_tools(tmp_path, runs("echo so far; sleep 60"), DONE, limits=Limits(call_seconds=1))
    async with world.runtime:
        context_id = await done(world)
        (call,) = (await world.runtime.calls.read(context_id)).items
        (result,) = await world.runtime.messages.read(context_id, ids=[call.result_id or MessageId("")])
    assert "so far" in getattr(result, "content", "")


# links


async def test_undoing_a_new_link_removes_the_link_and_not_its_target(tmp_path: Path) -> None:
    world = world_with_tools(tmp_path, runs("ln -s precious link"), DONE)
    (world.workspace / "precious").write_text("of the person")
    async with world.runtime:
        context_id = await done(world)
        assert (world.workspace / "link").is_symlink()
        await world.runtime.workspaces.undo(context_id)
        assert not (world.workspace / "link").is_symlink()
        assert (world.workspace / "precious").read_text() == "of the person"


async def test_undoing_a_file_that_became_a_link_leaves_the_target_alone(tmp_path: Path) -> None:
    world = world_with_tools(tmp_path, runs("rm a; ln -s precious a"), DONE)
    (world.workspace / "a").write_text("of a")
    (world.workspace / "precious").write_text("of the person")
    async with world.runtime:
        context_id = await done(world)
        await world.runtime.workspaces.undo(context_id)
        assert (world.workspace / "a").read_text() == "of a"
        assert not (world.workspace / "a").is_symlink()
        assert (world.workspace / "precious").read_text() == "of the person"


@pytest.mark.parametrize("command", ["ln -sfn other link", "rm link"])
async def test_a_link_that_was_changed_or_removed_is_put_back(tmp_path: Path, command: str) -> None:
    world = world_with_tools(tmp_path, writes("a.txt", "two"), runs(command), DONE)
    (world.workspace / "a.txt").write_text("one")
    (world.workspace / "precious").write_text("of the person")
    (world.workspace / "other").write_text("other")
    (world.workspace / "link").symlink_to("precious")
    async with world.runtime:
        context_id = await done(world)
        await world.runtime.workspaces.undo(context_id)
        assert os.readlink(world.workspace / "link") == "precious"
        assert (world.workspace / "a.txt").read_text() == "two", "nothing older is undone"
        assert (world.workspace / "precious").read_text() == "of the person"
        assert (world.workspace / "other").read_text() == "other"


# files that git does not track


@pytest.mark.parametrize("ignoring", ["*\n", "build/\n"])
async def test_a_change_in_an_ignored_folder_is_reported_and_nothing_older_is_undone(
    tmp_path: Path, ignoring: str
) -> None:
    world = world_with_tools(tmp_path, writes("a.txt", "two"), runs("echo new > build/x.log"), DONE)
    (world.workspace / ".gitignore").write_text(ignoring)
    (world.workspace / "a.txt").write_text("one")
    (world.workspace / "build").mkdir()
    (world.workspace / "build" / "x.log").write_text("old")
    async with world.runtime:
        context_id = await done(world)
        assert await undo_refusal(world, context_id) == [Code.UNDO_IGNORED]
        assert (world.workspace / "a.txt").read_text() == "two", "the older change is not the last one"


async def test_a_file_that_git_ignores_by_its_name_is_put_back(tmp_path: Path) -> None:
    world = world_with_tools(tmp_path, runs("echo new > build/x.log"), DONE)
    (world.workspace / ".gitignore").write_text("*.log\n")
    (world.workspace / "build").mkdir()
    (world.workspace / "build" / "x.log").write_text("old")
    async with world.runtime:
        context_id = await done(world)
        assert await undo_last(world, context_id) == ["build/x.log"]
        assert (world.workspace / "build" / "x.log").read_text() == "old"


async def test_a_name_that_is_no_unicode_costs_neither_the_output_nor_the_undoing(tmp_path: Path) -> None:
    world = world_with_tools(tmp_path, writes("a.txt", "two"), runs("echo seen; printf x > $'\\xff.txt'"), DONE)
    (world.workspace / "a.txt").write_text("one")
    async with world.runtime:
        context_id = await done(world)
        _, command = (await world.runtime.calls.read(context_id)).items
        (result,) = await world.runtime.messages.read(context_id, ids=[command.result_id or MessageId("")])
        assert command.status == "executed"
        assert "seen" in getattr(result, "content", "")
        await world.runtime.workspaces.undo(context_id)
        assert not os.path.exists(os.fsencode(world.workspace) + b"/\xff.txt")
        assert (world.workspace / "a.txt").read_text() == "two"


async def test_undo_removes_a_new_file_in_an_additional_folder(tmp_path: Path) -> None:
    beside = tmp_path / "beside"
    beside.mkdir()
    (beside / "old.txt").write_text("old")
    answers = (writes(str(beside / "new.txt"), "new"), writes(str(beside / "old.txt"), "changed"), DONE)
    world = world_with_tools(tmp_path, *answers, extra_roots=[Root(beside, True)])
    async with world.runtime:
        context_id = await done(world)
        assert (beside / "new.txt").read_text() == "new"
        assert await undo_last(world, context_id) == [str(beside / "old.txt")]
        assert (beside / "old.txt").read_text() == "old"
        assert await undo_last(world, context_id) == [str(beside / "new.txt")]
        assert not (beside / "new.txt").exists()


# restarts, and changes that never happened


async def test_changes_can_be_undone_after_a_restart(tmp_path: Path) -> None:
    world = world_with_tools(tmp_path, writes("a.txt", "two"), runs("echo three > a.txt"), DONE)
    (world.workspace / "a.txt").write_text("one")
    async with world.runtime:
        context_id = await done(world)
    again = world_with_tools(tmp_path, ids_from=1000)
    async with again.runtime:
        await again.runtime.workspaces.undo(context_id)
        assert (again.workspace / "a.txt").read_text() == "two"
    once_more = world_with_tools(tmp_path, ids_from=2000)
    async with once_more.runtime:
        await once_more.runtime.workspaces.undo(context_id)
        assert (once_more.workspace / "a.txt").read_text() == "one"
        assert (await refusal(once_more, context_id)).reason.code is Code.NOTHING_TO_UNDO


async def test_a_recorded_change_that_never_happened_is_skipped(tmp_path: Path) -> None:
    world = world_with_tools(tmp_path, writes("a.txt", "two"), DONE)
    (world.workspace / "a.txt").write_text("one")
    (world.workspace / "b.txt").write_text("b")
    async with world.runtime:
        context_id = await done(world)
        artifacts = await artifacts_of(world, context_id)
        before = (await live_context(world.runtime, context_id)).files.workspace().content_hash("b.txt")
        artifacts.changes.add(
            ChangeEntry(call="lost", tool="write", files=(ChangedFile("b.txt", before, "f" * 64),)), [b"b"]
        )
    again = world_with_tools(tmp_path, ids_from=1000)
    async with again.runtime:
        assert await undo_last(again, context_id) == ["a.txt"]
        assert (again.workspace / "a.txt").read_text() == "one"
        assert (again.workspace / "b.txt").read_text() == "b"


async def test_a_line_of_the_log_that_was_cut_costs_only_itself(tmp_path: Path) -> None:
    world = world_with_tools(tmp_path, writes("a.txt", "two"), writes("a.txt", "three"), DONE)
    (world.workspace / "a.txt").write_text("one")
    async with world.runtime:
        context_id = await done(world)
        log = (await artifacts_of(world, context_id)).folder / "changes.jsonl"
        with open(log, "ab") as file:
            file.write(b'{"call": "cut", "too')
        await world.runtime.workspaces.undo(context_id)
        await world.runtime.workspaces.undo(context_id)
        assert (world.workspace / "a.txt").read_text() == "one"


async def test_damaged_undo_data_is_not_restored(tmp_path: Path) -> None:
    world = world_with_tools(tmp_path, writes("a.txt", "two"), DONE)
    (world.workspace / "a.txt").write_text("one")
    async with world.runtime:
        context_id = await done(world)
        (pack,) = ((await artifacts_of(world, context_id)).folder / "before").iterdir()
        pack.write_bytes(b"other")
        assert (await refusal(world, context_id)).reason.code is Code.UNDO_NOTHING
        assert (world.workspace / "a.txt").read_text() == "two"
        assert (await refusal(world, context_id)).reason.code is Code.NOTHING_TO_UNDO, "it is told once"


# somebody else has changed it


def copies_in(reasons: Sequence[Reason]) -> list[str]:
    """The contents of the files that an undo has set aside."""
    (files,) = [reason.params["files"] for reason in reasons if reason.code is Code.UNDO_SET_ASIDE]
    return [Path(path).read_text() for path in files.split(", ")]


async def test_a_file_that_a_person_has_edited_since_stays_and_the_others_are_put_back(tmp_path: Path) -> None:
    world = world_with_tools(tmp_path, writes("old", "new"), runs("for n in a b c; do echo agent > $n; done"), DONE)
    here = world.workspace
    for name in ("a", "b", "c", "old"):
        (here / name).write_text("before")
    async with world.runtime:
        context_id = await done(world)
        (here / "b").write_text("by the person")
        undo = await world.runtime.workspaces.undo(context_id)
        assert undo.paths == ("a", "c")
        assert undo.left[0] == Reason(Code.UNDO_CONFLICT, {"paths": "b"})
        assert copies_in(undo.left) == ["before"], "the version before the agent's change is at hand"
        assert [(here / name).read_text() for name in "abc"] == ["before", "by the person", "before"]
        assert await undo_last(world, context_id) == ["old"], "the next undo goes to the older change"
        assert (await refusal(world, context_id)).reason.code is Code.NOTHING_TO_UNDO


async def test_a_change_fully_edited_since_is_reported_and_the_older_one_is_next(tmp_path: Path) -> None:
    world = world_with_tools(tmp_path, writes("a", "two"), writes("b", "two"), DONE)
    for name in "ab":
        (world.workspace / name).write_text("one")
    async with world.runtime:
        context_id = await done(world)
        (world.workspace / "b").write_text("by the person")
        reason = (await refusal(world, context_id)).reason
        assert reason.code is Code.UNDO_NOTHING
        assert reason.params["left"][0] == Reason(Code.UNDO_CONFLICT, {"paths": "b"})
        assert copies_in(reason.params["left"]) == ["one"]
        assert "Undo again" in translate(reason)
        assert "b" in translate(reason, "zh")
        assert await undo_last(world, context_id) == ["a"]
        assert (world.workspace / "b").read_text() == "by the person"


@pytest.mark.parametrize("mode", ["agent", "review"])
@pytest.mark.parametrize("is_new", [True, False])
async def test_a_file_whose_mode_a_person_has_changed_since_stays(tmp_path: Path, is_new: bool, mode: str) -> None:
    world = world_with_tools(tmp_path, writes("a", "by the agent"), DONE, UNDO, DONE)
    file = world.workspace / "a"
    if not is_new:
        file.write_text("before")
    async with world.runtime:
        context_id = await done(world)
        file.chmod(0o444)
        await world.runtime.modes.switch(context_id, mode)
        await go(world, context_id)
        assert await statuses(world, context_id) == ["executed", "failed"]
        assert (file.read_text(), mode_of(file)) == ("by the agent", 0o444)


async def test_the_persons_undo_names_a_file_whose_mode_changed_since(tmp_path: Path) -> None:
    world = world_with_tools(tmp_path, writes("a", "new"), runs("echo new > b; echo new > c"), DONE)
    for name in "abc":
        (world.workspace / name).write_text("old")
    async with world.runtime:
        context_id = await done(world)
        for name in "ab":
            (world.workspace / name).chmod(0o600)
        result = await world.runtime.workspaces.undo(context_id)
        assert result.paths == ("c",)
        assert result.left[0] == Reason(Code.UNDO_CONFLICT, {"paths": "b"})
        assert await undo_refusal(world, context_id) == [Code.UNDO_CONFLICT, Code.UNDO_SET_ASIDE]
        assert [(world.workspace / name).read_text().strip() for name in "abc"] == ["new", "new", "old"]
        assert [mode_of(world.workspace / name) for name in "ab"] == [0o600, 0o600]


async def test_a_write_that_changed_nothing_is_no_change_whatever_a_person_did_since(tmp_path: Path) -> None:
    world = world_with_tools(tmp_path, writes("a", "new"), writes("b", "same"), DONE)
    (world.workspace / "b").write_text("same")
    async with world.runtime:
        context_id = await done(world)
        (world.workspace / "b").chmod(0o600)
        assert await undo_last(world, context_id) == ["a"]
        assert mode_of(world.workspace / "b") == 0o600


async def test_a_log_of_an_earlier_version_without_modes_after_the_call_is_undone(tmp_path: Path) -> None:
    world = world_with_tools(tmp_path, writes("a", "new"), DONE)
    (world.workspace / "a").write_text("old")
    async with world.runtime:
        context_id = await done(world)
        log = (await artifacts_of(world, context_id)).folder / "changes.jsonl"
        entries = [json.loads(line) for line in log.read_text().splitlines()]
        files = [file for entry in entries for file in entry["files"]]
        assert [file.pop("mode_after") for file in files] == [mode_of(world.workspace / "a")]
        log.write_text("".join(f"{json.dumps(entry)}\n" for entry in entries))
        assert await undo_last(world, context_id) == ["a"]
        assert (world.workspace / "a").read_text() == "old"


async def test_a_folder_that_replaced_a_file_stays_with_a_persons_files_in_it(
    tmp_path: Path,
) -> None:
    world = world_with_tools(tmp_path, runs("rm a; mkdir a; echo agent > a/x; echo agent > a/y"), DONE)
    (world.workspace / "a").write_text("before")
    async with world.runtime:
        context_id = await done(world)
        (world.workspace / "a" / "x").write_text("by the person")
        undo = await world.runtime.workspaces.undo(context_id)
        assert undo.paths == ("a/y",)
        assert undo.left[0] == Reason(Code.UNDO_CONFLICT, {"paths": "a/x, a"})
        assert copies_in(undo.left) == ["before"]
        assert (world.workspace / "a" / "x").read_text() == "by the person"


async def test_a_file_in_the_place_of_a_folder_stays_where_a_person_has_edited_it(tmp_path: Path) -> None:
    world = world_with_tools(tmp_path, runs("rm -r a; echo agent > a; echo agent > b"), DONE)
    (world.workspace / "a").mkdir()
    (world.workspace / "a" / "x").write_text("before")
    async with world.runtime:
        context_id = await done(world)
        (world.workspace / "a").write_text("by the person")
        undo = await world.runtime.workspaces.undo(context_id)
        assert undo.paths == ("b",)
        assert undo.left[0] == Reason(Code.UNDO_CONFLICT, {"paths": "a, a/x"})
        assert copies_in(undo.left) == ["before"]
        assert (world.workspace / "a").read_text() == "by the person"


async def test_undo_removes_no_file_that_it_could_not_set_aside(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A large file that a command moved has no other copy."""
    monkeypatch.setattr(entries, "MAX_HASHED_BYTES", 1_500_000)
    world = world_with_tools(tmp_path, runs("mv large moved; echo x > small"), DONE, undo=UndoLimits(file_megabytes=1))
    (world.workspace / "large").write_bytes(bytes(2_000_000))
    async with world.runtime:
        context_id = await done(world)
        undo = await world.runtime.workspaces.undo(context_id)
        assert undo.paths == ("small",)
        assert undo.left == (
            Reason(Code.UNDO_UNKEPT, {"paths": "moved"}),
            Reason(Code.UNDO_TOO_LARGE, {"paths": "large", "megabytes": 1}),
        )
        assert (world.workspace / "moved").stat().st_size == 2_000_000


async def test_a_file_that_cannot_be_restored_does_not_block_the_others(tmp_path: Path) -> None:
    world = world_with_tools(tmp_path, runs("echo agent > a; echo agent > folder/z; rm x"), DONE)
    (world.workspace / "folder").mkdir()
    for name in ("a", "folder/z", "x"):
        (world.workspace / name).write_text("before")
    async with world.runtime:
        context_id = await done(world)
        (world.workspace / "x").mkdir()
        (world.workspace / "x" / "own").write_text("of the person")
        undo = await world.runtime.workspaces.undo(context_id)
        assert undo.left[0] == Reason(Code.UNDO_CONFLICT, {"paths": "x"})
        assert (world.workspace / "a").read_text() == "before"
        assert (world.workspace / "folder" / "z").read_text() == "before"
        assert (world.workspace / "x" / "own").read_text() == "of the person"


@pytest.mark.parametrize("place", ["file", "link"])
async def test_a_folder_that_cannot_be_restored_does_not_block_the_others(tmp_path: Path, place: str) -> None:
    world = world_with_tools(tmp_path, runs("echo agent > a; rm -r folder; echo agent > z"), DONE)
    (world.workspace / "folder").mkdir()
    for name in ("a", "folder/x", "z"):
        (world.workspace / name).write_text("before")
    async with world.runtime:
        context_id = await done(world)
        if place == "file":
            (world.workspace / "folder").write_text("of the person")
        else:
            (world.workspace / "folder").symlink_to(tmp_path)
        undo = await world.runtime.workspaces.undo(context_id)
        assert undo.left[0] == Reason(Code.UNDO_CONFLICT, {"paths": "folder/x, folder"})
        assert (world.workspace / "a").read_text() == "before"
        assert (world.workspace / "z").read_text() == "before"
        assert not (tmp_path / "x").exists()


async def test_a_change_by_a_whole_path_is_undone_and_the_model_can_edit_again(tmp_path: Path) -> None:
    whole = str(tmp_path / "workspace" / "a.txt")
    edit = answer_with_calls(("edit_file", {"path": "a.txt", "edits": [{"old_text": "one", "new_text": "three"}]}))
    world = world_with_tools(
        tmp_path, answer_with_calls(("read_file", {"path": whole})), writes(whole, "two"), UNDO, edit, DONE
    )
    (world.workspace / "a.txt").write_text("one")
    async with world.runtime:
        context_id = await done(world)
        assert await statuses(world, context_id) == ["executed"] * 4
        assert (world.workspace / "a.txt").read_text() == "three"


async def test_the_last_change_of_a_sub_agent_is_undone_first(tmp_path: Path) -> None:
    sent = answer_with_calls(("delegate", {"task": "write"}))
    world = world_with_tools(
        tmp_path,
        writes("a.txt", "two"),
        sent,
        writes("b.txt", "new"),
        DONE,
        DONE,
        tools=[*builtin_tools_for_world(), Delegate()],
    )
    (world.workspace / "a.txt").write_text("one")
    async with world.runtime:
        context_id = await done(world)
        assert (world.workspace / "b.txt").read_text() == "new"
        await world.runtime.workspaces.undo(context_id)
        assert not (world.workspace / "b.txt").exists()
        assert (world.workspace / "a.txt").read_text() == "two", "nothing older is undone"


async def test_a_link_put_in_the_place_of_a_folder_leads_nothing_outside(tmp_path: Path) -> None:
    world = world_with_tools(tmp_path, writes("folder/a", "agent"), DONE)
    (world.workspace / "folder").mkdir()
    (world.workspace / "folder" / "a").write_text("before")
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "a").write_text("agent")
    async with world.runtime:
        context_id = await done(world)
        shutil.rmtree(world.workspace / "folder")
        (world.workspace / "folder").symlink_to(outside)
        assert (await refusal(world, context_id)).reason.code is Code.UNDO_NOTHING
        assert (outside / "a").read_text() == "agent"
        assert (await refusal(world, context_id)).reason.code is Code.NOTHING_TO_UNDO


# the tool, by mode


@pytest.mark.parametrize("mode", ["agent", "review"])
async def test_the_undo_tool_runs_without_approval_in_modes_that_allow_changes(tmp_path: Path, mode: str) -> None:
    world = world_with_tools(tmp_path, writes("a.txt", "two"), DONE, UNDO, DONE)
    (world.workspace / "a.txt").write_text("one")
    async with world.runtime:
        context_id = await done(world)
        await world.runtime.modes.switch(context_id, mode)
        await go(world, context_id)
        assert await statuses(world, context_id) == ["executed", "executed"]
        assert (world.workspace / "a.txt").read_text() == "one"


async def test_the_undo_tool_asks_in_supervised(tmp_path: Path) -> None:
    world = world_with_tools(tmp_path, writes("a.txt", "two"), DONE, UNDO, DONE)
    (world.workspace / "a.txt").write_text("one")
    async with world.runtime:
        context_id = await done(world)
        await world.runtime.modes.switch(context_id, "supervised")
        await world.turn(context_id, "go")
        assert isinstance((await world.runtime.contexts.get(context_id)).state, AwaitingToolApproval)
        assert (world.workspace / "a.txt").read_text() == "two"
        await world.runtime.calls.approve_all(context_id)
        await world.runtime.turns.rested(context_id)
        assert (world.workspace / "a.txt").read_text() == "one"


@pytest.mark.parametrize("mode", ["plan", "ask"])
async def test_the_undo_tool_is_denied_in_read_only_modes(tmp_path: Path, mode: str) -> None:
    world = world_with_tools(tmp_path, writes("a.txt", "two"), DONE, UNDO, DONE)
    (world.workspace / "a.txt").write_text("one")
    async with world.runtime:
        context_id = await done(world)
        await world.runtime.modes.switch(context_id, mode)
        await go(world, context_id)
        assert await statuses(world, context_id) == ["executed", "denied"]
        assert (world.workspace / "a.txt").read_text() == "two"
        assert await undo_last(world, context_id) == ["a.txt"], "the person's own act needs no mode"


async def test_after_an_undo_the_model_can_edit_again_without_a_conflict(
    tmp_path: Path,
) -> None:
    edit = answer_with_calls(("edit_file", {"path": "a.txt", "edits": [{"old_text": "one", "new_text": "three"}]}))
    read = answer_with_calls(("read_file", {"path": "a.txt"}))
    world = world_with_tools(tmp_path, read, writes("a.txt", "two"), UNDO, edit, DONE)
    (world.workspace / "a.txt").write_text("one")
    async with world.runtime:
        context_id = await done(world)
        assert await statuses(world, context_id) == ["executed"] * 4
        assert (world.workspace / "a.txt").read_text() == "three"


async def test_the_persons_undo_is_audited_and_refused_while_a_call_runs(tmp_path: Path) -> None:
    world = world_with_tools(tmp_path, writes("a.txt", "two"), DONE, runs("echo on; sleep 30"), DONE)
    async with world.runtime:
        context_id = await done(world)
        await world.runtime.messages.send(context_id, "go")
        live = await live_context(world.runtime, context_id)
        while not any(printed.total for printed in live.live_outputs.values()):
            await anext(live.dependencies.hub.subscribe([context_id]).__aiter__())
        assert (await refusal(world, context_id)).reason.code is Code.TURN_ACTIVE
        await world.runtime.turns.cancel(context_id)
        await world.runtime.workspaces.undo(context_id, by="anna")
        entry = (await world.runtime.contexts.audit(context_id)).entries[-1]
        assert (entry.kind, entry.by, entry.detail) == ("change_undone", "anna", {"paths": ["a.txt"]})
        assert (await world.runtime.contexts.audit(context_id)).chain.whole


# the person's git, and hostile folders


def git(folder: Path, *arguments: str) -> str:
    alone = {"PATH": os.environ["PATH"], "HOME": str(folder.parent), "GIT_CONFIG_NOSYSTEM": "1"}
    names = ("-c", "user.name=a", "-c", "user.email=a@b", "-c", "init.defaultBranch=main")
    done = subprocess.run(["git", *names, *arguments], cwd=folder, env=alone, check=True, capture_output=True)
    return done.stdout.decode()


def tree_of(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


async def test_the_persons_own_git_is_untouched(tmp_path: Path) -> None:
    world = world_with_tools(tmp_path, runs("echo agent > a; echo agent > new"), DONE)
    here = world.workspace
    git(here, "init")
    for text in ("first", "stashed"):
        (here / "a").write_text(text)
        git(here, "add", "a")
        git(here, *(("commit", "-m", "one") if text == "first" else ("stash",)))
    (here / "staged").write_text("staged")
    git(here, "add", "staged")
    (here / "a").write_text("not staged")
    outputs = [git(here, *words) for words in (("status", "--porcelain"), ("stash", "list"), ("diff", "--cached"))]
    git_files = tree_of(here / ".git")
    async with world.runtime:
        context_id = await done(world)
        await world.runtime.workspaces.undo(context_id)
        assert (here / "a").read_text() == "not staged"
    assert tree_of(here / ".git") == git_files
    assert outputs == [
        git(here, *words) for words in (("status", "--porcelain"), ("stash", "list"), ("diff", "--cached"))
    ]


async def test_a_hostile_folder_makes_git_run_nothing_and_change_nothing(tmp_path: Path) -> None:
    world = world_with_tools(tmp_path, runs("printf 'agent\\n' > a.txt; printf x > sub/c.txt"), DONE)
    here, mark = world.workspace, tmp_path / "mark"
    git(here, "init")
    evil = tmp_path / "evil.sh"
    evil.write_text(f"#!/bin/sh\ntouch {mark}\ncat\n")
    evil.chmod(0o755)
    (here / ".gitattributes").write_text(
        "* filter=evil diff=evil merge=evil ident text eol=crlf working-tree-encoding=UTF-16\n[attr]evil filter=evil\n"
    )
    (here / "sub").mkdir()
    (here / "sub" / ".gitattributes").write_text("* filter=evil text=auto eol=crlf export-subst\n")
    with open(here / ".git" / "config", "a") as config:
        config.write(
            f"[core]\n\tfsmonitor = {evil}\n\thooksPath = {tmp_path}\n\tsshCommand = {evil}\n\tpager = {evil}\n"
            f"\tworktree = /\n\tattributesFile = {here}/.gitattributes\n\texcludesFile = {here}/all\n"
            f'[filter "evil"]\n\tclean = {evil}\n\tsmudge = {evil}\n\tprocess = {evil}\n\trequired = true\n'
            f'[diff "evil"]\n\ttextconv = {evil}\n\tcommand = {evil}\n[include]\n\tpath = {here}/more\n'
        )
    (here / "more").write_text(f"[core]\n\tfsmonitor = {evil}\n")
    (here / "all").write_text("*\n")
    contents = {"a.txt": b"$Id$ one\r\ntwo\n\xff\xfe", "sub/c.txt": b"\xff\xfea\x00\r\x00\n\x00", "crlf": b"a\r\nb\n"}
    for name, data in contents.items():
        (here / name).write_bytes(data)
    async with world.runtime:
        context_id = await done(world)
        assert (here / "a.txt").read_bytes() == b"agent\n"
        assert await undo_last(world, context_id) == ["a.txt", "sub/c.txt"]
    assert {name: (here / name).read_bytes() for name in contents} == contents
    assert not mark.exists()


async def test_a_change_in_a_nested_repository_is_undone(tmp_path: Path) -> None:
    world = world_with_tools(tmp_path, writes("a.txt", "two"), runs("echo agent > inner/x"), DONE)
    (world.workspace / "a.txt").write_text("one")
    inner = world.workspace / "inner"
    inner.mkdir()
    git(inner, "init")
    (inner / "x").write_text("before")
    git(inner, "add", "x")
    git(inner, "commit", "-m", "one")
    async with world.runtime:
        context_id = await done(world)
        await world.runtime.workspaces.undo(context_id)
        assert (inner / "x").read_text() == "before"
        assert (world.workspace / "a.txt").read_text() == "two", "nothing older is undone"


# when the earlier content is unknown


async def test_undo_of_a_command_needs_no_git(tmp_path: Path) -> None:
    (tmp_path / "bin").mkdir()
    for name in ("bash", "sh", "cat"):
        (tmp_path / "bin" / name).symlink_to(shutil.which(name) or "")
    world = world_with_tools(tmp_path, runs("echo x > b"), DONE, environment={"PATH": str(tmp_path / "bin")})
    async with world.runtime:
        context_id = await done(world)
        assert await undo_last(world, context_id) == ["b"]


async def test_a_folder_that_is_too_large_is_reported_once_and_undone_in_part(tmp_path: Path) -> None:
    answers = (runs("echo new > near"), runs("echo new > a/b/c/far"), DONE)
    world = world_with_tools(tmp_path, *answers, undo=UndoLimits(files=20))
    for number in range(6):
        (world.workspace / f"near{number}").write_text("old")
    (world.workspace / "a" / "b" / "c").mkdir(parents=True)
    (world.workspace / "near").write_text("old")
    for number in range(20):
        (world.workspace / "a" / "b" / "c" / f"a{number}").write_text("old")
    (world.workspace / "a" / "b" / "c" / "far").write_text("old")
    async with world.runtime:
        context_id = await done(world)
        calls = (await world.runtime.calls.read(context_id)).items
        results = await world.runtime.messages.read(context_id, ids=[call.result_id or MessageId("") for call in calls])
        covered = ["Undo covers only part" in getattr(result, "content", "") for result in results]
        assert covered == [True, False]
        assert await undo_last(world, context_id) == ["near"], "what lies beyond the bound is not looked at"
        assert (world.workspace / "near").read_text() == "old"


async def test_more_files_than_can_be_recorded_are_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(comparison, "MAX_CHANGED_FILES", 20)
    world = world_with_tools(tmp_path, runs("for n in $(seq 30); do echo > f$n; done"), DONE)
    async with world.runtime:
        context_id = await done(world)
        undo = await world.runtime.workspaces.undo(context_id)
        assert len(undo.paths) == 20
        assert [reason.code for reason in undo.left] == [Code.UNDO_TOO_MANY]
        assert "(+5)" in undo.left[0].params["paths"]


async def test_a_file_too_large_to_record_is_reported_and_a_new_one_is_removed(tmp_path: Path) -> None:
    limits = UndoLimits(file_megabytes=1)
    world = world_with_tools(
        tmp_path, runs("echo x >> large; head -c 2000000 /dev/zero > new; echo x > small"), DONE, undo=limits
    )
    (world.workspace / "large").write_bytes(bytes(1_500_000))
    async with world.runtime:
        context_id = await done(world)
        undo = await world.runtime.workspaces.undo(context_id)
        assert sorted(undo.paths) == ["new", "small"]
        assert undo.left == (Reason(Code.UNDO_TOO_LARGE, {"paths": "large", "megabytes": 1}),)
        assert not (world.workspace / "new").exists()


async def test_a_baseline_that_is_damaged_or_gone_is_built_again(tmp_path: Path) -> None:
    steps = [each for number in range(1, 5) for each in (runs(f"echo {number} > b"), DONE)]
    world = world_with_tools(tmp_path, *steps)
    cache = tmp_path / "data" / "cache" / "baselines"
    async with world.runtime:
        context_id = await done(world)
        (folder,) = cache.iterdir()
        (folder / "index").write_bytes(b"no index")
        await go(world, context_id)
        (folder / "contents").write_bytes(b"")
        await go(world, context_id)
        shutil.rmtree(cache)
        await go(world, context_id)
        for text in ("3\n", "2\n", "1\n"):
            assert await undo_last(world, context_id) == ["b"]
            assert (world.workspace / "b").read_text() == text


async def test_changes_of_a_stopped_command_can_be_undone(tmp_path: Path) -> None:
    world = world_with_tools(
        tmp_path, answer_with_calls(("execute", {"command": "echo new > a.txt; sleep 30", "timeout": 1})), DONE
    )
    (world.workspace / "a.txt").write_text("one")
    async with world.runtime:
        context_id = await done(world)
        assert await statuses(world, context_id) == ["failed"]
        assert await undo_last(world, context_id) == ["a.txt"]
        assert (world.workspace / "a.txt").read_text() == "one"


async def test_undo_data_is_deleted_with_its_context(tmp_path: Path) -> None:
    world = world_with_tools(tmp_path, runs("echo x > b"), DONE)
    async with world.runtime:
        context_id = await done(world)
        folder = (await artifacts_of(world, context_id)).folder
        assert folder.is_dir()
        assert mode_of(folder) == 0o700
        await world.runtime.contexts.delete(context_id)
        assert not folder.exists()


# runs without a change, and changes after one that cannot be undone


@pytest.mark.parametrize("command", ["touch a.txt", "cp a.txt b; mv b a.txt", "cat a.txt > c; cat c > a.txt; rm c"])
async def test_a_command_that_leaves_every_content_unchanged_is_no_change(tmp_path: Path, command: str) -> None:
    world = world_with_tools(tmp_path, writes("a.txt", "two"), runs(command), DONE)
    (world.workspace / "a.txt").write_text("one")
    async with world.runtime:
        context_id = await done(world)
        assert await undo_last(world, context_id) == ["a.txt"]
        assert (world.workspace / "a.txt").read_text() == "one"


async def test_a_command_that_only_writes_ignored_files_does_not_block_undo(tmp_path: Path) -> None:
    """Like a run of tests, the command fills a cache that git ignores. The edit before it can still be undone."""
    world = world_with_tools(tmp_path, writes("a.py", "two = 2\n"), runs("mkdir -p cache; echo x > cache/a.pyc"), DONE)
    (world.workspace / ".gitignore").write_text("cache/\n")
    (world.workspace / "a.py").write_text("one = 1\n")
    async with world.runtime:
        context_id = await done(world)
        assert await undo_refusal(world, context_id) == [Code.UNDO_IGNORED]
        await world.runtime.workspaces.undo(context_id)
        assert (world.workspace / "a.py").read_text() == "one = 1\n"


async def test_in_a_very_large_folder_mode_bits_are_restored_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tree, "MAX_NOTICED_ENTRIES", 5)
    world = world_with_tools(tmp_path, runs("echo new > run.sh; echo new > plain"), DONE)
    for name in "abcdef":
        (world.workspace / name).write_text(name)
    for name, mode in (("run.sh", 0o755), ("plain", 0o644)):
        (world.workspace / name).write_text("old")
        (world.workspace / name).chmod(mode)
    async with world.runtime:
        context_id = await done(world)
        await world.runtime.workspaces.undo(context_id)
        assert (world.workspace / "run.sh").read_text() == "old"
        assert oct(mode_of(world.workspace / "run.sh")) == "0o755", "it can still be run"
        assert oct(mode_of(world.workspace / "plain")) == "0o644"


async def test_in_a_very_large_folder_a_change_outside_of_git_is_reported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tree, "MAX_NOTICED_ENTRIES", 5)
    world = world_with_tools(tmp_path, writes("a", "two"), runs("echo new > secret.log"), DONE)
    (world.workspace / ".gitignore").write_text("*.log\n")
    (world.workspace / "secret.log").write_text("old")
    for name in "abcdef":
        (world.workspace / name).write_text("one")
    async with world.runtime:
        context_id = await done(world)
        await world.runtime.workspaces.undo(context_id)
        assert (world.workspace / "secret.log").read_text() == "old"
        assert (world.workspace / "a").read_text() == "two", "nothing older is undone"


# a command that never came to its end


async def test_a_cancelled_command_is_the_last_change_despite_a_slow_scan(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    answers = (writes("a.txt", "two"), runs("echo new > b; echo on; sleep 60"), DONE)
    world = world_with_tools(tmp_path, *answers)
    (world.workspace / "a.txt").write_text("one")
    taken, slow = Baseline.take, threading.Event()

    def take(self: Baseline, stopped: Any, before: Any = None) -> Any:
        if before is not None:
            slow.wait(2.5)
        return taken(self, stopped, before)

    monkeypatch.setattr(Baseline, "take", take)
    async with world.runtime:
        context_id = await world.start()
        await world.runtime.messages.send(context_id, "go")
        live = await live_context(world.runtime, context_id)
        async with asyncio.timeout(HANG_SECONDS):
            while not any(printed.total for printed in live.live_outputs.values()):
                await asyncio.sleep(0.01)
        await world.runtime.turns.cancel(context_id)
        with contextlib.suppress(Conflict):  # reported, as the scan is not complete
            await world.runtime.workspaces.undo(context_id)
        assert (world.workspace / "a.txt").read_text() == "two", "nothing older is undone"


CHILD = """
import asyncio, sys
from pathlib import Path
from tests.support.mcp_tools import DONE, world_with_tools, runs, writes

async def main(folder):
    world = world_with_tools(folder, writes("a.txt", "two"), runs("echo new > b; sleep 60"), DONE)
    async with world.runtime:
        context_id = await world.runtime.contexts.create(world.workspace, mode="agent", context_id="killed")
        await world.turn(context_id)

asyncio.run(main(Path(sys.argv[1])))
"""


async def test_after_a_kill_a_command_that_was_running_is_not_forgotten(tmp_path: Path) -> None:
    (tmp_path / "workspace").mkdir()
    (tmp_path / "workspace" / "a.txt").write_text("one")
    root = Path(__file__).parents[2]
    child = subprocess.Popen([sys.executable, "-c", CHILD, str(tmp_path)], cwd=root)
    try:
        async with asyncio.timeout(HANG_SECONDS):
            while not (tmp_path / "workspace" / "b").exists():
                await asyncio.sleep(0.02)
    finally:
        child.kill()
        child.wait()
    world = world_with_tools(tmp_path, ids_from=1000)
    async with world.runtime:
        assert await statuses(world, "killed") == ["executed", "interrupted"]
        assert await undo_refusal(world, "killed") == [Code.UNDO_INTERRUPTED]
        assert (world.workspace / "a.txt").read_text() == "two", "nothing older is undone"


async def test_a_persons_files_survive_when_a_folder_stops_being_a_repository(tmp_path: Path) -> None:
    remove = "python3 -c \"import shutil; shutil.rmtree('sub/.gi' + 't')\""
    world = world_with_tools(tmp_path, runs("echo one > x"), DONE, runs(remove), DONE)
    sub = world.workspace / "sub"
    sub.mkdir()
    (sub / "f").write_text("first")
    async with world.runtime:
        context_id = await done(world)
        git(sub, "init")
        (sub / "f").write_text("the person's own")
        await go(world, context_id)
        assert await statuses(world, context_id) == ["executed", "executed"]
        assert await undo_refusal(world, context_id) == [Code.GIT_REMOVED]
        assert (sub / "f").read_text() == "the person's own"


async def test_a_change_in_a_folder_that_becomes_a_repository_is_undone(tmp_path: Path) -> None:
    world = world_with_tools(
        tmp_path, runs("echo two > x"), DONE, runs("cd sub && git init -q && echo changed > f"), DONE
    )
    (world.workspace / "sub").mkdir()
    (world.workspace / "sub" / "f").write_text("first")
    (world.workspace / "x").write_text("one\n")
    async with world.runtime:
        context_id = await done(world)
        await go(world, context_id)
        await world.runtime.workspaces.undo(context_id)
        assert (world.workspace / "sub" / "f").read_text() == "first"
        assert (world.workspace / "x").read_text() == "two\n", "nothing older is undone in silence"


async def test_a_deleted_folder_that_was_too_large_to_scan_is_reported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tree, "MAX_NOTICED_ENTRIES", 5)
    world = world_with_tools(tmp_path, writes("a", "two"), runs("rm -r node_modules"), DONE)
    (world.workspace / "node_modules").mkdir()
    for number in range(10):
        (world.workspace / "node_modules" / f"{number}.js").write_text("x")
    async with world.runtime:
        context_id = await done(world)
        reason = (await refusal(world, context_id)).reason
        assert reason.params["left"][0].code is Code.UNDO_IGNORED
        assert "node_modules/" in translate(reason)


async def test_a_deleted_folder_that_was_too_deep_to_scan_is_reported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tree, "_MAX_DEPTH", 2)
    world = world_with_tools(tmp_path, runs("rm -r a/b/c"), DONE)
    (world.workspace / "a" / "b" / "c").mkdir(parents=True)
    (world.workspace / "a" / "b" / "c" / "x").write_text("x")
    async with world.runtime:
        context_id = await done(world)
        undo = await world.runtime.workspaces.undo(context_id)
        assert [(reason.code, reason.params["paths"]) for reason in undo.left] == [(Code.UNDO_UNSEEN, "a/b/c/")]
