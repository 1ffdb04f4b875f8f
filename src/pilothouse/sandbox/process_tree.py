"""The processes below a process. The keeper imports this module, so it imports next to nothing."""

import os


def descendants(of: int) -> list[int]:
    found: list[int] = []
    todo = [of]
    while todo:
        parent = todo.pop()
        children = _children(parent)
        found += children
        todo += children
    return found


def _children(pid: int) -> list[int]:
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
