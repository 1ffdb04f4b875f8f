"""Property 10, with every decision of a person: after any order of mode switches, rules, elevations, pauses,
queued messages, forks, merges, sub-agents, compressions, pins, undos, cancels and restarts: no call starts twice, none
starts that the policy of that instant denies, every call ends with exactly one result, no message is lost, and every
request is valid.
"""

import asyncio
import tempfile
from collections import Counter
from collections.abc import AsyncGenerator, Awaitable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Any, TypeVar

import msgspec
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from pilothouse.domain.budgets import Budget
from pilothouse.domain.errors import RequestError
from pilothouse.domain.messages import Text, ToolRequest, ToolResult
from pilothouse.domain.policies import Policy
from pilothouse.domain.rules import Scope
from pilothouse.domain.states import (
    AwaitingToolApproval,
    AwaitingUserAnswer,
    CompressingMessages,
    Failed,
    GeneratingSummary,
    Idle,
    is_resting,
)
from pilothouse.domain.value import ContextId
from pilothouse.domain.workspace_policy import WorkspacePolicy
from pilothouse.llm.base import Finished, ModelEvent, ModelRequest, WireFormat
from pilothouse.llm.chat_completions import CHAT_COMPLETIONS
from pilothouse.llm.script import Answer, Script, ScriptedCall, ScriptedError
from pilothouse.llm.scripted import ScriptedAdapter
from pilothouse.runtime.commands.calls import PersonsDecision
from pilothouse.runtime.commands.proposed_calls import ProposedCall
from pilothouse.runtime.context.live_context import LiveContext
from pilothouse.runtime.dependencies import ProviderHandle
from pilothouse.runtime.limits import Limits
from pilothouse.runtime.runtime import Runtime
from pilothouse.testing import alternating_format
from pilothouse.testing.alternating_format import ALTERNATING
from pilothouse.testing.tools import NoteTool
from pilothouse.testing.world import World
from pilothouse.tools.builtin.delegate import Delegate
from tests.properties.oracle import DIRECTORIES, EFFECTS, Oracle, OrderedStore
from tests.support.live_contexts import live_context, pool_of
from tests.support.message_metadata import missing_metadata
from tests.support.scale import LONG
from tests.support.valid_requests import assert_valid_request

Outcome = TypeVar("Outcome")

MODES = ["agent", "supervised", "review", "plan", "ask"]
LONG_TEXT = "word " * 100
THOUGHT = "a thought in the format"
# All runs share one folder: its name is in the prompt, whose tokens decide when the window is full.
FOLDER = tempfile.TemporaryDirectory()
EARLIER = 3  # turns before anything else happens, so that there is something to compress
RUNGS = [None, None, "exact", "folder", "tool", "tool_for_good"]

mode_names = st.sampled_from([*MODES, "agent", "agent", "supervised", "review"])
paths = st.sampled_from([None, "docs/x", "deploy/x", "careful/x"])
kinds = st.sampled_from([*EFFECTS, *EFFECTS, "ask_user", "delegate", "delegate", "nonsense", "broken"])
answer_plans = st.lists(
    st.tuples(
        st.lists(st.tuples(kinds, paths), min_size=0, max_size=4),
        st.sampled_from(["", "", "long", "long", "held", "cut", "error"]),
    ),
    min_size=15,
    max_size=30,
)
budgets = st.sampled_from(
    [
        Budget(),
        Budget(tokens=1600, recent=1),
        Budget(tokens=2000, recent=2),
        Budget(tokens=1800, recent=2, strategy="importance"),
        Budget(tokens=1800, recent=2, strategy="recent_n"),
    ]
)
summary_plans = st.lists(st.sampled_from(["", "", "held", "cut", "error"]), min_size=1, max_size=5)
policies = st.sampled_from(
    [Policy(), Policy(kind="manual"), Policy(kind="white_list", tools=frozenset({"look", "held_change", "delegate"}))]
)
scopes = st.builds(
    Scope,
    tool=st.sampled_from(["*", "look", "change", "held_change"]),
    folder=st.sampled_from([None, None, "docs", "careful"]),
)


