"""Convergence: after any network losses and server kills, a replica ends up equal to the server's state."""

import asyncio
import itertools
import os
import random
import signal
from collections import Counter
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Any, Self

import msgspec
import pytest

from pilothouse.api.views import CallView, ContextView, Delta, Page, ToolRequestView
from pilothouse.client import Client, ContextReplica, ServerError
from pilothouse.domain.codes import Code
from pilothouse.domain.errors import StoreRefused
from pilothouse.domain.messages import Text, ToolResult
from pilothouse.domain.signals import ContextChanged
from pilothouse.domain.states import Idle
from pilothouse.llm.base import ModelEvent, ModelRequest
from pilothouse.llm.script import Answer, Script, ScriptedCall
from pilothouse.llm.scripted import ScriptedAdapter
from pilothouse.runtime.context.live_context import LiveContext
from pilothouse.storage.memory import MemoryStore
from pilothouse.system.ambient import SystemAmbient
from pilothouse.testing.provider import FakeProvider
from pilothouse.testing.proxy import Proxy
from pilothouse.testing.served import Served
from pilothouse.testing.world import World
from tests.server.restartable_server import Zygote, free_port
from tests.support.assertions import content_of, present
from tests.support.held_store import calls_answer
from tests.support.live_contexts import live_context
from tests.support.scale import LONG, Record

RUNS = 200 if LONG else 10
TOKEN = "a-token-for-tests-only"
PULLS_AT_ONCE = 8


class QuickRetryAmbient(SystemAmbient):
    """Retries come sooner than for people, spread by the run's own seed."""

    def __init__(self, fraction: Callable[[], float]) -> None:
        super().__init__()
        self._fraction = fraction

    def fraction(self) -> float:
        return self._fraction()

    async def sleep(self, seconds: float) -> None:
        await super().sleep(seconds / 10)


def _differs(version: int, copy: ContextReplica) -> bool:
    return present(copy.context).version != version


class Model(FakeProvider):
    """A model that works on each message for some rounds. No two of its answers, pieces or calls are the same;
    `answers` are its texts by number."""

    def __init__(self, chance: random.Random) -> None:
        super().__init__(Script())
        self._chance = chance
        self._was_asked = asyncio.Event()
        self.answers: dict[str, str] = {}

    async def __aenter__(self) -> Self:
        await super().__aenter__()
        return self

    async def until_requested(self, times: int) -> None:
        while len(self.requests) < times:
            self._was_asked.clear()
            await self._was_asked.wait()

    def next_answer(self, body: bytes) -> Answer:
        request = msgspec.json.decode(body)
        self.requests.append(request)
        self._was_asked.set()
        name = f"answer-{len(self.requests)}"
        pieces = tuple(f"{name}:{number} " for number in range(self._chance.randint(8, 40)))
        self.answers[name] = "".join(pieces)
        calls = self._calls(name) if _has_more_to_do(request) else ()
        return Answer(deltas=pieces, calls=calls, delta_delay=self._chance.uniform(0.001, 0.004))

    def _calls(self, name: str) -> tuple[ScriptedCall, ...]:
        line = len(self.requests)
        kinds = (
            ScriptedCall("read_file", {"path": "lines", "start_line": line, "end_line": line + 3}),
            ScriptedCall("list_directory", {"path": f"folder-{line % 9}"}),
            ScriptedCall("execute", {"command": f"echo {name} >> effects"}),
        )
        return tuple(self._chance.sample(kinds, self._chance.randint(1, 3)))


def _has_more_to_do(request: dict[str, Any]) -> bool:
    """Two rounds of calls for a message that ends in 0, one for any other."""
    messages = request["messages"]
    last = max(position for position, message in enumerate(messages) if message["role"] == "user")
    rounds = sum(bool(message.get("tool_calls")) for message in messages[last:])
    return rounds < (2 if messages[last]["content"].endswith("0") else 1)


