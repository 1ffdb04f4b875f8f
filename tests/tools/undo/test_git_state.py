"""Undo says exactly what a command changed in a repository's records, which it leaves as they are."""

import os
import subprocess
from pathlib import Path

import pytest

from pilothouse.domain.codes import Code, Language, Reason, say, say_all
from pilothouse.domain.errors import Conflict
from pilothouse.testing.world import World
from pilothouse.tools.undo.git_state import index_digest, read_git_state
from tests.server.lending import DONE, furnished, runs, writes

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
    world = furnished(folder, runs(command), DONE)
    context_id = await world.start()
    await world.turn(context_id)
    return world, context_id


async def undone(world: World, context_id: str) -> tuple[list[str], list[Reason]]:
    async with world.runtime:
        try:
            found = await world.runtime.undo(context_id)
        except Conflict as error:
            return [], error.reason.params["left"]
        return list(found.paths), list(found.left)


async def test_a_commit_is_told_with_the_way_back_and_its_files_are_put_back(tmp_path: Path) -> None:
    here = repository(tmp_path / "workspace")
    first = git(here, "rev-parse", "HEAD")
    world, context_id = await after(tmp_path, f"echo two > a.txt; {GIT} commit --quiet -am second")
    second = git(here, "rev-parse", "HEAD")
    paths, left = await undone(world, context_id)
    assert paths == ["a.txt"]
    assert (here / "a.txt").read_text() == "one\n"
    moved = {"repository": ".", "branch": "main", "before": first[:12], "after": second[:12]}
    assert left == [Reason(Code.GIT_MOVED, moved), Reason(Code.GIT_INDEX, {"repository": "."})]
    assert f"git reset --soft {first[:12]}" in say(left[0])
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
        (f"{GIT} config x.y z", [Code.GIT_OTHER]),
        ("python3 -c \"import shutil; shutil.rmtree('.gi' + 't')\"", [Code.GIT_REMOVED]),
        (f"{GIT} init --quiet inner", [Code.GIT_CREATED]),
        (f"{GIT} rm --quiet --cached a.txt", [Code.GIT_INDEX]),
    ],
)
async def test_each_change_of_a_repository_is_named(tmp_path: Path, command: str, codes: list[Code]) -> None:
    repository(tmp_path / "workspace")
    world, context_id = await after(tmp_path, command)
    _, left = await undone(world, context_id)
    assert [reason.code for reason in left] == codes
    languages: tuple[Language, ...] = ("en", "zh")
    for language in languages:
        assert "(" not in say_all(left, language).replace("(+", ""), "every parameter is there"


@pytest.mark.parametrize(
    "command",
    [f"{GIT} status", f"touch a.txt; {GIT} status", f"{GIT} log", f"{GIT} gc --quiet", f"{GIT} pack-refs --all"],
)
async def test_reading_and_tidying_are_no_change(tmp_path: Path, command: str) -> None:
    repository(tmp_path / "workspace")
    world = furnished(tmp_path, writes("a.txt", "two\n"), runs(command), DONE)
    context_id = await world.start()
    await world.turn(context_id)
    assert await undone(world, context_id) == (["a.txt"], [])


async def test_a_stash_takes_files_away_that_undo_puts_back(tmp_path: Path) -> None:
    here = repository(tmp_path / "workspace")
    (here / "a.txt").write_text("not committed\n")
    world, context_id = await after(tmp_path, f"{GIT} stash --quiet")
    paths, left = await undone(world, context_id)
    assert paths == ["a.txt"]
    assert (here / "a.txt").read_text() == "not committed\n"
    assert Reason(Code.GIT_REFERENCES, {"repository": ".", "names": "stash"}) in left


async def test_a_worktree_a_submodule_and_a_repository_above_are_looked_at(tmp_path: Path) -> None:
    main = repository(tmp_path / "main")
    git(main, "worktree", "add", "--quiet", str(tmp_path / "workspace"), "feature")
    world, context_id = await after(tmp_path, f"echo two > a.txt; {GIT} commit --quiet -am second")
    paths, left = await undone(world, context_id)
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
