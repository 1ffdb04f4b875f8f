"""A command runs the files that were shown: scripts and the first files of known runners are part of an approval."""

import json
import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from pilothouse.domain.calls import PARTIAL_HASH_SUFFIX
from pilothouse.domain.codes import Code
from pilothouse.domain.errors import ToolError
from pilothouse.domain.runner_files import first_files
from pilothouse.domain.value import CallId
from pilothouse.sandbox.command_environment import CommandEnvironment
from pilothouse.sandbox.shell import classify
from pilothouse.sandbox.workspace import Workspace
from pilothouse.system.file_inspection import MAX_FOLDERS
from pilothouse.tools.artifacts import ArtifactFolder, ArtifactStore
from pilothouse.tools.base import CallPreview, ToolContext
from pilothouse.tools.builtin.execute import Execute, ExecuteArguments
from pilothouse.tools.command.command_files import inspect_files
from pilothouse.tools.undo.command_recorder import CommandRecorder

HARMLESS = "#!/bin/sh\necho harmless\n"
HOSTILE = "#!/bin/sh\ntouch RAN\n"
MEGABYTE = 1024 * 1024


@pytest.fixture
def execute() -> Execute:
    return Execute()


async def prepared(
    execute: Execute, command: str, folder: Path, cwd: str = ".", path: str = os.environ["PATH"]
) -> CallPreview:
    workspace = Workspace(folder, environment=CommandEnvironment.of({**os.environ, "PATH": path}))
    return await execute.prepare(ExecuteArguments(command=command, cwd=cwd), workspace)


async def is_refused(
    execute: Execute, command: str, folder: Path, shown: CallPreview, artifacts: ArtifactStore | None = None
) -> bool:
    """Whether the command, as shown, is refused now."""
    job = ToolContext(
        call_id=CallId("call"),
        workspace=Workspace(folder, environment=CommandEnvironment.of(os.environ)),
        content_hash=shown.content_hash,
        seconds=20,
        artifacts=artifacts,
    )
    try:
        await execute.run(ExecuteArguments(command=command), job)
    except ToolError as error:
        return error.reason.code is Code.COMMAND_FILES_CHANGED
    return False


