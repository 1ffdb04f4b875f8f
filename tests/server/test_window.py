"""The window over real HTTP: every route, access, signals, and turns that compress while
they stream."""

import asyncio
import random
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Self

import aiohttp
import msgspec
import pytest

from pilothouse.client import Client, ContextReplica, ServerError
from pilothouse.domain.budgets import OverviewSettings
from pilothouse.domain.messages import SystemControl, Text, ToolRequest, Usage
from pilothouse.domain.personas import Persona, Personas
from pilothouse.domain.signals import ContentDelta, ContextChanged
from pilothouse.domain.states import Idle
from pilothouse.domain.value import ContextId, MessageId
from pilothouse.llm.chat_completions import CHAT_COMPLETIONS
from pilothouse.llm.model_catalog import ModelCatalog, ModelFacts
from pilothouse.llm.prices import Price
from pilothouse.llm.script import Answer
from pilothouse.runtime.compression.commands import MAX_FOCUS_CHARACTERS, MAX_PINS
from pilothouse.runtime.events.turn_events import MessageAdded, TextAdded, branch_end
from pilothouse.sse import sse_events
from pilothouse.testing.proxy import Proxy
from pilothouse.testing.served import TOKEN, Served
from pilothouse.testing.tools import NoteTool
from tests.client.test_convergence import QuickRetryAmbient, beside, everything_changed
from tests.server.test_commands import refusal
from tests.support.assertions import content_of, present
from tests.support.full_windows import MANY_WORDS, SMALL, WORDS, Model, SmallWindowWorld, look_calls
from tests.support.held_store import calls_answer
from tests.support.live_contexts import live_context
from tests.support.scale import LONG

FACTS = {
    "test": ModelFacts(window=3000, price=Price(1, 2)),
    "other": ModelFacts(window=90_000, vision=True, tokenizer="o200k", price=Price(3, 4)),
    "plain": ModelFacts(),
}


@asynccontextmanager
async def serving(tmp_path: Path, **options: Any) -> AsyncIterator[tuple[SmallWindowWorld, Client, Served]]:
    world = SmallWindowWorld(tmp_path, **{"models": ["other", "plain"], "catalog": ModelCatalog(FACTS), **options})
    async with world.runtime, Served(world.runtime, [tmp_path]) as served, served.client() as client:
        yield world, client, served


def at(context_id: str, *rest: str) -> str:
    return "/".join([f"/api/contexts/{context_id}", *rest])


async def compressible_context(world: SmallWindowWorld, turns: int = 8) -> ContextId:
    """A conversation that can be compressed and need not be."""
    context_id = await world.start()
    for number in range(turns):
        await world.turn(context_id, f"{number} {WORDS}")
    return context_id


# the rows


async def test_the_window_equals_the_next_request(tmp_path: Path) -> None:
    async with serving(tmp_path, overview=OverviewSettings()) as (world, client, _):
        context_id = await compressible_context(world, 3)
        await world.runtime.branches.set_prompt_addition(context_id, "Speak of tulips.")
        response = await client.request("GET", at(context_id, "window"))
        assert (response["model"], response["branch"], response["compresses"], response["results_cut"]) == (
            "test",
            "main",
            False,
            0,
        )
        names = ["persona", "tools", "mode", "workspace", "branch", "overview"]
        assert [part["name"] for part in response["parts"]] == [*names, "tool_definitions", "history", "attached"]
        texts = [part["text"] for part in response["parts"] if part["text"] is not None]
        assert response["request"]["messages"][0] == {"role": "system", "content": "\n\n".join(texts)}
        assert sum(part["tokens"] for part in response["parts"]) == response["meter"]["tokens"]
        await world.turn(context_id, "on")
        sent = msgspec.json.decode(CHAT_COMPLETIONS.body(world.model.requests[-1]))
        assert sent["messages"][:-1] == response["request"]["messages"][:-1]
        assert sent["tools"] == response["request"]["tools"]


