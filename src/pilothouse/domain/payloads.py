"""What a client sends: a tagged union. Nothing is guessed from text."""

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from pilothouse.domain.codes import Code
from pilothouse.domain.errors import InvalidInput
from pilothouse.domain.images import Recognition, check_source
from pilothouse.domain.values import Value

TEXT_LIMIT = 1_000_000
EXTRA_AT_MOST = 20
MAX_UPLOAD_BYTES = 20 * 1024 * 1024


class LineRange(Value):
    start_line: int | None = None
    end_line: int | None = None


class TextPayload(Value, tag_field="type", tag="text"):
    content: str
    display: str | None = None


class FileReferencePayload(Value, tag_field="type", tag="file_reference"):
    path: str
    range: LineRange | None = None
    display_text: str | None = None


class ImagePayload(Value, tag_field="type", tag="image"):
    """From one of three: an address (or a data: URL), its own bytes in base64, or a path in the workspace."""

    url: str | None = None
    base64: str | None = None
    path: str | None = None
    recognition: Recognition = "auto"


class WorkflowPayload(Value, tag_field="type", tag="workflow"):
    workflow: str
    parameters: Mapping[str, Any] = {}
    display_text: str | None = None


class ToolResultPayload(Value, tag_field="type", tag="tool_result"):
    """A result that the client itself produced; the model sees it as the user's text."""

    tool_name: str
    result: Any
    display_text: str | None = None


Payload = TextPayload | FileReferencePayload | ImagePayload | WorkflowPayload | ToolResultPayload
SUPPORTED = (TextPayload, FileReferencePayload, ImagePayload, ToolResultPayload)

TYPES = ("text", "file_reference", "image", "workflow", "tool_result")
_SUPPORTED_NAMES = "text, file_reference, image, tool_result"


class DataContext(Value):
    """Data that the person is looking at: what it is, where it lies, and how it begins."""

    label: str
    path: str
    preview: str


class Attached(Value):
    """What comes with a person's message and is sent in every round of its turn, behind everything else."""

    data_context: DataContext | None = None
    extra_user_messages: tuple[str, ...] = ()


class ClientMetadata(Value):
    display_text: str | None = None
    trace_id: str | None = None
    extra: Mapping[str, Any] = {}


def parse_payload(data: Any) -> Payload:
    """A payload from plain data (decoded JSON).

    Raises: InvalidInput, naming what is wrong and what is allowed.
    """
    try:
        payload: Payload = msgspec.convert(data, Payload)
        return payload
    except msgspec.ValidationError as error:
        raise InvalidInput(Code.INVALID_PAYLOAD, detail=str(error), allowed=", ".join(TYPES)) from error


def check_payloads(payloads: Sequence[Payload]) -> None:
    """Raises: InvalidInput for anything that may not become a message."""
    if not payloads:
        raise InvalidInput(Code.EMPTY_MESSAGE)
    for payload in payloads:
        if not isinstance(payload, SUPPORTED):
            kind = getattr(type(payload), "__struct_config__", None)
            name = kind.tag if kind is not None else type(payload).__name__
            raise InvalidInput(Code.UNSUPPORTED_PAYLOAD, type=name, allowed=_SUPPORTED_NAMES)
        if isinstance(payload, TextPayload) and not payload.content.strip():
            raise InvalidInput(Code.EMPTY_MESSAGE)
        if isinstance(payload, ImagePayload):
            check_source(payload.url, payload.base64, payload.path)
        check_text(_bulk(payload))


def check_attached(attached: Attached) -> None:
    """Raises: InvalidInput for more than may come with a message, or for what is no text."""
    if len(attached.extra_user_messages) > EXTRA_AT_MOST:
        detail = f"{len(attached.extra_user_messages)} extra_user_messages: at most {EXTRA_AT_MOST}"
        raise InvalidInput(Code.INVALID_REQUEST, detail=detail)
    if any(not text.strip() for text in attached.extra_user_messages):
        raise InvalidInput(Code.EMPTY_MESSAGE)
    data = attached.data_context
    said = [data.label, data.path, data.preview] if data is not None else []
    check_text("\n".join([*said, *attached.extra_user_messages]))


def check_text(text: str) -> None:
    """Raises: InvalidInput for a text over the limit, or one that UTF-8 cannot hold."""
    try:
        size = len(text.encode())
    except UnicodeEncodeError as error:
        raise InvalidInput(Code.NOT_TEXT, detail=f"{error.reason} at position {error.start}") from error
    if size > TEXT_LIMIT:
        raise InvalidInput(Code.TEXT_TOO_LARGE, size=size, limit=TEXT_LIMIT)


def _bulk(payload: Payload) -> str:
    match payload:
        case TextPayload():
            return payload.content
        case FileReferencePayload():
            return payload.path
        case ImagePayload():
            return payload.path or ""  # what it holds itself has a limit of its own
        case ToolResultPayload(result=str() as result):
            return result
        case _:
            try:
                return msgspec.json.encode(payload).decode()
            except (UnicodeEncodeError, TypeError) as error:
                raise InvalidInput(Code.NOT_TEXT, detail=str(error)) from error
