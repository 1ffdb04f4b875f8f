"""All servers of tools: the person's own, and those of folders that they trust. Each has one connection."""

import asyncio
from collections.abc import Callable, Mapping
from pathlib import Path

import msgspec

from pilothouse.domain.codes import Code, say
from pilothouse.domain.errors import InvalidInput, NotFound
from pilothouse.domain.servers import PromptShape, ServerShape
from pilothouse.private_file import replace_private_file
from pilothouse.sandbox.processes import clean_environment
from pilothouse.tools.mcp.connection import Connection
from pilothouse.tools.mcp.definitions import ServerDefinition, plain_name, read_definitions
from pilothouse.tools.mcp.tools import McpTool, tools_of
from pilothouse.tools.mcp.values import Clock, PromptDefinition
from pilothouse.tools.registry import Registry

Where = tuple[str | None, str]  # the folder whose own it is, if any, and its name


class AcceptedTools:
    """In which form a person has accepted the tools of each server; kept in a file of the runtime's own."""

    def __init__(self, file: Path | None) -> None:
        self._file = file
        self._known: dict[str, dict[str, str]] = {}
        if file is not None:
            try:
                self._known = msgspec.json.decode(file.read_bytes(), type=dict[str, dict[str, str]])
            except FileNotFoundError:
                pass
            except (OSError, msgspec.MsgspecError) as error:
                about = {"line": 1, "key": "-", "detail": f"{error}.", "allowed": "repair or remove it"}
                raise InvalidInput(Code.INVALID_CONFIG, file=str(file), **about) from error

    def known(self, server: str, tool: str) -> str | None:
        return self._known.get(server, {}).get(tool)

    def knows(self, server: str) -> bool:
        return server in self._known

    def accept(self, server: str, definitions: Mapping[str, str]) -> None:
        """Raises: StoreRefused; then nothing was accepted."""
        accepted = {**self._known, server: {**self._known.get(server, {}), **definitions}}
        if self._file is not None:
            replace_private_file(self._file, msgspec.json.encode(accepted))
        self._known = accepted


class Servers:
    """`own` are the person's. A folder's come with `open_folder`, once what they are was trusted; `may_start` is asked
    before each start of one. `on_change` is told of every change of what there is."""

    def __init__(
        self,
        registry: Registry,
        own: list[ServerDefinition],
        *,
        environment: Mapping[str, str],
        ambient: Clock,
        accepted: AcceptedTools,
        may_start: Callable[[str], bool] = lambda _: True,
    ) -> None:
        self._may_start = may_start
        self._registry = registry
        self._environment = environment
        self._ambient = ambient
        self._accepted = accepted
        self._connections: dict[Where, Connection] = {}
        self._tools: dict[Where, list[McpTool]] = {}
        self._folders: dict[str, str | None] = {}
        self._stopping: set[asyncio.Task[None]] = set()
        self.on_change: Callable[[], object] = lambda: None
        for definition in own:
            self._add(None, definition)

    def _add(self, folder: str | None, definition: ServerDefinition) -> None:
        where = (folder, definition.name)
        self._connections[where] = Connection(
            definition,
            # A program gets no keys; an address may lie behind a proxy that the environment names.
            environment=clean_environment(self._environment) if definition.url is None else self._environment,
            ambient=self._ambient,
            on_change=lambda connection: self._on_change(where, connection),
            may_start=lambda: folder is None or self._may_start(folder),
        )

    def _on_change(self, where: Where, connection: Connection) -> None:
        folder, name = where
        if self._connections.get(where) is not connection:
            return
        # The whole definition is part of the key: another program under the same name has accepted nothing.
        key = f"{folder or ''} {name} {connection.definition.digest}"
        self._tools[where] = tools_of(connection, key, self._accepted)
        self._registry.put(f"mcp {name}", self._tools[where], folder)
        self.on_change()

    async def start(self) -> None:
        """Returns at once: connecting goes on beside."""
        for connection in self._connections.values():
            if connection.definition.enabled:
                await connection.start()

    async def stop(self) -> None:
        connections, self._connections = list(self._connections.values()), {}
        await asyncio.gather(*(connection.stop() for connection in connections), *self._stopping)

    async def open_folder(self, folder: str, text: str | None) -> None:
        """A folder's own servers, as they were trusted; None for none. What is there and no longer said ends."""
        if self._folders.get(folder) == text:
            return
        self._folders[folder] = text
        for where in [where for where in self._connections if where[0] == folder]:
            self._end(where)
        try:
            found = [] if text is None else read_definitions(text, f"{folder}/.pilothouse/mcp_servers.json").servers
        except InvalidInput:  # it was readable when it was trusted
            found = []
        own = {plain_name(where[1]) for where in self._connections if where[0] is None}
        for definition in found:
            if plain_name(definition.name) in own:
                continue  # the person's own comes first, whatever a folder calls its own
            self._add(folder, msgspec.structs.replace(definition, cwd=definition.cwd or folder, trusted=False))
            if definition.enabled:
                await self._connections[folder, definition.name].start()

    def _end(self, where: Where) -> None:
        connection = self._connections.pop(where)
        self._tools.pop(where, None)
        self._registry.take_away(f"mcp {where[1]}", where[0])
        task = asyncio.create_task(connection.stop())
        self._stopping.add(task)
        task.add_done_callback(self._stopping.discard)

    def all(self, folders: set[str]) -> list[ServerShape]:
        """The person's own, and those of these folders."""
        return [
            self._shape(where, connection)
            for where, connection in self._connections.items()
            if where[0] is None or where[0] in folders
        ]

    def find(self, name: str, folders: set[str]) -> Connection:
        """Raises: NotFound."""
        for folder in (None, *sorted(folders)):
            if (folder, name) in self._connections:
                return self._connections[folder, name]
        allowed = ", ".join(sorted({where[1] for where in self._connections if where[0] in {None, *folders}}))
        raise NotFound(Code.UNKNOWN_SERVER, server=name, allowed=allowed or "-")

    def _shape(self, where: Where, connection: Connection) -> ServerShape:
        tools = self._tools.get(where, [])
        return ServerShape(
            name=where[1],
            transport=connection.definition.transport,
            status=connection.status,
            detail=say(connection.error) if connection.error is not None else None,
            folder=where[0],
            trusted=connection.definition.trusted,
            protocol=connection.protocol,
            restarts=connection.restarts,
            tools=tuple(tool.name for tool in tools),
            changed=tuple(tool.name for tool in tools if tool.has_changed),
            withheld=len(connection.tools) - len(tools) + connection.dropped,
            prompts=tuple(_prompt(prompt) for prompt in connection.prompts),
            has_resources=connection.has_resources,
        )


def _prompt(prompt: PromptDefinition) -> PromptShape:
    return PromptShape(
        name=prompt.name,
        description=prompt.description,
        arguments=tuple(each.name for each in prompt.arguments),
        required=tuple(each.name for each in prompt.arguments if each.required),
    )
