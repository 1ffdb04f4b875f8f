"""The lists of an MCP server's tools, prompts and resources: paged, bounded, without unusable entries."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import TYPE_CHECKING, Any

import msgspec

from pilothouse.tools.mcp.types import PromptArgument, PromptDefinition, ResourceDefinition, ToolDefinition

if TYPE_CHECKING:
    from mcp.client.session import ClientSession
    from mcp_types import Prompt, Resource, Tool

MAX_TOOLS = 500
MAX_PROMPTS = 500
MAX_RESOURCES = 1000
MAX_DESCRIPTION_CHARACTERS = 4000
MAX_SCHEMA_BYTES = 64 * 1024
_MAX_PAGES = 200
_NAME = re.compile(r"[A-Za-z0-9_.-]{1,64}")
_MAX_TITLE_CHARACTERS = 500


async def list_tools(session: ClientSession) -> tuple[tuple[ToolDefinition, ...], int]:
    """The usable tools, and the number of unusable ones. Raises: MCPError, ValidationError."""
    tools: dict[str, ToolDefinition] = {}
    dropped = 0
    async for tool in _pages(session.list_tools, "tools"):
        definition = _tool(tool)
        if definition is None or tool.name in tools or len(tools) >= MAX_TOOLS:
            dropped += 1
        else:
            tools[tool.name] = definition
        if dropped > MAX_TOOLS:
            break
    return tuple(tools.values()), dropped


async def list_prompts(session: ClientSession) -> tuple[PromptDefinition, ...]:
    prompts: dict[str, PromptDefinition] = {}
    async for prompt in _pages(session.list_prompts, "prompts"):
        if _NAME.fullmatch(prompt.name):
            prompts.setdefault(prompt.name, _prompt(prompt))
        if len(prompts) >= MAX_PROMPTS:
            break
    return tuple(prompts.values())


async def list_resources(session: ClientSession) -> list[ResourceDefinition]:
    resources: list[ResourceDefinition] = []
    async for resource in _pages(session.list_resources, "resources"):
        resources.append(_resource(resource))
        if len(resources) >= MAX_RESOURCES:
            break
    return resources


async def _pages(request: Callable[..., Awaitable[Any]], field: str) -> AsyncIterator[Any]:
    """The items of all pages. A server without this list has an empty one."""
    from mcp.shared.exceptions import MCPError
    from mcp_types import METHOD_NOT_FOUND, PaginatedRequestParams

    cursors: set[str] = set()
    params = None
    for _ in range(_MAX_PAGES):
        try:
            page = await request(params=params)
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
        return len(msgspec.json.encode(schema)) <= MAX_SCHEMA_BYTES
    except (TypeError, ValueError, RecursionError):
        return False


def _prompt(prompt: Prompt) -> PromptDefinition:
    arguments = tuple(
        PromptArgument(name=_short(item.name), description=_cut(item.description), required=bool(item.required))
        for item in (prompt.arguments or [])[:50]
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
    return (text or "")[:MAX_DESCRIPTION_CHARACTERS]


def _short(text: str | None) -> str:
    return (text or "")[:_MAX_TITLE_CHARACTERS]
