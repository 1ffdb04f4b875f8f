"""Figures about steering: the cost of a decision, a merge, a listing and a sub-agent, compared with the minimum."""

import statistics
import time
from pathlib import Path

from benchmarks.figures import Row, milliseconds
from pilothouse.domain.decisions import CallFacts, FolderMode, PolicySnapshot, decide
from pilothouse.domain.modes import Modes
from pilothouse.domain.policies import Policy
from pilothouse.domain.rules import Origin, Rule, RuleId, Scope
from pilothouse.llm.script import Answer, ScriptedCall
from pilothouse.storage.files.store import FileStore
from pilothouse.testing.history import make_history
from pilothouse.testing.world import World
from pilothouse.tools.builtin.delegate import Delegate


async def decision(folder: Path) -> Row:  # noqa: ARG001
    """With 50 rules, 5 folders and a policy, each for itself and two ancestors, beside a mode alone."""
    modes = Modes()
    rules = tuple(
        Rule(id=RuleId(str(number)), effect="ask", scope=Scope(folder=f"folder{number}"), origin=Origin(by="me"))
        for number in range(50)
    )
    folders = tuple(FolderMode(folder=f"deploy{number}", mode=modes.named("plan")) for number in range(5))
    small = PolicySnapshot(
        mode=modes.named("agent"), rules=rules, folder_modes=folders, policies=(Policy(kind="limited_auto"),)
    )
    full = PolicySnapshot(
        mode=small.mode, rules=rules, folder_modes=folders, policies=small.policies, ancestors=(small, small)
    )
    facts = CallFacts(tool="write_file", effect="mutating", digest="d", fingerprint="f", touches=("docs/a.md",))
    ours, floor = _microseconds(facts, full), _microseconds(facts, PolicySnapshot(mode=small.mode))
    return Row(name="a decision with 150 rules, 15 folders", unit="us", ours=ours, floor=floor, goal="<= 1 ms")


def _microseconds(facts: CallFacts, standing: PolicySnapshot) -> float:
    took = []
    for _ in range(20):
        began = time.perf_counter()
        for _ in range(100):
            decide(facts, standing)
        took.append((time.perf_counter() - began) * 10_000)
    return statistics.median(took)


async def listing(folder: Path) -> Row:
    """The first page of 1,000 conversations that are not in memory, beside reading their metadata."""
    setup = World(folder, store=_store(folder))
    for _ in range(1000):
        await setup.start()
    await setup.runtime.close()
    world = World(folder, store=_store(folder))
    ours, floor = [], []
    for _ in range(5):
        began = time.perf_counter()
        await world.runtime.contexts.list(limit=50)
        ours.append(milliseconds(began))
        began = time.perf_counter()
        for path in (folder / "data/contexts").iterdir():
            (path / "metadata.json").read_bytes()
        floor.append(milliseconds(began))
    await world.runtime.close()
    return Row(
        name="the first page of 1,000 contexts, cold",
        unit="ms",
        ours=statistics.median(ours),
        floor=statistics.median(floor),
        goal="<= 0.3 s",
    )


async def merging(folder: Path) -> Row:
    """1,000 messages into a branch of 10,000, in one commit, beside reading those messages."""
    context_id = await make_history(folder / "data", folder, 11_000)
    world = World(folder, store=_store(folder), ids_from=10**9)
    ids = await world.dependencies.store.branch_ids(context_id, "main", 0, 10_000)
    await world.runtime.branches.fork(context_id, "target", at=ids[-1])
    began = time.perf_counter()
    done = await world.runtime.merges.merge(context_id, "main", target="target", strategy="rebase")
    ours = milliseconds(began)
    assert done.merged == 1000
    pool = folder / "data/contexts" / context_id / "messages_pool"
    began = time.perf_counter()
    for message_id in done.message_ids:
        (pool / f"{message_id}.json").read_bytes()
    floor = milliseconds(began)
    await world.runtime.close()
    return Row(name="merge of 1,000 messages into 10,000", unit="ms", ours=ours, floor=floor, goal="<= 0.5 s")


async def delegation(folder: Path) -> Row:
    """A task for a sub-agent, with all its commits, compared with its two turns."""
    delegates = Answer(calls=(ScriptedCall(tool="delegate", arguments={"task": "x"}),))
    count = 30
    answers = [answer for _ in range(count) for answer in (delegates, Answer(text="in"), Answer(text="out"))]
    plain = [Answer(text="x")] * 2 * count
    ours, floor = [], []
    world = World(folder, *answers, store=_store(folder), tools=[Delegate()])
    other = World(folder, *plain, store=FileStore(folder / "other", now=lambda: ""))
    for _ in range(count):
        context_id = await world.start()
        began = time.perf_counter()
        await world.turn(context_id)
        ours.append(milliseconds(began))
        first, second = await other.start(), await other.start()
        began = time.perf_counter()
        await other.turn(first)
        await other.turn(second)
        floor.append(milliseconds(began))
    await world.runtime.close()
    await other.runtime.close()
    return Row(
        name="one task for a sub-agent, durable",
        unit="ms",
        ours=statistics.median(ours),
        floor=statistics.median(floor),
        goal="<= 3 x two plain turns",
    )


def _store(folder: Path) -> FileStore:
    return FileStore(folder / "data", now=lambda: "")
