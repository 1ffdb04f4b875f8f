"""Connect a model of your own: an adapter turns a request into a stream of events. This one answers by itself."""

import asyncio
from collections.abc import AsyncGenerator
from pathlib import Path

import msgspec

from pilothouse import Text, build_runtime
from pilothouse.llm.base import Connected, Finished, ModelEvent, ModelRequest, TextDelta
from pilothouse.llm.chat_completions import CHAT_COMPLETIONS


class EchoAdapter:
    """Repeats the last message, word by word."""

    name = "echo"
    format = CHAT_COMPLETIONS
    """How messages are encoded. A provider with another wire format needs a `WireFormat` of its own."""

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelEvent, None]:
        yield Connected()
        last = msgspec.json.decode(request.messages[-1])["content"]
        for word in last.split():
            yield TextDelta(text=f"{word} ")
        yield Finished(reason="stop")

    async def close(self) -> None:
        """Nothing is open."""


async def main() -> None:
    async with build_runtime(adapter=EchoAdapter()) as runtime:
        context_id = await runtime.contexts.create(Path.cwd())
        await runtime.messages.send(context_id, "is anybody there?")
        await runtime.turns.rested(context_id)
        for message in await runtime.messages.read(context_id):
            if isinstance(message, Text) and message.role == "assistant":
                print(message.content)


asyncio.run(main())
