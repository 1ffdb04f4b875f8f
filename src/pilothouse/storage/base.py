"""The store's contract.

- `commit` is atomic and durable before it returns; a stale version or fence changes nothing.
- Opening a context reads a bounded amount, whatever the length of its history, and its audit, whose chain is checked.
- A message that cannot be read comes back as an ErrorMessage in its place; the rest still loads.
- The end of an audit chain is noted outside the data, when a context rests and with every entry of a user's log: cut
  and rewritten chains are reported.
- A user's permanent decisions have a log of their own: the user's rules are the sum of its entries.
- Deltas of an answer being streamed are written, not synced: they survive a crash of the process, not a power failure.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

from pilothouse.domain.audit import AuditChain, AuditEntry, AuditHead, CheckedAudit, check_chain
from pilothouse.domain.calls import CallRecord
from pilothouse.domain.codes import Code, Reason
from pilothouse.domain.contexts import ALL_CONTEXTS, Change, ContextQuery, ContextSummary, SentKey, StoredContext
from pilothouse.domain.messages import ErrorMessage, Message, Reasoning
from pilothouse.domain.store_health import StoreHealth
from pilothouse.domain.value import CallId, ContextId, MessageId, TurnId, Value

FENCE = 1
"""The fencing token of the first lease of a context, and of all leases where one process has the store to itself."""
READ_BATCH_MESSAGES = 500
"""The number of messages to read at once: one read of a whole long branch would delay a cancel."""


class UserLog(Value):
    """A user's permanent decisions, in order."""

    entries: tuple[AuditEntry, ...] = ()
    version: int = 0
    """The number of commits."""
    damage: tuple[Reason, ...] = ()
    noted: AuditHead | None = None
    """The end of the log as it was last noted outside of the log; None where no end was noted."""
    accepted: int = 0
    """How many of the first entries the user accepted as they are. The number is noted outside of the log only: no
    content of the log makes a cut or rewritten log count as accepted."""

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
        """Whether the noted last entry is missing or was replaced."""
        if self.noted is None or self.noted.count == 0:
            return False
        return not any(entry.hash == self.noted.hash for entry in self.entries if entry.sequence == self.noted.count)


class Store(Protocol):
    async def create(self, change: Change) -> int:
        """Commit a new context for the first time; returns its version. Raises: Conflict, StoreError."""

    async def open(self, context_id: ContextId) -> StoredContext:
        """Raises: NotFound, StoreDamaged. Opening again after a failed sync verifies and repairs the context."""

    async def commit(self, context_id: ContextId, change: Change, *, expected: int, fence: int) -> int:
        """Apply a change; returns the new version. Nothing changes on an error. `fence` is the token of the owner's
        lease: a context's first owner has `FENCE`, and the token of an earlier owner is stale.

        Raises: StaleWrite, StoreRefused, StoreReadOnly, Conflict where the change accepts an audit that was modified
        since it was read.
        """

    async def messages(self, context_id: ContextId, ids: Sequence[MessageId]) -> list[Message]: ...

    async def message_ids(self, context_id: ContextId) -> list[MessageId]:
        """The ids of the whole pool, sorted."""

    async def branch_ids(
        self, context_id: ContextId, branch: str, start: int = 0, stop: int | None = None
    ) -> list[MessageId]:
        """Raises: NotFound."""

    async def call(self, context_id: ContextId, call_id: CallId) -> CallRecord:
        """Raises: NotFound."""

    async def audit(self, context_id: ContextId, after: int = 0, limit: int | None = None) -> CheckedAudit:
        """The entries behind the first `after`, and the check of the whole chain against the noted head. Unreadable
        entries are left out: the chain is broken there. Raises: NotFound."""

    async def accept_audit(self, context_id: ContextId) -> None:
        """Accept the chain of a context as it was last read, whatever head was noted before.

        Raises: NotFound, Conflict where the chain was modified since it was read, StoreRefused.
        """

    async def call_ids(self, context_id: ContextId) -> list[CallId]:
        """The ids of all calls of the context, sorted."""

    async def calls(self, context_id: ContextId, ids: Sequence[CallId] | None = None) -> list[CallRecord]:
        """The named calls, or all calls of the context sorted by id. Unreadable calls are left out."""

    async def sent_key(self, context_id: ContextId, key: str) -> SentKey | None:
        """The request that was accepted under a client's key, among the last thousands of keys."""

    async def sent_keys(self, context_id: ContextId) -> list[SentKey]: ...

    async def user_log(self, user: str) -> UserLog:
        """Raises: InvalidInput for a name that cannot be a folder's name."""

    async def append_user_log(self, user: str, entries: Sequence[AuditEntry], *, expected: int) -> int:
        """Append atomically and durably; returns the new version. Raises: StaleWrite, StoreRefused, StoreReadOnly."""

    async def record_accepted_log(self, user: str, record: AuditEntry, *, expected: int) -> int:
        """Accept the log, and append the entry which records that: both take effect, or neither does. Returns the new
        version. Raises: StaleWrite, StoreRefused, StoreReadOnly."""

    async def accept_user_log(self, user: str) -> None:
        """Accept the log as it is now, whatever head was noted before."""

    async def document(self, user: str, name: str) -> bytes | None:
        """A small document of a user. Raises: InvalidInput for an invalid user name, StoreDamaged."""

    async def put_document(self, user: str, name: str, data: bytes) -> None:
        """Replace a document as a whole, durably. Raises: StoreRefused; then the old document is unchanged."""

    async def put_document_aside(self, user: str, name: str, data: bytes) -> str:
        """Preserve the bytes of an unreadable document, out of use; returns their place. Raises: StoreRefused."""

    async def contexts(self, query: ContextQuery = ALL_CONTEXTS) -> list[ContextSummary]:
        """The contexts that a query names, newest first, unreadable ones included."""

    async def delete(self, context_id: ContextId, *, fence: int) -> None:
        """Raises: NotFound, StaleWrite."""

    def artifacts_folder(self, context_id: ContextId) -> Path | None:
        """The folder for a context's files beside its messages: created by the first writer, removed with the context.
        The runtime and the tools reach the files through `tools.artifacts.ArtifactStore`.

        None where this store keeps no files.
        """

    async def append_deltas(
        self,
        context_id: ContextId,
        message_id: MessageId,
        turn: TurnId,
        deltas: Sequence[str],
        reasoning: Reasoning | None = None,
    ) -> None:
        """Write deltas of an answer that is not complete yet, and its further reasoning. Committing the message removes
        them.

        Raises: StoreRefused.
        """

    async def forget_deltas(self, context_id: ContextId, message_id: MessageId) -> None:
        """Remove the deltas of an answer that will never be complete: another attempt replaces it."""

    async def health(self) -> StoreHealth:
        """Whether writes succeed, and how much space is free. Tries to write where the last write was refused."""

    async def close(self) -> None:
        """Write everything out. Idempotent."""


def damaged_message(message_id: MessageId, detail: str) -> ErrorMessage:
    """The placeholder for a message that cannot be read."""
    return ErrorMessage(
        id=message_id, timestamp="", role="system", reason=Reason(Code.MESSAGE_DAMAGED, {"detail": detail})
    )
