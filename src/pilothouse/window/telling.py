"""How a message is told to a model, and how many tokens that takes."""

from collections.abc import Iterable, Mapping
from typing import Any

import msgspec

from pilothouse.domain.codes import Code, Reason, say
from pilothouse.domain.messages import (
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
    is_told,
)
from pilothouse.domain.payloads import DataContext
from pilothouse.domain.values import CallId
from pilothouse.llm.base import (
    AssistantCalls,
    AssistantText,
    CallResult,
    ModelMessage,
    RequestedCall,
    UserImage,
    UserText,
)
from pilothouse.window.tokens import Counter

RESULT_LIMIT = 60_000
PER_MESSAGE = 4  # what stands around a message: its role, and the marks of its beginning and end
# Providers count an image by its size and in their own ways, from 85 to about 1,600: this is a usual screenshot's.
IMAGE_TOKENS = 1100
_SUMMARY = "[Summary of the earlier part of this conversation, which was compressed]"
SUMMARY_AROUND = 24  # what the line above and the marks of a message take at most
GO_ON = "Please go on."


def shown(message: Message, *, sees: bool = False) -> ModelMessage:
    """A message that is no call and no result, for a model that sees images or one that does not."""
    match message:
        case Text(role="assistant"):
            return AssistantText(content=message.content)
        case Text() | ProjectStructure() | MCPResource():
            return UserText(content=message.content)
        case SystemControl():
            is_summary = message.kind == "summary"
            return UserText(content=f"{_SUMMARY}\n{message.content}" if is_summary else message.content)
        case FileReference():
            return UserText(content=_file(message))
        case Image():
            return _image(message, sees)
        case _:
            raise AssertionError(f"the model is not told of {type(message).__name__}")


def as_calls(
    request: ToolRequest, results: Mapping[CallId, ToolResult], limit: int = RESULT_LIMIT
) -> Iterable[ModelMessage]:
    calls = tuple(RequestedCall(id=call.id, tool=_name(call), arguments=_arguments(call)) for call in request.calls)
    yield AssistantCalls(content=request.content if request.content.strip() else "", calls=calls)
    for call in request.calls:
        yield CallResult(call_id=call.id, content=result_text(results.get(call.id), limit))


def as_text(
    request: ToolRequest, results: Mapping[CallId, ToolResult], limit: int = RESULT_LIMIT
) -> Iterable[ModelMessage]:
    """Calls and results where the request carries no tools: some APIs refuse what was not declared."""
    asked = [f"[called {call.tool} with {call.arguments}]" for call in request.calls]
    yield AssistantText(content="\n".join([request.content, *asked] if request.content.strip() else asked))
    answered = [f"[result of {call.tool}: {result_text(results.get(call.id), limit)}]" for call in request.calls]
    yield UserText(content="\n".join(answered))


def attached(metadata: Metadata) -> list[ModelMessage]:
    """What came with a person's message, and is sent in every round of its turn."""
    data = [UserText(content=_data(metadata.data_context))] if metadata.data_context is not None else []
    return [*data, *(UserText(content=text) for text in metadata.extra_user_messages)]


def result_text(result: ToolResult | None, limit: int = RESULT_LIMIT) -> str:
    if result is None:
        return say(Reason(Code.NOT_RUN))
    return shorten_characters(result.content if result.content.strip() else "(empty)", limit)


def shorten_characters(text: str, limit: int, why: str | None = None) -> str:
    """The head and the tail of a text, `limit` characters together, with a notice between them."""
    if len(text) <= limit:
        return text
    half = limit // 2
    because = f": {why}" if why else ""
    return f"{text[:half]}\n[… {len(text) - 2 * half} characters left out{because} …]\n{text[len(text) - half :]}"


def counted(message: Message, counter: Counter, *, sees: bool = False) -> Message:
    """The message with the count of what the model reads of it."""
    known = message.metadata
    tokens = _count(message, counter, sees) if is_told(message) else 0
    if known.tokens == tokens and known.counter == counter.name:
        return message
    metadata = msgspec.structs.replace(known, tokens=tokens, counter=counter.name)
    return msgspec.structs.replace(message, metadata=metadata)


def tokens_of(message: Message, counter: Counter, *, sees: bool = False) -> int:
    """The count that is kept with it, where it was made by the same counter. An image's holds for one model only."""
    known = message.metadata
    if known.tokens is not None and known.counter == counter.name and not isinstance(message, Image):
        return known.tokens
    return _count(message, counter, sees)


def tokens_in(message: ModelMessage, counter: Counter) -> int:
    match message:
        case AssistantCalls(content=content, calls=calls):
            return (
                counter.count(content) + PER_MESSAGE + sum(_call(each.tool, each.arguments, counter) for each in calls)
            )
        case UserText(content=content) | AssistantText(content=content) | CallResult(content=content):
            return counter.count(content) + PER_MESSAGE
        case UserImage(name=name):
            return IMAGE_TOKENS + counter.count(name) + PER_MESSAGE


def _count(message: Message, counter: Counter, sees: bool) -> int:
    match message:
        case ToolRequest():
            calls = sum(_call(_name(call), _arguments(call), counter) for call in message.calls)
            return counter.count(message.content) + PER_MESSAGE + calls
        case ToolResult():
            return counter.count(result_text(message)) + PER_MESSAGE
        case _:
            return tokens_in(shown(message, sees=sees), counter)


def _call(tool: str, arguments: str, counter: Counter) -> int:
    return counter.count(tool) + counter.count(arguments) + 2 * PER_MESSAGE


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


def _image(message: Image, sees: bool) -> ModelMessage:
    name = message.name
    if sees and message.recognition != "ocr" and (message.data is not None or message.url is not None):
        return UserImage(name=name, media_type=message.media_type, data=message.data, url=message.url)
    if message.recognised_text is not None:
        return UserText(content=f"[image {name}, read by OCR]\n{message.recognised_text}")
    return UserText(content=f"[image {name} could not be shown: {say(_why_unseen(message))}]")


def _why_unseen(message: Image) -> Reason:
    """One that an earlier model has seen has no error of its own."""
    if message.error is not None:
        return message.error
    if message.resolved_at is None:
        return Reason(Code.INTERRUPTED_CALL)
    return Reason(Code.IMAGE_ELSEWHERE if message.url is not None else Code.IMAGE_UNSEEN)


def _data(data: DataContext) -> str:
    return f"[data that the person is looking at: {data.label}, {data.path}]\n{data.preview}"


def _name(call: ToolCall) -> str:
    """A name that every API takes: a model may have made one up."""
    safe = "".join(
        character if character.isascii() and (character.isalnum() or character in "_-") else "_"
        for character in call.tool
    )
    return safe[:64] or "unknown"


def _arguments(call: ToolCall) -> str:
    """Always a JSON object, as the APIs want it: what the model sent instead is kept inside one."""
    try:
        if isinstance(_JSON.decode(call.arguments), dict):
            return call.arguments
    except (msgspec.MsgspecError, UnicodeEncodeError, RecursionError):
        pass
    if not call.arguments.strip():
        return "{}"
    return msgspec.json.encode({"not_an_object": call.arguments.encode("utf-8", "replace").decode()}).decode()


_JSON: msgspec.json.Decoder[Any] = msgspec.json.Decoder()
