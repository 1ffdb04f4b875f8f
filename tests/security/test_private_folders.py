"""The runtime's own folders hold keys and tokens: no confined command reads or writes them, wherever they lie."""

import os
import pty
import re
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

import pilothouse
from pilothouse.domain.errors import ToolError
from pilothouse.domain.promises import Kernel
from pilothouse.domain.value import CallId
from pilothouse.llm.script import Answer, ScriptedCall
from pilothouse.runtime.request.ocr import read_text
from pilothouse.sandbox.command_environment import CommandEnvironment
from pilothouse.sandbox.workspace import Mount, Root, Workspace
from pilothouse.testing.world import World
from pilothouse.tools.base import ToolContext
from pilothouse.tools.builtin.execute import Execute, ExecuteArguments
from pilothouse.tools.builtin.grep.tool import Grep, GrepArguments, find_ripgrep
from tests.support.kernel import needs_sandbox
from tests.support.pngs import picture

pytestmark = needs_sandbox

SOURCE = Path(pilothouse.__file__).parent
PATH = "/usr/local/bin:/usr/bin:/bin"
is_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can put a folder there")


def data_in(folder: Path) -> Path:
    """A data directory with a token, beside something that is not private."""
    data = folder / "app" / "data"
    data.mkdir(parents=True)
    (data / "tokens.json").write_text("planted")
    (folder / "app" / "readme").write_text("public\n")
    return data


def environment(path: str = PATH) -> CommandEnvironment:
    return CommandEnvironment.of({**os.environ, "PATH": path})


async def use(
    workspace: Workspace, command: str, *, path: str = PATH, kernel: Kernel | None = None, confined: bool = False
) -> str:
    tool = Execute("off" if confined else "workspace", kernel)
    workspace.environment = environment(path)
    job = ToolContext(CallId(f"call-{os.urandom(6).hex()}"), workspace, confined=confined)
    return (await tool.run(ExecuteArguments(command), job)).content


@pytest.fixture(params=["/opt", "/etc", "/usr/local"])
def system_folder(request: pytest.FixtureRequest) -> Iterator[Path]:
    folder = Path(tempfile.mkdtemp(prefix="pilothouse-test-", dir=request.param))
    folder.chmod(0o755)
    yield folder
    shutil.rmtree(folder)


@is_root
async def test_keys_in_a_folder_of_the_system_are_not_read_in_review(tmp_path: Path, system_folder: Path) -> None:
    data = data_in(system_folder)
    looking = f"cat {data}/tokens.json; cat {system_folder}/app/readme; ls /usr/bin/env"
    output = await use(Workspace(tmp_path, private=[data]), looking, confined=True)
    assert "planted" not in output
    assert "public" in output
    assert "/usr/bin/env" in output
    file = Workspace(tmp_path, private=[data / "tokens.json"])
    assert "planted" not in await use(file, looking, confined=True)


@pytest.mark.parametrize("inside", ["workspace", "root", "programs"])
async def test_keys_in_any_other_folder_that_can_be_read_are_not_read_in_review(tmp_path: Path, inside: str) -> None:
    folder = tmp_path / inside
    data = data_in(folder)
    (tmp_path / "work").mkdir()
    root = folder if inside == "workspace" else tmp_path / "work"
    also = [Root(folder)] if inside == "root" else []
    path = f"{folder}/app:{PATH}" if inside == "programs" else PATH
    workspace = Workspace(root, private=[data], extra_roots=also)
    output = await use(workspace, f"cat {data}/tokens.json; cat {folder}/app/readme", confined=True, path=path)
    assert "planted" not in output
    assert "public" in output


async def test_a_link_to_the_data_directory_protects_its_target(tmp_path: Path) -> None:
    data = data_in(tmp_path / "work")
    (tmp_path / "data").symlink_to(data)
    workspace = Workspace(tmp_path / "work", private=[tmp_path / "data"])
    for confined in (True, False):
        assert "planted" not in await use(workspace, "cat app/data/tokens.json", confined=confined)


