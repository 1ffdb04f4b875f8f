"""The transport to an MCP server: two streams of messages, and a future with the reason of its end."""

from __future__ import annotations

import asyncio
from collections import deque
from typing import TYPE_CHECKING, Any

from pilothouse.domain.codes import Reason
from pilothouse.tools.mcp.types import TransportEnd

if TYPE_CHECKING:
    from collections.abc import Callable

MAX_STDERR_BYTES = 4096
_MAX_SHOWN_CHARACTERS = 400


class Transport:
    """The streams to an MCP server, over stdio or HTTP."""

    def __init__(
        self,
        read: Any,
        write: Any,
        ended: asyncio.Future[TransportEnd],
        hint: Callable[[], str] = str,
        evidence: Callable[[], Reason | None] = lambda: None,
    ) -> None:
        self.read = read
        """The stream of incoming messages for the SDK's session."""
        self.write = write
        """The stream of outgoing messages for the SDK's session."""
        self.ended = ended
        """Set once, with the first reason of the end."""
        self.hint = hint
        """A short detail for error texts."""
        self.evidence = evidence
        """An observation that explains why a server never became ready."""

    async def wait(self) -> TransportEnd:
        await asyncio.wait({self.ended})
        return self.ended.result()


def finish(ended: asyncio.Future[TransportEnd], detail: str, *, is_final: bool = False) -> None:
    """Record the end of a transport. Only the first reason counts: later ones are consequences."""
    if not ended.done():
        ended.set_result(TransportEnd(detail=detail, is_final=is_final))


class StderrTail:
    """The last bytes of an MCP server's standard error."""

    def __init__(self) -> None:
        self._parts: deque[bytes] = deque()
        self._size = 0

    def add(self, data: bytes) -> None:
        self._parts.append(data[-MAX_STDERR_BYTES:])
        self._size += len(self._parts[-1])
        while self._size - len(self._parts[0]) >= MAX_STDERR_BYTES:
            self._size -= len(self._parts.popleft())

    def text(self) -> str:
        text = b"".join(self._parts)[-MAX_STDERR_BYTES:].decode("utf-8", "replace")
        return "".join(character if character.isprintable() or character == "\n" else " " for character in text).strip()

    def short(self) -> str:
        """The last characters on one line, for an error text."""
        return " ".join(self.text().split())[-_MAX_SHOWN_CHARACTERS:]
