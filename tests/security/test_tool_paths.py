"""Every tool with a path: nothing outside, nothing protected, only regular files, bounded."""

import asyncio
import json
import os
import socket
import stat
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from pilothouse.domain.codes import Code
from pilothouse.domain.errors import RequestError, ToolError
from pilothouse.domain.rules import Scope
from pilothouse.domain.value import CallId
from pilothouse.llm.script import Answer, ScriptedCall
from pilothouse.sandbox.workspace import Root, Workspace
from pilothouse.storage.memory import MemoryStore
from pilothouse.testing.world import World
from pilothouse.tools.artifacts import ArtifactFolder
from pilothouse.tools.base import ToolContext, parse_arguments
from pilothouse.tools.builtin import builtin_tools
from pilothouse.tools.executor import execute
from pilothouse.tools.registry import Registry
from tests.security.hostile_folders import tree
from tests.support.assertions import instance_of, present
from tests.support.kernel import needs_sandbox
from tests.support.scale import HANG_SECONDS

SECRET = "the secret"
DONE = Answer(text="done")
TOOLS = Registry(builtin_tools()).tools
NOTEBOOK = json.dumps({"cells": [{"cell_type": "code", "source": [SECRET]}], "nbformat": 4, "nbformat_minor": 4})
MAX_TOOL_SECONDS = 5
GROWTH_AT_MOST = 64 * 1024 * 1024


def arguments_for(path: str) -> dict[str, dict[str, Any]]:
    """A call of each tool on a path."""
    return {
        "read_file": {"path": path},
        "write_file": {"path": path, "content": "owned"},
        "edit_file": {"path": path, "edits": [{"old_text": SECRET, "new_text": "owned"}]},
        "notebook_edit": {"path": path, "cell": 0, "source": "owned"},
        "list_directory": {"path": path},
        "glob": {"pattern": "*", "path": path},
        "grep": {"pattern": ".", "path": path},
        "execute": {"command": "cat *; echo owned > owned", "cwd": path},
    }


NAMES = tuple(arguments_for(""))
WRITING = ("write_file", "edit_file", "notebook_edit")
READING = ("read_file", "list_directory", "glob", "grep")


async def use(workspace: Workspace, name: str, path: str, *, looks: bool = True) -> tuple[Code | None, str]:
    """Prepare and run, or run without preparing. The code of the refusal, if any, and the result."""
    tool = TOOLS[name]
    parsed = parse_arguments(name, tool.parameters, arguments_for(path)[name])
    content_hash = None
    if looks:
        try:
            prepared = await tool.prepare(parsed, workspace)
        except ToolError as error:
            return error.reason.code, str(error)
        if prepared.violation is not None:
            return prepared.violation.code, ""
        content_hash = prepared.content_hash
    outcome = await execute(
        tool,
        parsed,
        ToolContext(call_id=CallId("call"), workspace=workspace, content_hash=content_hash, seconds=MAX_TOOL_SECONDS),
    )
    return (outcome.error.code if outcome.error is not None else None), outcome.content


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    root = tmp_path / "proj"
    for name in ("proj/sub", "proj-secret", "outside/deep"):
        (tmp_path / name).mkdir(parents=True)
    for name in ("proj-secret/x", "secret.txt", "outside/deep/x", "outside/x.ipynb"):
        (tmp_path / name).write_text(NOTEBOOK)
    (root / "inside.txt").write_text("inside")
    for link, target in {
        "away": "../outside",
        "file": "../secret.txt",
        "book": "../outside/x.ipynb",
        "whole": str(tmp_path / "outside"),
        "etc": "/etc",
        "chain": "away",
        "sub/up": "../..",
        "dangling": "../outside/new",
        "proc": "/proc/self",
        "loop": "loop",
    }.items():
        (root / link).symlink_to(target)
    return Workspace(root, private=[tmp_path / "data"])


