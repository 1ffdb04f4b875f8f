"""The OpenAPI document against a real server: requests made from it, and no answer that it does not describe.

Most requests are about existing things: a context that rests, one that waits for a decision, one that asks, one
that is at work and one that is paused, with their messages, calls, branches, rules and queued messages. In each the
agent has changed a file and a call has printed much; their folder has a configuration; an MCP server has tools.
"""

import asyncio
import itertools
import random
import threading
from collections import Counter, defaultdict
from collections.abc import AsyncGenerator, Coroutine, Iterator
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import quote

import msgspec
import pytest
import requests
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from schemathesis import GenerationMode
from schemathesis.checks import not_a_server_error
from schemathesis.core.failures import FailureGroup
from schemathesis.core.parameters import ParameterLocation
from schemathesis.core.result import Ok
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    negative_data_rejection,
    response_headers_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from pilothouse.domain.budgets import Budget
from pilothouse.domain.policies import Policy
from pilothouse.domain.rules import Lifetime, Rule, RuleEffect, Scope
from pilothouse.domain.sessions import Preferences, UIState
from pilothouse.llm.base import CallDelta, Connected, Finished, ModelEvent, ModelRequest, TextDelta
from pilothouse.llm.script import Script
from pilothouse.llm.scripted import ScriptedAdapter
from pilothouse.provider import ProviderSetup
from pilothouse.server.api_docs import document
from pilothouse.server.protocol import MAX_HEADER_BYTES
from pilothouse.server.routes import ROUTES
from pilothouse.server.routing import EVENTS, HTML, LINES
from pilothouse.settings import read_settings
from pilothouse.storage.memory import MemoryStore
from pilothouse.testing.served import TOKEN, Served
from pilothouse.testing.tools import NoteArguments, NoteTool
from pilothouse.testing.world import World
from pilothouse.tools.base import ToolContext
from pilothouse.tools.builtin.edit_file import WriteFile
from tests.support.assertions import instance_of, present
from tests.support.mcp_tools import configuration, ready, tool_server
from tests.support.scale import HANG_SECONDS, LONG, Record

T = TypeVar("T")
GOOD, BAD = (200, 100) if LONG else (8, 4)
KINDS = ("resting", "waiting", "asking", "running", "paused")
OFTEN = ("resting", "resting", "waiting", "waiting", *KINDS)
CHANGE, ASK, HOLD, PRINT = "please change it", "please ask me", "please hold on", "please print it"
CALLS: dict[str, tuple[str, dict[str, Any]]] = {
    CHANGE: ("change", {"text": "a", "path": "docs/a"}),
    ASK: ("ask_user", {"questions": [{"question": "Which?", "options": ["a", "b"]}]}),
    HOLD: ("hold", {}),
    PRINT: ("print", {}),
}
# Streams that last until the client disconnects; other tests read them.
ENDLESS = {f"GET {route.path}" for route in ROUTES if route.gives == EVENTS and route.method == "GET"}
# A wait for a retry takes no time under a clock that is turned.
NEVER_DONE = {"POST /api/contexts/{context_id}/retry"}
# Responses that any path can have; the document has a default for them.
EVERYWHERE = {405, 414}
TOLD = {"token", "tool_start", "tool_end", "interrupt", "title", "error", "done"}
CHECKS = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_schema_conformance,
    response_headers_conformance,
]
CONFIG = schemathesis.Config.from_dict(
    {
        "generation": {"with-security-parameters": False},
        "checks": {"negative_data_rejection": {"expected-statuses": ["4xx"]}},
    }
)

schemathesis.openapi.media_type(LINES, st.binary(max_size=200))


@schemathesis.serializer(LINES)
def _lines(context: Any, value: Any) -> bytes:
    return value if isinstance(value, bytes) else str(value).encode()


