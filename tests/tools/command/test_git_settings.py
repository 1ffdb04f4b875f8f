"""Settings of git: one table of harmless settings, for cards, for `git config` and for undo."""

import os
from pathlib import Path

import pytest

from pilothouse.domain.git_configuration import Kind, kind_of, parse
from pilothouse.sandbox.shell.config_commands import written_setting
from pilothouse.tools.undo.git_state import changed_programs, read_git_state
from tests.tools.command.test_plain_commands import content_hash, git, may_change

NOT_PLAIN = (
    *("[include]\n\tpath = x\n", '[includeIf "gitdir:~/"]\n\tpath = x\n', "[core]\n\tfsmonitor = fsmon.sh\n"),
    *("[core]\n\tfsmonitor = tools/x\n", "[core]\n\tfsmonitor = true.sh\n", "[core]\n\tfsmonitor = 1x\n"),
    *("[core]\n\thooksPath = true\n", "[core] hooksPath = x\n", "[init]\n\ttemplateDir = x\n"),
    *(
        "[core]\n\tpager = ./x\n",
        "[core]\n\tpager = less -kx\n",
        "[core]\n\teditor = sh\n",
        "[core]\n\teditor = vim -Sx\n",
    ),
    *("[credential]\n\thelper = ./x\n", "[credential]\n\thelper = !x\n", '[filter "lfs"]\n\tclean = x\n'),
    *('[url "ext::./x "]\n\tinsteadOf = https:\n', '[url "../x/"]\n\tinsteadOf = https://\n', "[unknown]\n\tx = y\n"),
    *("[user]\n\tname = a\\\n[core]\n\tpager = ./x\n", "\ufeff[core]\n\tpager = ./x\n", "[core]\n\tsshCommand = ./x\n"),
    *('[diff "x"]\n\ttextconv = ./x\n', "[gpg]\n\tprogram = ./x\n", "[interactive]\n\tdiffFilter = ./x\n"),
    *('[branch "main"]\n\tremote = sub\n', "[remote]\n\tpushDefault = sub\n", "[core]\n\tattributesFile = x\n"),
)
PLAIN = (
    *("[user]\n\tname = a\n\temail = a@b\n", "[core]\n\tfsmonitor = true\n", "[core]\n\tfsmonitor\n", "# remark\n"),
    *("[commit]\n\tgpgSign = true\n[gpg]\n\tformat = ssh\n", "[core]\n\teditor = vim\n\tpager = less -R\n"),
    *("[credential]\n\thelper = store\n", '[credential "https://x"]\n\thelper =\n\thelper = "x.sh"\n'),
    *('[url "git@example.org:"]\n\tinsteadOf = https://example.org/\n', "[core]\n\texcludesFile = ~/.ignore\n"),
    '[filter "lfs"]\n\tclean = git-lfs clean -- %f\n\tprocess = git-lfs filter-process\n\trequired = true\n',
    *('[branch "main"]\n\tremote = origin\n\tmerge = refs/heads/main\n', "[pull]\r\n\trebase = true\r\n"),
)


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "home").mkdir()
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setattr("pilothouse.tools.command.git_settings._PERSONAL", ("~/.gitconfig", "~/.config/git/config"))
    root = tmp_path / "project"
    root.mkdir()
    git(root, "init", "-q", "-b", "main")
    git(root, "remote", "add", "origin", "https://example.org/x.git")
    return root


@pytest.mark.parametrize("text", NOT_PLAIN)
def test_settings_that_may_start_a_program_are_reported_in_every_file(repository: Path, text: str) -> None:
    personal, own = Path(os.environ["HOME"]) / ".gitconfig", repository / ".git/config"
    assert not may_change(repository, "git status")
    personal.write_text(text)
    assert may_change(repository, "git status")
    personal.unlink()
    own.write_text(own.read_text() + text)
    assert may_change(repository, "git status")


