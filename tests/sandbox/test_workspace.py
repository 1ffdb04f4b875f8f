"""Paths: nothing outside the workspace is read or written, by any spelling, link or race; protected files never."""

import itertools
import os
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from pilothouse.domain.codes import Code
from pilothouse.domain.errors import ToolError
from pilothouse.sandbox import openat, protected_files
from pilothouse.sandbox.workspace import ABSENT, Workspace
from tests.support.assertions import present
from tests.support.scale import LONG, Record

SECRET = "the secret"


@pytest.fixture(params=["openat2", "stepwise"])
def workspace(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Workspace:
    """On the kernel's own resolution, and on ours."""
    if request.param == "stepwise":
        monkeypatch.setattr(openat, "_has_openat2", lambda: False)
    root = tmp_path / "proj"
    root.mkdir()
    (tmp_path / "proj-secret").mkdir()
    (tmp_path / "proj-secret" / "x").write_text(SECRET)
    (tmp_path / "secret.txt").write_text(SECRET)
    (root / "inside.txt").write_text("inside")
    (root / "sub").mkdir()
    return Workspace(root, private=[tmp_path / "data"])


def refused(action: Callable[[], object], *codes: Code) -> None:
    with pytest.raises(ToolError) as caught:
        action()
    assert caught.value.reason.code in (codes or (Code.OUTSIDE_WORKSPACE,))


OUTSIDE = [
    "../secret.txt",
    "sub/../../secret.txt",
    "/etc/passwd",
    "../proj-secret/x",
    "link/passwd",
    "linkfile",
    "sub/up/secret.txt",
    "chain/passwd",
    "nul\0byte",
    "link/new/leaf",
]


@pytest.mark.parametrize("path", OUTSIDE)
def test_no_path_reads_or_writes_outside_the_workspace(workspace: Workspace, tmp_path: Path, path: str) -> None:
    root = workspace.root
    (root / "link").symlink_to("/etc")
    (root / "linkfile").symlink_to("../secret.txt")
    (root / "sub" / "up").symlink_to("../..")
    (root / "chain").symlink_to("link")
    before = sorted(str(file) for file in tmp_path.rglob("*"))
    refused(lambda: workspace.read(path), Code.OUTSIDE_WORKSPACE)
    refused(lambda: workspace.write(path, b"owned", expected=None), Code.OUTSIDE_WORKSPACE)
    assert workspace.violation(path) is not None
    assert sorted(str(file) for file in tmp_path.rglob("*")) == before
    assert (tmp_path / "secret.txt").read_text() == SECRET


@pytest.mark.parametrize("path", ["inside.txt", "./inside.txt", "sub/../inside.txt", "good", "ABSOLUTE"])
def test_any_spelling_of_a_path_inside_the_workspace_works(workspace: Workspace, path: str) -> None:
    (workspace.root / "good").symlink_to("sub/../inside.txt")
    path = str(workspace.root / "inside.txt") if path == "ABSOLUTE" else path
    assert workspace.violation(path) is None
    assert workspace.read(path) == b"inside"
    workspace.write(path, b"changed", expected=None)
    assert (workspace.root / "inside.txt").read_text() == "changed"
    assert (workspace.root / "good").is_symlink()


PROTECTED = [
    ".git/config",
    ".git/hooks/post-checkout",
    "sub/deep/.git/hooks/x",
    ".GIT/Config",
    ".bashrc",
    "sub/.zshrc",
    ".pilothouse/config.toml",
    "PILOTHOUSE.toml",
    "hidden/config",
    ".git",
    ".git/commondir",
    "sub/.git",
    "sub/.git/objects/x",
    ".gitconfig",
    ".ssh/authorized_keys",
    ".config/fish/conf.d/x.fish",
    ".config/git/config",
    ".envrc",
]


@pytest.mark.parametrize("path", PROTECTED)
def test_protected_files_are_never_touched_even_before_they_exist(workspace: Workspace, path: str) -> None:
    (workspace.root / ".git" / "hooks").mkdir(parents=True)
    (workspace.root / ".git" / "config").write_text("[core]")
    (workspace.root / "hidden").symlink_to(".git")
    assert present(workspace.violation(path, writing=True)).code is Code.PROTECTED_PATH
    refused(lambda: workspace.write(path, b"evil", expected=None), Code.PROTECTED_PATH)
    assert (workspace.root / ".git" / "config").read_text() == "[core]"


def test_the_runtimes_own_data_is_never_touched(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "metadata.json").write_text('{"mode": "plan"}')
    workspace = Workspace(tmp_path, private=[tmp_path / "data"])
    refused(lambda: workspace.read("data/metadata.json"), Code.PROTECTED_PATH)
    refused(lambda: workspace.write("data/metadata.json", b"{}", expected=None), Code.PROTECTED_PATH)


def test_only_regular_files_are_read_and_nothing_hangs(workspace: Workspace) -> None:
    os.mkfifo(workspace.root / "fifo")
    refused(lambda: workspace.read("fifo"), Code.NOT_A_FILE)
    refused(lambda: workspace.write("fifo", b"x", expected=None), Code.NOT_A_FILE)
    refused(lambda: workspace.read("sub"), Code.NOT_A_FILE)
    refused(lambda: workspace.write("sub", b"x", expected=None), Code.NOT_A_FILE)
    refused(lambda: workspace.read("nothing"), Code.FILE_MISSING)
    refused(lambda: workspace.read("inside.txt/below"), Code.NOT_A_DIRECTORY)


def test_a_huge_file_is_refused_with_the_limit(workspace: Workspace) -> None:
    with (workspace.root / "huge").open("wb") as file:
        file.truncate(20 * 1024**3)
    refused(lambda: workspace.read("huge"), Code.FILE_TOO_LARGE)


def test_a_write_is_whole_keeps_mode_bits_and_makes_folders(workspace: Workspace) -> None:
    script = workspace.root / "run.sh"
    script.write_text("old")
    script.chmod(0o755)
    inode = script.stat().st_ino
    workspace.write("run.sh", b"new", expected=workspace.content_hash("run.sh"))
    assert (script.read_text(), script.stat().st_mode & 0o777) == ("new", 0o755)
    assert script.stat().st_ino != inode
    workspace.write("a/b/c.txt", b"deep", expected=ABSENT)
    assert (workspace.root / "a" / "b" / "c.txt").read_text() == "deep"
    assert [path.name for path in workspace.root.rglob("*.new")] == []


def test_a_file_that_changed_since_it_was_shown_is_not_overwritten(workspace: Workspace) -> None:
    shown = workspace.content_hash("inside.txt")
    (workspace.root / "inside.txt").write_text("the person's own edit")
    refused(lambda: workspace.write("inside.txt", b"x", expected=shown), Code.FILE_CHANGED)
    absent = workspace.content_hash("new.txt")
    (workspace.root / "new.txt").write_text("now there")
    refused(lambda: workspace.write("new.txt", b"x", expected=absent), Code.FILE_CHANGED)


def test_a_folder_swapped_for_a_link_in_a_race_never_lets_anything_out(
    workspace: Workspace, tmp_path: Path, record_property: Record
) -> None:
    rounds = 10_000 if LONG else 1_000
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "f").write_text(SECRET)
    spot, spare = workspace.root / "spot", workspace.root / "kept"
    spare.mkdir()
    (spare / "f").write_text("inside")
    spot.symlink_to("kept")
    stop = threading.Event()

    def swap() -> None:
        draft = workspace.root / "draft"
        while not stop.is_set():
            for target in (outside, "kept", "../outside", "kept"):
                draft.symlink_to(target)
                os.replace(draft, spot)

    racer = threading.Thread(target=swap)
    racer.start()
    read = 0
    try:
        for _ in range(rounds):
            try:
                assert workspace.read("spot/f") in (b"inside", b"mine")
                read += 1
            except ToolError:
                pass
            try:
                workspace.write("spot/f", b"mine", expected=None)
            except ToolError:
                pass
    finally:
        stop.set()
        racer.join()
    assert (outside / "f").read_text() == SECRET
    assert [path.name for path in outside.iterdir()] == ["f"]
    record_property("figure", f"{rounds} rounds, {read} reads inside, 0 outside")


