"""All MCP servers: the person's own, and those of folders that the person trusts. Each has one connection."""

import asyncio
from collections.abc import Callable, Mapping
from pathlib import Path

import msgspec

from pilothouse.domain.codes import Code
from pilothouse.domain.errors import InvalidInput, NotFound, invalid_file
from pilothouse.domain.mcp_servers import PromptView, ServerView
from pilothouse.i18n import translate
from pilothouse.sandbox.command_environment import CommandEnvironment
from pilothouse.system.private_file import replace_private_file
from pilothouse.tools.mcp.connection import Connection
from pilothouse.tools.mcp.definitions import MCPServerDefinition, comparable_name, read_definitions
from pilothouse.tools.mcp.tools import MCPTool, tools_of
from pilothouse.tools.mcp.types import Clock, PromptDefinition
from pilothouse.tools.registry import Registry

MCPServerKey = tuple[str | None, str]  # the folder that defines the server (None: the person), and the server's name


class AcceptedTools:
    """The definitions in which a person has accepted the tools of each server, stored in a file of the runtime."""

    def __init__(self, file: Path | None) -> None:
        self._file = file
        self._accepted: dict[str, dict[str, str]] = {}
        if file is not None:
            try:
                self._accepted = msgspec.json.decode(file.read_bytes(), type=dict[str, dict[str, str]])
            except FileNotFoundError:
                pass
            except (OSError, msgspec.MsgspecError) as error:
                raise invalid_file(file, f"{error}.", "repair or remove it") from error

    def accepted_definition(self, mcp_server: str, tool: str) -> str | None:
        return self._accepted.get(mcp_server, {}).get(tool)

    def has_accepted(self, mcp_server: str) -> bool:
        return mcp_server in self._accepted

    def accept(self, mcp_server: str, definitions: Mapping[str, str]) -> None:
        """Raises: StoreRefused; then nothing was accepted."""
        accepted = {**self._accepted, mcp_server: {**self._accepted.get(mcp_server, {}), **definitions}}
        if self._file is not None:
            replace_private_file(self._file, msgspec.json.encode(accepted))
        self._accepted = accepted


class MCPServers:
    """The MCP servers of a runtime."""

    def __init__(
        self,
        registry: Registry,
        own: list[MCPServerDefinition],
        *,
        environment: Mapping[str, str],
        ambient: Clock,
        accepted: AcceptedTools,
        may_start: Callable[[str], bool] = lambda _: True,
    ) -> None:
        """`own` are the person's servers. `open_folder` adds a folder's servers once the person trusts them;
        `may_start` is called with the folder before each start of such a server."""
        self._may_start = may_start
        self._registry = registry
        self._environment = environment
        self._program_environment = CommandEnvironment.of(environment).inherited
        self._ambient = ambient
        self._accepted = accepted
        self._connections: dict[MCPServerKey, Connection] = {}
        self._tools: dict[MCPServerKey, list[MCPTool]] = {}
        self._folders: dict[str, str | None] = {}
        self._stopping: set[asyncio.Task[None]] = set()
        self.on_change: Callable[[], object] = lambda: None
        """Called after every change of a server."""
        for definition in own:
            self._add(None, definition)

    def _add(self, folder: str | None, definition: MCPServerDefinition) -> None:
        key = (folder, definition.name)
        self._connections[key] = Connection(
            definition,
            # A program gets no secrets; an address may need the proxy that the environment names.
            environment=self._program_environment if definition.url is None else self._environment,
            ambient=self._ambient,
            on_change=lambda connection: self._on_change(key, connection),
            may_start=lambda: folder is None or self._may_start(folder),
        )

    def _on_change(self, key: MCPServerKey, connection: Connection) -> None:
        folder, name = key
        if self._connections.get(key) is not connection:
            return
        # The definition's digest is part of the key: no tools are accepted yet of another program under the same name.
        accepted_key = f"{folder or ''} {name} {connection.definition.digest}"
        self._tools[key] = tools_of(connection, accepted_key, self._accepted)
        self._registry.set_source(f"mcp {name}", self._tools[key], folder)
        self.on_change()

    async def start(self) -> None:
        """Start connecting in the background."""
        for connection in self._connections.values():
            if connection.definition.enabled:
                await connection.start()

    async def stop(self) -> None:
        connections, self._connections = list(self._connections.values()), {}
        await asyncio.gather(*(connection.stop() for connection in connections), *self._stopping)

    async def open_folder(self, folder: str, text: str | None) -> None:
        """Set the servers of a folder, from the text that was trusted; None for none. Servers missing from the text are
        ended."""
        if self._folders.get(folder) == text:
            return
        self._folders[folder] = text
        for key in [key for key in self._connections if key[0] == folder]:
            self._end(key)
        try:
            definitions = (
                [] if text is None else read_definitions(text, f"{folder}/.pilothouse/mcp_servers.json").servers
            )
        except InvalidInput:  # the text was valid when it was trusted
            definitions = []
        own_names = {comparable_name(key[1]) for key in self._connections if key[0] is None}
        for definition in definitions:
            if comparable_name(definition.name) in own_names:
                continue  # the person's own server takes precedence
            self._add(folder, msgspec.structs.replace(definition, cwd=definition.cwd or folder, trusted=False))
            if definition.enabled:
                await self._connections[folder, definition.name].start()

    def _end(self, key: MCPServerKey) -> None:
        connection = self._connections.pop(key)
        self._tools.pop(key, None)
        self._registry.remove_source(f"mcp {key[1]}", key[0])
        task = asyncio.create_task(connection.stop())
        self._stopping.add(task)
        task.add_done_callback(self._stopping.discard)

    def all(self, folders: set[str]) -> list[ServerView]:
        """The person's own servers and those of these folders."""
        return [
            self._view(key, connection)
            for key, connection in self._connections.items()
            if key[0] is None or key[0] in folders
        ]

    def find(self, name: str, folders: set[str]) -> Connection:
        """Raises: NotFound."""
        for folder in (None, *sorted(folders)):
            if (folder, name) in self._connections:
                return self._connections[folder, name]
        allowed = ", ".join(sorted({key[1] for key in self._connections if key[0] in {None, *folders}}))
        raise NotFound(Code.UNKNOWN_SERVER, server=name, allowed=allowed or "-")

    def _view(self, key: MCPServerKey, connection: Connection) -> ServerView:
        tools = self._tools.get(key, [])
        return ServerView(
            name=key[1],
            transport=connection.definition.transport,
            status=connection.status,
            detail=translate(connection.error) if connection.error is not None else None,
            folder=key[0],
            trusted=connection.definition.trusted,
            protocol=connection.protocol,
            restarts=connection.restarts,
            tools=tuple(tool.name for tool in tools),
            changed=tuple(tool.name for tool in tools if tool.has_changed),
            withheld=len(connection.tools) - len(tools) + connection.dropped,
            prompts=tuple(_prompt(prompt) for prompt in connection.prompts),
            has_resources=connection.has_resources,
        )


def _prompt(prompt: PromptDefinition) -> PromptView:
    return PromptView(
        name=prompt.name,
        description=prompt.description,
        arguments=tuple(argument.name for argument in prompt.arguments),
        required=tuple(argument.name for argument in prompt.arguments if argument.required),
    )