async def test_usage_has_consumed_tokens_and_the_fill_of_the_window(tmp_path: Path) -> None:
    answer = Answer(text="x", usage=Usage(input_tokens=1_000_000, output_tokens=500_000))
    async with serving(tmp_path, model=Model([answer])) as (world, client, _):
        context_id = await world.start()
        await world.turn(context_id)
        response = await client.request("GET", at(context_id, "usage"))
        used = {"input_tokens": 1_000_000, "output_tokens": 500_000, "cost": 2.0}
        assert (response["own"], response["total"]) == (used, used)
        assert response["window"] == msgspec.to_builtins(await world.runtime.window.meter(context_id))
        assert response["window"] == (await client.request("GET", at(context_id, "window")))["meter"]
        expected = {"budget": 3000, "trigger": 2400, "target": 1500, "counter": "estimate", "is_estimate": True}
        assert {**response["window"], **expected} == response["window"]


async def test_compressing_is_previewed_done_and_undone(tmp_path: Path) -> None:
    async with serving(tmp_path, summaries=[Answer(text="In short.")]) as (world, client, _):
        context_id = await compressible_context(world)
        ids = await world.ids(context_id)
        before = (await client.request("GET", at(context_id, "usage")))["window"]["tokens"]
        preview = await client.request("POST", at(context_id, "compress"), {"preview": True})
        assert await world.ids(context_id) == ids
        assert preview["summary_id"] is preview["original"] is preview["how"] is None
        done = await client.request("POST", at(context_id, "compress"), {"focus": "the colour of the door"})
        after = (await client.request("GET", at(context_id, "usage")))["window"]["tokens"]
        assert (done["tokens_before"], done["tokens_after"], done["tokens_saved"]) == (before, after, before - after)
        assert (done["messages"], done["branch"]) == (preview["messages"], "main")
        assert (done["how"], done["original"], done["why"]) == ("model", "main-original", None)
        assert "the colour of the door" in world.model.requests_for("summary")[0].system
        context = await client.request("GET", at(context_id))
        assert context["branches"]["main"]["message_ids"] == await world.ids(context_id)
        assert context["branches"]["main"]["compressed"]["summary_id"] == done["summary_id"]
        original = context["branches"]["main-original"]
        assert (original["length"], original["original_of"], original["message_ids"]) == (len(ids), "main", [])
        page = await client.request("GET", at(context_id, f"messages?branch=main-original&limit={len(ids)}"))
        assert [each["message_id"] for each in page["items"]] == ids
        undone = await client.request("POST", at(context_id, "compress", "undo"), {})
        assert undone == {"branch": "main", "messages": len(ids)}
        assert await world.ids(context_id) == ids
        again = await refusal(client, "POST", at(context_id, "compress", "undo"), {"branch": "main"})
        assert again == (409, "not_compressed")
        assert await refusal(client, "POST", at(context_id, "compress", "undo"), {"branch": "x"}) == (
            404,
            "unknown_branch",
        )


async def test_compressing_a_short_context_is_409(tmp_path: Path) -> None:
    async with serving(tmp_path) as (world, client, _):
        context_id = await world.start()
        await world.turn(context_id)
        for body in ({}, {"preview": True}):
            assert await refusal(client, "POST", at(context_id, "compress"), body) == (409, "nothing_to_compress")


async def test_only_a_preview_of_a_compression_is_possible_during_a_turn(tmp_path: Path) -> None:
    look = NoteTool("look", "read_only", hold=True)
    async with serving(tmp_path, tools=[look], model=Model([*[Answer(text=WORDS)] * 8, look_calls("a")])) as (
        world,
        client,
        _,
    ):
        context_id = await compressible_context(world)
        await world.runtime.messages.send(context_id, "go")
        await look.started.wait()
        ids = await world.ids(context_id)
        assert await refusal(client, "POST", at(context_id, "compress"), {}) == (409, "turn_active")
        assert await refusal(client, "POST", at(context_id, "compress", "undo"), {}) == (409, "turn_active")
        preview = await client.request("POST", at(context_id, "compress"), {"preview": True})
        assert 0 < preview["messages"] < len(ids)
        assert await world.ids(context_id) == ids
        look.release.set()
        await world.runtime.turns.rested(context_id)