OUTSIDE = [
    *("../secret.txt", "../proj-secret", "../proj-secret/x", "../outside", "../../../../../../etc/shadow"),
    *("sub/../../secret.txt", "/etc/passwd", "/", "/root", "~", "~root", "//etc", "/proc/self/environ"),
    *(
        "away",
        "away/deep",
        "away/deep/x",
        "away/new/leaf",
        "file",
        "book",
        "whole",
        "whole/x.ipynb",
        "etc",
        "etc/passwd",
    ),
    *(
        "chain/deep",
        "sub/up",
        "sub/up/secret.txt",
        "dangling",
        "proc/environ",
        "proc/root/etc",
        "inside.txt/../../secret.txt",
    ),
    *("away/../secret.txt", "./../secret.txt", "sub//..//..//secret.txt", "sub/./up/outside/x.ipynb"),
]
# Names that are inside after all, or name nothing.
HARMLESS = {"~", "~root", "away/../secret.txt"}


@pytest.mark.parametrize("looks", [True, False], ids=["looked", "not looked"])
@pytest.mark.parametrize("name", NAMES)
async def test_no_tool_reaches_anything_outside(workspace: Workspace, tmp_path: Path, name: str, looks: bool) -> None:
    """The last check is where a file is opened, not where a call is looked at."""
    everything = {each: tree(tmp_path / each) for each in ("proj-secret", "outside")}
    for path in [*OUTSIDE, str(tmp_path / "proj-secret"), str(tmp_path / "secret.txt"), "nul\0byte", "sub/\0"]:
        code, output = await use(workspace, name, path, looks=looks)
        assert SECRET not in output, path
        assert "root:" not in output, path
        if path not in HARMLESS:
            assert code is not None, path
            assert not looks or code is Code.OUTSIDE_WORKSPACE, path
    assert {each: tree(tmp_path / each) for each in everything} == everything
    assert (tmp_path / "secret.txt").read_text() == NOTEBOOK
    assert sorted(os.listdir(tmp_path)) == ["outside", "proj", "proj-secret", "secret.txt"]


async def test_a_loop_of_links_leads_nowhere(workspace: Workspace) -> None:
    for name in NAMES:
        assert (await use(workspace, name, "loop"))[0] is not None
        assert (await use(workspace, name, "loop/x"))[0] is not None


@pytest.mark.parametrize("name", NAMES)
async def test_an_additional_folder_is_reached_by_its_absolute_path_only(tmp_path: Path, name: str) -> None:
    """The same holds there: links out of it, protected files in it, read-only folders."""
    for each in ("proj", "open/.git/hooks", "shut", "data"):
        (tmp_path / each).mkdir(parents=True)
    for each in ("open/.git/config", "shut/x", "data/tokens.json", "proj-x"):
        (tmp_path / each).write_text(NOTEBOOK)
    (tmp_path / "open/link").symlink_to("../data")
    also = [Root(tmp_path / "open", True), Root(tmp_path / "shut")]
    workspace = Workspace(tmp_path / "proj", private=[tmp_path / "data"], extra_roots=also)
    before = tree(tmp_path)
    for path in (
        "open/link/tokens.json",
        "open/link",
        "open/../data/tokens.json",
        "open/.git/config",
        "open/../proj-x",
    ):
        code, output = await use(workspace, name, str(tmp_path / path))
        assert code in (Code.OUTSIDE_WORKSPACE, Code.PROTECTED_PATH), path
        assert SECRET not in output
    if name in WRITING:
        assert (await use(workspace, name, str(tmp_path / "shut/x")))[0] is Code.PROTECTED_PATH
        assert (await use(workspace, name, str(tmp_path / "shut/x"), looks=False))[0] is Code.PROTECTED_PATH
    assert tree(tmp_path) == before


@pytest.mark.parametrize("name", NAMES)
async def test_the_runtimes_data_in_an_additional_folder_is_not_reached(tmp_path: Path, name: str) -> None:
    (tmp_path / "proj").mkdir()
    (tmp_path / "home/data").mkdir(parents=True)
    (tmp_path / "home/data/tokens.json").write_text(NOTEBOOK)
    private = [tmp_path / "home/data"]
    workspace = Workspace(tmp_path / "proj", private=private, extra_roots=[Root(tmp_path / "home", True)])
    for path in ("home/data/tokens.json", "home/data"):
        code, output = await use(workspace, name, str(tmp_path / path))
        assert code is Code.PROTECTED_PATH
        assert SECRET not in output
    if name == "grep":
        assert SECRET not in (await use(workspace, name, str(tmp_path / "home")))[1]


