"""The runtime: all that any client can do, bound together. Each command stands in the file of its noun."""

import os
from collections.abc import Iterable
from pathlib import Path

import msgspec

from pilothouse.domain.audit import AuditDraft, AuditEntry, chain, first_break
from pilothouse.domain.branches import MAIN, Branch
from pilothouse.domain.codes import Code
from pilothouse.domain.contexts import Change, ContextCore, check_context_id
from pilothouse.domain.errors import Conflict, InvalidInput
from pilothouse.domain.modes import DEFAULT_MODE
from pilothouse.domain.states import name_of
from pilothouse.domain.values import ContextId
from pilothouse.runtime import branches, calls, messages, modes
from pilothouse.runtime.contexts import Contexts
from pilothouse.runtime.hub import Subscription
from pilothouse.runtime.live import Live
from pilothouse.storage.base import ContextSummary


class Runtime(Contexts):
    """Made from `Parts`. Use it as an async context manager, or call `close`."""

    send = messages.send
    resume = messages.resume
    cancel = messages.cancel
    retry_now = messages.retry_now
    read_messages = messages.read_messages
    read_content = messages.read_content

    decide = calls.decide
    approve_all = calls.approve_all
    reject_all = calls.reject_all
    pending_calls = calls.pending_calls
    open_questions = calls.open_questions
    call = calls.call
    answer = calls.answer

    switch_mode = modes.switch_mode

    create_branch = branches.create_branch
    fork = branches.fork
    switch_branch = branches.switch_branch

    async def create_context(
        self,
        workspace: Path,
        *,
        mode: str | None = None,
        title: str | None = None,
        context_id: str | None = None,
        by: str = "local",
    ) -> ContextId:
        """Raises: InvalidInput, Conflict (the id is taken), StoreError."""
        if not workspace.is_dir() or not _is_text(str(workspace)):
            raise InvalidInput(Code.INVALID_WORKSPACE, path=str(workspace))
        chosen = self.parts.modes.named(mode or DEFAULT_MODE).name
        new_id = check_context_id(context_id if context_id is not None else self.parts.ambient.new_id())
        at = self.parts.now()
        core = ContextCore(
            context_id=new_id,
            owner=by,
            workspace=os.path.realpath(workspace),
            title=title,
            created_at=at,
            updated_at=at,
            mode=chosen,
        )
        created = AuditDraft(kind="context_created", at=at, by=by, detail={"mode": chosen})
        head, entries = chain(core.audit, [created])
        core = msgspec.structs.replace(core, audit=head)
        main = Branch(name=MAIN, key=self.parts.ambient.new_id(), created_at=at)
        await self.parts.store.create(Change(core=core, branches={MAIN: main}, audit=entries))
        return new_id

    async def context(self, context_id: str) -> Live:
        """The context as it is now. To be read, not changed. Raises: NotFound, StoreError."""
        return await self.find(context_id)

    async def contexts(self) -> list[ContextSummary]:
        """All contexts, newest first; damaged ones too."""
        return await self.parts.store.contexts()

    async def delete_context(self, context_id: str) -> None:
        """Raises: NotFound, Conflict while a turn is open."""
        async with self.locked(context_id) as live:
            if not live.is_resting or live.core.turn is not None:
                raise Conflict(Code.TURN_ACTIVE, state=name_of(live.state))
            await self.parts.store.delete(live.id)
            self.forget(live)

    async def audit(self, context_id: str, after: int = 0, limit: int | None = None) -> list[AuditEntry]:
        live = await self.find(context_id)
        return await self.parts.store.audit(live.id, after, limit)

    async def audit_break(self, context_id: str) -> int | None:
        """The sequence at which the audit chain is broken, or None when it is whole."""
        live = await self.find(context_id)
        entries = await self.parts.store.audit(live.id)
        broken = first_break(entries)
        if broken is None and len(entries) != live.core.audit.count:
            return len(entries) + 1
        return broken

    def signals(self, context_ids: Iterable[str]) -> Subscription:
        return self.parts.hub.subscribe(map(ContextId, context_ids))

    async def __aenter__(self) -> "Runtime":
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()


def _is_text(path: str) -> bool:
    """Whether a path can be stored and shown: one may also hold bytes that are no UTF-8."""
    return path == path.encode("utf-8", "replace").decode()
