"""Readers that open and close a conversation at any instant of its life change nothing, and see what its next owner
sees."""

import asyncio
import shutil
from collections.abc import Awaitable, Callable
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pilothouse.domain.contexts import ContextQuery
from pilothouse.domain.errors import RequestError
from pilothouse.domain.messages import Message
from pilothouse.domain.states import Idle
from pilothouse.domain.value import ContextId
from pilothouse.llm.script import Answer, ScriptedCall
from pilothouse.runtime.runtime import Runtime
from pilothouse.storage.files.disk import Disk
from pilothouse.storage.files.store import FileStore
from pilothouse.testing.world import World
from tests.support.scale import LONG

AT = "2026-01-01T00:00:00.000Z"
ID = ContextId("life")
LAST_INSTANT = 40
CALLS = (
    ScriptedCall(tool="look", arguments={"text": "a"}),
    ScriptedCall(tool="change", arguments={"text": "b"}),
    ScriptedCall(tool="change", arguments={"text": "c"}),
)
QUESTION = ScriptedCall(tool="ask_user", arguments={"questions": [{"question": "Which?"}]})
ANSWERS = (
    Answer(deltas=("one ", "two "), calls=CALLS),
    Answer(deltas=("let me ask",), calls=(QUESTION,)),
    Answer(deltas=("three ", "four ")),
)


class CopyingDisk(Disk):
    """Copies the data after the write of one instant, as a process killed at that instant leaves them."""

    def __init__(self, data: Path, copy: Path, instant: int) -> None:
        self._data = data
        self._copy = copy
        self._instant = instant
        self.writes = 0

    def write_all(self, fd: int, data: bytes) -> None:
        super().write_all(fd, data)
        self._count()

    def replace_file(self, path: Path, data: bytes) -> None:
        super().replace_file(path, data)
        self._count()

    def truncate(self, fd: int, size: int) -> None:
        super().truncate(fd, size)
        self._count()

    def sync(self, fd: int) -> None:
        """No power fails here, and syncs would take most of the time."""

    def sync_dir(self, path: Path) -> None:
        pass

    def _count(self) -> None:
        self.writes += 1
        if self.writes == self._instant:
            shutil.copytree(self._data / "contexts", self._copy / "contexts")


async def drain(runtime: Runtime) -> None:
    async for _ in runtime.exports.create(ID):
        pass


async def drain_markdown(runtime: Runtime) -> None:
    async for _ in runtime.exports.markdown(ID):
        pass


async def follow(runtime: Runtime) -> None:
    async for _ in runtime.events.of_context(ID):
        pass


READS: dict[str, Callable[[Runtime], Awaitable[object]]] = {
    "get": lambda runtime: runtime.contexts.get(ID),
    "list": lambda runtime: runtime.contexts.list(),
    "forks": lambda runtime: runtime.contexts.forks(ID),
    "audit": lambda runtime: runtime.contexts.audit(ID),
    "usage": lambda runtime: runtime.contexts.usage(ID),
    "messages": lambda runtime: runtime.messages.read(ID),
    "pending": lambda runtime: runtime.calls.pending(ID),
    "calls": lambda runtime: runtime.calls.read(ID),
    "questions": lambda runtime: runtime.calls.open_questions(ID),
    "window": lambda runtime: runtime.window.read(ID),
    "meter": lambda runtime: runtime.window.meter(ID),
    "queue": lambda runtime: runtime.queue.read(ID),
    "rules": lambda runtime: runtime.rules.read(ID),
    "elevation": lambda runtime: runtime.modes.elevation(ID),
    "would_start": lambda runtime: runtime.modes.would_start(ID, "agent"),
    "files": lambda runtime: runtime.workspaces.find_files(ID),
    "trust": lambda runtime: runtime.workspaces.trust_status(ID),
    "rested": lambda runtime: runtime.turns.rested(ID),
    "export": drain,
    "markdown": drain_markdown,
    "follow": follow,
}


def bytes_of(folder: Path) -> dict[str, bytes | None]:
    """The content of every file beneath a folder; None for a folder."""
    return {str(path.relative_to(folder)): path.read_bytes() if path.is_file() else None for path in folder.rglob("*")}


def content_of(messages: list[Message]) -> list[tuple[object, ...]]:
    """The messages as a person reads them, without the ids and times of those that recovery adds."""
    return [(message.role, getattr(message, "content", None), getattr(message, "reason", None)) for message in messages]


