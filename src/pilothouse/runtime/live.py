"""One context in memory: its present value, its lock, and the one way to change it: a committed draft."""

import asyncio
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from pilothouse.domain.audit import AuditDraft, Kind, chain
from pilothouse.domain.branches import Branch
from pilothouse.domain.calls import CallRecord
from pilothouse.domain.codes import Code
from pilothouse.domain.contexts import Change, ContextCore, StoredContext
from pilothouse.domain.errors import StoreReadOnly, ToolError
from pilothouse.domain.messages import Message, pieces
from pilothouse.domain.signals import ContextChanged, MessageChanged, MessageCompleted, MessageCreated, StateChanged
from pilothouse.domain.states import State, is_resting
from pilothouse.domain.transitions import check
from pilothouse.domain.values import CallId, ContextId, MessageId
from pilothouse.runtime.parts import Parts
from pilothouse.runtime.windows import Windows
from pilothouse.sandbox.workspace import Workspace

if TYPE_CHECKING:
    from pilothouse.runtime.answer import Outlet
    from pilothouse.runtime.turn import Turn


class Draft:
    """A change that is being put together. Nothing of it counts before it is committed. `base` is the refused
    one that it began with, if any."""

    def __init__(self, live: "Live") -> None:
        self._live = live
        self.base: Draft | None = None
        self.core: dict[str, Any] = {}
        self.messages: list[Message] = []
        self.appended: dict[str, list[MessageId]] = {}
        self.branches: dict[str, Branch] = {}
        self.calls: dict[CallId, CallRecord] = {}
        self.audit: list[AuditDraft] = []

    def append(self, message: Message, branch: str) -> None:
        """A new message at the end of a branch."""
        self.messages.append(message)
        self.appended.setdefault(branch, []).append(message.id)

    def call(self, call_id: CallId) -> CallRecord:
        return self.calls.get(call_id) or self._live.calls[call_id]

    def change_call(self, call_id: CallId, **fields: Any) -> CallRecord:
        changed = msgspec.structs.replace(self.call(call_id), **fields)
        self.calls[call_id] = changed
        return changed

    def all_calls(self) -> list[CallRecord]:
        """Every call of the open turn as it would be, in the order asked."""
        merged = {**self._live.calls, **self.calls}
        return list(merged.values())

    def round_calls(self) -> list[CallRecord]:
        """Those of the present round: the only ones that can be open."""
        turn = self._live.core.turn
        if turn is None:
            return []
        return [call for call in self.all_calls() if call.turn == turn.id and call.round == turn.round]

    def note(self, kind: Kind, by: str, **detail: Any) -> None:
        self.audit.append(AuditDraft(kind=kind, at=self._live.parts.now(), by=by, detail=msgspec.to_builtins(detail)))

    def copy(self) -> "Draft":
        made = Draft(self._live)
        made.core = dict(self.core)
        made.messages = list(self.messages)
        made.appended = {branch: list(ids) for branch, ids in self.appended.items()}
        made.branches = dict(self.branches)
        made.calls = dict(self.calls)
        made.audit = list(self.audit)
        return made

    def without_starts(self) -> "Draft":
        """The same, but nothing starts: what is kept when the store refuses it."""
        kept = self.copy()
        for call in self.calls.values():
            starts = call.status == "executing" and not self._live.is_executing(call.id)
            kept.calls[call.id] = msgspec.structs.replace(call, status="pending", started_at=None) if starts else call
        kept.audit = [entry for entry in self.audit if entry.kind != "call_started"]
        return kept


