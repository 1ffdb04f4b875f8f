"""Branches: named, ordered lists of message ids over the pool. The rules, without the lists' storage."""

import itertools
import re
import unicodedata
from collections.abc import Collection, Sequence

import msgspec

from pilothouse.domain.codes import Code
from pilothouse.domain.errors import InvalidInput
from pilothouse.domain.messages import Message, ToolRequest, ToolResult
from pilothouse.domain.values import Timestamp, Value

MAIN = "main"


class MergedBlock(Value, kw_only=True):
    """A stretch of a branch that was merged into it: `ranges` are where it lay on the source."""

    start: int
    count: int
    source: str
    ranges: tuple[tuple[int, int], ...]
    strategy: str
    at: Timestamp
    by: str


class Branch(Value):
    """`key` names its list of ids in the store: names are free, keys are safe for files. `merged` are the stretches
    that came from other branches."""

    name: str
    key: str
    created_at: Timestamp
    parent_branch: str | None = None
    prompt_addition: str | None = None
    length: int = 0
    merged: tuple[MergedBlock, ...] = ()


def merged_within(branch: Branch, length: int) -> tuple[MergedBlock, ...]:
    """What a branch of the first `length` messages of another one keeps of its merges."""
    return tuple(
        msgspec.structs.replace(block, count=min(block.count, length - block.start))
        for block in branch.merged
        if block.start < length
    )


def next_name(base: str, taken: Collection[str]) -> str:
    """The first free name after a branch's own: main, main-2, main-3."""
    stem = re.sub(r"-\d+$", "", base)[:90]
    return next(name for number in itertools.count(2) if (name := f"{stem}-{number}") not in taken)


def check_name(name: str) -> None:
    """Raises: InvalidInput for a name that cannot be shown and typed."""
    controls = any(unicodedata.category(character) in ("Cc", "Cs") for character in name)
    if not 1 <= len(name) <= 100 or controls or name != name.strip():
        raise InvalidInput(Code.INVALID_NAME, value=name)


def fork_length(messages_from_fork: Sequence[Message]) -> int:
    """How many messages from the fork point on belong to the fork: a call is never parted from its results.

    `messages_from_fork` starts at the message that was chosen.
    """
    awaited: set[str] = set()
    length = 0
    for position, message in enumerate(messages_from_fork, start=1):
        if isinstance(message, ToolRequest) and position == 1:
            awaited = {call.id for call in message.calls}
        elif not isinstance(message, ToolResult) and position > 1:
            break
        if isinstance(message, ToolResult):
            awaited.discard(message.call_id)
        length = position
        if position == 1 and not isinstance(message, ToolRequest | ToolResult):
            break
    return length
