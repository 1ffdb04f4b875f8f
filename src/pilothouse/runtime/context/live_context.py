"""`LiveContext`: one context in memory with its lock. A committed draft is the only way to change its stored values."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol

import msgspec

from pilothouse.domain.audit import chain
from pilothouse.domain.branches import Branch
from pilothouse.domain.calls import CallRecord
from pilothouse.domain.codes import Reason
from pilothouse.domain.contexts import Change, ContextCore, StoredContext
from pilothouse.domain.messages import content_chunks
from pilothouse.domain.signals import ContextChanged, MessageChanged, MessageCompleted, MessageCreated, StateChanged
from pilothouse.domain.states import (
    AwaitingToolApproval,
    AwaitingUserAnswer,
    Paused,
    State,
    WaitingForRecovery,
    is_resting,
)
from pilothouse.domain.transitions import check
from pilothouse.domain.value import CallId, ContextId
from pilothouse.runtime.context.context_files import ContextFiles
from pilothouse.runtime.context.context_storage import ContextStorage, Recovery
from pilothouse.runtime.context.draft import Draft, PendingChange
from pilothouse.runtime.context.environments import ConversationEnvironments
from pilothouse.runtime.dependencies import ModelChoice, RuntimeDependencies
from pilothouse.runtime.request.history_cache import HistoryCache
from pilothouse.runtime.shield import run_to_completion
from pilothouse.window.model_messages import with_token_count

if TYPE_CHECKING:
    from pilothouse.runtime.authorization.user_rules import UserRules
    from pilothouse.runtime.turn.answer import DeltaWriter
    from pilothouse.runtime.turn.turn import LiveOutput, Turn

# Changes of these fields of the core are signalled, so that clients pull them again.
_SIGNALLED_FIELDS = frozenset(
    {"mode", "title", "active_branch", "usage", "rules", "policy", "persona", "model", "elevation", "queue"}
    | {"archived", "pins", "overview"}
)


class RuntimeServices(Protocol):
    """The services of the runtime that a context uses."""

    dependencies: RuntimeDependencies
    environments: ConversationEnvironments
    user_rules: "UserRules"

    async def delegate(self, live: "LiveContext", task: str, mode: str | None) -> str:
        """Let a sub-agent do a task, and return its answer. Raises: ToolError."""

    async def open_workspace_servers(self, core: ContextCore) -> None:
        """Start the own MCP servers of a context's workspace, as far as the workspace is trusted now."""

    def lose(self, live: "LiveContext") -> None:
        """Stop all work on a context that another owner has taken over."""