def scripted(plans: list[tuple[list[tuple[str, str | None]], str]]) -> list[Answer]:
    """Answers in which every call is unlike every other."""
    answers = []
    for number, (kinds, fate) in enumerate(plans):
        calls = tuple(_call(kind, f"{number}.{at}", path) for at, (kind, path) in enumerate(kinds))
        if fate == "error":
            answers.append(Answer(error=ScriptedError(status=503)))
        else:
            finish = "held" if fate == "held" else None
            text = f"answer {number} {LONG_TEXT if fate == 'long' else ''}"
            answers.append(Answer(text=text, calls=calls, cut=4 if fate == "cut" else None, finish=finish))
    return answers


def summing_up(fates: list[str]) -> tuple[Answer, ...]:
    """As many summaries as anybody could ask for."""
    answers_by_purpose = {
        "": Answer(text="In short."),
        "held": Answer(text="In short, at last.", finish="held"),
        "cut": Answer(text="In sh", cut=1),
        "error": Answer(error=ScriptedError(status=400)),
    }
    return tuple(answers_by_purpose[fate] for fate in fates) * 100


def _call(kind: str, text: str, path: str | None) -> ScriptedCall:
    if kind == "ask_user":
        return ScriptedCall(tool="ask_user", arguments={"questions": [{"question": text}]})
    if kind == "delegate":
        return ScriptedCall(tool="delegate", arguments={"task": text})
    if kind == "broken":
        return ScriptedCall(tool="change", arguments='{"text": "' + text)
    return ScriptedCall(tool=kind, arguments={"text": text, **({"path": path} if path is not None else {})})


class HeldModel(ScriptedAdapter):
    """Stops in the middle of a marked answer until it is released."""

    def __init__(
        self, answers: list[Answer], summaries: tuple[Answer, ...], wire_format: WireFormat = CHAT_COMPLETIONS
    ) -> None:
        super().__init__(Script(turn=tuple(answers), summary=summaries), wire_format)
        self.release = asyncio.Event()
        self.checked = 0  # so many of its requests

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelEvent, None]:
        async for event in super().stream(request):
            if isinstance(event, Finished) and event.reason == "held":
                await self.release.wait()
            yield event


class InlineExecutor(ThreadPoolExecutor):
    """Runs the work of threads at once: the duration of a thread must not decide the state after a step."""

    def submit(self, work: Any, /, *args: Any, **kwargs: Any) -> "Future[Any]":
        done: Future[Any] = Future()
        try:
            done.set_result(work(*args, **kwargs))
        except BaseException as error:
            done.set_exception(error)
        return done


