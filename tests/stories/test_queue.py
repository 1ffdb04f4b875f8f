"""The queue, idempotency keys, editing and resending, processors, titles."""

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec
import pytest

from pilothouse.domain.codes import Code
from pilothouse.domain.errors import Conflict, InvalidInput, NotFound
from pilothouse.domain.messages import ErrorMessage, Message, Text
from pilothouse.domain.payloads import (
    ClientMetadata,
    DataContext,
    FileReferencePayload,
    MessageAttachments,
    Payload,
    TextPayload,
)
from pilothouse.domain.states import Idle
from pilothouse.llm.script import Answer, Script, ScriptedCall, ScriptedError
from pilothouse.llm.scripted import ScriptedAdapter
from pilothouse.runtime.dependencies import TitleModel
from pilothouse.storage.files.store import FileStore
from pilothouse.storage.memory import MemoryStore
from pilothouse.testing.tools import NoteTool
from pilothouse.testing.world import World
from tests.support.assertions import content_of
from tests.support.live_contexts import live_context_at_rest


def files(tmp_path: Path) -> FileStore:
    return FileStore(tmp_path / "data", now=lambda: "2026-01-01T00:00:00.000Z")


def texts_of(messages: Sequence[Message]) -> list[str]:
    return [message.content for message in messages if isinstance(message, Text)]


def world_with_blocking_tool(tmp_path: Path, *answers: Answer, **options: Any) -> tuple[World, NoteTool]:
    blocking_tool = NoteTool("held", "mutating", hold=True)
    first = Answer(calls=(ScriptedCall(tool="held"),))
    return World(tmp_path, first, *answers, tools=[blocking_tool], **options), blocking_tool


async def test_queued_messages_are_taken_one_by_one_after_a_completed_turn_with_their_mode(tmp_path: Path) -> None:
    world, blocking_tool = world_with_blocking_tool(tmp_path, Answer(text="1"), Answer(text="2"), Answer(text="3"))
    context_id = await world.start()
    await world.runtime.messages.send(context_id, "first")
    await blocking_tool.started.wait()
    with pytest.raises(Conflict, match="isn't finished"):
        await world.runtime.messages.send(context_id, "refused")
    second = await world.runtime.messages.send(context_id, "second", queue=True, mode="plan")
    third = await world.runtime.messages.send(context_id, "third", queue=True)
    assert second.queued
    assert [item.item.id for item in await world.runtime.queue.read(context_id)] == [
        second.message_id,
        third.message_id,
    ]
    assert (await world.runtime.contexts.get(context_id)).core.mode == "agent", "its mode holds when it is taken"
    blocking_tool.release.set()
    live = await live_context_at_rest(world.runtime, context_id)
    messages = await world.runtime.messages.read(context_id)
    assert texts_of(messages) == ["first", "1", "second", "2", "third", "3"]
    assert second.message_id in [message.id for message in messages]
    assert live.core.mode == "plan"
    assert live.core.queue == ()


async def test_a_queued_message_can_be_changed_and_deleted_until_it_is_taken(tmp_path: Path) -> None:
    world, blocking_tool = world_with_blocking_tool(tmp_path, Answer(text="1"), Answer(text="2"))
    context_id = await world.start()
    await world.runtime.messages.send(context_id, "first")
    await blocking_tool.started.wait()
    one = await world.runtime.messages.send(context_id, "one", queue=True)
    two = await world.runtime.messages.send(context_id, "two", queue=True)
    await world.runtime.queue.edit(context_id, one.message_id, "one, better")
    await world.runtime.queue.delete(context_id, two.message_id)
    blocking_tool.release.set()
    await world.runtime.turns.rested(context_id)
    assert texts_of(await world.runtime.messages.read(context_id)) == ["first", "1", "one, better", "2"]
    for command in (
        world.runtime.queue.delete(context_id, one.message_id),
        world.runtime.queue.edit(context_id, "nothing", "x"),
    ):
        with pytest.raises(NotFound, match="isn't in the queue"):
            await command


