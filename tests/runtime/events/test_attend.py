"""The loop that attends a turn: what waits is put before an attendant, and the turn goes on with the reply."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import Any, Literal

import pytest

from pilothouse.domain.calls import CallRecord
from pilothouse.domain.codes import Code
from pilothouse.domain.errors import InvalidInput, NotFound, PilothouseError, StoreRefused
from pilothouse.domain.messages import SystemControl, ToolRequest
from pilothouse.domain.states import AwaitingToolApproval, AwaitingUserAnswer, ExecutingTool, Idle, Paused
from pilothouse.domain.value import ContextId
from pilothouse.llm.script import Answer, ScriptedCall
from pilothouse.runtime.commands.calls import PersonsDecision
from pilothouse.runtime.context.snapshot import ContextSnapshot
from pilothouse.runtime.events.attend import Attendant, Decisions
from pilothouse.runtime.events.turn_events import (
    MessageAdded,
    QuestionAsked,
    StateEntered,
    SubagentWaiting,
    TurnEvent,
    branch_end,
)
from pilothouse.testing.tools import NoteArguments, NoteTool
from pilothouse.testing.world import World
from pilothouse.tools.base import ToolContext, UserQuestion
from tests.support.assertions import content_of
from tests.support.full_windows import MANY_WORDS, SmallWindowWorld
from tests.support.held_store import DELEGATES, DONE, HeldStore, calls_answer, child_of, family, no_write, settle
from tests.support.scale import HANG_SECONDS

ASKS = Answer(calls=(ScriptedCall(tool="ask_user", arguments={"questions": [{"question": "Which?"}]}),))
SURVEYS = calls_answer(("survey", "a"))

Meanwhile = Callable[[], Awaitable[object]]


class Survey(NoteTool):
    """Asks a question while it runs, and records the answers."""

    def __init__(self) -> None:
        super().__init__("survey", "read_only")

    async def run(self, arguments: NoteArguments, job: ToolContext) -> str:
        assert job.ask is not None
        answers = await job.ask([UserQuestion(question="How many?")])
        self.ran.append("declined" if answers is None else " ".join(answers))
        return "asked"


class Person(Attendant):
    """Approves every call, and answers "yes" to every question. `meanwhile` happens before the first reply."""

    def __init__(self, meanwhile: Meanwhile | None = None) -> None:
        self._meanwhile = [meanwhile] if meanwhile is not None else []
        self.asked: list[tuple[str, list[str]]] = []
        """The contexts and the tools that the person was asked about."""
        self.refusals: list[PilothouseError] = []

    async def decide(
        self, context: ContextSnapshot, calls: Sequence[CallRecord]
    ) -> Decisions | Literal["later"] | None:
        await self._note(context, calls)
        return Decisions([PersonsDecision(call.id, "approve", call.digest) for call in calls])

    async def answer(
        self, context: ContextSnapshot, question: CallRecord
    ) -> list[str] | Literal["decline", "later"] | None:
        await self._note(context, [question])
        return ["yes"]

    async def note_outcome(self, decided: Sequence[CallRecord], refusals: Sequence[PilothouseError]) -> bool:
        self.refusals += refusals
        return await super().note_outcome(decided, refusals)

    async def _note(self, context: ContextSnapshot, calls: Sequence[CallRecord]) -> None:
        self.asked.append((context.id, [call.tool for call in calls]))
        while self._meanwhile:
            await self._meanwhile.pop()()


class Onlooker(Person):
    """Leaves everything to others."""

    async def decide(self, context: ContextSnapshot, calls: Sequence[CallRecord]) -> None:
        await self._note(context, calls)

    async def answer(self, context: ContextSnapshot, question: CallRecord) -> None:
        await self._note(context, [question])


async def attend(world: World, context_id: str, attendant: Attendant, **options: Any) -> list[TurnEvent]:
    async with asyncio.timeout(HANG_SECONDS):
        return [event async for event in world.runtime.events.attend(context_id, attendant, **options)]


async def sent(world: World, mode: str = "supervised") -> ContextId:
    context_id = await world.start(mode)
    await world.runtime.messages.send(context_id, "go")
    return context_id


async def pending(world: World, context_id: str) -> list[Any]:
    return [call.arguments["text"] for call in await world.runtime.calls.pending(context_id)]


async def test_the_attendant_is_asked_after_the_events_before_and_the_turn_goes_on(tmp_path: Path) -> None:
    world = World(tmp_path, calls_answer(("change", "a"), ("change", "b")), ASKS, calls_answer(("change", "c")), DONE)
    context_id, person, rounds = await sent(world), Person(), list[str]()
    async for event in world.runtime.events.attend(context_id, person):
        if isinstance(event, MessageAdded) and isinstance(event.message, ToolRequest):
            rounds.append(f"{event.message.calls[0].tool} before {len(person.asked) + 1}")
    assert person.asked == [(context_id, tools) for tools in (["change", "change"], ["ask_user"], ["change"])]
    assert rounds == ["change before 1", "ask_user before 2", "change before 3"]
    assert (world.change.ran, (await world.runtime.contexts.get(context_id)).core.last_turn) == (
        ["a", "b", "c"],
        "complete",
    )


async def test_a_slow_follower_has_every_message_before_the_attendant_is_asked(tmp_path: Path) -> None:
    world = World(tmp_path, calls_answer(("look", "x")), calls_answer(("change", "a")), DONE)
    world.look.release.clear()
    context_id, person, requests = await sent(world, "review"), Person(), list[int]()
    async for event in world.runtime.events.attend(context_id, person):
        if isinstance(event, StateEntered) and isinstance(event.state, ExecutingTool):
            world.look.release.set()
            await world.runtime.turns.rested(context_id)  # the turn is ahead of its follower
        if isinstance(event, MessageAdded) and isinstance(event.message, ToolRequest):
            requests.append(len(person.asked))
    assert (requests, len(person.asked)) == ([0, 0], 1)


async def test_without_contents_only_states_and_waiting_sub_agents_are_events(tmp_path: Path) -> None:
    world = World(tmp_path, calls_answer(("change", "a")), DONE)
    events = await attend(world, await sent(world), Person(), contents=False)
    assert {type(event) for event in events} == {StateEntered}
    assert world.change.ran == ["a"]


async def test_the_calls_of_a_sub_agent_are_decided_in_its_context_each_time_it_waits(tmp_path: Path) -> None:
    inner = [calls_answer(("change", "a")), calls_answer(("change", "b"))]
    world = family(tmp_path, DELEGATES, *inner, DONE, Answer(text="outer"))
    context_id, person = await sent(world, "review"), Person()
    events = await attend(world, context_id, person)
    child = await child_of(world, context_id)
    assert person.asked == [(child, ["change"])] * 2
    assert [event.context_id for event in events if isinstance(event, SubagentWaiting)] == [child, child]
    assert world.change.ran == ["a", "b"]
    assert content_of((await world.runtime.messages.read(context_id))[-1]) == "outer"


async def test_a_sub_agent_is_asked_about_again_by_a_stream_without_an_attendant(tmp_path: Path) -> None:
    inner = [calls_answer(("change", "a")), calls_answer(("change", "b"))]
    world = family(tmp_path, DELEGATES, *inner, DONE, DONE)
    context_id = await sent(world, "review")
    async for event in world.runtime.events.of_context(context_id):
        if isinstance(event, SubagentWaiting):
            await world.runtime.calls.approve_all(event.context_id)
    assert world.change.ran == ["a", "b"]


async def test_the_question_of_a_running_call_is_answered_or_declined(tmp_path: Path) -> None:
    class Declines(Person):
        async def answer(self, context: ContextSnapshot, question: CallRecord) -> Literal["decline"]:
            return "decline"

    for person, expected in ((Person(), "yes"), (Declines(), "declined")):
        survey = Survey()
        world = World(tmp_path, SURVEYS, DONE, tools=[survey])
        events = await attend(world, await sent(world, "agent"), person)
        assert survey.ran == [expected]
        assert len([event for event in events if isinstance(event, QuestionAsked)]) == 1


async def test_the_question_of_a_sub_agents_call_is_answered(tmp_path: Path) -> None:
    survey = Survey()
    world = family(tmp_path, DELEGATES, SURVEYS, DONE, DONE, tools=[survey])
    context_id, person = await sent(world, "agent"), Person()
    await attend(world, context_id, person)
    assert (person.asked, survey.ran) == ([(await child_of(world, context_id), ["ask_user"])], ["yes"])


async def test_a_question_of_the_model_cannot_be_declined(tmp_path: Path) -> None:
    class Declines(Person):
        async def answer(self, context: ContextSnapshot, question: CallRecord) -> Literal["decline"]:
            return "decline"

    world = World(tmp_path, ASKS, DONE)
    context_id = await sent(world)
    with pytest.raises(InvalidInput, match="only the question of a running call"):
        await attend(world, context_id, Declines())
    assert isinstance((await world.runtime.contexts.get(context_id)).state, AwaitingUserAnswer)


async def test_of_two_attendants_one_decides_and_both_follow_to_the_end(tmp_path: Path) -> None:
    world = World(tmp_path, calls_answer(("change", "a")), ASKS, calls_answer(("change", "b")), DONE)
    context_id = await sent(world)
    both_asked = asyncio.Barrier(2)
    first, second = Person(both_asked.wait), Person(both_asked.wait)
    events = await asyncio.gather(attend(world, context_id, first), attend(world, context_id, second))
    assert world.change.ran == ["a", "b"]
    assert Code.CALL_DECIDED in [refusal.reason.code for refusal in (*first.refusals, *second.refusals)]
    assert [[event.message.id for event in each if isinstance(event, MessageAdded)] for each in events] == [
        [message.id for message in await world.runtime.messages.read(context_id)]
    ] * 2


async def test_an_attendant_that_leaves_everything_to_others_follows_on(tmp_path: Path) -> None:
    world = World(tmp_path, calls_answer(("change", "a")), ASKS, DONE)
    context_id, onlooker = await sent(world), Onlooker()
    following = asyncio.create_task(attend(world, context_id, onlooker))
    await world.runtime.turns.rested(context_id)
    await settle()
    await world.runtime.calls.approve_all(context_id)
    await world.runtime.turns.rested(context_id)
    await settle()
    assert not following.done()
    await world.runtime.calls.answer(context_id, ["yes"])
    await following
    assert onlooker.asked == [(context_id, ["change"]), (context_id, ["ask_user"])]


async def test_a_call_that_an_attendant_left_waits_for_the_next_one(tmp_path: Path) -> None:
    class Leaves(Person):
        async def decide(self, context: ContextSnapshot, calls: Sequence[CallRecord]) -> Decisions | Literal["later"]:
            await self._note(context, calls)
            first, *others = calls
            return Decisions([PersonsDecision(first.id, "approve", first.digest)]) if others else "later"

    world = World(tmp_path, calls_answer(("change", "a"), ("change", "b")), DONE)
    context_id = await sent(world)
    await attend(world, context_id, Leaves())
    assert (world.change.ran, await pending(world, context_id)) == (["a"], ["b"])
    end = branch_end(await world.runtime.contexts.get(context_id))
    await attend(world, context_id, Attendant(), start=end)
    assert await pending(world, context_id) == ["b"]
    await attend(world, context_id, Person(), start=end)
    assert world.change.ran == ["a", "b"]


async def test_an_attendant_that_raises_ends_its_attendance_and_not_the_turn(tmp_path: Path) -> None:
    async def fail() -> None:
        raise RuntimeError("a bug")

    world = World(tmp_path, calls_answer(("change", "a")), DONE)
    context_id = await sent(world)
    with pytest.raises(RuntimeError, match="a bug"):
        await attend(world, context_id, Person(fail))
    assert await pending(world, context_id) == ["a"]
    await attend(world, context_id, Person())
    assert world.change.ran == ["a"]


async def test_a_decision_that_comes_too_late_is_ignored(tmp_path: Path) -> None:
    world = World(tmp_path, calls_answer(("change", "a")), calls_answer(("change", "b")), DONE)
    context_id = await sent(world)
    person = Person(lambda: world.runtime.calls.reject_all(context_id, reason="not this one"))
    await attend(world, context_id, person)
    assert [refusal.reason.code for refusal in person.refusals] == [Code.CALL_DECIDED]
    assert world.change.ran == ["b"]


async def test_an_answer_that_comes_too_late_is_ignored(tmp_path: Path) -> None:
    world = World(tmp_path, ASKS, calls_answer(("change", "b")), DONE)
    context_id = await sent(world)
    person = Person(lambda: world.runtime.calls.answer(context_id, ["no"]))
    await attend(world, context_id, person)
    assert [refusal.reason.code for refusal in person.refusals] == [Code.NO_QUESTION]
    assert world.change.ran == ["b"]


async def test_a_refused_decision_costs_no_other_and_is_asked_for_again_at_the_next_signal(tmp_path: Path) -> None:
    class Stale(Person):
        async def decide(self, context: ContextSnapshot, calls: Sequence[CallRecord]) -> Decisions:
            await self._note(context, calls)
            digests = {
                call.id: "of what was shown" if call.arguments["text"] == "two" else call.digest for call in calls
            }
            return Decisions([PersonsDecision(call_id, "approve", digest) for call_id, digest in digests.items()])

    world = World(tmp_path, calls_answer(("change", "one"), ("change", "two"), ("change", "three")), DONE)
    context_id, person = await sent(world), Stale()
    attending = asyncio.create_task(attend(world, context_id, person))
    while len(person.refusals) < 2:
        await asyncio.sleep(0)
    await settle()
    assert {refusal.reason.code for refusal in person.refusals} == {Code.DIGEST_CHANGED}
    assert (world.change.ran, await pending(world, context_id)) == (["one", "three"], ["two"])
    requests = len(person.asked)
    await settle()
    assert len(person.asked) == requests, "nothing has changed"
    await world.runtime.contexts.change(context_id, title="changed")
    await settle()
    assert len(person.asked) == requests + 1
    await world.runtime.calls.reject_all(context_id)
    await attending


async def test_a_decision_that_is_wrong_in_itself_ends_the_attendance(tmp_path: Path) -> None:
    class Edits(Person):
        async def decide(self, context: ContextSnapshot, calls: Sequence[CallRecord]) -> Decisions:
            return Decisions([PersonsDecision(call.id, "approve", arguments={"text": 1}) for call in calls])

    world = World(tmp_path, calls_answer(("change", "a")), DONE)
    context_id = await sent(world)
    with pytest.raises(InvalidInput):
        await attend(world, context_id, Edits())
    assert (world.change.ran, await pending(world, context_id)) == ([], ["a"])


async def test_a_decision_that_the_store_refuses_ends_the_attendance_unless_it_is_tried_again(tmp_path: Path) -> None:
    class Insists(Person):
        async def note_outcome(self, decided: Sequence[CallRecord], refusals: Sequence[PilothouseError]) -> bool:
            self.refusals += refusals
            store.refuses = no_write
            return not decided

    store = HeldStore()
    world = World(tmp_path, calls_answer(("change", "a")), DONE, store=store)
    context_id, insistent = await sent(world), Insists()
    await world.runtime.turns.rested(context_id)
    store.refuses = lambda _, change: any(call.status == "executing" for call in change.calls)
    with pytest.raises(StoreRefused):
        await attend(world, context_id, Person())
    await attend(world, context_id, insistent)
    assert [type(refusal) for refusal in insistent.refusals] == [StoreRefused]
    assert world.change.ran == ["a"]


@pytest.mark.parametrize("answer", [ASKS, SURVEYS, calls_answer(("change", "a"))], ids=["model", "call", "approval"])
async def test_a_cancel_while_the_attendant_is_asked_ends_the_turn_and_the_attendance(
    tmp_path: Path, answer: Answer
) -> None:
    survey = Survey()
    world = World(tmp_path, answer, tools=[survey])
    context_id = await sent(world, "agent" if answer is SURVEYS else "supervised")
    person = Person(lambda: world.runtime.turns.cancel(context_id))
    await attend(world, context_id, person)
    live = await world.runtime.contexts.get(context_id)
    assert (live.state, live.core.last_turn, len(person.refusals)) == (Idle(), "cancelled", 1)
    assert (world.change.ran, survey.ran) == ([], [])


async def test_a_turn_that_is_paused_during_a_question_ends_the_attendance_when_it_pauses(tmp_path: Path) -> None:
    survey = Survey()
    world = World(tmp_path, SURVEYS, DONE, tools=[survey])
    context_id = await sent(world, "agent")
    person = Person(lambda: world.runtime.turns.pause(context_id))
    events = await attend(world, context_id, person)
    assert isinstance(events[-1], StateEntered)
    assert isinstance(events[-1].state, Paused)
    assert survey.ran == ["yes"]
    await world.runtime.turns.resume(context_id)
    await attend(world, context_id, person, start=branch_end(await world.runtime.contexts.get(context_id)))
    assert (await world.runtime.contexts.get(context_id)).core.last_turn == "complete"


async def test_the_end_of_the_context_ends_the_attendance_with_an_error(tmp_path: Path) -> None:
    world = World(tmp_path, calls_answer(("change", "a")))
    context_id = await sent(world)

    async def delete() -> None:
        await world.runtime.turns.cancel(context_id)
        await world.runtime.contexts.delete(context_id)

    with pytest.raises(NotFound):
        await attend(world, context_id, Person(delete))
    assert world.change.ran == []


async def test_a_compression_during_the_attendance_repeats_no_message_and_loses_none(tmp_path: Path) -> None:
    world = SmallWindowWorld(tmp_path)
    context_id = await world.filled("supervised")
    start = branch_end(await world.runtime.contexts.get(context_id))
    world.model.answers_next(calls_answer(("change", MANY_WORDS)), calls_answer(("change", MANY_WORDS)), DONE)
    person = Person()
    await world.runtime.messages.send(context_id, f"and then {MANY_WORDS}")
    events = await attend(world, context_id, person, start=start)
    messages = [event.message for event in events if isinstance(event, MessageAdded)]
    assert any(isinstance(message, SystemControl) and message.kind == "summary" for message in messages)
    ids = [message.id for message in messages]
    assert len(ids) == len(set(ids))
    turn = messages[-1].metadata.turn
    stored = [message for message in await world.messages(context_id) if not isinstance(message, SystemControl)]
    expected = [message.id for message in stored if message.metadata.turn == turn]
    assert [message_id for message_id in ids if message_id in expected] == expected
    assert (len(world.change.ran), len(person.asked)) == (2, 2)


async def test_the_calls_put_before_an_attendant_are_its_own_copies(tmp_path: Path) -> None:
    class Meddles(Person):
        async def decide(self, context: ContextSnapshot, calls: Sequence[CallRecord]) -> Decisions:
            (call,) = calls
            call.arguments["text"] = "another"
            assert isinstance(context.state, AwaitingToolApproval)
            return Decisions([PersonsDecision(call.id, "approve", call.digest)])

    world = World(tmp_path, calls_answer(("change", "a")), DONE)
    await attend(world, await sent(world), Meddles())
    assert world.change.ran == ["a"]
