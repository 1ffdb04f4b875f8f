"""One context in memory: its present value, its lock, and the one way to change it: a committed draft."""

import asyncio
import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

import msgspec

from pilothouse.domain.audit import chain
from pilothouse.domain.budgets import Budget
from pilothouse.domain.calls import CallRecord
from pilothouse.domain.codes import Code
from pilothouse.domain.contexts import Change, ContextCore, StoredContext
from pilothouse.domain.errors import StoreReadOnly, ToolError
from pilothouse.domain.forks import BranchFork
from pilothouse.domain.models import ModelFacts
from pilothouse.domain.personas import Persona
from pilothouse.domain.signals import ContextChanged, StateChanged
from pilothouse.domain.states import (
    AwaitingToolApproval,
    AwaitingUserAnswer,
    Paused,
    State,
    WaitingForRecovery,
    is_resting,
)
from pilothouse.domain.transitions import check
from pilothouse.domain.values import CallId, ContextId, MessageId
from pilothouse.runtime.announcing import announce
from pilothouse.runtime.draft import Draft
from pilothouse.runtime.finishing import finish
from pilothouse.runtime.parts import Parts
from pilothouse.runtime.windows import Windows
from pilothouse.sandbox.workspace import Workspace
from pilothouse.tools.artifacts import ArtifactStore
from pilothouse.tools.uploads import UploadStore
from pilothouse.window.telling import counted
from pilothouse.window.tokens import Counter, counter_for

if TYPE_CHECKING:
    from pilothouse.runtime.answer import Outlet
    from pilothouse.runtime.printing import Printed
    from pilothouse.runtime.rulebook import Rulebook
    from pilothouse.runtime.turn import Turn


class Home(Protocol):
    """What a context needs of the runtime that it lives in."""

    parts: Parts
    rulebook: "Rulebook"

    async def delegate(self, live: "Live", task: str, mode: str | None) -> str:
        """Let a sub-agent do a task; gives its answer. Raises: ToolError."""

    async def open_folder(self, core: ContextCore) -> None:
        """A folder's own servers of tools, as far as they are trusted now."""


