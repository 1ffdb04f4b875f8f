"""The provider of all measured systems: stateless, so that every system can use it in any order.

A user's text that begins with "tool" is answered with one call, everything else with `deltas` pieces of text.
"""

import asyncio
import sys

from pilothouse.llm.script import Answer, Script, ScriptedCall
from pilothouse.testing.provider import FakeProvider

PIECE = "twenty characters ok"


class StatelessProvider(FakeProvider):
    def __init__(self, deltas: int, delta_delay: float) -> None:
        super().__init__(Script())
        self._text = Answer(deltas=(PIECE,) * deltas, delta_delay=delta_delay)
        self._call = Answer(calls=(ScriptedCall(tool="noop", arguments={"text": "1"}),))
        self._done = Answer(text="done")

    def find_faults(self, body: bytes) -> list[str]:  # noqa: ARG002
        """Other systems ask here too, and a figure is to hold no time of ours."""
        return []

    def next_answer(self, body: bytes) -> Answer:
        # Only the last message counts; its content may be encoded before or behind its role.
        end = body[max(0, body.rfind(b'"role"') - 40) :]
        if b'"tool please"' in end:
            return self._call
        return self._done if b'"tool"' in end[40:60] else self._text


async def main() -> None:
    async with StatelessProvider(int(sys.argv[1]), float(sys.argv[2])) as provider:
        print(provider.base_url, flush=True)
        await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(main())
