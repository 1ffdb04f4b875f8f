"""A local copy of a context that signals and pulls keep up to date.

The copy converges after missed signals, lost connections and restarts of the server: a stream starts with the current
state, and pulls return exact data.
"""

import asyncio
from collections.abc import Callable, Sequence
from contextlib import suppress
from types import TracebackType
from typing import Any, NamedTuple
from urllib.parse import quote

import msgspec

from pilothouse.api.views import ContextView, Delta, MessagePage, MessageView, is_complete
from pilothouse.client.http_client import CONNECTION_ERRORS, Client, ServerError, pause_before_retry
from pilothouse.domain.codes import Code
from pilothouse.domain.states import State
from pilothouse.domain.value import MessageId

_MESSAGES_PER_PAGE = 200


class _Progress(NamedTuple):
    """The progress of a streamed message, from a ContentDelta signal."""

    sequence: int
    version: int
    """The version of the context at that time."""


class ContextReplica:
    """A copy of a context on the server, used as an async context manager. `until` waits for a condition."""

    def __init__(self, client: Client, context_id: str) -> None:
        self._client = client
        self._path = f"/api/contexts/{context_id}"
        self._ambient = client.ambient
        self.context: ContextView | None = None
        self.order: list[MessageId] = []
        """The ids of the active branch's messages, in order."""
        self.messages: dict[MessageId, MessageView] = {}
        """The messages of the active branch."""
        self.texts: dict[MessageId, list[str]] = {}
        """The received deltas of messages that are still being streamed."""
        self.connected = False
        self.error: ServerError | None = None
        """The permanent refusal of a request, after which the copy is no longer updated."""
        self._branch_key = ""
        self._is_stale = False
        self._is_pulling = False
        self._is_pulling_context = False
        self._pending_texts: dict[MessageId, _Progress] = {}
        """Messages of which the server has more text than the copy."""
        self._work_available = asyncio.Event()
        self._changed = asyncio.Condition()
        self._tasks: list[asyncio.Task[None]] = []

    async def __aenter__(self) -> "ContextReplica":
        self._tasks = [asyncio.create_task(self._listen()), asyncio.create_task(self._pull_forever())]
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for task in self._tasks:
            task.cancel()
        await asyncio.wait(self._tasks)

    async def until(self, condition: Callable[["ContextReplica"], bool]) -> None:
        """Wait until the copy meets a condition. Raises: ServerError if the copy is no longer updated."""
        async with self._changed:
            while self.error is None and not (self.context is not None and condition(self)):
                await self._changed.wait()
        if self.error is not None:
            raise self.error

    @property
    def is_settled(self) -> bool:
        """Whether everything that signals announced has been pulled."""
        return self.connected and not self._is_stale and not self._is_pulling and not self._pending_texts

    def text(self, message_id: MessageId) -> str:
        """Return the text of a message as far as it has arrived."""
        if message_id in self.messages:
            return getattr(self.messages[message_id], "content", None) or ""
        return "".join(self.texts.get(message_id, ()))

    # signals

    async def _listen(self) -> None:
        failures = 0
        while self.error is None:
            with suppress(*CONNECTION_ERRORS):
                try:
                    async for name, data in self._client.events("GET", f"{self._path}/stream"):
                        self.connected, failures = True, 0
                        self._handle_signal(name, data)
                except ServerError as error:
                    if not error.is_temporary:
                        await self._fail(error)
            self.connected = False
            await self._notify()
            failures += 1
            await pause_before_retry(self._ambient, failures)

    def _handle_signal(self, name: str, data: dict[str, Any]) -> None:
        if name == "ContentDelta":
            self._record_progress(MessageId(data["message_id"]), _Progress(data["sequence"], data["version"]))
        version = self.context.version if self.context is not None else None
        is_self_contained = name != "ContextChanged" and data.get("version") == version
        if not is_self_contained or (name == "StateChanged" and not self._apply_state(data)):
            self._is_stale = True
        self._work_available.set()

    def _apply_state(self, data: dict[str, Any]) -> bool:
        """Take the state from a signal. Return whether that was possible: a truncated state is incomplete, and a state
        that arrives during a pull may be newer or older than the pulled one."""
        is_cut = data.get("cut") or "total" in data["state"]
        if self.context is None or self._is_pulling_context or is_cut:
            return False
        try:
            state = msgspec.convert(data["state"], State)
        except msgspec.ValidationError:
            return False
        self.context = msgspec.structs.replace(self.context, current_state=state)
        return True

    def _record_progress(self, message_id: MessageId, progress: _Progress) -> None:
        """Mark a message for a pull of its text, if the copy has less of it."""
        if self._may_be_streaming(message_id, progress) and progress.sequence > len(self.texts.get(message_id, ())):
            self._pending_texts[message_id] = progress

    def _may_be_streaming(self, message_id: MessageId, progress: _Progress) -> bool:
        """Whether a message can still be streaming. A completed message that left the active branch (compression, or
        another branch) is unknown to the copy: a late signal about it must not bring its text back."""
        if message_id in self.messages:
            return False
        streaming = self.context.streaming if self.context is not None else None
        is_current = self.context is None or progress.version >= self.context.version
        return is_current or (streaming is not None and streaming.message_id == message_id)

    # pulls

    async def _pull_forever(self) -> None:
        failures = 0
        while self.error is None:
            await self._work_available.wait()
            self._work_available.clear()
            try:
                await self._pull()
            except (ServerError, *CONNECTION_ERRORS) as error:
                if isinstance(error, ServerError) and not error.is_temporary:
                    await self._fail(error)
                self._work_available.set()
                failures += 1
                await pause_before_retry(self._ambient, failures)
            else:
                failures = 0
            await self._notify()

    async def _pull(self) -> None:
        self._is_pulling = True
        try:
            if self._is_stale:
                await self._pull_context()
            for message_id in list(self._pending_texts):
                await self._pull_text(message_id)
        finally:
            self._is_pulling = False

    async def _pull_context(self) -> None:
        """Pull the context, its missing messages and those that may have changed. The next signal reports changes that
        happen during the pull."""
        self._is_stale, self._is_pulling_context = False, True
        try:
            context = await self._client.request("GET", self._path, kind=ContextView)
            branch = context.branches[context.active_branch]
            if branch.key != self._branch_key:
                self.order, self.messages, self._branch_key = [], {}, branch.key
            incomplete_ids = [each for each in self.order if not is_complete(self.messages[each])]
            await self._pull_new_messages(branch.name, branch.length)
            updates = await self._messages_by_id(incomplete_ids)
        except BaseException:
            self._is_stale = True
            raise
        finally:
            self._is_pulling_context = False
        self.messages.update((message.id, message) for message in updates)
        # A message that is neither on the branch nor streaming was never saved: its process died before.
        streaming_id = context.streaming.message_id if context.streaming is not None else None
        self.texts = {each: deltas for each, deltas in self.texts.items() if each == streaming_id}
        self.context = context
        self._pending_texts = {
            each: progress for each, progress in self._pending_texts.items() if self._may_be_streaming(each, progress)
        }
        if context.streaming is not None:
            progress = _Progress(context.streaming.sequence, context.version)
            self._record_progress(context.streaming.message_id, progress)

    async def _pull_new_messages(self, branch: str, length: int) -> None:
        """Pull missing messages page by page. Pages that have arrived stay if a later one fails."""
        while len(self.order) < length:
            limit = min(_MESSAGES_PER_PAGE, length - len(self.order))
            end = len(self.order) + limit
            path = f"{self._path}/messages?branch={quote(branch, safe='')}&before={end}&limit={limit}"
            try:
                page: MessagePage = await self._client.request("GET", path, kind=MessagePage)
            except ServerError as error:
                if error.problem.code != Code.UNKNOWN_BRANCH:
                    raise
                page = MessagePage(())
            if len(page.items) != limit or page.key != self._branch_key:
                # The branch was deleted or compressed after the context was pulled.
                self._is_stale = True
                return
            self.messages.update((message.id, message) for message in page.items)
            self.order += [message.id for message in page.items]

    async def _messages_by_id(self, ids: Sequence[MessageId]) -> list[MessageView]:
        messages: list[MessageView] = []
        for start in range(0, len(ids), _MESSAGES_PER_PAGE):
            id_list = ",".join(ids[start : start + _MESSAGES_PER_PAGE])
            messages += await self._client.request(
                "GET", f"{self._path}/messages?ids={id_list}", kind=list[MessageView]
            )
        return messages

    async def _pull_text(self, message_id: MessageId) -> None:
        text = self.texts.setdefault(message_id, [])
        path = f"{self._path}/messages/{message_id}/content?from_sequence={len(text)}"
        try:
            deltas: list[Delta] = await self._client.request("GET", path, kind=list[Delta])
        except ServerError as error:
            if error.problem.status != 404:
                raise
            deltas = []  # the message was never saved: its process died before
            self._pending_texts.pop(message_id, None)
            self.texts.pop(message_id, None)
        text += [delta.delta for delta in deltas if delta.sequence > len(text)]
        progress = self._pending_texts.get(message_id)
        if progress is not None and len(text) >= progress.sequence:
            del self._pending_texts[message_id]

    async def _fail(self, error: ServerError) -> None:
        self.error = error
        await self._notify()

    async def _notify(self) -> None:
        async with self._changed:
            self._changed.notify_all()
