"""Property 10: whatever is switched, decided, cancelled and restarted in whatever order: no call starts twice,
none starts that the mode in force at that instant denies, and every call ends with exactly one result.

The oracle reads the audit, which is in the order of the commits, and knows nothing of the gate's own code.
"""

import asyncio
import tempfile
from collections import Counter
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from pilothouse.domain.errors import Conflict
from pilothouse.domain.messages import ToolRequest, ToolResult
from pilothouse.domain.states import AwaitingToolApproval, AwaitingUserAnswer, Failed, Idle, is_resting
from pilothouse.llm.base import Finished, ModelEvent, ModelRequest
from pilothouse.llm.script import Answer, Script, ScriptedCall, ScriptedError
from pilothouse.llm.scripted import ScriptedAdapter
from pilothouse.runtime.calls import PersonsDecision
from pilothouse.runtime.parts import Limits
from pilothouse.runtime.runtime import Runtime
from pilothouse.storage.memory import MemoryStore
from pilothouse.testing.tools import NoteTool
from pilothouse.testing.world import World
from tests.scale import LONG
from tests.windows import assert_valid_window

MODES = ["agent", "supervised", "review", "plan", "ask"]
# Written down from the specification, not taken from the code: what each mode does with each kind of call.
TABLE = {
    ("agent", "read_only"): "run",
    ("agent", "mutating"): "run",
    ("supervised", "read_only"): "wait",
    ("supervised", "mutating"): "wait",
    ("review", "read_only"): "run",
    ("review", "mutating"): "wait",
    ("plan", "read_only"): "run",
    ("plan", "mutating"): "deny",
    ("ask", "read_only"): "deny",
    ("ask", "mutating"): "deny",
}
EFFECTS = {"look": "read_only", "change": "mutating", "held_look": "read_only", "held_change": "mutating"}

call_kinds = st.sampled_from([*EFFECTS, "ask_user", "nonsense", "broken"])
answer_plans = st.lists(
    st.tuples(st.lists(call_kinds, max_size=4), st.sampled_from(["", "", "held", "cut", "error"])),
    min_size=15,
    max_size=30,
)


def scripted(plans: list[tuple[list[str], str]]) -> list[Answer]:
    """Answers in which every call is unlike every other."""
    answers = []
    for number, (kinds, fate) in enumerate(plans):
        calls = tuple(_call(kind, f"{number}.{position}") for position, kind in enumerate(kinds))
        if fate == "error":
            answers.append(Answer(error=ScriptedError(status=503)))
        else:
            finish = "held" if fate == "held" else None
            answers.append(
                Answer(text=f"answer {number}", calls=calls, cut=2 if fate == "cut" else None, finish=finish)
            )
    return answers


def _call(kind: str, text: str) -> ScriptedCall:
    if kind == "ask_user":
        return ScriptedCall(tool="ask_user", arguments={"questions": [{"question": text}]})
    if kind == "broken":
        return ScriptedCall(tool="change", arguments='{"text": "' + text)
    return ScriptedCall(tool=kind, arguments={"text": text})


class HeldModel(ScriptedAdapter):
    """Stops in the middle of an answer that says so, until it is let go on."""

    def __init__(self, answers: list[Answer]) -> None:
        super().__init__(Script(turn=tuple(answers)))
        self.release = asyncio.Event()

    async def stream(self, request: ModelRequest) -> AsyncIterator[ModelEvent]:
        async for event in super().stream(request):
            if isinstance(event, Finished) and event.reason == "held":
                await self.release.wait()
            yield event


