"""An answer while it streams: `StreamedAnswer` folds the model's events, `DeltaWriter` stores and signals deltas."""

import asyncio
import itertools
import re
from collections.abc import Sequence
from typing import Any

import msgspec

from pilothouse.domain.errors import StoreError
from pilothouse.domain.messages import OpaquePart, Reasoning, Usage
from pilothouse.domain.signals import ContentDelta, MessageCreated, ReasoningDelta
from pilothouse.domain.value import MessageId, TurnId
from pilothouse.llm.base import (
    CallDelta,
    Connected,
    Finished,
    ModelEvent,
    OpaquePartReceived,
    ReasoningTextDelta,
    TextDelta,
    UsageReported,
)
from pilothouse.runtime.context.live_context import LiveContext
from pilothouse.runtime.shield import run_to_completion

# A delay timer means that the process is overloaded: the interval between signals then grows by the delay.
_DELAY_FACTOR = 1
_MAX_FLUSH_INTERVAL_SECONDS = 0.25


_STRING = re.compile(r'"(?:[^"\\]|\\.)*+"|("(?:[^"\\]|\\.)*+\\?)\Z', re.DOTALL)
"""A JSON string. The group matches a string that continues in the next piece."""


class CallInProgress:
    """A tool call whose arguments are still streaming."""

    def __init__(self) -> None:
        self.id = ""
        self.tool = ""
        self.arguments: list[str] = []
        self._scanned_pieces = 0
        self._depth = 0
        """Brackets that the scanned pieces leave open."""
        self._open_string = ""
        """The beginning of a string that continues in the next piece, reduced to the quote and a trailing backslash."""
        self._is_malformed = False

    def is_complete(self) -> bool:
        """Whether the arguments so far are one JSON value in brackets. Every piece is scanned once, and the arguments
        are parsed once at most: if the brackets are closed and the text is not JSON, no further text makes it JSON."""
        for piece in self.arguments[self._scanned_pieces :]:
            self._scan(piece)
        self._scanned_pieces = len(self.arguments)
        if self._depth > 0 or self._open_string or self._is_malformed:
            return False
        self._is_malformed = not _is_json("".join(self.arguments))
        return not self._is_malformed

    def _scan(self, piece: str) -> None:
        outside, quote, inside = _STRING.sub(r"\1", self._open_string + piece).partition('"')
        backslashes = len(inside) - len(inside.rstrip("\\"))
        self._open_string = quote + "\\" * (backslashes % 2)
        self._depth += sum(map(outside.count, "{[")) - sum(map(outside.count, "}]"))


def _is_json(text: str) -> bool:
    try:
        msgspec.json.decode(text)
    except (msgspec.MsgspecError, UnicodeError, RecursionError):
        return False
    return True


class StreamedAnswer:
    """An answer folded from model events. The same fold serves all providers."""

    def __init__(self, message_id: MessageId, wire_format: str) -> None:
        """`wire_format` names the format that produces the answer."""
        self.message_id = message_id
        self._format = wire_format
        self.deltas: list[str] = []
        self.reasoning_deltas: list[str] = []
        self._reasoning_characters = 0
        self._opaque: list[OpaquePart] = []
        self.characters = 0
        """Length of the text."""
        self.size = 0
        """Length of the text, the reasoning, the opaque parts and all arguments of calls, in characters."""
        self.calls: list[CallInProgress] = []
        self._by_index: dict[int, CallInProgress] = {}
        self.usage: Usage | None = None
        self.finish_reason: str | None = None

    @property
    def has_content(self) -> bool:
        """Whether there is a text or a call. Reasoning alone is no answer."""
        return bool(self.deltas or self.calls)

    @property
    def has_deltas(self) -> bool:
        """Whether there is text or reasoning, which a person may have seen."""
        return bool(self.deltas or self.reasoning_deltas)

    @property
    def text(self) -> str:
        return "".join(self.deltas)

    def reasoning(self, start: int = 0) -> Reasoning | None:
        """The reasoning behind the first `start` deltas, if there is any."""
        deltas = self.reasoning_deltas[start:]
        return Reasoning(self._format, "".join(deltas), tuple(map(len, deltas))) if deltas else None

    def opaque_parts(self, calls: Sequence[CallInProgress]) -> tuple[OpaquePart, ...]:
        """The opaque parts, with places among those of the answer's calls that are given."""
        distinct = set(map(id, calls))
        counts = [0, *itertools.accumulate(id(call) in distinct for call in self.calls)]
        return tuple(msgspec.structs.replace(part, after_calls=counts[part.after_calls]) for part in self._opaque)

    def apply(self, event: ModelEvent) -> None:
        match event:
            case TextDelta(text=text):
                self.deltas.append(text)
                self.characters += len(text)
                self.size += len(text)
            case ReasoningTextDelta(text=text):
                self.reasoning_deltas.append(text)
                self._reasoning_characters += len(text)
                self.size += len(text)
            case OpaquePartReceived(data=data):
                place = (self._reasoning_characters, self.characters, len(self.calls))
                self._opaque.append(OpaquePart(self._format, data, *place))
                self.size += len(data)
            case CallDelta():
                self._apply_call(event)
            case UsageReported(usage=usage):
                self.usage = usage
            case Finished(reason=reason):
                self.finish_reason = reason
            case Connected():
                pass

    def _apply_call(self, delta: CallDelta) -> None:
        call = self._by_index.get(delta.index)
        if call is None or _starts_new_call(call, delta):
            call = CallInProgress()
            self._by_index[delta.index] = call
            self.calls.append(call)
        call.id = call.id or delta.id
        call.tool = call.tool or delta.tool
        if delta.arguments:
            call.arguments.append(delta.arguments)
            self.size += len(delta.arguments)