class Live:
    def __init__(self, stored: StoredContext, parts: Parts) -> None:
        self.parts = parts
        self.core = stored.core
        self.branches = dict(stored.branches)
        self.calls = dict(stored.calls)
        self.version = stored.version
        self.damage = stored.damage
        self.partials = stored.partials
        self.state: State = stored.core.state
        self.lock = asyncio.Lock()
        self.users = 0
        self.turn: Turn | None = None
        self.task: asyncio.Task[None] | None = None
        self.wake = asyncio.Event()
        self.unsaved: Draft | None = None
        self.outlet: Outlet | None = None
        self.windows = Windows()
        self._workspace: Workspace | None = None
        self._in_doubt = False

    @property
    def id(self) -> ContextId:
        return self.core.context_id

    @property
    def is_resting(self) -> bool:
        return is_resting(self.state)

    @property
    def can_be_forgotten(self) -> bool:
        """Nothing is in memory only, and nobody holds it or waits for it."""
        return self.is_resting and self.task is None and self.unsaved is None and self.users == 0

    def forget_workspace(self) -> None:
        """Each turn looks at the folder anew; within one, it stays the same folder or is refused."""
        self._workspace = None

    def workspace(self) -> Workspace:
        """Raises: ToolError when the context has none, or it is gone."""
        if self._workspace is None:
            path = self.core.workspace
            if path is None or not Path(path).is_dir():
                raise ToolError(Code.INVALID_WORKSPACE, path=path)
            self._workspace = Workspace(Path(path), self.parts.private)
        return self._workspace

    def is_executing(self, call_id: CallId) -> bool:
        call = self.calls.get(call_id)
        return call is not None and call.status == "executing"

    def draft(self) -> Draft:
        """A new draft. What the store has refused before comes first: whoever commits next commits it too."""
        if self.unsaved is None:
            return Draft(self)
        draft = self.unsaved.copy()
        draft.base = self.unsaved
        return draft

    def enter(self, state: State, *, signal: bool = True) -> None:
        """Go to a state. Raises: IllegalTransition for one that the table does not allow."""
        check(self.state, state)
        self.state = state
        if self.parts.trace is not None:
            self.parts.trace(self.id, state)
        if signal:
            self.publish_state()

    def publish_state(self) -> None:
        hub = self.parts.hub
        if hub.has_listeners(self.id):
            hub.publish(StateChanged(context_id=self.id, version=self.version, state=self.state))

    async def commit(self, draft: Draft, state: State | None = None, *, then: Callable[[], None] | None = None) -> None:
        """Make a draft durable, then present, then known; `state` is entered with it.

        The caller holds the lock. Cancelling the caller does not cut a commit: it waits for its end, and `then`
        is done with it whatever becomes of the caller.
        Raises: StoreError; then nothing has changed.
        """
        await finish(self._commit(draft, state, then))

    async def _commit(self, draft: Draft, state: State | None, then: Callable[[], None] | None) -> None:
        change = self._change(draft, state)
        if state is not None:
            check(self.state, state)
        self.version = await self._store(change)
        if self.unsaved is draft.base:  # else more was kept meanwhile
            self.unsaved = None
        self._apply(change)
        if state is not None:
            self.enter(state)
        if then is not None:
            then()
        self._publish(draft, change)

    async def _store(self, change: Change) -> int:
        store = self.parts.store
        if self._in_doubt:
            await store.open(self.id)  # reads back what is on disk, and begins a new file
            self._in_doubt = False
        try:
            return await store.commit(self.id, change, expected=self.version)
        except StoreReadOnly:
            self._in_doubt = True
            raise

    def _change(self, draft: Draft, state: State | None) -> Change:
        head, entries = chain(self.core.audit, draft.audit)
        core: ContextCore = msgspec.structs.replace(
            self.core,
            **draft.core,
            state=state if state is not None else self.state,
            updated_at=self.parts.now(),
            audit=head,
        )
        return Change(
            core=core,
            messages=tuple(draft.messages),
            branches=draft.branches,
            appended={branch: tuple(ids) for branch, ids in draft.appended.items()},
            calls=tuple(draft.calls.values()),
            audit=entries,
        )

    def _apply(self, change: Change) -> None:
        self.core = change.core
        self.branches.update(change.branches)
        written = {message.id: message for message in change.messages}
        for name, ids in change.appended.items():
            branch = self.branches[name]
            new = [written.pop(message_id) for message_id in ids if message_id in written]
            if len(new) == len(ids):
                self.windows.grow(branch, new)
            self.branches[name] = msgspec.structs.replace(branch, length=branch.length + len(ids))
        if written:
            self.windows.forget()  # a message was put again: what was folded from it is no longer true
        self.calls.update((call.id, call) for call in change.calls)
        if change.core.turn is None:
            self.calls.clear()

    def _publish(self, draft: Draft, change: Change) -> None:
        hub = self.parts.hub
        if not hub.has_listeners(self.id):
            return
        about: dict[str, Any] = {"context_id": self.id, "version": self.version}
        for message in change.messages:
            if self.outlet is None or self.outlet.message_id != message.id:
                hub.publish(created(message, self.id, self.version))
            hub.publish(MessageCompleted(**about, message_id=message.id, final_sequence=len(pieces(message))))
        for call in change.calls:
            hub.publish(MessageChanged(**about, message_id=call.message_id))
        fields = [name for name in draft.core if name in ("mode", "title", "active_branch", "usage")]
        fields += ["branches"] if draft.branches else []
        fields += ["pending_tool_calls"] if draft.calls else []
        if fields:
            hub.publish(ContextChanged(**about, fields=tuple(fields)))


def created(message: Message, context_id: ContextId, version: int) -> MessageCreated:
    kind = str(message.__struct_config__.tag)
    return MessageCreated(context_id=context_id, version=version, message_id=message.id, role=message.role, type=kind)


async def finish(work: Coroutine[Any, Any, None]) -> None:
    """Run to the end even if the caller is cancelled meanwhile; the cancellation then goes on."""
    task = asyncio.ensure_future(work)
    try:
        await asyncio.shield(task)
    except asyncio.CancelledError:
        while not task.done():
            try:
                await asyncio.wait({task})
            except asyncio.CancelledError:
                continue
        if not task.cancelled():
            task.result()
        raise