def put(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(0o755)


SCRIPTS = {
    "cd sub && ./run.sh": "sub/run.sh",
    "cd sub; cd deep; ./run.sh": "sub/deep/run.sh",
    "cd same && cd same && sh run.sh": "same/same/run.sh",
    "cd sub && cd .. && cd other && ./run.sh": "other/run.sh",
    "cd ./sub/ && exec ./run.sh": "sub/run.sh",
    "(cd sub && sh run.sh)": "sub/run.sh",
    "pushd sub >/dev/null && ./run.sh": "sub/run.sh",
    "env -C sub ./run.sh": "sub/run.sh",
    "env --chdir=sub ./run.sh": "sub/run.sh",
    "bash -c 'cd sub && ./run.sh'": "sub/run.sh",
    "find . -name x; cd sub && sh ./run.sh $HOME": "sub/run.sh",
    "echo $HOME && cd sub && sh run.sh": "sub/run.sh",
    "sh -- sub/run.sh": "sub/run.sh",
    "echo " + "word " * 30 + "; ./run.sh": "run.sh",
    "sh -c 'exec ./run.sh'": "run.sh",
    "cp run.sh copy.sh && sh copy.sh": "run.sh",
    "make": "Makefile",
    "make -C sub": "sub/Makefile",
    "make -Csub all": "sub/Makefile",
    "make --directory=sub": "sub/Makefile",
    "cd sub && make test": "sub/GNUmakefile",
    "make -f other.mk": "other.mk",
    "npm start": "package.json",
    "npm run build": "package.json",
    "npm --prefix sub run build": "sub/package.json",
    "pnpm -C sub test": "sub/package.json",
    "yarn build": "package.json",
    "cd web && npm test": "web/package.json",
    "python3 -m tool": "tool/__main__.py",
    "python3 -m tool.part": "tool/part.py",
    "python3 -mtool": "tool.py",
    "python3.11 sub": "sub/__main__.py",
    "cd sub && python -m tool": "sub/tool.py",
    "node .": "index.js",
    "node server": "server/index.js",
    "just build": "justfile",
    "tox -e py": "tox.ini",
    "nox": "noxfile.py",
    "python -m pytest": "conftest.py",
    "cargo run": "build.rs",
    "./gradlew build": "build.gradle",
}


@pytest.mark.parametrize("command", SCRIPTS)
async def test_a_command_does_not_run_when_the_file_it_runs_has_changed(
    tmp_path: Path, execute: Execute, command: str
) -> None:
    for folder in ("sub/deep", "other", "same/same", "web", "server"):
        (tmp_path / folder).mkdir(parents=True)
    put(tmp_path / SCRIPTS[command], HARMLESS)
    shown = await prepared(execute, command, tmp_path)
    assert shown.violation is None
    put(tmp_path / SCRIPTS[command], HOSTILE)
    assert await is_refused(execute, command, tmp_path, shown)
    assert list(tmp_path.rglob("RAN")) == []


@pytest.mark.parametrize("command", SCRIPTS)
async def test_a_command_does_not_run_when_the_file_it_runs_has_appeared(
    tmp_path: Path, execute: Execute, command: str
) -> None:
    for folder in ("sub/deep", "other", "same/same", "web", "server", "tool"):
        (tmp_path / folder).mkdir(parents=True)
    shown = await prepared(execute, command, tmp_path)
    put(tmp_path / SCRIPTS[command], HOSTILE)
    assert await is_refused(execute, command, tmp_path, shown)
    assert list(tmp_path.rglob("RAN")) == []


@pytest.mark.parametrize("size", [2 * MEGABYTE, 80 * MEGABYTE])
async def test_the_end_of_a_large_script_counts(tmp_path: Path, execute: Execute, size: int) -> None:
    script = tmp_path / "big.sh"
    put(script, "#!/bin/sh\nexit\n")
    os.truncate(script, size)
    shown = await prepared(execute, "sh big.sh", tmp_path)
    with script.open("r+b") as file:
        file.seek(size - 10)
        file.write(b"touch RAN\n")
    assert await is_refused(execute, "sh big.sh", tmp_path, shown)


async def test_a_script_outside_the_workspace_counts(tmp_path: Path, execute: Execute) -> None:
    root, script = tmp_path / "project", tmp_path / "tools/run.sh"
    root.mkdir()
    put(script, HARMLESS)
    for command in (str(script), f"sh {script}", "../tools/run.sh", f"cd {tmp_path}/tools && ./run.sh"):
        put(script, HARMLESS)
        shown = await prepared(execute, command, root)
        put(script, HOSTILE)
        assert await is_refused(execute, command, root, shown), command


BEHIND_LINKS = (
    *(
        "cd link && ../run.sh",
        "pushd link && ../run.sh",
        "sh link/../run.sh",
        "./link/../run.sh",
        "cd link/..; sh run.sh",
    ),
    *("cd -P link/.. && ./run.sh", "cd other && sh ../link/../run.sh", "env -C link ../run.sh", "make -C link/.."),
    *("cd other/../link && ../run.sh", "python3 link/../run.sh", "bash -c 'cd link && exec ../run.sh'"),
)


@pytest.mark.parametrize("command", BEHIND_LINKS)
@pytest.mark.parametrize("changed", ["real", "."])
async def test_a_script_counts_whichever_way_a_path_climbs_out_of_a_link(
    tmp_path: Path, execute: Execute, command: str, changed: str
) -> None:
    for folder in ("real/deep", "other"):
        (tmp_path / folder).mkdir(parents=True)
    os.symlink("real/deep", tmp_path / "link")
    for name in ("run.sh", "Makefile", "real/run.sh", "real/Makefile"):
        put(tmp_path / name, HARMLESS)
    shown = await prepared(execute, command, tmp_path)
    for name in ("run.sh", "Makefile"):
        put(tmp_path / changed / name, HOSTILE)
    assert await is_refused(execute, command, tmp_path, shown)
    assert list(tmp_path.rglob("RAN")) == []


async def test_a_folder_that_took_the_place_of_the_entered_one_counts(tmp_path: Path, execute: Execute) -> None:
    for folder in ("sub", "other"):
        (tmp_path / folder).mkdir()
    command = "cd sub && touch here"
    shown = await prepared(execute, command, tmp_path)
    (tmp_path / "sub").rename(tmp_path / "old")
    (tmp_path / "other").rename(tmp_path / "sub")
    assert await is_refused(execute, command, tmp_path, shown)


async def test_a_file_that_a_package_names_counts(tmp_path: Path, execute: Execute) -> None:
    put(tmp_path / "package.json", '{"scripts": {"build": "node tools/build.js --fast"}, "main": "lib/main.js"}')
    for name, command in (("tools/build.js", "npm run build"), ("lib/main.js", "node .")):
        put(tmp_path / name, "harmless")
        shown = await prepared(execute, command, tmp_path)
        put(tmp_path / name, "hostile")
        assert await is_refused(execute, command, tmp_path, shown), command


async def test_a_script_that_changes_while_the_workspace_is_recorded_does_not_run(
    tmp_path: Path, execute: Execute, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = tmp_path / "project"
    put(root / "run.sh", HARMLESS)
    shown = await prepared(execute, "./run.sh", root)
    begin = CommandRecorder.begin

    async def begin_slowly(recorder: CommandRecorder, tell: Callable[[str], None]) -> None:
        await begin(recorder, tell)
        put(root / "run.sh", HOSTILE)

    monkeypatch.setattr(CommandRecorder, "begin", begin_slowly)
    artifacts = ArtifactFolder(tmp_path / "artifacts", tmp_path / "baselines")
    assert await is_refused(execute, "./run.sh", root, shown, artifacts)
    assert list(root.rglob("RAN")) == []


async def test_a_file_that_a_command_only_reads_may_change_meanwhile(tmp_path: Path, execute: Execute) -> None:
    log = tmp_path / "app.log"
    log.write_text("one\n")
    shown = await prepared(execute, "tail -n 5 app.log", tmp_path)
    log.write_text("one\ntwo\n")
    assert not await is_refused(execute, "tail -n 5 app.log", tmp_path, shown)


async def test_files_of_which_none_is_run_do_not_hold_a_command_up(tmp_path: Path, execute: Execute) -> None:
    put(tmp_path / "sub/run.sh", HARMLESS)
    shown = await prepared(execute, "cd sub && ./run.sh", tmp_path)
    put(tmp_path / "sub/other.sh", HARMLESS)
    os.utime(tmp_path / "sub/run.sh", (1, 1))
    assert not await is_refused(execute, "cd sub && ./run.sh", tmp_path, shown)


COVERED = (
    "./run.sh",
    "sh run.sh",
    "cd sub && ./run.sh",
    "make",
    "npm run x",
    "python3 tool.py",
    "touch x",
    "ls",
    "rm -r sub",
    "sh run.sh x",
    "python3 -u tool.py README",
    "sed -i s/a/b/ README",
    "sed -i.bak -e 's/a/b/g' README",
    "cd -- sub && ./run.sh",
)
CONTENTS = {
    "Makefile": "all:\n\techo harmless\n",
    "package.json": '{"scripts": {"x": "echo harmless"}}',
    **dict.fromkeys(("pypy3", "tsx"), "\x7fELF\0"),
    "tool.py": "import json\nprint(json.dumps([]))\n",
}
INLINE = (
    *(
        'python3 -c "import tool" README',
        'python3 -c "import tool" .',
        "node -e 'require(\"./x\")' README",
        "perl -e 1",
    ),
    *('/usr/bin/python3 -c "import tool"', 'python3.11 -c "import tool" README', "./py -c 'import tool' README"),
    *(
        "perl -e 1",
        "perl -I. -MTool README",
        "perl -d README",
        "python3 -i README",
        "ruby -r./x README",
        "node -r ./x README",
    ),
    *("awk 'BEGIN { system(\"./run.sh\") }' README", "awk -f x.awk README", "./gawk 'BEGIN { system(1) }' README"),
    *('sed "1e ./run.sh" README', 'sed -i "1e ./run.sh" README', "sed -f x.sed README", "ssh host README"),
    *("bash -lc ./run.sh", "bash -i run.sh", "bash --rcfile run.sh -i sub/run.sh", "bash -l run.sh", "bash README$x"),
    *("zsh -c ./run.sh", "vim -S run.sh README", "python3 -m absent README", "python3 -m absent ."),
    *("make --eval='x:' x", "make -E x", "npm exec -c ./run.sh", "/usr/bin/git commit -m x", "./tar -cf x README"),
    *("./pypy3 -c 'import tool'", "./tsx -e 1 README"),
    *("cd && ./run.sh", "cd -- && ./run.sh", "cd - && ./run.sh", "cd -P && ./run.sh", "cd sub && cd - && ./run.sh"),
)
OPEN_ENDED = (
    *(
        "git commit -m x",
        "git status > x",
        "unknown-program",
        "./absent.sh",
        "sh *.sh",
        "sh $x",
        "cd $x && ./run.sh",
        "python3 -m absent",
    ),
    *INLINE,
    *("sh -c ./run.sh", "bash -e -c ./run.sh", "python3 -m tool"),
    *("pip install x", "eval $x", 'sh -c "$x"', "cd sub && just", "popd; ./run.sh"),
)


async def test_the_record_says_when_what_a_command_runs_may_change(tmp_path: Path, execute: Execute) -> None:
    without_shims = "/usr/local/bin:/usr/bin:/bin"
    for name in ("run.sh", "sub/run.sh", "Makefile", "package.json", "tool.py", "README", "pypy3", "tsx"):
        put(tmp_path / name, CONTENTS.get(name, "echo harmless\n"))
    for name, program in (("py", "python3"), ("gawk", "awk"), ("tar", "tar")):
        os.symlink(shutil.which(program) or "/bin/sh", tmp_path / name)
    for command in (*COVERED, *OPEN_ENDED):
        shown = await prepared(execute, command, tmp_path, path=without_shims)
        assert shown.content_hash is not None
        assert shown.content_hash.endswith(PARTIAL_HASH_SUFFIX) == (command in OPEN_ENDED), command


async def test_git_runs_what_its_configuration_and_hooks_say(tmp_path: Path, execute: Execute) -> None:
    """Both files are compared when the command starts: if they are known, no other warning is needed."""
    covered = ("git add x", "git commit -m x", "git tag v1", "git switch -c x")
    elsewhere = ("git -c core.pager=x add x", "git --git-dir=x add x", "cd $x && git add x", "git -C . -c x.y=z add x")
    for command in covered:
        assert ((await prepared(execute, command, tmp_path)).content_hash or "").endswith(PARTIAL_HASH_SUFFIX), command
    subprocess.run(["git", "-C", str(tmp_path), "init", "-q"], check=True, capture_output=True)
    for command in (*covered, *elsewhere):
        shown = await prepared(execute, command, tmp_path)
        assert (shown.content_hash or "").endswith(PARTIAL_HASH_SUFFIX) == (command in elsewhere), command
    for name in (".git/config", ".git/hooks/pre-commit", ".husky/pre-commit", ".gitattributes"):
        shown = await prepared(execute, "git commit -m x", tmp_path)
        put(tmp_path / name, HARMLESS)
        assert await is_refused(execute, "git commit -m x", tmp_path, shown), name


async def test_only_a_command_that_replaces_a_file_overwrites(tmp_path: Path, execute: Execute) -> None:
    put(tmp_path / "old", "")
    put(tmp_path / "sub/deep", "")
    fresh = (
        *("ls > new", "ls > sub/new", "cd sub && ls > new", "ls > new 2> also", "ls &> new", "cat < old > new"),
        *("mv old new", "mv old sub", "mv old sub/", f"mv old {tmp_path}/new", "cp old new > fresh", "cp -r sub new"),
        *("mv a b sub", "cd sub && cp deep new", "curl -so new http://x", "mv old new && mv sub other"),
    )
    replacing = (
        *("ls > old", "ls > new 2> old", "cd sub && ls > deep", 'ls > "$x"', "ls > n*", "cp new old > fresh"),
        *("mv new old", "cp new sub/deep", "mv deep sub", "cp -rt sub deep", "mv old $x", "mv o* new", "mv -T old sub"),
        *(
            "mv a new; mv b new",
            "mv a ./new && ls > new",
            "sudo mv old new",
            "cd $x && mv a b",
            "curl -so old http://x",
        ),
        *("cp -r ../sub .", "curl -O http://x/new"),
        *("cd $x && ls > new", "cd s* && ls > new", 'eval "$x"; ls > new'),
        *("ls > ./old", "ls > sub/../old", f"ls > {tmp_path}/old", "ls > ~/old$x", "ls | tee new > fresh"),
    )
    for command in (*fresh, *replacing):
        shown = await prepared(execute, command, tmp_path)
        assert ("overwrite" in shown.dangerous) == (command in replacing), command


async def test_a_file_that_appears_after_it_was_called_new_is_not_replaced(tmp_path: Path, execute: Execute) -> None:
    shown = await prepared(execute, "ls > new", tmp_path)
    (tmp_path / "new").write_text("the person's own")
    assert await is_refused(execute, "ls > new", tmp_path, shown)
    assert (tmp_path / "new").read_text() == "the person's own"


def test_a_line_of_many_commands_is_looked_at_within_a_bound(tmp_path: Path) -> None:
    for number in range(40):
        put(tmp_path / f"d{number}/package.json", "{}")
    line = "; ".join(f"cd d{number % 40}; node . n{number}" for number in range(300))
    files = inspect_files(classify(line), str(tmp_path), tmp_path.stat(), CommandEnvironment.of(os.environ))
    assert len(files.folders) == MAX_FOLDERS
    assert files.content_hash.endswith(PARTIAL_HASH_SUFFIX)


def test_the_parts_of_a_long_module_name_are_looked_at_within_a_bound(tmp_path: Path) -> None:
    part = "." + "a" * 50
    line = f"python -m a{part * 1900}"
    files = inspect_files(classify(line), str(tmp_path), tmp_path.stat(), CommandEnvironment.of(os.environ))
    assert files.content_hash.endswith(PARTIAL_HASH_SUFFIX)
    assert sum(map(len, first_files(line.split()))) < 10 * MEGABYTE


def test_a_package_that_names_an_impossible_file_does_not_stop_the_inspection(tmp_path: Path) -> None:
    put(tmp_path / "package.json", r'{"main": "\ud800.js", "bin": "a\u0000b", "scripts": {"start": "true"}}')
    files = inspect_files(classify("npm start"), str(tmp_path), tmp_path.stat(), CommandEnvironment.of(os.environ))
    assert not files.content_hash.endswith(PARTIAL_HASH_SUFFIX)


@pytest.mark.parametrize("command", ["node a\0b", "echo a\0b", "cd a\0b && ls > new"])
async def test_a_command_with_a_nul_character_is_refused_when_it_is_prepared(
    tmp_path: Path, execute: Execute, command: str
) -> None:
    with pytest.raises(ToolError, match="NUL character"):
        await prepared(execute, command, tmp_path)


async def test_a_script_of_a_package_with_half_a_character_is_part_of_what_was_shown(
    execute: Execute, tmp_path: Path
) -> None:
    put(tmp_path / "package.json", json.dumps({"scripts": {"test": "node ../\ud800 a\0b serve.js"}}))
    put(tmp_path / "serve.js", "one")
    shown = await prepared(execute, "npm test", tmp_path)
    put(tmp_path / "serve.js", "two")
    assert (await prepared(execute, "npm test", tmp_path)).content_hash != shown.content_hash


async def test_a_command_with_half_a_character_can_be_shown(execute: Execute, tmp_path: Path) -> None:
    for command in ("cat ../\ud800", "python3 ../\ud800", "cd ../\ud800 && touch *", "touch \ud800/*"):
        assert (await prepared(execute, command, tmp_path)).violation is None
