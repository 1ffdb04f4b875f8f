"""The n-th disk operation fails, for every n: the caller gets an error, nothing is damaged, and work continues."""

from collections import Counter
from collections.abc import Awaitable, Callable
from functools import partial
from pathlib import Path
from typing import TypeVar

import pytest

from pilothouse.domain.branches import MAIN
from pilothouse.domain.errors import PilothouseError, StoreError
from pilothouse.domain.messages import Text, ToolRequest, ToolResult
from pilothouse.domain.states import AwaitingToolApproval, Failed, Idle, WaitingForRecovery
from pilothouse.llm.script import Answer, ScriptedCall
from pilothouse.storage.files.store import FileStore
from pilothouse.testing.disk import Fault, FaultyDisk
from pilothouse.testing.world import World
from tests.support.assertions import content_of
from tests.support.live_contexts import live_context_at_rest
from tests.support.scale import LONG, Record

CALLS = (
    ScriptedCall(tool="change", arguments={"text": "a"}),
    ScriptedCall(tool="change", arguments={"text": "b"}),
    ScriptedCall(tool="look", arguments={"text": "c"}),
)
# More answers than a clean run needs: a round that could not be stored is asked again.
ANSWERS = [
    Answer(
        text="some text, so that pieces are written " * 3,
        calls=tuple(ScriptedCall(tool=call.tool, arguments={"text": f"{n}{call.arguments['text']}"}) for call in CALLS)
        if n % 2 == 0
        else (),
    )
    for n in range(40)
]


T = TypeVar("T")


class Trial:
    """A conversation on a disk that fails; every acknowledgement is noted."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.disk = FaultyDisk()
        self.store = FileStore(path / "data", now=lambda: "2026-01-01T00:00:00.000Z", disk=self.disk)
        self.world = World(path, *ANSWERS, store=self.store)
        self.acknowledged: list[str] = []
        self.reported = 0
        self.modes = ["agent"]

    async def run(self) -> str:
        """The whole scenario; whatever is refused is noted, and tried again when the disk works."""
        runtime = self.world.runtime
        context_id = await self._insist(lambda: self.world.start())
        for mode in ("agent", "supervised"):
            await self._insist(partial(runtime.modes.switch, context_id, mode))
            self.modes.append(mode)
            sent = await self._insist(lambda: runtime.messages.send(context_id, "go"))
            self.acknowledged.append(sent.message_id)
            await self._settle(context_id)
        await self._insist(lambda: runtime.branches.create(context_id, "other"))
        await self._insist(lambda: runtime.branches.switch(context_id, "other"))
        await self.store.checkpoint(context_id)
        return context_id

    async def _insist(self, command: Callable[[], Awaitable[T]]) -> T:
        try:
            return await command()
        except StoreError:
            self.reported += 1
            self.disk.disarm()
        return await command()

    async def _settle(self, context_id: str) -> None:
        runtime = self.world.runtime
        while True:
            live = await live_context_at_rest(runtime, context_id)
            match live.state:
                case Idle() if live.core.last_turn in ("complete", "rejected", "denied"):
                    return
                case WaitingForRecovery():
                    self.reported += 1
                    self.disk.disarm()
                    await runtime.turns.continue_(context_id)
                case AwaitingToolApproval():
                    await self._insist(lambda: runtime.calls.approve_all(context_id))
                case Failed():
                    raise AssertionError(live.state)
                case _:
                    await self._insist(lambda: runtime.turns.continue_(context_id))

    async def check(self, context_id: str) -> None:
        """Check the conversation in a fresh process."""
        self.disk.disarm()
        await self.world.runtime.close()
        store = FileStore(self.path / "data", now=lambda: "2026-01-01T00:00:00.000Z")
        world = World(self.path, Answer(text="still here"), store=store)
        messages = await world.runtime.messages.read(context_id, branch=MAIN, limit=1000)
        users = [message.id for message in messages if isinstance(message, Text) and message.role == "user"]
        assert users == self.acknowledged
        calls = [call.id for message in messages if isinstance(message, ToolRequest) for call in message.calls]
        results = Counter(message.call_id for message in messages if isinstance(message, ToolResult))
        assert results == Counter(calls)
        assert max(Counter(self.world.change.ran).values()) == 1
        live = await world.runtime.contexts.get(context_id)
        assert live.core.mode == self.modes[-1]
        assert live.core.active_branch == "other"
        assert (await world.runtime.contexts.audit(context_id)).chain.whole
        await world.turn(context_id)
        assert content_of((await world.runtime.messages.read(context_id))[-1]) == "still here"
        await world.runtime.close()


async def operations(path: Path) -> int:
    trial = Trial(path)
    context_id = await trial.run()
    count = trial.disk.count
    await trial.check(context_id)
    return count


@pytest.mark.seconds(1800)
@pytest.mark.parametrize("lasting", [False, True], ids=["once", "lasting"])
@pytest.mark.parametrize("fault", ["ENOSPC", "EIO", "short"])
async def test_the_nth_operation_fails(tmp_path: Path, fault: Fault, lasting: bool, record_property: Record) -> None:
    total = await operations(tmp_path / "clean")
    fired = reported = 0
    for number in range(1, total + 1, 1 if LONG else 2):
        trial = Trial(tmp_path / str(number))
        trial.disk.arm(number, fault, lasting=lasting)
        try:
            context_id = await trial.run()
        except PilothouseError as error:
            raise AssertionError(f"operation {number} of {total}: {error!r}") from error
        fired += trial.disk.fired > 0
        reported += trial.reported > 0
        await trial.check(context_id)
    record_property("figure", f"{fired} of {total} operations failed with {fault}, {reported} were told to the caller")
    assert fired > total // 3
