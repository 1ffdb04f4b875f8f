"""Forks: the position at which one branch departs from another."""

from collections.abc import Sequence

from pilothouse.domain.merges import common_length
from pilothouse.domain.value import MessageId, Value


class BranchFork(Value, kw_only=True):
    """The position at which a branch continues with another message than the active branch."""

    position: int
    """Index of the first differing message on the active branch."""
    message_id: MessageId
    """The message at `position` on the active branch."""
    sibling_id: MessageId
    """The message that follows the common part on the other branch."""


def fork_between(
    active: Sequence[MessageId], other: Sequence[MessageId], *, is_compressed: bool = False
) -> BranchFork | None:
    """Compare two lists of ids. None where one list only continues the other.

    A compression replaces the beginning of a list. With `is_compressed` (of either list), the comparison begins at the
    first message that both lists still have.
    """
    active_start = other_start = 0
    if is_compressed:
        positions = {message_id: position for position, message_id in enumerate(active)}
        shared = next((position for position, message_id in enumerate(other) if message_id in positions), None)
        if shared is None:
            return None
        active_start, other_start = positions[other[shared]], shared
    count = common_length(active[active_start:], other[other_start:])
    position, other_position = active_start + count, other_start + count
    if position >= len(active) or other_position >= len(other):
        return None
    return BranchFork(position=position, message_id=active[position], sibling_id=other[other_position])
