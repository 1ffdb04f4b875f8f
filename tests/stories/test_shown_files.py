"""A call runs exactly as the person saw it, in whichever way they allowed it."""

import subprocess
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from pilothouse.domain.calls import CallRecord
from pilothouse.domain.codes import Code
from pilothouse.domain.rules import Scope
from pilothouse.runtime.commands.calls import PersonsDecision
from pilothouse.testing.world import World
from tests.support.mcp_tools import DONE, answer_with_calls, world_with_tools

SHOWN = "#!/bin/sh\necho shown > made\n"
SWAPPED = "#!/bin/sh\necho swapped > made\n"
Release = Callable[[World, str, CallRecord], Awaitable[Any]]


async def approve(world: World, context_id: str, call: CallRecord) -> None:
    await world.runtime.calls.decide(context_id, [PersonsDecision(id=call.id, verdict="approve", digest=call.digest)])


async def approve_edited(world: World, context_id: str, call: CallRecord) -> None:
    """Another time limit is no other command."""
    arguments = {**call.arguments, "timeout": 7}
    decision = PersonsDecision(id=call.id, verdict="approve", digest=call.digest, arguments=arguments)
    await world.runtime.calls.decide(context_id, [decision])


async def switch(world: World, context_id: str, call: CallRecord) -> None:
    await world.runtime.modes.switch(context_id, "agent", shown=[call.digest])


async def give_rule(world: World, context_id: str, call: CallRecord) -> None:
    await world.runtime.rules.give("allow", Scope(tool="execute"), context_id=context_id, shown=[call.digest])


async def elevate(world: World, context_id: str, call: CallRecord) -> None:
    await world.runtime.modes.elevate(context_id, calls=1, shown=[call.digest])


RELEASES: dict[str, tuple[str, Release]] = {
    "approved": ("supervised", approve),
    "approved with another argument": ("supervised", approve_edited),
    "released by a switch of the mode": ("supervised", switch),
    "released by a rule": ("supervised", give_rule),
    "released by an elevation": ("review", elevate),
}


@pytest.mark.parametrize("is_swapped", [False, True], ids=["as shown", "swapped"])
@pytest.mark.parametrize("release", RELEASES)
async def test_a_script_runs_only_as_it_was_shown(tmp_path: Path, release: str, is_swapped: bool) -> None:
    mode, let_run = RELEASES[release]
    script = tmp_path / "workspace" / "run.sh"
    script.parent.mkdir()
    script.write_text(SHOWN)
    script.chmod(0o755)
    world = world_with_tools(tmp_path, answer_with_calls(("execute", {"command": "./run.sh"})), DONE)
    async with world.runtime:
        context_id = await world.start(mode)
        await world.turn(context_id, "go")
        (call,) = await world.runtime.calls.pending(context_id)
        if is_swapped:
            script.write_text(SWAPPED)
        await let_run(world, context_id, call)
        await world.runtime.turns.rested(context_id)
        (ran,) = (await world.runtime.calls.read(context_id)).items
    marker = script.with_name("made")
    if is_swapped:
        assert (ran.status, ran.reason and ran.reason.code) == ("failed", Code.COMMAND_FILES_CHANGED)
        assert not marker.exists()
    else:
        assert (ran.status, marker.read_text()) == ("executed", "shown\n")


@pytest.mark.parametrize("switches", [False, True], ids=["approved", "released by a switch"])
async def test_a_write_and_a_command_that_were_both_shown_run_together(tmp_path: Path, switches: bool) -> None:
    write = ("write_file", {"path": "run.sh", "content": SHOWN})
    world = world_with_tools(tmp_path, answer_with_calls(write, ("execute", {"command": "sh run.sh"})), DONE)
    async with world.runtime:
        context_id = await world.start("supervised")
        await world.turn(context_id, "go")
        pending = await world.runtime.calls.pending(context_id)
        if switches:
            await world.runtime.modes.switch(context_id, "agent", shown=[call.digest for call in pending])
        else:
            await world.runtime.calls.approve_all(context_id)
        await world.runtime.turns.rested(context_id)
    assert (tmp_path / "workspace" / "made").read_text() == "shown\n"


