"""Stories of whole turns: the exact states passed through, with the scripted model."""

import asyncio
from dataclasses import replace
from pathlib import Path

import pytest

from pilothouse.domain.errors import Conflict, InvalidInput, NotFound
from pilothouse.domain.messages import Text, ToolResult
from pilothouse.llm.script import Answer, ScriptedCall
from pilothouse.runtime.commands.calls import PersonsDecision
from pilothouse.runtime.limits import Limits
from pilothouse.testing.tools import NoteTool
from pilothouse.testing.world import World
from tests.support.assertions import content_of, instance_of, present, reason_of
from tests.support.live_contexts import pool_of

LOOK = ScriptedCall(tool="look", arguments={"text": "a"})
CHANGE = ScriptedCall(tool="change", arguments={"text": "b"})
OTHER = ScriptedCall(tool="change", arguments={"text": "c"})

TEXT_TURN = [
    "processing_user_message",
    "enhancing_system_prompt",
    "optimizing_context",
    "preparing_llm_request",
    "connecting_to_llm",
    "awaiting_llm_first_chunk",
    "streaming_llm_response",
    "processing_llm_response",
    "saving_message",
    "idle",
]


async def test_a_text_answer_passes_through_every_state_once(tmp_path: Path) -> None:
    world = World(tmp_path, Answer(text="hi there"))
    context_id = await world.start()
    await world.turn(context_id)
    assert world.states == TEXT_TURN


async def test_a_tool_round_in_agent_mode_runs_the_call_and_asks_the_model_again(tmp_path: Path) -> None:
    calls = (ScriptedCall(tool="look", arguments={"text": "a"}),)
    world = World(tmp_path, Answer(calls=calls), Answer(text="done"))
    context_id = await world.start()
    await world.turn(context_id)
    assert world.states == [
        *TEXT_TURN[:6],
        "streaming_llm_response",
        "streaming_llm_response",
        "processing_llm_response",
        "parsing_tool_calls",
        "executing_tool",
        "collecting_tool_results",
        "processing_tool_results",
        "tool_auto_loop",
        *TEXT_TURN[1:],
    ]
    assert world.look.ran == ["a"]
    messages = await world.runtime.messages.read(context_id)
    assert [type(message).__name__ for message in messages] == ["Text", "ToolRequest", "ToolResult", "Text"]


async def test_a_call_in_supervised_waits_then_runs_once_when_approved(tmp_path: Path) -> None:
    world = World(tmp_path, Answer(text="I look", calls=(LOOK,)), Answer(text="done"))
    context_id = await world.start("supervised")
    await world.turn(context_id)
    assert world.states[-2:] == ["parsing_tool_calls", "awaiting_tool_approval"]
    assert world.look.ran == []
    (call,) = await world.runtime.calls.pending(context_id)
    world.entered.clear()
    await world.runtime.calls.decide(context_id, [PersonsDecision(id=call.id, verdict="approve", digest=call.digest)])
    await world.runtime.turns.rested(context_id)
    assert world.look.ran == ["a"]
    assert world.states == [
        "executing_tool",
        "collecting_tool_results",
        "processing_tool_results",
        "tool_auto_loop",
        *TEXT_TURN[1:],
    ]


async def test_the_turn_ends_when_every_call_is_rejected_without_a_reason(tmp_path: Path) -> None:
    world = World(tmp_path, Answer(calls=(LOOK, CHANGE)))
    context_id = await world.start("supervised")
    await world.turn(context_id)
    world.entered.clear()
    await world.runtime.calls.reject_all(context_id)
    await world.runtime.turns.rested(context_id)
    assert world.states == ["saving_message", "idle"]
    assert world.look.ran == world.change.ran == []


async def test_a_rejection_with_a_reason_is_reported_to_the_model(tmp_path: Path) -> None:
    world = World(tmp_path, Answer(calls=(LOOK,)), Answer(text="I see"))
    context_id = await world.start("supervised")
    await world.turn(context_id)
    await world.runtime.calls.reject_all(context_id, reason="not that file")
    await world.runtime.turns.rested(context_id)
    assert b"not that file" in world.model.requests[-1].messages[-1]
    assert (await world.runtime.contexts.get(context_id)).core.last_turn == "complete"


