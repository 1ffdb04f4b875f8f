"""The built-in tools, run as the gate would run them."""

import asyncio
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from pilothouse.domain.codes import Code
from pilothouse.domain.errors import ToolError
from pilothouse.domain.value import CallId
from pilothouse.sandbox.command_environment import CommandEnvironment
from pilothouse.sandbox.workspace import Workspace
from pilothouse.tools.base import ToolContext, parse_arguments, schema_of
from pilothouse.tools.builtin import builtin_tools
from pilothouse.tools.executor import execute
from pilothouse.tools.registry import Registry
from tests.support.scale import HANG_SECONDS

TOOLS = Registry(builtin_tools())
ENVIRONMENT = CommandEnvironment.of({**os.environ, "OPENAI_API_KEY": "sk-planted", "PILOTHOUSE_TOKEN": "planted"})


async def use(root: Path, name: str, seconds: float = 30, **arguments: Any) -> str:
    """Prepare a call, then run it. Raises: ToolError."""
    tool = TOOLS.tools[name]
    workspace = Workspace(root, environment=ENVIRONMENT)
    parsed = parse_arguments(name, tool.parameters, arguments)
    prepared = await tool.prepare(parsed, workspace)
    if prepared.violation is not None:
        raise ToolError(prepared.violation.code, **prepared.violation.params)
    job = ToolContext(
        call_id=CallId(f"call-{os.getpid()}-{time.monotonic_ns()}"),
        workspace=workspace,
        content_hash=prepared.content_hash,
        seconds=seconds,
    )
    outcome = await execute(tool, parsed, job)
    if outcome.error is not None:
        raise ToolError(outcome.error.code, **outcome.error.params)
    return outcome.content