class Machine(RuleBasedStateMachine):
    def __init__(self) -> None:
        super().__init__()
        self.loop = asyncio.new_event_loop()
        self.loop.set_default_executor(InlineExecutor())
        self.store = OrderedStore()
        self.oracle = Oracle(self.store)
        self.ran: Counter[str] = Counter()
        self.context_id = ContextId("")
        self.worlds: list[World] = []
        self.models: list[HeldModel] = []
        self.waiting_tasks: list[asyncio.Task[Any]] = []
        self.pinned: set[tuple[ContextId, str, str]] = set()
        self.proposals = 0

    @initialize(plans=answer_plans, mode=mode_names, budget=budgets, fates=summary_plans)
    def begin(self, plans: list[Any], mode: str, budget: Budget, fates: list[str]) -> None:
        self.answers = [*[Answer(text=LONG_TEXT)] * EARLIER, *scripted(plans)]
        self.summaries, self.budget = summing_up(fates), budget
        self.open_world()
        self.context_id = self.do(self.world.start(mode))
        for text in [*[LONG_TEXT] * EARLIER, "begin"]:
            self.do(self.runtime.messages.send(self.context_id, text, queue=True))

    def next_model(self, wire_format: WireFormat = CHAT_COMPLETIONS) -> HeldModel:
        """A model that continues with the answers not given yet."""
        used = sum(request.purpose == "turn" for model in self.models for request in model.requests)
        thought = f"{THOUGHT} {wire_format.name}"
        thinking = {"reasoning": (thought,), "opaque": (alternating_format.seal_of(thought),)}
        answers = [msgspec.structs.replace(answer, **thinking) for answer in self.answers[used:]]
        self.models.append(HeldModel(answers, self.summaries, wire_format))
        return self.models[-1]

    def open_world(self) -> None:
        clock = self.worlds[-1].ambient.now() if self.worlds else None
        model = self.next_model()
        self.blocking_tools = {
            name: NoteTool(name, EFFECTS[name], hold=True, on_run=lambda text: self.ran.update([text]))
            for name in ("held_look", "held_change")
        }
        self.world = World(
            Path(FOLDER.name),
            adapter=model,
            store=self.store,
            tools=[*self.blocking_tools.values(), Delegate()],
            limits=Limits(rounds=4, retries=1),
            ids_from=1_000_000 * len(self.worlds),
            workspace_policy=lambda _: WorkspacePolicy(folder_modes=DIRECTORIES),
            budget=self.budget,
        )
        if clock is not None:
            self.world.ambient.advance(clock - self.world.ambient.now())
        for tool in (self.world.look, self.world.change):
            tool._on_run = lambda text: self.ran.update([text])
        self.worlds.append(self.world)

    @property
    def runtime(self) -> Runtime:
        return self.world.runtime

    def do(self, command: Awaitable[Outcome]) -> Outcome:
        """Run a command, then run all tasks until each waits for something."""

        async def and_settle() -> Outcome:
            try:
                return await command
            finally:
                await self.settle()

        return self.loop.run_until_complete(and_settle())

    async def settle(self) -> None:
        """Until no task can proceed. Opening a context after a crash looks for processes, in a thread: how long
        that takes must not decide what there is."""
        while True:
            for _ in range(200):
                await asyncio.sleep(0)
            opening = list(pool_of(self.runtime)._opening.values())
            if not opening:
                return
            await asyncio.wait(opening)

    def try_(self, command: Awaitable[object]) -> bool:
        """Run a command that may be refused with a request error."""
        try:
            self.do(command)
        except RequestError:
            return False
        return True

    def ask(self, command: Awaitable[object]) -> None:
        """Start a command that lasts until a model has answered, without waiting for it."""

        async def asked() -> None:
            with suppress(RequestError):
                await command

        async def begin() -> None:
            self.waiting_tasks.append(asyncio.create_task(asked()))

        self.do(begin())

    def live(self, context_id: ContextId | None = None) -> LiveContext:
        return self.do(live_context(self.runtime, context_id or self.context_id))

    def any_context(self, data: st.DataObject) -> ContextId:
        """Mostly the first; also its sub-agents."""
        return data.draw(st.sampled_from([self.context_id, *sorted(self.store._contexts)]))

    # commands of a person: the common ones, and one of all others

    @rule(mode=st.sampled_from([None, None, None, *MODES]), data=st.data())
    def send(self, mode: str | None, data: st.DataObject) -> None:
        text = data.draw(st.sampled_from(["go on", f"go on {LONG_TEXT}"]))
        self.try_(self.runtime.messages.send(self.any_context(data), text, mode=mode, queue=True))

    @rule()
    def release_blocked(self) -> None:
        """Release a blocked tool or model."""

        async def once() -> None:
            events = [
                *(model.release for model in self.models),
                *(tool.release for tool in self.blocking_tools.values()),
            ]
            for event in events:
                event.set()
            await asyncio.sleep(0)
            for event in events:
                event.clear()

        self.do(once())

    @rule(
        calls=st.lists(st.tuples(st.sampled_from([*EFFECTS, "nonsense"]), paths), min_size=1, max_size=3),
        data=st.data(),
    )
    def propose(self, calls: list[tuple[str, str | None]], data: st.DataObject) -> None:
        """Propose calls that no model sent."""
        self.proposals += 1
        proposed = []
        for number, (tool, path) in enumerate(calls):
            arguments = {"text": f"proposed {self.proposals}.{number}", **({"path": path} if path is not None else {})}
            proposed.append(ProposedCall(tool=tool, arguments=arguments))
        self.ask(self.runtime.calls.propose(self.any_context(data), proposed, origin="workflow:test"))

    @rule(data=st.data(), always=st.sampled_from(RUNGS))
    def decide_some(self, data: st.DataObject, always: Any) -> None:
        waiting = [each for each in list(self.store._contexts) if self.live(each).is_waiting()]
        context_id = data.draw(st.sampled_from(waiting or [self.context_id]))
        self.try_(self.runtime.calls.answer(context_id, ["yes"]))
        pending = self.do(self.runtime.calls.pending(context_id))
        chosen = data.draw(st.lists(st.sampled_from(pending), unique_by=id, min_size=1)) if pending else []
        verdict: Any = data.draw(st.sampled_from(["approve", "approve", "reject"]))
        reason = data.draw(st.sampled_from([None, "no"]))
        rule_option = always if verdict == "approve" else None
        decisions = [
            PersonsDecision(id=call.id, verdict=verdict, digest=call.digest, reason=reason, always=rule_option)
            for call in chosen
        ]
        self.try_(self.runtime.calls.decide(context_id, decisions))

    @rule(mode=mode_names, data=st.data())
    def switch(self, mode: str, data: st.DataObject) -> None:
        context_id = self.any_context(data)

        async def and_look() -> str:
            await self.runtime.modes.switch(context_id, mode)
            return (await self.runtime.contexts.get(context_id)).core.mode

        assert self.do(and_look()) == mode, "a queued message with a mode of its own may come later"

    @rule(end=st.sampled_from([{"calls": 1}, {"calls": 3}, {"turn": True}, {"minutes": 5}]))
    def review_and_elevate(self, end: dict[str, Any]) -> None:
        self.do(self.runtime.modes.switch(self.context_id, "review"))
        self.try_(self.runtime.modes.elevate(self.context_id, **end))

    @rule(scope=scopes, data=st.data())
    def supervise_with_a_rule(self, scope: Scope, data: st.DataObject) -> None:
        self.do(self.runtime.modes.switch(self.context_id, "supervised"))
        here = self.any_context(data) if data.draw(st.booleans()) else None
        self.try_(self.runtime.rules.give("allow", scope, context_id=here))

    @rule(data=st.data())
    def pause_and_look(self, data: st.DataObject) -> None:
        self.try_(self.runtime.turns.pause(self.any_context(data)))

    @rule(data=st.data())
    def go_on(self, data: st.DataObject) -> None:
        context_id = self.any_context(data)
        self.try_(self.runtime.turns.resume(context_id))
        self.try_(self.runtime.turns.continue_(context_id))

    @rule(data=st.data())
    def rare_command(self, data: st.DataObject) -> None:
        acts = [
            *(self.give_rule, self.revoke_rule, self.set_policy, self.end_elevation, self.let_time_pass),
            *(self.many_things_at_once, self.cancel, self.restart),
        ]
        data.draw(st.sampled_from(acts))(data)

    @rule(wire_format=st.sampled_from([CHAT_COMPLETIONS, ALTERNATING]))
    def change_provider(self, wire_format: WireFormat) -> None:
        """Change to a provider with another wire format, at any message."""
        model = self.next_model(wire_format)
        self.world.dependencies.use(ProviderHandle(adapter=model, model="test", models=(), titles=None))

    @rule(data=st.data())
    def branch_command(self, data: st.DataObject) -> None:
        data.draw(st.sampled_from([self.fork, self.switch_branch, self.merge, self.edit]))(data)

    @rule(data=st.data())
    def window_command(self, data: st.DataObject) -> None:
        data.draw(st.sampled_from([self.compress, self.compress, self.undo_compression, self.pin, self.pin]))(data)

    def compress(self, data: st.DataObject) -> None:
        self.ask(self.runtime.compression.compress(self.any_context(data)))

    def undo_compression(self, data: st.DataObject) -> None:
        """Not of the original of another branch, whose compression could then not be undone."""
        context_id = self.any_context(data)
        branches = self.live(context_id).branches
        needed = {each.compressed.original for each in branches.values() if each.compressed is not None}
        branch = data.draw(st.sampled_from([self.live(context_id).core.active_branch, *sorted(branches)]))
        if branch not in needed:
            self.try_(self.runtime.compression.undo(context_id, branch=branch))

    def pin(self, data: st.DataObject) -> None:
        """Not during a compression: its plan is fixed by then."""
        context_id = self.any_context(data)
        live = self.live(context_id)
        branch = live.core.active_branch
        ids = self.do(self.store.branch_ids(context_id, branch))
        if not ids or isinstance(live.state, CompressingMessages | GeneratingSummary):
            return
        message_id, wanted = data.draw(st.sampled_from(ids)), data.draw(st.sampled_from([True, True, False]))
        if self.try_(self.runtime.compression.pin(context_id, message_id, pinned=wanted)):
            self.pinned = {each for each in self.pinned if each[2] != message_id}
            if wanted and getattr(self.store._contexts[context_id].pool[message_id], "kind", "") != "summary":
                self.pinned.add((context_id, branch, message_id))

    def many_things_at_once(self, data: st.DataObject) -> None:
        one, other, scope = data.draw(mode_names), data.draw(mode_names), data.draw(scopes)

        async def together() -> None:
            runtime, context_id = self.runtime, self.context_id
            await asyncio.gather(
                runtime.modes.switch(context_id, one),
                runtime.calls.approve_all(context_id),
                runtime.rules.give("deny", scope, minutes=3),
                runtime.turns.pause(context_id),
                runtime.modes.switch(context_id, other),
                runtime.calls.approve_all(context_id),
                runtime.turns.resume(context_id),
                return_exceptions=True,
            )

        self.do(together())

    def give_rule(self, data: st.DataObject) -> None:
        effect: Any = data.draw(st.sampled_from(["allow", "allow", "ask", "deny"]))
        context_id = self.any_context(data) if data.draw(st.booleans()) else None
        minutes = data.draw(st.sampled_from([None, 5.0]))
        self.try_(self.runtime.rules.give(effect, data.draw(scopes), context_id=context_id, minutes=minutes))

    def revoke_rule(self, data: st.DataObject) -> None:
        context_id = self.any_context(data)
        for each in self.do(self.runtime.rules.read(context_id)):
            self.try_(self.runtime.rules.revoke(each.id, context_id=context_id))

    def set_policy(self, data: st.DataObject) -> None:
        self.do(self.runtime.modes.set_policy(self.any_context(data), data.draw(policies)))

    def end_elevation(self, _: st.DataObject) -> None:
        self.try_(self.runtime.modes.end_elevation(self.context_id))

    def let_time_pass(self, data: st.DataObject) -> None:
        self.world.ambient.advance(data.draw(st.sampled_from([1, 4, 6])) * 60)

    def cancel(self, data: st.DataObject) -> None:
        context_id = self.any_context(data)
        if self.try_(self.runtime.turns.cancel(context_id)):
            for child in self.live(context_id).subagents:
                assert child.core.turn is None, "cancel reaches the sub-agents"

    def fork(self, data: st.DataObject) -> None:
        ids = self.do(self.store.branch_ids(self.context_id, self.live().core.active_branch))
        name = data.draw(st.sampled_from(["one", "two"]))
        if ids:
            self.try_(self.runtime.branches.fork(self.context_id, name, at=data.draw(st.sampled_from(ids))))
            self.try_(self.runtime.branches.switch(self.context_id, name))

    def switch_branch(self, data: st.DataObject) -> None:
        name = data.draw(st.sampled_from(sorted(self.live().branches)))
        self.try_(self.runtime.branches.switch(self.context_id, name))

    def merge(self, data: st.DataObject) -> None:
        strategy: Any = data.draw(st.sampled_from(["append", "rebase", "cherry_pick"]))
        others = [name for name in self.live().branches if name != self.live().core.active_branch]
        source = data.draw(st.sampled_from(others or ["main"]))
        ids = self.do(self.store.branch_ids(self.context_id, source))
        chosen = data.draw(st.lists(st.sampled_from(ids), max_size=4)) if ids and strategy == "cherry_pick" else []
        self.try_(self.runtime.merges.merge(self.context_id, source, strategy=strategy, message_ids=chosen))

    def edit(self, data: st.DataObject) -> None:
        messages = self.do(self.runtime.messages.read(self.context_id))
        own = [message.id for message in messages if isinstance(message, Text) and message.role == "user"]
        if own and len(self.live().branches) < 8:
            self.try_(self.runtime.messages.edit(self.context_id, data.draw(st.sampled_from(own)), "otherwise"))

    def restart(self, _: st.DataObject) -> None:
        """The process is killed in the middle of its work; another one opens the stored data."""
        self.stop_tasks(self.world)
        self.store.note_restart()
        self.open_world()
        versions = {context_id: context.version for context_id, context in self.store._contexts.items()}
        for context_id in versions:
            assert is_resting(self.live(context_id).state)
        assert {context_id: self.store._contexts[context_id].version for context_id in versions} == versions
        for context_id in versions:
            self.do(pool_of(self.runtime).owned(context_id))

    # invariants

    @precondition(lambda self: self.context_id)
    @invariant()
    def every_start_was_allowed_by_the_policy_of_its_instant(self) -> None:
        self.oracle.judge()
        assert all(count == 1 for count in self.ran.values()), "a call ran twice"
        assert sum(self.ran.values()) <= sum(self.oracle.started.values())

    @precondition(lambda self: self.context_id)
    @invariant()
    def every_call_has_at_most_one_result_and_only_open_ones_have_none(self) -> None:
        for context_id, context in list(self.store._contexts.items()):
            live = pool_of(self.runtime)._live.get(context_id)
            if live is None:
                continue
            pool = context.pool.values()
            calls = [call.id for message in pool if isinstance(message, ToolRequest) for call in message.calls]
            results = Counter(message.call_id for message in pool if isinstance(message, ToolResult))
            still_open = {call.id for call in live.calls.values() if call.is_open}
            assert set(results) == set(calls) - still_open
            assert all(count == 1 for count in results.values())
            assert not isinstance(live.state, Failed), live.state
            assert live.task is not None or is_resting(live.state), "nobody drives it"
            if isinstance(live.state, Idle):
                assert not still_open
            if isinstance(live.state, AwaitingToolApproval):
                assert set(live.state.pending_requests) <= still_open
            if isinstance(live.state, AwaitingUserAnswer):
                assert set(live.state.question_ids) == still_open

    @precondition(lambda self: self.context_id)
    @invariant()
    def no_branch_has_a_missing_or_duplicate_message(self) -> None:
        for context in list(self.store._contexts.values()):
            for ids in context.ids.values():
                assert len(set(ids)) == len(ids)
                assert context.pool.keys() >= set(ids)

    @precondition(lambda self: self.context_id)
    @invariant()
    def sent_messages_are_on_a_branch_or_queued_and_pins_stay(self) -> None:
        for context in list(self.store._contexts.values()):
            listed = {message_id for ids in context.ids.values() for message_id in ids}
            queued = {message_id for item in context.core.queue for message_id in item.message_ids}
            assert {each.id for each in context.pool.values() if isinstance(each, Text)} <= listed | queued
        for context_id, branch, message_id in self.pinned:
            assert message_id in self.store._contexts[context_id].ids[branch]

    @precondition(lambda self: self.context_id)
    @invariant()
    def every_message_on_a_branch_has_its_metadata(self) -> None:
        for context in list(self.store._contexts.values()):
            for message_id in {message_id for ids in context.ids.values() for message_id in ids}:
                assert missing_metadata(context.pool[message_id]) == set(), context.pool[message_id]

    @precondition(lambda self: self.context_id)
    @invariant()
    def compressed_messages_are_whole_on_another_branch(self) -> None:
        for context in list(self.store._contexts.values()):
            for name, branch in context.branches.items():
                if (done := branch.compressed) is None:
                    continue
                original, ids = context.ids[done.original][: done.length], context.ids[name][: done.replacement_length]
                assert len(original) == done.length
                assert (len(ids), ids[0]) == (done.replacement_length, done.summary_id)
                assert set(ids[1:]) <= set(original)

    @invariant()
    def every_request_was_valid(self) -> None:
        for model in self.models:
            for request in model.requests[model.checked :]:
                body = model.format.body(request)
                if model.format is ALTERNATING:
                    assert alternating_format.faults(body) == []
                    assert body.count(THOUGHT.encode()) == body.count(f"{THOUGHT} {ALTERNATING.name}".encode())
                else:
                    assert_valid_request(request)
                    assert THOUGHT.encode() not in body, "chat completions send no reasoning back"
                if "holds is 'ask'" in request.system or "mode 'ask' of who" in request.system:
                    assert request.tools == ()
                if "holds is 'plan'" in request.system or "mode 'plan' of who" in request.system:
                    assert {tool.name for tool in request.tools} <= {"look", "held_look", "ask_user", "delegate"}
            model.checked = len(model.requests)

    def stop_tasks(self, world: World) -> None:
        lives = list(pool_of(world.runtime).in_memory())
        tasks = [live.task for live in lives if live.task is not None] + list(pool_of(world.runtime)._background_tasks)
        for task in tasks:
            task.cancel()
        if tasks:
            self.loop.run_until_complete(asyncio.wait(tasks))

    def teardown(self) -> None:
        for world in self.worlds:
            self.stop_tasks(world)
        if self.waiting_tasks:
            self.loop.run_until_complete(asyncio.wait(self.waiting_tasks))
        for task in self.waiting_tasks:
            task.result()
        self.loop.close()


TestMachine = Machine.TestCase
TestMachine.settings = settings(
    max_examples=3000 if LONG else 200,
    stateful_step_count=50 if LONG else 30,
    deadline=None,
    suppress_health_check=list(HealthCheck),
)
