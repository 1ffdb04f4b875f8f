"""An answer while it arrives: the fold of the model's events, and the outlet that writes and signals its pieces."""

import asyncio
import re

import msgspec

from pilothouse.domain.errors import StoreError
from pilothouse.domain.messages import Usage
from pilothouse.domain.signals import ContentDelta, MessageCreated
from pilothouse.domain.values import MessageId, TurnId
from pilothouse.llm.base import CallDelta, Connected, Finished, ModelEvent, TextDelta, UsageReported
from pilothouse.runtime.live import Live

# A timer that fires late tells that there is more to do than time: signals then come less often.
_STRETCH = 1
_SPACING_AT_MOST = 0.25


_STRING = re.compile(r'"(?:[^"\\]|\\.)*+"|("(?:[^"\\]|\\.)*+\\?)\Z', re.DOTALL)
"""A string of JSON. The group is one that goes on in the next piece."""


class CallInProgress:
    def __init__(self) -> None:
        self.id = ""
        self.tool = ""
        self.arguments: list[str] = []
        self._scanned_pieces = 0
        self._depth = 0
        """How many brackets the scanned pieces have left open."""
        self._open_string = ""
        """The beginning of a string that the next piece goes on with, as short as that can be told."""
        self._is_malformed = False

    def is_whole(self) -> bool:
        """Whether the arguments so far are one JSON value in brackets. Every piece is scanned once, and all of them
        are parsed once at most: where the brackets are closed and it is no JSON, more text makes none of it."""
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


class Answer:
    """One fold serves all providers."""

    def __init__(self, message_id: MessageId) -> None:
        self.message_id = message_id
        self.deltas: list[str] = []
        self.characters = 0
        self.size = 0
        self.calls: list[CallInProgress] = []
        self._by_index: dict[int, CallInProgress] = {}
        self.usage: Usage | None = None
        self.finish_reason: str | None = None

    @property
    def has_content(self) -> bool:
        return bool(self.deltas or self.calls)

    @property
    def text(self) -> str:
        return "".join(self.deltas)

    def take(self, event: ModelEvent) -> None:
        match event:
            case TextDelta(text=text):
                self.deltas.append(text)
                self.characters += len(text)
                self.size += len(text)
            case CallDelta():
                self._take_call(event)
            case UsageReported(usage=usage):
                self.usage = usage
            case Finished(reason=reason):
                self.finish_reason = reason
            case Connected():
                pass

    def _take_call(self, delta: CallDelta) -> None:
        call = self._by_index.get(delta.index)
        if call is None or _begins_another(call, delta):
            call = CallInProgress()
            self._by_index[delta.index] = call
            self.calls.append(call)
        call.id = call.id or delta.id
        call.tool = call.tool or delta.tool
        if delta.arguments:
            call.arguments.append(delta.arguments)
            self.size += len(delta.arguments)


def _begins_another(call: CallInProgress, delta: CallDelta) -> bool:
    """Some providers give every call the same index, some repeat the name with each part."""
    if not delta.tool or not call.tool:
        return False
    if delta.id and delta.id != call.id:
        return True
    # Cheap to tell before it is worth scanning: one that is whole ends so, and another begins so.
    may_begin = delta.arguments.startswith("{") and bool(call.arguments) and call.arguments[-1].endswith("}")
    return may_begin and call.is_whole()


class Outlet:
    """Writes the pieces of one answer before it signals them, at most once every `delta_spacing` seconds, and less
    often when the process is late with its work.

    Waking readers for each piece would cost more than everything else together.
    """

    def __init__(self, live: Live, message_id: MessageId, turn: TurnId, deltas: list[str]) -> None:
        self.message_id = message_id
        self.flushed = 0
        self.is_committed = False
        self._live = live
        self.turn = turn
        self._deltas = deltas
        self._loop = asyncio.get_running_loop()
        self._next_flush = 0.0
        self._timer: asyncio.TimerHandle | None = None
        self._failure: StoreError | None = None

    def moved(self) -> None:
        """There are new pieces. Raises: StoreError when they could not be written."""
        if self._failure is not None:
            raise self._failure
        if self._timer is not None:
            return
        now = self._loop.time()
        if now >= self._next_flush:
            self._flush()
            if self._failure is not None:
                raise self._failure
        else:
            self._timer = self._loop.call_at(self._next_flush, self._flush)

    def _flush(self) -> None:
        now = self._loop.time()
        late = now - self._next_flush if self._timer is not None else 0.0
        self._timer = None
        self._next_flush = now + min(self._live.parts.limits.delta_spacing + _STRETCH * late, _SPACING_AT_MOST)
        if self._failure is not None or self.flushed == len(self._deltas):
            return
        live = self._live
        try:
            live.parts.store.append_deltas(live.id, self.message_id, self.turn, self._deltas[self.flushed :])
        except StoreError as error:
            self._failure = error
            return
        first = self.flushed == 0
        self.flushed = len(self._deltas)
        self._signal(first=first)

    def _signal(self, *, first: bool) -> None:
        live, hub = self._live, self._live.parts.hub
        if not hub.has_listeners(live.id):
            return
        if first:
            hub.publish(
                MessageCreated(
                    context_id=live.id, version=live.version, message_id=self.message_id, role="assistant", type="text"
                )
            )
        live.publish_state()
        hub.publish(
            ContentDelta(context_id=live.id, version=live.version, message_id=self.message_id, sequence=self.flushed)
        )

    def pieces_after(self, sequence: int) -> list[str]:
        return self._deltas[sequence : self.flushed]

    def close(self) -> None:
        """Write what is left. From now on the message itself is read."""
        if self._timer is not None:
            self._timer.cancel()
        self._flush()
        if self._timer is not None:
            self._timer.cancel()