@pytest.mark.parametrize(
    "body",
    [{"focus": ""}, {"focus": "x" * (MAX_FOCUS_CHARACTERS + 1)}, {"focus": 3}, {"preview": "yes"}, {"more": 1}, []],
)
async def test_an_invalid_compress_request_is_422(tmp_path: Path, body: Any) -> None:
    async with serving(tmp_path) as (world, client, _):
        context_id = await compressible_context(world)
        ids = await world.ids(context_id)
        assert (await refusal(client, "POST", at(context_id, "compress"), body))[0] == 422
        assert await world.ids(context_id) == ids


async def test_pins_are_set_removed_and_kept_by_compressions(tmp_path: Path) -> None:
    async with serving(tmp_path) as (world, client, _):
        context_id = await compressible_context(world)
        ids = await world.ids(context_id)
        for _ in range(2):
            shape = await client.request("PUT", at(context_id, "messages", ids[1], "pin"))
            assert shape["pins"] == [ids[1]]
        done = await client.request("POST", at(context_id, "compress"), {})
        assert done["pinned"] == 1
        assert (await world.ids(context_id))[:2] == [done["summary_id"], ids[1]]
        for _ in range(2):
            assert (await client.request("DELETE", at(context_id, "messages", ids[1], "pin")))["pins"] == []
        for method in ("PUT", "DELETE"):
            assert await refusal(client, method, at(context_id, "messages", "nobody", "pin")) == (
                404,
                "unknown_message",
            )


