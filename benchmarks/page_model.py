"""The model of the page's figures: Markdown with code at a fixed rate, and a call where a call is asked for.

Some pieces carry the time at which they were written, so that the page can measure the delay until they are visible.
"""

import asyncio
import time
from collections.abc import AsyncIterator

from pilothouse.llm.script import Answer, Script, ScriptedCall
from pilothouse.testing.provider import FakeProvider

RATE = 200
STAMP = "@" * 13
STAMPED_EVERY = 20
PARAGRAPH = (
    "## Bearings\n\nThe **log** says `north by east`, and the [chart](https://example.org) agrees with it.\n\n"
    "1. Take the sun at noon.\n2. Mark it, and *wait*.\n\n```python\ndef steer(course: int) -> str:\n"
    '    """The order for the helm."""\n    return f"steer {course:03d}"\n```\n\n'
    "| watch | wind |\n| --- | --- |\n| first | 4 |\n\n"
)


def tokens(count: int) -> tuple[str, ...]:
    """About four characters each. Stamps are at the ends of words, outside of any markup."""
    text = PARAGRAPH * (count * 4 // len(PARAGRAPH) + 1)
    pieces = [text[at : at + 4] for at in range(0, count * 4, 4)]
    return tuple(piece + f" t{STAMP} " if at % STAMPED_EVERY == 0 else piece for at, piece in enumerate(pieces))


class PageModel(FakeProvider):
    """A text that begins with "call" is answered with a call; any other with as many seconds of words as it names."""

    def __init__(self) -> None:
        super().__init__(Script(), strict=False)

    def find_faults(self, body: bytes) -> list[str]:  # noqa: ARG002
        return []

    def next_answer(self, body: bytes) -> Answer:
        last = body[body.rfind(b'"role"') - 200 :]
        if b"call please" in last and b'"role":"tool"' not in last:
            return Answer(calls=(ScriptedCall(tool="write_file", arguments={"path": "log.txt", "content": "north\n"}),))
        seconds = next((count for count in range(12, 0, -1) if b"%d seconds please" % count in last), 0)
        return Answer(deltas=tokens(seconds * RATE), delta_delay=1 / RATE) if seconds else Answer(text="Done.")

    async def lines(self, answer: Answer) -> AsyncIterator[bytes]:
        async for line in super().lines(answer):
            yield line.replace(STAMP.encode(), b"%d" % (time.time() * 1000), 1)


async def main() -> None:
    async with PageModel() as provider:
        print(provider.base_url, flush=True)
        await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(main())
