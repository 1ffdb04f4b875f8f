"""Undo reports exactly the changes of a command to a repository's records, and leaves those unchanged."""

import os
import subprocess
from pathlib import Path

import pytest

from pilothouse.domain.codes import Code, Language, Reason
from pilothouse.domain.errors import Conflict
from pilothouse.i18n import translate, translate_all
from pilothouse.testing.world import World
from pilothouse.tools.undo.git_state import changed_programs, index_digest, read_git_state
from tests.support.mcp_tools import DONE, runs, world_with_tools, writes

IDENTITY = (
    "-c",
    "user.name=a",
    "-c",
    "user.email=a@b",
    "-c",
    "init.defaultBranch=main",
    "-c",
    "protocol.file.allow=always",
)
GIT = f"git {' '.join(IDENTITY)}"


def git(folder: Path, *arguments: str) -> str:
    alone = {"PATH": os.environ["PATH"], "HOME": str(folder.parent), "GIT_CONFIG_NOSYSTEM": "1"}
    done = subprocess.run(["git", *IDENTITY, *arguments], cwd=folder, env=alone, check=True, capture_output=True)
    return done.stdout.decode().strip()


def repository(folder: Path) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    git(folder, "init", "--quiet")
    (folder / "a.txt").write_text("one\n")
    git(folder, "add", "a.txt")
    git(folder, "commit", "--quiet", "-m", "first")
    git(folder, "branch", "feature")
    return folder


async def after(folder: Path, command: str) -> tuple[World, str]:
    """A world in which one command has run."""
    world = world_with_tools(folder, runs(command), DONE)
    context_id = await world.start()
    await world.turn(context_id)
    return world, context_id


async def undo_last(world: World, context_id: str) -> tuple[list[str], list[Reason]]:
    async with world.runtime:
        try:
            undo = await world.runtime.workspaces.undo(context_id)
        except Conflict as error:
            return [], error.reason.params["left"]
        return list(undo.paths), list(undo.left)


async def test_a_commit_is_reported_with_the_way_back_and_its_files_are_restored(tmp_path: Path) -> None:
    here = repository(tmp_path / "workspace")
    first = git(here, "rev-parse", "HEAD")
    world, context_id = await after(tmp_path, f"echo two > a.txt; {GIT} commit --quiet -am second")
    second = git(here, "rev-parse", "HEAD")
    paths, left = await undo_last(world, context_id)
    assert paths == ["a.txt"]
    assert (here / "a.txt").read_text() == "one\n"
    moved = {"repository": ".", "branch": "main", "before": first[:12], "after": second[:12]}
    assert left == [Reason(Code.GIT_MOVED, moved), Reason(Code.GIT_INDEX, {"repository": "."})]
    assert f"git reset {first[:12]}" in translate(left[0])
    assert git(here, "rev-parse", "HEAD") == second, "undo itself leaves the repository alone"


@pytest.mark.parametrize(
    ("command", "codes"),
    [
        (f"{GIT} commit --quiet --allow-empty -m x", [Code.GIT_MOVED]),
        (f"{GIT} switch --quiet feature", [Code.GIT_SWITCHED]),
        (f"{GIT} checkout --quiet --detach", [Code.GIT_SWITCHED]),
        (f"{GIT} branch new", [Code.GIT_REFERENCES]),
        (f"{GIT} tag v1", [Code.GIT_REFERENCES]),
        (f"{GIT} branch -D feature", [Code.GIT_REFERENCES]),
        (f"{GIT} config user.name z", [Code.GIT_OTHER]),
        ("python3 -c \"import shutil; shutil.rmtree('.gi' + 't')\"", [Code.GIT_REMOVED]),
        (f"{GIT} init --quiet inner", [Code.GIT_CREATED]),
        (f"{GIT} rm --quiet --cached a.txt", [Code.GIT_INDEX]),
    ],
)
async def test_each_change_of_a_repository_is_named(tmp_path: Path, command: str, codes: list[Code]) -> None:
    repository(tmp_path / "workspace")
    world, context_id = await after(tmp_path, command)
    _, left = await undo_last(world, context_id)
    assert [reason.code for reason in left] == codes
    languages: tuple[Language, ...] = ("en", "zh")
    for language in languages:
        assert "(" not in translate_all(left, language).replace("(+", ""), "every parameter is there"


