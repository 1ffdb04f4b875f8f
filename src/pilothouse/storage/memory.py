"""A store in memory: the simplest implementation of the contract, for tests and temporary conversations."""

import shutil
from collections.abc import Sequence
from pathlib import Path

import msgspec

from pilothouse.domain.audit import AuditEntry, CheckedAudit, check_chain
from pilothouse.domain.branches import Branch
from pilothouse.domain.calls import CallRecord
from pilothouse.domain.codes import Code
from pilothouse.domain.contexts import (
    ALL_CONTEXTS,
    Change,
    ContextCore,
    ContextQuery,
    ContextSummary,
    PartialAnswer,
    SentKey,
    StoredContext,
    summary_of,
)
from pilothouse.domain.errors import Conflict, NotFound, StaleWrite
from pilothouse.domain.messages import Message, Reasoning, join_reasoning
from pilothouse.domain.store_health import StoreHealth
from pilothouse.domain.users import check_user_name
from pilothouse.domain.value import CallId, ContextId, MessageId, TurnId
from pilothouse.storage.base import FENCE, UserLog, damaged_message
from pilothouse.system.private_file import make_private_folders


class _PartialData:
    def __init__(self, turn: TurnId) -> None:
        self.turn = turn
        self.deltas: list[str] = []
        self.reasoning: list[Reasoning] = []


class _ContextData:
    def __init__(self, core: ContextCore) -> None:
        self.core = core
        self.version = 0
        self.pool: dict[MessageId, Message] = {}
        self.branches: dict[str, Branch] = {}
        self.ids: dict[str, list[MessageId]] = {}
        self.calls: dict[CallId, CallRecord] = {}
        self.audit: list[AuditEntry] = []
        self.keys: dict[str, SentKey] = {}
        self.partials: dict[MessageId, _PartialData] = {}

    def apply(self, change: Change) -> int:
        self.core = change.core
        for name in change.dropped:
            self.branches.pop(name, None)
            self.ids.pop(name, None)
        for old, new in change.renamed.items():
            self.branches[new] = msgspec.structs.replace(self.branches.pop(old), name=new)
            self.ids[new] = self.ids.pop(old)
        self.keys.update((sent_key.key, sent_key) for sent_key in change.keys)
        for message in change.messages:
            self.pool[message.id] = message
            self.partials.pop(message.id, None)
        for name, branch in change.branches.items():
            ids = self.ids.setdefault(name, [])
            self.branches[name] = msgspec.structs.replace(branch, length=len(ids))
        for name, appended in change.appended.items():
            self.ids[name].extend(appended)
            self.branches[name] = msgspec.structs.replace(self.branches[name], length=len(self.ids[name]))
        self.calls.update((call.id, call) for call in change.calls)
        self.audit.extend(change.audit)
        self.version += 1
        return self.version