class RestartedServer:
    """A server that is killed and comes back: on the same port, with the same data."""

    def __init__(self, zygote: Zygote, folder: Path, model: FakeProvider) -> None:
        self.port = free_port()
        self.work, self.log = folder / "work", folder / "log"
        self._zygote = zygote
        self._pid: int | None = None
        self._arguments = ["serve", "--no-open", "--port", str(self.port), "--root", str(self.work)]
        self._arguments += ["--data-dir", str(folder / "data")]
        self._environment = {
            "PILOTHOUSE_TOKEN": TOKEN,
            "PILOTHOUSE_MODEL": "openai:fake",
            "OPENAI_BASE_URL": model.base_url,
            "OPENAI_API_KEY": "",
            "XDG_CONFIG_HOME": str(folder / "config"),
        }
        self._make_work()

    def _make_work(self) -> None:
        self.work.mkdir()
        (self.work / "lines").write_text("".join(f"line {number}\n" for number in range(1, 1000)))
        for number in range(9):
            (self.work / f"folder-{number}").mkdir()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    async def start(self) -> None:
        self._pid = await asyncio.to_thread(self._zygote.start, self._arguments, self._environment, self.log)

    async def end(self, number: signal.Signals) -> None:
        """Raises: AssertionError if the server ended on its own, or with another status than expected."""
        pid, self._pid = self._pid, None
        if pid is not None:
            os.kill(pid, number)
            status = await asyncio.to_thread(self._zygote.wait, pid)
            assert status == (number if number == signal.SIGKILL else 0)

    async def __aenter__(self) -> "RestartedServer":
        await self.start()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.end(signal.SIGKILL)


class PieceRecorder:
    """Records the pieces of each message while it is streamed."""

    def __init__(self) -> None:
        self.pieces_of: dict[str, list[str]] = {}

    def look(self, copy: ContextReplica) -> bool:
        for message_id, pieces in copy.texts.items():
            before = self.pieces_of.get(message_id, [])
            assert pieces[: len(before)] == before, "a sequence has begun anew"
            if pieces:
                self.pieces_of[message_id] = list(pieces)
        return False


class Person:
    """Sends messages, decides calls and continues interrupted turns, all through the bad network."""

    def __init__(self, client: Client, copy: ContextReplica, context_id: str) -> None:
        self._client = client
        self._copy = copy
        self._context_id = context_id
        self.sent: list[str] = []

    async def say(self, text: str, *, twice: bool) -> None:
        self.sent.append(text)
        sending = [
            self._client.send(self._context_id, text, queue=True, key=f"key of {text}") for _ in range(1 + twice)
        ]
        assert len(set(await asyncio.gather(*sending))) == 1

    async def attend(self) -> None:
        """For good."""
        while True:
            await self._copy.until(lambda copy: bool(self._due(copy)))
            context = self._copy.context
            for path, body in self._due(self._copy):
                await self._insist(path, body)
            await self._copy.until(partial(_differs, present(context).version))

    def _due(self, copy: ContextReplica) -> list[tuple[str, dict[str, Any]]]:
        """The next commands: approve pending calls one by one or together, continue an interrupted turn."""
        context = present(copy.context)
        calls = [(call.id, {"digest": call.digest}) for call in context.pending_tool_calls]
        if calls and context.version % 2:
            return [("tool-calls/decide", {"decisions": [{"id": i, "verdict": "approve", **d} for i, d in calls]})]
        if calls:
            return [(f"tool-calls/{call_id}/approve", body) for call_id, body in calls]
        if not isinstance(context.current_state, Idle) or context.turn is not None:
            return []
        assert context.last_turn in ("complete", "interrupted"), context
        return [("continue", {})] if context.last_turn == "interrupted" or context.queued else []

    async def _insist(self, path: str, body: dict[str, Any]) -> None:
        try:
            await self._client.retry(
                lambda: self._client.request("POST", f"/api/contexts/{self._context_id}/{path}", body)
            )
        except ServerError as error:
            # Either the command succeeded and only its response was lost, or the server died and its state changed.
            if error.problem.status not in (404, 409):
                raise

    def is_done(self, copy: ContextReplica) -> bool:
        texts = [message for message in copy.messages.values() if isinstance(message, Text) and message.role == "user"]
        is_idle = isinstance(present(copy.context).current_state, Idle) and present(copy.context).turn is None
        return copy.is_settled and is_idle and len(texts) >= len(self.sent) and not self._due(copy)


@pytest.fixture(scope="module")
def zygote() -> Iterator[Zygote]:
    process_factory = Zygote()
    yield process_factory
    process_factory.close()


@asynccontextmanager
async def beside(*works: Any) -> AsyncIterator[None]:
    """Run a task beside the block. If the task fails, the block fails too."""
    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(work) for work in works]
        yield
        for task in tasks:
            task.cancel()


