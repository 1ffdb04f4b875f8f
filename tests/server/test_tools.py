"""Tools as a person has them: switched on and off, made to wait, brought along by files and packages of their own."""

import asyncio
import json
import os
import sys
import textwrap
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

from pilothouse.app import build_runtime
from pilothouse.client import Client
from pilothouse.client.http_client import ServerError
from pilothouse.domain.errors import InvalidInput
from pilothouse.domain.messages import ToolResult
from pilothouse.domain.states import AwaitingToolApproval, Idle
from pilothouse.llm.script import Answer, Script
from pilothouse.llm.scripted import ScriptedAdapter
from pilothouse.runtime.runtime import Runtime
from pilothouse.settings import read_settings
from pilothouse.testing.served import Served
from pilothouse.testing.tools import NoteTool
from pilothouse.testing.world import World
from pilothouse.tools.function_tools import tools_of_file, tools_of_packages
from pilothouse.tools.registry import Registry
from tests.support.live_contexts import live_context
from tests.support.mcp_tools import DONE, answer_with_calls, runs, world_with_tools

LOOK = answer_with_calls(("look", {"text": "x"}))
CHANGE = answer_with_calls(("change", {"text": "x"}))


@asynccontextmanager
async def opened(world: World) -> AsyncIterator[Client]:
    async with world.runtime, Served(world.runtime, [world.workspace]) as served, served.client() as client:
        yield client


async def switch(client: Client, name: str, enabled: bool) -> Any:
    return await client.request("PATCH", f"/api/tools/{name}", {"enabled": enabled})


async def refused(client: Client, name: str, enabled: bool) -> tuple[int, str]:
    with pytest.raises(ServerError) as caught:
        await switch(client, name, enabled)
    return caught.value.problem.status, caught.value.problem.code


async def tools_of(client: Client) -> dict[str, Any]:
    return {each["name"]: each for each in (await client.request("GET", "/api/tools"))["items"]}


async def statuses(runtime: Runtime, context_id: str) -> list[str]:
    return [call.status for call in (await runtime.calls.read(context_id)).items]


async def results(runtime: Runtime, context_id: str) -> list[str]:
    messages = await runtime.messages.read(context_id, branch="main", limit=100)
    return [message.content for message in messages if isinstance(message, ToolResult)]


# on and off


async def test_a_tool_that_is_switched_off_is_not_offered_and_not_run_until_it_is_switched_on(tmp_path: Path) -> None:
    world = world_with_tools(tmp_path, LOOK, DONE, LOOK, DONE, LOOK, DONE)
    async with opened(world) as client:
        context_id = await world.start()
        await world.turn(context_id)
        shape = await switch(client, "look", False)
        assert (shape["name"], shape["enabled"]) == ("look", False)
        assert (await tools_of(client))["look"]["enabled"] is False
        await world.turn(context_id)
        assert (await switch(client, "look", True))["enabled"] is True
        await world.turn(context_id)
        assert await statuses(world.runtime, context_id) == ["executed", "denied", "executed"]
        offered = ["look" in {tool.name for tool in request.tools} for request in world.model.requests]
        assert offered == [True, True, False, False, True, True]
        assert isinstance((await world.runtime.contexts.get(context_id)).state, Idle), "it is no wall"


async def test_a_disabled_tool_is_not_offered_in_the_next_round_of_an_open_turn(tmp_path: Path) -> None:
    hold = NoteTool("hold", "read_only", hold=True)
    world = world_with_tools(tmp_path, answer_with_calls(("hold", {})), LOOK, DONE, tools=[hold])
    async with opened(world) as client:
        context_id = await world.start()
        await world.runtime.messages.send(context_id, "go")
        await hold.started.wait()
        await switch(client, "look", False)
        hold.release.set()
        await world.runtime.turns.rested(context_id)
        offered = ["look" in {tool.name for tool in request.tools} for request in world.model.requests]
        assert offered == [True, False, False]
        assert await statuses(world.runtime, context_id) == ["executed", "denied"]


