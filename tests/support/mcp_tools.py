"""Helpers for tests of tools and folders: a scripted MCP server, trust in folders, bounded waits."""

import asyncio
import json
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from pilothouse.config.configuration import Configuration
from pilothouse.config.trust import Trust
from pilothouse.domain.value import Timestamp
from pilothouse.llm.script import Answer, ScriptedCall
from pilothouse.runtime.runtime import Runtime
from pilothouse.storage.files.store import FileStore
from pilothouse.testing.world import World
from pilothouse.tools.base import Tool
from pilothouse.tools.builtin import builtin_tools
from pilothouse.tools.mcp.definitions import MCPServerDefinition, mcp_server_warnings
from tests.support.live_contexts import pool_of
from tests.support.scale import HANG_SECONDS

PROGRAM = Path(__file__).with_name("mcp_tools_program.py")
NOW = Timestamp("2026-01-01T00:00:00.000Z")
DONE = Answer(text="done")


def answer_with_calls(*calls: tuple[str, dict[str, Any]]) -> Answer:
    """An answer of the model that asks for these calls."""
    return Answer(calls=tuple(ScriptedCall(tool=tool, arguments=arguments) for tool, arguments in calls))


def runs(command: str) -> Answer:
    return answer_with_calls(("execute", {"command": command}))


def writes(path: str, content: str) -> Answer:
    return answer_with_calls(("write_file", {"path": path, "content": content}))


def builtin_tools_for_world() -> list[Tool[Any]]:
    """The built-in tools, without those that the world has already."""
    return [tool for tool in builtin_tools() if tool.name not in ("ask_user", "delegate")]


def files_at(folder: Path) -> FileStore:
    return FileStore(folder / "data", now=lambda: NOW)


def configuration(folder: Path) -> Configuration:
    """The person's own files are in `folder/own`; records of trust in `folder/data`."""
    (folder / "own").mkdir(exist_ok=True)
    configuration = Configuration(folder / "own" / "config.toml")
    configuration.trust_store = Trust(folder / "data" / "trust.json", lambda: NOW)
    configuration.read_mcp_server_warnings = mcp_server_warnings
    return configuration


def tool_server(folder: Path, name: str = "docs", **more: Any) -> MCPServerDefinition:
    folder.mkdir(parents=True, exist_ok=True)
    return MCPServerDefinition(name=name, command=sys.executable, args=(str(PROGRAM), str(folder)), **more)


def set_server_tools(folder: Path, *tools: dict[str, Any]) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    draft = folder / "tools.draft"
    draft.write_text(json.dumps([{"description": f"It is {tool['name']}.", **tool} for tool in tools]))
    draft.replace(folder / "tools.json")


def log_of(folder: Path) -> list[str]:
    path = folder / "calls.log"
    return path.read_text(encoding="utf-8").splitlines() if path.exists() else []


def world_with_tools(folder: Path, *answers: Answer, workspace: Path | None = None, **options: Any) -> World:
    """A runtime with real tools, its data and the person's configuration, all in `folder`. A second one over
    the same folder is the next process."""
    where = workspace or folder / "workspace"
    where.mkdir(exist_ok=True)
    own = configuration(folder)
    defaults: dict[str, Any] = {
        "tools": builtin_tools_for_world(),
        "baseline_cache": folder / "data" / "cache" / "baselines",
        "trust": own,
        "workspace_policy": own.workspace_policy,
        "personas": own.personas,
        "modes": own.modes,
        "private_folders": (folder / "data", folder / "own"),
        **options,
    }
    return World(where, *answers, store=defaults.pop("store", None) or files_at(folder), **defaults)


async def ready(runtime: Runtime, *names: str, folders: Sequence[str] = ()) -> None:
    servers = pool_of(runtime).dependencies.mcp_servers
    assert servers is not None
    for name in names:
        connection = servers.find(name, set(folders))
        assert await connection.ready(HANG_SECONDS), connection.error


async def until(condition: Callable[[], bool], seconds: float = HANG_SECONDS) -> None:
    async with asyncio.timeout(seconds):
        while not condition():
            await asyncio.sleep(0.01)
