"""Programs that a person installed in their home folder run confined and open nothing else of it."""

import builtins
import os
import shutil
import subprocess
import sys
import tempfile
import venv
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from pilothouse.domain.value import CallId
from pilothouse.sandbox import confinement, processes
from pilothouse.sandbox.command_environment import CommandEnvironment
from pilothouse.sandbox.program_folders import program_paths
from pilothouse.sandbox.workspace import Workspace
from pilothouse.tools.base import ToolContext
from pilothouse.tools.builtin.execute import Execute, ExecuteArguments
from tests.support.kernel import needs_sandbox

pytestmark = needs_sandbox

SECRETS = (
    ".ssh/id",
    ".cargo/credentials.toml",
    ".npmrc",
    ".local/share/keyrings/login",
    ".config/app/token",
    "notes/x",
)
NOBODY = 65534


class HomeFolder:
    """A home folder with secrets in it, and a workspace beside it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder / "home"
        self.workspace = folder / "work"
        self.workspace.mkdir()
        for name in SECRETS:
            self.file(name, "the plum is ripe")

    def file(self, name: str, text: str, mode: int = 0o644) -> Path:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        path.chmod(mode)
        return path

    def program(self, name: str, text: str = "echo works") -> Path:
        return self.file(name, f"#!/bin/sh\n{text}\n", 0o755)

    def link(self, name: str, to: str) -> None:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.symlink_to(to)

    def environment(self, *entries: str) -> dict[str, str]:
        path = ":".join([*(str(self.folder / entry) for entry in entries), "/usr/bin", "/bin"])
        return {"PATH": path, "HOME": str(self.folder)}

    async def run(self, command: str, environment: Mapping[str, str], private: tuple[str, ...] = ()) -> tuple[int, str]:
        """A command as `review` runs it."""
        confined = confinement.read_only_confinement([str(self.workspace)], environment, private)
        running = await processes.start(
            ["/bin/sh", "-c", command],
            cwd=str(self.workspace),
            call_id="a-test",
            environment=confinement.environment_for(
                "read_only", CommandEnvironment.of(environment), str(self.workspace)
            ),
            confinement=confined,
        )
        output = await running.output.read()
        await running.process.wait()
        await running.end()
        return running.process.returncode or 0, output.decode()

    async def check_closed(self, environment: Mapping[str, str]) -> None:
        for name in SECRETS:
            status, output = await self.run(f"cat {self.folder / name}", environment)
            assert status != 0, name
            assert "plum" not in output


@pytest.fixture
def home(tmp_path: Path) -> HomeFolder:
    return HomeFolder(tmp_path)


Layout = Callable[[HomeFolder], list[str]]


def pyenv(home: HomeFolder) -> list[str]:
    home.program(".pyenv/libexec/pyenv", 'exec "$HOME/.pyenv/versions/$(cat $HOME/.pyenv/version)/bin/$2"')
    home.file(".pyenv/version", "3.11.7\n")
    home.program(".pyenv/versions/3.11.7/bin/tool", "cat $HOME/.pyenv/versions/3.11.7/lib/data")
    home.file(".pyenv/versions/3.11.7/lib/data", "works")
    home.program(".pyenv/shims/tool", 'exec "$HOME/.pyenv/libexec/pyenv" exec tool')
    return [".pyenv/shims"]


def pipx(home: HomeFolder) -> list[str]:
    place = home.folder / ".local/share/pipx/venvs/tool"
    venv.create(place, with_pip=False, symlinks=True)
    site = next(place.glob("lib/python*/site-packages"))
    (site / "the_tool.py").write_text("print('works')")
    script = place / "bin/tool"
    script.write_text(f"#!{place}/bin/python\nimport the_tool\n")
    script.chmod(0o755)
    home.link(".local/bin/tool", str(script))
    return [".local/bin"]


def pip_of_a_user(home: HomeFolder) -> list[str]:
    """A script whose first line names an interpreter outside of the PATH."""
    home.program("pythons/3.12/bin/python3", 'cat "$(dirname $0)/../lib/data"')
    home.file("pythons/3.12/lib/data", "works")
    home.file(".local/bin/tool", f"#!{home.folder}/pythons/3.12/bin/python3\n", 0o755)
    return [".local/bin"]


def nvm(home: HomeFolder) -> list[str]:
    version = ".nvm/versions/node/v22.1.0"
    home.program(f"{version}/lib/node_modules/tool/cli.js", f"cat {home.folder}/{version}/lib/node_modules/tool/data")
    home.file(f"{version}/lib/node_modules/tool/data", "works")
    home.link(f"{version}/bin/tool", "../lib/node_modules/tool/cli.js")
    return [f"{version}/bin"]


def yarn(home: HomeFolder) -> list[str]:
    modules = ".config/yarn/global/node_modules"
    home.program(f"{modules}/tool/cli.js", f"cat {home.folder}/{modules}/tool/data")
    home.file(f"{modules}/tool/data", "works")
    home.link(".yarn/bin/tool", f"../../{modules}/tool/cli.js")
    return [".yarn/bin"]


def homebrew(home: HomeFolder) -> list[str]:
    brew = ".linuxbrew"
    home.program(f"{brew}/Cellar/tool/1.0/bin/tool", f"cat {home.folder}/{brew}/opt/lib/share/data")
    home.file(f"{brew}/Cellar/lib/2.0/share/data", "works")
    home.link(f"{brew}/opt/lib", "../Cellar/lib/2.0")
    home.link(f"{brew}/bin/tool", "../Cellar/tool/1.0/bin/tool")
    return [f"{brew}/bin"]


def rustup(home: HomeFolder) -> list[str]:
    home.program(".rustup/toolchains/stable/bin/tool", "cat $HOME/.rustup/toolchains/stable/lib/data")
    home.file(".rustup/toolchains/stable/lib/data", "works")
    home.file(".rustup/settings.toml", 'default = "stable"')
    home.program(
        ".cargo/bin/rustup",
        "cat $HOME/.rustup/settings.toml >/dev/null && exec $HOME/.rustup/toolchains/stable/bin/tool",
    )
    home.link(".cargo/bin/tool", "rustup")
    return [".cargo/bin"]


def asdf(home: HomeFolder) -> list[str]:
    home.program(".asdf/installs/node/22/bin/tool", "cat $HOME/.asdf/plugins/node/data")
    home.file(".asdf/plugins/node/data", "works")
    home.program(".asdf/shims/tool", "exec $HOME/.asdf/installs/node/22/bin/tool")
    return [".asdf/shims"]


def volta(home: HomeFolder) -> list[str]:
    home.program(".volta/tools/image/node/22/bin/tool")
    home.program(".volta/bin/tool", "exec $HOME/.volta/tools/image/node/22/bin/tool")
    return [".volta/bin"]


def own_script(home: HomeFolder) -> list[str]:
    home.program("src/tool/run.sh")
    home.file("src/tool/private", "the plum is ripe")
    home.link("bin/tool", "../src/tool/run.sh")
    return ["bin"]


LAYOUTS = [pyenv, pipx, pip_of_a_user, nvm, yarn, homebrew, rustup, asdf, volta, own_script]


@pytest.mark.parametrize("layout", LAYOUTS, ids=lambda layout: layout.__name__)
async def test_a_program_that_a_person_installed_runs_and_their_secrets_stay_closed(
    home: HomeFolder, layout: Layout
) -> None:
    environment = home.environment(*layout(home))
    assert await home.run("tool", environment) in [(0, "works"), (0, "works\n")]
    await home.check_closed(environment)
    assert (await home.run(f"ls {home.folder}", environment))[0] != 0
    for path in program_paths(environment, [str(home.workspace)]):
        status, _ = await home.run(f"touch {path}/new || echo >> {path}", environment)
        assert status != 0, "read, never written"


@pytest.mark.skipif(os.geteuid() != 0, reason="changes the user")
@pytest.mark.parametrize("layout", LAYOUTS, ids=lambda layout: layout.__name__)
def test_the_same_holds_for_a_plain_user(layout: Layout) -> None:
    """As another user, in a folder of theirs: this interpreter lies where only root may read, so another one runs."""
    python = shutil.which("python3", path="/usr/bin:/usr/local/bin")
    if python is None or layout is pipx:
        pytest.skip("needs a Python of the system")
    code = (
        "import sys; sys.path[:0] = sys.argv[1:3]\n"
        "from pilothouse.sandbox import landlock\n"
        "landlock.confine(list(zip(sys.argv[5::2], sys.argv[4::2])), network=False, version=landlock.abi())\n"
        "import os; os.execv('/bin/sh', ['sh', '-c', sys.argv[3]])\n"
    )
    with tempfile.TemporaryDirectory(prefix="plain-user-") as folder:
        os.chmod(folder, 0o755)
        own = HomeFolder(Path(folder))
        environment = own.environment(*layout(own))
        copy = Path(folder) / "packages/pilothouse/sandbox"
        copy.mkdir(parents=True)
        for name in ("pilothouse/__init__.py", "pilothouse/sandbox/__init__.py", "pilothouse/sandbox/landlock.py"):
            shutil.copy(Path(processes._PACKAGES) / name, Path(folder) / "packages" / name)
        subprocess.run(["chown", "-R", str(NOBODY), folder], check=True)
        confined = confinement.read_only_confinement([str(own.workspace)], environment)
        granted = [word for grant in confined.grants() for word in grant]

        def ran(command: str) -> subprocess.CompletedProcess[str]:
            argv = [python, "-I", "-c", code, str(Path(folder) / "packages"), "/", command, *granted]
            return subprocess.run(argv, env=environment, user=NOBODY, group=NOBODY, capture_output=True, text=True)

        assert ran("tool").stdout.strip() == "works", ran("tool").stderr
        for name in SECRETS:
            assert "plum" not in ran(f"cat {own.folder / name}").stdout


async def test_the_rest_of_a_folder_that_a_link_leads_to_stays_closed(home: HomeFolder) -> None:
    environment = home.environment(*own_script(home))
    assert (await home.run(f"cat {home.folder}/src/tool/private", environment))[0] != 0


ATTACKS = [
    ("the home itself", [""]),
    ("above the home", [".."]),
    ("the root", ["../../../../../../.."]),
    ("a folder of secrets", [".ssh"]),
    ("what all programs share", [".local", ".local/share", ".config"]),
    ("a link to a folder of secrets", ["linked"]),
    ("a link to the home", ["linked-home"]),
    ("a folder with a link to secrets", ["tools/bin"]),
    ("a folder of the workspace", ["../work/bin"]),
]


@pytest.mark.parametrize("entries", [each[1] for each in ATTACKS], ids=[each[0] for each in ATTACKS])
async def test_no_entry_of_a_path_opens_the_home_or_its_secrets(home: HomeFolder, entries: list[str]) -> None:
    home.link("linked", ".ssh")
    home.link("linked-home", ".")
    home.program("notes/bin/open")
    home.file("notes/lib/x", "the plum is ripe")
    for folder in ("tools/bin", "../work/bin"):
        home.link(f"{folder}/secrets", str(home.folder / ".ssh"))
        home.link(f"{folder}/key", str(home.folder / ".ssh/id"))
        home.link(f"{folder}/../lib", str(home.folder / ".ssh"))
    home.link("../work/bin/open", str(home.folder / "notes/bin/open"))
    environment = home.environment(*entries)
    await home.check_closed(environment)
    if "../work/bin" in entries:
        assert (await home.run(f"cat {home.folder}/notes/lib/x", environment))[0] != 0, (
            "an agent may have made the link"
        )


@pytest.mark.parametrize("path", ["", ":", ".:..:", "bin:./bin", "~/bin", "/\0x", "/no/such/folder", ":" * 5000])
def test_relative_and_strange_entries_open_nothing(home: HomeFolder, path: str) -> None:
    home.program("bin/tool")
    if "\0" in path:
        path = path.replace("\0", "\ufffd")
    assert program_paths({"PATH": path, "HOME": str(home.folder)}) == ()


async def test_the_data_directory_stays_closed_inside_a_folder_of_programs(home: HomeFolder) -> None:
    home.program("tools/bin/tool")
    credentials = home.file("tools/lib/pilothouse/credentials.json", "the plum is ripe")
    home.file("tools/lib/data", "works")
    environment = home.environment("tools/bin")
    private = (str(credentials.parent),)
    assert (await home.run("cat ../home/tools/lib/data", environment, private))[1] == "works"
    assert (await home.run(f"cat {credentials}", environment, private))[0] != 0


HEADERS = ["data/x", "data/bin/x", "Documents/x", "Documents/bin/x", ".config/gh/x", ".config/gh/x y", "notes/x", "x"]


@pytest.mark.parametrize("is_there", [False, True], ids=["missing", "there"])
@pytest.mark.parametrize("header", HEADERS)
async def test_a_script_header_opens_an_interpreter_and_nothing_of_the_person(
    home: HomeFolder, header: str, is_there: bool
) -> None:
    secrets = [
        home.file(f"{folder}/{name}", "the plum is ripe")
        for folder in ("data", "Documents", ".config/gh", "notes")
        for name in ("secret", "lib/secret", "bin/secret")
    ]
    if is_there:
        home.folder.joinpath(header.split()[0]).unlink(missing_ok=True)
        home.program(header.split()[0])
    home.file("bin/a", f"#!{home.folder}/{header}\n", 0o755)
    environment = home.environment("bin")
    private = (str(home.folder / "data"),)
    for secret in secrets:
        assert (await home.run(f"cat {secret}", environment, private))[0] != 0, secret
    opened = set(program_paths(environment, [str(home.workspace), *private]))
    interpreter = {str(home.folder / header.split()[0])} if is_there and "data" not in header else set()
    assert opened == {str(home.folder / "bin"), *interpreter}


async def test_a_script_header_does_not_open_the_data_of_the_runtime(tmp_path: Path) -> None:
    home = HomeFolder(tmp_path)
    data = tmp_path / "data"
    (data / "bin").mkdir(parents=True)
    (data / "lib").mkdir()
    (data / "lib/credentials.json").write_text("the plum is ripe")
    (data / "bin/x").write_text("")
    (data / "bin/x").chmod(0o755)
    home.file("bin/a", f"#!{data}/bin/x\n", 0o755)
    workspace = Workspace(home.workspace, [data], environment=CommandEnvironment.of(home.environment("bin")))
    job = ToolContext(call_id=CallId("a-test"), workspace=workspace, confined=True)
    answer = await Execute().run(ExecuteArguments(command="cat ../data/lib/credentials.json"), job)
    assert "plum" not in answer.content


def test_a_folder_that_everybody_may_write_is_not_followed(home: HomeFolder) -> None:
    home.program("shared/bin/tool")
    (home.folder / "shared/bin").chmod(0o777)
    assert program_paths(home.environment("shared/bin")) == ()


def test_a_program_installed_later_is_noticed_and_unchanged_folders_are_cached(home: HomeFolder) -> None:
    environment = home.environment(*own_script(home))
    before = program_paths(environment)
    assert program_paths(environment) is before
    home.program("src/other/run.sh")
    home.link("bin/other", "../src/other/run.sh")
    assert str(home.folder / "src/other/run.sh") in program_paths(environment)


def test_a_confinement_reads_no_folder_and_no_file_again_once_it_is_known(
    home: HomeFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(300):
        home.program(f"tools{number % 20}/bin/tool{number}")
    environment = home.environment(*(f"tools{number}/bin" for number in range(20)))
    confinement.read_only_confinement([str(home.workspace)], environment, [str(home.folder / "data")])
    with monkeypatch.context() as patches:
        for module, name in ((os, "scandir"), (os, "listdir"), (os, "open"), (builtins, "open"), (os, "readlink")):
            patches.setattr(module, name, lambda *_, name=name, **__: pytest.fail(f"{name} was called"))
        confinement.read_only_confinement([str(home.workspace)], environment, [str(home.folder / "data")])


async def test_the_interpreter_that_runs_these_tests_runs(home: HomeFolder) -> None:
    environment = {"PATH": f"{Path(sys.executable).parent}:/usr/bin:/bin", "HOME": os.path.expanduser("~")}
    assert await home.run('python -c "import json, ssl; print(1)"', environment) == (0, "1\n")