def test_code_files_in_an_additional_folder_need_approval_too(tmp_path: Path) -> None:
    """At any depth of the workspace itself."""
    (tmp_path / "a/b/c/proj").mkdir(parents=True)
    (tmp_path / "o").mkdir()
    workspace = Workspace(tmp_path / "a/b/c/proj", extra_roots=[Root(tmp_path / "o", True)])
    for name in (".vscode/tasks.json", ".mcp.json", "x.code-workspace", ".devcontainer/devcontainer.json"):
        assert workspace.approval_reason(name) is not None
        assert workspace.approval_reason(str(tmp_path / "o" / name)) is not None, name


async def test_a_file_created_in_an_additional_folder_can_be_undone(tmp_path: Path) -> None:
    (tmp_path / "proj").mkdir()
    (tmp_path / "o").mkdir()
    workspace = Workspace(tmp_path / "proj", extra_roots=[Root(tmp_path / "o", True)])
    artifacts = ArtifactFolder(tmp_path / "kept")
    path = tmp_path / "o/new.txt"
    for name, arguments in (("write_file", {"path": str(path), "content": "x"}), ("undo", {})):
        parsed = parse_arguments(name, TOOLS[name].parameters, arguments)
        job = ToolContext(call_id=CallId(name), workspace=workspace, artifacts=artifacts)
        outcome = await execute(TOOLS[name], parsed, job)
        assert outcome.error is None, outcome.content
    assert not path.exists()


# protected files

PROTECTED = [
    *(".git/config", ".GIT/config", ".Git/hooks/post-checkout", "sub/dir/.git/hooks/post-checkout", "sub/.git"),
    *(".pilothouse/config.toml", ".Pilothouse/Config.TOML", "sub/.PILOTHOUSE/tools.toml", "pilothouse.toml"),
    *(".pilothouse/mcp_servers.json", ".bashrc", "sub/.BASHRC", ".ssh/authorized_keys", "a/b/.envrc", ".zshenv"),
    *(".git/info/attributes", ".git/HEAD", "linked/config", "linked/../.git/config", "data/metadata.json"),
]


@pytest.mark.parametrize("exists", [True, False], ids=["there", "not yet there"])
@pytest.mark.parametrize("name", WRITING)
async def test_protected_files_are_not_written_at_any_depth_in_any_case(
    tmp_path: Path, name: str, exists: bool
) -> None:
    root = tmp_path / "proj"
    root.mkdir()
    (root / "linked").symlink_to(".git")
    if exists:
        for path in PROTECTED:
            if not path.startswith("linked") and path != "sub/.git":
                (root / path).parent.mkdir(parents=True, exist_ok=True)
                (root / path).write_text(NOTEBOOK)
    workspace = Workspace(root, private=[root / "data"])
    before = tree(tmp_path)
    for path in PROTECTED:
        assert (await use(workspace, name, path))[0] is Code.PROTECTED_PATH, path
        assert (await use(workspace, name, path, looks=False))[0] is not None, path
    after = tree(tmp_path)
    assert [
        path for path, state in after.items() if stat.S_ISREG(instance_of(int, state[0])) and before.get(path) != state
    ] == []


@pytest.mark.parametrize("name", READING)
async def test_files_that_may_hold_keys_are_not_read(tmp_path: Path, name: str) -> None:
    for path in (".git/config", ".ssh/id", ".pilothouse/config.toml", "data/tokens.json", ".bashrc"):
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(SECRET)
    (tmp_path / "link").symlink_to(".ssh/id")
    workspace = Workspace(tmp_path, private=[tmp_path / "data"])
    for path in (".git/config", ".ssh", ".ssh/id", ".pilothouse", "data", "data/tokens.json", ".bashrc", "link"):
        assert (await use(workspace, name, path))[0] is Code.PROTECTED_PATH, path
    code, output = await use(workspace, name, ".")
    assert SECRET not in output


@pytest.mark.parametrize("cwd", [".git/hooks", ".pilothouse", "sub/.git/hooks", ".ssh", "data", "linked"])
async def test_a_command_does_not_begin_in_a_protected_folder(tmp_path: Path, cwd: str) -> None:
    for each in (".git/hooks", ".pilothouse", "sub/.git/hooks", ".ssh", "data"):
        (tmp_path / each).mkdir(parents=True)
    (tmp_path / "linked").symlink_to(".git/hooks")
    code, _ = await use(Workspace(tmp_path, private=[tmp_path / "data"]), "execute", cwd)
    assert code is Code.PROTECTED_PATH
    assert not list(tmp_path.rglob("owned"))