SCHEMA = schemathesis.openapi.from_dict(msgspec.json.decode(msgspec.json.encode(document())), config=CONFIG)
_OPERATIONS = [instance_of(Ok, result).ok() for result in SCHEMA.get_all_operations()]
OPERATIONS = {operation.label: operation for operation in _OPERATIONS}
TRIED = sorted(OPERATIONS.keys() - ENDLESS)
GROUPS = sorted({present(OPERATIONS[label].tags)[0] for label in TRIED})


class ToolCallingAdapter(ScriptedAdapter):
    """Calls the tools named in the message, once, and otherwise answers with a word."""

    def __init__(self) -> None:
        super().__init__(Script())
        self._numbers = itertools.count()

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelEvent, None]:
        yield Connected()
        last = msgspec.json.decode(request.messages[-1]) if request.messages else {}
        prompt = last["content"] if last.get("role") == "user" else ""
        words = [word for word in CALLS if word in prompt]
        yield TextDelta(text="Well.")
        for number, word in enumerate(words):
            tool, arguments = CALLS[word]
            filled = {**arguments, "text": prompt} if word == HOLD else arguments
            encoded = msgspec.json.encode(filled).decode()
            yield CallDelta(index=number, id=f"call_{number}", tool=tool, arguments=encoded)
        if PRINT in prompt:
            written = {"path": f"notes/{next(self._numbers)}", "content": "new"}
            yield CallDelta(index=1, id="call_1", tool="write_file", arguments=msgspec.json.encode(written).decode())
        yield Finished(reason="tool_calls" if words else "stop")


class HoldTool(NoteTool):
    """Blocks each run, by its text, until the test releases it."""

    def __init__(self) -> None:
        super().__init__("hold", "read_only")
        self.begun: defaultdict[str, asyncio.Event] = defaultdict(asyncio.Event)
        self.gates: defaultdict[str, asyncio.Event] = defaultdict(asyncio.Event)

    async def run(self, arguments: NoteArguments, job: ToolContext) -> str:
        self.begun[arguments.text].set()
        await self.gates[arguments.text].wait()
        return "held"


class PrintTool(NoteTool):
    """Prints more than the limit of a result."""

    def __init__(self) -> None:
        super().__init__("print", "read_only")

    async def run(self, arguments: NoteArguments, job: ToolContext) -> str:
        return "0123456789\n" * 5000


