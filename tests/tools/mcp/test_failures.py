"""An MCP server that cannot be reached: one sentence with the failure, its cause, and what to do."""

import asyncio
import json
import os
import sys
import uuid
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from pilothouse.domain.codes import Code
from pilothouse.i18n import translate
from pilothouse.tools.mcp import session
from pilothouse.tools.mcp.definitions import MCPServerDefinition
from tests.tools.mcp.connections import connected, until

Answer = bytes | None


def fresh_name() -> str:
    """Tests run concurrently, and find left processes of a server by its name."""
    return f"far-{uuid.uuid4().hex[:8]}"


def http(status: str, kind: str = "text/html", body: str = "<html>", more: str = "") -> bytes:
    head = f"HTTP/1.1 {status}\r\ncontent-type: {kind}\r\ncontent-length: {len(body)}\r\nconnection: close\r\n{more}"
    return f"{head}\r\n{body}".encode()


@asynccontextmanager
async def answering(answer: Answer) -> AsyncIterator[int]:
    """A real server that gives the same bytes to everybody, or never answers."""
    writers: set[asyncio.StreamWriter] = set()

    async def take(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writers.add(writer)
        await reader.read(1)
        if answer is not None:
            writer.write(answer)
            writer.close()

    server = await asyncio.start_server(take, "127.0.0.1", 0)
    try:
        yield server.sockets[0].getsockname()[1]
    finally:
        server.close()
        for writer in writers:
            writer.close()


ADDRESSES: list[tuple[str, Answer, Code, str]] = [
    ("http", http("404 Not Found"), Code.MCP_NO_ENDPOINT, "HTTP 404"),
    ("http", http("405 Method Not Allowed"), Code.MCP_NO_ENDPOINT, "HTTP 405"),
    ("http", http("401 Unauthorized"), Code.MCP_UNAUTHORIZED, "headers"),
    ("http", http("403 Forbidden"), Code.MCP_UNAUTHORIZED, "HTTP 403"),
    ("http", http("500 Oh"), Code.MCP_HTTP_STATUS, "HTTP 500"),
    ("http", http("302 Found", more="location: http://127.0.0.1:1/x\r\n"), Code.MCP_REDIRECT, "127.0.0.1:1/x"),
    ("http", http("200 OK"), Code.MCP_NOT_MCP, "text/html"),
    ("http", http("200 OK", "text/plain", "hello"), Code.MCP_NOT_MCP, "text/plain"),
    ("http", http("200 OK", "application/json", '{"hello": 1}'), Code.MCP_NOT_MCP, "JSON"),
    ("http", http("200 OK", "application/json", "[" * 9999), Code.MCP_NOT_MCP, "JSON"),
    ("http", b"SSH-2.0-OpenSSH_9.6\r\n", Code.MCP_UNREACHABLE, "Can't connect"),
    ("http", b"", Code.MCP_UNREACHABLE, "Can't connect"),
    ("http", None, Code.MCP_SILENT, "didn't answer"),
    ("https", http("400 Bad Request"), Code.MCP_TLS, "start with http"),
]


@pytest.mark.parametrize(
    ("scheme", "answer", "code", "word"), ADDRESSES, ids=[f"{each[2].value} {each[3]}" for each in ADDRESSES]
)
async def test_the_error_of_an_unusable_address_says_why_and_what_to_do(
    scheme: str, answer: Answer, code: Code, word: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(session, "START_TIMEOUT_SECONDS", 1.5 if answer is None else 20.0)
    async with answering(answer) as port:
        await failing(
            MCPServerDefinition(name=fresh_name(), url=f"{scheme}://127.0.0.1:{port}/mcp?key=secret"), code, word
        )


async def test_an_address_without_a_server_is_reported() -> None:
    async with answering(b"") as port:
        pass
    await failing(
        MCPServerDefinition(name=fresh_name(), url=f"http://127.0.0.1:{port}/mcp"),
        Code.MCP_REFUSED,
        "nothing is listening",
    )
    await failing(
        MCPServerDefinition(name=fresh_name(), url="http://no-such-host.invalid/"),
        Code.MCP_UNKNOWN_HOST,
        "wasn't found",
    )


PROGRAMS: list[tuple[dict[str, Any], Code, str]] = [
    ({"command": "no-such-program"}, Code.MCP_PROGRAM_MISSING, "Install it"),
    ({"command": "/etc/passwd"}, Code.MCP_PROGRAM_MISSING, "full path"),
    ({"command": "true", "cwd": "/no/such"}, Code.MCP_FOLDER_MISSING, "'/no/such' doesn't exist"),
    ({"command": "sh", "args": ("-c", "echo no key >&2; exit 3")}, Code.MCP_PROGRAM_ENDED, "status 3: no key"),
    ({"command": "sh", "args": ("-c", "kill -9 $$")}, Code.MCP_PROGRAM_ENDED, "signal 9"),
    (
        {"command": "sh", "args": ("-c", "echo Usage: tool; exec sleep 1000")},
        Code.MCP_PROGRAM_PRINTS,
        "Usage: tool",
    ),
    ({"command": "sh", "args": ("-c", "exec yes")}, Code.MCP_PROGRAM_PRINTS, "'y'"),
    ({"command": "sh", "args": ("-c", "exec sleep 1000")}, Code.MCP_SILENT, "didn't answer"),
]


@pytest.mark.parametrize(("fields", "code", "word"), PROGRAMS, ids=[f"{each[1].value} {each[2]}" for each in PROGRAMS])
async def test_the_error_of_an_unusable_program_says_why_and_what_to_do(
    fields: dict[str, Any], code: Code, word: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(session, "START_TIMEOUT_SECONDS", 1.5 if code is Code.MCP_SILENT else 8.0)
    await failing(MCPServerDefinition(name=fresh_name(), **fields), code, word)


async def failing(definition: MCPServerDefinition, code: Code, word: str) -> None:
    async with connected(definition, is_ready=False) as it:
        await until(lambda: it.error is not None, 50)  # loading the SDK takes a while
        assert it.error is not None
        assert it.error.code is code
        for language in ("en", "zh"):
            sentence = translate(it.error, language)
            assert "\n" not in sentence
            assert len(sentence) < 400
            assert "secret" not in sentence
            assert not {"pydantic", "Error", "validation"} & set(sentence.replace(",", " ").split())
        assert word in translate(it.error)


@pytest.mark.parametrize(("language", "word"), [("C.UTF-8", "isn't an MCP server"), ("zh_CN.UTF-8", "不是 MCP 服务器")])
async def test_the_command_prints_one_line(tmp_path: Path, language: str, word: str) -> None:
    async with answering(http("200 OK", "application/json", '{"hello": 1}')) as port:
        servers = {"mcpServers": {"far": {"url": f"http://127.0.0.1:{port}/mcp"}}}
        (tmp_path / "mcp_servers.json").write_text(json.dumps(servers))
        (tmp_path / "config.toml").touch()
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "pilothouse", "mcp", "--config", str(tmp_path / "config.toml"), "test", "far"),
            env={**os.environ, "PILOTHOUSE_DATA_DIR": str(tmp_path / "data"), "LANG": language, "LC_ALL": language},
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
        )
        output, _ = await process.communicate()
    assert process.returncode == 1
    assert word in output.decode()
    assert output.decode().count("\n") == 1
