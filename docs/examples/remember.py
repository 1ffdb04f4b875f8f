"""A tool that reads the conversation: it writes the person's messages down."""

import asyncio
from pathlib import Path

from pilothouse import Text, ToolContext, build_runtime, tool


@tool()
async def remember(file: str, job: ToolContext) -> str:
    """Write what the person has said in this conversation into a file."""
    messages = await job.read_conversation(messages=50)
    said = [message.content for message in messages if message.role == "user"]
    Path(file).write_text("\n".join(said) + "\n")
    return f"{len(said)} messages are in {file}."


async def main() -> None:
    async with build_runtime(tools=[remember]) as runtime:
        context_id = await runtime.contexts.create(Path.cwd(), mode="agent")
        for text in ("My name is Ada.", "Please remember that."):
            await runtime.messages.send(context_id, text)
            await runtime.turns.rested(context_id)
        for message in await runtime.messages.read(context_id):
            if isinstance(message, Text) and message.role == "assistant":
                print(message.content)
    print(Path("notes.txt").read_text())


asyncio.run(main())
