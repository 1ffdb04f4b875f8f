"""A connection: tools, results, changes, questions; two conversations at once."""

import asyncio
import json
import os
import subprocess
import sys
import textwrap
import threading
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from pilothouse.domain.codes import Code
from pilothouse.domain.errors import ToolError
from pilothouse.domain.value import CallId
from pilothouse.i18n import translate
from pilothouse.sandbox.processes import MARK
from pilothouse.sandbox.workspace import Workspace
from pilothouse.system.ambient import SystemAmbient
from pilothouse.tools.base import ToolContext
from pilothouse.tools.mcp.connection import Connection
from pilothouse.tools.mcp.definitions import MCPServerDefinition
from pilothouse.tools.mcp.tools import tools_of
from tests.support.scale import HANG_SECONDS
from tests.tools.mcp.connections import ENVIRONMENT, connected, fake, remaining_processes, until

MODERN = Path(__file__).with_name("modern_server.py")


async def says_red(message: str, schema: dict[str, Any]) -> dict[str, Any] | None:
    return {"colour": f"red, when asked {message!r}"}


async def test_a_server_of_an_older_revision_works() -> None:
    async with connected(fake("older", "older")) as it:
        assert it.protocol == "2024-11-05"
        assert (await it.call("echo", {"text": "yes"})).text == "yes"
        assert await it.resources() == []
        assert await it.read_resource("x://1") == []
        assert await it.prompt("none", {}) == ""


async def test_a_server_gets_only_the_environment_that_it_is_given(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "planted")
    async with connected(fake("clean", env={"OWN": "${x}", MARK: "stolen"}, cwd="/")) as it:
        environment = json.loads((await it.call("environment", {})).text)
        assert environment["OWN"] == "${x}"
        assert environment[MARK].startswith("mcp-clean-")
        assert set(environment) - {*ENVIRONMENT, "OWN", MARK, "PWD", "LC_CTYPE", "OLDPWD", "_", "SHLVL"} == set()


async def test_the_check_whether_a_server_may_start_runs_off_the_event_loop() -> None:
    threads: list[threading.Thread] = []

    def may_start() -> bool:
        threads.append(threading.current_thread())
        return False

    it = Connection(
        fake("asked"),
        environment=ENVIRONMENT,
        ambient=SystemAmbient(),
        on_change=lambda _: None,
        may_start=may_start,
    )
    await it.start()
    assert not await it.ready(20)
    assert it.status == "failed"
    assert threading.main_thread() not in threads
    assert len(threads) == 1
    await it.stop()


async def test_two_calls_at_once_get_their_own_answers() -> None:
    async with connected(fake("both")) as it:
        slow = [it.call("slow", {"text": str(n), "seconds": 0.3 - n / 50}) for n in range(10)]
        assert [result.text for result in await asyncio.gather(*slow)] == [str(n) for n in range(10)]


async def test_a_result_is_converted_to_text() -> None:
    async with connected(fake("parts")) as it:
        lines = ["one", "[image/png, 3 bytes, not shown]", "[audio/wav, 2 bytes, not shown]", "inside"]
        lines += ["[application/pdf, 6 bytes, not shown]", "[resource x://3]"]
        assert (await it.call("parts", {})).text.splitlines() == lines
        assert (await it.call("structured", {})).text == '{"a":1}'
        failed = await it.call("fail", {})
        assert (failed.text, failed.is_error) == ("oh", True)


async def test_tools_that_cannot_be_used_are_dropped_and_counted() -> None:
    async with connected(fake("odd-tools", "odd_tools")) as it:
        assert [tool.name for tool in it.tools] == ["echo", "long"]
        assert it.dropped == 5
        assert len(it.tools[1].description) == 4000
        assert (it.tools[0].read_only, it.tools[1].read_only) == (None, True)
    async with connected(fake("many-tools", "many_tools")) as it:
        assert len(it.tools) == 500
        assert it.dropped > 0
    async with connected(fake("endless", "endless_pages")) as it:
        assert it.tools == ()