class SceneServer:
    """A server in a thread of its own, and contexts in every state."""

    def __init__(self, folder: Path) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever)
        self._thread.start()
        self._scenes: dict[str, dict[str, Any]] = {}
        self.http = requests.Session()
        self.http.headers["authorization"] = f"Bearer {TOKEN}"
        self._do(self._open(folder))
        self.exported = self._do(self._export(self.scene("resting")["context_id"]))

    def _do(self, work: Coroutine[Any, Any, T]) -> T:
        return asyncio.run_coroutine_threadsafe(work, self._loop).result(60)

    async def _open(self, folder: Path) -> None:
        self._hold = HoldTool()
        workspace = folder / "workspace"
        (workspace / ".pilothouse").mkdir(parents=True)
        (workspace / ".pilothouse" / "config.toml").write_text('[directories]\ndeploy = "plan"\n')
        own = configuration(folder)
        model = ToolCallingAdapter()  # no other host is contacted, whatever provider is set up
        nowhere = {"OPENAI_BASE_URL": "http://127.0.0.1:9/v1"}
        unset = read_settings(nowhere, data_dir=str(folder / "data"), config=str(folder / "none.toml"))
        self._world = World(
            workspace,
            adapter=model,
            provider=ProviderSetup(unset, lambda *_: model),
            tools=[self._hold, PrintTool(), WriteFile()],
            store=MemoryStore(folder / "kept"),
            trust=own,
            workspace_policy=own.workspace_policy,
            mcp=[tool_server(folder / "docs")],
            budget=Budget(recent=1),
        )
        await self._world.runtime.start()
        self._served = await Served(self._world.runtime, [workspace]).__aenter__()
        self.url = self._served.url

    async def _close(self) -> None:
        for gate in self._hold.gates.values():
            gate.set()
        await self._served.__aexit__()
        await self._world.runtime.close()

    def close(self) -> None:
        self.http.close()
        try:
            self._do(self._close())
        finally:
            self._loop.call_soon_threadsafe(self._loop.stop)
            self._thread.join(60)
            self._loop.close()

    def scene(self, kind: str) -> dict[str, Any]:
        """The ids of a context of that kind; always the same context until it is `spent`."""
        if kind not in self._scenes:
            self._scenes[kind] = self._do(self._scene(kind))
        return {**self._scenes[kind], "version": self._do(self._version())}

    def spent(self, kind: str) -> None:
        """Forget the ids of the scene, which may have changed."""
        self._scenes.pop(kind, None)

    async def _version(self) -> int:
        return (await self._served.server_state.sessions.get("local")).version

    async def _scene(self, kind: str) -> dict[str, Any]:
        runtime = self._world.runtime
        lasting = await self._only_rule()
        await ready(runtime, "docs")
        context_id = await self._world.start("agent")
        await self._renew_session(context_id)
        await self._world.turn(context_id, PRINT)
        (printed, _) = (await runtime.calls.read(context_id)).items
        await runtime.uploads.add(context_id, "notes.txt", b"some bytes")
        await runtime.compression.compress(
            context_id
        )  # the context has a change to undo, and again messages to compress
        await self._world.turn(context_id, "after it " * 200)
        await runtime.branches.create(context_id, "idea")
        await runtime.branches.switch(context_id, "idea")
        await self._world.turn(context_id, "on another branch")
        await runtime.branches.switch(context_id, "main")
        rule = await runtime.rules.give("ask", Scope(tool="look"), context_id=context_id)
        await runtime.modes.switch(context_id, "review")
        await self._bring_to(kind, context_id)
        (queued,) = await runtime.queue.read(context_id)
        (*_, call) = (await runtime.calls.read(context_id)).items
        messages = await runtime.messages.read(context_id, branch="main", limit=100)
        other = await runtime.messages.read_ids(context_id, "idea", limit=100)
        return {
            "context_id": context_id,
            "message_id": next(message.id for message in messages if message.role == "user"),
            "message_ids": [other[-1]],
            "queued": queued.item.id,
            "call_id": call.id,
            "digest": call.digest,
            "printed": printed.id,
            "trust": (await runtime.workspaces.trust_status(context_id)).digest,
            "rule_id": rule.id,
            "lasting_rule_id": lasting.id,
        }

    async def _only_rule(self) -> Rule:
        """A rule that changes nothing. All other rules of the user are revoked."""
        runtime = self._world.runtime
        wanted: tuple[RuleEffect, Scope] = ("ask", Scope(tool="another"))
        rules = await runtime.rules.read()
        fitting = [rule for rule in rules if (rule.effect, rule.scope, rule.lifetime) == (*wanted, Lifetime())]
        standing_rule = fitting[0] if fitting else await runtime.rules.give(*wanted)
        for rule in rules:
            if rule.id != standing_rule.id:
                await runtime.rules.revoke(rule.id)
        return standing_rule

    async def _renew_session(self, context_id: str) -> None:
        await self._served.server_state.sessions.replace(
            "local",
            version=await self._version(),
            active=None,
            tabs=[context_id],
            ui_state=UIState(),
            preferences=Preferences(),
        )

    async def _bring_to(self, kind: str, context_id: str) -> None:
        runtime = self._world.runtime
        text = f"{HOLD} in {context_id}"
        await runtime.messages.send(context_id, {"asking": ASK, "running": text, "paused": text}.get(kind, CHANGE))
        await runtime.messages.send(context_id, "later", queue=True)
        if kind in ("running", "paused"):
            await self._hold.begun[text].wait()
        else:
            await runtime.turns.rested(context_id)
        if kind == "paused":
            await runtime.turns.pause(context_id)
            self._hold.gates[text].set()
            await runtime.turns.rested(context_id)
        if kind == "resting":
            await runtime.turns.cancel(context_id)
            await runtime.modes.elevate(context_id, minutes=5)

    async def _export(self, context_id: str) -> bytes:
        return b"".join([piece async for piece in self._world.runtime.exports.create(context_id)])


