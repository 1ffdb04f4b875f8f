"""The cost of a round does not grow with the history: counted in operations, so that no clock decides.

Once a history has been read, a round encodes, counts and reads what is new; the check whether it fits reads no
message, and after a compression only the remaining messages are read again.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest

from pilothouse.domain.branches import MAIN, Branch
from pilothouse.domain.budgets import Budget
from pilothouse.domain.contexts import Change, ContextCore
from pilothouse.domain.messages import Message, Metadata, Text
from pilothouse.domain.value import ContextId, MessageId
from pilothouse.llm.base import ModelMessage
from pilothouse.llm.chat_completions import ChatCompletions
from pilothouse.llm.script import Answer, Script
from pilothouse.llm.scripted import ScriptedAdapter
from pilothouse.runtime.compression.branch import due_plan
from pilothouse.runtime.request.builder import count_tokens, make_outline
from pilothouse.storage.memory import MemoryStore
from pilothouse.testing.world import World
from pilothouse.window.tokens import Estimate
from tests.support.full_windows import look_calls
from tests.support.held_store import DONE
from tests.support.live_contexts import live_context
from tests.support.scale import Record

AT = "2026-01-01T00:00:00.000Z"
LONG = ContextId("long")
SIZES = (1_000, 100_000)


class Work(Counter[str]):
    """How often something was done, and with how much."""

    def note(self, what: str, size: int) -> None:
        self[what] += 1
        self[f"{what}: size"] += size

    @contextmanager
    def counting(self) -> Iterator["Work"]:
        """Count only the work done within the block."""
        self.clear()
        yield self


class Store(MemoryStore):
    def __init__(self, work: Work) -> None:
        super().__init__()
        self._work = work

    async def messages(self, context_id: ContextId, ids: Sequence[MessageId]) -> list[Message]:
        self._work.note("messages read", len(ids))
        return await super().messages(context_id, ids)

    async def branch_ids(
        self, context_id: ContextId, branch: str, start: int = 0, stop: int | None = None
    ) -> list[MessageId]:
        ids = await super().branch_ids(context_id, branch, start, stop)
        self._work.note("ids read", len(ids))
        return ids

    async def commit(self, context_id: ContextId, change: Change, *, expected: int, fence: int) -> int:
        size = len(change.messages) + sum(map(len, change.appended.values())) + len(change.branches)
        self._work.note("commits", size)
        return await super().commit(context_id, change, expected=expected, fence=fence)


class CountedFormat(ChatCompletions):
    def __init__(self, work: Work) -> None:
        self._work = work

    def encode(self, message: ModelMessage) -> bytes:
        encoded = super().encode(message)
        self._work.note("messages encoded", len(encoded))
        return encoded


class Model(ScriptedAdapter):
    def __init__(self, work: Work, *answers: Answer) -> None:
        super().__init__(Script(turn=answers, summary=(Answer(text="In short."),) * 5), CountedFormat(work))


@pytest.fixture
def work(monkeypatch: pytest.MonkeyPatch) -> Work:
    counts = Work()
    plain = Estimate.count

    def counted(self: Estimate, text: str) -> int:
        counts.note("texts counted", len(text))
        return plain(self, text)

    monkeypatch.setattr(Estimate, "count", counted)
    return counts


async def long_world(work: Work, folder: Path, length: int, *answers: Answer, budget: Budget | None = None) -> World:
    """A world in which one context has so many messages, all of one size, with their counts as they are kept."""
    store = Store(work)
    core = ContextCore(
        context_id=LONG, created_at=AT, updated_at=AT, mode="agent", workspace=str(folder), title="a long one"
    )
    main = Branch(name=MAIN, key="key", created_at=AT)
    messages = tuple(
        Text(
            id=MessageId(f"{number:032}"),
            timestamp=AT,
            role="assistant" if number % 2 else "user",
            content=f"{number:08} and some words",
            metadata=Metadata(tokens=12, counter="estimate"),
        )
        for number in range(length)
    )
    ids = tuple(message.id for message in messages)
    await store.create(Change(core=core, messages=messages, branches={MAIN: main}, appended={MAIN: ids}))
    model = Model(work, *answers)
    world = World(folder, store=store, adapter=model, budget=budget or Budget(tokens=10**9))
    world.model = model
    return world


def same_but_for_digits(works: Sequence[Work]) -> bool:
    """Counts are equal; sizes may differ by the digits of stored numbers (such as lengths)."""
    first, last = works
    return first.keys() == last.keys() and all(
        abs(first[name] - last[name]) <= (40 if name.endswith("size") else 0) for name in first
    )


@pytest.mark.seconds(300)
async def test_a_turn_encodes_counts_and_reads_the_same_after_1_000_and_100_000_messages(
    tmp_path: Path, work: Work, record_property: Record
) -> None:
    works, cold = [], []
    for length in SIZES:
        world = await long_world(work, tmp_path, length, DONE, look_calls("a"), look_calls("b"), DONE)
        with work.counting():
            await world.turn(LONG)
            cold.append(Work(work))
        with work.counting():
            await world.turn(LONG)
            works.append(Work(work))
        assert len(world.model.requests[-1].messages) > length, "nothing was left out"
    record_property("figure", f"a turn of 3 rounds after {SIZES[-1]} messages: {dict(works[-1])}")
    assert same_but_for_digits(works), works
    assert works[0]["messages encoded"] < 20
    assert works[0]["messages read: size"] < 20
    assert works[0]["ids read: size"] < 20
    assert [each["messages read: size"] >= length for each, length in zip(cold, SIZES, strict=True)] == [True, True]
    assert cold[-1]["texts counted"] < 100, "what is counted already is not counted again, also not by the first"


@pytest.mark.seconds(300)
async def test_the_check_whether_a_request_fits_reads_no_message(tmp_path: Path, work: Work) -> None:
    for length in SIZES:
        world = await long_world(work, tmp_path, length, DONE)
        await world.turn(LONG)
        live = await live_context(world.runtime, LONG)
        prompt = await make_outline(live, MAIN)
        model = live.model()
        history = await live.history_cache.history(live, MAIN, model, with_tools=prompt.has_tools)
        first = count_tokens(live, prompt, history, model).total
        with work.counting():
            total = count_tokens(live, prompt, history, model).total
            assert await due_plan(live, MAIN, history, total, model) is None
        assert total == first > 12 * length
        assert set(work) <= {"texts counted", "texts counted: size"}
        assert work["texts counted: size"] < 100, "only what is put at the end of a request"
        with work.counting():
            await world.runtime.window.meter(LONG)
        assert "messages encoded" not in work
        assert "messages read" not in work


@pytest.mark.seconds(300)
async def test_after_a_compression_a_turn_costs_the_same_however_long_it_was(tmp_path: Path, work: Work) -> None:
    works, again = [], []
    for length in SIZES:
        world = await long_world(work, tmp_path, length, DONE, look_calls("a"), DONE, look_calls("a"), DONE)
        await world.turn(LONG)
        await world.runtime.compression.compress(LONG)
        with work.counting():
            await world.turn(LONG)
            works.append(Work(work))
        with work.counting():
            await world.turn(LONG)
            again.append(Work(work))
        assert len(world.model.requests[-1].messages) < 40
    assert same_but_for_digits(works), works
    assert same_but_for_digits(again), again
    assert works[0]["messages read: size"] < 60
    assert again[0]["messages read: size"] < 20


@pytest.mark.seconds(300)
async def test_a_compression_reads_each_summarized_message_once(tmp_path: Path, work: Work) -> None:
    length = 20_000
    world = await long_world(work, tmp_path, length, DONE, DONE, budget=Budget(tokens=12 * length))
    with work.counting():
        await world.turn(LONG)
    assert "main-original" in (await world.runtime.contexts.get(LONG)).branches
    remaining = (await world.runtime.contexts.get(LONG)).branches[MAIN].length
    assert work["messages read: size"] < 2 * length + remaining + 20, (
        "for the window, for the summary, and what was kept"
    )
    assert work["commits"] <= 5


async def test_opening_a_compressed_context_reads_no_old_message(tmp_path: Path, work: Work) -> None:
    world = await long_world(work, tmp_path, 5_000, DONE, DONE)
    await world.turn(LONG)
    await world.runtime.compression.compress(LONG)
    again = World(tmp_path, DONE, store=world.dependencies.store, budget=Budget(tokens=10**9), ids_from=10**6)
    with work.counting():
        await again.turn(LONG)
    assert work["messages read: size"] < 40
    assert work["ids read: size"] < 40
