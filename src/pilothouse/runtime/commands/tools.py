"""Commands about tools and MCP servers: list, switch on and off, reconnect, read resources and prompts."""

from collections.abc import Mapping
from typing import Any

from pilothouse.domain.codes import Code
from pilothouse.domain.deception.hidden_characters import without_hidden
from pilothouse.domain.errors import Conflict, NotFound, ToolError
from pilothouse.domain.mcp_servers import ResourceView, ServerView
from pilothouse.domain.messages import MCPResource, Metadata
from pilothouse.domain.rules import Lifetime, Rule, Scope, covers_whole_tool
from pilothouse.domain.states import name_of
from pilothouse.domain.value import MessageId
from pilothouse.runtime.commands.rules import give_rule, revoke_rule
from pilothouse.runtime.commands.rules import rules as rules_given
from pilothouse.runtime.pool import ContextPool
from pilothouse.tools.base import Tool
from pilothouse.tools.mcp.connection import Connection

_MAX_RESOURCE_CHARACTERS = 200_000


async def tools_off(pool: ContextPool, *, user: str = "local") -> set[str]:
    """The names of tools that the configuration, or a rule of the user, switches off."""
    disabled = pool.dependencies.workspace_policy(None).disabled
    tools = (await known_tools(pool, user=user)).values()
    names = {tool.name for tool in tools if tool.name in disabled or tool.category in disabled}
    return names | {rule.scope.tool for rule in await rules_given(pool, user=user) if _switches_off(rule)}


def _switches_off(rule: Rule) -> bool:
    """Whether a rule denies a whole tool, everywhere and permanently."""
    is_permanent_everywhere = rule.scope.workspace is None and rule.lifetime == Lifetime()
    return rule.effect == "deny" and covers_whole_tool(rule.scope) and is_permanent_everywhere


async def known_tools(pool: ContextPool, *, user: str = "local") -> Mapping[str, Tool[Any]]:
    """The tools of all workspaces, and those of the workspaces of a user's open contexts."""
    registry = pool.dependencies.registry
    tools = dict(registry.tools)
    for workspace in sorted(_user_workspaces(pool, user)):
        tools |= {name: tool for name, tool in registry.tools_in(workspace).items() if name not in tools}
    return tools


async def switch_tool(pool: ContextPool, name: str, enabled: bool, *, user: str = "local") -> None:
    """Switch a tool on or off permanently, in all of a user's contexts. A tool is off by a rule that denies it, which
    is durable and audited.

    Raises: NotFound, Conflict for a tool that the configuration has switched off, StoreError.
    """
    tools = await known_tools(pool, user=user)
    if name not in tools:
        raise NotFound(Code.UNKNOWN_TOOL, tool=name, allowed=", ".join(tools))
    is_off = name in await tools_off(pool, user=user)
    if is_off and enabled:
        for rule in await rules_given(pool, user=user):
            if _switches_off(rule) and rule.scope.tool == name:
                await revoke_rule(pool, rule.id, user=user, by=user)
        if name in await tools_off(pool, user=user):
            raise Conflict(Code.ONLY_LOCAL, file="tools.toml")
    elif not is_off and not enabled:
        await give_rule(pool, "deny", Scope(tool=name), user=user, by=user)


def _user_workspaces(pool: ContextPool, user: str) -> set[str]:
    return {
        live.core.workspace
        for live in pool.in_memory()
        if live.core.owner == user and live.core.workspace is not None and live.is_beneath_a_root
    }


async def tool_servers(pool: ContextPool, *, user: str = "local") -> list[ServerView]:
    """The person's own MCP servers, and those of the workspaces of their open contexts."""
    servers = pool.dependencies.mcp_servers
    return servers.all(_user_workspaces(pool, user)) if servers is not None else []


async def reconnect_server(pool: ContextPool, name: str, *, user: str = "local") -> None:
    """Reconnect an MCP server. Raises: NotFound."""
    await _server(pool, name, _user_workspaces(pool, user)).reconnect()


async def server_resources(pool: ContextPool, name: str, *, user: str = "local") -> list[ResourceView]:
    """The resources of an MCP server. Raises: NotFound, Conflict when the server does not answer."""
    try:
        resources = await _server(pool, name, _user_workspaces(pool, user)).resources()
    except ToolError as error:
        raise Conflict(error.reason.code, **error.reason.params) from error
    return [
        ResourceView(
            uri=resource.uri,
            name=resource.name,
            description=resource.description,
            mime_type=resource.mime,
            size=resource.size,
        )
        for resource in resources
    ]


async def server_prompt(
    pool: ContextPool, name: str, prompt: str, arguments: Mapping[str, str], *, user: str = "local"
) -> str:
    """A prompt of an MCP server as text. Raises: NotFound, Conflict when the server does not return it."""
    try:
        return without_hidden(await _server(pool, name, _user_workspaces(pool, user)).prompt(prompt, arguments))
    except ToolError as error:
        raise Conflict(error.reason.code, **error.reason.params) from error


async def add_resource(pool: ContextPool, context_id: str, server: str, uri: str, *, by: str = "local") -> MessageId:
    """Read a resource and put it into the conversation as a message. Raises: NotFound, Conflict, StoreError."""
    live = await pool.find(context_id)
    workspaces = {live.core.workspace} if live.core.workspace is not None and live.is_beneath_a_root else set()
    try:
        contents = await _server(pool, server, workspaces).read_resource(uri)
    except ToolError as error:
        raise Conflict(error.reason.code, **error.reason.params) from error
    texts = [
        content_part.content
        if isinstance(content_part.content, str)
        else _describe_bytes(content_part.content, content_part.mime)
        for content_part in contents
    ]
    content = without_hidden("\n\n".join(texts))
    async with pool.locked(context_id) as locked:
        if locked.core.turn is not None or not locked.is_resting:
            raise Conflict(Code.TURN_ACTIVE, state=name_of(locked.state))
        draft = locked.draft()
        message = MCPResource(
            id=MessageId(pool.dependencies.ambient.new_id()),
            timestamp=pool.dependencies.now(),
            role="user",
            metadata=Metadata(),
            server=server,
            uri=uri,
            content=content[:_MAX_RESOURCE_CHARACTERS] + ("\n[cut]" if len(content) > _MAX_RESOURCE_CHARACTERS else ""),
            mime_type=contents[0].mime if contents else None,
            retrieved_at=pool.dependencies.now(),
        )
        draft.append(message, locked.core.active_branch)
        draft.note("resource_added", by, server=server, uri=uri)
        await locked.commit(draft)
    return message.id


def _describe_bytes(content: bytes, mime: str | None) -> str:
    return f"[{mime or 'binary'}, {len(content):,} bytes, not shown]"


def _server(pool: ContextPool, name: str, workspaces: set[str]) -> Connection:
    if pool.dependencies.mcp_servers is None:
        raise NotFound(Code.UNKNOWN_SERVER, server=name, allowed="-")
    return pool.dependencies.mcp_servers.find(name, workspaces)