async def test_calls_that_wait_in_open_contexts_are_denied_at_once(tmp_path: Path) -> None:
    world = world_with_tools(tmp_path, CHANGE, CHANGE, DONE, DONE)
    async with opened(world) as client:
        contexts = [await world.start("supervised") for _ in range(2)]
        for context_id in contexts:
            await world.turn(context_id)
        await switch(client, "change", False)
        for context_id in contexts:
            await world.runtime.turns.rested(context_id)
            assert await statuses(world.runtime, context_id) == ["denied"]
        await switch(client, "change", True)
        assert world.change.ran == []


async def test_a_disabled_tool_is_a_visible_rule_that_survives_a_restart(tmp_path: Path) -> None:
    async with opened(world_with_tools(tmp_path)) as client:
        await switch(client, "look", False)
        (rule,) = (await client.request("GET", "/api/rules"))["items"]
        assert (rule["effect"], rule["scope"]["tool"]) == ("deny", "look")
    again = world_with_tools(tmp_path, LOOK, DONE, ids_from=1000)
    async with opened(again) as client:
        assert (await tools_of(client))["look"]["enabled"] is False
        context_id = await again.start()
        await again.turn(context_id)
        assert await statuses(again.runtime, context_id) == ["denied"]
        await client.request("DELETE", f"/api/rules/{rule['id']}")
        assert (await tools_of(client))["look"]["enabled"] is True, "revoking the rule is the same"


async def test_switching_twice_is_like_switching_once(tmp_path: Path) -> None:
    async with opened(world_with_tools(tmp_path)) as client:
        for _ in range(3):
            await switch(client, "look", False)
        assert len((await client.request("GET", "/api/rules"))["items"]) == 1
        await asyncio.gather(*(switch(client, "look", True) for _ in range(3)), return_exceptions=True)
        assert (await client.request("GET", "/api/rules"))["items"] == []
        await asyncio.gather(*(switch(client, "look", False) for _ in range(3)))
        await switch(client, "look", True)
        assert (await tools_of(client))["look"]["enabled"] is True


async def test_an_unknown_tool_is_404(tmp_path: Path) -> None:
    async with opened(world_with_tools(tmp_path)) as client:
        assert await refused(client, "nothing", False) == (404, "unknown_tool")
        assert await refused(client, "*", False) == (404, "unknown_tool")


async def test_each_user_switches_for_themselves(tmp_path: Path) -> None:
    world = world_with_tools(tmp_path, LOOK, DONE)
    async with world.runtime, Served(world.runtime, [world.workspace]) as served, served.client() as client:
        async with served.client(served.tokens.add("anna")) as anna:
            await switch(anna, "look", False)
            assert (await tools_of(anna))["look"]["enabled"] is False
            assert (await tools_of(client))["look"]["enabled"] is True
        context_id = await world.start()
        await world.turn(context_id)
        assert await statuses(world.runtime, context_id) == ["executed"]


# tools.toml


def settled(folder: Path, text: str) -> None:
    (folder / "own").mkdir(exist_ok=True)
    (folder / "own" / "tools.toml").write_text(text)


async def test_a_tool_that_the_settings_disable_cannot_be_enabled_over_http(tmp_path: Path) -> None:
    settled(tmp_path, "[tools.grep]\nenabled = false\n")
    world = world_with_tools(tmp_path, answer_with_calls(("grep", {"pattern": "x"})), DONE)
    async with opened(world) as client:
        assert (await tools_of(client))["grep"]["enabled"] is False
        assert await refused(client, "grep", True) == (409, "only_local")
        await switch(client, "grep", False)
        assert (await client.request("GET", "/api/rules"))["items"] == [], "it is off already"
        context_id = await world.start()
        await world.turn(context_id)
        assert await statuses(world.runtime, context_id) == ["denied"]
        assert "grep" not in {tool.name for tool in world.model.requests[0].tools}


