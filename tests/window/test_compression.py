"""The messages that a compression drops and keeps, for any history, pins, turn and budget; and their summary."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import msgspec
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from pilothouse.domain.budgets import Budget
from pilothouse.domain.codes import Code, Reason
from pilothouse.domain.messages import (
    ErrorMessage,
    FileReference,
    Image,
    MCPResource,
    Message,
    Metadata,
    ProjectStructure,
    SystemControl,
    Text,
    ToolCall,
    ToolRequest,
    ToolResult,
    WorkflowExecution,
    is_sent_to_model,
)
from pilothouse.domain.value import CallId, MessageId
from pilothouse.llm.chat_completions import CHAT_COMPLETIONS
from pilothouse.window.compression import CompressionPlan, plan_compression, summary_tokens
from pilothouse.window.history import Block, History
from pilothouse.window.model_messages import tokens_of
from pilothouse.window.summary import (
    complete_summary,
    files_touched,
    instruction,
    mechanical_summary,
    split_transcript,
    transcript,
)
from pilothouse.window.tokens import Counter, Estimate, counter_for
from tests.support.scale import LONG
from tests.support.valid_requests import assert_valid_window
from tests.window.test_history import request, result, text

COUNTERS: list[Counter] = [Estimate(), counter_for("o200k")]
EXAMPLES = settings(max_examples=3000 if LONG else 200, deadline=None)


def summary(content: str, **detail: Any) -> SystemControl:
    return SystemControl(id=MessageId("s"), timestamp="", role="system", kind="summary", content=content, detail=detail)


def of_size(tokens: int) -> str:
    """A text that the estimate counts as about so many tokens."""
    return "word " * max(1, tokens * 100 // 114)


class Case(NamedTuple):
    """A history, and all inputs of a plan for it."""

    messages: list[Message]
    budget: Budget
    extra: int
    turn_start: int | None
    pinned: set[int]
    manual: bool
    scores: dict[int, int] | None

    def history(self) -> History:
        return told(self.messages)

    @property
    def total(self) -> int:
        return self.history().tokens + self.extra

    def plan(self) -> CompressionPlan | None:
        history, scores = self.history(), self.scores
        return plan_compression(
            history.blocks(),
            history.length,
            self.budget,
            total=history.tokens + self.extra,
            turn_start=self.turn_start,
            pinned=self.pinned,
            as_much_as_possible=self.manual,
            importance=None if scores is None or self.manual else lambda block: scores[block.start],
        )

    def ends(self) -> list[int]:
        starts = [block.start for block in self.history().blocks()]
        return [*starts[1:], len(self.messages)] if starts else []

    def droppable(self) -> list[Block]:
        """By the words of the specification: before the turn, not among the last ones, not pinned; whole blocks."""
        latest = len(self.messages) - self.budget.recent
        blocks = []
        for block, end in zip(self.history().blocks(), self.ends(), strict=True):
            is_old = end <= latest and (self.turn_start is None or end <= self.turn_start)
            if is_old and not self.pinned.intersection(range(block.start, end)):
                blocks.append(block)
        return blocks


def told(messages: Sequence[Message]) -> History:
    history = History(CHAT_COMPLETIONS, Estimate(), with_tools=True)
    history.extend(messages)
    return history


sizes = st.sampled_from([1, 5, 40, 150, 600])


@st.composite
def conversations(draw: st.DrawFn, summary_tokens: int) -> list[Message]:
    """Texts, messages not sent to the model, requests with some or all of their results, perhaps an earlier summary."""
    messages: list[Message] = [summary(of_size(draw(st.integers(1, summary_tokens))))] if draw(st.booleans()) else []
    calls = 0
    for kind in draw(st.lists(st.sampled_from(["user", "assistant", "calls", "calls", "mark", "error"]), max_size=25)):
        if kind in ("user", "assistant"):
            messages.append(text(of_size(draw(sizes)), kind))
        elif kind == "mark":
            messages.append(SystemControl(id=MessageId("c"), timestamp="", role="system", kind="mode_switch"))
        elif kind == "error":
            reason = Reason(Code.INTERRUPTED)
            messages.append(ErrorMessage(id=MessageId("e"), timestamp="", role="assistant", reason=reason))
        else:
            ids = [str(calls + number) for number in range(draw(st.integers(1, 3)))]
            calls += len(ids)
            messages.append(request(*ids))
            messages += [
                result(each, of_size(draw(sizes))) for each in draw(st.permutations(ids)) if draw(st.integers(0, 5))
            ]
    return messages


@st.composite
def cases(draw: st.DrawFn) -> Case:
    budget = Budget(
        tokens=draw(st.integers(400, 6000)),
        recent=draw(st.integers(1, 12)),
        strategy=draw(st.sampled_from(["recent_n", "intelligent", "importance"])),
    )
    messages = draw(conversations(budget.summary_tokens))
    pinnable = [at for at, message in enumerate(messages) if is_sent_to_model(message)]
    return Case(
        messages=messages,
        budget=budget,
        extra=draw(st.integers(0, 500)),
        turn_start=draw(st.none() | st.integers(0, len(messages))),
        pinned=draw(st.sets(st.sampled_from(pinnable), max_size=4)) if pinnable else set(),
        manual=draw(st.booleans()),
        scores={n: draw(st.integers(0, 5)) for n in range(len(messages))} if budget.strategy == "importance" else None,
    )


def after(case: Case, plan: CompressionPlan, of: SystemControl) -> list[Message]:
    kept_messages = [case.messages[at] for start, end in plan.kept_ranges for at in range(start, end)]
    return [of, *kept_messages, *case.messages[plan.cut :]]


def stays(case: Case, plan: CompressionPlan) -> list[int]:
    """The numbers of the blocks that stay."""
    gone = [at for start, end in plan.removed_ranges() for at in range(start, end)]
    return [number for number, block in enumerate(case.history().blocks()) if block.start not in gone]


@EXAMPLES
@given(case=cases())
def test_a_plan_follows_block_borders_and_drops_only_droppable_messages(case: Case) -> None:
    plan = case.plan()
    if plan is None:
        return
    borders = {0, *(block.start for block in case.history().blocks()), *case.ends()}
    assert {plan.cut, *(at for stretch in plan.kept_ranges for at in stretch)} <= borders
    assert all(start < end <= plan.cut for start, end in plan.kept_ranges)
    gone = [at for start, end in plan.removed_ranges() for at in range(start, end)]
    kept_positions = [at for start, end in plan.kept_ranges for at in range(start, end)]
    assert sorted([*gone, *kept_positions, *range(plan.cut, len(case.messages))]) == list(range(len(case.messages)))
    assert plan.messages == len(gone)
    assert case.pinned.isdisjoint(gone)
    assert not gone or max(gone) < len(case.messages) - case.budget.recent
    if case.turn_start is not None:
        assert not gone or max(gone) < case.turn_start
    dropped = [block for block in case.history().blocks() if block.start in gone]
    assert plan.tokens == sum(block.tokens for block in dropped)
    assert any(not block.is_summary for block in dropped)
    assert plan.needs_summary == (case.budget.strategy != "recent_n")


@EXAMPLES
@given(case=cases())
def test_messages_that_stay_follow_the_summary_unchanged_with_calls_and_results_together(case: Case) -> None:
    plan = case.plan()
    if plan is None:
        return
    history, of = case.history(), summary("in short")
    blocks, _ = history.fragments_by_block()
    staying = [blocks[number] for number in stays(case, plan)]
    expected = [fragment for each in staying for fragment in each]
    now = told(after(case, plan, of))
    assert now.fragments()[1 : 1 + len(expected)] == expected
    assert len(now.blocks()) == 1 + len(staying)
    assert now.tokens == history.tokens - plan.tokens + tokens_of(of, Estimate())
    assert_valid_window(now.fragments())


@EXAMPLES
@given(case=cases())
def test_a_plan_reaches_the_target_wherever_that_can_be_reached(case: Case) -> None:
    plan, budget = case.plan(), case.budget
    least = case.total - sum(block.tokens for block in case.droppable()) + budget.summary_tokens
    if plan is None or case.manual:
        return
    assert plan.tokens >= budget.min_saving_tokens
    if least <= budget.target_tokens:
        assert case.total - plan.tokens + budget.summary_tokens <= budget.target_tokens


@EXAMPLES
@given(case=cases())
def test_there_is_no_plan_only_if_none_would_pay_off(case: Case) -> None:
    if case.plan() is not None:
        return
    droppable = case.droppable()
    if all(block.is_summary for block in droppable):
        return
    tokens = sum(block.tokens for block in droppable)
    earlier = sum(block.tokens for block in droppable if block.is_summary)
    if tokens - earlier < 130:
        return  # a summary would be no shorter
    assert not case.manual, "who asks for it gets all that may go"
    saved = tokens - max(earlier, summary_tokens(tokens, earlier, case.budget))
    is_little = saved < case.budget.min_saving_tokens
    helps_nothing = case.total - saved > case.budget.trigger_tokens and case.total <= case.budget.tokens
    assert is_little or helps_nothing or case.total <= case.budget.trigger_tokens


@EXAMPLES
@given(case=cases())
def test_a_requested_plan_drops_every_droppable_message_and_has_no_successor(case: Case) -> None:
    case = case._replace(manual=True)
    plan = case.plan()
    if plan is None:
        return
    assert plan.tokens == sum(block.tokens for block in case.droppable())
    again = _again(case, plan, summary("in short"))
    assert again.plan() is None


@EXAMPLES
@given(case=cases(), length=st.integers(1, 100))
def test_planning_again_never_takes_only_the_summary(case: Case, length: int) -> None:
    plan = case.plan()
    if plan is None:
        return
    for manual in (False, True):
        again = _again(case, plan, summary(of_size(case.budget.summary_tokens * length // 100)))._replace(manual=manual)
        second = again.plan()
        if second is not None:
            gone = {at for start, end in second.removed_ranges() for at in range(start, end)}
            blocks = again.history().blocks()
            assert any(block.start in gone and not block.is_summary for block in blocks)


def _again(case: Case, plan: CompressionPlan, of: SystemControl) -> Case:
    """The same case behind its compression."""
    kept_messages = [at for start, end in plan.kept_ranges for at in range(start, end)]
    places = [None, *kept_messages, *range(plan.cut, len(case.messages))]
    now = after(case, plan, of)
    shift = len(kept_messages) + 1 - plan.cut
    return case._replace(
        messages=now,
        pinned={at for at, before in enumerate(places) if before in case.pinned},
        turn_start=None if case.turn_start is None else case.turn_start + shift,
        scores=None if case.scores is None else {n: case.scores.get(b or 0, 5) for n, b in enumerate(places)},
    )


# summaries

characters = st.characters(codec=None)  # also halves of surrogate pairs
texts = st.text(characters, max_size=400) | st.sampled_from(
    ["", " \n ", "日本語" * 300, "aB" * 4000, "\n" * 500, "x" * 9000]
)
paths = st.text(min_size=1, max_size=60)
arguments = st.sampled_from(
    ["", "{", "[]", '"x"', "[" * 5000, "9" * 5000, '{"path": 7}', '{"path": "a.py"}', '{"file": null}']
)
kinds = st.sampled_from(["injection", "summary", "mode_switch", "prompt_change", "branch_merge"])
details = st.dictionaries(
    st.sampled_from(["files", "about", "by"]),
    st.none() | st.integers() | st.text(max_size=5) | st.lists(st.none() | st.integers() | paths, max_size=5),
)


def _made(message_type: type[Any], of: str, **fields: Any) -> st.SearchStrategy[Any]:
    return st.builds(
        message_type,
        id=st.just(MessageId("m")),
        timestamp=st.just(""),
        role=st.just(of),
        metadata=st.sampled_from([Metadata(), Metadata(held="processing")]),
        **fields,
    )


calls = st.builds(
    ToolCall, id=st.sampled_from(["a", "b"]).map(CallId), provider_id=st.just(""), tool=texts, arguments=arguments
)
odd_messages: st.SearchStrategy[list[Message]] = st.lists(
    st.one_of(
        _made(Text, "user", content=texts),
        _made(Text, "assistant", content=texts, ended=st.sampled_from(["complete", "cut", "cancelled"])),
        _made(ToolRequest, "assistant", content=texts, calls=st.lists(calls, max_size=3).map(tuple)),
        _made(ToolResult, "tool", call_id=st.just("a"), tool=texts, content=texts, status=st.just("executed")),
        _made(SystemControl, "system", kind=kinds, content=texts, detail=details),
        _made(FileReference, "user", path=texts, content=st.none() | texts),
        _made(ProjectStructure, "user", root=texts, kind=st.just("tree"), content=texts),
        _made(MCPResource, "user", server=texts, uri=texts, content=texts, retrieved_at=st.just("")),
        _made(Image, "user", data=texts),
        _made(WorkflowExecution, "system", workflow=texts, execution_id=texts, status=st.just("failed")),
        _made(ErrorMessage, "assistant", reason=st.just(Reason(Code.INTERRUPTED))),
    ),
    max_size=8,
)


@EXAMPLES
@given(messages=odd_messages, counter=st.sampled_from(COUNTERS), tokens=st.integers(50, 400))
def test_a_mechanical_summary_of_any_messages_stays_within_its_tokens(
    messages: list[Message], counter: Counter, tokens: int
) -> None:
    lines = transcript(messages)
    assert all(isinstance(line, str) for line in lines)
    files = files_touched(messages)
    text = complete_summary(mechanical_summary(messages, counter, tokens), files, counter, tokens)
    assert text.strip()
    assert counter.count(text) <= tokens + _slack(counter)


@EXAMPLES
@given(
    lines=st.lists(texts, max_size=20),
    counter=st.sampled_from(COUNTERS),
    tokens=st.integers(50, 1000),
    at_most=st.integers(2, 8),
)
def test_a_transcript_is_split_into_pieces_that_fit_and_names_omissions(
    lines: list[str], counter: Counter, tokens: int, at_most: int
) -> None:
    pieces, left_out = split_transcript(lines, counter, tokens, at_most)
    assert len(pieces) <= at_most
    for piece in pieces:
        assert counter.count(piece) <= tokens + _slack(counter)
    short = [line for line in lines if counter.count(line) < tokens]
    if not left_out:
        assert all(any(line in piece for piece in pieces) for line in short)
    assert left_out <= max(0, len(lines) - 2)


@EXAMPLES
@given(
    summary_text=texts,
    files=st.lists(paths, max_size=120),
    counter=st.sampled_from(COUNTERS),
    tokens=st.integers(50, 2000),
)
def test_a_summary_with_its_files_stays_within_its_tokens(
    summary_text: str, files: list[str], counter: Counter, tokens: int
) -> None:
    completed = complete_summary(summary_text, files, counter, tokens)
    assert counter.count(completed) <= tokens + _slack(counter)
    listed = "\n\nFiles touched: " + ", ".join(files)
    if files and counter.count(listed) <= tokens // 2:
        assert completed.endswith(listed)
    if counter.count(summary_text) + counter.count(listed) <= tokens and summary_text.strip():
        assert completed.startswith(summary_text.strip())


def _slack(counter: Counter) -> int:
    """A family's own tokenizer may part a text otherwise where two are put together."""
    return 0 if counter.is_estimate else 4


