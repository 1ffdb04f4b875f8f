"""A tool reads the conversation that it is called in: the end of its branch, bounded, and nothing else."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from pilothouse.domain.codes import Code
from pilothouse.domain.errors import InvalidInput
from pilothouse.domain.messages import Message, Text
from pilothouse.llm.script import Answer
from pilothouse.testing.tools import NoteArguments, NoteTool
from pilothouse.testing.world import World
from pilothouse.tools.base import MAX_READ_CHARACTERS, MAX_READ_MESSAGES, ConversationMessage, ToolContext
from pilothouse.tools.builtin.delegate import Delegate
from tests.support.held_store import DELEGATES, DONE, calls_answer

READS = calls_answer(("look", "x"))


class Reader(NoteTool):
    """Reads the conversation in each call."""

    def __init__(self, messages: int = 20, characters: int = 20_000) -> None:
        super().__init__("look", "read_only")
        self.bounds = (messages, characters)
        self.read: list[tuple[ConversationMessage, ...]] = []

    async def run(self, arguments: NoteArguments, job: ToolContext) -> str:
        self.read.append(await job.read_conversation(*self.bounds))
        return await super().run(arguments, job)


def pairs(messages: Sequence[ConversationMessage]) -> list[tuple[str, str]]:
    return [(message.role, message.content) for message in messages]


async def test_a_tool_reads_texts_files_calls_and_results_oldest_first(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("print(1)")
    reader = Reader()
    world = World(tmp_path, Answer(text="Hello."), READS, READS, DONE, tools=[reader])
    context_id = await world.start()
    await world.turn(context_id, "one")
    await world.turn(context_id, [{"type": "text", "content": "two"}, {"type": "file_reference", "path": "a.py"}])
    assert pairs(reader.read[1]) == [
        ("user", "one"),
        ("assistant", "Hello."),
        ("user", "two"),
        ("user", "a.py\nprint(1)"),
        ("assistant", '[look {"text":"x"}]'),
        ("tool", "noted x"),
        ("assistant", '[look {"text":"x"}]'),
    ]
    assert [message.tool for message in reader.read[1]][-2:] == ["look", None]


async def test_the_newest_messages_are_read_up_to_the_bounds(tmp_path: Path) -> None:
    world = World(tmp_path, DONE, DONE, READS, DONE, tools=[reader := Reader(messages=2)])
    context_id = await world.start()
    for text in ("first", "second", "third"):
        await world.turn(context_id, text)
    assert [message.role for message in reader.read[0]] == ["user", "assistant"]
    assert reader.read[0][0].content == "third"


async def test_the_beginning_of_the_oldest_message_is_cut(tmp_path: Path) -> None:
    call = '[look {"text":"x"}]'
    world = World(tmp_path, READS, DONE, tools=[reader := Reader(characters=len(call) + 3)])
    await world.turn(await world.start(), "abcdef")
    oldest, newest = reader.read[0]
    assert (oldest.content, oldest.is_cut, newest.content, newest.is_cut) == ("def", True, call, False)


@pytest.mark.parametrize("bounds", [(0, 100), (100, 0), (-1, -1)])
async def test_nothing_is_read_without_room(tmp_path: Path, bounds: tuple[int, int]) -> None:
    world = World(tmp_path, READS, DONE, tools=[reader := Reader(*bounds)])
    await world.turn(await world.start(), "abc")
    assert reader.read == [()]


async def test_no_request_reads_more_than_the_maximum(tmp_path: Path) -> None:
    size = MAX_READ_CHARACTERS // 2
    reader = Reader(messages=10**9, characters=10**9)
    world = World(tmp_path, *[Answer(text="y" * size)] * 3, READS, DONE, tools=[reader])
    context_id = await world.start()
    for _ in range(4):
        await world.turn(context_id, "abc")
    assert sum(len(message.content) for message in reader.read[0]) == MAX_READ_CHARACTERS
    assert len(reader.read[0]) <= MAX_READ_MESSAGES


async def test_a_refused_message_errors_notices_and_other_branches_are_not_read(tmp_path: Path) -> None:
    async def refuse(messages: Sequence[Message]) -> Sequence[Message]:
        if any(isinstance(message, Text) and message.content == "secret" for message in messages):
            raise InvalidInput(Code.INVALID_REQUEST, detail="no")
        return messages

    reader = Reader()
    world = World(tmp_path, DONE, DONE, READS, DONE, tools=[reader], processors=[refuse])
    context_id = await world.start()
    await world.turn(context_id, "before")
    await world.runtime.branches.create(context_id, "other")
    await world.turn(context_id, "on main only")
    await world.runtime.branches.switch(context_id, "other")
    await world.turn(context_id, "secret")
    await world.turn(context_id, "after", mode="plan")
    assert [content for role, content in pairs(reader.read[0]) if role == "user"] == ["before", "after"]
    assert {role for role, _ in pairs(reader.read[0])} == {"user", "assistant"}


async def test_the_tool_of_a_sub_agent_reads_its_own_conversation_only(tmp_path: Path) -> None:
    reader = Reader()
    world = World(tmp_path, DELEGATES, READS, DONE, DONE, tools=[reader, Delegate()])
    await world.turn(await world.start(), "for the parent")
    assert [content for role, content in pairs(reader.read[0]) if role == "user"] == ["do it"]
