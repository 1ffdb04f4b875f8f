"""Where the branches of a context depart from its active one."""

from pilothouse.domain.branches import Branch
from pilothouse.domain.errors import NotFound
from pilothouse.domain.forks import BranchFork, fork_between
from pilothouse.domain.values import MessageId
from pilothouse.runtime.live import Live


async def read_forks(live: Live) -> dict[str, BranchFork]:
    """The forks by the names of the branches.

    Lists only grow under their key: a fork stays where it is, and a branch that is the beginning of the active one
    stays that until it grows itself. So each pair is compared once, however long the active branch becomes.
    """
    branches = dict(live.branches)
    active = branches[live.core.active_branch]
    others = [branch for branch in branches.values() if branch.original_of is None and branch is not active]
    forks: dict[str, BranchFork] = {}
    ids: list[MessageId] | None = None
    for branch in others:
        keys = (active.key, branch.key)
        known = live.forks.get(keys)
        if known is None or (isinstance(known, int) and known != branch.length):
            ids = await _read_ids(live, active) if ids is None else ids
            is_compressed = active.compressed is not None or branch.compressed is not None
            other = await _read_ids(live, branch)
            fork = fork_between(ids, other, is_compressed=is_compressed)
            is_beginning = fork is None and not is_compressed and branch.length == len(other) <= len(ids)
            known = fork or (branch.length if is_beginning else None)
            if known is not None:
                live.forks[keys] = known
        if isinstance(known, BranchFork):
            forks[branch.name] = known
    return forks


async def _read_ids(live: Live, branch: Branch) -> list[MessageId]:
    """Nothing for a branch that was deleted or compressed meanwhile: the next signal tells."""
    try:
        ids = await live.parts.store.branch_ids(live.id, branch.name, 0, branch.length)
    except NotFound:
        return []
    present = live.branches.get(branch.name)
    return ids if present is not None and present.key == branch.key else []