@pytest.mark.parametrize("end", ["cancel", "error", "denied", "rejected"])
async def test_the_queue_is_held_after_anything_but_a_completed_turn(tmp_path: Path, end: str) -> None:
    change = ScriptedCall(tool="change")
    after = {
        "cancel": [],
        "error": [Answer(error=ScriptedError(status=400))],
        "denied": [Answer(calls=(change,))],
        "rejected": [Answer(calls=(change,))],
    }[end]
    world, blocking_tool = world_with_blocking_tool(tmp_path, *after, Answer(text="later"), Answer(text="last"))
    context_id = await world.start("agent")
    await world.runtime.messages.send(context_id, "first")
    await blocking_tool.started.wait()
    await world.runtime.messages.send(context_id, "queued", queue=True)
    if end == "denied":
        await world.runtime.modes.switch(context_id, "plan")
    if end == "rejected":
        await world.runtime.modes.switch(context_id, "supervised")
    if end == "cancel":
        await world.runtime.turns.cancel(context_id)
    blocking_tool.release.set()
    await world.runtime.turns.rested(context_id)
    if end == "rejected":
        await world.runtime.calls.reject_all(context_id)
        await world.runtime.turns.rested(context_id)
    live = await world.runtime.contexts.get(context_id)
    assert isinstance(live.state, Idle)
    assert len(live.core.queue) == 1
    await world.runtime.turns.continue_(context_id)
    live = await world.runtime.turns.rested(context_id)
    assert live.core.queue == (), "the person went on, and so did the queue"
    assert "queued" in texts_of(await world.runtime.messages.read(context_id))


async def test_the_queue_survives_a_restart_and_waits_for_the_person(tmp_path: Path) -> None:
    world, blocking_tool = world_with_blocking_tool(tmp_path, store=files(tmp_path))
    context_id = await world.start()
    await world.runtime.messages.send(context_id, "first")
    await blocking_tool.started.wait()
    await world.runtime.messages.send(
        context_id, [TextPayload(content="queued"), FileReferencePayload(path="a")], queue=True
    )
    await world.runtime.close()
    answers = [Answer(text="1"), Answer(text="2")]
    again = World(tmp_path, *answers, store=files(tmp_path), ids_from=1000)
    live = await live_context_at_rest(again.runtime, context_id)
    (item,) = await again.runtime.queue.read(context_id)
    assert texts_of(item.messages) == ["queued"]
    assert len(item.messages) == 2
    assert live.state == Idle()
    await again.runtime.turns.continue_(context_id)
    await again.runtime.turns.rested(context_id)
    assert texts_of(await again.runtime.messages.read(context_id)) == ["first", "1", "queued", "2"]
    await again.runtime.close()


async def test_the_queue_has_room_for_fifty(tmp_path: Path) -> None:
    world, blocking_tool = world_with_blocking_tool(tmp_path)
    context_id = await world.start()
    await world.runtime.messages.send(context_id, "first")
    await blocking_tool.started.wait()
    for number in range(50):
        await world.runtime.messages.send(context_id, str(number), queue=True)
    with pytest.raises(Conflict, match="50 messages"):
        await world.runtime.messages.send(context_id, "one too many", queue=True)
    with pytest.raises(InvalidInput):
        await world.runtime.messages.send(context_id, "x", queue=True, mode="nonsense")
    await world.runtime.turns.cancel(context_id)


async def test_a_queued_message_is_not_seen_by_the_model_before_its_turn(tmp_path: Path) -> None:
    world, blocking_tool = world_with_blocking_tool(tmp_path, Answer(text="1"), Answer(text="2"))
    context_id = await world.start()
    await world.runtime.messages.send(context_id, "first")
    await blocking_tool.started.wait()
    await world.runtime.messages.send(context_id, "SECRET", queue=True)
    blocking_tool.release.set()
    await world.runtime.turns.rested(context_id)
    sent_secret = [any(b"SECRET" in fragment for fragment in request.messages) for request in world.model.requests]
    assert sent_secret == [False, False, True]


# keys