async def test_many_change_notifications_reload_the_list_once() -> None:
    changes: list[tuple[str, ...]] = []
    listener = lambda it: changes.append(tuple(tool.name for tool in it.tools))  # noqa: E731
    async with connected(fake("changing"), on_change=listener) as it:
        assert "renamed" not in changes[-1]
        await it.call("change", {"times": 50})
        await until(lambda: "renamed" in changes[-1])
        assert "link" not in changes[-1]
        received = json.loads((await it.call("received", {})).text)
        assert [one["method"] for one in received].count("tools/list") == 2


async def test_an_exception_in_a_listener_does_not_stop_the_server() -> None:
    def breaks(connection: Connection) -> None:
        raise OSError("the disk is full")

    async with connected(fake("unheard"), on_change=breaks) as it:
        assert (await it.call("echo", {"text": "yes"})).text == "yes"


async def test_a_question_reaches_the_person_whose_call_it_belongs_to() -> None:
    async with connected(fake("asking")) as it:
        answer = json.loads((await it.call("elicit", {}, asker=says_red)).text)
        assert answer["action"] == "accept"
        assert answer["content"]["colour"].startswith("red, when asked 'Which colour")


async def test_a_question_is_declined_where_nobody_can_be_asked() -> None:
    async def declines(message: str, schema: dict[str, Any]) -> None:
        return None

    async def breaks(message: str, schema: dict[str, Any]) -> None:
        raise ValueError(message)

    async def odd(message: str, schema: dict[str, Any]) -> dict[str, Any]:
        return {"colour": {"deep": object()}}

    async with connected(fake("declining")) as it:
        for asker in (None, declines, breaks, odd):
            assert json.loads((await it.call("elicit", {}, asker=asker)).text) == {"action": "decline"}
        assert json.loads((await it.call("elicit", {"mode": "url"}, asker=says_red)).text) == {"action": "decline"}
        # with two calls over one pipe, the call of a question is unknown
        other = asyncio.create_task(it.call("slow", {"seconds": 0.5}, asker=says_red))
        await asyncio.sleep(0.1)
        assert json.loads((await it.call("elicit", {}, asker=says_red)).text) == {"action": "decline"}
        await other


