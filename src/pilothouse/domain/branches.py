"""Branches: named, ordered lists of message ids. The lists themselves are in the store; this module holds the rules."""

import itertools
import re
import unicodedata
from collections.abc import Collection, Sequence

import msgspec

from pilothouse.domain.codes import Code
from pilothouse.domain.errors import InvalidInput
from pilothouse.domain.messages import Message, ToolRequest, ToolResult, is_sent_to_model, waits_for_results
from pilothouse.domain.value import MessageId, Timestamp, Value

MAIN = "main"
_MAX_NAME_CHARACTERS = 100
_MAX_STEM_CHARACTERS = 90


class MergedBlock(Value, kw_only=True):
    """A run of messages on a branch that were merged from another branch."""

    start: int
    """The position of the first message on this branch."""
    count: int
    source: str
    """The branch that the messages come from."""
    ranges: tuple[tuple[int, int], ...]
    """The positions on the source, as (first, last + 1)."""
    strategy: str
    at: Timestamp
    by: str


class Compressed(Value, kw_only=True):
    """The last compression of a branch: which messages replaced which part of the original."""

    original: str
    """The branch that holds the uncompressed messages."""
    length: int
    """The number of messages at the beginning of the original that were replaced."""
    replacement_length: int = msgspec.field(name="kept")
    """The number of messages at the beginning of the compressed branch that replace them: the head, then the last
    messages of the original part unchanged."""
    head: int
    """The number of messages at the beginning of the compressed branch that are the summary or pinned."""
    summary_id: MessageId


class PromptOverview(Value):
    """The overview of the workspace in the system prompt of a branch's requests."""

    message_id: MessageId | None
    """The message that holds the overview, on this branch or another one; None for a prompt without an overview."""
    length: int
    """The number of messages at the beginning of the branch whose overviews are no newer: the history omits them."""


class Branch(Value):
    """A branch, without its list of message ids."""

    name: str
    key: str
    """Identifies the list of ids in the store. Names are free text, keys are safe as names of files."""
    created_at: Timestamp
    parent_branch: str | None = None
    prompt_addition: str | None = None
    """A part of the system prompt that applies on this branch only."""
    length: int = 0
    """The number of messages."""
    merged: tuple[MergedBlock, ...] = ()
    """The runs of messages that were merged from other branches."""
    compressed: Compressed | None = None
    original_of: str | None = None
    """The compressed branch of which this branch holds the original messages."""
    keeps_whole: bool = False
    """Whether a person has undone a compression: the branch is then not compressed again as long as it fits."""
    overview: PromptOverview | None = None
    """The overview in the system prompt since the first request of the branch, or since its last compression. None
    before that, and on branches of earlier versions."""


def merged_blocks_within(branch: Branch, length: int) -> tuple[MergedBlock, ...]:
    """The merged blocks among the first `length` messages of a branch."""
    return tuple(
        msgspec.structs.replace(block, count=min(block.count, length - block.start))
        for block in branch.merged
        if block.start < length
    )


def compression_within(branch: Branch, length: int) -> Compressed | None:
    """The compression of a branch, as it applies to a fork of its first `length` messages."""
    compression = branch.compressed
    if compression is None or length < compression.head:
        return None
    removed = max(0, compression.replacement_length - length)
    shortened: Compressed = msgspec.structs.replace(
        compression, length=compression.length - removed, replacement_length=compression.replacement_length - removed
    )
    return shortened


def overview_within(branch: Branch, length: int) -> PromptOverview | None:
    """The overview in the prompt of a fork of a branch's first `length` messages: the same, so that the requests of
    both begin alike."""
    overview = branch.overview
    if overview is None or overview.length <= length:
        return overview
    shortened: PromptOverview = msgspec.structs.replace(overview, length=length)
    return shortened


def merged_blocks_after(branch: Branch, position: int, shift: int) -> tuple[MergedBlock, ...]:
    """The merged blocks from `position` on, when the messages from there on move by `shift`."""
    blocks = []
    for block in branch.merged:
        removed = max(0, position - block.start)
        if removed < block.count:
            ranges = _without_first(block.ranges, removed)
            start = block.start + removed + shift
            blocks.append(msgspec.structs.replace(block, start=start, count=block.count - removed, ranges=ranges))
    return tuple(blocks)


def _without_first(ranges: Sequence[tuple[int, int]], count: int) -> tuple[tuple[int, int], ...]:
    """Ranges without their first `count` positions."""
    remaining = []
    for start, end in ranges:
        removed = min(count, end - start)
        count -= removed
        if start + removed < end:
            remaining.append((start + removed, end))
    return tuple(remaining)


def next_name(base: str, taken: Collection[str]) -> str:
    """The first free name with a number: main-2, main-3."""
    stem = re.sub(r"-\d+$", "", base)[:_MAX_STEM_CHARACTERS]
    return next(name for number in itertools.count(2) if (name := f"{stem}-{number}") not in taken)


def check_name(name: str) -> None:
    """Raises: InvalidInput for a name that cannot be displayed and typed."""
    if name in (".", ".."):  # a URL cannot contain it as a segment
        raise InvalidInput(Code.INVALID_NAME, value=name)
    has_controls = any(unicodedata.category(character) in ("Cc", "Cs") for character in name)
    if not 1 <= len(name) <= _MAX_NAME_CHARACTERS or has_controls or name != name.strip():
        raise InvalidInput(Code.INVALID_NAME, value=name)


def fork_length(messages: Sequence[Message], at: int) -> int:
    """The number of messages in a fork at position `at`: a fork never separates a call from its results.

    Notices, and messages that the model does not get (an error), may lie between a call and its results.
    """
    start = at
    while start > 0 and not isinstance(messages[start], ToolRequest) and _may_follow_call(messages[start]):
        start -= 1
    request = messages[start]
    if not isinstance(request, ToolRequest):
        return at + 1
    awaited = {call.id for call in request.calls}
    end = at
    for position in range(start + 1, len(messages)):
        message = messages[position]
        if not _may_follow_call(message):
            break
        if isinstance(message, ToolResult) and message.call_id in awaited:
            end = max(end, position)
    return end + 1


def _may_follow_call(message: Message) -> bool:
    return isinstance(message, ToolResult) or waits_for_results(message) or not is_sent_to_model(message)
