"""A context's folder: trust in what it brings, its files by name, undoing what the agent changed, whole outputs.

Trust and servers are the machine's, not a user's: only its own user decides about them.
"""

from typing import Annotated

from msgspec import Meta
from starlette.responses import FileResponse, Response

from pilothouse.domain.codes import say_all
from pilothouse.domain.trust import FolderTrust
from pilothouse.domain.values import Value
from pilothouse.runtime.finding import FoundFiles
from pilothouse.server.inputs import Limit
from pilothouse.server.serving import Call


class Trusted(Value):
    """`digest` names what was shown."""

    digest: Annotated[str, Meta(max_length=64)]


class FilesQuery(Value):
    """`query` are some letters of the path, in their order. Without them, the nearest to the root."""

    query: Annotated[str, Meta(max_length=200)] = ""
    limit: Limit = 20


class UndoneShape(Value, omit_defaults=False):
    """The files that are again as they were; `left` says what could not be put back beside them."""

    paths: tuple[str, ...]
    left: str | None = None


async def trust(call: Call, context_id: str) -> FolderTrust:
    await call.own(context_id)
    return await call.runtime.folder_trust(context_id)


async def give_trust(call: Call, context_id: str, body: Trusted) -> FolderTrust:
    await call.own(context_id)
    call.check_is_local()
    return await call.runtime.trust_folder(context_id, body.digest, by=call.user)


async def take_trust(call: Call, context_id: str) -> FolderTrust:
    await call.own(context_id)
    call.check_is_local()
    return await call.runtime.distrust_folder(context_id, by=call.user)


async def files(call: Call, context_id: str, query: FilesQuery) -> FoundFiles:
    return await call.runtime.find_files(context_id, query.query, query.limit)


async def undo(call: Call, context_id: str) -> UndoneShape:
    await call.own(context_id)
    undone = await call.runtime.undo(context_id, by=call.user)
    return UndoneShape(undone.paths, say_all(undone.left, call.language) or None)


async def output(call: Call, context_id: str, call_id: str) -> Response:
    await call.own(context_id)
    path = await call.runtime.call_output(context_id, call_id)
    # Never shown as anything but text, whatever stands in it.
    return FileResponse(path, media_type="text/plain; charset=utf-8", headers={"X-Content-Type-Options": "nosniff"})