@pytest.mark.parametrize("seed", range(RUNS), ids=lambda seed: f"seed-{seed}")
async def test_a_replica_converges_through_cut_connections_and_kills(
    seed: int, tmp_path: Path, zygote: Zygote, record_property: Record
) -> None:
    chance = random.Random(seed)
    fractions = [random.Random(chance.random()).random for _ in range(3)]
    async with (
        Model(random.Random(chance.random())) as model,
        RestartedServer(zygote, tmp_path, model) as host,
        Proxy(host.port, fractions[0]) as proxy,
        Client(host.url, TOKEN, ambient=QuickRetryAmbient(fractions[1])) as direct,
        Client(f"http://127.0.0.1:{proxy.port}", TOKEN, ambient=QuickRetryAmbient(fractions[2])) as client,
    ):
        mode = "supervised" if chance.random() < 0.4 else "agent"
        created = await direct.retry(lambda: direct.request("POST", "/api/contexts", {"mode": mode}))
        context_id = created["context_id"]
        watch = PieceRecorder()
        async with ContextReplica(client, context_id) as copy:
            person = Person(client, copy, context_id)
            async with beside(copy.until(watch.look), person.attend()):
                await drive_with_kills(chance, model, host, person)
                proxy.calm()
                await copy.until(person.is_done)
            async with ContextReplica(direct, context_id) as fresh:
                await fresh.until(person.is_done)
                assert copy.context == fresh.context
                assert copy.order == fresh.order
                assert copy.messages == fresh.messages
                assert copy.texts == fresh.texts == {}
        await pieces_are_exact(direct, context_id, fresh, watch)
        no_message_is_lost_or_doubled(fresh, person, model)
        await no_call_ran_twice(direct, context_id, fresh, host)
        assert not [line for line in host.log.read_text().splitlines() if "Traceback" in line]
        assert proxy.cuts + proxy.refusals > 0
    record_property("figure", f"{RUNS} convergence runs, in each 3 to 5 deaths of the server behind a cutting network")


async def drive_with_kills(chance: random.Random, model: Model, host: RestartedServer, person: Person) -> None:
    """Messages, each with work for several rounds, and in the middle of it the death of the server, several times."""
    async with asyncio.TaskGroup() as group:
        for number in range(chance.randint(3, 5)):
            for part in range(chance.randint(1, 2)):
                group.create_task(person.say(f"message {number}.{part}", twice=chance.random() < 0.4))
            await model.until_requested(len(model.requests) + chance.randint(1, 3))
            await asyncio.sleep(chance.uniform(0, 0.15))  # the instant, which is the point
            await host.end(signal.SIGTERM if chance.random() < 0.2 else signal.SIGKILL)
            await asyncio.sleep(chance.uniform(0, 0.1))
            await host.start()


async def pieces_are_exact(direct: Client, context_id: str, fresh: ContextReplica, watch: PieceRecorder) -> None:
    """The recorded pieces equal the stored text, and a pull from any sequence returns exactly the rest."""
    assert set(watch.pieces_of) <= set(fresh.order), "what was shown is never taken back"
    path = f"/api/contexts/{context_id}/messages"
    at_once = asyncio.Semaphore(PULLS_AT_ONCE)

    async def pieces_after(message_id: str, sequence: int) -> list[Delta]:
        async with at_once:
            address = f"{path}/{message_id}/content?from_sequence={sequence}"
            deltas: list[Delta] = await direct.request("GET", address, kind=list[Delta])
            return deltas

    for message_id in fresh.order:
        whole = await pieces_after(message_id, 0)
        assert [piece.sequence for piece in whole] == list(range(1, len(whole) + 1))
        assert "".join(piece.delta for piece in whole) == fresh.text(message_id)
        pieces = watch.pieces_of.get(message_id, [])
        assert [piece.delta for piece in whole[: len(pieces)]] == pieces
        rests = await asyncio.gather(*[pieces_after(message_id, number) for number in range(1, len(whole) + 2)])
        for number, rest in enumerate(rests, start=1):
            assert rest == whole[number:]


def no_message_is_lost_or_doubled(fresh: ContextReplica, person: Person, model: Model) -> None:
    messages = [fresh.messages[message_id] for message_id in fresh.order]
    texts = [message.content for message in messages if isinstance(message, Text) and message.role == "user"]
    assert Counter(texts) == Counter(person.sent)
    answers = [
        content_of(message)
        for message in messages
        if message.role == "assistant" and bool(getattr(message, "content", None))
    ]
    names = [answer.partition(":")[0] for answer in answers]
    assert len(set(names)) == len(names)
    for name, answer in zip(names, answers, strict=True):
        assert model.answers[name].startswith(answer)


