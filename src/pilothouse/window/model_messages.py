"""Messages in the form that a model gets, and their tokens."""

from collections.abc import Iterable, Mapping
from typing import Any

import msgspec

from pilothouse.domain.codes import Code, Reason
from pilothouse.domain.messages import (
    FileReference,
    Image,
    MCPResource,
    Message,
    Metadata,
    OpaquePart,
    ProjectStructure,
    SystemControl,
    Text,
    ToolCall,
    ToolRequest,
    ToolResult,
    is_overview,
    is_sent_to_model,
    switched_mode,
)
from pilothouse.domain.payloads import DataContext
from pilothouse.domain.value import CallId
from pilothouse.i18n import translate
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

MAX_RESULT_CHARACTERS = 60_000
TOKENS_PER_MESSAGE = 4
"""The role of a message and the marks of its beginning and end."""
# Providers count an image by its size, each in its own way, from 85 to about 1,600 tokens: 1,100 is usual for a
# screenshot.
IMAGE_TOKENS = 1100
NO_OPEN_FILES = "[No file is open in the person's editor]"
_MAX_OPEN_FILES = 20
_MAX_PATH_CHARACTERS = 300
_MAX_PATHS_CHARACTERS = 2000
"""The length of the paths of all open files together."""
_SUMMARY = "[Summary of the earlier part of this conversation, which was compressed]"
_OVERVIEW = "[The workspace as it is now, in place of every earlier overview]"
_MODE_SWITCH = "[The mode is now {mode!r}. The system prompt says what it means.]"
SUMMARY_FRAME_TOKENS = 24
"""The tokens of the line above and the marks of a message, at most."""
CONTINUE_TEXT = "Please go on."


def to_model_message(message: Message, *, vision: bool = False, reasoning_of: str | None = None) -> ModelMessage:
    """Convert a message that is no call and no result. `vision` says whether the model has vision; `reasoning_of` names
    the format whose reasoning is sent."""
    match message:
        case Text(role="assistant"):
            reasoning, opaque = _reasoning_of(message, reasoning_of if message.ended == "complete" else None)
            return AssistantText(content=message.content, reasoning=reasoning, opaque=opaque)
        case Text() | ProjectStructure() | MCPResource():
            return UserText(content=message.content)
        case SystemControl():
            return UserText(content=_notice_text(message))
        case FileReference():
            return UserText(content=_file_text(message))
        case Image():
            return _image_message(message, vision)
        case _:
            raise AssertionError(f"the model is not told of {type(message).__name__}")


def as_calls(
    request: ToolRequest,
    results: Mapping[CallId, ToolResult],
    limit: int = MAX_RESULT_CHARACTERS,
    *,
    reasoning_of: str | None = None,
) -> Iterable[ModelMessage]:
    """Calls and results in the API's own form. `reasoning_of` names the format whose reasoning is sent."""
    calls = tuple(
        RequestedCall(id=call.id, tool=_safe_tool_name(call), arguments=_arguments_json(call)) for call in request.calls
    )
    reasoning, opaque = _reasoning_of(request, reasoning_of)
    yield AssistantCalls(content=_text_before_calls(request), calls=calls, reasoning=reasoning, opaque=opaque)
    for call in request.calls:
        yield CallResult(call_id=call.id, content=result_text(results.get(call.id), limit))


def _reasoning_of(message: Text | ToolRequest, wire_format: str | None) -> tuple[str, tuple[OpaquePart, ...]]:
    """The reasoning and the opaque parts that a format produced. No format gets those of another one."""
    reasoning = message.reasoning
    text = reasoning.text if reasoning is not None and reasoning.format == wire_format else ""
    return text, tuple(part for part in message.opaque if part.format == wire_format)


def reasoning_tokens(message: AssistantText | AssistantCalls, counter: Counter) -> int:
    """The tokens of the reasoning and the opaque parts, which the stored counts of messages leave out: other formats do
    not send them."""
    return sum(counter.count(text) for text in (message.reasoning, *(part.data for part in message.opaque)) if text)