async def test_a_turn_with_a_rejected_and_an_executed_call_continues(tmp_path: Path) -> None:
    world = World(tmp_path, Answer(calls=(LOOK, CHANGE)), Answer(text="fine"))
    context_id = await world.start("review")
    await world.turn(context_id)
    assert world.look.ran == ["a"]
    await world.runtime.calls.reject_all(context_id)
    await world.runtime.turns.rested(context_id)
    assert len(world.model.requests) == 2
    assert world.change.ran == []


async def test_a_denial_by_plan_mode_ends_the_turn_and_starts_no_call_of_the_round(tmp_path: Path) -> None:
    world = World(tmp_path, Answer(text="let me", calls=(LOOK, CHANGE)))
    context_id = await world.start("plan")
    await world.turn(context_id)
    assert world.states[-3:] == ["parsing_tool_calls", "saving_message", "idle"]
    assert world.look.ran == world.change.ran == []
    messages = await world.runtime.messages.read(context_id)
    assert [type(message).__name__ for message in messages] == [
        "Text",
        "ToolRequest",
        "ToolResult",
        "ToolResult",
        "ErrorMessage",
    ]
    assert content_of(messages[1]) == "let me"
    assert reason_of(messages[-1]).code == "mode_denied"


async def test_ask_mode_sends_no_tools_and_denies_calls_that_come_anyway(tmp_path: Path) -> None:
    world = World(tmp_path, Answer(calls=(LOOK,)))
    context_id = await world.start("ask")
    await world.turn(context_id)
    assert world.model.requests[0].tools == ()
    assert "only answer" in world.model.requests[0].system
    assert world.look.ran == []
    assert world.states[-1] == "idle"


async def test_a_question_reaches_the_person_and_the_answer_the_model(tmp_path: Path) -> None:
    question = ScriptedCall(tool="ask_user", arguments={"questions": [{"question": "Which?"}]})
    world = World(tmp_path, Answer(calls=(question,)), Answer(text="thanks"))
    context_id = await world.start("plan")
    await world.turn(context_id)
    assert world.states[-1] == "awaiting_user_answer"
    assert await world.runtime.calls.pending(context_id) == []
    with pytest.raises(InvalidInput):
        await world.runtime.calls.answer(context_id, ["a", "b"])
    await world.runtime.calls.answer(context_id, ["the second"])
    await world.runtime.turns.rested(context_id)
    assert b"the second" in world.model.requests[-1].messages[-1]


async def test_edited_arguments_run_and_are_reported_to_the_model(tmp_path: Path) -> None:
    world = World(tmp_path, Answer(calls=(CHANGE,)), Answer(text="ok"))
    context_id = await world.start("supervised")
    await world.turn(context_id)
    (call,) = await world.runtime.calls.pending(context_id)
    edited = PersonsDecision(id=call.id, verdict="approve", digest=call.digest, arguments={"text": "other"})
    await world.runtime.calls.decide(context_id, [edited])
    await world.runtime.turns.rested(context_id)
    assert world.change.ran == ["other"]
    assert b"edited the arguments" in world.model.requests[-1].messages[-1]


async def test_edited_arguments_that_break_the_schema_are_refused_and_the_call_stays(tmp_path: Path) -> None:
    world = World(tmp_path, Answer(calls=(CHANGE,)))
    context_id = await world.start("supervised")
    await world.turn(context_id)
    (call,) = await world.runtime.calls.pending(context_id)
    with pytest.raises(InvalidInput, match="aren't valid"):
        await world.runtime.calls.decide(
            context_id, [PersonsDecision(id=call.id, verdict="approve", arguments={"text": 5})]
        )
    assert [pending.id for pending in await world.runtime.calls.pending(context_id)] == [call.id]


async def test_a_decision_with_another_digest_than_the_shown_one_runs_nothing(tmp_path: Path) -> None:
    world = World(tmp_path, Answer(calls=(LOOK, CHANGE)))
    context_id = await world.start("supervised")
    await world.turn(context_id)
    look, change = await world.runtime.calls.pending(context_id)
    with pytest.raises(Conflict, match="has changed since it was shown"):
        await world.runtime.calls.decide(
            context_id,
            [
                PersonsDecision(id=look.id, verdict="approve", digest=look.digest),
                PersonsDecision(id=change.id, verdict="approve", digest=look.digest),
            ],
        )
    assert world.look.ran == []
    assert len(await world.runtime.calls.pending(context_id)) == 2
    with pytest.raises(NotFound):
        await world.runtime.calls.decide(context_id, [PersonsDecision(id="nobody", verdict="approve")])


