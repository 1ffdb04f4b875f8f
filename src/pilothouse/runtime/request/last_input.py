"""The user's last input on the active branch: the message that the present or the next turn answers."""

from typing import NamedTuple

from pilothouse.domain.messages import Message
from pilothouse.domain.value import MessageId
from pilothouse.runtime.context.live_context import LiveContext

_MAX_MESSAGES_SEARCHED = 2000


class LastInput(NamedTuple):
    """The person's last input on the active branch."""

    start: int
    """The position of its first message."""
    message_id: MessageId | None
    """Its first message; None where there is none among the recent messages."""
    recent: list[Message]
    """The last messages of the branch, as far as they were searched."""


async def read_last_input(live: LiveContext) -> LastInput:
    branch = live.branches[live.core.active_branch]
    search_start = max(0, branch.length - _MAX_MESSAGES_SEARCHED)
    ids = await live.storage.branch_ids(branch.name, search_start, branch.length)
    recent = await live.storage.messages(ids)
    positions = [
        position
        for position, message in enumerate(recent)
        if message.role == "user" and message.metadata.turn is not None
    ]
    offset = next(
        (position for position in positions if recent[position].metadata.turn == recent[positions[-1]].metadata.turn), 0
    )
    return LastInput(search_start + offset, recent[offset].id if positions else None, recent)
