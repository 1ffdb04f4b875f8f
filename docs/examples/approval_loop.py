"""Write an approval loop of your own: follow a turn, and decide every call that waits for a person."""

import asyncio
from collections.abc import Sequence
from pathlib import Path

from pilothouse import (
    Attendant,
    CallRecord,
    ContextSnapshot,
    Decisions,
    MessageAdded,
    PersonsDecision,
    TextAdded,
    ToolResult,
    build_runtime,
)


class ReadingOnly(Attendant):
    """Approves calls that only read, and rejects the others, also in sub-agents. Questions are left for later."""

    async def decide(self, context: ContextSnapshot, calls: Sequence[CallRecord]) -> Decisions:
        print(f"[{context.id} asks about {len(calls)} calls]")
        return Decisions(
            [
                PersonsDecision(id=call.id, verdict="approve", digest=call.digest)
                if call.effect == "read_only"
                else PersonsDecision(id=call.id, verdict="reject", reason="Only reading is allowed here.")
                for call in calls
            ]
        )


async def main() -> None:
    async with build_runtime() as runtime:
        context_id = await runtime.contexts.create(Path.cwd(), mode="supervised")
        await runtime.messages.send(context_id, "list")
        async for event in runtime.events.attend(context_id, ReadingOnly()):
            match event:
                case TextAdded(text=text):
                    print(text, end="")
                case MessageAdded(message=ToolResult() as result):
                    print(f"[{result.tool}: {result.status}]")


asyncio.run(main())
