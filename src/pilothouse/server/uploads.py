"""The upload routes: add a file to a conversation, copy it into the workspace, and remove it."""

from typing import Annotated

from msgspec import Meta

from pilothouse.domain.value import Value
from pilothouse.runtime.commands.uploads import Upload, UploadCopy
from pilothouse.server.state import RequestContext


class UploadQuery(Value):
    name: Annotated[str, Meta(min_length=1, max_length=200)]


class CopyBody(Value):
    path: Annotated[str, Meta(min_length=1, max_length=4096)] | None = None
    """The target in the workspace; by default the upload's name, or a similar free one."""


async def upload(request: RequestContext, context_id: str, query: UploadQuery, body: bytes) -> Upload:
    return await request.runtime.uploads.add(context_id, query.name, body)


async def copy(request: RequestContext, context_id: str, name: str, body: CopyBody) -> UploadCopy:
    return await request.runtime.uploads.copy(context_id, name, body.path, by=request.user)


async def remove(request: RequestContext, context_id: str, name: str) -> None:
    await request.runtime.uploads.remove(context_id, name, by=request.user)