async def test_a_category_that_is_off_takes_all_of_its_tools(tmp_path: Path) -> None:
    settled(tmp_path, "[tools.file_system]\nenabled = false\n[tools.system]\nenabled = false\n")
    world = world_with_tools(
        tmp_path, answer_with_calls(("read_file", {"path": "x"}), ("execute", {"command": "true"})), LOOK, DONE
    )
    async with opened(world) as client:
        shapes = await tools_of(client)
        assert {each["category"] for each in shapes.values() if not each["enabled"]} == {
            "file_system",
            "system_control",
        }
        context_id = await world.start()
        await world.turn(context_id)
        assert await statuses(world.runtime, context_id) == ["denied", "denied", "executed"]


async def test_a_tool_or_category_can_require_approval(tmp_path: Path) -> None:
    settled(tmp_path, "[tools.look]\nrequire_approval = true\n[tools.codebase]\nrequire_approval = true\n")
    world = world_with_tools(tmp_path, CHANGE, answer_with_calls(("look", {}), ("grep", {"pattern": "x"})), DONE)
    async with opened(world) as client:
        grep = (await tools_of(client))["grep"]["category"]
        context_id = await world.start()
        await world.turn(context_id)
        waits = ["executed", "pending", "pending" if grep == "code_analysis" else "executed"]
        assert await statuses(world.runtime, context_id) == waits
        pending = (await client.request("GET", f"/api/contexts/{context_id}"))["pending_tool_calls"]
        assert {each["reason"]["code"] for each in pending} == {"settings_wait"}


@pytest.mark.parametrize(
    ("command", "runs_by_itself"),
    [
        ("git status", True),
        ("git  status   --short", True),
        ("git log", False),
        ("gitleaks", False),
        ("git-status", False),
        ("./git status", False),
        ("bin/git status", False),
        ("/usr/bin/git status", False),
        ("git status; rm x", False),
        ("git status && rm x", False),
        ("git status | sh", False),
        ("git status > x", False),
        ("git status $(rm x)", False),
        ("git status `rm x`", False),
        ("git status\nrm x", False),
        ("git status & rm x", False),
        ("PATH=. git status", False),
        ("GIT_DIR=x git status", False),
        ("env git status", False),
        ("git -c core.pager=x status", False),
        ("git 'status'", True),
        ("git stat\\us", True),
        ("echo hello", True),
        ("echo hello; echo there", False),
        ("'git status'", False),
        ("git $X", False),
        ("$G status", False),
        ("(git status)", False),
        ("! git status", False),
        ("eval git status", False),
        ("command git status", False),
        ("git st*", False),
    ],
)
async def test_a_white_list_allows_only_named_commands_without_approval(
    tmp_path: Path, command: str, runs_by_itself: bool
) -> None:
    settled(tmp_path, '[tools.execute]\nwhitelist = ["git status *", "echo"]\n')
    world = world_with_tools(tmp_path, runs(command), DONE)
    (world.workspace / "x").write_text("still here")
    for path in (world.workspace / "git", world.workspace / "bin" / "git"):
        path.parent.mkdir(exist_ok=True)
        path.write_text("#!/bin/sh\nrm x\n")
        path.chmod(0o755)
    async with world.runtime:
        context_id = await world.start("agent")
        await world.turn(context_id)
        waits = isinstance((await world.runtime.contexts.get(context_id)).state, AwaitingToolApproval)
        assert waits != runs_by_itself
        assert (world.workspace / "x").read_text() == "still here"


