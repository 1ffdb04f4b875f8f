"""The stream of events that follows a turn: signals trigger pulls, so lost signals lose no events."""

from collections.abc import AsyncIterator
from typing import NamedTuple, TypeVar

from pilothouse.domain.branches import Branch, Compressed
from pilothouse.domain.contexts import ContextCore
from pilothouse.domain.messages import Message, Text, ToolRequest, content_chunks, reasoning_chunks
from pilothouse.domain.states import State
from pilothouse.domain.value import CallId, ContextId, MessageId, TurnId, Value
from pilothouse.runtime.commands.messages import MessageCommands
from pilothouse.runtime.context.live_context import LiveContext
from pilothouse.runtime.context.snapshot import ContextSnapshot
from pilothouse.runtime.pool import ContextPool

_MAX_TEXT_CHARACTERS = 8000

Piece = TypeVar("Piece", "TextAdded", "ReasoningAdded")


class TextAdded(Value):
    """New text of an answer. The text of every answer is streamed in these events, whether it is being written or was
    stored before."""

    message_id: MessageId
    text: str
    turn: TurnId | None = None


class ReasoningAdded(Value):
    """New reasoning of an answer, which is no part of its text."""

    message_id: MessageId
    text: str
    turn: TurnId | None = None


class MessageAdded(Value):
    """A message is complete. Earlier events have given the text and the reasoning of an answer."""

    message: Message


class AnswerCut(Value):
    """The stream of this message was cut, so its text is not an answer."""

    message_id: MessageId


class StateEntered(Value):
    state: State


class SubagentWaiting(Value):
    """A sub-agent waits for the person, who decides in its context before the turn goes on."""

    context_id: ContextId


class ToolOutputAdded(Value):
    """Output of a running call. Only the call's result is stored."""

    call_id: CallId
    text: str


class QuestionAsked(Value):
    """A running call has a question for the person, and waits for the answer."""

    call_id: CallId


TurnEvent = (
    TextAdded
    | ReasoningAdded
    | MessageAdded
    | AnswerCut
    | StateEntered
    | SubagentWaiting
    | ToolOutputAdded
    | QuestionAsked
)


class BranchPosition(NamedTuple):
    """A position on the list of a branch at one instant. A compression replaces the list, and with it the key."""

    key: str
    """The key of the branch's list."""
    position: int


def branch_end(context: ContextSnapshot, *, back: int = 0) -> BranchPosition:
    """The end of the present branch, or the position `back` messages before the end."""
    branch = context.branches[_present_branch(context.core)]
    return BranchPosition(branch.key, branch.length - back)


def _present_branch(core: ContextCore) -> str:
    return core.turn.branch if core.turn is not None else core.active_branch