@pytest.mark.parametrize(
    ("cwd", "command"),
    [
        (".git", "echo x > config"),
        (".git", "cp a info/attributes"),
        (".git", "tee -a HEAD < a"),
        ("sub", "echo x >> ../.git/config"),
        ("sub", "cd .. && echo x > .git/hooks/pre-commit"),
        (".", "cd .git && echo x > config"),
        (".", "sed -i s/a/b/ .git/config"),
        (".", "echo x | tee .bashrc"),
        (".", "mv a .pilothouse/config.toml"),
        (".", "ln -s a .envrc"),
    ],
)
async def test_a_line_that_plainly_writes_what_is_protected_is_refused_wherever_it_begins(
    tmp_path: Path, cwd: str, command: str
) -> None:
    """Each call starts in its own `cwd`, not where the last one ended."""
    for each in (".git/hooks", ".git/info", "sub"):
        (tmp_path / each).mkdir(parents=True)
    (tmp_path / ".git/config").write_text("a")
    parsed = parse_arguments("execute", TOOLS["execute"].parameters, {"command": command, "cwd": cwd})
    prepared = await TOOLS["execute"].prepare(parsed, Workspace(tmp_path))
    assert prepared.violation is not None
    assert prepared.violation.code is Code.PROTECTED_PATH


