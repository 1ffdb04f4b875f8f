"""Exports with the system prompt: the one that the next request would have, in both formats, and only on request."""

from pathlib import Path
from typing import Any

import msgspec
import pytest

from pilothouse.llm.script import Answer
from pilothouse.terminal import conversation_commands
from pilothouse.testing.world import World
from tests.support.assertions import content_of
from tests.support.held_store import DONE

ADDITION = "Be short.\n```\nand exact"


async def with_addition(world: World) -> str:
    context_id = await world.start("plan")
    await world.turn(context_id)
    await world.runtime.branches.set_prompt_addition(context_id, ADDITION)
    return context_id


async def lines_of(world: World, context_id: str, **options: bool) -> list[dict[str, Any]]:
    return [msgspec.json.decode(line) async for line in world.runtime.exports.create(context_id, **options)]


def prompts_in(lines: list[dict[str, Any]]) -> list[str]:
    return [line["content"] for line in lines if line["type"] == "system_prompt"]


async def markdown_of(world: World, context_id: str, *, prompt: bool = False) -> str:
    pieces = world.runtime.exports.markdown(context_id, include_system_prompt=prompt)
    return b"".join([piece async for piece in pieces]).decode()


async def test_an_archive_contains_the_prompt_that_the_next_request_has(tmp_path: Path) -> None:
    world = World(tmp_path, DONE, DONE)
    context_id = await with_addition(world)
    prompts = prompts_in(await lines_of(world, context_id, include_system_prompt=True))
    await world.turn(context_id)
    assert prompts == [world.model.requests[-1].system]
    assert ADDITION in prompts[0]


async def test_an_export_leaves_the_prompt_out_by_default(tmp_path: Path) -> None:
    world = World(tmp_path, DONE)
    context_id = await with_addition(world)
    assert prompts_in(await lines_of(world, context_id)) == []
    assert "System prompt" not in await markdown_of(world, context_id)


async def test_an_archive_with_the_prompt_is_imported_as_one_without(tmp_path: Path) -> None:
    world = World(tmp_path, DONE)
    context_id = await with_addition(world)
    archives = []
    for name, options in (("one", {}), ("two", {"include_system_prompt": True})):
        data = b"".join([line async for line in world.runtime.exports.create(context_id, **options)])
        await world.runtime.imports.create(data, context_id=name, workspace=tmp_path, grants=True)
        archives.append([content_of(message) for message in await world.runtime.messages.read(name)])
    assert archives[0] == archives[1]


async def test_markdown_fences_the_prompt_of_the_branch(tmp_path: Path) -> None:
    world = World(tmp_path, DONE, Answer(text="x"))
    context_id = await with_addition(world)
    (prompt,) = prompts_in(await lines_of(world, context_id, include_system_prompt=True))
    text = await markdown_of(world, context_id, prompt=True)
    assert f"\n## System prompt\n\n````\n{prompt}\n````\n" in text


@pytest.mark.parametrize("option", ["", "--system-prompt "])
async def test_the_terminal_exports_the_prompt_on_request(
    tmp_path: Path, option: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    world = World(tmp_path, DONE)
    context_id = await with_addition(world)
    await conversation_commands.export(world.runtime, context_id, f"{option}my file.jsonl", "en")
    lines = [msgspec.json.decode(line) for line in (tmp_path / "my file.jsonl").read_bytes().splitlines()]
    assert bool(prompts_in(lines)) == bool(option)
