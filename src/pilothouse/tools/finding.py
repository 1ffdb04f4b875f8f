"""Finding files by some letters of their path, for a person who names one: what there is, and what fits best."""

import asyncio
import contextlib
import heapq
import re
import threading
from collections import OrderedDict
from collections.abc import Callable, Sequence
from typing import NamedTuple

from pilothouse.sandbox.file_names import escape
from pilothouse.sandbox.walking import ENTRIES_AT_MOST, Entry, Walk
from pilothouse.sandbox.workspace import Workspace
from pilothouse.tools import kinds

MAX_LISTINGS = 16
_SECONDS_AT_MOST, _SECONDS_FRESH = 2.0, 3.0
_LETTERS_AT_MOST = 20_000_000  # of all paths together: they are kept, and folders may lie deep


_Key = tuple[str, tuple[str, ...]]  # a workspace, and what is closed to it


class Found(NamedTuple):
    path: str
    is_folder: bool


class Listing(NamedTuple):
    """What a workspace holds, nearest to its root first. `is_cut`: there is more than was looked at."""

    entries: Sequence[Found]
    is_cut: bool


class _Walk:
    """One walk through a workspace, and how many requests wait for it. The last one that leaves ends the walk."""

    def __init__(self, workspace: Workspace, clock: Callable[[], float]) -> None:
        end = clock() + _SECONDS_AT_MOST
        self._is_unwanted = threading.Event()
        self._waiting = 0
        loop = asyncio.get_running_loop()
        self._result = loop.run_in_executor(
            None, list_workspace, workspace, lambda: self._is_unwanted.is_set() or clock() > end
        )
        self._result.add_done_callback(lambda result: result.cancelled() or result.exception())

    async def wait(self) -> Listing:
        """Raises: ToolError."""
        self._waiting += 1
        try:
            return await asyncio.shield(self._result)
        finally:
            self._waiting -= 1
            if self._waiting == 0:
                self._is_unwanted.set()

    @property
    def can_be_joined(self) -> bool:
        return not self._is_unwanted.is_set()


class Finder:
    """Keeps the listing of each workspace for some seconds: who types asks with every letter. Requests for the same
    workspace share one walk; those of different users do not wait for each other."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._listings: OrderedDict[_Key, tuple[float, Listing]] = OrderedDict()
        self._walks: dict[_Key, _Walk] = {}

    async def listing(self, workspace: Workspace) -> Listing:
        """Raises: ToolError for a workspace that cannot be looked at."""
        key = (str(workspace.root), workspace.closed())
        self._forget_old()
        if key in self._listings:
            return self._listings[key][1]
        walk = self._walks.get(key)
        if walk is None or not walk.can_be_joined:
            walk = self._walks[key] = _Walk(workspace, self._clock)
        try:
            listing = await walk.wait()
        finally:
            if self._walks.get(key) is walk and not walk.can_be_joined:
                del self._walks[key]
        self._listings[key] = (self._clock() + _SECONDS_FRESH, listing)
        self._listings.move_to_end(key)
        return listing

    def _forget_old(self) -> None:
        now = self._clock()
        for key in [key for key, (until, _) in self._listings.items() if now > until]:
            del self._listings[key]
        while len(self._listings) > MAX_LISTINGS:
            self._listings.popitem(last=False)


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
    """None for what cannot be named in a message: a link that leads out or to nothing."""
    path = escape(entry.path)
    try:
        if entry.kind != "link":
            return Found(path, entry.kind == "folder") if entry.kind != "other" else None
        if workspace.limit(path) is not None:
            return None
        is_folder = entry.place.is_dir()
        return Found(path, is_folder) if is_folder or entry.place.is_file() else None
    except OSError:
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