async def test_the_folder_of_one_command_does_not_carry_over_to_the_next(tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    calls = [{"command": "cd sub; pwd"}, {"command": "pwd"}, {"command": "echo x > here", "cwd": "sub"}]
    world = World(tmp_path, *(_asks(("execute", call)) for call in calls), DONE, tools=builtin_tools())
    context_id = await world.start()
    await world.turn(context_id)
    assert (tmp_path / "sub/here").exists()
    messages = [getattr(message, "content", "") for message in await world.runtime.messages.read(context_id)]
    assert f"{tmp_path}/sub\n" in messages
    assert f"{tmp_path}\n" in messages


# links that appear, rules, hard links


def _asks(*calls: tuple[str, dict[str, Any]]) -> Answer:
    return Answer(calls=tuple(ScriptedCall(tool=tool, arguments=arguments) for tool, arguments in calls))


async def test_a_link_that_a_command_created_leads_no_tool_outside(tmp_path: Path) -> None:
    root, outside = tmp_path / "proj", tmp_path / "outside"
    root.mkdir()
    outside.mkdir()
    (outside / "x").write_text(NOTEBOOK)
    before = tree(outside)
    links = "ln -s ../outside away; ln -s ../outside/new leaf"
    through = [(name, arguments_for(path)[name]) for name in NAMES for path in ("away/x", "leaf", "away/new/deep")]
    world = World(root, _asks(("execute", {"command": links})), _asks(*through), DONE, tools=builtin_tools())
    context_id = await world.start("agent")
    await world.turn(context_id)
    records = (await world.dependencies.store.calls(context_id))[1:]
    assert len(records) == len(through)
    assert {present(record.reason).code for record in records} == {Code.OUTSIDE_WORKSPACE}
    assert {record.status for record in records} == {"denied"}
    assert tree(outside) == before


@pytest.mark.parametrize("name", NAMES)
async def test_a_rule_that_denies_a_folder_applies_through_a_link(tmp_path: Path, name: str) -> None:
    (tmp_path / "keys").mkdir()
    (tmp_path / "keys/secrets.env").write_text(NOTEBOOK)
    (tmp_path / "notes.txt").symlink_to("keys/secrets.env")
    (tmp_path / "other").symlink_to("keys")
    before = tree(tmp_path)
    paths = ["notes.txt", "other/secrets.env", "other"]
    calls = [(name, arguments_for(path)[name]) for path in paths]
    world = World(tmp_path, _asks(*calls), DONE, tools=builtin_tools())
    context_id = await world.start("agent")
    await world.runtime.rules.give("deny", Scope(folder="keys"), context_id=context_id)
    await world.turn(context_id)
    messages = "".join(getattr(message, "content", "") for message in await world.runtime.messages.read(context_id))
    assert SECRET not in messages
    assert tree(tmp_path) == before
    assert not [record for record in await world.dependencies.store.calls(context_id) if record.status == "executed"]


async def test_a_hard_link_is_read_but_its_other_name_is_never_written(tmp_path: Path) -> None:
    """A known limit: hard links look like any file. A write replaces the entry, so the other name stays unchanged."""
    (tmp_path / "proj/.git").mkdir(parents=True)
    for path in ("out.ipynb", "proj/.git/config"):
        (tmp_path / path).write_text(NOTEBOOK)
        for name in WRITING:
            link = tmp_path / "proj" / f"{name}-{path.partition('/')[0]}"
            os.link(tmp_path / path, link)
            workspace = Workspace(tmp_path / "proj")
            assert SECRET in (await use(workspace, "read_file", link.name))[1]
            assert (await use(workspace, name, link.name))[0] is None
            assert (tmp_path / path).read_text() == NOTEBOOK
            assert link.read_text() != NOTEBOOK
    threats = Path(__file__).parents[2] / "docs" / "threat-model.md"
    assert "hard links inside the workspace" in threats.read_text()


async def test_a_temporary_file_is_never_written_through_a_planted_link(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Even if its name could be guessed."""
    root = tmp_path / "proj"
    root.mkdir()
    (tmp_path / "out").write_text(SECRET)
    monkeypatch.setattr("secrets.token_hex", lambda _: "guessed")
    (root / ".draft-guessed").symlink_to("../out")
    code, _ = await use(Workspace(root), "write_file", "f")
    assert code is Code.FILE_UNREADABLE
    assert (tmp_path / "out").read_text() == SECRET
    assert not (root / "f").exists()
    monkeypatch.undo()
    await use(Workspace(root), "write_file", "f")
    assert sorted(path.name for path in root.iterdir()) == [".draft-guessed", "f"]


# only regular files


@pytest.fixture
def odd(tmp_path: Path) -> Iterator[Workspace]:
    os.mkfifo(tmp_path / "fifo")
    with socket.socket(socket.AF_UNIX) as unix_socket:
        unix_socket.bind(str(tmp_path / "socket"))
        if os.geteuid() == 0:
            os.mknod(tmp_path / "null", 0o666 | stat.S_IFCHR, os.makedev(1, 3))
            os.mknod(tmp_path / "zero", 0o666 | stat.S_IFCHR, os.makedev(1, 5))
            os.mknod(tmp_path / "disk", 0o600 | stat.S_IFBLK, os.makedev(7, 200))
            os.mknod(tmp_path / "tty", 0o666 | stat.S_IFCHR, os.makedev(5, 0))
        (tmp_path / "plain.txt").write_text("needle")
        yield Workspace(tmp_path)


@pytest.mark.parametrize("name", NAMES)
async def test_pipes_sockets_and_devices_are_refused_without_hanging(odd: Workspace, name: str) -> None:
    before = tree(odd.root)
    async with asyncio.timeout(HANG_SECONDS):
        for path in sorted(os.listdir(odd.root)):
            if path != "plain.txt":
                assert (await use(odd, name, path))[0] is not None, path
                assert (await use(odd, name, path, looks=False))[0] is not None, path
    assert tree(odd.root) == before


@pytest.mark.parametrize("name", NAMES)
async def test_devices_and_processes_are_outside(tmp_path: Path, name: str) -> None:
    async with asyncio.timeout(HANG_SECONDS):
        for path in ("/proc/self/mem", "/proc/self/environ", "/dev/stdin", "/dev/fd/0", "/dev/tty", "/dev/zero"):
            assert (await use(Workspace(tmp_path), name, path))[0] is Code.OUTSIDE_WORKSPACE


async def test_a_search_skips_files_that_are_not_regular(odd: Workspace) -> None:
    async with asyncio.timeout(HANG_SECONDS):
        assert (await use(odd, "grep", "."))[1] == "plain.txt:1: needle"
        assert (await use(odd, "glob", "."))[1] == "plain.txt"


# large ones, growing ones


def own_size() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGESIZE")


@pytest.mark.parametrize("head", [b"", b"needle\n" * 20_000], ids=["zeros", "text first"])
@pytest.mark.parametrize("name", [each for each in NAMES if each != "execute"])
async def test_twenty_gigabytes_are_not_taken_into_memory(tmp_path: Path, name: str, head: bytes) -> None:
    with (tmp_path / "huge").open("wb") as file:
        file.write(head)
        file.truncate(20 * 1024**3)
    before = own_size()
    code, output = await use(Workspace(tmp_path), name, "huge")
    assert own_size() - before < GROWTH_AT_MOST
    assert len(output) < 60_000
    if name == "read_file" and head:
        assert "huge has 21,474,836,480 bytes" in output
    elif name == "grep":
        assert "skipped" in output
    else:
        assert code in (Code.FILE_TOO_LARGE, Code.FILE_NOT_TEXT, Code.NOT_A_DIRECTORY)
    assert (tmp_path / "huge").stat().st_size == 20 * 1024**3


@pytest.mark.parametrize("name", [each for each in NAMES if each != "execute"])
async def test_a_file_that_grows_while_it_is_read_does_not_block_the_loop(tmp_path: Path, name: str) -> None:
    path, over = tmp_path / "log", threading.Event()
    path.write_text("a line\n")

    def grow() -> None:
        with path.open("ab", buffering=0) as file:
            while not over.is_set() and file.tell() < 512 * 1024**2:
                file.write(b"another line of the log\n" * 4096)

    writer = threading.Thread(target=grow)
    writer.start()
    before = own_size()
    try:
        async with asyncio.timeout(HANG_SECONDS):
            for _ in range(5):
                _, output = await use(Workspace(tmp_path), name, "log")
                assert len(output) < 100_000
        assert own_size() - before < GROWTH_AT_MOST
    finally:
        over.set()
        writer.join()


# files that a person gives


@pytest.mark.parametrize(
    "name",
    [
        *("../../x", "/etc/x", "..\\..\\x", "a/../../x", ".git/hooks/x", ".bashrc", "..", ".", "", "a\0b", "x" * 300),
        *("\u202ex", "con\r\nx", "%2e%2e%2fx", ".pilothouse", "uploads/../x", "  ", "-rf", "~/x"),
    ],
)
async def test_an_uploaded_file_lands_in_its_folder_or_nowhere(tmp_path: Path, name: str) -> None:
    root = tmp_path / "proj"
    root.mkdir()
    world = World(root, store=MemoryStore(tmp_path / "artifacts"))
    context_id = await world.start()
    try:
        upload = await world.runtime.uploads.add(context_id, name, b"content")
    except RequestError:
        assert [path for path in tmp_path.rglob("*") if path.is_file()] == []
        return
    (uploaded,) = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert uploaded == tmp_path / "artifacts" / context_id / upload.path
    assert uploaded.parent.name == "uploads"
    assert not uploaded.name.startswith(".")
    assert uploaded.name.isprintable()


@pytest.mark.parametrize("target", ["../outside", "/etc", ".git", ".pilothouse", "inside.txt"])
async def test_an_upload_follows_no_link_of_the_workspace(tmp_path: Path, target: str) -> None:
    root = tmp_path / "proj"
    for each in ("proj/.git", "proj/.pilothouse", "outside"):
        (tmp_path / each).mkdir(parents=True)
    (root / "inside.txt").write_text("inside")
    (root / "uploads").symlink_to(target)
    with tempfile.TemporaryDirectory() as artifacts:
        world = World(root, store=MemoryStore(Path(artifacts)))
        context_id = await world.start()
        before = tree(tmp_path)
        assert (await world.runtime.uploads.add(context_id, "x", b"content")).path == "uploads/x"
        assert tree(tmp_path) == before


# without a kernel that keeps a program to its workspace


@needs_sandbox
async def test_every_path_in_a_line_is_held_to_the_workspace(tmp_path: Path) -> None:
    """Not only the first path: a command without approval reads none of them."""
    root = tmp_path / "proj"
    root.mkdir()
    (root / "f").write_text("inside\n")
    (tmp_path / "secret").write_text(SECRET)
    lines = ["cat f ../secret", f"head -n1 f f {tmp_path}/secret", "grep -h . f ../secret f", "cat f < ../secret"]
    calls = [("execute", {"command": line}) for line in lines]
    world = World(root, _asks(*calls), DONE, tools=builtin_tools())
    context_id = await world.start("review")
    await world.turn(context_id)
    messages = "".join(getattr(message, "content", "") for message in await world.runtime.messages.read(context_id))
    assert SECRET not in messages
    assert all(record.confined for record in await world.dependencies.store.calls(context_id))