@pytest.mark.parametrize("text", PLAIN)
def test_settings_that_start_nothing_or_a_known_program_are_silent(repository: Path, text: str) -> None:
    personal, own = Path(os.environ["HOME"]) / ".gitconfig", repository / ".git/config"
    personal.write_text(text)
    assert not may_change(repository, "git commit -m x")
    own.write_text(own.read_text() + text)
    assert not may_change(repository, "git commit -m x")


def test_only_aliases_of_a_repository_are_reported(repository: Path) -> None:
    (Path(os.environ["HOME"]) / ".gitconfig").write_text("[alias]\n\tst = !./x\n[safe]\n\tdirectory = *\n")
    assert not may_change(repository, "git status")
    assert may_change(repository, "git st")
    git(repository, "config", "alias.st", "!./x")
    assert may_change(repository, "git status")


def test_unreadable_git_settings_are_reported(repository: Path) -> None:
    (Path(os.environ["HOME"]) / ".gitconfig").mkdir()
    assert may_change(repository, "git status")


def test_programs_of_git_must_not_lie_in_the_workspace(repository: Path) -> None:
    (repository / "bin").mkdir()
    assert may_change(repository, "git status", f"{repository}/bin:{os.defpath}")


def test_a_bare_repository_that_git_would_use_is_reported(repository: Path) -> None:
    (repository / "sub").mkdir()
    assert not may_change(repository, "git -C sub status")
    shown = content_hash(repository, "git -C sub status")
    git(repository / "sub", "init", "-q", "--bare")
    assert may_change(repository, "git -C sub status")
    assert content_hash(repository, "git -C sub status").partition(":")[0] != shown.partition(":")[0]


def test_a_repository_around_the_workspace_is_reported_if_the_line_names_another_one(repository: Path) -> None:
    (repository / "workspace").mkdir()
    git(repository / "workspace", "init", "-q", "inner")
    assert may_change(repository / "workspace", "git add inner")


@pytest.mark.parametrize(
    ("key", "value", "is_harmless"),
    [
        *(("user.name", "a", True), ("core.bare", "false", True), ("remote.origin.fetch", "+refs/*:refs/*", True)),
        *(("commit.gpgsign", "true", False), ("commit.gpgsign", "false", True), ("tag.gpgSign", "true", False)),
        *(("core.fsmonitor", "x", False), ("core.fsmonitor", "false", True), ("core.protectNTFS", "false", False)),
        *(("include.path", "x", False), ("status.submoduleSummary", "true", False), ("Pull.Rebase", "true", True)),
    ],
)
def test_git_config_and_undo_agree_on_what_starts_nothing(
    repository: Path, key: str, value: str, is_harmless: bool
) -> None:
    assert (written_setting(("git", "config", key, value)) is None) is is_harmless
    assert (written_setting(("git", "clone", "-c", f"{key}={value}", "u")) is None) is is_harmless
    before = read_git_state(repository, [""], {})
    git(repository, "config", key, value)
    assert (list(changed_programs(before, read_git_state(repository, [""], {}))) == []) is is_harmless


def test_an_address_is_harmless_for_git_config_unless_it_is_a_folder() -> None:
    for key, value in (("remote.o.url", "https://example.org/x"), ("branch.main.remote", "origin")):
        assert written_setting(("git", "config", key, value)) is None
    for key, value in (("remote.o.url", "ext::./x"), ("remote.o.url", "../x"), ("branch.main.remote", "../x")):
        assert written_setting(("git", "config", key, value)) == ".git/config"


def test_names_and_values_of_settings_are_read_as_git_reads_them() -> None:
    text = b'[Remote "A.b"]\n\tURL = https://x\n[core]\n\tbare\n[x] y = z\n\tlost = 1\n# \\\n'
    assert [(each.name, each.value) for each in parse(text)] == [
        *(("remote.A.b.url", "https://x"), ("core.bare", None), ("", None), ("", None), ("", None)),
    ]
    assert next(parse(text)).subsection == "A.b"
    assert kind_of("remote.A.b.url") is Kind.ADDRESS
    assert kind_of("user.x.name") is Kind.PROGRAM  # git knows no such setting
    assert kind_of("user") is Kind.PROGRAM