async def test_a_command_that_is_kept_to_its_workspace_does_not_write_the_data_directory_in_it(tmp_path: Path) -> None:
    data = data_in(tmp_path)
    writing = (
        "rm -rf app/data; echo x > app/data/tokens.json; mv app/data gone; mv app gone; ln app/data/tokens.json l; "
    )
    writing += (
        "echo x > app/data/new; mkdir app/data/d; cat app/data/tokens.json; echo mine > app/readme; mkdir -p sub/x"
    )
    (tmp_path / "sub").mkdir()
    output = await use(Workspace(tmp_path, private=[data]), writing)
    assert (data / "tokens.json").read_text() == "planted"
    assert [path.name for path in data.iterdir()] == ["tokens.json"]
    assert "planted" not in output
    assert (tmp_path / "app/readme").read_text() == "mine\n"
    assert (tmp_path / "sub/x").is_dir()


async def test_a_workspace_command_reads_no_key_but_reads_uploads(tmp_path: Path) -> None:
    data = data_in(tmp_path / "home")
    (data / "uploads").mkdir()
    (data / "uploads/given.txt").write_text("given\n")
    (tmp_path / "work").mkdir()
    mounts = [Mount("uploads", data / "uploads")]
    workspace = Workspace(tmp_path / "work", private=[data], mounts=mounts)
    output = await use(
        workspace, f"cat {data}/tokens.json; cat {data}/uploads/given.txt; cat {tmp_path}/home/app/readme"
    )
    assert "planted" not in output
    assert "given\npublic\n" in output


async def test_a_workspace_command_reads_no_terminal(tmp_path: Path) -> None:
    master, terminal = pty.openpty()
    try:
        os.write(master, b"typed\n")
        reading = f"head -c 1 {os.ttyname(terminal)}; head -c 1 /dev/urandom | wc -c; echo x > /dev/null"
        output = await use(Workspace(tmp_path), reading)
    finally:
        os.close(master)
        os.close(terminal)
    assert "Permission denied\n1\n" in output


@pytest.mark.parametrize("engine", ["ripgrep", "scan"])
async def test_grep_finds_nothing_in_the_data_directory(tmp_path: Path, engine: str) -> None:
    data = data_in(tmp_path)
    (tmp_path / "latin").write_bytes("public caf\xe9\n".encode("latin-1"))
    tool = Grep(find_ripgrep() if engine == "ripgrep" else None)
    job = ToolContext(CallId("call"), Workspace(tmp_path, private=[data]))
    output = await tool.run(GrepArguments("planted|public"), job)
    assert "planted" not in output
    assert "app/readme" in output
    assert "latin" in output


async def test_reading_an_image_opens_nothing_of_the_runtimes_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = data_in(tmp_path)
    program = tmp_path / "app/tesseract"
    program.write_text(f"#!/bin/sh\ncat {data}/tokens.json; cat {tmp_path}/app/readme\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}/app:{PATH}")
    assert await read_text(picture(), call_id="ocr", workspace=None, private=[str(data)]) == "public"


# kernels that keep fewer promises


INCOMPLETE = [Kernel(landlock=7), Kernel(filter=True), Kernel(landlock=2), Kernel()]


@pytest.mark.parametrize("kernel", INCOMPLETE)
async def test_without_full_confinement_only_strict_commands_run_without_approval(
    tmp_path: Path, kernel: Kernel
) -> None:
    tool = Execute(kernel=kernel)
    workspace = Workspace(tmp_path, environment=environment())
    effects = [(await tool.prepare(ExecuteArguments(line), workspace)).effect for line in ("git status", "ls")]
    assert effects == ["mutating", "read_only"]
    whole = Execute(kernel=Kernel(landlock=1, filter=True))
    assert (await whole.prepare(ExecuteArguments("git status"), workspace)).effect == "read_only"


