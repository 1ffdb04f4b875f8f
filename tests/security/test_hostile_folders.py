"""Hostile folders: opening, listing, searching, reading, git and undo run none of their programs."""

import os
import subprocess
import sys
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from pilothouse.app import build_runtime
from pilothouse.domain.calls import CallRecord
from pilothouse.domain.value import ContextId
from pilothouse.llm.script import Answer, Script, ScriptedCall
from pilothouse.llm.scripted import ScriptedAdapter
from pilothouse.runtime.runtime import Runtime
from pilothouse.settings import read_settings
from pilothouse.storage.memory import MemoryStore
from pilothouse.testing.world import World
from pilothouse.tools.builtin import builtin_tools
from tests.security.hostile_folders import GIT, LOOKS, MAKERS, Hostile, build, processes_in, tree
from tests.support.kernel import needs_sandbox
from tests.support.live_contexts import pool_of
from tests.support.scale import HANG_SECONDS

DONE = Answer(text="done")
TOOLS = str(Path(sys.executable).parent)
# Folders whose programs run when a plain shell gets the same commands: the oracle notices them.
STRIKING = ("fsmonitor", "filters", "textconv", "external_diff", "diff_driver", "include_if", "worktree", "submodule")


@pytest.fixture(params=MAKERS)
def hostile(request: pytest.FixtureRequest, tmp_path: Path) -> Hostile:
    return build(request.param, tmp_path)


def environment(hostile: Hostile) -> dict[str, str]:
    """As careless as a person's can be: programs of the folder come first."""
    entries = (".", "bin", f"{hostile.root}/bin", f"{hostile.root}/.venv/bin", os.environ["PATH"], TOOLS)
    return {**GIT, "PATH": ":".join(entries), "HOME": str(hostile.markers.parent / "home"), "OPENAI_API_KEY": "planted"}


@asynccontextmanager
async def opened(hostile: Hostile, *answers: Answer) -> AsyncIterator[tuple[Runtime, ContextId]]:
    """The real runtime with a conversation in the folder, made while it stands there, as a person would."""
    base = hostile.markers.parent
    settings = read_settings({}, model="demo", data_dir=str(base / "data"), config=str(base / "conf/config.toml"))
    adapter = ScriptedAdapter(Script(turn=answers))
    before = os.getcwd()
    os.chdir(hostile.root)
    try:
        async with build_runtime(settings, environment(hostile), adapter=adapter) as runtime:
            yield runtime, await runtime.contexts.create(hostile.root, mode="review")
    finally:
        os.chdir(before)


def calls(*requests: tuple[str, dict[str, Any]]) -> Answer:
    return Answer(calls=tuple(ScriptedCall(tool=tool, arguments=arguments) for tool, arguments in requests))


def commands(lines: Sequence[str]) -> Answer:
    return calls(*(("execute", {"command": line}) for line in lines))


LOOKING = calls(
    ("list_directory", {"depth": 5}),
    ("list_directory", {}),
    ("glob", {"pattern": "**/*"}),
    ("glob", {"pattern": "*.txt"}),
    ("grep", {"pattern": "needle"}),
    ("grep", {"pattern": "needle", "glob": "*.txt", "ignore_case": True}),
    ("read_file", {"path": "a.txt"}),
    ("read_file", {"path": "AGENTS.md"}),
)


async def run_turn(runtime: Runtime, context_id: ContextId) -> list[CallRecord]:
    await runtime.messages.send(context_id, "Look around.")
    await runtime.turns.rested(context_id)
    return list(await pool_of(runtime).dependencies.store.calls(context_id))


async def policy(runtime: Runtime, context_id: str, root: Path) -> object:
    """Everything that decides calls in this context."""
    live = await runtime.contexts.get(context_id)
    return (
        (live.core.mode, live.core.policy, live.core.rules, live.core.elevation),
        await runtime.rules.read(context_id),
        await runtime.tools.disabled(),
        await runtime.mcp_servers.read(),
        runtime.workspaces.policy(str(root)),
        sorted(runtime.tools.in_workspace(str(root))),
    )


