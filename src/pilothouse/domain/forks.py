"""Where one branch departs from another."""

from collections.abc import Sequence

from pilothouse.domain.merging import common_length
from pilothouse.domain.values import MessageId, Value


class BranchFork(Value, kw_only=True):
    """Where a branch goes on with another message than the active branch."""

    position: int
    """Index of the first differing message on the active branch."""
    message_id: MessageId
    """That message on the active branch."""
    sibling_id: MessageId
    """The message that stands in its place on the other branch."""


def fork_between(
    active: Sequence[MessageId], other: Sequence[MessageId], *, is_compressed: bool = False
) -> BranchFork | None:
    """Compare two lists of ids; None where one of them only continues the other.

    A compression replaces the beginning of a list. With `is_compressed` (of either list), they are compared from the
    first message that both still have.
    """
    here = there = 0
    if is_compressed:
        positions = {message_id: position for position, message_id in enumerate(active)}
        shared = next((position for position, each in enumerate(other) if each in positions), None)
        if shared is None:
            return None
        here, there = positions[other[shared]], shared
    count = common_length(active[here:], other[there:])
    here, there = here + count, there + count
    if here >= len(active) or there >= len(other):
        return None
    return BranchFork(position=here, message_id=active[here], sibling_id=other[there])