@pytest.mark.parametrize("kernel", INCOMPLETE)
@pytest.mark.parametrize(
    "line", ["jq . data.json", "ls && jq --version", "egrep x data.json", "find . -exec jq . {} +"]
)
async def test_without_full_confinement_a_program_that_the_folder_chooses_asks(
    tmp_path: Path, kernel: Kernel, line: str
) -> None:
    """A shim of asdf starts the program that `.tool-versions` names, whatever the name of the shim says."""
    (work := tmp_path / "work").mkdir()
    shims = tmp_path / "shims"
    shims.mkdir()
    for name in ("jq", "grep"):
        (shims / name).write_text("#!/usr/bin/env bash\nexec asdf exec\n")
        (shims / name).chmod(0o755)
    tool, workspace = Execute(kernel=kernel), Workspace(work, environment=environment(f"{shims}:{PATH}"))
    assert (await tool.prepare(ExecuteArguments(line), workspace)).effect == "mutating"
    with pytest.raises(ToolError, match="incomplete"):
        await use(workspace, line, confined=True, kernel=kernel, path=f"{shims}:{PATH}")
    without_shims = Workspace(work, environment=environment())
    assert (await tool.prepare(ExecuteArguments(line), without_shims)).effect == "read_only"


@pytest.mark.parametrize(("kernel", "status"), [(Kernel(landlock=5), "pending"), (Kernel(1, filter=True), "executed")])
async def test_review_asks_about_commands_that_the_kernel_cannot_confine(
    tmp_path: Path, kernel: Kernel, status: str
) -> None:
    request = Answer(calls=(ScriptedCall(tool="execute", arguments={"command": "git --version; git status"}),))
    variables = {**os.environ, "PATH": PATH}
    world = World(tmp_path, request, Answer(text="done"), tools=[Execute(kernel=kernel)], environment=variables)
    async with world.runtime:
        context_id = await world.start("review")
        await world.runtime.messages.send(context_id, "go")
        await world.runtime.turns.rested(context_id)
        (record,) = await world.dependencies.store.calls(context_id)
        assert record.status == status


async def test_a_call_decided_on_a_better_kernel_does_not_run_unconfined_on_this_one(tmp_path: Path) -> None:
    workspace = Workspace(tmp_path)
    with pytest.raises(ToolError, match="incomplete"):
        await use(workspace, "git status", confined=True, kernel=Kernel(landlock=7))
    output = await use(workspace, "echo strict", confined=True, kernel=Kernel(landlock=7))
    assert output.startswith("strict\n")
    assert "these promises are not kept: writes, network, ipc, devices" in output


async def test_a_command_that_cannot_be_kept_to_its_workspace_does_not_run(tmp_path: Path) -> None:
    with pytest.raises(ToolError, match="cannot keep a command to its workspace"):
        await use(Workspace(tmp_path), "echo x", kernel=Kernel(landlock=2))


# processes of the runtime itself


def test_no_module_starts_an_unconfined_process_in_a_workspace() -> None:
    """A command that a person approved is not confined; MCP servers, `!command` and the editor are their own acts.
    The grammar gives a command's text to a process of its own, which opens no file."""
    own_acts = {"tools/mcp/stdio.py", "terminal/own_command.py", "terminal/call_editor.py"}
    starting = {"sandbox/processes.py", "sandbox/shell/grammar.py", *own_acts}
    free = {"sandbox/processes.py", "sandbox/confinement.py", "tools/command/shell.py"}
    for path in SOURCE.rglob("*.py"):
        name, text = str(path.relative_to(SOURCE)), path.read_text()
        assert name in starting or not re.search(r"create_subprocess|subprocess_exec|\bPopen\b|\bsubprocess\.", text), (
            name
        )
        assert name in free or not re.search(r"\bUNCONFINED\b", text), name
        for call in re.findall(r"\bprocesses\.start\((?:[^()]|\([^()]*\))*\)", text):
            assert "confinement=" in call, name
