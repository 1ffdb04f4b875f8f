"""Branches of any shape: all that turns, crashes, cancels, forks, merges and imports can leave, and a little more."""

from typing import Any

import msgspec
from hypothesis import strategies as st

from pilothouse.domain.codes import Code, Reason
from pilothouse.domain.messages import (
    OVERVIEW,
    ErrorMessage,
    FileReference,
    Image,
    MCPResource,
    Message,
    Metadata,
    Processing,
    ProjectStructure,
    SystemControl,
    Text,
    TextEnd,
    ToolCall,
    ToolRequest,
    ToolResult,
    WorkflowExecution,
)
from pilothouse.domain.payloads import LineRange
from pilothouse.domain.value import CallId, MessageId
from pilothouse.runtime.authorization.authorization import EndStatus

AT = "2026-01-01T00:00:00Z"
REASON = Reason(Code.INTERRUPTED)

contents = st.sampled_from(["hello", "你好 😀", "", " ", "\n\t", "\0", "word " * 20_000]) | st.text(max_size=8)
names = st.sampled_from(["look", "docs__look", "", " ", "docs.look", "看", "a b", "n" * 200, "a\n", '"']) | st.text(
    max_size=4
)
ARGUMENTS = (
    *("{}", '{"a": 1}', "", " ", "{", '{"a": ', '{"a": 1} {"b": 2}', "(cut off)", "[]", "null", "1", '"x"', "\0"),
    *('{"a": NaN}', '{"a": "\\ud800"}', "{'a': 1}", '{"a": 1,}', "[" * 5000, '{"a":' * 5000),
    '{"a": "' + "x" * 200_000 + '"}',
)
arguments = st.sampled_from(ARGUMENTS) | st.text(max_size=4)
sizes = st.sampled_from([1, 2, 3, 5, 0])  # none: only an import may bring that
odd_ids = st.sampled_from(["", " ", "i" * 65, "看", "c0"])  # messages that only an import may contain

DETAILS: tuple[dict[str, Any], ...] = ({}, {"to": "plan"}, {"to": 1}, {"about": OVERVIEW})
OPEN_FILES: tuple[Any, ...] = (["a.py"], ["b\n.py", 1], [], None, "a.py")
metadata = st.sampled_from(
    [Metadata()] * 8
    + [Metadata(held="processing"), Metadata(held="refused")]
    + [Metadata(extra={"open_files": files}) for files in OPEN_FILES]
)
ended: st.SearchStrategy[TextEnd] = st.sampled_from(["complete", "complete", "cut", "interrupted", "cancelled"])
statuses: st.SearchStrategy[EndStatus] = st.sampled_from(
    ["executed", "failed", "rejected", "denied", "cancelled", "interrupted"]
)
ranges = st.none() | st.builds(LineRange, start_line=st.none() | st.just(2), end_line=st.none() | st.just(3))
controls: st.SearchStrategy[Any] = st.sampled_from(
    ["injection", "summary", "mode_switch", "prompt_change", "branch_merge"]
)

KINDS = (
    *("user", "assistant", "request", "request", "result", "result", "result", "error", "control", "file"),
    *("resource", "structure", "hidden"),
)


