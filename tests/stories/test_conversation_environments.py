"""A conversation has PATH and the listed variables of its client: what decides a command, and what starts it."""

import asyncio
import copy
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from pilothouse.domain.calls import CallRecord
from pilothouse.domain.codes import Code
from pilothouse.domain.errors import InvalidInput, NotFound
from pilothouse.domain.messages import ToolResult
from pilothouse.domain.rules import Scope
from pilothouse.domain.value import ContextId
from pilothouse.llm.script import Answer, ScriptedCall
from pilothouse.runtime.commands.calls import PersonsDecision
from pilothouse.runtime.context.environments import MAX_ENVIRONMENTS, ConversationEnvironments
from pilothouse.sandbox.command_environment import MAX_CLIENT_CHARACTERS, MAX_CLIENT_FOLDERS, CommandEnvironment
from pilothouse.sandbox.workspace import Workspace
from pilothouse.storage.files.store import FileStore
from pilothouse.storage.memory import MemoryStore
from pilothouse.testing.tools import NoteTool
from pilothouse.testing.world import World
from pilothouse.tools.base import Arguments, CallPreview, Category, ToolContext
from pilothouse.tools.builtin import builtin_tools
from tests.support.kernel import needs_sandbox

DONE = Answer(text="done")
SYSTEM = "/usr/bin:/bin"
LISTED = ("LISTED", "PYTHONPATH")
PRINTS = 'echo "$PATH|$LISTED|$PYTHONPATH|$HOME|$OPENAI_API_KEY|$PILOTHOUSE_TOKEN|$OTHER"'


def runs(*commands: str) -> Answer:
    return Answer(calls=tuple(ScriptedCall(tool="execute", arguments={"command": command}) for command in commands))