async def no_call_ran_twice(direct: Client, context_id: str, fresh: ContextReplica, host: RestartedServer) -> None:
    messages = [fresh.messages[message_id] for message_id in fresh.order]
    calls = [call for message in messages if isinstance(message, ToolRequestView) for call in message.calls]
    results = {message.call_id: message for message in messages if isinstance(message, ToolResult)}
    assert len({call.id for call in calls}) == len(calls)
    assert Counter(call.id for call in calls) == Counter(m.call_id for m in messages if isinstance(m, ToolResult))
    records: Page[CallView] = await direct.request(
        "GET", f"/api/contexts/{context_id}/tool-calls?limit=200", kind=Page[CallView]
    )
    assert records.next is None
    assert [(call.id, call.status, call.result_id) for call in records.items] == [
        (call.id, results[call.id].status, results[call.id].id) for call in calls
    ]
    effects = host.work / "effects"
    ran = Counter(effects.read_text().split()) if effects.exists() else Counter()
    assert not [name for name, count in ran.items() if count > 1]
    commands = [call for call in calls if call.tool == "execute" and call.status == "executed"]
    assert {call.arguments["command"].split()[1] for call in commands} <= set(ran)


async def test_text_that_a_power_loss_took_from_the_server_leaves_the_replica(tmp_path: Path, zygote: Zygote) -> None:
    """Pieces are written before they are shown, but not synced: a kill takes none of them, a loss of power may."""
    pieces = ("one ", "two ", "three ")
    async with (
        FakeProvider(Script(turn=(Answer(deltas=pieces, silence=len(pieces)),))) as model,
        RestartedServer(zygote, tmp_path, model) as host,
        Client(host.url, TOKEN, ambient=QuickRetryAmbient(lambda: 0.5)) as client,
    ):
        created = await client.retry(lambda: client.request("POST", "/api/contexts", {"mode": "agent"}))
        async with ContextReplica(client, created["context_id"]) as copy:
            await client.send(created["context_id"], "hello")
            await copy.until(lambda copy: copy.is_settled and list(pieces) in copy.texts.values())
            await host.end(signal.SIGKILL)
            (written,) = (tmp_path / "data").rglob("streaming.log")
            written.unlink()
            await host.start()
            await copy.until(lambda copy: copy.is_settled and present(copy.context).last_turn == "interrupted")
            assert copy.texts == {}


class WatchedClient(Client):
    """A client that can delay the response of a pull, and that counts the signals it received."""

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self.pulled = asyncio.Event()
        self.let_go = asyncio.Event()
        self.let_go.set()
        self._states: list[str] = []
        self._took = asyncio.Event()

    async def __aenter__(self) -> Self:
        await super().__aenter__()
        return self

    async def request(self, method: str, path: str, *args: Any, **options: Any) -> Any:
        response = await super().request(method, path, *args, **options)
        if options.get("kind") is ContextView:
            self.pulled.set()
            await self.let_go.wait()
        return response

    async def events(self, *args: Any) -> AsyncIterator[tuple[str, Any]]:
        async for name, data in super().events(*args):
            yield name, data
            if name == "StateChanged":
                self._states.append(data["state"]["type"])
                self._took.set()

    async def until_signalled(self, state: str, times: int = 1) -> None:
        while self._states.count(state) < times:
            self._took.clear()
            await self._took.wait()

    def times_signalled(self, state: str) -> int:
        return self._states.count(state)


def everything_changed(live: LiveContext) -> ContextChanged:
    return ContextChanged(context_id=live.id, version=live.version, fields=("*",))


async def test_a_replica_is_not_settled_while_a_pull_is_pending(tmp_path: Path) -> None:
    world = World(tmp_path)
    async with (
        world.runtime,
        Served(world.runtime, [tmp_path]) as served,
        WatchedClient(served.url, served.token) as client,
    ):
        context_id = await world.start()
        async with ContextReplica(client, context_id) as copy:
            await copy.until(lambda copy: copy.is_settled)
            client.pulled.clear()
            client.let_go.clear()
            await world.runtime.contexts.change(context_id, title="another")
            await client.pulled.wait()
            assert not copy.is_settled
            client.let_go.set()
            await copy.until(lambda copy: copy.is_settled and present(copy.context).title == "another")


class FullStore(MemoryStore):
    """`is_full` refuses the deltas of an answer."""

    is_full = False

    async def append_deltas(self, *args: Any) -> None:
        if self.is_full:
            raise StoreRefused(Code.STORE_REFUSED, detail="as it was told to")
        await super().append_deltas(*args)


