"""Every message, whoever caused it, says in which turn, round and mode it was made, for which persona and model."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pilothouse.domain.codes import Code
from pilothouse.domain.errors import InvalidInput
from pilothouse.domain.messages import Message, SystemControl
from pilothouse.domain.personas import Persona, Personas
from pilothouse.domain.value import ContextId
from pilothouse.llm.script import Answer, ScriptedError
from pilothouse.testing.tools import NoteTool
from pilothouse.testing.world import World
from tests.stories.test_recovery import crash, store_at
from tests.support.held_store import DONE, calls_answer
from tests.support.live_contexts import live_context
from tests.support.mcp_tools import until, world_with_tools, writes
from tests.support.message_metadata import missing_metadata

HELPER = Persona("helper", model="small")
BOTH = calls_answer(("change", "a"), ("look", "b"))


def personas_for(workspace: str | None) -> Personas:
    return Personas([HELPER])


WITH_PERSONA: dict[str, Any] = {"personas": personas_for, "models": ("small",)}


async def opened(world: World, mode: str = "agent") -> ContextId:
    return await world.runtime.contexts.create(world.workspace, mode=mode, persona="helper")


async def stored_kinds(world: World, context_id: ContextId) -> set[str]:
    """The kinds of all messages of a context, on every branch, after a check of their metadata."""
    store = world.dependencies.store
    messages = await store.messages(context_id, await store.message_ids(context_id))
    assert [(kind_of(each), missing) for each in messages if (missing := missing_metadata(each, "helper"))] == []
    assert {message.metadata.model for message in messages} == {"small"}
    return set(map(kind_of, messages))


def kind_of(message: Message) -> str:
    return message.kind if isinstance(message, SystemControl) else type(message).__name__


async def test_messages_of_turns_with_decided_calls_and_switches_of_mode(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("")
    world = World(tmp_path, BOTH, DONE, BOTH, DONE, BOTH, **WITH_PERSONA)
    context_id = await opened(world, "supervised")
    await world.turn(context_id, [{"type": "text", "content": "x"}, {"type": "file_reference", "path": "a.py"}])
    await world.runtime.calls.approve_all(context_id)
    await world.runtime.turns.rested(context_id)
    await world.runtime.modes.switch(context_id, "agent")
    await world.turn(context_id)
    await world.turn(context_id, mode="supervised")
    await world.runtime.modes.switch(context_id, "review")
    await world.runtime.calls.reject_all(context_id)
    kinds = await stored_kinds(world, context_id)
    assert kinds == {"Text", "FileReference", "ToolRequest", "ToolResult", "mode_switch"}


async def test_a_switch_of_mode_and_a_result_carry_the_mode_that_holds_then(tmp_path: Path) -> None:
    world = World(tmp_path, BOTH, DONE, **WITH_PERSONA)
    context_id = await opened(world, "supervised")
    await world.turn(context_id)
    await world.runtime.modes.switch(context_id, "agent")
    await world.runtime.turns.rested(context_id)
    modes = [(kind_of(each), each.metadata.mode) for each in await world.runtime.messages.read(context_id)]
    assert modes == [
        ("Text", "supervised"),
        ("ToolRequest", "supervised"),
        ("mode_switch", "agent"),
        ("ToolResult", "agent"),
        ("ToolResult", "agent"),
        ("Text", "agent"),
    ]


async def test_messages_of_cancelled_and_failed_turns_and_of_the_queue(tmp_path: Path) -> None:
    slow = NoteTool("slow", "mutating", hold=True)
    cut, failed = Answer(text="one two", cut=1), Answer(error=ScriptedError(status=400))
    world = World(tmp_path, calls_answer(("slow", "x")), cut, failed, DONE, DONE, tools=[slow], **WITH_PERSONA)
    context_id = await opened(world)
    await world.runtime.messages.send(context_id, "first")
    await slow.started.wait()
    await world.runtime.messages.send(context_id, "second", queue=True)
    await world.runtime.turns.cancel(context_id)
    await world.runtime.turns.rested(context_id)
    for _ in range(2):
        await world.runtime.turns.continue_(context_id)
        await world.runtime.turns.rested(context_id)
    assert (await world.runtime.contexts.get(context_id)).core.queue == ()
    assert await stored_kinds(world, context_id) == {"Text", "ToolRequest", "ToolResult", "ErrorMessage"}


async def test_messages_about_branches_the_overview_and_a_compression(tmp_path: Path) -> None:
    world = World(tmp_path, *[DONE] * 9, **WITH_PERSONA)
    context_id = await opened(world)
    for _ in range(4):
        await world.turn(context_id, "word " * 50)
    await world.runtime.branches.create(context_id, "other")
    await world.turn(context_id)
    await world.runtime.branches.set_prompt_addition(context_id, "Be short.")
    await world.runtime.branches.switch(context_id, "other")
    await world.turn(context_id)
    await world.runtime.merges.merge(context_id, "main")
    await world.runtime.workspaces.add_overview(context_id)
    await world.runtime.compression.compress(context_id)
    kinds = await stored_kinds(world, context_id)
    assert kinds == {"Text", "branch_merge", "prompt_change", "injection", "summary"}


async def test_the_notice_of_an_undo(tmp_path: Path) -> None:
    world = world_with_tools(tmp_path, writes("a.txt", "x"), DONE, **WITH_PERSONA)
    async with world.runtime:
        context_id = await opened(world)
        await world.turn(context_id)
        await world.runtime.workspaces.undo(context_id)
        assert await stored_kinds(world, context_id) == {"Text", "ToolRequest", "ToolResult", "injection"}


async def test_an_interrupted_answer_and_the_error_after_a_crash(tmp_path: Path) -> None:
    world = World(tmp_path, Answer(deltas=("one ", "two "), silence=2), store=store_at(tmp_path), **WITH_PERSONA)
    context_id = await opened(world)
    await world.runtime.messages.send(context_id, "hello")
    live = await live_context(world.runtime, context_id)
    await until(lambda: live.delta_writer is not None and live.delta_writer.flushed == 2)
    await crash(world)
    again = World(tmp_path, store=store_at(tmp_path), ids_from=1000, **WITH_PERSONA)
    async with again.runtime:
        await again.runtime.contexts.change(context_id, title="mine")  # the first command stores the recovery
        assert await stored_kinds(again, context_id) == {"Text", "ErrorMessage"}
        assert len(await again.runtime.messages.read(context_id)) == 3


async def test_a_message_that_a_processor_refuses(tmp_path: Path) -> None:
    async def refuse(messages: Sequence[Message]) -> Sequence[Message]:
        raise InvalidInput(Code.INVALID_REQUEST, detail="no")

    world = World(tmp_path, processors=[refuse], **WITH_PERSONA)
    context_id = await opened(world)
    await world.turn(context_id)
    assert await stored_kinds(world, context_id) == {"Text", "ErrorMessage"}
