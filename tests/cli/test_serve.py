"""`pilothouse serve` as a process: one link, a clean stop, ports, users, and no secret in its log."""

import asyncio
import contextlib
import json
import os
import pty
import re
import signal
import socket
import stat
import sys
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import aiohttp
import pytest

from pilothouse.client import Client
from pilothouse.server.address import FILE, address_of_server, published_address
from pilothouse.server.serve import DEFAULT_PORT
from pilothouse.server.state import WEB_FOLDER
from pilothouse.server.tokens import Tokens
from pilothouse.system.ambient import SystemAmbient

SLOW = {"turn": [{"deltas": ["word "] * 2000, "delta_delay": 0.01}]}


class Process:
    """A running `pilothouse serve` and its output."""

    def __init__(self, process: asyncio.subprocess.Process, lines: list[str], folder: Path, token: str | None) -> None:
        self.process = process
        self.lines = lines
        link = re.search(r"http://\S+", lines[-1])
        assert link is not None
        parts = urlsplit(link[0])
        self.url = f"{parts.scheme}://{parts.netloc}"
        self.port = parts.port
        self.token = token or Tokens(folder / "data/tokens.json", SystemAmbient()).renew("local")

    async def end(self, number: int = signal.SIGTERM) -> tuple[int, str, str]:
        self.process.send_signal(number)
        out, err = await self.process.communicate()
        assert self.process.returncode is not None
        return self.process.returncode, out.decode(), err.decode()


def environment(folder: Path, **more: str) -> dict[str, str]:
    variables = {name: value for name, value in os.environ.items() if not name.startswith(("PILOTHOUSE", "OPENAI"))}
    own = {"PILOTHOUSE_DATA_DIR": str(folder / "data"), "XDG_CONFIG_HOME": str(folder / "config"), "LANG": "C.UTF-8"}
    return {**variables, **own, **more}


PILOTHOUSE = (sys.executable, "-m", "pilothouse.cli")


async def launch(
    folder: Path, *options: str, program: Sequence[str] = PILOTHOUSE, **more: str
) -> asyncio.subprocess.Process:
    root = folder / "root"
    root.mkdir(exist_ok=True)
    return await asyncio.create_subprocess_exec(
        *(*program, *options),
        cwd=root,
        env=environment(folder, **more),
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )


@asynccontextmanager
async def served(
    folder: Path, *options: str, program: Sequence[str] = PILOTHOUSE, **more: str
) -> AsyncIterator[Process]:
    command = ("serve", "--no-open", *(options or ("--port", "0")))
    process = await launch(folder, *command, program=program, **more)
    assert process.stdout is not None
    try:
        lines: list[str] = []
        while not lines or "http://" not in lines[-1]:
            line = (await process.stdout.readline()).decode()
            assert line, (await process.communicate())[1].decode()
            lines.append(line)
        yield Process(process, lines, folder, more.get("PILOTHOUSE_TOKEN"))
    finally:
        if process.returncode is None:
            process.kill()
            await process.communicate()


async def ran(folder: Path, *options: str, **more: str) -> tuple[int, str, str]:
    process = await launch(folder, *options, **more)
    out, err = await process.communicate()
    assert process.returncode is not None
    return process.returncode, out.decode(), err.decode()


async def confirmed(http: aiohttp.ClientSession, link: str) -> int:
    """Open a sign-in link and press its button; the status of the next page."""
    parts = urlsplit(link)
    origin = f"{parts.scheme}://{parts.netloc}"
    async with http.get(link) as page:
        assert page.status == 200
    (code,) = parse_qs(parts.query)["code"]
    page_url = f"{origin}{parts.path}"
    async with http.post(page_url, data={"code": code}, headers={"origin": origin}) as shown:
        return shown.status


async def test_the_link_of_the_open_command_signs_a_browser_in_once(tmp_path: Path) -> None:
    async with served(tmp_path) as server, aiohttp.ClientSession(cookie_jar=aiohttp.CookieJar(unsafe=True)) as http:
        async with http.get(server.url) as closed:
            assert closed.status == 401
            assert "pilothouse open" in await closed.text()
        code, link, _ = await ran(tmp_path, "open", "--no-open")
        assert code == 0
        assert link.startswith(f"{server.url}/?code=")
        assert await confirmed(http, link.strip()) == (200 if (WEB_FOLDER / "index.html").exists() else 503)
        async with http.get(f"{server.url}/assets/docs.css") as asset:
            assert asset.status == 200
        async with http.get(f"{server.url}/api/docs") as docs:
            assert docs.status == 200
        async with aiohttp.ClientSession() as another, another.get(link.strip()) as used:
            assert used.status == 401
        tokens = tmp_path / "data" / "tokens.json"
        assert stat.S_IMODE(tokens.stat().st_mode) == 0o600
        assert parse_qs(urlsplit(link.strip()).query)["code"][0] not in tokens.read_text()
        assert server.token not in tokens.read_text()
        cookies = [cookie.value for cookie in http.cookie_jar]
        assert [value for value in cookies if value in tokens.read_text()] == []
        assert (await server.end())[0] == 0
    code, out, err = await ran(tmp_path, "open")
    assert (code, out) == (1, "")
    assert "pilothouse serve" in err


