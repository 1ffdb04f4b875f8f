"""Merging branches: the messages to merge, the conflicts, and the provenance of merged messages. A merge copies no
messages, only ids."""

from collections.abc import Collection, Iterable, Sequence
from typing import Literal

from pilothouse.domain.branches import Branch
from pilothouse.domain.codes import Code
from pilothouse.domain.errors import InvalidInput
from pilothouse.domain.messages import (
    Message,
    SystemControl,
    ToolRequest,
    ToolResult,
    is_sent_to_model,
    waits_for_results,
)
from pilothouse.domain.value import CallId, MessageId, Timestamp, Value

Strategy = Literal["append", "cherry_pick", "rebase"]
ConflictKind = Literal["already_there", "result_left_behind", "call_left_behind", "not_mergeable"]
_MAX_IDS_NAMED = 5


class MergeConflict(Value):
    """An irregularity of a merge. Conflicts are reported and do not prevent the merge: the result is valid, since a
    request gives every call a result."""

    kind: ConflictKind
    message_id: MessageId


class MergePlan(Value, kw_only=True):
    """The effect of a merge."""

    source: str
    target: str
    strategy: Strategy
    message_ids: tuple[MessageId, ...]
    positions: tuple[int, ...]
    """The positions of `message_ids` on the source."""
    conflicts: tuple[MergeConflict, ...] = ()

    @property
    def merged(self) -> int:
        return len(self.message_ids)


class MergeCandidates(Value):
    """Positions on the source, divided by whether the target has their messages."""

    positions: tuple[int, ...]
    """The messages to merge."""
    already_there: tuple[int, ...] = ()
    """Requested messages that the target has already."""


def merge_candidates(
    source: Sequence[MessageId],
    target: Sequence[MessageId],
    strategy: Strategy,
    chosen: Sequence[MessageId] = (),
    *,
    compressed: Collection[MessageId] = (),
) -> MergeCandidates:
    """The messages that a strategy merges. Messages in `compressed` are in a summary on the target and count as there.

    Raises: InvalidInput for chosen ids that are not on the source, or chosen with a strategy that takes no ids.
    """
    if (strategy == "cherry_pick") != bool(chosen):
        raise InvalidInput(Code.MERGE_IDS)
    on_target = {*target, *compressed}
    if strategy == "append":
        return MergeCandidates(tuple(at for at, message_id in enumerate(source) if message_id not in on_target))
    if strategy == "rebase":
        fork = common_length(source, target)
        if compressed:
            fork = next((at for at, message_id in enumerate(source) if message_id not in on_target), len(source))
        requested: Iterable[int] = range(fork, len(source))
    else:
        position_of = {message_id: position for position, message_id in enumerate(source)}
        missing = [message_id for message_id in chosen if message_id not in position_of]
        if missing:
            raise InvalidInput(Code.MERGE_NOT_ON_SOURCE, ids=", ".join(missing[:_MAX_IDS_NAMED]))
        requested = [position_of[message_id] for message_id in chosen]
    new: list[int] = []
    duplicates: list[int] = []
    for position in requested:
        (duplicates if source[position] in on_target else new).append(position)
        on_target.add(source[position])
    return MergeCandidates(tuple(new), tuple(duplicates))


def common_length(ids: Sequence[MessageId], other_ids: Sequence[MessageId]) -> int:
    """The number of messages that two branches share at their beginning."""
    length = 0
    for first, second in zip(ids, other_ids, strict=False):
        if first != second:
            break
        length += 1
    return length


def is_merge_note(message: Message) -> bool:
    """Whether a message is the notice of an earlier merge, which concerns its own branch only."""
    return isinstance(message, SystemControl) and message.kind == "branch_merge"


def separation_conflicts(
    tail: Sequence[Message], block: Sequence[Message], has_result: Collection[CallId]
) -> list[MergeConflict]:
    """The conflicts of calls in a block that will not be followed by their results, and of results without their call.

    `tail` is the end of the target: the block may hold the result of a call there. `has_result` are the calls that have
    a result on some branch.
    """
    block_ids = {message.id for message in block}
    conflicts: list[MergeConflict] = []
    request: ToolRequest | None = None
    awaited: set[CallId] = set()
    for message in (*tail, *block, None):
        if isinstance(message, ToolResult):
            if request is not None and message.call_id in awaited:
                awaited.discard(message.call_id)
            elif message.id in block_ids:
                conflicts.append(MergeConflict(kind="call_left_behind", message_id=message.id))
        elif message is None or (is_sent_to_model(message) and not waits_for_results(message)):
            if request is not None and request.id in block_ids and not awaited.isdisjoint(has_result):
                conflicts.append(MergeConflict(kind="result_left_behind", message_id=request.id))
            request = message if isinstance(message, ToolRequest) else None
            awaited = {call.id for call in request.calls} if request is not None else set()
    return conflicts


class Provenance(Value):
    """The origin of a merged message."""

    branch: str
    position: int
    at: Timestamp
    by: str


def ranges_of(positions: Sequence[int]) -> tuple[tuple[int, int], ...]:
    """Positions in order, with adjacent ones combined to (first, last + 1)."""
    ranges: list[tuple[int, int]] = []
    for position in positions:
        if ranges and ranges[-1][1] == position:
            ranges[-1] = (ranges[-1][0], position + 1)
        else:
            ranges.append((position, position + 1))
    return tuple(ranges)


def origin_of(branch: Branch, position: int) -> Provenance | None:
    """The provenance of the message at a position; None for a message that was not merged."""
    for block in branch.merged:
        offset = position - block.start
        if 0 <= offset < block.count:
            for first, end in block.ranges:
                if offset < end - first:
                    return Provenance(branch=block.source, position=first + offset, at=block.at, by=block.by)
                offset -= end - first
    return None
