"""The way to a server: two streams of messages, and the instant and the reason of its end."""

from __future__ import annotations

import asyncio
from collections import deque
from typing import TYPE_CHECKING, Any

from pilothouse.domain.codes import Reason
from pilothouse.tools.mcp.values import End

if TYPE_CHECKING:
    from collections.abc import Callable

STDERR_KEPT = 4096
_SHOWN = 400


class Link:
    """`read` and `write` are what the SDK's session takes. `ended` is set once, with the first reason. `evidence` says
    what was seen that explains a server that never was ready."""

    def __init__(
        self,
        read: Any,
        write: Any,
        ended: asyncio.Future[End],
        hint: Callable[[], str] = str,
        evidence: Callable[[], Reason | None] = lambda: None,
    ) -> None:
        self.read = read
        self.write = write
        self.ended = ended
        self.hint = hint
        self.evidence = evidence

    async def wait(self) -> End:
        await asyncio.wait({self.ended})
        return self.ended.result()


def finish(ended: asyncio.Future[End], detail: str, *, is_final: bool = False) -> None:
    """The first reason counts: what follows is its consequence."""
    if not ended.done():
        ended.set_result(End(detail=detail, is_final=is_final))


class Tail:
    """The last that a server wrote to its standard error."""

    def __init__(self) -> None:
        self._parts: deque[bytes] = deque()
        self._size = 0

    def add(self, data: bytes) -> None:
        self._parts.append(data[-STDERR_KEPT:])
        self._size += len(self._parts[-1])
        while self._size - len(self._parts[0]) >= STDERR_KEPT:
            self._size -= len(self._parts.popleft())

    def text(self) -> str:
        whole = b"".join(self._parts)[-STDERR_KEPT:].decode("utf-8", "replace")
        return "".join(letter if letter.isprintable() or letter == "\n" else " " for letter in whole).strip()

    def short(self) -> str:
        """For an error text: the end of it on one line."""
        return " ".join(self.text().split())[-_SHOWN:]
