"""The rule of the window: for any branch, every call has exactly one result."""

from typing import Any

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from pilothouse.domain.codes import Code, Reason
from pilothouse.domain.messages import (
    OVERVIEW,
    ErrorMessage,
    Message,
    Metadata,
    SystemControl,
    Text,
    ToolCall,
    ToolRequest,
    ToolResult,
)
from pilothouse.domain.value import CallId, MessageId
from pilothouse.llm.chat_completions import CHAT_COMPLETIONS
from pilothouse.window.history import History
from pilothouse.window.model_messages import CONTINUE_TEXT, MAX_RESULT_CHARACTERS, TOKENS_PER_MESSAGE
from pilothouse.window.tokens import Estimate
from tests.support.assertions import present
from tests.support.valid_requests import assert_valid_window

AT = ""


def text(content: str, role: Any = "user", ended: Any = "complete") -> Text:
    return Text(id=MessageId("m"), timestamp=AT, role=role, content=content, ended=ended)


def request(*ids: str) -> ToolRequest:
    calls = tuple(ToolCall(id=CallId(call_id), provider_id="", tool="t", arguments="{}") for call_id in ids)
    return ToolRequest(id=MessageId("r"), timestamp=AT, role="assistant", calls=calls)


def result(call_id: str, content: str = "ok") -> ToolResult:
    return ToolResult(
        id=MessageId("x"),
        timestamp=AT,
        role="tool",
        call_id=CallId(call_id),
        tool="t",
        content=content,
        status="executed",
    )


ids = st.sampled_from("abcdef")


@st.composite
def branches(draw: st.DrawFn) -> list[Message]:
    """Any order of texts, errors, requests with fresh calls, and results: with, without and far from their calls."""
    messages: list[Message] = []
    count = 0
    for kind in draw(st.lists(st.sampled_from(["text", "error", "request", "result", "control"]), max_size=20)):
        if kind == "text":
            messages.append(
                text("hello", draw(st.sampled_from(["user", "assistant"])), draw(st.sampled_from(["cut", "complete"])))
            )
        elif kind == "error":
            messages.append(
                ErrorMessage(id=MessageId("e"), timestamp=AT, role="assistant", reason=Reason(Code.INTERRUPTED))
            )
        elif kind == "control":
            detail = draw(st.sampled_from([{}, {"to": "plan"}]))
            messages.append(
                SystemControl(id=MessageId("c"), timestamp=AT, role="system", kind="mode_switch", detail=detail)
            )
        elif kind == "request":
            size = draw(st.integers(1, 3))
            messages.append(request(*(str(count + n) for n in range(size))))
            count += size
        else:
            messages.append(result(str(draw(st.integers(0, count + 1)))))
    return messages


@given(messages=branches(), data=st.data())
def test_every_window_is_valid_at_every_length_and_compression(messages: list[Message], data: st.DataObject) -> None:
    whole = History(CHAT_COMPLETIONS, Estimate(), with_tools=True)
    whole.extend(messages)
    assert_valid_window(whole.fragments())
    stepwise = History(CHAT_COMPLETIONS, Estimate(), with_tools=True)
    for message in messages:
        stepwise.extend([message])
        assert_valid_window(stepwise.fragments())
    assert stepwise.fragments() == whole.fragments()


@given(messages=branches())
def test_without_tools_calls_and_results_are_encoded_as_text(messages: list[Message]) -> None:
    history = History(CHAT_COMPLETIONS, Estimate(), with_tools=False)
    history.extend(messages)
    encoded = [msgspec.json.decode(fragment) for fragment in history.fragments()]
    assert {message["role"] for message in encoded} <= {"user", "assistant"}
    assert not any("tool_calls" in message for message in encoded)


def contents_shown(*messages: Message) -> list[str | None]:
    history = History(CHAT_COMPLETIONS, Estimate(), with_tools=True)
    history.extend(messages)
    return [msgspec.json.decode(fragment)["content"] for fragment in history.fragments()]


def test_a_call_without_a_result_was_not_run() -> None:
    assert contents_shown(request("a", "b"), result("b"), text("next")) == [None, "Not run.", "ok", "next"]


def test_a_second_result_of_the_same_call_is_left_out() -> None:
    assert contents_shown(request("a", "b"), result("a", "first"), result("a", "second"), result("b")) == [
        None,
        "first",
        "ok",
    ]


