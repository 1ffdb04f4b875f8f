"""The processes below a process. The supervisor imports this module: imports here cost time with every command."""

import os
import sys


def descendants(pid: int, max_count: int = sys.maxsize) -> list[int]:
    """The processes below one, running or ended; at most `max_count` of them."""
    pids: list[int] = []
    parents = [pid]
    while parents and len(pids) < max_count:
        child_pids = children(parents.pop())
        pids += child_pids
        parents += child_pids
    return pids[:max_count]


def children(pid: int) -> list[int]:
    try:
        tasks = os.listdir(f"/proc/{pid}/task")
    except OSError:
        return []
    pids: list[int] = []
    for task in tasks:
        try:
            with open(f"/proc/{pid}/task/{task}/children", "rb") as file:
                pids += map(int, file.read().split())
        except OSError:
            continue
    return pids
