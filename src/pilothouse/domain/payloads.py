"""The payloads of a message that a client sends: a tagged union. No type is guessed from text."""

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from pilothouse.domain.codes import Code
from pilothouse.domain.errors import InvalidInput
from pilothouse.domain.images import Recognition, check_source
from pilothouse.domain.value import Value

MAX_TEXT_BYTES = 1_000_000
MAX_EXTRA_USER_MESSAGES = 20
MAX_UPLOAD_BYTES = 20 * 1024 * 1024


class LineRange(Value):
    start_line: int | None = None
    end_line: int | None = None


class TextPayload(Value, tag_field="type", tag="text"):
    content: str
    display: str | None = None
    """The text that people see in place of `content`. The model gets `content`."""


class FileReferencePayload(Value, tag_field="type", tag="file_reference"):
    path: str
    range: LineRange | None = None
    display_text: str | None = None
    """The text that people see in place of the path."""


class ImagePayload(Value, tag_field="type", tag="image"):
    """An image from exactly one of three sources."""

    url: str | None = None
    """An address, or a `data:` URL."""
    base64: str | None = None
    path: str | None = None
    """A path in the workspace."""
    recognition: Recognition = "auto"


class WorkflowPayload(Value, tag_field="type", tag="workflow"):
    workflow: str
    parameters: Mapping[str, Any] = {}
    display_text: str | None = None


class ToolResultPayload(Value, tag_field="type", tag="tool_result"):
    """A result that the client itself produced. The model gets it as the user's text."""

    tool_name: str
    result: Any
    display_text: str | None = None
    """The text that people see in place of the result."""


Payload = TextPayload | FileReferencePayload | ImagePayload | WorkflowPayload | ToolResultPayload
SUPPORTED_PAYLOADS = (TextPayload, FileReferencePayload, ImagePayload, ToolResultPayload)

PAYLOAD_TYPES = ("text", "file_reference", "image", "workflow", "tool_result")
_SUPPORTED_NAMES = "text, file_reference, image, tool_result"


class DataContext(Value):
    """Data that the person has open."""

    label: str
    path: str
    preview: str
    """The beginning of the data."""


class MessageAttachments(Value):
    """Attachments of a person's message, sent at the end of every request of its turn."""

    data_context: DataContext | None = None
    extra_user_messages: tuple[str, ...] = ()


class ClientMetadata(Value):
    display_text: str | None = None
    """The text that people see in place of the message's text, unless the payload has a display text of its own."""
    trace_id: str | None = None
    extra: Mapping[str, Any] = {}


def parse_payload(data: Any) -> Payload:
    """Convert decoded JSON to a payload. Raises: InvalidInput, with the mistake and the allowed types."""
    try:
        payload: Payload = msgspec.convert(data, Payload)
        return payload
    except msgspec.ValidationError as error:
        raise InvalidInput(Code.INVALID_PAYLOAD, detail=str(error), allowed=", ".join(PAYLOAD_TYPES)) from error


def check_payloads(payloads: Sequence[Payload]) -> None:
    """Raises: InvalidInput for payloads that cannot become a message."""
    if not payloads:
        raise InvalidInput(Code.EMPTY_MESSAGE)
    for payload in payloads:
        if not isinstance(payload, SUPPORTED_PAYLOADS):
            config = getattr(type(payload), "__struct_config__", None)
            name = config.tag if config is not None else type(payload).__name__
            raise InvalidInput(Code.UNSUPPORTED_PAYLOAD, type=name, allowed=_SUPPORTED_NAMES)
        if isinstance(payload, TextPayload) and not payload.content.strip():
            raise InvalidInput(Code.EMPTY_MESSAGE)
        if isinstance(payload, ImagePayload):
            check_source(payload.url, payload.base64, payload.path)
        check_text(_payload_text(payload))
        check_text(display_text(payload) or "")


def display_text(payload: Payload) -> str | None:
    """The text that people see in place of a payload's content, if the client has sent one."""
    match payload:
        case TextPayload():
            return payload.display
        case FileReferencePayload() | WorkflowPayload() | ToolResultPayload():
            return payload.display_text
        case ImagePayload():
            return None


def check_attachments(attachments: MessageAttachments) -> None:
    """Raises: InvalidInput for too many attachments, or for text that is empty, too long or not valid Unicode."""
    count = len(attachments.extra_user_messages)
    if count > MAX_EXTRA_USER_MESSAGES:
        detail = f"{count} extra_user_messages were sent, and at most {MAX_EXTRA_USER_MESSAGES} are allowed"
        raise InvalidInput(Code.INVALID_REQUEST, detail=detail)
    if any(not text.strip() for text in attachments.extra_user_messages):
        raise InvalidInput(Code.EMPTY_MESSAGE)
    data = attachments.data_context
    data_texts = [data.label, data.path, data.preview] if data is not None else []
    check_text("\n".join([*data_texts, *attachments.extra_user_messages]))


def check_text(text: str) -> None:
    """Raises: InvalidInput for a text over the limit, or one that UTF-8 cannot encode."""
    try:
        size = len(text.encode())
    except UnicodeEncodeError as error:
        raise InvalidInput(Code.NOT_TEXT, detail=f"{error.reason} at position {error.start}") from error
    if size > MAX_TEXT_BYTES:
        raise InvalidInput(Code.TEXT_TOO_LARGE, size=size, limit=MAX_TEXT_BYTES)


def _payload_text(payload: Payload) -> str:
    """The text of a payload that counts towards the limit. Raises: InvalidInput for a value that is no JSON."""
    match payload:
        case TextPayload():
            return payload.content
        case FileReferencePayload():
            return payload.path
        case ImagePayload():
            return payload.path or ""  # inline data has a limit of its own
        case ToolResultPayload(result=str() as result):
            return result
        case _:
            try:
                return msgspec.json.encode(payload).decode()
            except (UnicodeEncodeError, TypeError) as error:
                raise InvalidInput(Code.NOT_TEXT, detail=str(error)) from error