def test_files_of_git_are_readable_except_those_that_may_hold_keys(workspace: Workspace) -> None:
    (workspace.root / ".git").mkdir()
    (workspace.root / ".git" / "HEAD").write_text("ref: refs/heads/main")
    (workspace.root / ".git" / "config").write_text("token")
    assert workspace.read(".git/HEAD") == b"ref: refs/heads/main"
    refused(lambda: workspace.read(".git/config"), Code.PROTECTED_PATH)


def test_a_root_that_was_swapped_for_a_link_is_no_longer_the_workspace(workspace: Workspace, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "inside.txt").write_text(SECRET)
    workspace.root.rename(tmp_path / "old")
    workspace.root.symlink_to(outside)
    refused(lambda: workspace.read("inside.txt"), Code.INVALID_WORKSPACE)
    refused(lambda: workspace.write("inside.txt", b"x", expected=None), Code.INVALID_WORKSPACE)
    assert (outside / "inside.txt").read_text() == SECRET


def test_a_new_file_follows_the_umask_and_its_name_may_be_long(workspace: Workspace) -> None:
    before = os.umask(0o077)
    try:
        workspace.write("你" * 80, b"x", expected=ABSENT)
    finally:
        os.umask(before)
    assert (workspace.root / ("你" * 80)).stat().st_mode & 0o777 == 0o600


def test_the_folders_own_configuration_is_protected_wherever_a_link_leads(tmp_path: Path) -> None:
    root = tmp_path / "work"
    (root / "conf").mkdir(parents=True)
    (root / "conf/config.toml").touch()
    (root / ".pilothouse").symlink_to("conf")
    workspace = Workspace(root)
    assert present(workspace.violation("conf/config.toml", writing=True)).code is Code.PROTECTED_PATH
    (root / ".pilothouse").unlink()
    (root / ".pilothouse").mkdir()
    (root / ".pilothouse/config.toml").symlink_to("../plain.toml")
    assert present(Workspace(root).violation("plain.toml", writing=True)).code is Code.PROTECTED_PATH
    (root / ".pilothouse/config.toml").unlink()
    (root / ".pilothouse").rmdir()
    (root / ".pilothouse").symlink_to(".")
    assert Workspace(root).violation("conf/config.toml", writing=True) is None, (
        "a link to everything protects nothing more"
    )


SPECIAL = [
    ".git",
    "hooks",
    "config",
    ".config",
    "git",
    "fish",
    ".ssh",
    ".pilothouse",
    "pilothouse.toml",
    ".bashrc",
    "a",
]


def test_the_quick_look_at_a_path_misses_nothing_that_is_protected(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every path of three such names, with the quick look and without."""
    paths = list(itertools.product(SPECIAL, repeat=3))
    quick = [protected_files.is_protected(path, writing) for path in paths for writing in (False, True)]
    monkeypatch.setattr(protected_files, "_INDICATORS", frozenset().union(*paths))
    assert quick == [protected_files.is_protected(path, writing) for path in paths for writing in (False, True)]
    assert True in quick
    assert False in quick