@pytest.fixture(scope="module")
def backdrop(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SceneServer]:
    new_backdrop = SceneServer(tmp_path_factory.mktemp("backdrop"))
    yield new_backdrop
    new_backdrop.close()


class Findings:
    """Failures, one of each kind with its request, and the count of each status."""

    def __init__(self, backdrop: SceneServer) -> None:
        self._backdrop = backdrop
        self.statuses: Counter[int] = Counter()
        self.wrong: dict[str, str] = {}

    def send(self, case: Any, kind: str, *, is_beyond: bool = False) -> None:
        """Values beyond a bound must be refused. Some random mistakes are accepted leniently."""
        if len(quote(str(case.query or {}))) > MAX_HEADER_BYTES // 2:
            return  # the server may hang up
        answer = case.call(base_url=self._backdrop.url, session=self._backdrop.http, timeout=HANG_SECONDS)
        self.statuses[answer.status_code] += 1
        if answer.status_code < 400 and case.method.upper() != "GET":
            self._backdrop.spent(kind)
        described = case.operation.definition.raw["responses"]
        if str(answer.status_code) not in described and answer.status_code not in EVERYWHERE:
            self._note(case, answer, "is not described", f"{case.as_curl_command()}\n{answer.text[:500]}")
        checks = [*CHECKS, negative_data_rejection] if is_beyond else [*CHECKS]
        if answer.headers.get("content-type", [""])[0].startswith(EVENTS):
            checks.remove(response_schema_conformance)  # schemathesis would apply the schema of the whole to each event
            check_events(case.operation.path, answer.text)
        try:
            case.validate_response(answer, checks=checks)
        except FailureGroup as failures:
            for failure in failures.exceptions:
                self._note(case, answer, type(failure).__name__, str(failures))

    def _note(self, case: Any, answer: Any, what: str, shown: str) -> None:
        title = f"{case.operation.label}: {answer.status_code} {what}"
        self.wrong.setdefault(title, f"--- {title}\n{shown[:3000]}")


def check_events(path: str, text: str) -> None:
    """Check the stream of a finished turn."""
    events = [each for each in text.removesuffix("\n\n").split("\n\n") if each != ": "]
    if path.startswith("/v1/"):
        assert events.pop() == "data: [DONE]"
        assert all(msgspec.json.decode(each.removeprefix("data: "))["choices"] for each in events)
        return
    assert events[-1] == "event: done\ndata: {}"
    for each in events:
        name, data = each.split("\n")
        assert name.removeprefix("event: ") in TOLD
        assert isinstance(msgspec.json.decode(data.removeprefix("data: ")), dict)


def test_the_openapi_document_is_valid_and_every_operation_is_tested() -> None:
    SCHEMA.validate()
    assert len(ENDLESS) == 2
    assert {*TRIED, *ENDLESS} == {f"{route.method} {route.path}" for route in ROUTES if route.gives != HTML}


@pytest.mark.parametrize("group", GROUPS)
def test_every_response_conforms_to_the_openapi_document(
    group: str, backdrop: SceneServer, record_property: Record
) -> None:
    labels = [label for label in TRIED if OPERATIONS[label].tags == [group]]
    findings = [try_operation(OPERATIONS[label], backdrop) for label in labels]
    statuses = sum((each.statuses for each in findings), Counter())
    shown = ", ".join(f"{count} × {status}" for status, count in sorted(statuses.items()))
    record_property("figure", f"Schemathesis, {group}: {statuses.total()} requests to {len(labels)} routes: {shown}")
    assert not (wrong := [text for each in findings for text in each.wrong.values()]), "\n\n".join(wrong)


