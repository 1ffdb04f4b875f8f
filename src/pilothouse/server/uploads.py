"""Uploads: files given to a conversation, copied into its workspace, removed."""

from typing import Annotated

from msgspec import Meta

from pilothouse.domain.values import Value
from pilothouse.runtime.uploads import Upload, UploadCopy
from pilothouse.server.serving import Call


class UploadQuery(Value):
    name: Annotated[str, Meta(min_length=1, max_length=200)]


class CopyBody(Value):
    path: Annotated[str, Meta(min_length=1, max_length=4096)] | None = None
    """Where in the workspace; without it, the upload's own name or a free one like it."""


async def upload(call: Call, context_id: str, query: UploadQuery, body: bytes) -> Upload:
    return await call.runtime.add_file(context_id, query.name, body)


async def copy(call: Call, context_id: str, name: str, body: CopyBody) -> UploadCopy:
    return await call.runtime.copy_upload(context_id, name, body.path, by=call.user)


async def remove(call: Call, context_id: str, name: str) -> None:
    await call.runtime.remove_upload(context_id, name, by=call.user)