async def test_approving_twice_runs_once_and_the_second_is_a_conflict(tmp_path: Path) -> None:
    world = World(tmp_path, Answer(calls=(CHANGE, LOOK)), Answer(text="x"))
    context_id = await world.start("supervised")
    await world.turn(context_id)
    change, _ = await world.runtime.calls.pending(context_id)
    decision = [PersonsDecision(id=change.id, verdict="approve", digest=change.digest)]
    outcomes = await asyncio.gather(
        *(world.runtime.calls.decide(context_id, decision) for _ in range(20)), return_exceptions=True
    )
    await world.runtime.turns.rested(context_id)
    assert world.change.ran == ["b"]
    assert sum(isinstance(outcome, Conflict) for outcome in outcomes) == 19


async def test_mutating_calls_run_one_by_one_in_the_order_asked(tmp_path: Path) -> None:
    calls = tuple(ScriptedCall(tool="change", arguments={"text": str(n)}) for n in range(5))
    world = World(tmp_path, Answer(calls=calls), Answer(text="x"))
    context_id = await world.start()
    await world.turn(context_id)
    assert world.change.ran == ["0", "1", "2", "3", "4"]


async def test_a_switch_to_agent_starts_waiting_calls_and_one_to_ask_rejects_them(tmp_path: Path) -> None:
    world = World(tmp_path, Answer(calls=(LOOK, CHANGE)), Answer(text="x"), Answer(calls=(LOOK, CHANGE)))
    context_id = await world.start("supervised")
    await world.turn(context_id)
    switch = await world.runtime.modes.switch(context_id, "agent")
    await world.runtime.turns.rested(context_id)
    assert len(switch.started) == 2
    assert (world.look.ran, world.change.ran) == (["a"], ["b"])
    await world.turn(context_id, mode="supervised")
    switch = await world.runtime.modes.switch(context_id, "ask")
    await world.runtime.turns.rested(context_id)
    assert len(switch.rejected) == 2
    assert (world.look.ran, world.change.ran) == (["a"], ["b"])
    assert world.states[-2:] == ["saving_message", "idle"]


async def test_writes_that_had_not_started_before_a_switch_to_plan_never_start(tmp_path: Path) -> None:
    slow = NoteTool("slow", "mutating", hold=True)
    calls = tuple(ScriptedCall(tool="slow", arguments={"text": str(n)}) for n in range(3))
    world = World(tmp_path, Answer(calls=calls), Answer(text="x"), tools=[slow])
    context_id = await world.start()
    await world.runtime.messages.send(context_id, "go")
    await slow.started.wait()
    switch = await world.runtime.modes.switch(context_id, "plan")
    slow.release.set()
    await world.runtime.turns.rested(context_id)
    assert len(switch.rejected) == 2
    assert slow.ran == ["0"]


@pytest.mark.parametrize(("mode", "verdict"), [("agent", "run"), ("plan", "deny")])
async def test_the_audit_has_the_decision_of_a_switch_for_each_waiting_call(
    tmp_path: Path, mode: str, verdict: str
) -> None:
    world = World(tmp_path, Answer(calls=(CHANGE, OTHER)), Answer(text="x"))
    context_id = await world.start("supervised")
    await world.turn(context_id)
    waiting = {call.id for call in await world.runtime.calls.pending(context_id)}
    before = len((await world.runtime.contexts.audit(context_id)).entries)
    await world.runtime.modes.switch(context_id, mode, by="me")
    await world.runtime.turns.rested(context_id)
    entries = (await world.runtime.contexts.audit(context_id)).entries[before:]
    decided = {
        (entry.detail["call"], entry.detail["verdict"], entry.detail["mode"])
        for entry in entries
        if entry.kind == "call_decided" and entry.by == "me"
    }
    assert decided == {(call, verdict, mode) for call in waiting}


