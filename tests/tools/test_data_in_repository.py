"""A data directory in a git repository: not committed, and not wiped by `git clean`."""

import stat
import subprocess
from pathlib import Path

import pytest

from pilothouse.domain.codes import Code
from pilothouse.i18n import translate
from pilothouse.sandbox.shell import classify
from pilothouse.sandbox.workspace import Workspace
from pilothouse.settings import placement_warnings
from pilothouse.storage.files.store import FileStore
from pilothouse.tools.command.command_limits import CommandLimits
from tests.support.mcp_tools import DONE, NOW, runs, world_with_tools


def git(folder: Path, *words: str) -> str:
    identity = ("-c", "user.name=a", "-c", "user.email=a@example.org")
    done = subprocess.run(["git", *identity, *words], cwd=folder, check=True, capture_output=True, text=True)
    return done.stdout


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    folder = tmp_path / "repository"
    (folder / "build").mkdir(parents=True)
    git(folder, "init", "--quiet")
    (folder / "a.txt").write_text("a")
    return folder


def refusal(folder: Path, command: str, data: str = "phd", cwd: str = ".") -> Code | None:
    (folder / data).mkdir(parents=True, exist_ok=True)
    limits = CommandLimits(command, classify(command), cwd, Workspace(folder, [folder / data]))
    reason = limits.violation()
    return reason.code if reason is not None else None


def test_git_does_not_add_a_data_directory(repository: Path) -> None:
    FileStore(repository / "phd", now=lambda: NOW)
    git(repository, "add", "-A")
    assert git(repository, "ls-files").split() == ["a.txt"]
    file = repository / "phd" / ".gitignore"
    assert (file.read_text(), stat.S_IMODE(file.stat().st_mode)) == ("*\n", 0o600)


def test_a_data_directory_of_an_earlier_version_is_ignored_once_it_is_opened(repository: Path) -> None:
    (repository / "phd" / "contexts").mkdir(parents=True)
    FileStore(repository / "phd", now=lambda: NOW)
    git(repository, "add", "-A")
    assert git(repository, "ls-files").split() == ["a.txt"]


def test_a_gitignore_of_the_persons_own_stays(repository: Path) -> None:
    (repository / "phd").mkdir()
    (repository / "phd" / ".gitignore").write_text("mine\n")
    FileStore(repository / "phd", now=lambda: NOW)
    assert (repository / "phd" / ".gitignore").read_text() == "mine\n"


def test_a_repository_that_is_itself_the_data_directory_is_not_hidden(repository: Path) -> None:
    FileStore(repository, now=lambda: NOW)
    assert not (repository / ".gitignore").exists()


@pytest.mark.parametrize(
    "command",
    [
        "git clean -fdx",
        "git clean -fdX",
        "git clean --force -x",
        "git clean -x -d -f .",
        "git -C . clean -dfx",
        "git -c clean.requireForce=false clean -dx",
        "sh -c 'git clean -fdx'",
        "/usr/bin/git clean -xdf",
        "true && (git clean -fdx)",
        "cd build && git -C .. clean -fdx",
        "git clean -fdx -e build",
        "git clean -fdx -e phd -e '!phd'",
        "git clean -fdx ':/'",
        "git clean -fdx 'p*'",
        "git clean -fdx build .",
    ],
)
def test_a_git_clean_that_would_delete_the_data_directory_is_refused(repository: Path, command: str) -> None:
    assert refusal(repository, command) is Code.CLEANS_DATA


@pytest.mark.parametrize(
    "command",
    [
        "git clean -fd",
        "git clean -ndx",
        "git clean -fdx --dry-run",
        "git clean -fdx build",
        "git clean -fdx -e phd",
        "git clean -fdx -e phd/",
        "git clean -fdxe phd",
        "git clean -fdx -ephd",
        "git clean -fdx --exclude=phd",
        "git clean -fdx --exclude phd",
        "sh -c 'git clean -fdx -e phd'",
        "git log -x",
    ],
)
def test_a_git_clean_that_leaves_the_data_directory_alone_passes(repository: Path, command: str) -> None:
    assert refusal(repository, command) is None


@pytest.mark.parametrize(
    "command",
    [
        "git clean -fdx -e phd && cat phd",
        "git clean -fdx -e phd > phd",
        "git clean -fdx -e phd; $X phd",
        "git clean -fdx -e phd phd",
        "git clean -fdx -e phd && rm -r phd",
    ],
)
def test_an_exclusion_excuses_no_other_use_of_the_data_directory(repository: Path, command: str) -> None:
    assert refusal(repository, command) is Code.PROTECTED_PATH


def test_only_a_data_directory_beneath_the_cleaned_folder_counts(repository: Path) -> None:
    assert refusal(repository, "git clean -fdx", cwd="build") is None
    assert refusal(repository, "git clean -fdx", "build/phd", cwd="build") is Code.CLEANS_DATA
    assert refusal(repository, "git clean -fdx", "build/phd") is Code.CLEANS_DATA
    assert refusal(repository, "git clean -fdx", "../elsewhere") is None


COMMAND = "git clean -fdx -e data -e own"


async def test_the_refusal_names_a_command_that_works(repository: Path) -> None:
    """`furnished` keeps its data in the folder `data`, its configuration in `own`."""
    (repository / "left.txt").write_text("untracked")
    world = world_with_tools(repository, runs("git clean -fdx"), runs(COMMAND), DONE, workspace=repository)
    async with world.runtime:
        context_id = await world.start("agent")
        await world.turn(context_id, "go")
        refused, done = (await world.runtime.calls.read(context_id)).items
    assert (refused.status, done.status, done.exit_status) == ("denied", "executed", 0)
    assert refused.reason is not None
    assert COMMAND in translate(refused.reason)
    assert not (repository / "left.txt").exists()
    assert (repository / "data" / "contexts").is_dir()


def test_a_data_directory_in_a_repository_is_warned_about(repository: Path, tmp_path: Path) -> None:
    (warning,) = placement_warnings(repository / "phd", [repository])
    assert warning.code is Code.DATA_IN_REPOSITORY
    assert str(repository) in translate(warning)
    assert placement_warnings(tmp_path / "phd", [repository]) == []
    assert placement_warnings(tmp_path / "plain" / "phd", [tmp_path / "plain"]) == []