def store_at(data: Path, disk: Disk | None = None) -> FileStore:
    return FileStore(data, now=lambda: AT, disk=disk)


async def live_a_life(workspace: Path, data: Path, disk: Disk) -> None:
    world = World(workspace, *ANSWERS, store=store_at(data, disk))
    await world.runtime.contexts.create(workspace, mode="agent", context_id=ID)
    await world.turn(ID, "go")
    await world.runtime.calls.answer(ID, ["that one"])
    await world.runtime.turns.rested(ID)
    await world.runtime.close()


async def read_and_recover(
    folder: Path, instant: int, reads: list[str], *, torn_bytes: int, evicts: bool, restarts: bool
) -> int:
    workspace, copy = folder / "workspace", folder / "copy"
    workspace.mkdir()
    disk = CopyingDisk(folder / "data", copy, instant)
    await live_a_life(workspace, folder / "data", disk)
    if disk.writes < instant:
        shutil.copytree(folder / "data" / "contexts", copy / "contexts")
    segments = sorted((copy / "contexts" / ID / "journal").glob("*.log"))
    if segments and torn_bytes:
        segments[-1].write_bytes(segments[-1].read_bytes()[:-torn_bytes])
    before = bytes_of(copy / "contexts")
    reader = World(workspace, store=store_at(copy), max_idle_contexts=0 if evicts else 10, ids_from=10**6)
    view: tuple[object, ...] | None = None
    for name in reads:
        with suppress(RequestError):
            await READS[name](reader.runtime)
            if restarts:
                await reader.runtime.close()
                reader = World(workspace, store=store_at(copy), max_idle_contexts=0 if evicts else 10, ids_from=10**6)
    with suppress(RequestError):
        view = (
            (await reader.runtime.contexts.get(ID)).state,
            content_of(await reader.runtime.messages.read(ID, limit=100)),
            [(call.tool, call.status) for call in await reader.runtime.calls.pending(ID)],
        )
    await reader.runtime.close()
    assert bytes_of(copy / "contexts") == before
    if view is None:  # the context had not been created, or its first line is torn
        return disk.writes
    owner = World(workspace, Answer(text="on"), store=store_at(copy), ids_from=2 * 10**6)
    await owner.runtime.contexts.change(ID, title="mine")
    assert (
        (await owner.runtime.contexts.get(ID)).state,
        content_of(await owner.runtime.messages.read(ID, limit=100)),
        [(call.tool, call.status) for call in await owner.runtime.calls.pending(ID)],
    ) == view
    assert await owner.dependencies.store.contexts(ContextQuery(works=True)) == []
    await owner.runtime.close()
    return disk.writes


@settings(max_examples=300 if LONG else 25, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    instant=st.integers(1, LAST_INSTANT),
    reads=st.lists(st.sampled_from(sorted(READS)), max_size=6),
    torn_bytes=st.sampled_from([0, 0, 1, 20]),
    evicts=st.booleans(),
    restarts=st.booleans(),
)
def test_readers_change_nothing_at_any_instant_and_see_what_the_next_owner_sees(
    instant: int, reads: list[str], torn_bytes: int, *, evicts: bool, restarts: bool
) -> None:
    with TemporaryDirectory() as folder:
        writes = asyncio.run(
            read_and_recover(Path(folder), instant, reads, torn_bytes=torn_bytes, evicts=evicts, restarts=restarts)
        )
    assert writes < LAST_INSTANT, "the last instants are never reached otherwise"


def test_every_read_changes_nothing_in_the_middle_of_a_call(tmp_path: Path) -> None:
    for instant in (1, 6, 12, 20):
        folder = tmp_path / str(instant)
        folder.mkdir()
        asyncio.run(read_and_recover(folder, instant, sorted(READS), torn_bytes=0, evicts=True, restarts=False))


async def test_the_start_of_a_runtime_recovers_what_a_dead_one_has_left_working(tmp_path: Path) -> None:
    disk = CopyingDisk(tmp_path / "data", tmp_path / "copy", 12)
    await live_a_life(tmp_path, tmp_path / "data", disk)
    world = World(tmp_path, store=store_at(tmp_path / "copy"))
    assert await world.dependencies.store.contexts(ContextQuery(works=True)) != []
    await world.runtime.start()
    while await world.dependencies.store.contexts(ContextQuery(works=True)):
        await asyncio.sleep(0)
    assert isinstance((await world.runtime.contexts.get(ID)).state, Idle) or await world.runtime.calls.pending(ID)
    await world.runtime.close()