def as_text(
    request: ToolRequest, results: Mapping[CallId, ToolResult], limit: int = MAX_RESULT_CHARACTERS
) -> Iterable[ModelMessage]:
    """Calls and results as text, for a request without tools: some APIs refuse calls of undeclared tools."""
    text = _text_before_calls(request)
    call_lines = [f"[called {call.tool} with {call.arguments}]" for call in request.calls]
    yield AssistantText(content="\n".join([text, *call_lines] if text else call_lines))
    result_lines = [f"[result of {call.tool}: {result_text(results.get(call.id), limit)}]" for call in request.calls]
    yield UserText(content="\n".join(result_lines))


def _text_before_calls(request: ToolRequest) -> str:
    """The text that came with calls. The model is told of calls that it did not send itself."""
    if request.metadata.origin is not None:
        return f"[These calls came from {request.metadata.origin}.]"
    return request.content if request.content.strip() else ""


def attachment_messages(metadata: Metadata) -> list[ModelMessage]:
    """The attachments of a person's message, which every request of its turn contains."""
    data = [UserText(content=_data_text(metadata.data_context))] if metadata.data_context is not None else []
    return [*data, *(UserText(content=text) for text in metadata.extra_user_messages)]


def result_text(result: ToolResult | None, limit: int = MAX_RESULT_CHARACTERS) -> str:
    if result is None:
        return translate(Reason(Code.NOT_RUN))
    return shorten_characters(result.content if result.content.strip() else "(empty)", limit)


def shorten_characters(text: str, limit: int, why: str | None = None) -> str:
    """The head and the tail of a text, `limit` characters together, with a notice between them."""
    if len(text) <= limit:
        return text
    half = limit // 2
    because = f": {why}" if why else ""
    return f"{text[:half]}\n[… {len(text) - 2 * half} characters left out{because} …]\n{text[len(text) - half :]}"


def with_token_count(message: Message, counter: Counter, *, vision: bool = False) -> Message:
    """The message with the number of tokens that it takes in a request."""
    metadata = message.metadata
    tokens = _count_tokens(message, counter, vision) if is_sent_to_model(message) else 0
    if metadata.tokens == tokens and metadata.counter == counter.name:
        return message
    return msgspec.structs.replace(
        message, metadata=msgspec.structs.replace(metadata, tokens=tokens, counter=counter.name)
    )


def tokens_of(message: Message, counter: Counter, *, vision: bool = False) -> int:
    """The tokens of a message: the stored number where the same counter made it. The number of an image is counted
    again, since it depends on the model, and so is a zero: an earlier version did not send the message."""
    metadata = message.metadata
    if metadata.tokens and metadata.counter == counter.name and not isinstance(message, Image):
        return metadata.tokens
    return _count_tokens(message, counter, vision)


def tokens_in(message: ModelMessage, counter: Counter) -> int:
    match message:
        case AssistantCalls(content=content, calls=calls):
            call_tokens = sum(_call_tokens(call.tool, call.arguments, counter) for call in calls)
            return counter.count(content) + TOKENS_PER_MESSAGE + call_tokens + reasoning_tokens(message, counter)
        case AssistantText(content=content):
            return counter.count(content) + TOKENS_PER_MESSAGE + reasoning_tokens(message, counter)
        case UserText(content=content) | CallResult(content=content):
            return counter.count(content) + TOKENS_PER_MESSAGE
        case UserImage(name=name):
            return IMAGE_TOKENS + counter.count(name) + TOKENS_PER_MESSAGE


def _count_tokens(message: Message, counter: Counter, vision: bool) -> int:
    match message:
        case ToolRequest():
            calls = sum(_call_tokens(_safe_tool_name(call), _arguments_json(call), counter) for call in message.calls)
            return counter.count(_text_before_calls(message)) + TOKENS_PER_MESSAGE + calls
        case ToolResult():
            return counter.count(result_text(message)) + TOKENS_PER_MESSAGE
        case _:
            return tokens_in(to_model_message(message, vision=vision), counter)