async def test_a_program_of_the_workspace_is_not_white_listed(tmp_path: Path) -> None:
    settled(tmp_path, '[tools.execute]\nwhitelist = ["mytool"]\n')
    bin_folder = tmp_path / "workspace" / "bin"
    bin_folder.mkdir(parents=True)
    (bin_folder / "mytool").write_text("#!/bin/sh\ntouch ran\n")
    (bin_folder / "mytool").chmod(0o755)
    environment = {"PATH": f"{bin_folder}:{os.environ['PATH']}"}
    world = world_with_tools(tmp_path, runs("mytool"), DONE, environment=environment)
    async with world.runtime:
        context_id = await world.start("agent")
        await world.turn(context_id)
        assert await statuses(world.runtime, context_id) == ["pending"]
        assert not (world.workspace / "ran").exists()


# a person's own


OWN = '''
    import asyncio
    from typing import Annotated, Literal

    from msgspec import Meta

    from pilothouse.tools.function_tools import tool


    @tool(read_only=True)
    async def wind(place: str, knots: Annotated[int, Meta(ge=0, le=200)] = 10) -> str:
        """How the wind blows."""
        await asyncio.sleep(0)
        return f"{place}: {knots}"


    @tool(read_only=True, category="code_analysis", name="sum_up")
    def add(numbers: list[int], sign: Literal["+", "-"] = "+", deep: dict[str, list[float]] = {}) -> dict[str, int]:
        """Add numbers up."""
        return {"sum": sum(numbers) * (1 if sign == "+" else -1)}


    @tool()
    async def where(job, path: str = ".") -> str:
        """Where it runs."""
        job.tell("looking")
        return str(job.workspace.root / path)


    @tool(read_only=True)
    def fails(why: str) -> str:
        """It fails."""
        raise RuntimeError(why)


    @tool(read_only=True)
    def silent() -> None:
        """It gives nothing."""
'''


def own_file(folder: Path, text: str = OWN, name: str = "mine.py") -> Path:
    path = folder / name
    path.write_text(textwrap.dedent(text))
    return path


async def call_tool(
    tmp_path: Path, *answers: Answer, text: str = OWN, mode: str = "agent"
) -> tuple[list[str], list[str]]:
    tools = tools_of_file(own_file(tmp_path, text))
    world = world_with_tools(tmp_path, *answers, DONE, tools=tools)
    async with world.runtime:
        context_id = await world.start(mode)
        await world.turn(context_id)
        return await statuses(world.runtime, context_id), await results(world.runtime, context_id)


async def test_a_typed_function_is_a_tool(tmp_path: Path) -> None:
    statuses_of_calls, texts = await call_tool(
        tmp_path,
        answer_with_calls(("wind", {"place": "Kiel"}), ("sum_up", {"numbers": [1, 2, 3], "sign": "-"})),
        answer_with_calls(("where", {})),
        answer_with_calls(("silent", {})),
    )
    assert statuses_of_calls == ["executed"] * 4
    assert texts == ["Kiel: 10", '{"sum":-6}', str(tmp_path / "workspace"), "null"]


@pytest.mark.parametrize(
    ("tool", "arguments", "word"),
    [
        ("wind", {}, "place"),
        ("wind", {"place": 3}, "str"),
        ("wind", {"place": "x", "knots": "many"}, "int"),
        ("wind", {"place": "x", "knots": -1}, ">= 0"),
        ("wind", {"place": "x", "more": 1}, "more"),
        ("sum_up", {"numbers": [1, "2"]}, "int"),
        ("sum_up", {"numbers": "1"}, "array"),
        ("sum_up", {"numbers": [], "sign": "*"}, "*"),
        ("where", {"job": "mine"}, "job"),
    ],
)
async def test_arguments_of_the_wrong_type_are_reported_and_nothing_runs(
    tmp_path: Path, tool: str, arguments: dict[str, Any], word: str
) -> None:
    statuses_of_calls, (text,) = await call_tool(tmp_path, answer_with_calls((tool, arguments)))
    assert statuses_of_calls == ["failed"]
    assert word in text


async def test_an_exception_of_a_function_tool_fails_its_call(tmp_path: Path) -> None:
    statuses_of_calls, (text,) = await call_tool(tmp_path, answer_with_calls(("fails", {"why": "no wind today"})))
    assert statuses_of_calls == ["failed"]
    assert "no wind today" in text


