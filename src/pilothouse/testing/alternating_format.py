"""A second wire format for tests: turns of user and model alternate, so neighbouring messages are joined. `faults`
checks a request as strictly as a server."""

from collections.abc import Sequence
from typing import Any, Literal

import msgspec

from pilothouse.llm.base import (
    AssistantCalls,
    AssistantText,
    CallResult,
    ModelMessage,
    ModelRequest,
    RequestedCall,
    UserImage,
    UserText,
)


class _Part(msgspec.Struct, omit_defaults=True, forbid_unknown_fields=True):
    text: str | None = None
    image: str | None = None
    call: RequestedCall | None = None
    result_of: str | None = None


class _Turn(msgspec.Struct, forbid_unknown_fields=True):
    by: Literal["user", "model"]
    parts: list[_Part]


class AlternatingFormat:
    name = "alternating"
    max_description_characters = None

    def encode(self, message: ModelMessage) -> bytes:
        return msgspec.json.encode(_turn(message))

    def body(self, request: ModelRequest) -> bytes:
        turns: list[_Turn] = []
        for encoded in request.messages:
            turn = msgspec.json.decode(encoded, type=_Turn)
            if turns and turns[-1].by == turn.by:
                turns[-1].parts += turn.parts
            else:
                turns.append(turn)
        return msgspec.json.encode({"model": request.model, "instructions": request.system, "turns": turns})


ALTERNATING = AlternatingFormat()


def _turn(message: ModelMessage) -> _Turn:
    match message:
        case UserText(content=content):
            return _Turn(by="user", parts=[_Part(text=content)])
        case UserImage(name=name, url=url):
            return _Turn(by="user", parts=[_Part(image=url or name)])
        case AssistantText(content=content):
            return _Turn(by="model", parts=[_Part(text=content)])
        case AssistantCalls(content=content, calls=calls):
            texts = [_Part(text=content)] if content else []
            return _Turn(by="model", parts=[*texts, *(_Part(call=call) for call in calls)])
        case CallResult(call_id=call_id, content=content):
            return _Turn(by="user", parts=[_Part(text=content, result_of=call_id)])


class _Body(msgspec.Struct, forbid_unknown_fields=True):
    model: str
    instructions: str
    turns: list[_Turn]


def faults(body: bytes) -> list[str]:
    """Return the faults for which a server of this format refuses a request. Every call needs its result in the next
    turn, before other parts."""
    turns: Sequence[_Turn] = msgspec.json.decode(body, type=_Body).turns
    problems = [] if turns and turns[0].by == "user" else ["the first turn is not the user's"]
    problems += [] if turns and turns[-1].by == "user" else ["the last turn is not the user's"]
    expected: list[str] = []
    for number, turn in enumerate(turns):
        if number and turn.by == turns[number - 1].by:
            problems.append(f"turn {number}: the same side speaks twice")
        results = [part.result_of for part in turn.parts if part.result_of is not None]
        if sorted(results) != sorted(expected):
            problems.append(f"turn {number}: results of {results}, expected those of {expected}")
        if any(part.result_of is None for part in turn.parts[: len(results)]):
            problems.append(f"turn {number}: a result after other parts")
        expected = [part.call.id for part in turn.parts if part.call is not None]
    return problems


def text_of(body: bytes) -> str:
    """Return all texts of a request, for searches."""
    data: dict[str, Any] = msgspec.json.decode(body)
    return "\n".join(part.get("text", "") for turn in data["turns"] for part in turn["parts"])
