"""A second wire format for tests, unlike chat completions: turns of user and model alternate, and each holds parts of
several kinds. `faults` checks a request as strictly as a server."""

import hashlib
import itertools
from collections import Counter
from collections.abc import Iterator
from typing import Any, Literal

import msgspec

from pilothouse.llm.base import (
    AssistantCalls,
    AssistantText,
    CallResult,
    ModelMessage,
    ModelRequest,
    Purpose,
    UserImage,
    UserText,
)

_SIDES = {b"u": b"user", b"m": b"model"}
_OPENING = b'u{"kind":"text","text":"The conversation began before."}'
"""Put before a history that begins with the model: the first turn must be the user's."""


class _Part(msgspec.Struct, tag_field="kind", forbid_unknown_fields=True):
    pass


class TextPart(_Part, tag="text"):
    text: str


class ImagePart(_Part, tag="image"):
    source: str
    """An address, or bytes in base64."""


class ThoughtPart(_Part, tag="thought"):
    text: str
    seal: str
    """The provider's signature of the text."""


class CallPart(_Part, tag="call"):
    id: str
    tool: str
    arguments: msgspec.Raw


class ResultPart(_Part, tag="result"):
    of: str
    text: str


Part = TextPart | ImagePart | ThoughtPart | CallPart | ResultPart


class AlternatingFormat:
    """An encoded message is the letter of its side, then its parts. `body` joins the parts of neighbouring messages of
    one side into one turn, without parsing them."""

    name = "alternating"
    max_description_characters = None
    sends_reasoning = True

    def encode(self, message: ModelMessage) -> bytes:
        side, parts = _parts(message)
        return side + b",".join(msgspec.json.encode(part) for part in parts)

    def body(self, request: ModelRequest) -> bytes:
        opening = [] if request.messages[0][:1] == b"u" else [_OPENING]
        sides = itertools.groupby([*opening, *request.messages], key=lambda message: message[:1])
        turns = [
            b'{"by":"%b","parts":[%b]}' % (_SIDES[side], b",".join(message[1:] for message in messages))
            for side, messages in sides
        ]
        head = {"model": request.model, "purpose": request.purpose, "instructions": request.system}
        tools = [{"name": tool.name, "schema": tool.parameters} for tool in request.tools]
        rest = b',"tools":%b,"turns":[%b]}' % (msgspec.json.encode(tools), b",".join(turns))
        return msgspec.json.encode(head)[:-1] + rest


ALTERNATING = AlternatingFormat()


def _parts(message: ModelMessage) -> tuple[bytes, list[Part]]:
    match message:
        case UserText(content=content):
            return b"u", [TextPart(content)]
        case UserImage(data=data, url=url):
            return b"u", [ImagePart(data or url or "")]
        case AssistantText(content=content):
            return b"m", [*_thoughts(message), TextPart(content)]
        case AssistantCalls(content=content, calls=calls):
            texts = [TextPart(content)] if content else []
            return b"m", [
                *_thoughts(message),
                *texts,
                *(CallPart(call.id, call.tool, msgspec.Raw(call.arguments.encode())) for call in calls),
            ]
        case CallResult(call_id=call_id, content=content):
            return b"u", [ResultPart(call_id, content)]


def _thoughts(message: AssistantText | AssistantCalls) -> Iterator[ThoughtPart]:
    """Yield the sealed thoughts, each from the end of the one before to the place of its seal."""
    start = 0
    for part in message.opaque:
        yield ThoughtPart(message.reasoning[start : part.after_reasoning], part.data)
        start = part.after_reasoning


def seal_of(text: str) -> str:
    """Return the seal with which the provider signs a thought."""
    return hashlib.sha256(b"alternating " + text.encode()).hexdigest()


class _Turn(msgspec.Struct, forbid_unknown_fields=True):
    by: Literal["user", "model"]
    parts: list[Part]


class _Tool(msgspec.Struct, forbid_unknown_fields=True):
    name: str
    schema: dict[str, Any]


class Body(msgspec.Struct, forbid_unknown_fields=True):
    """A decoded request."""

    model: str
    purpose: Purpose
    instructions: str
    tools: list[_Tool]
    turns: list[_Turn]


def faults(data: bytes) -> list[str]:
    """Return the faults for which a server of this format refuses a request."""
    try:
        body = msgspec.json.decode(data, type=Body)
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        return [f"body: {error}"]
    turns = body.turns
    problems = [f"{name} is empty" for name in ("model", "instructions") if not getattr(body, name)]
    problems += [] if turns and turns[0].by == "user" else ["the first turn is not the user's"]
    problems += [] if turns and turns[-1].by == "user" else ["the last turn is not the user's"]
    call_ids = [part.id for turn in turns for part in turn.parts if isinstance(part, CallPart)]
    problems += [
        f"the id {call_id!r} is used {count} times" for call_id, count in Counter(call_ids).items() if count > 1
    ]
    if call_ids and not body.tools:
        problems.append("there are calls, and no tools")
    for number, turn in enumerate(turns):
        before = turns[number - 1] if number else _Turn("user" if turn.by == "model" else "model", [])
        problems += [f"turn {number}: {fault}" for fault in _turn_faults(turn, before)]
    return problems


def _turn_faults(turn: _Turn, before: _Turn) -> Iterator[str]:
    """Yield the faults of a turn behind another one. Every call needs its result at the beginning of the next turn."""
    if turn.by == before.by:
        yield "the same side speaks twice"
    if not turn.parts:
        yield "there are no parts"
    expected = [part.id for part in before.parts if isinstance(part, CallPart)]
    results = [part.of for part in turn.parts if isinstance(part, ResultPart)]
    if sorted(results) != sorted(expected):
        yield f"results of {results}, expected those of {expected}"
    if not all(isinstance(part, ResultPart) for part in turn.parts[: len(results)]):
        yield "a result behind other parts"
    for part in turn.parts:
        yield from _part_faults(part, turn.by)


def _part_faults(part: Part, by: str) -> Iterator[str]:
    if isinstance(part, CallPart | ThoughtPart) != (by == "model") and not isinstance(part, TextPart):
        yield f"a part {type(part).__name__} by the {by}"
    if isinstance(part, TextPart) and not part.text.strip():
        yield "an empty text"
    if isinstance(part, ThoughtPart) and part.seal != seal_of(part.text):
        yield "a thought without its own seal"
    if isinstance(part, ImagePart) and not part.source:
        yield "an image without a source"
    if isinstance(part, CallPart) and not isinstance(msgspec.json.decode(part.arguments), dict):
        yield f"the arguments of {part.id!r} are no object"


def text_of(data: bytes) -> str:
    """Return all texts of a request, for searches."""
    turns = msgspec.json.decode(data, type=Body).turns
    return "\n".join(getattr(part, "text", "") for turn in turns for part in turn.parts)


def parts_of(data: bytes) -> list[tuple[str, list[str]]]:
    """Return the side and the kinds of parts of each turn of a request."""
    turns = msgspec.json.decode(data)["turns"]
    return [(turn["by"], [part["kind"] for part in turn["parts"]]) for turn in turns]
