"""Sampling settings of personas and conversations: what is sent, what wins, what is refused, what a restart keeps."""

import math
from pathlib import Path
from typing import Any

import pytest

from pilothouse.domain.budgets import Budget
from pilothouse.domain.errors import InvalidInput
from pilothouse.domain.personas import Persona, Personas
from pilothouse.domain.sampling import Sampling
from pilothouse.storage.files.store import FileStore
from pilothouse.testing.world import World
from tests.support.held_store import DONE

COLD = Persona("cold", sampling=Sampling(temperature=0, max_output_tokens=900))


def personas_for(workspace: str | None) -> Personas:
    return Personas([COLD])


async def opened(world: World, persona: str | None = "cold") -> str:
    return await world.runtime.contexts.create(world.workspace, mode="agent", persona=persona)


def sent(world: World) -> list[Sampling]:
    return [request.sampling for request in world.model.requests]


async def test_a_conversation_without_settings_sends_none(tmp_path: Path) -> None:
    world = World(tmp_path, DONE)
    await world.turn(await opened(world, None))
    assert sent(world) == [Sampling()]


async def test_each_setting_of_the_conversation_wins_over_that_of_its_persona_until_it_is_removed(
    tmp_path: Path,
) -> None:
    world = World(tmp_path, DONE, DONE, DONE, DONE, personas=personas_for)
    context_id = await opened(world)
    await world.turn(context_id)
    await world.runtime.contexts.change(context_id, temperature=1.5)
    await world.turn(context_id)
    await world.runtime.contexts.change(context_id, max_output_tokens=50)
    await world.turn(context_id)
    await world.runtime.contexts.change(context_id, temperature=None, max_output_tokens=None)
    await world.turn(context_id)
    settings = [(each.temperature, each.max_output_tokens) for each in sent(world)]
    assert settings == [(0, 900), (1.5, 900), (1.5, 50), (0, 900)]


async def test_the_settings_survive_a_restart(tmp_path: Path) -> None:
    store = FileStore(tmp_path / "data", now=lambda: "2026-01-01T00:00:00.000Z")
    world = World(tmp_path, store=store)
    context_id = await opened(world, None)
    await world.runtime.contexts.change(context_id, temperature=0.5, title="Other")
    await store.close()
    again = World(tmp_path, store=FileStore(tmp_path / "data", now=lambda: "2026-01-01T00:00:00.000Z"))
    async with again.runtime:
        assert (await again.runtime.contexts.get(context_id)).core.sampling == Sampling(temperature=0.5)


@pytest.mark.parametrize(
    ("settings", "names"),
    [
        ({"temperature": -0.1}, "temperature is -0.1"),
        ({"temperature": 2.5}, "from 0 to 2"),
        ({"temperature": math.nan}, "temperature is nan"),
        ({"max_output_tokens": 0}, "max_output_tokens is 0"),
        ({"max_output_tokens": 2_000_000}, "from 1 to 1000000"),
    ],
)
async def test_a_setting_out_of_range_is_refused_with_the_range_and_changes_nothing(
    tmp_path: Path, settings: dict[str, Any], names: str
) -> None:
    world = World(tmp_path)
    context_id = await opened(world, None)
    with pytest.raises(InvalidInput, match=names):
        await world.runtime.contexts.change(context_id, title="Other", **settings)
    core = (await world.runtime.contexts.get(context_id)).core
    assert (core.sampling, core.title) == (None, None)


async def test_the_window_leaves_room_for_the_answer_and_the_answer_gets_no_more_than_that(tmp_path: Path) -> None:
    world = World(tmp_path, DONE, DONE, budget=Budget(tokens=20_000))
    context_id = await opened(world, None)
    for tokens, limit in ((5000, 15_000), (19_000, 10_000)):
        await world.runtime.contexts.change(context_id, max_output_tokens=tokens)
        assert (await world.runtime.window.meter(context_id)).trigger == limit
        await world.turn(context_id)
    assert [each.max_output_tokens for each in sent(world)] == [5000, 10_000]
