"""Creates long histories quickly, for tests and benchmarks of growth."""

from collections.abc import Callable
from pathlib import Path

from pilothouse.domain.branches import MAIN, Branch
from pilothouse.domain.contexts import Change, ContextCore
from pilothouse.domain.messages import Text
from pilothouse.domain.value import ContextId, MessageId
from pilothouse.storage.base import FENCE
from pilothouse.storage.files.disk import Disk
from pilothouse.storage.files.store import FileStore
from pilothouse.system.ambient import SystemAmbient, timestamp

BATCH_MESSAGES = 2000


class UnsyncedDisk(Disk):
    """A disk without syncs, for data that need not survive a crash."""

    def sync(self, fd: int) -> None:
        pass

    def sync_file_system(self, path: Path) -> bool:  # noqa: ARG002
        return True


async def make_history(
    data: Path,
    workspace: Path,
    count: int,
    *,
    size: int = 200,
    title: str = "long",
    content: Callable[[int], str] | None = None,
) -> ContextId:
    """Create and close a context with `count` messages of `size` characters or of the given content."""
    ambient = SystemAmbient()
    at = timestamp(ambient.now())
    context_id = ContextId(ambient.new_id())
    core = ContextCore(
        context_id=context_id, created_at=at, updated_at=at, mode="agent", workspace=str(workspace), title=title
    )
    store = FileStore(data, now=lambda: at, disk=UnsyncedDisk())
    version = await store.create(
        Change(core=core, branches={MAIN: Branch(name=MAIN, key=ambient.new_id(), created_at=at)})
    )
    for start in range(0, count, BATCH_MESSAGES):
        numbers = range(start, min(count, start + BATCH_MESSAGES))
        texts = tuple(
            Text(
                id=MessageId(ambient.new_id()),
                timestamp=at,
                role="assistant" if number % 2 else "user",
                content=content(number) if content else f"{number} ".ljust(size, "x"),
            )
            for number in numbers
        )
        change = Change(core=core, messages=texts, appended={MAIN: tuple(text.id for text in texts)})
        version = await store.commit(context_id, change, expected=version, fence=FENCE)
        await store.checkpoint(context_id)
    await store.close()
    return context_id
