"""Cost does not grow with the history: bytes written for a turn, bytes read for opening."""

from pathlib import Path

import pytest

from pilothouse.domain.messages import Text
from pilothouse.llm.script import Answer, ScriptedCall
from pilothouse.storage.files.disk import Disk
from pilothouse.storage.files.store import FileStore
from pilothouse.testing.history import make_history
from pilothouse.testing.world import World
from tests.support.scale import Record

AT = "2026-01-01T00:00:00.000Z"


class CountingDisk(Disk):
    def __init__(self) -> None:
        self.written = 0

    def write(self, fd: int, data: bytes | memoryview) -> int:
        written = super().write(fd, data)
        self.written += written
        return written


def bytes_read() -> int:
    """The bytes that this process has read so far, as the kernel counts them."""
    fields = dict(line.split(": ") for line in Path("/proc/self/io").read_text().splitlines())
    return int(fields["rchar"])


async def turn_after(tmp_path: Path, count: int) -> tuple[int, int]:
    """Bytes read for opening a context with `count` messages, and bytes written for one turn with a tool call."""
    context_id = await make_history(tmp_path / "data", tmp_path, count)
    disk = CountingDisk()
    call = ScriptedCall(tool="look", arguments={"text": "x"})
    before = bytes_read()
    store = FileStore(tmp_path / "data", now=lambda: AT, disk=disk)
    world = World(tmp_path, Answer(text="I look", calls=(call,)), Answer(text="found"), store=store, token_budget=10**9)
    shown = await world.runtime.messages.read(context_id, limit=50)
    opened = bytes_read() - before
    assert len(shown) == min(count, 50)
    assert isinstance(shown[-1], Text)
    await world.turn(context_id)
    await world.runtime.close()
    return opened, disk.written


@pytest.mark.seconds(600)
async def test_a_turn_writes_the_same_at_10_1_000_and_100_000_messages(tmp_path: Path, record_property: Record) -> None:
    bytes_by_count = {count: await turn_after(tmp_path / str(count), count) for count in (10, 1_000, 100_000)}
    for count, (opened, written) in bytes_by_count.items():
        record_property(
            "figure", f"{count} messages: {opened} bytes read for opening, {written} bytes written for a turn"
        )
    small, middle, large = bytes_by_count.values()
    # A short branch lists its ids in metadata.json; from then on, only the digits of counts differ.
    assert abs(middle[1] - large[1]) < 100
    assert large[1] <= small[1] + 3000
    assert large[1] < 40_000
    assert large[0] <= middle[0] + 4096
    assert large[0] < 64_000