async def test_a_function_tool_without_a_read_only_mark_is_decided_as_mutating(tmp_path: Path) -> None:
    statuses_of_calls, _ = await call_tool(tmp_path, answer_with_calls(("where", {})), mode="plan")
    assert statuses_of_calls == ["denied"]
    statuses_of_calls, _ = await call_tool_in_agent_mode(tmp_path)
    assert statuses_of_calls == ["executed"]


async def call_tool_in_agent_mode(tmp_path: Path) -> tuple[list[str], list[str]]:
    folder = tmp_path / "again"
    folder.mkdir()
    return await call_tool(folder, answer_with_calls(("wind", {"place": "x"})), mode="plan")


def test_the_schema_has_types_defaults_and_bounds(tmp_path: Path) -> None:
    registry = Registry(tools_of_file(own_file(tmp_path)))
    wind = registry.describe(registry.tools["wind"])
    assert wind.description == "How the wind blows."
    assert wind.parameters["required"] == ["place"]
    assert wind.parameters["properties"]["knots"] == {"type": "integer", "minimum": 0, "maximum": 200, "default": 10}
    assert registry.tools["sum_up"].category == "code_analysis"
    assert "job" not in json.dumps(dict(registry.describe(registry.tools["where"]).parameters))


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("from pilothouse.tools.function_tools import tool\n@tool()\ndef x(a): 'Doc.'", "'a'"),
        ("from pilothouse.tools.function_tools import tool\n@tool()\ndef x(a: int): pass", "docstring"),
        ("from pilothouse.tools.function_tools import tool\n@tool()\ndef x(*a: int): 'Doc.'", "'a'"),
        ("from pilothouse.tools.function_tools import tool\n@tool()\ndef x(**a: int): 'Doc.'", "'a'"),
        ("from pilothouse.tools.function_tools import tool\n@tool(name='not a name')\ndef x(): 'Doc.'", "not a name"),
        ("from pilothouse.tools.function_tools import tool\n@tool()\ndef x(a: 'Nothing'): 'Doc.'", "Nothing"),
        ("from pilothouse.tools.function_tools import tool\n@tool()\ndef x(a: object()): 'Doc.'", "x"),
        (
            "from pathlib import Path\nfrom pilothouse.tools.function_tools import tool\n"
            "@tool()\ndef x(a: Path): 'Doc.'",
            "Path",
        ),
        ("raise RuntimeError('not today')", "not today"),
        ("this is no Python", "SyntaxError"),
        ("import nothing_of_that_name", "nothing_of_that_name"),
    ],
)
def test_an_invalid_tool_file_is_reported_with_its_mistake(tmp_path: Path, text: str, word: str) -> None:
    with pytest.raises(InvalidInput, match=word.replace("(", r"\(")):
        Registry(tools_of_file(own_file(tmp_path, text)))


def test_a_missing_tool_file_is_reported(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match=r"none\.py"):
        tools_of_file(tmp_path / "none.py")


def test_a_parameter_that_is_no_keyword_of_a_struct_still_works(tmp_path: Path) -> None:
    """Names that a shape uses itself must not get in the way."""
    text = """
    from pilothouse.tools.function_tools import tool

    @tool(read_only=True)
    def odd(kw_only: int, self: str = "a", tag: str = "b") -> str:
        "Odd names."
        return f"{kw_only}{self}{tag}"
    """
    (tool,) = tools_of_file(own_file(tmp_path, text))
    assert Registry([tool]).describe(tool).parameters["required"] == ["kw_only"]