@needs_sandbox
async def test_inspecting_a_hostile_folder_in_review_runs_and_changes_nothing(hostile: Hostile) -> None:
    before = tree(hostile.root)
    outside = tree(hostile.markers)
    async with opened(hostile, LOOKING, commands(LOOKS), DONE) as (runtime, context_id):
        policies = await policy(runtime, context_id, hostile.root)
        records = await run_turn(runtime, context_id)
        ran = [record for record in records if record.tool == "execute"]
        assert [record.status for record in ran] == ["executed"] * len(LOOKS), "they run by themselves"
        assert all(record.confined for record in ran)
        assert len(records) == len(LOOKS) + len(LOOKING.calls)
        assert await policy(runtime, context_id, hostile.root) == policies
        trust = await runtime.workspaces.trust_status(context_id)
        assert trust.status == ("new" if (hostile.root / ".pilothouse").exists() else "none")
    assert hostile.struck() == []
    assert tree(hostile.root) == before
    assert tree(hostile.markers) == outside
    assert processes_in(hostile.root) == []


@needs_sandbox
async def test_recording_undo_data_in_a_hostile_folder_runs_and_changes_nothing(hostile: Hostile) -> None:
    """Undo scans the whole folder before and after every command, outside of the sandbox."""
    before = tree(hostile.root)
    lines = [commands([line]) for line in ("true", ": again", "test -e a.txt")]
    async with opened(hostile, *lines, DONE) as (runtime, context_id):
        await runtime.modes.switch(context_id, "agent")
        records = await run_turn(runtime, context_id)
        assert [record.status for record in records] == ["executed"] * 3
    assert hostile.struck() == []
    assert tree(hostile.root) == before
    assert processes_in(hostile.root) == []


@needs_sandbox
async def test_undo_in_a_hostile_folder_restores_files_and_runs_nothing(hostile: Hostile) -> None:
    before = tree(hostile.root, times=False)
    change = commands(["printf other > a.txt; printf new > new.txt; rm b.txt"])
    async with opened(hostile, change, DONE) as (runtime, context_id):
        await runtime.modes.switch(context_id, "agent")
        await run_turn(runtime, context_id)
        assert (hostile.root / "a.txt").read_text() == "other"
        assert sorted((await runtime.workspaces.undo(context_id)).paths) == ["a.txt", "b.txt", "new.txt"]
    assert tree(hostile.root, times=False) == before
    assert hostile.struck() == []


@pytest.mark.parametrize("name", STRIKING)
def test_the_same_commands_in_a_plain_shell_run_programs_of_the_folder(name: str, tmp_path: Path) -> None:
    """A control of the tests above: the oracle notices such programs."""
    folder = build(name, tmp_path)
    for line in LOOKS:
        subprocess.run(["/bin/bash", "-c", line], cwd=folder.root, env=GIT, capture_output=True, timeout=HANG_SECONDS)
    assert folder.struck()


def test_names_that_are_options_do_harm_in_a_plain_shell(tmp_path: Path) -> None:
    folder = build("names", tmp_path)
    subprocess.run(
        ["/bin/bash", "-c", "cd options && sort *"], cwd=folder.root, env=GIT, capture_output=True, timeout=HANG_SECONDS
    )
    assert folder.struck()


@needs_sandbox
@pytest.mark.parametrize(
    "line",
    ["cd options && sort *", "sort *", "git diff *", "grep needle *", "rg needle *", "find *", "wc -l *", "ls *"],
)
async def test_names_that_are_options_do_none_in_review(line: str, tmp_path: Path) -> None:
    """Whether it waits for the person or runs where it cannot write."""
    folder = build("names", tmp_path)
    before = tree(folder.root)
    async with opened(folder, commands([line]), DONE) as (runtime, context_id):
        (record,) = await run_turn(runtime, context_id)
        assert record.status == "pending" or record.confined
    assert folder.struck() == []
    assert tree(folder.root) == before


async def test_a_folder_with_git_settings_of_its_own_is_opened_without_asking_git(hostile: Hostile) -> None:
    """Opening a folder reads only its configuration and starts no program."""
    before = tree(hostile.root)
    async with opened(hostile, DONE) as (runtime, context_id):
        await runtime.workspaces.trust_status(context_id)
        await run_turn(runtime, context_id)
        assert (await runtime.contexts.get(context_id)).core.mode == "review"
    assert hostile.struck() == []
    assert tree(hostile.root) == before


STARTED = ("own_settings", "forbidden_settings", "servers", "modules", "shadows", "direnv", "npm", "fsmonitor", "hooks")


