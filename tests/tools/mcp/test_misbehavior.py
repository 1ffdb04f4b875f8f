"""A misbehaving MCP server ends in a clear status, in bounded time, without effect on others."""

import asyncio
import json
from typing import Any

import pytest

from pilothouse.domain.codes import Code
from pilothouse.domain.errors import ToolError
from pilothouse.i18n import translate
from pilothouse.testing.ambient import ManualAmbient
from pilothouse.tools.mcp.connection import Connection
from tests.tools.mcp.connections import beside_a_healthy_server, connected, fake, remaining_processes, until


async def failure(connection: Connection, tool: str, seconds: float = 10, **arguments: Any) -> str:
    with pytest.raises(ToolError) as caught:
        await connection.call(tool, arguments, seconds=seconds)
    return translate(caught.value.reason)


async def test_a_server_that_dies_at_start_is_restarted_six_times_and_then_failed() -> None:
    ambient = ManualAmbient()
    statuses: list[str] = []
    async with (
        beside_a_healthy_server("dies"),
        connected(
            fake("dies", "dies"), ambient=ambient, on_change=lambda c: statuses.append(c.status), is_ready=False
        ) as it,
    ):
        assert not await it.ready(20)
        status: str = it.status
        assert status == "failed"
        assert it.error is not None
        assert "ended with status 4: cannot start: no key" in translate(it.error)
        assert [wait for wait in ambient.slept if wait >= 0.5] == [0.5, 1, 2, 4, 8, 16]
        assert it.restarts == 6
        assert statuses == [*["starting", "waiting"] * 6, "starting", "failed"]
        assert "not ready (failed)" in await failure(it, "echo")
        await it.reconnect()
        assert it.status == "starting"


async def test_a_missing_server_command_is_reported() -> None:
    for command in ("no-such-command-here", "/no/such/file"):
        definition = fake("absent").__class__(name="absent", command=command)
        async with connected(definition, ambient=ManualAmbient(), is_ready=False) as it:
            assert not await it.ready(10)
            assert it.error is not None
            assert f"the command {command!r} wasn't found" in translate(it.error)


async def test_a_server_that_dies_in_a_call_fails_that_call_and_restarts() -> None:
    async with beside_a_healthy_server("mortal"), connected(fake("mortal")) as it:
        waiting = asyncio.create_task(failure(it, "hang", 30))
        await asyncio.sleep(0)
        error = await failure(it, "die")
        assert "ended during the call, which may have run: it ended with status 3: I die here" in error
        assert "ended during the call" in await waiting
        assert await it.ready(10)
        assert it.restarts == 1
        received = json.loads((await it.call("received", {})).text)
        called = [one["params"]["name"] for one in received if one["method"] == "tools/call"]
        assert called == ["received"]  # no call was repeated


async def test_the_count_starts_again_after_a_minute_of_being_ready() -> None:
    ambient = ManualAmbient()
    async with connected(fake("steady"), ambient=ambient) as it:
        for steady in (0, 0, 61, 0):
            ambient.advance(steady)
            await failure(it, "die")
            assert await it.ready(10)
        assert [wait for wait in ambient.slept if wait >= 0.5] == [0.5, 1, 0.5, 1]
        assert it.restarts == 4


async def test_a_server_that_never_answers_the_handshake_times_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pilothouse.tools.mcp.session.START_TIMEOUT_SECONDS", 1.5)
    monkeypatch.setattr("pilothouse.tools.mcp.requests.PROBE_TIMEOUT_SECONDS", 0.3)
    async with beside_a_healthy_server("silent"), connected(fake("silent", "silent"), is_ready=False) as it:
        await until(lambda: it.status == "waiting")
        assert it.error is not None
        assert "didn't answer within 1.5 seconds" in translate(it.error)


async def test_a_server_without_the_current_revision_is_asked_for_an_older_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("pilothouse.tools.mcp.requests.PROBE_TIMEOUT_SECONDS", 0.3)
    async with connected(fake("probe", "silent_probe")) as it:
        assert it.protocol == "2025-11-25"


async def test_a_call_without_a_response_times_out_and_is_cancelled_at_the_server() -> None:
    async with beside_a_healthy_server("hang"), connected(fake("hang")) as it:
        with pytest.raises(ToolError) as caught:
            await it.call("hang", {}, seconds=0.3)
        assert caught.value.reason.code == Code.TOOL_TIMED_OUT
        call = asyncio.create_task(it.call("hang", {"text": "second"}))
        await asyncio.sleep(0.1)
        call.cancel()
        await asyncio.wait({call})
        assert call.cancelled()
        received = json.loads((await it.call("received", {})).text)
        assert len([one for one in received if one["method"] == "notifications/cancelled"]) == 2
        assert it.restarts == 0


