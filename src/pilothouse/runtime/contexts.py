"""The contexts in memory: opened when asked for, recovered before they are usable, driven while they work."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from pilothouse.domain.codes import Code
from pilothouse.domain.contexts import check_context_id
from pilothouse.domain.errors import Conflict, InvalidInput, NotFound, StoreError
from pilothouse.domain.states import WaitingForRecovery
from pilothouse.domain.values import ContextId
from pilothouse.runtime.driver import drive
from pilothouse.runtime.live import Live
from pilothouse.runtime.parts import Parts
from pilothouse.runtime.recovery import recover
from pilothouse.runtime.steps import STEPS
from pilothouse.runtime.turn import Turn


class Contexts:
    """Each context has one writer: whoever holds its lock. A working one has one task that drives it."""

    def __init__(self, parts: Parts) -> None:
        self.parts = parts
        self._live: dict[ContextId, Live] = {}
        self._opening: dict[ContextId, asyncio.Task[Live]] = {}
        self._closed = False

    @asynccontextmanager
    async def locked(self, context_id: str) -> AsyncIterator[Live]:
        """The context, held. Raises: NotFound, InvalidInput, StoreError."""
        live = await self.find(context_id)
        live.users += 1
        try:
            async with live.lock:
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
        live = self._live.get(checked)
        if live is None:
            opened = await asyncio.shield(self._being_opened(checked))
            live = self._live.get(checked, opened)
        self._live[checked] = self._live.pop(checked, live)  # the most recently used is the last
        return live

    def _being_opened(self, context_id: ContextId) -> asyncio.Task[Live]:
        """One opening for all who ask at the same time, whoever of them gives up."""
        task = self._opening.get(context_id)
        if task is None:
            task = self._opening[context_id] = asyncio.create_task(self._open(context_id))
            task.add_done_callback(lambda done: (self._opening.pop(context_id), done.cancelled() or done.exception()))
        return task

    async def _open(self, context_id: ContextId) -> Live:
        live = Live(await self.parts.store.open(context_id), self.parts)
        await self._recover(live)
        self.keep(live)
        return live

    async def _recover(self, live: Live) -> None:
        found = await recover(live)
        if found is None:
            return
        draft, state = found
        live.state = state
        try:
            await live.commit(draft)
        except StoreError as error:
            # History can be read; nothing can be written until there is room and the person says go on.
            live.unsaved = draft
            live.state = WaitingForRecovery(reason=error.reason)

    def keep(self, live: Live) -> None:
        self._live[live.id] = live
        surplus = len(self._live) - self.parts.contexts_kept
        unused = [kept for kept in self._live.values() if kept.can_be_forgotten and kept is not live]
        for kept in unused[: max(0, surplus)]:
            del self._live[kept.id]

    def forget(self, live: Live) -> None:
        self._live.pop(live.id, None)

    def drive(self, live: Live, turn: Turn | None = None) -> None:
        """See to it that the context's working state is driven, by `turn` where a new one begins."""
        live.turn = turn or live.turn
        live.wake.set()
        if live.task is None:
            live.task = asyncio.create_task(self._drive(live, turn_of(live)), name=f"turn of {live.id}")

    async def _drive(self, live: Live, turn: Turn) -> None:
        try:
            await drive(turn)
            while type(live.state) in STEPS:  # a message was taken while a failed turn was being closed
                await drive(turn_of(live))
        finally:
            # No await between the driver's last look at the state and this line: nobody is left undriven.
            live.task = None
            if live.core.turn is None:
                live.turn = None
                live.outlet = None

    async def rested(self, context_id: str) -> Live:
        """Wait until the context rests."""
        live = await self.find(context_id)
        while live.task is not None:
            await asyncio.wait({live.task})
        return live

    async def close(self) -> None:
        """Stop what works (recovery will find it) and write everything out."""
        if self._closed:
            return
        self._closed = True
        tasks = [live.task for live in self._live.values() if live.task is not None]
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks)
        await self.parts.adapter.close()
        await self.parts.store.close()


def turn_of(live: Live) -> Turn:
    """The open turn, made anew where a restart or a long rest has forgotten it."""
    if live.turn is None:
        live.turn = Turn(live)
    return live.turn