async def test_a_server_whose_output_is_no_terminal_prints_no_link_and_says_where_to_get_one(tmp_path: Path) -> None:
    data = str(tmp_path / "data")
    async with served(tmp_path, "--port", "0", "--data-dir", data) as server:
        _, out, err = await server.end()
        written = "".join(server.lines) + out + err
        assert "code=" not in written
        assert "token=" not in written
        assert f"pilothouse open --data-dir {data}" in written


async def test_a_server_in_a_terminal_prints_one_link_that_signs_in(tmp_path: Path) -> None:
    root = tmp_path / "root"
    root.mkdir()
    main, side = pty.openpty()
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "pilothouse.cli", "serve", "--no-open", "--port", "0"),
        cwd=root,
        env=environment(tmp_path),
        stdout=side,
        stderr=asyncio.subprocess.PIPE,
    )
    os.close(side)
    try:
        shown = ""
        while not re.search(r"\?code=\S+\s", shown):
            shown += (await asyncio.to_thread(os.read, main, 4096)).decode()
        (link,) = re.findall(r"http://\S+", shown)
        async with aiohttp.ClientSession(cookie_jar=aiohttp.CookieJar(unsafe=True)) as http:
            assert await confirmed(http, link) in (200, 503)
    finally:
        process.kill()
        await process.communicate()
        os.close(main)


async def test_a_new_token_of_a_user_replaces_the_old_one_and_signs_their_browsers_out(tmp_path: Path) -> None:
    async with served(tmp_path) as server, aiohttp.ClientSession(cookie_jar=aiohttp.CookieJar(unsafe=True)) as http:
        assert await confirmed(http, (await ran(tmp_path, "open", "--no-open"))[1].strip()) in (200, 503)
        code, out, _ = await ran(tmp_path, "users", "token", "local")
        assert code == 0
        async with http.get(f"{server.url}/api/health") as answer:
            assert answer.status == 401
        async with http.get(f"{server.url}/api/health", headers={"authorization": f"Bearer {out.strip()}"}) as answer:
            assert answer.status == 200
        async with http.get(f"{server.url}/api/health", headers={"authorization": f"Bearer {server.token}"}) as answer:
            assert answer.status == 401
        code, out, err = await ran(tmp_path, "users", "token", "nobody")
        assert (code != 0, out) == (True, "")
        assert "nobody" in err
        code, out, err = await ran(tmp_path, "users", "token", "local", PILOTHOUSE_TOKEN="one-of-my-own-and-long")
        assert (code != 0, out) == (True, "")
        assert "PILOTHOUSE_TOKEN" in err


async def test_users_of_a_shared_server_are_warned_that_they_share_one_accounts_rights(tmp_path: Path) -> None:
    code, out, err = await ran(tmp_path, "users", "add", "anna")
    assert code == 0
    assert "can read and change whatever this account can" in err
    assert "anna, local" in err
    async with served(tmp_path) as server, Client(server.url, server.token) as client:
        (warning,) = (await client.request("GET", "/api/health"))["warnings"]
        assert "can read and change whatever this account can" in warning
        async with Client(server.url, out.strip()) as anna:
            assert (await anna.request("GET", "/api/health"))["warnings"] == [], "names are for who runs the server"
        _, _, log = await server.end()
        assert "can read and change whatever this account can" in log


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
async def test_a_clean_stop_notifies_clients_marks_the_turn_and_keeps_the_partial_answer(
    tmp_path: Path, number: int
) -> None:
    script = tmp_path / "script.json"
    script.write_text(json.dumps(SLOW))
    async with served(tmp_path, PILOTHOUSE_MODEL=f"scripted:{script}") as server:
        async with Client(server.url, server.token) as client:
            context_id = (await client.request("POST", "/api/contexts", {}))["context_id"]
            path = f"/api/contexts/{context_id}"
            stream = client.events("GET", f"{path}/stream")
            await anext(stream)
            await client.send(context_id, "go")
            async for name, data in stream:
                if name == "ContentDelta" and data["sequence"] > 3:
                    break
            message_id = data["message_id"]
            response = await client.request("GET", f"{path}/messages/{message_id}/content")
            server.process.send_signal(number)
            last = [data async for name, data in stream if name == "Error"]
            assert [data["code"] for data in last] == ["server_stopping"]
        out, err = await server.process.communicate()
        assert server.process.returncode == 0
        assert "Stopping" in out.decode()
        assert '"level":"error"' not in err.decode()
    metadata = json.loads((tmp_path / "data" / "contexts" / context_id / "metadata.json").read_text())
    assert (metadata.get("last_turn"), metadata.get("turn")) == ("interrupted", None)
    async with (
        served(tmp_path, PILOTHOUSE_MODEL=f"scripted:{script}") as server,
        Client(server.url, server.token) as client,
    ):
        context = await client.request("GET", path)
        assert (context["last_turn"], context["current_state"]) == ("interrupted", {"type": "idle"})
        content = f"{path}/messages/{message_id}/content"
        after = await client.request("GET", content)
        assert after[: len(response)] == response
        assert await client.request("GET", f"{content}?from_sequence={len(response)}") == after[len(response) :]


