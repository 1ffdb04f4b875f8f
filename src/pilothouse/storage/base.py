"""The store's contract. What it promises to the rest:

- `commit` is atomic and durable before it returns; a stale version or fence changes nothing.
- Opening a context reads a bounded amount, whatever the length of its history, and its audit, whose chain is checked.
- A message that cannot be read comes back as an ErrorMessage in its place; the rest still loads.
- Where an audit chain ends is noted outside the data, when a context rests and with every entry of a user's log: what
  was cut or rewritten there is told.
- What a user decides for good lies in a log of its own: the rules are what its entries add up to.
- Deltas of an answer being streamed are written, not synced: they survive the process, not the power.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

from pilothouse.domain.audit import AuditChain, AuditEntry, AuditHead, CheckedAudit, check_chain
from pilothouse.domain.calls import CallRecord
from pilothouse.domain.codes import Code, Reason
from pilothouse.domain.contexts import Change, ContextSummary, SentKey, StoredContext
from pilothouse.domain.messages import ErrorMessage, Message
from pilothouse.domain.store_health import StoreHealth
from pilothouse.domain.values import CallId, ContextId, MessageId, TurnId, Value

# The token of the lease under which one process owns a context: constant where there is one process.
FENCE = 1


class UserLog(Value):
    """What a user has decided for good, in order. `version` counts the commits."""

    entries: tuple[AuditEntry, ...] = ()
    version: int = 0
    damage: tuple[Reason, ...] = ()
    noted: AuditHead | None = None
    """Where the log ended when that was last noted outside of it; None where nothing was noted."""
    accepted: int = 0
    """How many of the first entries the user accepted as they are. That, too, is noted outside of the log only:
    nothing that stands in the log makes a log that was cut or rewritten count as accepted."""

    @property
    def end(self) -> AuditHead:
        return self._head_after(len(self.entries))

    def check(self) -> AuditChain:
        return check_chain(self.entries[self.accepted :], self.noted, self._head_after(self.accepted))

    def _head_after(self, count: int) -> AuditHead:
        last = self.entries[count - 1] if count else None
        return AuditHead(last.sequence, last.hash) if last is not None else AuditHead()

    @property
    def is_cut(self) -> bool:
        """Whether the entry that was noted is gone, or another one."""
        if self.noted is None or self.noted.count == 0:
            return False
        return not any(entry.hash == self.noted.hash for entry in self.entries if entry.sequence == self.noted.count)


class Store(Protocol):
    async def create(self, change: Change) -> int:
        """The first commit of a new context; gives its version. Raises: Conflict, StoreError."""

    async def open(self, context_id: ContextId) -> StoredContext:
        """Raises: NotFound, StoreDamaged. Opening again after a failed sync verifies and heals."""

    async def commit(self, context_id: ContextId, change: Change, *, expected: int, fence: int = FENCE) -> int:
        """Raises: StaleWrite, StoreRefused, StoreReadOnly, Conflict where an audit is accepted that was changed since
        it was read; then nothing has changed."""

    async def messages(self, context_id: ContextId, ids: Sequence[MessageId]) -> list[Message]: ...

    async def message_ids(self, context_id: ContextId) -> list[MessageId]:
        """The whole pool, in the order of the ids."""

    async def branch_ids(
        self, context_id: ContextId, branch: str, start: int = 0, stop: int | None = None
    ) -> list[MessageId]:
        """Raises: NotFound."""

    async def call(self, context_id: ContextId, call_id: CallId) -> CallRecord:
        """Raises: NotFound."""

    async def audit(self, context_id: ContextId, after: int = 0, limit: int | None = None) -> CheckedAudit:
        """The entries behind the first `after`, and the whole chain compared with what was noted of it. Entries that
        cannot be read are left out: the chain is broken there. Raises: NotFound."""

    async def accept_audit(self, context_id: ContextId) -> None:
        """The chain of a context counts as it was last read, whatever was noted of it before.

        Raises: NotFound, Conflict where it was changed since it was read, StoreRefused.
        """

    async def call_ids(self, context_id: ContextId) -> list[CallId]:
        """Of all there ever were, in their order."""

    async def calls(self, context_id: ContextId, ids: Sequence[CallId] | None = None) -> list[CallRecord]:
        """Those named, or all there ever were, in the order of their ids. What cannot be read is left out."""

    async def sent_key(self, context_id: ContextId, key: str) -> SentKey | None:
        """What was taken under a client's key: of the last thousands of them."""

    async def sent_keys(self, context_id: ContextId) -> list[SentKey]: ...

    async def user_log(self, user: str) -> UserLog:
        """Raises: InvalidInput for a name that may not become a folder's."""

    async def append_user_log(self, user: str, entries: Sequence[AuditEntry], *, expected: int) -> int:
        """Atomic and durable; gives the new version. Raises: StaleWrite, StoreRefused, StoreReadOnly."""

    async def record_accepted_log(self, user: str, record: AuditEntry, *, expected: int) -> int:
        """Append the entry which records that the user accepts the log before it, and accept it: both are in force, or
        neither is. Gives the new version. Raises: StaleWrite, StoreRefused, StoreReadOnly."""

    async def accept_user_log(self, user: str) -> None:
        """The log counts as it is now, whatever was noted of it before."""

    async def document(self, user: str, name: str) -> bytes | None:
        """A small document of a user's. Raises: InvalidInput for a user's name that may not be one, StoreDamaged."""

    async def put_document(self, user: str, name: str, data: bytes) -> None:
        """Replace it as a whole, durably. Raises: StoreRefused; then the old one is still there."""

    async def put_document_aside(self, user: str, name: str, data: bytes) -> str:
        """Keep bytes that could not be read where nothing uses them; gives where. Raises: StoreRefused."""

    async def contexts(self) -> list[ContextSummary]:
        """Newest first."""

    async def delete(self, context_id: ContextId) -> None:
        """Raises: NotFound."""

    def artifacts_folder(self, context_id: ContextId) -> Path | None:
        """Where files of a context lie beside its messages: made by who writes there, removed with the context.

        None where this store keeps no files.
        """

    def append_deltas(self, context_id: ContextId, message_id: MessageId, turn: TurnId, deltas: Sequence[str]) -> None:
        """Write pieces of an answer that is not complete yet. Committing the message forgets them.

        Raises: StoreRefused.
        """

    def forget_deltas(self, context_id: ContextId, message_id: MessageId) -> None:
        """Forget the pieces of an answer that will never be complete: another attempt takes its place."""

    async def health(self) -> StoreHealth:
        """Whether writes are taken, and how much room is left. Tries to write where the last write was refused."""

    async def close(self) -> None:
        """Write everything out. Idempotent."""


def gap(message_id: MessageId, detail: str) -> ErrorMessage:
    """What stands in the place of a message that cannot be read."""
    return ErrorMessage(
        id=message_id, timestamp="", role="system", reason=Reason(Code.MESSAGE_DAMAGED, {"detail": detail})
    )
