"""The forks of a context: the positions at which branches depart from the active branch."""

from pilothouse.domain.branches import Branch
from pilothouse.domain.errors import NotFound
from pilothouse.domain.forks import BranchFork, fork_between
from pilothouse.domain.value import MessageId
from pilothouse.runtime.context.live_context import LiveContext


async def read_forks(live: LiveContext) -> dict[str, BranchFork]:
    """The forks, by the names of the branches.

    The list under a branch's key only grows: a fork keeps its position, and a branch that is the beginning of the
    active one stays so until the branch itself grows. Each pair is therefore compared once, however long the active
    branch becomes.
    """
    branches = dict(live.branches)
    active = branches[live.core.active_branch]
    others = [branch for branch in branches.values() if branch.original_of is None and branch is not active]
    forks: dict[str, BranchFork] = {}
    active_ids: list[MessageId] | None = None
    for branch in others:
        keys = (active.key, branch.key)
        cached = live.forks.get(keys)
        if cached is None or (isinstance(cached, int) and cached != branch.length):
            active_ids = await _read_ids(live, active) if active_ids is None else active_ids
            is_compressed = active.compressed is not None or branch.compressed is not None
            other_ids = await _read_ids(live, branch)
            fork = fork_between(active_ids, other_ids, is_compressed=is_compressed)
            is_beginning = fork is None and not is_compressed and branch.length == len(other_ids) <= len(active_ids)
            cached = fork or (branch.length if is_beginning else None)
            if cached is not None:
                live.forks[keys] = cached
        if isinstance(cached, BranchFork):
            forks[branch.name] = cached
    return forks


async def _read_ids(live: LiveContext, branch: Branch) -> list[MessageId]:
    """The ids of a branch; empty where the branch was deleted or compressed since, which a signal announces."""
    try:
        ids = await live.storage.branch_ids(branch.name, 0, branch.length)
    except NotFound:
        return []
    present = live.branches.get(branch.name)
    return ids if present is not None and present.key == branch.key else []