async def test_a_shown_write_may_make_a_script_need_other_files(tmp_path: Path) -> None:
    """Only files are compared, not the warning of a card that files can still change."""
    script = tmp_path / "workspace" / "run.sh"
    script.parent.mkdir()
    script.write_text("#!/bin/sh\necho plain\n")
    other = script.with_name("other.sh")
    other.write_text(SHOWN)
    write = ("write_file", {"path": "run.sh", "content": "#!/bin/sh\nsh other.sh\n"})
    read = ("read_file", {"path": "run.sh"})
    world = world_with_tools(
        tmp_path, answer_with_calls(read), answer_with_calls(write, ("execute", {"command": "sh run.sh"})), DONE
    )
    async with world.runtime:
        context_id = await world.start("supervised")
        await world.turn(context_id, "go")
        await world.runtime.calls.approve_all(context_id)
        await world.runtime.turns.rested(context_id)
        _, call = await world.runtime.calls.pending(context_id)
        assert not call.may_change
        await world.runtime.calls.approve_all(context_id)
        await world.runtime.turns.rested(context_id)
    assert (tmp_path / "workspace" / "made").read_text() == "shown\n"


def git(folder: Path, *arguments: str) -> None:
    subprocess.run(["git", "-C", str(folder), *arguments], check=True, capture_output=True)


async def world_with_shown_call(tmp_path: Path, command: str) -> tuple[World, str, CallRecord]:
    world = world_with_tools(tmp_path, answer_with_calls(("execute", {"command": command})), DONE)
    context_id = await world.start("supervised")
    await world.turn(context_id, "go")
    (call,) = await world.runtime.calls.pending(context_id)
    return world, context_id, call


@pytest.mark.parametrize("command", ["git status", "git diff", "git -C sub status", "cd sub && git status"])
async def test_git_runs_only_with_the_settings_that_held_when_it_was_shown(tmp_path: Path, command: str) -> None:
    workspace = tmp_path / "workspace"
    (workspace / "sub").mkdir(parents=True)
    for folder in (workspace, workspace / "sub"):
        git(folder, "init", "-q")
    (workspace / "evil.sh").write_text(SWAPPED.replace("made", str(workspace / "made")))
    (workspace / "evil.sh").chmod(0o755)
    world, context_id, call = await world_with_shown_call(tmp_path, command)
    async with world.runtime:
        for folder in (workspace, workspace / "sub"):
            git(folder, "config", "core.fsmonitor", str(workspace / "evil.sh"))
        await approve(world, context_id, call)
        await world.runtime.turns.rested(context_id)
        (ran,) = (await world.runtime.calls.read(context_id)).items
    assert (ran.status, ran.reason and ran.reason.code) == ("failed", Code.COMMAND_FILES_CHANGED)
    assert not (workspace / "made").exists()


@pytest.mark.parametrize("leads_elsewhere", [False, True])
@pytest.mark.parametrize(
    ("settings", "command"),
    [
        (("include.path", "../other"), "git commit -m x"),
        (("core.hooksPath", ".githooks"), "git commit -m x"),
        (("filter.x.clean", "./clean.sh"), "git status"),
    ],
)
async def test_the_card_says_where_settings_of_git_lead_to_other_files(
    tmp_path: Path, settings: tuple[str, str], command: str, leads_elsewhere: bool
) -> None:
    workspace = tmp_path / "workspace"
    workspace.mkdir()
    git(workspace, "init", "-q")
    if leads_elsewhere:
        git(workspace, "config", *settings)
    world, _, call = await world_with_shown_call(tmp_path, command)
    await world.runtime.close()
    assert call.may_change is leads_elsewhere


@pytest.mark.parametrize(("command", "may_change"), [("npm run build", False), ("npm run build -w other", True)])
async def test_the_card_says_that_packages_of_other_folders_are_run(
    tmp_path: Path, command: str, may_change: bool
) -> None:
    (tmp_path / "workspace").mkdir()
    (tmp_path / "workspace" / "package.json").write_text('{"scripts": {"build": "true"}}')
    world, _, call = await world_with_shown_call(tmp_path, command)
    await world.runtime.close()
    assert call.may_change is may_change
