"""Where the branches of a context depart from its active one."""

from pilothouse.domain.branches import Branch
from pilothouse.domain.errors import NotFound
from pilothouse.domain.forks import BranchFork, fork_between
from pilothouse.domain.values import MessageId
from pilothouse.runtime.live import Live


async def read_forks(live: Live) -> dict[str, BranchFork]:
    """The forks by the names of the branches. Lists only grow under their key, so each fork is looked for once."""
    branches = dict(live.branches)
    active = branches[live.core.active_branch]
    others = [branch for branch in branches.values() if branch.original_of is None and branch is not active]
    forks: dict[str, BranchFork] = {}
    ids: list[MessageId] | None = None
    for branch in others:
        keys = (active.key, branch.key)
        if keys not in live.forks:
            ids = await _read_ids(live, active) if ids is None else ids
            is_compressed = active.compressed is not None or branch.compressed is not None
            fork = fork_between(ids, await _read_ids(live, branch), is_compressed=is_compressed)
            if fork is None:
                continue
            live.forks[keys] = fork
        forks[branch.name] = live.forks[keys]
    return forks


async def _read_ids(live: Live, branch: Branch) -> list[MessageId]:
    """Nothing for a branch that was deleted or compressed meanwhile: the next signal tells."""
    try:
        ids = await live.parts.store.branch_ids(live.id, branch.name, 0, branch.length)
    except NotFound:
        return []
    present = live.branches.get(branch.name)
    return ids if present is not None and present.key == branch.key else []