async def test_the_fifty_first_pin_is_409(tmp_path: Path) -> None:
    async with serving(tmp_path, budget=msgspec.structs.replace(SMALL, tokens=10**6), catalog=ModelCatalog()) as (
        world,
        client,
        _,
    ):
        context_id = await world.start()
        for _ in range(MAX_PINS // 2 + 1):
            await world.turn(context_id, "x")
        ids = await world.ids(context_id)
        for message_id in ids[:MAX_PINS]:
            await client.request("PUT", at(context_id, "messages", message_id, "pin"))
        over = at(context_id, "messages", ids[MAX_PINS], "pin")
        assert await refusal(client, "PUT", over) == (409, "too_many_pins")
        await client.request("PUT", at(context_id, "messages", ids[0], "pin"))
        await client.request("DELETE", at(context_id, "messages", ids[0], "pin"))
        assert len((await client.request("PUT", over))["pins"]) == MAX_PINS


async def test_the_overview_can_be_added_on_request(tmp_path: Path) -> None:
    (tmp_path / "tulip.py").write_text("x")
    async with serving(tmp_path) as (world, client, _):
        context_id = await world.start()
        added = await client.request("POST", at(context_id, "workspace-overview"))
        (message,) = await client.request("GET", at(context_id, f"messages?ids={added['message_id']}"))
        assert (message["kind"], message["detail"]["by"]) == ("injection", "local")
        assert "tulip.py" in message["content"]
        assert (
            "tulip.py" in (await client.request("GET", at(context_id, "window")))["request"]["messages"][0]["content"]
        )
        (tmp_path / "tulip.py").unlink()
        tmp_path.rmdir()
        refused = await refusal(client, "POST", at(context_id, "workspace-overview"))
        assert refused == (422, "invalid_workspace")
        tmp_path.mkdir()


async def test_models_are_listed_with_their_known_facts(tmp_path: Path) -> None:
    async with serving(tmp_path) as (_, client, _):
        page = await client.request("GET", "/api/models")
    assert page["next"] is None
    facts = {"is_default": False, "is_demo": False, "vision": False, "tokenizer": None}
    nothing = {"window": None, "input_price": None, "output_price": None}
    other = {"window": 90_000, "vision": True, "tokenizer": "o200k", "input_price": 3, "output_price": 4}
    assert page["items"] == [
        {**facts, **nothing, "name": "test", "is_default": True, "window": 3000, "input_price": 1, "output_price": 2},
        {**facts, "name": "other", **other},
        {**facts, "name": "plain", **nothing},
    ]


async def test_a_model_is_chosen_and_reset(tmp_path: Path) -> None:
    async with serving(tmp_path) as (world, client, _):
        context_id = (await client.request("POST", "/api/contexts", {"model": "plain"}))["context_id"]
        assert (await client.request("GET", at(context_id)))["config"]["model"] == "plain"
        changed = await client.request("PATCH", at(context_id), {"model": "other"})
        assert changed["config"]["model"] == "other"
        meter = (await client.request("GET", at(context_id, "usage")))["window"]
        assert (meter["budget"], meter["counter"], meter["is_estimate"]) == (90_000, "o200k", False)
        await client.send(context_id, "hi")
        await world.runtime.turns.rested(context_id)
        assert world.model.requests[-1].model == "other"
        assert await refusal(client, "PATCH", at(context_id), {"model": "huge"}) == (422, "unknown_model")
        assert (await client.request("GET", at(context_id)))["config"]["model"] == "other"
        assert (await client.request("PATCH", at(context_id), {"model": None}))["config"]["model"] == "test"


async def test_personas_are_listed_and_their_model_is_used(tmp_path: Path) -> None:
    personas = Personas([Persona("ada", role="gardener", prompt="Begin with the soil.", model="other")])
    async with serving(tmp_path, personas=lambda _: personas) as (_, client, _):
        (shown,) = (await client.request("GET", "/api/personas"))["items"]
        assert (shown["id"], shown["name"], shown["model"], shown["origin"]) == ("ada", "ada", "other", "user")
        context_id = (await client.request("POST", "/api/contexts", {"persona": "ada"}))["context_id"]
        assert (await client.request("GET", f"/api/personas?context_id={context_id}"))["items"] == [shown]
        window = await client.request("GET", at(context_id, "window"))
        assert (window["model"], window["meter"]["budget"]) == ("other", 90_000)
        assert "Begin with the soil." in window["parts"][0]["text"]


async def test_attachments_of_a_message_are_stored_and_bounded(tmp_path: Path) -> None:
    async with serving(tmp_path) as (world, client, _):
        context_id = await world.start()
        body: dict[str, Any] = {"payload": {"type": "text", "content": "hi"}}
        data = {"label": "a table", "path": "t.csv", "preview": "x,y"}
        wrong: list[dict[str, Any]] = [
            {"extra_user_messages": ["x"] * 21},
            {"extra_user_messages": [""]},
            {"extra_user_messages": [" "]},
            {"extra_user_messages": ["x" * 1_000_001]},
            {"extra_user_messages": "x"},
            {"data_context": {"label": "a"}},
            {"data_context": {**data, "more": 1}},
            {"data_context": {**data, "preview": "x" * 1_000_001}},
        ]
        for each in wrong:
            assert (await refusal(client, "POST", at(context_id, "messages"), {**body, **each}))[0] in (413, 422)
        assert await world.ids(context_id) == []
        attached = {"data_context": data, "extra_user_messages": ["and this"]}
        sent = await client.request("POST", at(context_id, "messages"), {**body, **attached})
        await world.runtime.turns.rested(context_id)
        (message,) = await client.request("GET", at(context_id, f"messages?ids={sent['message_id']}"))
        assert {**message["metadata"], **attached} == message["metadata"]
        contents = [msgspec.json.decode(each)["content"] for each in world.model.requests[-1].messages]
        assert contents == ["hi", "[data that the person is looking at: a table, t.csv]\nx,y", "and this"]


ROWS = [
    ("GET", "window", None),
    ("GET", "usage", None),
    ("POST", "compress", {}),
    ("POST", "compress", {"preview": True}),
    ("POST", "compress/undo", {}),
    ("PUT", "messages/{message}/pin", None),
    ("DELETE", "messages/{message}/pin", None),
    ("POST", "workspace-overview", None),
    ("PATCH", "", {"model": "other"}),
]


async def test_every_window_route_is_404_for_another_user(tmp_path: Path) -> None:
    async with serving(tmp_path) as (world, _, served):
        context_id = await compressible_context(world)
        (first, *_) = await world.ids(context_id)
        before = (await world.runtime.contexts.get(context_id)).version
        async with Client(served.url, served.tokens.add("bob")) as bob:
            own = (await bob.request("POST", "/api/contexts", {}))["context_id"]
            for method, row, body in ROWS:
                path = at(context_id, row.format(message=first)).rstrip("/")
                assert await refusal(bob, method, path, body) == (404, "unknown_context"), (method, row)
            for method in ("PUT", "DELETE"):  # a foreign message under a context of one's own
                assert await refusal(bob, method, at(own, "messages", first, "pin")) == (404, "unknown_message")
            problem = await refusal(bob, "GET", f"/api/personas?context_id={context_id}")
            assert problem == (404, "unknown_context")
        assert (await world.runtime.contexts.get(context_id)).version == before


# signals of the window


async def events_until(stream: AsyncIterator[tuple[str, Any]], until: tuple[str, str]) -> list[tuple[str, Any]]:
    """The events up to one with the first name, and with the second text in its data."""
    events = []
    async for name, data in stream:
        events.append((name, data))
        if name == until[0] and until[1] in str(data):
            return events
    raise AssertionError(f"{until} did not come")


def states(events: list[tuple[str, Any]]) -> list[str]:
    return [data["state"]["type"] for name, data in events if name == "StateChanged"]


async def test_a_subscriber_learns_of_a_compression_and_of_its_undoing(tmp_path: Path) -> None:
    async with serving(tmp_path) as (world, client, _):
        context_id = await compressible_context(world)
        stream = client.events("GET", at(context_id, "stream"))
        await events_until(stream, ("ContextChanged", "*"))
        world.model.hold = True
        doing = asyncio.create_task(client.request("POST", at(context_id, "compress"), {}))
        await world.model.requested.wait()
        first = await events_until(stream, ("StateChanged", "generating_summary"))
        assert states(first)[-1] == "generating_summary"
        assert (await client.request("GET", at(context_id)))["current_state"]["type"] == "generating_summary"
        world.model.release.set()
        done = await doing
        events = await events_until(stream, ("ContextChanged", "branches"))
        created = [data for name, data in events if name == "MessageCreated"]
        assert [(each["message_id"], each["type"]) for each in created] == [(done["summary_id"], "system_control")]
        completed = [data["message_id"] for name, data in events if name == "MessageCompleted"]
        assert completed == [done["summary_id"]]
        assert events[-1][1]["version"] == (await client.request("GET", at(context_id)))["version"]
        await client.request("POST", at(context_id, "compress", "undo"), {})
        undone = await events_until(stream, ("ContextChanged", "branches"))
        assert not [name for name, _ in undone if name == "MessageCreated"]


async def test_a_subscriber_learns_of_pins_and_of_the_overview(tmp_path: Path) -> None:
    async with serving(tmp_path) as (world, client, _):
        context_id = await compressible_context(world, 2)
        (first, *_) = await world.ids(context_id)
        stream = client.events("GET", at(context_id, "stream"))
        await events_until(stream, ("ContextChanged", "*"))
        for method in ("PUT", "DELETE"):
            await client.request(method, at(context_id, "messages", first, "pin"))
            events = await events_until(stream, ("MessageChanged", first))
            assert [data["fields"] for name, data in events if name == "ContextChanged"] == [["pins"]]
        added = (await client.request("POST", at(context_id, "workspace-overview")))["message_id"]
        events = await events_until(stream, ("ContextChanged", "overview"))
        assert added in [data.get("message_id") for name, data in events if name == "MessageCreated"]


async def is_as_it_is(world: SmallWindowWorld, client: Client, context_id: ContextId, *copies: ContextReplica) -> None:
    """Every replica equals a fresh one."""
    version = (await world.runtime.contexts.get(context_id)).version
    async with ContextReplica(client, context_id) as fresh:
        for copy in (fresh, *copies):
            await copy.until(lambda copy: copy.is_settled and present(copy.context).version == version)
            assert copy.context == fresh.context
            assert copy.order == fresh.order == await world.ids(context_id)
            assert copy.messages == fresh.messages
            assert copy.texts == {}


def long_turn(number: int) -> list[Answer]:
    """A turn with a call whose result fills the window: text before it and behind it, in many pieces."""
    before = tuple(f"before {number}.{piece} " for piece in range(10))
    after = tuple(f"after {number}.{piece} " for piece in range(10))
    request = look_calls(f"{number} {MANY_WORDS}")
    return [
        Answer(deltas=before, calls=request.calls, delta_delay=0.001),
        Answer(deltas=after, delta_delay=0.001),
    ]


@pytest.mark.parametrize("seed", range(20 if LONG else 4))
async def test_replicas_converge_through_compressions_and_undos_while_messages_stream(
    tmp_path: Path, seed: int
) -> None:
    chance = random.Random(seed)
    turns = [answer for number in range(12) for answer in long_turn(number)]
    async with (
        serving(tmp_path, model=Model(turns)) as (world, client, served),
        Proxy(served.port, random.Random(seed).random) as proxy,
        Client(f"http://127.0.0.1:{proxy.port}", TOKEN, ambient=QuickRetryAmbient(chance.random)) as unlucky,
    ):
        context_id = await world.start()
        async with ContextReplica(client, context_id) as near, ContextReplica(unlucky, context_id) as far:
            for number in range(12):
                await client.send(context_id, f"question {number} {WORDS}")
                await world.runtime.turns.rested(context_id)
                await between_turns(chance, world, client, context_id)
                if chance.random() < 0.3:
                    await near.until(lambda copy: copy.is_settled)
            proxy.calm()
            await is_as_it_is(world, client, context_id, near, far)
        assert len([name for name in (await world.runtime.contexts.get(context_id)).branches if "original" in name]) > 0
        assert proxy.cuts + proxy.refusals > 0


async def between_turns(chance: random.Random, world: SmallWindowWorld, client: Client, context_id: ContextId) -> None:
    choice = chance.random()
    if choice < 0.25:
        await try_branch_change(client, "POST", at(context_id, "compress"), {})
    elif choice < 0.5:
        await try_branch_change(client, "POST", at(context_id, "compress", "undo"), {})
    elif choice < 0.6:
        ids = await world.ids(context_id)
        await try_branch_change(client, "PUT", at(context_id, "messages", chance.choice(ids), "pin"), None)


async def try_branch_change(client: Client, method: str, path: str, body: Any) -> None:
    """An impossible change of the branch is refused, and changes nothing."""
    try:
        await client.request(method, path, body)
    except ServerError as error:
        if error.problem.status not in (404, 409):
            raise


class ListeningClient(Client):
    """A client that sets an event when it receives a signal about a text."""

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self.took_delta = asyncio.Event()

    async def __aenter__(self) -> Self:
        await super().__aenter__()
        return self

    async def events(self, method: str, path: str, body: Any = None) -> AsyncIterator[tuple[str, Any]]:
        async for name, data in super().events(method, path, body):
            yield name, data
            if name == "ContentDelta":
                self.took_delta.set()


async def test_a_late_signal_does_not_bring_back_the_text_of_a_compressed_message(tmp_path: Path) -> None:
    async with serving(tmp_path) as (world, client, served), ListeningClient(served.url, TOKEN) as listener:
        context_id = await compressible_context(world)
        live = await live_context(world.runtime, context_id)
        _, answer, *_ = await world.ids(context_id)
        late = ContentDelta(context_id=live.id, version=live.version, message_id=MessageId(answer), sequence=1)
        await client.request("POST", at(context_id, "compress"), {})
        async with ContextReplica(listener, context_id) as copy:
            await copy.until(lambda copy: copy.is_settled)
            assert late.message_id not in copy.messages
            world.dependencies.hub.publish(late)
            await listener.took_delta.wait()
            await is_as_it_is(world, client, context_id, copy)


class LossyClient(Client):
    """A client that loses every signal about messages and changes until `hears` is set again."""

    hears = True

    async def __aenter__(self) -> Self:
        await super().__aenter__()
        return self

    async def events(self, method: str, path: str, body: Any = None) -> AsyncIterator[tuple[str, Any]]:
        async for name, data in super().events(method, path, body):
            if self.hears:
                yield name, data


async def test_a_replica_that_lost_every_signal_of_a_compression_is_right_after_the_next_one(tmp_path: Path) -> None:
    async with serving(tmp_path) as (world, client, served), LossyClient(served.url, TOKEN) as deaf:
        context_id = await compressible_context(world)
        async with ContextReplica(deaf, context_id) as copy:
            await copy.until(lambda copy: copy.is_settled)
            for act in ("compress", "undo", "compress"):
                deaf.hears = False
                before = list(copy.order)
                if act == "compress":
                    await client.request("POST", at(context_id, "compress"), {})
                else:
                    await client.request("POST", at(context_id, "compress", "undo"), {})
                await world.turn(context_id, "and on")
                assert copy.order == before
                deaf.hears = True
                world.dependencies.hub.publish(everything_changed(await live_context(world.runtime, context_id)))
                await is_as_it_is(world, client, context_id, copy)


async def test_a_replica_that_pulls_while_the_branch_moves_converges(tmp_path: Path) -> None:
    async with serving(tmp_path) as (world, client, _):
        context_id = await compressible_context(world)

        async def nudge() -> None:
            """Pull all the time."""
            live = await live_context(world.runtime, context_id)
            while True:
                changed = ContextChanged(context_id=live.id, version=live.version, fields=("*",))
                world.dependencies.hub.publish(changed)
                await asyncio.sleep(0)

        async with ContextReplica(client, context_id) as copy:
            async with beside(nudge()):
                for _ in range(15):
                    await world.runtime.compression.compress(context_id)
                    await world.runtime.compression.undo(context_id)
                await world.runtime.compression.compress(context_id)
            await is_as_it_is(world, client, context_id, copy)


# turns that compress while they stream


async def text_of_turn(world: SmallWindowWorld, context_id: str, turn: str) -> str:
    messages = await world.messages(context_id)
    own = [each for each in messages if each.metadata.turn == turn and each.role == "assistant"]
    return "".join(each.content for each in own if isinstance(each, Text | ToolRequest))


async def chatted(client: Client, context_id: str, text: str) -> tuple[str, list[tuple[str, Any]]]:
    events = [event async for event in client.chat(context_id, text)]
    assert events[-1] == ("done", {})
    return "".join(data["text"] for name, data in events if name == "token"), events


@pytest.mark.parametrize("is_held", [False, True], ids=["at once", "while somebody looks"])
async def test_the_chat_stream_of_a_turn_that_compresses_gives_its_text_once(tmp_path: Path, is_held: bool) -> None:
    async with serving(tmp_path) as (world, client, _):
        context_id = await world.filled()
        world.model.hold = is_held
        telling = asyncio.create_task(chatted(client, context_id, f"and then {MANY_WORDS}"))
        if is_held:
            await world.model.requested.wait()
            world.model.release.set()
        text, events = await telling
        assert len(await world.summaries(context_id)) == 1
        last = (await world.messages(context_id))[-1]
        assert text == content_of(last) == await text_of_turn(world, context_id, present(last.metadata.turn))
        assert {name for name, _ in events} == {"token", "done"}


async def nearly_full(world: SmallWindowWorld) -> ContextId:
    """A conversation in which a large result is too much."""
    context_id = await world.start()
    while (meter := await world.runtime.window.meter(context_id)).tokens + 600 < meter.trigger:
        await world.turn(context_id, f"question {WORDS}")
    return context_id


async def before_a_turn_that_compresses_in_the_middle(world: SmallWindowWorld) -> ContextId:
    """The next turn has two rounds of calls; the first of them has too large a result."""
    context_id = await nearly_full(world)
    first = Answer(text="First I look. ", calls=look_calls(MANY_WORDS).calls)
    then = Answer(text="Then I look again. ", calls=look_calls("a").calls)
    world.model.answers_next(first, then, Answer(text="It is done."))
    return context_id


WHOLE = "First I look. Then I look again. It is done."


async def test_the_chat_stream_of_a_turn_that_compresses_in_the_middle_has_nothing_twice(tmp_path: Path) -> None:
    async with serving(tmp_path) as (world, client, _):
        context_id = await before_a_turn_that_compresses_in_the_middle(world)
        text, events = await chatted(client, context_id, "go")
        assert len(await world.summaries(context_id)) == 1
        assert text == WHOLE
        started = [data["id"] for name, data in events if name == "tool_start"]
        ended = [data["id"] for name, data in events if name == "tool_end"]
        assert started == ended
        assert len(set(started)) == 2
        last = (await world.messages(context_id))[-1]
        assert await text_of_turn(world, context_id, present(last.metadata.turn)) == WHOLE


@pytest.mark.parametrize("stream", [False, True])
async def test_a_completion_through_a_turn_that_compresses_in_the_middle_has_nothing_twice(
    tmp_path: Path, stream: bool
) -> None:
    async with serving(tmp_path) as (world, client, served):
        context_id = await before_a_turn_that_compresses_in_the_middle(world)
        messages = [{"role": "user", "content": "go"}]
        body = {"messages": messages, "metadata": {"context_id": context_id}, "stream": stream}
        if not stream:
            response = await client.request("POST", "/v1/chat/completions", body)
            text = response["choices"][0]["message"]["content"]
        else:
            headers = {"authorization": f"Bearer {TOKEN}"}
            url = f"{served.url}/v1/chat/completions"
            async with aiohttp.ClientSession() as http, http.post(url, json=body, headers=headers) as answer:
                payloads = [payload async for _, payload in sse_events(answer.content)]
            assert payloads.pop() == b"[DONE]"
            chunks = [msgspec.json.decode(payload)["choices"][0]["delta"] for payload in payloads]
            text = "".join(each.get("content", "") for each in chunks)
        assert len(await world.summaries(context_id)) == 1
        assert text == WHOLE


@pytest.mark.parametrize("compressions", [1, 3])
async def test_a_late_follower_gets_the_whole_turn_and_nothing_of_others(tmp_path: Path, compressions: int) -> None:
    async with serving(tmp_path) as (world, _, _):
        context_id = await before_a_turn_that_compresses_in_the_middle(world)
        place = branch_end(await world.runtime.contexts.get(context_id))
        sent = await world.runtime.messages.send(context_id, "go")
        await world.runtime.turns.rested(context_id)
        assert len(await world.summaries(context_id)) == 1
        for _ in range(compressions - 1):
            for number in range(12):
                await world.turn(context_id, f"later {number}")
            await world.runtime.compression.compress(context_id)
        events = [event async for event in world.runtime.events.of_turn(context_id, sent.turn_id, start=place)]
        if compressions == 1:
            assert "".join(event.text for event in events if isinstance(event, TextAdded)) == WHOLE
            messages = [event.message for event in events if isinstance(event, MessageAdded)]
            assert [type(each).__name__ for each in messages if each.role == "tool"] == ["ToolResult"] * 2
            assert len([each for each in messages if isinstance(each, SystemControl)]) == 1
        else:
            assert not [event for event in events if isinstance(event, TextAdded) and event.turn != sent.turn_id]


async def test_a_turn_that_waits_is_resumed_as_a_stream_that_has_only_the_rest(tmp_path: Path) -> None:
    async with serving(tmp_path) as (world, client, _):
        context_id = await nearly_full(world)
        waits = Answer(text="May I? ", calls=calls_answer(("change", "x")).calls)
        large = Answer(text="And this? ", calls=look_calls(MANY_WORDS).calls)
        world.model.answers_next(waits, large, Answer(text="Thank you."))
        events = [event async for event in client.chat(context_id, "go", mode="review")]
        assert [name for name, _ in events] == ["token", "interrupt", "done"]
        body = {"decisions": [{"type": "approve"}]}
        rest = [event async for event in client.events("POST", f"/api/chat/{context_id}/resume", body)]
        assert len(await world.summaries(context_id)) == 1
        assert "".join(data["text"] for name, data in rest if name == "token") == "And this? Thank you."
        assert isinstance((await world.runtime.contexts.get(context_id)).state, Idle)
