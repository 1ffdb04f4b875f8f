"""Figures about the window: the cost of a round for any length of the conversation, and of the decision to compress."""

import statistics
import time
from collections.abc import Callable
from pathlib import Path

from benchmarks.figures import Row, milliseconds
from pilothouse.domain.budgets import Budget
from pilothouse.domain.messages import Text
from pilothouse.domain.value import ContextId, MessageId
from pilothouse.llm.chat_completions import CHAT_COMPLETIONS
from pilothouse.llm.script import Answer, Script
from pilothouse.llm.scripted import ScriptedAdapter
from pilothouse.runtime.dependencies import RuntimeDependencies
from pilothouse.runtime.runtime import Runtime
from pilothouse.storage.files.store import FileStore
from pilothouse.system.ambient import SystemAmbient, timestamp
from pilothouse.testing.history import make_history
from pilothouse.tools.registry import Registry
from pilothouse.window.compression import plan_compression
from pilothouse.window.history import History
from pilothouse.window.tokens import Estimate

_SHORT, _LONG = 1_000, 100_000
_SIZE = 400  # a thousand of them exceed the trigger of a window of 128,000 tokens
_TURNS = 15


async def rounds(folder: Path) -> list[Row]:
    """Turns after the one that compressed; both windows then hold about the same."""
    short, long = [await _turns(folder / str(count), count) for count in (_SHORT, _LONG)]
    name = "one turn after 100,000 messages, compressed"
    return [
        Row(name=name, unit="ms", ours=long[1], floor=short[1], goal="<= 1.5 x the same after 1,000"),
        Row(
            name="the one that compresses them, from disk", unit="ms", ours=long[0], floor=short[0], goal="printed only"
        ),
    ]


async def _turns(folder: Path, count: int) -> tuple[float, float]:
    folder.mkdir()
    context_id = await make_history(folder / "data", folder, count, size=_SIZE)
    model = ScriptedAdapter(Script(turn=(Answer(text="Yes."),) * (_TURNS + 1), summary=(Answer(text="So far."),) * 50))
    ambient = SystemAmbient()
    store = FileStore(folder / "data", now=lambda: timestamp(ambient.now()))
    parts = RuntimeDependencies(store=store, adapter=model, model="scripted", registry=Registry([]), ambient=ambient)
    async with Runtime(parts) as runtime:
        first = await _turn(runtime, context_id)
        took = [await _turn(runtime, context_id) for _ in range(_TURNS)]
    return first, statistics.median(took)


async def _turn(runtime: Runtime, context_id: ContextId) -> float:
    began = time.perf_counter()
    await runtime.messages.send(context_id, "And now?")
    await runtime.turns.rested(context_id)
    return milliseconds(began)


async def deciding(folder: Path) -> list[Row]:  # noqa: ARG001
    """The check whether a request fits runs in every round, the plan only when it does not."""
    short, long = (_history(count) for count in (_SHORT, _LONG))
    medians = [_median(lambda: history.tokens, 1000) for history in (short, long)]  # noqa: B023
    planned = [_median(lambda: _planned(history), 1) for history in (short, long)]  # noqa: B023
    return [
        Row(name="does it fit: 100,000 messages, not compressed", unit="ms", ours=medians[1], floor=medians[0],
            goal="<= 1.5 x the same with 1,000"),
        Row(name="what would go: 100,000 messages", unit="ms", ours=planned[1], floor=planned[0], goal="printed only"),
    ]  # fmt: skip


def _history(count: int) -> History:
    history = History(CHAT_COMPLETIONS, Estimate(), with_tools=True)
    history.extend(
        Text(id=MessageId(str(number)), timestamp="", role="user", content="x" * _SIZE) for number in range(count)
    )
    return history


def _planned(history: History) -> object:
    return plan_compression(history.blocks(), history.length, Budget(), total=history.tokens)


def _median(work: Callable[[], object], times: int) -> float:
    took = []
    for _ in range(9):
        began = time.perf_counter()
        for _ in range(times):
            work()
        took.append(milliseconds(began) / times)
    return statistics.median(took)
