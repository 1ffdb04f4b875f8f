"""Bad input of every kind gets a typed error that names the allowed values, and changes nothing."""

from pathlib import Path
from typing import Any

import pytest

from pilothouse.domain.errors import Conflict, InvalidInput, NotFound
from pilothouse.llm.script import Answer, parse_script
from pilothouse.settings import read_settings
from pilothouse.testing.world import World

# The configuration file of the person who runs the tests is not read.
NOBODY = {"PILOTHOUSE_CONFIG": "/nonexistent/config.toml"}


@pytest.mark.parametrize(
    ("payloads", "message"),
    [
        ("", "empty"),
        ("  \n\t ", "empty"),
        ([], "The message is empty"),
        ("x" * 1_000_001, "at most 1000000"),
        ("ü" * 600_000, "1200000 bytes"),
        ("lone \ud800 surrogate", "isn't valid Unicode"),
        ([{"type": "text"}], "missing required field `content`"),
        ([{"type": "tex", "content": "x"}], "text, file_reference, image, workflow, tool_result"),
        ([{"type": "text", "content": 5}], "Expected `str`"),
        ([{"type": "text", "content": "x", "contnet": "y"}], "unknown field"),
        ([{"content": "x"}], "missing required field `type`"),
        (["text"], "Expected `object`"),
        ([{"type": "image", "url": "x"}], "isn't a valid image URL"),
        ([{"type": "image", "path": "\ud800"}], "isn't valid Unicode"),
        ([{"type": "workflow", "workflow": "x"}], "Use one of: text, file_reference, image, tool_result"),
        ([{"type": "tool_result", "tool_name": "x", "result": {"k": "x" * 1_000_001}}], "at most 1000000"),
    ],
)
async def test_a_message_that_cannot_be(tmp_path: Path, payloads: Any, message: str) -> None:
    world = World(tmp_path, Answer(text="x"))
    context_id = await world.start()
    with pytest.raises(InvalidInput, match=message):
        await world.runtime.messages.send(context_id, payloads)
    live = await world.runtime.contexts.get(context_id)
    assert (live.version, live.branches["main"].length, world.entered) == (1, 0, [])


async def test_an_unknown_mode_refuses_the_message_and_changes_nothing(tmp_path: Path) -> None:
    world = World(tmp_path, Answer(text="x"))
    context_id = await world.start("review")
    for attempt in (
        world.runtime.messages.send(context_id, "hi", mode="yolo"),
        world.runtime.modes.switch(context_id, "yolo"),
        world.runtime.contexts.create(tmp_path, mode="yolo"),
    ):
        with pytest.raises(InvalidInput, match="agent, supervised, review, plan, ask"):
            await attempt
    live = await world.runtime.contexts.get(context_id)
    assert (live.core.mode, live.version) == ("review", 1)


@pytest.mark.parametrize("context_id", ["nobody", "../../etc", "", "a/b", "x" * 100, "nul\0", "."])
async def test_an_unknown_context_is_not_found_whatever_its_id(tmp_path: Path, context_id: str) -> None:
    world = World(tmp_path)
    with pytest.raises(NotFound):
        await world.runtime.messages.send(context_id, "hi")


async def test_a_workspace_that_is_not_there_and_an_id_that_is_taken(tmp_path: Path) -> None:
    world = World(tmp_path)
    with pytest.raises(InvalidInput, match="Can't open the project folder"):
        await world.runtime.contexts.create(tmp_path / "gone")
    await world.runtime.contexts.create(tmp_path, context_id="mine")
    with pytest.raises(Conflict, match="already"):
        await world.runtime.contexts.create(tmp_path, context_id="mine")
    with pytest.raises(InvalidInput, match="letters, digits"):
        await world.runtime.contexts.create(tmp_path, context_id="../mine")


@pytest.mark.parametrize("name", ["", " ", "x" * 101, "new\nline", "bell\x07", "main"])
async def test_a_branch_name_that_cannot_be(tmp_path: Path, name: str) -> None:
    world = World(tmp_path)
    context_id = await world.start()
    with pytest.raises((InvalidInput, Conflict)):
        await world.runtime.branches.create(context_id, name)
    with pytest.raises(NotFound, match="Choose one of: main"):
        await world.runtime.branches.switch(context_id, "nowhere")


async def test_answering_deciding_cancelling_and_retrying_without_a_turn_is_refused(tmp_path: Path) -> None:
    world = World(tmp_path)
    context_id = await world.start()
    for attempt in (
        world.runtime.calls.answer(context_id, ["x"]),
        world.runtime.turns.cancel(context_id),
        world.runtime.turns.continue_(context_id),
        world.runtime.turns.retry_now(context_id),
    ):
        with pytest.raises(Conflict):
            await attempt
    with pytest.raises(NotFound):
        await world.runtime.calls.get(context_id, "nobody")


def test_a_script_that_is_wrong_says_where() -> None:
    with pytest.raises(InvalidInput, match=r"turn\[0\]"):
        parse_script('{"turn": [{"txt": "x"}]}')
    with pytest.raises(InvalidInput, match="isn't valid"):
        parse_script("nonsense")


@pytest.mark.parametrize(
    ("environment", "message"),
    [
        ({"PILOTHOUSE_MODEL": "gpt"}, "openai:NAME"),
        ({"PILOTHOUSE_MODEL": "openai:"}, "openai:NAME"),
        ({"PILOTHOUSE_MODEL": "openai:gpt-x"}, "OPENAI_API_KEY"),
        ({"PILOTHOUSE_MODE": "yolo"}, "agent, supervised"),
    ],
)
def test_settings_that_are_wrong_say_what_is_allowed(environment: dict[str, str], message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        read_settings({**NOBODY, **environment})


def test_without_a_key_the_demo_model_is_used() -> None:
    assert read_settings(NOBODY).model.provider == "demo"
    assert read_settings({**NOBODY, "OPENAI_API_KEY": "k"}).model.provider == "openai"
    assert read_settings({**NOBODY, "OPENAI_BASE_URL": "http://127.0.0.1:1/v1"}, model="openai:llama").key is None
    assert read_settings({**NOBODY, "LANG": "zh_CN.UTF-8"}).language == "zh"


def test_an_address_of_a_provider_needs_its_scheme() -> None:
    with pytest.raises(InvalidInput, match="doesn't start with http"):
        read_settings({**NOBODY, "OPENAI_BASE_URL": "127.0.0.1:11434/v1"}, model="openai:llama")