def try_operation(operation: Any, backdrop: SceneServer) -> Findings:
    """The example in every scene; then the bounds of every field; then random requests from the document."""
    findings = Findings(backdrop)
    for kind in KINDS:
        for case in examples(operation, backdrop.scene(kind), backdrop):
            findings.send(case, kind)
    for case in examples(operation, backdrop.scene(KINDS[0]), backdrop):
        for name in {"context_id", "thread_id"} & set(case.path_parameters):
            case.path_parameters[name] += "~anna"  # a chat thread of another user, which is not there
            findings.send(case, KINDS[0])
    is_done = any(200 <= status < 300 for status in findings.statuses)
    if is_done == (operation.label in NEVER_DONE):
        findings.wrong["example"] = f"--- {operation.label}: the example was answered with {findings.statuses}"
    takes_something = bool([*operation.iter_parameters(), *operation.body])
    for mode, count in (GenerationMode.POSITIVE, GOOD), (GenerationMode.NEGATIVE, BAD):
        try_bounds(operation, mode, backdrop, findings)
        if takes_something:
            try_by_chance(operation, mode, count, backdrop, findings)
    return findings


def try_bounds(operation: Any, mode: GenerationMode, backdrop: SceneServer, findings: Findings) -> None:
    config = SCHEMA.config.generation_for(operation=operation)
    cases = SCHEMA.iter_coverage_cases(operation, generation_modes=[mode], generation_config=config)
    for number, case in enumerate(cases):
        kind = OFTEN[number % len(OFTEN)]
        settle_in(case, backdrop.scene(kind), random.Random(number), backdrop, share=0.2)
        findings.send(case, kind, is_beyond=mode is GenerationMode.NEGATIVE)


def try_by_chance(operation: Any, mode: GenerationMode, count: int, backdrop: SceneServer, findings: Findings) -> None:
    @settings(
        max_examples=count,
        database=None,
        deadline=None,
        derandomize=not LONG,
        phases=[Phase.generate],  # the server has a state: a failure is reported, not repeated
        suppress_health_check=list(HealthCheck),
    )
    @given(operation.as_strategy(generation_mode=mode), st.sampled_from(OFTEN), st.integers(0, 2**32))
    def work(case: Any, kind: str, seed: int) -> None:
        settle_in(case, backdrop.scene(kind), random.Random(seed), backdrop, share=0.7)
        findings.send(case, kind)

    work()


def examples(operation: Any, scene: dict[str, Any], backdrop: SceneServer) -> Iterator[Any]:
    """The example of the document, with existing ids."""
    path = {name: path_value(name, operation, scene) for name in PLACES if f"{{{name}}}" in operation.path}
    query = {"name": "notes.txt"} if operation.label.startswith("POST") and operation.path.endswith("/files") else {}
    query = {"mode": "agent"} if operation.path.endswith("/preview") else query
    content = operation.definition.raw.get("requestBody", {}).get("content", {})
    if not content:
        yield operation.Case(path_parameters=path, query=query)
        return
    ((media, described),) = content.items()
    if media == LINES:
        query = {"context_id": f"{scene['context_id']}-again"}
    example = backdrop.exported if media == LINES else described.get("example", "some bytes")
    body = real(example, about(operation, scene), random.Random(0), 1)
    yield operation.Case(path_parameters=path, query=query, body=body, media_type=media)
    if operation.path.startswith("/api/chat/") and operation.path.endswith("/resume"):
        yield operation.Case(path_parameters=path, body={"answers": ["a"]}, media_type=media)


PLACES = (
    "context_id",
    "message_id",
    "call_id",
    "rule_id",
    "branch",
    "source",
    "tab_id",
    "thread_id",
    "name",
    "prompt_name",
)


