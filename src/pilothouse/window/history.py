"""The history of a branch as the adapter's own fragments, folded message by message: only what is new costs.

One rule serves fork, merge, crash and cancel alike: every call is followed by exactly one result. A call
without one on this branch gets "not run"; a result without its call is left out.
"""

from collections.abc import Callable, Iterable

from pilothouse.domain.codes import Code, Reason, say
from pilothouse.domain.messages import (
    FileReference,
    MCPResource,
    Message,
    ProjectStructure,
    SystemControl,
    Text,
    ToolRequest,
    ToolResult,
    is_told,
)
from pilothouse.llm.base import AssistantCalls, AssistantText, CallResult, ModelMessage, RequestedCall, UserText

Encode = Callable[[ModelMessage], bytes]
RESULT_LIMIT = 60_000


class History:
    """`with_tools` is false where the request carries none: then calls and results are told as text."""

    def __init__(self, encode: Encode, *, with_tools: bool) -> None:
        self._encode = encode
        self._with_tools = with_tools
        self._closed: list[bytes] = []
        self._request: ToolRequest | None = None
        self._results: dict[str, ToolResult] = {}

    def extend(self, messages: Iterable[Message]) -> None:
        for message in messages:
            if isinstance(message, ToolResult):
                self._take_result(message)
                continue
            if not is_told(message):
                continue
            self._close()
            if isinstance(message, ToolRequest):
                self._request = message
            else:
                self._closed.append(self._encode(_shown(message)))

    def fragments(self) -> list[bytes]:
        """All of it, the calls that are still open answered too."""
        return self._closed + self._block()

    def _take_result(self, result: ToolResult) -> None:
        request = self._request
        if request is None or result.call_id in self._results:
            return
        if any(call.id == result.call_id for call in request.calls):
            self._results[result.call_id] = result
            if len(self._results) == len(request.calls):
                self._close()

    def _close(self) -> None:
        self._closed += self._block()
        self._request = None
        self._results = {}

    def _block(self) -> list[bytes]:
        if self._request is None:
            return []
        render = _as_calls if self._with_tools else _as_text
        return [self._encode(message) for message in render(self._request, self._results)]


def _shown(message: Message) -> ModelMessage:
    match message:
        case Text(role="assistant"):
            return AssistantText(content=message.content)
        case Text() | ProjectStructure() | MCPResource() | SystemControl():
            return UserText(content=message.content)
        case FileReference():
            return UserText(content=_file(message))
        case _:
            raise AssertionError(f"the model is not told of {type(message).__name__}")


def _file(message: FileReference) -> str:
    lines = message.range
    where = (
        message.path
        if lines is None
        else f"{message.path}, lines {lines.start_line or 1} to {lines.end_line or 'the end'}"
    )
    if message.content is not None:
        return f"[file {where}]\n{message.content}"
    why = say(message.error) if message.error is not None else say(Reason(Code.INTERRUPTED_CALL))
    return f"[file {where} could not be read: {why}]"


def _as_calls(request: ToolRequest, results: dict[str, ToolResult]) -> Iterable[ModelMessage]:
    calls = tuple(RequestedCall(id=call.id, tool=call.tool, arguments=call.arguments or "{}") for call in request.calls)
    yield AssistantCalls(content=request.content, calls=calls)
    for call in request.calls:
        yield CallResult(call_id=call.id, content=_result(results.get(call.id)))


def _as_text(request: ToolRequest, results: dict[str, ToolResult]) -> Iterable[ModelMessage]:
    asked = [f"[called {call.tool} with {call.arguments}]" for call in request.calls]
    yield AssistantText(content="\n".join([request.content, *asked] if request.content else asked))
    answered = [f"[result of {call.tool}: {_result(results.get(call.id))}]" for call in request.calls]
    yield UserText(content="\n".join(answered))


def _result(result: ToolResult | None) -> str:
    if result is None:
        return say(Reason(Code.NOT_RUN))
    content = result.content
    if len(content) <= RESULT_LIMIT:
        return content
    half = RESULT_LIMIT // 2
    return f"{content[:half]}\n[… {len(content) - 2 * half} characters left out …]\n{content[-half:]}"