def test_a_result_without_its_call_is_left_out() -> None:
    assert contents_shown(text("hi"), result("a")) == ["hi"]


def test_a_cut_answer_an_error_and_an_empty_text_are_left_out() -> None:
    assert contents_shown(text("hi"), text("half", "assistant", "cut"), text("", "assistant")) == ["hi"]


def test_an_error_between_a_call_and_its_result_does_not_separate_them() -> None:
    error = ErrorMessage(id=MessageId("e"), timestamp=AT, role="assistant", reason=Reason(Code.INTERRUPTED))
    assert contents_shown(request("a"), error, result("a", "late")) == [None, "late"]


def mode_switch(mode: object) -> SystemControl:
    return SystemControl(id=MessageId("s"), timestamp=AT, role="system", kind="mode_switch", detail={"to": mode})


def overview(content: str) -> SystemControl:
    detail = {"about": OVERVIEW}
    return SystemControl(
        id=MessageId("o"), timestamp=AT, role="system", kind="injection", content=content, detail=detail
    )


SWITCH_LINE = "[The mode is now 'plan'. The system prompt says what it means.]"


def test_a_mode_switch_is_one_line_at_its_place() -> None:
    assert contents_shown(text("hi"), mode_switch("plan"), text("next")) == ["hi", SWITCH_LINE, "next"]


def test_a_mode_switch_without_a_mode_is_left_out() -> None:
    assert contents_shown(text("hi"), mode_switch(None), mode_switch(7), mode_switch(" ")) == ["hi"]


def test_a_notice_that_arrives_while_calls_are_open_stands_behind_their_results() -> None:
    messages = (request("a", "b"), result("a"), mode_switch("plan"), overview("new"), result("b"), text("next"))
    shown = contents_shown(*messages)
    assert shown[:4] == [None, "ok", "ok", SWITCH_LINE]
    assert present(shown[4]).endswith("\nnew")
    assert shown[5:] == ["next"]


def test_a_notice_behind_an_open_call_is_sent_with_its_placeholder() -> None:
    assert contents_shown(request("a"), mode_switch("plan")) == [None, "Not run.", SWITCH_LINE]


def test_without_tools_a_notice_stands_behind_the_results_too() -> None:
    history = History(CHAT_COMPLETIONS, Estimate(), with_tools=False)
    history.extend([request("a"), mode_switch("plan"), result("a")])
    encoded = [msgspec.json.decode(fragment) for fragment in history.fragments()]
    assert [message["content"] for message in encoded] == ["[called t with {}]", "[result of t: ok]", SWITCH_LINE]


def test_a_notice_is_no_reason_to_answer() -> None:
    shown = contents_shown(text("hi"), text("hello", "assistant"), mode_switch("plan"))
    assert shown == ["hi", "hello", SWITCH_LINE, CONTINUE_TEXT]


def test_overviews_that_are_no_newer_than_the_one_in_the_prompt_are_left_out() -> None:
    history = History(CHAT_COMPLETIONS, Estimate(), with_tools=True, overviews_from=3)
    history.extend([text("hi"), overview("first"), overview("second"), overview("third")])
    shown = [msgspec.json.decode(fragment)["content"] for fragment in history.fragments()]
    assert [content.rpartition("\n")[2] for content in shown] == ["hi", "third"]


def test_notices_that_an_earlier_version_did_not_send_are_counted() -> None:
    unsent = Metadata(tokens=0, counter=Estimate().name)
    switch: SystemControl = msgspec.structs.replace(mode_switch("plan"), metadata=unsent)
    history = History(CHAT_COMPLETIONS, Estimate(), with_tools=True)
    history.extend([text("hi"), switch])
    assert history.blocks()[1].tokens == Estimate().count(SWITCH_LINE) + TOKENS_PER_MESSAGE


@given(messages=branches())
def test_the_tokens_of_the_blocks_are_those_of_the_history(messages: list[Message]) -> None:
    history = History(CHAT_COMPLETIONS, Estimate(), with_tools=True)
    history.extend(messages)
    assert sum(block.tokens for block in history.blocks()) + history.ending_tokens == history.tokens


def test_a_long_result_is_cut_in_the_middle() -> None:
    (_, cut) = contents_shown(request("a"), result("a", "x" * MAX_RESULT_CHARACTERS + "end"))
    assert len(present(cut)) < MAX_RESULT_CHARACTERS + 100
    assert present(cut).endswith("end")
