"""Decoding of an MCP server's output: lines of bounded length, each checked before the SDK reads the line."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Any

import msgspec

if TYPE_CHECKING:
    from mcp.shared.message import SessionMessage

MAX_LINE_BYTES = 4 * 1024 * 1024
MAX_BAD_LINES = 20
MAX_OPEN_REQUESTS = 100
_MAX_SHOWN_BYTES = 100

# Notifications that nobody here uses. A server may send any number of them: they are dropped before the decoding.
_IGNORED_NOTIFICATIONS = {
    "notifications/message",
    "notifications/progress",
    "notifications/resources/list_changed",
    "notifications/resources/updated",
}


class ProtocolViolation(Exception):
    """The MCP server exceeded a limit, and is not restarted automatically."""


class _Envelope(msgspec.Struct):
    jsonrpc: str
    id: int | str | float | None = None
    method: str | None = None
    params: msgspec.Raw = msgspec.Raw(b"null")


class _Cancelled(msgspec.Struct, rename="camel"):
    request_id: int | str | float | None = None


class LineBuffer:
    """Splits bytes into lines. Holds one unfinished line at most, and the complete lines of the same chunks."""

    def __init__(self) -> None:
        self._unfinished = bytearray()
        self._lines: deque[bytes] = deque()
        self.buffered_bytes = 0

    def feed(self, data: bytes) -> None:
        """Raises: ProtocolViolation for a line that is too long."""
        start = 0
        while (end := data.find(b"\n", start)) >= 0:
            self._add(data[start:end])
            self._lines.append(bytes(self._unfinished))
            self.buffered_bytes += len(self._unfinished)
            self._unfinished.clear()
            start = end + 1
        self._add(data[start:])

    def _add(self, data: bytes) -> None:
        if len(self._unfinished) + len(data) > MAX_LINE_BYTES:
            self._unfinished.clear()
            raise ProtocolViolation("sent a line of more than 4 MB")
        self._unfinished += data

    def take(self) -> bytes | None:
        if not self._lines:
            return None
        line = self._lines.popleft()
        self.buffered_bytes -= len(line)
        return line

    def clear(self) -> None:
        self._unfinished.clear()
        self._lines.clear()
        self.buffered_bytes = 0


class MessageFilter:
    """Passes valid JSON-RPC, counts invalid lines, and limits the server's unanswered requests."""

    def __init__(self) -> None:
        self.bad = 0
        self.first_bad = ""
        self._open: set[int | str | float | None] = set()

    def message(self, line: bytes) -> SessionMessage | None:
        """The message of a line; None for a line that is not passed on. Raises: ProtocolViolation."""
        if not line.strip():
            return None
        try:
            return self._read(line)
        except (ValueError, RecursionError):
            self.bad += 1
            self.first_bad = self.first_bad or line[:_MAX_SHOWN_BYTES].decode(errors="replace").strip()
            if self.bad >= MAX_BAD_LINES:
                raise ProtocolViolation(f"sent {MAX_BAD_LINES} lines that aren't JSON-RPC") from None
            return None

    def _read(self, line: bytes) -> SessionMessage | None:
        from mcp.shared.message import SessionMessage
        from mcp_types import jsonrpc_message_adapter

        envelope = msgspec.json.decode(line, type=_Envelope)
        if envelope.jsonrpc != "2.0":
            raise ValueError(envelope.jsonrpc)
        if envelope.method is not None and envelope.id is None and envelope.method in _IGNORED_NOTIFICATIONS:
            line.decode()  # invalid UTF-8 counts as bad here, too
            return None
        message = SessionMessage(jsonrpc_message_adapter.validate_json(line, by_name=False))
        if envelope.method == "notifications/cancelled":
            self._open.discard(msgspec.json.decode(envelope.params, type=_Cancelled).request_id)
        elif envelope.method is not None and envelope.id is not None:
            self._open.add(envelope.id)
            if len(self._open) > MAX_OPEN_REQUESTS:
                raise ProtocolViolation(f"sent more than {MAX_OPEN_REQUESTS} requests at once")
        return message

    def message_sent(self, message: Any) -> None:
        """Note a message that we sent: an answer closes the server's request."""
        if getattr(message, "method", None) is None:
            self._open.discard(message.id)
