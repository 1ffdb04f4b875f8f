"""Whole turns in a format in which turns alternate and neighbouring messages are joined, over a real socket. The fake
provider refuses every invalid request, and `stop` raises the faults."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import msgspec

from pilothouse.domain.budgets import Budget
from pilothouse.domain.messages import SystemControl
from pilothouse.domain.payloads import DataContext, MessageAttachments
from pilothouse.llm.model_catalog import ModelCatalog, ModelFacts
from pilothouse.llm.script import Answer, Script, ScriptedCall, ScriptedError
from pilothouse.runtime.dependencies import ProviderHandle, TitleModel
from pilothouse.testing.alternating_format import ALTERNATING, faults, parts_of
from pilothouse.testing.alternating_provider import AlternatingAdapter, AlternatingProvider
from pilothouse.testing.world import World
from tests.support.full_windows import MANY_WORDS
from tests.support.live_contexts import pool_of
from tests.support.pngs import picture

DONE = Answer(text="done")


class AlternatingWorld(World):
    """A world whose model is behind a real socket."""

    def __init__(self, folder: Path, provider: AlternatingProvider, **options: Any) -> None:
        self.sender = AlternatingAdapter(provider.base_url)
        super().__init__(folder, adapter=self.sender, **options)
        self.provider = provider

    def bodies(self) -> list[bytes]:
        return [ALTERNATING.body(request) for request in self.sender.requests]


@asynccontextmanager
async def opened(folder: Path, *answers: Answer, script: Script | None = None, **options: Any) -> AsyncIterator[Any]:
    async with AlternatingProvider(script or Script(turn=answers)) as provider:
        world = AlternatingWorld(folder, provider, **options)
        try:
            yield world
        finally:
            await world.runtime.close()


def look(*texts: str, text: str = "") -> Answer:
    return Answer(text=text, calls=tuple(ScriptedCall(tool="look", arguments={"text": each}) for each in texts))


async def test_the_results_of_a_round_and_the_persons_next_message_are_one_turn(tmp_path: Path) -> None:
    rejected = Answer(calls=(ScriptedCall(tool="change", arguments={"text": "c"}),))
    async with opened(tmp_path, look("a", "b", text="I look."), rejected, DONE) as world:
        context_id = await world.start("supervised")
        await world.turn(context_id, "first")
        await world.runtime.calls.approve_all(context_id)
        await world.runtime.turns.rested(context_id)
        await world.runtime.calls.reject_all(context_id)
        await world.runtime.turns.rested(context_id)
        await world.turn(context_id, "second", attached=MessageAttachments(DataContext("a", "t.csv", "x"), ("more",)))
        assert parts_of(world.bodies()[-1]) == [
            ("user", ["text"]),
            ("model", ["text", "call", "call"]),
            ("user", ["result", "result"]),
            ("model", ["call"]),
            ("user", ["result", "text", "text", "text"]),
        ]
        assert world.provider.requests[-1] == msgspec.json.decode(world.bodies()[-1])


async def test_a_message_is_encoded_once_however_it_is_joined(tmp_path: Path) -> None:
    async with opened(tmp_path, *[look("a"), DONE] * 4) as world:
        context_id = await world.start()
        for number in range(4):
            await world.turn(context_id, f"message {number}")
        *_, before, last = (request.messages for request in world.sender.requests)
        assert [id(message) for message in last[: len(before)]] == [id(message) for message in before]
        assert ALTERNATING.body(world.sender.requests[-1]).startswith(world.bodies()[-2].partition(b',"turns"')[0])


async def test_requests_that_are_shortened_to_a_small_window_stay_valid_and_previews_show_them(tmp_path: Path) -> None:
    answers = [look("a", "b", text=MANY_WORDS), Answer(text=MANY_WORDS)] * 5
    budget = Budget(tokens=3000, auto_compress=False)
    async with opened(tmp_path, *answers, budget=budget) as world:
        context_id = await world.start()
        for number in range(5):
            await world.turn(context_id, f"{number} {MANY_WORDS}")
            window = await world.runtime.window.read(context_id)
            assert faults(msgspec.json.encode(window.request)) == []
        assert window.messages_left_out > 0
        assert len(world.provider.requests) == 10


async def test_summaries_and_titles_are_requested_in_the_format(tmp_path: Path) -> None:
    answers = (Answer(text=MANY_WORDS),) * 8
    script = Script(turn=answers, summary=(Answer(text="In short."),) * 8, title=(Answer(text="A title"),))
    async with opened(tmp_path, script=script, budget=Budget(tokens=4000)) as world:
        titles = TitleModel(world.sender, "small")
        world.dependencies.use(ProviderHandle(adapter=world.sender, model="test", models=(), titles=titles))
        context_id = await world.start()
        for number in range(8):
            await world.turn(context_id, f"{number} {MANY_WORDS}")
        while pool_of(world.runtime)._background_tasks:
            await next(iter(pool_of(world.runtime)._background_tasks))
        assert (await world.runtime.contexts.get(context_id)).core.title == "A title"
        messages = await world.runtime.messages.read(context_id, limit=100)
        assert isinstance(messages[0], SystemControl)
        assert messages[0].content.startswith("In short.")
        purposes = [request["purpose"] for request in world.provider.requests]
        assert (purposes.count("title"), purposes.count("turn")) == (1, 8)
        assert purposes.count("summary") >= 1


async def test_images_answers_that_were_cut_and_retries_are_joined_too(tmp_path: Path) -> None:
    cut, refused = Answer(text="This is cut", cut=1), Answer(error=ScriptedError(status=503))
    catalog = ModelCatalog({"test": ModelFacts(vision=True)})
    async with opened(tmp_path, cut, refused, look("a"), DONE, DONE, catalog=catalog) as world:
        context_id = await world.start()
        (tmp_path / "seen.png").write_bytes(picture())
        image = {"type": "image", "path": "seen.png"}
        await world.runtime.messages.send(context_id, [{"type": "text", "content": "look"}, image])
        await world.runtime.turns.rested(context_id)
        await world.runtime.modes.switch(context_id, "ask")
        await world.turn(context_id, "without tools")
        with_tools, without_tools = ([kinds for _, kinds in parts_of(body)] for body in world.bodies()[-2:])
        assert with_tools == [["text", "image"], ["call"], ["result"]]
        assert without_tools == [["text", "image"], ["text"], ["text"], ["text"], ["text", "text"]]