async def test_reading_whole_and_by_lines(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("1\n2\n3\n4\n")
    assert await use(tmp_path, "read_file", path="a") == "1\n2\n3\n4\n"
    assert await use(tmp_path, "read_file", path="a", start_line=2, end_line=3) == "2\n3\n"
    assert await use(tmp_path, "read_file", path="a", start_line=3) == "3\n4\n"
    (tmp_path / "empty").touch()
    assert await use(tmp_path, "read_file", path="empty") == ""
    with pytest.raises(ToolError, match="don't exist"):
        await use(tmp_path, "read_file", path="a", start_line=9)


async def test_reading_a_long_file_says_what_it_holds(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("x" * 99 + "\n" + ("y" * 99 + "\n") * 5000)
    text = await use(tmp_path, "read_file", path="a")
    assert len(text) < 41_000
    assert "of 5001 are shown; continue with start_line=401]" in text


async def test_a_binary_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"\xff\xfe\x00binary")
    with pytest.raises(ToolError, match="isn't a text file"):
        await use(tmp_path, "read_file", path="a")


async def test_listing(tmp_path: Path) -> None:
    (tmp_path / "b" / "c").mkdir(parents=True)
    (tmp_path / "a.txt").touch()
    (tmp_path / "out").symlink_to("/etc")
    (tmp_path / "b" / "in.txt").touch()
    os.close(os.open(os.fsencode(tmp_path) + b"/bad\xff", os.O_CREAT))
    assert await use(tmp_path, "list_directory") == "a.txt\nb/\nbad\\xff\nout@"
    assert "b/in.txt" in await use(tmp_path, "list_directory", depth=2)
    assert "passwd" not in await use(tmp_path, "list_directory", depth=3)
    assert await use(tmp_path, "list_directory", path="b/c") == "[empty]"


async def test_edits_are_exact_all_or_none(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("one two two\n")
    await use(tmp_path, "edit_file", path="a", edits=[{"old_text": "one", "new_text": "1"}])
    assert (tmp_path / "a").read_text() == "1 two two\n"
    with pytest.raises(ToolError, match="occurs 2 times"):
        await use(tmp_path, "edit_file", path="a", edits=[{"old_text": "two", "new_text": "2"}])
    with pytest.raises(ToolError, match="Edit 2"):
        await use(
            tmp_path,
            "edit_file",
            path="a",
            edits=[{"old_text": "1", "new_text": "x"}, {"old_text": "gone", "new_text": ""}],
        )
    assert (tmp_path / "a").read_text() == "1 two two\n"
    await use(tmp_path, "edit_file", path="a", edits=[{"old_text": "two", "new_text": "2", "replace_all": True}])
    assert (tmp_path / "a").read_text() == "1 2 2\n"


async def test_an_edit_keeps_windows_line_ends(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"one\r\ntwo\r\n")
    await use(tmp_path, "edit_file", path="a", edits=[{"old_text": "one\ntwo", "new_text": "1\n2"}])
    assert (tmp_path / "a").read_bytes() == b"1\r\n2\r\n"
    await use(tmp_path, "edit_file", path="a", edits=[{"old_text": "2", "new_text": "2a\n2b"}])
    assert (tmp_path / "a").read_bytes() == b"1\r\n2a\r\n2b\r\n"


async def test_a_write_shows_its_diff_first(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("old\n")
    tool = TOOLS.tools["write_file"]
    arguments = parse_arguments("write_file", tool.parameters, {"path": "a", "content": "new\n"})
    prepared = await tool.prepare(arguments, Workspace(tmp_path))
    assert prepared.preview is not None
    assert "-old" in prepared.preview
    assert "+new" in prepared.preview
    assert prepared.dangerous == ("overwrite",)


@pytest.mark.parametrize(
    ("before", "after", "shown"),
    [
        (b"one\n", "one\r\n", ["-one", "+one\r"]),
        (b"one\n", "one", ["-one", "+one", "\\ No newline at end of file"]),
        (b"one", "one\n", ["-one", "\\ No newline at end of file", "+one"]),
        (b"one\r\ntwo\r\n", "one\ntwo!\n", [" one", "-two", "+two!"]),
        (b"a\x0cb\n", "a\nb\n", ["-a\x0cb", "+a", "+b"]),
    ],
)
async def test_a_change_of_line_ends_alone_is_shown(
    tmp_path: Path, before: bytes, after: str, shown: list[str]
) -> None:
    (tmp_path / "a").write_bytes(before)
    tool = TOOLS.tools["write_file"]
    arguments = parse_arguments("write_file", tool.parameters, {"path": "a", "content": after})
    prepared = await tool.prepare(arguments, Workspace(tmp_path))
    assert prepared.preview is not None
    assert prepared.preview.split("\n")[3:] == shown


async def test_a_command_runs_and_its_failure_is_reported(tmp_path: Path) -> None:
    assert await use(tmp_path, "execute", command="echo hello; pwd") == f"hello\n{tmp_path}\n"
    (tmp_path / "sub").mkdir()
    assert await use(tmp_path, "execute", command="pwd", cwd="sub") == f"{tmp_path}/sub\n"
    assert "[exit code 3]" in await use(tmp_path, "execute", command="echo no >&2; exit 3")
    assert "[exit code 0]" in await use(tmp_path, "execute", command="true")
    with pytest.raises(ToolError) as caught:
        await use(tmp_path, "execute", command="pwd", cwd="/")
    assert caught.value.reason.code is Code.OUTSIDE_WORKSPACE


async def test_a_command_has_no_secrets_and_no_input(tmp_path: Path) -> None:
    output = await use(tmp_path, "execute", command="env; cat; cat /proc/$PPID/environ 2>/dev/null | tr '\\0' '\\n'")
    assert "planted" not in output
    assert "PATH=" in output


async def test_output_is_bounded_and_keeps_head_and_tail(tmp_path: Path) -> None:
    output = await use(tmp_path, "execute", command="echo first; yes | head -c 200000000; echo last")
    assert len(output) < 50_000
    assert output.startswith("first")
    assert output.endswith("last\n")
    assert "bytes left out" in output


async def test_a_command_ends_at_its_time_limit_with_its_output(tmp_path: Path) -> None:
    with pytest.raises(ToolError, match="before") as caught:
        await use(tmp_path, "execute", command="echo before; sleep 60", timeout=0.3)
    assert "ended after 0.3 seconds" in str(caught.value)
    with pytest.raises(ToolError):
        await use(tmp_path, "execute", command="trap '' TERM INT; sleep 60", seconds=0.3)


async def process_is_gone(path: Path) -> bool:
    """Whether the process that wrote its number into a file is dead, within two seconds."""
    for _ in range(100):
        try:
            os.kill(int(path.read_text()), 0)
            stat = Path(f"/proc/{path.read_text().strip()}/stat").read_text()
            if stat.rsplit(")", 1)[1].split()[0] == "Z":
                return True
        except (ProcessLookupError, FileNotFoundError):
            return True
        await asyncio.sleep(0.02)
    return False


DAEMONS = [
    "sleep 1000 & echo $! > pid",
    "setsid sleep 1000 & echo $! > pid",
    "nohup setsid sh -c 'echo $$ > pid; exec sleep 1000' >/dev/null 2>&1 & sleep 0.2",
]


@pytest.mark.parametrize("command", DAEMONS)
async def test_no_process_of_a_command_outlives_its_call(tmp_path: Path, command: str) -> None:
    await use(tmp_path, "execute", command=command)
    assert await process_is_gone(tmp_path / "pid")


async def test_cancelling_ends_the_whole_group_at_once(tmp_path: Path) -> None:
    task = asyncio.create_task(
        use(tmp_path, "execute", command="sh -c 'echo $$ > pid; sleep 1000'; echo never > after")
    )
    while not (tmp_path / "pid").exists() or not (tmp_path / "pid").read_text():
        await asyncio.sleep(0.01)
    task.cancel()
    async with asyncio.timeout(HANG_SECONDS):
        await asyncio.wait({task})
    assert await process_is_gone(tmp_path / "pid")
    assert not (tmp_path / "after").exists()


async def test_a_command_dies_with_a_runtime_that_is_killed(tmp_path: Path) -> None:
    code = (
        "import asyncio, os, sys; from pathlib import Path\n"
        "from pilothouse.sandbox.workspace import Workspace; from pilothouse.tools.base import ToolContext\n"
        "from pilothouse.tools.builtin.execute import Execute, ExecuteArguments\n"
        "job = ToolContext(call_id='c', workspace=Workspace(Path(sys.argv[1])))\n"
        "asyncio.run(Execute().run(ExecuteArguments('echo $$ > pid; sleep 1000'), job))"
    )
    with subprocess.Popen([sys.executable, "-c", code, str(tmp_path)]) as runtime:
        while not (tmp_path / "pid").exists() or not (tmp_path / "pid").read_text():
            await asyncio.sleep(0.01)
        runtime.send_signal(signal.SIGKILL)
        runtime.wait()
    assert await process_is_gone(tmp_path / "pid")


def test_schemas_are_self_contained() -> None:
    for tool in TOOLS.tools.values():
        schema = schema_of(tool.parameters)
        assert schema["type"] == "object"
        assert schema["additionalProperties"] is False
    edits = schema_of(TOOLS.tools["edit_file"].parameters)
    assert edits["properties"]["edits"]["items"]["$ref"] == "#/$defs/Edit"
    assert "Edit" in edits["$defs"]


async def test_mixed_line_ends_stay_unchanged(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"one\ntwo\nthree\r\nfour\r\n")
    edits = [{"old_text": "one\ntwo", "new_text": "1\n2"}, {"old_text": "three\nfour", "new_text": "3\n4"}]
    await use(tmp_path, "edit_file", path="a", edits=edits)
    assert (tmp_path / "a").read_bytes() == b"1\n2\n3\r\n4\r\n"


async def test_an_edit_that_would_explode_is_refused_before_it_does(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("a" * 200_000)
    edits = [{"old_text": "a", "new_text": "b" * 5000, "replace_all": True}]
    with pytest.raises(ToolError, match="at most"):
        await use(tmp_path, "edit_file", path="a", edits=edits)


async def test_a_shortened_preview_is_marked_and_shows_both_ends(tmp_path: Path) -> None:
    tool = TOOLS.tools["write_file"]
    content = "\n".join(f"harmless {number}" for number in range(6000)) + "\nrm -rf everything"
    arguments = parse_arguments("write_file", tool.parameters, {"path": "a", "content": content})
    prepared = await tool.prepare(arguments, Workspace(tmp_path))
    assert prepared.preview is not None
    assert "rm -rf everything" in prepared.preview
    assert re.search(r"^\[… \d+,\d{3} characters are not shown …\]$", prepared.preview, re.MULTILINE)
    assert "not shown whole" in prepared.dangerous


async def test_the_head_of_a_diff_shows_every_character_of_the_path(tmp_path: Path) -> None:
    tool = TOOLS.tools["write_file"]
    for path in ("a\n+++ b.txt", "a\u200b\u00a0.txt"):
        arguments = parse_arguments("write_file", tool.parameters, {"path": path, "content": "x\n"})
        prepared = await tool.prepare(arguments, Workspace(tmp_path))
        shown = path.replace("\n", "⟨U+000A⟩").replace("\u200b", "⟨U+200B⟩").replace("\u00a0", "⟨U+00A0⟩")
        assert (prepared.preview or "").splitlines()[:2] == [f"--- {shown}", f"+++ {shown}"]


async def test_a_comparison_that_would_take_long_is_not_made(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("\n".join(str(n % 7) for n in range(40_000)))
    tool = TOOLS.tools["write_file"]
    content = "\n".join(str(n % 11) for n in range(40_000))
    arguments = parse_arguments("write_file", tool.parameters, {"path": "a", "content": content})
    async with asyncio.timeout(HANG_SECONDS):
        prepared = await tool.prepare(arguments, Workspace(tmp_path))
    assert "too many to compare" in (prepared.preview or "")


async def test_lines_are_counted_as_editors_count_them(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("one\x0cstill one\u2028still one\ntwo\n")
    assert await use(tmp_path, "read_file", path="a", start_line=2) == "two\n"


async def test_a_background_process_that_prints_for_ever_does_not_hold_the_call(tmp_path: Path) -> None:
    async with asyncio.timeout(HANG_SECONDS):
        await use(tmp_path, "execute", command="yes & true")


async def test_daemons_that_multiply_are_found(tmp_path: Path) -> None:
    command = "for k in 1 2 3 4 5 6 7 8; do (setsid sh -c 'setsid sh -c \"sleep 0.5; touch canary\" &' &); done"
    for _ in range(10):
        await use(tmp_path, "execute", command=command)
    await asyncio.sleep(0.8)
    assert not (tmp_path / "canary").exists()


async def test_a_command_at_its_time_limit_returns_the_output_so_far(tmp_path: Path) -> None:
    with pytest.raises(ToolError, match="so far:\nhi"):
        await use(tmp_path, "execute", command="echo hi; sleep 60", seconds=0.3)


async def test_a_cancelled_write_does_not_land_later(tmp_path: Path) -> None:
    for number in range(20):
        task = asyncio.create_task(use(tmp_path, "write_file", path=f"f{number}", content="x"))
        await asyncio.sleep(0.0003 * number)
        task.cancel()
        await asyncio.wait({task})
        there = (tmp_path / f"f{number}").exists()
        await asyncio.sleep(0.02)
        assert (tmp_path / f"f{number}").exists() == there