@pytest.mark.parametrize(
    "command",
    [f"{GIT} status", f"touch a.txt; {GIT} status", f"{GIT} log", f"{GIT} gc --quiet", f"{GIT} pack-refs --all"],
)
async def test_reading_and_tidying_are_no_change(tmp_path: Path, command: str) -> None:
    repository(tmp_path / "workspace")
    world = world_with_tools(tmp_path, writes("a.txt", "two\n"), runs(command), DONE)
    context_id = await world.start()
    await world.turn(context_id)
    assert await undo_last(world, context_id) == (["a.txt"], [])


async def test_undo_restores_files_removed_by_a_stash(tmp_path: Path) -> None:
    here = repository(tmp_path / "workspace")
    (here / "a.txt").write_text("not committed\n")
    world, context_id = await after(tmp_path, f"{GIT} stash --quiet")
    paths, left = await undo_last(world, context_id)
    assert paths == ["a.txt"]
    assert (here / "a.txt").read_text() == "not committed\n"
    assert Reason(Code.GIT_REFERENCES, {"repository": ".", "names": "stash"}) in left


async def test_a_worktree_a_submodule_and_a_repository_above_are_looked_at(tmp_path: Path) -> None:
    main = repository(tmp_path / "main")
    git(main, "worktree", "add", "--quiet", str(tmp_path / "workspace"), "feature")
    world, context_id = await after(tmp_path, f"echo two > a.txt; {GIT} commit --quiet -am second")
    paths, left = await undo_last(world, context_id)
    assert (paths, left[0].params["branch"]) == (["a.txt"], "feature")

    part = main / "part"
    part.mkdir()
    before = read_git_state(part, [], {})
    git(main, "commit", "--quiet", "--allow-empty", "-m", "above")
    assert list(before) == [".."]
    assert read_git_state(part, [], {})[".."].commit != before[".."].commit

    git(main, "submodule", "add", "--quiet", str(main), "module")
    assert read_git_state(main, ["", "module"], {})["module"].commit is not None


@pytest.mark.parametrize("version", ["2", "3", "4"])
def test_the_digest_of_a_staging_area_follows_what_is_staged_alone(tmp_path: Path, version: str) -> None:
    here = repository(tmp_path / "r")
    for number in range(200):
        (here / f"file-{number % 7}-{number}").write_text(str(number))
    git(here, "add", ".")
    git(here, "update-index", "--index-version", version)
    if version == "3":
        (here / "intended").write_text("x")
        git(here, "add", "--intent-to-add", "intended")
    index = here / ".git" / "index"
    first = index_digest(index.read_bytes())
    for path in here.iterdir():
        os.utime(path, (1, 1))
    git(here, "status")
    assert index_digest(index.read_bytes()) == first
    (here / "file-0-0").write_text("other")
    git(here, "add", "file-0-0")
    assert index_digest(index.read_bytes()) != first


def test_a_hostile_repository_leads_nowhere_and_stops_nothing(tmp_path: Path) -> None:
    (tmp_path / ".git").write_text("gitdir: /proc/self\n")
    assert read_git_state(tmp_path, [""], {}) == {}
    (tmp_path / "loop").mkdir()
    (tmp_path / "loop" / ".git").symlink_to(tmp_path / "loop")
    assert read_git_state(tmp_path, ["loop"], {}) == {}
    for name, content in (("nul", b"a\0b"), ("elsewhere", b"/etc")):
        hostile = tmp_path / name / ".git"
        hostile.mkdir(parents=True)
        (hostile / "HEAD").write_text("ref: refs/heads/main\n")
        (hostile / "commondir").write_bytes(content)
        (hostile / "refs").symlink_to("/proc/self")
        assert read_git_state(tmp_path, [name], {})[name].references == {}
    (tmp_path / "secret").mkdir()
    (tmp_path / "secret" / "HEAD").write_text("a key that is no branch")
    (tmp_path / "leads").mkdir()
    (tmp_path / "leads" / ".git").write_text(f"gitdir: {tmp_path}/secret\n")
    assert read_git_state(tmp_path, ["leads"], {}) == {}
    bad = tmp_path / "bad" / ".git"
    (bad / "refs" / "heads").mkdir(parents=True)
    (bad / "HEAD").write_bytes(b"ref: refs/heads/\xff\x1b[31m\n" + b"x" * 100_000)
    (bad / "index").write_bytes(b"DIRC\0\0\0\2\xff\xff\xff\xff")
    os.mkfifo(bad / "refs" / "heads" / "fifo")
    state = read_git_state(tmp_path, ["bad"], {})["bad"]
    assert state.references == {}


CONFIG = """[core]
\tbare = false
[user]
\tname = a
[remote "origin"]
\turl = https://example.org/a.git
\tfetch = +refs/heads/*:refs/remotes/origin/*
[branch "main"]
\tremote = origin
\tmerge = refs/heads/main
"""


