"""Each request begins with the bytes of the one before, which providers bill at a fraction."""

from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

from pilothouse.domain.budgets import OverviewSettings
from pilothouse.domain.payloads import ClientMetadata, MessageAttachments
from pilothouse.llm.openai import OpenAIAdapter
from pilothouse.llm.script import Answer, ScriptedCall
from pilothouse.storage.files.store import FileStore
from pilothouse.testing.provider import FakeProvider
from pilothouse.testing.world import World
from tests.support.full_windows import look_calls
from tests.support.held_store import DONE
from tests.support.mcp_tools import builtin_tools_for_world
from tests.support.prompt_prefixes import RecordingProvider, shared_bytes

MIN_SHARE = 0.99


def world_with(provider: FakeProvider, folder: Path, *, every: int | None = 1, ids_from: int = 0) -> World:
    """A world whose overview is due before each request."""
    work = folder / "work"
    work.mkdir(exist_ok=True)
    return World(
        work,
        adapter=OpenAIAdapter(provider.base_url, None),
        store=FileStore(folder / "data", now=lambda: "2026-01-01T00:00:00.000Z"),
        tools=builtin_tools_for_world(),
        overview=OverviewSettings(every=every),
        ids_from=ids_from,
    )


def write(name: str) -> Answer:
    return Answer(
        text=f"I write {name}.", calls=(ScriptedCall(tool="write_file", arguments={"path": name, "content": name}),)
    )


def opened(files: Sequence[str]) -> ClientMetadata:
    return ClientMetadata(extra={"open_files": list(files)})


async def test_a_turn_of_twenty_rounds_that_edits_files_extends_one_prefix(tmp_path: Path) -> None:
    rounds = [write(f"n{number}.py") if number % 2 else look_calls(str(number)) for number in range(20)]
    async with RecordingProvider(*rounds, DONE) as provider:
        world = world_with(provider, tmp_path)
        async with world.runtime:
            await world.turn(await world.start(), client_metadata=opened(["a.py"]))
    assert len(provider.bodies) == 21
    assert provider.bodies[-1].count(b"[The workspace as it is now") == 10, "after each file that was written"
    assert min(provider.shares()) >= MIN_SHARE


async def test_ten_turns_with_new_overviews_and_open_files_extend_one_prefix(tmp_path: Path) -> None:
    answers = [answer for number in range(10) for answer in (write(f"n{number}.py"), DONE)]
    async with RecordingProvider(*answers) as provider:
        world = world_with(provider, tmp_path)
        async with world.runtime:
            context_id = await world.start()
            for number in range(5):
                await world.turn(context_id, f"turn {number}", client_metadata=opened([f"n{number}.py"]))
                await world.runtime.workspaces.add_overview(context_id)
        again = world_with(provider, tmp_path, ids_from=10_000)
        async with again.runtime:
            for number in range(5, 10):
                await again.turn(context_id, f"turn {number}", client_metadata=opened([f"n{number}.py"]))
    assert len(provider.bodies) == 20
    assert provider.bodies[-1].count(b"[Open in the person's editor]") == 10
    assert provider.bodies[-1].count(b"[The workspace as it is now") >= 10
    assert min(provider.shares()) >= MIN_SHARE


async def test_an_edited_message_keeps_the_prefix_before_it(tmp_path: Path) -> None:
    async with RecordingProvider(DONE, DONE, DONE) as provider:
        world = world_with(provider, tmp_path, every=None)
        async with world.runtime:
            context_id = await world.start()
            await world.turn(context_id, "first")
            sent = await world.runtime.messages.send(context_id, "second")
            await world.runtime.turns.rested(context_id)
            await world.runtime.messages.edit(context_id, sent.message_id, "other")
            await world.runtime.turns.rested(context_id)
    _, second, edited = provider.bodies
    assert shared_bytes(second, edited) == second.rindex(b"second")


async def test_within_a_turn_with_attachments_all_but_the_attachments_is_a_prefix(tmp_path: Path) -> None:
    attached = MessageAttachments(None, ("extra " * 200,))
    async with RecordingProvider(*[look_calls(str(number)) for number in range(5)], DONE) as provider:
        world = world_with(provider, tmp_path, every=None)
        async with world.runtime:
            await world.turn(await world.start(), attached=attached)
    for first, second in pairwise(provider.bodies):
        assert shared_bytes(first, second) >= first.index(b"extra extra") - len(b'{"role":"user","content":"')


async def test_a_switch_of_the_mode_rewrites_the_prefix_once(tmp_path: Path) -> None:
    async with RecordingProvider(*[look_calls("a"), DONE] * 2) as provider:
        world = world_with(provider, tmp_path, every=None)
        async with world.runtime:
            context_id = await world.start("review")
            await world.turn(context_id)
            await world.turn(context_id, mode="plan")
    within_first, at_switch, within_second = provider.shares()
    assert min(within_first, within_second) >= MIN_SHARE
    assert at_switch < MIN_SHARE
    assert provider.bodies[-1].count(b"[The mode is now 'plan'.") == 1
