"""The context routes: create, list, read, change, delete, audit, export and import."""

import re
from collections.abc import AsyncIterator
from contextlib import suppress
from typing import Annotated, Literal
from urllib.parse import quote

from msgspec import UNSET, Meta, UnsetType
from starlette.responses import Response, StreamingResponse

from pilothouse.api.views import AuditedPage, ContextView, Page
from pilothouse.domain.audit import AuditEntry
from pilothouse.domain.codes import Code
from pilothouse.domain.contexts import ContextSummary
from pilothouse.domain.errors import InvalidInput, NotFound, StoreDamaged, StoreError
from pilothouse.domain.policies import Policy
from pilothouse.domain.sampling import OutputTokens, Temperature
from pilothouse.domain.value import Value
from pilothouse.runtime.commands.context_import import Imported
from pilothouse.server.queries import BranchName, Cursor, Id, Limit, ModeName, PageQuery
from pilothouse.server.routing import LINES, MARKDOWN
from pilothouse.server.state import RequestContext
from pilothouse.server.view_builder import context_view

# Everything but harmless characters: nothing that is special in paths or shells, and nothing invisible.
_UNSAFE = re.compile(r"[^\w ().,+-]+")
_NON_ASCII = re.compile(r"[^A-Za-z0-9._-]+")
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
    """The fields to change; a field that is left out stays as it is."""

    title: Title | UnsetType = UNSET
    archived: bool | UnsetType = UNSET
    persona: Name | UnsetType | None = UNSET
    model: Name | UnsetType | None = UNSET
    temperature: Temperature | UnsetType | None = UNSET
    max_output_tokens: OutputTokens | UnsetType | None = UNSET
    policy: Policy | UnsetType | None = UNSET


class ListQuery(Value):
    limit: Limit = 50
    cursor: Cursor | None = None
    archived: bool = False
    parent: Id | None = None


class ExportQuery(Value):
    format: Literal["pilothouse", "markdown"] = "pilothouse"
    """Only `pilothouse` can be imported again."""
    branch: BranchName | None = None
    """The branch to export as Markdown; the active one by default."""
    include_system_prompt: bool = False
    """Whether the file contains the system prompt that would be sent now."""


class ImportQuery(Value):
    context_id: Id | None = None
    workspace: Folder | None = None
    grants: bool = False
    """Whether permissions that were granted in the exported context apply to the new one too."""


async def create(request: RequestContext, body: NewContext) -> ContextView:
    preferences = (await request.server.sessions.get(request.user)).preferences
    context_id = await request.runtime.contexts.create(
        request.server.workspace(body.workspace, request.user),
        mode=body.mode,
        usual_modes=(preferences.default_mode, request.server.mode),
        policy=preferences.tool_approval_policy,
        title=body.title,
        persona=body.persona,
        model=body.model,
        usual_model=preferences.default_model,
        by=request.user,
    )
    return await get(request, context_id)


async def list_all(request: RequestContext, query: ListQuery) -> Page[ContextSummary]:
    parent: str | None = query.parent
    if parent is not None:
        with suppress(NotFound, StoreDamaged):
            parent = (await request.own(parent)).id
    page = await request.runtime.contexts.list(
        limit=query.limit, cursor=query.cursor, archived=query.archived, parent=parent, owner=request.user
    )
    return Page(page.items, page.next)


async def get(request: RequestContext, context_id: str) -> ContextView:
    return await context_view(request.runtime, await request.runtime.contexts.get(context_id))


async def change(request: RequestContext, context_id: str, body: ContextChange) -> ContextView:
    await request.runtime.contexts.change(
        context_id,
        title=body.title,
        archived=body.archived,
        persona=body.persona,
        model=body.model,
        temperature=body.temperature,
        max_output_tokens=body.max_output_tokens,
        policy=body.policy,
        by=request.user,
    )
    return await get(request, context_id)


async def delete(request: RequestContext, context_id: str) -> None:
    await request.runtime.contexts.delete(context_id)
    with suppress(StoreError):  # a deleted context shows no tab in any case
        await request.server.sessions.close(request.user, context_id)


async def audit(request: RequestContext, context_id: str, query: PageQuery) -> AuditedPage[AuditEntry]:
    after = _position(query.cursor)
    page = await request.runtime.contexts.audit(context_id, after, query.limit)
    end = after + query.limit
    return AuditedPage(items=page.entries, next=str(end) if end < page.line_count else None, chain=page.chain)


def _position(cursor: str | None) -> int:
    """Raises: InvalidInput."""
    if cursor is None:
        return 0
    if not cursor.isascii() or not cursor.isdigit():
        raise InvalidInput(Code.INVALID_CURSOR, cursor=cursor)
    return int(cursor)


async def export(request: RequestContext, context_id: str, query: ExportQuery) -> Response:
    if query.format == "markdown":
        content_type, extension = f"{MARKDOWN}; charset=utf-8", "md"
        chunks = request.runtime.exports.markdown(
            context_id,
            branch=query.branch,
            language=request.language,
            include_system_prompt=query.include_system_prompt,
        )
    else:
        content_type, extension = LINES, "jsonl"
        chunks = request.runtime.exports.create(context_id, include_system_prompt=query.include_system_prompt)
    first = await anext(chunks)  # raises errors before the response starts

    async def all_chunks() -> AsyncIterator[bytes]:
        yield first
        async for chunk in chunks:
            yield chunk

    title = (await request.runtime.contexts.get(context_id)).core.title
    headers = {"content-disposition": _attachment(title or context_id, extension)}
    return StreamingResponse(all_chunks(), media_type=content_type, headers=headers)


def _attachment(title: str, extension: str) -> str:
    """Make a Content-Disposition with a file name that is safe on every system: in ASCII, and in UTF-8 for clients that
    support it (RFC 6266)."""
    name = _UNSAFE.sub("-", title)[:80].strip(" .-") or "conversation"
    plain = _NON_ASCII.sub("-", name).strip("-") or "conversation"
    return f"attachment; filename=\"{plain}.{extension}\"; filename*=UTF-8''{quote(name, safe='')}.{extension}"


async def import_file(request: RequestContext, query: ImportQuery, body: bytes) -> Imported:
    workspace = request.server.workspace(query.workspace, request.user) if query.workspace is not None else None
    return await request.runtime.imports.create(
        body,
        context_id=query.context_id,
        workspace=workspace,
        grants=query.grants,
        by=request.user,
    )
