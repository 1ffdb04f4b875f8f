"""`ContextPool`: opens, recovers, drives and evicts the contexts in memory."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from typing import Any, Protocol

from pilothouse.domain.codes import Code
from pilothouse.domain.contexts import ContextCore, ContextQuery, check_context_id
from pilothouse.domain.errors import Conflict, InvalidInput, NotFound, RequestError, StoreError
from pilothouse.domain.signals import ContextChanged
from pilothouse.domain.states import Failed, WaitingForRecovery
from pilothouse.domain.value import ContextId
from pilothouse.llm.base import Adapter
from pilothouse.runtime.authorization.user_rules import UserRules
from pilothouse.runtime.context.environments import ConversationEnvironments
from pilothouse.runtime.context.live_context import LiveContext
from pilothouse.runtime.context.recovery import (
    RETRY_INTERVAL_SECONDS,
    end_left_processes,
    show_recovery,
    store_unsaved_change,
)
from pilothouse.runtime.dependencies import RuntimeDependencies
from pilothouse.runtime.ownership.ownership import Lease
from pilothouse.runtime.turn.driver import drive
from pilothouse.runtime.turn.steps import STEPS
from pilothouse.runtime.turn.turn import Turn, turn_of
from pilothouse.system.fair_threads import acting_user
from pilothouse.tools.file_index import FileIndex
from pilothouse.tools.mcp.servers import MCPServers

_MAX_ANCESTORS = 16


class Delegate(Protocol):
    """Lets a sub-agent of a context do a task, and returns its answer."""

    def __call__(self, pool: "ContextPool", live: LiveContext, task: str, mode: str | None) -> Awaitable[str]: ...


class ContextPool:
    """The contexts in memory. Only the holder of a context's lock writes to it; one task drives a working context."""

    def __init__(
        self,
        dependencies: RuntimeDependencies,
        *,
        take_queued: Callable[["ContextPool", LiveContext], Awaitable[bool]],
        delegate: Delegate,
    ) -> None:
        """`take_queued` begins the turn of the next queued message, if that message is due, and returns whether a turn
        began. `delegate` runs sub-agents. Both are commands, which build on the pool."""
        self.dependencies = dependencies
        self._take_queued = take_queued
        self._delegate = delegate
        self.environments = ConversationEnvironments(dependencies.command_environment)
        self.user_rules = UserRules(dependencies)
        self.retired_adapters: list[Adapter] = []
        """Replaced adapters, which may still be streaming. They are closed with the runtime."""
        self.setup_lock = asyncio.Lock()
        self.plain_names: dict[str, frozenset[str]] = {}
        """By user: names of contexts whose id lacks the user's name. Filled when first needed."""
        self.file_index = FileIndex(dependencies.ambient.monotonic)
        self._live: dict[ContextId, LiveContext] = {}
        self._opening: dict[ContextId, asyncio.Task[LiveContext]] = {}
        self._waiters: Counter[ContextId] = Counter()
        """How many callers of `find` wait for a context, which must not be evicted before they have it."""
        self._background_tasks: set[asyncio.Task[None]] = set()
        self._closed = False

    @asynccontextmanager
    async def locked(self, context_id: str, *, stores_unsaved: bool = True) -> AsyncIterator[LiveContext]:
        """The context with its lock held. An unsaved change is stored first; if the store still refuses, the command
        does nothing, unless it passes `stores_unsaved=False`.

        Raises: NotFound, InvalidInput, StoreError.
        """
        async with self.reading(context_id) as live:
            await self.take_ownership(live)
            if stores_unsaved and isinstance(live.state, WaitingForRecovery):
                await self._store_unsaved(live)
            yield live

    async def owned(self, context_id: str) -> LiveContext:
        """The context, driven by this runtime from now on: recovered, with the servers of its workspace."""
        async with self.locked(context_id, stores_unsaved=False) as live:
            return live

    @asynccontextmanager
    async def reading(self, context_id: str) -> AsyncIterator[LiveContext]:
        """The context with its lock held, to read more than one thing at one instant. Raises: NotFound, StoreError."""
        while True:
            live = await self.find(context_id)
            live.pin_count += 1
            try:
                async with live.lock:
                    if live.storage.is_deleted:  # while this command waited for the lock
                        raise NotFound(Code.UNKNOWN_CONTEXT, context_id=context_id)
                    if live.storage.is_lost:
                        continue
                    if self._closed:
                        raise Conflict(Code.RUNTIME_CLOSED)
                    yield live
                    return
            finally:
                live.pin_count -= 1

    async def take_ownership(self, live: LiveContext) -> None:
        """Become the owner of a context that was only read so far: end what a dead owner left running, and store the
        recovery. The caller holds the lock.

        Raises: Conflict, StoreError. Where the store refuses only the recovery, the context waits for the store.
        """
        if live.storage.lease is not None:
            return
        async with AsyncExitStack() as on_error:
            lease = await self.dependencies.ownership.acquire(live.id, lambda: self._lose_lease(lease))
            on_error.push_async_callback(self.dependencies.ownership.release, lease)
            stored = await self.dependencies.store.open(live.id)
            await end_left_processes(stored)
            if stored.version != live.version:
                live.reload(stored)
                show_recovery(live)
            await self.open_workspace_servers(live.core)
            live.storage.lease = lease
            on_error.pop_all()
        live.files.forget_workspace()
        if live.storage.recovery is not None:
            with suppress(StoreError):
                await self.store_recovery(live)
        if isinstance(live.state, WaitingForRecovery) and not live.storage.is_lost:
            self.run_in_background(self._retry_until_stored(live))

    async def find(self, context_id: str) -> LiveContext:
        """The context, opened if necessary. Opening changes nothing in the store and starts nothing: an interrupted
        context reads as its recovery will leave it. Raises: NotFound for an id that no context has, also for an invalid
        one."""
        if self._closed:
            raise Conflict(Code.RUNTIME_CLOSED)
        try:
            checked = check_context_id(context_id)
        except InvalidInput as error:
            raise NotFound(Code.UNKNOWN_CONTEXT, context_id=context_id) from error
        self._waiters[checked] += 1
        try:
            while checked not in self._live:
                await asyncio.shield(self._opening_task(checked))
        finally:
            self._waiters[checked] -= 1
            if not self._waiters[checked]:
                del self._waiters[checked]
        live = self._live[checked] = self._live.pop(checked)  # the most recently used is the last
        return live

    def _opening_task(self, context_id: ContextId) -> asyncio.Task[LiveContext]:
        """The task that opens a context: one for all concurrent callers, which a cancelled caller does not stop."""
        task = self._opening.get(context_id)
        if task is None or task.done():
            task = self._opening[context_id] = asyncio.create_task(self._open(context_id))
            task.add_done_callback(lambda done: self._finish_opening(context_id, done))
        return task

    def _finish_opening(self, context_id: ContextId, task: asyncio.Task[LiveContext]) -> None:
        if self._opening.get(context_id) is task:
            del self._opening[context_id]
        if not task.cancelled():
            task.exception()  # mark as retrieved: all callers may have been cancelled

    @asynccontextmanager
    async def lease(self, context_id: ContextId) -> AsyncIterator[Lease]:
        """A lease for one command on a context that is not in memory. Raises: Conflict, StoreError."""
        ownership = self.dependencies.ownership
        lease = await ownership.acquire(context_id, lambda: None)
        try:
            yield lease
        finally:
            await ownership.release(lease)

    async def _open(self, context_id: ContextId) -> LiveContext:
        stored = await self.dependencies.store.open(context_id)
        await self.user_rules.load(stored.core.owner)
        ancestors: list[LiveContext] = []
        try:
            for ancestor_id in await self._read_ancestors(stored.core):
                ancestors.append(await self.find(ancestor_id))
                ancestors[-1].pin_count += 1
            live = LiveContext(stored, self, ancestors)
            show_recovery(live)
        except BaseException:
            for pinned in ancestors:
                pinned.pin_count -= 1
            raise
        self._add(live)
        return live

    def _lose_lease(self, lease: Lease) -> None:
        live = self._live.get(lease.context_id)
        if live is not None and live.storage.lease is lease:
            self.lose(live)

    def lose(self, live: LiveContext) -> None:
        """Stop all work on a context that another owner has taken over. Its running calls are cancelled without any
        trace in the store: the new owner recovers the context as after a crash."""
        if live.storage.is_lost:
            return
        live.storage.is_lost = True
        if live.task is not None:
            live.task.cancel()
        if live.turn is not None:
            live.turn.settled.set()
        self.forget(live)
        everything = ContextChanged(context_id=live.id, version=live.version, fields=("*",))
        self.dependencies.hub.publish(everything)

    async def _read_ancestors(self, core: ContextCore) -> list[ContextId]:
        """The ids of a context's ancestors, nearest first. Empty where an ancestor is missing or belongs to another
        user, or where the chain is a cycle or too long."""
        ids: list[ContextId] = []
        parent = core.parent
        while parent is not None:
            if parent in (*ids, core.context_id) or len(ids) > _MAX_ANCESTORS:
                return []
            ids.append(parent)
            try:
                core_of_parent = (await self.dependencies.store.open(parent)).core
            except (RequestError, StoreError):
                return []
            if core_of_parent.owner != core.owner:
                return []
            parent = core_of_parent.parent
        return ids

    def _release_ancestors(self, live: LiveContext) -> None:
        """Unpin the ancestors of a context that leaves memory."""
        for ancestor in live.ancestors:
            ancestor.pin_count -= 1
            ancestor.subagents.discard(live)

    async def _recover_interrupted(self) -> None:
        """Recover the contexts that a dead runtime has left working, so that none waits for its first command."""
        with suppress(StoreError):  # a store that cannot be read now: the first command recovers its context
            for summary in await self.dependencies.store.contexts(ContextQuery(works=True)):
                with suppress(RequestError, StoreError):
                    await self.owned(summary.context_id)

    async def store_recovery(self, live: LiveContext) -> None:
        """Store the recovery of an interrupted context. The caller holds the lock. Raises: StoreError."""
        try:
            await live.commit_recovery()
        except StoreError as error:
            # Until the store accepts the recovery, reads work and commands wait.
            live.enter(WaitingForRecovery(reason=error.reason))
            raise

    async def _store_unsaved(self, live: LiveContext) -> None:
        """Store the unsaved change. The caller holds the lock.

        Raises: StoreError; then the context keeps waiting for the store.
        """
        if live.storage.recovery is not None:
            await self.store_recovery(live)
            live.publish_state()
        else:
            await store_unsaved_change(live)

    async def _mark_interrupted(self, live: LiveContext) -> None:
        """Mark the open turn as interrupted, when the runtime closes. Raises: StoreError."""
        if live.storage.lease is None:
            return
        if isinstance(live.state, WaitingForRecovery):
            await self._store_unsaved(live)
        elif live.core.turn is not None and not live.is_resting:
            stored = await self.dependencies.store.open(live.id)
            await end_left_processes(stored)
            interrupted = LiveContext(stored, self, live.ancestors)
            interrupted.storage.lease = live.storage.lease
            show_recovery(interrupted)
            if interrupted.storage.recovery is not None:
                await interrupted.commit_recovery()

    async def _retry_until_stored(self, live: LiveContext) -> None:
        """Retry the unsaved change at intervals. Every command retries it as well."""
        while isinstance(live.state, WaitingForRecovery) and not live.storage.is_lost:
            await self.dependencies.ambient.background_sleep(RETRY_INTERVAL_SECONDS)
            async with live.lock:
                if isinstance(live.state, WaitingForRecovery):
                    with suppress(StoreError):
                        await self._store_unsaved(live)

    def _add(self, live: LiveContext) -> None:
        """Add a context, and evict the least recently used ones above the bound."""
        self._live[live.id] = live
        if live.ancestors:
            live.ancestors[0].subagents.add(live)
        surplus = len(self._live) - self.dependencies.max_idle_contexts
        unused = [
            other
            for other in self._live.values()
            if other.can_be_forgotten and other is not live and other.id not in self._waiters
        ]
        for other in unused[: max(0, surplus)]:
            self.forget(other)

    def forget(self, live: LiveContext) -> None:
        """Remove a context from memory, and stop its workspace's MCP servers if no other context uses them."""
        if self._live.pop(live.id, None) is not None:
            self._release_ancestors(live)
            if live.storage.lease is not None:
                self.run_in_background(self.dependencies.ownership.release(live.storage.lease))
            folder = live.core.workspace
            servers = self.dependencies.mcp_servers
            if servers is not None and folder is not None and folder not in self._open_workspaces():
                self.run_in_background(self._close_workspace_servers(servers, folder))

    async def _close_workspace_servers(self, servers: MCPServers, folder: str) -> None:
        if folder not in self._open_workspaces():  # a context of the workspace may have been opened since
            await servers.open_folder(folder, None)

    def _open_workspaces(self) -> set[str | None]:
        return {live.core.workspace for live in self._live.values()}

    def model_of(self, context_id: ContextId) -> str:
        """The model that a context in memory would use now."""
        live = self._live.get(context_id)
        return live.model().name if live is not None else self.dependencies.model

    def in_memory(self) -> tuple[LiveContext, ...]:
        return tuple(self._live.values())

    def run_in_background(self, work: Coroutine[Any, Any, None]) -> None:
        """Run a coroutine without waiting for it. The runtime cancels it when it closes."""
        if self._closed:
            work.close()
            return
        task = asyncio.create_task(work)
        self._background_tasks.add(task)
        task.add_done_callback(self._background_tasks.discard)

    def drive(self, live: LiveContext, turn: Turn | None = None) -> None:
        """Ensure that a task drives the context's working state; `turn` is a new turn. Does nothing once the runtime is
        closed: recovery takes over at the next start."""
        if self._closed or live.storage.is_lost:
            if turn is not None:
                turn.settled.set()
            return
        live.turn = turn = turn or turn_of(live)
        turn.work_available.set()
        if live.task is None:
            live.task = asyncio.create_task(self._drive(live, turn), name=f"turn of {live.id}")

    async def _drive(self, live: LiveContext, turn: Turn) -> None:
        acting_user.set(live.core.owner)
        try:
            await drive(turn)
            # A queued message is due, or a message was sent while this turn was being closed.
            while await self._take_queued(self, live) or type(live.state) in STEPS:
                await drive(turn_of(live))
        finally:
            # No await between the last check of the state and this line, so no working state is left without a task.
            live.task = None
            if isinstance(live.state, Failed):
                live.publish_state()  # again: `Failed` was signalled before the turn was closed
            if isinstance(live.state, WaitingForRecovery) and not live.storage.is_lost:
                self.run_in_background(self._retry_until_stored(live))
            if live.core.turn is None:
                live.turn = None

    async def delegate(self, live: LiveContext, task: str, mode: str | None) -> str:
        """Let a sub-agent do a task, and return its answer."""
        return await self._delegate(self, live, task, mode)

    async def start(self) -> None:
        """Start the tools that need it, the connections to MCP servers, and the recovery of interrupted contexts."""
        await self.dependencies.registry.start()
        if self.dependencies.mcp_servers is not None:
            self.dependencies.mcp_servers.on_change = self._publish_tools_changed
            await self.dependencies.mcp_servers.start()
        self.run_in_background(self._recover_interrupted())

    def _publish_tools_changed(self) -> None:
        for live in self.in_memory():
            self.dependencies.hub.publish(ContextChanged(context_id=live.id, version=live.version, fields=("tools",)))

    async def open_workspace_servers(self, core: ContextCore) -> None:
        """Start the own MCP servers of a context's workspace, if they are trusted and the owner may work there."""
        workspace = core.workspace
        if workspace is None or self.dependencies.mcp_servers is None or self.dependencies.trust is None:
            return
        if self.dependencies.is_beneath_a_root(workspace, core.owner):
            await self.dependencies.mcp_servers.open_folder(
                workspace, self.dependencies.trust.mcp_servers_text(workspace)
            )

    async def rested(self, context_id: str) -> LiveContext:
        """Wait until the context rests."""
        live = await self.find(context_id)
        while live.task is not None:
            await asyncio.wait({live.task})
        return live

    async def close(self) -> None:
        """Stop all tasks, mark open turns as interrupted, and close servers, tools, adapters and the store."""
        if self._closed:
            return
        self._closed = True
        tasks = [live.task for live in self._live.values() if live.task is not None] + list(self._background_tasks)
        for task in tasks:
            task.cancel()
        if tasks or self._opening:
            await asyncio.wait([*tasks, *self._opening.values()])
        for live in self.in_memory():
            async with live.lock:  # wait for a command's commit
                live.task = None
                if live.turn is not None:
                    live.turn.settled.set()  # also where the driver did not begin
        for live in self.in_memory():
            with suppress(StoreError):  # if the store refuses, recovery does the same at the next start
                await self._mark_interrupted(live)
            if live.storage.lease is not None:
                await self.dependencies.ownership.release(live.storage.lease)
        if self.dependencies.mcp_servers is not None:
            await self.dependencies.mcp_servers.stop()
        await self.dependencies.registry.stop()
        titles_adapter = [self.dependencies.titles.adapter] if self.dependencies.titles is not None else []
        for adapter in (self.dependencies.adapter, *titles_adapter, *self.retired_adapters):
            await adapter.close()
        await self.dependencies.store.close()
