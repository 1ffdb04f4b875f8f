"""Failures of an MCP server over HTTP: bounded, clear, and without effect on others."""

from collections.abc import Mapping

import pytest

from pilothouse.domain.errors import ToolError
from pilothouse.i18n import translate
from pilothouse.testing.ambient import ManualAmbient
from pilothouse.tools.mcp.connection import Connection
from pilothouse.tools.mcp.definitions import MCPServerDefinition
from pilothouse.tools.mcp.http import proxy_for
from tests.tools.mcp.connections import beside_a_healthy_server, connected, until
from tests.tools.mcp.fake_http import FakeHttp, serving


def at(fake: FakeHttp, name: str, headers: Mapping[str, str] | None = None) -> MCPServerDefinition:
    return MCPServerDefinition(name=name, url=fake.url, headers=headers or {})


async def failure(connection: Connection, tool: str, seconds: float = 10) -> str:
    with pytest.raises(ToolError) as caught:
        await connection.call(tool, {}, seconds=seconds)
    return translate(caught.value.reason)


async def test_the_given_headers_are_sent() -> None:
    async with serving() as fake, connected(at(fake, "headers", {"Authorization": "Bearer x"})) as it:
        assert it.protocol == "2025-06-18"
        assert (await it.call("echo", {"text": "yes"})).text == "yes"
        assert all(headers["Authorization"] == "Bearer x" for _, headers in fake.requests)


@pytest.mark.parametrize("tool", ["big_json", "big_events"])
async def test_a_response_is_bounded_and_costs_its_call_only(tool: str) -> None:
    name = tool.replace("_", "-")
    async with serving() as fake, beside_a_healthy_server(name), connected(at(fake, name)) as it:
        assert "more than 8 MB" in await failure(it, tool)
        assert (await it.call("echo", {"text": "yes"})).text == "yes"
        assert it.restarts == 0


async def test_compressed_responses_are_not_decompressed() -> None:
    async with serving() as fake, beside_a_healthy_server("packed"), connected(at(fake, "packed")) as it:
        assert "its answer isn't valid MCP" in await failure(it, "packed")
        assert (await it.call("echo", {"text": "yes"})).text == "yes"


async def test_an_invalid_response_fails_its_call_only() -> None:
    async with serving() as fake, connected(at(fake, "odd-type")) as it:
        assert "text/html" in await failure(it, "odd_type")
        assert "error response" in await failure(it, "refused")
        assert "time limit" in await failure(it, "hang", 0.3)
        assert (await it.call("echo", {"text": "yes"})).text == "yes"
        assert it.restarts == 0


async def test_a_broken_connection_fails_its_call_and_is_reestablished() -> None:
    async with serving() as fake, connected(at(fake, "breaking")) as it:
        assert "ended during the call, which may have run: can't connect" in await failure(it, "broken_off")
        assert await it.ready(10)
        assert (await it.call("echo", {"text": "yes"})).text == "yes"
        assert it.restarts == 1


async def test_a_session_that_the_server_has_lost_is_reestablished() -> None:
    async with serving() as fake, connected(at(fake, "losing")) as it:
        fake.session = "s2"
        assert "it lost the session" in await failure(it, "echo")
        assert await it.ready(10)
        assert (await it.call("echo", {"text": "yes"})).text == "yes"


async def test_a_stream_that_is_resumed_without_end_does_not_spin() -> None:
    async with serving() as fake, beside_a_healthy_server("spinning"), connected(at(fake, "spinning")) as it:
        await failure(it, "endless_resume", 2)
        assert len(fake.requests) < 100
        assert (await it.call("echo", {"text": "yes"})).text == "yes"


@pytest.mark.parametrize("status", [401, 500])
async def test_a_server_that_refuses_is_reported_with_its_http_status(status: int) -> None:
    async with serving() as fake:
        fake.status = status
        async with connected(at(fake, "refusing"), ambient=ManualAmbient(), is_ready=False) as it:
            assert not await it.ready(10)
            assert it.status == "failed"
            assert it.error is not None
            assert f"(HTTP {status})" in translate(it.error)


async def test_redirects_to_another_origin_are_not_followed() -> None:
    async with serving() as fake, serving() as other:
        fake.redirect = other.url
        definition = at(fake, "redirected", {"Authorization": "Bearer x"})
        async with connected(definition, ambient=ManualAmbient(), is_ready=False) as it:
            assert not await it.ready(10)
            assert it.error is not None
            assert "aren't followed" in translate(it.error)
        assert other.requests == []


async def test_stopping_does_not_wait_for_a_server_that_never_answers_the_delete() -> None:
    async with serving() as fake:
        fake.hangs_at_goodbye = True
        async with connected(at(fake, "clinging")) as it:
            await it.stop()
        await until(lambda: ("DELETE") in [method for method, _ in fake.requests])


def test_proxies_are_those_of_the_given_environment_and_never_for_this_machine() -> None:
    environment = {"HTTPS_PROXY": "http://p:1", "http_proxy": "http://q:2", "NO_PROXY": "inside.test"}
    assert proxy_for("https://x.test/", environment) == "http://p:1"
    assert proxy_for("http://x.test/", environment) == "http://q:2"
    assert proxy_for("https://a.inside.test/", environment) is None
    for host in ("localhost", "127.0.0.1:80", "[::1]:8", "a.localhost", "127.9.9.9"):
        assert proxy_for(f"http://{host}/", environment) is None
    assert proxy_for("https://x.test/", {}) is None
