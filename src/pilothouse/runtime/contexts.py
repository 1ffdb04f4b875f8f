"""The contexts in memory: opened when asked for, recovered before they are usable, driven while they work."""

import asyncio
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import AsyncIterator, Coroutine
from contextlib import asynccontextmanager, suppress
from typing import Any

from pilothouse.domain.codes import Code
from pilothouse.domain.contexts import ContextCore, check_context_id
from pilothouse.domain.errors import Conflict, InvalidInput, NotFound, RequestError, StoreError
from pilothouse.domain.signals import ContextChanged
from pilothouse.domain.states import Failed, WaitingForRecovery
from pilothouse.domain.values import ContextId
from pilothouse.fair_threads import acting_user
from pilothouse.llm.base import Adapter
from pilothouse.runtime.driver import drive
from pilothouse.runtime.kept_changes import RETRY_SECONDS, store_kept_change
from pilothouse.runtime.live import Live
from pilothouse.runtime.parts import Parts
from pilothouse.runtime.recovery import recover
from pilothouse.runtime.rulebook import Rulebook
from pilothouse.runtime.steps import STEPS
from pilothouse.runtime.turn import Turn, turn_of
from pilothouse.tools.finding import Finder

_ANCESTORS_AT_MOST = 16


class Contexts(ABC):
    """Each context has one writer: whoever holds its lock. A working one has one task that drives it."""

    def __init__(self, parts: Parts) -> None:
        self.parts = parts
        self.rulebook = Rulebook(parts)
        self.retired: list[Adapter] = []  # they may still be streaming: closed with the rest
        self.setting_up = asyncio.Lock()
        self.plain_names: dict[str, frozenset[str]] = {}
        """By user: names of contexts without the user's name in their id, as far as they were asked for."""
        self.finder = Finder(parts.ambient.monotonic)
        self._live: dict[ContextId, Live] = {}
        self._opening: dict[ContextId, asyncio.Task[Live]] = {}
        self._wanted: Counter[ContextId] = Counter()
        self._beside: set[asyncio.Task[None]] = set()
        self._closed = False

    @asynccontextmanager
    async def locked(self, context_id: str, *, stores_kept: bool = True) -> AsyncIterator[Live]:
        """The context, held. A change that the store refused before is stored first: unless that succeeds, no command
        does anything, except one that says otherwise (`stores_kept`).

        Raises: NotFound, InvalidInput, StoreError.
        """
        live = await self.find(context_id)
        live.users += 1
        try:
            async with live.lock:
                if live.is_deleted:  # while we waited
                    raise NotFound(Code.UNKNOWN_CONTEXT, context_id=context_id)
                if self._closed:
                    raise Conflict(Code.RUNTIME_CLOSED)
                if stores_kept and isinstance(live.state, WaitingForRecovery):
                    await self._leave_waiting(live)
                yield live
        finally:
            live.users -= 1

    async def find(self, context_id: str) -> Live:
        """Raises: NotFound for any id that no context has, also for one that could never be an id."""
        if self._closed:
            raise Conflict(Code.RUNTIME_CLOSED)
        try:
            checked = check_context_id(context_id)
        except InvalidInput as error:
            raise NotFound(Code.UNKNOWN_CONTEXT, context_id=context_id) from error
        self._wanted[checked] += 1  # what somebody waits for stays until they have it
        try:
            while checked not in self._live:
                await asyncio.shield(self._being_opened(checked))
        finally:
            self._wanted[checked] -= 1
            if not self._wanted[checked]:
                del self._wanted[checked]
        live = self._live[checked] = self._live.pop(checked)  # the most recently used is the last
        return live

    def _being_opened(self, context_id: ContextId) -> asyncio.Task[Live]:
        """One opening for all who ask at the same time, whoever of them gives up."""
        task = self._opening.get(context_id)
        if task is None or task.done():
            task = self._opening[context_id] = asyncio.create_task(self._open(context_id))
            task.add_done_callback(lambda done: self._opened(context_id, done))
        return task

    def _opened(self, context_id: ContextId, task: asyncio.Task[Live]) -> None:
        if self._opening.get(context_id) is task:
            del self._opening[context_id]
        if not task.cancelled():
            task.exception()  # whoever waits for it gets it; nobody may

    async def _open(self, context_id: ContextId) -> Live:
        stored = await self.parts.store.open(context_id)
        await self.rulebook.load(stored.core.owner)
        await self.open_folder(stored.core)
        above: list[Live] = []
        try:
            for ancestor in await self._ancestors(stored.core):
                above.append(await self.find(ancestor))
                above[-1].users += 1
            live = Live(stored, self, above)
            with suppress(StoreError):
                await self._recover(live)
        except BaseException:
            for held in above:
                held.users -= 1
            raise
        self.keep(live)
        if isinstance(live.state, WaitingForRecovery):
            self.beside(self._retry_until_stored(live))
        await self.open_folder(stored.core)  # another one may have been the last of this folder meanwhile
        return live

    async def _ancestors(self, core: ContextCore) -> list[ContextId]:
        """Nearest first. None of them where the line is broken, bites its tail or leads to somebody else."""
        ids: list[ContextId] = []
        parent = core.parent
        while parent is not None:
            if parent in (*ids, core.context_id) or len(ids) > _ANCESTORS_AT_MOST:
                return []
            ids.append(parent)
            try:
                above = (await self.parts.store.open(parent)).core
            except (RequestError, StoreError):
                return []
            if above.owner != core.owner:
                return []
            parent = above.parent
        return ids

    def _let_go(self, live: Live) -> None:
        """A context leaves memory: those above it need not stay for its sake."""
        for ancestor in live.above:
            ancestor.users -= 1
            ancestor.children.discard(live)

    async def _recover(self, live: Live) -> None:
        found = await recover(live)
        if found is None:
            return
        draft, state = found
        live.state = state
        try:
            await live.commit(draft)
        except StoreError as error:
            # History can be read; nothing can be written until there is room.
            live.state = WaitingForRecovery(reason=error.reason)
            raise

    async def _leave_waiting(self, live: Live) -> None:
        """Store what the store refused before. The caller holds the lock.

        Raises: StoreError; then the context goes on waiting.
        """
        if live.turn is not None or live.unsaved is not None:
            await store_kept_change(live)
        else:  # it was found after a crash, and could not even be marked
            await self._recover(live)
            live.publish_state()

    async def _mark_interrupted(self, live: Live) -> None:
        """When the runtime closes. Raises: StoreError."""
        if isinstance(live.state, WaitingForRecovery):
            await self._leave_waiting(live)
        elif live.core.turn is not None and not live.is_resting:
            await self._recover(Live(await self.parts.store.open(live.id), self, live.above))

    async def _retry_until_stored(self, live: Live) -> None:
        """The kept change is tried again and again; any command tries it, too."""
        while isinstance(live.state, WaitingForRecovery):
            await self.parts.ambient.background_sleep(RETRY_SECONDS)
            async with live.lock:
                if isinstance(live.state, WaitingForRecovery):
                    with suppress(StoreError):
                        await self._leave_waiting(live)

    def keep(self, live: Live) -> None:
        self._live[live.id] = live
        if live.above:
            live.above[0].children.add(live)
        surplus = len(self._live) - self.parts.contexts_kept
        unused = [
            kept
            for kept in self._live.values()
            if kept.can_be_forgotten and kept is not live and kept.id not in self._wanted
        ]
        for kept in unused[: max(0, surplus)]:
            self.forget(kept)

    def forget(self, live: Live) -> None:
        if self._live.pop(live.id, None) is not None:
            self._let_go(live)
            folder = live.core.workspace
            if self.parts.servers is not None and folder is not None and folder not in self._folders():
                self.beside(self.parts.servers.open_folder(folder, None))

    def _folders(self) -> set[str | None]:
        return {live.core.workspace for live in self._live.values()}

    def model_of(self, context_id: ContextId) -> str:
        """The model that a context in memory would ask now."""
        live = self._live.get(context_id)
        return live.model if live is not None else self.parts.model

    def in_memory(self) -> tuple[Live, ...]:
        return tuple(self._live.values())

    def beside(self, work: Coroutine[Any, Any, None]) -> None:
        """Do something that nobody waits for; it ends with the runtime."""
        if self._closed:
            work.close()
            return
        task = asyncio.create_task(work)
        self._beside.add(task)
        task.add_done_callback(self._beside.discard)

    def drive(self, live: Live, turn: Turn | None = None) -> None:
        """See to it that the context's working state is driven, by `turn` where a new one begins. Once the runtime is
        closed nothing is: recovery will find it."""
        if self._closed:
            return
        live.turn = turn or live.turn
        live.wake.set()
        if live.task is None:
            live.task = asyncio.create_task(self._drive(live, turn_of(live)), name=f"turn of {live.id}")

    async def _drive(self, live: Live, turn: Turn) -> None:
        acting_user.set(live.core.owner)
        try:
            await self._drive_turn(turn)
            # The next of the queue is due; or a message was taken while this turn was being closed.
            while await self.take_queued(live) or type(live.state) in STEPS:
                await self._drive_turn(turn_of(live))
        finally:
            # No await between the driver's last look at the state and this line: nobody is left undriven.
            live.task = None
            if isinstance(live.state, Failed):
                live.publish_state()  # it was told before it was closed
            if isinstance(live.state, WaitingForRecovery):
                self.beside(self._retry_until_stored(live))
            if live.core.turn is None:
                live.turn = None
                live.outlet = None

    async def _drive_turn(self, turn: Turn) -> None:
        turn.settled.clear()
        try:
            await drive(turn)
        finally:
            turn.settled.set()

    @abstractmethod
    async def take_queued(self, live: Live) -> bool:
        """Begin the turn of the next queued message, where one is due."""

    @abstractmethod
    async def delegate(self, live: Live, task: str, mode: str | None) -> str:
        """Let a sub-agent do a task; gives its answer."""

    async def start(self) -> None:
        """Begin what needs a beginning: tools that have one, connections to servers of tools."""
        await self.parts.registry.start()
        if self.parts.servers is not None:
            self.parts.servers.on_change = self._tell_of_tools
            await self.parts.servers.start()

    def _tell_of_tools(self) -> None:
        for live in self.in_memory():
            self.parts.hub.publish(ContextChanged(context_id=live.id, version=live.version, fields=("tools",)))

    async def open_folder(self, core: ContextCore) -> None:
        """The own MCP servers of a context's folder, as far as they were trusted and its owner may work there."""
        workspace = core.workspace
        if workspace is None or self.parts.servers is None or self.parts.trust is None:
            return
        if self.parts.is_beneath_a_root(workspace, core.owner):
            await self.parts.servers.open_folder(workspace, self.parts.trust.servers_of(workspace))

    async def rested(self, context_id: str) -> Live:
        """Wait until the context rests."""
        live = await self.find(context_id)
        while live.task is not None:
            await asyncio.wait({live.task})
        return live

    async def close(self) -> None:
        """Stop what works, mark its turn as interrupted, and write everything out."""
        if self._closed:
            return
        self._closed = True
        tasks = [live.task for live in self._live.values() if live.task is not None] + list(self._beside)
        for task in tasks:
            task.cancel()
        if tasks or self._opening:
            await asyncio.wait([*tasks, *self._opening.values()])
        for live in self.in_memory():
            async with live.lock:  # a command that was in its commit comes to its end
                live.task = None
                if live.turn is not None:
                    live.turn.settled.set()  # also where its driver never came to its first step
        for live in self.in_memory():
            with suppress(StoreError):  # what the next start would do; if the store refuses now, it will
                await self._mark_interrupted(live)
        if self.parts.servers is not None:
            await self.parts.servers.stop()
        await self.parts.registry.stop()
        titles = [self.parts.titles.adapter] if self.parts.titles is not None else []
        for adapter in (self.parts.adapter, *titles, *self.retired):
            await adapter.close()
        await self.parts.store.close()