def test_the_shortest_lines_together_fit_into_their_piece() -> None:
    pieces, _ = split_transcript(["word"] * 500, Estimate(), 100, 100)
    assert max(map(Estimate().count, pieces)) <= 100


@EXAMPLES
@example(earlier=[], now=["."])
@given(earlier=st.lists(paths, unique=True, max_size=100), now=st.lists(paths, max_size=60))
def test_files_touched_keeps_paths_and_carries_over_those_of_earlier_summaries(
    earlier: list[str], now: list[str]
) -> None:
    reads = [
        ToolRequest(
            id=MessageId("r"),
            timestamp="",
            role="assistant",
            calls=(
                ToolCall(
                    id=CallId(str(number)),
                    provider_id="",
                    tool="read_file",
                    arguments=msgspec.json.encode({"path": path, "more": [path]}).decode(),
                ),
            ),
        )
        for number, path in enumerate(now)
    ]
    touched = files_touched([summary("x", files=earlier), *reads])
    files = [path for path in now if path != "."]  # the workspace itself is no file
    last = list(dict.fromkeys(reversed([*earlier, *files])))[:100]
    assert touched == list(reversed(last))
    assert files_touched([summary("y", files=touched)]) == touched, "a summary of a summary keeps them"


def test_a_mechanical_summary_has_the_count_the_earlier_summary_and_the_persons_messages() -> None:
    messages: list[Message] = [
        summary("We build a ship."),
        text("First,\nmore"),
        text("an answer", "assistant"),
        text("Second"),
    ]
    summarized = mechanical_summary(messages, Estimate(), 200)
    assert summarized.startswith("4 earlier messages were left out.")
    assert "We build a ship." in summarized
    assert summarized.endswith("- First,\n- Second")
    assert "an answer" not in summarized


def test_a_short_mechanical_summary_keeps_the_persons_last_messages() -> None:
    summarized = mechanical_summary([text(f"number {number}") for number in range(200)], Estimate(), 100)
    assert "number 199" in summarized
    assert "number 5\n" not in summarized


def test_the_transcript_names_each_author_and_bounds_each_entry() -> None:
    long = result("a", "x" * 5000)
    lines = transcript(
        [text("hi"), text("hello", "assistant"), request("a"), long, summary("before"), text("", "assistant")]
    )
    assert lines[:3] == ["Person: hi", "Agent: hello", "Agent calls t {}"]
    assert lines[3].startswith("Result of t (executed): xxx")
    assert len(lines[3]) < 700
    assert lines[4:] == ["Earlier summary:\nbefore"]


@pytest.mark.parametrize(("tokens", "words"), [(50, 50), (4000, 2400)])
def test_the_instruction_names_its_length_its_headings_and_the_focus(tokens: int, words: int) -> None:
    text = instruction(tokens, "the {engine}")
    assert f"at most {words} words" in text
    assert text.endswith("Above all keep what concerns: the {engine}")
    for heading in ("Standing instructions", "Decisions", "Files", "Open tasks", "Facts"):
        assert f"## {heading}\n" in text
