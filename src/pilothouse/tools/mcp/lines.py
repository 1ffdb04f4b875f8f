"""Bytes of a server into messages: lines of bounded length, each judged before the SDK sees it."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Any

import msgspec

if TYPE_CHECKING:
    from mcp.shared.message import SessionMessage

LINE_AT_MOST = 4 * 1024 * 1024
BAD_LINES_AT_MOST = 20
OPEN_REQUESTS_AT_MOST = 100
_SHOWN_BYTES = 100

# What nobody here listens to. A server may send any number of them: they are dropped before they cost anything.
_UNHEARD = {
    "notifications/message",
    "notifications/progress",
    "notifications/resources/list_changed",
    "notifications/resources/updated",
}


class Abuse(Exception):
    """The server broke a limit: it is not started again by itself."""


class _Envelope(msgspec.Struct):
    jsonrpc: str
    id: int | str | float | None = None
    method: str | None = None
    params: msgspec.Raw = msgspec.Raw(b"null")


class _Cancelled(msgspec.Struct, rename="camel"):
    request_id: int | str | float | None = None


class Lines:
    """Cuts bytes into lines. Holds at most one unfinished line and what came with it."""

    def __init__(self) -> None:
        self._unfinished = bytearray()
        self._lines: deque[bytes] = deque()
        self.held = 0

    def feed(self, data: bytes) -> None:
        """Raises: Abuse for a line that is too long."""
        start = 0
        while (end := data.find(b"\n", start)) >= 0:
            self._add(data[start:end])
            self._lines.append(bytes(self._unfinished))
            self.held += len(self._unfinished)
            self._unfinished.clear()
            start = end + 1
        self._add(data[start:])

    def _add(self, data: bytes) -> None:
        if len(self._unfinished) + len(data) > LINE_AT_MOST:
            self._unfinished.clear()
            raise Abuse("sent a line of more than 4 MB")
        self._unfinished += data

    def take(self) -> bytes | None:
        if not self._lines:
            return None
        line = self._lines.popleft()
        self.held -= len(line)
        return line

    def clear(self) -> None:
        self._unfinished.clear()
        self._lines.clear()
        self.held = 0


class Judge:
    """Lets through what is JSON-RPC, counts what is not, and how much the server has asked without an answer."""

    def __init__(self) -> None:
        self.bad = 0
        self.first_bad = ""
        self._open: set[int | str | float | None] = set()

    def message(self, line: bytes) -> SessionMessage | None:
        """None for what is not passed on. Raises: Abuse."""
        if not line.strip():
            return None
        try:
            return self._read(line)
        except (ValueError, RecursionError):
            self.bad += 1
            self.first_bad = self.first_bad or line[:_SHOWN_BYTES].decode(errors="replace").strip()
            if self.bad >= BAD_LINES_AT_MOST:
                raise Abuse(f"sent {BAD_LINES_AT_MOST} lines that are not JSON-RPC") from None
            return None

    def _read(self, line: bytes) -> SessionMessage | None:
        from mcp.shared.message import SessionMessage
        from mcp_types import jsonrpc_message_adapter

        envelope = msgspec.json.decode(line, type=_Envelope)
        if envelope.jsonrpc != "2.0":
            raise ValueError(envelope.jsonrpc)
        if envelope.method is not None and envelope.id is None and envelope.method in _UNHEARD:
            line.decode()  # what is no text counts as bad, also here
            return None
        message = SessionMessage(jsonrpc_message_adapter.validate_json(line, by_name=False))
        if envelope.method == "notifications/cancelled":
            self._open.discard(msgspec.json.decode(envelope.params, type=_Cancelled).request_id)
        elif envelope.method is not None and envelope.id is not None:
            self._open.add(envelope.id)
            if len(self._open) > OPEN_REQUESTS_AT_MOST:
                raise Abuse(f"asked more than {OPEN_REQUESTS_AT_MOST} things at once")
        return message

    def answered(self, message: Any) -> None:
        """What we have written: an answer frees its place."""
        if getattr(message, "method", None) is None:
            self._open.discard(message.id)
