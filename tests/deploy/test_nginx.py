"""The example configuration of nginx, with the real nginx: TLS, a path prefix, and clients of other authors."""

import asyncio
import json
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, NamedTuple

import httpx
import pytest
from httpx_sse import aconnect_sse

from pilothouse.llm.script import Answer
from pilothouse.server.app import MAX_URL_BYTES
from pilothouse.testing.served import TOKEN, Served
from pilothouse.testing.world import World
from tests.deploy.nginx_proxy import BASE_PATH, NAME, Proxy, nginx
from tests.support.mcp_tools import files_at
from tests.support.scale import HANG_SECONDS

AUTHORIZATION = f"authorization: Bearer {TOKEN}"
SILENT = Answer(deltas=("Land ", "in ", "sight."), silence=2)


class ProxiedServer(NamedTuple):
    world: World
    served: Served
    proxy: Proxy

    @property
    def origin(self) -> str:
        return f"https://{NAME}:{self.proxy.port}"

    async def curl(self, path: str, *options: str, plain: bool = False) -> "CurlReply":
        """A request of curl to the proxy: `path` begins at the root of the host."""
        port = self.proxy.plain_port if plain else self.proxy.port
        address = f"{'http' if plain else 'https'}://{NAME}:{port}{path}"
        report = '{"status": %{http_code}, "version": "%{http_version}", "to": "%{redirect_url}"}'
        process = await asyncio.create_subprocess_exec(
            *("curl", "--silent", "--show-error", "--noproxy", "*", "--max-time", str(HANG_SECONDS)),
            *("--cacert", str(self.proxy.certificate), "--resolve", f"{NAME}:{port}:127.0.0.1"),
            *("--write-out", f"\n{report}", *options, address),
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
        )
        out, err = await process.communicate()
        assert process.returncode == 0, err.decode()
        body, _, written = out.decode().rpartition("\n")
        return CurlReply(body=body, **json.loads(written))

    @asynccontextmanager
    async def http(self) -> AsyncIterator[httpx.AsyncClient]:
        """An httpx client, which resolves no names of tests: the certificate also names the address."""
        trust = ssl.create_default_context(cafile=str(self.proxy.certificate))
        base = f"https://127.0.0.1:{self.proxy.port}{BASE_PATH}"
        headers = {"authorization": f"Bearer {TOKEN}"}
        async with httpx.AsyncClient(verify=trust, base_url=base, headers=headers, trust_env=False) as client:
            yield client


class CurlReply(NamedTuple):
    body: str
    status: int
    version: str
    to: str
    """The address of a redirect."""


@asynccontextmanager
async def proxied(folder: Path, *answers: Answer) -> AsyncIterator[ProxiedServer]:
    (folder / "work").mkdir()
    (folder / "web").mkdir()
    (folder / "web/index.html").write_text("<!doctype html><title>Pilothouse</title>")
    world = World(folder / "work", *answers, store=files_at(folder / "data"))
    options: dict[str, Any] = {"base_path": BASE_PATH, "names": (NAME,), "trusted_proxies": ("127.0.0.1",)}
    async with (
        world.runtime,
        Served(world.runtime, [folder / "work"], web_folder=folder / "web", **options) as served,
    ):
        with nginx(served.port) as proxy:
            yield ProxiedServer(world, served, proxy)


async def test_curl_reaches_the_server_below_the_prefix_and_nothing_else(tmp_path: Path) -> None:
    async with proxied(tmp_path) as here:
        reply = await here.curl(f"{BASE_PATH}/api/health", "--header", AUTHORIZATION)
        assert (reply.status, reply.version, json.loads(reply.body)["status"]) == (200, "2", "ok")
        assert (await here.curl(f"{BASE_PATH}/api/health")).status == 401
        assert [(await here.curl(f"{BASE_PATH}/{probe}")).status for probe in ("healthz", "readyz")] == [200, 200]
        assert [(await here.curl(path)).status for path in ("/", "/api/health", "/healthz", "/pilothousex/")] == [
            404
        ] * 4
        reply = await here.curl(BASE_PATH)
        assert (reply.status, reply.to) == (308, f"{here.origin}{BASE_PATH}/")
        reply = await here.curl(f"{BASE_PATH}/", plain=True)
        assert (reply.status, reply.to) == (308, f"https://{NAME}{BASE_PATH}/")


async def test_curl_signs_in_with_a_secure_cookie_of_the_prefix(tmp_path: Path) -> None:
    async with proxied(tmp_path) as here:
        jar = str(tmp_path / "cookies")
        form = ("--cookie-jar", jar, "--header", f"origin: {here.origin}", "--data", f"token={TOKEN}")
        reply = await here.curl(f"{BASE_PATH}/", *form)
        assert (reply.status, reply.to) == (303, f"{here.origin}{BASE_PATH}/")
        (cookie,) = [line for line in Path(jar).read_text().splitlines() if "\tpilothouse-" in line]
        _, _, path, is_secure, *_ = cookie.split("\t")
        assert (path, is_secure) == (f"{BASE_PATH}/", "TRUE")
        reply = await here.curl(f"{BASE_PATH}/", "--cookie", jar)
        assert (reply.status, "<title>Pilothouse</title>" in reply.body) == (200, True)
        assert (await here.curl(f"{BASE_PATH}/api/health", "--cookie", jar)).status == 200
        plain = ("--header", f"origin: http://{NAME}:{here.proxy.port}", *form[4:])
        assert (await here.curl(f"{BASE_PATH}/", *plain)).status == 403, "a page without TLS is another origin"