def test_postponed_annotations_are_resolved(tmp_path: Path) -> None:
    text = """
    from __future__ import annotations

    from dataclasses import dataclass

    from pilothouse.tools.function_tools import tool

    @dataclass
    class Boat:
        name: str

    @tool(read_only=True)
    def sail(boat: Boat, crew: list[str] | None = None) -> str:
        "Set sail."
        return boat.name
    """
    (tool,) = tools_of_file(own_file(tmp_path, text))
    assert Registry([tool]).describe(tool).parameters["required"] == ["boat"]


async def test_a_slow_synchronous_function_blocks_nobody_and_ends_at_its_limit(tmp_path: Path) -> None:
    text = """
    import time

    from pilothouse.tools.function_tools import tool

    @tool(read_only=True)
    def sleeps() -> str:
        "It sleeps."
        time.sleep(1)
        return "slept"
    """
    tools = tools_of_file(own_file(tmp_path, text))
    world = world_with_tools(tmp_path, answer_with_calls(("sleeps", {})), DONE, tools=tools)
    async with world.runtime:
        context_id = await world.start()
        await world.runtime.messages.send(context_id, "go")
        ticks = 0
        live = await live_context(world.runtime, context_id)
        while live.task is not None:
            await asyncio.sleep(0.01)
            ticks += 1
        assert ticks > 20
        assert await results(world.runtime, context_id) == ["slept"]


# configured files, packages, requirements, start and stop


def runtime_of(folder: Path, *answers: Answer) -> Runtime:
    """The runtime as the program builds it from the person's files."""
    settings = read_settings(
        {"HOME": str(folder), "PATH": os.environ["PATH"]},
        model="demo",
        data_dir=str(folder / "data"),
        config=str(folder / "own" / "config.toml"),
    )
    return build_runtime(settings, {"PATH": os.environ["PATH"]}, adapter=ScriptedAdapter(Script(turn=answers)))


async def test_the_settings_name_the_files_beside_them(tmp_path: Path) -> None:
    settled(tmp_path, 'files = ["mine.py"]\n[tools.fails]\nenabled = false\n')
    own_file(tmp_path / "own")
    (tmp_path / "workspace").mkdir()
    async with runtime_of(
        tmp_path, answer_with_calls(("wind", {"place": "Kiel"}), ("fails", {"why": "x"})), DONE
    ) as runtime:
        context_id = await runtime.contexts.create(tmp_path / "workspace")
        await runtime.messages.send(context_id, "go")
        await runtime.turns.rested(context_id)
        assert await statuses(runtime, context_id) == ["executed", "denied"]


@pytest.mark.parametrize(
    "text",
    [
        "[tools.exceute]\nenabled = false\n",
        "[tools.execute]\ncolour = 1\n",
        "[tools.look]\nwhitelist = ['x']\n",
        "tools = 1\n",
    ],
)
def test_wrong_tool_settings_are_reported(tmp_path: Path, text: str) -> None:
    settled(tmp_path, text)
    with pytest.raises(InvalidInput, match=r"tools\.toml"):
        runtime_of(tmp_path)


def test_a_custom_tool_cannot_take_the_name_of_another(tmp_path: Path) -> None:
    settled(tmp_path, 'files = ["mine.py"]\n')
    text = "from pilothouse.tools.function_tools import tool\n@tool()\ndef execute(): 'Mine.'"
    own_file(tmp_path / "own", text)
    with pytest.raises(InvalidInput, match="execute"):
        runtime_of(tmp_path)


PACKAGE = """
    from pilothouse.tools.function_tools import tool

    LIFE = []

    @tool(read_only=True)
    def tide(place: str) -> str:
        "How high the water stands."
        return f"{place}: high"

    @tool(needs=["tide"])
    def moor(place: str) -> str:
        "Moor there."
        return place

    class Moon:
        name = "moon"
        description = "How the moon stands."
        category = "external"
        effect = "read_only"
        parameters = tide.parameters

        async def start(self):
            LIFE.append("start")

        async def stop(self):
            LIFE.append("stop")

        async def prepare(self, arguments, workspace):
            return await tide.prepare(arguments, workspace)

        async def run(self, arguments, job):
            return "full"

    def all_tools():
        return [moor, Moon()]
"""


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """An installed package, as far as Python can tell: a module and the folder that describes it."""
    name = f"harbour_{tmp_path.name.replace('-', '_')}"
    site = tmp_path / "site"
    info = site / f"{name}-1.0.dist-info"
    info.mkdir(parents=True)
    (site / f"{name}.py").write_text(textwrap.dedent(PACKAGE))
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(f"[pilothouse.tools]\ntide = {name}:tide\nmore = {name}:all_tools\n")
    monkeypatch.syspath_prepend(str(site))
    return name