@pytest.mark.parametrize("kind", ["memory", "files"])
async def test_a_request_repeated_with_its_key_is_one_message_and_the_same_answer(tmp_path: Path, kind: str) -> None:
    store = files(tmp_path) if kind == "files" else MemoryStore()
    world = World(tmp_path, Answer(text="1"), Answer(text="2"), store=store)
    context_id = await world.start()
    first, again = await asyncio.gather(
        world.runtime.messages.send(context_id, "hello", key="k"),
        world.runtime.messages.send(context_id, "hello", key="k"),
    )
    assert first == again
    await world.runtime.turns.rested(context_id)
    assert await world.runtime.messages.send(context_id, "hello", key="k") == first
    with pytest.raises(InvalidInput) as caught:
        await world.runtime.messages.send(context_id, "something else", key="k")
    assert caught.value.reason.code is Code.KEY_REUSED
    assert texts_of(await world.runtime.messages.read(context_id)) == ["hello", "1"]
    if kind == "files":
        await world.runtime.close()
        later = World(tmp_path, Answer(text="2"), store=files(tmp_path), ids_from=1000)
        assert await later.runtime.messages.send(context_id, "hello", key="k") == first
        other = await later.runtime.messages.send(context_id, "hello", key="l")
        assert other != first
        await later.runtime.turns.rested(context_id)
        await later.runtime.close()


async def test_a_queued_request_keeps_its_answer_under_its_key(tmp_path: Path) -> None:
    world, blocking_tool = world_with_blocking_tool(tmp_path, Answer(text="1"), Answer(text="2"))
    context_id = await world.start()
    await world.runtime.messages.send(context_id, "first")
    await blocking_tool.started.wait()
    one = await world.runtime.messages.send(context_id, "later", queue=True, key="k")
    assert await world.runtime.messages.send(context_id, "later", queue=True, key="k") == one
    blocking_tool.release.set()
    await world.runtime.turns.rested(context_id)
    assert await world.runtime.messages.send(context_id, "later", queue=True, key="k") == one
    assert texts_of(await world.runtime.messages.read(context_id)) == ["first", "1", "later", "2"]


async def test_the_last_thousand_keys_are_known_after_a_restart(tmp_path: Path) -> None:
    store = files(tmp_path)
    world, blocking_tool = world_with_blocking_tool(tmp_path, store=store)
    context_id = await world.start()
    await world.runtime.messages.send(context_id, "first", key="key-first")
    await blocking_tool.started.wait()
    sent = {}
    for number in range(1100):
        answer = await world.runtime.messages.send(context_id, str(number), key=f"key-{number}", queue=True)
        sent[number] = answer
        await world.runtime.queue.delete(context_id, answer.message_id)
        if number == 500:
            await store.checkpoint(context_id)
    await world.runtime.close()
    again = World(tmp_path, store=files(tmp_path), ids_from=10**6)
    for number in (100, 500, 501, 1099):
        assert (
            await again.runtime.messages.send(context_id, str(number), key=f"key-{number}", queue=True) == sent[number]
        )
    await again.runtime.close()


async def test_a_key_has_a_length(tmp_path: Path) -> None:
    world = World(tmp_path)
    context_id = await world.start()
    for key in ("", "x" * 256):
        with pytest.raises(InvalidInput):
            await world.runtime.messages.send(context_id, "hello", key=key)


# edit and resend


async def test_editing_an_earlier_message_makes_a_branch_and_leaves_the_old_one(tmp_path: Path) -> None:
    world = World(tmp_path, Answer(text="a1"), Answer(text="b1"), Answer(text="b2"))
    context_id = await world.start()
    await world.turn(context_id, "a")
    sent = await world.runtime.messages.send(context_id, "b")
    await world.runtime.turns.rested(context_id)
    before = await world.runtime.messages.read(context_id)
    pool = len(await world.dependencies.store.message_ids(context_id))
    await world.runtime.messages.edit(context_id, sent.message_id, "b, better")
    live = await world.runtime.turns.rested(context_id)
    assert live.core.active_branch == "main-2"
    assert live.branches["main-2"].parent_branch == "main"
    assert texts_of(await world.runtime.messages.read(context_id)) == ["a", "a1", "b, better", "b2"]
    assert await world.runtime.messages.read(context_id, branch="main") == before
    assert len(await world.dependencies.store.message_ids(context_id)) == pool + 2, "nothing was copied"
    assert [b"better" in b"".join(request.messages) for request in world.model.requests] == [False, False, True]
    answer = (await world.runtime.messages.read(context_id))[1]
    for wrong in (answer.id, "nothing"):
        with pytest.raises(NotFound):
            await world.runtime.messages.edit(context_id, wrong, "x")


# processors


