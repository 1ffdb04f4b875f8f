"""Change each message before anybody else sees it: this processor masks keys."""

import asyncio
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec

from pilothouse import Text, build_runtime


async def mask_keys(messages: Sequence[Any]) -> Sequence[Any]:
    return [
        msgspec.structs.replace(message, content=re.sub(r"sk-\w+", "[key]", message.content))
        if isinstance(message, Text)
        else message
        for message in messages
    ]


async def main() -> None:
    async with build_runtime(processors=[mask_keys]) as runtime:
        context_id = await runtime.contexts.create(Path.cwd(), mode="agent")
        await runtime.messages.send(context_id, "My key is sk-12345.")
        await runtime.turns.rested(context_id)
        first, *_ = await runtime.messages.read(context_id)
        if isinstance(first, Text):
            print(first.content)


asyncio.run(main())
