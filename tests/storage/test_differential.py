"""The memory store is the contract at its plainest: after any sequence of changes the file store gives the same."""

import shutil
from pathlib import Path
from random import Random

import msgspec
import pytest

from pilothouse.domain.audit import AuditDraft, AuditHead, chain
from pilothouse.domain.branches import MAIN, Branch
from pilothouse.domain.calls import CallRecord
from pilothouse.domain.contexts import Change, OpenTurn, SentKey
from pilothouse.domain.messages import Text
from pilothouse.domain.value import CallId, MessageId, TurnId
from pilothouse.storage.base import FENCE, Store
from pilothouse.storage.files.store import FileStore
from pilothouse.storage.memory import MemoryStore
from pilothouse.testing.history import UnsyncedDisk
from tests.storage.test_contract import AT, ID, call, core, first, message_id, text
from tests.storage.test_file_store import abandon
from tests.support.scale import LONG, Record

SEQUENCES = 300 if LONG else 30
STRETCHES = ((0, 3), (5, None), (-4, None), (60, 70), (2, -1))


class RandomChanges:
    """Makes changes that fit the present state, all from one seed."""

    def __init__(self, seed: int) -> None:
        self.random = Random(seed)
        self.keys: list[str] = []
        self._step = 0
        self._pool: list[MessageId] = []
        self._branches = {MAIN: "k-main"}
        self._originals: dict[str, list[str]] = {}
        self._made = 0
        self._turn: OpenTurn | None = None
        self._turns = 0
        self._head = AuditHead()

    def chance(self, probability: float) -> bool:
        return self.random.random() < probability

    def change(self) -> Change:
        self._step += 1
        branches: dict[str, Branch] = {}
        appended: dict[str, tuple[MessageId, ...]] = {}
        dropped, renamed = self._rename_one(branches, appended)
        if not renamed:
            dropped = self._drop_one(branches, appended)
            self._make_one(branches, appended)
        self._change_one(branches)
        messages = self._said(appended)
        self._turn = self._next_turn()
        drafts = [AuditDraft(kind="recovered", at=AT, by="x", detail={"step": self._step})] * self.random.choice(
            [0, 1, 2]
        )
        self._head, entries = chain(self._head, drafts)
        return Change(
            core=core(title=str(self._step), turn=self._turn, audit=self._head),
            messages=tuple(messages),
            branches=branches,
            appended=appended,
            calls=tuple(self._calls()),
            audit=entries,
            dropped=dropped,
            renamed=renamed,
            keys=tuple(self._taken()),
        )

    def _rename_one(
        self, branches: dict[str, Branch], appended: dict[str, tuple[MessageId, ...]]
    ) -> tuple[tuple[str, ...], dict[str, str]]:
        """Perhaps one branch is compressed, or its last compression is undone."""
        if not self.chance(0.25):
            return (), {}
        name = self.random.choice(list(self._branches))
        stack = self._originals.setdefault(name, [])
        if stack and stack[-1] in self._branches and self.chance(0.5):
            original = stack.pop()
            key = self._branches[name] = self._branches.pop(original)
            branches[name] = Branch(name, key, AT, keeps_whole=True, length=self.random.choice([0, 5]))
            appended[name] = self._some(0, 1, 70)
            return (name,), {original: name}
        self._made += 1
        original = f"{name}-original-{self._made}"
        stack.append(original)
        self._branches[original] = self._branches.pop(name)
        branches[original] = Branch(original, self._branches[original], AT, original_of=name)
        branches[name] = self._new(name)
        appended[name] = self._some(1, 3, 66)
        return (), {name: original}

    def _drop_one(self, branches: dict[str, Branch], appended: dict[str, tuple[MessageId, ...]]) -> tuple[str, ...]:
        """Perhaps one branch goes, and perhaps another of its name comes in the same change."""
        others = [name for name in self._branches if name != MAIN]
        if not others or not self.chance(0.3):
            return ()
        name = self.random.choice(others)
        del self._branches[name]
        if self.chance(0.5):
            branches[name] = self._new(name)
            appended[name] = self._some(0, 3, 70)
        return (name,)

    def _make_one(self, branches: dict[str, Branch], appended: dict[str, tuple[MessageId, ...]]) -> None:
        name = self.random.choice("abcde")
        if name in self._branches or not self.chance(0.4):
            return
        branches[name] = msgspec.structs.replace(self._new(name), length=self.random.choice([0, 99]))
        if self.chance(0.8):
            appended[name] = self._some(0, 1, 63, 64, 65, 100)

    def _change_one(self, branches: dict[str, Branch]) -> None:
        """A branch stored again with nothing after it; its claimed length does not count."""
        name = self.random.choice(list(self._branches))
        if name not in branches and self.chance(0.3):
            branches[name] = Branch(
                name, self._branches[name], AT, prompt_addition=str(self._step), length=self.random.choice([0, 7])
            )

    def _new(self, name: str) -> Branch:
        self._made += 1
        key = self._branches[name] = f"key-{self._made}"
        return Branch(name, key, AT, parent_branch=MAIN)

    def _some(self, *counts: int) -> tuple[MessageId, ...]:
        return tuple(self.random.sample(self._pool, min(len(self._pool), self.random.choice(counts))))

    def _said(self, appended: dict[str, tuple[MessageId, ...]]) -> list[Text]:
        messages = []
        for _ in range(self.random.choice([0, 1, 2, 10, 40])):
            size = self.random.choice([1, 500, 70_000] if self.chance(0.05) else [1, 300, 600])
            messages.append(text(100 + len(self._pool), "x" * size))
            self._pool.append(messages[-1].id)
            if self.chance(0.9):
                name = self.random.choice(list(self._branches))
                appended[name] = (*appended.get(name, ()), messages[-1].id)
        if self._pool and self.chance(0.2):
            again = f"again {self._step} " * self.random.choice([1, 9000])
            messages.append(Text(id=self.random.choice(self._pool), timestamp=AT, role="user", content=again))
        return messages

    def _next_turn(self) -> OpenTurn | None:
        open_turn = self._turn
        if open_turn is not None:
            return open_turn if open_turn.branch in self._branches and self.chance(0.6) else None
        if self.chance(0.5):
            return None
        self._turns += 1
        return OpenTurn(TurnId(f"t{self._turns}"), self.random.choice(list(self._branches)), AT)

    def _calls(self) -> list[CallRecord]:
        if self._turn is None:
            return []
        return [
            msgspec.structs.replace(
                call(self.random.choice(["pending", "executed"])),
                id=CallId(message_id(self._turns * 100 + self.random.randint(1, 5))),
                turn=self._turn.id,
                arguments={"path": "x" * self.random.choice([1, 400, 70_000])},
            )
            for _ in range(self.random.choice([0, 0, 1, 3]))
        ]

    def _taken(self) -> list[SentKey]:
        taken = []
        for _ in range(self.random.choice([0, 0, 1, 3])):
            self.keys.append(f"key {len(self.keys)}")
            taken.append(self.keys[-1])
        if self.keys and self.chance(0.2):
            taken.append(self.random.choice(self.keys))
        return [SentKey(key=key, body=f"of {self._step}", message_id=message_id(1), at=AT) for key in taken]


