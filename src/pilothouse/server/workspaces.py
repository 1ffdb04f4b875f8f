"""The workspace routes: trust in the folder's own configuration, file search, undo, and complete outputs of calls.

Trust in a folder applies to the whole machine, not to one user, so only the local user can change it.
"""

from typing import Annotated

from msgspec import Meta
from starlette.responses import FileResponse, Response

from pilothouse.domain.trust import FolderTrust
from pilothouse.domain.value import Value
from pilothouse.i18n import translate_all
from pilothouse.runtime.commands.workspaces import FoundFiles
from pilothouse.server.queries import Limit
from pilothouse.server.state import RequestContext


class TrustBody(Value):
    digest: Annotated[str, Meta(max_length=64)]
    """The digest of the configuration that the person has read."""


class FilesQuery(Value):
    query: Annotated[str, Meta(max_length=200)] = ""
    """Letters of the path, in their order. An empty query lists the files nearest to the root."""
    limit: Limit = 20


class UndoneView(Value, omit_defaults=False):
    paths: tuple[str, ...]
    """The restored files."""
    left: str | None = None
    """The changes that could not be undone and why, in the user's language; null if all were."""


async def trust(request: RequestContext, context_id: str) -> FolderTrust:
    await request.own(context_id)
    return await request.runtime.workspaces.trust_status(context_id)


async def give_trust(request: RequestContext, context_id: str, body: TrustBody) -> FolderTrust:
    await request.own(context_id)
    request.check_is_local()
    return await request.runtime.workspaces.trust(context_id, body.digest, by=request.user)


async def take_trust(request: RequestContext, context_id: str) -> FolderTrust:
    await request.own(context_id)
    request.check_is_local()
    return await request.runtime.workspaces.distrust(context_id, by=request.user)


async def files(request: RequestContext, context_id: str, query: FilesQuery) -> FoundFiles:
    return await request.runtime.workspaces.find_files(context_id, query.query, query.limit)


async def undo(request: RequestContext, context_id: str) -> UndoneView:
    await request.own(context_id)
    undone = await request.runtime.workspaces.undo(context_id, by=request.user)
    return UndoneView(undone.paths, translate_all(undone.left, request.language) or None)


async def output(request: RequestContext, context_id: str, call_id: str) -> Response:
    await request.own(context_id)
    path = await request.runtime.calls.output(context_id, call_id)
    # Plain text without content sniffing: a browser must not run HTML from a tool's output.
    return FileResponse(path, media_type="text/plain; charset=utf-8", headers={"X-Content-Type-Options": "nosniff"})