class Machine(RuleBasedStateMachine):
    def __init__(self) -> None:
        super().__init__()
        self.loop = asyncio.new_event_loop()
        self.folder = tempfile.TemporaryDirectory()
        self.store = MemoryStore()
        self.ran: Counter[str] = Counter()
        self.context_id = ""
        self.worlds: list[World] = []
        self.models: list[HeldModel] = []

    @initialize(plans=answer_plans, mode=st.sampled_from(MODES))
    def begin(self, plans: list[tuple[list[str], str]], mode: str) -> None:
        self.first_mode = mode
        self.answers = scripted(plans)
        self.open_world()
        self.context_id = self.do(self.world.start(mode))

    def open_world(self) -> None:
        used = sum(len(model.requests) for model in self.models)
        self.models.append(HeldModel(self.answers[used:]))
        self.held = {
            name: NoteTool(name, EFFECTS[name], hold=True, on_run=lambda text: self.ran.update([text]))
            for name in ("held_look", "held_change")
        }
        self.world = World(
            Path(self.folder.name),
            adapter=self.models[-1],
            store=self.store,
            tools=list(self.held.values()),
            limits=Limits(rounds=4, retries=1),
        )
        for tool in (self.world.look, self.world.change):
            tool._on_run = lambda text: self.ran.update([text])
        self.world.ambient._ids = 1_000_000 * len(self.worlds)
        self.worlds.append(self.world)

    @property
    def runtime(self) -> Runtime:
        return self.world.runtime

    def do(self, command: Any) -> Any:
        """Run a command, then let everything go on until it waits for something."""

        async def and_settle() -> Any:
            try:
                return await command
            finally:
                for _ in range(100):
                    await asyncio.sleep(0)

        return self.loop.run_until_complete(and_settle())

    def try_(self, command: Any) -> None:
        try:
            self.do(command)
        except Conflict:
            pass

    def live(self) -> Any:
        return self.do(self.runtime.context(self.context_id))

    # what a person can do

    @rule(mode=st.none() | st.sampled_from(MODES))
    def send(self, mode: str | None) -> None:
        self.try_(self.runtime.send(self.context_id, "go on", mode=mode))

    @rule(mode=st.sampled_from(MODES))
    def switch(self, mode: str) -> None:
        self.do(self.runtime.switch_mode(self.context_id, mode))
        assert self.live().core.mode == mode

    @rule(data=st.data(), verdict=st.sampled_from(["approve", "reject"]), reason=st.sampled_from([None, "no"]))
    def decide_some(self, data: st.DataObject, verdict: Any, reason: str | None) -> None:
        pending = self.do(self.runtime.pending_calls(self.context_id))
        chosen = data.draw(st.lists(st.sampled_from(pending), unique_by=id)) if pending else []
        decisions = [PersonsDecision(id=call.id, verdict=verdict, digest=call.digest, reason=reason) for call in chosen]
        self.try_(self.runtime.decide(self.context_id, decisions))

    @rule(one=st.sampled_from(MODES), other=st.sampled_from(MODES))
    def decide_and_switch_at_once(self, one: str, other: str) -> None:
        async def together() -> None:
            await asyncio.gather(
                self.runtime.switch_mode(self.context_id, one),
                self.runtime.approve_all(self.context_id),
                self.runtime.switch_mode(self.context_id, other),
                self.runtime.approve_all(self.context_id),
                return_exceptions=True,
            )

        self.do(together())

    @rule()
    def answer(self) -> None:
        self.try_(self.runtime.answer(self.context_id, ["yes"]))

    @rule(name=st.sampled_from(["held_look", "held_change"]))
    def let_go(self, name: str) -> None:
        tool = self.held[name]

        async def once() -> None:
            tool.release.set()
            await asyncio.sleep(0)
            tool.release.clear()

        self.do(once())

    @rule()
    def let_the_model_go_on(self) -> None:
        async def once() -> None:
            self.models[-1].release.set()
            await asyncio.sleep(0)
            self.models[-1].release.clear()

        self.do(once())

    @rule()
    def cancel(self) -> None:
        self.try_(self.runtime.cancel(self.context_id))
        assert isinstance(self.live().state, Idle)

    @rule()
    def resume(self) -> None:
        self.try_(self.runtime.continue_turn(self.context_id))

    @rule()
    def restart(self) -> None:
        """The process is gone in the middle of whatever it did; another one opens what is stored."""
        tasks = [live.task for live in self.runtime._live.values() if live.task is not None]
        for task in tasks:
            task.cancel()
        if tasks:
            self.loop.run_until_complete(asyncio.wait(tasks))
        self.open_world()
        assert is_resting(self.live().state)

    # what must hold

    @precondition(lambda self: self.context_id)
    @invariant()
    def every_start_was_allowed_by_the_mode_of_its_instant(self) -> None:
        mode = self.first_mode
        granted: dict[str, str] = {}
        started: Counter[str] = Counter()
        for entry in self.do(self.store.audit(self.context_id)):
            detail = entry.detail
            if entry.kind == "mode_switched":
                mode = detail["target"]
            elif entry.kind == "call_decided" and detail["verdict"] == "approved":
                granted[detail["call"]] = mode
            elif entry.kind == "call_started":
                started[detail["call"]] += 1
                verdict = TABLE[mode, EFFECTS[detail["tool"]]]
                assert verdict != "deny", f"{detail['tool']} started in {mode}"
                assert verdict == "run" or granted.get(detail["call"]) == mode, f"not approved in {mode}"
        assert all(count == 1 for count in started.values())
        assert all(count == 1 for count in self.ran.values()), "a call ran twice"
        assert sum(self.ran.values()) <= sum(started.values())

    @precondition(lambda self: self.context_id)
    @invariant()
    def every_call_has_at_most_one_result_and_only_open_ones_have_none(self) -> None:
        live = self.live()
        messages = self.do(self.runtime.read_messages(self.context_id, limit=10**6))
        calls = [call.id for message in messages if isinstance(message, ToolRequest) for call in message.calls]
        results = Counter(message.call_id for message in messages if isinstance(message, ToolResult))
        still_open = {call.id for call in live.calls.values() if call.is_open}
        assert set(results) == set(calls) - still_open
        assert all(count == 1 for count in results.values())
        assert not isinstance(live.state, Failed), live.state
        if isinstance(live.state, Idle):
            assert not still_open
        if isinstance(live.state, AwaitingToolApproval):
            assert set(live.state.pending_requests) <= still_open
        if isinstance(live.state, AwaitingUserAnswer):
            assert set(live.state.question_ids) == still_open

    @invariant()
    def every_request_was_valid(self) -> None:
        for model in self.models:
            for request in model.requests:
                assert_valid_window(request.messages)
                if "'ask'" in request.system:
                    assert request.tools == ()
                if "'plan'" in request.system:
                    assert {tool.name for tool in request.tools} == {"look", "held_look", "ask_user"}

    def teardown(self) -> None:
        for world in self.worlds:
            for live in world.runtime._live.values():
                if live.task is not None:
                    live.task.cancel()
                    self.loop.run_until_complete(asyncio.wait({live.task}))
        self.loop.close()
        self.folder.cleanup()


TestMachine = Machine.TestCase
TestMachine.settings = settings(
    max_examples=3000 if LONG else 150,
    stateful_step_count=50 if LONG else 30,
    deadline=None,
    suppress_health_check=list(HealthCheck),
)
