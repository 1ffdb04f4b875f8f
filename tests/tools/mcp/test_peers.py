"""Real servers, as they are published: over standard input and output, and over HTTP."""

import asyncio
import contextlib
import json
import socket
import subprocess
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from pilothouse.domain.errors import ToolError
from pilothouse.i18n import translate
from pilothouse.testing.ambient import ManualAmbient
from pilothouse.tools.mcp.definitions import MCPServerDefinition
from tests.support.scale import HANG_SECONDS
from tests.tools.mcp.connections import ENVIRONMENT, connected, until

BIN = Path(sys.executable).parent


async def answers(message: str, schema: dict[str, Any]) -> dict[str, Any] | None:
    return dict.fromkeys(schema["required"], "Ada")


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@contextlib.asynccontextmanager
async def listening(*command: str, port: int) -> AsyncIterator[subprocess.Popen[bytes]]:
    """An MCP server at a local port."""
    process = subprocess.Popen(
        command, env={**ENVIRONMENT, "PORT": str(port)}, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    try:
        await until(lambda: process.poll() is not None or accepts(port), 20)
        assert process.poll() is None
        yield process
    finally:
        process.kill()
        process.wait()


def accepts(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


async def uses_everything(definition: MCPServerDefinition) -> None:
    async with connected(definition) as it:
        assert it.protocol == "2025-11-25"
        assert {"echo", "get-sum", "trigger-elicitation-request"} <= {tool.name for tool in it.tools}
        assert (await it.call("echo", {"message": "hello"})).text == "Echo: hello"
        assert "bytes, not shown]" in (await it.call("get-tiny-image", {})).text
        both = [it.call("get-sum", {"a": n, "b": 1}) for n in (1, 41)]
        first, second = await asyncio.gather(*both)
        assert "is 2." in first.text
        assert "is 42." in second.text
        assert "Ada" in (await it.call("trigger-elicitation-request", {}, asker=answers)).text
        assert "declined" in (await it.call("trigger-elicitation-request", {})).text
        with pytest.raises(ToolError, match="time limit"):
            await it.call("trigger-long-running-operation", {"duration": 20, "steps": 20}, seconds=0.5)
        assert it.has_resources
        resources = await it.resources()
        assert resources
        (part,) = await it.read_resource(resources[0].uri)
        assert isinstance(part.content, str)
        assert part.content
        assert "args-prompt" in [prompt.name for prompt in it.prompts]
        assert "Oslo" in await it.prompt("args-prompt", {"city": "Oslo"})
        with pytest.raises(ToolError):
            await it.read_resource("demo://no/such/thing")
        assert it.restarts == 0


async def test_every_feature_works_over_standard_input(peers: Path) -> None:
    await uses_everything(MCPServerDefinition(name="everything", command=str(peers / "mcp-server-everything")))


async def test_every_feature_works_over_http(peers: Path) -> None:
    port = free_port()
    async with listening(str(peers / "mcp-server-everything"), "streamableHttp", port=port):
        await uses_everything(MCPServerDefinition(name="everything-http", url=f"http://127.0.0.1:{port}/mcp"))


async def test_over_http_a_question_belongs_to_its_call(peers: Path) -> None:
    port = free_port()
    async with listening(str(peers / "mcp-server-everything"), "streamableHttp", port=port):
        definition = MCPServerDefinition(name="asking-http", url=f"http://127.0.0.1:{port}/mcp")
        async with connected(definition) as it:
            questions: list[str] = []

            def asker(name: str) -> Any:
                async def ask(message: str, schema: dict[str, Any]) -> dict[str, Any] | None:
                    questions.append(name)
                    await asyncio.sleep(0.2)
                    return dict.fromkeys(schema["required"], name)

                return ask

            calls = [it.call("trigger-elicitation-request", {}, asker=asker(name)) for name in ("Ada", "Bob")]
            ada, bob = await asyncio.gather(*calls)
            assert sorted(questions) == ["Ada", "Bob"]
            assert "Ada" in ada.text
            assert "Bob" not in ada.text
            assert "Bob" in bob.text


async def test_a_server_at_an_address_that_comes_back_is_found_again(peers: Path) -> None:
    port = free_port()
    command = (str(peers / "mcp-server-everything"), "streamableHttp")
    definition = MCPServerDefinition(name="returning", url=f"http://127.0.0.1:{port}/mcp")
    async with listening(*command, port=port) as process, connected(definition) as it:
        call = asyncio.create_task(it.call("trigger-long-running-operation", {"duration": 20, "steps": 2}))
        await asyncio.sleep(0.3)
        process.kill()
        async with asyncio.timeout(HANG_SECONDS):
            with pytest.raises(ToolError, match="ended during the call"):
                await call
        process.wait()
        await until(lambda: it.status == "waiting")
        async with listening(*command, port=port):
            assert await it.ready(20)
            assert (await it.call("echo", {"message": "again"})).text == "Echo: again"
            assert it.restarts > 0


async def test_an_address_without_anybody_fails_in_the_end() -> None:
    definition = MCPServerDefinition(name="nobody", url=f"http://127.0.0.1:{free_port()}/mcp")
    async with connected(definition, ambient=ManualAmbient(), is_ready=False) as it:
        assert not await it.ready(20)
        assert it.status == "failed"
        assert it.error is not None
        assert "Can't connect" in translate(it.error)


async def test_a_server_of_the_current_revision_over_http() -> None:
    port = free_port()
    program = str(Path(__file__).with_name("modern_server.py"))
    async with listening(sys.executable, program, str(port), port=port):
        definition = MCPServerDefinition(name="modern-http", url=f"http://127.0.0.1:{port}/mcp")
        async with connected(definition) as it:
            assert it.protocol == "2026-07-28"

            async def red(message: str, schema: dict[str, Any]) -> dict[str, Any] | None:
                return {"colour": message[-6:-1]}

            calls = [it.call("paint", {"thing": thing}, asker=red) for thing in ("house", "barge")]
            assert [result.text for result in await asyncio.gather(*calls)] == ["house is house", "barge is barge"]
            await it.call("change", {})
            await until(lambda: "added" in [tool.name for tool in it.tools])


async def test_the_file_system_server_works_in_its_folder(peers: Path, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("inside")
    definition = MCPServerDefinition(name="files", command=str(peers / "mcp-server-filesystem"), args=(str(tmp_path),))
    async with connected(definition) as it:
        assert (await it.call("read_text_file", {"path": str(tmp_path / "a.txt")})).text == "inside"
        assert (await it.call("read_text_file", {"path": "/etc/hostname"})).is_error
        await it.call("write_file", {"path": str(tmp_path / "b.txt"), "content": "new"})
        assert (tmp_path / "b.txt").read_text() == "new"
        hints = {tool.name: tool.read_only for tool in it.tools}
        assert hints["read_text_file"] is True
        assert hints["write_file"] is not True


async def test_the_memory_server_stores_entities(peers: Path, tmp_path: Path) -> None:
    environment = {"MEMORY_FILE_PATH": str(tmp_path / "memory.json")}
    async with connected(
        MCPServerDefinition(name="memory", command=str(peers / "mcp-server-memory"), env=environment)
    ) as it:
        entity = {"name": "Ada", "entityType": "person", "observations": ["wrote the first program"]}
        await it.call("create_entities", {"entities": [entity]})
        assert "first program" in (await it.call("search_nodes", {"query": "Ada"})).text


async def test_the_git_server_reads_a_repository(tmp_path: Path) -> None:
    subprocess.run(["git", "init", "-q", str(tmp_path)], check=True)
    (tmp_path / "a.txt").write_text("x")
    definition = MCPServerDefinition(name="git", command=str(BIN / "mcp-server-git"), args=("-r", str(tmp_path)))
    async with connected(definition) as it:
        assert "a.txt" in (await it.call("git_status", {"repo_path": str(tmp_path)})).text


async def test_the_time_server_returns_the_time() -> None:
    async with connected(MCPServerDefinition(name="time", command=str(BIN / "mcp-server-time"))) as it:
        result = await it.call("get_current_time", {"timezone": "Europe/Oslo"})
        assert json.loads(result.text)["timezone"] == "Europe/Oslo"
