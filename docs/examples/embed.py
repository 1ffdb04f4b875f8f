"""Embed the runtime: create a conversation, send a message, approve what it asks for, read the answer."""

import asyncio
from pathlib import Path

from pilothouse import Text, build_runtime


async def main() -> None:
    async with build_runtime() as runtime:
        context_id = await runtime.contexts.create(Path.cwd(), mode="supervised")
        await runtime.messages.send(context_id, "list")
        await runtime.turns.rested(context_id)
        while pending := await runtime.calls.pending(context_id):
            for call in pending:
                print("may it run?", call.display_name, call.arguments)
            await runtime.calls.approve_all(context_id)
            await runtime.turns.rested(context_id)
        for message in await runtime.messages.read(context_id):
            if isinstance(message, Text) and message.role == "assistant":
                print(message.content)


asyncio.run(main())