async def test_an_installed_package_brings_tools(tmp_path: Path, package: str) -> None:
    (tmp_path / "workspace").mkdir()
    call = answer_with_calls(("tide", {"place": "Kiel"}), ("moon", {"place": "Kiel"}))
    runtime = runtime_of(tmp_path, call, DONE)
    life = sys.modules[package].LIFE
    assert life == []
    async with runtime:
        assert life == ["start"]
        context_id = await runtime.contexts.create(tmp_path / "workspace")
        await runtime.messages.send(context_id, "go")
        await runtime.turns.rested(context_id)
        assert sorted(await results(runtime, context_id)) == ["Kiel: high", "full"]
    assert life == ["start", "stop"]


def test_a_broken_tool_package_is_reported_by_name(tmp_path: Path, package: str) -> None:
    (tmp_path / "site" / f"{package}.py").write_text("raise RuntimeError('low water')")
    with pytest.raises(InvalidInput, match="low water"):
        tools_of_packages()


def test_a_tool_with_a_missing_dependency_is_reported(tmp_path: Path) -> None:
    text = "from pilothouse.tools.function_tools import tool\n@tool(needs=['tide', 'moon'])\ndef moor(): 'Moor.'"
    with pytest.raises(InvalidInput, match="tide, moon"):
        Registry(tools_of_file(own_file(tmp_path, text)))


class LifecycleTool(NoteTool):
    def __init__(self, name: str, life: list[str], *, fails: bool = False) -> None:
        super().__init__(name, "read_only")
        self._life = life
        self._breaks = fails

    async def start(self) -> None:
        if self._breaks:
            raise RuntimeError(f"{self.name} cannot")
        self._life.append(f"start {self.name}")

    async def stop(self) -> None:
        self._life.append(f"stop {self.name}")


async def test_tools_start_in_order_and_stop_in_reverse_order(tmp_path: Path) -> None:
    life: list[str] = []
    async with world_with_tools(tmp_path, tools=[LifecycleTool("one", life), LifecycleTool("two", life)]).runtime:
        assert life == ["start one", "start two"]
    assert life[2:] == ["stop two", "stop one"]


async def test_a_tool_that_fails_to_start_stops_those_already_started(tmp_path: Path) -> None:
    life: list[str] = []
    world = world_with_tools(tmp_path, tools=[LifecycleTool("one", life), LifecycleTool("two", life, fails=True)])
    with pytest.raises(RuntimeError, match="two cannot"):
        await world.runtime.start()
    assert life == ["start one", "stop one"]
    await world.dependencies.store.close()


class UnstoppableTool(LifecycleTool):
    async def stop(self) -> None:
        raise RuntimeError("I do not stop")


async def test_a_tool_that_fails_to_stop_does_not_keep_others_or_the_store_from_closing(tmp_path: Path) -> None:
    life: list[str] = []
    world = world_with_tools(tmp_path, tools=[LifecycleTool("one", life), UnstoppableTool("two", life)])
    await world.runtime.start()
    context_id = await world.start()
    with suppress(RuntimeError):
        await world.runtime.close()
    assert "stop one" in life
    again = world_with_tools(tmp_path, ids_from=1000)
    async with again.runtime:  # the store's lock is free again
        assert (await again.runtime.contexts.get(context_id)).id == context_id
