"""Commands about MCP servers: list and reconnect them, read their resources and prompts."""

from collections.abc import Mapping

from pilothouse.domain.codes import Code
from pilothouse.domain.deception.hidden_characters import without_hidden
from pilothouse.domain.errors import Conflict, NotFound, ToolError
from pilothouse.domain.mcp_servers import ResourceView, ServerView
from pilothouse.domain.messages import MCPResource
from pilothouse.domain.states import name_of
from pilothouse.domain.value import MessageId
from pilothouse.runtime.commands.command_group import CommandGroup
from pilothouse.runtime.commands.tools import user_workspaces
from pilothouse.runtime.notices import present_metadata
from pilothouse.runtime.pool import ContextPool
from pilothouse.tools.mcp.connection import Connection

_MAX_RESOURCE_CHARACTERS = 200_000


class MCPServerCommands(CommandGroup):
    """MCP servers: their state, resources and prompts."""

    async def read(self, *, user: str = "local") -> list[ServerView]:
        """The person's own MCP servers, and those of the workspaces of their open contexts."""
        servers = self._pool.dependencies.mcp_servers
        return servers.all(user_workspaces(self._pool, user)) if servers is not None else []

    async def reconnect(self, name: str, *, user: str = "local") -> None:
        """Reconnect an MCP server. Raises: NotFound."""
        await _server(self._pool, name, user_workspaces(self._pool, user)).reconnect()

    async def resources(self, name: str, *, user: str = "local") -> list[ResourceView]:
        """The resources of an MCP server. Raises: NotFound, Conflict when the server does not answer."""
        try:
            resources = await _server(self._pool, name, user_workspaces(self._pool, user)).resources()
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

    async def prompt(self, name: str, prompt: str, arguments: Mapping[str, str], *, user: str = "local") -> str:
        """A prompt of an MCP server as text. Raises: NotFound, Conflict when the server does not return it."""
        try:
            return without_hidden(
                await _server(self._pool, name, user_workspaces(self._pool, user)).prompt(prompt, arguments)
            )
        except ToolError as error:
            raise Conflict(error.reason.code, **error.reason.params) from error

    async def add_resource(self, context_id: str, server: str, uri: str, *, by: str = "local") -> MessageId:
        """Read a resource and put it into the conversation as a message. Raises: NotFound, Conflict, StoreError."""
        live = await self._pool.find(context_id)
        workspaces = (
            {live.core.workspace} if live.core.workspace is not None and live.files.is_beneath_a_root else set()
        )
        try:
            contents = await _server(self._pool, server, workspaces).read_resource(uri)
        except ToolError as error:
            raise Conflict(error.reason.code, **error.reason.params) from error
        texts = [
            content_part.content
            if isinstance(content_part.content, str)
            else _describe_bytes(content_part.content, content_part.mime)
            for content_part in contents
        ]
        content = without_hidden("\n\n".join(texts))
        async with self._pool.locked(context_id) as locked:
            if locked.core.turn is not None or not locked.is_resting:
                raise Conflict(Code.TURN_ACTIVE, state=name_of(locked.state))
            draft = locked.draft()
            message = MCPResource(
                id=MessageId(self._pool.dependencies.ambient.new_id()),
                timestamp=self._pool.dependencies.now(),
                role="user",
                metadata=present_metadata(locked),
                server=server,
                uri=uri,
                content=content[:_MAX_RESOURCE_CHARACTERS]
                + ("\n[cut]" if len(content) > _MAX_RESOURCE_CHARACTERS else ""),
                mime_type=contents[0].mime if contents else None,
                retrieved_at=self._pool.dependencies.now(),
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
