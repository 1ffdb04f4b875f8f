"""What a server offers: read page by page, with a limit on everything, and nothing kept that cannot be used."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import TYPE_CHECKING, Any

import msgspec

from pilothouse.tools.mcp.values import PromptArgument, PromptDefinition, ResourceDefinition, ToolDefinition

if TYPE_CHECKING:
    from mcp.client.session import ClientSession
    from mcp_types import Prompt, Resource, Tool

TOOLS_AT_MOST = 500
PROMPTS_AT_MOST = 500
RESOURCES_AT_MOST = 1000
DESCRIPTION_AT_MOST = 4000
SCHEMA_AT_MOST = 64 * 1024
_PAGES_AT_MOST = 200
_NAME = re.compile(r"[A-Za-z0-9_.-]{1,64}")
_TEXT_AT_MOST = 500


async def list_tools(session: ClientSession) -> tuple[tuple[ToolDefinition, ...], int]:
    """The tools that can be used, and how many cannot. Raises: MCPError, ValidationError."""
    found: dict[str, ToolDefinition] = {}
    dropped = 0
    async for tool in _pages(session.list_tools, "tools"):
        definition = _tool(tool)
        if definition is None or tool.name in found or len(found) >= TOOLS_AT_MOST:
            dropped += 1
        else:
            found[tool.name] = definition
        if dropped > TOOLS_AT_MOST:
            break
    return tuple(found.values()), dropped


async def list_prompts(session: ClientSession) -> tuple[PromptDefinition, ...]:
    found: dict[str, PromptDefinition] = {}
    async for prompt in _pages(session.list_prompts, "prompts"):
        if _NAME.fullmatch(prompt.name):
            found.setdefault(prompt.name, _prompt(prompt))
        if len(found) >= PROMPTS_AT_MOST:
            break
    return tuple(found.values())


async def list_resources(session: ClientSession) -> list[ResourceDefinition]:
    found: list[ResourceDefinition] = []
    async for resource in _pages(session.list_resources, "resources"):
        found.append(_resource(resource))
        if len(found) >= RESOURCES_AT_MOST:
            break
    return found


async def _pages(ask: Callable[..., Awaitable[Any]], field: str) -> AsyncIterator[Any]:
    """One by one, over all pages. A server without this list has an empty one."""
    from mcp.shared.exceptions import MCPError
    from mcp_types import METHOD_NOT_FOUND, PaginatedRequestParams

    cursors: set[str] = set()
    params = None
    for _ in range(_PAGES_AT_MOST):
        try:
            page = await ask(params=params)
        except MCPError as error:
            if error.code == METHOD_NOT_FOUND:
                return
            raise
        for item in getattr(page, field):
            yield item
        if page.next_cursor is None or page.next_cursor in cursors:
            return
        cursors.add(page.next_cursor)
        params = PaginatedRequestParams(cursor=page.next_cursor)


def _tool(tool: Tool) -> ToolDefinition | None:
    if not _NAME.fullmatch(tool.name) or not _is_small(tool.input_schema):
        return None
    hints = tool.annotations
    return ToolDefinition(
        name=tool.name,
        title=_short(tool.title or (hints.title if hints else None)) or None,
        description=_cut(tool.description),
        schema=tool.input_schema,
        read_only=hints.read_only_hint if hints else None,
        destructive=hints.destructive_hint if hints else None,
        idempotent=hints.idempotent_hint if hints else None,
        open_world=hints.open_world_hint if hints else None,
    )


def _is_small(schema: dict[str, Any]) -> bool:
    try:
        return len(msgspec.json.encode(schema)) <= SCHEMA_AT_MOST
    except (TypeError, ValueError, RecursionError):
        return False


def _prompt(prompt: Prompt) -> PromptDefinition:
    arguments = tuple(
        PromptArgument(name=_short(one.name), description=_cut(one.description), required=bool(one.required))
        for one in (prompt.arguments or [])[:50]
    )
    title = _short(prompt.title) or None
    return PromptDefinition(name=prompt.name, title=title, description=_cut(prompt.description), arguments=arguments)


def _resource(resource: Resource) -> ResourceDefinition:
    return ResourceDefinition(
        uri=str(resource.uri),
        name=_short(resource.name),
        description=_cut(resource.description),
        mime=resource.mime_type,
        size=resource.size,
    )


def _cut(text: str | None) -> str:
    return (text or "")[:DESCRIPTION_AT_MOST]


def _short(text: str | None) -> str:
    return (text or "")[:_TEXT_AT_MOST]
