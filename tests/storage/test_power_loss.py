"""Power loss: only synced data is left, in the worst way that a file system may leave it. Acknowledged messages
survive."""

import os
import shutil
from pathlib import Path

from pilothouse.domain.branches import MAIN
from pilothouse.domain.messages import Text
from pilothouse.llm.script import Answer, ScriptedCall
from pilothouse.storage.files.disk import Disk
from pilothouse.storage.files.store import FileStore
from pilothouse.testing.world import World
from tests.support.scale import LONG, Record

AT = "2026-01-01T00:00:00.000Z"


class PowerDisk(Disk):
    """Tracks the durable files. A file's content is durable when it was synced, its name when its folder was; a
    renamed or removed name is the old one until then."""

    def __init__(self) -> None:
        self.content: dict[Path, bytes] = {}
        self.names: dict[Path, Path] = {}  # durable name -> the file whose content it shows
        self.moved: dict[Path, Path] = {}

    def sync(self, fd: int) -> None:
        path = Path(os.readlink(f"/proc/self/fd/{fd}"))
        if path.is_dir():
            self._folder_is_durable(path)
        else:
            self.content[self._origin(path)] = path.read_bytes()
        super().sync(fd)

    def sync_file_system(self, path: Path) -> bool:
        root = path.parent
        for entry in root.rglob("*"):
            if entry.is_file():
                self.content[self._origin(entry)] = entry.read_bytes()
                self.names[entry] = self._origin(entry)
        return super().sync_file_system(path)

    def rename(self, source: Path, target: Path) -> None:
        super().rename(source, target)
        unique = Path(f"{source}#{len(self.content)}")
        self.content[unique] = self.content.pop(source, b"")
        self.moved[target] = unique

    def _origin(self, path: Path) -> Path:
        return self.moved.get(path, path)

    def _folder_is_durable(self, folder: Path) -> None:
        for name in [name for name in self.names if name.parent == folder and not name.exists()]:
            del self.names[name]
        for path in folder.iterdir():
            if path.is_file():
                self.names[path] = self._origin(path)

    def after_the_loss(self, root: Path, target: Path) -> None:
        shutil.rmtree(target, ignore_errors=True)
        for name, origin in self.names.items():
            left = target / name.relative_to(root)
            left.parent.mkdir(parents=True, exist_ok=True)
            left.write_bytes(self.content.get(origin, b""))


async def test_acknowledged_commits_survive_a_power_loss_at_any_commit(tmp_path: Path, record_property: Record) -> None:
    disk = PowerDisk()
    turns = 40 if LONG else 12
    answers = []
    for number in range(turns):
        call = ScriptedCall(tool="change", arguments={"text": str(number)})
        answers += [Answer(text=f"I do {number}", calls=(call,)), Answer(text=f"done {number}")]
    root = tmp_path / "data"
    store = FileStore(root, now=lambda: AT, disk=disk)
    world = World(tmp_path, *answers, store=store)
    context_id = await world.start("supervised")
    losses = 0
    acknowledged: list[str] = []

    async def lose() -> None:
        nonlocal losses
        losses += 1
        disk.after_the_loss(root, tmp_path / "left")
        left = FileStore(tmp_path / "left", now=lambda: AT)
        messages = await left.messages(context_id, await left.branch_ids(context_id, MAIN))
        users = [message.id for message in messages if isinstance(message, Text) and message.role == "user"]
        assert users[: len(acknowledged)] == acknowledged
        opened = await left.open(context_id)
        assert opened.version == (await world.runtime.contexts.get(context_id)).version
        assert [reason.code for reason in opened.damage] == []
        await left.close()

    await lose()
    for number in range(turns):
        acknowledged.append((await world.runtime.messages.send(context_id, f"message {number}")).message_id)
        await world.runtime.turns.rested(context_id)
        await lose()
        await world.runtime.calls.approve_all(context_id)
        await world.runtime.turns.rested(context_id)
        await lose()
        if number % 3 == 2:
            await store.checkpoint(context_id)
            await lose()
    await world.runtime.branches.create(context_id, "other")
    await lose()
    await world.runtime.close()
    record_property("figure", f"{losses} power losses, nothing acknowledged was missing")
