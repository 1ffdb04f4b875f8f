"""A figure about the overview of a workspace: a tree of 100,000 files, beside a bare look at as many entries."""

import os
import statistics
import time
from collections import deque
from pathlib import Path

from benchmarks.figures import Row, milliseconds
from pilothouse.domain.budgets import OverviewSettings
from pilothouse.sandbox.workspace import Workspace
from pilothouse.tools.overview import MAX_ENTRIES_SCANNED, describe_workspace

_FOLDERS, _FILES = 1000, 100


async def workspace_overview(folder: Path) -> Row:
    """The whole text within its tokens, beside os.scandir over as many entries of the same tree, breadth first."""
    root = _tree(folder / "tree")
    workspace, settings = Workspace(root), OverviewSettings()
    ours, floor = [], []
    for _ in range(9):
        began = time.perf_counter()
        describe_workspace(workspace, settings, lambda text: len(text) // 4)
        ours.append(milliseconds(began))
        began = time.perf_counter()
        _scan(root)
        floor.append(milliseconds(began))
    return Row(
        name="the overview of 100,000 files",
        unit="ms",
        ours=statistics.median(ours),
        floor=statistics.median(floor),
        goal="<= 0.5 s",
    )


def _scan(root: Path) -> None:
    left, todo = MAX_ENTRIES_SCANNED, deque([str(root)])
    while todo and left > 0:
        with os.scandir(todo.popleft()) as entries:
            for entry in entries:
                left -= 1
                if entry.is_dir(follow_symlinks=False):
                    todo.append(entry.path)


def _tree(root: Path) -> Path:
    for number in range(_FOLDERS):
        inner = root / f"package{number % 20}" / f"module{number % 100}" / f"part{number}"
        inner.mkdir(parents=True)
        for each in range(_FILES):
            os.mknod(inner / f"file{each}.{('py', 'md', 'ts')[each % 3]}")
    (root / ".gitignore").write_text("*.log\n*.pyc\n__pycache__/\nbuild/\n/dist/\n.env\n")
    return root
