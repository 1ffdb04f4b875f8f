"""Branches: named, ordered lists of message ids over the pool. The rules, without the lists' storage."""

import itertools
import re
import unicodedata
from collections.abc import Collection, Sequence

import msgspec

from pilothouse.domain.codes import Code
from pilothouse.domain.errors import InvalidInput
from pilothouse.domain.messages import Message, ToolRequest, ToolResult, is_told
from pilothouse.domain.values import MessageId, Timestamp, Value

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


class Compressed(Value, kw_only=True):
    """The last compression of a branch: its first `length` messages lie on the branch `original`, and what stands for
    them are its own first `kept`: a `head` of the summary and pinned messages, then the last ones as they were."""

    original: str
    length: int
    kept: int
    head: int
    summary_id: MessageId


class Branch(Value):
    """`key` names its list of ids in the store: names are free, keys are safe for files. `merged` are the stretches
    that came from other branches. `original_of` names the branch that was compressed, on the one that keeps what it
    held; `keeps_whole` says that a person has undone that, and wants it whole as long as it fits."""

    name: str
    key: str
    created_at: Timestamp
    parent_branch: str | None = None
    prompt_addition: str | None = None
    length: int = 0
    merged: tuple[MergedBlock, ...] = ()
    compressed: Compressed | None = None
    original_of: str | None = None
    keeps_whole: bool = False


def merged_within(branch: Branch, length: int) -> tuple[MergedBlock, ...]:
    """What a branch of the first `length` messages of another one keeps of its merges."""
    return tuple(
        msgspec.structs.replace(block, count=min(block.count, length - block.start))
        for block in branch.merged
        if block.start < length
    )


def compressed_within(branch: Branch, length: int) -> Compressed | None:
    """What a branch of the first `length` messages of another one knows of its compression."""
    done = branch.compressed
    if done is None or length < done.head:
        return None
    less = max(0, done.kept - length)
    changed: Compressed = msgspec.structs.replace(done, length=done.length - less, kept=done.kept - less)
    return changed


def merged_from(branch: Branch, position: int, shift: int) -> tuple[MergedBlock, ...]:
    """What is left of its merges behind a position, when all that lies there moves by `shift`."""
    found = []
    for block in branch.merged:
        gone = max(0, position - block.start)
        if gone < block.count:
            ranges = _without_first(block.ranges, gone)
            start = block.start + gone + shift
            found.append(msgspec.structs.replace(block, start=start, count=block.count - gone, ranges=ranges))
    return tuple(found)


def _without_first(ranges: Sequence[tuple[int, int]], count: int) -> tuple[tuple[int, int], ...]:
    found = []
    for start, end in ranges:
        gone = min(count, end - start)
        count -= gone
        if start + gone < end:
            found.append((start + gone, end))
    return tuple(found)


def next_name(base: str, taken: Collection[str]) -> str:
    """The first free name after a branch's own: main, main-2, main-3."""
    stem = re.sub(r"-\d+$", "", base)[:90]
    return next(name for number in itertools.count(2) if (name := f"{stem}-{number}") not in taken)


def check_name(name: str) -> None:
    """Raises: InvalidInput for a name that cannot be shown and typed."""
    if name in (".", ".."):  # no address can hold it
        raise InvalidInput(Code.INVALID_NAME, value=name)
    controls = any(unicodedata.category(character) in ("Cc", "Cs") for character in name)
    if not 1 <= len(name) <= 100 or controls or name != name.strip():
        raise InvalidInput(Code.INVALID_NAME, value=name)


def fork_length(messages: Sequence[Message], at: int) -> int:
    """How many messages a fork at one of them takes: a call is never parted from its results.

    What the model is not told of (a switch of the mode, an error) may stand between a call and its results.
    """
    start = at
    while start > 0 and not isinstance(messages[start], ToolRequest) and _may_stand_between(messages[start]):
        start -= 1
    request = messages[start]
    if not isinstance(request, ToolRequest):
        return at + 1
    awaited = {call.id for call in request.calls}
    end = at
    for position in range(start + 1, len(messages)):
        message = messages[position]
        if not _may_stand_between(message):
            break
        if isinstance(message, ToolResult) and message.call_id in awaited:
            end = max(end, position)
    return end + 1


def _may_stand_between(message: Message) -> bool:
    return isinstance(message, ToolResult) or not is_told(message)
