"""A local copy of a context, kept by signals and pulls.

It is right again after any loss: a signal that was missed, a connection that was cut, a server that was restarted. It
needs only the stream, which first tells the present, and pulls, which are exact.
"""

import asyncio
from collections.abc import Callable, Sequence
from contextlib import suppress
from types import TracebackType
from typing import Any, NamedTuple
from urllib.parse import quote

import msgspec

from pilothouse.client.connection import LOST, RETRY, Client, ServerError
from pilothouse.domain.codes import Code
from pilothouse.domain.shapes import ContextShape, Delta, MessagePage, MessageShape, is_complete
from pilothouse.domain.states import State
from pilothouse.domain.values import MessageId

_PAGE = 200


class _Told(NamedTuple):
    """What a ContentDelta signal said: how far a message has come, as of which version of the context."""

    sequence: int
    version: int


class Copy:
    """A context as the server has it. Use it as an async context manager; wait with `until`.

    `messages` are those of the active branch by id, `order` their order, `texts` the pieces of those that are still
    being written. `error` is set when the server will not tell any more.
    """

    def __init__(self, client: Client, context_id: str) -> None:
        self._client = client
        self._path = f"/api/contexts/{context_id}"
        self._ambient = client.ambient
        self.context: ContextShape | None = None
        self.order: list[MessageId] = []
        self.messages: dict[MessageId, MessageShape] = {}
        self.texts: dict[MessageId, list[str]] = {}
        self.connected = False
        self.error: ServerError | None = None
        self._branch = ""
        self._is_stale = False
        self._is_pulling = False
        self._is_pulling_context = False
        self._behind: dict[MessageId, _Told] = {}
        self._woken = asyncio.Event()
        self._changed = asyncio.Condition()
        self._tasks: list[asyncio.Task[None]] = []

    async def __aenter__(self) -> "Copy":
        self._tasks = [asyncio.create_task(self._listen()), asyncio.create_task(self._pull_forever())]
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for task in self._tasks:
            task.cancel()
        await asyncio.wait(self._tasks)

    async def until(self, is_so: Callable[["Copy"], bool]) -> None:
        """Wait until the copy is as asked. Raises: ServerError when the server will not tell any more."""
        async with self._changed:
            while self.error is None and not (self.context is not None and is_so(self)):
                await self._changed.wait()
        if self.error is not None:
            raise self.error

    @property
    def is_settled(self) -> bool:
        """Whether everything that was told has been pulled."""
        return self.connected and not self._is_stale and not self._is_pulling and not self._behind

    def text(self, message_id: MessageId) -> str:
        """What has been written of a message so far."""
        if message_id in self.messages:
            return getattr(self.messages[message_id], "content", None) or ""
        return "".join(self.texts.get(message_id, ()))

    # signals

    async def _listen(self) -> None:
        pause = RETRY[0]
        while self.error is None:
            with suppress(*LOST):
                try:
                    async for name, data in self._client.events("GET", f"{self._path}/stream"):
                        self.connected, pause = True, RETRY[0]
                        self._take(name, data)
                except ServerError as error:
                    if not error.is_temporary:
                        await self._fail(error)
            self.connected = False
            await self._tell()
            await self._ambient.sleep(pause * (0.5 + self._ambient.fraction()))
            pause = min(pause * 2, RETRY[1])

    def _take(self, name: str, data: dict[str, Any]) -> None:
        if name == "ContentDelta":
            self._note(MessageId(data["message_id"]), _Told(data["sequence"], data["version"]))
        known = self.context.version if self.context is not None else None
        is_told_whole = name != "ContextChanged" and data.get("version") == known
        if not is_told_whole or (name == "StateChanged" and not self._apply_state(data)):
            self._is_stale = True
        self._woken.set()

    def _apply_state(self, data: dict[str, Any]) -> bool:
        """Whether a state could be taken from its signal: not one that was cut short, nor one that comes while the
        context is pulled, which may be older."""
        is_cut = data.get("cut") or "total" in data["state"]
        if self.context is None or self._is_pulling_context or is_cut:
            return False
        try:
            state = msgspec.convert(data["state"], State)
        except msgspec.ValidationError:
            return False
        self.context = msgspec.structs.replace(self.context, current_state=state)
        return True

    def _note(self, message_id: MessageId, told: _Told) -> None:
        """There is more of a message than we have."""
        if self._may_be_written(message_id, told) and told.sequence > len(self.texts.get(message_id, ())):
            self._behind[message_id] = told

    def _may_be_written(self, message_id: MessageId, told: _Told) -> bool:
        """Whether a message that was being written at a version still is. A message that was completed and then left
        the active branch (compressed, another branch) is in no list of ours: a signal about it that comes late must not
        bring its text back."""
        if message_id in self.messages:
            return False
        streaming = self.context.streaming if self.context is not None else None
        is_present = self.context is None or told.version >= self.context.version
        return is_present or (streaming is not None and streaming.message_id == message_id)

    # pulls

    async def _pull_forever(self) -> None:
        pause = RETRY[0]
        while self.error is None:
            await self._woken.wait()
            self._woken.clear()
            try:
                await self._pull()
            except (ServerError, *LOST) as error:
                if isinstance(error, ServerError) and not error.is_temporary:
                    await self._fail(error)
                self._woken.set()
                await self._ambient.sleep(pause * (0.5 + self._ambient.fraction()))
                pause = min(pause * 2, RETRY[1])
            else:
                pause = RETRY[0]
            await self._tell()

    async def _pull(self) -> None:
        self._is_pulling = True
        try:
            if self._is_stale:
                await self._pull_context()
            for message_id in list(self._behind):
                await self._pull_text(message_id)
        finally:
            self._is_pulling = False

    async def _pull_context(self) -> None:
        """What was true before this began may be old; what changes meanwhile is told by the next signal."""
        self._is_stale, self._is_pulling_context = False, True
        try:
            context = await self._client.call("GET", self._path, kind=ContextShape)
            branch = context.branches[context.active_branch]
            if branch.key != self._branch:
                self.order, self.messages, self._branch = [], {}, branch.key
            open_ids = [each for each in self.order if not is_complete(self.messages[each])]
            await self._take_from(branch.name, branch.length)
            again = await self._messages_by_id(open_ids)
        except BaseException:
            self._is_stale = True
            raise
        finally:
            self._is_pulling_context = False
        self.messages.update((message.id, message) for message in again)
        # What is neither on the branch nor being written never came to be: its process died before it was kept.
        writing = context.streaming.message_id if context.streaming is not None else None
        self.texts = {each: pieces for each, pieces in self.texts.items() if each == writing}
        self.context = context
        self._behind = {each: told for each, told in self._behind.items() if self._may_be_written(each, told)}
        if context.streaming is not None:
            self._note(context.streaming.message_id, _Told(context.streaming.sequence, context.version))

    async def _take_from(self, branch: str, length: int) -> None:
        """The messages that we do not have, page by page: what has come stays, if the next one does not."""
        while len(self.order) < length:
            limit = min(_PAGE, length - len(self.order))
            end = len(self.order) + limit
            path = f"{self._path}/messages?branch={quote(branch, safe='')}&before={end}&limit={limit}"
            try:
                page: MessagePage = await self._client.call("GET", path, kind=MessagePage)
            except ServerError as error:
                if error.problem.code != Code.UNKNOWN_BRANCH:
                    raise
                page = MessagePage(())
            if len(page.items) != limit or page.key != self._branch:  # it is gone, or another list by now
                self._is_stale = True
                return
            self.messages.update((message.id, message) for message in page.items)
            self.order += [message.id for message in page.items]

    async def _messages_by_id(self, ids: Sequence[MessageId]) -> list[MessageShape]:
        found: list[MessageShape] = []
        for start in range(0, len(ids), _PAGE):
            named = ",".join(ids[start : start + _PAGE])
            found += await self._client.call("GET", f"{self._path}/messages?ids={named}", kind=list[MessageShape])
        return found

    async def _pull_text(self, message_id: MessageId) -> None:
        known = self.texts.setdefault(message_id, [])
        path = f"{self._path}/messages/{message_id}/content?from_sequence={len(known)}"
        try:
            pieces: list[Delta] = await self._client.call("GET", path, kind=list[Delta])
        except ServerError as error:
            if error.problem.status != 404:
                raise
            pieces = []  # it never came to be: its process died before it wrote anything
            self._behind.pop(message_id, None)
            self.texts.pop(message_id, None)
        known += [piece.delta for piece in pieces if piece.sequence > len(known)]
        told = self._behind.get(message_id)
        if told is not None and len(known) >= told.sequence:
            del self._behind[message_id]

    async def _fail(self, error: ServerError) -> None:
        self.error = error
        await self._tell()

    async def _tell(self) -> None:
        async with self._changed:
            self._changed.notify_all()