async def test_an_approval_in_review_runs_that_call_and_the_mode_stays(tmp_path: Path) -> None:
    world = World(tmp_path, Answer(calls=(CHANGE,)), Answer(calls=(OTHER,)))
    context_id = await world.start("review")
    await world.turn(context_id)
    await world.runtime.calls.approve_all(context_id)
    await world.runtime.turns.rested(context_id)
    assert world.change.ran == ["b"]
    assert world.states[-1] == "awaiting_tool_approval"
    assert (await world.runtime.contexts.get(context_id)).core.mode == "review"
    kinds = [entry.kind for entry in (await world.runtime.contexts.audit(context_id)).entries]
    assert kinds.count("elevated") == 1


async def test_cancel_ends_a_waiting_turn_and_every_call_gets_its_result(tmp_path: Path) -> None:
    world = World(tmp_path, Answer(calls=(LOOK, CHANGE)), Answer(text="x"))
    context_id = await world.start("supervised")
    await world.turn(context_id)
    await world.runtime.turns.cancel(context_id)
    assert world.states[-2:] == ["cancelling", "idle"]
    messages = await world.runtime.messages.read(context_id)
    assert [message.status for message in messages if isinstance(message, ToolResult)] == ["cancelled"] * 2
    with pytest.raises(Conflict):
        await world.runtime.turns.cancel(context_id)


async def test_cancel_while_streaming_keeps_the_text_and_continue_works(tmp_path: Path) -> None:
    world = World(tmp_path, Answer(deltas=("one ", "two ", "never"), silence=2), Answer(text="again"))
    context_id = await world.start()
    await world.runtime.messages.send(context_id, "go")
    while "streaming_llm_response" not in world.states:
        await asyncio.sleep(0)
    await asyncio.gather(*(world.runtime.turns.cancel(context_id) for _ in range(3)))
    messages = await world.runtime.messages.read(context_id)
    assert (content_of(messages[-1]), instance_of(Text, messages[-1]).ended) == ("one two ", "cancelled")
    world.entered.clear()
    await world.runtime.turns.continue_(context_id)
    await world.runtime.turns.rested(context_id)
    assert world.states == TEXT_TURN[1:]


async def test_cancel_stops_a_running_tool(tmp_path: Path) -> None:
    slow = NoteTool("slow", "mutating", hold=True)
    world = World(tmp_path, Answer(calls=(ScriptedCall(tool="slow", arguments={}),)), tools=[slow])
    context_id = await world.start()
    await world.runtime.messages.send(context_id, "go")
    await slow.started.wait()
    await world.runtime.turns.cancel(context_id)
    result = (await world.runtime.messages.read(context_id))[-1]
    assert isinstance(result, ToolResult)
    assert (result.status, present(result.error).code) == ("cancelled", "may_have_run")


async def test_a_turn_that_ended_well_cannot_be_continued(tmp_path: Path) -> None:
    world = World(tmp_path, Answer(text="x"))
    context_id = await world.start()
    await world.turn(context_id)
    with pytest.raises(Conflict, match="Nothing to continue"):
        await world.runtime.turns.continue_(context_id)


async def test_a_second_message_during_a_turn_is_refused_and_changes_nothing(tmp_path: Path) -> None:
    world = World(tmp_path, Answer(calls=(LOOK,)), Answer(text="x"))
    context_id = await world.start("supervised")
    await world.turn(context_id)
    with pytest.raises(Conflict, match="isn't finished"):
        await world.runtime.messages.send(context_id, "and this", mode="agent")
    assert (await world.runtime.contexts.get(context_id)).core.mode == "supervised"


async def test_the_round_limit_ends_the_turn_with_a_notice(tmp_path: Path) -> None:
    answers = [Answer(calls=(ScriptedCall(tool="look", arguments={"text": str(n)}),)) for n in range(3)]
    world = World(tmp_path, *answers, Answer(text="later"), limits=Limits(rounds=3))
    context_id = await world.start()
    await world.turn(context_id)
    assert world.states[-3:] == ["tool_auto_loop", "saving_message", "idle"]
    assert reason_of((await world.runtime.messages.read(context_id))[-1]).code == "limit_rounds"
    await world.runtime.turns.continue_(context_id)
    await world.runtime.turns.rested(context_id)
    assert content_of((await world.runtime.messages.read(context_id))[-1]) == "later"


