"""Reading the end of a conversation for a tool: bounded, and only what the model gets."""

import msgspec

from pilothouse.domain.messages import FileReference, Message, ToolRequest, ToolResult, is_sent_to_model, user_text
from pilothouse.runtime.context.live_context import LiveContext
from pilothouse.tools.base import MAX_READ_MESSAGES, ConversationMessage


async def read_conversation(
    live: LiveContext, branch: str, messages: int, characters: int
) -> tuple[ConversationMessage, ...]:
    """The last messages of a branch, oldest first, with at most so many characters together. The beginning of the
    oldest one may be left out. Raises: StoreError."""
    stop = live.branches[branch].length
    ids = await live.storage.branch_ids(branch, max(0, stop - MAX_READ_MESSAGES), stop)
    stored = await live.storage.messages(ids)
    newest_first: list[ConversationMessage] = []
    for message in reversed(stored):
        if len(newest_first) == messages or characters == 0:
            break
        entry = _entry(message) if is_sent_to_model(message) else None
        if entry is not None and entry.content:
            if len(entry.content) > characters:
                entry = msgspec.structs.replace(entry, content=entry.content[-characters:], is_cut=True)
            characters -= len(entry.content)
            newest_first.append(entry)
    return tuple(reversed(newest_first))


def _entry(message: Message) -> ConversationMessage:
    match message:
        case ToolRequest():
            calls = [f"[{call.tool} {call.arguments}]" for call in message.calls]
            return ConversationMessage(role="assistant", content="\n".join(filter(None, [message.content, *calls])))
        case ToolResult():
            return ConversationMessage(role="tool", content=message.content, tool=message.tool)
        case FileReference():
            return ConversationMessage(role="user", content="\n".join(filter(None, [message.path, message.content])))
        case _:
            return ConversationMessage(role=message.role, content=user_text(message))
