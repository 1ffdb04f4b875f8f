"""Give the agent a tool of your own: a typed function. Its docstring tells the model what it does."""

import asyncio
from pathlib import Path

from pilothouse import Text, build_runtime, tool

PRICES = {"apples": 3, "pears": 4}


@tool(read_only=True)
async def price(fruit: str, kilos: int = 1) -> int:
    """The price of some kilos of fruit, in euros."""
    return PRICES[fruit] * kilos


async def main() -> None:
    async with build_runtime(tools=[price]) as runtime:
        context_id = await runtime.contexts.create(Path.cwd(), mode="agent")
        await runtime.messages.send(context_id, "What do 2 kilos of pears cost?")
        await runtime.turns.rested(context_id)
        for call in (await runtime.calls.read(context_id)).items:
            print(call.tool, call.arguments, call.status)
        for message in await runtime.messages.read(context_id):
            if isinstance(message, Text) and message.role == "assistant":
                print(message.content)


asyncio.run(main())