async def everything(store: Store, keys: list[str]) -> dict[str, object]:
    opened = await store.open(ID)
    pool = await store.message_ids(ID)
    return {
        "opened": opened,
        "branch ids": {name: await store.branch_ids(ID, name) for name in opened.branches},
        "stretches": {
            (name, start, stop): await store.branch_ids(ID, name, start, stop)
            for name in opened.branches
            for start, stop in STRETCHES
        },
        "message ids": pool,
        "messages": await store.messages(ID, pool),
        "calls": await store.calls(ID),
        "audit": (await store.audit(ID)).entries,
        "keys": {key: await store.sent_key(ID, key) for key in [*keys, "never sent"]},
    }


class Folder:
    """A file store that is closed and opened again, or left as a killed process leaves it."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._copies = 0
        self.store = self._opened()

    def _opened(self) -> FileStore:
        return FileStore(self._path, now=lambda: AT, disk=UnsyncedDisk())

    async def reopen(self) -> None:
        await self.store.close()
        self.store = self._opened()

    def crash(self) -> None:
        self._copies += 1
        left = self._path.with_name(f"left-{self._copies}")
        shutil.copytree(self._path / "contexts", left / "contexts")
        abandon(self.store)
        shutil.rmtree(self._path)
        self._path = left
        self.store = self._opened()

    async def end(self) -> None:
        await self.store.close()
        shutil.rmtree(self._path)


async def run(path: Path, seed: int) -> int:
    """Gives how often the two were compared."""
    story, memory, folder, compared = RandomChanges(seed), MemoryStore(), Folder(path), 0
    version = await memory.create(first())
    assert await folder.store.create(first()) == version
    steps = story.random.randint(5, 30)
    for step in range(steps):
        change = story.change()
        committed = await folder.store.commit(ID, change, expected=version, fence=FENCE)
        version = await memory.commit(ID, change, expected=version, fence=FENCE)
        assert committed == version
        if story.chance(0.3):
            await folder.store.checkpoint(ID)
        if story.chance(0.15):
            await folder.reopen()
        if story.chance(0.15):
            folder.crash()
        if story.chance(0.3) or step == steps - 1:
            expected, actual = await everything(memory, story.keys), await everything(folder.store, story.keys)
            for what, value in expected.items():
                assert actual[what] == value, f"{what} after step {step} of seed {seed}"
            compared += 1
    await folder.end()
    return compared


@pytest.mark.seconds(900)
async def test_file_and_memory_store_agree_after_any_changes_and_crashes(
    tmp_path: Path, record_property: Record
) -> None:
    compared = 0
    for seed in range(SEQUENCES):
        compared += await run(tmp_path / str(seed) / "data", seed)
    record_property("figure", f"{SEQUENCES} random sequences, {compared} comparisons of the two stores")
    assert compared > SEQUENCES