async def test_a_processor_changes_a_message_before_the_model_sees_it(tmp_path: Path) -> None:
    async def shout(messages: Sequence[Message]) -> Sequence[Message]:
        return [msgspec.structs.replace(message, content=content_of(message).upper()) for message in messages]

    world = World(tmp_path, Answer(text="ok"), processors=[shout])
    context_id = await world.start()
    await world.turn(context_id, "hello")
    assert b"HELLO" in world.model.requests[0].messages[0]
    assert texts_of(await world.runtime.messages.read(context_id)) == ["HELLO", "ok"]


@pytest.mark.parametrize("how", ["refuses", "fails", "swaps"])
async def test_a_refused_message_stays_visible_and_never_reaches_the_model(tmp_path: Path, how: str) -> None:
    refusing = True

    async def guard(messages: Sequence[Message]) -> Sequence[Message]:
        if not refusing:
            return messages
        if how == "refuses":
            raise InvalidInput(Code.INVALID_PAYLOAD, detail="no secrets here", allowed="-")
        if how == "fails":
            raise RuntimeError("oops")
        return []

    (tmp_path / "file").write_text("SECRET")
    world = World(tmp_path, Answer(text="ok"), processors=[guard])
    context_id = await world.start()
    payloads: list[Payload] = [TextPayload(content="SECRET"), FileReferencePayload(path="file")]
    await world.runtime.messages.send(context_id, payloads)
    live = await world.runtime.turns.rested(context_id)
    assert live.state == Idle()
    messages = await world.runtime.messages.read(context_id)
    assert isinstance(messages[-1], ErrorMessage)
    refusing = False
    await world.turn(context_id, "hello")
    assert not any(b"SECRET" in fragment for fragment in world.model.requests[0].messages)


async def test_attachments_of_a_refused_message_do_not_reach_the_model_by_continuing(tmp_path: Path) -> None:
    async def guard(messages: Sequence[Message]) -> Sequence[Message]:
        raise InvalidInput(Code.INVALID_PAYLOAD, detail="no secrets here", allowed="-")

    world = World(tmp_path, Answer(text="ok"), processors=[guard])
    context_id = await world.start()
    attached = MessageAttachments(DataContext("SECRET", "s.csv", "SECRET"), ("SECRET",))
    client = ClientMetadata(extra={"open_files": ["SECRET"]})
    await world.turn(context_id, "SECRET", attached=attached, client_metadata=client)
    await world.runtime.turns.continue_(context_id)
    await world.runtime.turns.rested(context_id)
    (request,) = world.model.requests
    assert b"SECRET" not in world.model.format.body(request)


# titles


async def test_a_title_is_made_beside_the_first_turn_and_never_replaces_a_persons_own(tmp_path: Path) -> None:
    titles = ScriptedAdapter(Script(title=(Answer(text='"A fine title"\nmore'), Answer(text="Another"))))
    answers = [Answer(text="1"), Answer(text="2")]
    world = World(tmp_path, *answers, titles=TitleModel(titles, "small"))
    context_id = await world.start()
    await world.turn(context_id, "please help me\nwith this")
    while (await world.runtime.contexts.get(context_id)).core.titled_by == "first_line":
        await asyncio.sleep(0)
    assert (await world.runtime.contexts.get(context_id)).core.title == "A fine title"
    assert titles.requests[0].purpose == "title"
    other = await world.start()
    await world.runtime.contexts.change(other, title="  My   own ")
    await world.turn(other, "hello")
    assert (await world.runtime.contexts.get(other)).core.title == "My own"
    for wrong in ("", " \n ", "x" * 201, "bell\x07"):
        with pytest.raises(InvalidInput):
            await world.runtime.contexts.change(other, title=wrong)


@pytest.mark.parametrize("fault", [Answer(error=ScriptedError(status=500)), Answer(text=""), Answer(text="x" * 9999)])
async def test_the_first_line_stays_the_title_when_the_title_model_fails(tmp_path: Path, fault: Answer) -> None:
    titles = ScriptedAdapter(Script(title=(fault,)))
    world = World(tmp_path, Answer(text="1"), titles=TitleModel(titles, "small"))
    context_id = await world.start()
    await world.turn(context_id, "\n\n  first line  \nsecond")
    for _ in range(50):
        await asyncio.sleep(0)
    assert (await world.runtime.contexts.get(context_id)).core.title == "first line"
    await world.runtime.close()
