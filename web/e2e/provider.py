"""A fake provider as a subprocess that reads and writes lines of JSON.

Input: {"answer": ANSWER} appends an answer to the script; with `hold`, the provider pauses before that many events
of it are sent. {"release": true} continues every paused answer.
Output: {"url": …} once the provider listens, {"request": BODY} for each request, {"held": true} when an answer has
paused, {"fault": …} for a request that a real server would reject or that has no scripted answer.
The process ends when its input is closed.
"""

import asyncio
import sys
from collections import deque
from collections.abc import AsyncIterator
from typing import Any

import msgspec

from pilothouse.domain.codes import Code
from pilothouse.domain.errors import ModelRefused
from pilothouse.llm.script import Answer, Script
from pilothouse.testing.provider import FakeProvider

_MAX_LINE_BYTES = 2**24


class HeldAnswer(Answer):
    hold: int | None = None


class Command(msgspec.Struct, forbid_unknown_fields=True):
    answer: HeldAnswer | None = None
    release: bool = False


class CommandedProvider(FakeProvider):
    def __init__(self) -> None:
        super().__init__(Script(), strict=False)
        self._answers: deque[HeldAnswer] = deque()
        self._release = asyncio.Event()

    def handle(self, command: Command) -> None:
        if command.answer is not None:
            self._answers.append(command.answer)
        if command.release:
            self._release.set()
            self._release = asyncio.Event()

    def find_faults(self, body: bytes) -> list[str]:
        faults = super().find_faults(body)
        for fault in faults:
            send(fault=fault)
        return faults

    def next_answer(self, body: bytes) -> Answer:
        """Raises: ModelRefused if the script has no answer left."""
        send(request=msgspec.json.decode(body))
        if not self._answers:
            send(fault="a request came, and there was no answer left")
            raise ModelRefused(Code.SCRIPT_EXHAUSTED, purpose="turn", count=0)
        return self._answers.popleft()

    async def lines(self, answer: Answer) -> AsyncIterator[bytes]:
        hold, number = answer.hold if isinstance(answer, HeldAnswer) else None, 0
        async for line in super().lines(answer):
            if number == hold:
                release = self._release
                send(held=True)
                await release.wait()
            number += 1
            yield line


def send(**message: Any) -> None:
    sys.stdout.write(msgspec.json.encode(message).decode() + "\n")
    sys.stdout.flush()


async def main() -> None:
    reader = asyncio.StreamReader(limit=_MAX_LINE_BYTES)
    await asyncio.get_running_loop().connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
    async with CommandedProvider() as provider:
        send(url=provider.base_url)
        while line := await reader.readline():
            provider.handle(msgspec.json.decode(line, type=Command))


if __name__ == "__main__":
    asyncio.run(main())
