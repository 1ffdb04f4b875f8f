"""Display texts: people see them in place of what a client has sent, the model gets what was sent."""

from pathlib import Path
from typing import Any

import msgspec
import pytest

from pilothouse.domain.codes import Code
from pilothouse.domain.errors import InvalidInput
from pilothouse.domain.messages import FileReference, Text
from pilothouse.domain.payloads import MAX_TEXT_BYTES, ClientMetadata, Payload
from pilothouse.llm.script import Answer
from pilothouse.runtime.events.turn_events import MessageAdded
from pilothouse.storage.files.store import FileStore
from pilothouse.terminal.event_lines import show_event
from pilothouse.terminal.foreign_text import QuotedStream
from pilothouse.testing.world import World
from tests.support.held_store import DONE

CONTENT = "/review src --depth 3"
PAYLOADS: list[Payload | dict[str, Any]] = [
    {"type": "text", "content": CONTENT, "display": "Review the *sources*"},
    {"type": "file_reference", "path": "a.py", "display_text": "The start file"},
    {"type": "tool_result", "tool_name": "lint", "result": {"errors": []}, "display_text": "Lint is clean"},
]
SHOWN = ["Review the *sources*", "The start file", "Lint is clean"]


async def sent_in(world: World, **options: object) -> str:
    (world.workspace / "a.py").write_text("print(1)\n")
    context_id = await world.start()
    await world.turn(context_id, PAYLOADS, **options)
    return context_id


async def test_each_payload_keeps_its_own_display_text_across_a_restart(tmp_path: Path) -> None:
    store = FileStore(tmp_path / "data", now=lambda: "2026-01-01T00:00:00.000Z")
    context_id = await sent_in(World(tmp_path, DONE, store=store))
    await store.close()
    world = World(tmp_path, store=FileStore(tmp_path / "data", now=lambda: "2026-01-01T00:00:00.000Z"))
    async with world.runtime:
        messages = await world.runtime.messages.read(context_id)
    assert [message.metadata.display_text for message in messages] == [*SHOWN, None]
    text, reference, result, _ = messages
    assert isinstance(text, Text)
    assert text.content == CONTENT
    assert isinstance(reference, FileReference)
    assert reference.path == "a.py"
    assert isinstance(result, Text)
    assert result.content == 'Result of lint:\n{"errors":[]}'


async def test_the_model_gets_the_contents_and_no_display_text(tmp_path: Path) -> None:
    world = World(tmp_path, DONE)
    await sent_in(world)
    body = b"".join(world.model.requests[0].messages).decode()
    assert CONTENT in body
    assert "print(1)" in body
    assert "errors" in body
    assert not [shown for shown in SHOWN if shown in body]


async def test_the_title_of_a_conversation_is_the_displayed_text(tmp_path: Path) -> None:
    world = World(tmp_path, DONE)
    context_id = await sent_in(world)
    assert (await world.runtime.contexts.get(context_id)).core.title == "Review the *sources*"


async def test_a_text_for_the_whole_message_replaces_only_its_first_text(tmp_path: Path) -> None:
    world = World(tmp_path, DONE)
    (tmp_path / "a.py").write_text("")
    context_id = await world.start()
    payloads = [{"type": "file_reference", "path": "a.py"}, {"type": "text", "content": "x"}]
    payloads += [{"type": "text", "content": "y"}]
    await world.turn(context_id, payloads, client_metadata=ClientMetadata(display_text="Both"))
    messages = await world.runtime.messages.read(context_id)
    assert [message.metadata.display_text for message in messages] == [None, "Both", None, None]


async def test_a_payloads_own_display_text_wins_over_that_of_the_message(tmp_path: Path) -> None:
    world = World(tmp_path, DONE)
    context_id = await sent_in(world, client_metadata=ClientMetadata(display_text="other"))
    messages = await world.runtime.messages.read(context_id)
    assert [message.metadata.display_text for message in messages] == [*SHOWN, None]


@pytest.mark.parametrize("text", ["x" * (MAX_TEXT_BYTES + 1), "\ud800"])
async def test_a_display_text_has_the_limits_of_a_text(tmp_path: Path, text: str) -> None:
    world = World(tmp_path)
    context_id = await world.start()
    with pytest.raises(InvalidInput) as by_payload:
        await world.runtime.messages.send(context_id, [{"type": "text", "content": "x", "display": text}])
    with pytest.raises(InvalidInput) as by_message:
        await world.runtime.messages.send(context_id, "x", client_metadata=ClientMetadata(display_text=text))
    codes = {by_payload.value.reason.code, by_message.value.reason.code}
    assert codes == {Code.NOT_TEXT if text == "\ud800" else Code.TEXT_TOO_LARGE}


async def test_the_terminal_shows_the_display_texts(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    world = World(tmp_path, DONE)
    context_id = await sent_in(world)
    for message in (await world.runtime.messages.read(context_id))[:3]:
        show_event(MessageAdded(message=message), "en", QuotedStream())
    lines = [line for line in capsys.readouterr().out.splitlines() if line.strip()]
    assert [line.split("» ")[1] for line in lines] == SHOWN


async def test_an_export_as_markdown_shows_the_display_texts(tmp_path: Path) -> None:
    world = World(tmp_path, Answer(text="Well."))
    context_id = await sent_in(world)
    text = b"".join([piece async for piece in world.runtime.exports.markdown(context_id)]).decode()
    assert "\n\nReview the *sources*\n" in text
    assert "\n\nLint is clean\n" in text
    assert "**File:** The start file (`a.py`)" in text
    assert CONTENT not in text
    assert "errors" not in text


async def test_an_exported_archive_has_both_texts(tmp_path: Path) -> None:
    world = World(tmp_path, DONE)
    context_id = await sent_in(world)
    lines = [msgspec.json.decode(line) async for line in world.runtime.exports.create(context_id)]
    first = next(line["message"] for line in lines if line["type"] == "message")
    assert (first["content"], first["metadata"]["display_text"]) == (CONTENT, SHOWN[0])
