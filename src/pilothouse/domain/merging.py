"""Merging branches: which messages go over, what stands in the way, and where each came from. Ids only, no copies."""

from collections.abc import Collection, Iterable, Sequence
from typing import Literal

from pilothouse.domain.branches import Branch
from pilothouse.domain.codes import Code
from pilothouse.domain.errors import InvalidInput
from pilothouse.domain.messages import Message, SystemControl, ToolRequest, ToolResult, is_told
from pilothouse.domain.values import CallId, MessageId, Timestamp, Value

Strategy = Literal["append", "cherry_pick", "rebase"]
ConflictKind = Literal["already_there", "result_left_behind", "call_left_behind", "not_mergeable"]


class MergeConflict(Value):
    """Listed, not refused: what is merged is valid all the same, since a window answers every call."""

    kind: ConflictKind
    message_id: MessageId


class MergePlan(Value, kw_only=True):
    """What a merge does, or would do. `positions` are those of `message_ids` on the source."""

    source: str
    target: str
    strategy: Strategy
    message_ids: tuple[MessageId, ...]
    positions: tuple[int, ...]
    conflicts: tuple[MergeConflict, ...] = ()

    @property
    def merged(self) -> int:
        return len(self.message_ids)


class Candidates(Value):
    """Positions on the source that would be merged, and those asked for that the target has already."""

    positions: tuple[int, ...]
    already_there: tuple[int, ...] = ()


def candidates(
    source: Sequence[MessageId],
    target: Sequence[MessageId],
    strategy: Strategy,
    chosen: Sequence[MessageId] = (),
    *,
    compressed: Collection[MessageId] = (),
) -> Candidates:
    """`compressed` are messages that the target tells in short: they are there already.

    Raises: InvalidInput when ids are chosen that are not on the source, or chosen where nothing is to be chosen.
    """
    if (strategy == "cherry_pick") != bool(chosen):
        raise InvalidInput(Code.MERGE_IDS)
    there = {*target, *compressed}
    if strategy == "append":
        return Candidates(tuple(at for at, message_id in enumerate(source) if message_id not in there))
    if strategy == "rebase":
        parted = common_length(source, target)
        if compressed:
            parted = next((at for at, message_id in enumerate(source) if message_id not in there), len(source))
        asked: Iterable[int] = range(parted, len(source))
    else:
        at = {message_id: position for position, message_id in enumerate(source)}
        missing = [message_id for message_id in chosen if message_id not in at]
        if missing:
            raise InvalidInput(Code.MERGE_NOT_ON_SOURCE, ids=", ".join(missing[:5]))
        asked = [at[message_id] for message_id in chosen]
    taken: list[int] = []
    doubled: list[int] = []
    for position in asked:
        (doubled if source[position] in there else taken).append(position)
        there.add(source[position])
    return Candidates(tuple(taken), tuple(doubled))


def common_length(one: Sequence[MessageId], other: Sequence[MessageId]) -> int:
    """How many messages two branches have in common before they part: up to their common ancestor."""
    length = 0
    for first, second in zip(one, other, strict=False):
        if first != second:
            break
        length += 1
    return length


def is_mark(message: Message) -> bool:
    """The note that an earlier merge left: it tells of its own branch only."""
    return isinstance(message, SystemControl) and message.kind == "branch_merge"


def left_behind(
    tail: Sequence[Message], block: Sequence[Message], has_result: Collection[CallId]
) -> list[MergeConflict]:
    """Calls of a block whose results will not follow them, and results that will not follow their call.

    `tail` is the end of the target: a call that stands there may get its result from the block. `has_result` are the
    calls that have one somewhere.
    """
    inside = {message.id for message in block}
    found: list[MergeConflict] = []
    request: ToolRequest | None = None
    awaited: set[CallId] = set()
    for message in (*tail, *block, None):
        if isinstance(message, ToolResult):
            if request is not None and message.call_id in awaited:
                awaited.discard(message.call_id)
            elif message.id in inside:
                found.append(MergeConflict(kind="call_left_behind", message_id=message.id))
        elif message is None or is_told(message):
            if request is not None and request.id in inside and not awaited.isdisjoint(has_result):
                found.append(MergeConflict(kind="result_left_behind", message_id=request.id))
            request = message if isinstance(message, ToolRequest) else None
            awaited = {call.id for call in request.calls} if request is not None else set()
    return found


class Provenance(Value):
    """Where a merged message came from."""

    branch: str
    position: int
    at: Timestamp
    by: str


def ranges_of(positions: Sequence[int]) -> tuple[tuple[int, int], ...]:
    """Positions in their order, neighbours put together as (first, last + 1)."""
    ranges: list[tuple[int, int]] = []
    for position in positions:
        if ranges and ranges[-1][1] == position:
            ranges[-1] = (ranges[-1][0], position + 1)
        else:
            ranges.append((position, position + 1))
    return tuple(ranges)


def origin_of(branch: Branch, position: int) -> Provenance | None:
    """Where the message at a position of a branch was merged from; None for one that was said there."""
    for block in branch.merged:
        offset = position - block.start
        if 0 <= offset < block.count:
            for first, end in block.ranges:
                if offset < end - first:
                    return Provenance(branch=block.source, position=first + offset, at=block.at, by=block.by)
                offset -= end - first
    return None
