"""Commands about tools and their servers: what there is, switching on and off, resources and prompts."""

from collections.abc import Mapping
from typing import Any

from pilothouse.domain.codes import Code
from pilothouse.domain.errors import Conflict, NotFound, ToolError
from pilothouse.domain.hidden_characters import without_hidden
from pilothouse.domain.messages import MCPResource, Metadata
from pilothouse.domain.rules import Lifetime, Rule, Scope, is_of_whole_tool
from pilothouse.domain.servers import ResourceShape, ServerShape
from pilothouse.domain.states import name_of
from pilothouse.domain.values import MessageId
from pilothouse.runtime.contexts import Contexts
from pilothouse.runtime.rules import give_rule, revoke_rule
from pilothouse.runtime.rules import rules as rules_given
from pilothouse.tools.base import Tool
from pilothouse.tools.mcp.connection import Connection

_RESOURCE_AT_MOST = 200_000


async def tools_off(contexts: Contexts, *, user: str = "local") -> set[str]:
    """The names of tools that are switched off: by the settings, or by a rule of the user's."""
    settings = contexts.parts.steering(None).disabled
    tools = (await known_tools(contexts, user=user)).values()
    off = {tool.name for tool in tools if tool.name in settings or tool.category in settings}
    return off | {rule.scope.tool for rule in await rules_given(contexts, user=user) if _switches_off(rule)}


def _switches_off(rule: Rule) -> bool:
    """A rule that denies a whole tool everywhere and for good."""
    everywhere = rule.scope.workspace is None and rule.lifetime == Lifetime()
    return rule.effect == "deny" and is_of_whole_tool(rule.scope) and everywhere


async def known_tools(contexts: Contexts, *, user: str = "local") -> Mapping[str, Tool[Any]]:
    """Those that are everywhere, and those of the folders of a user's open contexts."""
    registry = contexts.parts.registry
    found = dict(registry.tools)
    for folder in sorted(_folders(contexts, user)):
        found |= {name: tool for name, tool in registry.within(folder).items() if name not in found}
    return found


async def switch_tool(contexts: Contexts, name: str, enabled: bool, *, user: str = "local") -> None:
    """On or off for all of a user's contexts, for good: off is a rule that denies it, which is durable and audited.

    Raises: NotFound, Conflict for one that the settings have switched off, StoreError.
    """
    known = await known_tools(contexts, user=user)
    if name not in known:
        raise NotFound(Code.UNKNOWN_TOOL, tool=name, allowed=", ".join(known))
    is_off = name in await tools_off(contexts, user=user)
    if is_off and enabled:
        for rule in await rules_given(contexts, user=user):
            if _switches_off(rule) and rule.scope.tool == name:
                await revoke_rule(contexts, rule.id, user=user, by=user)
        if name in await tools_off(contexts, user=user):
            raise Conflict(Code.ONLY_LOCAL, file="tools.toml")
    elif not is_off and not enabled:
        await give_rule(contexts, "deny", Scope(tool=name), user=user, by=user)


# servers of tools


def _folders(contexts: Contexts, user: str) -> set[str]:
    return {
        live.core.workspace
        for live in contexts.in_memory()
        if live.core.owner == user and live.core.workspace is not None and live.is_beneath_a_root
    }


async def tool_servers(contexts: Contexts, *, user: str = "local") -> list[ServerShape]:
    """The person's own, and those of the folders of their open contexts."""
    servers = contexts.parts.servers
    return servers.all(_folders(contexts, user)) if servers is not None else []


async def reconnect_server(contexts: Contexts, name: str, *, user: str = "local") -> None:
    """Raises: NotFound."""
    await _server(contexts, name, _folders(contexts, user)).reconnect()


async def server_resources(contexts: Contexts, name: str, *, user: str = "local") -> list[ResourceShape]:
    """Raises: NotFound, Conflict when it does not answer."""
    try:
        found = await _server(contexts, name, _folders(contexts, user)).resources()
    except ToolError as error:
        raise Conflict(error.reason.code, **error.reason.params) from error
    return [
        ResourceShape(uri=each.uri, name=each.name, description=each.description, mime_type=each.mime, size=each.size)
        for each in found
    ]


async def server_prompt(
    contexts: Contexts, name: str, prompt: str, arguments: Mapping[str, str], *, user: str = "local"
) -> str:
    """A prompt as text, to be sent or changed. Raises: NotFound, Conflict when the server does not give it."""
    try:
        return without_hidden(await _server(contexts, name, _folders(contexts, user)).prompt(prompt, arguments))
    except ToolError as error:
        raise Conflict(error.reason.code, **error.reason.params) from error


async def add_resource(contexts: Contexts, context_id: str, server: str, uri: str, *, by: str = "local") -> MessageId:
    """Read a resource and put it into the conversation as a message. Raises: NotFound, Conflict, StoreError."""
    live = await contexts.find(context_id)
    folders = {live.core.workspace} if live.core.workspace is not None and live.is_beneath_a_root else set()
    try:
        parts = await _server(contexts, server, folders).read_resource(uri)
    except ToolError as error:
        raise Conflict(error.reason.code, **error.reason.params) from error
    texts = [part.content if isinstance(part.content, str) else _bytes(part.content, part.mime) for part in parts]
    content = without_hidden("\n\n".join(texts))
    async with contexts.locked(context_id) as held:
        if held.core.turn is not None or not held.is_resting:
            raise Conflict(Code.TURN_ACTIVE, state=name_of(held.state))
        draft = held.draft()
        message = MCPResource(
            id=MessageId(contexts.parts.ambient.new_id()),
            timestamp=contexts.parts.now(),
            role="user",
            metadata=Metadata(),
            server=server,
            uri=uri,
            content=content[:_RESOURCE_AT_MOST] + ("\n[cut]" if len(content) > _RESOURCE_AT_MOST else ""),
            mime_type=parts[0].mime if parts else None,
            retrieved_at=contexts.parts.now(),
        )
        draft.append(message, held.core.active_branch)
        draft.note("resource_added", by, server=server, uri=uri)
        await held.commit(draft)
    return message.id


def _bytes(content: bytes, mime: str | None) -> str:
    return f"[{mime or 'binary'}, {len(content):,} bytes, not shown]"


def _server(contexts: Contexts, name: str, folders: set[str]) -> Connection:
    if contexts.parts.servers is None:
        raise NotFound(Code.UNKNOWN_SERVER, server=name, allowed="-")
    return contexts.parts.servers.find(name, folders)