async def test_the_same_call_three_times_in_a_row_stops_the_turn(tmp_path: Path) -> None:
    world = World(tmp_path, *[Answer(calls=(LOOK,))] * 5)
    context_id = await world.start()
    await world.turn(context_id)
    assert world.look.ran == ["a", "a"]
    assert reason_of((await world.runtime.messages.read(context_id))[-1]).code == "limit_repeated_call"


async def test_a_failed_tool_is_reported_to_the_model_and_the_turn_continues(tmp_path: Path) -> None:
    broken = NoteTool("broken", "read_only", fails=True)
    world = World(tmp_path, Answer(calls=(ScriptedCall(tool="broken"),)), Answer(text="I see"), tools=[broken])
    context_id = await world.start()
    await world.turn(context_id)
    assert b"as it was told to" in world.model.requests[-1].messages[-1]


async def test_many_contexts_work_at_the_same_time(tmp_path: Path) -> None:
    world = World(tmp_path, *[Answer(text="hello", delta_delay=0.001)] * 50)
    contexts = [await world.start() for _ in range(50)]
    await asyncio.gather(*(world.turn(context_id) for context_id in contexts))
    for context_id in contexts:
        assert content_of((await world.runtime.messages.read(context_id))[-1]) == "hello"


async def test_a_referenced_file_is_read_and_a_missing_one_reported(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("one\ntwo\nthree\n")
    world = World(tmp_path, Answer(text="x"))
    context_id = await world.start()
    await world.runtime.messages.send(
        context_id,
        [
            {"type": "text", "content": "see"},
            {"type": "file_reference", "path": "a.txt", "range": {"start_line": 2, "end_line": 2}},
            {"type": "file_reference", "path": "gone.txt"},
            {"type": "file_reference", "path": "../secret"},
        ],
    )
    await world.runtime.turns.rested(context_id)
    sent = b"".join(world.model.requests[0].messages)
    assert b"two" in sent
    assert b"three" not in sent
    assert b"doesn't exist" in sent
    assert b"outside the workspace" in sent
    assert world.states[:3] == ["processing_user_message", "resolving_file_references", "enhancing_system_prompt"]


async def test_the_same_call_decided_twice_in_one_batch_is_refused_whole(tmp_path: Path) -> None:
    world = World(tmp_path, Answer(calls=(CHANGE,)))
    context_id = await world.start("supervised")
    await world.turn(context_id)
    (call,) = await world.runtime.calls.pending(context_id)
    with pytest.raises(InvalidInput, match="two decisions"):
        await world.runtime.calls.decide(
            context_id, [PersonsDecision(id=call.id, verdict="approve"), PersonsDecision(id=call.id, verdict="reject")]
        )
    assert world.change.ran == []


async def test_resting_contexts_are_evicted_and_reopen_unchanged(tmp_path: Path) -> None:
    world = World(tmp_path, *[Answer(calls=(LOOK,))] * 30, Answer(text="x"))
    pool_of(world.runtime).dependencies = replace(world.dependencies, max_idle_contexts=5)
    contexts = [await world.start("supervised") for _ in range(30)]
    for context_id in contexts:
        await world.turn(context_id)
    assert len(pool_of(world.runtime).in_memory()) <= 6
    (call,) = await world.runtime.calls.pending(contexts[0])
    await world.runtime.calls.decide(contexts[0], [PersonsDecision(id=call.id, verdict="approve", digest=call.digest)])
    await world.runtime.turns.rested(contexts[0])
    assert world.look.ran == ["a"]


async def test_the_time_limit_ends_a_turn_also_while_a_tool_runs(tmp_path: Path) -> None:
    slow = NoteTool("slow", "mutating", hold=True)
    calls = (ScriptedCall(tool="slow", arguments={"text": "x"}),)
    world = World(tmp_path, Answer(calls=calls), Answer(text="on"), tools=[slow], limits=Limits(turn_seconds=0.2))
    context_id = await world.start()
    await world.turn(context_id)
    assert world.states[-3:] == ["executing_tool", "cancelling", "idle"]
    result, error = (await world.runtime.messages.read(context_id))[-2:]
    assert isinstance(result, ToolResult)
    assert (present(result.error).code, reason_of(error).code) == ("may_have_run", "limit_turn_time")
    await world.runtime.turns.continue_(context_id)
    await world.runtime.turns.rested(context_id)
    assert content_of((await world.runtime.messages.read(context_id))[-1]) == "on"
