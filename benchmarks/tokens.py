"""Figures about counting tokens: a megabyte of text, compared with encoding it for a request."""

import statistics
import time
from collections.abc import Callable
from pathlib import Path

from benchmarks.figures import Row, milliseconds
from benchmarks.systems import ROOT
from pilothouse.window.tokens import counter_for

_MEGABYTE = 1_000_000


async def counting(folder: Path) -> list[Row]:  # noqa: ARG001
    """Our own sources, counted by the tokenizer and by the estimate. A message is counted once, when it is new."""
    source = "".join(path.read_text() for path in sorted((ROOT / "src").rglob("*.py")))
    text = (source * (_MEGABYTE // len(source) + 1))[:_MEGABYTE]
    rows = []
    for tokenizer in ("o200k", "estimate"):
        counter = counter_for(tokenizer)
        counter.count("")
        ours, floor = _median(lambda: counter.count(text)), _median(lambda: len(text.encode()))  # noqa: B023
        name = f"counting 1 MB, {'estimated' if counter.is_estimate else counter.name}"
        rows.append(Row(name=name, unit="ms", ours=ours, floor=floor, goal="<= 100 ms"))
    return rows


def _median(work: Callable[[], int]) -> float:
    took = []
    for _ in range(15):
        began = time.perf_counter()
        work()
        took.append(milliseconds(began))
    return statistics.median(took)