@pytest.mark.parametrize("name", [*STARTED, "identity", "instructions"])
def test_a_start_without_a_person_in_a_hostile_folder_trusts_nothing(name: str, tmp_path: Path) -> None:
    """`pilothouse run` as in a build: the mode and the data directory are the person's, and no program is started."""
    folder = build(name, tmp_path)
    home = tmp_path / "home"
    home.mkdir()
    before = tree(folder.root)
    script = tmp_path / "script.json"
    call = '{"tool": "execute", "arguments": {"command": "/usr/bin/touch PWNED-by-call"}}'
    script.write_text('{"turn": [{"text": "well"}, {"calls": [' + call + "]}]}")
    program = [str(Path(sys.executable).with_name("pilothouse")), "run", "--model", f"scripted:{script}"]
    for text in ("hello", "go"):
        done = subprocess.run(
            [*program, "--mode", "supervised", text],
            cwd=folder.root,
            env={"PATH": f".:{os.environ['PATH']}", "HOME": str(home), "LANG": "C.UTF-8"},
            capture_output=True,
            text=True,
            timeout=HANG_SECONDS,
        )
        assert done.returncode in (0, 3), done.stderr
    assert folder.struck() == []
    assert tree(folder.root) == before
    assert (home / ".local/share/pilothouse").is_dir(), "not where the folder says"
    assert processes_in(folder.root) == []


VARIABLES = (
    *("RIPGREP_CONFIG_PATH", "BASH_ENV", "ENV", "PROMPT_COMMAND", "PS4", "LD_PRELOAD", "LD_AUDIT", "LESSOPEN", "PAGER"),
    *("GIT_EXTERNAL_DIFF", "GIT_PAGER", "GIT_SSH_COMMAND", "GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM", "GIT_EXEC_PATH"),
    *("GIT_DIR", "GIT_ASKPASS", "EDITOR", "PYTHONSTARTUP", "PYTHONPATH", "PERL5OPT", "NODE_OPTIONS", "GREP_OPTIONS"),
)
PLAIN = "rg needle a.txt; git diff; git log -p; git status; bash -c true; sh -c true; grep needle a.txt; python3 -c 0"


async def test_variables_that_make_programs_run_something_are_not_passed_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without a sandbox only a reduced environment protects. The search gets an even smaller one."""
    folder = build("instructions", tmp_path)
    evil = tmp_path / "evil.sh"
    evil.write_text(f"#!/bin/sh\n/usr/bin/touch {folder.markers}/variable\n")
    evil.chmod(0o755)
    (tmp_path / "rgrc").write_text(f"--pre={evil}\n")
    (tmp_path / "gitconfig").write_text(f'[core]\n\tfsmonitor = "{evil}"\n[diff]\n\texternal = {evil}\n')
    planted = {name: str(evil) for name in VARIABLES}
    planted |= {"RIPGREP_CONFIG_PATH": str(tmp_path / "rgrc"), "PS4": f"$({evil})", "PERL5OPT": "-d"}
    planted |= {name: str(tmp_path / "gitconfig") for name in ("GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM")}
    monkeypatch.setenv("RIPGREP_CONFIG_PATH", planted["RIPGREP_CONFIG_PATH"])
    requested = calls(("execute", {"command": PLAIN}), ("grep", {"pattern": "needle"}), ("undo", {}))
    variables = {**environment(folder), "PATH": f"{os.environ['PATH']}:{TOOLS}", **planted}
    for mode in ("agent", "review"):
        store = MemoryStore(tmp_path / "kept")
        world = World(folder.root, requested, DONE, tools=builtin_tools(), store=store, environment=variables)
        context_id = await world.start(mode)
        await world.turn(context_id)
        assert {record.status for record in await world.dependencies.store.calls(context_id)} >= {"executed"}
    assert folder.struck() == []
    bad = {name: planted[name] for name in ("RIPGREP_CONFIG_PATH", "GIT_EXTERNAL_DIFF")}
    path = {"PATH": f"{os.environ['PATH']}:{TOOLS}"}
    subprocess.run(["/bin/bash", "-c", PLAIN], cwd=folder.root, env={**GIT, **path, **bad}, capture_output=True)
    assert folder.struck(), "a shell that is given them does run it"
