"""No command and no MCP server has the key of a provider, in any mode, and a listed variable reaches only commands that
a person lets change something."""

import json
import os
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from pilothouse.app import build_runtime
from pilothouse.domain.messages import ToolResult
from pilothouse.domain.value import ContextId
from pilothouse.llm.providers import key_variables
from pilothouse.llm.script import Answer, Script, ScriptedCall
from pilothouse.llm.scripted import ScriptedAdapter
from pilothouse.runtime.runtime import Runtime
from pilothouse.settings import read_settings
from tests.support.kernel import needs_sandbox, needs_workspace_sandbox
from tests.support.mcp_tools import ready

FAKE_SERVER = Path(__file__).parents[1] / "tools/mcp/fake_server.py"
PRINTS = "env; printenv; cat /proc/self/environ | xargs -0 -n 1"
CHANGES = f"touch f; {PRINTS}; export -p; cat /proc/$PPID/environ"
PLANTED = dict.fromkeys((*key_variables(), "PILOTHOUSE_TOKEN", "PILOTHOUSE_MODEL", "AWS_SECRET"), "planted-key")


def calls(tool: str, **arguments: str) -> Answer:
    return Answer(calls=(ScriptedCall(tool=tool, arguments=arguments),))


@asynccontextmanager
async def opened(
    base: Path, monkeypatch: pytest.MonkeyPatch, *answers: Answer, sandbox: str = "off", settings: str = ""
) -> AsyncIterator[Runtime]:
    """The runtime as a person starts it, with keys in its environment, and one listed variable."""
    for name, value in PLANTED.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("LISTED", "listed-value")
    (base / "own").mkdir()
    (base / "work").mkdir()
    (base / "own/config.toml").write_text(f'{settings}\n[commands]\nenvironment = ["LISTED", "NOT_SET"]\n')
    (base / "own/tools.toml").write_text(f'[tools.execute]\nsandbox = "{sandbox}"\n')
    server = {"command": sys.executable, "args": [str(FAKE_SERVER), "healthy"]}
    (base / "own/mcp_servers.json").write_text(json.dumps({"mcpServers": {"fake": server}}))
    read = read_settings({}, model="demo", data_dir=str(base / "data"), config=str(base / "own/config.toml"))
    adapter = ScriptedAdapter(Script(turn=(*answers, Answer(text="done"))))
    async with build_runtime(read, os.environ, adapter=adapter) as runtime:
        yield runtime


async def result(runtime: Runtime, context_id: ContextId, *, waits: bool) -> str:
    """The result of the call, which a person approves if it waits."""
    await runtime.messages.send(context_id, "go")
    await runtime.turns.rested(context_id)
    assert bool(await runtime.calls.pending(context_id)) is waits
    await runtime.calls.approve_all(context_id)
    await runtime.turns.rested(context_id)
    messages = await runtime.messages.read(context_id)
    (content,) = [message.content for message in messages if isinstance(message, ToolResult)]
    assert "planted-key" not in content
    assert not any(f"{name}=" in content for name in PLANTED)
    return content


@pytest.mark.parametrize("sandbox", ["off", pytest.param("workspace", marks=needs_workspace_sandbox)])
@pytest.mark.parametrize(
    ("mode", "command", "waits", "is_listed"),
    [
        ("agent", PRINTS, False, True),
        ("agent", CHANGES, False, True),
        ("supervised", PRINTS, True, True),
        ("supervised", CHANGES, True, True),
        pytest.param("review", PRINTS, False, False, marks=needs_sandbox),
        ("review", CHANGES, True, True),
        pytest.param("plan", PRINTS, False, False, marks=needs_sandbox),
    ],
)
async def test_a_key_reaches_no_command_and_a_listed_variable_only_those_that_a_person_lets_change_something(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    sandbox: str,
    mode: str,
    command: str,
    waits: bool,
    is_listed: bool,
) -> None:
    answer = calls("execute", command=command)
    async with opened(
        tmp_path, monkeypatch, answer, sandbox=sandbox, settings='plan_commands = "read_only"'
    ) as runtime:
        context_id = await runtime.contexts.create(tmp_path / "work", mode=mode)
        content = await result(runtime, context_id, waits=waits)
    assert "PATH=" in content
    assert ("LISTED=listed-value" in content) is is_listed
    assert "NOT_SET" not in content


async def test_an_mcp_server_has_neither_a_key_nor_a_listed_variable(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with opened(tmp_path, monkeypatch, calls("fake__environment")) as runtime:
        await ready(runtime, "fake")
        context_id = await runtime.contexts.create(tmp_path / "work", mode="agent")
        content = await result(runtime, context_id, waits=False)
    assert '"PATH"' in content
    assert "LISTED" not in content