async def test_forwarded_headers_of_a_client_end_at_the_proxy(tmp_path: Path) -> None:
    async with proxied(tmp_path) as here:
        forged = ("x-forwarded-host: evil.example", "x-forwarded-proto: gopher", "x-forwarded-for: unknown")
        lines = [part for line in forged for part in ("--header", line)]
        reply = await here.curl(f"{BASE_PATH}/api/health", "--header", AUTHORIZATION, *lines)
        assert reply.status == 200
        statuses = []
        for number in range(11):
            wrong = (
                "--header",
                f"authorization: Bearer wrong-{number}",
                "--header",
                f"x-forwarded-for: 192.0.2.{number}",
            )
            statuses.append((await here.curl(f"{BASE_PATH}/api/health", *wrong)).status)
        assert statuses == [401] * 10 + [429]
        reply = await here.curl(f"{BASE_PATH}/api/health", "--header", AUTHORIZATION, "--header", "host: evil.example")
        assert reply.status == 421


async def test_the_limits_of_the_proxy_are_those_of_the_server(tmp_path: Path) -> None:
    async with proxied(tmp_path) as here:
        context_id = await here.world.start()
        upload = tmp_path / "upload"
        path = f"{BASE_PATH}/api/contexts/{context_id}/files?name=large.bin"
        kind = ("--header", AUTHORIZATION, "--header", "content-type: application/octet-stream")
        for size, status in ((20 << 20, 201), ((20 << 20) + 1, 413)):
            with upload.open("wb") as file:
                file.truncate(size)
            reply = await here.curl(path, *kind, "--data-binary", f"@{upload}")
            assert reply.status == status
            assert '"path"' in reply.body or '"code":"body_too_large"' in reply.body, "the server itself answers"
        long = f"{BASE_PATH}/api/models?x="
        reply = await here.curl(long + "x" * (MAX_URL_BYTES - len(long)), "--header", AUTHORIZATION)
        assert reply.status == 200
        reply = await here.curl(long + "x" * MAX_URL_BYTES, "--header", AUTHORIZATION)
        assert (reply.status, '"code":"query_too_large"' in reply.body) == (414, True)


async def test_httpx_sse_gets_signals_and_text_while_the_answer_is_being_written(tmp_path: Path) -> None:
    async with proxied(tmp_path, SILENT) as here, here.http() as http, asyncio.timeout(HANG_SECONDS):
        context_id = (await http.post("/api/contexts", json={"mode": "agent"})).json()["context_id"]
        async with aconnect_sse(http, "GET", f"/api/contexts/{context_id}/stream", timeout=None) as stream:
            assert stream.response.headers["content-type"].startswith("text/event-stream")
            signals = stream.aiter_sse()
            assert (await anext(signals)).event == "StateChanged"
            sent = await http.post(
                f"/api/contexts/{context_id}/messages", json={"payload": {"type": "text", "content": "Look out."}}
            )
            assert sent.status_code == 202
            async for signal in signals:
                if signal.event == "ContentDelta" and signal.json()["sequence"] == 2:
                    break
            message_id = signal.json()["message_id"]
            deltas = (await http.get(f"/api/contexts/{context_id}/messages/{message_id}/content")).json()
            assert [each["delta"] for each in deltas] == ["Land ", "in "]
            assert (await http.post(f"/api/contexts/{context_id}/cancel", json={})).status_code == 200
            async for signal in signals:
                if signal.event == "StateChanged" and signal.json()["state"]["type"] == "idle":
                    break


async def test_httpx_sse_gets_a_chat_while_the_answer_is_being_written(tmp_path: Path) -> None:
    async with proxied(tmp_path, SILENT) as here, here.http() as http, asyncio.timeout(HANG_SECONDS):
        body = {"message": "Look out.", "mode": "agent"}
        async with aconnect_sse(http, "POST", "/api/chat/my-thread", json=body, timeout=None) as stream:
            events = stream.aiter_sse()
            text = ""
            async for event in events:
                if event.event == "token":
                    text += event.json()["text"]
                if text == "Land in ":
                    break
            assert (await http.post("/api/contexts/my-thread/cancel", json={})).status_code == 200
            assert [each.event async for each in events][-1] == "done"


@pytest.mark.parametrize("is_stopped", [False, True], ids=["away", "stopping"])
async def test_a_server_that_is_away_or_stopping_is_a_plain_error_of_the_proxy(
    tmp_path: Path, is_stopped: bool
) -> None:
    async with proxied(tmp_path) as here:
        if is_stopped:
            here.served.server_state.stopping.set()
            assert (await here.curl(f"{BASE_PATH}/readyz")).status == 503
            assert (await here.curl(f"{BASE_PATH}/healthz")).status == 200
            return
        here.served._server.should_exit = True
        await here.served._task
        assert (await here.curl(f"{BASE_PATH}/readyz")).status == 502
