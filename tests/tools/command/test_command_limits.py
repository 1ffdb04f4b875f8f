"""Paths that a command line may not name or write, in every interpretation of `..` after a link."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from pilothouse.domain.codes import Code, Reason
from pilothouse.sandbox.command_environment import CommandEnvironment
from pilothouse.sandbox.shell import classify
from pilothouse.sandbox.workspace import Workspace
from pilothouse.tools.base import CallPreview
from pilothouse.tools.builtin.execute import Execute, ExecuteArguments
from pilothouse.tools.command import globs
from pilothouse.tools.command.command_limits import MAX_FOLDERS, CommandLimits


@pytest.fixture
def folders(tmp_path: Path) -> Path:
    """A project with links into the runtime's data folder and into its own `.git`."""
    for name in ("data/contexts", "project/.git/info", "project/sub", "project/plain"):
        (tmp_path / name).mkdir(parents=True)
    (tmp_path / "data/credentials.json").write_text("key\n")
    links = {"link": "../data/contexts", "info": ".git/info", "sub/up": "../.git/info"}
    for name, target in links.items():
        os.symlink(target, tmp_path / "project" / name)
    return tmp_path


async def prepared(folders: Path, command: str) -> CallPreview:
    environment = CommandEnvironment.of({"PATH": os.environ["PATH"], "HOME": str(folders)})
    workspace = Workspace(folders / "project", [folders / "data"], environment=environment)
    return await Execute().prepare(ExecuteArguments(command=command), workspace)


OWN_FILES = (
    "cat ../data/credentials.json",
    "cat link/../credentials.json",
    "cp link/../credentials.json copy",
    "cat sub/../link/../credentials.json",
    "cat plain/../../data/credentials.json",
    "cat < link/../credentials.json",
    "cd link && cat ../credentials.json",
    "cd -- link && cat ../credentials.json",
    "cd -P link/.. && cat credentials.json",
    "cd sub && cd ../link && cat ../credentials.json",
    "cd info/../link && cat ../credentials.json",
    "cd sub/up/../../link && cat ../credentials.json",
    "tar cf x.tar -C link ..",
    "bash -c 'cat link/../credentials.json'",
    "ls link/..",
    "cat " + " ".join(f"f{number}" for number in range(30)) + " link/../credentials.json",
    "cat $x " + " ".join(f"f{number}" for number in range(30)) + " ../data/credentials.json",
)


@pytest.mark.parametrize("command", OWN_FILES)
async def test_a_command_that_names_the_runtimes_files_behind_a_link_is_refused(folders: Path, command: str) -> None:
    shown = await prepared(folders, command)
    assert shown.violation is not None
    assert shown.violation.code is Code.PROTECTED_PATH


WRITTEN = (
    "echo x >> .git/config",
    "echo x >> info/../config",
    "cp plain info/../config",
    "cd info && echo x >> ../config",
    "cd -- .git && echo x >> config",
    "cd sub && cd up && echo x >> ../config",
    "cd sub && echo x >> up/../config",
    "cd plain && cd ../.git && echo x >> config",
    "cd -P info/.. && echo x >> config",
    "cd sub && cd .. && cd plain && cd .. && cd info && echo x >> ../config",
    "tee sub/up/../hooks/pre-commit",
)


def is_stopped(shown: CallPreview) -> bool:
    reasons: tuple[Reason | None, ...] = (shown.violation, shown.ask)
    return any(reason is not None and reason.code in (Code.PROTECTED_PATH, Code.RUNS_CODE) for reason in reasons)


@pytest.mark.parametrize("command", WRITTEN)
async def test_a_command_that_writes_the_configuration_of_git_behind_a_link_is_stopped(
    folders: Path, command: str
) -> None:
    assert is_stopped(await prepared(folders, command))


async def test_other_uses_of_links_and_parent_folders_are_allowed(folders: Path) -> None:
    for command in (
        *("echo x >> sub/../notes", "cd sub && echo x >> ../notes", "cd sub && cat up/exclude", "cat info/../config"),
        *("cd plain; make; cd ../sub; make; cd .. && touch x", "cd && ls", "cd $x && touch y", "cd -"),
        "; ".join(f"(cd part{number} && make)" for number in range(30)),
        "cd sub && ls && cd ../plain && ls && cd ../.. && ls && cd - && cd .. && cd ../../.. && ls",
    ):
        shown = await prepared(folders, command)
        assert shown.violation is None, command
        assert not is_stopped(shown), command


async def test_the_runtimes_files_in_the_home_folder_are_refused_after_going_home(
    folders: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(folders))
    for command in ("cd && cat data/credentials.json", "cd ~ && cat data/credentials.json", "cd --; cat data/x"):
        assert (await prepared(folders, command)).violation is not None, command