class MemoryStore:
    def __init__(self, artifacts: Path | None = None) -> None:
        """`artifacts` is a folder for contexts' files beside their messages; None for a store without files."""
        self._artifacts = artifacts
        if artifacts is not None:
            make_private_folders(artifacts)
        self._contexts: dict[ContextId, _ContextData] = {}
        self._fences: dict[ContextId, int] = {}
        """By context: the fence of the newest lease, where that is not the first."""
        self._users: dict[str, UserLog] = {}
        self._documents: dict[tuple[str, str], bytes] = {}
        self.aside: list[bytes] = []

    async def create(self, change: Change) -> int:
        context_id = change.core.context_id
        if context_id in self._contexts:
            raise Conflict(Code.CONTEXT_EXISTS, context_id=context_id)
        self._contexts[context_id] = _ContextData(change.core)
        return self._contexts[context_id].apply(change)

    async def open(self, context_id: ContextId) -> StoredContext:
        context = self._find(context_id)
        turn = context.core.turn
        return StoredContext(
            core=context.core,
            version=context.version,
            branches=dict(context.branches),
            calls={call.id: call for call in context.calls.values() if turn is not None and call.turn == turn.id},
            partials=tuple(
                PartialAnswer(
                    message_id=message_id,
                    turn=partial.turn,
                    deltas=tuple(partial.deltas),
                    reasoning=join_reasoning(partial.reasoning),
                )
                for message_id, partial in context.partials.items()
            ),
        )

    async def commit(self, context_id: ContextId, change: Change, *, expected: int, fence: int) -> int:
        context = self._find(context_id)
        self._check_fence(context_id, fence)
        if expected != context.version:
            raise StaleWrite(Code.STALE_VERSION, expected=expected, found=context.version)
        return context.apply(change)

    async def messages(self, context_id: ContextId, ids: Sequence[MessageId]) -> list[Message]:
        pool = self._find(context_id).pool
        return [pool.get(message_id) or damaged_message(message_id, "the message is missing") for message_id in ids]

    async def branch_ids(
        self, context_id: ContextId, branch: str, start: int = 0, stop: int | None = None
    ) -> list[MessageId]:
        context = self._find(context_id)
        if branch not in context.ids:
            raise NotFound(Code.UNKNOWN_BRANCH, branch=branch, allowed=", ".join(context.ids))
        return context.ids[branch][start:stop]

    async def call(self, context_id: ContextId, call_id: CallId) -> CallRecord:
        record = self._find(context_id).calls.get(call_id)
        if record is None:
            raise NotFound(Code.UNKNOWN_CALL, call_id=call_id)
        return record

    async def audit(self, context_id: ContextId, after: int = 0, limit: int | None = None) -> CheckedAudit:
        context = self._find(context_id)
        entries = context.audit[after : None if limit is None else after + limit]
        return CheckedAudit(tuple(entries), check_chain(context.audit, context.core.audit), len(context.audit))

    async def accept_audit(self, context_id: ContextId) -> None:
        self._find(context_id)

    async def message_ids(self, context_id: ContextId) -> list[MessageId]:
        return sorted(self._find(context_id).pool)

    async def call_ids(self, context_id: ContextId) -> list[CallId]:
        return sorted(self._find(context_id).calls)

    async def calls(self, context_id: ContextId, ids: Sequence[CallId] | None = None) -> list[CallRecord]:
        calls = self._find(context_id).calls
        return [calls[call_id] for call_id in (sorted(calls) if ids is None else ids) if call_id in calls]

    async def sent_key(self, context_id: ContextId, key: str) -> SentKey | None:
        return self._find(context_id).keys.get(key)

    async def sent_keys(self, context_id: ContextId) -> list[SentKey]:
        return list(self._find(context_id).keys.values())

    async def user_log(self, user: str) -> UserLog:
        return self._users.get(check_user_name(user), UserLog())

    async def append_user_log(self, user: str, entries: Sequence[AuditEntry], *, expected: int) -> int:
        log = await self.user_log(user)
        if expected != log.version:
            raise StaleWrite(Code.STALE_VERSION, expected=expected, found=log.version)
        self._users[user] = UserLog(entries=(*log.entries, *entries), version=log.version + 1)
        return log.version + 1

    async def record_accepted_log(self, user: str, record: AuditEntry, *, expected: int) -> int:
        return await self.append_user_log(user, [record], expected=expected)

    async def accept_user_log(self, user: str) -> None:
        """This store notes no heads: every log is accepted."""

    async def document(self, user: str, name: str) -> bytes | None:
        return self._documents.get((check_user_name(user), name))

    async def put_document(self, user: str, name: str, data: bytes) -> None:
        self._documents[check_user_name(user), name] = data

    async def put_document_aside(self, user: str, name: str, data: bytes) -> str:  # noqa: ARG002
        self.aside.append(data)
        return f"aside/{len(self.aside)}"

    async def contexts(self, query: ContextQuery = ALL_CONTEXTS) -> list[ContextSummary]:
        return query.select(summary_of(context.core) for context in self._contexts.values())

    async def delete(self, context_id: ContextId, *, fence: int) -> None:
        self._find(context_id)
        self._check_fence(context_id, fence)
        del self._contexts[context_id]
        if (folder := self.artifacts_folder(context_id)) is not None:
            shutil.rmtree(folder, ignore_errors=True)

    def artifacts_folder(self, context_id: ContextId) -> Path | None:
        return self._artifacts / context_id if self._artifacts is not None else None

    async def append_deltas(
        self,
        context_id: ContextId,
        message_id: MessageId,
        turn: TurnId,
        deltas: Sequence[str],
        reasoning: Reasoning | None = None,
    ) -> None:
        partial = self._find(context_id).partials.setdefault(message_id, _PartialData(turn))
        partial.deltas.extend(deltas)
        if reasoning is not None:
            partial.reasoning.append(reasoning)

    async def forget_deltas(self, context_id: ContextId, message_id: MessageId) -> None:
        self._find(context_id).partials.pop(message_id, None)

    def raise_fence(self, context_id: ContextId) -> int:
        """The fence of a new lease of a context. Commits with the fences of earlier leases are refused from now on."""
        self._fences[context_id] = self._fences.get(context_id, FENCE) + 1
        return self._fences[context_id]

    async def health(self) -> StoreHealth:
        return StoreHealth()

    async def close(self) -> None:
        pass

    def _check_fence(self, context_id: ContextId, fence: int) -> None:
        if fence != self._fences.get(context_id, FENCE):
            raise StaleWrite(Code.STALE_FENCE)

    def _find(self, context_id: ContextId) -> _ContextData:
        context = self._contexts.get(context_id)
        if context is None:
            raise NotFound(Code.UNKNOWN_CONTEXT, context_id=context_id)
        return context
