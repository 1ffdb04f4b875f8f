"""The rule of the window: for any branch, every call has exactly one result."""

from typing import Any

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from pilothouse.domain.codes import Code, Reason
from pilothouse.domain.messages import ErrorMessage, Message, SystemControl, Text, ToolCall, ToolRequest, ToolResult
from pilothouse.domain.value import CallId, MessageId
from pilothouse.llm.chat_completions import CHAT_COMPLETIONS
from pilothouse.window.history import History
from pilothouse.window.model_messages import MAX_RESULT_CHARACTERS
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
            messages.append(SystemControl(id=MessageId("c"), timestamp=AT, role="system", kind="mode_switch"))
        elif kind == "request":
            size = draw(st.integers(1, 3))
            messages.append(request(*(str(count + n) for n in range(size))))
            count += size
        else:
            messages.append(result(str(draw(st.integers(0, count + 1)))))
    return messages


@given(messages=branches(), data=st.data())
def test_every_window_is_valid_at_every_length_and_compression(messages: list[Message], data: st.DataObject) -> None:
    whole = History(CHAT_COMPLETIONS.encode, Estimate(), with_tools=True)
    whole.extend(messages)
    assert_valid_window(whole.fragments())
    stepwise = History(CHAT_COMPLETIONS.encode, Estimate(), with_tools=True)
    for message in messages:
        stepwise.extend([message])
        assert_valid_window(stepwise.fragments())
    assert stepwise.fragments() == whole.fragments()


@given(messages=branches())
def test_without_tools_calls_and_results_are_encoded_as_text(messages: list[Message]) -> None:
    history = History(CHAT_COMPLETIONS.encode, Estimate(), with_tools=False)
    history.extend(messages)
    encoded = [msgspec.json.decode(fragment) for fragment in history.fragments()]
    assert {message["role"] for message in encoded} <= {"user", "assistant"}
    assert not any("tool_calls" in message for message in encoded)


def contents_shown(*messages: Message) -> list[str | None]:
    history = History(CHAT_COMPLETIONS.encode, Estimate(), with_tools=True)
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


def test_a_long_result_is_cut_in_the_middle() -> None:
    (_, cut) = contents_shown(request("a"), result("a", "x" * MAX_RESULT_CHARACTERS + "end"))
    assert len(present(cut)) < MAX_RESULT_CHARACTERS + 100
    assert present(cut).endswith("end")