def path_value(name: str, operation: Any, scene: dict[str, Any]) -> str:
    if name == "message_id" and "/queue/" in operation.path:
        return str(scene["queued"])
    if name == "rule_id":
        return str(scene["lasting_rule_id"])
    if name == "call_id" and operation.path.endswith("/output"):
        return str(scene["printed"])
    if name == "name":
        return "look" if "/tools/" in operation.path else "notes.txt" if "/files/" in operation.path else "docs"
    usual = {
        "prompt_name": "review",
        "branch": "idea",
        "source": "idea",
        "tab_id": scene["context_id"],
        "thread_id": scene["context_id"],
    }
    return str(usual.get(name) or scene[name])


def settle_in(case: Any, scene: dict[str, Any], chance: random.Random, backdrop: SceneServer, *, share: float) -> None:
    """Put existing ids into most places of a case. Values that are wrong on purpose stay wrong."""
    is_bad = case.meta.generation.mode.is_negative
    if not is_bad or not case.meta.is_negative_at(ParameterLocation.PATH):
        for name in case.path_parameters or {}:
            if chance.random() < 0.95:
                case.path_parameters[name] = path_value(name, case.operation, scene)
    if is_bad:
        return
    for name, value in dict(case.query or {}).items():
        if chance.random() < share:
            named = {"ids": scene["message_id"], "contexts": scene["context_id"], "parent": scene["context_id"]}
            case.query[name] = named.get(name, real({name: value}, scene, chance, 1)[name])
    if case.media_type == LINES:
        case.body = damaged(backdrop.exported, chance)
    else:
        case.body = real(case.body, about(case.operation, scene), chance, share)


def about(operation: Any, scene: dict[str, Any]) -> dict[str, Any]:
    """A digest names the shown version of a call or of the project's files."""
    return {**scene, "digest": scene["trust"]} if operation.path.endswith("/trust") else scene


def damaged(data: bytes, chance: random.Random) -> bytes:
    """An exported file, unchanged or with a few bytes or lines changed."""
    lines = data.splitlines(keepends=True)
    at = chance.randrange(len(data))
    match chance.randrange(5):
        case 0:
            return data
        case 1:
            return data[:at]
        case 2:
            return data[:at] + bytes([chance.randrange(256)]) + data[at + 1 :]
        case 3:
            del lines[chance.randrange(len(lines))]
        case _:
            chance.shuffle(lines)
    return b"".join(lines)


def real(value: Any, scene: dict[str, Any], chance: random.Random, share: float) -> Any:
    """The value with real names in many places where something is named."""
    if isinstance(value, list):
        return [real(each, scene, chance, share) for each in value]
    if not isinstance(value, dict):
        return value
    if "payload" in value and "payloads" in value:  # the document cannot say that they exclude each other
        unwanted = chance.choice(["payload", "payloads"])
        value = {name: each for name, each in value.items() if name != unwanted}
    values = {
        "context_id": scene["context_id"],
        "active_context_id": scene["context_id"],
        "id": scene["call_id"],
        "ids": [scene["call_id"]],
        "digest": scene["digest"],
        "at": scene["message_id"],
        "message_ids": scene["message_ids"],
        "source": chance.choice(["main", "idea"]),
        "target": chance.choice(["main", "main", "idea"]),
        "branch": chance.choice(["main", "idea"]),
        "version": scene["version"],
        "mode": chance.choice(["agent", "review", "supervised", "plan", "ask", "build"]),
        "default_mode": "review",
        "message": chance.choice([CHANGE, ASK, "hello"]),
        "messages": [{"role": "system", "content": "x"}, {"role": "user", "content": chance.choice([CHANGE, ASK])}],
        "payload": {"type": "text", "content": chance.choice([CHANGE, ASK, "hello"])},
        "payloads": [{"type": "text", "content": "hello"}, {"type": "file_reference", "path": "docs/a"}],
        "folder": "docs",
        "files": ["docs/a"],
        "server": "docs",
        "uri": "docs://guide",
        "policy": msgspec.to_builtins(Policy(kind="manual")),
    }
    return {
        name: values[name]
        if name in values and each is not None and chance.random() < share
        else real(each, scene, chance, share)
        for name, each in value.items()
    }
