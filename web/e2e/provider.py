"""The fake provider as a process: lines of JSON tell it what to answer, and it tells in lines what it was asked.

In: {"answer": ANSWER}: the next answer, in the form of a script; with `hold` it stops before that many events of it
are sent. {"release": true}: every answer that is held goes on.
Out: {"url": …} when it listens, {"request": BODY} for each that came, {"held": true} when an answer has stopped,
{"fault": …} for a request that a real server would refuse, or that nobody expected.
It ends with its input.
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

_LINE_AT_MOST = 2**24


class HeldAnswer(Answer):
    hold: int | None = None


class Told(msgspec.Struct, forbid_unknown_fields=True):
    answer: HeldAnswer | None = None
    release: bool = False


class ToldProvider(FakeProvider):
    def __init__(self) -> None:
        super().__init__(Script(), strict=False)
        self._answers: deque[HeldAnswer] = deque()
        self._release = asyncio.Event()

    def hear(self, told: Told) -> None:
        if told.answer is not None:
            self._answers.append(told.answer)
        if told.release:
            self._release.set()
            self._release = asyncio.Event()

    def judge(self, body: bytes) -> list[str]:
        found = super().judge(body)
        for fault in found:
            tell(fault=fault)
        return found

    def choose(self, body: bytes) -> Answer:
        """Raises: ModelRefused where it was told nothing to answer."""
        tell(request=msgspec.json.decode(body))
        if not self._answers:
            tell(fault="a request came, and there was no answer left")
            raise ModelRefused(Code.SCRIPT_EXHAUSTED, purpose="turn", count=0)
        return self._answers.popleft()

    async def lines(self, answer: Answer) -> AsyncIterator[bytes]:
        hold, number = answer.hold if isinstance(answer, HeldAnswer) else None, 0
        async for line in super().lines(answer):
            if number == hold:
                release = self._release
                tell(held=True)
                await release.wait()
            number += 1
            yield line


def tell(**what: Any) -> None:
    sys.stdout.write(msgspec.json.encode(what).decode() + "\n")
    sys.stdout.flush()


async def main() -> None:
    reader = asyncio.StreamReader(limit=_LINE_AT_MOST)
    await asyncio.get_running_loop().connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
    async with ToldProvider() as provider:
        tell(url=provider.base_url)
        while line := await reader.readline():
            provider.hear(msgspec.json.decode(line, type=Told))


if __name__ == "__main__":
    asyncio.run(main())
