"""Finding files by some letters of their path, for a person who names one: what there is, and what fits best."""

import asyncio
import contextlib
import heapq
import re
from collections.abc import Callable, Sequence
from typing import NamedTuple

from pilothouse.sandbox.walking import ENTRIES_AT_MOST, Entry, Walk
from pilothouse.sandbox.workspace import Workspace
from pilothouse.tools import kinds
from pilothouse.tools.threads import until_cancelled

_SECONDS_AT_MOST, _SECONDS_FRESH = 2.0, 3.0
_LETTERS_AT_MOST = 20_000_000  # of all paths together: they are kept, and folders may lie deep


class Found(NamedTuple):
    path: str
    is_folder: bool


class Listing(NamedTuple):
    """What a workspace holds, nearest to its root first. `is_cut`: there is more than was looked at."""

    entries: Sequence[Found]
    is_cut: bool


class Finder:
    """Keeps the last listing for some seconds: who types asks with every letter. One looks, the others wait for it."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._lock = asyncio.Lock()
        self._root = ""
        self._until = 0.0
        self._listing = Listing((), False)

    async def listing(self, workspace: Workspace) -> Listing:
        """Raises: ToolError for a workspace that cannot be looked at."""
        clock = self._clock
        async with self._lock:
            if self._root != str(workspace.root) or clock() > self._until:
                end = clock() + _SECONDS_AT_MOST
                self._listing = await until_cancelled(
                    lambda stopped: list_workspace(workspace, lambda: stopped() or clock() > end)
                )
                self._root, self._until = str(workspace.root), clock() + _SECONDS_FRESH
            return self._listing


def list_workspace(workspace: Workspace, stopped: Callable[[], bool]) -> Listing:
    """Without what ignore files leave out, what is nobody's own work, and what no tool may touch. Raises: ToolError."""
    with workspace.directory(".") as fd:
        walk = Walk(workspace, fd, str(workspace.root), ())
        entries, letters = [], 0
        with contextlib.closing(walk.nearest(ENTRIES_AT_MOST, kinds.NOT_OWN, stopped)) as walked:
            for entry in walked:
                letters += len(entry.path)
                if letters > _LETTERS_AT_MOST:
                    break
                if (found := _found(entry, workspace)) is not None:
                    entries.append(found)
    return Listing(entries, walk.cut or letters > _LETTERS_AT_MOST or stopped())


def _found(entry: Entry, workspace: Workspace) -> Found | None:
    """None for what cannot be named in a message: a name that is no UTF-8, a link that leads out or to nothing."""
    try:
        if not entry.path.isascii():
            entry.path.encode()
        if entry.kind != "link":
            return Found(entry.path, entry.kind == "folder") if entry.kind != "other" else None
        if workspace.limit(entry.path) is not None:
            return None
        is_folder = entry.place.is_dir()
        return Found(entry.path, is_folder) if is_folder or entry.place.is_file() else None
    except (UnicodeEncodeError, OSError):
        return None


def best(listing: Listing, query: str, limit: int) -> list[Found]:
    """Those that fit, best first: the name begins with it, has it inside, the path has it, its letters come in this
    order. Of those that fit alike the shorter path, then the nearer one. Without a query, the nearest."""
    if not query:
        return list(listing.entries[:limit])
    wanted = query.lower()
    # Up to the next letter wanted, whatever stands between: each character is looked at once.
    in_order = re.compile("".join(f"[^{re.escape(each)}]*+{re.escape(each)}" for each in wanted), re.DOTALL).match
    ranked = (
        (tier, len(found.path), number)
        for number, found in enumerate(listing.entries)
        if (tier := _tier(found, wanted, in_order)) is not None
    )
    return [listing.entries[number] for _, _, number in heapq.nsmallest(limit, ranked)]


def _tier(found: Found, wanted: str, in_order: Callable[[str], object]) -> int | None:
    path = f"{found.path.lower()}/" if found.is_folder else found.path.lower()
    if not in_order(path):
        return None
    if wanted not in path:
        return 3
    name = path[path.rfind("/", 0, -1) + 1 :]
    return 0 if name.startswith(wanted) else 1 if wanted in name else 2