def changes_programs(folder: Path, config: str) -> bool:
    here = repository(folder / "r")
    (here / ".git/config").write_text(CONFIG)
    before = read_git_state(here, [""], {})
    (here / ".git/config").write_bytes(config.encode())
    return list(changed_programs(before, read_git_state(here, [""], {}))) == [".git/config"]


@pytest.mark.parametrize(
    "text",
    [
        '[remote "origin"]\n\tuploadpack = ./evil\n',
        '[remote "origin"]\n\treceivepack = ./evil\n',
        '[remote "origin"]\n\tvcs = evil\n',
        '[remote "origin"] uploadpack = ./evil\n',
        '[remote "origin"]\n\turl = ext::./evil\n',
        "[user][core] pager = ./evil\n",
        "[user] [core]\n\tpager = ./evil\n",
        "[user]\n[core]pager = ./evil\n",
        "[alias]\n\tx = y\\\n[user]\n\tname = !./evil\n",
        "[user]\n# \\\n[alias]\n\tname = !./evil\n",
        "[user]\n\tname = a\\\n[alias]\n\tname = !./evil\n",
        "[pager]\n\tfetch = ./evil\n",
        "[core]\n\tpager = ./evil\n",
        "[core]\n\tautocrlf = true\\\n\tpager = ./evil\n",
        "[core] autocrlf = true\n[alias]\n\tautocrlf = !./evil\n",
        '[core "x"]\n\tworktree = /\n',
        "[core]\n\tworktree = /home/somebody\n",
        "[include]\n\tpath = ../evil\n",
        '[user "x"]\n\tname = y\n[filter "x"]\n\tclean = ./evil\n',
    ],
)
def test_a_setting_that_names_a_program_is_noticed_in_any_section(tmp_path: Path, text: str) -> None:
    assert changes_programs(tmp_path, CONFIG + text)


@pytest.mark.parametrize(
    "text",
    [
        '[remote "fork"]\n\turl = git@example.org:b.git\n\tfetch = +refs/heads/*:refs/remotes/fork/*\n',
        '[branch "topic/a"]\n\tremote = origin\n\tmerge = refs/heads/topic/a\n',
        "[user]\n\tname = b\n\temail = b@example.org\n",
        "[User]\r\n  Name=c\r\n",
        "[core]\n\tautocrlf = input\n\tfilemode = false\n\tignorecase\n",
        '[pull]\n\trebase = true\n[color "diff"]\n\tnew = green\n',
        "# a remark\n[alias]\n",
        '[submodule "lib"]\n\tactive = true\n\turl = https://example.org/lib.git\n',
    ],
)
def test_settings_that_hold_data_are_no_programs(tmp_path: Path, text: str) -> None:
    assert not changes_programs(tmp_path, CONFIG + text)


def test_a_setting_that_moves_into_a_remote_repository_is_noticed(tmp_path: Path) -> None:
    here = repository(tmp_path / "r")
    (here / ".git/config").write_text(CONFIG + "[x]\n\tuploadpack = ./evil\n")
    before = read_git_state(here, [""], {})
    (here / ".git/config").write_text(CONFIG + '[x]\n[remote "origin"]\n\tuploadpack = ./evil\n')
    assert list(changed_programs(before, read_git_state(here, [""], {}))) == [".git/config"]


def test_a_hook_that_is_rewritten_under_its_old_time_and_size_is_noticed(tmp_path: Path) -> None:
    here = repository(tmp_path / "work")
    hook = here / ".git/hooks/pre-commit"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text("#!/bin/sh\necho good\n")
    before = read_git_state(here, [""], {})
    times = (hook.stat().st_atime_ns, hook.stat().st_mtime_ns)
    hook.write_text("#!/bin/sh\necho evil\n")
    os.utime(hook, ns=times)
    assert list(changed_programs(before, read_git_state(here, [""], {}))) == [".git/hooks/pre-commit"]


def test_hooks_and_programs_of_a_new_repository_are_reported(tmp_path: Path) -> None:
    here = repository(tmp_path / "r")
    assert list(changed_programs({}, read_git_state(here, [""], {}))) == []
    (here / ".git/hooks").mkdir(exist_ok=True)
    (here / ".git/hooks/post-merge").write_text("#!/bin/sh\n")
    with open(here / ".git/config", "a") as config:
        config.write("[core]\n\tfsmonitor = ./evil\n")
    programs = list(changed_programs({}, read_git_state(here, [""], {})))
    assert programs == [".git/config", ".git/hooks/post-merge"]
