"""The script format: the answers of a scripted model as JSON. Scripts play in process and over HTTP.

    {"turn": [ANSWER, …], "title": […], "summary": […]}

Every field of an ANSWER (`Answer`) is optional.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import msgspec

from pilothouse.domain.codes import Code
from pilothouse.domain.errors import InvalidInput, ModelRefused
from pilothouse.domain.messages import Usage
from pilothouse.domain.value import Value
from pilothouse.llm.base import (
    CallDelta,
    Finished,
    ModelEvent,
    OpaquePartReceived,
    Purpose,
    ReasoningTextDelta,
    TextDelta,
    UsageReported,
)

_DELTA_CHARACTERS = 16


class ScriptedCall(Value):
    """A tool call of a scripted answer."""

    tool: str
    arguments: Any = {}
    """The arguments as JSON; a string is sent as it is, and may be no JSON."""
    id: str | None = None
    """The call's id; None for a generated one."""


class ScriptedError(Value):
    """An error response in place of an answer."""

    status: int
    message: str = "scripted error"
    retry_after: str | None = None
    """The value of the header Retry-After."""


class Answer(Value):
    """An answer of the scripted model."""

    text: str = ""
    deltas: tuple[str, ...] | None = None
    """The exact parts in which the text is streamed, in place of `text`."""
    reasoning: tuple[str, ...] = ()
    """The deltas of the reasoning, before the text."""
    opaque: tuple[str, ...] = ()
    """Opaque parts of the provider, behind the reasoning; not over chat completions, which have none."""
    calls: tuple[ScriptedCall, ...] = ()
    delay: float = 0
    """Seconds before anything is sent."""
    delta_delay: float = 0
    """Seconds between two deltas."""
    error: ScriptedError | None = None
    """An error in place of the answer."""
    cut: int | None = None
    """The number of events after which the connection is dropped."""
    silence: int | None = None
    """The number of events after which nothing more is sent."""
    finish: str | None = None
    """The finish reason; None for the usual one."""
    usage: Usage | None = None
    raw: tuple[str, ...] | None = None
    """Lines to send unchanged, over HTTP only."""

    def events(self) -> Iterator[ModelEvent]:
        """The answer as a stream of model events."""
        for reasoning in self.reasoning:
            yield ReasoningTextDelta(text=reasoning)
        for data in self.opaque:
            yield OpaquePartReceived(data=data)
        for text in self.text_deltas():
            yield TextDelta(text=text)
        for index, call in enumerate(self.calls):
            arguments = call.arguments
            if not isinstance(arguments, str):
                arguments = msgspec.json.encode(arguments).decode()
            middle = len(arguments) // 2
            call_id = f"call_{index}" if call.id is None else call.id
            yield CallDelta(index=index, id=call_id, tool=call.tool, arguments=arguments[:middle])
            yield CallDelta(index=index, arguments=arguments[middle:])
        yield Finished(reason=self.finish or ("tool_calls" if self.calls else "stop"))
        if self.usage is not None:
            yield UsageReported(usage=self.usage)

    def text_deltas(self) -> Sequence[str]:
        if self.deltas is not None:
            return self.deltas
        return [self.text[start : start + _DELTA_CHARACTERS] for start in range(0, len(self.text), _DELTA_CHARACTERS)]


class Script(Value):
    """The answers by the purpose of the request, each list in order."""

    turn: tuple[Answer, ...] = ()
    title: tuple[Answer, ...] = ()
    summary: tuple[Answer, ...] = ()


class Player:
    """Plays the answers of a script in order. An exhausted script is an error."""

    def __init__(self, script: Script) -> None:
        self._script = script
        self._next: dict[Purpose, int] = {}

    def answer(self, purpose: Purpose) -> Answer:
        """The next answer for a purpose. Raises: ModelRefused for an exhausted script."""
        answers: tuple[Answer, ...] = getattr(self._script, purpose)
        position = self._next.get(purpose, 0)
        if position >= len(answers):
            raise ModelRefused(Code.SCRIPT_EXHAUSTED, purpose=purpose, count=len(answers))
        self._next[purpose] = position + 1
        return answers[position]


def parse_script(data: bytes | str) -> Script:
    """Raises: InvalidInput, with the place of the mistake."""
    try:
        return msgspec.json.decode(data, type=Script)
    except msgspec.MsgspecError as error:
        raise InvalidInput(Code.SCRIPT_INVALID, detail=str(error)) from error


def load_script(path: Path) -> Script:
    """Raises: InvalidInput."""
    try:
        return parse_script(path.read_bytes())
    except OSError as error:
        raise InvalidInput(Code.SCRIPT_INVALID, detail=str(error)) from error
