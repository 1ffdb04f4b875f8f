"""Abilities and results of confined commands: cases found in code review."""

import ctypes
import os
import resource
import subprocess
from pathlib import Path

import pytest

from pilothouse.domain.codes import Code, Language, Reason
from pilothouse.domain.decisions import CallFacts, PolicySnapshot, must_be_confined
from pilothouse.domain.messages import ToolResult
from pilothouse.domain.modes import Modes
from pilothouse.domain.value import CallId
from pilothouse.i18n import mode_title, translate
from pilothouse.sandbox import confinement, landlock, processes
from pilothouse.sandbox.workspace import Workspace
from pilothouse.tools.base import ToolContext
from pilothouse.tools.builtin.execute import Execute, ExecuteArguments
from tests.support.kernel import needs_sandbox
from tests.support.mcp_tools import DONE, runs, world_with_tools

MODES = Modes()
LANGUAGES: tuple[Language, ...] = ("en", "zh")


async def use(workspace: Workspace, command: str, *, confined: bool = True) -> str:
    job = ToolContext(CallId(f"call-{os.urandom(6).hex()}"), workspace, confined=confined)
    return (await Execute().run(ExecuteArguments(command), job)).content


@pytest.mark.parametrize("status", [0, 1, 2, 125, 126, 127, 130, 143, 255])
@pytest.mark.parametrize("confined", [True, False])
async def test_a_command_keeps_its_exit_status(tmp_path: Path, status: int, confined: bool) -> None:
    output = await use(Workspace(tmp_path), f"echo said; exit {status}", confined=confined)
    names = {130: " (SIGINT)", 143: " (SIGTERM)"}
    assert output == ("said\n" if status == 0 else f"said\n\n[exit code {status}{names.get(status, '')}]")


def test_a_command_starts_where_the_hard_limit_on_core_files_is_zero() -> None:
    """Only who has CAP_SYS_RESOURCE may raise it."""
    drop = ["setpriv", "--bounding-set", "-sys_resource"] if os.geteuid() == 0 else []
    with (
        processes.memory_file(processes.encode_orders(confinement.UNCONFINED, {})) as orders,
        subprocess.Popen(
            [*drop, *processes._supervisor_argv(confinement.UNCONFINED, 8, orders), "/bin/echo", "said"],
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CORE, (0, 0)),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            pass_fds=(orders,),
        ) as process,
    ):
        assert process.stdout is not None
        assert process.stdout.read() == b"said\n"
    assert process.returncode == 0


@pytest.mark.parametrize(("version", "size"), [(1, 8), (3, 8), (4, 16), (5, 16), (6, 24), (9, 24)])
def test_the_kernel_gets_the_attribute_size_of_its_landlock_version(
    monkeypatch: pytest.MonkeyPatch, version: int, size: int
) -> None:
    """The kernel reads as many bytes as the given size, even beyond the attributes."""
    sizes: list[int] = []

    class System:
        def syscall(self, _number: ctypes.c_long, _attributes: object, size: ctypes.c_size_t, _flags: object) -> int:
            sizes.append(size.value)
            return 3

    monkeypatch.setattr(landlock, "load_libc", System)
    assert landlock._create(1, 0, 0, version) == 3
    assert sizes == [size]
    assert size <= ctypes.sizeof(landlock._Attributes)


async def test_a_link_in_the_workspace_opens_nothing_that_it_leads_to(tmp_path: Path) -> None:
    root, outside = tmp_path / "work", tmp_path / "outside"
    (root / "data").mkdir(parents=True)
    outside.mkdir()
    (outside / "key").write_text("planted")
    (root / "data" / "token").write_text("planted")
    (root / "own.txt").write_text("mine")
    (root / "out").symlink_to(outside)
    (root / "in").symlink_to("data")
    for private in ([], [root / "data"]):
        workspace = Workspace(root, private=private)
        output = await use(workspace, f"cat out/key {outside}/key; cat own.txt")
        assert ("planted" in output, "mine" in output) == (False, True)
    output = await use(workspace, "cat data/token in/token; ls")
    assert "planted" not in output
    assert "own.txt" in output


async def test_a_folders_own_configuration_can_be_read(tmp_path: Path) -> None:
    (tmp_path / ".pilothouse").mkdir()
    (tmp_path / ".pilothouse/config.toml").write_text("mode = 'plan'\n")
    assert "plan" in await use(Workspace(tmp_path), "cat .pilothouse/config.toml")


@pytest.mark.parametrize(
    ("mode", "above", "elevated", "confined"),
    [
        ("review", None, False, True),
        ("review", None, True, False),
        ("agent", None, False, False),
        ("agent", "review", False, True),
        ("agent", "agent", False, False),
    ],
)
def test_undo_is_confined_unless_a_person_approved_it(
    mode: str, above: str | None, elevated: bool, confined: bool
) -> None:
    facts = CallFacts(tool="undo", effect="mutating", digest="d")
    those_above = (PolicySnapshot(mode=MODES.all[above]),) if above is not None else ()
    standing = PolicySnapshot(mode=MODES.all[mode], elevated=elevated, ancestors=those_above)
    assert must_be_confined(facts, standing, None) is confined


@needs_sandbox
async def test_the_note_that_review_ignores_personal_git_settings_appears_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    world = world_with_tools(tmp_path, runs("git --version"), runs("git --version"), DONE)
    home = tmp_path / "home"
    home.mkdir()
    (home / ".gitconfig").write_text("[alias]\n\tst = status\n")
    monkeypatch.setenv("HOME", str(home))
    async with world.runtime:
        context_id = await world.start("review")
        await world.turn(context_id, "go")
        messages = await world.runtime.messages.read(context_id)
    results = [each.content for each in messages if isinstance(each, ToolResult)]
    assert ["~/.gitconfig" in each for each in results] == [True, False]


def test_a_refused_path_outside_says_that_no_approval_helps_and_what_does() -> None:
    for language in LANGUAGES:
        text = translate(Reason(Code.OUTSIDE_WORKSPACE, {"path": "/etc/hosts"}), language)
        assert all(
            word in text
            for word in ("[[roots]]", *(mode_title(Modes().named(mode), language) for mode in ("supervised", "agent")))
        )