async def test_a_state_signalled_during_a_pull_is_not_lost(tmp_path: Path) -> None:
    """The signal has no new version: no later signal would make the replica pull again."""
    store = FullStore()
    world = World(tmp_path, Answer(deltas=("piece ",) * 10_000, delta_delay=0.001), store=store)
    async with (
        world.runtime,
        Served(world.runtime, [tmp_path]) as served,
        served.client() as direct,
        WatchedClient(served.url, served.token) as client,
    ):
        context_id = (await direct.request("POST", "/api/contexts", {"mode": "agent"}))["context_id"]
        async with ContextReplica(client, context_id) as copy:
            await direct.send(context_id, "go")
            await copy.until(lambda copy: copy.is_settled and any(copy.texts.values()))
            live = await live_context(world.runtime, context_id)
            client.pulled.clear()
            client.let_go.clear()
            world.dependencies.hub.publish(everything_changed(live))  # as after each connect
            await client.pulled.wait()
            store.is_full = True
            await client.until_signalled("waiting_for_recovery")
            client.let_go.set()
            looks = itertools.count()
            await copy.until(lambda copy: next(looks) > 0 and copy.is_settled)  # when it has pulled
            store.is_full = False
            assert present(copy.context).current_state == live.state


@pytest.mark.parametrize("what", ["deleted", "compressed"])
async def test_a_branch_deleted_between_two_pulls_does_not_stop_a_replica(what: str, tmp_path: Path) -> None:
    world = World(tmp_path, *[Answer(text="x")] * 40)
    async with (
        world.runtime,
        Served(world.runtime, [tmp_path]) as served,
        WatchedClient(served.url, served.token) as client,
    ):
        context_id = await world.start()
        await world.runtime.branches.create(context_id, "idea")
        await world.runtime.branches.switch(context_id, "idea")
        for _ in range(20):
            await world.turn(context_id, "some words " * 30)
        async with ContextReplica(client, context_id) as copy:
            await copy.until(lambda copy: copy.is_settled)
            client.pulled.clear()
            client.let_go.clear()
            await world.turn(context_id)
            await client.pulled.wait()
            if what == "deleted":
                await world.runtime.branches.switch(context_id, "main")
                await world.runtime.branches.delete(context_id, "idea")
            else:
                await world.runtime.compression.compress(context_id)
                await world.turn(context_id)
            client.let_go.set()
            live = await live_context(world.runtime, context_id)
            await copy.until(lambda copy: copy.is_settled and present(copy.context).version == live.version)
            assert copy.order == await world.runtime.messages.read_ids(context_id, live.core.active_branch, limit=100)


class BrokenAdapter(ScriptedAdapter):
    """An internal error with a long message."""

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelEvent, None]:
        raise RuntimeError("a long story " * 100)
        yield


@pytest.mark.parametrize("state", ["awaiting_tool_approval", "failed"])
async def test_a_state_signalled_in_short_is_pulled_whole(state: str, tmp_path: Path) -> None:
    """An event is small, whatever it is about: it names the first of many calls only, and the beginning of a text."""
    calls = tuple(("change", str(number)) for number in range(20))
    broken = BrokenAdapter(Script()) if state == "failed" else None
    world = World(tmp_path, calls_answer(*calls), adapter=broken)
    async with (
        world.runtime,
        Served(world.runtime, [tmp_path]) as served,
        WatchedClient(served.url, served.token) as client,
    ):
        context_id = await world.start("supervised")
        async with ContextReplica(client, context_id) as copy:
            await world.turn(context_id)
            live = await live_context(world.runtime, context_id)
            await copy.until(lambda copy: copy.is_settled and present(copy.context).current_state == live.state)
            count = client.times_signalled(state)
            live.publish_state()  # the same once more, as when it comes late
            await client.until_signalled(state, count + 1)
            await copy.until(lambda copy: copy.is_settled)
            assert present(copy.context).current_state == live.state


async def test_a_context_whose_turn_is_over_has_no_message_that_is_being_written(tmp_path: Path) -> None:
    """At no instant: a client that pulls between the last commit and the driver's end would keep the message."""
    turns = 50
    world = World(tmp_path, *[Answer(text="a short answer")] * turns)
    async with world.runtime, Served(world.runtime, [tmp_path]) as served, served.client() as client:
        context_id = await world.start()
        pulled: list[ContextView] = []

        async def pull() -> None:
            while True:
                pulled.append(await client.request("GET", f"/api/contexts/{context_id}", kind=ContextView))

        async with beside(pull(), pull(), pull()):
            for _ in range(turns):
                await world.turn(context_id)
        assert {context.streaming for context in pulled if context.turn is None} == {None}
