"""The processes below a process. The keeper imports this module, so it imports next to nothing."""

import os
import sys


def descendants(of: int, at_most: int = sys.maxsize) -> list[int]:
    """All processes below one, whether they run or have ended; of more than `at_most`, only that many."""
    found: list[int] = []
    todo = [of]
    while todo and len(found) < at_most:
        parent = todo.pop()
        below = children(parent)
        found += below
        todo += below
    return found[:at_most]


def children(pid: int) -> list[int]:
    try:
        tasks = os.listdir(f"/proc/{pid}/task")
    except OSError:
        return []
    found: list[int] = []
    for task in tasks:
        try:
            with open(f"/proc/{pid}/task/{task}/children", "rb") as file:
                found += map(int, file.read().split())
        except OSError:
            continue
    return found
