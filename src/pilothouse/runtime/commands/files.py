"""Fuzzy search for files of a context's workspace, for a person who wants to refer to one."""

import asyncio
import os

from pilothouse.domain.codes import Code
from pilothouse.domain.errors import InvalidInput, ToolError
from pilothouse.domain.value import Value
from pilothouse.runtime.context.live_context import LiveContext
from pilothouse.runtime.pool import ContextPool
from pilothouse.tools.artifacts import UPLOADS
from pilothouse.tools.file_index import FileMatch, Listing, best_matches


class FoundFile(Value, omit_defaults=False):
    path: str
    """Relative to the workspace."""
    is_folder: bool


class FoundFiles(Value, omit_defaults=False):
    items: tuple[FoundFile, ...]
    """Best match first."""
    is_cut: bool
    """Whether the workspace holds more files than the index."""


async def find_files(pool: ContextPool, context_id: str, query: str = "", limit: int = 20) -> FoundFiles:
    """The files that match a query. Raises: NotFound, InvalidInput for a workspace that cannot be read."""
    live = await pool.find(context_id)
    try:
        listing = await pool.file_index.listing(live.workspace())
    except ToolError as error:
        raise InvalidInput(Code.INVALID_WORKSPACE, path=live.core.workspace) from error
    matches = await asyncio.to_thread(lambda: best_matches(_with_uploads(live, listing), query, limit))
    return FoundFiles(tuple(FoundFile(*match) for match in matches), listing.is_cut)


def _with_uploads(live: LiveContext, listing: Listing) -> Listing:
    """A listing with the conversation's uploads first. A copy, since all conversations of a workspace share the
    listing."""
    names = [f"{UPLOADS}/{upload.name}" for upload in live.uploads.all()] if live.uploads is not None else []
    root = live.workspace().root
    uploads = [FileMatch(path, is_folder=False) for path in names if not os.path.lexists(root / path)]
    return Listing([*uploads, *listing.entries], listing.is_cut) if uploads else listing