class EventReader:
    """Reads the events of the branch that was active at the start, whichever branch the person switches to later."""

    def __init__(self, pool: ContextPool, live: LiveContext, start: BranchPosition | None) -> None:
        self._pool = pool
        self._branch = _present_branch(live.core)
        self._key, self._position = start or BranchPosition(live.branches[self._branch].key, 0)
        self._sequences: dict[MessageId, int] = {}
        """By message: how many deltas of its text were given."""
        self._reasoning_sequences: dict[MessageId, int] = {}
        """By message: how many deltas of its reasoning were given."""
        self._writing: MessageId | None = None
        """The message that is being written."""
        self._output_positions: dict[CallId, int] = {}
        """By call: how many characters of its output were given."""
        self._announced_questions: set[CallId] = set()

    def is_behind(self, live: LiveContext) -> bool:
        branch = live.branches.get(self._branch)
        return branch is not None and (branch.key != self._key or branch.length > self._position)

    def present_events(self, live: LiveContext) -> list[TurnEvent]:
        """The events about state that is not stored as messages: streaming text, output and questions of calls."""
        return [*self._cut_answers(live), *self._new_text(live), *self._new_output(live), *self._new_questions(live)]

    def _cut_answers(self, live: LiveContext) -> list[AnswerCut]:
        """The message that was being written, if another attempt has replaced it."""
        writing = self._writing
        if writing is None or (live.delta_writer is not None and live.delta_writer.message_id == writing):
            return []
        self._writing = None
        return [AnswerCut(message_id=writing)]

    def _new_text(self, live: LiveContext) -> list[TextAdded | ReasoningAdded]:
        """New reasoning and text of the message that is being written."""
        writer = live.delta_writer
        if writer is None:
            return []
        reasoning = "".join(writer.reasoning_after(self._reasoning_sequences.get(writer.message_id, 0)))
        text = "".join(writer.pieces_after(self._sequences.get(writer.message_id, 0)))
        self._reasoning_sequences[writer.message_id] = writer.reasoning_flushed
        self._sequences[writer.message_id] = writer.flushed
        self._writing = writer.message_id if writer.has_flushed else self._writing
        return [
            *_pieces(ReasoningAdded, writer.message_id, reasoning, writer.turn),
            *_pieces(TextAdded, writer.message_id, text, writer.turn),
        ]

    def _new_output(self, live: LiveContext) -> list[ToolOutputAdded]:
        """New output of running calls."""
        events = []
        for call_id, output in live.live_outputs.items():
            text = output.after(self._output_positions.get(call_id, 0))
            self._output_positions[call_id] = output.total
            if text:
                events.append(ToolOutputAdded(call_id=call_id, text=text))
        return events

    def _new_questions(self, live: LiveContext) -> list[QuestionAsked]:
        """New questions of running calls."""
        call_ids = [call.id for call in live.calls_with_questions() if call.id not in self._announced_questions]
        self._announced_questions.update(call_ids)
        return [QuestionAsked(call_id=call_id) for call_id in call_ids]

    async def pull(self, live: LiveContext) -> AsyncIterator[TurnEvent]:
        """The events of the messages behind the reader's position."""
        branch = live.branches[self._branch]
        ids = await self._new_ids(live, branch)
        messages = await MessageCommands(self._pool).read(live.id, ids=ids) if ids else []
        for message in messages:
            if isinstance(message, Text | ToolRequest) and message.role == "assistant":
                reasoning = reasoning_chunks(message)[self._reasoning_sequences.pop(message.id, 0) :]
                for thought in _pieces(ReasoningAdded, message.id, "".join(reasoning), message.metadata.turn):
                    yield thought
                rest = content_chunks(message)[self._sequences.pop(message.id, 0) :]
                for piece in _pieces(TextAdded, message.id, "".join(rest), message.metadata.turn):
                    yield piece
            if message.id == self._writing:
                self._writing = None
            yield MessageAdded(message=message)
            if isinstance(message, Text) and message.ended == "cut":
                yield AnswerCut(message_id=message.id)

    async def _new_ids(self, live: LiveContext, branch: Branch) -> list[MessageId]:
        """The ids behind the position; after a compression, the summary's id before them."""
        summary: list[MessageId] = []
        if branch.key != self._key:
            new_position = _position_after_compression(live, branch, self._key, self._position)
            self._key, self._position = branch.key, branch.length if new_position is None else new_position
            summary = (
                [branch.compressed.summary_id] if branch.compressed is not None and new_position is not None else []
            )
        count, self._position = branch.length - self._position, branch.length
        ids = (
            await MessageCommands(self._pool).read_ids(live.id, branch.name, before=branch.length, limit=count)
            if count > 0
            else []
        )
        return [*(message_id for message_id in summary if message_id not in ids), *ids]


def _position_after_compression(live: LiveContext, branch: Branch, key: str, position: int) -> int | None:
    """The position on a branch that corresponds to a position on an earlier list, which was compressed into the
    branch's list. None where `key` is not the key of such an earlier list."""
    compressions: list[Compressed] = []
    for _ in live.branches:  # bounded: a branch with the name of a deleted original may refer to itself
        compression = branch.compressed
        if compression is None or compression.original not in live.branches:
            return None
        compressions.append(compression)
        branch = live.branches[compression.original]
        if branch.key == key:
            for compression in reversed(compressions):
                position = max(0, position - compression.length + compression.replacement_length)
            return position
    return None


def _pieces(kind: type[Piece], message_id: MessageId, text: str, turn: TurnId | None) -> list[Piece]:
    """Events for a text: few, but none so large that it blocks a reader."""
    return [
        kind(message_id=message_id, text=text[at : at + _MAX_TEXT_CHARACTERS], turn=turn)
        for at in range(0, len(text), _MAX_TEXT_CHARACTERS)
    ]