@pytest.mark.parametrize("by", ["option", "file"])
async def test_a_named_port_that_is_taken_is_an_error_that_says_what_to_do(tmp_path: Path, by: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        config = tmp_path / "config.toml"
        config.write_text(f"[server]\nport = {port}\n" if by == "file" else "")
        options = ("--port", str(port)) if by == "option" else ()
        code, out, err = await ran(tmp_path, "serve", "--no-open", "--config", str(config), *options)
    assert (code, out) == (4, "")
    assert f"127.0.0.1:{port}" in err
    assert "--port" in err


async def test_only_the_usual_port_moves_on_to_the_next_free_one(tmp_path: Path) -> None:
    with contextlib.ExitStack() as stack:
        with contextlib.suppress(OSError):  # another program has it already
            stack.enter_context(socket.create_server(("127.0.0.1", DEFAULT_PORT)))
        async with served(tmp_path, "--host", "127.0.0.1") as server:
            assert DEFAULT_PORT < (server.port or 0) < DEFAULT_PORT + 50


async def test_new_contexts_work_in_the_start_folder_or_the_configured_one(tmp_path: Path) -> None:
    inner = tmp_path / "root" / "inner"
    inner.mkdir(parents=True)
    (tmp_path / "elsewhere").mkdir()
    for options, wanted in (
        (("--root", ".."), tmp_path / "root"),
        (("--root", "..", "--workspace", "inner"), inner),
        (("--workspace", "inner"), inner),
        (("--root", str(tmp_path / "elsewhere")), tmp_path / "elsewhere"),
    ):
        async with served(tmp_path, "--port", "0", *options) as server:
            async with Client(server.url, server.token) as client:
                created = await client.request("POST", "/api/contexts", {})
                assert created["workspace"] == str(wanted), options
            assert (await server.end())[0] == 0


async def test_a_workspace_that_no_root_holds_is_refused(tmp_path: Path) -> None:
    code, out, err = await ran(tmp_path, "serve", "--no-open", "--port", "0", "--workspace", "/", "--root", ".")
    assert (code, out) == (4, "")
    assert str(tmp_path / "root") in err


async def test_a_data_directory_inside_a_repository_is_logged_and_shown(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    async with served(tmp_path, "--port", "0", "--root", str(tmp_path)) as server:
        async with Client(server.url, server.token) as client:
            (warning,) = (await client.request("GET", "/api/health"))["warnings"]
        assert "git clean -x deletes it" in warning
        assert "git clean -x deletes it" in (await server.end())[2]


async def test_ignored_keys_are_logged_and_shown_to_the_local_user(tmp_path: Path) -> None:
    config = tmp_path / "config.toml"
    config.write_text("[telemetry]\nlevel = 1\n")
    (tmp_path / "mcp_servers.json").write_text('{"servers": {"far": {"url": "https://x.test/${input:key}"}}}')
    async with served(tmp_path, "--port", "0", "--config", str(config)) as server:
        async with Client(server.url, server.token) as client:
            first, second = (await client.request("GET", "/api/health"))["warnings"]
        added = await ran(tmp_path, "users", "add", "eve")
        async with Client(server.url, added[1].strip()) as client:
            assert (await client.request("GET", "/api/health"))["warnings"] == []
        log = (await server.end())[2]
    assert f"{config}, line 1: unknown key telemetry" in first
    assert "far was left out because servers.far.url contains ${input:key}" in second
    assert [json.loads(line)["message"] for line in log.splitlines() if "warning" in line] == [first, second]


@pytest.mark.parametrize("host", ["0.0.0.0", "::"])
async def test_the_server_listens_for_other_machines_only_with_a_configured_token(tmp_path: Path, host: str) -> None:
    code, out, err = await ran(tmp_path, "serve", "--no-open", "--port", "0", "--host", host)
    assert (code, out) == (4, "")
    assert "PILOTHOUSE_TOKEN" in err
    assert "127.0.0.1" in err
    code, _, err = await ran(tmp_path, "serve", "--no-open", "--port", "0", PILOTHOUSE_TOKEN="short")
    assert code == 4
    assert "at least 16" in err


async def test_with_a_configured_token_the_server_listens_on_the_named_host(tmp_path: Path) -> None:
    token = "mine-and-long-enough"
    async with (
        served(tmp_path, "--port", "0", "--host", "0.0.0.0", PILOTHOUSE_TOKEN=token) as server,
        Client(f"http://127.0.0.1:{server.port}", token) as client,
    ):
        assert (await client.request("GET", "/api/health"))["status"] == "ok"


async def test_users_are_added_and_removed_while_the_server_runs(tmp_path: Path) -> None:
    async with served(tmp_path) as server:
        code, out, _ = await ran(tmp_path, "users", "add", "anna")
        assert code == 0
        async with Client(server.url, out.strip()) as anna:
            assert (await anna.request("GET", "/api/health"))["user"] == "anna"
            _, names, _ = await ran(tmp_path, "users")
            assert names.split() == ["anna", "local"]
            assert (await ran(tmp_path, "users", "add", "anna"))[0] != 0
            assert (await ran(tmp_path, "users", "add", "../x"))[0] != 0
            assert (await ran(tmp_path, "users", "remove", "anna"))[0] == 0
            with pytest.raises(Exception, match="not signed in"):
                await anna.request("GET", "/api/health")
        assert (await ran(tmp_path, "users", "remove", "anna"))[0] != 0


async def test_the_log_of_the_server_is_json_lines_without_secrets(tmp_path: Path) -> None:
    key = "sk-a-key-that-nobody-may-see"
    async with served(tmp_path, OPENAI_API_KEY=key, OPENAI_BASE_URL="http://127.0.0.1:9/v1") as server:
        async with Client(server.url, server.token) as client, aiohttp.ClientSession() as http:
            created = await client.request("POST", "/api/contexts", {})
            await client.request("GET", f"/api/contexts/{created['context_id']}")
            assert await confirmed(http, (await ran(tmp_path, "open", "--no-open"))[1].strip()) in (200, 401, 503)
            async with http.get(f"{server.url}/{server.token}", headers={"authorization": "Bearer x"}):
                pass
        token = server.token
        _, out, err = await server.end()
    lines = [json.loads(line) for line in err.splitlines()]
    assert {"GET", "POST"} <= {line.get("method") for line in lines}
    for text in (out, err):
        assert token not in text
        assert key not in text
    for path in (tmp_path / "data").rglob("*"):
        if path.is_file():
            assert token.encode() not in path.read_bytes()


async def test_a_second_server_on_the_same_data_is_refused(tmp_path: Path) -> None:
    async with served(tmp_path):
        code, _, err = await ran(tmp_path, "serve", "--no-open", "--port", "0")
        assert code == 75
        assert "another" in err.lower()


async def test_a_configuration_that_is_wrong_is_named(tmp_path: Path) -> None:
    folder = tmp_path / "config" / "pilothouse"
    folder.mkdir(parents=True)
    (folder / "config.toml").write_text('[server]\ncompletions_mode = "free"\n')
    code, _, err = await ran(tmp_path, "serve", "--no-open")
    assert code == 4
    assert "completions_mode" in err
    (folder / "config.toml").write_text("[server]\nport = 99999\n")
    code, _, err = await ran(tmp_path, "serve", "--no-open")
    assert code == 4
    assert "port" in err


async def test_the_server_prints_chinese_in_a_chinese_locale(tmp_path: Path) -> None:
    async with served(tmp_path, LANG="zh_CN.UTF-8", LC_ALL="zh_CN.UTF-8") as server:
        assert "演示" in server.lines[0]
        assert server.lines[-1].startswith("监听地址")


def test_a_server_that_has_not_written_its_address_yet_has_none(tmp_path: Path) -> None:
    assert address_of_server(tmp_path) is None
    with published_address(tmp_path, "http://127.0.0.1:1"):
        assert address_of_server(tmp_path) == "http://127.0.0.1:1"
        os.truncate(tmp_path / FILE, 0)  # as between its lock and its writing
        assert address_of_server(tmp_path) is None