class Live:
    """`above` are the contexts that sent this one, nearest first: they stay in memory as long as it does."""

    def __init__(self, stored: StoredContext, home: Home, above: Sequence["Live"] = ()) -> None:
        self.home = home
        self.parts = home.parts
        self.above = tuple(above)
        self.is_orphan = stored.core.parent is not None and not above
        self.children: set[Live] = set()
        self.core = stored.core
        self.branches = dict(stored.branches)
        self.calls = dict(stored.calls)
        self.version = stored.version
        self.damage = stored.damage
        self.partials = stored.partials
        self.state: State = stored.core.state
        self.lock = asyncio.Lock()
        self.users = 0
        self.is_deleted = False
        self.turn: Turn | None = None
        self.task: asyncio.Task[None] | None = None
        self.wake = asyncio.Event()
        self.unsaved: Draft | None = None
        self.outlet: Outlet | None = None
        self.windows = Windows()
        self.seen: dict[str, str] = {}
        self.printed: dict[CallId, Printed] = {}
        self.forks: dict[tuple[str, str], BranchFork | int] = {}
        """By the keys of two branches where they part; or how long the second was when it only continued or began the
        first."""
        self._workspace: Workspace | None = None
        self._artifacts: ArtifactStore | None = None
        self.overview: tuple[MessageId, str] | None = None
        self._in_doubt = False

    @property
    def id(self) -> ContextId:
        return self.core.context_id

    @property
    def is_resting(self) -> bool:
        return is_resting(self.state)

    @property
    def persona(self) -> Persona | None:
        """Who the model is asked to be. One that is gone leaves nothing but its name: it may use no tool."""
        name = self.core.persona
        return self.parts.personas(self.core.workspace).get(name) if name is not None else None

    @property
    def model(self) -> str:
        """The context's own, or its persona's, where there is such a model; else the usual one."""
        persona = self.persona
        named = (self.core.model, (persona.model or "").removeprefix("openai:") if persona is not None else None)
        return next((name for name in named if name is not None and self.parts.has_model(name)), self.parts.model)

    @property
    def facts(self) -> ModelFacts:
        return self.parts.catalogue.facts(self.model)

    @property
    def counter(self) -> Counter:
        return counter_for(self.facts.tokenizer)

    @property
    def budget(self) -> Budget:
        return self.parts.budget_of(self.model)

    @property
    def writing(self) -> "Outlet | None":
        """The message that is being written, until it is on its branch."""
        outlet = self.outlet
        return outlet if outlet is not None and self.core.turn is not None and not outlet.is_committed else None

    @property
    def paused_by(self) -> str | None:
        """Who has paused its turn, or that of one above it."""
        if self.turn is not None and self.turn.paused_by is not None:
            return self.turn.paused_by
        return "runtime" if any(each.is_held for each in self.above) else None

    @property
    def is_held(self) -> bool:
        """Whether it is paused, or about to be."""
        return isinstance(self.state, Paused) or (self.turn is not None and self.turn.paused_by is not None)

    @property
    def can_be_forgotten(self) -> bool:
        """Nothing is in memory only, and nobody holds it or waits for it."""
        is_at_rest = self.is_resting and not isinstance(self.state, WaitingForRecovery)
        return is_at_rest and self.task is None and self.unsaved is None and self.users == 0

    def take_turn(self, turn: "Turn") -> None:
        """The next one; whoever drives the context goes on with it."""
        self.turn = turn

    def forget_workspace(self) -> None:
        """Each turn looks at the folder anew; within one, it stays the same folder or is refused."""
        self._workspace = None

    @property
    def is_beneath_a_root(self) -> bool:
        """Whether the owner may work in the folder, as it is now."""
        path = self.core.workspace
        return path is not None and self.parts.is_beneath_a_root(path, self.core.owner)

    def workspace(self) -> Workspace:
        """Raises: ToolError when the context has none, or it is gone."""
        if self._workspace is None:
            path = self.core.workspace
            if path is not None and not self.is_beneath_a_root:  # it may have become a link since
                roots = self.parts.roots_of(self.core.owner)  # checked first: nobody learns which folders exist there
                raise ToolError(Code.OUTSIDE_ROOTS, path=path, allowed=", ".join(map(str, roots)))
            if path is None or not os.path.isdir(path):
                raise ToolError(Code.INVALID_WORKSPACE, path=path)
            mounts = self.artifacts.mounts() if self.artifacts is not None else ()
            also = self.parts.also_of(self.core.owner)
            others = self.parts.roots_of_others(self.core.owner)
            self._workspace = Workspace(Path(path), self.parts.private, also, self.seen, mounts, others)
        return self._workspace

    @property
    def artifacts(self) -> ArtifactStore | None:
        """Files of the conversation beside its messages. Sub-agents share those of the context that the person sees."""
        if self._artifacts is None:
            folder = self.parts.store.artifacts_folder(self.above[-1].id if self.above else self.id)
            self._artifacts = (
                ArtifactStore(folder, self.parts.baselines, self.parts.undo) if folder is not None else None
            )
        return self._artifacts

    @property
    def uploads(self) -> UploadStore | None:
        """The files that the person gave to the conversation."""
        return UploadStore(self.artifacts.uploads) if self.artifacts is not None else None

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
        if self.above and is_resting(state):
            self.tell_those_above()

    def tell_those_above(self) -> None:
        """A sub-agent may wait for the person, who looks at the conversation that sent it."""
        for ancestor in self.above:
            about = ContextChanged(context_id=ancestor.id, version=ancestor.version, fields=("children",))
            self.parts.hub.publish(about)

    def is_waiting(self) -> bool:
        """Whether a person must decide or answer: it rests until then, or a running call of it asks something."""
        return isinstance(self.state, AwaitingToolApproval | AwaitingUserAnswer) or bool(self.asked_by_calls())

    def asked_by_calls(self) -> "list[CallRecord]":
        """The open questions of calls that run."""
        return [call for call in self.calls.values() if call.asked_by is not None and call.is_open]

    def waiting_below(self) -> "list[Live]":
        """The sub-agents, and theirs, that wait for the person, in the order of their ids."""
        found = [child for child in self.children if child.is_waiting()]
        found += [each for child in self.children for each in child.waiting_below()]
        return sorted(found, key=lambda each: each.id)

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
        if self.parts.trace_change is not None:
            self.parts.trace_change(self.id, change)
        if state is not None:
            self.enter(state)
        if then is not None:
            then()
        announce(self, draft, change)

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
            messages=tuple(counted(message, self.counter, sees=self.facts.vision) for message in draft.messages),
            branches=draft.branches,
            appended={branch: tuple(ids) for branch, ids in draft.appended.items()},
            calls=tuple(draft.calls.values()),
            audit=entries,
            dropped=tuple(draft.dropped),
            renamed=draft.renamed,
            keys=tuple(draft.keys),
            accepts_audit=draft.accepts_audit,
        )

    def _apply(self, change: Change) -> None:
        self.core = change.core
        for name in change.dropped:
            if (gone := self.branches.pop(name, None)) is not None:
                self.windows.forget_branch(gone)
        for old, name in change.renamed.items():
            moved = self.branches[name] = msgspec.structs.replace(self.branches.pop(old), name=name)
            self.windows.forget_branch(moved)
        for name, branch in change.branches.items():
            known = self.branches.get(name)
            self.branches[name] = msgspec.structs.replace(branch, length=known.length if known is not None else 0)
        queued = {message_id for item in change.core.queue for message_id in item.message_ids}
        written = {message.id: message for message in change.messages if message.id not in queued}
        for name, ids in change.appended.items():
            branch = self.branches[name]
            new = [written.pop(message_id) for message_id in ids if message_id in written]
            if len(new) == len(ids):
                self.windows.grow(branch, new)
            self.branches[name] = msgspec.structs.replace(branch, length=branch.length + len(ids))
        if self.outlet is not None and any(message.id == self.outlet.message_id for message in change.messages):
            self.outlet.is_committed = True
        if written:
            self.windows.forget()  # a message was put again: what was folded from it is no longer true
        self.calls.update((call.id, call) for call in change.calls)
        if change.core.turn is None:
            self.calls.clear()