class LiveContext:
    """A context in memory."""

    def __init__(
        self, stored: StoredContext, services: RuntimeServices, ancestors: Sequence["LiveContext"] = ()
    ) -> None:
        self.services = services
        self.dependencies = services.dependencies
        self.ancestors = tuple(ancestors)
        """The contexts that started this one, nearest first. All of them stay in memory as long as this one does."""
        self.subagents: set[LiveContext] = set()
        """The direct sub-agents that are in memory."""
        self.stored = stored
        """The context as the store has it, or will have it after its recovery. Each commit replaces this value as a
        whole."""
        self.state: State = stored.core.state
        """The present state. A passing state is stored only where a command commits during a step."""
        self.storage = ContextStorage(self)
        self.lock = asyncio.Lock()
        self.pin_count = 0
        """How many users require the context to stay in memory."""
        self.turn: Turn | None = None
        self.task: asyncio.Task[None] | None = None
        """The task that drives the context."""
        self.pending = PendingChange()
        self.history_cache = HistoryCache()
        self.files = ContextFiles(self)

    @property
    def core(self) -> ContextCore:
        return self.stored.core

    @property
    def branches(self) -> Mapping[str, Branch]:
        return self.stored.branches

    @property
    def calls(self) -> Mapping[CallId, CallRecord]:
        """The calls of the open turn."""
        return self.stored.calls

    @property
    def version(self) -> int:
        return self.stored.version

    @property
    def damage(self) -> tuple[Reason, ...]:
        return self.stored.damage

    @property
    def id(self) -> ContextId:
        return self.core.context_id

    @property
    def outermost(self) -> "LiveContext":
        """The conversation that the person sees: the outermost ancestor of a sub-agent, or the context itself."""
        return self.ancestors[-1] if self.ancestors else self

    @property
    def is_orphan(self) -> bool:
        """Whether the context that started this one is missing."""
        return self.core.parent is not None and not self.ancestors

    @property
    def is_resting(self) -> bool:
        return is_resting(self.state)

    def model(self) -> ModelChoice:
        """The model that a request would use now."""
        return self.dependencies.model_of(self.core)

    @property
    def delta_writer(self) -> "DeltaWriter | None":
        """The writer of the message that is streaming, until that message is on its branch."""
        writer = self.turn.delta_writer if self.turn is not None else None
        return writer if writer is not None and self.core.turn is not None and not writer.is_committed else None

    @property
    def live_outputs(self) -> "Mapping[CallId, LiveOutput]":
        """The outputs of the running calls."""
        return self.turn.live_outputs if self.turn is not None else {}

    @property
    def paused_by(self) -> str | None:
        """The user who paused the turn; `runtime` where an ancestor is paused."""
        if self.turn is not None and self.turn.paused_by is not None:
            return self.turn.paused_by
        return "runtime" if any(ancestor.is_paused for ancestor in self.ancestors) else None

    @property
    def is_paused(self) -> bool:
        """Whether the context is paused, or about to be."""
        return isinstance(self.state, Paused) or (self.turn is not None and self.turn.paused_by is not None)

    @property
    def can_be_forgotten(self) -> bool:
        """Whether everything is stored, no task drives the context and nothing pins it."""
        is_at_rest = self.is_resting and not isinstance(self.state, WaitingForRecovery)
        return is_at_rest and self.task is None and self.pending.refused is None and self.pin_count == 0

    def take_turn(self, turn: "Turn") -> None:
        """Set the next turn. The task that drives the context goes on with that turn."""
        self.turn = turn

    def is_executing(self, call_id: CallId) -> bool:
        call = self.calls.get(call_id)
        return call is not None and call.status == "executing"

    def draft(self) -> Draft:
        """A new draft, which includes the refused one: the next commit stores both."""
        refused = self.pending.refused
        if refused is None:
            return Draft(self)
        draft = refused.copy()
        draft.base = refused
        return draft

    def enter(self, state: State, *, signal: bool = True) -> None:
        """Enter a state. Raises: IllegalTransition for a state that the transition table does not allow."""
        check(self.state, state)
        self.state = state
        if self.dependencies.trace is not None:
            self.dependencies.trace(self.id, state)
        if signal:
            self.publish_state()
        if self.ancestors and is_resting(state):
            self.notify_ancestors()

    def notify_ancestors(self) -> None:
        """Signal to the ancestors that a sub-agent may wait for the person, who follows an ancestor's conversation."""
        for ancestor in self.ancestors:
            signal = ContextChanged(context_id=ancestor.id, version=ancestor.version, fields=("children",))
            self.dependencies.hub.publish(signal)

    def is_waiting(self) -> bool:
        """Whether a person must decide a call or answer a question: the context rests until then, or a running call has
        a question."""
        return isinstance(self.state, AwaitingToolApproval | AwaitingUserAnswer) or bool(self.calls_with_questions())

    def calls_with_questions(self) -> "list[CallRecord]":
        """The open questions of running calls, as call records."""
        return [call for call in self.calls.values() if call.asked_by is not None and call.is_open]

    def subagents_waiting(self) -> "list[LiveContext]":
        """The sub-agents on any level that wait for the person, sorted by id."""
        waiting = [child for child in self.subagents if child.is_waiting()]
        waiting += [descendant for child in self.subagents for descendant in child.subagents_waiting()]
        return sorted(waiting, key=lambda descendant: descendant.id)

    def publish_state(self) -> None:
        hub = self.dependencies.hub
        if hub.has_listeners(self.id):
            hub.publish(StateChanged(context_id=self.id, version=self.version, state=self.state))

    async def commit(self, draft: Draft, state: State | None = None, *, then: Callable[[], None] | None = None) -> None:
        """Store a draft, then apply it in memory and enter `state`, then signal it.

        The caller holds the lock. A cancelled caller waits for the end of the commit, and `then` is called with the
        commit even so.
        Raises: StoreError; then nothing has changed.
        """
        await run_to_completion(self._commit(draft, state, then))

    def reload(self, stored: StoredContext) -> None:
        """Take over what another owner has stored since this context was read."""
        self.stored, self.state, self.storage.recovery = stored, stored.core.state, None
        self.history_cache.forget()

    def show_recovery(self, draft: Draft, state: State) -> None:
        """Apply the recovery of an interrupted context in memory. Recovery is no transition: the state before belongs
        to a process that has ended. What readers see is not a change of the context, which no command has reached yet.
        """
        change = self._change(draft, state)
        self._apply(change, self.version)
        self.state = state
        self.storage.recovery = Recovery(draft, change)

    async def commit_recovery(self) -> None:
        """Store the recovery that readers see. Raises: StoreError; then nothing has changed."""
        assert self.storage.recovery is not None
        await run_to_completion(self._commit_recovery(self.storage.recovery))

    async def _commit(self, draft: Draft, state: State | None, then: Callable[[], None] | None) -> None:
        if state is not None:
            check(self.state, state)
        change = self._change(draft, state)
        version = await self.storage.write(change)
        if self.pending.refused is draft.base:  # otherwise the refused draft has grown during the commit
            self.pending.refused = None
        self._apply(change, version)
        self.files.pin_environment(self.calls.values(), draft.environment)
        self._trace(change)
        if state is not None:
            self.enter(state)
        if then is not None:
            then()
        _publish_commit(self, draft, change)

    async def _commit_recovery(self, recovery: "Recovery") -> None:
        version = await self.storage.write(recovery.change)
        self.stored = msgspec.structs.replace(self.stored, version=version)
        self.storage.recovery = None
        self.state = recovery.change.core.state
        self._trace(recovery.change)
        _publish_commit(self, recovery.draft, recovery.change)

    def _trace(self, change: Change) -> None:
        if self.dependencies.trace_change is not None:
            self.dependencies.trace_change(self.id, change)

    def _change(self, draft: Draft, state: State | None) -> Change:
        head, entries = chain(self.core.audit, draft.audit)
        core: ContextCore = msgspec.structs.replace(
            self.core,
            **draft.core,
            state=state if state is not None else self.state,
            updated_at=self.dependencies.now(),
            audit=head,
        )
        model = self.model()
        return Change(
            core=core,
            messages=tuple(
                with_token_count(message, model.counter, vision=model.facts.vision) for message in draft.messages
            ),
            branches=draft.branches,
            appended={branch: tuple(ids) for branch, ids in draft.appended.items()},
            calls=tuple(draft.calls.values()),
            audit=entries,
            dropped=tuple(draft.dropped),
            renamed=draft.renamed,
            keys=tuple(draft.keys),
            accepts_audit=draft.accepts_audit,
        )

    def _apply(self, change: Change, version: int) -> None:
        branches = dict(self.branches)
        for name in change.dropped:
            if (dropped := branches.pop(name, None)) is not None:
                self.history_cache.forget_branch(dropped)
        for old, name in change.renamed.items():
            renamed = branches[name] = msgspec.structs.replace(branches.pop(old), name=name)
            self.history_cache.forget_branch(renamed)
        for name, branch in change.branches.items():
            previous = branches.get(name)
            branches[name] = msgspec.structs.replace(branch, length=previous.length if previous is not None else 0)
        queued = {message_id for item in change.core.queue for message_id in item.message_ids}
        unplaced = {message.id: message for message in change.messages if message.id not in queued}
        for name, ids in change.appended.items():
            branch = branches[name]
            messages = [unplaced.pop(message_id) for message_id in ids if message_id in unplaced]
            if len(messages) == len(ids):
                self.history_cache.grow(branch, messages)
            branches[name] = msgspec.structs.replace(branch, length=branch.length + len(ids))
        writer = self.turn.delta_writer if self.turn is not None else None
        if writer is not None and any(message.id == writer.message_id for message in change.messages):
            writer.is_committed = True
        if unplaced:
            self.history_cache.forget_messages()  # a message was replaced in place: cached encodings of it are stale
        self.history_cache.add_messages(change)
        changed_calls = {call.id: call for call in change.calls}
        self.stored = StoredContext(
            core=change.core,
            version=version,
            branches=branches,
            calls={**self.calls, **changed_calls} if change.core.turn is not None else {},
            damage=self.damage,
        )

    def report_damage(self, reason: Reason) -> None:
        """Note damage of the stored data that was found since the context was opened. From now on, every call asks."""
        self.stored = msgspec.structs.replace(self.stored, damage=(*self.damage, reason))

    def accept_damage(self, reason: Reason) -> None:
        """Forget damage that a person has accepted."""
        damage = tuple(other for other in self.damage if other != reason)
        self.stored = msgspec.structs.replace(self.stored, damage=damage)


def _publish_commit(live: LiveContext, draft: Draft, change: Change) -> None:
    """Signal what a commit has changed, never the new values."""
    hub = live.dependencies.hub
    if not hub.has_listeners(live.id):
        return
    common: dict[str, Any] = {"context_id": live.id, "version": live.version}
    writer = live.turn.delta_writer if live.turn is not None else None
    queued = {message_id for item in change.core.queue for message_id in item.message_ids}
    for message in change.messages:
        if message.id in queued:
            continue
        if writer is None or writer.message_id != message.id:  # the signal of a streamed message went out before
            kind = str(message.__struct_config__.tag)
            hub.publish(MessageCreated(**common, message_id=message.id, role=message.role, type=kind))
        hub.publish(MessageCompleted(**common, message_id=message.id, final_sequence=len(content_chunks(message))))
    for call in change.calls:
        hub.publish(MessageChanged(**common, message_id=call.message_id))
    fields = sorted(_SIGNALLED_FIELDS.intersection(draft.core))
    fields += ["branches"] if draft.branches or draft.dropped else []
    fields += ["pending_tool_calls"] if draft.calls else []
    if fields:
        hub.publish(ContextChanged(**common, fields=tuple(fields)))
