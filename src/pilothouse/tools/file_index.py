"""The index of a workspace's files, for a person who types a part of a path: the listing, and the best matches."""

import asyncio
import contextlib
import heapq
import re
import threading
from collections import OrderedDict
from collections.abc import Callable, Sequence
from typing import NamedTuple

from pilothouse.sandbox.file_names import escape
from pilothouse.sandbox.walk import MAX_WALK_ENTRIES, Entry, Walk
from pilothouse.sandbox.workspace import Workspace
from pilothouse.tools import file_types

MAX_LISTINGS = 16
_MAX_WALK_SECONDS = 2.0
_LISTING_LIFETIME_SECONDS = 3.0
_MAX_TOTAL_CHARACTERS = 20_000_000  # of all paths together: listings stay in memory, and folders may be deep


_Key = tuple[str, tuple[str, ...]]  # the root of a workspace, and the folders closed to it


class FileMatch(NamedTuple):
    path: str
    is_folder: bool


class Listing(NamedTuple):
    """The files and folders of a workspace, nearest to its root first."""

    entries: Sequence[FileMatch]
    is_cut: bool
    """Whether a limit ended the walk early."""


class _Walk:
    """A walk through a workspace, and the number of requests that wait for it. The last request to leave ends the
    walk."""

    def __init__(self, workspace: Workspace, clock: Callable[[], float]) -> None:
        end = clock() + _MAX_WALK_SECONDS
        self._is_abandoned = threading.Event()
        self._waiters = 0
        loop = asyncio.get_running_loop()
        self._result = loop.run_in_executor(
            None, list_workspace, workspace, lambda: self._is_abandoned.is_set() or clock() > end
        )
        self._result.add_done_callback(lambda result: result.cancelled() or result.exception())

    async def wait(self) -> Listing:
        """Raises: ToolError."""
        self._waiters += 1
        try:
            return await asyncio.shield(self._result)
        finally:
            self._waiters -= 1
            if self._waiters == 0:
                self._is_abandoned.set()

    @property
    def can_be_joined(self) -> bool:
        return not self._is_abandoned.is_set()


class FileIndex:
    """Caches the listing of each workspace for some seconds, because typing sends a request with every letter. Requests
    for the same workspace share one walk; requests of different users do not wait for each other."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._listings: OrderedDict[_Key, tuple[float, Listing]] = OrderedDict()
        self._walks: dict[_Key, _Walk] = {}

    async def listing(self, workspace: Workspace) -> Listing:
        """Raises: ToolError for a workspace that cannot be read."""
        key = (str(workspace.root), workspace.closed_folders())
        self._drop_expired()
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
        self._listings[key] = (self._clock() + _LISTING_LIFETIME_SECONDS, listing)
        self._listings.move_to_end(key)
        return listing

    def _drop_expired(self) -> None:
        now = self._clock()
        for key in [key for key, (until, _) in self._listings.items() if now > until]:
            del self._listings[key]
        while len(self._listings) > MAX_LISTINGS:
            self._listings.popitem(last=False)


def list_workspace(workspace: Workspace, stopped: Callable[[], bool]) -> Listing:
    """The listing without ignored files, generated folders, and paths that no tool may touch. Raises: ToolError."""
    with workspace.directory(".") as fd:
        walk = Walk(workspace, fd, str(workspace.root), ())
        entries, characters = [], 0
        with contextlib.closing(walk.nearest(MAX_WALK_ENTRIES, file_types.GENERATED_NAMES, stopped)) as walk_entries:
            for entry in walk_entries:
                characters += len(entry.path)
                if characters > _MAX_TOTAL_CHARACTERS:
                    break
                if (match := _match_for(entry, workspace)) is not None:
                    entries.append(match)
    return Listing(entries, walk.cut or characters > _MAX_TOTAL_CHARACTERS or stopped())


def _match_for(entry: Entry, workspace: Workspace) -> FileMatch | None:
    """The match of an entry; None for an entry that no message can name: a link that leads outside or nowhere."""
    path = escape(entry.path)
    try:
        if entry.kind != "link":
            return FileMatch(path, entry.kind == "folder") if entry.kind != "other" else None
        if workspace.violation(path) is not None:
            return None
        is_folder = entry.dir_entry.is_dir()
        return FileMatch(path, is_folder) if is_folder or entry.dir_entry.is_file() else None
    except OSError:
        return None


def best_matches(listing: Listing, query: str, limit: int) -> list[FileMatch]:
    """The best matches first: the name begins with the query, contains it, the path contains it, or its letters occur
    in order. Among equal matches the shorter path wins, then the nearer one. Without a query, the nearest entries."""
    if not query:
        return list(listing.entries[:limit])
    needle = query.lower()
    # Possessive: skips to the next letter of the query, and inspects each character once.
    in_order = re.compile("".join(f"[^{re.escape(letter)}]*+{re.escape(letter)}" for letter in needle), re.DOTALL).match
    ranked = (
        (tier, len(entry.path), number)
        for number, entry in enumerate(listing.entries)
        if (tier := _tier(entry, needle, in_order)) is not None
    )
    return [listing.entries[number] for _, _, number in heapq.nsmallest(limit, ranked)]


def _tier(entry: FileMatch, needle: str, in_order: Callable[[str], object]) -> int | None:
    path = f"{entry.path.lower()}/" if entry.is_folder else entry.path.lower()
    if not in_order(path):
        return None
    if needle not in path:
        return 3
    name = path[path.rfind("/", 0, -1) + 1 :]
    return 0 if name.startswith(needle) else 1 if needle in name else 2