def test_a_line_that_goes_to_very_many_folders_is_not_run(tmp_path: Path) -> None:
    steps = [f"d{number}" for number in range(MAX_FOLDERS + 1)]
    line = "; ".join(f"cd {step}" for step in steps)
    reason = CommandLimits(line, classify(line), ".", Workspace(tmp_path)).violation()
    assert reason is not None
    assert reason.code is Code.INVALID_ARGUMENTS


def approval_code(folder: Path, line: str) -> Code | None:
    """Why only a person can let a line run."""
    reason = CommandLimits(line, classify(line), ".", Workspace(folder)).approval_reason()
    return reason.code if reason is not None else None


NUMBERED = [f"x{number}" for number in range(70)]
BEHIND_BOUNDS = {
    "a brace of many parts": f"tee .npm{{{','.join(NUMBERED)},r}}c",
    "many braces": "tee .npm" + "{,}" * 20 + "rc",
    "a brace with a long part": "tee .n{" + "a" * 5000 + ",pmr}c",
    "many values of a variable": "; ".join(f"f={name}" for name in (*NUMBERED, ".npmr")) + "; cp x ${f}c",
    "a loop over many words": f"for f in {' '.join(NUMBERED)} .npmr; do cp x ${{f}}c; done",
    "a loop over braces": "for f in .np{x,m}; do cp x ${f}rc; done",
    "a variable that is set from itself": "f=.np; f=${f}m; f=${f}r; cp x ${f}c",
    "variables that are set from each other": "a=.npm; b=$a; a=${b}r; cp x ${a}c",
    "a chain of variables": "v0=.npmr; " + "".join(f"v{n + 1}=$v{n}; " for n in range(30)) + "cp x ${v30}c",
    "many letters of options": "sort -" + "u" * 30 + "o.npmrc x",
    "very many letters of options": "sort -" + "u" * 300 + "olefthook.yml x",
    "many commands": "true; " * 600 + "git config core.hooksPath x",
    "many commands before a folder": "true; " * 600 + "cd .github; cp a workflows/x.yml",
    "many commands before a shell": "true; " * 600 + "sh -c 'tee .npm{r,}c'",
    "many words before a command": "sudo -a b -c d -e f -g h -i j -k l git config core.hooksPath x",
    "wrappers in wrappers": "env " * 9 + "git config core.hooksPath x",
    "a long comment": "git config core.hooksPath x #" + "a" * 20_000,
    "many pipes": "git config core.hooksPath x " + "|a" * 2001,
    "deep parentheses": "(" * 61 + "git config core.hooksPath x" + ")" * 61,
    "an assignment that is not read": "a+=x; git config core.hooksPath x",
    "a broken word": "gi\\\nt config core.hooksPath x",
    "a pattern that the grammar does not know": "shopt -s extglob\ntee .npm@(rc|x)",
    "a set of what is not meant": "tee .npm[^x]c",
    "a class of characters": "tee .npm[[:alpha:]]c",
    "a set with a quoted bracket": "tee .npm[x']'r]c",
    "a default in quotes": "cp x \"${f:-.n'p'mrc}\"",
    "a command in quotes": 'echo "$(tee .npm{r,}c)"',
    "a link among many words": "touch " + " ".join(f"{n}x{{1..60}}" for n in range(200)) + " linked/settings.json",
    "a text in many folders": "".join(f"cd d{n}; " for n in range(50))
    + f"cd .github; python3 -c \"open('workflows/x.yml', 'w'); {' '.join(f'a.{n}' for n in range(250))}\"",
}


@pytest.mark.parametrize("line", BEHIND_BOUNDS.values(), ids=BEHIND_BOUNDS)
def test_a_line_that_goes_beyond_a_bound_asks(tmp_path: Path, line: str) -> None:
    (tmp_path / ".vscode").mkdir()
    (tmp_path / "linked").symlink_to(".vscode")
    assert approval_code(tmp_path, line) in (Code.RUNS_CODE, Code.COMMAND_NOT_CHECKED)


@pytest.mark.parametrize(
    "line",
    [
        "touch f{1..2000}",
        "touch f{1..40}/{a..z}.txt",
        f"for f in {' '.join(NUMBERED)}; do mv $f.txt $f.md; done",
        'opts=; for f in a b; do opts="$opts -I $f"; done; gcc $opts',
        "PATH=$PATH:~/bin; make",
        "rm a[0-9].txt b[^x].txt",
        "cat > a.txt <<'EOF'\n" + "| a | b |\n" * 300 + "EOF",
        "true; " * 400 + "make",
        "tar -cvzpf a.tgz src",
    ],
)
def test_a_long_line_of_ordinary_work_does_not_ask(tmp_path: Path, line: str) -> None:
    assert approval_code(tmp_path, line) is None


