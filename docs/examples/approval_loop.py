"""Write an approval loop of your own: follow a turn, and decide every call that waits for a person."""

import asyncio
from pathlib import Path

from pilothouse import (
    AwaitingToolApproval,
    AwaitingUserAnswer,
    ContextSnapshot,
    MessageAdded,
    PersonsDecision,
    QuestionAsked,
    Runtime,
    StateEntered,
    SubagentWaiting,
    TextAdded,
    ToolResult,
    build_runtime,
)


async def decide(runtime: Runtime, context_id: str) -> None:
    """Approve calls that only read, and reject the others."""
    decisions = [
        PersonsDecision(id=call.id, verdict="approve", digest=call.digest)
        if call.effect == "read_only"
        else PersonsDecision(id=call.id, verdict="reject", reason="Only reading is allowed here.")
        for call in await runtime.calls.pending(context_id)
    ]
    await runtime.calls.decide(context_id, decisions)


def has_ended(context: ContextSnapshot) -> bool:
    return context.is_resting and not context.is_waiting


async def main() -> None:
    async with build_runtime() as runtime:
        context_id = await runtime.contexts.create(Path.cwd(), mode="supervised")
        await runtime.messages.send(context_id, "list")
        async for event in runtime.events.of_context(context_id, is_over=has_ended):
            match event:
                case TextAdded(text=text):
                    print(text, end="")
                case StateEntered(state=AwaitingToolApproval()):
                    await decide(runtime, context_id)
                case SubagentWaiting(context_id=subagent):
                    await decide(runtime, subagent)
                case StateEntered(state=AwaitingUserAnswer()) | QuestionAsked():
                    await runtime.calls.decline(context_id)  # or `calls.answer`, where somebody can
                case MessageAdded(message=ToolResult() as result):
                    print(f"[{result.tool}: {result.status}]")


asyncio.run(main())