def _call_tokens(tool: str, arguments: str, counter: Counter) -> int:
    return counter.count(tool) + counter.count(arguments) + 2 * TOKENS_PER_MESSAGE


def _notice_text(message: SystemControl) -> str:
    if message.kind == "mode_switch":
        return _MODE_SWITCH.format(mode=switched_mode(message))
    if message.kind == "summary":
        return f"{_SUMMARY}\n{message.content}"
    return f"{_OVERVIEW}\n{message.content}" if is_overview(message) else message.content


def _file_text(message: FileReference) -> str:
    lines = message.range
    location = (
        message.path
        if lines is None
        else f"{message.path}, lines {lines.start_line or 1} to {lines.end_line or 'the end'}"
    )
    if message.content is not None:
        return f"[file {location}]\n{message.content}"
    error = translate(message.error) if message.error is not None else translate(Reason(Code.INTERRUPTED_CALL))
    return f"[file {location} could not be read: {error}]"


def _image_message(message: Image, vision: bool) -> ModelMessage:
    name = message.name
    if vision and message.recognition != "ocr" and (message.data is not None or message.url is not None):
        return UserImage(name=name, media_type=message.media_type, data=message.data, url=message.url)
    if message.recognised_text is not None:
        return UserText(content=f"[image {name}, read by OCR]\n{message.recognised_text}")
    return UserText(content=f"[image {name} could not be shown: {translate(_image_error(message))}]")


def _image_error(message: Image) -> Reason:
    """Why the model does not get an image. An image that an earlier model got has no error of its own."""
    if message.error is not None:
        return message.error
    if message.resolved_at is None:
        return Reason(Code.INTERRUPTED_CALL)
    return Reason(Code.IMAGE_ELSEWHERE if message.url is not None else Code.IMAGE_UNSEEN)


def _data_text(data: DataContext) -> str:
    return f"[data that the person is looking at: {data.label}, {data.path}]\n{data.preview}"


def _safe_tool_name(call: ToolCall) -> str:
    """A tool name that every API accepts: a model may have invented the name."""
    safe = "".join(
        character if character.isascii() and (character.isalnum() or character in "_-") else "_"
        for character in call.tool
    )
    return safe[:64] or "unknown"


def _arguments_json(call: ToolCall) -> str:
    """The arguments as a JSON object, which the APIs require. Anything else that the model sent is put into one."""
    try:
        if isinstance(_JSON.decode(call.arguments), dict):
            return call.arguments
    except (msgspec.MsgspecError, UnicodeEncodeError, RecursionError):
        pass
    if not call.arguments.strip():
        return "{}"
    return msgspec.json.encode({"not_an_object": call.arguments.encode("utf-8", "replace").decode()}).decode()


_JSON: msgspec.json.Decoder[Any] = msgspec.json.Decoder()


def open_files_text(message: Message) -> str | None:
    """The open files for the model, bounded in size; None for a message that does not name them."""
    value = message.metadata.extra.get("open_files") if message.role == "user" else None
    if not isinstance(value, list | tuple):
        return None
    files = [path for path in value if isinstance(path, str)]
    if value and not files:
        return None
    paths = _bounded_paths(files)
    rest = [f"… and {len(files) - len(paths)} more"] if len(files) > len(paths) else []
    lines = "\n".join(f"- {line}" for line in (*paths, *rest))
    return f"[Open in the person's editor]\n{lines}" if files else NO_OPEN_FILES


def _bounded_paths(files: list[str]) -> list[str]:
    """The first paths, each on one line."""
    paths: list[str] = []
    remaining = _MAX_PATHS_CHARACTERS
    for file in files[:_MAX_OPEN_FILES]:
        path = "".join(character if character.isprintable() else "?" for character in file[:_MAX_PATH_CHARACTERS])
        remaining -= len(path)
        if remaining < 0:
            break
        paths.append(path)
    return paths