class MessageMaker:
    """Makes messages with ids of their own, and knows which calls were asked for."""

    def __init__(self, draw: st.DrawFn) -> None:
        self._draw = draw
        self._made = 0
        self._asked: list[str] = []

    def message(self, kind: str) -> Message:
        self._made += 1
        common = {"id": MessageId(f"m{self._made}"), "timestamp": AT, "metadata": self._draw(metadata)}
        make: Any = getattr(self, f"_{kind}")
        message: Message = make(common)
        return message

    def _user(self, common: dict[str, Any]) -> Message:
        return Text(**common, role="user", content=self._draw(contents))

    def _assistant(self, common: dict[str, Any]) -> Message:
        return Text(**common, role="assistant", content=self._draw(contents), ended=self._draw(ended))

    def _request(self, common: dict[str, Any]) -> Message:
        calls = tuple(self._call() for _ in range(self._draw(sizes)))
        return ToolRequest(**common, role="assistant", content=self._draw(contents), calls=calls)

    def _call(self) -> ToolCall:
        call_id = self._draw(odd_ids) if self._draw(st.integers(0, 9)) == 9 else f"c{len(self._asked)}"
        self._asked.append(call_id)
        return ToolCall(id=CallId(call_id), provider_id="", tool=self._draw(names), arguments=self._draw(arguments))

    def _result(self, common: dict[str, Any]) -> Message:
        call_id = self._draw(st.sampled_from([*self._asked[::-1], "foreign"]))
        return ToolResult(
            **common,
            role="tool",
            call_id=CallId(call_id),
            tool="look",
            content=self._draw(contents),
            status=self._draw(statuses),
        )

    def _error(self, common: dict[str, Any]) -> Message:
        return ErrorMessage(**common, role="assistant", reason=REASON)

    def _control(self, common: dict[str, Any]) -> Message:
        return SystemControl(
            **common,
            role="system",
            kind=self._draw(controls),
            content=self._draw(contents),
            detail=self._draw(st.sampled_from(DETAILS)),
        )

    def _file(self, common: dict[str, Any]) -> Message:
        return FileReference(
            **common,
            role="user",
            path=self._draw(st.sampled_from(["a.txt", "", "看"])),
            range=self._draw(ranges),
            content=self._draw(st.none() | contents),
            error=self._draw(st.none() | st.just(REASON)),
        )

    def _resource(self, common: dict[str, Any]) -> Message:
        return MCPResource(
            **common, role="user", server="docs", uri="x:/y", content=self._draw(contents), retrieved_at=AT
        )

    def _structure(self, common: dict[str, Any]) -> Message:
        return ProjectStructure(**common, role="system", root="/", kind="tree", content=self._draw(contents))

    def _hidden(self, common: dict[str, Any]) -> Message:
        hidden: list[Message] = [
            Processing(**common, role="system", stage="s", started_at=AT),
            Image(**common, role="user", data="x"),
            WorkflowExecution(**common, role="system", workflow="w", execution_id="1", status="failed"),
        ]
        return self._draw(st.sampled_from(hidden))


def _stretch(draw: st.DrawFn, maker: MessageMaker, size: int) -> list[Message]:
    return [maker.message(kind) for kind in draw(st.lists(st.sampled_from(KINDS), max_size=size))]


def _slice(draw: st.DrawFn, branch: list[Message]) -> list[Message]:
    start = draw(st.integers(0, len(branch)))
    return branch[start : draw(st.integers(start, len(branch)))]


@st.composite
def branches(draw: st.DrawFn) -> list[Message]:
    """A branch, its fork with another end, a slice of the one merged into the other, and later messages."""
    maker = MessageMaker(draw)
    main = _stretch(draw, maker, 12)
    for step in draw(st.lists(st.sampled_from(["fork", "merge", "double", "answer"]), max_size=3)):
        if step == "fork":
            main = main[: draw(st.integers(0, len(main)))] + _stretch(draw, maker, 5)
        elif step == "merge":
            other = main[: draw(st.integers(0, len(main)))] + _stretch(draw, maker, 5)
            main = main + _slice(draw, other) + _stretch(draw, maker, 3)
        elif step == "double":
            main = main + _slice(draw, main)
        else:
            main = main + _answers(draw, maker, main)
    return main


def _answers(draw: st.DrawFn, maker: MessageMaker, branch: list[Message]) -> list[Message]:
    """The results of the last request, in any order, as a turn leaves them."""
    requests = [message for message in branch if isinstance(message, ToolRequest)]
    calls = draw(st.permutations(requests[-1].calls)) if requests else []
    results = [maker.message("result") for _ in calls]
    return [msgspec.structs.replace(one, call_id=call.id) for one, call in zip(results, calls, strict=True)]