@pytest.mark.parametrize(
    "line",
    [
        "touch " + " ".join(f"{number}{{a..z}}{{a..z}}" for number in range(1000)),
        "touch f{1..999999999}",
        "touch f{1.." + "9" * 5000 + "}",
        "touch " + "{a,b}" * 4000,
        "for a in {1..30}; do for b in {1..30}; do for c in {1..30}; do touch $a$b$c; done; done; done",
        "touch " + "{" * 9000 + "}" * 9000,
        "touch " + "${a:-" * 3000,
    ],
    ids=["words", "a range", "a range to a long number", "braces", "variables", "nested braces", "nested defaults"],
)
def test_a_line_with_more_readings_than_are_followed_asks(tmp_path: Path, line: str) -> None:
    assert approval_code(tmp_path, line) is Code.COMMAND_NOT_CHECKED


@pytest.fixture
def entries_read(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of all entries that were read from folders."""
    names: list[str] = []
    scan = os.scandir

    def noted(entry: os.DirEntry[str]) -> os.DirEntry[str]:
        names.append(entry.name)
        return entry

    @contextmanager
    def counting(folder: str) -> Iterator[Iterator[os.DirEntry[str]]]:
        with scan(folder) as entries:
            yield map(noted, entries)

    monkeypatch.setattr(globs, "MAX_ENTRIES", 500)
    monkeypatch.setattr(os, "scandir", counting)
    return names


def many_files(folder: Path) -> Path:
    for name in ("a", "b", "c"):
        (folder / name).mkdir()
        for number in range(60):
            (folder / name / f"{number}.txt").touch()
    return folder


@pytest.mark.parametrize(
    "line",
    [
        "rm " + " ".join(f"a/*{number}.txt" for number in range(200)),
        "; ".join(f"(cd {name} && rm *1.txt *2.txt *3.txt *4.txt)" for name in "abc"),
        "rm */* */*1 */*2 */*3",
        "sh -c 'rm */*'; sh -c 'rm */*1'; sh -c 'rm */*2'; sh -c 'rm */*3'",
        "rm " + " ".join(f"nothing/{number}*" for number in range(600)),
    ],
)
def test_all_patterns_of_a_line_share_one_limit_of_directory_entries(
    tmp_path: Path, line: str, entries_read: list[str]
) -> None:
    limits = CommandLimits(line, classify(line), ".", Workspace(many_files(tmp_path)))
    assert limits.violation() is None
    reason = limits.approval_reason()
    assert len(entries_read) <= 501
    assert reason is not None
    assert reason.code is Code.COMMAND_NOT_CHECKED


def test_patterns_of_commands_that_only_read_have_no_bound(tmp_path: Path, entries_read: list[str]) -> None:
    line = "cat " + " ".join(f"a/*{number}.txt" for number in range(200))
    assert CommandLimits(line, classify(line), ".", Workspace(many_files(tmp_path))).violation() is None
    assert entries_read == []


def test_a_link_among_very_many_matches_is_followed(tmp_path: Path) -> None:
    for number in range(1500):
        (tmp_path / f"{number}.txt").touch()
    (tmp_path / "z.txt").symlink_to(".npmrc")
    limits = CommandLimits("rm *.txt", classify("rm *.txt"), ".", Workspace(tmp_path))
    assert limits.violation() is None
    assert limits.approval_reason() == Reason(Code.RUNS_CODE, {"path": "z.txt"})


def test_a_pattern_of_very_many_parts_is_looked_up(tmp_path: Path) -> None:
    (tmp_path / ".npmrc").touch()
    line = "rm " + "./" * 1900 + ".npmr*"
    limits = CommandLimits(line, classify(line), ".", Workspace(tmp_path))
    assert limits.violation() is None
    assert limits.approval_reason() is not None
    plain = "rm " + "./" * 1900 + "*"
    assert CommandLimits(plain, classify(plain), ".", Workspace(tmp_path)).approval_reason() is None


@pytest.mark.parametrize(
    "line",
    [
        "echo .npmrc | " + "(" * 1500 + "xargs touch" + ")" * 1500,
        "echo .npmrc | " + "{ " * 1500 + "xargs touch; " + "}; " * 1500,
        "cat <<END | xargs touch && " + " && ".join(["ls"] * 1500) + "\n.npmrc\nEND\n",
        "touch .npmrc <<< " + "${a:-" * 1500 + "x" + "}" * 1500,
    ],
    ids=["subshells", "groups", "lists", "expansions"],
)
def test_deeply_nested_commands_are_read_to_their_end(tmp_path: Path, line: str) -> None:
    limits = CommandLimits(line, classify(line), ".", Workspace(tmp_path))
    assert limits.violation() is None
    assert limits.approval_reason() is not None


@pytest.mark.parametrize(
    "line",
    [
        "rm .git/index.lock",
        "rm -f .git/index.lock && git status",
        "unlink .git/refs/heads/a.lock",
        "source ~/.bashrc && make",
        ". ~/.profile; npm test",
    ],
)
async def test_a_lock_may_be_removed_and_a_start_up_file_be_sourced(folders: Path, line: str) -> None:
    shown = await prepared(folders, line)
    assert (shown.violation, shown.ask) == (None, None)


@pytest.mark.parametrize(
    "line", ["tar czf x.tgz .git", "zip -r x.zip .git", "cp -r .git copy", "cp .git/config x", "rsync -a .git/ /tmp/x"]
)
async def test_to_copy_a_repository_asks(folders: Path, line: str) -> None:
    shown = await prepared(folders, line)
    assert shown.violation is None
    assert shown.ask is not None


@pytest.mark.parametrize(
    "line",
    [
        "rm .git/config",
        "rm .git/index.lock .git/config",
        "rm .git/x.lock/../config",
        "rm .git/a.lock; cp evil .git/a.lock",
        "source .bashrc; echo x > .bashrc",
        "x=.bashrc; echo y > $x; source .bashrc",
        "x=.git/config; cp .git/config a; echo y > $x",
        "cp evil .git/config",
        "cp evil .git",
        "cp -t .git evil",
        "cp .git/config .git/config",
        "cp .git/config x; cp x .git/config",
        "cp .git/config x > .git/config",
        "tar xzf x.tgz .git",
        "tar czf .git/hooks/pre-commit a",
        "tar -c --remove-files -f x.tgz .git",
        "zip -rm x.zip .git",
        "rsync -a --remove-source-files .git x",
        "rsync -a --delete empty/ .git",
        "cp ../data/credentials.json copy",
        "source ../data/credentials.json",
    ],
)
async def test_a_command_that_may_change_what_is_protected_is_stopped(folders: Path, line: str) -> None:
    assert is_stopped(await prepared(folders, line))


@pytest.fixture
def paths_looked_up(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The paths that a workspace was asked about."""
    paths: list[str] = []
    ask, limit = Workspace.approval_reason, Workspace.violation

    def counted_ask(self: Workspace, path: str) -> Reason | None:
        paths.append(path)
        return ask(self, path)

    def counted_limit(self: Workspace, path: str, *, writing: bool = False) -> Reason | None:
        paths.append(path)
        return limit(self, path, writing=writing)

    monkeypatch.setattr(Workspace, "approval_reason", counted_ask)
    monkeypatch.setattr(Workspace, "violation", counted_limit)
    return paths


OVER_BUDGET = {
    "readings": "; ".join(f"sh -c 'rm {{1..{9000 + number}}}'" for number in range(3)),
    "names": "; ".join(f"sh -c 'rm {letter}.{{1..4000}}'" for letter in "abc"),
    "names in folders": "cd a; cd b; sh -c 'rm a.{1..1500}'; sh -c 'rm b.{1..1500}'; sh -c 'rm c.{1..1500}'",
    "patterns": "; ".join(f"sh -c 'rm {letter}{{1..400}}*'" for letter in "abc"),
    "long patterns": "; ".join(f"sh -c 'rm {letter * 1000}{{1..40}}*'" for letter in "abc"),
    "fragments": "; ".join(f"sh -c 'sed -i \"{f'w/{number}' * 300}\" x'" for number in range(30)),
    "one text with many names": "sed -i '" + "w/" * 9000 + "' x",
}


@pytest.mark.parametrize("line", OVER_BUDGET.values(), ids=OVER_BUDGET)
def test_a_command_over_its_budget_asks_before_a_path_is_looked_up(
    tmp_path: Path, line: str, paths_looked_up: list[str]
) -> None:
    assert approval_code(tmp_path, line) is Code.COMMAND_NOT_CHECKED
    assert paths_looked_up == []


def test_each_part_of_a_command_within_its_budget_is_checked(tmp_path: Path) -> None:
    for line in OVER_BUDGET.values():
        parts = [part for part in line.split("; ") if "sh -c" in part]
        assert not parts or approval_code(tmp_path, parts[0]) is None