@pytest.mark.parametrize(
    ("tool", "words"),
    [
        ("long_line", "it sent a line of more than 4 MB"),
        ("big", "it sent a line of more than 4 MB"),
        ("malformed", "it sent 20 lines that aren't JSON-RPC"),
        ("invalid_utf8", "it sent 20 lines that aren't JSON-RPC"),
        ("not_rpc", "it sent 20 lines that aren't JSON-RPC"),
        ("nested", "it sent 20 lines that aren't JSON-RPC"),
    ],
)
async def test_a_server_that_breaks_a_limit_stays_failed_until_a_person_reconnects_it(tool: str, words: str) -> None:
    name = tool.replace("_", "-")
    async with beside_a_healthy_server(name), connected(fake(name)) as it:
        assert words in await failure(it, tool, 20)
        assert it.status == "failed"
        assert it.error is not None
        assert words in translate(it.error)
        await until(lambda: remaining_processes(f"{name}") == [], 3)
        await it.reconnect()
        assert await it.ready(10)
        assert (await it.call("echo", {"text": "again"})).text == "again"


@pytest.mark.parametrize("tool", ["flood_stderr", "flood_notifications"])
async def test_a_flood_of_messages_is_throttled(tool: str) -> None:
    name = tool.replace("_", "-")
    async with beside_a_healthy_server(name), connected(fake(name)) as it:
        assert "time limit of 3 seconds" in await failure(it, tool, 3)
        assert it.status == "ready"


async def test_endless_requests_of_a_server_do_not_fill_memory() -> None:
    async with beside_a_healthy_server("asks"), connected(fake("asks")) as it:
        assert await failure(it, "flood_requests", 4)
        assert it.status in ("ready", "failed")


async def test_a_server_that_stops_reading_is_failed() -> None:
    async with beside_a_healthy_server("deaf"), connected(fake("deaf")) as it:
        await it.call("deaf", {})
        large = {"text": "x" * 1024 * 1024}
        for _ in range(12):
            await failure(it, "echo", 0.1, **large)
        assert it.status == "failed"
        assert it.error is not None
        assert "doesn't read its input" in translate(it.error)


async def test_answers_with_a_foreign_id_or_sent_twice_reach_nobody() -> None:
    async with beside_a_healthy_server("ids"), connected(fake("ids")) as it:
        assert "time limit" in await failure(it, "wrong_id", 0.3)
        assert (await it.call("twice", {})).text == "first"
        assert (await it.call("echo", {"text": "third"})).text == "third"


async def test_a_server_that_closes_its_output_is_restarted() -> None:
    async with beside_a_healthy_server("closes"), connected(fake("closes")) as it:
        assert "it closed its output" in await failure(it, "close_output")
        assert await it.ready(10)


async def test_a_server_that_ignores_the_stop_is_killed_within_two_seconds() -> None:
    async with beside_a_healthy_server("stubborn"), connected(fake("stubborn", "stubborn")) as it:
        assert remaining_processes("stubborn")
        call = asyncio.create_task(failure(it, "hang"))
        await asyncio.sleep(0.1)
        await it.stop()
        assert remaining_processes("stubborn") == []
        assert "ended during the call" in await call


async def test_a_daemon_that_left_the_group_is_ended_with_its_server() -> None:
    async with beside_a_healthy_server("daemon"), connected(fake("daemon")) as it:
        await it.call("daemon", {})
        assert "ended with status 3" in await failure(it, "die")  # the daemon still holds its output
        assert await it.ready(10)
        await it.call("daemon", {})


async def test_a_few_lines_that_are_no_messages_are_ignored() -> None:
    async with connected(fake("chatty", "chatty")) as it:
        assert (await it.call("echo", {"text": "yes"})).text == "yes"


async def test_a_result_that_is_not_valid_fails_its_call_only() -> None:
    async with connected(fake("odd")) as it:
        assert "its answer isn't valid MCP" in await failure(it, "bad_result")
        assert "I refuse" in await failure(it, "refuse")
        assert (await it.call("echo", {"text": "yes"})).text == "yes"


async def test_an_unknown_revision_fails_clearly_without_a_retry() -> None:
    async with connected(fake("future", "unknown"), is_ready=False) as it:
        assert not await it.ready(10)
        assert it.status == "failed"
        assert it.error is not None
        assert "Unsupported protocol version from the server: 2099-01-01" in translate(it.error)
        assert it.restarts == 0
