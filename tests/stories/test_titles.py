"""The title model may misbehave: the conversation continues, and no error is lost."""

import asyncio
import logging
from pathlib import Path

import pytest

from pilothouse.domain.codes import Code
from pilothouse.domain.errors import PilothouseError
from pilothouse.domain.messages import Message
from pilothouse.llm.script import Answer, Script
from pilothouse.llm.scripted import ScriptedAdapter
from pilothouse.runtime.dependencies import TitleModel
from pilothouse.testing.world import World
from tests.support.live_contexts import pool_of
from tests.support.raising_adapter import RaisingAdapter


async def test_a_bug_of_the_titles_model_is_reported_and_the_first_line_stays(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    unhandled: list[object] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, problem: unhandled.append(problem))
    model = RaisingAdapter(Script())
    world = World(tmp_path, Answer(text="here"), titles=TitleModel(model, "small"))
    context_id = await world.start()
    with caplog.at_level(logging.ERROR):
        await world.turn(context_id, "the first line\nand more")
        while pool_of(world.runtime)._background_tasks:
            await asyncio.sleep(0)
    assert len(model.requests) == 1
    assert "a bug" in caplog.text
    assert (await world.runtime.contexts.get(context_id)).core.title == "the first line"
    await world.runtime.close()
    assert unhandled == []


async def test_the_titles_model_sees_no_message_that_a_persons_own_processors_look_at(tmp_path: Path) -> None:
    async def refuses(_: object) -> list[Message]:
        raise PilothouseError(Code.PROCESSOR_FAILED, detail="it holds a secret")

    model = ScriptedAdapter(Script(title=(Answer(text="A title"),)))
    world = World(tmp_path, titles=TitleModel(model, "small"), processors=[refuses])
    context_id = await world.start()
    await world.turn(context_id, "the secret")
    await world.runtime.close()
    assert model.requests == []