def _starts_new_call(call: CallInProgress, delta: CallDelta) -> bool:
    """Whether a delta belongs to another call than the one with its index: some providers give every call the same
    index, and some repeat the tool's name in each delta."""
    if not delta.tool or not call.tool:
        return False
    if delta.id and delta.id != call.id:
        return True
    # A cheap check before the scan: complete arguments end with `}`, and new ones begin with `{`.
    may_start = delta.arguments.startswith("{") and bool(call.arguments) and call.arguments[-1].endswith("}")
    return may_start and call.is_complete()


class DeltaWriter:
    """Stores the deltas of one answer, then signals them: at most once every `delta_spacing` seconds, and less often
    when the process is overloaded.

    Waking readers for each delta would cost more than everything else in a turn together.
    """

    def __init__(self, live: LiveContext, answer: StreamedAnswer, turn: TurnId) -> None:
        self.message_id = answer.message_id
        self.flushed = 0
        """How many deltas of the text are stored and signalled."""
        self.reasoning_flushed = 0
        """How many deltas of the reasoning are stored and signalled."""
        self.is_committed = False
        """Whether the message itself is on its branch."""
        self.is_taken = False
        """Whether a message was made of the text, or the text was discarded."""
        self._live = live
        self.turn = turn
        self.answer = answer
        self._loop = asyncio.get_running_loop()
        self._next_flush = 0.0
        self._timer: asyncio.TimerHandle | None = None
        self._write: asyncio.Task[None] | None = None
        self._is_closed = False
        self._failure: StoreError | None = None

    def schedule_flush(self) -> None:
        """Flush new deltas now, or when the interval allows. Raises: StoreError when an earlier flush failed."""
        if self._failure is not None:
            raise self._failure
        if self._timer is not None or self._write is not None:
            return
        if self._loop.time() >= self._next_flush:
            self._flush()
        else:
            self._timer = self._loop.call_at(self._next_flush, self._flush)

    def _flush(self) -> None:
        """Begin to write the new deltas, in a task: the event loop must not wait for the disk."""
        now = self._loop.time()
        delay = now - self._next_flush if self._timer is not None else 0.0
        self._timer = None
        self._next_flush = now + min(
            self._live.dependencies.limits.delta_spacing + _DELAY_FACTOR * delay, _MAX_FLUSH_INTERVAL_SECONDS
        )
        self._write = self._loop.create_task(self._write_new_deltas())

    async def _write_new_deltas(self) -> None:
        live, answer = self._live, self.answer
        deltas, reasoning = answer.deltas[self.flushed :], answer.reasoning(self.reasoning_flushed)
        try:
            if self._failure is not None or not (deltas or reasoning):
                return
            await live.dependencies.store.append_deltas(live.id, self.message_id, self.turn, deltas, reasoning)
        except StoreError as error:
            self._failure = error
            return
        finally:
            self._write = None
        is_first = not self.has_flushed
        self.flushed += len(deltas)
        self.reasoning_flushed += len(reasoning.chunks) if reasoning is not None else 0
        self._signal(is_first=is_first, has_text=bool(deltas), has_reasoning=reasoning is not None)
        is_behind = self.flushed < len(answer.deltas) or self.reasoning_flushed < len(answer.reasoning_deltas)
        if is_behind and not self._is_closed:  # more arrived during the write
            self.schedule_flush()

    @property
    def has_flushed(self) -> bool:
        """Whether anything is stored and signalled."""
        return bool(self.flushed or self.reasoning_flushed)

    def _signal(self, *, is_first: bool, has_text: bool, has_reasoning: bool) -> None:
        live, hub = self._live, self._live.dependencies.hub
        if not hub.has_listeners(live.id):
            return
        about: dict[str, Any] = {"context_id": live.id, "version": live.version, "message_id": self.message_id}
        if is_first:
            hub.publish(MessageCreated(**about, role="assistant", type="text"))
        live.publish_state()
        if has_reasoning:
            hub.publish(ReasoningDelta(**about, sequence=self.reasoning_flushed))
        if has_text:
            hub.publish(ContentDelta(**about, sequence=self.flushed))

    def pieces_after(self, sequence: int) -> list[str]:
        return self.answer.deltas[sequence : self.flushed]

    def reasoning_after(self, sequence: int) -> list[str]:
        return self.answer.reasoning_deltas[sequence : self.reasoning_flushed]

    async def close(self) -> None:
        """Write the remaining deltas, also where the caller is cancelled. Readers read the message itself from now on.

        Raises: StoreError when deltas could not be written.
        """
        self._is_closed = True
        if self._timer is not None:
            self._timer.cancel()
        await run_to_completion(self._write_rest())
        if self._failure is not None:
            raise self._failure

    async def _write_rest(self) -> None:
        if self._write is not None:
            await asyncio.wait({self._write})  # also where that task was cancelled
            self._write = None
        await self._write_new_deltas()
