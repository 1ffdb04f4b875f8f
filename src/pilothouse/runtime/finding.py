"""Files of a context's workspace, by some letters of their path: for a person who wants to name one."""

import asyncio
import os

from pilothouse.domain.codes import Code
from pilothouse.domain.errors import InvalidInput, ToolError
from pilothouse.domain.values import Value
from pilothouse.runtime.contexts import Contexts
from pilothouse.runtime.live import Live
from pilothouse.tools.artifacts import UPLOADS
from pilothouse.tools.finding import Found, Listing, best


class FoundFile(Value, omit_defaults=False):
    """`path` is below the workspace."""

    path: str
    is_folder: bool


class FoundFiles(Value, omit_defaults=False):
    """Best first. `is_cut`: the workspace holds more than could be looked at."""

    items: tuple[FoundFile, ...]
    is_cut: bool


async def find_files(contexts: Contexts, context_id: str, query: str = "", limit: int = 20) -> FoundFiles:
    """Raises: NotFound, InvalidInput for a workspace that cannot be looked at."""
    live = await contexts.find(context_id)
    try:
        listing = await contexts.finder.listing(live.workspace())
    except ToolError as error:
        raise InvalidInput(Code.INVALID_WORKSPACE, path=live.core.workspace) from error
    found = await asyncio.to_thread(lambda: best(_with_uploads(live, listing), query, limit))
    return FoundFiles(tuple(FoundFile(*each) for each in found), listing.is_cut)


def _with_uploads(live: Live, listing: Listing) -> Listing:
    """The conversation's uploads first: the listing of the workspace is shared by all of its conversations."""
    names = [f"{UPLOADS}/{upload.name}" for upload in live.uploads.all()] if live.uploads is not None else []
    root = live.workspace().root
    uploads = [Found(path, is_folder=False) for path in names if not os.path.lexists(root / path)]
    return Listing([*uploads, *listing.entries], listing.is_cut) if uploads else listing