async def test_a_question_of_an_abandoned_call_reaches_no_other_person(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pilothouse.tools.mcp.pending_requests.ABANDONED_SECONDS", 0.5)
    async with connected(fake("ghost")) as it:
        with pytest.raises(ToolError, match="time limit"):
            await it.call("hang", {}, seconds=0.1)
        assert json.loads((await it.call("elicit", {}, asker=says_red)).text) == {"action": "decline"}
        await asyncio.sleep(0.6)
        assert json.loads((await it.call("elicit", {}, asker=says_red)).text)["action"] == "accept"


async def test_the_time_of_a_call_does_not_run_while_a_person_thinks() -> None:
    async def thinks(message: str, schema: dict[str, Any]) -> dict[str, Any]:
        await asyncio.sleep(0.6)
        return {"colour": "blue"}

    async with connected(fake("thinking")) as it:
        assert "blue" in (await it.call("elicit", {}, seconds=0.3, asker=thinks)).text


class AcceptsAll:
    """A person who has accepted every tool in its present form."""

    def accepted_definition(self, mcp_server: str, tool: str) -> str | None:
        return None

    def has_accepted(self, mcp_server: str) -> bool:
        return True

    def accept(self, mcp_server: str, definitions: Mapping[str, str]) -> None:
        pass


@pytest.mark.parametrize(
    ("call_seconds", "server_seconds", "limit"), [(0.2, 90, 0.2), (90, 0.2, 0.2), (None, 0.2, 0.2)]
)
async def test_a_call_ends_at_the_limit_for_calls_or_at_that_of_the_server(
    tmp_path: Path, call_seconds: float | None, server_seconds: float, limit: float
) -> None:
    async with connected(fake("limited", seconds=server_seconds)) as it:
        tool = next(tool for tool in tools_of(it, "key", AcceptsAll()) if tool.own_name == "hang")
        context = ToolContext(call_id=CallId("call"), workspace=Workspace(tmp_path), seconds=call_seconds)
        async with asyncio.timeout(HANG_SECONDS):
            with pytest.raises(ToolError) as failure:
                await tool.run({}, context)
        assert failure.value.reason.code is Code.TOOL_TIMED_OUT
        assert failure.value.reason.params["seconds"] == limit


async def test_a_question_ends_with_its_call() -> None:
    ended = asyncio.Event()

    async def waits(message: str, schema: dict[str, Any]) -> dict[str, Any] | None:
        try:
            await asyncio.sleep(60)
        finally:
            ended.set()
        return None

    async with connected(fake("leaving")) as it:
        call = asyncio.create_task(it.call("elicit", {}, asker=waits))
        await asyncio.sleep(0.2)
        call.cancel()
        await asyncio.wait({call})
        async with asyncio.timeout(HANG_SECONDS):
            await ended.wait()
        assert (await it.call("echo", {"text": "still here"})).text == "still here"


async def test_a_server_of_the_current_revision_asks_and_changes() -> None:
    definition = MCPServerDefinition(name="modern", command=sys.executable, args=(str(MODERN),))
    async with connected(definition) as it:
        assert it.protocol == "2026-07-28"
        calls = [it.call("paint", {"thing": thing}, asker=says_red) for thing in ("house", "boat")]
        house, boat = await asyncio.gather(
            *calls
        )  # over HTTP a question belongs to its call: two at once are distinguished
        assert house.text == "house is red, when asked 'Which colour for house?'"
        assert boat.text == "boat is red, when asked 'Which colour for boat?'"
        declined = await it.call("paint", {"thing": "house"})
        assert declined.is_error
        await it.call("change", {})
        await until(lambda: "added" in [tool.name for tool in it.tools])


async def test_starting_stopping_and_reconnecting_at_once_leaves_one_server_or_none() -> None:
    it = Connection(fake("hasty"), environment=ENVIRONMENT, ambient=SystemAmbient(), on_change=lambda _: None)
    await asyncio.gather(it.start(), it.start(), it.reconnect(), it.stop(), it.start(), it.reconnect())
    assert await it.ready(10)
    assert len([line for line in remaining_processes("hasty") if not line.startswith("/bin/sh")]) == 1
    await asyncio.gather(it.stop(), it.stop())
    assert remaining_processes("hasty") == []
    assert it.tools == ()
    with pytest.raises(ToolError, match=r"not ready \(stopped\)"):
        await it.call("echo", {})


async def test_stopping_in_the_middle_of_the_handshake_leaves_nothing() -> None:
    for wait in (0, 0.02, 0.1, 0.3):
        async with connected(fake("early", "silent"), is_ready=False) as it:
            await asyncio.sleep(wait)
            assert it.status == "starting"


async def test_without_the_sdk_a_connection_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "mcp.client.session", None)
    async with connected(fake("without"), is_ready=False) as it:
        assert not await it.ready(5)
        assert it.status == "failed"
        assert it.error is not None
        assert "pip install 'pilothouse[mcp]'" in translate(it.error)


def test_the_mcp_sdk_is_imported_only_when_needed() -> None:
    code = "import sys, pilothouse.tools.mcp.connection; print([n for n in sys.modules if n.split('.')[0] in "
    code += "('mcp', 'mcp_types', 'pydantic', 'anyio', 'httpx2')])"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"


def test_a_server_ends_with_us_also_when_we_are_killed() -> None:
    program = str(fake("orphan").args[0])
    code = f"""
        import asyncio, sys
        from pilothouse.system.ambient import SystemAmbient
        from pilothouse.tools.mcp.connection import Connection
        from pilothouse.tools.mcp.definitions import MCPServerDefinition
        async def main():
            definition = MCPServerDefinition(name="orphan", command=sys.executable, args=({program!r}, "stubborn"))
            it = Connection(definition, environment={ENVIRONMENT!r}, ambient=SystemAmbient(), on_change=lambda _: None)
            await it.start()
            print(await it.ready(20), flush=True)
            await asyncio.sleep(60)
        asyncio.run(main())
    """
    with subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(code)], stdout=subprocess.PIPE, text=True, env=dict(os.environ)
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "True\n"
        assert remaining_processes("orphan")
        process.kill()
    deadline = time.monotonic() + HANG_SECONDS
    while remaining_processes("orphan") and time.monotonic() < deadline:
        time.sleep(0.02)
    assert remaining_processes("orphan") == []
