"""The results of an MCP server as text for the model: bounded, without unreadable parts."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import msgspec

from pilothouse.tools.mcp.types import MCPCallResult, ResourceContent

if TYPE_CHECKING:
    from mcp_types import CallToolResult, GetPromptResult, ReadResourceResult

MAX_TEXT_CHARACTERS = 8 * 1024 * 1024
_CUT_NOTE = "\n[cut: the result is longer than 8 MB]"


def result_of(result: CallToolResult) -> MCPCallResult:
    parts = list(map(_text_of, result.content))
    if not parts and result.structured_content is not None:
        parts = [_json(result.structured_content)]
    text, is_cut = _join(parts)
    return MCPCallResult(text=text, is_error=bool(result.is_error), is_cut=is_cut)


def prompt_of(result: GetPromptResult) -> str:
    """The messages of a prompt in order. Roles are named only where not all messages are the user's."""
    is_plain = all(message.role == "user" for message in result.messages)
    texts = [
        _text_of(message.content) if is_plain else f"{message.role.capitalize()}: {_text_of(message.content)}"
        for message in result.messages
    ]
    return _join(texts, "\n\n")[0]


def resource_of(result: ReadResourceResult) -> list[ResourceContent]:
    contents, remaining = [], MAX_TEXT_CHARACTERS
    for part in result.contents:
        content = _content_of(part)[:remaining]
        remaining -= len(content)
        contents.append(ResourceContent(uri=str(part.uri), mime=part.mime_type, content=content))
        if remaining <= 0:
            break
    return contents


def _content_of(part: Any) -> str | bytes:
    """A text, or bytes. Invalid base64 stays text."""
    if not hasattr(part, "blob"):
        return str(part.text)
    try:
        return base64.b64decode(part.blob, validate=True)
    except (binascii.Error, ValueError):
        return str(part.blob)


def _text_of(block: Any) -> str:
    match block.type:
        case "text":
            return str(block.text)
        case "image" | "audio":
            return _placeholder(block.mime_type, block.data)
        case "resource_link":
            return f"[resource {block.uri}{f' ({block.mime_type})' if block.mime_type else ''}]"
        case "resource" if hasattr(block.resource, "text"):
            return str(block.resource.text)
        case "resource":
            return _placeholder(block.resource.mime_type or str(block.resource.uri), block.resource.blob)
        case _:
            return f"[{block.type}, not shown]"


def _placeholder(kind: str, data: str) -> str:
    size = len(data.rstrip("=")) * 3 // 4
    return f"[{kind}, {size} bytes, not shown]"


def _json(data: Any) -> str:
    try:
        return msgspec.json.encode(data).decode()
    except (TypeError, ValueError, RecursionError) as error:
        return f"[structured content that cannot be shown: {error}]"


def _join(parts: Iterable[str], separator: str = "\n") -> tuple[str, bool]:
    text = separator.join(parts)
    is_cut = len(text) > MAX_TEXT_CHARACTERS
    return (text[:MAX_TEXT_CHARACTERS] + _CUT_NOTE if is_cut else text), is_cut
