"""`ContextStorage`: one context in the store. Writes under a lease, and reads with the recovery that is not stored."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from pilothouse.domain.calls import CallRecord
from pilothouse.domain.contexts import Change
from pilothouse.domain.errors import StaleWrite, StoreReadOnly
from pilothouse.domain.messages import Message
from pilothouse.domain.value import CallId, MessageId
from pilothouse.runtime.context.draft import Draft
from pilothouse.runtime.ownership.ownership import Lease

if TYPE_CHECKING:
    from pilothouse.runtime.context.live_context import LiveContext


class Recovery(NamedTuple):
    """The change that brings an interrupted context into a resting state."""

    draft: Draft
    change: Change


class ContextStorage:
    """Reads messages, branches and calls, so that an interrupted context reads the same before and after the store has
    its recovery; and writes the owner's changes."""

    def __init__(self, live: "LiveContext") -> None:
        self._live = live
        self.recovery: Recovery | None = None
        """The recovery of an interrupted context that all readers see and the store does not have yet."""
        self.lease: Lease | None = None
        """The right to commit changes. None where the context was only read."""
        self.is_lost = False
        """Whether another owner drives the context now. The context in memory then changes nothing any more."""
        self.is_deleted = False
        self._must_reopen = False
        """Whether the store may hold other data than the memory, after a write that failed midway."""

    @property
    def fence(self) -> int:
        """The token that every write of the owner carries."""
        assert self.lease is not None, "only the owner of a context may change it"
        return self.lease.fence

    async def write(self, change: Change) -> int:
        """Store a change, and return the new version. Raises: StoreError."""
        live, store = self._live, self._live.dependencies.store
        if self._must_reopen:
            await store.open(live.id)  # the store reads its files again and begins a new one
            self._must_reopen = False
        try:
            return await store.commit(live.id, change, expected=live.version, fence=self.fence)
        except StoreReadOnly:
            self._must_reopen = True
            raise
        except StaleWrite:
            live.services.lose(live)
            raise

    @property
    def _unstored(self) -> Change | None:
        return self.recovery.change if self.recovery is not None else None

    async def messages(self, ids: Sequence[MessageId]) -> list[Message]:
        """The messages with these ids, in the same order."""
        change, store = self._unstored, self._live.dependencies.store
        if change is None:
            return await store.messages(self._live.id, ids)
        unstored = {message.id: message for message in change.messages}
        stored_ids = [message_id for message_id in ids if message_id not in unstored]
        stored = dict(zip(stored_ids, await store.messages(self._live.id, stored_ids), strict=True))
        return [unstored.get(message_id) or stored[message_id] for message_id in ids]

    async def message_ids(self) -> list[MessageId]:
        """The ids of the whole pool, sorted."""
        change = self._unstored
        ids = await self._live.dependencies.store.message_ids(self._live.id)
        return sorted({*ids, *(message.id for message in change.messages)}) if change is not None else ids

    async def branch_ids(self, branch: str, start: int = 0, stop: int | None = None) -> list[MessageId]:
        """The ids of a branch between two positions. Raises: NotFound."""
        change, store = self._unstored, self._live.dependencies.store
        unstored = change.appended.get(branch, ()) if change is not None else ()
        if not unstored:
            return await store.branch_ids(self._live.id, branch, start, stop)
        # The positions are computed before the read: the recovery may be stored during the read.
        stored_length = self._live.branches[branch].length - len(unstored)
        last = stored_length if stop is None else min(stop, stored_length)
        ids = await store.branch_ids(self._live.id, branch, start, last) if start < last else []
        unstored_stop = None if stop is None else max(0, stop - stored_length)
        return [*ids, *unstored[max(0, start - stored_length) : unstored_stop]]

    async def call(self, call_id: CallId) -> CallRecord:
        """Raises: NotFound."""
        unstored = self._unstored_calls().get(call_id)
        return unstored or await self._live.dependencies.store.call(self._live.id, call_id)

    async def calls(self, ids: Sequence[CallId] | None = None) -> list[CallRecord]:
        """The named calls, or all calls of the context sorted by id. Unreadable calls are left out."""
        unstored = self._unstored_calls()  # recovery changes calls and makes none
        return [unstored.get(call.id, call) for call in await self._live.dependencies.store.calls(self._live.id, ids)]

    def _unstored_calls(self) -> dict[CallId, CallRecord]:
        change = self._unstored
        return {call.id: call for call in change.calls} if change is not None else {}