def program(folder: Path, name: str, text: str) -> str:
    """A PATH that begins with a folder in which a program prints a text."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text(f"#!/bin/sh\necho {text}\n")
    (folder / name).chmod(0o755)
    return f"{folder}:{SYSTEM}"


def world_in(folder: Path, *answers: Answer, path: str = SYSTEM, **options: Any) -> World:
    (folder / "work").mkdir(exist_ok=True)
    environment = {"PATH": path, "HOME": str(folder / "home"), "LISTED": "of the runtime"}
    tools = [*builtin_tools(), *options.pop("tools", ())]
    return World(folder / "work", *answers, tools=tools, environment=environment, listed=LISTED, **options)


async def results(world: World, context_id: ContextId) -> list[str]:
    messages = await world.runtime.messages.read(context_id)
    return [message.content for message in messages if isinstance(message, ToolResult)]


async def only_call(world: World, context_id: ContextId) -> CallRecord:
    (call,) = (await world.runtime.calls.read(context_id)).items
    return call


async def test_commands_get_path_and_the_listed_variables_of_the_client_and_nothing_else_of_it(tmp_path: Path) -> None:
    world = world_in(tmp_path, runs(PRINTS), DONE, runs(PRINTS), DONE, runs(PRINTS), DONE)
    client = {"PATH": f"/client:{SYSTEM}", "LISTED": "of the client", "HOME": "/elsewhere", "OTHER": "dropped"}
    client |= {"OPENAI_API_KEY": "key", "PILOTHOUSE_TOKEN": "token", "LD_PRELOAD": "/lib.so", "BASH_ENV": "/evil"}
    async with world.runtime as runtime:
        assert runtime.workspaces.environment_variables == ("PATH", *LISTED)
        context_id, other = await world.start(), await world.start()
        await runtime.workspaces.use_environment(context_id, client)
        for conversation in (context_id, other):
            await world.turn(conversation)
        assert await results(world, context_id) == [f"/client:{SYSTEM}|of the client||{tmp_path}/home|||\n"]
        assert await results(world, other) == [f"{SYSTEM}|of the runtime||{tmp_path}/home|||\n"]
        await runtime.workspaces.use_environment(context_id, {})
        await world.turn(context_id)
        # A variable that the client does not have is not set. Without a PATH of the client, the runtime's is used.
        assert (await results(world, context_id))[1] == f"{SYSTEM}|||{tmp_path}/home|||\n"


async def test_a_sub_agent_has_the_environment_of_its_conversation(tmp_path: Path) -> None:
    delegates = Answer(calls=(ScriptedCall(tool="delegate", arguments={"task": "print"}),))
    world = world_in(tmp_path, delegates, runs(PRINTS), Answer(text="inner"), DONE, runs(PRINTS), DONE)
    async with world.runtime as runtime:
        context_id = await world.start()
        await runtime.workspaces.use_environment(context_id, {"LISTED": "of the client"})
        await world.turn(context_id)
        (child,) = (await runtime.contexts.list(parent=context_id)).items
        assert "|of the client|" in (await results(world, child.context_id))[0]
        await runtime.workspaces.use_environment(child.context_id, {"LISTED": "another"})
        await world.turn(context_id)
        assert "|another|" in (await results(world, context_id))[1], "the conversation has one environment"


async def test_the_variables_of_a_client_are_not_stored_and_end_with_the_runtime(tmp_path: Path) -> None:
    def store() -> FileStore:
        return FileStore(tmp_path / "data", now=lambda: "2026-01-01T00:00:00.000Z")

    world = world_in(tmp_path, runs("touch f", "cat f"), DONE, store=store())
    path = program(tmp_path / "client", "mytool", "client")
    async with world.runtime as runtime:
        context_id = await world.start("supervised")
        await runtime.workspaces.use_environment(context_id, {"PATH": path, "LISTED": "secret-value"})
        await world.turn(context_id)
        await runtime.calls.approve_all(context_id)
        await runtime.turns.rested(context_id)
        exported = b"".join([piece async for piece in runtime.exports.create(context_id)])
    stored = b"".join(file.read_bytes() for file in (tmp_path / "data").rglob("*") if file.is_file())
    assert b"touch f" in stored
    for text in (b"secret-value", str(tmp_path / "client").encode()):
        assert text not in stored + exported
    again = world_in(tmp_path, runs(PRINTS), DONE, store=store(), ids_from=1000)
    async with again.runtime as runtime:
        await runtime.modes.switch(context_id, "agent")
        await again.turn(context_id)
        assert "|of the runtime|" in (await results(again, context_id))[-1]


REFUSED: dict[str, tuple[Mapping[str, str], Code]] = {
    "a long path": ({"PATH": "/x" * 50_000}, Code.ENVIRONMENT_TOO_LONG),
    "a long variable": ({"LISTED": "x" * (MAX_CLIENT_CHARACTERS + 1)}, Code.ENVIRONMENT_TOO_LONG),
    "long ones together": ({"PATH": "x" * 40_000, "LISTED": "x" * 40_000}, Code.ENVIRONMENT_TOO_LONG),
    "a path of many folders": ({"PATH": ":".join(["/x"] * (MAX_CLIENT_FOLDERS + 1))}, Code.PATH_TOO_LONG),
    "a NUL character": ({"LISTED": "a\0b"}, Code.ENVIRONMENT_NOT_TEXT),
    "a lone surrogate": ({"PATH": "/a\ud800"}, Code.ENVIRONMENT_NOT_TEXT),
}


@pytest.mark.parametrize(("variables", "code"), REFUSED.values(), ids=REFUSED)
async def test_variables_that_no_command_can_get_change_nothing(
    tmp_path: Path, variables: Mapping[str, str], code: Code
) -> None:
    world = world_in(tmp_path, runs(PRINTS), DONE)
    async with world.runtime as runtime:
        context_id = await world.start()
        await runtime.workspaces.use_environment(context_id, {"LISTED": "before"})
        with pytest.raises(InvalidInput) as caught:
            await runtime.workspaces.use_environment(context_id, variables)
        assert caught.value.reason.code is code
        with pytest.raises(NotFound):
            await runtime.workspaces.use_environment("unknown", {})
        await world.turn(context_id)
        assert "|before|" in (await results(world, context_id))[0]


async def test_the_largest_variables_reach_a_command(tmp_path: Path) -> None:
    world = world_in(tmp_path, runs("echo ${#LISTED}"), DONE)
    async with world.runtime as runtime:
        context_id = await world.start()
        value = "好" * (MAX_CLIENT_CHARACTERS // 3 - len(SYSTEM)) + "\udcff"
        await runtime.workspaces.use_environment(context_id, {"PATH": SYSTEM, "LISTED": value, "OTHER": "x" * 200_000})
        await world.turn(context_id)
        assert int((await results(world, context_id))[0]) >= len(value)


def test_the_environments_of_the_conversations_used_last_are_kept() -> None:
    environments = ConversationEnvironments(CommandEnvironment.of({"PATH": SYSTEM}, LISTED))
    for number in range(MAX_ENVIRONMENTS):
        environments.use(ContextId(f"c{number}"), {"LISTED": str(number)})
    first = environments.of(ContextId("c0"))
    environments.use(ContextId("new"), {"LISTED": "new"})
    assert environments.of(ContextId("c0")) is first
    assert environments.of(ContextId("c1")) is environments.default
    environments.forget(ContextId("c0"))
    assert environments.of(ContextId("c0")) is environments.default


async def test_a_deleted_conversation_leaves_no_environment(tmp_path: Path) -> None:
    world = world_in(tmp_path, runs(PRINTS), DONE)
    async with world.runtime as runtime:
        context_id = await runtime.contexts.create(tmp_path / "work", context_id="again", mode="agent")
        await runtime.workspaces.use_environment(context_id, {"LISTED": "of the first"})
        await runtime.contexts.delete(context_id)
        await runtime.contexts.create(tmp_path / "work", context_id="again", mode="agent")
        await world.turn(context_id)
        assert "|of the runtime|" in (await results(world, context_id))[0]


# classification and rules


@needs_sandbox
async def test_a_program_on_the_clients_path_runs_confined(tmp_path: Path) -> None:
    """Its folder can be read, as those on the path of the runtime can."""
    path = program(tmp_path / "home/tools/bin", "wc", "of the client")
    world = world_in(tmp_path, runs("wc"), DONE)
    async with world.runtime as runtime:
        context_id = await world.start("review")
        await runtime.workspaces.use_environment(context_id, {"PATH": path})
        await world.turn(context_id)
        assert await results(world, context_id) == ["of the client\n"]


WITHOUT_PROGRAMS = ("/nonexistent", "{work}{long}", "/:/etc")
HOSTILE_PATHS = (
    *(".", "", ":", "::", f".:{SYSTEM}", f":{SYSTEM}", f"sub/..:{SYSTEM}", f"{{work}}:{SYSTEM}", f"~:{SYSTEM}"),
    *(f"{{work}}/../work:{SYSTEM}", f"{{base}}/link:{SYSTEM}", "{work}", f"/proc/self/cwd:{SYSTEM}"),
    *(f"{{base}}/data:{SYSTEM}", f"{{long}}:{SYSTEM}", f"a\nb:.:{SYSTEM}", "\udcff:.", *WITHOUT_PROGRAMS),
)


@needs_sandbox
@pytest.mark.parametrize("path", HOSTILE_PATHS, ids=range(len(HOSTILE_PATHS)))
async def test_no_path_of_a_client_weakens_review(tmp_path: Path, path: str) -> None:
    """No program of the workspace takes the place of another, and no folder with secrets can be read."""
    secrets = [program(tmp_path / folder, "key", "planted").split(":")[0] for folder in ("data", "home/.ssh")]
    reads = [f"sort {folder}/key" for folder in secrets]
    world = world_in(tmp_path, runs("cat f; ls"), DONE, runs(*reads), private_folders=[tmp_path / "data"])
    for name in ("cat", "ls", "sort"):
        program(tmp_path / "work", name, f"of the workspace; touch {tmp_path}/struck")
    (tmp_path / "work/f").write_text("harmless\n")
    (tmp_path / "link").symlink_to("work")
    filled = path.format(work=tmp_path / "work", base=tmp_path, long=":/x" * 900)
    async with world.runtime as runtime:
        context_id = await world.start("review")
        await runtime.workspaces.use_environment(context_id, {"PATH": filled})
        await world.turn(context_id)
        call = await only_call(world, context_id)
        assert (call.status, call.confined) == ("executed", True)
        await world.turn(context_id)
        printed, *read = await results(world, context_id)
    assert ("not found" if path in WITHOUT_PROGRAMS else "harmless") in printed
    assert "of the workspace" not in "".join((printed, *read))
    assert "planted" not in "".join(read)
    assert not (tmp_path / "struck").exists()


async def test_a_rule_for_a_program_follows_the_clients_path(tmp_path: Path) -> None:
    installed = program(tmp_path / "installed", "mytool", "installed")
    of_workspace = program(tmp_path / "work/bin", "mytool", "of the workspace")
    world = world_in(tmp_path, runs("mytool"), DONE, runs("mytool"), path=installed)
    async with world.runtime as runtime:
        await runtime.rules.give("allow", Scope(tool="execute", words=("mytool",)))
        context_id = await world.start("supervised")
        await world.turn(context_id)
        assert await results(world, context_id) == ["installed\n"]
        await runtime.workspaces.use_environment(context_id, {"PATH": of_workspace})
        await world.turn(context_id)
        (call,) = await runtime.calls.pending(context_id)
        assert call.tool == "execute"


async def test_a_word_that_looks_like_a_program_on_the_clients_path_is_marked(tmp_path: Path) -> None:
    path = program(tmp_path / "client", "paca", "client")
    prose = "\u043f\u0440\u0438\u0432\u0435\u0442 \u0440\u0430\u0441\u0430"  # Russian words, one of which looks like it
    world = world_in(tmp_path, runs(f"echo {prose}"), runs(f"echo {prose}"))
    async with world.runtime as runtime:
        marks = []
        for variables in ({}, {"PATH": path}):
            context_id = await world.start("supervised")
            await runtime.workspaces.use_environment(context_id, variables)
            await world.turn(context_id)
            marks.append((await only_call(world, context_id)).dangerous)
    assert marks == [(), ("look-alike letters",)]


# a change between the decision and the start

Release = Callable[[World, ContextId, CallRecord], Awaitable[object]]


async def approve(world: World, context_id: ContextId, call: CallRecord) -> None:
    await world.runtime.calls.decide(context_id, [PersonsDecision(call.id, "approve", digest=call.digest)])


async def approve_edited(world: World, context_id: ContextId, call: CallRecord) -> None:
    decision = PersonsDecision(id=call.id, verdict="approve", arguments={**call.arguments, "timeout": 20})
    await world.runtime.calls.decide(context_id, [decision])


async def switch(world: World, context_id: ContextId, _: CallRecord) -> None:
    await world.runtime.modes.switch(context_id, "agent")


async def give_rule(world: World, context_id: ContextId, _: CallRecord) -> None:
    await world.runtime.rules.give("allow", Scope(tool="execute"), context_id=context_id)


RELEASES: dict[str, Release] = {"approved": approve, "edited": approve_edited, "switched": switch, "a rule": give_rule}


@pytest.mark.parametrize("release", RELEASES.values(), ids=RELEASES)
async def test_a_program_other_than_the_shown_one_does_not_run(tmp_path: Path, release: Release) -> None:
    """Another client gave its PATH while the call waited for the person."""
    shown = program(tmp_path / "first", "mytool", "shown")
    other = program(tmp_path / "second", "mytool", "other")
    world = world_in(tmp_path, runs("mytool"), DONE)
    async with world.runtime as runtime:
        context_id = await world.start("supervised")
        await runtime.workspaces.use_environment(context_id, {"PATH": shown})
        await world.turn(context_id)
        (call,) = await runtime.calls.pending(context_id)
        await runtime.workspaces.use_environment(context_id, {"PATH": other})
        await release(world, context_id, call)
        await runtime.turns.rested(context_id)
        ran = await only_call(world, context_id)
    assert (ran.status, ran.reason and ran.reason.code) == ("failed", Code.COMMAND_FILES_CHANGED)


async def test_a_call_shown_without_a_warning_does_not_run_with_a_variable_that_names_other_code(
    tmp_path: Path,
) -> None:
    world = world_in(tmp_path, runs("./run.sh"), DONE)
    program(tmp_path / "work", "run.sh", "shown")
    async with world.runtime as runtime:
        context_id = await world.start("supervised")
        await world.turn(context_id)
        (call,) = await runtime.calls.pending(context_id)
        assert not call.may_change
        await runtime.workspaces.use_environment(context_id, {"PYTHONPATH": "src"})
        await approve(world, context_id, call)
        await runtime.turns.rested(context_id)
        ran = await only_call(world, context_id)
    assert (ran.status, ran.reason and ran.reason.code) == ("failed", Code.COMMAND_FILES_CHANGED)


async def test_a_call_runs_in_the_environment_of_its_approval(tmp_path: Path) -> None:
    """Another call runs first, and meanwhile a second client gives its variables."""
    blocking = NoteTool("block", "mutating", hold=True)
    calls = (ScriptedCall(tool="block", arguments={}), *runs(PRINTS).calls)
    world = world_in(tmp_path, Answer(calls=calls), DONE, tools=[blocking])
    async with world.runtime as runtime:
        context_id = await world.start("supervised")
        await world.turn(context_id)
        await runtime.workspaces.use_environment(context_id, {"LISTED": "of who approves"})
        await runtime.calls.approve_all(context_id)
        await blocking.started.wait()
        await runtime.workspaces.use_environment(context_id, {"LISTED": "of who came later", "PATH": "/later"})
        blocking.release.set()
        await runtime.turns.rested(context_id)
        assert "|of who approves|" in (await results(world, context_id))[1]


async def test_after_a_restart_a_program_other_than_the_shown_one_does_not_run(tmp_path: Path) -> None:
    installed = program(tmp_path / "installed", "mytool", "installed")
    client = program(tmp_path / "client", "mytool", "of the client")
    store = MemoryStore()
    world = world_in(tmp_path, runs("mytool"), path=installed, store=store)
    context_id = await world.start("supervised")
    await world.runtime.workspaces.use_environment(context_id, {"PATH": client})
    await world.turn(context_id)
    copied = copy.deepcopy(store)
    await world.runtime.close()
    for variables, status in (({}, "failed"), ({"PATH": client}, "executed")):
        again = world_in(tmp_path, DONE, path=installed, store=copy.deepcopy(copied), ids_from=1000)
        async with again.runtime as runtime:
            await runtime.workspaces.use_environment(context_id, variables)
            (call,) = await runtime.calls.pending(context_id)
            await approve(again, context_id, call)
            await runtime.turns.rested(context_id)
            ran = await only_call(again, context_id)
            assert ran.status == status
            assert status == "executed" or (ran.reason and ran.reason.code) is Code.COMMAND_FILES_CHANGED


class AttachingTool:
    """Another client gives its variables while a call of this tool is inspected, after the calls before it."""

    name = "attach"
    category: Category = "external"
    effect: Any = "read_only"
    parameters = Arguments
    description = "Give variables."

    def __init__(self, give: Callable[[], Awaitable[None]]) -> None:
        self._give = give

    async def prepare(self, arguments: Arguments, workspace: Workspace) -> CallPreview:
        await self._give()
        return CallPreview(effect="read_only", touches=())

    async def run(self, arguments: Arguments, context: ToolContext) -> str:
        return "given"


async def test_a_call_runs_in_the_environment_of_its_inspection(tmp_path: Path) -> None:
    """A rule allows the installed program, which another client gives another path for before the decision."""
    installed = program(tmp_path / "installed", "mytool", "installed")
    of_workspace = program(tmp_path / "work/bin", "mytool", "of the workspace")

    async def give() -> None:
        await world.runtime.workspaces.use_environment(context_id, {"PATH": of_workspace})

    answer = Answer(calls=(*runs("mytool").calls, ScriptedCall(tool="attach", arguments={})))
    world = world_in(tmp_path, answer, DONE, runs("mytool"), path=installed, tools=[AttachingTool(give)])
    async with world.runtime as runtime:
        await runtime.rules.give("allow", Scope(tool="execute", words=("mytool",)))
        await runtime.rules.give("allow", Scope(tool="attach"))
        context_id = await world.start("supervised")
        await world.turn(context_id)
        assert await results(world, context_id) == ["installed\n", "given"]
        await world.turn(context_id)
        assert [call.tool for call in await runtime.calls.pending(context_id)] == ["execute"]


async def test_a_command_never_has_variables_of_two_clients(tmp_path: Path) -> None:
    turns = 8
    command = 'echo "$PATH|$LISTED"; echo "$PATH|$LISTED"'
    answers = [answer for _ in range(turns) for answer in (runs(command, command), DONE)]
    world = world_in(tmp_path, *answers)
    clients = [{"PATH": f"/{name}:{SYSTEM}", "LISTED": name} for name in ("one", "two", "three")]
    async with world.runtime as runtime:
        context_id = await world.start()

        async def attach() -> None:
            while True:
                for client in clients:
                    await runtime.workspaces.use_environment(context_id, client)
                    await asyncio.sleep(0)

        attaching = [asyncio.create_task(attach()) for _ in range(3)]
        try:
            await asyncio.sleep(0)
            for _ in range(turns):
                await world.turn(context_id)
        finally:
            for task in attaching:
                task.cancel()
        printed = await results(world, context_id)
    assert len(printed) == 2 * turns
    assert {line for output in printed for line in output.splitlines()} <= {
        f"{client['PATH']}|{client['LISTED']}" for client in clients
    }
