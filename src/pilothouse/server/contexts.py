"""Contexts: made, listed, looked at, changed, deleted; what they used, what was decided in them, and as one file."""

import re
from collections.abc import AsyncIterator
from contextlib import suppress
from typing import Annotated, Literal
from urllib.parse import quote

from msgspec import UNSET, Meta, UnsetType
from starlette.responses import Response, StreamingResponse

from pilothouse.domain.audit import AuditEntry
from pilothouse.domain.codes import Code
from pilothouse.domain.contexts import ContextSummary
from pilothouse.domain.errors import InvalidInput, NotFound, StoreDamaged, StoreError
from pilothouse.domain.policies import Policy
from pilothouse.domain.shapes import AuditedPage, ContextShape, Page
from pilothouse.domain.values import Value
from pilothouse.runtime.importing import Imported
from pilothouse.server.inputs import BranchName, Cursor, Id, Limit, ModeName, PageQuery
from pilothouse.server.routing import LINES, MARKDOWN
from pilothouse.server.serving import Call
from pilothouse.server.views import context_shape

# What means something in a path, to a shell, or is not to be seen.
_UNSAFE = re.compile(r"[^\w ().,+-]+")
_NOT_PLAIN = re.compile(r"[^A-Za-z0-9._-]+")
Title = Annotated[str, Meta(min_length=1, max_length=200)]
Name = Annotated[str, Meta(min_length=1, max_length=100)]
Folder = Annotated[str, Meta(min_length=1, max_length=4096)]


class NewContext(Value, kw_only=True):
    title: Title | None = None
    mode: ModeName | None = None
    workspace: Folder | None = None
    persona: Name | None = None
    model: Name | None = None


class ContextChange(Value, kw_only=True):
    """Only what is given changes."""

    title: Title | UnsetType = UNSET
    archived: bool | UnsetType = UNSET
    persona: Name | UnsetType | None = UNSET
    model: Name | UnsetType | None = UNSET
    policy: Policy | UnsetType | None = UNSET


class ListQuery(Value):
    limit: Limit = 50
    cursor: Cursor | None = None
    archived: bool = False
    parent: Id | None = None


class ExportQuery(Value):
    """`pilothouse` can be imported again. `branch` is of Markdown: without it, the active one."""

    format: Literal["pilothouse", "markdown"] = "pilothouse"
    branch: BranchName | None = None


class ImportQuery(Value):
    """`grants` takes over the leave that was given in it."""

    context_id: Id | None = None
    workspace: Folder | None = None
    grants: bool = False


async def create(call: Call, body: NewContext) -> ContextShape:
    preferences = (await call.serving.sessions.get(call.user)).preferences
    context_id = await call.runtime.create_context(
        call.serving.workspace(body.workspace, call.user),
        mode=body.mode,
        usual_modes=(preferences.default_mode, call.serving.mode),
        policy=preferences.tool_approval_policy,
        title=body.title,
        persona=body.persona,
        model=body.model,
        usual_model=preferences.default_model,
        by=call.user,
    )
    return await get(call, context_id)


async def list_all(call: Call, query: ListQuery) -> Page[ContextSummary]:
    parent: str | None = query.parent
    if parent is not None:
        with suppress(NotFound, StoreDamaged):
            parent = (await call.own(parent)).id
    page = await call.runtime.contexts(
        limit=query.limit, cursor=query.cursor, archived=query.archived, parent=parent, owner=call.user
    )
    return Page(page.items, page.next)


async def get(call: Call, context_id: str) -> ContextShape:
    return await context_shape(call.runtime, await call.runtime.context(context_id))


async def change(call: Call, context_id: str, body: ContextChange) -> ContextShape:
    await call.runtime.change_context(
        context_id,
        title=body.title,
        archived=body.archived,
        persona=body.persona,
        model=body.model,
        policy=body.policy,
        by=call.user,
    )
    return await get(call, context_id)


async def delete(call: Call, context_id: str) -> None:
    await call.runtime.delete_context(context_id)
    with suppress(StoreError):  # what is gone has no tab in any case
        await call.serving.sessions.close(call.user, context_id)


async def audit(call: Call, context_id: str, query: PageQuery) -> AuditedPage[AuditEntry]:
    after = _position(query.cursor)
    found = await call.runtime.audit(context_id, after, query.limit)
    end = after + query.limit
    return AuditedPage(items=found.entries, next=str(end) if end < found.line_count else None, chain=found.chain)


def _position(cursor: str | None) -> int:
    if cursor is None:
        return 0
    if not cursor.isascii() or not cursor.isdigit():
        raise InvalidInput(Code.INVALID_CURSOR, cursor=cursor)
    return int(cursor)


async def export(call: Call, context_id: str, query: ExportQuery) -> Response:
    if query.format == "markdown":
        kind, ending = f"{MARKDOWN}; charset=utf-8", "md"
        pieces = call.runtime.export_markdown(context_id, branch=query.branch, language=call.language)
    else:
        kind, ending = LINES, "jsonl"
        pieces = call.runtime.export_context(context_id)
    first = await anext(pieces)  # what is wrong is told before the answer begins

    async def all_pieces() -> AsyncIterator[bytes]:
        yield first
        async for piece in pieces:
            yield piece

    title = (await call.runtime.context(context_id)).core.title
    headers = {"content-disposition": _attachment(title or context_id, ending)}
    return StreamingResponse(all_pieces(), media_type=kind, headers=headers)


def _attachment(title: str, ending: str) -> str:
    """A name that is safe on any system, in letters that every client reads, and as it is for those that read it."""
    name = _UNSAFE.sub("-", title)[:80].strip(" .-") or "conversation"
    plain = _NOT_PLAIN.sub("-", name).strip("-") or "conversation"
    return f"attachment; filename=\"{plain}.{ending}\"; filename*=UTF-8''{quote(name, safe='')}.{ending}"


async def import_file(call: Call, query: ImportQuery, body: bytes) -> Imported:
    workspace = call.serving.workspace(query.workspace, call.user) if query.workspace is not None else None
    return await call.runtime.import_context(
        body,
        context_id=query.context_id,
        workspace=workspace,
        grants=query.grants,
        by=call.user,
    )
