"""The script format: the answers of a scripted model as JSON. Scripts play in process and over HTTP.

    {"turn": [ANSWER, …], "title": […], "summary": […]}

An ANSWER has, all optional: `text` (or `deltas`, its exact parts), `calls` [{tool, arguments, id?}] where
`arguments` may be a string that is no JSON, `delay` before anything is sent, `delta_delay` between deltas,
`error` {status, message?, retry_after?} instead of an answer, `cut` (drop the connection after so many
events), `silence` (send nothing more after so many events), `finish`, `usage` {input_tokens, output_tokens},
and `raw` (lines to send unchanged, over HTTP only).
"""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import msgspec

from pilothouse.domain.codes import Code
from pilothouse.domain.errors import InvalidInput, ModelRefused
from pilothouse.domain.messages import Usage
from pilothouse.domain.value import Value
from pilothouse.llm.base import CallDelta, Finished, ModelEvent, Purpose, TextDelta, UsageReported

_DELTA_CHARACTERS = 16


class ScriptedCall(Value):
    tool: str
    arguments: Any = {}
    id: str | None = None


class ScriptedError(Value):
    status: int
    message: str = "scripted error"
    retry_after: str | None = None


class Answer(Value):
    text: str = ""
    deltas: tuple[str, ...] | None = None
    calls: tuple[ScriptedCall, ...] = ()
    delay: float = 0
    delta_delay: float = 0
    error: ScriptedError | None = None
    cut: int | None = None
    silence: int | None = None
    finish: str | None = None
    usage: Usage | None = None
    raw: tuple[str, ...] | None = None

    def events(self) -> Iterator[ModelEvent]:
        """The answer as a stream of model events."""
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
