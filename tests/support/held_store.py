"""A store that holds or refuses selected writes, so that commands meet at one instant; and parents with sub-agents."""

import asyncio
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from pilothouse.domain.audit import AuditEntry
from pilothouse.domain.codes import Code
from pilothouse.domain.contexts import Change
from pilothouse.domain.errors import StoreRefused
from pilothouse.domain.policies import Policy
from pilothouse.domain.states import AwaitingToolApproval
from pilothouse.domain.value import ContextId
from pilothouse.llm.script import Answer, ScriptedCall
from pilothouse.storage.memory import MemoryStore
from pilothouse.testing.world import World
from pilothouse.tools.builtin.delegate import Delegate

DONE = Answer(text="done")
DELEGATE = ScriptedCall(tool="delegate", arguments={"task": "do it"})
DELEGATES = Answer(calls=(DELEGATE,))

Fits = Callable[[ContextId, Change], bool]

_UNTIL_ALL_WAIT = 100


def any_write(context_id: ContextId, change: Change) -> bool:
    return True


def no_write(context_id: ContextId, change: Change) -> bool:
    return False


class HeldStore(MemoryStore):
    """`reached` is set when a write is held; writes that match `refuses` are refused, others take `commit_seconds`."""

    def __init__(self, commit_seconds: float | None = None) -> None:
        super().__init__()
        self.refuses: Fits = no_write
        self.commit_seconds = commit_seconds
        self._holds_user_logs = False
        self.hold(no_write)

    def hold(self, fits: Fits, *, after: bool = False) -> asyncio.Event:
        """Hold every matching write until the returned event is set: before the write, or its caller `after` it."""
        self._fits, self._holds_after = fits, after
        self._release, self.reached = asyncio.Event(), asyncio.Event()
        return self._release

    def hold_user_logs(self) -> asyncio.Event:
        """Hold every caller of `append_user_log` after the append, until the returned event is set."""
        self._holds_user_logs = True
        return self.hold(no_write)

    async def create(self, change: Change) -> int:
        await self._pass(change.core.context_id, change)
        return await super().create(change)

    async def commit(self, context_id: ContextId, change: Change, *, expected: int, fence: int) -> int:
        await self._pass(context_id, change)
        if self.commit_seconds is not None:
            await asyncio.sleep(self.commit_seconds)
        version = await super().commit(context_id, change, expected=expected, fence=fence)
        if self._holds_after and self._fits(context_id, change):
            await self._wait()
        return version

    async def append_user_log(self, user: str, entries: Sequence[AuditEntry], *, expected: int) -> int:
        version = await super().append_user_log(user, entries, expected=expected)
        if self._holds_user_logs:
            await self._wait()
        return version

    async def _pass(self, context_id: ContextId, change: Change) -> None:
        if not self._holds_after and self._fits(context_id, change):
            await self._wait()
        if self.refuses(context_id, change):
            raise StoreRefused(Code.STORE_REFUSED, detail="as it was told to")

    async def _wait(self) -> None:
        self.reached.set()
        await self._release.wait()


async def settle() -> None:
    """Run all tasks until each waits for something that the test holds."""
    for _ in range(_UNTIL_ALL_WAIT):
        await asyncio.sleep(0)


def calls_answer(*calls: tuple[str, str]) -> Answer:
    return Answer(calls=tuple(ScriptedCall(tool=tool, arguments={"text": text}) for tool, text in calls))


def family(tmp_path: Path, *answers: Answer, **options: Any) -> World:
    return World(tmp_path, *answers, tools=[Delegate(), *options.pop("tools", [])], **options)


async def child_of(world: World, context_id: str) -> ContextId:
    (child,) = (await world.runtime.contexts.list(parent=context_id)).items
    return child.context_id


async def waiting_child(world: World, context_id: str) -> ContextId:
    while True:
        await asyncio.sleep(0)
        for summary in (await world.runtime.contexts.list(parent=context_id)).items:
            if isinstance(summary.state, AwaitingToolApproval):
                return summary.context_id


async def sent_and_waiting(world: World) -> tuple[ContextId, ContextId]:
    """A parent at work, and its sub-agent, which waits for the person."""
    context_id = await world.start()
    await world.runtime.modes.set_policy(context_id, Policy(kind="white_list", tools=frozenset({"delegate"})))
    await world.runtime.messages.send(context_id, "go")
    return context_id, await waiting_child(world, context_id)
